//! Objects of plain classes: they consist of attributes and slots, or are named tuples, and are
//! packed and made again as such.

use std::rc::Rc;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::bytes::{put_varint, take, take_length};
use super::{PackContext, ValuePacker};
use crate::walker::layout::{self, ObjectContent};
use crate::walker::node;

/// A class whose objects consist of their attributes and slots, or a named tuple, and are copied as
/// such.
pub(super) struct PlainClass<'py> {
    pub(super) is_tuple: bool,
    /// True if forked children may know it.
    pub(super) is_shared: bool,
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
    /// Returns how an object is packed if it consists of attributes and slots, and its class leaves
    /// copying to Python. `None` for other objects, and if states are compared in Python.
    pub(super) fn plain_class(
        &mut self,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Rc<PlainClass<'py>>>> {
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

    /// Appends the attributes and slots of an object.
    pub(super) fn pack_object(
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

    /// Restores the attributes and slots of an object.
    pub(super) fn unpack_object(
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
}
