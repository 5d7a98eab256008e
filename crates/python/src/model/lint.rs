//! What goes wrong with the state of model programs without anybody noticing.
//!
//! The state is what the variables hold that a model lists, each copied by itself. So what actions do to other variables
//! is not put back, and two variables that hold the same object hold two after the first step.

use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple,
};
use rustc_hash::FxHashSet;
use testwright_core::product::Trouble;

use super::speech::raised;
use super::{Models, StatesOf};

/// How deep values are looked into.
const DEPTH: usize = 20;

/// What the modules of model programs held at first.
pub struct Lint<'py> {
    programs: Vec<Program<'py>>,
    /// What is odd from the beginning.
    shared: Vec<String>,
}

struct Program<'py> {
    name: String,
    module: Bound<'py, PyDict>,
    /// The variables that are not in the state, with copies of what they held.
    others: Vec<(String, Bound<'py, PyAny>)>,
}

impl<'py> Models<'py> {
    /// Looks at the modules as they are. What comes of it can be asked for once the models have been used.
    pub fn lint(&self) -> Result<Lint<'py>, Trouble> {
        let mut lint = Lint {
            programs: Vec::new(),
            shared: Vec::new(),
        };
        let models = self.product.models().iter().zip(self.handles.states.iter());
        for (model, states) in models {
            if let StatesOf::Program { states, module } = states {
                let variables = states.borrow().names();
                let looked = lint.look(self.python, model.name(), module, &variables);
                looked.map_err(|error| raised(self.python, &error))?;
            }
        }
        Ok(lint)
    }
}

impl<'py> Lint<'py> {
    fn look(
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
                collect(&value, &mut objects, DEPTH)?;
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
            if !key.starts_with("__") && !variables.contains(&key) && is_data(&value, DEPTH)? {
                others.push((key, copy.call1((value,))?));
            }
        }
        self.programs.push(Program {
            name: name.to_owned(),
            module: module.clone(),
            others,
        });
        Ok(())
    }

    /// What is odd, each in a sentence.
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

/// Collects the objects in a value that can be changed.
fn collect(value: &Bound<'_, PyAny>, objects: &mut FxHashSet<usize>, depth: usize) -> PyResult<()> {
    let is_changeable = value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyDict>()
        || value.is_instance_of::<PySet>();
    if depth == 0 || (is_changeable && !objects.insert(value.as_ptr() as usize)) {
        return Ok(());
    }
    for item in items(value)? {
        collect(&item, objects, depth - 1)?;
    }
    Ok(())
}

/// Whether a value is made of numbers, texts and the like, so that it can be copied and compared.
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

/// What is in a container; nothing for anything else.
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
