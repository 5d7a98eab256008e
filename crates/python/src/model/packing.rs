//! Storage and comparison of values of models.
//!
//! A model may have hundreds of thousands of states. As Python objects each would take hundreds of
//! bytes, and a deep copy to restore. So values of built-in types are *packed*: serialized to
//! bytes, from which equal objects are created again. Other values (instances of classes of the
//! model) are copied and kept.
//!
//! States are told apart by all that code can notice about them, apart from the order of sets
//! ([`StateEquality::Exact`]). Packed bytes say just that, since sets are packed, and so made again,
//! in the order of their packed members. Values that are not packed, or with parts that are numbered
//! by address, are told apart by their [encoding](crate::walker::encoder).
//!
//! Arguments and results of steps, and states as PyModel sees them, are equal if they are by Python's
//! `==`: sets and dictionaries have no order, and `1`, `1.0` and `True` are equal. Their *key* is the
//! same for equal values: a 128-bit hash in which numbers count by value, and members are sorted.
//! Objects that define equality are compared with those seen before; the key is the number of the
//! equal one.

mod bytes;
mod keys;
mod plain_classes;
mod unpack;

use std::cell::Cell;
use std::rc::Rc;

use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyCFunction, PyDict, PyFloat, PyFrozenSet, PyFunction, PyInt, PyList,
    PyModule, PySet, PyString, PyTuple, PyType,
};
use rustc_hash::FxHashMap;

use crate::walker::encoder::{Encoder, EncodingContext, StateRoot};
use bytes::{put_bytes, put_length, put_number, put_text};
use plain_classes::PlainClass;

pub(crate) use bytes::{hash, put_varint, take_varint};

/// The maximum depth of nested values. No realistic value exceeds it; a list that contains itself
/// does.
const MAX_DEPTH: u32 = 150;

/// The equality by which states are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StateEquality {
    /// States are one if no code can tell them apart, except by the order of a set.
    Exact,
    /// States are one if they are equal in Python, as in PyModel.
    Python,
}

/// Packs values and computes their keys. Holds the objects that cannot be serialized.
pub(crate) struct ValuePacker<'py> {
    python: Python<'py>,
    /// The knowledge of the walker, to tell states apart exactly. `None` to compare them in Python.
    pub(crate) walker: Option<Box<EncodingContext<'py>>>,
    /// The classes of packed objects, by address; `None` for those whose objects are not packed.
    plain_classes: FxHashMap<usize, Option<Rc<PlainClass<'py>>>>,
    /// True to make sets again in another order than the usual one.
    pub(crate) shuffles_sets: Cell<bool>,
    /// True if a set with several members was packed since the last reset.
    pub(crate) has_sets: bool,
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

/// The state of packing one value, or several that may share objects.
#[derive(Default)]
pub(crate) struct PackContext {
    /// The addresses of mutable objects so far, so that shared objects stay shared.
    addresses: Vec<usize>,
    /// The numbers of these addresses, once there are many.
    numbers: FxHashMap<usize, usize>,
    /// True if the key would have other bytes.
    differs_from_key: bool,
}

impl PackContext {
    /// The number of addresses from which on they are looked up by hash.
    const MANY: usize = 16;

    /// Returns the number of a mutable object that occurred before; otherwise gives it one.
    fn number(&mut self, address: usize) -> Option<usize> {
        let known = if self.addresses.len() <= PackContext::MANY {
            self.addresses.iter().position(|one| *one == address)
        } else {
            self.numbers.get(&address).copied()
        };
        if known.is_none() {
            self.addresses.push(address);
            if self.addresses.len() == PackContext::MANY + 1 {
                let all = self.addresses.iter().enumerate();
                self.numbers = all.map(|(number, one)| (*one, number)).collect();
            } else if self.addresses.len() > PackContext::MANY {
                self.numbers.insert(address, self.addresses.len() - 1);
            }
        }
        known
    }
}

impl<'py> ValuePacker<'py> {
    /// Creates a packer without any objects.
    pub(crate) fn new(python: Python<'py>, equality: StateEquality) -> PyResult<ValuePacker<'py>> {
        let walker = match equality {
            StateEquality::Exact => {
                let mut context = EncodingContext::new(python)?;
                context.ignores_set_order = true;
                Some(Box::new(context))
            }
            StateEquality::Python => None,
        };
        Ok(ValuePacker {
            python,
            walker,
            plain_classes: FxHashMap::default(),
            shuffles_sets: Cell::new(false),
            has_sets: false,
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

    /// Returns true if states are told apart exactly.
    pub(crate) fn is_exact(&self) -> bool {
        self.walker.is_some()
    }

    /// Returns the encoding of values that may share objects, as 128 bits, and the addresses of the
    /// objects in them that can change.
    pub(crate) fn encode(&mut self, values: &[Bound<'py, PyAny>]) -> (u128, Vec<usize>) {
        let Some(context) = &mut self.walker else {
            return (0, Vec::new());
        };
        let mut encoder = Encoder::new(context, StateRoot::Slot(0));
        for value in values {
            encoder.encode(value.clone());
        }
        let objects = encoder.numbers.keys().copied().collect();
        (encoder.finish(), objects)
    }

    /// Appends a packed value to bytes.
    pub(crate) fn pack(
        &mut self,
        value: &Bound<'py, PyAny>,
        bytes: &mut Vec<u8>,
    ) -> PyResult<PackResult> {
        self.pack_part(value, bytes, &mut PackContext::default())
    }

    /// Appends a packed value that may share objects with those packed before.
    pub(crate) fn pack_part(
        &mut self,
        value: &Bound<'py, PyAny>,
        bytes: &mut Vec<u8>,
        shared: &mut PackContext,
    ) -> PyResult<PackResult> {
        let is_packed = self.pack_into(value, bytes, shared, 0)?;
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
                Err(_) => self.write_integer(value, bytes)?,
            }
        } else if let Ok(text) = value.cast_exact::<PyString>() {
            put_text(text, bytes)?;
        } else if value.is_none() {
            bytes.push(b'N');
        } else if let Ok(truth) = value.cast_exact::<PyBool>() {
            shared.differs_from_key |= !self.is_exact();
            bytes.push(if truth.is_true() { b'T' } else { b'F' });
        } else if let Ok(tuple) = value.cast_exact::<PyTuple>() {
            put_length(bytes, b'(', tuple.len());
            for item in tuple.iter_borrowed() {
                if !self.pack_into(&item, bytes, shared, depth + 1)? {
                    return Ok(false);
                }
            }
        } else if let Ok(list) = value.cast_exact::<PyList>() {
            if self.put_back_reference(bytes, shared, value) {
                return Ok(true);
            }
            put_length(bytes, b'[', list.len());
            for item in list.iter() {
                if !self.pack_into(&item, bytes, shared, depth + 1)? {
                    return Ok(false);
                }
            }
        } else if let Ok(entries) = value.cast_exact::<PyDict>() {
            if self.put_back_reference(bytes, shared, value) {
                return Ok(true);
            }
            shared.differs_from_key |= !self.is_exact();
            put_length(bytes, b'{', entries.len());
            for (key, item) in entries.iter() {
                if !self.pack_into(&key, bytes, shared, depth + 1)?
                    || !self.pack_into(&item, bytes, shared, depth + 1)?
                {
                    return Ok(false);
                }
            }
        } else if let Ok(set) = value.cast_exact::<PySet>() {
            if self.put_back_reference(bytes, shared, value) {
                return Ok(true);
            }
            put_length(bytes, b'<', set.len());
            return self.pack_members(set.iter(), bytes, shared, depth);
        } else if let Ok(set) = value.cast_exact::<PyFrozenSet>() {
            put_length(bytes, b'>', set.len());
            return self.pack_members(set.iter(), bytes, shared, depth);
        } else if let Ok(number) = value.cast_exact::<PyFloat>()
            && !number.value().is_nan()
        {
            shared.differs_from_key |= !self.is_exact();
            put_bytes(bytes, b'f', &number.value().to_bits().to_le_bytes());
        } else if let Ok(content) = value.cast_exact::<PyBytes>() {
            put_bytes(bytes, b'b', content.as_bytes());
        } else if self.is_atom(value)? {
            // The numbers of functions and of NaN say nothing about what code can notice of them.
            shared.differs_from_key |= !self.is_exact()
                || !value.is_exact_instance_of::<PyType>()
                    && !value.is_instance(&self.enum_class)?;
            self.put_atom(bytes, value);
        } else if let Some(class) = self.plain_class(value)? {
            if class.is_tuple {
                let number = self.shared_atom(value.get_type().as_any());
                self.has_unshared_atoms |= !class.is_shared;
                put_length(bytes, b'%', number);
                let items = value.cast::<PyTuple>().map_err(PyErr::from)?;
                put_varint(bytes, items.len() as u64);
                for item in items.iter_borrowed() {
                    if !self.pack_into(&item, bytes, shared, depth + 1)? {
                        return Ok(false);
                    }
                }
                return Ok(true);
            }
            if self.put_back_reference(bytes, shared, value) {
                return Ok(true);
            }
            let number = self.shared_atom(value.get_type().as_any());
            self.has_unshared_atoms |= !class.is_shared;
            put_length(bytes, b'@', number);
            return self.pack_object(&class, value, bytes, shared, depth);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Appends the members of a set: in the order of their packed bytes if states are told apart
    /// exactly, else in the order of the set.
    fn pack_members(
        &mut self,
        members: impl ExactSizeIterator<Item = Bound<'py, PyAny>>,
        bytes: &mut Vec<u8>,
        shared: &mut PackContext,
        depth: u32,
    ) -> PyResult<bool> {
        if !self.is_exact() || members.len() < 2 {
            shared.differs_from_key |= !self.is_exact();
            for item in members {
                if !self.pack_into(&item, bytes, shared, depth + 1)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        self.has_sets = true;
        let objects = shared.addresses.len();
        let mut parts = Vec::with_capacity(members.len());
        for item in members {
            let mut part = Vec::new();
            if !self.pack_into(&item, &mut part, shared, depth + 1)? {
                return Ok(false);
            }
            parts.push(part);
        }
        if shared.addresses.len() == objects {
            parts.sort_unstable();
        } else {
            // Objects that can change are numbered in the order of the set.
            shared.differs_from_key = true;
        }
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        Ok(true)
    }

    /// Notes a mutable object. If it occurred before, appends a reference to it and returns true.
    fn put_back_reference(
        &self,
        bytes: &mut Vec<u8>,
        shared: &mut PackContext,
        value: &Bound<'py, PyAny>,
    ) -> bool {
        let Some(number) = shared.number(value.as_ptr() as usize) else {
            return false;
        };
        put_length(bytes, b'&', number);
        shared.differs_from_key |= !self.is_exact();
        true
    }

    /// Returns true if a deep copy of a value is the value itself. A function that holds objects is
    /// none where states are told apart exactly: a copy shares these objects.
    fn is_atom(&self, value: &Bound<'py, PyAny>) -> PyResult<bool> {
        if self.is_exact() {
            let held = if value.is_exact_instance_of::<PyFunction>() {
                Some(value.getattr("__closure__")?)
            } else if value.is_exact_instance_of::<PyCFunction>() {
                Some(value.getattr("__self__")?)
            } else {
                None
            };
            if let Some(held) = held {
                return Ok(held.is_none() || held.is_instance_of::<PyModule>());
            }
        }
        Ok(value.is_exact_instance_of::<PyFloat>()
            || value.is_exact_instance_of::<PyFunction>()
            || value.is_exact_instance_of::<PyCFunction>()
            || value.is_exact_instance_of::<PyType>()
            || value.is_instance(&self.enum_class)?)
    }

    /// Appends the number of an atom.
    fn put_atom(&mut self, bytes: &mut Vec<u8>, value: &Bound<'py, PyAny>) {
        let number = self.shared_atom(value);
        put_length(bytes, b'o', number);
    }

    /// Returns the number of an atom that is packed, and notes if other processes do not know it.
    fn shared_atom(&mut self, value: &Bound<'py, PyAny>) -> usize {
        let number = self.atom(value) as usize;
        self.has_unshared_atoms |= number >= self.shared_atoms;
        number
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
}
