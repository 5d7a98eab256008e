//! What the models of a product have in common: their values.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use testwright_core::product::{Trouble, ValueId, Words};

use super::values::{Packing, Values};
use super::{misread, text};
use crate::failures::Raised;
use crate::interrupt;

/// The values that models speak of, and what they are in Python.
pub(crate) struct Speech<'py> {
    pub(crate) values: Values<'py>,
    /// By [`ValueId`].
    objects: Vec<Bound<'py, PyAny>>,
}

impl<'py> Speech<'py> {
    pub(crate) fn new(python: Python<'py>) -> PyResult<(Speech<'py>, Words)> {
        let mut values = Values::new(python)?;
        let objects = vec![
            python.None().into_bound(python),
            PyTuple::empty(python).into_any(),
        ];
        let mut known = Vec::new();
        for object in &objects {
            known.push((values.key(object)?, text::both(object)?));
        }
        let empty = known.remove(1);
        let words = Words::new(known.remove(0), empty);
        Ok((Speech { values, objects }, words))
    }

    /// The number of a value.
    pub(crate) fn value(
        &mut self,
        words: &mut Words,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<ValueId> {
        if value.is_none() {
            return Ok(ValueId::NONE);
        }
        let key = self.values.key(value)?;
        if let Some(known) = words.find_value(key) {
            return Ok(known);
        }
        let text = text::both(value)?;
        // What does not hash can change, and may be a part of the state that does.
        self.objects.push(match value.hash() {
            Ok(_) => value.clone(),
            Err(_) => self.values.copy(value)?,
        });
        Ok(words.value(key, || text))
    }

    /// A value.
    pub(crate) fn object(&self, value: ValueId) -> Bound<'py, PyAny> {
        self.objects[value.0 as usize].clone()
    }

    /// A value in a form that a copy of the process understands; none if there is no such form.
    pub(crate) fn export(&mut self, value: ValueId) -> Option<Vec<u8>> {
        let object = self.object(value);
        let mut bytes = self.values.key(&object).ok()?.to_le_bytes().to_vec();
        self.values.take_private();
        let packing = self.values.pack(&object, &mut bytes).ok()?;
        (packing != Packing::Impossible && !self.values.take_private()).then_some(bytes)
    }

    /// The value that a copy of the process speaks of.
    pub(crate) fn import(&mut self, words: &mut Words, bytes: &[u8]) -> Option<ValueId> {
        let (key, mut packed) = bytes.split_at_checked(size_of::<u128>())?;
        let key = u128::from_le_bytes(key.try_into().ok()?);
        if let Some(known) = words.find_value(key) {
            return Some(known);
        }
        let object = self.values.unpack(&mut packed).ok()?;
        let text = text::both(&object).ok()?;
        self.objects.push(object);
        Some(words.value(key, || text))
    }

    /// Arguments.
    pub(crate) fn tuple(&self, value: ValueId) -> Option<Bound<'py, PyTuple>> {
        let object = self.objects.get(value.0 as usize)?;
        object.cast::<PyTuple>().ok().cloned()
    }
}

/// An exception that the code of a model raised.
pub(crate) fn raised(python: Python<'_>, error: &PyErr) -> Trouble {
    // A model may raise `KeyboardInterrupt` itself, and may raise something else when it is interrupted.
    if interrupt::interrupted() {
        return Trouble::Interrupted;
    }
    if let Some(trouble) = misread::place(python, error) {
        return trouble;
    }
    let raised = Raised::new(python, error);
    Trouble::Raised {
        what: raised.summary(),
        traceback: raised.traceback,
    }
}
