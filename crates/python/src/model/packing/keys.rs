//! Keys of values: equal for values that are equal in Python.

use pyo3::exceptions::PyRecursionError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple};

use super::bytes::{hash, put_bytes, put_length, put_number, put_text};
use super::{MAX_DEPTH, ValuePacker};

impl<'py> ValuePacker<'py> {
    /// Returns the key of a value: equal for equal values, different for others.
    pub(crate) fn key(&mut self, value: &Bound<'py, PyAny>) -> PyResult<u128> {
        let mut bytes = Vec::with_capacity(64);
        self.write_key(value, &mut bytes, 0)?;
        Ok(hash(&bytes))
    }

    /// Appends bytes that are the same for equal values.
    pub(crate) fn write_key(
        &mut self,
        value: &Bound<'py, PyAny>,
        bytes: &mut Vec<u8>,
        depth: u32,
    ) -> PyResult<()> {
        if depth > MAX_DEPTH {
            let message = "a value is nested too deeply to tell it apart from others";
            return Err(PyRecursionError::new_err(message));
        }
        if value.is_none() {
            bytes.push(b'N');
        } else if has_equality_of::<PyInt>(value) {
            self.write_integer(value, bytes)?;
        } else if has_equality_of::<PyString>(value) {
            put_text(value.cast::<PyString>().map_err(PyErr::from)?, bytes)?;
        } else if has_equality_of::<PyTuple>(value) {
            let tuple = value.cast::<PyTuple>().map_err(PyErr::from)?;
            put_length(bytes, b'(', tuple.len());
            for item in tuple.iter_borrowed() {
                self.write_key(&item, bytes, depth + 1)?;
            }
        } else if has_equality_of::<PyList>(value) {
            let list = value.cast::<PyList>().map_err(PyErr::from)?;
            put_length(bytes, b'[', list.len());
            for item in list.iter() {
                self.write_key(&item, bytes, depth + 1)?;
            }
        } else if has_equality_of::<PyDict>(value) {
            let entries = value.cast::<PyDict>().map_err(PyErr::from)?;
            let mut keyed = Vec::with_capacity(entries.len());
            for (key, item) in entries.iter() {
                let mut both = self.member_key(&key, depth)?.to_le_bytes().to_vec();
                self.write_key(&item, &mut both, depth + 1)?;
                keyed.push(both);
            }
            keyed.sort_unstable();
            put_length(bytes, b'{', keyed.len());
            keyed
                .iter()
                .for_each(|entry| bytes.extend_from_slice(entry));
        } else if has_equality_of::<PySet>(value) || has_equality_of::<PyFrozenSet>(value) {
            let mut keys = Vec::new();
            for item in value.try_iter()? {
                keys.push(self.member_key(&item?, depth)?);
            }
            keys.sort_unstable();
            put_length(bytes, b'<', keys.len());
            keys.iter().for_each(|key| bytes.extend(key.to_le_bytes()));
        } else if let Ok(number) = value.cast_exact::<PyFloat>() {
            let plain = number.value();
            if plain.is_finite() && plain.fract() == 0.0 {
                let whole = value.call_method0(intern!(self.python, "__int__"))?;
                self.write_integer(&whole, bytes)?;
            } else if plain.is_nan() {
                // In a container, NaN equals itself.
                put_length(bytes, b'p', self.atom(value) as usize);
            } else {
                put_bytes(bytes, b'f', &plain.to_bits().to_le_bytes());
            }
        } else if let Ok(content) = value.cast_exact::<PyBytes>() {
            put_bytes(bytes, b'b', content.as_bytes());
        } else if is_compared_by_identity(value) {
            put_length(bytes, b'p', self.atom(value) as usize);
        } else {
            let number = self.equality_class(value)?;
            put_length(bytes, b'q', number as usize);
        }
        Ok(())
    }

    /// Appends an integer of any size.
    pub(super) fn write_integer(
        &self,
        value: &Bound<'py, PyAny>,
        bytes: &mut Vec<u8>,
    ) -> PyResult<()> {
        match value.extract::<i64>() {
            Ok(number) => put_number(bytes, b'i', number),
            Err(_) => {
                // In base 16, for which Python has no length limit.
                let text = value.call_method1(intern!(self.python, "__format__"), ("x",))?;
                put_bytes(bytes, b'I', text.str()?.to_string_lossy().as_bytes());
            }
        }
        Ok(())
    }

    /// Returns the key of a member of an unordered container.
    fn member_key(&mut self, value: &Bound<'py, PyAny>, depth: u32) -> PyResult<u128> {
        let mut bytes = Vec::with_capacity(16);
        self.write_key(value, &mut bytes, depth + 1)?;
        Ok(hash(&bytes))
    }

    /// Returns the number of the equal object seen before, or a new number, by the value's own
    /// equality.
    fn equality_class(&mut self, value: &Bound<'py, PyAny>) -> PyResult<u32> {
        if value.hash().is_ok() {
            if let Some(number) = self.hashable.get_item(value)? {
                return number.extract();
            }
            self.hashable.set_item(value, self.distinct_count)?;
        } else {
            let candidates = self.unhashable.entry(value.get_type().as_ptr() as usize);
            let candidates = candidates.or_default();
            for (other, number) in candidates.iter() {
                if other.eq(value)? {
                    return Ok(*number);
                }
            }
            candidates.push((value.clone(), self.distinct_count));
        }
        self.distinct_count += 1;
        Ok(self.distinct_count - 1)
    }
}

/// Returns true if a value is of a built-in type, or of a class that inherits the equality of this
/// type.
fn has_equality_of<T: pyo3::PyTypeInfo>(value: &Bound<'_, PyAny>) -> bool {
    if value.is_exact_instance_of::<T>() {
        return true;
    }
    let python = value.py();
    let built_in = T::type_object(python);
    let equality = intern!(python, "__eq__");
    value.is_instance_of::<T>()
        && match (
            value.get_type().getattr(equality),
            built_in.getattr(equality),
        ) {
            (Ok(own), Ok(built_in)) => own.is(&built_in),
            _ => false,
        }
}

/// Returns true if an object equals nothing but itself.
fn is_compared_by_identity(value: &Bound<'_, PyAny>) -> bool {
    let python = value.py();
    let equality = intern!(python, "__eq__");
    let plain = python.get_type::<PyAny>().getattr(equality);
    match (value.get_type().getattr(equality), plain) {
        (Ok(own), Ok(plain)) => own.is(&plain),
        _ => false,
    }
}
