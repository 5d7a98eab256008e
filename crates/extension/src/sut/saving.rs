//! Tests as text, and back.

use std::path::PathBuf;

use pyo3::exceptions::{PyKeyError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyList;
use testwright_core::{Step, saved};

use super::{Sut, trouble};
use crate::action::Action;

/// What TSTL puts between the steps of a test in one line.
const SEPARATOR: &str = "#!#!";

#[pymethods]
impl Sut {
    /// Saves a test: text, an action a line.
    fn save_test(slf: &Bound<'_, Sut>, test: &Bound<'_, PyAny>, filename: PathBuf) -> PyResult<()> {
        let test = Sut::core_test(slf, test)?;
        let text = {
            let sut = Sut::look_at(slf)?;
            let harness = sut.path.file_name().unwrap_or_default().to_string_lossy();
            let notes = [(String::from("harness"), harness.into_owned())];
            saved::write(&sut.catalog, &test, &notes)
        };
        std::fs::write(&filename, text).map_err(|error| {
            PyOSError::new_err(format!("cannot write `{}`: {error}", filename.display()))
        })
    }

    /// Loads a test. A line that the harness does not know is a `KeyError`.
    fn load_test<'py>(slf: &Bound<'py, Sut>, filename: PathBuf) -> PyResult<Bound<'py, PyList>> {
        let text = std::fs::read_to_string(&filename).map_err(|error| {
            PyOSError::new_err(format!("cannot read `{}`: {error}", filename.display()))
        })?;
        let read = saved::read(&Sut::look_at(slf)?.catalog, &text);
        let saved = read.map_err(|problems| {
            let first = problems.first();
            let words = first.map_or_else(String::new, |problem| {
                let help = problem.help.as_ref().map(|help| format!(" ({help})"));
                format!(
                    "{}, line {}: {}: `{}`{}",
                    filename.display(),
                    problem.line,
                    problem.message,
                    problem.text,
                    help.unwrap_or_default()
                )
            });
            PyKeyError::new_err(words)
        })?;
        let resolved = Sut::with(slf, |system| saved.resolve(system))?;
        Sut::restart(slf)?;
        Sut::python_test(slf, &resolved.map_err(|error| trouble(&error))?)
    }

    /// The line of a saved test for a step.
    fn serializable(slf: &Bound<'_, Sut>, step: &Bound<'_, PyAny>) -> PyResult<String> {
        let _of_this_system = Action::step_for(step, slf)?;
        let action = step.cast::<Action>()?.get();
        let name = action.name(slf.py())?;
        Ok(match &action.note {
            Some(note) => format!("{name};;;{note}"),
            None => name,
        })
    }

    /// The step for a line of a saved test; a `KeyError` if the harness does not know it.
    fn playable<'py>(slf: &Bound<'py, Sut>, text: &str) -> PyResult<Bound<'py, Action>> {
        let step = Sut::look_at(slf)?.playable_step(text)?;
        let note = text
            .split_once(";;;")
            .map(|(_, note)| note.trim().to_owned());
        Sut::action(slf, step, note.filter(|note| !note.is_empty()))
    }

    /// A whole test as one line of text.
    fn capture_replay(slf: &Bound<'_, Sut>, test: &Bound<'_, PyAny>) -> PyResult<String> {
        let steps = test.try_iter()?;
        let lines = steps.map(|step| Sut::serializable(slf, &step?));
        Ok(lines.collect::<PyResult<Vec<_>>>()?.join(SEPARATOR))
    }

    /// The test that [`capture_replay`] made a text of.
    fn replayable<'py>(slf: &Bound<'py, Sut>, text: &str) -> PyResult<Bound<'py, PyList>> {
        let lines = text.split(SEPARATOR).filter(|line| !line.is_empty());
        let steps: Vec<Step> = lines
            .map(|line| Sut::look_at(slf)?.playable_step(line))
            .collect::<PyResult<_>>()?;
        Sut::python_test(slf, &testwright_core::Test::of_steps(steps))
    }
}
