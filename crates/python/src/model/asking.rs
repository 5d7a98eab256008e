//! Questions about states of models, as Python expressions over their variables.

use std::cell::RefCell;
use std::ffi::CString;

use pyo3::prelude::*;
use pyo3::types::code::PyCodeInput;
use pyo3::types::{PyCode, PyCodeMethods, PyDict};
use rustc_hash::FxHashMap;
use testwright_core::Error;
use testwright_core::product::{Place, Product};

use super::speech::raised;
use super::{Handles, Models, StatesOf};

/// Answers questions about states: expressions over the variables of model programs. `accepting` and `safe` are known
/// in every model, and each model's state goes by the model's name.
pub struct Asker<'py> {
    python: Python<'py>,
    handles: Handles<'py>,
    compiled: RefCell<FxHashMap<String, Bound<'py, PyCode>>>,
}

impl<'py> Models<'py> {
    /// Somebody to ask.
    pub fn asker(&self) -> Asker<'py> {
        Asker {
            python: self.python,
            handles: self.handles.clone(),
            compiled: RefCell::default(),
        }
    }
}

impl Asker<'_> {
    /// Whether an expression is true in all of these states.
    pub fn holds(
        &self,
        product: &Product<'_>,
        states: &[Vec<Place>],
        expression: &str,
    ) -> Result<bool, Error> {
        for state in states {
            let holds = match expression {
                "accepting" => product.is_accepting(state),
                "safe" => product.is_safe(state),
                _ => self.evaluate(product, state, expression).map_err(|error| {
                    let cause = raised(self.python, &error);
                    let message = format!("`{expression}` cannot be answered: {cause}");
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

    fn evaluate(&self, product: &Product<'_>, state: &[Place], text: &str) -> PyResult<bool> {
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
            let namespace = self.handles.defined()?;
            namespace.update(self.handles.state(product, state)?.as_mapping())?;
            code.run(Some(&namespace), None)?.is_truthy()
        })
    }
}

impl<'py> Handles<'py> {
    /// Does something while the modules of all model programs are in a state, and leaves them as they were.
    fn in_state<R>(&self, state: &[Place], work: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
        let mut before = Vec::new();
        for (model, place) in self.states.iter().zip(state) {
            if let StatesOf::Program { states, module } = model {
                let states = states.borrow();
                before.push((module, states.variables(module)?));
                states.restore(&self.speech.borrow().values, module, *place)?;
            }
        }
        let result = work();
        for (module, variables) in before {
            module.update(variables.as_mapping())?;
        }
        result
    }

    /// All that the modules of model programs define.
    fn defined(&self) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(self.speech.borrow().values.python());
        for model in self.states.iter() {
            if let StatesOf::Program { module, .. } = model {
                all.update(module.as_mapping())?;
            }
        }
        Ok(all)
    }
}
