//! A failing test: kept, reduced, shown.

use std::path::PathBuf;

use testwright_core::generate::{Found, Search};
use testwright_core::shrink::{ReduceError, ReduceOptions};
use testwright_core::{Error, Failure, System, Test, saved};
use testwright_python::{Output, PythonSystem, Style};

use super::json::FailureReport;
use super::last_words::LastWords;
use super::{Run, confirm};
use crate::console::{Console, Look};
use crate::files::OutputFolder;
use crate::reducing::{self, Aim, Reduced};
use crate::{quantity, report};

/// A failure, as it was kept.
pub(super) struct Finding {
    pub(super) number: usize,
    pub(super) failure: Failure,
    /// The reduced test, or the full one where there is none.
    pub(super) test: Test,
    pub(super) full_steps: usize,
    /// Where `test` is, or was to be.
    pub(super) file: PathBuf,
    /// In how many tests it came up.
    pub(super) times: u64,
    /// Whether it failed the same way when it was run again.
    pub(super) reproduced: bool,
    papers: Vec<Paper>,
    /// Why the test could not be reduced, if the system cannot be run any more.
    pub(super) trouble: Option<Error>,
}

impl Finding {
    /// Whether all its files could be written.
    pub(super) fn is_kept(&self) -> bool {
        self.papers.iter().all(|paper| paper.is_written)
    }
}

/// A file about a finding. Its text is kept, since the system under test may delete files.
struct Paper {
    name: String,
    text: String,
    meaning: &'static str,
    is_written: bool,
}

/// Where findings are taken in.
pub(super) struct Desk<'a> {
    pub(super) run: &'a Run,
    pub(super) folder: OutputFolder,
    pub(super) plan: Search,
    pub(super) last_words: LastWords,
}

impl Desk<'_> {
    /// Keeps a failing test before anything else is done with it, then reduces, writes and shows it. Whatever goes
    /// wrong with that is told, and takes nothing away from the finding.
    pub(super) fn take_in(
        &mut self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        found: Found,
        number: usize,
    ) -> Finding {
        system.flush();
        self.announce(console, &found, number);
        let notes = self.notes(found.number, Some(&found.failure));
        let mut full = Paper {
            name: format!("failure-{number}.full.test"),
            text: saved::write(system.actions(), &found.test, &notes),
            meaning: "the test as it was found",
            is_written: false,
        };
        // If this fails, it is tried again once the test is reduced, and told then.
        let _ = self.write(&mut full);
        let mut finding = Finding {
            number,
            full_steps: found.test.len(),
            file: self.folder.file(&full.name).shown().to_owned(),
            papers: vec![full],
            failure: found.failure.clone(),
            test: found.test.clone(),
            times: 1,
            reproduced: true,
            trouble: None,
        };
        // Known already if the system gets stuck while the test is reduced.
        self.last_words
            .found(FailureReport::new(&finding, system.actions()));
        let reduced = match self.reduce(console, system, &found) {
            Ok(reduced) => reduced,
            Err(ReduceError::NotReproduced(other)) => {
                finding.reproduced = false;
                self.restore(console, &mut finding);
                let instead = match other {
                    None => "it passes".to_owned(),
                    Some(failure) => {
                        format!(
                            "it fails with {}: {}",
                            report::in_words(failure.kind),
                            failure.message
                        )
                    }
                };
                self.show_flaky(console, &finding, &instead);
                return finding;
            }
            Err(ReduceError::Error(error)) => {
                finding.trouble = Some(error);
                let reason = "since the system cannot be run any more";
                Reduced::unchanged(&finding.test, &finding.failure, reason)
            }
        };
        finding.test = reduced.test;
        finding.failure = reduced.failure;
        let notes = self.notes(found.number, Some(&finding.failure));
        let mut paper = Paper {
            name: format!("failure-{number}.test"),
            text: saved::write(system.actions(), &finding.test, &notes),
            meaning: "this test",
            is_written: false,
        };
        let _ = self.write(&mut paper);
        let mut story = reduced.story;
        if paper.is_written && self.fails_alone(system, &paper) == Some(false) {
            let full = &finding.papers[0];
            if !full.is_written || self.fails_alone(system, full) != Some(true) {
                finding.reproduced = false;
                finding.test = found.test;
                finding.failure = found.failure;
                self.folder.remove(&paper.name);
                self.restore(console, &mut finding);
                self.show_flaky(console, &finding, "in a process of its own it passes");
                return finding;
            }
            story = String::from(
                "Not reduced, since the system carries something over from one test to the next: in a process of its\n\
                 own the shorter test passes, and only this one fails:",
            );
            paper.text.clone_from(&full.text);
            paper.is_written = false;
            finding.test = found.test;
            finding.failure = found.failure;
        }
        finding.file = self.folder.file(&paper.name).shown().to_owned();
        finding.papers.insert(0, paper);
        if finding.trouble.is_none() {
            let standalone = self.standalone(console, system, &finding);
            finding.papers.extend(standalone);
        }
        self.restore(console, &mut finding);
        console.say(story);
        self.show(console, system, &finding);
        finding
    }

    /// Writes the files of a finding that are not there (any more), and tells why if that is not possible.
    pub(super) fn restore(&mut self, console: &mut Console<'_>, finding: &mut Finding) {
        let mut told = String::new();
        for paper in &mut finding.papers {
            let is_there = self.folder.file(&paper.name).absolute().is_file();
            if paper.is_written && is_there {
                continue;
            }
            if let Err(error) = self.write(paper)
                && error.message != told
            {
                console.error(&error);
                told = error.message;
            }
        }
    }

    fn write(&mut self, paper: &mut Paper) -> Result<(), Error> {
        let written = self.folder.write(&paper.name, &paper.text);
        paper.is_written = written.is_ok();
        written
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
        let reduced =
            reducing::reduce(console, system, test, failure, &self.options(), Aim::Simple);
        system.set_output(self.run.output())?;
        reduced
    }

    fn options(&self) -> ReduceOptions {
        ReduceOptions {
            check: self.plan.check,
            ..ReduceOptions::default()
        }
    }

    /// What stands at the beginning of a saved test.
    pub(super) fn notes(&self, number: u64, failure: Option<&Failure>) -> Vec<(String, String)> {
        let note = |name: &str, text: String| (name.to_owned(), text);
        let mut notes = vec![
            note("harness", self.run.harness.display().to_string()),
            note("seed", format!("{}, test {}", self.plan.seed, number + 1)),
        ];
        notes.extend(
            failure
                .map(|failure| note("failure", format!("{}: {}", failure.kind, failure.message))),
        );
        notes
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

    /// The pytest file. That there can be none is worth a word, but no reason to stop.
    fn standalone(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        finding: &Finding,
    ) -> Option<Paper> {
        let name = format!("test_failure_{}.py", finding.number);
        let file = self.folder.file(&name);
        let title = format!("failure_{}", finding.number);
        let text = system.standalone(&finding.test, Style::Pytest, &title, Some(file.absolute()));
        match text {
            Ok(text) => Some(Paper {
                name,
                text,
                meaning: "this test for pytest, without Testwright",
                is_written: false,
            }),
            Err(error) => {
                let message = format!(
                    "there is no pytest file for this failure: {}",
                    error.message
                );
                console.warning(&message, error.help.as_deref());
                None
            }
        }
    }

    fn show(&self, console: &mut Console<'_>, system: &PythonSystem<'_>, finding: &Finding) {
        console.say("");
        report::say_test(console, system.actions(), &finding.test, &finding.failure);
        self.say_files(console, finding);
    }

    /// Whether the test in a file fails in a process of its own, if that can be found out.
    fn fails_alone(&self, system: &PythonSystem<'_>, paper: &Paper) -> Option<bool> {
        let file = self.folder.file(&paper.name);
        confirm::fails_alone(self.run, system, file.absolute())
    }

    fn show_flaky(&self, console: &mut Console<'_>, finding: &Finding, instead: &str) {
        console.say(format_args!(
            "Run again, the test does not do the same: {instead}."
        ));
        console.say("So the system depends on something besides the test (time, chance, files, the memory of");
        console.say("an earlier test), and the test is kept as it was found, not reduced.");
        self.say_files(console, finding);
    }

    /// Says which file is what, in two columns, and what can be done with the first.
    fn say_files(&self, console: &mut Console<'_>, finding: &Finding) {
        let written = finding.papers.iter().filter(|paper| paper.is_written);
        let files: Vec<(PathBuf, &str)> = written
            .map(|paper| {
                let file = self.folder.file(&paper.name);
                (file.shown().to_owned(), paper.meaning)
            })
            .collect();
        let length = |(path, _): &(PathBuf, &str)| path.display().to_string().chars().count();
        let width = files.iter().map(length).max().unwrap_or(0);
        if !files.is_empty() {
            console.say("");
        }
        for (path, meaning) in &files {
            let path = format!("{:width$}", path.display().to_string());
            let meaning = console.paint(Look::Quiet, meaning);
            console.say(format_args!("  {path}  {meaning}"));
        }
        if let Some((path, _)) = files.iter().find(|(path, _)| *path == finding.file) {
            let check = if self.plan.check { "" } else { " --no-check" };
            console.say("");
            console.say(format_args!(
                "To see it again: testwright replay {} --harness {}{check}",
                report::shell_word(path),
                report::shell_word(&self.run.harness),
            ));
        }
        console.say("");
        console.flush();
    }
}
