//! Loads a harness file.

use std::path::PathBuf;
use testwright_core::describe_os_error;

use pyo3::exceptions::{PyFileNotFoundError, PyOSError};
use pyo3::prelude::*;
use testwright_python::{LoadError, Options, PythonSystem};

use super::to_py_error;
use crate::HarnessError;

/// Loads a harness, or raises its problems.
pub(super) fn load<'py>(
    python: Python<'py>,
    path: &PathBuf,
    options: &Options,
) -> PyResult<PythonSystem<'py>> {
    let bytes = std::fs::read(path).map_err(|error| {
        let message = format!(
            "cannot read the harness `{}`: {}",
            path.display(),
            describe_os_error(&error)
        );
        match error.kind() {
            std::io::ErrorKind::NotFound => PyFileNotFoundError::new_err(message),
            _ => PyOSError::new_err(message),
        }
    })?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let wrong = |problems: &[_]| {
        HarnessError::new_err(testwright_cli::render_diagnostics(path, &text, problems))
    };
    let (harness, problems) = testwright_lang::parse(&text);
    let errors: Vec<_> = problems
        .into_iter()
        .filter(|problem| problem.severity == testwright_lang::Severity::Error)
        .collect();
    if !errors.is_empty() {
        return Err(wrong(&errors));
    }
    PythonSystem::load(python.into(), path, &text, harness, options).map_err(|error| match error {
        LoadError::Diagnostics(problems) => wrong(&problems),
        LoadError::Failed(error) => to_py_error(&error),
    })
}

/// Returns the value of a word, or an error that lists all words.
pub(super) fn parse_choice<T: Copy>(name: &str, word: &str, choices: &[(&str, T)]) -> PyResult<T> {
    let found = choices.iter().find(|(choice, _)| *choice == word);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<String> = choices
            .iter()
            .map(|(word, _)| format!("{word:?}"))
            .collect();
        pyo3::exceptions::PyValueError::new_err(format!(
            "{name} must be one of {}, not {word:?}",
            words.join(", ")
        ))
    })
}
