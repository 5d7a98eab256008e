//! Snapshots of a system's state, by copying the values of its slots.

use pyo3::prelude::*;
use pyo3::types::PyList;
use testwright_core::product::ModelState;
use testwright_core::{Error, Snapshot};

use crate::actions::describe_exception;
use crate::library::PoolValues;
use crate::pool_states::PoolStates;
use crate::system::PythonSystem;

/// A copy of all slots, reference twins included, and of their states.
///
/// Values are copied all at once, so objects that slots share stay shared. State elsewhere, in
/// modules for example, is not part of it; such a system can only be brought back by a replay.
pub struct PythonState {
    /// The copied values.
    slots: Py<PyList>,
    /// The states of the slots.
    states: PoolStates,
    /// An assumption was violated.
    assumption_violated: bool,
    /// The states of the scenarios that guide the harness.
    guide: Vec<Vec<ModelState>>,
}

impl PythonState {
    /// Returns the values by pool. `pools` must be all pools of the system, in its order.
    pub fn pools<'py>(
        &self,
        python: Python<'py>,
        pools: &[PoolValues<'py>],
    ) -> Vec<Bound<'py, PyList>> {
        let mut start = 0;
        let values = pools.iter().map(|pool| {
            let end = start + pool.values.len();
            let values = self.slots.bind(python).get_slice(start, end);
            start = end;
            values
        });
        values.collect()
    }
}

impl PythonSystem<'_> {
    /// Returns a deep copy of a list of slots.
    fn deep_copy(&self, slots: &Bound<'_, PyList>) -> Result<Py<PyList>, Error> {
        let python = self.context.python;
        let copied = python
            .import("copy")
            .and_then(|module| module.call_method1("deepcopy", (slots,)))
            .and_then(|copy| Ok(copy.cast_into::<PyList>()?.unbind()));
        copied.map_err(|error| {
            Error::new(describe_exception(
                python,
                "copying the values of the slots",
                &error,
            ))
            .with_help("replay the test to come back to its state")
        })
    }
}

impl Snapshot for PythonSystem<'_> {
    type State = PythonState;

    fn snapshot(&mut self) -> Result<PythonState, Error> {
        Ok(PythonState {
            slots: self.deep_copy(&self.context.slots)?,
            states: self.states.clone(),
            assumption_violated: self.assumption_violated,
            guide: match &self.guide {
                Some(guide) => guide.states().to_vec(),
                None => Vec::new(),
            },
        })
    }

    fn restore(&mut self, state: &PythonState) -> Result<(), Error> {
        let python = self.context.python;
        let copy = self.deep_copy(state.slots.bind(python))?;
        for (position, value) in copy.bind(python).iter().enumerate() {
            let put_back = self.context.slots.set_item(position, value);
            put_back.map_err(|error| {
                Error::new(describe_exception(python, "putting a value back", &error))
            })?;
        }
        self.states = state.states.clone();
        self.assumption_violated = state.assumption_violated;
        if let Some(guide) = &mut self.guide {
            guide.set_states(state.guide.clone());
        }
        Ok(())
    }
}
