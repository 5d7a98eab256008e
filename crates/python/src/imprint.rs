//! What modules look like, kept in order to tell later whether anything in them has changed.
//!
//! An imprint lists every object that modules made when they were run, and for each that can change what it
//! holds: the entries of dictionaries, lists and classes, the parts of functions. Comparing is comparing pointers,
//! a nanosecond each. All objects are kept alive, so that no new object can come to lie where an old one was.
//!
//! There is an imprint only if everything in the modules is understood. An object of any other class, for example,
//! may change in ways that nobody sees from outside.

use std::cell::Cell;
use std::ptr::null_mut;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use rustc_hash::FxHashSet;

use crate::dictionary;

type Pointer = *mut ffi::PyObject;

/// An imprint of some modules.
pub(crate) struct Imprint {
    nodes: Vec<Node>,
    /// What the nodes hold, one after the other.
    parts: Vec<Pointer>,
    ignored: Ignored,
    /// Keeps everything alive that the pointers point to.
    _kept: Vec<Py<PyAny>>,
}

/// An object that can change.
struct Node {
    kind: Kind,
    object: Pointer,
    /// Where its parts end.
    end: usize,
    /// The version of the dictionary when it was last looked at.
    version: Cell<Option<u64>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
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

/// Names that the interpreter's own library adds to classes and modules when it pleases. They hold nothing that a
/// module would define anew.
struct Ignored([Py<PyString>; 2]);

impl Ignored {
    fn new(python: Python<'_>) -> Ignored {
        // Copying an object, and issuing a warning.
        let names = ["__slotnames__", "__warningregistry__"];
        Ignored(names.map(|name| PyString::intern(python, name).unbind()))
    }

    fn has(&self, name: Pointer) -> bool {
        self.0.iter().any(|ignored| ignored.as_ptr() == name)
    }
}

impl Imprint {
    /// Of the entries of a dictionary, whatever their values are.
    pub(crate) fn of_entries(dictionary: &Bound<'_, PyDict>) -> Imprint {
        let python = dictionary.py();
        let mut walk = Walk::new(python);
        walk.add_node(Kind::Dictionary, dictionary.as_any());
        walk.into_imprint()
    }

    /// Of these namespaces, each with the names that its module defines; `None` if there is something in them that
    /// is not understood.
    pub(crate) fn new(modules: &[(&Bound<'_, PyDict>, &[String])]) -> Option<Imprint> {
        let python = modules.first()?.0.py();
        let mut walk = Walk::new(python);
        walk.settled = settled_types(python).ok()?;
        for (namespace, defined) in modules {
            walk.names.push(namespace.get_item("__name__").ok()??);
            for (name, value) in namespace.iter() {
                // What the module did not define (imports, `__spec__`) is not made by running it again, either.
                let name = name.extract::<String>().ok()?;
                if defined.contains(&name) {
                    walk.found.push(value);
                }
            }
            walk.add_node(Kind::Dictionary, namespace.as_any());
        }
        while let Some(object) = walk.found.pop() {
            if walk.seen.insert(object.as_ptr()) {
                walk.look_at(&object)?;
                walk.kept.push(object.unbind());
            }
        }
        Some(walk.into_imprint())
    }

    /// Whether everything is as it was.
    pub(crate) fn is_unchanged(&self, python: Python<'_>) -> bool {
        let mut place = 0;
        for node in &self.nodes {
            let parts = &self.parts[place..node.end];
            place = node.end;
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

impl Node {
    /// That of a dictionary, where the interpreter counts them.
    #[inline]
    fn current_version(&self) -> Option<u64> {
        match self.kind {
            // SAFETY: the object is a dictionary, which the imprint keeps alive.
            Kind::Dictionary => unsafe { dictionary::version(self.object) },
            _ => None,
        }
    }

    /// Visits the parts of the object as it is now, until `visit` says that it is enough. False if it did.
    fn for_each_part(
        &self,
        python: Python<'_>,
        ignored: &Ignored,
        mut visit: impl FnMut(Pointer) -> bool,
    ) -> bool {
        let object = self.object;
        match self.kind {
            Kind::Dictionary => for_each_entry(object, ignored, &mut visit),
            Kind::List => {
                // SAFETY: the object is a list, and visiting runs no code of the interpreter that could change it.
                unsafe {
                    (0..ffi::PyList_GET_SIZE(object))
                        .all(|place| visit(ffi::PyList_GET_ITEM(object, place)))
                }
            }
            Kind::Set => {
                // SAFETY: the object is kept alive by the imprint.
                let set = unsafe { Bound::from_borrowed_ptr(python, object) };
                set.try_iter().is_ok_and(|mut members| {
                    members.all(|member| member.is_ok_and(|member| visit(member.as_ptr())))
                })
            }
            Kind::Function => {
                // SAFETY: the object is a function, so it has this layout.
                let function = unsafe { &*object.cast::<ffi::PyFunctionObject>() };
                parts_of_function(function).into_iter().all(&mut visit)
                    // Asking for the attributes of a function that has none makes an empty dictionary.
                    && (function.func_dict.is_null()
                        || for_each_entry(function.func_dict, ignored, &mut visit))
            }
            Kind::Class => {
                // SAFETY: the object is a class made by a `class` statement, so it has this layout.
                let class = unsafe { &*object.cast::<ffi::PyHeapTypeObject>() };
                let parts = [class.ht_name, class.ht_qualname, class.ht_type.tp_bases];
                parts.into_iter().all(&mut visit)
            }
            Kind::Cell => {
                // SAFETY: the object is a cell, which gives a reference or null, and keeps its own.
                let content =
                    unsafe { Bound::from_owned_ptr_or_opt(python, ffi::PyCell_Get(object)) };
                visit(content.map_or(null_mut(), |content| content.as_ptr()))
            }
            Kind::Property => {
                // SAFETY: the object is kept alive by the imprint.
                let property = unsafe { Bound::from_borrowed_ptr(python, object) };
                property
                    .getattr(pyo3::intern!(python, "__doc__"))
                    .is_ok_and(|text| visit(text.as_ptr()))
            }
            Kind::Method => {
                // SAFETY: the object is kept alive by the imprint.
                let method = unsafe { Bound::from_borrowed_ptr(python, object) };
                // Before Python 3.10 they have no attributes that could be changed.
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

/// Visits keys and values of a dictionary.
fn for_each_entry(
    dictionary: Pointer,
    ignored: &Ignored,
    visit: &mut impl FnMut(Pointer) -> bool,
) -> bool {
    let mut position = 0;
    let (mut key, mut value) = (null_mut(), null_mut());
    // SAFETY: the object is a dictionary, and visiting runs no code of the interpreter that could change it.
    while unsafe { ffi::PyDict_Next(dictionary, &mut position, &mut key, &mut value) } != 0 {
        let goes_on = ignored.has(key) || visit(key) && visit(value);
        if !goes_on {
            return false;
        }
    }
    true
}

/// All that makes a function what it is, except its attributes.
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

/// Finds everything that modules have made.
struct Walk<'py> {
    python: Python<'py>,
    found: Vec<Bound<'py, PyAny>>,
    seen: FxHashSet<Pointer>,
    nodes: Vec<Node>,
    kept: Vec<Py<PyAny>>,
    /// The names of the modules, by which their classes are known.
    names: Vec<Bound<'py, PyAny>>,
    /// Types whose objects never change, or hold nothing that a module would define anew.
    settled: Vec<Bound<'py, PyAny>>,
}

impl<'py> Walk<'py> {
    fn new(python: Python<'py>) -> Walk<'py> {
        Walk {
            python,
            found: Vec::new(),
            seen: FxHashSet::default(),
            nodes: Vec::new(),
            kept: Vec::new(),
            names: Vec::new(),
            settled: Vec::new(),
        }
    }

    /// Lists what the nodes hold now.
    fn into_imprint(self) -> Imprint {
        let Walk {
            python,
            mut nodes,
            mut kept,
            ..
        } = self;
        let ignored = Ignored::new(python);
        let mut parts = Vec::new();
        for node in &mut nodes {
            node.for_each_part(python, &ignored, |part| {
                parts.push(part);
                // SAFETY: a part is null or an object that the node holds at this moment.
                let part = unsafe { Bound::from_borrowed_ptr_or_opt(python, part) };
                kept.extend(part.map(Bound::unbind));
                true
            });
            node.end = parts.len();
            node.version.set(node.current_version());
        }
        Imprint {
            nodes,
            parts,
            ignored,
            _kept: kept,
        }
    }

    fn add_node(&mut self, kind: Kind, object: &Bound<'py, PyAny>) {
        self.kept.push(object.clone().unbind());
        self.nodes.push(Node {
            kind,
            object: object.as_ptr(),
            end: 0,
            version: Cell::new(None),
        });
    }

    /// Takes note of an object and of what it holds; `None` if it is not understood.
    fn look_at(&mut self, object: &Bound<'py, PyAny>) -> Option<()> {
        use pyo3::types::{PyFrozenSet, PyFunction, PyList, PySet, PyTuple, PyType};
        let class = object.get_type();
        if self.settled.iter().any(|settled| settled.is(&class)) {
            return Some(());
        }
        if object.is_exact_instance_of::<PyTuple>() || object.is_exact_instance_of::<PyFrozenSet>()
        {
            self.look_into(object)
        } else if object.is_exact_instance_of::<PyList>() {
            self.add_node(Kind::List, object);
            self.look_into(object)
        } else if object.is_exact_instance_of::<PySet>() {
            self.add_node(Kind::Set, object);
            self.look_into(object)
        } else if let Ok(dictionary) = object.cast_exact::<PyDict>() {
            self.add_node(Kind::Dictionary, object);
            for (key, value) in dictionary.iter() {
                self.found.extend([key, value]);
            }
            Some(())
        } else if object.is_exact_instance_of::<PyFunction>() {
            self.look_at_function(object)
        } else if class.is(self.python.get_type::<PyType>()) {
            self.look_at_class(object)
        } else {
            self.look_at_wrapper(object, &class.name().ok()?.to_string())
        }
    }

    fn look_into(&mut self, container: &Bound<'py, PyAny>) -> Option<()> {
        for member in container.try_iter().ok()? {
            self.found.push(member.ok()?);
        }
        Some(())
    }

    fn look_at_function(&mut self, function: &Bound<'py, PyAny>) -> Option<()> {
        self.add_node(Kind::Function, function);
        for name in ["__defaults__", "__kwdefaults__", "__closure__", "__dict__"] {
            self.found.push(function.getattr(name).ok()?);
        }
        Some(())
    }

    fn look_at_wrapper(&mut self, object: &Bound<'py, PyAny>, class: &str) -> Option<()> {
        let is = |builtin: &str| {
            let builtin = self
                .python
                .import("builtins")
                .and_then(|all| all.getattr(builtin));
            builtin.is_ok_and(|builtin| object.get_type().is(&builtin))
        };
        match class {
            "cell" => {
                // SAFETY: checking the type of an object that is alive.
                if unsafe { ffi::PyCell_Check(object.as_ptr()) } == 0 {
                    return None;
                }
                self.add_node(Kind::Cell, object);
                // An empty cell raises.
                self.found.extend(object.getattr("cell_contents"));
            }
            "property" if is("property") => {
                self.add_node(Kind::Property, object);
                for name in ["fget", "fset", "fdel"] {
                    self.found.push(object.getattr(name).ok()?);
                }
            }
            "staticmethod" | "classmethod" if is(class) => {
                self.add_node(Kind::Method, object);
                self.found.push(object.getattr("__func__").ok()?);
            }
            _ => return None,
        }
        Some(())
    }

    fn look_at_class(&mut self, class: &Bound<'py, PyAny>) -> Option<()> {
        if !self.is_own(class) {
            // Running the module again does not make it again.
            return Some(());
        }
        let attributes = attributes(class)?;
        self.add_node(Kind::Class, class);
        self.add_node(Kind::Dictionary, attributes.as_any());
        for (name, value) in attributes.iter() {
            match name.extract::<String>().ok()?.as_str() {
                // Of types, which may be any objects, but are not changed.
                "__annotations__" | "__annotations_cache__" => {
                    if value.is_exact_instance_of::<PyDict>() {
                        self.add_node(Kind::Dictionary, &value);
                    }
                }
                // Makes a difference whenever a class is made.
                "__init_subclass__" => return None,
                "__slotnames__" => {}
                _ => self.found.push(value),
            }
        }
        // A base class may want to know of its subclasses; and its own class may do anything when making one.
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

    /// Whether a class was made by one of the modules.
    fn is_own(&self, class: &Bound<'py, PyAny>) -> bool {
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

/// The namespace of a class made by a `class` statement; `None` for those written in C.
fn attributes<'py>(class: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    let class_type = class.as_ptr().cast::<ffi::PyTypeObject>();
    // SAFETY: the caller has seen that it is a class. Those with this flag have a dictionary of their own.
    let dictionary = unsafe {
        if ffi::PyType_HasFeature(class_type, ffi::Py_TPFLAGS_HEAPTYPE) == 0 {
            return None;
        }
        Bound::from_borrowed_ptr_or_opt(class.py(), (*class_type).tp_dict)
    };
    dictionary?.cast_into::<PyDict>().ok()
}

fn settled_types(python: Python<'_>) -> PyResult<Vec<Bound<'_, PyAny>>> {
    let mut settled = Vec::new();
    let builtins = python.import("builtins")?;
    for name in [
        "object", "bool", "int", "float", "complex", "str", "bytes", "range",
    ] {
        settled.push(builtins.getattr(name)?);
    }
    for value in [python.None(), python.Ellipsis(), python.NotImplemented()] {
        settled.push(value.bind(python).get_type().into_any());
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
        settled.push(types.getattr(name)?);
    }
    // What the functions of the standard library return that a module may call.
    for (module, name) in [
        ("re", "Pattern"),
        ("logging", "Logger"),
        ("typing", "TypeVar"),
    ] {
        let loaded = python.import("sys")?.getattr("modules")?;
        if let Ok(module) = loaded.get_item(module) {
            settled.push(module.getattr(name)?);
        }
    }
    Ok(settled)
}
