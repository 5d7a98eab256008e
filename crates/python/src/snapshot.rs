//! Going back to an earlier state, by copying what the slots hold.

use pyo3::prelude::*;
use pyo3::types::PyList;
use testwright_core::product::Place;
use testwright_core::{Error, Snapshot};

use crate::actions::complaint;
use crate::library::PoolValues;
use crate::pool_states::PoolStates;
use crate::system::PythonSystem;

/// The values of all slots, reference twins included, and which of them were used.
///
/// Values are copied all at once, so objects that slots share stay shared. What a system keeps elsewhere, in its
/// modules for example, is not part of it; for such a system only a replay leads back.
pub struct PythonState {
    slots: Py<PyList>,
    states: PoolStates,
    assumption_violated: bool,
    /// Where scenarios are that lead the harness.
    guidance: Vec<Vec<Place>>,
}

impl PythonState {
    /// The values of some pools, which must be all that the system has, in its order.
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
    fn copied(&self, slots: &Bound<'_, PyList>) -> Result<Py<PyList>, Error> {
        let python = self.context.python;
        let copied = python
            .import("copy")
            .and_then(|module| module.call_method1("deepcopy", (slots,)))
            .and_then(|copy| Ok(copy.cast_into::<PyList>()?.unbind()));
        copied.map_err(|error| {
            Error::new(complaint(python, "copying the values of the slots", &error))
                .with_help("replay the test to come back to its state")
        })
    }
}

impl Snapshot for PythonSystem<'_> {
    type State = PythonState;

    fn snapshot(&mut self) -> Result<PythonState, Error> {
        Ok(PythonState {
            slots: self.copied(&self.context.slots)?,
            states: self.states.clone(),
            assumption_violated: self.assumption_violated,
            guidance: match &self.guidance {
                Some(guidance) => guidance.states().to_vec(),
                None => Vec::new(),
            },
        })
    }

    fn restore(&mut self, state: &PythonState) -> Result<(), Error> {
        let python = self.context.python;
        let copy = self.copied(state.slots.bind(python))?;
        for (place, value) in copy.bind(python).iter().enumerate() {
            let put_back = self.context.slots.set_item(place, value);
            put_back
                .map_err(|error| Error::new(complaint(python, "putting a value back", &error)))?;
        }
        self.states = state.states.clone();
        self.assumption_violated = state.assumption_violated;
        if let Some(guidance) = &mut self.guidance {
            guidance.go(state.guidance.clone());
        }
        Ok(())
    }
}
