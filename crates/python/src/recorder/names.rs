//! What classes, functions and modules are called, and whether an importer finds them under that name.
//!
//! Names are read where the interpreter keeps them: asking a class for `__module__` may run code of its metaclass.

use std::ffi::CStr;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyString, PyType};
use testwright_capture::Reference;

use crate::sight::Pointer;

/// A text, if the object is one.
///
/// # Safety
///
/// The object must be alive, or null.
pub(super) unsafe fn text(python: Python<'_>, object: Pointer) -> Option<String> {
    // SAFETY: as the caller promises.
    let object = unsafe { Bound::from_borrowed_ptr_or_opt(python, object) }?;
    let text = object.cast::<PyString>().ok()?;
    Some(text.to_string_lossy().into_owned())
}

/// An entry of a dictionary under a text, without running anybody's code.
pub(super) fn entry<'py>(dictionary: &Bound<'py, PyDict>, name: &str) -> Option<Bound<'py, PyAny>> {
    dictionary.get_item(name).ok().flatten()
}

/// The same for a name that dictionaries know.
pub(super) fn entry_at<'py>(
    dictionary: &Bound<'py, PyDict>,
    name: &Py<PyString>,
) -> Option<Bound<'py, PyAny>> {
    dictionary.get_item(name).ok().flatten()
}

/// The namespace of a class.
pub(super) fn namespace<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyDict>> {
    let class_pointer = class.as_type_ptr();
    // SAFETY: a class has a dictionary, or null if it is not ready.
    let dictionary = unsafe {
        #[cfg(Py_3_12)]
        let dictionary =
            Bound::from_owned_ptr_or_opt(class.py(), ffi::PyType_GetDict(class_pointer));
        #[cfg(not(Py_3_12))]
        let dictionary = Bound::from_borrowed_ptr_or_opt(class.py(), (*class_pointer).tp_dict);
        dictionary
    };
    dictionary?.cast_into::<PyDict>().ok()
}

/// The classes in which attributes of a class are looked up, in order.
pub(super) fn bases<'py>(class: &Bound<'py, PyType>) -> Vec<Bound<'py, PyType>> {
    // SAFETY: a class has a tuple of classes there, or null if it is not ready.
    let order =
        unsafe { Bound::from_borrowed_ptr_or_opt(class.py(), (*class.as_type_ptr()).tp_mro) };
    let order = order.and_then(|order| order.cast_into::<pyo3::types::PyTuple>().ok());
    let classes = order.iter().flat_map(|order| order.iter());
    classes.filter_map(|class| class.cast_into().ok()).collect()
}

/// What a class is called.
pub(super) fn class_reference(class: &Bound<'_, PyType>) -> Reference {
    let python = class.py();
    let pointer = class.as_type_ptr();
    // SAFETY: classes made when the program runs have this layout.
    unsafe {
        if ffi::PyType_HasFeature(pointer, ffi::Py_TPFLAGS_HEAPTYPE) != 0 {
            let heap = &*pointer.cast::<ffi::PyHeapTypeObject>();
            let module = namespace(class).and_then(|namespace| entry(&namespace, "__module__"));
            let module = module.and_then(|module| text(python, module.as_ptr()));
            let path = text(python, heap.ht_qualname).unwrap_or_default();
            return Reference::new(module.unwrap_or_else(|| "builtins".to_owned()), path);
        }
        let name = CStr::from_ptr((*pointer).tp_name).to_string_lossy();
        match name.rsplit_once('.') {
            Some((module, path)) => Reference::new(module, path),
            None => Reference::new("builtins", name),
        }
    }
}

/// What an importer finds under a reference, if the module is loaded.
pub(super) fn found<'py>(python: Python<'py>, reference: &Reference) -> Option<Bound<'py, PyAny>> {
    // SAFETY: a borrowed reference to the dictionary of all modules.
    let modules =
        unsafe { Bound::from_borrowed_ptr_or_opt(python, ffi::PyImport_GetModuleDict()) }?;
    let module = entry(modules.cast::<PyDict>().ok()?, &reference.module)?;
    if reference.path.is_empty() {
        return Some(module);
    }
    let mut namespace_of = module_namespace(&module)?;
    let mut current = None;
    for name in reference.path.split('.') {
        let found = entry(&namespace_of, name)?;
        if let Ok(class) = found.cast::<PyType>() {
            namespace_of = namespace(class)?;
        }
        current = Some(found);
    }
    current
}

/// Whether an importer finds this very object under a reference.
pub(super) fn leads_to(reference: &Reference, object: &Bound<'_, PyAny>) -> bool {
    found(object.py(), reference).is_some_and(|found| {
        // In a class, functions stand behind what makes methods of them.
        found.is(object) || function_inside(&found).is_some_and(|function| function.is(object))
    })
}

/// The function inside a static method or class method.
pub(super) fn function_inside<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let class = object.get_type();
    let class = class.as_type_ptr();
    let is_wrapper =
        class == &raw mut ffi::PyStaticMethod_Type || class == &raw mut ffi::PyClassMethod_Type;
    is_wrapper.then(|| object.getattr("__func__").ok())?
}

/// The namespace of a module.
pub(super) fn module_namespace<'py>(module: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    // SAFETY: the type is checked; a module has a dictionary.
    unsafe {
        if ffi::PyModule_Check(module.as_ptr()) == 0 {
            return None;
        }
        let dictionary = ffi::PyModule_GetDict(module.as_ptr());
        Bound::from_borrowed_ptr_or_opt(module.py(), dictionary)?
            .cast_into::<PyDict>()
            .ok()
    }
}

/// What a module is called, by its own namespace.
pub(super) fn module_name(module: &Bound<'_, PyAny>) -> Option<String> {
    let name = entry(&module_namespace(module)?, "__name__")?;
    // SAFETY: the entry is alive.
    unsafe { text(module.py(), name.as_ptr()) }
}

/// The attributes of a function, if it has any, and what the function is called.
pub(super) fn attributes<'py>(
    function: &Bound<'py, PyFunction>,
) -> Option<(Reference, Bound<'py, PyDict>)> {
    let python = function.py();
    // SAFETY: the object is a function, so it has this layout, and its parts are alive or null.
    unsafe {
        let parts = &*function.as_ptr().cast::<ffi::PyFunctionObject>();
        let namespace = Bound::from_borrowed_ptr_or_opt(python, parts.func_dict)?;
        let reference = Reference {
            module: text(python, parts.func_module)?,
            path: text(python, parts.func_qualname)?,
        };
        Some((reference, namespace.cast_into::<PyDict>().ok()?))
    }
}
