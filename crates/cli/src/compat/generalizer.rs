//! `tstl_generalize`: what else could stand in a test.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::{
    GeneralizeOptions, Goal, ReduceError, ReduceOptions, Shrinker, Speed, Touches,
};
use testwright_core::{Covered, Error, System, Test};
use testwright_python::{Measured, Output, PythonSystem};

use super::goals::{self, Sandbox, What};
use super::test_file::TestFile;
use super::{Calling, Ended, Tool, seconds, words};
use crate::Trouble;
use crate::compiled::Compiled;
use crate::console::Console;
use crate::coverage::FromFirstStep;

/// Show what else could stand in a failing test
#[derive(clap::Parser)]
#[command(name = "tstl_generalize", rename_all = "camelCase")]
pub(super) struct Generalizer {
    /// The test
    #[arg(value_name = "TEST")]
    infile: PathBuf,

    /// Do not look for fresh values
    #[arg(long)]
    no_fresh: bool,

    /// Do not check properties
    #[arg(long)]
    no_check: bool,

    /// The test must go on failing in the same way
    #[arg(long)]
    match_exception: bool,

    /// Preserve what the test covers instead of its failing
    #[arg(long)]
    coverage: bool,

    /// Keep the last step
    #[arg(long, short)]
    keep_last: bool,

    /// Exceptions are no failures
    #[arg(long)]
    uncaught: bool,

    /// How much to say
    #[arg(long, value_name = "WORD")]
    verbose: Option<String>,

    /// Run each candidate in a process of its own
    #[arg(long)]
    sandbox: bool,

    /// Say less about that
    #[arg(long)]
    quiet_sandbox: bool,

    /// How long a process may take
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
}

impl Tool for Generalizer {
    const WITHOUT_EFFECT: &'static [(&'static str, &'static str)] = &[
        (
            "uncaught",
            "a test that covers enough may fail or not, as the original does",
        ),
        ("verbose", "what is found is shown, and nothing else"),
        ("quiet_sandbox", "processes of their own are always quiet"),
    ];

    fn run(self, console: &mut Console<'_>, calling: &Calling) -> Result<Ended, Trouble> {
        let compiled = Compiled::read(Path::new("sut.py"))?;
        let file = TestFile::read(&self.infile, false)?;
        console.say(format_args!(
            "Generalizing using config={}",
            calling.config()
        ));
        let measured = Measured::modules_if(self.coverage);
        let options = compiled.options(Output::Drop, measured);
        compiled.with_system(console, &options, |console, system| {
            let test = file.test(console, system)?;
            let mut goal = self.goal(console, system, &test)?;
            console.say("GENERALIZING...");
            let started = Instant::now();
            let options = ReduceOptions {
                check: !self.no_check,
                keep_last: self.keep_last,
                ..ReduceOptions::default()
            };
            let fresh = !self.no_fresh;
            let text = generalization(system, &mut *goal, &test, &options, fresh)?;
            console.say(text.trim_end());
            let time = words::seconds(started.elapsed());
            console.say(format_args!("GENERALIZED IN {time} SECONDS"));
            Ok(Ended::Well)
        })
    }
}

impl Generalizer {
    fn goal<'py>(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'py>,
        test: &Test,
    ) -> Result<Box<dyn Goal<PythonSystem<'py>>>, Trouble> {
        let check = !self.no_check;
        if self.sandbox {
            return Ok(Box::new(Sandbox::new(What::Fail, check, self.timeout)?));
        }
        if self.coverage {
            console.say("EXECUTING TEST TO OBTAIN COVERAGE...");
            let mut watcher = FromFirstStep::default();
            replay(system, test, &ReplayOptions { check }, &mut watcher)?;
            return match watcher.trouble {
                Some(error) => Err(error.into()),
                None => Ok(Box::new(Touches(system.touched()))),
            };
        }
        if !self.match_exception {
            return Ok(goals::fail(None));
        }
        console.say("RUNNING TO OBTAIN FAILURE FOR EXCEPTION MATCHING...");
        let trace = replay(system, test, &ReplayOptions { check }, &mut ())?;
        let Some(failure) = trace.failure() else {
            let message = "the test does not fail, so there is no exception to match";
            return Err(Error::new(message).into());
        };
        words::say_error(console, &system.exception_tuple(&failure.message), failure);
        Ok(goals::fail(Some(failure)))
    }
}

/// What else could stand in a test, as text.
pub(super) fn generalization<S: System + ?Sized>(
    system: &mut S,
    goal: &mut dyn Goal<S>,
    test: &Test,
    options: &ReduceOptions,
    fresh: bool,
) -> Result<String, Error> {
    let catalog = system.actions().clone();
    let mut proceed = || !testwright_python::interrupted();
    let found = Shrinker::new(system, goal, options, &mut proceed).generalize(
        test,
        &GeneralizeOptions {
            speed: Speed::Fast,
            fresh,
        },
    );
    let found = found.map_err(|error| match error {
        ReduceError::Error(error) => error,
        error => Error::new(format!("the test cannot be generalised: {error}")),
    })?;
    Ok(found.show(&|step| words::step_text(&catalog, &step)))
}
