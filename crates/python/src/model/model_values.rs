//! The values shared by all models of a product.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use testwright_core::Error;
use testwright_core::product::{Interner, ModelError, ValueId};
use testwright_core::verdict::Caveat;

use super::packing::{PackResult, StateEquality, ValuePacker};
use super::undeclared::{DeclaredState, UndeclaredState};
use super::{python2_errors, value_text};
use crate::failures::RaisedException;
use crate::interrupt;
use crate::unawaited::{self, ModelCoroutines, UnawaitedCoroutine};

/// The arguments and results of steps, and their Python objects.
pub(crate) struct ModelValues<'py> {
    /// Computes keys and packs values.
    pub(crate) packer: ValuePacker<'py>,
    /// The object of each [`ValueId`].
    objects: Vec<Bound<'py, PyAny>>,
    /// The things besides states that steps change, where states are told apart exactly.
    undeclared: Option<UndeclaredState<'py>>,
    /// The coroutines that the models and their stepper drop.
    pub(crate) coroutines: ModelCoroutines<'py>,
}

impl<'py> ModelValues<'py> {
    /// Creates a table with `None` and the empty tuple, and its interner.
    pub(crate) fn new(
        python: Python<'py>,
        equality: StateEquality,
    ) -> PyResult<(ModelValues<'py>, Interner)> {
        let mut packer = ValuePacker::new(python, equality)?;
        let objects = vec![
            python.None().into_bound(python),
            PyTuple::empty(python).into_any(),
        ];
        let mut known = Vec::new();
        for object in &objects {
            known.push((packer.key(object)?, value_text::value_text(object)?));
        }
        let empty = known.remove(1);
        let interner = Interner::new(known.remove(0), empty);
        let values = ModelValues {
            packer,
            objects,
            undeclared: None,
            coroutines: ModelCoroutines::watch(python)?,
        };
        Ok((values, interner))
    }

    /// Starts to look at what steps change besides the states of model programs.
    pub(crate) fn watch(&mut self, programs: Vec<DeclaredState<'py>>) -> PyResult<()> {
        if let Some(context) = &mut self.packer.walker
            && !programs.is_empty()
        {
            self.undeclared = Some(UndeclaredState::watch(context, programs)?);
        }
        Ok(())
    }

    /// Looks from time to time for what steps changed besides states.
    pub(crate) fn look_sometimes(&mut self) -> PyResult<()> {
        match (&mut self.undeclared, &mut self.packer.walker) {
            (Some(undeclared), Some(context)) => undeclared.look_sometimes(context),
            _ => Ok(()),
        }
    }

    /// Returns the names of what steps changed besides states.
    pub(crate) fn changed_names(&mut self) -> Vec<String> {
        let (Some(undeclared), Some(context)) = (&mut self.undeclared, &mut self.packer.walker)
        else {
            return Vec::new();
        };
        // A variable that cannot be set is noticed as soon as a state is entered.
        let _unset = undeclared.look(context);
        undeclared.changed.iter().cloned().collect()
    }

    /// Adds names of what steps changed besides states in another process.
    pub(crate) fn add_changed_names<'t>(&mut self, names: impl Iterator<Item = &'t str>) {
        if let Some(undeclared) = &mut self.undeclared {
            undeclared.changed.extend(names.map(str::to_owned));
        }
    }

    /// Returns the caveats about what no state contains.
    pub(crate) fn caveats(&mut self) -> Vec<Caveat> {
        let _names = self.changed_names();
        match (&self.undeclared, &self.packer.walker) {
            (Some(undeclared), Some(context)) => undeclared.caveats(context),
            _ => Vec::new(),
        }
    }

    /// Returns the id of a value, assigning one if needed.
    pub(crate) fn value(
        &mut self,
        interner: &mut Interner,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<ValueId> {
        if value.is_none() {
            return Ok(ValueId::NONE);
        }
        let key = self.packer.key(value)?;
        if let Some(known) = interner.find_value(key) {
            return Ok(known);
        }
        let text = value_text::value_text(value)?;
        // Unhashable values can change, and may be part of the state.
        self.objects.push(match value.hash() {
            Ok(_) => value.clone(),
            Err(_) => self.packer.copy(value)?,
        });
        Ok(interner.intern_value(key, || text))
    }

    /// Returns the object of a value.
    pub(crate) fn object(&self, value: ValueId) -> Bound<'py, PyAny> {
        self.objects[value.0 as usize].clone()
    }

    /// Exports a value for a forked child. Returns `None` if only this process can represent it.
    pub(crate) fn export(&mut self, value: ValueId) -> Option<Vec<u8>> {
        let object = self.object(value);
        let mut bytes = self.packer.key(&object).ok()?.to_le_bytes().to_vec();
        self.packer.take_unshared();
        let packing = self.packer.pack(&object, &mut bytes).ok()?;
        (packing != PackResult::Impossible && !self.packer.take_unshared()).then_some(bytes)
    }

    /// Imports a value that another process has exported.
    pub(crate) fn import(&mut self, interner: &mut Interner, bytes: &[u8]) -> Option<ValueId> {
        let (key, mut packed) = bytes.split_at_checked(size_of::<u128>())?;
        let key = u128::from_le_bytes(key.try_into().ok()?);
        if let Some(known) = interner.find_value(key) {
            return Some(known);
        }
        let object = self.packer.unpack(&mut packed).ok()?;
        let text = value_text::value_text(&object).ok()?;
        self.objects.push(object);
        Some(interner.intern_value(key, || text))
    }

    /// Returns a value as an argument tuple, if it is one.
    pub(crate) fn tuple(&self, value: ValueId) -> Option<Bound<'py, PyTuple>> {
        let object = self.objects.get(value.0 as usize)?;
        object.cast::<PyTuple>().ok().cloned()
    }
}

/// Converts an exception from the code of a model to an error.
pub(crate) fn raised(python: Python<'_>, error: &PyErr) -> ModelError {
    // A model may raise `KeyboardInterrupt` by itself, and may raise another exception when
    // interrupted.
    if interrupt::is_interrupted() {
        return ModelError::Interrupted;
    }
    if error.is_instance_of::<UnawaitedCoroutine>(python) {
        let error = Error::new(error.value(python).to_string());
        return ModelError::Unusable(error.with_help(unawaited::AWAIT_IN_FUNCTION));
    }
    if let Some(source_error) = python2_errors::source_error(python, error) {
        return source_error;
    }
    let raised = RaisedException::new(python, error);
    ModelError::Raised {
        exception: raised.summary(),
        traceback: raised.traceback,
    }
}
