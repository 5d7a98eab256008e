//! Writing the parts of objects back, without running code of their classes.

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use super::layout::{self, ObjectContent};
use super::node::{self, ObjectImage, OwnedPart, UntrackedNames};
use super::sets;

impl ObjectImage {
    /// Writes the parts of the image back into the object.
    pub(crate) fn write(&self, python: Python<'_>, ignored: &UntrackedNames) -> PyResult<()> {
        let object = self.object.bind(python);
        let layout = &self.layout;
        if !self.has_same_class() {
            write_class_of(object, layout)?;
        }
        let mut parts = self.parts.as_slice();
        if layout.has_dict {
            let (first, rest) = split_first(parts)?;
            parts = rest;
            if let Some(attributes) = first.object() {
                let current = layout::attributes(object);
                if !current.is_some_and(|current| current.is(attributes)) {
                    // SAFETY: the object has a `__dict__`, and the new one is a dictionary.
                    let status = unsafe {
                        ffi::PyObject_GenericSetDict(
                            object.as_ptr(),
                            attributes.as_ptr(),
                            std::ptr::null_mut(),
                        )
                    };
                    check(python, status)?;
                }
            }
        }
        for slot in &layout.slots {
            let (first, rest) = split_first(parts)?;
            parts = rest;
            write_slot(slot.bind(python), object, first)?;
        }
        write_content(object, layout.content, &layout.base, parts, ignored)
    }
}

/// Gives an object its class back.
fn write_class_of(object: &Bound<'_, PyAny>, layout: &layout::ObjectLayout) -> PyResult<()> {
    let python = object.py();
    let name = pyo3::intern!(python, "__class__");
    // SAFETY: sets an attribute as `object` does, which accepts only a class that fits the object.
    check(python, unsafe {
        ffi::PyObject_GenericSetAttr(object.as_ptr(), name.as_ptr(), layout.class.as_ptr())
    })
}

/// Returns the error for an image that does not fit its object.
fn unexpected(object: &str) -> PyErr {
    PyRuntimeError::new_err(format!("{object} cannot be put back"))
}

/// Splits off the first part.
fn split_first(parts: &[OwnedPart]) -> PyResult<(&OwnedPart, &[OwnedPart])> {
    parts.split_first().ok_or_else(|| unexpected("an object"))
}

/// Turns the status of a function of the interpreter into a result.
fn check(python: Python<'_>, status: std::ffi::c_int) -> PyResult<()> {
    if status < 0 {
        Err(PyErr::fetch(python))
    } else {
        Ok(())
    }
}

/// Writes or empties a slot.
fn write_slot(
    slot: &Bound<'_, PyAny>,
    object: &Bound<'_, PyAny>,
    value: &OwnedPart,
) -> PyResult<()> {
    let python = object.py();
    // SAFETY: the descriptor is a member descriptor of the object's class, which has this function.
    unsafe {
        let set = (*ffi::Py_TYPE(slot.as_ptr()))
            .tp_descr_set
            .ok_or_else(|| unexpected("a slot"))?;
        let value = value
            .object()
            .map_or(std::ptr::null_mut(), |value| value.as_ptr());
        if set(slot.as_ptr(), object.as_ptr(), value) < 0 {
            let error = PyErr::fetch(python);
            // An empty slot cannot be emptied.
            if !value.is_null()
                || !error.is_instance_of::<pyo3::exceptions::PyAttributeError>(python)
            {
                return Err(error);
            }
        }
    }
    Ok(())
}

/// Writes the contents of an object besides its attributes.
fn write_content(
    object: &Bound<'_, PyAny>,
    content: ObjectContent,
    base: &Py<pyo3::types::PyType>,
    parts: &[OwnedPart],
    ignored: &UntrackedNames,
) -> PyResult<()> {
    let python = object.py();
    let base = base.bind(python);
    let objects = || parts.iter().filter_map(OwnedPart::object);
    match content {
        ObjectContent::List => {
            let items = PyList::new(python, objects())?;
            // SAFETY: both are lists.
            let status = unsafe {
                let size = ffi::PyList_GET_SIZE(object.as_ptr());
                ffi::PyList_SetSlice(object.as_ptr(), 0, size, items.as_ptr())
            };
            check(python, status)
        }
        ObjectContent::Dictionary => write_dictionary(object, parts, ignored),
        ObjectContent::DefaultDictionary => {
            let (factory, entries) = split_first(parts)?;
            let factory = factory.object().map(|factory| factory.bind(python).clone());
            let factory = factory.unwrap_or_else(|| python.None().into_bound(python));
            base.getattr("default_factory")?
                .call_method1("__set__", (object, factory))?;
            write_dictionary(object, entries, ignored)
        }
        ObjectContent::OrderedDictionary => {
            base.call_method1("clear", (object,))?;
            for entry in parts.chunks_exact(2) {
                if let (Some(key), Some(value)) = (entry[0].object(), entry[1].object()) {
                    base.call_method1("__setitem__", (object, key, value))?;
                }
            }
            Ok(())
        }
        ObjectContent::Set => sets::write(object, parts),
        ObjectContent::Deque => {
            base.call_method1("clear", (object,))?;
            let items = PyList::new(python, objects())?;
            base.call_method1("extend", (object, items)).map(|_| ())
        }
        ObjectContent::ByteArray => {
            let bytes: Vec<u8> = parts
                .iter()
                .map(|part| match part {
                    OwnedPart::Number(byte) => *byte as u8,
                    _ => 0,
                })
                .collect();
            // SAFETY: the object is an array of bytes, resized to the number of bytes copied.
            unsafe {
                check(
                    python,
                    ffi::PyByteArray_Resize(object.as_ptr(), bytes.len() as isize),
                )?;
                let start = ffi::PyByteArray_AsString(object.as_ptr()).cast::<u8>();
                start.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            }
            Ok(())
        }
        ObjectContent::Cell => {
            let content = parts.first().and_then(OwnedPart::object);
            let content = content.map_or(std::ptr::null_mut(), |content| content.as_ptr());
            // SAFETY: the object is a cell, which takes a reference of its own.
            check(python, unsafe { ffi::PyCell_Set(object.as_ptr(), content) })
        }
        ObjectContent::Function => write_function(object, parts, ignored),
        ObjectContent::Class => write_class(object, parts, ignored),
        ObjectContent::Exception => {
            for (name, part) in node::EXCEPTION_PARTS.iter().zip(parts) {
                object.setattr(*name, part.object().map(|part| part.bind(python)))?;
            }
            Ok(())
        }
        ObjectContent::Lock => {
            // Only called if it differs.
            if matches!(parts.first(), Some(OwnedPart::Number(0))) {
                object.call_method0("release").map(|_| ())
            } else {
                object.call_method1("acquire", (false,)).map(|_| ())
            }
        }
        ObjectContent::ReentrantLock => match parts.first() {
            Some(OwnedPart::Number(0)) => object.call_method0("_release_save").map(|_| ()),
            _ => Err(unexpected(&layout::class_name(object))),
        },
        ObjectContent::LruCache => {
            // Only an empty cache can be made again. The dictionary of an unbounded one is an object
            // of its own, and restored as such.
            object.call_method0("cache_clear").map(|_| ())
        }
        ObjectContent::Nothing
        | ObjectContent::MadeModule
        | ObjectContent::Unseen
        | ObjectContent::WeakReference
        | ObjectContent::TextStream
        | ObjectContent::Integer
        | ObjectContent::Float
        | ObjectContent::Complex
        | ObjectContent::Text
        | ObjectContent::Bytes
        | ObjectContent::Tuple
        | ObjectContent::FrozenSet => Ok(()),
        _ => Err(unexpected(&layout::class_name(object))),
    }
}

/// Writes the entries of a dictionary.
fn write_dictionary(
    object: &Bound<'_, PyAny>,
    parts: &[OwnedPart],
    ignored: &UntrackedNames,
) -> PyResult<()> {
    let python = object.py();
    let dictionary = object.as_ptr();
    let entries = || {
        parts
            .chunks_exact(2)
            .filter_map(|entry| Some((entry[0].object()?, entry[1].object()?)))
    };
    let set = |key: *mut ffi::PyObject, value: *mut ffi::PyObject| {
        // SAFETY: the object is a dictionary, and key and value are alive.
        check(python, unsafe {
            ffi::PyDict_SetItem(dictionary, key, value)
        })
    };
    // SAFETY: the object is a dictionary.
    let current = unsafe { items(python, dictionary) };
    let mut own = current
        .iter()
        .filter(|(key, _)| !ignored.contains(key.as_ptr()));
    let same_keys = entries().all(|(key, _)| own.next().is_some_and(|(other, _)| other.is(key)))
        && own.next().is_none();
    if same_keys {
        for ((key, value), (_, other)) in entries().zip(
            current
                .iter()
                .filter(|(key, _)| !ignored.contains(key.as_ptr())),
        ) {
            if !other.is(value) {
                set(key.as_ptr(), value.as_ptr())?;
            }
        }
        return Ok(());
    }
    // SAFETY: the object is a dictionary, and `current` keeps its entries alive.
    unsafe { ffi::PyDict_Clear(dictionary) };
    for (key, value) in &current {
        if ignored.contains(key.as_ptr()) {
            set(key.as_ptr(), value.as_ptr())?;
        }
    }
    for (key, value) in entries() {
        set(key.as_ptr(), value.as_ptr())?;
    }
    Ok(())
}

/// Returns the entries of a dictionary.
///
/// # Safety
///
/// The object must be a dictionary.
unsafe fn items<'py>(
    python: Python<'py>,
    dictionary: *mut ffi::PyObject,
) -> Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let mut position = 0;
    let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
    let mut found = Vec::new();
    // SAFETY: the object is a dictionary, as the caller says; its entries are alive.
    unsafe {
        while ffi::PyDict_Next(dictionary, &mut position, &mut key, &mut value) != 0 {
            found.push((
                Bound::from_borrowed_ptr(python, key),
                Bound::from_borrowed_ptr(python, value),
            ));
        }
    }
    found
}

/// Writes the fields and attributes of a function.
fn write_function(
    function: &Bound<'_, PyAny>,
    parts: &[OwnedPart],
    ignored: &UntrackedNames,
) -> PyResult<()> {
    let python = function.py();
    let [code, defaults, keyword_defaults, _closure, attributes @ ..] = parts else {
        return Err(unexpected("a function"));
    };
    if let Some(code) = code.object()
        && !function.getattr("__code__")?.is(code)
    {
        function.setattr("__code__", code)?;
    }
    let or_none = |part: &OwnedPart| match part.object() {
        Some(value) => value.bind(python).clone(),
        None => python.None().into_bound(python),
    };
    function.setattr("__defaults__", or_none(defaults))?;
    function.setattr("__kwdefaults__", or_none(keyword_defaults))?;
    // SAFETY: the object is a function, so it has this layout.
    let has_none = unsafe {
        (*function.as_ptr().cast::<ffi::PyFunctionObject>())
            .func_dict
            .is_null()
    };
    if has_none && attributes.is_empty() {
        return Ok(());
    }
    let current = function.getattr("__dict__")?;
    write_dictionary(&current, attributes, ignored)
}

/// Writes the attributes of a class, without its metaclass.
fn write_class(
    class: &Bound<'_, PyAny>,
    parts: &[OwnedPart],
    ignored: &UntrackedNames,
) -> PyResult<()> {
    let python = class.py();
    let class = class.cast::<pyo3::types::PyType>()?;
    let Some(namespace) = layout::namespace(class) else {
        return Err(unexpected("a class"));
    };
    let set = |name: *mut ffi::PyObject, value: *mut ffi::PyObject| {
        // SAFETY: classes have this function; it updates what the interpreter derives from the
        // attribute. Null deletes it.
        let status = unsafe {
            match ffi::PyType_Type.tp_setattro {
                Some(set) => set(class.as_ptr(), name, value),
                None => -1,
            }
        };
        check(python, status)
    };
    let target = PyDict::new(python);
    for entry in parts.chunks_exact(2) {
        if let (Some(name), Some(value)) = (entry[0].object(), entry[1].object()) {
            target.set_item(name, value)?;
        }
    }
    // SAFETY: the namespace is a dictionary.
    let current = unsafe { items(python, namespace.as_ptr()) };
    for (name, _) in &current {
        if !ignored.contains(name.as_ptr()) && !target.contains(name)? {
            set(name.as_ptr(), std::ptr::null_mut())?;
        }
    }
    for (name, value) in target.iter() {
        let same = namespace
            .get_item(&name)?
            .is_some_and(|current| current.is(&value));
        if !same {
            set(name.as_ptr(), value.as_ptr())?;
        }
    }
    // The order of attributes may still differ, if one was deleted.
    write_dictionary(namespace.as_any(), parts, ignored)?;
    // SAFETY: the object is a class.
    unsafe { ffi::PyType_Modified(class.as_type_ptr()) };
    Ok(())
}

/// Restores an object that is reduced as for pickling, if its class can take its state.
pub(crate) fn set_state(object: &Bound<'_, PyAny>, reduction: &Bound<'_, PyAny>) -> PyResult<()> {
    let Ok(parts) = reduction.cast::<PyTuple>() else {
        return Err(unexpected(&layout::class_name(object)));
    };
    let Ok(state) = parts.get_item(2) else {
        return Ok(());
    };
    object.call_method1("__setstate__", (state,)).map(|_| ())
}
