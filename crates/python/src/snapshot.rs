//! Snapshots of a system's state.
//!
//! An exploration goes back by [images](PythonState): the parts of each object that differ from the
//! modules after a reset, written back into the same objects. So the identity of objects, and what
//! slots and modules share, stay as they were.
//!
//! Scripts keep [copies](CopiedState), which they can look at whenever they like.

use pyo3::prelude::*;
use pyo3::types::PyList;
use rustc_hash::FxHashSet;
use testwright_core::product::ModelState;
use testwright_core::{Error, Snapshot};

use crate::actions::describe_exception;
use crate::library::PoolValues;
use crate::pool_states::PoolStates;
use crate::random_module::GeneratorState;
use crate::state_tracker::ObjectTracker;
use crate::system::PythonSystem;
use crate::walker::base;
use crate::walker::encoder::{Encoder, EncodingGap, StateRoot};
use crate::walker::node::ObjectImage;

/// The parts of a state besides objects.
struct PlainState {
    /// The states of the slots.
    states: PoolStates,
    /// An assumption was violated.
    assumption_violated: bool,
    /// The states of the scenarios that guide the harness.
    guide: Vec<Vec<ModelState>>,
}

/// An image of a state: the parts of all its objects, without copies of them.
pub struct PythonState {
    /// The values of the slots.
    slots: Vec<Py<PyAny>>,
    /// The objects that are not as in the modules after a reset, with the encoding of those that are
    /// reduced as for pickling.
    images: Vec<(ObjectImage, Option<u128>)>,
    /// The addresses of these objects.
    addresses: FxHashSet<usize>,
    /// The base to which the image refers.
    generation: u64,
    random: Option<GeneratorState>,
    plain: PlainState,
}

/// A copy of all slots, reference twins included, and of their states.
///
/// Values are copied all at once, so objects that slots share stay shared. State elsewhere, in
/// modules for example, is not part of it.
pub struct CopiedState {
    /// The copied values.
    slots: Py<PyList>,
    plain: PlainState,
}

impl CopiedState {
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

impl<'py> PythonSystem<'py> {
    /// Copies the values of all slots.
    pub fn copy_state(&self) -> Result<CopiedState, Error> {
        Ok(CopiedState {
            slots: self.deep_copy(&self.context.slots)?,
            plain: self.plain_state(),
        })
    }

    /// Returns to a copied state.
    pub fn restore_copy(&mut self, state: &CopiedState) -> Result<(), Error> {
        let python = self.context.python;
        let copy = self.deep_copy(state.slots.bind(python))?;
        for (position, value) in copy.bind(python).iter().enumerate() {
            let put_back = self.context.slots.set_item(position, value);
            put_back.map_err(|error| {
                Error::new(describe_exception(python, "putting a value back", &error))
            })?;
        }
        self.set_plain_state(&state.plain);
        Ok(())
    }

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

    /// Returns what belongs to the state besides objects.
    fn plain_state(&self) -> PlainState {
        PlainState {
            states: self.states.clone(),
            assumption_violated: self.assumption_violated,
            guide: match &self.guide {
                Some(guide) => guide.states().to_vec(),
                None => Vec::new(),
            },
        }
    }

    /// Restores what belongs to a state besides objects.
    fn set_plain_state(&mut self, state: &PlainState) {
        self.states = state.states.clone();
        self.assumption_violated = state.assumption_violated;
        if let Some(guide) = &mut self.guide {
            guide.set_states(state.guide.clone());
        }
        self.prepared = None;
    }

    /// Takes an image of the present state.
    fn take_image(&mut self) -> PyResult<PythonState> {
        self.start_tracking()?;
        let plain = self.plain_state();
        let random = self
            .process_state
            .as_ref()
            .and_then(|state| state.random().state());
        let slots: Vec<Bound<'py, PyAny>> = self.context.slots.iter().collect();
        let Some(tracker) = &mut self.states_seen else {
            return Err(pyo3::exceptions::PyRuntimeError::new_err(
                "no state is seen",
            ));
        };
        let ObjectTracker {
            context,
            base,
            generation,
            ..
        } = &mut **tracker;
        let gaps_before = std::mem::take(&mut context.gaps);
        let modules = base.encode(context, true);
        let numbers = modules.numbers.as_ref().unwrap_or_else(|| base.numbers());
        let mut encoder = Encoder::new(context, StateRoot::Slot(0)).after(numbers);
        encoder.images = Some(Vec::new());
        for (position, value) in slots.iter().enumerate() {
            encoder.root = StateRoot::Slot(position);
            encoder.encode(value.clone());
        }
        let own = encoder.images.take().unwrap_or_default();
        drop(encoder);
        let unseen = context
            .gaps
            .iter()
            .chain(
                gaps_before
                    .iter()
                    .filter(|(root, _)| *root == StateRoot::Modules),
            )
            .find_map(|(_, gap)| match gap {
                EncodingGap::Unseen(class) => Some(class.clone()),
                EncodingGap::AddressOrder | EncodingGap::HashOrder => None,
            });
        context.gaps.extend(gaps_before);
        if let Some(class) = unseen {
            return Err(pyo3::exceptions::PyTypeError::new_err(format!(
                "what is in a `{class}` cannot be seen"
            )));
        }
        let mut images = Vec::new();
        let mut addresses = FxHashSet::default();
        for image in modules.images.into_iter().chain(own) {
            addresses.insert(image.object.as_ptr() as usize);
            let reduced = base::reduced_key(context, &image);
            images.push((image, reduced));
        }
        Ok(PythonState {
            slots: slots.into_iter().map(Bound::unbind).collect(),
            images,
            addresses,
            generation: *generation,
            random,
            plain,
        })
    }

    /// Writes an image of a state back, and checks that every object is as it was.
    fn restore_image(&mut self, state: &PythonState) -> PyResult<()> {
        let python = self.context.python;
        let Some(tracker) = &mut self.states_seen else {
            return Err(outdated());
        };
        if tracker.generation != state.generation {
            return Err(outdated());
        }
        let ObjectTracker { context, base, .. } = &mut **tracker;
        // Nothing is freed before everything is in place: freeing may run code.
        let mut previous = Vec::new();
        let mut old_slots = Vec::new();
        base.for_each_changed(context, &state.addresses, |context, image| {
            base::restore_image(context, image, &mut previous)
        })?;
        for (image, reduced) in &state.images {
            if !base::is_data_unchanged(context, image, *reduced) {
                base::restore_image(context, image, &mut previous)?;
            }
        }
        for (position, value) in state.slots.iter().enumerate() {
            let current = self.context.slots.get_item(position)?;
            if !current.is(value) {
                self.context.slots.set_item(position, value)?;
                old_slots.push(current);
            }
        }
        if let Some(process_state) = &self.process_state {
            process_state.random().set_state(state.random.as_ref())?;
        }
        drop((previous, old_slots));
        let ObjectTracker { context, base, .. } = &mut **tracker;
        base.for_each_changed(context, &state.addresses, |_, image| {
            Err(base::cannot_restore(image.object.bind(python)))
        })?;
        for (image, reduced) in &state.images {
            if !base::is_data_unchanged(context, image, *reduced) {
                return Err(base::cannot_restore(image.object.bind(python)));
            }
        }
        self.is_at_start = false;
        self.set_plain_state(&state.plain);
        Ok(())
    }
}

/// Returns the error for an image taken before modules were executed again.
fn outdated() -> PyErr {
    pyo3::exceptions::PyRuntimeError::new_err("the modules were executed again since")
}

impl Snapshot for PythonSystem<'_> {
    type State = PythonState;

    fn snapshot(&mut self) -> Result<PythonState, Error> {
        let python = self.context.python;
        self.take_image().map_err(|error| {
            Error::new(describe_exception(python, "looking at the state", &error))
                .with_help("replay the test to come back to its state")
        })
    }

    fn restore(&mut self, state: &PythonState) -> Result<(), Error> {
        let python = self.context.python;
        self.restore_image(state).map_err(|error| {
            Error::new(describe_exception(python, "putting the state back", &error))
                .with_help("replay the test to come back to its state")
        })
    }
}
