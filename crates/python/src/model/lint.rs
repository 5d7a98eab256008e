//! Detection of mistakes in the state of model programs that would go unnoticed.
//!
//! The state consists of the variables that a model lists, each copied separately. So changes to
//! other variables are not undone, and an object shared by two variables becomes two objects after
//! the first step.

use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple,
};
use rustc_hash::FxHashSet;
use testwright_core::product::ModelError;

use super::model_values::raised;
use super::{ModelStates, Models};

/// The maximum depth of values inspected.
const MAX_DEPTH: usize = 20;

/// The variables of model programs before use, for comparison after it.
pub struct StateLint<'py> {
    /// The model programs.
    programs: Vec<LintedProgram<'py>>,
    /// Findings that do not depend on use.
    shared: Vec<String>,
}

/// A model program under inspection.
struct LintedProgram<'py> {
    name: String,
    module: Bound<'py, PyDict>,
    /// The variables outside the state, with copies of their values.
    others: Vec<(String, Bound<'py, PyAny>)>,
}

impl<'py> Models<'py> {
    /// Inspects the modules in their present state. Further findings follow once the models have
    /// been used.
    pub fn lint(&self) -> Result<StateLint<'py>, ModelError> {
        let mut lint = StateLint {
            programs: Vec::new(),
            shared: Vec::new(),
        };
        let models = self.product.models().iter().zip(self.handles.states.iter());
        for (model, states) in models {
            if let ModelStates::Program { states, module } = states {
                let variables = states.borrow().names();
                let inspected = lint.inspect(self.python, model.name(), module, &variables);
                inspected.map_err(|error| raised(self.python, &error))?;
            }
        }
        Ok(lint)
    }
}

impl<'py> StateLint<'py> {
    /// Inspects a model program.
    fn inspect(
        &mut self,
        python: Python<'py>,
        name: &str,
        module: &Bound<'py, PyDict>,
        variables: &[String],
    ) -> PyResult<()> {
        let mut held: Vec<(&String, FxHashSet<usize>)> = Vec::new();
        for variable in variables {
            let mut objects = FxHashSet::default();
            if let Some(value) = module.get_item(variable)? {
                collect_mutable(&value, &mut objects, MAX_DEPTH)?;
            }
            for (other, others) in &held {
                if !objects.is_disjoint(others) {
                    self.shared.push(format!(
                        "`{other}` and `{variable}` of `{name}` hold the same object, which becomes two with the first step"
                    ));
                }
            }
            held.push((variable, objects));
        }
        let copy = python.import("copy")?.getattr("deepcopy")?;
        let mut others = Vec::new();
        for (key, value) in module.iter() {
            let Ok(key) = key.extract::<String>() else {
                continue;
            };
            if !key.starts_with("__") && !variables.contains(&key) && is_data(&value, MAX_DEPTH)? {
                others.push((key, copy.call1((value,))?));
            }
        }
        self.programs.push(LintedProgram {
            name: name.to_owned(),
            module: module.clone(),
            others,
        });
        Ok(())
    }

    /// Returns all findings, each as a sentence.
    pub fn findings(&self) -> Vec<String> {
        let mut findings = self.shared.clone();
        for program in &self.programs {
            for (variable, before) in &program.others {
                let now = program.module.get_item(variable).ok().flatten();
                let is_same = now.is_some_and(|now| now.eq(before).unwrap_or(true));
                if !is_same {
                    findings.push(format!(
                        "`{variable}` of `{}` changes, and is not in `state`: it is not put back when steps are tried",
                        program.name
                    ));
                }
            }
        }
        findings
    }
}

/// Collects the addresses of all mutable objects in a value.
fn collect_mutable(
    value: &Bound<'_, PyAny>,
    objects: &mut FxHashSet<usize>,
    depth: usize,
) -> PyResult<()> {
    let is_changeable = value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyDict>()
        || value.is_instance_of::<PySet>();
    if depth == 0 || (is_changeable && !objects.insert(value.as_ptr() as usize)) {
        return Ok(());
    }
    for item in items(value)? {
        collect_mutable(&item, objects, depth - 1)?;
    }
    Ok(())
}

/// Returns true if a value consists of plain data, so that it can be copied and compared.
fn is_data(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<bool> {
    let is_plain = value.is_none()
        || value.is_exact_instance_of::<PyBool>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyBytes>();
    if is_plain {
        return Ok(true);
    }
    let is_container = value.is_exact_instance_of::<PyList>()
        || value.is_exact_instance_of::<PyDict>()
        || value.is_exact_instance_of::<PyTuple>()
        || value.is_exact_instance_of::<PySet>()
        || value.is_exact_instance_of::<PyFrozenSet>();
    if !is_container || depth == 0 {
        return Ok(false);
    }
    for item in items(value)? {
        if !is_data(&item, depth - 1)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the items of a container; none for other values.
fn items<'py>(value: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if let Ok(entries) = value.cast::<PyDict>() {
        return Ok(entries.iter().flat_map(|(key, item)| [key, item]).collect());
    }
    let is_sequence = value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyTuple>()
        || value.is_instance_of::<PySet>()
        || value.is_instance_of::<PyFrozenSet>();
    if is_sequence {
        value.try_iter()?.collect()
    } else {
        Ok(Vec::new())
    }
}
