//! The values shared by all models of a product.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use testwright_core::Error;
use testwright_core::product::{Interner, ModelError, ValueId};

use super::packing::{PackResult, ValuePacker};
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
    /// The coroutines that the models and their stepper drop.
    pub(crate) coroutines: ModelCoroutines<'py>,
}

impl<'py> ModelValues<'py> {
    /// Creates a table with `None` and the empty tuple, and its interner.
    pub(crate) fn new(python: Python<'py>) -> PyResult<(ModelValues<'py>, Interner)> {
        let mut packer = ValuePacker::new(python)?;
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
        let coroutines = ModelCoroutines::watch(python)?;
        let values = ModelValues {
            packer,
            objects,
            coroutines,
        };
        Ok((values, interner))
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
