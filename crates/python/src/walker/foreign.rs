//! Modules and classes of others that code under test names.
//!
//! Their attributes belong to no state. Code that sets one is told apart from code that does not only
//! by this: the change is noted, and undone by the next reset.

use std::collections::BTreeSet;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyType};

use super::context::EncodingContext;
use super::layout;
use super::node::{ObjectImage, UntrackedNames};

/// A module or class of others, with its attributes when it was seen first.
struct ForeignObject {
    name: String,
    object: Py<PyAny>,
    /// The image of the namespace.
    namespace: ObjectImage,
}

/// An attribute that is not as it was, with its former value.
struct ChangedAttribute<'py> {
    name: Bound<'py, PyAny>,
    former: Option<Bound<'py, PyAny>>,
}

/// The modules and classes of others that code under test names.
#[derive(Default)]
pub(crate) struct ForeignObjects {
    objects: Vec<ForeignObject>,
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
            let is_known = self.objects.iter().any(|known| known.object.is(&object));
            let Some(namespace) = namespace(&object) else {
                continue;
            };
            if !is_known {
                let namespace = namespace.into_any();
                let layout = context.layouts.of(&namespace);
                self.objects.push(ForeignObject {
                    name,
                    object: object.unbind(),
                    namespace: ObjectImage::read(&namespace, &layout, &context.ignored),
                });
            }
        }
    }

    /// Notes what was changed, and undoes it.
    pub(crate) fn restore(&mut self, python: Python<'_>, ignored: &UntrackedNames) {
        for foreign in &self.objects {
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
            .filter(|foreign| !foreign.changes(python, ignored).is_empty())
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
            if !is_as_before && !is_module(value) {
                changes.push(ChangedAttribute {
                    name: name.clone(),
                    former: Some(value.clone()),
                });
            }
        }
        for (name, value) in current.iter() {
            let is_new = !former.contains(&name).unwrap_or(true);
            if is_new && !ignored.contains(name.as_ptr()) && !is_module(&value) {
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
