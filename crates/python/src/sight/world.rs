//! What the code of properties can reach without being handed anything.
//!
//! Code says by name what it wants: which globals, which attributes. Globals are followed for each function by
//! itself. Of modules and classes, only what has a name that some reached code mentions can be reached, unless there
//! is code that makes up names when it runs.

use std::ffi::CStr;
use std::ptr::null_mut;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyString};
use rustc_hash::{FxHashMap, FxHashSet};

use super::names::{
    ALL_SEEING, ALL_SEEING_ATTRIBUTES, ASKED_BY_BUILTINS, NAME_TAKING, NAME_TAKING_ATTRIBUTES,
    OF_TYPES,
};
use super::{Kind, Pointer, STATELESS, Types, Unknown, View, is_stateless};
use crate::dictionary;

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
    /// Names that library code mentions, which asks objects that it is handed.
    asked: FxHashSet<String>,
    /// Classes that hold something under a name that nobody has mentioned yet.
    unmentioned: FxHashMap<String, Vec<Pointer>>,
    /// Some code makes up names of attributes when it runs.
    makes_up_names: bool,
    waiting: Vec<Waiting>,
    /// Keeps namespaces, classes and code alive.
    kept: Vec<Py<PyAny>>,
    names_of: Py<PyAny>,
    libraries: Py<PyAny>,
    /// Namespaces and classes that are known to be of a library.
    of_library: FxHashMap<Pointer, Py<PyAny>>,
    builtins: Py<PyDict>,
    /// Changes whenever a class is registered with an abstract one, which shows nowhere else.
    registrations: Option<u64>,
    count_registrations: Py<PyAny>,
}

/// What `names_of` in `support.py` tells of code: globals, attributes, modules it imports, whether it makes up names,
/// and which of the functions that could do so it only calls with names that stand there.
type Mentions<'py> = (
    Vec<Bound<'py, PyString>>,
    Vec<String>,
    Vec<String>,
    bool,
    Vec<String>,
);

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

impl World {
    pub(crate) fn new(support: &Bound<'_, PyModule>) -> PyResult<World> {
        let python = support.py();
        let builtins = python.import("builtins")?.getattr("__dict__")?;
        let libraries = support.getattr("Libraries")?.call1((STATELESS,))?;
        Ok(World {
            view: View::default(),
            lookups: Vec::new(),
            namespaces: Vec::new(),
            seen: FxHashSet::default(),
            scopes: FxHashSet::default(),
            modules: Vec::new(),
            classes: FxHashSet::default(),
            attributes: FxHashSet::default(),
            asked: FxHashSet::default(),
            unmentioned: FxHashMap::default(),
            makes_up_names: false,
            waiting: Vec::new(),
            kept: Vec::new(),
            names_of: support.getattr("names_of")?.unbind(),
            libraries: libraries.unbind(),
            of_library: FxHashMap::default(),
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
        self.asked.clear();
        self.asked.extend(ASKED_BY_BUILTINS.map(String::from));
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
            // SAFETY: a namespace is a dictionary that is never forgotten.
            known.is_some() && unsafe { dictionary::version(*namespace) } == *known
        };
        (self.registrations.is_none() || self.registrations == self.count_registrations(python))
            && (self.namespaces.iter().all(same_version)
                || self.lookups.iter().all(Lookup::is_unchanged))
            && self.modules.iter().all(|module| is_plain_module(*module))
            && self.view.nodes_are_unchanged(types)
    }

    /// Whether an object, which must be alive, is a function that the world has looked at.
    #[inline]
    pub(super) fn knows_function(&self, object: Pointer) -> bool {
        // SAFETY: the object is alive.
        let is_function = unsafe { ffi::Py_TYPE(object) == &raw mut ffi::PyFunction_Type };
        is_function && self.seen.contains(&object)
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
                Some(Waiting::Class(class)) => self.enter_class(python, class, types)?,
                None if self.makes_up_names && !self.unmentioned.is_empty() => {
                    let unmentioned = std::mem::take(&mut self.unmentioned);
                    unmentioned
                        .into_iter()
                        .flat_map(|(name, classes)| held_by(python, &name, classes))
                        .collect()
                }
                None => break,
            };
            self.look_at_all(python, found, types)?;
        }
        if !self.makes_up_names {
            return Ok(());
        }
        let modules = self.modules.clone();
        let with_state = modules
            .into_iter()
            .map(namespace_of)
            .find(|namespace| !self.is_of_library(python, *namespace));
        match with_state {
            Some(namespace) => Err(format!(
                "names in the module `{}` may be made up when code runs",
                entry(namespace, c"__name__").unwrap_or_default()
            )),
            None => Ok(()),
        }
    }

    fn is_mentioned(&self, name: &str) -> bool {
        self.attributes.contains(name) || self.asked.contains(name)
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
        // Properties run in one and the same thread.
        if (module, name) == ("_thread", "get_ident") {
            return Ok(());
        }
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
        if self.is_of_library(python, globals.as_ptr()) {
            let name: String = code
                .getattr("co_name")
                .and_then(|name| name.extract())
                .map_err(trouble)?;
            return self.enter_library(python, globals.as_ptr(), &name);
        }
        let builtins = self.builtins_of(python, &globals)?;
        let found = self.names_of.bind(python).call1((code,)).map_err(trouble)?;
        let (global, attributes, imported, makes_up_names, harmless): Mentions<'_> =
            found.extract().map_err(trouble)?;
        self.makes_up_names |= makes_up_names;
        let mut values = self.look_up_imported(python, &imported)?;
        for name in global {
            let value = self.look_up(python, globals.as_ptr(), &name);
            if value.is_null() {
                let value = self.look_up(python, builtins, &name);
                // Here, `getattr` and the like only get names that the code mentions.
                let is_harmless =
                    |other: &String| name == other.as_str() && is_builtin(value, other);
                if !harmless.iter().any(is_harmless) {
                    values.push(value);
                }
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
            let classes = self.unmentioned.remove(&name).unwrap_or_default();
            values.extend(held_by(python, &name, classes));
            let text = PyString::new(python, &name);
            for module in self.modules.clone() {
                values.push(self.look_up(python, namespace_of(module), &text));
            }
            self.attributes.insert(name);
        }
        values.retain(|value| !value.is_null());
        Ok(values)
    }

    /// Takes note of the modules that code imports when it runs.
    fn look_up_imported(
        &mut self,
        python: Python<'_>,
        imported: &[String],
    ) -> Result<Vec<Pointer>, Unknown> {
        // SAFETY: the dictionary of all modules is there as long as the interpreter, and handed out as borrowed.
        let loaded = unsafe { ffi::PyImport_GetModuleDict() };
        self.keep(python, loaded);
        let mut values = Vec::new();
        for module in imported {
            let dots = module.match_indices('.').map(|(place, _)| &module[..place]);
            for name in dots.chain([module.as_str()]) {
                let value = self.look_up(python, loaded, &PyString::new(python, name));
                if value.is_null() {
                    return Err(format!("code imports the module `{module}` when it runs"));
                }
                values.push(value);
            }
        }
        Ok(values)
    }

    /// Where code with these globals finds what is built in.
    fn builtins_of(
        &mut self,
        python: Python<'_>,
        globals: &Bound<'_, PyAny>,
    ) -> Result<Pointer, Unknown> {
        // SAFETY: a check of the type of an object that is alive.
        if unsafe { ffi::PyDict_CheckExact(globals.as_ptr()) } == 0 {
            return Err(String::from(
                "the globals of some code are of a class of their own",
            ));
        }
        let name = PyString::intern(python, "__builtins__");
        let own = self.look_up(python, globals.as_ptr(), &name);
        // SAFETY: what was looked up is null or alive, and so is the namespace of a module.
        unsafe {
            if own.is_null() || is_plain_module(own) {
                return Ok(self.builtins.as_ptr());
            }
            if ffi::PyDict_CheckExact(own) == 0 {
                return Err(String::from("some code has built-in functions of its own"));
            }
        }
        self.keep(python, own);
        Ok(own)
    }

    /// Whether a namespace is that of a library, or a class is of one.
    fn is_of_library(&mut self, python: Python<'_>, owner: Pointer) -> bool {
        if self.of_library.contains_key(&owner) {
            return true;
        }
        // SAFETY: the object is kept alive by the world.
        let object = unsafe { Bound::from_borrowed_ptr(python, owner) };
        let libraries = self.libraries.bind(python);
        let answer = libraries.call_method1(pyo3::intern!(python, "has"), (&object,));
        let is_of_library = answer
            .and_then(|answer| answer.is_truthy())
            .unwrap_or(false);
        if is_of_library {
            self.of_library.insert(owner, object.unbind());
        }
        is_of_library
    }

    /// Follows what library code may ask of objects that it is handed.
    fn enter_library(
        &mut self,
        python: Python<'_>,
        owner: Pointer,
        name: &str,
    ) -> Result<Vec<Pointer>, Unknown> {
        // SAFETY: the object is kept alive by the world.
        let object = unsafe { Bound::from_borrowed_ptr(python, owner) };
        let libraries = self.libraries.bind(python);
        let asked: Vec<String> = libraries
            .call_method1(pyo3::intern!(python, "asked_by"), (object,))
            .and_then(|names| names.extract())
            .map_err(|error| format!("a library cannot be read: {error}"))?;
        self.note_of_library(name)?;
        let mut values = Vec::new();
        for name in asked {
            if self.asked.contains(&name) {
                continue;
            }
            let classes = self.unmentioned.remove(&name).unwrap_or_default();
            values.extend(held_by(python, &name, classes));
            if name == "dispatch_table" {
                // How things are copied can be registered.
                let registry = python.import("copyreg").map(|module| module.dict());
                let registry = registry.map_err(|error| format!("{error}"))?;
                self.keep(python, registry.as_ptr());
                let name = PyString::intern(python, &name);
                values.push(self.look_up(python, registry.as_ptr(), &name));
            }
            self.asked.insert(name);
        }
        values.retain(|value| !value.is_null());
        Ok(values)
    }

    /// What is special about a function or class of a library.
    fn note_of_library(&mut self, name: &str) -> Result<(), Unknown> {
        match name {
            "NormalDist" | "kde_random" | "get_type_hints" => {
                Err(format!("`{name}` may look at anything"))
            }
            "attrgetter" | "methodcaller" | "Formatter" | "Repr" | "_ProtocolMeta" => {
                self.makes_up_names = true;
                Ok(())
            }
            _ => Ok(()),
        }
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
            // SAFETY: names are looked up in dictionaries that are alive.
            let version = unsafe { dictionary::version(namespace) };
            self.namespaces.push((namespace, version));
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

    fn enter_class(
        &mut self,
        python: Python<'_>,
        class: Pointer,
        types: &Types,
    ) -> Result<Vec<Pointer>, Unknown> {
        let class_type = class.cast::<ffi::PyTypeObject>();
        let full_name = super::classes::name(class_type);
        let (module, name) = full_name.rsplit_once('.').unwrap_or(("", &full_name));
        // SAFETY: it is a class, kept alive by the world.
        if unsafe { ffi::PyType_HasFeature(class_type, ffi::Py_TPFLAGS_HEAPTYPE) } == 0 {
            if types.builtin.contains(&class_type) || is_stateless(module) {
                return self.note_of_library(name).map(|()| Vec::new());
            }
            return Err(format!("the class `{full_name}` keeps state of its own"));
        }
        // SAFETY: classes with this flag have a dictionary of their own.
        let (attributes, is_written_in_c) = unsafe {
            let is_written_in_c = super::classes::is_written_in_c(class_type);
            ((*class_type).tp_dict, is_written_in_c)
        };
        if entry(attributes, c"__module__").is_some_and(|module| is_stateless(&module))
            && self.is_of_library(python, class)
        {
            return if is_written_in_c {
                self.note_of_library(name).map(|()| Vec::new())
            } else {
                self.enter_library(python, class, name)
            };
        }
        if is_written_in_c {
            return Err(format!("the class `{full_name}` keeps state of its own"));
        }
        let (mut found, mut fields) = (Vec::new(), Vec::new());
        // SAFETY: the attributes of a class that is alive are a dictionary.
        let version = unsafe { dictionary::version(attributes) };
        self.view
            .add(Kind::Class(version), class, types, &mut Vec::new())?;
        // SAFETY: classes hold their bases, names, their own class, and what is in their dictionary.
        unsafe {
            found.extend(super::parts_of_class(class).0);
            found.push(ffi::Py_TYPE(class).cast());
            let (mut position, mut key, mut value) = (0, null_mut(), null_mut());
            while ffi::PyDict_Next(attributes, &mut position, &mut key, &mut value) != 0 {
                let Some(name) = text(key) else {
                    return Err(String::from("a class has an attribute without a name"));
                };
                if OF_TYPES.contains(&name.as_str()) {
                    continue;
                }
                if name == "__dataclass_fields__" && ffi::PyDict_CheckExact(value) != 0 {
                    fields.extend(keys(value));
                }
                let is_special = name.starts_with("__") && name.ends_with("__");
                if is_special || self.makes_up_names || self.is_mentioned(&name) {
                    found.push(value);
                } else {
                    self.unmentioned.entry(name).or_default().push(class);
                }
            }
        }
        // Library code asks for the fields of data classes by their names.
        for name in fields {
            let classes = self.unmentioned.remove(&name).unwrap_or_default();
            found.extend(held_by(python, &name, classes));
            self.asked.insert(name);
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

fn is_plain_module(object: Pointer) -> bool {
    // SAFETY: modules are kept alive by the world.
    unsafe { ffi::Py_TYPE(object) == &raw mut ffi::PyModule_Type }
}

/// Whether an object is null or the function with this name that is written in C.
fn is_builtin(object: Pointer, name: &str) -> bool {
    // SAFETY: the object was found in a namespace; if it is such a function, it has this layout, and a name.
    unsafe {
        object.is_null()
            || ffi::Py_TYPE(object) == &raw mut ffi::PyCFunction_Type
                && CStr::from_ptr((*(*object.cast::<ffi::PyCFunctionObject>()).m_ml).ml_name)
                    .to_bytes()
                    == name.as_bytes()
    }
}

/// What classes, which are kept alive by the world, hold under a name.
fn held_by(python: Python<'_>, name: &str, classes: Vec<Pointer>) -> Vec<Pointer> {
    let name = PyString::new(python, name);
    let held = |class: Pointer| {
        // SAFETY: they are made in Python and have a dictionary, in which all keys are texts.
        unsafe {
            let attributes = (*class.cast::<ffi::PyTypeObject>()).tp_dict;
            ffi::PyDict_GetItem(attributes, name.as_ptr())
        }
    };
    let held = classes.into_iter().map(held);
    held.filter(|value| !value.is_null()).collect()
}

/// The keys of a dictionary that are texts.
fn keys(dictionary: Pointer) -> Vec<String> {
    let (mut names, mut is_key) = (Vec::new(), false);
    super::for_each_entry(dictionary, &mut |part| {
        is_key = !is_key;
        // SAFETY: what a dictionary holds is alive.
        names.extend(is_key.then(|| unsafe { text(part) }).flatten());
        true
    });
    names
}

fn entry(dictionary: Pointer, name: &CStr) -> Option<String> {
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
