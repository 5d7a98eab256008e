//! Evaluation of Python expressions in states of models.

use std::cell::RefCell;
use std::ffi::CString;

use pyo3::prelude::*;
use pyo3::types::code::PyCodeInput;
use pyo3::types::{PyCode, PyCodeMethods, PyDict};
use rustc_hash::FxHashMap;
use testwright_core::Error;
use testwright_core::product::{ModelState, Product};

use super::model_values::raised;
use super::{ModelHandles, ModelStates, Models};

/// Evaluates expressions over the variables of model programs. `accepting` and `safe` are defined
/// for all models, and the state of each model is available under the model's name.
pub struct StateEvaluator<'py> {
    python: Python<'py>,
    handles: ModelHandles<'py>,
    /// Compiled expressions, by text.
    compiled: RefCell<FxHashMap<String, Bound<'py, PyCode>>>,
}

impl<'py> Models<'py> {
    /// Returns an evaluator for the states of these models.
    pub fn state_evaluator(&self) -> StateEvaluator<'py> {
        StateEvaluator {
            python: self.python,
            handles: self.handles.clone(),
            compiled: RefCell::default(),
        }
    }
}

impl StateEvaluator<'_> {
    /// Returns true if an expression is true in all of these states.
    pub fn holds(
        &self,
        product: &Product<'_>,
        states: &[Vec<ModelState>],
        expression: &str,
    ) -> Result<bool, Error> {
        for state in states {
            let holds = match expression {
                "accepting" => product.is_accepting(state),
                "safe" => product.is_safe(state),
                _ => self.evaluate(product, state, expression).map_err(|error| {
                    let cause = raised(self.python, &error);
                    let message = format!("`{expression}` cannot be evaluated: {cause}");
                    Error::new(message).with_help(
                        "it is a Python expression over the state variables of the models; `accepting` and `safe` are known, too",
                    )
                })?,
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Evaluates an expression in one state.
    fn evaluate(&self, product: &Product<'_>, state: &[ModelState], text: &str) -> PyResult<bool> {
        let mut compiled = self.compiled.borrow_mut();
        let code = match compiled.get(text) {
            Some(code) => code.clone(),
            None => {
                let source = CString::new(text)?;
                let code = PyCode::compile(self.python, &source, c"formula", PyCodeInput::Eval)?;
                compiled.insert(text.to_owned(), code.clone());
                code
            }
        };
        drop(compiled);
        self.handles.in_state(state, || {
            let namespace = self.handles.definitions()?;
            namespace.update(self.handles.state(product, state)?.as_mapping())?;
            code.run(Some(&namespace), None)?.is_truthy()
        })
    }
}

impl<'py> ModelHandles<'py> {
    /// Runs `work` with the modules of all model programs in a state, and restores them afterwards.
    fn in_state<R>(&self, state: &[ModelState], work: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
        let mut before = Vec::new();
        for (model, id) in self.states.iter().zip(state) {
            if let ModelStates::Program { states, module } = model {
                let states = states.borrow();
                before.push((module, states.variables(module)?));
                states.restore(&self.values.borrow().packer, module, *id)?;
            }
        }
        let result = work();
        for (module, variables) in before {
            module.update(variables.as_mapping())?;
        }
        result
    }

    /// Returns all definitions in the modules of model programs.
    fn definitions(&self) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(self.values.borrow().packer.python());
        for model in self.states.iter() {
            if let ModelStates::Program { module, .. } = model {
                all.update(module.as_mapping())?;
            }
        }
        Ok(all)
    }
}
