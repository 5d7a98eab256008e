//! Restoring of packed values.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple,
};

use super::ValuePacker;
use super::bytes::{take, take_length, take_number, take_small_numbers};

impl<'py> ValuePacker<'py> {
    /// Restores a packed value. It shares no mutable objects with those restored before.
    pub(crate) fn unpack(&self, bytes: &mut &[u8]) -> PyResult<Bound<'py, PyAny>> {
        self.unpack_from(bytes, &mut Vec::new())
    }

    /// Restores a packed value; `shared` are the mutable objects restored so far.
    pub(crate) fn unpack_from(
        &self,
        bytes: &mut &[u8],
        shared: &mut Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let python = self.python;
        let tag = take(bytes, 1)[0];
        Ok(match tag {
            b'i' => take_number(bytes).into_pyobject(python)?.into_any(),
            b's' => {
                let length = take_length(bytes);
                let text = std::str::from_utf8(take(bytes, length)).unwrap_or_default();
                PyString::new(python, text).into_any()
            }
            b'f' => {
                let length = take_length(bytes);
                let bits = take(bytes, length).try_into().unwrap_or_default();
                PyFloat::new(python, f64::from_bits(u64::from_le_bytes(bits))).into_any()
            }
            b'b' => {
                let length = take_length(bytes);
                PyBytes::new(python, take(bytes, length)).into_any()
            }
            b'I' => {
                let length = take_length(bytes);
                let digits = String::from_utf8_lossy(take(bytes, length));
                python.get_type::<PyInt>().call1((&*digits, 16))?
            }
            b'z' => {
                let length = take_length(bytes);
                let encoded = PyBytes::new(python, take(bytes, length));
                encoded.call_method1("decode", ("utf-8", "surrogatepass"))?
            }
            b'@' => self.unpack_object(bytes, shared)?,
            b'%' => {
                let class = &self.atoms[take_length(bytes)];
                let length = take_length(bytes);
                let items = (0..length).map(|_| self.unpack_from(bytes, shared));
                let items = PyTuple::new(python, items.collect::<PyResult<Vec<_>>>()?)?;
                let arguments = PyTuple::new(python, [items])?;
                // SAFETY: the class is one of named tuples, so `tuple` makes them; the result is a new
                // object, or null with an exception.
                unsafe {
                    let new = ffi::PyTuple_Type.tp_new;
                    let made = new.map_or(std::ptr::null_mut(), |new| {
                        new(
                            class.as_ptr().cast(),
                            arguments.as_ptr(),
                            std::ptr::null_mut(),
                        )
                    });
                    Bound::from_owned_ptr_or_err(python, made)?
                }
            }
            b'N' => python.None().into_bound(python),
            b'T' | b'F' => PyBool::new(python, tag == b'T').to_owned().into_any(),
            b'o' => self.atoms[take_length(bytes)].clone(),
            b'&' => shared[take_length(bytes)].clone(),
            b'(' => {
                let length = take_length(bytes);
                let items = (0..length).map(|_| self.unpack_from(bytes, shared));
                PyTuple::new(python, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
            }
            b'[' => {
                let length = take_length(bytes);
                let list = match take_small_numbers(bytes, length) {
                    // No item can be the list itself, so the list is created at once.
                    Some(numbers) => {
                        let list = PyList::new(python, numbers)?;
                        shared.push(list.clone().into_any());
                        list
                    }
                    None => {
                        let list = PyList::empty(python);
                        shared.push(list.clone().into_any());
                        for _ in 0..length {
                            list.append(self.unpack_from(bytes, shared)?)?;
                        }
                        list
                    }
                };
                list.into_any()
            }
            b'{' => {
                let length = take_length(bytes);
                let entries = PyDict::new(python);
                shared.push(entries.clone().into_any());
                for _ in 0..length {
                    let key = self.unpack_from(bytes, shared)?;
                    entries.set_item(key, self.unpack_from(bytes, shared)?)?;
                }
                entries.into_any()
            }
            b'<' => {
                let length = take_length(bytes);
                let set = PySet::empty(python)?;
                shared.push(set.clone().into_any());
                if self.shuffles_sets.get() && length > 1 {
                    let items = (0..length).map(|_| self.unpack_from(bytes, shared));
                    fill_in_another_order(&set, items.collect::<PyResult<Vec<_>>>()?)?;
                    return Ok(set.into_any());
                }
                for _ in 0..length {
                    set.add(self.unpack_from(bytes, shared)?)?;
                }
                set.into_any()
            }
            _ => {
                let length = take_length(bytes);
                let items = (0..length).map(|_| self.unpack_from(bytes, shared));
                let mut items = items.collect::<PyResult<Vec<_>>>()?;
                if self.shuffles_sets.get() {
                    items.reverse();
                }
                PyFrozenSet::new(python, items)?.into_any()
            }
        })
    }
}

/// Adds members to an empty set so that their order is another one than usual, where that depends on
/// the history of the set.
fn fill_in_another_order(set: &Bound<'_, PySet>, members: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
    const ADDED_BEFORE: i64 = 40;
    for number in 0..ADDED_BEFORE {
        set.add(number)?;
    }
    for number in 0..ADDED_BEFORE {
        set.discard(number)?;
    }
    members
        .into_iter()
        .rev()
        .try_for_each(|member| set.add(member))
}
