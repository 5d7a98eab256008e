//! Snapshots of modules, to detect later whether anything in them has changed.
//!
//! A snapshot lists every object that modules created when they ran, with the parts of those that
//! can change: the entries of dictionaries, lists and classes, the fields of functions. Comparing
//! compares pointers, a nanosecond each. All objects are kept alive, so that their addresses stay
//! unique.
//!
//! A snapshot exists only if everything in the modules is understood. An object of any other class,
//! for example, may change in ways that cannot be observed.

use std::cell::Cell;
use std::ptr::null_mut;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use rustc_hash::FxHashSet;

use crate::dictionary;

/// A pointer to a Python object, not owned.
type Pointer = *mut ffi::PyObject;

/// A snapshot of some modules.
pub(crate) struct ModuleSnapshot {
    /// Objects that can change.
    nodes: Vec<DefinedObject>,
    /// The parts of all nodes, one node after the other.
    parts: Vec<Pointer>,
    ignored: IgnoredNames,
    /// Keeps all objects alive.
    _kept_alive: Vec<Py<PyAny>>,
}

/// An object that can change.
struct DefinedObject {
    kind: ObjectForm,
    object: Pointer,
    /// The end of its parts in [`ModuleSnapshot::parts`].
    end: usize,
    /// The version of the dictionary when it was last compared.
    version: Cell<Option<u64>>,
}

/// The form of an object, which determines its parts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ObjectForm {
    Dictionary,
    List,
    Set,
    Function,
    /// A class without its attributes, which are a dictionary.
    Class,
    Cell,
    Property,
    /// A static method or class method.
    Method,
}

/// Names that the standard library adds to classes and modules at any time. A rerun of the module
/// does not define them.
struct IgnoredNames([Py<PyString>; 2]);

impl IgnoredNames {
    /// Returns the names.
    fn new(python: Python<'_>) -> IgnoredNames {
        // Added by copying an object, and by issuing a warning.
        let names = ["__slotnames__", "__warningregistry__"];
        IgnoredNames(names.map(|name| PyString::intern(python, name).unbind()))
    }

    /// Returns true if a name, an interned string, is ignored.
    fn contains(&self, name: Pointer) -> bool {
        self.0.iter().any(|ignored| ignored.as_ptr() == name)
    }
}

impl ModuleSnapshot {
    /// Takes a snapshot of the entries of a dictionary, without the contents of their values.
    pub(crate) fn from_entries(dictionary: &Bound<'_, PyDict>) -> ModuleSnapshot {
        let python = dictionary.py();
        let mut walk = DefinitionWalk::new(python);
        walk.add_node(ObjectForm::Dictionary, dictionary.as_any());
        walk.into_snapshot()
    }

    /// Takes a snapshot of modules, given by their namespaces and the names that they define.
    /// Returns `None` if they contain anything that is not understood.
    pub(crate) fn new(modules: &[(&Bound<'_, PyDict>, &[String])]) -> Option<ModuleSnapshot> {
        let python = modules.first()?.0.py();
        let mut walk = DefinitionWalk::new(python);
        walk.immutable = immutable_types(python).ok()?;
        for (namespace, defined) in modules {
            walk.names.push(namespace.get_item("__name__").ok()??);
            for (name, value) in namespace.iter() {
                // Names that the module does not define (imports, `__spec__`) are not recreated by
                // running it again.
                let name = name.extract::<String>().ok()?;
                if defined.contains(&name) {
                    walk.pending.push(value);
                }
            }
            walk.add_node(ObjectForm::Dictionary, namespace.as_any());
        }
        while let Some(object) = walk.pending.pop() {
            if walk.seen.insert(object.as_ptr()) {
                walk.visit(&object)?;
                walk.kept.push(object.unbind());
            }
        }
        Some(walk.into_snapshot())
    }

    /// Returns true if everything is unchanged.
    pub(crate) fn is_unchanged(&self, python: Python<'_>) -> bool {
        let mut start = 0;
        for node in &self.nodes {
            let parts = &self.parts[start..node.end];
            start = node.end;
            let version = node.current_version();
            if version.is_some() && version == node.version.get() {
                continue;
            }
            let mut count = 0;
            let same = node.for_each_part(python, &self.ignored, |part| {
                let same = parts.get(count) == Some(&part);
                count += 1;
                same
            });
            if !same || count != parts.len() {
                return false;
            }
            node.version.set(version);
        }
        true
    }
}

impl DefinedObject {
    /// Returns the version of a dictionary, where the interpreter counts versions.
    #[inline]
    fn current_version(&self) -> Option<u64> {
        match self.kind {
            // SAFETY: the object is a dictionary, which the snapshot keeps alive.
            ObjectForm::Dictionary => unsafe { dictionary::version(self.object) },
            _ => None,
        }
    }

    /// Visits the current parts of the object until `visit` returns false. Returns false if it did.
    fn for_each_part(
        &self,
        python: Python<'_>,
        ignored: &IgnoredNames,
        mut visit: impl FnMut(Pointer) -> bool,
    ) -> bool {
        let object = self.object;
        match self.kind {
            ObjectForm::Dictionary => for_each_entry(object, ignored, &mut visit),
            ObjectForm::List => {
                // SAFETY: the object is a list, and visiting runs no Python code that could change
                // it.
                unsafe {
                    (0..ffi::PyList_GET_SIZE(object))
                        .all(|index| visit(ffi::PyList_GET_ITEM(object, index)))
                }
            }
            ObjectForm::Set => {
                // SAFETY: the object is kept alive by the snapshot.
                let set = unsafe { Bound::from_borrowed_ptr(python, object) };
                set.try_iter().is_ok_and(|mut members| {
                    members.all(|member| member.is_ok_and(|member| visit(member.as_ptr())))
                })
            }
            ObjectForm::Function => {
                // SAFETY: the object is a function, so it has this layout.
                let function = unsafe { &*object.cast::<ffi::PyFunctionObject>() };
                parts_of_function(function).into_iter().all(&mut visit)
                    // Accessing the attributes of a function without any creates an empty
                    // dictionary.
                    && (function.func_dict.is_null()
                        || for_each_entry(function.func_dict, ignored, &mut visit))
            }
            ObjectForm::Class => {
                // SAFETY: the object is a class made by a `class` statement, so it has this layout.
                let class = unsafe { &*object.cast::<ffi::PyHeapTypeObject>() };
                let parts = [class.ht_name, class.ht_qualname, class.ht_type.tp_bases];
                parts.into_iter().all(&mut visit)
            }
            ObjectForm::Cell => {
                // SAFETY: the object is a cell; the result is a new reference or null.
                let content =
                    unsafe { Bound::from_owned_ptr_or_opt(python, ffi::PyCell_Get(object)) };
                visit(content.map_or(null_mut(), |content| content.as_ptr()))
            }
            ObjectForm::Property => {
                // SAFETY: the object is kept alive by the snapshot.
                let property = unsafe { Bound::from_borrowed_ptr(python, object) };
                property
                    .getattr(pyo3::intern!(python, "__doc__"))
                    .is_ok_and(|text| visit(text.as_ptr()))
            }
            ObjectForm::Method => {
                // SAFETY: the object is kept alive by the snapshot.
                let method = unsafe { Bound::from_borrowed_ptr(python, object) };
                // Before Python 3.10 they have no attributes that can change.
                match method.getattr(pyo3::intern!(python, "__dict__")) {
                    Ok(attributes) if attributes.is_exact_instance_of::<PyDict>() => {
                        for_each_entry(attributes.as_ptr(), ignored, &mut visit)
                    }
                    _ => true,
                }
            }
        }
    }
}

/// Visits keys and values of a dictionary until `visit` returns false. Returns false if it did.
fn for_each_entry(
    dictionary: Pointer,
    ignored: &IgnoredNames,
    visit: &mut impl FnMut(Pointer) -> bool,
) -> bool {
    let mut position = 0;
    let (mut key, mut value) = (null_mut(), null_mut());
    // SAFETY: the object is a dictionary, and visiting runs no Python code that could change it.
    while unsafe { ffi::PyDict_Next(dictionary, &mut position, &mut key, &mut value) } != 0 {
        let continues = ignored.contains(key) || visit(key) && visit(value);
        if !continues {
            return false;
        }
    }
    true
}

/// Returns the fields of a function, except for its attributes.
fn parts_of_function(function: &ffi::PyFunctionObject) -> [Pointer; 10] {
    [
        function.func_code,
        function.func_globals,
        function.func_defaults,
        function.func_kwdefaults,
        function.func_closure,
        function.func_doc,
        function.func_name,
        function.func_qualname,
        function.func_module,
        function.func_annotations,
    ]
}

/// Finds everything that modules have created.
struct DefinitionWalk<'py> {
    python: Python<'py>,
    /// Objects still to be visited.
    pending: Vec<Bound<'py, PyAny>>,
    /// Objects visited so far.
    seen: FxHashSet<Pointer>,
    nodes: Vec<DefinedObject>,
    kept: Vec<Py<PyAny>>,
    /// The names of the modules, by which their classes are recognized.
    names: Vec<Bound<'py, PyAny>>,
    /// Types whose objects never change, or hold nothing that a module would define again.
    immutable: Vec<Bound<'py, PyAny>>,
}

impl<'py> DefinitionWalk<'py> {
    fn new(python: Python<'py>) -> DefinitionWalk<'py> {
        DefinitionWalk {
            python,
            pending: Vec::new(),
            seen: FxHashSet::default(),
            nodes: Vec::new(),
            kept: Vec::new(),
            names: Vec::new(),
            immutable: Vec::new(),
        }
    }

    /// Lists the current parts of all nodes.
    fn into_snapshot(self) -> ModuleSnapshot {
        let DefinitionWalk {
            python,
            mut nodes,
            mut kept,
            ..
        } = self;
        let ignored = IgnoredNames::new(python);
        let mut parts = Vec::new();
        for node in &mut nodes {
            node.for_each_part(python, &ignored, |part| {
                parts.push(part);
                // SAFETY: a part is null, or an object that the node holds at this moment.
                let part = unsafe { Bound::from_borrowed_ptr_or_opt(python, part) };
                kept.extend(part.map(Bound::unbind));
                true
            });
            node.end = parts.len();
            node.version.set(node.current_version());
        }
        ModuleSnapshot {
            nodes,
            parts,
            ignored,
            _kept_alive: kept,
        }
    }

    /// Adds an object that can change.
    fn add_node(&mut self, kind: ObjectForm, object: &Bound<'py, PyAny>) {
        self.kept.push(object.clone().unbind());
        self.nodes.push(DefinedObject {
            kind,
            object: object.as_ptr(),
            end: 0,
            version: Cell::new(None),
        });
    }

    /// Visits an object and queues its parts. Returns `None` if it is not understood.
    fn visit(&mut self, object: &Bound<'py, PyAny>) -> Option<()> {
        use pyo3::types::{PyFrozenSet, PyFunction, PyList, PySet, PyTuple, PyType};
        let class = object.get_type();
        if self.immutable.iter().any(|immutable| immutable.is(&class)) {
            return Some(());
        }
        if object.is_exact_instance_of::<PyTuple>() || object.is_exact_instance_of::<PyFrozenSet>()
        {
            self.visit_members(object)
        } else if object.is_exact_instance_of::<PyList>() {
            self.add_node(ObjectForm::List, object);
            self.visit_members(object)
        } else if object.is_exact_instance_of::<PySet>() {
            self.add_node(ObjectForm::Set, object);
            self.visit_members(object)
        } else if let Ok(dictionary) = object.cast_exact::<PyDict>() {
            self.add_node(ObjectForm::Dictionary, object);
            for (key, value) in dictionary.iter() {
                self.pending.extend([key, value]);
            }
            Some(())
        } else if object.is_exact_instance_of::<PyFunction>() {
            self.visit_function(object)
        } else if class.is(self.python.get_type::<PyType>()) {
            self.visit_class(object)
        } else {
            self.visit_wrapper(object, &class.name().ok()?.to_string())
        }
    }

    /// Queues the members of a container.
    fn visit_members(&mut self, container: &Bound<'py, PyAny>) -> Option<()> {
        for member in container.try_iter().ok()? {
            self.pending.push(member.ok()?);
        }
        Some(())
    }

    /// Adds a function, and queues its defaults, closure and attributes.
    fn visit_function(&mut self, function: &Bound<'py, PyAny>) -> Option<()> {
        self.add_node(ObjectForm::Function, function);
        for name in ["__defaults__", "__kwdefaults__", "__closure__", "__dict__"] {
            self.pending.push(function.getattr(name).ok()?);
        }
        Some(())
    }

    /// Adds a cell, property, static method or class method.
    fn visit_wrapper(&mut self, object: &Bound<'py, PyAny>, class: &str) -> Option<()> {
        let is = |builtin: &str| {
            let builtin = self
                .python
                .import("builtins")
                .and_then(|all| all.getattr(builtin));
            builtin.is_ok_and(|builtin| object.get_type().is(&builtin))
        };
        match class {
            "cell" => {
                // SAFETY: checks the type of an object that is alive.
                if unsafe { ffi::PyCell_Check(object.as_ptr()) } == 0 {
                    return None;
                }
                self.add_node(ObjectForm::Cell, object);
                // An empty cell raises.
                self.pending.extend(object.getattr("cell_contents"));
            }
            "property" if is("property") => {
                self.add_node(ObjectForm::Property, object);
                for name in ["fget", "fset", "fdel"] {
                    self.pending.push(object.getattr(name).ok()?);
                }
            }
            "staticmethod" | "classmethod" if is(class) => {
                self.add_node(ObjectForm::Method, object);
                self.pending.push(object.getattr("__func__").ok()?);
            }
            _ => return None,
        }
        Some(())
    }

    /// Adds a class that one of the modules has created, and queues its attributes.
    fn visit_class(&mut self, class: &Bound<'py, PyAny>) -> Option<()> {
        if !self.is_own_class(class) {
            // Running the module again does not create it again.
            return Some(());
        }
        let attributes = attributes(class)?;
        self.add_node(ObjectForm::Class, class);
        self.add_node(ObjectForm::Dictionary, attributes.as_any());
        for (name, value) in attributes.iter() {
            match name.extract::<String>().ok()?.as_str() {
                // Annotations may be any objects, but do not change.
                "__annotations__" | "__annotations_cache__" => {
                    if value.is_exact_instance_of::<PyDict>() {
                        self.add_node(ObjectForm::Dictionary, &value);
                    }
                }
                // It has an effect whenever a subclass is created.
                "__init_subclass__" => return None,
                "__slotnames__" => {}
                _ => self.pending.push(value),
            }
        }
        // A base class may track its subclasses, and a metaclass may do anything when a class is
        // created.
        let object = self.python.get_type::<PyAny>();
        for base in class.getattr("__mro__").ok()?.try_iter().ok()? {
            let base = base.ok()?;
            let is_plain = base.is(&object)
                || base
                    .get_type()
                    .is(self.python.get_type::<pyo3::types::PyType>())
                    && !base
                        .getattr("__dict__")
                        .and_then(|attributes| attributes.contains("__init_subclass__"))
                        .unwrap_or(true);
            if !is_plain {
                return None;
            }
        }
        Some(())
    }

    /// Returns true if a class was created by one of the modules.
    fn is_own_class(&self, class: &Bound<'py, PyAny>) -> bool {
        let Some(attributes) = attributes(class) else {
            return false;
        };
        let module = attributes.get_item("__module__").ok().flatten();
        module.is_some_and(|module| {
            self.names
                .iter()
                .any(|name| name.eq(&module).unwrap_or(true))
        })
    }
}

/// Returns the namespace of a class created by a `class` statement; `None` for those written in C.
fn attributes<'py>(class: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    let class_type = class.as_ptr().cast::<ffi::PyTypeObject>();
    // SAFETY: the caller has checked that it is a class. Those with this flag have a dictionary of
    // their own.
    let dictionary = unsafe {
        if ffi::PyType_HasFeature(class_type, ffi::Py_TPFLAGS_HEAPTYPE) == 0 {
            return None;
        }
        Bound::from_borrowed_ptr_or_opt(class.py(), (*class_type).tp_dict)
    };
    dictionary?.cast_into::<PyDict>().ok()
}

/// Returns the types whose objects need not be visited.
fn immutable_types(python: Python<'_>) -> PyResult<Vec<Bound<'_, PyAny>>> {
    let mut immutable = Vec::new();
    let builtins = python.import("builtins")?;
    for name in [
        "object", "bool", "int", "float", "complex", "str", "bytes", "range",
    ] {
        immutable.push(builtins.getattr(name)?);
    }
    for value in [python.None(), python.Ellipsis(), python.NotImplemented()] {
        immutable.push(value.bind(python).get_type().into_any());
    }
    let types = python.import("types")?;
    for name in [
        "ModuleType",
        "BuiltinFunctionType",
        "WrapperDescriptorType",
        "MethodDescriptorType",
        "ClassMethodDescriptorType",
        "GetSetDescriptorType",
        "MemberDescriptorType",
    ] {
        immutable.push(types.getattr(name)?);
    }
    // Results of functions of the standard library that a module may call.
    for (module, name) in [
        ("re", "Pattern"),
        ("logging", "Logger"),
        ("typing", "TypeVar"),
    ] {
        let loaded = python.import("sys")?.getattr("modules")?;
        if let Ok(module) = loaded.get_item(module) {
            immutable.push(module.getattr(name)?);
        }
    }
    Ok(immutable)
}
