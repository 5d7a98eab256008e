//! `testwright generalize`: other tests that fail in the same way.

use std::path::PathBuf;
use std::time::Instant;

use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::{
    GeneralizeOptions, ReduceError, ReduceOptions, SameFailure, Shrinker, Speed,
};
use testwright_core::{Error, Step, Test};
use testwright_python::OutputMode;

use super::replay::UntilInterrupted;
use crate::console::Console;
use crate::files::TextFile;
use crate::target::Target;
use crate::test_source::TestSetup;
use crate::throttle::Throttle;
use crate::{CommandError, ExitStatus, duration, quantity, report};

/// Show which other values make a failing test fail too
///
/// Shows for each step which other actions could take its place, and whether a fresh value would do. Also
/// shows which steps can swap places, and which can be in any order. Conclusions from samples are marked as
/// probable. Reduce the test first, or better, normalize it.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright generalize failure-1.test
  testwright generalize failure-1.test --thorough

Exit status: 1 the test fails (as it should), 2 could not do what was asked."
)]
pub(crate) struct GeneralizeCommand {
    /// Saved test that fails
    test: PathBuf,

    /// Spend more time to find other values
    #[arg(long)]
    thorough: bool,

    /// Do not look for fresh values
    #[arg(long)]
    no_fresh: bool,

    #[command(flatten)]
    setup: TestSetup,
}

impl GeneralizeCommand {
    /// Runs the command.
    pub(crate) fn run(mut self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let source = self.setup.restore(std::slice::from_ref(&self.test))?;
        let options = self.setup.options(&source, OutputMode::Drop)?;
        let saved = TextFile::read(&self.test)?;
        let work = |console: &mut Console<'_>, system: &mut dyn Target, test: Test| {
            self.generalize(console, system, &test)
        };
        source
            .read(console)?
            .with_test(console, saved, &options, &self.setup.system, work)
    }

    /// Generalizes a failing test, and prints the result.
    fn generalize(
        &self,
        console: &mut Console<'_>,
        system: &mut dyn Target,
        test: &Test,
    ) -> Result<ExitStatus, CommandError> {
        let check = self.setup.check();
        let trace = replay(
            system,
            test,
            &ReplayOptions { check },
            &mut UntilInterrupted,
        )?;
        if trace.interrupted {
            return Err(CommandError::Interrupted);
        }
        let Some(failure) = trace.failure().cloned() else {
            let message = format!("the test `{}` does not fail", self.test.display());
            let error = Error::new(message).with_help("only a failing test can be generalized");
            return Err(error.into());
        };
        let started = Instant::now();
        let mut throttle = Throttle::new();
        let mut proceed = || {
            let Some(now) = throttle.poll() else {
                return true;
            };
            console.status(|| format!("generalizing, {}", duration::show(now - started)));
            !testwright_python::is_interrupted()
        };
        let mut goal = SameFailure(failure.clone());
        let options = ReduceOptions {
            check,
            ..ReduceOptions::default()
        };
        let catalog = system.actions().clone();
        let mut shrinker = Shrinker::new(system, &mut goal, &options, &mut proceed);
        let options = GeneralizeOptions {
            speed: if self.thorough {
                Speed::Thorough
            } else {
                Speed::Fast
            },
            fresh: !self.no_fresh,
        };
        let found = shrinker.generalize(test, &options);
        let runs = shrinker.effort().runs;
        drop(shrinker);
        console.clear_status();
        let found = found.map_err(|error| match error {
            ReduceError::Error(error) => error,
            error => Error::new(format!("`{}`: {error}", self.test.display())),
        })?;
        let text = found.render(&|step| match step {
            Step::Act(action) => catalog.text(action),
            Step::Restart => String::from("<<RESTART>>"),
        });
        console.out(text.trim_end());
        report::print_failure(console, &failure, 0);
        console.err(format_args!(
            "{} in {}",
            quantity::format_count(runs, "run"),
            duration::show(started.elapsed())
        ));
        Ok(ExitStatus::FailureFound)
    }
}
