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

use std::cell::Cell;
use std::hash::{DefaultHasher, Hasher};
use std::rc::Rc;

use pyo3::exceptions::{PyRecursionError, PyTypeError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyCFunction, PyDict, PyFloat, PyFrozenSet, PyFunction, PyInt, PyList,
    PyModule, PySet, PyString, PyTuple, PyType,
};
use rustc_hash::FxHashMap;

use crate::walker::encoder::{Encoder, EncodingContext, StateRoot};
use crate::walker::layout::{self, ObjectContent};
use crate::walker::node;

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

/// A class whose objects consist of their attributes and slots, or a named tuple, and are copied as
/// such.
struct PlainClass<'py> {
    is_tuple: bool,
    /// True if forked children may know it.
    is_shared: bool,
    has_attributes: bool,
    slots: Vec<Bound<'py, PyAny>>,
}

/// The methods by which a class decides how its objects are made and copied.
const COPY_HOOKS: [&str; 8] = [
    "__new__",
    "__deepcopy__",
    "__reduce__",
    "__reduce_ex__",
    "__getstate__",
    "__setstate__",
    "__getnewargs__",
    "__getnewargs_ex__",
];

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

    /// Appends the attributes and slots of an object.
    fn pack_object(
        &mut self,
        class: &PlainClass<'py>,
        value: &Bound<'py, PyAny>,
        bytes: &mut Vec<u8>,
        shared: &mut PackContext,
        depth: u32,
    ) -> PyResult<bool> {
        if class.has_attributes {
            let attributes = layout::attributes(value);
            let Some(attributes) = attributes.and_then(|found| found.cast_into_exact().ok()) else {
                return Ok(false);
            };
            let attributes: Bound<'py, PyDict> = attributes;
            if shared.number(attributes.as_ptr() as usize).is_some() {
                return Ok(false);
            }
            put_varint(bytes, attributes.len() as u64);
            for (name, item) in attributes.iter() {
                if !self.pack_into(&name, bytes, shared, depth + 1)?
                    || !self.pack_into(&item, bytes, shared, depth + 1)?
                {
                    return Ok(false);
                }
            }
        }
        for slot in &class.slots {
            match node::read_slot(slot, value) {
                None => bytes.push(b'-'),
                Some(item) => {
                    if !self.pack_into(&item, bytes, shared, depth + 1)? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Returns how an object is packed if it consists of attributes and slots, and its class leaves
    /// copying to Python. `None` for other objects, and if states are compared in Python.
    fn plain_class(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Option<Rc<PlainClass<'py>>>> {
        let Some(context) = &mut self.walker else {
            return Ok(None);
        };
        let class = value.get_type();
        if let Some(known) = self.plain_classes.get(&(class.as_ptr() as usize)) {
            return Ok(known.clone());
        }
        let python = self.python;
        let layout = context.layouts.of(value);
        let root = python.get_type::<PyAny>();
        let is_tuple = layout.content == ObjectContent::Tuple && layout.is_value();
        let mut is_plain = layout.is_python_class
            && (is_tuple && class.hasattr("_fields")? || layout.content == ObjectContent::Nothing);
        let registered = python.import("copyreg")?.getattr("dispatch_table")?;
        is_plain &= !registered.contains(&class)?;
        for hook in COPY_HOOKS {
            let own = class.getattr(hook).ok();
            let usual = root.getattr(hook).ok();
            is_plain &= match (own, usual) {
                (None, None) => true,
                (Some(own), Some(usual)) if own.is(&usual) => true,
                // Data classes with slots and named tuples define how they are pickled: as they are.
                (Some(own), _) => own.getattr("__module__").is_ok_and(|module| {
                    let module = module.to_string();
                    module == "dataclasses"
                        || is_tuple
                            && (module == "collections" || module.starts_with("namedtuple_"))
                }),
                (None, Some(_)) => false,
            };
        }
        let found = is_plain.then(|| {
            let slots = layout.slots.iter().map(|slot| slot.bind(python).clone());
            Rc::new(PlainClass {
                is_tuple,
                is_shared: self.shared_atoms == 0,
                has_attributes: layout.has_dict,
                slots: slots.collect(),
            })
        });
        // The class is kept alive, so that no other gets its address.
        self.atom(class.as_any());
        let address = class.as_ptr() as usize;
        self.plain_classes.insert(address, found.clone());
        Ok(found)
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

    /// Restores a packed value. It shares no mutable objects with those restored before.
    pub(crate) fn unpack(&self, bytes: &mut &[u8]) -> PyResult<Bound<'py, PyAny>> {
        self.unpack_from(bytes, &mut Vec::new())
    }

    /// Restores the attributes and slots of an object.
    fn unpack_object(
        &self,
        bytes: &mut &[u8],
        shared: &mut Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let python = self.python;
        let class = &self.atoms[take_length(bytes)];
        let plain = self.plain_classes.get(&(class.as_ptr() as usize));
        let Some(plain) = plain.and_then(Option::as_ref) else {
            return Err(PyTypeError::new_err("an object cannot be made again"));
        };
        let empty = PyTuple::empty(python);
        // SAFETY: the class is one of objects that consist of attributes and slots, so `object` makes
        // them; the result is a new object, or null with an exception.
        let object = unsafe {
            let new = ffi::PyBaseObject_Type.tp_new;
            let made = new.map_or(std::ptr::null_mut(), |new| {
                new(class.as_ptr().cast(), empty.as_ptr(), std::ptr::null_mut())
            });
            Bound::from_owned_ptr_or_err(python, made)?
        };
        shared.push(object.clone());
        if plain.has_attributes {
            let attributes = layout::attributes(&object);
            let attributes = attributes.and_then(|found| found.cast_into::<PyDict>().ok());
            let Some(attributes) = attributes else {
                return Err(PyTypeError::new_err("an object has no attributes"));
            };
            shared.push(attributes.clone().into_any());
            for _ in 0..take_length(bytes) {
                let name = self.unpack_from(bytes, shared)?;
                // As the interpreter does, so that attributes are found quickly.
                // SAFETY: the text is a new reference of ours, which is replaced by the interned one.
                let name = unsafe {
                    let mut name = name.into_ptr();
                    if ffi::PyUnicode_CheckExact(name) != 0 {
                        ffi::PyUnicode_InternInPlace(&mut name);
                    }
                    Bound::from_owned_ptr(python, name)
                };
                attributes.set_item(name, self.unpack_from(bytes, shared)?)?;
            }
        }
        for slot in &plain.slots {
            if bytes.first() == Some(&b'-') {
                take(bytes, 1);
                continue;
            }
            let item = self.unpack_from(bytes, shared)?;
            slot.call_method1(intern!(python, "__set__"), (&object, item))?;
        }
        Ok(object)
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

/// Appends a text exactly, lone surrogates included.
fn put_text(text: &Bound<'_, PyString>, bytes: &mut Vec<u8>) -> PyResult<()> {
    if let Ok(text) = text.to_str() {
        put_bytes(bytes, b's', text.as_bytes());
    } else {
        let encoded = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
        put_bytes(bytes, b'z', encoded.cast::<PyBytes>()?.as_bytes());
    }
    Ok(())
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
