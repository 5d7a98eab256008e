//! Values of models: packed to keep them, keyed to tell them apart, and as text.
//!
//! A model's states are kept in hundreds of thousands. As Python objects each would take hundreds of bytes and a deep
//! copy to get it back, so values of built-in types are *packed*: written one after the other into bytes, from which
//! equal objects are made again. What cannot be packed (an instance of a class of the model) is copied and kept.
//!
//! Whether two values are the same state is up to Python's `==`, under which sets and dictionaries have no order and
//! `1`, `1.0` and `True` are one. Packed bytes do not show that. So there is a second form, the *key*, in which equal
//! values look equal: 128 bits of a hash over numbers by value and members in an order of their own. Objects with an
//! equality of their own are compared by it, with those met before, and the key is which of them is equal.

use std::hash::{DefaultHasher, Hasher};

use pyo3::exceptions::PyRecursionError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyCFunction, PyDict, PyFloat, PyFrozenSet, PyFunction, PyInt, PyList, PySet,
    PyString, PyTuple, PyType,
};
use rustc_hash::FxHashMap;

/// How deep values may be nested. Nothing that a person writes comes near it, and a list that contains itself ends here.
const DEEPEST: u32 = 150;

/// What the forms share: objects that are kept as they are.
pub(crate) struct Values<'py> {
    python: Python<'py>,
    /// Objects that are never copied, such as functions and members of enumerations.
    atoms: Vec<Bound<'py, PyAny>>,
    by_address: FxHashMap<usize, u32>,
    /// Objects with an equality of their own, those that hash; the value is their number.
    hashing: Bound<'py, PyDict>,
    /// The others, by type.
    others: FxHashMap<usize, Vec<(Bound<'py, PyAny>, u32)>>,
    /// How many objects of the two kinds there are.
    different: u32,
    enumeration: Bound<'py, PyAny>,
    deep_copy: Bound<'py, PyAny>,
    /// So many of the atoms are known to all copies of the process.
    shared_atoms: usize,
    /// Something was packed that copies of the process would not understand.
    is_private: bool,
}

/// What came of packing a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// It is packed.
    Done,
    /// It is packed, and its key would be the same bytes.
    AsKey,
    /// It cannot be packed; what was added is to be forgotten.
    Impossible,
}

/// What is known of a value while it is packed.
#[derive(Default)]
struct Shared {
    /// The mutable objects that it has so far, so that one that is met again stays one.
    addresses: Vec<usize>,
    /// Something in it has another form as a key.
    differs_from_key: bool,
}

impl<'py> Values<'py> {
    pub(crate) fn new(python: Python<'py>) -> PyResult<Values<'py>> {
        Ok(Values {
            python,
            atoms: Vec::new(),
            by_address: FxHashMap::default(),
            hashing: PyDict::new(python),
            others: FxHashMap::default(),
            different: 0,
            enumeration: python.import("enum")?.getattr("Enum")?,
            deep_copy: python.import("copy")?.getattr("deepcopy")?,
            shared_atoms: 0,
            is_private: false,
        })
    }

    /// The process is about to be copied: what is known now, the copies know as well.
    pub(crate) fn share(&mut self) {
        self.shared_atoms = self.atoms.len();
    }

    /// Whether anything was packed, since this was last asked, that copies of the process would not understand.
    pub(crate) fn take_private(&mut self) -> bool {
        std::mem::take(&mut self.is_private)
    }

    pub(crate) fn python(&self) -> Python<'py> {
        self.python
    }

    /// A copy that shares nothing with the original that could change.
    pub(crate) fn copy(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.deep_copy.call1((value,))
    }

    /// Adds a value to bytes.
    pub(crate) fn pack(
        &mut self,
        value: &Bound<'py, PyAny>,
        bytes: &mut Vec<u8>,
    ) -> PyResult<Packing> {
        let mut shared = Shared::default();
        let is_packed = self.pack_into(value, bytes, &mut shared, 0)?;
        Ok(if !is_packed {
            Packing::Impossible
        } else if shared.differs_from_key {
            Packing::Done
        } else {
            Packing::AsKey
        })
    }

    fn pack_into(
        &mut self,
        value: &Bound<'py, PyAny>,
        bytes: &mut Vec<u8>,
        shared: &mut Shared,
        depth: u32,
    ) -> PyResult<bool> {
        if depth > DEEPEST {
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
                // A lone surrogate.
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
            if put_known(bytes, shared, value) {
                return Ok(true);
            }
            put_length(bytes, b'[', list.len());
            for item in list.iter() {
                if !self.pack_into(&item, bytes, shared, depth + 1)? {
                    return Ok(false);
                }
            }
        } else if let Ok(entries) = value.cast_exact::<PyDict>() {
            if put_known(bytes, shared, value) {
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
            if put_known(bytes, shared, value) {
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

    /// Whether a copy of a value is the value itself.
    fn is_atom(&self, value: &Bound<'py, PyAny>) -> PyResult<bool> {
        Ok(value.is_exact_instance_of::<PyFloat>()
            || value.is_exact_instance_of::<PyFunction>()
            || value.is_exact_instance_of::<PyCFunction>()
            || value.is_exact_instance_of::<PyType>()
            || value.is_instance(&self.enumeration)?)
    }

    fn put_atom(&mut self, bytes: &mut Vec<u8>, shared: &mut Shared, value: &Bound<'py, PyAny>) {
        shared.differs_from_key = true;
        let number = self.atom(value) as usize;
        self.is_private |= number >= self.shared_atoms;
        put_length(bytes, b'o', number);
    }

    /// The number of an object that is kept as it is.
    fn atom(&mut self, value: &Bound<'py, PyAny>) -> u32 {
        let next = self.atoms.len() as u32;
        let address = value.as_ptr() as usize;
        let number = *self.by_address.entry(address).or_insert(next);
        if number == next {
            self.atoms.push(value.clone());
        }
        number
    }

    /// Makes a value again. It shares nothing with those that were made before.
    pub(crate) fn unpack(&self, bytes: &mut &[u8]) -> PyResult<Bound<'py, PyAny>> {
        self.unpack_from(bytes, &mut Vec::new())
    }

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
                    // Nothing in it can be the list itself, so it can be made at once.
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

    /// What is the same for equal values and differs for others.
    pub(crate) fn key(&mut self, value: &Bound<'py, PyAny>) -> PyResult<u128> {
        let mut bytes = Vec::with_capacity(64);
        self.write_key(value, &mut bytes, 0)?;
        Ok(hash(&bytes))
    }

    /// Adds to bytes what is the same for equal values.
    pub(crate) fn write_key(
        &mut self,
        value: &Bound<'py, PyAny>,
        bytes: &mut Vec<u8>,
        depth: u32,
    ) -> PyResult<()> {
        if depth > DEEPEST {
            let message = "a value is nested too deeply to tell it apart from others";
            return Err(PyRecursionError::new_err(message));
        }
        if value.is_none() {
            bytes.push(b'N');
        } else if equality_is_of::<PyInt>(value) {
            self.whole_number(value, bytes)?;
        } else if equality_is_of::<PyString>(value) {
            let text = value.cast::<PyString>().map_err(PyErr::from)?;
            put_bytes(bytes, b's', text.to_string_lossy().as_bytes());
        } else if equality_is_of::<PyTuple>(value) {
            let tuple = value.cast::<PyTuple>().map_err(PyErr::from)?;
            put_length(bytes, b'(', tuple.len());
            for item in tuple.iter_borrowed() {
                self.write_key(&item, bytes, depth + 1)?;
            }
        } else if equality_is_of::<PyList>(value) {
            let list = value.cast::<PyList>().map_err(PyErr::from)?;
            put_length(bytes, b'[', list.len());
            for item in list.iter() {
                self.write_key(&item, bytes, depth + 1)?;
            }
        } else if equality_is_of::<PyDict>(value) {
            let entries = value.cast::<PyDict>().map_err(PyErr::from)?;
            let mut keyed = Vec::with_capacity(entries.len());
            for (key, item) in entries.iter() {
                let mut both = self.member(&key, depth)?.to_le_bytes().to_vec();
                self.write_key(&item, &mut both, depth + 1)?;
                keyed.push(both);
            }
            keyed.sort_unstable();
            put_length(bytes, b'{', keyed.len());
            keyed
                .iter()
                .for_each(|entry| bytes.extend_from_slice(entry));
        } else if equality_is_of::<PySet>(value) || equality_is_of::<PyFrozenSet>(value) {
            let mut keys = Vec::new();
            for item in value.try_iter()? {
                keys.push(self.member(&item?, depth)?);
            }
            keys.sort_unstable();
            put_length(bytes, b'<', keys.len());
            keys.iter().for_each(|key| bytes.extend(key.to_le_bytes()));
        } else if let Ok(number) = value.cast_exact::<PyFloat>() {
            let plain = number.value();
            if plain.is_finite() && plain.fract() == 0.0 {
                let whole = value.call_method0(intern!(self.python, "__int__"))?;
                self.whole_number(&whole, bytes)?;
            } else if plain.is_nan() {
                // In a container, a number that equals nothing still equals itself.
                put_length(bytes, b'p', self.atom(value) as usize);
            } else {
                put_bytes(bytes, b'f', &plain.to_bits().to_le_bytes());
            }
        } else if let Ok(content) = value.cast_exact::<PyBytes>() {
            put_bytes(bytes, b'b', content.as_bytes());
        } else if is_compared_by_identity(value) {
            put_length(bytes, b'p', self.atom(value) as usize);
        } else {
            let number = self.number_of_equal(value)?;
            put_length(bytes, b'q', number as usize);
        }
        Ok(())
    }

    fn whole_number(&self, value: &Bound<'py, PyAny>, bytes: &mut Vec<u8>) -> PyResult<()> {
        match value.extract::<i64>() {
            Ok(number) => put_number(bytes, b'i', number),
            Err(_) => {
                // In base 16, which Python writes in any length.
                let text = value.call_method1(intern!(self.python, "__format__"), ("x",))?;
                put_bytes(bytes, b'I', text.str()?.to_string_lossy().as_bytes());
            }
        }
        Ok(())
    }

    /// The key of what stands in a container without order.
    fn member(&mut self, value: &Bound<'py, PyAny>, depth: u32) -> PyResult<u128> {
        let mut bytes = Vec::with_capacity(16);
        self.write_key(value, &mut bytes, depth + 1)?;
        Ok(hash(&bytes))
    }

    /// Which of the objects met before a value is equal to, as it sees it.
    fn number_of_equal(&mut self, value: &Bound<'py, PyAny>) -> PyResult<u32> {
        if value.hash().is_ok() {
            if let Some(number) = self.hashing.get_item(value)? {
                return number.extract();
            }
            self.hashing.set_item(value, self.different)?;
        } else {
            let alike = self.others.entry(value.get_type().as_ptr() as usize);
            let alike = alike.or_default();
            for (other, number) in alike.iter() {
                if other.eq(value)? {
                    return Ok(*number);
                }
            }
            alike.push((value.clone(), self.different));
        }
        self.different += 1;
        Ok(self.different - 1)
    }
}

/// Whether a value is of a built-in type, or of a class of its own that compares as this type does.
fn equality_is_of<T: pyo3::PyTypeInfo>(value: &Bound<'_, PyAny>) -> bool {
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

/// Whether an object equals nothing but itself.
fn is_compared_by_identity(value: &Bound<'_, PyAny>) -> bool {
    let python = value.py();
    let equality = intern!(python, "__eq__");
    let plain = python.get_type::<PyAny>().getattr(equality);
    match (value.get_type().getattr(equality), plain) {
        (Ok(own), Ok(plain)) => own.is(&plain),
        _ => false,
    }
}

/// 128 bits of a hash that is the same in every process.
pub(crate) fn hash(bytes: &[u8]) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(salt);
        hasher.write(bytes);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

/// Notes an object that can change; if it was met before, says so instead of what is in it.
fn put_known(bytes: &mut Vec<u8>, shared: &mut Shared, value: &Bound<'_, PyAny>) -> bool {
    let address = value.as_ptr() as usize;
    let known = shared.addresses.iter().position(|one| *one == address);
    match known {
        Some(number) => put_length(bytes, b'&', number),
        None => shared.addresses.push(address),
    }
    shared.differs_from_key |= known.is_some();
    known.is_some()
}

/// Takes items that are small numbers only, of two bytes each; nothing is taken if they are not.
fn take_small_numbers<'b>(
    bytes: &mut &'b [u8],
    length: usize,
) -> Option<impl ExactSizeIterator<Item = i64> + use<'b>> {
    let (pairs, _) = bytes.as_chunks::<2>();
    let is_small = |[tag, number]: &[u8; 2]| *tag == b'i' && *number < 0x80;
    let pairs = pairs.get(..length)?;
    pairs.iter().all(is_small).then(|| {
        take(bytes, 2 * length);
        pairs.iter().map(|[_, folded]| unfolded(u64::from(*folded)))
    })
}

fn put_bytes(bytes: &mut Vec<u8>, tag: u8, content: &[u8]) {
    put_length(bytes, tag, content.len());
    bytes.extend_from_slice(content);
}

fn put_number(bytes: &mut Vec<u8>, tag: u8, number: i64) {
    bytes.push(tag);
    put_varying(bytes, (number << 1 ^ number >> 63) as u64);
}

fn put_length(bytes: &mut Vec<u8>, tag: u8, length: usize) {
    bytes.push(tag);
    put_varying(bytes, length as u64);
}

/// A number in as few bytes as it needs: seven bits in each, the highest bit says that more follow.
pub(crate) fn put_varying(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

pub(crate) fn take_varying(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for (place, byte) in bytes.iter().enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            *bytes = &bytes[place + 1..];
            break;
        }
    }
    number
}

fn take_number(bytes: &mut &[u8]) -> i64 {
    unfolded(take_varying(bytes))
}

/// A number whose sign is its lowest bit.
fn unfolded(folded: u64) -> i64 {
    (folded >> 1) as i64 ^ -((folded & 1) as i64)
}

fn take_length(bytes: &mut &[u8]) -> usize {
    take_varying(bytes) as usize
}

pub(crate) fn take<'b>(bytes: &mut &'b [u8], length: usize) -> &'b [u8] {
    let (taken, rest) = bytes.split_at(length);
    *bytes = rest;
    taken
}
