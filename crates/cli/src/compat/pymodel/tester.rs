//! `pmt`: runs through a model, with or without an implementation.

use std::time::Duration;

use testwright_core::product::{Label, Words};
use testwright_model::{Implementation, Plan, RunEnd, RunWatcher, Runs, step_text, suite_file};
use testwright_python::Models;

use super::super::{Calling, Ended, Tool, seconds};
use super::{Actions, ended, help, keep_imported, output};
use crate::console::Console;
use crate::{Trouble, models, quantity};

/// Run tests: traces of a model, or an implementation compared with it
#[derive(clap::Parser)]
#[command(name = "pmt")]
pub(in crate::compat) struct Tester {
    /// Models, scenarios, suites and configurations: names of modules
    #[arg(value_name = "MODULE")]
    models: Vec<String>,

    #[command(flatten)]
    actions: Actions,

    /// How many steps to take at most to come to an end
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

    /// How many steps to take in a run; 0: any number
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

    /// How many runs; 0: without end
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

    /// How long the stepper may take for a step, and to wait; 0: any time
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds, default_value = "0")]
    timeout: Duration,
}

impl Tool for Tester {
    const WITHOUT_EFFECT: &'static [(&'static str, &'static str)] =
        &[("debug", "use `breakpoint()` in the model or the stepper")];

    fn run(self, console: &mut Console<'_>, calling: &Calling) -> Result<Ended, Trouble> {
        if self.models.is_empty() {
            return Ok(help::<Tester>(console));
        }
        let mut read: Vec<&str> = self.models.iter().map(String::as_str).collect();
        read.extend(self.iut.as_deref());
        read.extend(self.strategy.as_deref());
        let written = self.output.as_ref();
        let written = written.map(|name| output(name, &read).map(|place| (name, place)));
        let written = written.transpose()?;
        models::with_models(
            console,
            &self.models,
            &self.actions.filter(),
            |console, models| {
                if let Some((name, place)) = &written {
                    keep_imported(place, name, models)?;
                }
                let (recorded, result) = self.test(console, models);
                if let Some((_, place)) = &written {
                    let product = &models.product;
                    let (words, vocabulary) = (product.words(), product.vocabulary());
                    place.write(&suite_file::write(
                        words,
                        vocabulary,
                        &recorded,
                        calling.line(),
                    ))?;
                }
                result
            },
        )
    }
}

impl Tester {
    /// All runs, and what was done in them.
    fn test(
        &self,
        console: &mut Console<'_>,
        models: &mut Models<'_>,
    ) -> (Vec<Vec<Label>>, Result<Ended, Trouble>) {
        let patience = Some(self.timeout).filter(|patience| !patience.is_zero());
        let stepper = self.iut.as_ref();
        let stepper = stepper.map(|name| Ok(models.stepper(name, patience)?.showing_tracebacks()));
        let prepared = stepper.transpose().and_then(|stepper| {
            let chooser = models.chooser(self.strategy.as_deref())?;
            if self.seed != 0 {
                // Python does not look at the sign either.
                models.seed(self.seed.unsigned_abs())?;
            }
            Ok((stepper, chooser))
        });
        let (mut stepper, mut chooser) = match prepared {
            Ok(prepared) => prepared,
            Err(trouble) => return (Vec::new(), ended(console, &trouble)),
        };
        testwright_python::flush();
        let has_stepper = stepper.is_some();
        let mut runs = Runs {
            product: &mut models.product,
            chooser: &mut chooser,
            implementation: stepper
                .as_mut()
                .map(|stepper| stepper as &mut dyn Implementation),
            plan: Plan {
                runs: Some(self.nruns).filter(|runs| *runs > 0),
                steps: Some(self.nsteps).filter(|steps| *steps > 0),
                cleanup: self.cleanup_steps,
                check: false,
                put_back: false,
            },
        };
        // The first run is as good as ever, and its lines are what they always were; but nobody should have to wait for
        // its end to learn that there is no other.
        if let Some(model) = runs.without_reset() {
            let message = format!("`{model}` has no `Reset`, so there is only one run");
            console.warning(&message, None);
            console.flush();
        }
        let mut watcher = Shown {
            console,
            quiet: self.quiet,
            has_stepper,
            recorded: Vec::new(),
        };
        let (tally, result) = runs.all(&mut watcher);
        let recorded = std::mem::take(&mut watcher.recorded);
        if let Err(trouble) = result {
            return (recorded, ended(console, &trouble));
        }
        if tally.runs > 1 {
            console.say(format_args!("Test finished, completed {} runs", tally.runs));
        }
        (recorded, Ok(Ended::Well))
    }
}

/// Says each step, and how each run ended.
struct Shown<'c, 'o> {
    console: &'c mut Console<'o>,
    quiet: bool,
    has_stepper: bool,
    recorded: Vec<Vec<Label>>,
}

impl RunWatcher for Shown<'_, '_> {
    fn begins(&mut self, _run: usize) {
        self.recorded.push(Vec::new());
    }

    fn step(&mut self, words: &Words, label: Label, _is_observed: bool) {
        testwright_python::flush();
        if self.quiet {
            self.console.say(words.name_text(label.name))
        } else {
            self.console.say(step_text(words, label))
        }
        // What the stepper prints comes after that.
        self.console.flush();
        if let Some(run) = self.recorded.last_mut() {
            run.push(label);
        }
    }

    fn ended(&mut self, end: &RunEnd) -> bool {
        testwright_python::flush();
        let RunEnd { run, steps, .. } = end;
        let info = end.info();
        self.console.say(match (&end.failure, self.has_stepper) {
            (Some(failure), _) => {
                format!("{run:3}. Failure at step {steps}, {}", failure.message)
            }
            (None, true) => format!("{run:3}. Success at step {steps}, {info}"),
            (None, false) => format!("{run:3}. Finished at step {steps}, {info}"),
        });
        if end.leftovers > 0 {
            let left = quantity::of(end.leftovers as u64, "observation");
            let message = format!("run {run} ended before {left} that had come could be looked at");
            self.console.warning(&message, None);
        }
        self.console.flush();
        true
    }
}
