//! What the code of properties can reach without being handed anything.
//!
//! Code says by name what it wants: which globals, which attributes. Globals are followed for each function by
//! itself. Of modules and classes, only what has a name that some reached code mentions can be reached, unless there
//! is code that makes up names when it runs.

use std::ptr::null_mut;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Kind, Pointer, Types, Unknown, View, is_stateless, version};

/// Everything that the code of properties can reach, as it was.
pub(crate) struct World {
    view: View,
    /// Names in namespaces that are never forgotten, and what they stood for.
    lookups: Vec<Lookup>,
    /// The namespaces they are in, and their versions.
    namespaces: Vec<(Pointer, Option<u64>)>,
    seen: FxHashSet<Pointer>,
    scopes: FxHashSet<(Pointer, Pointer)>,
    modules: Vec<Pointer>,
    classes: FxHashSet<Pointer>,
    /// Names of attributes that reached code mentions.
    attributes: FxHashSet<String>,
    /// What classes hold under names that nobody has mentioned yet.
    unmentioned: FxHashMap<String, Vec<Pointer>>,
    /// Some code makes up names of attributes when it runs.
    makes_up_names: bool,
    waiting: Vec<Waiting>,
    /// Keeps namespaces, classes and code alive.
    kept: Vec<Py<PyAny>>,
    names_of: Py<PyAny>,
    builtins: Py<PyDict>,
    /// Changes whenever a class is registered with an abstract one, which shows nowhere else.
    registrations: Option<u64>,
    count_registrations: Py<PyAny>,
}

struct Lookup {
    namespace: Pointer,
    name: Pointer,
    value: Pointer,
}

enum Waiting {
    Scope(Pointer, Pointer),
    Module(Pointer),
    Class(Pointer),
}

/// Functions with a view of everything, or that depend on more than their arguments.
const ALL_SEEING: [&str; 9] = [
    "__import__",
    "breakpoint",
    "compile",
    "eval",
    "exec",
    "globals",
    "input",
    "locals",
    "open",
];

/// Those that get at attributes by names that no code mentions.
const NAME_TAKING: [&str; 6] = ["getattr", "hasattr", "vars", "dir", "setattr", "delattr"];

/// Attributes that built-in and library code may ask for without any code of the system mentioning them.
const ASKED_BY_LIBRARIES: [&str; 22] = [
    "append",
    "as_integer_ratio",
    "clear",
    "conjugate",
    "copy",
    "count",
    "denominator",
    "extend",
    "get",
    "imag",
    "index",
    "insert",
    "is_integer",
    "items",
    "keys",
    "numerator",
    "pop",
    "real",
    "register",
    "sort",
    "update",
    "values",
];

/// Attributes that lead further than to attributes.
const ALL_SEEING_ATTRIBUTES: [&str; 8] = [
    "__builtins__",
    "__globals__",
    "__subclasses__",
    "f_back",
    "f_globals",
    "gi_frame",
    "tb_frame",
    "__weakref__",
];

/// Attributes that get at others by names that no code mentions.
const NAME_TAKING_ATTRIBUTES: [&str; 7] = [
    "__dict__",
    "__getattribute__",
    "attrgetter",
    "format",
    "format_map",
    "getattr_static",
    "methodcaller",
];

impl World {
    pub(crate) fn new(python: Python<'_>, names_of: Bound<'_, PyAny>) -> PyResult<World> {
        let builtins = python.import("builtins")?.getattr("__dict__")?;
        Ok(World {
            view: View::default(),
            lookups: Vec::new(),
            namespaces: Vec::new(),
            seen: FxHashSet::default(),
            scopes: FxHashSet::default(),
            modules: Vec::new(),
            classes: FxHashSet::default(),
            attributes: FxHashSet::default(),
            unmentioned: FxHashMap::default(),
            makes_up_names: false,
            waiting: Vec::new(),
            kept: Vec::new(),
            names_of: names_of.unbind(),
            builtins: builtins.cast_into::<PyDict>()?.unbind(),
            registrations: None,
            count_registrations: python.import("_abc")?.getattr("get_cache_token")?.unbind(),
        })
    }

    /// Looks at everything anew, starting from these objects, which must stay alive.
    pub(crate) fn record(
        &mut self,
        python: Python<'_>,
        roots: impl Iterator<Item = Pointer>,
        types: &mut Types,
    ) -> Result<(), Unknown> {
        self.view.clear();
        self.lookups.clear();
        self.namespaces.clear();
        self.seen.clear();
        self.scopes.clear();
        self.modules.clear();
        self.classes.clear();
        self.attributes.clear();
        self.attributes.extend(ASKED_BY_LIBRARIES.map(String::from));
        self.unmentioned.clear();
        self.makes_up_names = false;
        self.waiting.clear();
        self.kept.clear();
        self.registrations = None;
        self.look_at_all(python, roots.collect(), types)?;
        self.complete(python, types)
    }

    /// Whether everything is as it was.
    pub(crate) fn is_unchanged(&self, python: Python<'_>, types: &Types) -> bool {
        let same_version = |(namespace, known): &(Pointer, Option<u64>)| {
            known.is_some() && version(*namespace) == *known
        };
        (self.registrations.is_none() || self.registrations == self.count_registrations(python))
            && (self.namespaces.iter().all(same_version)
                || self.lookups.iter().all(Lookup::is_unchanged))
            && self.view.nodes_are_unchanged(types)
    }

    /// Looks at what was noted since.
    pub(crate) fn complete(
        &mut self,
        python: Python<'_>,
        types: &mut Types,
    ) -> Result<(), Unknown> {
        loop {
            let found = match self.waiting.pop() {
                Some(Waiting::Scope(globals, code)) => self.enter_scope(python, globals, code)?,
                Some(Waiting::Module(module)) => self.enter_module(python, module),
                Some(Waiting::Class(class)) => self.enter_class(class, types)?,
                None if self.makes_up_names && !self.unmentioned.is_empty() => {
                    let unmentioned = std::mem::take(&mut self.unmentioned);
                    unmentioned.into_values().flatten().collect()
                }
                None => break,
            };
            self.look_at_all(python, found, types)?;
        }
        let has_state = |module: &&Pointer| {
            module_name(namespace_of(**module)).is_none_or(|name| !is_stateless(&name))
        };
        match self.modules.iter().find(has_state) {
            Some(module) if self.makes_up_names => Err(format!(
                "names in the module `{}` may be made up when code runs",
                module_name(namespace_of(*module)).unwrap_or_default()
            )),
            _ => Ok(()),
        }
    }

    fn look_at_all(
        &mut self,
        python: Python<'_>,
        mut found: Vec<Pointer>,
        types: &mut Types,
    ) -> Result<(), Unknown> {
        // The view and what it is told of are two halves of the same, and each needs the other.
        let mut view = std::mem::take(&mut self.view);
        let mut result = Ok(());
        while let (Some(object), true) = (found.pop(), result.is_ok()) {
            if self.seen.insert(object) {
                result = view.look_at(python, object, types, &mut found, self);
            }
        }
        self.view = view;
        result
    }

    fn count_registrations(&self, python: Python<'_>) -> Option<u64> {
        let count = self.count_registrations.bind(python).call0();
        count.and_then(|count| count.extract()).ok()
    }

    pub(super) fn note_scope(&mut self, python: Python<'_>, globals: Pointer, code: Pointer) {
        if self.scopes.insert((globals, code)) {
            self.keep(python, globals);
            self.keep(python, code);
            self.waiting.push(Waiting::Scope(globals, code));
        }
    }

    pub(super) fn note_module(&mut self, python: Python<'_>, module: Pointer) {
        if !self.modules.contains(&module) {
            self.keep(python, module);
            self.modules.push(module);
            self.waiting.push(Waiting::Module(module));
        }
    }

    pub(super) fn note_class(&mut self, python: Python<'_>, class: Pointer) {
        if self.classes.insert(class) {
            // SAFETY: the class is alive.
            if unsafe { ffi::Py_TYPE(class) } != &raw mut ffi::PyType_Type
                && self.registrations.is_none()
            {
                self.registrations = self.count_registrations(python);
            }
            self.keep(python, class);
            self.waiting.push(Waiting::Class(class));
        }
    }

    pub(super) fn note_builtin(&mut self, module: &str, name: &str) -> Result<(), Unknown> {
        if !is_stateless(module) {
            return Err(format!("the module `{module}` keeps state of its own"));
        }
        if module == "builtins" && ALL_SEEING.contains(&name) {
            return Err(format!("`{name}` may look at anything"));
        }
        self.makes_up_names |= module == "builtins" && NAME_TAKING.contains(&name);
        Ok(())
    }

    fn keep(&mut self, python: Python<'_>, object: Pointer) {
        // SAFETY: the object was found in one that is alive.
        let object = unsafe { Bound::from_borrowed_ptr(python, object) };
        self.kept.push(object.unbind());
    }

    /// Follows the names that the code of a function mentions.
    fn enter_scope(
        &mut self,
        python: Python<'_>,
        globals: Pointer,
        code: Pointer,
    ) -> Result<Vec<Pointer>, Unknown> {
        let trouble = |error: PyErr| format!("code cannot be read: {error}");
        // SAFETY: both are kept alive by the world.
        let (globals, code) = unsafe {
            (
                Bound::from_borrowed_ptr(python, globals),
                Bound::from_borrowed_ptr(python, code),
            )
        };
        if let Some(name) = module_of_globals(&globals)
            && is_stateless(&name)
        {
            // Library code that is handed the system's objects asks for special attributes only, or says so.
            self.makes_up_names |= name == "dataclasses";
            return Ok(Vec::new());
        }
        let found = self.names_of.bind(python).call1((code,)).map_err(trouble)?;
        let (global, attributes, imported, makes_up_names): (
            Vec<Bound<'_, PyString>>,
            Vec<String>,
            Vec<String>,
            bool,
        ) = found.extract().map_err(trouble)?;
        if let Some(module) = imported.iter().find(|module| !is_stateless(module)) {
            return Err(format!("code imports the module `{module}` when it runs"));
        }
        self.makes_up_names |= makes_up_names;
        let mut values = Vec::new();
        for name in global {
            let value = self.look_up(python, globals.as_ptr(), &name);
            if value.is_null() {
                let builtins = self.builtins.as_ptr();
                values.push(self.look_up(python, builtins, &name));
            }
            values.push(value);
        }
        for name in attributes {
            if ALL_SEEING_ATTRIBUTES.contains(&name.as_str()) {
                return Err(format!("`{name}` may lead anywhere"));
            }
            self.makes_up_names |= NAME_TAKING_ATTRIBUTES.contains(&name.as_str());
            if self.attributes.contains(&name) {
                continue;
            }
            values.extend(self.unmentioned.remove(&name).unwrap_or_default());
            let text = PyString::new(python, &name);
            for module in self.modules.clone() {
                values.push(self.look_up(python, namespace_of(module), &text));
            }
            self.attributes.insert(name);
        }
        values.retain(|value| !value.is_null());
        Ok(values)
    }

    /// Takes note of what a name stands for in a namespace, null for nothing.
    fn look_up(
        &mut self,
        python: Python<'_>,
        namespace: Pointer,
        name: &Bound<'_, PyString>,
    ) -> Pointer {
        self.keep(python, name.as_ptr());
        if !self.namespaces.iter().any(|known| known.0 == namespace) {
            self.namespaces.push((namespace, version(namespace)));
        }
        let mut lookup = Lookup {
            namespace,
            name: name.as_ptr(),
            value: null_mut(),
        };
        lookup.value = lookup.current();
        let value = lookup.value;
        self.lookups.push(lookup);
        value
    }

    fn enter_module(&mut self, python: Python<'_>, module: Pointer) -> Vec<Pointer> {
        let namespace = namespace_of(module);
        self.keep(python, namespace);
        let mut names: Vec<String> = self.attributes.iter().cloned().collect();
        names.sort_unstable();
        names.push(String::from("__getattr__"));
        let mut values = Vec::new();
        for name in names {
            let name = PyString::new(python, &name);
            values.push(self.look_up(python, namespace, &name));
        }
        values.retain(|value| !value.is_null());
        values
    }

    fn enter_class(&mut self, class: Pointer, types: &Types) -> Result<Vec<Pointer>, Unknown> {
        let class_type = class.cast::<ffi::PyTypeObject>();
        // SAFETY: it is a class, kept alive by the world.
        let is_made_in_python =
            unsafe { ffi::PyType_HasFeature(class_type, ffi::Py_TPFLAGS_HEAPTYPE) } != 0;
        let module = match is_made_in_python {
            // SAFETY: classes with this flag have a dictionary of their own.
            true => module_of_class(unsafe { (*class_type).tp_dict }),
            false => {
                let name = super::classes::name(class_type);
                let module = name
                    .rsplit_once('.')
                    .map_or("builtins", |(module, _)| module);
                Some(module.to_owned())
            }
        };
        let module = module.unwrap_or_default();
        if is_stateless(&module) {
            // Under whatever name they were imported.
            let name = super::classes::name(class_type);
            self.makes_up_names |= name.ends_with("attrgetter") || name.ends_with("methodcaller");
            return Ok(Vec::new());
        }
        if !is_made_in_python {
            return Err(format!("the module `{module}` keeps state of its own"));
        }
        let mut found = Vec::new();
        // SAFETY: classes made in Python have a dictionary of their own.
        let known = version(unsafe { (*class_type).tp_dict });
        self.view
            .add(Kind::Class(known), class, types, &mut Vec::new())?;
        // SAFETY: classes hold their bases, their own class, and what is in their dictionary.
        unsafe {
            found.push((*class_type).tp_bases);
            found.push(ffi::Py_TYPE(class).cast());
            let (mut position, mut key, mut value) = (0, null_mut(), null_mut());
            let entries = (*class_type).tp_dict;
            while ffi::PyDict_Next(entries, &mut position, &mut key, &mut value) != 0 {
                let Some(name) = text(key) else {
                    return Err(String::from("a class has an attribute without a name"));
                };
                if matches!(name.as_str(), "__annotations__" | "__annotations_cache__") {
                    continue;
                }
                let is_special = name.starts_with("__") && name.ends_with("__");
                if is_special || self.makes_up_names || self.attributes.contains(&name) {
                    found.push(value);
                } else {
                    self.unmentioned.entry(name).or_default().push(value);
                }
            }
        }
        Ok(found)
    }
}

impl Lookup {
    #[inline]
    fn current(&self) -> Pointer {
        // SAFETY: namespace and name are kept alive, and the names in a namespace are texts, so that looking runs no
        // Python code. The reference is borrowed, and only compared or looked at before anything else runs.
        unsafe { ffi::PyDict_GetItem(self.namespace, self.name) }
    }

    #[inline]
    fn is_unchanged(&self) -> bool {
        self.current() == self.value
    }
}

/// The namespace of a module.
fn namespace_of(module: Pointer) -> Pointer {
    // SAFETY: it is a module, kept alive by the world, and holds its namespace.
    unsafe { ffi::PyModule_GetDict(module) }
}

fn module_name(namespace: Pointer) -> Option<String> {
    entry(namespace, c"__name__")
}

fn module_of_globals(globals: &Bound<'_, PyAny>) -> Option<String> {
    module_name(globals.as_ptr())
}

fn module_of_class(attributes: Pointer) -> Option<String> {
    entry(attributes, c"__module__")
}

fn entry(dictionary: Pointer, name: &std::ffi::CStr) -> Option<String> {
    // SAFETY: it is a dictionary whose keys are texts; the borrowed reference is used at once.
    unsafe { text(ffi::PyDict_GetItemString(dictionary, name.as_ptr())) }
}

/// The text of an object that is exactly a text.
///
/// # Safety
///
/// The object must be null or alive.
unsafe fn text(object: Pointer) -> Option<String> {
    // SAFETY: as the caller promises; the bytes live as long as the object, and are copied at once.
    unsafe {
        if object.is_null() || ffi::PyUnicode_CheckExact(object) == 0 {
            return None;
        }
        let mut length = 0;
        let bytes = ffi::PyUnicode_AsUTF8AndSize(object, &mut length);
        if bytes.is_null() {
            ffi::PyErr_Clear();
            return None;
        }
        let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), length as usize);
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}
