//! `tstl_reduce`: reduces a test that fails, or that reaches another goal.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use testwright_core::analyse::quick::QuickReducer;
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::{
    NormalizeOptions, ReduceError, ReduceMethod, ReduceOptions, SeveralOptions, ShrinkGoal,
    Shrinker, Speed, alpha_convert,
};
use testwright_core::{Coverage, System, Test};
use testwright_python::{Hook, MeasuredCode, OutputMode, PythonSystem};

use super::test_file::{self, TestFile};
use super::{Invocation, Tool, ToolOutcome, parse_probability, seconds, tstl_text};
use crate::CommandError;
use crate::compiled::CompiledModule;
use crate::console::Console;
use crate::files::{UserPath, unwritable};

mod goal;

/// Make a test shorter and simpler
#[derive(clap::Parser)]
#[command(name = "tstl_reduce", rename_all = "camelCase")]
pub(super) struct ReducerTool {
    /// The test
    #[arg(value_name = "IN")]
    infile: PathBuf,

    /// File to write the reduced test to
    #[arg(value_name = "OUT")]
    outfile: PathBuf,

    /// Do not check properties
    #[arg(long)]
    no_check: bool,

    /// Do not leave out steps
    #[arg(long)]
    no_reduce: bool,

    /// Do not make steps simpler
    #[arg(long)]
    no_normalize: bool,

    /// Do not put slots in order
    #[arg(long)]
    no_alpha: bool,

    /// The test must still fail in the same way
    #[arg(long)]
    match_exception: bool,

    /// Preserve the coverage of the test instead of its failure
    #[arg(long)]
    coverage: bool,

    /// Preserve the coverage of the test, and allow more
    #[arg(long)]
    cover_more: bool,

    /// Preserve that a rerun of the test leads to another state
    #[arg(long)]
    check_determinism: bool,

    /// Preserve that a step behaves differently in a rerun
    #[arg(long)]
    check_step_determinism: bool,

    /// Time to wait before a test is rerun
    #[arg(long, value_name = "SECONDS", default_value = "1.0", value_parser = seconds)]
    determinism_delay: Duration,

    /// Time to wait before a test is run for the first time
    #[arg(long = "determinismDelay0", value_name = "SECONDS", value_parser = seconds)]
    determinism_delay0: Option<Duration>,

    /// Number of times to rerun a test
    #[arg(long, value_name = "N", default_value = "1")]
    determinism_tries: usize,

    /// Preserve that the test shows other values in another process
    #[arg(long)]
    check_process_determinism: bool,

    /// Look at one step after the other
    #[arg(long)]
    iterate: bool,

    /// Preserve that the test fails with this probability
    #[arg(long, value_name = "P", value_parser = parse_probability)]
    probability: Option<f64>,

    /// Number of runs to estimate the probability of failure
    #[arg(long, value_name = "N", default_value = "10")]
    samples: usize,

    /// Number of times to estimate the probability
    #[arg(long, value_name = "N", default_value = "1")]
    replications: usize,

    /// Keep the last step
    #[arg(long, short)]
    keep_last: bool,

    /// Keep steps that are not enabled
    #[arg(long)]
    no_prune_guards: bool,

    /// Also try actions that are not enabled
    #[arg(long)]
    no_check_enabled: bool,

    /// Exceptions are no failures
    #[arg(long)]
    uncaught: bool,

    /// Use classic delta debugging
    #[arg(long)]
    ddmin: bool,

    /// Split the test into several that together have its coverage
    #[arg(long)]
    decompose: bool,

    /// Make several different reductions
    #[arg(long, short = 'M')]
    multiple: bool,

    /// Number of times to look for more reductions
    #[arg(long, value_name = "N", default_value = "1")]
    recursive: usize,

    /// Maximum number of combinations of steps to leave out
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Leave out steps in random order
    #[arg(long)]
    random: bool,

    /// Seed of the random order
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<i64>,

    /// Amount of output: `True`, `VERY`, `SHOW`
    #[arg(long, value_name = "WORD")]
    verbose: Option<String>,

    /// Thoroughness of making steps simpler: `FAST`, `SLOW`, `MEDIUM`, `ONEREDUCE`, `VERYFAST`
    #[arg(long, value_name = "WORD", default_value = "FAST")]
    speed: String,

    /// Run each candidate in a process of its own
    #[arg(long)]
    sandbox: bool,

    /// Show less output of these processes
    #[arg(long)]
    quiet_sandbox: bool,

    /// Time limit of each process
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,

    /// The test is in AFL's form
    #[arg(long)]
    afl: bool,

    /// The test is in AFL's swarm form
    #[arg(long)]
    aflswarm: bool,

    /// Write the test in AFL's form
    #[arg(long)]
    writeafl: bool,
}

/// Translates a speed of TSTL.
pub(super) fn speed(word: &str) -> Speed {
    match word {
        "SLOW" | "MEDIUM" | "ONEREDUCE" => Speed::Thorough,
        _ => Speed::Fast,
    }
}

impl Tool for ReducerTool {
    const WITHOUT_EFFECT: &'static [(&'static str, &'static str)] = &[
        ("iterate", "two whole runs are compared at once"),
        (
            "no_prune_guards",
            "steps that are not enabled do nothing, so they are always left out",
        ),
        (
            "no_check_enabled",
            "actions that are not enabled do nothing, so they are never tried",
        ),
        (
            "uncaught",
            "a test that covers enough may fail or not, as the original does",
        ),
        (
            "random",
            "every step is tried until none can be left out, in whatever order",
        ),
        ("seed", "no random choices are made"),
        (
            "verbose",
            "only what comes of it is said, not every step on the way",
        ),
        ("quiet_sandbox", "processes of their own are always quiet"),
    ];

    fn run(
        self,
        console: &mut Console<'_>,
        invocation: &Invocation,
    ) -> Result<ToolOutcome, CommandError> {
        test_file::reject_swarm(self.aflswarm)?;
        let compiled = CompiledModule::read(Path::new("sut.py"))?;
        let outputs = UserPath::new(&self.outfile)?;
        let file = TestFile::read(&self.infile, self.afl)?;
        console.out(format_args!(
            "Reducing using config={}",
            invocation.config()
        ));
        let covers = self.coverage || self.cover_more || self.decompose;
        let measured = MeasuredCode::modules_if(covers);
        let options = compiled.options(OutputMode::Drop, measured);
        compiled.with_system(console, &options, |console, system| {
            let test = file.test(console, system)?;
            system.call_hook(Hook::BeforeReduce);
            let reduced = self.reduce(console, system, &test);
            system.call_hook(Hook::AfterReduce);
            self.write(console, system, &reduced?, &outputs)?;
            Ok(ToolOutcome::Passed)
        })
    }
}

impl ReducerTool {
    /// Returns the options of the reduction.
    fn options(&self) -> ReduceOptions {
        ReduceOptions {
            method: if self.ddmin {
                ReduceMethod::Ddmin
            } else {
                ReduceMethod::Greedy
            },
            keep_last: self.keep_last,
            check: !self.no_check,
        }
    }

    /// Returns true if there may be several reduced tests.
    fn is_several(&self) -> bool {
        self.multiple || self.decompose
    }

    /// Reduces, orders and normalizes a test, as requested.
    fn reduce(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        test: &Test,
    ) -> Result<Vec<Test>, CommandError> {
        let mut goal = self.goal(console, system, test)?;
        console.out(format_args!("STARTING WITH TEST OF LENGTH {}", test.len()));
        let mut tests = vec![test.clone()];
        if !self.no_reduce {
            let started = Instant::now();
            console.out("REDUCING...");
            console.flush();
            match self.reductions(system, &mut *goal, test) {
                Ok(found) => tests = found,
                Err(ReduceError::NotReproduced(_)) => {
                    console.warning(
                        "the test does not do what is to be preserved, so it stays as it is",
                        Some("`tstl_replay TEST --verbose` shows what it does"),
                    );
                    return Ok(tests);
                }
                Err(ReduceError::Error(error)) => return Err(error.into()),
            }
            console.out(format_args!(
                "REDUCED IN {} SECONDS",
                tstl_text::seconds(started.elapsed())
            ));
            self.print_lengths(console, &tests);
        }
        if !self.no_alpha {
            console.out("ALPHA CONVERTING...");
            for test in &mut tests {
                self.order_slots(system, test)?;
            }
        }
        if !self.no_normalize {
            let started = Instant::now();
            console.out("NORMALIZING...");
            console.flush();
            for test in &mut tests {
                let mut goal = self.goal(console, system, test)?;
                match self.normalized(system, &mut *goal, test) {
                    Ok(normal) => *test = normal,
                    Err(ReduceError::NotReproduced(_)) => {}
                    Err(ReduceError::Error(error)) => return Err(error.into()),
                }
            }
            console.out(format_args!(
                "NORMALIZED IN {} SECONDS",
                tstl_text::seconds(started.elapsed())
            ));
            self.print_lengths(console, &tests);
        }
        Ok(tests)
    }

    /// Returns the reduced tests.
    fn reductions<'py>(
        &self,
        system: &mut PythonSystem<'py>,
        goal: &mut dyn ShrinkGoal<PythonSystem<'py>>,
        test: &Test,
    ) -> Result<Vec<Test>, ReduceError> {
        let mut proceed = || !testwright_python::is_interrupted();
        if self.decompose {
            let mut quick = QuickReducer {
                options: self.options(),
                budget: u64::MAX,
                touched_by_loading: Coverage::default(),
                proceed: &mut proceed,
            };
            let found = quick.decompose(system, test)?;
            return Ok(found.into_iter().map(|quick| quick.test).collect());
        }
        let mut shrinker = Shrinker::new(system, goal, &self.options(), &mut proceed);
        let found = if self.multiple {
            let options = SeveralOptions {
                rounds: self.recursive,
                max_combinations: self
                    .limit
                    .unwrap_or(SeveralOptions::default().max_combinations),
                ..SeveralOptions::default()
            };
            shrinker.reduce_several(test, &options)?
        } else {
            vec![shrinker.reduce(test)?]
        };
        Ok(found.into_iter().map(|shrunk| shrunk.test).collect())
    }

    /// Returns a normalized test.
    fn normalized<'py>(
        &self,
        system: &mut PythonSystem<'py>,
        goal: &mut dyn ShrinkGoal<PythonSystem<'py>>,
        test: &Test,
    ) -> Result<Test, ReduceError> {
        let mut proceed = || !testwright_python::is_interrupted();
        let options = NormalizeOptions {
            speed: speed(&self.speed),
            ..NormalizeOptions::default()
        };
        let mut shrinker = Shrinker::new(system, goal, &self.options(), &mut proceed);
        Ok(shrinker.normalize(test, &options)?.test)
    }

    /// Orders the slots of a test, unless that changes its failure.
    fn order_slots(
        &self,
        system: &mut PythonSystem<'_>,
        test: &mut Test,
    ) -> Result<(), CommandError> {
        let ordered = alpha_convert(system.actions(), test);
        if ordered == *test {
            return Ok(());
        }
        let options = ReplayOptions {
            check: !self.no_check,
        };
        let [one, other] = [&*test, &ordered].map(|test| replay(system, test, &options, &mut ()));
        let (one, other) = (one?, other?);
        let is_same = match (one.failure(), other.failure()) {
            (Some(one), Some(other)) => one.is_same_as(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        if is_same {
            *test = ordered;
        }
        Ok(())
    }

    /// Prints the lengths of the tests.
    fn print_lengths(&self, console: &mut Console<'_>, tests: &[Test]) {
        let lengths: Vec<usize> = tests.iter().map(Test::len).collect();
        match (self.is_several(), lengths.as_slice()) {
            (false, [length]) => console.out(format_args!("NEW LENGTH {length}")),
            _ => console.out(format_args!("NEW LENGTHS {lengths:?}")),
        }
    }

    /// Writes and prints the tests.
    fn write(
        &self,
        console: &mut Console<'_>,
        system: &PythonSystem<'_>,
        tests: &[Test],
        output: &UserPath,
    ) -> Result<(), CommandError> {
        let catalog = system.actions();
        for (number, test) in tests.iter().enumerate() {
            let (path, shown) = if self.is_several() {
                console.out(format_args!("TEST #{number}:"));
                let shown = format!("{}.{number}", output.shown().display());
                let path = output.renamed(|name| format!("{name}.{number}.test"));
                (path, shown)
            } else {
                (output.clone(), output.shown().display().to_string())
            };
            if self.writeafl {
                let bytes = test_file::to_bytes(catalog, test);
                std::fs::write(path.absolute(), bytes)
                    .map_err(|error| unwritable(path.shown(), &error))?;
            } else {
                test_file::save(system, test, &path)?
            }
            tstl_text::print_test(console, catalog, test);
            console.out("");
            console.out(format_args!("TEST WRITTEN TO {shown}"));
            if self.is_several() {
                console.out("");
            }
        }
        Ok(())
    }
}
