//! Export of a test as a Python file that a person could have written. It needs neither the harness
//! nor this tool.
//!
//! The test is run once to see which expected exceptions each step raises, and what fails at the
//! end. Only the code that matters for that failure is written: checks that pass on the way are
//! left out, slots become variables, and of the harness's raw code only the functions and imports
//! that the test needs are copied.

mod body;
mod names;
mod preamble;
mod variables;

use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use testwright_core::replay::{ReplayOptions, ReplayWatcher, replay};
use testwright_core::{Error, Failure, PoolId, Step, Test, Trace, TraceEvent};

use crate::checks::Violation;
use crate::failures::{ExceptionIdentity, RaisedException};
use crate::system::{LastFailure, PythonSystem};
use body::{StandaloneBody, StepRecord, WrittenChecks};
use variables::Naming;

/// The kind of file of a standalone test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandaloneStyle {
    /// A function for pytest.
    Pytest,
    /// A class for unittest.
    Unittest,
    /// A program that ends with a traceback if the test fails.
    Script,
}

/// A standalone test as a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StandaloneFile {
    /// The text.
    pub text: String,
    /// The expected end of the file when it runs.
    pub end: StandaloneEnd,
}

/// The expected end of a standalone test when it runs. Lines are those of the file, from 1 on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum StandaloneEnd {
    /// It passes.
    Passes,
    /// The check in these lines is false.
    CheckFails(Range<usize>),
    /// The step in these lines raises this exception.
    Raises(ExceptionIdentity, Range<usize>),
    /// The step in these lines does not raise what it should raise.
    RaisesNothing(Range<usize>),
    /// The last step ends the process of the steps, or does not end. Without it, the file passes,
    /// and then this is its text.
    Fatal(String),
}

/// The form and place of a standalone test.
pub struct StandaloneTarget<'a> {
    /// The kind of file.
    pub style: StandaloneStyle,
    /// Part of the function's name, such as `failure_1`.
    pub name: &'a str,
    /// The path where the file will be saved, so that it can look for modules relative to itself.
    pub file: Option<&'a Path>,
    /// True if properties are checked after each step.
    pub check: bool,
}

/// A failing test in pieces, for files that take its steps one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestPieces {
    /// Imports and helper functions.
    pub preamble: String,
    /// Lines before the first step.
    pub before: Vec<String>,
    /// Each step that was taken: its display text and its lines. Slots are variables with the names
    /// that the harness displays.
    pub steps: Vec<(String, Vec<String>)>,
    /// The check at the end, which fails. Empty if the last step itself fails.
    pub check: Vec<String>,
    /// Clean-up lines, run in any case.
    pub last: Vec<String>,
    /// The failure; `None` if the test passes.
    pub failure: Option<Failure>,
}

impl PythonSystem<'_> {
    /// Runs a test and returns the code of each step. `file` is the path where it will be saved.
    pub fn test_pieces(
        &mut self,
        test: &Test,
        file: &Path,
        check: bool,
    ) -> Result<TestPieces, Error> {
        let (steps, trace) = self.record(test, check)?;
        let style = StandaloneStyle::Script;
        let form = (style, Naming::AsInHarness, WrittenChecks::Failing);
        let mut body = StandaloneBody::from_steps(self, &steps, &trace, form)?;
        let text = |record: &StepRecord| match record.step {
            Step::Act(action) => self.context.harness.catalog.text(action),
            Step::Restart => "<<RESTART>>".to_owned(),
        };
        let mut pieces = TestPieces {
            before: body.before().to_vec(),
            steps: steps.iter().map(text).zip(body.steps()).collect(),
            check: body.check().to_vec(),
            last: body.cleanup_lines.clone(),
            failure: trace.failure().cloned(),
            ..TestPieces::default()
        };
        body.finish();
        pieces.preamble = preamble::write(self, &body, Some(file), style)?;
        Ok(pieces)
    }

    /// Writes a test as a Python file, in each of the forms in which it may fail like the test: the
    /// short one first, then one with all checks after each step if that differs. Also returns how
    /// the test failed.
    pub fn standalone(
        &mut self,
        test: &Test,
        target: &StandaloneTarget<'_>,
    ) -> Result<(Vec<StandaloneFile>, Option<Failure>), Error> {
        let (steps, trace) = self.record(test, target.check)?;
        if !trace.has_taken_step() {
            let message = "no step of the test could be taken, so a file would test nothing";
            return Err(Error::new(message));
        }
        let forms = self.write_forms(test, &steps, &trace, (target, None))?;
        Ok((forms, trace.failure().cloned()))
    }

    /// Writes a test whose last step crashes the process or does not end. That step is not taken
    /// here. The file runs the steps in a process of their own, for at most `limit`.
    pub fn standalone_of_crash(
        &mut self,
        test: &Test,
        failure: &Failure,
        target: &StandaloneTarget<'_>,
        limit: Duration,
    ) -> Result<Vec<StandaloneFile>, Error> {
        let Some((Step::Act(fatal), before)) = test.steps.split_last() else {
            return Err(Error::new("the test has no last step"));
        };
        let before = Test::from_steps(before.to_vec());
        let (mut steps, mut trace) = self.record(&before, target.check)?;
        if trace.failure().is_some() {
            return Err(Error::new("the test does not come to its last step"));
        }
        // A check after the step may be what ends the process.
        let catalog = &self.context.harness.catalog;
        let mut filled = self.filled_slots();
        filled.extend(catalog.slots(*fatal).iter().map(|slot| (slot.0, slot.1)));
        steps.push(StepRecord {
            step: Step::Act(*fatal),
            raised: None,
            reference_raised: false,
            filled,
        });
        let failed = TraceEvent::Failed(*fatal, Box::new(failure.clone()));
        trace.events.push(failed);
        self.write_forms(test, &steps, &trace, (target, Some(limit)))
    }

    /// Runs a test and records what happens at each step.
    fn record(&mut self, test: &Test, check: bool) -> Result<(Vec<StepRecord>, Trace), Error> {
        let mut recorder = ReplayRecorder::default();
        let trace = replay(self, test, &ReplayOptions { check }, &mut recorder)?;
        if trace.interrupted {
            Err(Error::new("interrupted"))
        } else {
            Ok((recorder.steps, trace))
        }
    }

    /// Writes the file of a recorded test in all forms that differ.
    fn write_forms(
        &mut self,
        test: &Test,
        steps: &[StepRecord],
        trace: &Trace,
        target: (&StandaloneTarget<'_>, Option<Duration>),
    ) -> Result<Vec<StandaloneFile>, Error> {
        let mut forms = Vec::new();
        for checks in [WrittenChecks::Failing, WrittenChecks::AfterEachStep] {
            forms.push(self.write_file(test, steps, trace, (target, checks))?);
        }
        forms.dedup_by(|one, other| one.text == other.text);
        Ok(forms)
    }

    /// Writes the file of a recorded test in one form. With a limit, its steps run in a process of
    /// their own.
    fn write_file(
        &mut self,
        test: &Test,
        steps: &[StepRecord],
        trace: &Trace,
        ((target, limit), checks): ((&StandaloneTarget<'_>, Option<Duration>), WrittenChecks),
    ) -> Result<StandaloneFile, Error> {
        let style = target.style;
        let form = (style, Naming::Short, checks);
        let mut body = StandaloneBody::from_steps(self, steps, trace, form)?;
        let before = body.finish();
        body.is_child_process = limit.is_some();
        let preamble = preamble::write(self, &body, target.file, style)?;
        let headline = self.headline(test, body.failure_message.as_deref());
        let assemble = |lines: &[String]| {
            let form = (style, limit);
            assemble(&headline, &preamble, lines, form, target.name)
        };
        let (text, first_line) = assemble(&body.lines);
        let end = match (body.failing_lines(first_line), before, limit) {
            (Some(_), Some(before), Some(_)) => StandaloneEnd::Fatal(assemble(&before).0),
            (Some(lines), ..) => self.end_in(lines),
            (None, ..) => StandaloneEnd::Passes,
        };
        Ok(StandaloneFile { text, end })
    }

    /// Returns what happens in the lines in which the test fails.
    fn end_in(&self, lines: Range<usize>) -> StandaloneEnd {
        match &self.last_failure {
            Some(LastFailure::Check(Violation::Property(_, _, Some(raised)))) => {
                StandaloneEnd::Raises((**raised).clone(), lines)
            }
            Some(LastFailure::Step(error)) if !self.is_false_check(error) => {
                match self.raised_by_system(error) {
                    Some(raised) => StandaloneEnd::Raises(raised, lines),
                    None => StandaloneEnd::RaisesNothing(lines),
                }
            }
            Some(LastFailure::Check(_) | LastFailure::Step(_)) | None => {
                StandaloneEnd::CheckFails(lines)
            }
        }
    }

    /// Returns true if an exception of the tool says that a check after the step is false.
    pub(crate) fn is_false_check(&self, error: &PyErr) -> bool {
        ["PostConditionFailed", "ReferenceMismatch"]
            .iter()
            .any(|name| self.is_raised_by_tool(error, name))
    }

    /// Returns true if an exception has this class of the tool.
    fn is_raised_by_tool(&self, error: &PyErr, name: &str) -> bool {
        let class = self.context.support.getattr(name);
        class.is_ok_and(|class| error.matches(self.context.python, class).unwrap_or(false))
    }

    /// Returns the exception that a step of the system raised; `None` if only its reference did.
    fn raised_by_system(&self, error: &PyErr) -> Option<ExceptionIdentity> {
        let python = self.context.python;
        let mut raised = RaisedException::new(python, error);
        if self.is_raised_by_tool(error, "ExceptionMismatch") {
            let own = error.value(python).getattr("raised").ok()?;
            if own.is_none() {
                return None;
            }
            raised = RaisedException::new(python, &PyErr::from_value(own));
        }
        let mut identity = raised.identity();
        // Code of the harness stands in the file itself, at other lines.
        let own = self.path.file_name().unwrap_or_default().to_string_lossy();
        let is_own = |location: &String| location.rsplit_once(':').is_some_and(|at| at.0 == own);
        identity.location = identity.location.filter(|location| !is_own(location));
        Some(identity)
    }

    /// Returns the slots that hold values.
    fn filled_slots(&self) -> Vec<(PoolId, u32)> {
        let pools = self.context.harness.pools.iter().enumerate();
        let slots = pools.flat_map(|(pool, slots)| {
            let slot = move |slot| (PoolId(pool), slot);
            (0..slots.size).map(slot)
        });
        let is_filled = |slot: &(PoolId, u32)| self.context.is_filled(slot.0, slot.1);
        slots.filter(is_filled).collect()
    }

    /// Returns the docstring of the file: origin, length and failure.
    fn headline(&self, test: &Test, message: Option<&str>) -> String {
        let harness = self
            .path
            .file_name()
            .map(|name| name.to_string_lossy())
            .unwrap_or_default();
        let steps = match test.len() {
            1 => String::from("1 step"),
            number => format!("{number} steps"),
        };
        let result = match message {
            Some(message) => format!("fails after {steps}:\n\n    {}\n", message),
            None => format!("passes its {steps}."),
        };
        format!("Generated by Testwright from {harness}; {result}")
            .replace('\\', "\\\\")
            .replace("\"\"\"", "'''")
    }
}

/// Records what happened at each step that was taken.
#[derive(Default)]
struct ReplayRecorder {
    /// The steps so far.
    steps: Vec<StepRecord>,
}

impl ReplayWatcher<PythonSystem<'_>> for ReplayRecorder {
    fn after_step(&mut self, system: &mut PythonSystem<'_>, event: &TraceEvent) {
        let (step, raised) = match event {
            TraceEvent::Restarted => (Step::Restart, None),
            TraceEvent::Skipped(_) => return,
            TraceEvent::Passed(action)
            | TraceEvent::Failed(action, _)
            | TraceEvent::Expected(action, _) => (Step::Act(*action), system.text_of_expected()),
        };
        let reference_raised = !system.reference_raised.is_empty();
        self.steps.push(StepRecord {
            step,
            raised,
            reference_raised,
            filled: system.filled_slots(),
        });
    }
}

/// Exit status of a process that has taken all steps of a written test.
const COMPLETE: i32 = 42;

/// Joins docstring, preamble and body to a file, and returns it with the number of the body's first
/// line. With a limit, the body runs in a process of its own.
fn assemble(
    headline: &str,
    preamble: &str,
    body: &[String],
    (style, limit): (StandaloneStyle, Option<Duration>),
    name: &str,
) -> (String, usize) {
    let gap = if preamble.is_empty() {
        "\n\n\n"
    } else {
        "\n\n"
    };
    let mut text = format!("\"\"\"{headline}\"\"\"{gap}{preamble}");
    let height = |text: &str| text.matches('\n').count();
    let Some(limit) = limit else {
        let function = test_function(style, name, body);
        let heads = height(&function) - height(&indented(body, 0));
        let first_line = height(&text) + heads + 1;
        text.push_str(&function);
        text.push_str(&main_block(style, name));
        return (text, first_line);
    };
    let first_line = height(&text) + 2;
    // A process that exits early may do so with status 0.
    let call = [
        format!(
            "status = subprocess.run([sys.executable, __file__, \"steps\"], timeout={}).returncode",
            limit.as_secs().max(1)
        ),
        format!("assert status == {COMPLETE}, f\"the steps ended early, with status {{status}}\""),
    ];
    text.push_str(&format!("def steps():\n{}\n\n", indented(body, 1)));
    text.push_str(&test_function(style, name, &call));
    let main = main_block(style, name);
    let main = main
        .trim_start()
        .strip_prefix("if __name__ == \"__main__\":\n");
    text.push_str(&format!(
        "\n\nif __name__ == \"__main__\" and sys.argv[1:] == [\"steps\"]:\n    steps()\n    sys.exit({COMPLETE})\n"
    ));
    if let Some(main) = main {
        text.push_str(&format!("elif __name__ == \"__main__\":\n{main}"));
    }
    (text, first_line)
}

/// Returns the function or class of a test.
fn test_function(style: StandaloneStyle, name: &str, body: &[String]) -> String {
    match style {
        StandaloneStyle::Pytest | StandaloneStyle::Script => {
            format!("def test_{name}():\n{}", indented(body, 1))
        }
        StandaloneStyle::Unittest => {
            let class: String = name.split('_').map(capitalized).collect();
            format!(
                "class {class}(unittest.TestCase):\n    def test_{name}(self):\n{}",
                indented(body, 2)
            )
        }
    }
}

/// Returns the lines that run a file as a program.
fn main_block(style: StandaloneStyle, name: &str) -> String {
    let main = "\n\nif __name__ == \"__main__\":\n";
    match style {
        StandaloneStyle::Pytest => String::new(),
        StandaloneStyle::Unittest => format!("{main}    unittest.main()\n"),
        StandaloneStyle::Script => {
            format!("{main}    test_{name}()\n    print(\"the test passes\")\n")
        }
    }
}

/// Returns lines indented by some levels; empty lines stay empty.
fn indented(lines: &[String], depth: usize) -> String {
    let margin = "    ".repeat(depth);
    let line = |line: &String| {
        if line.is_empty() {
            String::from("\n")
        } else {
            format!("{margin}{line}\n")
        }
    };
    lines.iter().map(line).collect()
}

/// Returns a word with an upper-case first letter.
fn capitalized(word: &str) -> String {
    let mut characters = word.chars();
    characters
        .next()
        .map(|first| first.to_uppercase().chain(characters).collect())
        .unwrap_or_default()
}
