//! `testwright regress`: replay a suite of saved tests.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use testwright_core::Trace;
use testwright_core::replay::{ReplayOptions, replay};
use testwright_python::{Options, Output};
use testwright_report::Attribution;
use testwright_report::junit::{TestCase, TestSuite, Verdict, junit};

use super::SystemArguments;
use super::replay::UntilInterrupted;
use crate::belonging::HarnessArgument;
use crate::console::{Console, Look};
use crate::coverage::{CoverageArguments, Reached};
use crate::files::{Destination, TextFile};
use crate::subject::Subject;
use crate::{ExitStatus, Trouble, duration, load, quantity, report};

/// Replay a suite of saved tests, and report like a test runner
///
/// A folder stands for all `.test` files in it and below. Tests that fail are shown with their failure,
/// tests that the harness does not understand any more are counted as broken; the others run all the same.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright regress saved
  testwright regress saved/*.test --junit results.xml
  testwright regress saved --coverage      what do they reach together?

Exit status: 0 all tests pass, 1 a test fails, 2 a test is broken or what was asked could not be done."
)]
pub(crate) struct Regress {
    /// Tests, and folders with tests
    #[arg(required = true, value_name = "TEST|FOLDER")]
    tests: Vec<PathBuf>,

    #[command(flatten)]
    harness: HarnessArgument,

    /// Write the results as JUnit's XML, too
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Stop at the first test that does not pass
    #[arg(long, short = 'x')]
    stop: bool,

    /// Name the tests that pass, too
    #[arg(long, short)]
    verbose: bool,

    #[command(flatten)]
    coverage: CoverageArguments,

    #[command(flatten)]
    system: SystemArguments,
}

impl Regress {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        let files = load::test_files(&self.tests)?;
        let results = self
            .junit
            .as_deref()
            .map(|path| Destination::prepare(path, &[]));
        let results = results.transpose()?;
        let reports = self.coverage.prepare()?;
        let source = self.harness.of(&self.tests)?;
        let options = Options {
            measured: self.coverage.measured_for(&source)?,
            ..self.system.options_for(&source, Output::Drop)?
        };
        let name = source.shown();
        let ready = source.read(console)?;
        ready.with_subject(console, &options, &self.system, |console, system| {
            let mut reached = Reached::since_loading(Attribution::Every, system.collector());
            let cases = self.replay_all(console, system, files, &mut reached)?;
            let status = say_summary(console, &cases);
            if let Some(collector) = system.collector() {
                let report = reached.into_report(collector, &reports);
                reports.write(console, &report, |console, table| console.say(table))?;
            }
            let suite = TestSuite { name, cases };
            match results {
                Some(Destination::File(place)) => place.write(&junit(&suite))?,
                Some(Destination::StandardOutput) => console.say(junit(&suite).trim_end()),
                None => {}
            }
            Ok(status)
        })
    }

    fn replay_all(
        &self,
        console: &mut Console<'_>,
        system: &mut dyn Subject,
        files: Vec<TextFile>,
        reached: &mut Reached,
    ) -> Result<Vec<TestCase>, Trouble> {
        let options = ReplayOptions {
            check: !self.system.no_check,
        };
        let mut cases = Vec::new();
        for file in files {
            let started = Instant::now();
            let name = file.name.clone();
            if let Some(collector) = system.collector() {
                collector.begin_anew()?;
            }
            let verdict = match load::test(console, system, file) {
                Ok((_, test)) => {
                    let trace = replay(system, &test, &options, &mut UntilInterrupted)?;
                    if trace.interrupted {
                        return Err(Trouble::Interrupted);
                    }
                    self.say_trace(console, &name, &trace);
                    verdict(system, &trace)
                }
                Err(trouble) => {
                    if let Trouble::Error(error) = &trouble {
                        console.error(error);
                    } else if matches!(trouble, Trouble::Interrupted) {
                        return Err(trouble);
                    }
                    let message = String::from("the harness does not know all of its steps");
                    Verdict::Broken { message }
                }
            };
            if let Some(collector) = system.collector() {
                reached.note(|| name.clone(), collector.current().iter().collect());
            }
            let stop = self.stop && verdict != Verdict::Passed;
            cases.push(TestCase {
                name,
                time: started.elapsed(),
                verdict,
            });
            if stop {
                break;
            }
        }
        Ok(cases)
    }

    fn say_trace(&self, console: &mut Console<'_>, name: &str, trace: &Trace) {
        match trace.failure() {
            Some(failure) => {
                let steps = quantity::of(trace.events.len() as u64, "step");
                let words = console.paint(Look::Bad, format_args!("fails after {steps}"));
                console.say(format_args!("{name}: {words}"));
                report::say_failure(console, failure, 4);
            }
            None if self.verbose => {
                let words = console.paint(Look::Good, "passes");
                console.say(format_args!("{name}: {words}"));
            }
            None => {}
        }
        console.flush();
    }
}

fn verdict(system: &dyn Subject, trace: &Trace) -> Verdict {
    let Some(failure) = trace.failure() else {
        return Verdict::Passed;
    };
    let mut details = report::events(system.actions(), &trace.events);
    if !failure.details.is_empty() {
        details.push(failure.details.clone());
    }
    Verdict::Failed {
        kind: failure.kind.name().to_owned(),
        message: failure.message.clone(),
        details: details.join("\n"),
    }
}

fn say_summary(console: &mut Console<'_>, cases: &[TestCase]) -> ExitStatus {
    let count = |wanted: fn(&Verdict) -> bool| {
        let found = cases.iter().filter(|case| wanted(&case.verdict));
        found.count() as u64
    };
    let failed = count(|verdict| matches!(verdict, Verdict::Failed { .. }));
    let broken = count(|verdict| matches!(verdict, Verdict::Broken { .. }));
    let time: Duration = cases.iter().map(|case| case.time).sum();
    let words = match (failed, broken) {
        (0, 0) => console.paint(Look::Good, "all pass"),
        (0, broken) => console.paint(Look::Bad, format_args!("{broken} broken")),
        (failed, 0) => console.paint(Look::Bad, format_args!("{failed} failed")),
        (failed, broken) => {
            console.paint(Look::Bad, format_args!("{failed} failed, {broken} broken"))
        }
    };
    console.say(format_args!(
        "{} in {}: {words}",
        quantity::of(cases.len() as u64, "test"),
        duration::show(time)
    ));
    match (failed, broken) {
        (_, 1..) => ExitStatus::CouldNot,
        (1.., 0) => ExitStatus::FailureFound,
        (0, 0) => ExitStatus::NothingFound,
    }
}
