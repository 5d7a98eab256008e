//! `testwright regress`: replay a suite of saved tests.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use testwright_core::Trace;
use testwright_core::replay::{ReplayOptions, replay};
use testwright_python::{Options, OutputMode};
use testwright_report::Attribution;
use testwright_report::junit::{CaseVerdict, TestCase, TestSuite, junit};

use super::replay::{NOTHING_TAKEN, UntilInterrupted, skipped_text};
use crate::console::{Console, TextStyle};
use crate::coverage::{CoverageArguments, TestCoverage};
use crate::files::{Destination, TextFile};
use crate::target::Target;
use crate::test_source::TestSetup;
use crate::{CommandError, ExitStatus, duration, load, quantity, report};

/// Replay a suite of saved tests, and report like a test runner
///
/// A folder stands for all `.test` files in it and below. Failing tests are shown with their failure. Tests
/// that no longer fit the harness are counted as broken, and the others still run.
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
pub(crate) struct RegressCommand {
    /// Saved tests, and folders with tests
    #[arg(required = true, value_name = "TEST|FOLDER")]
    tests: Vec<PathBuf>,

    /// File to write the results to as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Stop at the first test that does not pass
    #[arg(long, short = 'x')]
    stop: bool,

    /// Also name the tests that pass
    #[arg(long, short)]
    verbose: bool,

    #[command(flatten)]
    coverage: CoverageArguments,

    #[command(flatten)]
    setup: TestSetup,
}

impl RegressCommand {
    /// Runs the command.
    pub(crate) fn run(mut self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let files = load::test_files(&self.tests)?;
        let results = self
            .junit
            .as_deref()
            .map(|path| Destination::prepare(path, &[]));
        let results = results.transpose()?;
        let reports = self.coverage.prepare()?;
        let source = self.setup.restore(&self.tests)?;
        let options = Options {
            measured: self.coverage.measured_for(&source)?,
            ..self.setup.options(&source, OutputMode::Drop)?
        };
        let name = source.display_name();
        let ready = source.read(console)?;
        ready.with_target(console, &options, &self.setup.system, |console, system| {
            let mut reached = TestCoverage::with_loading(Attribution::Every, system.collector());
            let planned = files.len();
            let cases = self.replay_all(console, system, files, &mut reached)?;
            let is_interrupted = testwright_python::is_interrupted();
            let status = print_summary(console, &cases, planned, is_interrupted);
            if let Some(collector) = system.collector() {
                let report = reached.into_report(collector, &reports);
                reports.write(console, &report, |console, table| console.out(table))?;
            }
            let suite = TestSuite { name, cases };
            match results {
                Some(Destination::File(file)) => file.write(&junit(&suite))?,
                Some(Destination::StandardOutput) => console.out(junit(&suite).trim_end()),
                None => {}
            }
            Ok(status)
        })
    }

    /// Replays all tests. A test with unknown steps counts as broken.
    fn replay_all(
        &self,
        console: &mut Console<'_>,
        system: &mut dyn Target,
        files: Vec<TextFile>,
        reached: &mut TestCoverage,
    ) -> Result<Vec<TestCase>, CommandError> {
        let options = ReplayOptions {
            check: self.setup.check(),
        };
        let mut cases = Vec::new();
        for file in files {
            let started = Instant::now();
            let name = file.name.clone();
            if let Some(collector) = system.collector() {
                collector.reset_current()?;
            }
            let verdict = match load::test(console, system, file) {
                Ok((_, test)) => {
                    let trace = replay(system, &test, &options, &mut UntilInterrupted)?;
                    if trace.interrupted {
                        break;
                    }
                    self.print_trace(console, &name, &trace);
                    verdict(system, &trace)
                }
                Err(load_error) => {
                    if let CommandError::Error(error) = &load_error {
                        console.error(error);
                    } else if matches!(load_error, CommandError::Interrupted) {
                        break;
                    }
                    let message = String::from("the harness does not know all of its steps");
                    CaseVerdict::Broken { message }
                }
            };
            if let Some(collector) = system.collector() {
                reached.add_test(|| name.clone(), collector.current().iter().collect());
            }
            let has_passed = matches!(
                verdict,
                CaseVerdict::Passed | CaseVerdict::PassedInPart { .. }
            );
            let stop = self.stop && !has_passed;
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

    /// Prints the result of a test.
    fn print_trace(&self, console: &mut Console<'_>, name: &str, trace: &Trace) {
        match trace.failure() {
            Some(failure) => {
                let steps = quantity::format_count(trace.events.len() as u64, "step");
                let text = console.paint(TextStyle::Failure, format_args!("fails after {steps}"));
                console.out(format_args!("{name}: {text}"));
                report::print_failure(console, failure, 4);
            }
            None if !trace.has_taken_step() => {
                let text = console.paint(TextStyle::Failure, NOTHING_TAKEN);
                console.out(format_args!("{name}: {text}"));
            }
            None if self.verbose || trace.skipped_steps() > 0 => {
                let text = console.paint(TextStyle::Success, "passes");
                let steps = quantity::format_count(trace.events.len() as u64, "step");
                match skipped_text(trace).as_str() {
                    "" => console.out(format_args!("{name}: {text}")),
                    skipped => console.out(format_args!("{name}: {text} ({steps}{skipped})")),
                }
            }
            None => {}
        }
        console.flush();
    }
}

/// Returns the verdict on a test for JUnit.
fn verdict(system: &dyn Target, trace: &Trace) -> CaseVerdict {
    let Some(failure) = trace.failure() else {
        return if trace.skipped_steps() > 0 && trace.has_taken_step() {
            let steps = quantity::format_count(trace.events.len() as u64, "step");
            let note = format!("{steps}{}", skipped_text(trace));
            CaseVerdict::PassedInPart { note }
        } else if trace.has_taken_step() {
            CaseVerdict::Passed
        } else {
            let message = NOTHING_TAKEN.to_owned();
            CaseVerdict::Broken { message }
        };
    };
    let mut details = report::event_lines(system.actions(), &trace.events);
    if !failure.details.is_empty() {
        details.push(failure.details.clone());
    }
    CaseVerdict::Failed {
        kind: failure.kind.name().to_owned(),
        message: failure.message.clone(),
        details: details.join("\n"),
    }
}

/// Prints the numbers of tests, and returns the exit status.
fn print_summary(
    console: &mut Console<'_>,
    cases: &[TestCase],
    planned: usize,
    is_interrupted: bool,
) -> ExitStatus {
    let count = |is_counted: fn(&CaseVerdict) -> bool| {
        let found = cases.iter().filter(|case| is_counted(&case.verdict));
        found.count() as u64
    };
    let failed = count(|verdict| matches!(verdict, CaseVerdict::Failed { .. }));
    let broken = count(|verdict| matches!(verdict, CaseVerdict::Broken { .. }));
    let time: Duration = cases.iter().map(|case| case.time).sum();
    let text = match (failed, broken) {
        (0, 0) if is_interrupted => "none failed".to_owned(),
        (0, 0) => console.paint(TextStyle::Success, "all pass"),
        (0, broken) => console.paint(TextStyle::Failure, format_args!("{broken} broken")),
        (failed, 0) => console.paint(TextStyle::Failure, format_args!("{failed} failed")),
        (failed, broken) => console.paint(
            TextStyle::Failure,
            format_args!("{failed} failed, {broken} broken"),
        ),
    };
    let tests = quantity::format_count(cases.len() as u64, "test");
    let time = duration::show(time);
    if is_interrupted {
        console.out(format_args!(
            "interrupted after {tests} of {planned} in {time}: {text}"
        ));
    } else {
        console.out(format_args!("{tests} in {time}: {text}"));
    }
    match (failed, broken) {
        (_, 1..) => ExitStatus::Error,
        (0, 0) if is_interrupted => ExitStatus::Error,
        (1.., 0) => ExitStatus::FailureFound,
        (0, 0) => ExitStatus::NothingFound,
    }
}
