//! Names of classes, functions and modules, and whether they can be imported by them.
//!
//! Names are read from the interpreter's own fields: getting `__module__` of a class may run code
//! of its metaclass.

use std::ffi::CStr;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyString, PyType};
use testwright_capture::ImportPath;

use crate::reachability::Pointer;

/// Returns the text of a string object, or `None` for other types and null.
///
/// # Safety
///
/// The object must be alive, or null.
pub(super) unsafe fn read_text(python: Python<'_>, object: Pointer) -> Option<String> {
    // SAFETY: guaranteed by the caller.
    let object = unsafe { Bound::from_borrowed_ptr_or_opt(python, object) }?;
    let text = object.cast::<PyString>().ok()?;
    Some(text.to_string_lossy().into_owned())
}

/// Returns the dictionary entry of a name, without running code of the program.
pub(super) fn entry<'py>(dictionary: &Bound<'py, PyDict>, name: &str) -> Option<Bound<'py, PyAny>> {
    dictionary.get_item(name).ok().flatten()
}

/// Returns the dictionary entry of an interned name, without running code of the program.
pub(super) fn entry_by_name<'py>(
    dictionary: &Bound<'py, PyDict>,
    name: &Py<PyString>,
) -> Option<Bound<'py, PyAny>> {
    dictionary.get_item(name).ok().flatten()
}

/// Returns the namespace of a class.
pub(super) fn class_namespace<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyDict>> {
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

/// Returns the classes in which attributes of a class are looked up, in order.
pub(super) fn method_resolution_order<'py>(class: &Bound<'py, PyType>) -> Vec<Bound<'py, PyType>> {
    // SAFETY: a class has a tuple of classes there, or null if it is not ready.
    let order =
        unsafe { Bound::from_borrowed_ptr_or_opt(class.py(), (*class.as_type_ptr()).tp_mro) };
    let order = order.and_then(|order| order.cast_into::<pyo3::types::PyTuple>().ok());
    let classes = order.iter().flat_map(|order| order.iter());
    classes.filter_map(|class| class.cast_into().ok()).collect()
}

/// Returns the import path of a class, as the class states it.
pub(super) fn class_reference(class: &Bound<'_, PyType>) -> ImportPath {
    let python = class.py();
    let pointer = class.as_type_ptr();
    // SAFETY: heap types have this layout.
    unsafe {
        if ffi::PyType_HasFeature(pointer, ffi::Py_TPFLAGS_HEAPTYPE) != 0 {
            let heap = &*pointer.cast::<ffi::PyHeapTypeObject>();
            let module =
                class_namespace(class).and_then(|namespace| entry(&namespace, "__module__"));
            let module = module.and_then(|module| read_text(python, module.as_ptr()));
            let path = read_text(python, heap.ht_qualname).unwrap_or_default();
            return ImportPath::new(module.unwrap_or_else(|| "builtins".to_owned()), path);
        }
        let name = CStr::from_ptr((*pointer).tp_name).to_string_lossy();
        match name.rsplit_once('.') {
            Some((module, path)) => ImportPath::new(module, path),
            None => ImportPath::new("builtins", name),
        }
    }
}

/// Resolves an import path, if the module is loaded.
pub(super) fn resolve<'py>(
    python: Python<'py>,
    reference: &ImportPath,
) -> Option<Bound<'py, PyAny>> {
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
            namespace_of = class_namespace(class)?;
        }
        current = Some(found);
    }
    current
}

/// Returns true if an import path leads to this very object.
pub(super) fn resolves_to(reference: &ImportPath, object: &Bound<'_, PyAny>) -> bool {
    resolve(object.py(), reference).is_some_and(|found| {
        // In a class, functions may be wrapped as static or class methods.
        found.is(object) || inner_function(&found).is_some_and(|function| function.is(object))
    })
}

/// Returns the function inside a static method or class method.
pub(super) fn inner_function<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let class = object.get_type();
    let class = class.as_type_ptr();
    let is_wrapper =
        class == &raw mut ffi::PyStaticMethod_Type || class == &raw mut ffi::PyClassMethod_Type;
    is_wrapper.then(|| object.getattr("__func__").ok())?
}

/// Returns the namespace of a module.
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

/// Returns the name of a module from its own namespace.
pub(super) fn module_name(module: &Bound<'_, PyAny>) -> Option<String> {
    let name = entry(&module_namespace(module)?, "__name__")?;
    // SAFETY: the entry is alive.
    unsafe { read_text(module.py(), name.as_ptr()) }
}

/// Returns the import path of a function and the dictionary of its attributes, if it has any.
pub(super) fn function_attributes<'py>(
    function: &Bound<'py, PyFunction>,
) -> Option<(ImportPath, Bound<'py, PyDict>)> {
    let python = function.py();
    // SAFETY: the object is a function, so it has this layout, and its parts are alive or null.
    unsafe {
        let parts = &*function.as_ptr().cast::<ffi::PyFunctionObject>();
        let namespace = Bound::from_borrowed_ptr_or_opt(python, parts.func_dict)?;
        let reference = ImportPath {
            module: read_text(python, parts.func_module)?,
            path: read_text(python, parts.func_qualname)?,
        };
        Some((reference, namespace.cast_into::<PyDict>().ok()?))
    }
}
