//! `testwright reduce`: reduce a saved test to a minimal one.

use std::path::{Path, PathBuf};

use serde::Serialize;
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::{ReduceError, ReduceMethod, ReduceOptions, Speed};
use testwright_core::{Catalog, Error, Failure, Test, saved};
use testwright_python::OutputMode;

use super::replay::UntilInterrupted;
use super::run::fails_alone;
use crate::console::Console;
use crate::files::{Destination, TextFile};
use crate::reduction::{self, ReducedTest, ReductionGoal};
use crate::source::SystemSource;
use crate::target::Target;
use crate::test_source::TestSetup;
use crate::{CommandError, ExitStatus, report};

/// Shorten a failing test to the steps that matter
///
/// The reduced test fails in the same way, and every step is needed. It is written beside the test, as
/// NAME.reduced.test for NAME.test, or to the file named by `--out`. Ctrl-C ends the reduction with the
/// best test so far.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright reduce failure-1.full.test
  testwright reduce long.test --out short.test

Exit status: 1 the reduced test fails (as it should), 2 could not do what was asked."
)]
pub(crate) struct ReduceCommand {
    /// Saved test that fails
    test: PathBuf,

    /// Use classic delta debugging instead of the faster greedy method
    #[arg(long)]
    ddmin: bool,

    /// Keep the action in which the test fails
    #[arg(long)]
    keep_last: bool,

    /// File to write the reduced test to, `-` for standard output [default: NAME.reduced.test]
    #[arg(long, alias = "output", short_alias = 'o', value_name = "FILE")]
    out: Option<PathBuf>,

    /// Print the result as one JSON object, and nothing else on standard output
    #[arg(long)]
    json: bool,

    /// Goal of the reduction; `normalize` sets another one.
    #[arg(skip = ReductionGoal::Short)]
    aim: ReductionGoal,

    #[command(flatten)]
    setup: TestSetup,
}

impl ReduceCommand {
    /// Returns the command that `normalize` runs.
    pub(super) fn normalizing(
        test: PathBuf,
        out: Option<PathBuf>,
        json: bool,
        speed: Speed,
        setup: TestSetup,
    ) -> ReduceCommand {
        ReduceCommand {
            out: Some(out.unwrap_or_else(|| sibling_path(&test, "normal"))),
            test,
            ddmin: false,
            keep_last: false,
            json,
            aim: ReductionGoal::Normal(speed),
            setup,
        }
    }

    /// Runs the command.
    pub(crate) fn run(mut self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let source = self.setup.restore(std::slice::from_ref(&self.test))?;
        let options = self.setup.options(&source, OutputMode::Drop)?;
        let destination = self.destination(&source)?;
        let saved = TextFile::read(&self.test)?;
        let reduce =
            |console: &mut Console<'_>, system: &mut dyn Target, test: Test, is_sure: bool| {
                let failure = self.find_failure(system, &test)?;
                let reduced = reduction::reduce(
                    console,
                    system,
                    &test,
                    (&failure, None),
                    &self.options(),
                    self.aim,
                )
                .map_err(|error| self.reduction_error(error))?;
                let text = self.text(&source, system.actions(), &reduced);
                system.mark_own_work();
                let setup = (&self.setup.system, &self.setup.stepper);
                if !is_sure && fails_alone(setup, &source, system, &text) == Some(false) {
                    return Ok(ExitStatus::NothingFound);
                }
                if self.json {
                    let report = ReduceReport {
                        file: destination
                            .file()
                            .map(|file| file.shown().display().to_string()),
                        ..ReduceReport::new(&reduced, test.len(), system.actions())
                    };
                    console.out(report.to_json());
                    destination
                        .file()
                        .map(|file| file.write(&text))
                        .transpose()?;
                    return Ok(ExitStatus::FailureFound);
                }
                let Some(file) = destination.file() else {
                    console.err(reduced.summary.trim_end_matches(':'));
                    console.out(text.trim_end());
                    return Ok(ExitStatus::FailureFound);
                };
                // Printed first, so that the result is not lost if the file cannot be written.
                console.out(reduced.summary);
                console.out("");
                report::print_test(console, system.actions(), &reduced.test, &reduced.failure);
                console.out("");
                file.write(&text)?;
                console.out(format_args!("Written to {}", file.shown().display()));
                Ok(ExitStatus::FailureFound)
            };
        let arguments = &self.setup.system;
        let ready = source.clone().read(console)?;
        let is_sure = source.is_models() || !options.reset_modules;
        let work = |console: &mut Console<'_>, system: &mut dyn Target, test| {
            reduce(console, system, test, is_sure)
        };
        let status = ready.with_test(console, saved.clone(), &options, arguments, work)?;
        // A copy returns the number of its status.
        if status.code() != ExitStatus::NothingFound.code() {
            return Ok(status);
        }
        // The runs of the reduction have influenced each other.
        let ready = source.clone().read(console)?;
        let work = |console: &mut Console<'_>, system: &mut dyn Target, test| {
            reduce(console, system, test, true)
        };
        ready.with_test_in_new_processes(console, saved, &options, arguments, work)
    }

    /// Returns the output file. It may replace the test, but not the harness.
    fn destination(&self, source: &SystemSource) -> Result<Destination, Error> {
        let path = self
            .out
            .clone()
            .unwrap_or_else(|| sibling_path(&self.test, "reduced"));
        let files = source.files();
        let protected: Vec<(&Path, &str)> =
            files.iter().map(|file| (&**file, "the harness")).collect();
        Destination::prepare(&path, &protected)
    }

    /// Returns the saved form of the reduced test.
    fn text(&self, source: &SystemSource, catalog: &Catalog, reduced: &ReducedTest) -> String {
        let Failure { kind, message, .. } = &reduced.failure;
        let mut notes = self.setup.notes(source);
        notes.extend([
            note("reduced-from", self.test.display()),
            note("failure", format_args!("{kind}: {message}")),
        ]);
        saved::write(catalog, &reduced.test, &notes)
    }

    /// Returns the options of the reduction.
    fn options(&self) -> ReduceOptions {
        ReduceOptions {
            method: if self.ddmin {
                ReduceMethod::Ddmin
            } else {
                ReduceMethod::Greedy
            },
            keep_last: self.keep_last,
            check: self.setup.check(),
        }
    }

    /// Replays the test, and returns its failure. Fails if there is none.
    fn find_failure(&self, system: &mut dyn Target, test: &Test) -> Result<Failure, Error> {
        let options = ReplayOptions {
            check: self.setup.check(),
        };
        let trace = replay(system, test, &options, &mut UntilInterrupted)?;
        if trace.interrupted {
            return Err(Error::new(
                "interrupted before the test came to its failure",
            ));
        }
        trace.failure().cloned().ok_or_else(|| {
            Error::new(format!(
                "the test `{}` does not fail, so there is nothing to reduce",
                self.test.display()
            ))
            .with_help("`testwright replay --verbose` shows what it does")
        })
    }

    /// Converts an error of the reduction.
    fn reduction_error(&self, error: ReduceError) -> Error {
        match error {
            ReduceError::Error(error) => error,
            not_reproduced => Error::new(format!("`{}` cannot be reduced: {not_reproduced}", self.test.display()))
                .with_help("the system depends on something besides the test: time, chance, files, an earlier test"),
        }
    }
}

/// A reduction for scripts. Field names are the keys of the JSON output and must not change.
#[derive(Serialize)]
struct ReduceReport {
    kind: &'static str,
    message: String,
    /// Number of steps of the reduced test.
    steps: usize,
    /// Number of steps of the test before.
    full_steps: usize,
    /// Number of tests that were run.
    runs: u64,
    /// Number of steps in these tests.
    steps_in_runs: u64,
    /// False if the reduction was stopped early.
    complete: bool,
    /// Steps of the reduced test, as in its file.
    test: Vec<String>,
    /// Path of the reduced test; `null` if it was only printed.
    file: Option<String>,
}

impl ReduceReport {
    /// Builds the report.
    fn new(reduced: &ReducedTest, full_steps: usize, catalog: &Catalog) -> ReduceReport {
        ReduceReport {
            kind: reduced.failure.kind.name(),
            message: reduced.failure.message.clone(),
            steps: reduced.test.len(),
            full_steps,
            runs: reduced.effort.runs,
            steps_in_runs: reduced.effort.steps,
            complete: reduced.complete,
            test: report::step_labels(catalog, &reduced.test),
            file: None,
        }
    }

    /// Formats the report as one JSON object.
    fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and strings are always JSON")
    }
}

/// Returns a note for a saved test.
fn note(name: &str, text: impl ToString) -> (String, String) {
    (name.to_owned(), text.to_string())
}

/// Returns the path beside a test with another ending: `NAME.reduced.test` for `NAME.test` or
/// `NAME.full.test`.
fn sibling_path(test: &Path, word: &str) -> PathBuf {
    let name = test.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".test").unwrap_or(&name);
    let stem = stem.strip_suffix(".full").unwrap_or(stem);
    test.with_file_name(format!("{stem}.{word}.test"))
}
