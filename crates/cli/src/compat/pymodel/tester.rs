//! `pmt`: random runs of a model, with or without an implementation.

use std::time::Duration;

use testwright_core::product::{Interner, StepLabel};
use testwright_model::{
    Implementation, ModelRunner, RunEnd, RunPlan, RunWatcher, step_text, suite_file,
};
use testwright_python::Models;

use super::super::{Invocation, Tool, ToolOutcome, seconds};
use super::{ActionFilterArguments, outcome_of_error, output_path, print_help, refuse_imported};
use crate::console::Console;
use crate::{CommandError, models, quantity};

/// Run tests: traces of a model, or an implementation compared with it
#[derive(clap::Parser)]
#[command(name = "pmt")]
pub(in crate::compat) struct Tester {
    /// Models, scenarios, suites and configurations: names of modules
    #[arg(value_name = "MODULE")]
    models: Vec<String>,

    #[command(flatten)]
    actions: ActionFilterArguments,

    /// Maximum number of cleanup steps to reach an accepting state at the end of a run
    #[arg(
        short,
        long = "cleanupSteps",
        value_name = "N",
        allow_negative_numbers = true,
        default_value_t = 0
    )]
    cleanup_steps: usize,

    /// Accepted for scripts
    #[arg(short, long)]
    debug: bool,

    /// The strategy: a module, or ActionNameCoverage, or StateCoverage [default: random]
    #[arg(short = 'g', long, value_name = "MODULE")]
    strategy: Option<String>,

    /// The stepper, which makes the implementation do each step [default: none, only show traces]
    #[arg(short, long, value_name = "MODULE")]
    iut: Option<String>,

    /// Number of steps in a run; 0: no limit
    #[arg(
        short,
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value_t = 0
    )]
    nsteps: usize,

    /// The suite module to write
    #[arg(short, long, value_name = "NAME")]
    output: Option<String>,

    /// Show only the names of actions
    #[arg(short, long)]
    quiet: bool,

    /// Number of runs; 0: no limit
    #[arg(
        short = 'r',
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value_t = 1
    )]
    nruns: usize,

    /// The seed; 0: none
    #[arg(
        short,
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value_t = 0
    )]
    seed: i64,

    /// Time limit for each step of the stepper, and for each wait; 0: no limit
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds, default_value = "0")]
    timeout: Duration,
}

impl Tool for Tester {
    const WITHOUT_EFFECT: &'static [(&'static str, &'static str)] =
        &[("debug", "use `breakpoint()` in the model or the stepper")];

    fn run(
        self,
        console: &mut Console<'_>,
        invocation: &Invocation,
    ) -> Result<ToolOutcome, CommandError> {
        if self.models.is_empty() {
            return Ok(print_help::<Tester>(console));
        }
        let mut read: Vec<&str> = self.models.iter().map(String::as_str).collect();
        read.extend(self.iut.as_deref());
        read.extend(self.strategy.as_deref());
        let written = self.output.as_ref();
        let written = written.map(|name| output_path(name, &read).map(|path| (name, path)));
        let written = written.transpose()?;
        models::with_models(
            console,
            &self.models,
            &self.actions.filter(),
            |console, models| {
                if let Some((name, path)) = &written {
                    refuse_imported(path, name, models)?;
                }
                let (recorded, result) = self.run_all(console, models);
                if let Some((_, path)) = &written {
                    let product = &models.product;
                    let (words, vocabulary) = (product.interner(), product.vocabulary());
                    path.write(&suite_file::write(
                        words,
                        vocabulary,
                        &recorded,
                        invocation.line(),
                    ))?;
                }
                result
            },
        )
    }
}

impl Tester {
    /// Performs all runs. Returns their steps, and the outcome.
    fn run_all(
        &self,
        console: &mut Console<'_>,
        models: &mut Models<'_>,
    ) -> (Vec<Vec<StepLabel>>, Result<ToolOutcome, CommandError>) {
        let timeout = Some(self.timeout).filter(|timeout| !timeout.is_zero());
        let stepper = self.iut.as_ref();
        let stepper =
            stepper.map(|name| Ok(models.plain_stepper(name, timeout)?.with_tracebacks()));
        let prepared = stepper.transpose().and_then(|stepper| {
            let chooser = models.chooser(self.strategy.as_deref())?;
            if self.seed != 0 {
                // Python ignores the sign of a seed, too.
                models.seed(self.seed.unsigned_abs())?;
            }
            Ok((stepper, chooser))
        });
        let (mut stepper, mut chooser) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return (Vec::new(), outcome_of_error(console, &error)),
        };
        testwright_python::flush();
        let has_stepper = stepper.is_some();
        let mut runs = ModelRunner {
            product: &mut models.product,
            chooser: &mut chooser,
            implementation: stepper
                .as_mut()
                .map(|stepper| stepper as &mut dyn Implementation),
            plan: RunPlan {
                runs: Some(self.nruns).filter(|runs| *runs > 0),
                steps: Some(self.nsteps).filter(|steps| *steps > 0),
                cleanup: self.cleanup_steps,
                check_invariants: false,
                restore_initial: false,
                follows_pymodel: true,
            },
        };
        // The warning comes before the first run, so that users need not wait to learn that there
        // is no other. The lines of the run itself are the same as ever.
        if let Some(model) = runs.unresettable_model() {
            let message = format!("`{model}` has no `Reset`, so there is only one run");
            console.warning(&message, None);
            console.flush();
        }
        let mut watcher = RunPrinter {
            console,
            quiet: self.quiet,
            has_stepper,
            recorded: Vec::new(),
        };
        let (totals, result) = runs.run_all(&mut watcher);
        let recorded = std::mem::take(&mut watcher.recorded);
        if let Err(error) = result {
            return (recorded, outcome_of_error(console, &error));
        }
        if totals.runs > 1 {
            console.out(format_args!(
                "Test finished, completed {} runs",
                totals.runs
            ));
        }
        (recorded, Ok(ToolOutcome::Passed))
    }
}

/// Prints each step, and the end of each run.
struct RunPrinter<'c, 'o> {
    console: &'c mut Console<'o>,
    /// Print only the names of actions.
    quiet: bool,
    /// True if there is an implementation to compare with.
    has_stepper: bool,
    /// The steps of all runs.
    recorded: Vec<Vec<StepLabel>>,
}

impl RunWatcher for RunPrinter<'_, '_> {
    fn run_started(&mut self, _run: usize) {
        self.recorded.push(Vec::new());
    }

    fn step(&mut self, words: &Interner, label: StepLabel, _is_observed: bool) {
        testwright_python::flush();
        if self.quiet {
            self.console.out(words.name_text(label.name))
        } else {
            self.console.out(step_text(words, label))
        }
        // The output of the stepper must come after that.
        self.console.flush();
        if let Some(run) = self.recorded.last_mut() {
            run.push(label);
        }
    }

    fn run_ended(&mut self, end: &RunEnd) -> bool {
        testwright_python::flush();
        let RunEnd { run, steps, .. } = end;
        let info = end.description();
        self.console.out(match (&end.failure, self.has_stepper) {
            (Some(failure), _) => {
                format!("{run:3}. Failure at step {steps}, {}", failure.message)
            }
            (None, true) => format!("{run:3}. Success at step {steps}, {info}"),
            (None, false) => format!("{run:3}. Finished at step {steps}, {info}"),
        });
        if end.unhandled > 0 {
            let left = quantity::format_count(end.unhandled as u64, "observation");
            let message = format!("run {run} ended before {left} that had come could be looked at");
            self.console.warning(&message, None);
        }
        self.console.flush();
        true
    }
}
