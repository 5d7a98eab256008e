//! Storage and comparison of values of models.
//!
//! A model may have hundreds of thousands of states. As Python objects each would take hundreds of
//! bytes, and a deep copy to restore. So values of built-in types are *packed*: serialized to
//! bytes, from which equal objects are created again. Other values (instances of classes of the
//! model) are copied and kept.
//!
//! Equality of states is that of Python's `==`: sets and dictionaries have no order, and `1`, `1.0`
//! and `True` are equal. Packed bytes do not reflect that. So each value also has a *key*, which is
//! the same for equal values: a 128-bit hash in which numbers count by value, and members are
//! sorted. Objects that define equality are compared with those seen before; the key is the number
//! of the equal one.

use std::hash::{DefaultHasher, Hasher};

use pyo3::exceptions::PyRecursionError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyCFunction, PyDict, PyFloat, PyFrozenSet, PyFunction, PyInt, PyList, PySet,
    PyString, PyTuple, PyType,
};
use rustc_hash::FxHashMap;

/// The maximum depth of nested values. No realistic value exceeds it; a list that contains itself
/// does.
const MAX_DEPTH: u32 = 150;

/// Packs values and computes their keys. Holds the objects that cannot be serialized.
pub(crate) struct ValuePacker<'py> {
    python: Python<'py>,
    /// Objects that are never copied, such as functions and enumeration members.
    atoms: Vec<Bound<'py, PyAny>>,
    /// Numbers of atoms, by address.
    by_address: FxHashMap<usize, u32>,
    /// Hashable objects that define equality, with their numbers.
    hashable: Bound<'py, PyDict>,
    /// Unhashable objects that define equality, by type.
    unhashable: FxHashMap<usize, Vec<(Bound<'py, PyAny>, u32)>>,
    /// The number of objects in the two collections.
    distinct_count: u32,
    enum_class: Bound<'py, PyAny>,
    deep_copy: Bound<'py, PyAny>,
    /// The number of atoms that are also known to forked children.
    shared_atoms: usize,
    /// True if an atom was packed that other processes do not know.
    has_unshared_atoms: bool,
}

/// The result of packing a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PackResult {
    /// It is packed.
    Packed,
    /// It is packed, and its key would have the same bytes.
    PackedAsKey,
    /// It cannot be packed; the bytes added so far are to be discarded.
    Impossible,
}

/// The state of packing one value.
#[derive(Default)]
struct PackContext {
    /// The addresses of mutable objects so far, so that shared objects stay shared.
    addresses: Vec<usize>,
    /// True if the key would have other bytes.
    differs_from_key: bool,
}

impl<'py> ValuePacker<'py> {
    /// Creates a packer without any objects.
    pub(crate) fn new(python: Python<'py>) -> PyResult<ValuePacker<'py>> {
        Ok(ValuePacker {
            python,
            atoms: Vec::new(),
            by_address: FxHashMap::default(),
            hashable: PyDict::new(python),
            unhashable: FxHashMap::default(),
            distinct_count: 0,
            enum_class: python.import("enum")?.getattr("Enum")?,
            deep_copy: python.import("copy")?.getattr("deepcopy")?,
            shared_atoms: 0,
            has_unshared_atoms: false,
        })
    }

    /// Marks all present atoms as known to forked children. To be called right before a fork.
    pub(crate) fn share_atoms(&mut self) {
        self.shared_atoms = self.atoms.len();
    }

    /// Returns true if an atom was packed, since the last call, that other processes do not know.
    pub(crate) fn take_unshared(&mut self) -> bool {
        std::mem::take(&mut self.has_unshared_atoms)
    }

    /// Returns the interpreter.
    pub(crate) fn python(&self) -> Python<'py> {
        self.python
    }

    /// Returns a deep copy of a value.
    pub(crate) fn copy(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.deep_copy.call1((value,))
    }

    /// Appends a packed value to bytes.
    pub(crate) fn pack(
        &mut self,
        value: &Bound<'py, PyAny>,
        bytes: &mut Vec<u8>,
    ) -> PyResult<PackResult> {
        let mut shared = PackContext::default();
        let is_packed = self.pack_into(value, bytes, &mut shared, 0)?;
        Ok(if !is_packed {
            PackResult::Impossible
        } else if shared.differs_from_key {
            PackResult::Packed
        } else {
            PackResult::PackedAsKey
        })
    }

    /// Appends a packed value at a depth of nesting. Returns false if it cannot be packed.
    fn pack_into(
        &mut self,
        value: &Bound<'py, PyAny>,
        bytes: &mut Vec<u8>,
        shared: &mut PackContext,
        depth: u32,
    ) -> PyResult<bool> {
        if depth > MAX_DEPTH {
            return Ok(false);
        }
        if let Ok(number) = value.cast_exact::<PyInt>() {
            match number.extract::<i64>() {
                Ok(number) => put_number(bytes, b'i', number),
                Err(_) => self.put_atom(bytes, shared, value),
            }
        } else if let Ok(text) = value.cast_exact::<PyString>() {
            match text.to_str() {
                Ok(text) => put_bytes(bytes, b's', text.as_bytes()),
                // The text has a lone surrogate.
                Err(_) => self.put_atom(bytes, shared, value),
            }
        } else if value.is_none() {
            bytes.push(b'N');
        } else if let Ok(truth) = value.cast_exact::<PyBool>() {
            shared.differs_from_key = true;
            bytes.push(if truth.is_true() { b'T' } else { b'F' });
        } else if let Ok(tuple) = value.cast_exact::<PyTuple>() {
            put_length(bytes, b'(', tuple.len());
            for item in tuple.iter_borrowed() {
                if !self.pack_into(&item, bytes, shared, depth + 1)? {
                    return Ok(false);
                }
            }
        } else if let Ok(list) = value.cast_exact::<PyList>() {
            if put_back_reference(bytes, shared, value) {
                return Ok(true);
            }
            put_length(bytes, b'[', list.len());
            for item in list.iter() {
                if !self.pack_into(&item, bytes, shared, depth + 1)? {
                    return Ok(false);
                }
            }
        } else if let Ok(entries) = value.cast_exact::<PyDict>() {
            if put_back_reference(bytes, shared, value) {
                return Ok(true);
            }
            shared.differs_from_key = true;
            put_length(bytes, b'{', entries.len());
            for (key, item) in entries.iter() {
                if !self.pack_into(&key, bytes, shared, depth + 1)?
                    || !self.pack_into(&item, bytes, shared, depth + 1)?
                {
                    return Ok(false);
                }
            }
        } else if let Ok(set) = value.cast_exact::<PySet>() {
            if put_back_reference(bytes, shared, value) {
                return Ok(true);
            }
            shared.differs_from_key = true;
            put_length(bytes, b'<', set.len());
            for item in set.iter() {
                if !self.pack_into(&item, bytes, shared, depth + 1)? {
                    return Ok(false);
                }
            }
        } else if let Ok(set) = value.cast_exact::<PyFrozenSet>() {
            shared.differs_from_key = true;
            put_length(bytes, b'>', set.len());
            for item in set.iter() {
                if !self.pack_into(&item, bytes, shared, depth + 1)? {
                    return Ok(false);
                }
            }
        } else if let Ok(number) = value.cast_exact::<PyFloat>()
            && !number.value().is_nan()
        {
            shared.differs_from_key = true;
            put_bytes(bytes, b'f', &number.value().to_bits().to_le_bytes());
        } else if let Ok(content) = value.cast_exact::<PyBytes>() {
            put_bytes(bytes, b'b', content.as_bytes());
        } else if self.is_atom(value)? {
            self.put_atom(bytes, shared, value);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Returns true if a deep copy of a value is the value itself.
    fn is_atom(&self, value: &Bound<'py, PyAny>) -> PyResult<bool> {
        Ok(value.is_exact_instance_of::<PyFloat>()
            || value.is_exact_instance_of::<PyFunction>()
            || value.is_exact_instance_of::<PyCFunction>()
            || value.is_exact_instance_of::<PyType>()
            || value.is_instance(&self.enum_class)?)
    }

    /// Appends the number of an atom.
    fn put_atom(
        &mut self,
        bytes: &mut Vec<u8>,
        shared: &mut PackContext,
        value: &Bound<'py, PyAny>,
    ) {
        shared.differs_from_key = true;
        let number = self.atom(value) as usize;
        self.has_unshared_atoms |= number >= self.shared_atoms;
        put_length(bytes, b'o', number);
    }

    /// Returns the number of an atom, assigning one if needed.
    fn atom(&mut self, value: &Bound<'py, PyAny>) -> u32 {
        let next = self.atoms.len() as u32;
        let address = value.as_ptr() as usize;
        let number = *self.by_address.entry(address).or_insert(next);
        if number == next {
            self.atoms.push(value.clone());
        }
        number
    }

    /// Restores a packed value. It shares no mutable objects with those restored before.
    pub(crate) fn unpack(&self, bytes: &mut &[u8]) -> PyResult<Bound<'py, PyAny>> {
        self.unpack_from(bytes, &mut Vec::new())
    }

    /// Restores a packed value; `shared` are the mutable objects restored so far.
    fn unpack_from(
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
                for _ in 0..length {
                    set.add(self.unpack_from(bytes, shared)?)?;
                }
                set.into_any()
            }
            _ => {
                let length = take_length(bytes);
                let items = (0..length).map(|_| self.unpack_from(bytes, shared));
                PyFrozenSet::new(python, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
            }
        })
    }

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
            let text = value.cast::<PyString>().map_err(PyErr::from)?;
            put_bytes(bytes, b's', text.to_string_lossy().as_bytes());
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
    fn write_integer(&self, value: &Bound<'py, PyAny>, bytes: &mut Vec<u8>) -> PyResult<()> {
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

/// Returns a 128-bit hash that is the same in every process.
pub(crate) fn hash(bytes: &[u8]) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(salt);
        hasher.write(bytes);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

/// Notes a mutable object. If it occurred before, appends a reference to it and returns true.
fn put_back_reference(
    bytes: &mut Vec<u8>,
    shared: &mut PackContext,
    value: &Bound<'_, PyAny>,
) -> bool {
    let address = value.as_ptr() as usize;
    let known = shared.addresses.iter().position(|one| *one == address);
    match known {
        Some(number) => put_length(bytes, b'&', number),
        None => shared.addresses.push(address),
    }
    shared.differs_from_key |= known.is_some();
    known.is_some()
}

/// Takes items that are all small integers, of two bytes each. Takes nothing otherwise.
fn take_small_numbers<'b>(
    bytes: &mut &'b [u8],
    length: usize,
) -> Option<impl ExactSizeIterator<Item = i64> + use<'b>> {
    let (pairs, _) = bytes.as_chunks::<2>();
    let is_small = |[tag, number]: &[u8; 2]| *tag == b'i' && *number < 0x80;
    let pairs = pairs.get(..length)?;
    pairs.iter().all(is_small).then(|| {
        take(bytes, 2 * length);
        pairs
            .iter()
            .map(|[_, folded]| zigzag_decode(u64::from(*folded)))
    })
}

/// Appends a tag, a length and bytes.
fn put_bytes(bytes: &mut Vec<u8>, tag: u8, content: &[u8]) {
    put_length(bytes, tag, content.len());
    bytes.extend_from_slice(content);
}

/// Appends a tag and an integer in zigzag encoding.
fn put_number(bytes: &mut Vec<u8>, tag: u8, number: i64) {
    bytes.push(tag);
    put_varint(bytes, (number << 1 ^ number >> 63) as u64);
}

/// Appends a tag and a length.
fn put_length(bytes: &mut Vec<u8>, tag: u8, length: usize) {
    bytes.push(tag);
    put_varint(bytes, length as u64);
}

/// Appends a variable-length number: seven bits per byte, the highest bit marks continuation.
pub(crate) fn put_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a variable-length number.
pub(crate) fn take_varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for (index, byte) in bytes.iter().enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            *bytes = &bytes[index + 1..];
            break;
        }
    }
    number
}

/// Takes an integer in zigzag encoding.
fn take_number(bytes: &mut &[u8]) -> i64 {
    zigzag_decode(take_varint(bytes))
}

/// Decodes a zigzag-encoded number: the lowest bit is the sign.
fn zigzag_decode(folded: u64) -> i64 {
    (folded >> 1) as i64 ^ -((folded & 1) as i64)
}

/// Takes a length.
fn take_length(bytes: &mut &[u8]) -> usize {
    take_varint(bytes) as usize
}

/// Takes bytes from the front.
pub(crate) fn take<'b>(bytes: &mut &'b [u8], length: usize) -> &'b [u8] {
    let (taken, rest) = bytes.split_at(length);
    *bytes = rest;
    taken
}
