//! A failing test: kept, reduced, shown.

use std::path::{Path, PathBuf};

use testwright_core::generate::{Found, Search};
use testwright_core::shrink::{ReduceError, ReduceOptions};
use testwright_core::{Error, Failure, System, Test, saved};
use testwright_python::{Output, PythonSystem, Style};

use super::Run;
use crate::console::{Console, Look};
use crate::files::OutputFolder;
use crate::reducing::{self, Reduced};
use crate::{quantity, report};

/// A failure, as it was kept.
pub(super) struct Finding {
    pub(super) number: usize,
    pub(super) failure: Failure,
    /// The reduced test, or the full one where there is none.
    pub(super) test: Test,
    pub(super) full_steps: usize,
    /// Where `test` is.
    pub(super) file: PathBuf,
    /// In how many tests it came up.
    pub(super) times: u64,
    /// Whether it failed the same way when it was run again.
    pub(super) reproduced: bool,
}

/// Where findings are taken in.
pub(super) struct Desk<'a> {
    pub(super) run: &'a Run,
    pub(super) folder: OutputFolder,
    pub(super) plan: Search,
}

impl Desk<'_> {
    /// Keeps a failing test before anything else is done with it, then reduces, writes and shows it.
    pub(super) fn take_in(
        &mut self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        found: Found,
        number: usize,
    ) -> Result<Finding, Error> {
        system.flush();
        self.announce(console, &found, number);
        let notes = self.notes(found.number, &found.failure);
        let full_text = saved::write(system.actions(), &found.test, &notes);
        let full_name = format!("failure-{number}.full.test");
        let full_file = self.folder.write(&full_name, &full_text)?;
        let reduction = self.reduce(console, system, &found);
        let mut finding = Finding {
            number,
            full_steps: found.test.len(),
            failure: found.failure,
            test: found.test,
            file: full_file.clone(),
            times: 1,
            reproduced: true,
        };
        match reduction {
            Ok(reduced) => {
                finding.test = reduced.test;
                finding.failure = reduced.failure;
                let notes = self.notes(found.number, &finding.failure);
                let text = saved::write(system.actions(), &finding.test, &notes);
                let name = format!("failure-{number}.test");
                finding.file = self.folder.write(&name, &text)?;
                let standalone = self.write_standalone(console, system, &finding)?;
                console.say(reduced.story);
                self.show(console, system, &finding, &full_file, standalone.as_deref());
            }
            Err(ReduceError::NotReproduced(other)) => {
                finding.reproduced = false;
                self.show_flaky(console, &finding, other.as_ref());
            }
            Err(ReduceError::Error(error)) => return Err(error),
        }
        console.flush();
        Ok(finding)
    }

    /// Reduces a test, if that is wanted. What the system prints meanwhile helps nobody.
    fn reduce(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        found: &Found,
    ) -> Result<Reduced, ReduceError> {
        let (test, failure) = (&found.test, &found.failure);
        if self.run.no_reduce {
            return Ok(Reduced::unchanged(test, failure, "as you wished"));
        }
        system.set_output(Output::Drop)?;
        let reduced = reducing::reduce(console, system, test, failure, &self.options());
        system.set_output(self.run.output())?;
        reduced
    }

    fn options(&self) -> ReduceOptions {
        ReduceOptions {
            check: self.plan.check,
            ..ReduceOptions::default()
        }
    }

    fn notes(&self, number: u64, failure: &Failure) -> Vec<(String, String)> {
        let note = |name: &str, text: String| (name.to_owned(), text);
        vec![
            note("harness", self.run.harness.display().to_string()),
            note("seed", format!("{}, test {}", self.plan.seed, number + 1)),
            note("failure", format!("{}: {}", failure.kind, failure.message)),
        ]
    }

    fn announce(&self, console: &mut Console<'_>, found: &Found, number: usize) {
        let title = console.paint(Look::Bad, format_args!("Failure {number}"));
        console.say("");
        console.say(format_args!(
            "{title} in test {}, after {}: {}: {}",
            quantity::grouped(found.number + 1),
            quantity::of(found.test.len() as u64, "step"),
            report::in_words(found.failure.kind),
            found.failure.message,
        ));
        console.flush();
    }

    /// Writes the pytest file. That it cannot be written as one is worth a word, but no reason to stop.
    fn write_standalone(
        &mut self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        finding: &Finding,
    ) -> Result<Option<PathBuf>, Error> {
        let name = format!("test_failure_{}.py", finding.number);
        let file = self.folder.file(&name);
        let title = format!("failure_{}", finding.number);
        match system.standalone(&finding.test, Style::Pytest, &title, Some(&file)) {
            Ok(text) => self.folder.write(&name, &text).map(Some),
            Err(error) => {
                let message = format!(
                    "there is no pytest file for this failure: {}",
                    error.message
                );
                console.warning(&message, error.help.as_deref());
                Ok(None)
            }
        }
    }

    fn show(
        &self,
        console: &mut Console<'_>,
        system: &PythonSystem<'_>,
        finding: &Finding,
        full: &Path,
        standalone: Option<&Path>,
    ) {
        console.say("");
        report::say_test(console, system.actions(), &finding.test, &finding.failure);
        console.say("");
        let mut files = vec![
            (finding.file.as_path(), "this test"),
            (full, "the test as it was found"),
        ];
        files.extend(standalone.map(|file| (file, "this test for pytest, without Testwright")));
        say_files(console, &files);
        self.say_how_to_replay(console, finding);
    }

    fn show_flaky(&self, console: &mut Console<'_>, finding: &Finding, other: Option<&Failure>) {
        let instead = match other {
            None => "it passes".to_owned(),
            Some(failure) => format!(
                "it fails with {}: {}",
                report::in_words(failure.kind),
                failure.message
            ),
        };
        console.say(format_args!(
            "Run again, the test does not do the same: {instead}."
        ));
        console.say("So the system depends on something besides the test (time, chance, files, the memory of");
        console.say("an earlier test), and the test is kept as it was found, not reduced.");
        console.say("");
        say_files(
            console,
            &[(finding.file.as_path(), "the test as it was found")],
        );
        self.say_how_to_replay(console, finding);
    }

    fn say_how_to_replay(&self, console: &mut Console<'_>, finding: &Finding) {
        let check = if self.plan.check { "" } else { " --no-check" };
        console.say("");
        console.say(format_args!(
            "To see it again: testwright replay {} --harness {}{check}",
            report::shell_word(&finding.file),
            report::shell_word(&self.run.harness),
        ));
        console.say("");
    }
}

/// Says which file is what, in two columns.
fn say_files(console: &mut Console<'_>, files: &[(&Path, &str)]) {
    let width = files
        .iter()
        .map(|(path, _)| path.display().to_string().chars().count())
        .max()
        .unwrap_or(0);
    for (path, meaning) in files {
        let path = format!("{:width$}", path.display().to_string());
        let meaning = console.paint(Look::Quiet, meaning);
        console.say(format_args!("  {path}  {meaning}"));
    }
}
