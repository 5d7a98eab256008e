//! Tests that an exploration found: replayed from the start, saved and printed.

use std::path::PathBuf;

use testwright_core::explore::temporal::{Counterexample, FormulaVerdict, RunEnding};
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::ReduceOptions;
use testwright_core::{Error, Failure, System, Test, saved};
use testwright_python::{PythonSystem, StandaloneStyle};

use super::json::ExplorationFailure;
use super::queries::Queries;
use super::verdict::steps_text;
use super::{ExplorationOutcome, ExploreCommand};
use crate::commands::replay::UntilInterrupted;
use crate::commands::run::confirm;
use crate::commands::{ProcessArguments, StepperArgument};
use crate::console::{Console, TextStyle};
use crate::files::OutputFolder;
use crate::reduction::{self, ReductionGoal};
use crate::source::SystemSource;
use crate::target::Target;
use crate::unit_test::{self, UnitTestRequest};
use crate::{report, test_source};

/// Everything that was found and saved.
#[derive(Default)]
pub(super) struct SavedFindings {
    pub(super) failures: Vec<SavedFailure>,
    /// The test that reaches the goal.
    pub(super) goal: Option<FoundTest>,
    /// A run that violates the formula: a prefix, and steps that are repeated forever.
    pub(super) lasso: Option<FoundTest>,
    /// True if a file could not be written, which has been reported.
    pub(super) has_unwritten: bool,
}

/// A test that was saved.
pub(super) struct FoundTest {
    pub(super) test: Test,
    /// Path of the test, even if it could not be written.
    pub(super) file: PathBuf,
    /// True if the test did the same when it was replayed from the start.
    pub(super) is_reproduced: bool,
}

/// A failing test that was saved.
pub(super) struct SavedFailure {
    /// The failing test.
    pub(super) saved: FoundTest,
    pub(super) failure: Failure,
}

/// Replays, saves and prints the tests that an exploration finds.
pub(super) struct FindingsWriter<'e> {
    explore: &'e ExploreCommand,
    /// Folder for failing tests.
    findings: OutputFolder,
    /// Folder for tests that answer a query.
    answers: OutputFolder,
}

impl<'e> FindingsWriter<'e> {
    pub(super) fn new(
        explore: &'e ExploreCommand,
        findings: OutputFolder,
        answers: OutputFolder,
    ) -> FindingsWriter<'e> {
        FindingsWriter {
            explore,
            findings,
            answers,
        }
    }

    /// Replays, saves and prints all tests of an outcome. Files that cannot be written are
    /// reported.
    pub(super) fn save_all<'py>(
        &mut self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'py>,
        queries: &Queries<'py>,
        outcome: &ExplorationOutcome,
    ) -> SavedFindings {
        let mut saved = SavedFindings::default();
        for (test, failure) in &outcome.failures {
            self.save_failure(console, system, test, failure, &mut saved);
        }
        if let Some(test) = &outcome.goal {
            let test = (test, outcome.verdict.is_doubtful());
            self.save_goal(console, system, queries, test, &mut saved);
        }
        if let Some(FormulaVerdict::Violated(run)) = &outcome.answer {
            self.save_lasso(console, system, run, &mut saved);
        }
        saved
    }

    /// Saves a failing test as soon as it is found, in case the system gets stuck later.
    pub(super) fn save_immediately(
        &mut self,
        system: &PythonSystem<'_>,
        test: &Test,
        failure: &Failure,
        number: usize,
    ) -> ExplorationFailure {
        let name = format!("failure-{number}.test");
        let text = self.failure_text(system, test, failure);
        // An error is ignored here: `save_failure` writes the file again, and reports errors.
        let _ = self.findings.write(&name, &text);
        let found = SavedFailure {
            saved: FoundTest {
                test: test.clone(),
                file: self.findings.file(&name).shown().to_owned(),
                is_reproduced: true,
            },
            failure: failure.clone(),
        };
        ExplorationFailure::new(&found, system.actions())
    }

    /// Returns whether a failing test fails in a process of its own; `None` if that could not be found
    /// out.
    pub(super) fn fails_alone(
        &self,
        system: &PythonSystem<'_>,
        test: &Test,
        failure: &Failure,
    ) -> Option<bool> {
        let text = self.failure_text(system, test, failure);
        let source = SystemSource::Harness(self.explore.harness.clone());
        let arguments = (&self.explore.system, &StepperArgument::default());
        confirm::fails_alone(arguments, &source, system, &text)
    }

    /// Replays a failing test, reduces it if it may not be a shortest one, saves it and prints it.
    fn save_failure(
        &mut self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        test: &Test,
        failure: &Failure,
        saved: &mut SavedFindings,
    ) {
        let number = saved.failures.len() + 1;
        let title = console.paint(TextStyle::Failure, format_args!("Failure {number}"));
        console.out("");
        console.out(format_args!(
            "{title} after {}: {}: {}",
            steps_text(test.len()),
            report::kind_text(failure.kind),
            failure.message
        ));
        console.flush();
        let (mut test, mut failure) = (test.clone(), failure.clone());
        let is_reproduced = self.is_reproduced(system, &test, &failure);
        if is_reproduced && !self.explore.finds_shortest() {
            let options = ReduceOptions {
                check: self.check(),
                ..ReduceOptions::default()
            };
            // A test that cannot be reduced is kept as it was found.
            if let Ok(reduced) = reduction::reduce(
                console,
                system,
                &test,
                (&failure, None),
                &options,
                ReductionGoal::Simple,
            ) {
                console.out(reduced.summary);
                (test, failure) = (reduced.test, reduced.failure);
            }
        }
        console.out("");
        report::print_test(console, system.actions(), &test, &failure);
        console.out("");
        let name = format!("failure-{number}.test");
        let text = self.failure_text(system, &test, &failure);
        let file = self.findings.file(&name).shown().to_owned();
        let mut files = vec![(name, text)];
        let name = format!("test_failure_{number}.py");
        let file_path = self.findings.file(&name);
        let title = format!("failure_{number}");
        let wanted = UnitTestRequest {
            test: &test,
            failure: &failure,
            check: self.check(),
            limit: unit_test::limit_in_file(self.explore.system.step_timeout),
            title: &title,
            file: file_path.absolute(),
        };
        match confirmed_unit_test(system, &wanted) {
            Ok(text) => files.push((name, text)),
            Err(_) if !is_reproduced => {}
            Err(error) => {
                let message = format!(
                    "there is no pytest file for this failure: {}",
                    error.message
                );
                console.warning(&message, error.help.as_deref());
            }
        }
        for (name, text) in files {
            saved.has_unwritten |= !write(console, &mut self.findings, &name, &text);
        }
        if is_reproduced {
            self.print_replay_command(console, &file);
        } else {
            self.print_flaky(console);
        }
        let found_test = FoundTest {
            test,
            file,
            is_reproduced,
        };
        saved.failures.push(SavedFailure {
            saved: found_test,
            failure,
        });
    }

    /// Saves and prints the test that reaches the goal.
    fn save_goal<'py>(
        &mut self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'py>,
        queries: &Queries<'py>,
        (test, is_doubtful): (&Test, bool),
        saved: &mut SavedFindings,
    ) {
        let Some(goal) = &queries.goal else {
            return;
        };
        let length_note = if self.explore.finds_shortest() && !is_doubtful {
            "no test is shorter"
        } else {
            "there may be shorter tests"
        };
        let title = console.paint(TextStyle::Success, "Goal reached");
        console.out("");
        console.out(format_args!(
            "{title} after {} ({length_note}): {}",
            steps_text(test.len()),
            goal.text()
        ));
        console.out("");
        report::print_steps(console, system.actions(), test, 1);
        console.out("");
        let is_reproduced = match self.replay(system, test) {
            None => true,
            Some(None) => goal.is_true(system).unwrap_or(false),
            Some(Some(_)) => false,
        };
        let name = "goal.test";
        let text = self.text(system, test, &[("goal", goal.text().to_owned())]);
        let file = self.answers.file(name).shown().to_owned();
        saved.has_unwritten |= !write(console, &mut self.answers, name, &text);
        if is_reproduced {
            self.print_replay_command(console, &file);
        } else {
            self.print_flaky(console);
        }
        saved.goal = Some(FoundTest {
            test: test.clone(),
            file,
            is_reproduced,
        });
    }

    /// Saves and prints the run that violates the formula.
    fn save_lasso(
        &mut self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        run: &Counterexample,
        saved: &mut SavedFindings,
    ) {
        let title = console.paint(TextStyle::Failure, "Formula violated");
        let formula = self.explore.formula.as_deref().unwrap_or_default();
        console.out("");
        console.out(format_args!("{title}: {formula}"));
        console.out("");
        let lap = run.cycle.len();
        let test_is_empty = run.prefix.is_empty() && run.cycle.is_empty();
        report::print_steps(console, system.actions(), &run.prefix, 1);
        let then = match run.ending {
            RunEnding::Cycle => {
                let and = if run.prefix.is_empty() {
                    ""
                } else {
                    "and then "
                };
                console.out(format_args!("  {and}forever:"));
                let first = run.prefix.len() + 1;
                report::print_steps(console, system.actions(), &run.cycle, first);
                format!("the last {} are repeated forever", steps_text(lap))
            }
            RunEnding::Deadlock => "and then no action is possible, forever".to_owned(),
            RunEnding::AnyContinuation if test_is_empty => {
                "at the start, whatever follows".to_owned()
            }
            RunEnding::AnyContinuation => "whatever follows".to_owned(),
        };
        if run.ending != RunEnding::Cycle {
            console.out(format_args!("  {then}"));
        }
        console.out("");
        let all = run.prefix.steps.iter().chain(&run.cycle.steps);
        let test = Test::from_steps(all.copied().collect());
        let name = "lasso.test";
        let notes = [("formula", formula.to_owned()), ("then", then)];
        let text = self.text(system, &test, &notes);
        let file = self.answers.file(name).shown().to_owned();
        if !test.is_empty() {
            saved.has_unwritten |= !write(console, &mut self.answers, name, &text);
            self.print_replay_command(console, &file);
        }
        saved.lasso = Some(FoundTest {
            test,
            file,
            is_reproduced: run.confirmed,
        });
    }

    /// Returns true if properties are checked.
    fn check(&self) -> bool {
        !self.explore.system.no_check
    }

    /// Replays a test from the start. Returns its failure, if any; `None` if the replay did not
    /// end.
    fn replay(&self, system: &mut PythonSystem<'_>, test: &Test) -> Option<Option<Failure>> {
        let options = ReplayOptions {
            check: self.check(),
        };
        let trace = replay(system, test, &options, &mut UntilInterrupted).ok()?;
        (!trace.interrupted).then(|| trace.failure().cloned())
    }

    /// Returns true if a test fails in the same way from the start.
    fn is_reproduced(&self, system: &mut PythonSystem<'_>, test: &Test, failure: &Failure) -> bool {
        match self.replay(system, test) {
            None => true,
            Some(replayed) => replayed.is_some_and(|replayed| replayed.is_same_as(failure)),
        }
    }

    /// Returns the saved form of a failing test.
    fn failure_text(&self, system: &PythonSystem<'_>, test: &Test, failure: &Failure) -> String {
        let note = format!("{}: {}", failure.kind, failure.message);
        self.text(system, test, &[("failure", note)])
    }

    /// Returns the saved form of a test with notes.
    fn text(&self, system: &PythonSystem<'_>, test: &Test, notes: &[(&str, String)]) -> String {
        let source = SystemSource::Harness(self.explore.harness.clone());
        let mut all = test_source::notes(
            &source,
            &StepperArgument::default(),
            &self.explore.system,
            &ProcessArguments::default(),
        );
        all.extend(
            notes
                .iter()
                .map(|(name, text)| ((*name).to_owned(), text.clone())),
        );
        saved::write(system.actions(), test, &all)
    }

    /// Prints the command that replays a test.
    fn print_replay_command(&self, console: &mut Console<'_>, file: &std::path::Path) {
        let check = if self.check() { "" } else { " --no-check" };
        console.out(format_args!(
            "To see it again: testwright replay {} --harness {}{check}",
            report::shell_word(file),
            report::shell_word(&self.explore.harness),
        ));
        console.flush();
    }

    /// Prints that a test did not do the same from the start.
    fn print_flaky(&self, console: &mut Console<'_>) {
        console.out("When run again from the start, the test behaves differently. So the system depends on something besides");
        console.out("the test, or keeps something that copies of its state do not have: `--going-back replay` avoids copies.");
        console.flush();
    }
}

/// Writes a file. Reports an error, and returns false if there is one.
fn write(console: &mut Console<'_>, folder: &mut OutputFolder, name: &str, text: &str) -> bool {
    let written = folder.write(name, text);
    if let Err(error) = &written {
        console.error(error);
    }
    written.is_ok()
}

/// Writes a failing test as a pytest file that was run and fails in the same way.
fn confirmed_unit_test(
    system: &mut PythonSystem<'_>,
    wanted: &UnitTestRequest<'_>,
) -> Result<String, Error> {
    match system.unit_test(wanted) {
        Some(draft) => draft?.confirmed(StandaloneStyle::Pytest, Some(wanted.failure), wanted.file),
        None => Err(Error::new("it has no such files")),
    }
}
