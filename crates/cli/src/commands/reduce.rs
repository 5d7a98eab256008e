//! `testwright reduce`: shorten a saved test.

use std::path::{Path, PathBuf};

use serde::Serialize;
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::{Method, ReduceError, ReduceOptions, Speed};
use testwright_core::{Catalog, Error, Failure, Test, saved};
use testwright_python::Output;

use super::replay::UntilInterrupted;
use super::{StepperArgument, SystemArguments};
use crate::belonging::HarnessArgument;
use crate::console::Console;
use crate::files::{Destination, TextFile};
use crate::reducing::{self, Aim, Reduced};
use crate::source::Source;
use crate::subject::Subject;
use crate::{ExitStatus, Trouble, report};

/// Shorten a failing test to the steps that matter
///
/// The result fails in the same way, and no step of it can be left out. It is written beside the test,
/// as NAME.reduced.test for NAME.test, unless `-o` says otherwise. Ctrl-C ends the work with the best
/// test so far.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright reduce failure-1.full.test
  testwright reduce long.test -o short.test

Exit status: 1 the reduced test fails (as it should), 2 could not do what was asked."
)]
pub(crate) struct Reduce {
    /// The test, which must fail
    test: PathBuf,

    #[command(flatten)]
    harness: HarnessArgument,

    /// Use classic delta debugging instead of the faster greedy way
    #[arg(long)]
    ddmin: bool,

    /// The test must go on failing in the action that it fails in now
    #[arg(long)]
    keep_last: bool,

    /// Where to write the reduced test, `-` for standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print the result as one JSON object, and nothing else on standard output
    #[arg(long)]
    json: bool,

    /// `normalize` does more.
    #[arg(skip = Aim::Short)]
    aim: Aim,

    #[command(flatten)]
    stepper: StepperArgument,

    #[command(flatten)]
    system: SystemArguments,
}

impl Reduce {
    /// The same for a test that is to be normalised.
    pub(super) fn normalizing(
        test: PathBuf,
        harness: HarnessArgument,
        output: Option<PathBuf>,
        json: bool,
        speed: Speed,
        system: SystemArguments,
    ) -> Reduce {
        Reduce {
            output: Some(output.unwrap_or_else(|| beside(&test, "normal"))),
            test,
            harness,
            ddmin: false,
            keep_last: false,
            json,
            aim: Aim::Normal(speed),
            stepper: StepperArgument::default(),
            system,
        }
    }

    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        let source = self.harness.of(std::slice::from_ref(&self.test))?;
        let options = self.system.options_for(&source, Output::Drop)?;
        let options = self
            .stepper
            .put_into(options, &source, self.system.step_timeout)?;
        let destination = self.destination(&source)?;
        let saved = TextFile::read(&self.test)?;
        let work = |console: &mut Console<'_>, system: &mut dyn Subject, test: Test| {
            let failure = self.failure(system, &test)?;
            let reduced =
                reducing::reduce(console, system, &test, &failure, &self.options(), self.aim)
                    .map_err(|error| self.explain(error))?;
            let text = self.text(&source, system.actions(), &reduced);
            if self.json {
                let report = Report {
                    file: destination
                        .file()
                        .map(|place| place.shown().display().to_string()),
                    ..Report::new(&reduced, test.len(), system.actions())
                };
                console.say(report.to_json());
                destination
                    .file()
                    .map(|place| place.write(&text))
                    .transpose()?;
                return Ok(ExitStatus::FailureFound);
            }
            let Some(place) = destination.file() else {
                console.tell(reduced.story.trim_end_matches(':'));
                console.say(text.trim_end());
                return Ok(ExitStatus::FailureFound);
            };
            // Shown first, so that the work is not in vain if the file cannot be written.
            console.say(reduced.story);
            console.say("");
            report::say_test(console, system.actions(), &reduced.test, &reduced.failure);
            console.say("");
            place.write(&text)?;
            console.say(format_args!("Written to {}", place.shown().display()));
            Ok(ExitStatus::FailureFound)
        };
        let ready = source.clone().read(console)?;
        ready.with_test(console, saved, &options, &self.system, work)
    }

    /// The test itself may be replaced, for what is left of it fails in the same way.
    fn destination(&self, source: &Source) -> Result<Destination, Error> {
        let path = self
            .output
            .clone()
            .unwrap_or_else(|| beside(&self.test, "reduced"));
        let files = source.files();
        let to_keep: Vec<(&Path, &str)> =
            files.iter().map(|file| (&**file, "the harness")).collect();
        Destination::prepare(&path, &to_keep)
    }

    fn text(&self, source: &Source, catalog: &Catalog, reduced: &Reduced) -> String {
        let Failure { kind, message, .. } = &reduced.failure;
        let mut notes = source.notes();
        notes.extend([
            note("reduced-from", self.test.display()),
            note("failure", format_args!("{kind}: {message}")),
        ]);
        saved::write(catalog, &reduced.test, &notes)
    }

    fn options(&self) -> ReduceOptions {
        ReduceOptions {
            method: if self.ddmin {
                Method::Ddmin
            } else {
                Method::Greedy
            },
            keep_last: self.keep_last,
            check: !self.system.no_check,
        }
    }

    /// How the test fails now.
    fn failure(&self, system: &mut dyn Subject, test: &Test) -> Result<Failure, Error> {
        let options = ReplayOptions {
            check: !self.system.no_check,
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

    fn explain(&self, error: ReduceError) -> Error {
        match error {
            ReduceError::Error(error) => error,
            not_reproduced => Error::new(format!("`{}` cannot be reduced: {not_reproduced}", self.test.display()))
                .with_help("the system depends on something besides the test: time, chance, files, an earlier test"),
        }
    }
}

/// A reduction for scripts. The names in here are a promise.
#[derive(Serialize)]
struct Report {
    kind: &'static str,
    message: String,
    /// Of the reduced test.
    steps: usize,
    /// Of the test as it was.
    full_steps: usize,
    /// How many tests were run.
    runs: u64,
    /// How many steps were taken in these.
    steps_in_runs: u64,
    /// False if it was stopped early.
    complete: bool,
    /// The steps of the reduced test, as they stand in the file.
    test: Vec<String>,
    /// Where the test is, unless it was to be shown only.
    file: Option<String>,
}

impl Report {
    fn new(reduced: &Reduced, full_steps: usize, catalog: &Catalog) -> Report {
        Report {
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

    fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and strings are always JSON")
    }
}

fn note(name: &str, text: impl ToString) -> (String, String) {
    (name.to_owned(), text.to_string())
}

/// `NAME.reduced.test`, say, for `NAME.test` and `NAME.full.test`.
fn beside(test: &Path, word: &str) -> PathBuf {
    let name = test.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".test").unwrap_or(&name);
    let stem = stem.strip_suffix(".full").unwrap_or(stem);
    test.with_file_name(format!("{stem}.{word}.test"))
}
