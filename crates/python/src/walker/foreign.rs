//! Modules and classes of others that code under test names, and collections in these modules.
//!
//! Their contents belong to no state. A change that code under test makes to them is noted, and undone
//! by the next reset.

use std::collections::BTreeSet;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyString, PyType};
use rustc_hash::FxHashSet;

use super::context::EncodingContext;
use super::layout;
use super::node::{ObjectImage, UntrackedNames};

/// A module, class or collection of others, as it was when it was seen first.
struct ForeignObject {
    name: String,
    object: Py<PyAny>,
    /// The image of the namespace, or of the collection.
    namespace: ObjectImage,
    /// True for a collection, false for what has a namespace.
    is_collection: bool,
}

/// The names in modules that the interpreter and the tool set at any time.
const SET_AT_ANY_TIME: [(&str, &[&str]); 2] = [
    (
        "sys",
        &[
            "stdin",
            "stdout",
            "stderr",
            "last_type",
            "last_value",
            "last_traceback",
            "last_exc",
            "unraisablehook",
        ],
    ),
    ("time", &["tzname", "timezone", "altzone", "daylight"]),
];

/// An attribute that is not as it was, with its former value.
struct ChangedAttribute<'py> {
    name: Bound<'py, PyAny>,
    former: Option<Bound<'py, PyAny>>,
}

/// The modules, classes and collections of others that code under test names.
#[derive(Default)]
pub(crate) struct ForeignObjects {
    objects: Vec<ForeignObject>,
    /// Their addresses.
    known: FxHashSet<usize>,
    /// The names of those that were changed.
    changed: BTreeSet<String>,
}

impl ForeignObjects {
    /// Adds objects with their present attributes, apart from those that are known already.
    pub(crate) fn add<'py>(
        &mut self,
        context: &mut EncodingContext<'py>,
        found: Vec<(String, Bound<'py, PyAny>)>,
    ) {
        for (name, object) in found {
            if !self.known.insert(object.as_ptr() as usize) {
                continue;
            }
            let is_collection =
                !object.is_instance_of::<PyModule>() && !object.is_instance_of::<PyType>();
            let namespace = if is_collection {
                object.clone()
            } else if let Some(namespace) = namespace(&object) {
                namespace.into_any()
            } else {
                continue;
            };
            let layout = context.layouts.of(&namespace);
            self.objects.push(ForeignObject {
                name,
                object: object.unbind(),
                namespace: ObjectImage::read(&namespace, &layout, &context.ignored),
                is_collection,
            });
        }
    }

    /// Notes what was changed, and undoes it.
    pub(crate) fn restore(&mut self, python: Python<'_>, ignored: &UntrackedNames) {
        for foreign in &self.objects {
            if foreign.is_collection {
                if !foreign.namespace.is_unchanged(python, ignored) {
                    self.changed.insert(foreign.name.clone());
                    // What cannot be undone is noted at least.
                    let _may_be_refused = foreign.namespace.write(python, ignored);
                }
                continue;
            }
            let changes = foreign.changes(python, ignored);
            if !changes.is_empty() {
                self.changed.insert(foreign.name.clone());
            }
            for change in changes {
                // What cannot be undone is noted at least.
                let _may_be_refused = foreign.undo(python, &change);
            }
        }
    }

    /// Returns the names of the objects that were changed at any time.
    pub(crate) fn changed(&self, python: Python<'_>, ignored: &UntrackedNames) -> BTreeSet<String> {
        let now = self
            .objects
            .iter()
            .filter(|foreign| {
                let collection = foreign.is_collection.then_some(&foreign.namespace);
                collection.map_or_else(
                    || !foreign.changes(python, ignored).is_empty(),
                    |collection| !collection.is_unchanged(python, ignored),
                )
            })
            .map(|foreign| foreign.name.clone());
        self.changed.iter().cloned().chain(now).collect()
    }
}

impl ForeignObject {
    /// Returns the attributes that are not as they were. Modules in a package do not count: they are
    /// imported at any time.
    fn changes<'py>(
        &self,
        python: Python<'py>,
        ignored: &UntrackedNames,
    ) -> Vec<ChangedAttribute<'py>> {
        if self.namespace.is_unchanged(python, ignored) {
            return Vec::new();
        }
        let Ok(current) = self.namespace.object.bind(python).cast::<PyDict>() else {
            return Vec::new();
        };
        let free = SET_AT_ANY_TIME
            .iter()
            .find_map(|(module, names)| (*module == self.name).then_some(*names))
            .unwrap_or_default();
        let is_free = |name: &Bound<'py, PyAny>| {
            let name = name.cast::<PyString>().map(|name| name.to_string());
            name.is_ok_and(|name| free.contains(&name.as_str()))
        };
        let is_module = |value: &Bound<'py, PyAny>| value.is_instance_of::<PyModule>();
        let mut changes = Vec::new();
        let former = PyDict::new(python);
        for entry in self.namespace.parts.chunks_exact(2) {
            let (Some(name), Some(value)) = (entry[0].object(), entry[1].object()) else {
                continue;
            };
            let (name, value) = (name.bind(python), value.bind(python));
            let _a_name_can_be_hashed = former.set_item(name, value);
            let now = current.get_item(name).ok().flatten();
            let is_as_before = now.is_some_and(|now| now.is(value) || is_module(&now));
            if !is_as_before && !is_module(value) && !is_free(name) {
                changes.push(ChangedAttribute {
                    name: name.clone(),
                    former: Some(value.clone()),
                });
            }
        }
        for (name, value) in current.iter() {
            let is_new = !former.contains(&name).unwrap_or(true);
            let is_hidden = ignored.contains(name.as_ptr()) || is_free(&name);
            if is_new && !is_hidden && !is_module(&value) {
                changes.push(ChangedAttribute { name, former: None });
            }
        }
        changes
    }

    /// Gives an attribute its former value.
    fn undo(&self, python: Python<'_>, change: &ChangedAttribute<'_>) -> PyResult<()> {
        let object = self.object.bind(python);
        let value = change.former.as_ref();
        let value = value.map_or(std::ptr::null_mut(), Bound::as_ptr);
        // SAFETY: modules and classes have this function; null deletes the attribute.
        let status = unsafe {
            let set = if object.is_instance_of::<PyType>() {
                ffi::PyType_Type.tp_setattro
            } else {
                Some(ffi::PyObject_GenericSetAttr as ffi::setattrofunc)
            };
            set.map_or(0, |set| set(object.as_ptr(), change.name.as_ptr(), value))
        };
        if status < 0 {
            return Err(PyErr::fetch(python));
        }
        Ok(())
    }
}

/// Returns the namespace of a module, or of a class that is not static.
fn namespace<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    if let Ok(class) = object.cast::<PyType>() {
        return layout::namespace(class);
    }
    let module = object.cast::<PyModule>().ok()?;
    Some(module.dict())
}
