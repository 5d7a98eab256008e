//! Pytest files that replay a run of models while a stepper makes an implementation do the same.

use std::path::{Component, Path};
use std::time::Duration;

/// The default time limit of a stepper.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// The contents of a pytest file.
pub(crate) struct ModelPytestFile<'f> {
    /// Command for the header of the file.
    pub(crate) command_line: &'f str,
    /// Name of the test function, without `test_`.
    pub(crate) title: &'f str,
    /// Names of the models.
    pub(crate) models: &'f [String],
    /// Name of the stepper module.
    pub(crate) stepper: &'f str,
    /// Folder that these names are relative to.
    pub(crate) model_folder: &'f Path,
    /// Steps: name, and arguments as a Python literal.
    pub(crate) steps: Vec<(String, String)>,
    /// Message of the failure.
    pub(crate) reason: &'f str,
    /// Time limit of the stepper.
    pub(crate) timeout: Duration,
    /// True if a state in which an invariant does not hold is a failure.
    pub(crate) check: bool,
    /// Number of the run, if one of the models is a suite.
    pub(crate) run: Option<usize>,
    /// Number of times that a run which does not always fail is played.
    pub(crate) tries: Option<usize>,
}

impl ModelPytestFile<'_> {
    /// Writes the text of a file in `folder`.
    pub(crate) fn write(&self, folder: &Path) -> String {
        let names: Vec<String> = self.models.iter().map(|name| python_string(name)).collect();
        let step = |(name, arguments): &(String, String)| {
            format!("            ({}, {arguments}),\n", python_string(name))
        };
        let steps: String = self.steps.iter().map(step).collect();
        let reason = self.reason.replace('\\', "\\\\").replace('"', "\\\"");
        let reason = reason.replace(['\n', '\r'], " ");
        format!(
            "# {}\n\nfrom pathlib import Path\n\nfrom testwright import models\n\n\n\
             def test_{}():\n    \"\"\"{reason}\"\"\"\n    models.replay(\n        \
             folder={},\n        models=[{}],\n        stepper={},\n        \
             steps=[\n{steps}        ],\n{}    )\n",
            self.command_line.replace(['\n', '\r'], " "),
            self.title,
            folder_expression(self.model_folder, folder),
            names.join(", "),
            python_string(self.stepper),
            self.extra_arguments(),
        )
    }

    /// Returns the lines of the arguments that differ from their defaults.
    fn extra_arguments(&self) -> String {
        let mut lines = String::new();
        if let Some(run) = self.run {
            lines += &format!("        run={run},\n");
        }
        if self.timeout != DEFAULT_TIMEOUT {
            lines += &format!("        timeout={:?},\n", self.timeout.as_secs_f64());
        }
        if let Some(tries) = self.tries {
            lines += &format!("        tries={tries},\n");
        }
        if !self.check {
            lines += "        check=False,\n";
        }
        lines
    }
}

/// Returns a Python expression for the folder `here`, to use in a file of the folder `other`.
///
/// The path is relative if possible, so that the folders can be moved together.
fn folder_expression(here: &Path, other: &Path) -> String {
    let goes_up = other.components().any(|part| part == Component::ParentDir);
    match other.strip_prefix(here) {
        Ok(inside) if !goes_up => format!(
            "Path(__file__).resolve().parents[{}]",
            inside.components().count()
        ),
        _ => format!("Path({})", python_string(&here.to_string_lossy())),
    }
}

/// Formats a text as a Python string literal.
fn python_string(text: &str) -> String {
    // A JSON string is a valid Python string.
    serde_json::Value::from(text).to_string()
}
