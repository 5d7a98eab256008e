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

use std::path::Path;

use pyo3::prelude::*;
use testwright_core::replay::{ReplayOptions, ReplayWatcher, replay};
use testwright_core::{Error, Failure, Step, Test, Trace, TraceEvent};

use crate::system::PythonSystem;
use body::{StandaloneBody, StepRecord};
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
    pub fn test_pieces(&mut self, test: &Test, file: &Path) -> Result<TestPieces, Error> {
        let (steps, trace) = self.record(test)?;
        let style = StandaloneStyle::Script;
        let mut body =
            StandaloneBody::from_steps(self, &steps, &trace, (style, Naming::AsInHarness))?;
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

    /// Writes a test as a Python file.
    ///
    /// `name` is part of the function's name, such as `failure_1`. `file` is where the text will be
    /// saved, so that it can look for modules relative to itself.
    pub fn standalone(
        &mut self,
        test: &Test,
        style: StandaloneStyle,
        name: &str,
        file: Option<&Path>,
    ) -> Result<String, Error> {
        let (steps, trace) = self.record(test)?;
        self.write_file(test, &steps, &trace, (style, name, file))
    }

    /// Writes a test whose last step crashes the process. That step is not taken here.
    pub fn standalone_of_crash(
        &mut self,
        test: &Test,
        failure: &Failure,
        style: StandaloneStyle,
        name: &str,
        file: Option<&Path>,
    ) -> Result<String, Error> {
        let Some((Step::Act(fatal), before)) = test.steps.split_last() else {
            return Err(Error::new("the test has no last step"));
        };
        let (mut steps, mut trace) = self.record(&Test::from_steps(before.to_vec()))?;
        if trace.failure().is_some() {
            return Err(Error::new("the test does not come to its last step"));
        }
        steps.push(StepRecord {
            step: Step::Act(*fatal),
            raised: None,
            reference_raised: false,
        });
        let failed = TraceEvent::Failed(*fatal, Box::new(failure.clone()));
        trace.events.push(failed);
        self.write_file(test, &steps, &trace, (style, name, file))
    }

    /// Runs a test and records what happens at each step.
    fn record(&mut self, test: &Test) -> Result<(Vec<StepRecord>, Trace), Error> {
        let mut recorder = ReplayRecorder::default();
        let trace = replay(self, test, &ReplayOptions { check: true }, &mut recorder)?;
        if trace.interrupted {
            Err(Error::new("interrupted"))
        } else {
            Ok((recorder.steps, trace))
        }
    }

    /// Writes the file of a recorded test.
    fn write_file(
        &mut self,
        test: &Test,
        steps: &[StepRecord],
        trace: &Trace,
        (style, name, file): (StandaloneStyle, &str, Option<&Path>),
    ) -> Result<String, Error> {
        let body = StandaloneBody::write(self, steps, trace, style)?;
        let preamble = preamble::write(self, &body, file, style)?;
        Ok(assemble(
            &self.headline(test, body.failure_message.as_deref()),
            &preamble,
            &body.lines,
            style,
            name,
        ))
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
        });
    }
}

/// Joins docstring, preamble and body to a file.
fn assemble(
    headline: &str,
    preamble: &str,
    body: &[String],
    style: StandaloneStyle,
    name: &str,
) -> String {
    let gap = if preamble.is_empty() {
        "\n\n\n"
    } else {
        "\n\n"
    };
    let mut text = format!("\"\"\"{headline}\"\"\"{gap}{preamble}");
    let indented = |depth: usize| -> String {
        let margin = "    ".repeat(depth);
        body.iter()
            .map(|line| {
                if line.is_empty() {
                    String::from("\n")
                } else {
                    format!("{margin}{line}\n")
                }
            })
            .collect()
    };
    match style {
        StandaloneStyle::Pytest => {
            text.push_str(&format!("def test_{name}():\n{}", indented(1)));
        }
        StandaloneStyle::Unittest => {
            let class: String = name.split('_').map(capitalized).collect();
            text.push_str(&format!(
                "class {class}(unittest.TestCase):\n    def test_{name}(self):\n{}",
                indented(2)
            ));
            text.push_str("\n\nif __name__ == \"__main__\":\n    unittest.main()\n");
        }
        StandaloneStyle::Script => {
            text.push_str(&format!("def test_{name}():\n{}", indented(1)));
            text.push_str(&format!("\n\nif __name__ == \"__main__\":\n    test_{name}()\n    print(\"the test passes\")\n"));
        }
    }
    text
}

/// Returns a word with an upper-case first letter.
fn capitalized(word: &str) -> String {
    let mut characters = word.chars();
    characters
        .next()
        .map(|first| first.to_uppercase().chain(characters).collect())
        .unwrap_or_default()
}
