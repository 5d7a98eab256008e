//! What scripts ask a living system for that use the tool as a library.

use pyo3::exceptions::PyAssertionError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use testwright_core::{ActionId, Error, PoolId};

use crate::actions::complaint;
use crate::checks::Violation;
use crate::failures::shown;
use crate::load;
use crate::system::{LastFailure, PythonSystem};

/// A pool, and the values of its slots.
pub struct PoolValues<'py> {
    /// Its name; that of a reference's pool ends in `_REF`.
    pub name: String,
    /// What each slot holds.
    pub values: Bound<'py, PyList>,
    /// Whether each slot was used since it was filled.
    pub used: Vec<bool>,
    /// The harness says that the values are not worth showing.
    pub opaque: bool,
    /// The function that abstracts a value, as the harness writes it.
    pub abstraction: Option<String>,
}

impl<'py> PythonSystem<'py> {
    /// The last failure as an exception; `message` is used where the system itself has raised none.
    pub fn last_error(&self, message: &str) -> Option<PyErr> {
        let python = self.context.python;
        match self.last_failure.as_ref()? {
            LastFailure::Step(error) => Some(error.clone_ref(python)),
            LastFailure::Check(Violation::Property(_, _) | Violation::Type(_, _)) => {
                Some(PyAssertionError::new_err(message.to_owned()))
            }
        }
    }

    /// The expected exception that the last step raised.
    pub fn last_expected(&self) -> Option<Bound<'py, PyAny>> {
        self.last_expected.clone()
    }

    /// The exception that the reference raised in the last step.
    pub fn last_raised_by_reference(&self) -> Option<Bound<'py, PyAny>> {
        let raised = &self.reference_raised;
        raised
            .len()
            .checked_sub(1)
            .and_then(|last| raised.get_item(last).ok())
    }

    /// The exception of the last step that the harness takes as a warning.
    pub fn take_warned(&mut self) -> Option<Bound<'py, PyAny>> {
        self.last_warned.take()
    }

    /// The object that harness code knows as `self`: it has an attribute `p_NAME` for each pool.
    pub fn harness_object(&self) -> &Bound<'py, PyAny> {
        self.hooks.object()
    }

    /// The value of a global name of the harness, or of any expression over such names.
    pub fn evaluate(&self, expression: &str) -> PyResult<Bound<'py, PyAny>> {
        let arguments = (expression, &self.context.namespace);
        let builtins = self.context.python.import("builtins")?;
        builtins.call_method1("eval", arguments)
    }

    /// All pools with their values, those of references right after their own.
    pub fn pools(&self) -> Vec<PoolValues<'py>> {
        let mut pools = Vec::new();
        for (number, pool) in self.context.harness.pools.iter().enumerate() {
            let id = PoolId(number);
            let size = pool.size as usize;
            let start = self.context.layout.place(id, 0);
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

    /// Lifts, or restores, the rule that a fresh value must be used before its slot is filled again.
    pub fn relax(&mut self, relaxed: bool) {
        self.states.relax(relaxed);
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

    /// The largest of all `hint:` lines that are numbers now.
    pub fn best_hint(&mut self) -> Option<f64> {
        let hints = self.hints().into_iter().flatten();
        hints
            .filter_map(|hint| hint.extract().ok())
            .reduce(f64::max)
    }

    /// The exception of the last step that the harness takes as a warning, as text.
    pub fn take_warning(&mut self) -> Option<String> {
        self.take_warned().map(|warning| shown(&warning))
    }

    /// Sets the level up to which `log:` lines speak; `None` for silence.
    pub fn set_log(&mut self, level: Option<i64>) {
        self.logs.set_level(level);
    }

    /// Lets a function of action, code, value and whether it is after the step hear what `log:` lines say, or has it
    /// printed again.
    pub fn set_log_listener(&mut self, listener: Option<Bound<'py, PyAny>>) {
        self.logs.set_listener(listener);
    }

    /// Whether a reset runs the modules again that the harness imports.
    pub fn set_reset_modules(&mut self, wanted: bool) -> PyResult<()> {
        self.modules = load::modules_to_reset(&self.context, wanted)?;
        Ok(())
    }

    /// Lets actions happen again after an assumption was violated, before the next reset does so.
    pub fn forgive_assumptions(&mut self) {
        self.assumption_violated = false;
    }

    /// The expressions whose values before an action its post-condition asks for, as people read them.
    pub fn pre_texts(&self, action: ActionId) -> Vec<String> {
        let (template, values) = self.context.harness.catalog.values(action);
        let line = &self.context.harness.actions[template.0];
        let shown = |fragment| self.context.shown(fragment, &line.axes, &values);
        line.pre_values.iter().map(shown).collect()
    }

    /// The modules of the system under test, as the harness imports them.
    pub fn modules_under_test(&self) -> Vec<Bound<'py, PyAny>> {
        let modules = self.context.harness.raw.reset_modules.iter();
        modules
            .filter_map(|module| self.evaluate(&module.text).ok())
            .collect()
    }

    /// A value copied to its depth.
    pub fn copy(&self, value: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Error> {
        let python = self.context.python;
        let copied = python
            .import("copy")
            .and_then(|module| module.call_method1("deepcopy", (value,)));
        copied.map_err(|error| Error::new(complaint(python, "copying a value", &error)))
    }
}
