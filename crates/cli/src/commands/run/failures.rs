//! Failing tests of a search: saved when they are found, and printed once they are reduced.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use testwright_campaign::store::{FailureStatus, StoredFailure};
use testwright_core::analyse::culprit::{BugIdentity, Culprit, group_bugs};
use testwright_core::generate::SearchOptions;
use testwright_core::message::in_one_line;
use testwright_core::{Error, Failure, FailureKind, Step, Test, saved};
use testwright_report::Timestamp;

use super::RunCommand;
use crate::columns::escape_control;
use crate::console::{Console, TextStyle};
use crate::explanation::{ExplainedTest, TestExplainer};
use crate::files::{OutputFolder, UserPath, is_file_of_model_test};
use crate::source::SystemSource;
use crate::workers::actions::ActionRegistry;
use crate::{quantity, report, test_source};

/// A failing test as the search found it, not reduced yet.
pub(super) struct UnreducedFailure {
    /// The steps up to and with the one that failed.
    pub(super) test: Test,
    /// Failure of its last step.
    pub(super) failure: Failure,
    /// The step that is to blame, if it is known already.
    pub(super) culprit: Option<Culprit>,
    /// Position of the test in the search.
    pub(super) origin: TestOrigin,
}

/// Position of a test in the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TestOrigin {
    /// Stream of random tests, counted from 0. Each worker process makes tests from a stream of its
    /// own.
    pub(super) stream: u64,
    /// Number of the test in its stream, counted from 0.
    pub(super) number: u64,
}

/// Formats as `test 7`, or `test 7 of worker 2`.
impl fmt::Display for TestOrigin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "test {}", quantity::grouped(self.number + 1))?;
        match self.stream {
            0 => Ok(()),
            stream => write!(out, " of worker {}", stream + 1),
        }
    }
}

/// A failure that has been reported to the user, with its files.
pub(super) struct ReportedFailure {
    /// Number in this run, counted from 1; part of the file names.
    pub(super) number: usize,
    pub(super) failure: Failure,
    /// The reduced test, or the full one where there is none.
    pub(super) test: Test,
    /// Number of steps of the test as it was found.
    pub(super) full_length: usize,
    /// Path of the file with `test`, even if it could not be written.
    pub(super) file: PathBuf,
    /// Number of tests that failed in this way.
    pub(super) times: u64,
    /// True if the test failed in the same way when it was run again.
    pub(super) is_reproduced: bool,
    /// The step that is to blame for the test as it was found, if it is known.
    found_culprit: Option<Culprit>,
    /// Identity of the bug, once it is known.
    pub(super) identity: Option<BugIdentity>,
    /// Number of the failure that is the same bug, seen in another way.
    pub(super) same_bug_as: Option<usize>,
    origin: TestOrigin,
    /// All files about this failure, the most useful one first.
    files: Vec<OutputFile>,
}

impl ReportedFailure {
    /// Returns true if all files of the failure are written.
    pub(super) fn is_written_out(&self) -> bool {
        self.files.iter().all(|file| file.is_written)
    }

    /// Returns true if the reduced test has a culprit of the same shape. Without workers, the first test
    /// with a failure is not looked at, so the culprit of a later one stands for it.
    fn has_culprit_like(&self, culprit: Option<&Culprit>) -> bool {
        let reduced = self.identity.as_ref();
        let reduced = reduced.and_then(|identity| identity.culprit.as_ref());
        matches!((reduced, culprit), (Some(own), Some(other)) if own.shape == other.shape)
    }

    /// Returns the step to blame, if it is not the failing one.
    pub(super) fn earlier_culprit(&self) -> Option<&Culprit> {
        let culprit = self.identity.as_ref()?.culprit.as_ref()?;
        Some(culprit).filter(|culprit| culprit.is_earlier)
    }

    /// Records the identity of the bug, and finds the failure among earlier ones that is the same
    /// bug.
    pub(super) fn set_identity(
        &mut self,
        identity: Option<BugIdentity>,
        others: &[(usize, BugIdentity)],
    ) {
        self.identity = identity;
        self.same_bug_as = self.identity.as_ref().and_then(|identity| {
            let same = |(number, other): &&(usize, BugIdentity)| {
                *number != self.number && other.is_same_bug(identity)
            };
            others.iter().find(same).map(|(number, _)| *number)
        });
    }
}

/// Maximum number of failures that look alike. More of them are rather one bug that is reached in many ways.
const MAX_ALIKE: usize = 8;

/// Finds the failure that a failing test has shown already. A test that fails in the same way because of
/// another step shows a new one.
pub(super) fn find_known<'f>(
    findings: &'f mut [ReportedFailure],
    failure: &Failure,
    culprit: Option<&Culprit>,
) -> Option<&'f mut ReportedFailure> {
    let is_alike = |known: &ReportedFailure| known.failure.is_same_as(failure);
    let alike: Vec<usize> = (0..findings.len())
        .filter(|index| is_alike(&findings[*index]))
        .collect();
    let is_same = |index: &&usize| match (&findings[**index].found_culprit, culprit) {
        (Some(known), Some(culprit)) => known.is_same_as(culprit),
        _ => true,
    };
    let many = alike.first().filter(|_| alike.len() >= MAX_ALIKE);
    let index = *alike.iter().find(is_same).or(many)?;
    let known = findings.get_mut(index)?;
    if known.found_culprit.is_none() && known.has_culprit_like(culprit) {
        known.found_culprit = culprit.cloned();
    }
    if let (Some(found), Some(culprit)) = (&mut known.found_culprit, culprit)
        && culprit.lines.is_subset(&found.lines)
    {
        // The fewer lines, the fewer other bugs fit.
        found.lines.clone_from(&culprit.lines);
    }
    Some(known)
}

/// Returns the numbers and identities of the failures that count as bugs of their own.
pub(super) fn known_bugs(findings: &[ReportedFailure]) -> Vec<(usize, BugIdentity)> {
    let bugs = findings.iter().filter(|known| known.same_bug_as.is_none());
    bugs.filter_map(|known| Some((known.number, known.identity.clone()?)))
        .collect()
}

/// Returns the number of failures, each bug once.
pub(super) fn count_bugs(findings: &[ReportedFailure]) -> usize {
    let bugs = findings.iter();
    bugs.filter(|known| known.same_bug_as.is_none()).count()
}

/// Groups failures by bug once all are known: each bug is the failure with the lowest number, whatever
/// the order in which the tests were reduced.
pub(super) fn group_by_bug(findings: &mut [ReportedFailure]) {
    let mut numbers = Vec::new();
    let mut identities = Vec::new();
    for finding in findings.iter_mut() {
        finding.same_bug_as = None;
        if let Some(identity) = &finding.identity {
            numbers.push(finding.number);
            identities.push(identity.clone());
        }
    }
    for group in group_bugs(&identities) {
        let members: Vec<usize> = group.into_iter().map(|index| numbers[index]).collect();
        for finding in findings.iter_mut() {
            if members[1..].contains(&finding.number) {
                finding.same_bug_as = Some(members[0]);
            }
        }
    }
}

/// A file about a failure. Its text stays in memory, because the system under test may delete
/// files.
struct OutputFile {
    /// Name in the folder.
    name: String,
    text: String,
    /// Short description for the list of files.
    description: &'static str,
    /// True if the last attempt to write it succeeded.
    is_written: bool,
}

impl ExplainedTest {
    /// Returns the files of the explanation: a feature, a diagram and a page.
    fn files(&self, number: usize) -> [OutputFile; 3] {
        let file = |ending: &str, text: &String, description| OutputFile {
            name: format!("failure-{number}.{ending}"),
            text: text.clone(),
            description,
            is_written: false,
        };
        [
            file("feature", &self.feature, "this test in English"),
            file("mmd", &self.diagram, "this test as a diagram, for Mermaid"),
            file(
                "html",
                &self.page,
                "this test as a page, with the diagram as a picture",
            ),
        ]
    }
}

/// Result of running a failing test again and reducing it.
pub(super) enum ReductionResult {
    /// The test, reduced or not, fails in the same way.
    Reproduced {
        test: Test,
        failure: Failure,
        /// One sentence about the reduction.
        summary: String,
        /// The test for pytest, or why there is none; nothing if it was not tried.
        pytest: Option<Result<String, Error>>,
        /// Identity of the bug, if it was looked for.
        identity: Option<Box<BugIdentity>>,
    },
    /// The test did not fail again in the same way.
    Flaky {
        /// Description of what the test did this time.
        observation: String,
    },
}

/// Writes failing tests to files and prints them.
///
/// A failure passes through it twice: [`record`](FailureWriter::record) saves the test as soon as
/// it is found, and [`finish`](FailureWriter::finish) adds the reduced test, the pytest file and
/// the explanation.
pub(super) struct FailureWriter<'a> {
    pub(super) run: &'a RunCommand,
    /// The harness or the models.
    source: SystemSource,
    /// Folder for all files.
    pub(super) folder: OutputFolder,
    /// Plan of the search, for the headers of saved tests.
    pub(super) plan: SearchOptions,
    /// Actions known so far. Models find more of them during the search.
    pub(super) actions: Arc<ActionRegistry>,
    /// Explainer of failing tests, if `--explain` is given.
    explainer: Option<TestExplainer>,
    /// Number of the failure that was printed last. If another one is finished next, its title is
    /// repeated.
    last_printed: usize,
}

impl<'a> FailureWriter<'a> {
    /// Creates a writer. Nothing is written before the first failure.
    pub(super) fn new(
        run: &'a RunCommand,
        source: SystemSource,
        folder: OutputFolder,
        plan: SearchOptions,
        actions: ActionRegistry,
        explainer: Option<TestExplainer>,
    ) -> FailureWriter<'a> {
        FailureWriter {
            run,
            source,
            folder,
            plan,
            actions: Arc::new(actions),
            explainer,
            last_printed: 0,
        }
    }
}

impl FailureWriter<'_> {
    /// Returns the harness or the models under test.
    pub(super) fn source(&self) -> &SystemSource {
        &self.source
    }

    /// Announces a failing test and saves it before anything else is done with it.
    pub(super) fn record(
        &mut self,
        console: &mut Console<'_>,
        unreduced: &UnreducedFailure,
        number: usize,
    ) -> ReportedFailure {
        self.announce(console, unreduced, number);
        let mut full = OutputFile {
            name: format!("failure-{number}.full.test"),
            text: self.full_text(unreduced),
            description: "the test as it was found",
            is_written: false,
        };
        // An error is ignored here: `finish` writes the file again, and reports errors.
        let _ = self.write(&mut full);
        ReportedFailure {
            number,
            full_length: unreduced.test.len(),
            file: self.folder.file(&full.name).shown().to_owned(),
            files: vec![full],
            failure: unreduced.failure.clone(),
            test: unreduced.test.clone(),
            times: 1,
            is_reproduced: true,
            found_culprit: unreduced.culprit.clone(),
            identity: None,
            same_bug_as: None,
            origin: unreduced.origin,
        }
    }

    /// Writes and prints the result of a reduction.
    ///
    /// Files that cannot be written are reported; the failure itself still counts.
    pub(super) fn finish(
        &mut self,
        console: &mut Console<'_>,
        finding: &mut ReportedFailure,
        result: ReductionResult,
        known_bugs: &[(usize, BugIdentity)],
    ) {
        if self.last_printed != finding.number {
            // Other failures were printed while this one was reduced.
            self.last_printed = finding.number;
            let title = console.paint(
                TextStyle::Failure,
                format_args!("Failure {}", finding.number),
            );
            let line = self.one_line(&finding.failure, &finding.test);
            console.out("");
            console.out(format_args!("{title}: {line}"));
        }
        match result {
            ReductionResult::Flaky {
                observation: observed,
            } => {
                finding.is_reproduced = false;
                self.write_missing(console, finding);
                self.print_flaky(console, finding, &observed);
            }
            ReductionResult::Reproduced {
                test,
                failure,
                summary,
                pytest,
                identity,
            } => {
                finding.test = test;
                finding.failure = failure;
                finding.set_identity(identity.map(|identity| *identity), known_bugs);
                let reduced = finding.identity.as_ref();
                let reduced = reduced.and_then(|identity| identity.culprit.as_ref());
                if let (Some(found), Some(reduced)) = (&mut finding.found_culprit, reduced)
                    && found.shape == reduced.shape
                {
                    found.clone_from(reduced);
                }
                let file = self.reduced_file(finding);
                finding.file = self.folder.file(&file.name).shown().to_owned();
                finding.files.insert(0, file);
                let pytest = pytest.and_then(|text| self.pytest_file(console, finding, text));
                finding.files.extend(pytest);
                let explained = self.explain(finding);
                finding.files.extend(
                    explained
                        .iter()
                        .flat_map(|explained| explained.files(finding.number)),
                );
                self.write_missing(console, finding);
                self.print_reduced(console, finding, &summary);
                if let Some(explained) = &explained {
                    explained.print(console);
                }
                self.print_files(console, finding);
            }
        }
    }

    /// Prints a reduced test and the step to blame, or only that it shows a known bug.
    fn print_reduced(&self, console: &mut Console<'_>, finding: &ReportedFailure, summary: &str) {
        let blamed = finding.earlier_culprit();
        if let Some(number) = finding.same_bug_as {
            let cause = blamed.map_or_else(String::new, |culprit| {
                format!(": it goes wrong in `{}`, too", culprit.text)
            });
            console.out(format_args!(
                "The same bug as failure {number}, seen in another way{cause}"
            ));
            console.out(format_args!(
                "  {}",
                self.one_line(&finding.failure, &finding.test)
            ));
            return;
        }
        console.out(summary);
        console.out("");
        let catalog = self.actions.catalog();
        report::print_test(console, &catalog, &finding.test, &finding.failure);
        if let Some(culprit) = blamed {
            let wrong: Vec<String> = culprit
                .evidence
                .iter()
                .map(|seen| format!("`{seen}`"))
                .collect();
            console.out(format_args!(
                "     it goes wrong in step {}, `{}`, which is seen by {}",
                culprit.position + 1,
                culprit.text,
                wrong.join(", ")
            ));
        }
    }

    /// Returns the saved form of the test as it was found.
    pub(super) fn full_text(&self, unreduced: &UnreducedFailure) -> String {
        let notes = self.notes(unreduced.origin, Some(&unreduced.failure));
        saved::write(&self.actions.catalog(), &unreduced.test, &notes)
    }

    /// Returns the saved form of the reduced test.
    pub(super) fn reduced_text(
        &self,
        finding: &ReportedFailure,
        test: &Test,
        failure: &Failure,
    ) -> String {
        let notes = self.notes(finding.origin, Some(failure));
        saved::write(&self.actions.catalog(), test, &notes)
    }

    /// Reports a failure of an earlier campaign that was replayed and still fails.
    pub(super) fn report_known(
        &mut self,
        console: &mut Console<'_>,
        (number, known, status): (usize, &StoredFailure, FailureStatus),
        (test, failure): (Test, Failure),
        pytest: Option<Result<String, Error>>,
        (identity, known_bugs): (BugIdentity, &[(usize, BugIdentity)]),
    ) -> ReportedFailure {
        let title = console.paint(TextStyle::Failure, format_args!("Failure {number}"));
        let kind = report::kind_text(failure.kind);
        console.out("");
        console.out(format_args!(
            "{title}: {kind}: {}",
            in_one_line(&failure.message)
        ));
        self.last_printed = number;
        let summary = match status {
            FailureStatus::Returned => {
                let fixed = known
                    .changes
                    .iter()
                    .rev()
                    .find(|change| change.status == FailureStatus::Fixed);
                let since = fixed.map_or(known.last_seen, |change| change.at);
                format!(
                    "A regression: it was fixed on {}, and fails again:",
                    format_date(since)
                )
            }
            FailureStatus::Open | FailureStatus::Fixed => {
                format!(
                    "Known since {}, and it still fails:",
                    format_date(known.found.at)
                )
            }
        };
        let full = OutputFile {
            name: format!("failure-{number}.full.test"),
            text: known.found.full.clone(),
            description: "the test as it was found",
            is_written: false,
        };
        let steps = known.found.full.lines();
        let full_length = steps.filter(|line| !line.starts_with('#')).count();
        let mut finding = ReportedFailure {
            number,
            full_length,
            file: self.folder.file(&full.name).shown().to_owned(),
            files: vec![full],
            failure: failure.clone(),
            test: test.clone(),
            times: 1,
            is_reproduced: true,
            found_culprit: identity.culprit.clone(),
            identity: None,
            same_bug_as: None,
            origin: TestOrigin::default(),
        };
        let result = ReductionResult::Reproduced {
            test,
            failure,
            summary,
            pytest,
            identity: Some(Box::new(identity)),
        };
        self.finish(console, &mut finding, result, known_bugs);
        finding
    }

    /// Prints that a failure of an earlier campaign is fixed.
    pub(super) fn print_fixed(&self, console: &mut Console<'_>, known: &StoredFailure) {
        let title = console.paint(TextStyle::Success, "Fixed");
        let kind = FailureKind::from_name(&known.found.kind).map_or("failure", report::kind_text);
        console.out(format_args!(
            "{title}: {kind}: {} (known since {})",
            escape_control(&known.found.message),
            format_date(known.found.at)
        ));
    }

    /// Explains the reduced test in English, if that was requested.
    fn explain(&self, finding: &ReportedFailure) -> Option<ExplainedTest> {
        let explaining = self.explainer.as_ref()?;
        explaining.explain(&self.actions.catalog(), &finding.test, &finding.failure)
    }

    /// Returns the file of the reduced test.
    fn reduced_file(&self, finding: &ReportedFailure) -> OutputFile {
        OutputFile {
            name: format!("failure-{}.test", finding.number),
            text: self.reduced_text(finding, &finding.test, &finding.failure),
            description: "this test",
            is_written: false,
        }
    }

    /// Returns the path of the pytest file and the name of the test in it.
    pub(super) fn pytest_target(&self, number: usize) -> (UserPath, String) {
        let mut file = self.folder.file(&format!("test_failure_{number}.py"));
        if is_file_of_model_test(file.absolute()) {
            file = self.folder.file(&format!("test_run_failure_{number}.py"));
        }
        (file, format!("failure_{number}"))
    }

    /// Returns the pytest file. If it could not be made, prints a warning and returns `None`.
    fn pytest_file(
        &self,
        console: &mut Console<'_>,
        finding: &ReportedFailure,
        text: Result<String, Error>,
    ) -> Option<OutputFile> {
        match text {
            Ok(text) => Some(OutputFile {
                name: file_name(&self.pytest_target(finding.number).0),
                text,
                description: if self.source.is_models() {
                    "this test for pytest"
                } else {
                    "this test for pytest, without Testwright"
                },
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

    /// Writes the files of a failure that are missing or have been deleted.
    ///
    /// Errors are printed, each message once.
    pub(super) fn write_missing(
        &mut self,
        console: &mut Console<'_>,
        finding: &mut ReportedFailure,
    ) {
        let mut reported = String::new();
        for file in &mut finding.files {
            let is_there = self.folder.file(&file.name).absolute().is_file();
            if file.is_written && is_there {
                continue;
            }
            if let Err(error) = self.write(file)
                && error.message != reported
            {
                console.error(&error);
                reported = error.message;
            }
        }
    }

    /// Writes a file and notes whether that worked.
    fn write(&mut self, file: &mut OutputFile) -> Result<(), Error> {
        let written = self.folder.write(&file.name, &file.text);
        file.is_written = written.is_ok();
        written
    }

    /// Returns the header lines of a saved test: name and text.
    pub(super) fn notes(
        &self,
        origin: TestOrigin,
        failure: Option<&Failure>,
    ) -> Vec<(String, String)> {
        let note = |name: &str, text: String| (name.to_owned(), text);
        let mut notes = test_source::notes(
            &self.source,
            &self.run.stepper,
            &self.run.system,
            &self.run.workers.process,
        );
        notes.push(note("seed", format!("{}, {origin}", self.plan.seed)));
        notes.extend(
            failure
                .map(|failure| note("failure", format!("{}: {}", failure.kind, failure.message))),
        );
        notes
    }

    /// Prints that a test failed.
    fn announce(&mut self, console: &mut Console<'_>, unreduced: &UnreducedFailure, number: usize) {
        self.last_printed = number;
        let title = console.paint(TextStyle::Failure, format_args!("Failure {number}"));
        console.out("");
        console.out(format_args!(
            "{title} in {}, after {}: {}",
            unreduced.origin,
            quantity::format_count(unreduced.test.len() as u64, "step"),
            self.one_line(&unreduced.failure, &unreduced.test),
        ));
        console.flush();
    }

    /// Describes a failure in one line: ``hang: no end after 5s, last step `queue0.get()` ``.
    ///
    /// The last step is named for crashes and hangs only, since the message of other failures says
    /// enough.
    fn one_line(&self, failure: &Failure, test: &Test) -> String {
        let message = in_one_line(&failure.message);
        let text = format!("{}: {message}", report::kind_text(failure.kind));
        match (failure.kind, test.steps.last()) {
            (FailureKind::Crash | FailureKind::Hang, Some(Step::Act(action))) => {
                format!(
                    "{text}, last step `{}`",
                    self.actions.catalog().text(*action)
                )
            }
            _ => text,
        }
    }

    /// Prints that a test did not fail again, and lists its files.
    fn print_flaky(&self, console: &mut Console<'_>, finding: &ReportedFailure, observed: &str) {
        console.out(format_args!(
            "When run again, the test behaves differently: {observed}."
        ));
        console.out("So the system depends on something besides the test (time, chance, files, the memory of");
        console.out("an earlier test), and the test is kept as it was found, not reduced.");
        self.print_files(console, finding);
    }

    /// Prints the files of a failure in two columns, and the command that replays it.
    fn print_files(&self, console: &mut Console<'_>, finding: &ReportedFailure) {
        let written = finding.files.iter().filter(|file| file.is_written);
        let files: Vec<(PathBuf, &str)> = written
            .map(|file| {
                let path = self.folder.file(&file.name);
                (path.shown().to_owned(), file.description)
            })
            .collect();
        let length = |(path, _): &(PathBuf, &str)| path.display().to_string().chars().count();
        let width = files.iter().map(length).max().unwrap_or(0);
        if !files.is_empty() {
            console.out("");
        }
        for (path, description) in &files {
            let path = format!("{:width$}", path.display().to_string());
            let description = console.paint(TextStyle::Dim, description);
            console.out(format_args!("  {path}  {description}"));
        }
        if let Some((path, _)) = files.iter().find(|(path, _)| *path == finding.file) {
            let check = if self.plan.check { "" } else { " --no-check" };
            console.out("");
            console.out(format_args!(
                "To see it again: testwright replay {} {}{}{check}",
                report::shell_word(path),
                self.source.as_option(),
                self.run.stepper.as_option(),
            ));
        }
        console.out("");
        console.flush();
    }
}

/// Returns the last part of a path.
fn file_name(path: &UserPath) -> String {
    let name = path.absolute().file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Formats a time to the minute.
fn format_date(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut date = Timestamp(since.as_secs()).date_and_time();
    // To the minute.
    date.truncate(16);
    date
}

/// Describes how a repeated run differs from the original failure.
pub(super) fn describe_difference(failure: &Failure, other: Option<&Failure>) -> String {
    match other {
        None => "it passes".to_owned(),
        Some(other) if (other.kind, &other.message) == (failure.kind, &failure.message) => {
            "it fails with the same message, but at another location".to_owned()
        }
        Some(failure) => format!(
            "it fails with {}: {}",
            report::kind_text(failure.kind),
            failure.message
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_message_at_another_location_is_a_difference() {
        let failure = Failure {
            kind: FailureKind::Crash,
            message: "the process was killed by SIGABRT".to_owned(),
            signature: "the process was killed by SIGABRT: f".to_owned(),
            details: String::new(),
        };
        let other_location = Failure {
            signature: "the process was killed by SIGABRT: g".to_owned(),
            ..failure.clone()
        };
        let different = Failure {
            kind: FailureKind::Hang,
            message: "no end after 5s".to_owned(),
            ..failure.clone()
        };
        assert_eq!(
            describe_difference(&failure, Some(&other_location)),
            "it fails with the same message, but at another location"
        );
        assert_eq!(
            describe_difference(&failure, Some(&different)),
            "it fails with hang: no end after 5s"
        );
        assert_eq!(describe_difference(&failure, None), "it passes");
    }
}
