//! Steps from outside: from a log, or from a stored test.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use testwright_core::product::{ModelError, NameId, ValueId};

use super::actions::FunctionParameters;
use super::model_values::raised;
use super::{ModelStates, Models};

impl<'py> Models<'py> {
    /// Converts JSON texts to arguments and a result. JSON has no tuples: arguments are converted
    /// to tuples, and a result may be either, so both forms are returned.
    pub fn parse_json_step(
        &mut self,
        name: &str,
        arguments: &str,
        result: Option<&str>,
    ) -> Result<(NameId, ValueId, Option<[ValueId; 2]>), ModelError> {
        let python = self.python;
        let mut work = || -> PyResult<(NameId, ValueId, Option<[ValueId; 2]>)> {
            let read = python.import("json")?.getattr("loads")?;
            let arguments = frozen(&read.call1((arguments,))?)?;
            let mut values = self.handles.values.borrow_mut();
            let interner = self.product.interner_mut();
            let name = interner.intern_name(name);
            let arguments = values.value(interner, &arguments)?;
            let Some(result) = result else {
                return Ok((name, arguments, None));
            };
            let plain = read.call1((result,))?;
            let either = [
                values.value(interner, &frozen(&plain)?)?,
                values.value(interner, &plain)?,
            ];
            Ok((name, arguments, Some(either)))
        };
        work().map_err(|error| raised(python, &error))
    }

    /// Returns the parameters of an action of a model program, in order; none if no program has it.
    pub fn parameters(&self, action: &str) -> Result<Vec<ActionParameter>, ModelError> {
        let python = self.python;
        let work = || -> PyResult<Vec<ActionParameter>> {
            for states in self.handles.states.iter() {
                let ModelStates::Program { module, .. } = states else {
                    continue;
                };
                if let Some(function) = module.get_item(action)? {
                    return read_parameters(&function);
                }
            }
            Ok(Vec::new())
        };
        work().map_err(|error| raised(python, &error))
    }

    /// Returns the ids of steps given as Python objects: names, and tuples of arguments.
    pub fn intern_steps(
        &mut self,
        steps: &[(String, Bound<'py, PyTuple>)],
    ) -> Result<Vec<(NameId, ValueId)>, ModelError> {
        let python = self.python;
        let mut values = self.handles.values.borrow_mut();
        let interner = self.product.interner_mut();
        let mut all = Vec::new();
        for (name, arguments) in steps {
            let value = values.value(interner, arguments.as_any());
            let value = value.map_err(|error| raised(python, &error))?;
            all.push((interner.intern_name(name), value));
        }
        Ok(all)
    }
}

/// A parameter of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionParameter {
    /// The name of the parameter.
    pub name: String,
    /// The default as JSON, if there is one that JSON can express.
    pub default: Option<String>,
}

/// Reads the parameters of a function.
fn read_parameters(function: &Bound<'_, PyAny>) -> PyResult<Vec<ActionParameter>> {
    let python = function.py();
    let names = FunctionParameters::read(function)?.positional;
    let defaults = function.getattr("__defaults__").ok();
    let defaults: Vec<Bound<'_, PyAny>> = match defaults.filter(|defaults| !defaults.is_none()) {
        Some(defaults) => defaults.try_iter()?.collect::<PyResult<_>>()?,
        None => Vec::new(),
    };
    let write = python.import("json")?.getattr("dumps")?;
    let without_default = names.len().saturating_sub(defaults.len());
    let parameter = |(index, name): (usize, String)| {
        let default = index.checked_sub(without_default);
        let default = default.and_then(|index| write.call1((defaults.get(index)?,)).ok());
        ActionParameter {
            default: default.and_then(|text| text.extract().ok()),
            name,
        }
    };
    Ok(names.into_iter().enumerate().map(parameter).collect())
}

/// Converts lists to tuples, recursively.
fn frozen<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let Ok(list) = value.cast::<PyList>() else {
        return Ok(value.clone());
    };
    let items = list.iter().map(|item| frozen(&item));
    let items = items.collect::<PyResult<Vec<_>>>()?;
    Ok(PyTuple::new(value.py(), items)?.into_any())
}
