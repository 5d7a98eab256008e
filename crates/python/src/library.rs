//! The part of a system's interface for scripts that use the tool as a library.

use pyo3::exceptions::PyAssertionError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use testwright_core::{ActionId, Error, PoolId};

use crate::actions::describe_exception;
use crate::checks::Violation;
use crate::failures::short_repr;
use crate::modules::ResettableModules;
use crate::system::{LastFailure, PythonSystem};

/// A pool and the values of its slots.
pub struct PoolValues<'py> {
    /// Its name; the name of a reference's pool ends in `_REF`.
    pub name: String,
    /// The value of each slot.
    pub values: Bound<'py, PyList>,
    /// For each slot, true if it was used since it was filled.
    pub used: Vec<bool>,
    /// The harness declares that the values are not worth showing.
    pub opaque: bool,
    /// The function that abstracts a value, as the harness writes it.
    pub abstraction: Option<String>,
}

impl<'py> PythonSystem<'py> {
    /// Returns the last failure as an exception; `message` is used if the system itself raised
    /// none.
    pub fn last_error(&self, message: &str) -> Option<PyErr> {
        let python = self.context.python;
        match self.last_failure.as_ref()? {
            LastFailure::Step(error) => Some(error.clone_ref(python)),
            LastFailure::Check(Violation::Property(..) | Violation::Type(..)) => {
                Some(PyAssertionError::new_err(message.to_owned()))
            }
        }
    }

    /// Returns the expected exception of the last step, if it raised one.
    pub fn last_expected(&self) -> Option<Bound<'py, PyAny>> {
        self.last_expected.clone()
    }

    /// Returns the exception that the reference raised in the last step.
    pub fn last_raised_by_reference(&self) -> Option<Bound<'py, PyAny>> {
        let raised = &self.reference_raised;
        raised
            .len()
            .checked_sub(1)
            .and_then(|last| raised.get_item(last).ok())
    }

    /// Takes the exception of the last step that the harness treats as a warning.
    pub fn take_warned_exception(&mut self) -> Option<Bound<'py, PyAny>> {
        self.last_warned.take()
    }

    /// Returns the object that harness code knows as `self`: it has an attribute `p_NAME` for each
    /// pool.
    pub fn harness_object(&self) -> &Bound<'py, PyAny> {
        self.hooks.object()
    }

    /// Evaluates a global name of the harness, or any expression over such names.
    pub fn evaluate(&self, expression: &str) -> PyResult<Bound<'py, PyAny>> {
        let arguments = (expression, &self.context.namespace);
        let builtins = self.context.python.import("builtins")?;
        builtins.call_method1("eval", arguments)
    }

    /// Returns all pools with their values, each followed by the pool of its reference.
    pub fn pools(&self) -> Vec<PoolValues<'py>> {
        let mut pools = Vec::new();
        for (number, pool) in self.context.harness.pools.iter().enumerate() {
            let id = PoolId(number);
            let size = pool.size as usize;
            let start = self.context.layout.position(id, 0);
            let values = |start| self.context.slots.get_slice(start, start + size);
            let used: Vec<bool> = (0..pool.size)
                .map(|slot| self.states.is_used(id, slot))
                .collect();
            pools.push(PoolValues {
                name: pool.name.clone(),
                values: values(start),
                used: used.clone(),
                opaque: pool.opaque,
                abstraction: pool.abstraction.clone(),
            });
            if pool.reference {
                pools.push(PoolValues {
                    name: format!("{}_REF", pool.name),
                    values: values(start + self.context.layout.twin_distance(id)),
                    used,
                    opaque: pool.opaque || pool.opaque_twin,
                    abstraction: pool.abstraction.clone(),
                });
            }
        }
        pools
    }

    /// Lifts or restores the rule that a fresh value must be used before its slot is filled again.
    pub fn set_relaxed(&mut self, relaxed: bool) {
        self.states.set_relaxed(relaxed);
    }

    /// Evaluates all `hint:` lines now; `None` where one raises.
    pub fn hints(&mut self) -> Vec<Option<Bound<'py, PyAny>>> {
        let mut values = Vec::new();
        for hint in &mut self.hints {
            hint.for_each(&self.context, Some(&self.states), |_, _, result| {
                values.push(result.ok());
                true
            });
        }
        values
    }

    /// Returns the largest value of all `hint:` lines that are numbers now.
    pub fn best_hint(&mut self) -> Option<f64> {
        let hints = self.hints().into_iter().flatten();
        hints
            .filter_map(|hint| hint.extract().ok())
            .reduce(f64::max)
    }

    /// Takes the exception of the last step that the harness treats as a warning, as text.
    pub fn take_warning(&mut self) -> Option<String> {
        self.take_warned_exception()
            .map(|warning| short_repr(&warning))
    }

    /// Sets the level up to which `log:` lines are evaluated; `None` for no logging.
    pub fn set_log(&mut self, level: Option<i64>) {
        self.logs.set_level(level);
    }

    /// Sets a function that receives the messages of `log:` lines: action, code, value, and whether
    /// it is after the step. Without one, messages are printed.
    pub fn set_log_listener(&mut self, listener: Option<Bound<'py, PyAny>>) {
        self.logs.set_listener(listener);
    }

    /// Sets whether a reset executes the imported modules of the harness again.
    pub fn set_reset_modules(&mut self, is_wanted: bool) -> PyResult<()> {
        let finder = Some(self.finder.clone()).filter(|_| is_wanted);
        self.modules = ResettableModules::new(self.context.python, finder)?;
        Ok(())
    }

    /// Enables actions again after a violated assumption, before the next reset does.
    pub fn clear_assumption_violation(&mut self) {
        self.assumption_violated = false;
    }

    /// Returns the `pre<(…)>` expressions of an action in display form: those whose values before
    /// the action its post-condition uses.
    pub fn pre_texts(&self, action: ActionId) -> Vec<String> {
        let (template, values) = self.context.harness.catalog.values(action);
        let line = &self.context.harness.actions[template.0];
        let shown = |fragment| self.context.display_text(fragment, &line.axes, &values);
        line.pre_values.iter().map(shown).collect()
    }

    /// Returns the modules of the system under test, as the harness imports them.
    pub fn modules_under_test(&self) -> Vec<Bound<'py, PyAny>> {
        let modules = self.context.harness.raw.reset_modules.iter();
        modules
            .filter_map(|module| self.evaluate(&module.text).ok())
            .collect()
    }

    /// Returns a deep copy of a value.
    pub fn copy(&self, value: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Error> {
        let python = self.context.python;
        let copied = python
            .import("copy")
            .and_then(|module| module.call_method1("deepcopy", (value,)));
        copied.map_err(|error| Error::new(describe_exception(python, "copying a value", &error)))
    }
}
