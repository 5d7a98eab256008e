//! The tests that an exploration found: run again, kept, shown.

use std::path::PathBuf;

use testwright_core::explore::temporal::{Answer, Counterexample, Ending};
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::ReduceOptions;
use testwright_core::{Failure, System, Test, saved};
use testwright_python::{PythonSystem, Style};

use super::json::FailureReport;
use super::questions::Questions;
use super::verdict::steps;
use super::{Explore, Outcome};
use crate::commands::replay::UntilInterrupted;
use crate::console::{Console, Look};
use crate::files::OutputFolder;
use crate::reducing::{self, Aim};
use crate::report;

/// What was kept.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) failures: Vec<KeptFailure>,
    pub(super) goal: Option<KeptTest>,
    pub(super) lasso: Option<KeptTest>,
    /// Some file could not be written, which has been told.
    pub(super) unwritten: bool,
}

pub(super) struct KeptTest {
    pub(super) test: Test,
    /// Where it is, or was to be.
    pub(super) file: PathBuf,
    /// Whether it did the same when it was run again, in a system that was set up anew.
    pub(super) reproduced: bool,
}

pub(super) struct KeptFailure {
    pub(super) kept: KeptTest,
    pub(super) failure: Failure,
}

/// Where findings are taken in.
pub(super) struct Desk<'e> {
    explore: &'e Explore,
    /// For failing tests.
    findings: OutputFolder,
    /// For tests that answer a question.
    answers: OutputFolder,
}

impl<'e> Desk<'e> {
    pub(super) fn new(
        explore: &'e Explore,
        findings: OutputFolder,
        answers: OutputFolder,
    ) -> Desk<'e> {
        Desk {
            explore,
            findings,
            answers,
        }
    }

    /// Runs all tests again, writes them, and shows them. What cannot be written is told.
    pub(super) fn take_in<'py>(
        &mut self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'py>,
        questions: &Questions<'py>,
        outcome: &Outcome,
    ) -> Kept {
        let mut kept = Kept::default();
        for (test, failure) in &outcome.failures {
            self.take_in_failure(console, system, test, failure, &mut kept);
        }
        if let Some(test) = &outcome.goal {
            self.take_in_goal(console, system, questions, test, &mut kept);
        }
        if let Some(Answer::Violated(run)) = &outcome.answer {
            self.take_in_lasso(console, system, run, &mut kept);
        }
        kept
    }

    /// Writes a failing test as soon as it is found, in case that nothing can be done with it any more later.
    pub(super) fn keep_at_once(
        &mut self,
        system: &PythonSystem<'_>,
        test: &Test,
        failure: &Failure,
        number: usize,
    ) -> FailureReport {
        let name = format!("failure-{number}.test");
        let text = self.failing(system, test, failure);
        // If this fails, it is tried again at the end, and told then.
        let _ = self.findings.write(&name, &text);
        let found = KeptFailure {
            kept: KeptTest {
                test: test.clone(),
                file: self.findings.file(&name).shown().to_owned(),
                reproduced: true,
            },
            failure: failure.clone(),
        };
        FailureReport::new(&found, system.actions())
    }

    fn take_in_failure(
        &mut self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        test: &Test,
        failure: &Failure,
        kept: &mut Kept,
    ) {
        let number = kept.failures.len() + 1;
        let title = console.paint(Look::Bad, format_args!("Failure {number}"));
        console.say("");
        console.say(format_args!(
            "{title} after {}: {}: {}",
            steps(test.len()),
            report::in_words(failure.kind),
            failure.message
        ));
        console.flush();
        let (mut test, mut failure) = (test.clone(), failure.clone());
        let reproduced = self.fails_again(system, &test, &failure);
        if reproduced && !self.explore.finds_shortest() {
            let options = ReduceOptions {
                check: self.check(),
                ..ReduceOptions::default()
            };
            // What cannot be reduced is kept as it was found.
            if let Ok(reduced) =
                reducing::reduce(console, system, &test, &failure, &options, Aim::Simple)
            {
                console.say(reduced.story);
                (test, failure) = (reduced.test, reduced.failure);
            }
        }
        console.say("");
        report::say_test(console, system.actions(), &test, &failure);
        console.say("");
        let name = format!("failure-{number}.test");
        let text = self.failing(system, &test, &failure);
        let file = self.findings.file(&name).shown().to_owned();
        let mut files = vec![(name, text)];
        let name = format!("test_failure_{number}.py");
        let place = self.findings.file(&name);
        let title = format!("failure_{number}");
        match system.standalone(&test, Style::Pytest, &title, Some(place.absolute())) {
            Ok(text) => files.push((name, text)),
            Err(error) => {
                let message = format!(
                    "there is no pytest file for this failure: {}",
                    error.message
                );
                console.warning(&message, error.help.as_deref());
            }
        }
        for (name, text) in files {
            kept.unwritten |= !write(console, &mut self.findings, &name, &text);
        }
        if reproduced {
            self.say_how_to_repeat(console, &file);
        } else {
            self.say_flaky(console);
        }
        let kept_test = KeptTest {
            test,
            file,
            reproduced,
        };
        kept.failures.push(KeptFailure {
            kept: kept_test,
            failure,
        });
    }

    fn take_in_goal<'py>(
        &mut self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'py>,
        questions: &Questions<'py>,
        test: &Test,
        kept: &mut Kept,
    ) {
        let Some(goal) = &questions.goal else {
            return;
        };
        let which = if self.explore.finds_shortest() {
            "no test is shorter"
        } else {
            "there may be shorter tests"
        };
        let title = console.paint(Look::Good, "Goal reached");
        console.say("");
        console.say(format_args!(
            "{title} after {} ({which}): {}",
            steps(test.len()),
            goal.text()
        ));
        console.say("");
        report::say_steps(console, system.actions(), test, 1);
        console.say("");
        let reproduced = match self.replay(system, test) {
            None => true,
            Some(None) => goal.is_true(system).unwrap_or(false),
            Some(Some(_)) => false,
        };
        let name = "goal.test";
        let text = self.text(system, test, &[("goal", goal.text().to_owned())]);
        let file = self.answers.file(name).shown().to_owned();
        kept.unwritten |= !write(console, &mut self.answers, name, &text);
        if reproduced {
            self.say_how_to_repeat(console, &file);
        } else {
            self.say_flaky(console);
        }
        kept.goal = Some(KeptTest {
            test: test.clone(),
            file,
            reproduced,
        });
    }

    fn take_in_lasso(
        &mut self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        run: &Counterexample,
        kept: &mut Kept,
    ) {
        let title = console.paint(Look::Bad, "Formula violated");
        let formula = self.explore.formula.as_deref().unwrap_or_default();
        console.say("");
        console.say(format_args!("{title}: {formula}"));
        console.say("");
        let lap = run.lap.len();
        let test_is_empty = run.prefix.is_empty() && run.lap.is_empty();
        report::say_steps(console, system.actions(), &run.prefix, 1);
        let then = match run.ending {
            Ending::Lap => {
                let and = if run.prefix.is_empty() {
                    ""
                } else {
                    "and then "
                };
                console.say(format_args!("  {and}for ever:"));
                let first = run.prefix.len() + 1;
                report::say_steps(console, system.actions(), &run.lap, first);
                format!("the last {} are repeated for ever", steps(lap))
            }
            Ending::Deadlock => "and then nothing can be done, for ever".to_owned(),
            Ending::Anything if test_is_empty => "at the start, whatever follows".to_owned(),
            Ending::Anything => "whatever follows".to_owned(),
        };
        if run.ending != Ending::Lap {
            console.say(format_args!("  {then}"));
        }
        console.say("");
        let all = run.prefix.steps.iter().chain(&run.lap.steps);
        let test = Test::of_steps(all.copied().collect());
        let name = "lasso.test";
        let notes = [("formula", formula.to_owned()), ("then", then)];
        let text = self.text(system, &test, &notes);
        let file = self.answers.file(name).shown().to_owned();
        if !test.is_empty() {
            kept.unwritten |= !write(console, &mut self.answers, name, &text);
            self.say_how_to_repeat(console, &file);
        }
        kept.lasso = Some(KeptTest {
            test,
            file,
            reproduced: run.confirmed,
        });
    }

    fn check(&self) -> bool {
        !self.explore.system.no_check
    }

    /// How a test ends in a system that was set up anew; `None` if there was no time to find out.
    fn replay(&self, system: &mut PythonSystem<'_>, test: &Test) -> Option<Option<Failure>> {
        let options = ReplayOptions {
            check: self.check(),
        };
        let trace = replay(system, test, &options, &mut UntilInterrupted).ok()?;
        (!trace.interrupted).then(|| trace.failure().cloned())
    }

    fn fails_again(&self, system: &mut PythonSystem<'_>, test: &Test, failure: &Failure) -> bool {
        match self.replay(system, test) {
            None => true,
            Some(again) => again.is_some_and(|again| again.is_same_as(failure)),
        }
    }

    fn failing(&self, system: &PythonSystem<'_>, test: &Test, failure: &Failure) -> String {
        let note = format!("{}: {}", failure.kind, failure.message);
        self.text(system, test, &[("failure", note)])
    }

    fn text(&self, system: &PythonSystem<'_>, test: &Test, notes: &[(&str, String)]) -> String {
        let harness = self.explore.harness.display().to_string();
        let notes = [("harness", harness)].into_iter().chain(notes.to_vec());
        let notes: Vec<_> = notes.map(|(name, text)| (name.to_owned(), text)).collect();
        saved::write(system.actions(), test, &notes)
    }

    fn say_how_to_repeat(&self, console: &mut Console<'_>, file: &std::path::Path) {
        let check = if self.check() { "" } else { " --no-check" };
        console.say(format_args!(
            "To see it again: testwright replay {} --harness {}{check}",
            report::shell_word(file),
            report::shell_word(&self.explore.harness),
        ));
        console.flush();
    }

    fn say_flaky(&self, console: &mut Console<'_>) {
        console.say("Run again from the start, the test does not do the same. So the system depends on something besides");
        console.say("the test, or keeps something that copies of its state do not have: `--going-back replay` avoids copies.");
        console.flush();
    }
}

/// Writes a file, and tells why if that is not possible.
fn write(console: &mut Console<'_>, folder: &mut OutputFolder, name: &str, text: &str) -> bool {
    let written = folder.write(name, text);
    if let Err(error) = &written {
        console.error(error);
    }
    written.is_ok()
}
