//! `tstl_reduce`: a shorter and simpler test that still fails, or does whatever else it is to do.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use testwright_core::analyse::quick::Quick;
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::{
    Goal, Method, NormalizeOptions, ReduceError, ReduceOptions, SeveralOptions, Shrinker, Speed,
    alpha_convert,
};
use testwright_core::{Coverage, System, Test};
use testwright_python::{Hook, Measured, Output, PythonSystem};

use super::test_file::{self, TestFile};
use super::{Calling, Ended, Tool, probability, seconds, words};
use crate::Trouble;
use crate::compiled::Compiled;
use crate::console::Console;
use crate::files::{Place, unwritable};

mod goal;

/// Make a test shorter and simpler
#[derive(clap::Parser)]
#[command(name = "tstl_reduce", rename_all = "camelCase")]
pub(super) struct Reducer {
    /// The test
    #[arg(value_name = "IN")]
    infile: PathBuf,

    /// Where to write the reduced test
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

    /// The test must go on failing in the same way
    #[arg(long)]
    match_exception: bool,

    /// Preserve what the test covers instead of its failing
    #[arg(long)]
    coverage: bool,

    /// Preserve what the test covers, and cover more
    #[arg(long)]
    cover_more: bool,

    /// Preserve that the test leads to another state when it is run again
    #[arg(long)]
    check_determinism: bool,

    /// Preserve that a step does something else when the test is run again
    #[arg(long)]
    check_step_determinism: bool,

    /// Wait before a test is run again
    #[arg(long, value_name = "SECONDS", default_value = "1.0", value_parser = seconds)]
    determinism_delay: Duration,

    /// Wait before a test is run for the first time
    #[arg(long = "determinismDelay0", value_name = "SECONDS", value_parser = seconds)]
    determinism_delay0: Option<Duration>,

    /// How often to run a test again
    #[arg(long, value_name = "N", default_value = "1")]
    determinism_tries: usize,

    /// Preserve that the test shows other values in another process
    #[arg(long)]
    check_process_determinism: bool,

    /// Look at one step after the other
    #[arg(long)]
    iterate: bool,

    /// Preserve that the test fails with this probability
    #[arg(long, value_name = "P", value_parser = probability)]
    probability: Option<f64>,

    /// How often to run a test to see with which probability it fails
    #[arg(long, value_name = "N", default_value = "10")]
    samples: usize,

    /// How many times to look at the probability
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

    /// Make several tests that together cover what the test covers
    #[arg(long)]
    decompose: bool,

    /// Make several different reductions
    #[arg(long, short = 'M')]
    multiple: bool,

    /// How often to look for more reductions
    #[arg(long, value_name = "N", default_value = "1")]
    recursive: usize,

    /// How many combinations of steps to leave out
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Leave out steps in random order
    #[arg(long)]
    random: bool,

    /// The seed for that
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<i64>,

    /// How much to say: `True`, `VERY`, `SHOW`
    #[arg(long, value_name = "WORD")]
    verbose: Option<String>,

    /// How much to try in making steps simpler: `FAST`, `SLOW`, `MEDIUM`, `ONEREDUCE`, `VERYFAST`
    #[arg(long, value_name = "WORD", default_value = "FAST")]
    speed: String,

    /// Run each candidate in a process of its own
    #[arg(long)]
    sandbox: bool,

    /// Say less about that
    #[arg(long)]
    quiet_sandbox: bool,

    /// How long a process may take
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

/// How thorough a speed of TSTL's is.
pub(super) fn speed(word: &str) -> Speed {
    match word {
        "SLOW" | "MEDIUM" | "ONEREDUCE" => Speed::Thorough,
        _ => Speed::Fast,
    }
}

impl Tool for Reducer {
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
        ("seed", "nothing is left to chance"),
        (
            "verbose",
            "only what comes of it is said, not every step on the way",
        ),
        ("quiet_sandbox", "processes of their own are always quiet"),
    ];

    fn run(self, console: &mut Console<'_>, calling: &Calling) -> Result<Ended, Trouble> {
        test_file::refuse_swarm(self.aflswarm)?;
        let compiled = Compiled::read(Path::new("sut.py"))?;
        let outputs = Place::new(&self.outfile)?;
        let file = TestFile::read(&self.infile, self.afl)?;
        console.say(format_args!("Reducing using config={}", calling.config()));
        let covers = self.coverage || self.cover_more || self.decompose;
        let measured = Measured::modules_if(covers);
        let options = compiled.options(Output::Drop, measured);
        compiled.with_system(console, &options, |console, system| {
            let test = file.test(console, system)?;
            system.call_hook(Hook::BeforeReduce);
            let reduced = self.reduce(console, system, &test);
            system.call_hook(Hook::AfterReduce);
            self.write(console, system, &reduced?, &outputs)?;
            Ok(Ended::Well)
        })
    }
}

impl Reducer {
    fn options(&self) -> ReduceOptions {
        ReduceOptions {
            method: if self.ddmin {
                Method::Ddmin
            } else {
                Method::Greedy
            },
            keep_last: self.keep_last,
            check: !self.no_check,
        }
    }

    fn is_several(&self) -> bool {
        self.multiple || self.decompose
    }

    fn reduce(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        test: &Test,
    ) -> Result<Vec<Test>, Trouble> {
        let mut goal = self.goal(console, system, test)?;
        console.say(format_args!("STARTING WITH TEST OF LENGTH {}", test.len()));
        let mut tests = vec![test.clone()];
        if !self.no_reduce {
            let started = Instant::now();
            console.say("REDUCING...");
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
            console.say(format_args!(
                "REDUCED IN {} SECONDS",
                words::seconds(started.elapsed())
            ));
            self.say_lengths(console, &tests);
        }
        if !self.no_alpha {
            console.say("ALPHA CONVERTING...");
            for test in &mut tests {
                self.put_in_order(system, test)?;
            }
        }
        if !self.no_normalize {
            let started = Instant::now();
            console.say("NORMALIZING...");
            console.flush();
            for test in &mut tests {
                let mut goal = self.goal(console, system, test)?;
                match self.normalized(system, &mut *goal, test) {
                    Ok(normal) => *test = normal,
                    Err(ReduceError::NotReproduced(_)) => {}
                    Err(ReduceError::Error(error)) => return Err(error.into()),
                }
            }
            console.say(format_args!(
                "NORMALIZED IN {} SECONDS",
                words::seconds(started.elapsed())
            ));
            self.say_lengths(console, &tests);
        }
        Ok(tests)
    }

    fn reductions<'py>(
        &self,
        system: &mut PythonSystem<'py>,
        goal: &mut dyn Goal<PythonSystem<'py>>,
        test: &Test,
    ) -> Result<Vec<Test>, ReduceError> {
        let mut proceed = || !testwright_python::interrupted();
        if self.decompose {
            let mut quick = Quick {
                options: self.options(),
                budget: u64::MAX,
                loaded: Coverage::default(),
                proceed: &mut proceed,
            };
            let found = quick.decompose(system, test)?;
            return Ok(found.into_iter().map(|quick| quick.test).collect());
        }
        let mut shrinker = Shrinker::new(system, goal, &self.options(), &mut proceed);
        let found = if self.multiple {
            let options = SeveralOptions {
                rounds: self.recursive,
                limit: self.limit.unwrap_or(SeveralOptions::default().limit),
                ..SeveralOptions::default()
            };
            shrinker.reduce_several(test, &options)?
        } else {
            vec![shrinker.reduce(test)?]
        };
        Ok(found.into_iter().map(|shrunk| shrunk.test).collect())
    }

    fn normalized<'py>(
        &self,
        system: &mut PythonSystem<'py>,
        goal: &mut dyn Goal<PythonSystem<'py>>,
        test: &Test,
    ) -> Result<Test, ReduceError> {
        let mut proceed = || !testwright_python::interrupted();
        let options = NormalizeOptions {
            speed: speed(&self.speed),
            ..NormalizeOptions::default()
        };
        let mut shrinker = Shrinker::new(system, goal, &self.options(), &mut proceed);
        Ok(shrinker.normalize(test, &options)?.test)
    }

    /// Puts the slots of a test in order, unless that changes what it does.
    fn put_in_order(&self, system: &mut PythonSystem<'_>, test: &mut Test) -> Result<(), Trouble> {
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

    fn say_lengths(&self, console: &mut Console<'_>, tests: &[Test]) {
        let lengths: Vec<usize> = tests.iter().map(Test::len).collect();
        match (self.is_several(), lengths.as_slice()) {
            (false, [length]) => console.say(format_args!("NEW LENGTH {length}")),
            _ => console.say(format_args!("NEW LENGTHS {lengths:?}")),
        }
    }

    fn write(
        &self,
        console: &mut Console<'_>,
        system: &PythonSystem<'_>,
        tests: &[Test],
        output: &Place,
    ) -> Result<(), Trouble> {
        let catalog = system.actions();
        for (number, test) in tests.iter().enumerate() {
            let (place, shown) = if self.is_several() {
                console.say(format_args!("TEST #{number}:"));
                let shown = format!("{}.{number}", output.shown().display());
                let place = output.renamed(|name| format!("{name}.{number}.test"));
                (place, shown)
            } else {
                (output.clone(), output.shown().display().to_string())
            };
            if self.writeafl {
                let bytes = test_file::to_bytes(catalog, test);
                std::fs::write(place.absolute(), bytes)
                    .map_err(|error| unwritable(place.shown(), &error))?;
            } else {
                test_file::save(system, test, &place)?
            }
            words::say_test(console, catalog, test);
            console.say("");
            console.say(format_args!("TEST WRITTEN TO {shown}"));
            if self.is_several() {
                console.say("");
            }
        }
        Ok(())
    }
}
