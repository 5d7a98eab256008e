//! `tstl_generalize`: shows other values with which a test still fails.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::{
    GeneralizeOptions, ReduceError, ReduceOptions, ShrinkGoal, Shrinker, Speed, Touches,
};
use testwright_core::{Covered, Error, System, Test};
use testwright_python::{MeasuredCode, OutputMode, PythonSystem};

use super::goals::{self, Sandbox, SandboxGoal};
use super::test_file::TestFile;
use super::{Invocation, Tool, ToolOutcome, seconds, tstl_text};
use crate::CommandError;
use crate::compiled::CompiledModule;
use crate::console::Console;
use crate::coverage::FirstStepWatcher;

/// Show which other values make a failing test fail too
#[derive(clap::Parser)]
#[command(name = "tstl_generalize", rename_all = "camelCase")]
pub(super) struct GeneralizerTool {
    /// The test
    #[arg(value_name = "TEST")]
    infile: PathBuf,

    /// Do not look for fresh values
    #[arg(long)]
    no_fresh: bool,

    /// Do not check properties
    #[arg(long)]
    no_check: bool,

    /// The test must still fail in the same way
    #[arg(long)]
    match_exception: bool,

    /// Preserve the coverage of the test instead of its failure
    #[arg(long)]
    coverage: bool,

    /// Keep the last step
    #[arg(long, short)]
    keep_last: bool,

    /// Exceptions are no failures
    #[arg(long)]
    uncaught: bool,

    /// Amount of output
    #[arg(long, value_name = "WORD")]
    verbose: Option<String>,

    /// Run each candidate in a process of its own
    #[arg(long)]
    sandbox: bool,

    /// Show less output of these processes
    #[arg(long)]
    quiet_sandbox: bool,

    /// Time limit of each process
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
}

impl Tool for GeneralizerTool {
    const WITHOUT_EFFECT: &'static [(&'static str, &'static str)] = &[
        (
            "uncaught",
            "a test that covers enough may fail or not, as the original does",
        ),
        ("verbose", "what is found is shown, and nothing else"),
        ("quiet_sandbox", "processes of their own are always quiet"),
    ];

    fn run(
        self,
        console: &mut Console<'_>,
        invocation: &Invocation,
    ) -> Result<ToolOutcome, CommandError> {
        let compiled = CompiledModule::read(Path::new("sut.py"))?;
        let file = TestFile::read(&self.infile, false)?;
        console.out(format_args!(
            "Generalizing using config={}",
            invocation.config()
        ));
        let measured = MeasuredCode::modules_if(self.coverage);
        let options = compiled.options(OutputMode::Drop, measured);
        compiled.with_system(console, &options, |console, system| {
            let test = file.test(console, system)?;
            let mut goal = self.goal(console, system, &test)?;
            console.out("GENERALIZING...");
            let started = Instant::now();
            let options = ReduceOptions {
                check: !self.no_check,
                keep_last: self.keep_last,
                ..ReduceOptions::default()
            };
            let fresh = !self.no_fresh;
            let text = generalization(system, &mut *goal, &test, &options, fresh)?;
            console.out(text.trim_end());
            let time = tstl_text::seconds(started.elapsed());
            console.out(format_args!("GENERALIZED IN {time} SECONDS"));
            Ok(ToolOutcome::Passed)
        })
    }
}

impl GeneralizerTool {
    /// Returns the goal that generalized tests must reach: fail, fail in the same way, or cover the
    /// same code.
    fn goal<'py>(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'py>,
        test: &Test,
    ) -> Result<Box<dyn ShrinkGoal<PythonSystem<'py>>>, CommandError> {
        let check = !self.no_check;
        if self.sandbox {
            return Ok(Box::new(Sandbox::new(
                SandboxGoal::Fail,
                check,
                self.timeout,
            )?));
        }
        if self.coverage {
            console.out("EXECUTING TEST TO OBTAIN COVERAGE...");
            let mut watcher = FirstStepWatcher::default();
            replay(system, test, &ReplayOptions { check }, &mut watcher)?;
            return match watcher.error {
                Some(error) => Err(error.into()),
                None => Ok(Box::new(Touches(system.touched()))),
            };
        }
        if !self.match_exception {
            return Ok(goals::failure_goal(None));
        }
        console.out("RUNNING TO OBTAIN FAILURE FOR EXCEPTION MATCHING...");
        let trace = replay(system, test, &ReplayOptions { check }, &mut ())?;
        let Some(failure) = trace.failure() else {
            let message = "the test does not fail, so there is no exception to match";
            return Err(Error::new(message).into());
        };
        tstl_text::print_error(console, &system.exception_tuple(&failure.message), failure);
        Ok(goals::failure_goal(Some(failure)))
    }
}

/// Generalizes a test and renders the result.
pub(super) fn generalization<S: System + ?Sized>(
    system: &mut S,
    goal: &mut dyn ShrinkGoal<S>,
    test: &Test,
    options: &ReduceOptions,
    fresh: bool,
) -> Result<String, Error> {
    let catalog = system.actions().clone();
    let mut proceed = || !testwright_python::is_interrupted();
    let generalized = Shrinker::new(system, goal, options, &mut proceed).generalize(
        test,
        &GeneralizeOptions {
            speed: Speed::Fast,
            fresh,
        },
    );
    let generalized = generalized.map_err(|error| match error {
        ReduceError::Error(error) => error,
        error => Error::new(format!("the test cannot be generalized: {error}")),
    })?;
    Ok(generalized.render(&|step| tstl_text::step_text(&catalog, &step)))
}
