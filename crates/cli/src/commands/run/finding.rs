//! A failing test: kept, shown, written to files.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use testwright_campaign::store::{KnownFailure, Status};
use testwright_core::generate::Search;
use testwright_core::{Error, Failure, FailureKind, Step, Test, saved};
use testwright_report::Timestamp;

use super::Run;
use crate::columns::harmless;
use crate::console::{Console, Look};
use crate::explaining::{Explained, Explaining};
use crate::files::{OutputFolder, Place};
use crate::source::Source;
use crate::workers::actions::Actions;
use crate::{quantity, report};

/// A failing test, as it came up.
pub(super) struct Discovery {
    /// The steps up to and with the one that failed.
    pub(super) test: Test,
    pub(super) failure: Failure,
    pub(super) origin: Origin,
}

/// Which test of the search it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Origin {
    /// Counted from 0. Each worker makes tests from a stream of its own.
    pub(super) stream: u64,
    /// Counted from 0.
    pub(super) number: u64,
}

/// `test 7`, or `test 7 of stream 2`.
impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "test {}", quantity::grouped(self.number + 1))?;
        match self.stream {
            0 => Ok(()),
            stream => write!(out, " of stream {}", stream + 1),
        }
    }
}

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
    origin: Origin,
    papers: Vec<Paper>,
}

impl Finding {
    /// Whether all its files could be written.
    pub(super) fn is_kept(&self) -> bool {
        self.papers.iter().all(|paper| paper.is_written)
    }

    /// Whether it is the same as another failure.
    pub(super) fn is(&self, failure: &Failure) -> bool {
        self.failure.is_same_as(failure)
    }
}

/// A file about a finding. Its text is kept, since the system under test may delete files.
struct Paper {
    name: String,
    text: String,
    meaning: &'static str,
    is_written: bool,
}

impl Explained {
    fn papers(&self, number: usize) -> [Paper; 3] {
        let paper = |ending: &str, text: &String, meaning| Paper {
            name: format!("failure-{number}.{ending}"),
            text: text.clone(),
            meaning,
            is_written: false,
        };
        [
            paper("feature", &self.feature, "this test in English"),
            paper("mmd", &self.diagram, "this test as a diagram, for Mermaid"),
            paper(
                "html",
                &self.page,
                "this test as a page, with the diagram as a picture",
            ),
        ]
    }
}

/// What is known of a failing test in the end.
pub(super) enum Verdict {
    /// This test fails in the same way.
    Fails {
        test: Test,
        failure: Failure,
        /// How it was found, in one sentence.
        story: String,
        /// The test for pytest, or why there is none; nothing if it was not tried.
        pytest: Option<Result<String, Error>>,
    },
    /// It does not do so again.
    Flaky {
        /// What it does instead.
        instead: String,
    },
}

/// Where findings are taken in.
pub(super) struct Desk<'a> {
    pub(super) run: &'a Run,
    source: Source,
    pub(super) folder: OutputFolder,
    pub(super) plan: Search,
    /// The actions that are known by now.
    pub(super) actions: Arc<Actions>,
    /// How failing tests are told in English, if that is wanted.
    explaining: Option<Explaining>,
    /// The failure that was announced last, so that nobody takes what follows for something else.
    announced: usize,
}

impl<'a> Desk<'a> {
    pub(super) fn new(
        run: &'a Run,
        source: Source,
        folder: OutputFolder,
        plan: Search,
        actions: Actions,
        explaining: Option<Explaining>,
    ) -> Desk<'a> {
        Desk {
            run,
            source,
            folder,
            plan,
            actions: Arc::new(actions),
            explaining,
            announced: 0,
        }
    }
}

impl Desk<'_> {
    /// The option by which tests are told what they belong to.
    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    /// Keeps a failing test before anything else is done with it.
    pub(super) fn open(
        &mut self,
        console: &mut Console<'_>,
        discovery: &Discovery,
        number: usize,
    ) -> Finding {
        self.announce(console, discovery, number);
        let mut full = Paper {
            name: format!("failure-{number}.full.test"),
            text: self.full_text(discovery),
            meaning: "the test as it was found",
            is_written: false,
        };
        // If this fails, it is tried again once the test is reduced, and told then.
        let _ = self.write(&mut full);
        Finding {
            number,
            full_steps: discovery.test.len(),
            file: self.folder.file(&full.name).shown().to_owned(),
            papers: vec![full],
            failure: discovery.failure.clone(),
            test: discovery.test.clone(),
            times: 1,
            reproduced: true,
            origin: discovery.origin,
        }
    }

    /// Writes and shows what became of a failing test. Whatever goes wrong with that is told, and takes nothing away
    /// from the finding.
    pub(super) fn close(
        &mut self,
        console: &mut Console<'_>,
        finding: &mut Finding,
        verdict: Verdict,
    ) {
        if self.announced != finding.number {
            // Others came up while it was reduced.
            self.announced = finding.number;
            let title = console.paint(Look::Bad, format_args!("Failure {}", finding.number));
            let what = self.in_a_line(&finding.failure, &finding.test);
            console.say("");
            console.say(format_args!("{title}: {what}"));
        }
        match verdict {
            Verdict::Flaky { instead } => {
                finding.reproduced = false;
                self.restore(console, finding);
                self.show_flaky(console, finding, &instead);
            }
            Verdict::Fails {
                test,
                failure,
                story,
                pytest,
            } => {
                finding.test = test;
                finding.failure = failure;
                let paper = self.paper(finding);
                finding.file = self.folder.file(&paper.name).shown().to_owned();
                finding.papers.insert(0, paper);
                let pytest = pytest.and_then(|text| self.pytest(console, finding, text));
                finding.papers.extend(pytest);
                let explained = self.explained(finding);
                finding.papers.extend(
                    explained
                        .iter()
                        .flat_map(|explained| explained.papers(finding.number)),
                );
                self.restore(console, finding);
                console.say(story);
                console.say("");
                report::say_test(
                    console,
                    &self.actions.catalog(),
                    &finding.test,
                    &finding.failure,
                );
                if let Some(explained) = &explained {
                    explained.say(console);
                }
                self.say_files(console, finding);
            }
        }
    }

    /// The test as it was found, as text.
    pub(super) fn full_text(&self, discovery: &Discovery) -> String {
        let notes = self.notes(discovery.origin, Some(&discovery.failure));
        saved::write(&self.actions.catalog(), &discovery.test, &notes)
    }

    /// The reduced test of a finding, as text.
    pub(super) fn text_of(&self, finding: &Finding, test: &Test, failure: &Failure) -> String {
        let notes = self.notes(finding.origin, Some(failure));
        saved::write(&self.actions.catalog(), test, &notes)
    }

    /// A failure of an earlier campaign is one of this.
    pub(super) fn meet_again(
        &mut self,
        console: &mut Console<'_>,
        (number, known, status): (usize, &KnownFailure, Status),
        (test, failure): (Test, Failure),
        pytest: Option<Result<String, Error>>,
    ) -> Finding {
        let title = console.paint(Look::Bad, format_args!("Failure {number}"));
        let kind = report::in_words(failure.kind);
        console.say("");
        console.say(format_args!("{title}: {kind}: {}", failure.message));
        self.announced = number;
        let story = match status {
            Status::Returned => {
                let fixed = known
                    .changes
                    .iter()
                    .rev()
                    .find(|change| change.status == Status::Fixed);
                let since = fixed.map_or(known.seen, |change| change.at);
                format!(
                    "A regression: it was fixed on {}, and fails again:",
                    date(since)
                )
            }
            Status::Open | Status::Fixed => {
                format!("Known since {}, and it still fails:", date(known.found.at))
            }
        };
        let full = Paper {
            name: format!("failure-{number}.full.test"),
            text: known.found.full.clone(),
            meaning: "the test as it was found",
            is_written: false,
        };
        let steps = known.found.full.lines();
        let full_steps = steps.filter(|line| !line.starts_with('#')).count();
        let mut finding = Finding {
            number,
            full_steps,
            file: self.folder.file(&full.name).shown().to_owned(),
            papers: vec![full],
            failure: failure.clone(),
            test: test.clone(),
            times: 1,
            reproduced: true,
            origin: Origin::default(),
        };
        let verdict = Verdict::Fails {
            test,
            failure,
            story,
            pytest,
        };
        self.close(console, &mut finding, verdict);
        finding
    }

    /// A failure of an earlier campaign does not come up any more.
    pub(super) fn say_fixed(&self, console: &mut Console<'_>, known: &KnownFailure) {
        let title = console.paint(Look::Good, "Fixed");
        let kind = FailureKind::of_name(&known.found.kind).map_or("failure", report::in_words);
        console.say(format_args!(
            "{title}: {kind}: {} (known since {})",
            harmless(&known.found.message),
            date(known.found.at)
        ));
    }

    /// The reduced test in English.
    fn explained(&self, finding: &Finding) -> Option<Explained> {
        let explaining = self.explaining.as_ref()?;
        explaining.explain(&self.actions.catalog(), &finding.test, &finding.failure)
    }

    /// The file of the reduced test.
    fn paper(&self, finding: &Finding) -> Paper {
        Paper {
            name: format!("failure-{}.test", finding.number),
            text: self.text_of(finding, &finding.test, &finding.failure),
            meaning: "this test",
            is_written: false,
        }
    }

    /// What the file for pytest is called, and the test in it.
    pub(super) fn pytest_names(&self, number: usize) -> (Place, String) {
        let file = self.folder.file(&format!("test_failure_{number}.py"));
        (file, format!("failure_{number}"))
    }

    /// The pytest file. That there can be none is worth a word, but no reason to stop.
    fn pytest(
        &self,
        console: &mut Console<'_>,
        finding: &Finding,
        text: Result<String, Error>,
    ) -> Option<Paper> {
        match text {
            Ok(text) => Some(Paper {
                name: format!("test_failure_{}.py", finding.number),
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

    /// What stands at the beginning of a saved test.
    pub(super) fn notes(&self, origin: Origin, failure: Option<&Failure>) -> Vec<(String, String)> {
        let note = |name: &str, text: String| (name.to_owned(), text);
        let mut notes = self.source.notes();
        notes.extend(self.run.stepper.name().map(|name| note("stepper", name)));
        notes.push(note("seed", format!("{}, {origin}", self.plan.seed)));
        notes.extend(
            failure
                .map(|failure| note("failure", format!("{}: {}", failure.kind, failure.message))),
        );
        notes
    }

    fn announce(&mut self, console: &mut Console<'_>, discovery: &Discovery, number: usize) {
        self.announced = number;
        let title = console.paint(Look::Bad, format_args!("Failure {number}"));
        console.say("");
        console.say(format_args!(
            "{title} in {}, after {}: {}",
            discovery.origin,
            quantity::of(discovery.test.len() as u64, "step"),
            self.in_a_line(&discovery.failure, &discovery.test),
        ));
        console.flush();
    }

    /// `hang: no end after 5s, last step `queue0.get()``. Other failures say themselves what they are about.
    fn in_a_line(&self, failure: &Failure, test: &Test) -> String {
        let words = format!("{}: {}", report::in_words(failure.kind), failure.message);
        match (failure.kind, test.steps.last()) {
            (FailureKind::Crash | FailureKind::Hang, Some(Step::Act(action))) => {
                format!(
                    "{words}, last step `{}`",
                    self.actions.catalog().text(*action)
                )
            }
            _ => words,
        }
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
                "To see it again: testwright replay {} {}{}{check}",
                report::shell_word(path),
                self.source.as_option(),
                self.run.stepper.as_option(),
            ));
        }
        console.say("");
        console.flush();
    }
}

/// The day, for people.
fn date(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut date = Timestamp(since.as_secs()).date_and_time();
    // To the minute.
    date.truncate(16);
    date
}

/// What a test does instead of failing as it did, in words.
pub(super) fn instead(failure: &Failure, other: Option<&Failure>) -> String {
    match other {
        None => "it passes".to_owned(),
        Some(other) if (other.kind, &other.message) == (failure.kind, &failure.message) => {
            "it fails with the same words, but in another place".to_owned()
        }
        Some(failure) => format!(
            "it fails with {}: {}",
            report::in_words(failure.kind),
            failure.message
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_in_another_place_are_told_apart() {
        let failure = Failure {
            kind: FailureKind::Crash,
            message: "the process was killed by SIGABRT".to_owned(),
            signature: "the process was killed by SIGABRT: f".to_owned(),
            details: String::new(),
        };
        let elsewhere = Failure {
            signature: "the process was killed by SIGABRT: g".to_owned(),
            ..failure.clone()
        };
        let otherwise = Failure {
            kind: FailureKind::Hang,
            message: "no end after 5s".to_owned(),
            ..failure.clone()
        };
        assert_eq!(
            instead(&failure, Some(&elsewhere)),
            "it fails with the same words, but in another place"
        );
        assert_eq!(
            instead(&failure, Some(&otherwise)),
            "it fails with hang: no end after 5s"
        );
        assert_eq!(instead(&failure, None), "it passes");
    }
}
