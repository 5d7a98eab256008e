//! Snapshot of what the code of properties can reach without arguments.
//!
//! Code names its globals and attributes. Globals are followed for each function separately. Of
//! modules and classes, only entries whose names occur in reached code are followed, unless some
//! code computes names at run time.

use std::ffi::CStr;
use std::ptr::null_mut;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyString};
use rustc_hash::{FxHashMap, FxHashSet};

use super::names::{
    DYNAMIC_NAME_ATTRIBUTES, DYNAMIC_NAME_FUNCTIONS, QUERIED_BY_BUILTINS, TYPING_ATTRIBUTES,
    UNBOUNDED_ATTRIBUTES, UNBOUNDED_FUNCTIONS,
};
use super::{
    KnownTypes, OpaqueReason, Pointer, ReachableKind, ReachableSnapshot, STATELESS, is_stateless,
};
use crate::dictionary;

/// Everything that the code of properties can reach, as it was.
pub(crate) struct GlobalSnapshot {
    /// Objects reached.
    view: ReachableSnapshot,
    /// Names looked up in namespaces that stay alive, and their values.
    lookups: Vec<GlobalLookup>,
    /// The namespaces of the lookups, and their versions.
    namespaces: Vec<(Pointer, Option<u64>)>,
    /// Objects visited so far.
    seen: FxHashSet<Pointer>,
    /// Functions reached: their globals and code.
    scopes: FxHashSet<(Pointer, Pointer)>,
    /// Modules reached.
    modules: Vec<Pointer>,
    /// Classes reached.
    classes: FxHashSet<Pointer>,
    /// Names of attributes in reached code.
    attributes: FxHashSet<String>,
    /// Names that library code looks up on objects passed to it.
    queried_names: FxHashSet<String>,
    /// Classes with entries whose names have not occurred yet, by name.
    unmentioned: FxHashMap<String, Vec<Pointer>>,
    /// True if some code computes names of attributes at run time.
    computes_names: bool,
    /// Items still to be followed.
    pending: Vec<PendingItem>,
    /// Namespaces, classes and code, kept alive.
    kept_alive: Vec<Py<PyAny>>,
    /// The function `names_of` in `support.py`.
    names_function: Py<PyAny>,
    /// An instance of `Libraries` in `support.py`.
    libraries: Py<PyAny>,
    /// Namespaces and classes that belong to a library.
    library_members: FxHashMap<Pointer, Py<PyAny>>,
    builtins: Py<PyDict>,
    /// A counter that changes whenever a class is registered with an abstract one, which is visible
    /// nowhere else. `None` if no class with a metaclass is involved.
    registrations: Option<u64>,
    /// The function that returns the counter.
    count_registrations: Py<PyAny>,
}

/// The result of `names_of` in `support.py` for code: globals, attributes, imported modules,
/// whether it computes names, and those functions able to do so that it calls with literal names
/// only.
type Mentions<'py> = (
    Vec<Bound<'py, PyString>>,
    Vec<String>,
    Vec<String>,
    bool,
    Vec<String>,
);

/// A name looked up in a namespace, and its value, or null.
struct GlobalLookup {
    namespace: Pointer,
    name: Pointer,
    value: Pointer,
}

/// An item still to be followed.
enum PendingItem {
    /// A function: its globals and code.
    Scope(Pointer, Pointer),
    Module(Pointer),
    Class(Pointer),
}

impl GlobalSnapshot {
    /// Creates an empty snapshot.
    pub(crate) fn new(support: &Bound<'_, PyModule>) -> PyResult<GlobalSnapshot> {
        let python = support.py();
        let builtins = python.import("builtins")?.getattr("__dict__")?;
        let libraries = support.getattr("Libraries")?.call1((STATELESS,))?;
        Ok(GlobalSnapshot {
            view: ReachableSnapshot::default(),
            lookups: Vec::new(),
            namespaces: Vec::new(),
            seen: FxHashSet::default(),
            scopes: FxHashSet::default(),
            modules: Vec::new(),
            classes: FxHashSet::default(),
            attributes: FxHashSet::default(),
            queried_names: FxHashSet::default(),
            unmentioned: FxHashMap::default(),
            computes_names: false,
            pending: Vec::new(),
            kept_alive: Vec::new(),
            names_function: support.getattr("names_of")?.unbind(),
            libraries: libraries.unbind(),
            library_members: FxHashMap::default(),
            builtins: builtins.cast_into::<PyDict>()?.unbind(),
            registrations: None,
            count_registrations: python.import("_abc")?.getattr("get_cache_token")?.unbind(),
        })
    }

    /// Takes a new snapshot, starting from these objects, which must stay alive.
    pub(crate) fn record(
        &mut self,
        python: Python<'_>,
        roots: impl Iterator<Item = Pointer>,
        types: &mut KnownTypes,
    ) -> Result<(), OpaqueReason> {
        self.view.clear();
        self.lookups.clear();
        self.namespaces.clear();
        self.seen.clear();
        self.scopes.clear();
        self.modules.clear();
        self.classes.clear();
        self.attributes.clear();
        self.queried_names.clear();
        self.queried_names
            .extend(QUERIED_BY_BUILTINS.map(String::from));
        self.unmentioned.clear();
        self.computes_names = false;
        self.pending.clear();
        self.kept_alive.clear();
        self.registrations = None;
        self.visit_all(python, roots.collect(), types)?;
        self.visit_pending(python, types)
    }

    /// Returns true if everything is unchanged.
    pub(crate) fn is_unchanged(&self, python: Python<'_>, types: &KnownTypes) -> bool {
        let same_version = |(namespace, known): &(Pointer, Option<u64>)| {
            // SAFETY: a namespace is a dictionary that stays alive.
            known.is_some() && unsafe { dictionary::version(*namespace) } == *known
        };
        (self.registrations.is_none() || self.registrations == self.count_registrations(python))
            && (self.namespaces.iter().all(same_version)
                || self.lookups.iter().all(GlobalLookup::is_unchanged))
            && self.modules.iter().all(|module| is_plain_module(*module))
            && self.view.nodes_are_unchanged(types)
    }

    /// Returns true if an object, which must be alive, is a function that was visited.
    #[inline]
    pub(super) fn has_visited_function(&self, object: Pointer) -> bool {
        // SAFETY: the object is alive.
        let is_function = unsafe { ffi::Py_TYPE(object) == &raw mut ffi::PyFunction_Type };
        is_function && self.seen.contains(&object)
    }

    /// Follows all pending items.
    pub(crate) fn visit_pending(
        &mut self,
        python: Python<'_>,
        types: &mut KnownTypes,
    ) -> Result<(), OpaqueReason> {
        loop {
            let found = match self.pending.pop() {
                Some(PendingItem::Scope(globals, code)) => {
                    self.enter_scope(python, globals, code)?
                }
                Some(PendingItem::Module(module)) => self.enter_module(python, module),
                Some(PendingItem::Class(class)) => self.enter_class(python, class, types)?,
                None if self.computes_names && !self.unmentioned.is_empty() => {
                    let unmentioned = std::mem::take(&mut self.unmentioned);
                    unmentioned
                        .into_iter()
                        .flat_map(|(name, classes)| class_entries(python, &name, classes))
                        .collect()
                }
                None => break,
            };
            self.visit_all(python, found, types)?;
        }
        if !self.computes_names {
            return Ok(());
        }
        let modules = self.modules.clone();
        let with_state = modules
            .into_iter()
            .map(module_namespace)
            .find(|namespace| !self.belongs_to_library(python, *namespace));
        match with_state {
            Some(namespace) => Err(format!(
                "names in the module `{}` may be made up when code runs",
                entry(namespace, c"__name__").unwrap_or_default()
            )),
            None => Ok(()),
        }
    }

    /// Returns true if reached code, or library code, uses this attribute name.
    fn is_mentioned(&self, name: &str) -> bool {
        self.attributes.contains(name) || self.queried_names.contains(name)
    }

    /// Visits objects and everything reachable from them.
    fn visit_all(
        &mut self,
        python: Python<'_>,
        mut found: Vec<Pointer>,
        types: &mut KnownTypes,
    ) -> Result<(), OpaqueReason> {
        // The snapshot of objects and the global snapshot need each other mutably.
        let mut view = std::mem::take(&mut self.view);
        let mut result = Ok(());
        while let (Some(object), true) = (found.pop(), result.is_ok()) {
            if self.seen.insert(object) {
                result = view.visit(python, object, types, &mut found, self);
            }
        }
        self.view = view;
        result
    }

    /// Returns the counter of registrations with abstract classes.
    fn count_registrations(&self, python: Python<'_>) -> Option<u64> {
        let count = self.count_registrations.bind(python).call0();
        count.and_then(|count| count.extract()).ok()
    }

    /// Adds a function, by its globals and code.
    pub(super) fn add_scope(&mut self, python: Python<'_>, globals: Pointer, code: Pointer) {
        if self.scopes.insert((globals, code)) {
            self.keep_alive(python, globals);
            self.keep_alive(python, code);
            self.pending.push(PendingItem::Scope(globals, code));
        }
    }

    /// Adds a module.
    pub(super) fn add_module(&mut self, python: Python<'_>, module: Pointer) {
        if !self.modules.contains(&module) {
            self.keep_alive(python, module);
            self.modules.push(module);
            self.pending.push(PendingItem::Module(module));
        }
    }

    /// Adds a class.
    pub(super) fn add_class(&mut self, python: Python<'_>, class: Pointer) {
        if self.classes.insert(class) {
            // SAFETY: the class is alive.
            if unsafe { ffi::Py_TYPE(class) } != &raw mut ffi::PyType_Type
                && self.registrations.is_none()
            {
                self.registrations = self.count_registrations(python);
            }
            self.keep_alive(python, class);
            self.pending.push(PendingItem::Class(class));
        }
    }

    /// Checks a function written in C: it must depend on its arguments only.
    pub(super) fn check_builtin(&mut self, module: &str, name: &str) -> Result<(), OpaqueReason> {
        // Properties run in a single thread.
        if (module, name) == ("_thread", "get_ident") {
            return Ok(());
        }
        if !is_stateless(module) {
            return Err(format!("the module `{module}` keeps state of its own"));
        }
        if module == "builtins" && UNBOUNDED_FUNCTIONS.contains(&name) {
            return Err(format!("`{name}` may look at anything"));
        }
        self.computes_names |= module == "builtins" && DYNAMIC_NAME_FUNCTIONS.contains(&name);
        Ok(())
    }

    /// Keeps an object alive.
    fn keep_alive(&mut self, python: Python<'_>, object: Pointer) {
        // SAFETY: the object was found in one that is alive.
        let object = unsafe { Bound::from_borrowed_ptr(python, object) };
        self.kept_alive.push(object.unbind());
    }

    /// Follows the names in the code of a function.
    fn enter_scope(
        &mut self,
        python: Python<'_>,
        globals: Pointer,
        code: Pointer,
    ) -> Result<Vec<Pointer>, OpaqueReason> {
        let read_error = |error: PyErr| format!("code cannot be read: {error}");
        // SAFETY: both are kept alive by the snapshot.
        let (globals, code) = unsafe {
            (
                Bound::from_borrowed_ptr(python, globals),
                Bound::from_borrowed_ptr(python, code),
            )
        };
        if self.belongs_to_library(python, globals.as_ptr()) {
            let name: String = code
                .getattr("co_name")
                .and_then(|name| name.extract())
                .map_err(read_error)?;
            return self.enter_library(python, globals.as_ptr(), &name);
        }
        let builtins = self.builtins_namespace(python, &globals)?;
        let found = self
            .names_function
            .bind(python)
            .call1((code,))
            .map_err(read_error)?;
        let (global, attributes, imported, computes_names, literal_only): Mentions<'_> =
            found.extract().map_err(read_error)?;
        self.computes_names |= computes_names;
        let mut values = self.look_up_imported(python, &imported)?;
        for name in global {
            let value = self.look_up(python, globals.as_ptr(), &name);
            if value.is_null() {
                let value = self.look_up(python, builtins, &name);
                // Here `getattr` and the like are called with literal names only.
                let is_literal_only =
                    |other: &String| name == other.as_str() && is_builtin(value, other);
                if !literal_only.iter().any(is_literal_only) {
                    values.push(value);
                }
            }
            values.push(value);
        }
        for name in attributes {
            if UNBOUNDED_ATTRIBUTES.contains(&name.as_str()) {
                return Err(format!("`{name}` may lead anywhere"));
            }
            self.computes_names |= DYNAMIC_NAME_ATTRIBUTES.contains(&name.as_str());
            if self.attributes.contains(&name) {
                continue;
            }
            let classes = self.unmentioned.remove(&name).unwrap_or_default();
            values.extend(class_entries(python, &name, classes));
            let text = PyString::new(python, &name);
            for module in self.modules.clone() {
                values.push(self.look_up(python, module_namespace(module), &text));
            }
            self.attributes.insert(name);
        }
        values.retain(|value| !value.is_null());
        Ok(values)
    }

    /// Looks up the modules that code imports at run time.
    fn look_up_imported(
        &mut self,
        python: Python<'_>,
        imported: &[String],
    ) -> Result<Vec<Pointer>, OpaqueReason> {
        // SAFETY: the dictionary of all modules lives as long as the interpreter; the reference is
        // borrowed.
        let loaded = unsafe { ffi::PyImport_GetModuleDict() };
        self.keep_alive(python, loaded);
        let mut values = Vec::new();
        for module in imported {
            let dots = module.match_indices('.').map(|(index, _)| &module[..index]);
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

    /// Returns the built-in namespace of code with these globals.
    fn builtins_namespace(
        &mut self,
        python: Python<'_>,
        globals: &Bound<'_, PyAny>,
    ) -> Result<Pointer, OpaqueReason> {
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
        self.keep_alive(python, own);
        Ok(own)
    }

    /// Returns true if a namespace or class belongs to a library.
    fn belongs_to_library(&mut self, python: Python<'_>, owner: Pointer) -> bool {
        if self.library_members.contains_key(&owner) {
            return true;
        }
        // SAFETY: the object is kept alive by the snapshot.
        let object = unsafe { Bound::from_borrowed_ptr(python, owner) };
        let libraries = self.libraries.bind(python);
        let answer = libraries.call_method1(pyo3::intern!(python, "has"), (&object,));
        let is_of_library = answer
            .and_then(|answer| answer.is_truthy())
            .unwrap_or(false);
        if is_of_library {
            self.library_members.insert(owner, object.unbind());
        }
        is_of_library
    }

    /// Follows the names that library code may look up on objects passed to it.
    fn enter_library(
        &mut self,
        python: Python<'_>,
        owner: Pointer,
        name: &str,
    ) -> Result<Vec<Pointer>, OpaqueReason> {
        // SAFETY: the object is kept alive by the snapshot.
        let object = unsafe { Bound::from_borrowed_ptr(python, owner) };
        let libraries = self.libraries.bind(python);
        let queried_names: Vec<String> = libraries
            .call_method1(pyo3::intern!(python, "asked_by"), (object,))
            .and_then(|names| names.extract())
            .map_err(|error| format!("a library cannot be read: {error}"))?;
        self.check_library_name(name)?;
        let mut values = Vec::new();
        for name in queried_names {
            if self.queried_names.contains(&name) {
                continue;
            }
            let classes = self.unmentioned.remove(&name).unwrap_or_default();
            values.extend(class_entries(python, &name, classes));
            if name == "dispatch_table" {
                // Functions that copy objects can be registered.
                let registry = python.import("copyreg").map(|module| module.dict());
                let registry = registry.map_err(|error| format!("{error}"))?;
                self.keep_alive(python, registry.as_ptr());
                let name = PyString::intern(python, &name);
                values.push(self.look_up(python, registry.as_ptr(), &name));
            }
            self.queried_names.insert(name);
        }
        values.retain(|value| !value.is_null());
        Ok(values)
    }

    /// Handles functions and classes of libraries that compute names, or that can reach anything.
    fn check_library_name(&mut self, name: &str) -> Result<(), OpaqueReason> {
        match name {
            "NormalDist" | "kde_random" | "get_type_hints" => {
                Err(format!("`{name}` may look at anything"))
            }
            "attrgetter" | "methodcaller" | "Formatter" | "Repr" | "_ProtocolMeta" => {
                self.computes_names = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Looks up a name in a namespace, and notes the result. Returns null if it is unbound.
    fn look_up(
        &mut self,
        python: Python<'_>,
        namespace: Pointer,
        name: &Bound<'_, PyString>,
    ) -> Pointer {
        self.keep_alive(python, name.as_ptr());
        if !self.namespaces.iter().any(|known| known.0 == namespace) {
            // SAFETY: names are looked up in dictionaries that are alive.
            let version = unsafe { dictionary::version(namespace) };
            self.namespaces.push((namespace, version));
        }
        let mut lookup = GlobalLookup {
            namespace,
            name: name.as_ptr(),
            value: null_mut(),
        };
        lookup.value = lookup.current();
        let value = lookup.value;
        self.lookups.push(lookup);
        value
    }

    /// Follows the entries of a module whose names occur in code.
    fn enter_module(&mut self, python: Python<'_>, module: Pointer) -> Vec<Pointer> {
        let namespace = module_namespace(module);
        self.keep_alive(python, namespace);
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

    /// Follows the entries of a class whose names occur in code, and its special methods.
    fn enter_class(
        &mut self,
        python: Python<'_>,
        class: Pointer,
        types: &KnownTypes,
    ) -> Result<Vec<Pointer>, OpaqueReason> {
        let class_type = class.cast::<ffi::PyTypeObject>();
        let full_name = super::classes::name(class_type);
        let (module, name) = full_name.rsplit_once('.').unwrap_or(("", &full_name));
        // SAFETY: it is a class, kept alive by the snapshot.
        if unsafe { ffi::PyType_HasFeature(class_type, ffi::Py_TPFLAGS_HEAPTYPE) } == 0 {
            if types.builtin.contains(&class_type) || is_stateless(module) {
                return self.check_library_name(name).map(|()| Vec::new());
            }
            return Err(format!("the class `{full_name}` keeps state of its own"));
        }
        // SAFETY: classes with this flag have a dictionary of their own.
        let (attributes, is_written_in_c) = unsafe {
            let is_written_in_c = super::classes::is_written_in_c(class_type);
            ((*class_type).tp_dict, is_written_in_c)
        };
        if entry(attributes, c"__module__").is_some_and(|module| is_stateless(&module))
            && self.belongs_to_library(python, class)
        {
            return if is_written_in_c {
                self.check_library_name(name).map(|()| Vec::new())
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
            .add(ReachableKind::Class(version), class, types, &mut Vec::new())?;
        // SAFETY: classes hold their bases, names, their own class, and the entries of their
        // dictionary.
        unsafe {
            found.extend(super::parts_of_class(class).0);
            found.push(ffi::Py_TYPE(class).cast());
            let (mut position, mut key, mut value) = (0, null_mut(), null_mut());
            while ffi::PyDict_Next(attributes, &mut position, &mut key, &mut value) != 0 {
                let Some(name) = text(key) else {
                    return Err(String::from("a class has an attribute without a name"));
                };
                if TYPING_ATTRIBUTES.contains(&name.as_str()) {
                    continue;
                }
                if name == "__dataclass_fields__" && ffi::PyDict_CheckExact(value) != 0 {
                    fields.extend(keys(value));
                }
                let is_special = name.starts_with("__") && name.ends_with("__");
                if is_special || self.computes_names || self.is_mentioned(&name) {
                    found.push(value);
                } else {
                    self.unmentioned.entry(name).or_default().push(class);
                }
            }
        }
        // Library code looks up the fields of data classes by name.
        for name in fields {
            let classes = self.unmentioned.remove(&name).unwrap_or_default();
            found.extend(class_entries(python, &name, classes));
            self.queried_names.insert(name);
        }
        Ok(found)
    }
}

impl GlobalLookup {
    /// Returns the current value, or null.
    #[inline]
    fn current(&self) -> Pointer {
        // SAFETY: namespace and name are kept alive, and names in a namespace are strings, so the
        // lookup runs no Python code. The reference is borrowed, and used before any other code
        // runs.
        unsafe { ffi::PyDict_GetItem(self.namespace, self.name) }
    }

    /// Returns true if the name has the same value.
    #[inline]
    fn is_unchanged(&self) -> bool {
        self.current() == self.value
    }
}

/// Returns the namespace of a module.
fn module_namespace(module: Pointer) -> Pointer {
    // SAFETY: it is a module, kept alive by the snapshot, and holds its namespace.
    unsafe { ffi::PyModule_GetDict(module) }
}

/// Returns true if an object is exactly of the module type.
fn is_plain_module(object: Pointer) -> bool {
    // SAFETY: modules are kept alive by the snapshot.
    unsafe { ffi::Py_TYPE(object) == &raw mut ffi::PyModule_Type }
}

/// Returns true if an object is null, or the C function with this name.
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

/// Returns the entries of classes, kept alive by the snapshot, under a name.
fn class_entries(python: Python<'_>, name: &str, classes: Vec<Pointer>) -> Vec<Pointer> {
    let name = PyString::new(python, name);
    let held = |class: Pointer| {
        // SAFETY: they are written in Python and have a dictionary whose keys are strings.
        unsafe {
            let attributes = (*class.cast::<ffi::PyTypeObject>()).tp_dict;
            ffi::PyDict_GetItem(attributes, name.as_ptr())
        }
    };
    let held = classes.into_iter().map(held);
    held.filter(|value| !value.is_null()).collect()
}

/// Returns the keys of a dictionary that are strings.
fn keys(dictionary: Pointer) -> Vec<String> {
    let (mut names, mut is_key) = (Vec::new(), false);
    super::for_each_entry(dictionary, &mut |part| {
        is_key = !is_key;
        // SAFETY: the entries of a dictionary are alive.
        names.extend(is_key.then(|| unsafe { text(part) }).flatten());
        true
    });
    names
}

/// Returns the text of a dictionary entry.
fn entry(dictionary: Pointer, name: &CStr) -> Option<String> {
    // SAFETY: it is a dictionary whose keys are strings; the borrowed reference is used at once.
    unsafe { text(ffi::PyDict_GetItemString(dictionary, name.as_ptr())) }
}

/// Returns the text of an object that is exactly a string.
///
/// # Safety
///
/// The object must be null or alive.
unsafe fn text(object: Pointer) -> Option<String> {
    // SAFETY: guaranteed by the caller; the bytes live as long as the object, and are copied at
    // once.
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
