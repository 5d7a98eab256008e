//! Steps that come from outside: from a log, or from a test that was written down.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use testwright_core::product::{NameId, Trouble, ValueId};

use super::Models;
use super::speech::raised;

impl<'py> Models<'py> {
    /// The arguments and the result that JSON texts stand for. JSON has no tuples, but arguments are made of them; of a
    /// result it is not known which was meant, so it may be either.
    pub fn from_json(
        &mut self,
        name: &str,
        arguments: &str,
        result: Option<&str>,
    ) -> Result<(NameId, ValueId, Option<[ValueId; 2]>), Trouble> {
        let python = self.python;
        let mut work = || -> PyResult<(NameId, ValueId, Option<[ValueId; 2]>)> {
            let read = python.import("json")?.getattr("loads")?;
            let arguments = frozen(&read.call1((arguments,))?)?;
            let mut speech = self.handles.speech.borrow_mut();
            let words = self.product.words_mut();
            let name = words.name(name);
            let arguments = speech.value(words, &arguments)?;
            let Some(result) = result else {
                return Ok((name, arguments, None));
            };
            let plain = read.call1((result,))?;
            let either = [
                speech.value(words, &frozen(&plain)?)?,
                speech.value(words, &plain)?,
            ];
            Ok((name, arguments, Some(either)))
        };
        work().map_err(|error| raised(python, &error))
    }

    /// The numbers of steps as Python has them: names, and tuples of arguments.
    pub fn steps_of(
        &mut self,
        steps: &[(String, Bound<'py, PyTuple>)],
    ) -> Result<Vec<(NameId, ValueId)>, Trouble> {
        let python = self.python;
        let mut speech = self.handles.speech.borrow_mut();
        let words = self.product.words_mut();
        let mut all = Vec::new();
        for (name, arguments) in steps {
            let value = speech.value(words, arguments.as_any());
            let value = value.map_err(|error| raised(python, &error))?;
            all.push((words.name(name), value));
        }
        Ok(all)
    }
}

/// The value with tuples for lists.
fn frozen<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let Ok(list) = value.cast::<PyList>() else {
        return Ok(value.clone());
    };
    let items = list.iter().map(|item| frozen(&item));
    let items = items.collect::<PyResult<Vec<_>>>()?;
    Ok(PyTuple::new(value.py(), items)?.into_any())
}
