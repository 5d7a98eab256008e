//! A test as a Python file of its own: what a person would have written, needing neither the harness nor this tool.
//!
//! The test is run once to see what happens at each step: which expected exceptions are raised, and what fails
//! at the end. Only what matters for that failure is written: checks that pass on the way are left out, slots
//! become variables, and of the harness's own code only the functions and imports that the test needs.

mod body;
mod names;
mod preamble;
mod variables;

use std::path::Path;

use pyo3::prelude::*;
use testwright_core::replay::{ReplayOptions, Watcher, replay};
use testwright_core::{Error, Event, Failure, Step, Test, Trace};

use crate::system::PythonSystem;
use body::{Body, StepRecord};
use variables::Naming;

/// Which kind of file a standalone test is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A function for pytest.
    Pytest,
    /// A class for unittest.
    Unittest,
    /// A program that ends with a traceback if the test fails.
    Script,
}

/// A test that fails, in pieces: for files that take its steps one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    /// Imports and helper functions.
    pub preamble: String,
    /// Before the first step.
    pub before: Vec<String>,
    /// Each step that was taken, as the harness shows it, and what it does. Slots are variables with the names that the
    /// harness has for them.
    pub steps: Vec<(String, Vec<String>)>,
    /// What is checked in the end, and does not hold. Nothing if it is the last step itself that fails.
    pub check: Vec<String>,
    /// What is done in the end in any case.
    pub last: Vec<String>,
    /// What failed; nothing if the test passes.
    pub failure: Option<Failure>,
}

impl PythonSystem<'_> {
    /// Runs a test and tells what each of its steps does. `file` is where that will be written.
    pub fn pieces(&mut self, test: &Test, file: &Path) -> Result<Pieces, Error> {
        let (steps, trace) = self.record(test)?;
        let style = Style::Script;
        let mut body = Body::of_steps(self, &steps, &trace, (style, Naming::AsInHarness))?;
        let text = |record: &StepRecord| match record.step {
            Step::Act(action) => self.context.harness.catalog.text(action),
            Step::Restart => "<<RESTART>>".to_owned(),
        };
        let mut pieces = Pieces {
            before: body.before().to_vec(),
            steps: steps.iter().map(text).zip(body.steps()).collect(),
            check: body.check().to_vec(),
            last: body.cleaning.clone(),
            failure: trace.failure().cloned(),
            ..Pieces::default()
        };
        body.finish();
        pieces.preamble = preamble::write(self, &body, Some(file), style)?;
        Ok(pieces)
    }

    /// Writes a test as a Python file.
    ///
    /// `name` is part of the function's name, such as `failure_1`. `file` is where the text will be saved, so
    /// that it can look for modules relative to itself.
    pub fn standalone(
        &mut self,
        test: &Test,
        style: Style,
        name: &str,
        file: Option<&Path>,
    ) -> Result<String, Error> {
        let (steps, trace) = self.record(test)?;
        self.file_of(test, &steps, &trace, (style, name, file))
    }

    /// Writes a test as a Python file whose last step nobody survives. It is not taken here.
    pub fn standalone_of_crash(
        &mut self,
        test: &Test,
        failure: &Failure,
        style: Style,
        name: &str,
        file: Option<&Path>,
    ) -> Result<String, Error> {
        let Some((Step::Act(fatal), before)) = test.steps.split_last() else {
            return Err(Error::new("the test has no last step"));
        };
        let (mut steps, mut trace) = self.record(&Test::of_steps(before.to_vec()))?;
        if trace.failure().is_some() {
            return Err(Error::new("the test does not come to its last step"));
        }
        steps.push(StepRecord {
            step: Step::Act(*fatal),
            raised: None,
            reference_raised: false,
        });
        let failed = Event::Failed(*fatal, Box::new(failure.clone()));
        trace.events.push(failed);
        self.file_of(test, &steps, &trace, (style, name, file))
    }

    /// What happens at each step.
    fn record(&mut self, test: &Test) -> Result<(Vec<StepRecord>, Trace), Error> {
        let mut recorder = Recorder::default();
        let trace = replay(self, test, &ReplayOptions { check: true }, &mut recorder)?;
        if trace.interrupted {
            Err(Error::new("interrupted"))
        } else {
            Ok((recorder.steps, trace))
        }
    }

    fn file_of(
        &mut self,
        test: &Test,
        steps: &[StepRecord],
        trace: &Trace,
        (style, name, file): (Style, &str, Option<&Path>),
    ) -> Result<String, Error> {
        let body = Body::write(self, steps, trace, style)?;
        let preamble = preamble::write(self, &body, file, style)?;
        Ok(assemble(
            &self.headline(test, body.complaint.as_deref()),
            &preamble,
            &body.lines,
            style,
            name,
        ))
    }

    fn headline(&self, test: &Test, complaint: Option<&str>) -> String {
        let harness = self
            .path
            .file_name()
            .map(|name| name.to_string_lossy())
            .unwrap_or_default();
        let steps = match test.len() {
            1 => String::from("1 step"),
            number => format!("{number} steps"),
        };
        let what = match complaint {
            Some(complaint) => format!("fails after {steps}:\n\n    {}\n", complaint),
            None => format!("passes its {steps}."),
        };
        format!("Generated by Testwright from {harness}; {what}")
            .replace('\\', "\\\\")
            .replace("\"\"\"", "'''")
    }
}

/// Remembers what happened at each step that was taken.
#[derive(Default)]
struct Recorder {
    steps: Vec<StepRecord>,
}

impl Watcher<PythonSystem<'_>> for Recorder {
    fn after(&mut self, system: &mut PythonSystem<'_>, event: &Event) {
        let (step, raised) = match event {
            Event::Restarted => (Step::Restart, None),
            Event::Skipped(_) => return,
            Event::Passed(action) | Event::Failed(action, _) | Event::Expected(action, _) => {
                (Step::Act(*action), system.text_of_expected())
            }
        };
        let reference_raised = !system.reference_raised.is_empty();
        self.steps.push(StepRecord {
            step,
            raised,
            reference_raised,
        });
    }
}

fn assemble(headline: &str, preamble: &str, body: &[String], style: Style, name: &str) -> String {
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
        Style::Pytest => {
            text.push_str(&format!("def test_{name}():\n{}", indented(1)));
        }
        Style::Unittest => {
            let class: String = name.split('_').map(capitalized).collect();
            text.push_str(&format!(
                "class {class}(unittest.TestCase):\n    def test_{name}(self):\n{}",
                indented(2)
            ));
            text.push_str("\n\nif __name__ == \"__main__\":\n    unittest.main()\n");
        }
        Style::Script => {
            text.push_str(&format!("def test_{name}():\n{}", indented(1)));
            text.push_str(&format!("\n\nif __name__ == \"__main__\":\n    test_{name}()\n    print(\"the test passes\")\n"));
        }
    }
    text
}

fn capitalized(word: &str) -> String {
    let mut characters = word.chars();
    characters
        .next()
        .map(|first| first.to_uppercase().chain(characters).collect())
        .unwrap_or_default()
}
