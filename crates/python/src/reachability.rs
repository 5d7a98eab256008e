//! Snapshots of what properties can reach, to detect later whether any of it has changed.
//!
//! A [`ReachableSnapshot`] lists all objects reachable from some roots, and the parts of each.
//! Comparing it with the present compares pointers, and runs no Python code. A [`GlobalSnapshot`]
//! does the same for everything that the code of properties can reach without arguments: globals,
//! classes, closures, defaults.
//!
//! A snapshot keeps only numbers, texts and the like alive, and a global snapshot also classes.
//! Keeping more alive would change when objects of the system die. So an object may die and another
//! one take its address. The comparison then covers the class and all parts of the new object; if
//! all of them are equal, the two are indistinguishable. For the same reason holders precede their
//! parts: an object is compared only after its holder was found unchanged, so it is alive.
//!
//! Objects that are not understood make a snapshot fail: an iterator or an open file has state that
//! cannot be inspected.

pub(crate) mod classes;
mod global_snapshot;
mod names;

use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::dictionary;

use classes::{InstanceAttributes, InstanceShape, InstanceShapes};
pub(crate) use global_snapshot::GlobalSnapshot;

/// A pointer to a Python object, not owned.
pub(crate) type Pointer = *mut ffi::PyObject;

/// The maximum number of objects. Beyond it, checking the property is as fast as comparing.
const MAX_NODES: usize = 2_000;

/// The maximum number of known classes, which are kept alive.
const MAX_CLASSES: usize = 1_000;

/// Modules of the standard library whose functions and classes depend on their arguments only,
/// sorted.
const STATELESS: [&str; 38] = [
    "__future__",
    "_bisect",
    "_collections",
    "_collections_abc",
    "_functools",
    "_heapq",
    "_operator",
    "_sre",
    "_statistics",
    "_struct",
    "abc",
    "bisect",
    "builtins",
    "cmath",
    "collections",
    "collections.abc",
    "copy",
    "copyreg",
    "dataclasses",
    "enum",
    "fractions",
    "functools",
    "heapq",
    "itertools",
    "keyword",
    "math",
    "numbers",
    "operator",
    "re",
    "re._compiler",
    "re._parser",
    "reprlib",
    "statistics",
    "string",
    "struct",
    "textwrap",
    "types",
    "typing",
];

/// Returns true if a module is in [`STATELESS`].
fn is_stateless(module: &str) -> bool {
    STATELESS.binary_search(&module).is_ok()
}

/// The reason why an object cannot be inspected, as the end of "because …".
pub(crate) type OpaqueReason = String;

/// All objects reachable from some slots, as they were.
#[derive(Default)]
pub(crate) struct ReachableSnapshot {
    /// The objects in the slots.
    roots: Vec<Pointer>,
    /// Reachable objects, holders before their parts.
    nodes: Vec<ReachableNode>,
    /// The parts of all nodes, one node after the other.
    parts: Vec<Pointer>,
    /// Immutable objects, kept alive.
    kept_alive: Vec<Py<PyAny>>,
}

/// An object that can change, or holds one that can.
struct ReachableNode {
    kind: ReachableKind,
    object: Pointer,
    class: *mut ffi::PyTypeObject,
    /// The end of its parts in [`ReachableSnapshot::parts`].
    end: usize,
}

/// The kind of a node, which determines its parts.
#[derive(Clone, Copy)]
enum ReachableKind {
    Tuple,
    List,
    Dictionary,
    /// An object whose parts are those that the garbage collector visits.
    Traversed(ffi::traverseproc),
    Function,
    /// A class, with the version of its dictionary.
    Class(Option<u64>),
    /// An instance of a class written in Python, with the number of its shape.
    Instance(usize),
}

/// Types that are understood, by address.
pub(crate) struct KnownTypes {
    /// Types whose objects are immutable, including everything that they refer to.
    immutable: FxHashSet<*mut ffi::PyTypeObject>,
    /// Descriptors written in C: the methods of `str`, the attributes in `__slots__`.
    descriptors: FxHashSet<*mut ffi::PyTypeObject>,
    /// Built-in classes of the interpreter.
    builtin: FxHashSet<*mut ffi::PyTypeObject>,
    /// Types whose parts are those that the garbage collector visits.
    traversed: FxHashMap<*mut ffi::PyTypeObject, ffi::traverseproc>,
    /// Shapes of instances of classes written in Python.
    classes: InstanceShapes,
}

impl KnownTypes {
    /// Returns true if more classes are kept alive than a system is likely to have.
    pub(crate) fn has_too_many_classes(&self) -> bool {
        self.classes.len() > MAX_CLASSES
    }

    /// Forgets all classes. Earlier snapshots must not be compared any more.
    pub(crate) fn forget_classes(&mut self) {
        self.classes.clear();
    }

    /// Collects the types by importing their modules.
    pub(crate) fn new(python: Python<'_>) -> PyResult<KnownTypes> {
        let builtins = python.import("builtins")?;
        let types = python.import("types")?;
        let mut immutable = FxHashSet::default();
        for name in ["bool", "int", "float", "complex", "str", "bytes", "range"] {
            immutable.insert(builtins.getattr(name)?.as_ptr().cast());
        }
        for value in [python.None(), python.Ellipsis(), python.NotImplemented()] {
            immutable.insert(value.bind(python).get_type().as_ptr().cast());
        }
        immutable.insert(types.getattr("CodeType")?.as_ptr().cast());
        immutable.insert(python.import("re")?.getattr("Pattern")?.as_ptr().cast());
        // Registrations with abstract classes are counted by the global snapshot.
        let registry = python.import("abc")?.getattr("ABC")?.getattr("_abc_impl")?;
        immutable.insert(registry.get_type().as_ptr().cast());
        let mut descriptors = FxHashSet::default();
        for name in [
            "WrapperDescriptorType",
            "MethodDescriptorType",
            "ClassMethodDescriptorType",
            "GetSetDescriptorType",
            "MemberDescriptorType",
        ] {
            descriptors.insert(types.getattr(name)?.as_ptr().cast());
        }
        let mut builtin = immutable.clone();
        for module in [&builtins, &types] {
            for value in module.dict().values() {
                if value.is_instance_of::<PyType>() {
                    builtin.insert(value.as_ptr().cast());
                }
            }
        }
        let mut traversed = FxHashMap::default();
        let collections = python.import("collections")?;
        for (module, name) in [
            (&builtins, "set"),
            (&builtins, "frozenset"),
            (&builtins, "property"),
            (&builtins, "staticmethod"),
            (&builtins, "classmethod"),
            (&types, "MethodType"),
            (&types, "CellType"),
            (&types, "MappingProxyType"),
            (&collections, "deque"),
            (&collections, "_tuplegetter"),
        ] {
            let class = module.getattr(name)?.as_ptr().cast::<ffi::PyTypeObject>();
            // SAFETY: it is a class, alive because its module is.
            let traverse = unsafe { (*class).tp_traverse };
            traversed.extend(traverse.map(|traverse| (class, traverse)));
        }
        Ok(KnownTypes {
            immutable,
            descriptors,
            builtin,
            traversed,
            classes: InstanceShapes::new(python)?,
        })
    }
}

impl ReachableSnapshot {
    /// Takes a snapshot of all objects reachable from the roots. Code and classes that they use are
    /// added to the global snapshot.
    pub(crate) fn record(
        &mut self,
        python: Python<'_>,
        roots: impl Iterator<Item = Pointer>,
        types: &mut KnownTypes,
        seen: &mut FxHashSet<Pointer>,
        global_snapshot: &mut GlobalSnapshot,
    ) -> Result<(), OpaqueReason> {
        self.clear();
        self.roots.extend(roots);
        seen.clear();
        let mut found: Vec<Pointer> = self.roots.iter().rev().copied().collect();
        while let Some(object) = found.pop() {
            // Most methods are part of the global snapshot, through their class.
            if !seen.insert(object) || global_snapshot.has_visited_function(object) {
                continue;
            }
            if let Err(unknown) = self.visit(python, object, types, &mut found, global_snapshot) {
                self.clear();
                return Err(unknown);
            }
        }
        Ok(())
    }

    /// Removes all objects.
    fn clear(&mut self) {
        self.roots.clear();
        self.nodes.clear();
        self.parts.clear();
        self.kept_alive.clear();
    }

    /// Returns true if the roots and everything reachable are unchanged.
    pub(crate) fn is_unchanged(
        &self,
        roots: impl Iterator<Item = Pointer>,
        types: &KnownTypes,
    ) -> bool {
        self.roots.iter().copied().eq(roots) && self.nodes_are_unchanged(types)
    }

    /// Returns true if all nodes are unchanged. The roots must be alive.
    fn nodes_are_unchanged(&self, types: &KnownTypes) -> bool {
        let mut start = 0;
        for node in &self.nodes {
            let parts = &self.parts[start..node.end];
            // SAFETY: the roots are alive, and every other object is held by a node that was found
            // unchanged before.
            if unsafe { ffi::Py_TYPE(node.object) } != node.class {
                return false;
            }
            if matches!(node.kind, ReachableKind::Class(_)) && node.has_same_version(parts) {
                start = node.end;
                continue;
            }
            let mut count = 0;
            let same = node.for_each_part(types, &mut |part| {
                let same = parts.get(count) == Some(&part);
                count += 1;
                same
            });
            if !same || count != parts.len() {
                return false;
            }
            start = node.end;
        }
        true
    }

    /// Keeps an object alive.
    fn keep_alive(&mut self, python: Python<'_>, object: Pointer) {
        // SAFETY: the object was found in one that is alive.
        let object = unsafe { Bound::from_borrowed_ptr(python, object) };
        self.kept_alive.push(object.unbind());
    }

    /// Adds a node with its parts, and queues the parts.
    fn add(
        &mut self,
        kind: ReachableKind,
        object: Pointer,
        types: &KnownTypes,
        found: &mut Vec<Pointer>,
    ) -> Result<(), OpaqueReason> {
        if self.nodes.len() >= MAX_NODES {
            return Err(format!(
                "there are more than {MAX_NODES} objects to look at"
            ));
        }
        let mut node = ReachableNode {
            kind,
            object,
            // SAFETY: the object is alive.
            class: unsafe { ffi::Py_TYPE(object) },
            end: 0,
        };
        let parts = &mut self.parts;
        node.for_each_part(types, &mut |part| {
            parts.push(part);
            if !part.is_null() {
                found.push(part);
            }
            true
        });
        node.end = self.parts.len();
        self.nodes.push(node);
        Ok(())
    }

    /// Visits an object: adds it as a node, or as an immutable object, or to the global snapshot.
    fn visit(
        &mut self,
        python: Python<'_>,
        object: Pointer,
        types: &mut KnownTypes,
        found: &mut Vec<Pointer>,
        global_snapshot: &mut GlobalSnapshot,
    ) -> Result<(), OpaqueReason> {
        // SAFETY: the object was found in one that is alive, and no Python code runs in between.
        let class = unsafe { ffi::Py_TYPE(object) };
        if types.immutable.contains(&class) {
            self.keep_alive(python, object);
            return Ok(());
        }
        let [tuple, list, dictionary, function, builtin, module] = [
            &raw mut ffi::PyTuple_Type,
            &raw mut ffi::PyList_Type,
            &raw mut ffi::PyDict_Type,
            &raw mut ffi::PyFunction_Type,
            &raw mut ffi::PyCFunction_Type,
            &raw mut ffi::PyModule_Type,
        ];
        if class == tuple {
            return self.add(ReachableKind::Tuple, object, types, found);
        }
        if class == list {
            return self.add(ReachableKind::List, object, types, found);
        }
        if class == dictionary {
            return self.add(ReachableKind::Dictionary, object, types, found);
        }
        if let Some(traverse) = types.traversed.get(&class) {
            return self.add(ReachableKind::Traversed(*traverse), object, types, found);
        }
        if class == function {
            return self.visit_function(python, object, types, found, global_snapshot);
        }
        if class == builtin {
            return self.visit_builtin(python, object, types, found, global_snapshot);
        }
        if class == module {
            global_snapshot.add_module(python, object);
            return Ok(());
        }
        if types.descriptors.contains(&class) {
            self.keep_alive(python, object);
            // SAFETY: all kinds of descriptors start alike, and hold their class.
            global_snapshot.add_class(python, unsafe { classes::descriptor_class(object) }.cast());
            return Ok(());
        }
        // SAFETY: a check of flags of a type that is alive.
        if unsafe { ffi::PyType_Check(object) } != 0 {
            global_snapshot.add_class(python, object);
            return Ok(());
        }
        let shape = types.classes.shape(class)?;
        let (base, number) = (shape.base, shape.number);
        global_snapshot.add_class(python, class.cast());
        match base {
            classes::BuiltinBase::Object => {}
            classes::BuiltinBase::Tuple => self.add(ReachableKind::Tuple, object, types, found)?,
            classes::BuiltinBase::List => self.add(ReachableKind::List, object, types, found)?,
            classes::BuiltinBase::Dictionary => {
                self.add(ReachableKind::Dictionary, object, types, found)?
            }
            classes::BuiltinBase::Set(traverse) => {
                self.add(ReachableKind::Traversed(traverse), object, types, found)?;
            }
        }
        self.add(ReachableKind::Instance(number), object, types, found)
    }

    /// Adds a function. Its globals are followed by name, in the global snapshot.
    fn visit_function(
        &mut self,
        python: Python<'_>,
        object: Pointer,
        types: &KnownTypes,
        found: &mut Vec<Pointer>,
        global_snapshot: &mut GlobalSnapshot,
    ) -> Result<(), OpaqueReason> {
        // SAFETY: the object is a function, so it has this layout, and its globals are a dictionary.
        let (code, globals) = unsafe {
            let function = &*object.cast::<ffi::PyFunctionObject>();
            (function.func_code, function.func_globals)
        };
        global_snapshot.add_scope(python, globals, code);
        self.keep_alive(python, code);
        // Globals are followed by name, in the global snapshot.
        let first = found.len();
        self.add(ReachableKind::Function, object, types, found)?;
        let mut kept = first;
        for index in first..found.len() {
            if found[index] != globals && found[index] != code {
                found[kept] = found[index];
                kept += 1;
            }
        }
        found.truncate(kept);
        Ok(())
    }

    /// Adds a function written in C: with its receiver if it is a method, by module otherwise.
    fn visit_builtin(
        &mut self,
        python: Python<'_>,
        object: Pointer,
        types: &KnownTypes,
        found: &mut Vec<Pointer>,
        global_snapshot: &mut GlobalSnapshot,
    ) -> Result<(), OpaqueReason> {
        // SAFETY: the object is a function written in C, so it has this layout; its name is a text that lives as long.
        let (holder, name) = unsafe {
            let function = &*object.cast::<ffi::PyCFunctionObject>();
            (
                function.m_self,
                CStr::from_ptr((*function.m_ml).ml_name).to_string_lossy(),
            )
        };
        // SAFETY: what a function is bound to is alive with it.
        let is_of_module = holder.is_null() || unsafe { ffi::PyModule_Check(holder) } != 0;
        if !is_of_module {
            // SAFETY: the type of functions written in C lives forever.
            let traverse = unsafe { ffi::PyCFunction_Type.tp_traverse };
            let traverse = traverse.ok_or_else(|| format!("`{name}` cannot be looked into"))?;
            return self.add(ReachableKind::Traversed(traverse), object, types, found);
        }
        let module = module_name(python, object, holder);
        self.keep_alive(python, object);
        global_snapshot.check_builtin(&module, &name)
    }
}

/// Returns the module of a function written in C.
fn module_name(python: Python<'_>, function: Pointer, holder: Pointer) -> String {
    if !holder.is_null() {
        // SAFETY: it is a module; its name is valid as long as the module, and copied at once.
        let name = unsafe {
            let name = ffi::PyModule_GetName(holder);
            if name.is_null() {
                ffi::PyErr_Clear();
                return String::from("?");
            }
            CStr::from_ptr(name)
        };
        return name.to_string_lossy().into_owned();
    }
    // SAFETY: the function is alive.
    let function = unsafe { Bound::from_borrowed_ptr(python, function) };
    let module = function.getattr(pyo3::intern!(python, "__module__"));
    module
        .and_then(|module| module.extract::<String>())
        .unwrap_or_else(|_| String::from("?"))
}

impl ReachableNode {
    /// Returns true if this is a class with the same bases and names, and with the same version of
    /// its dictionary.
    #[inline]
    fn has_same_version(&self, parts: &[Pointer]) -> bool {
        let ReachableKind::Class(Some(known)) = self.kind else {
            return false;
        };
        // SAFETY: the object is a class written in Python.
        let (own, attributes) = unsafe { parts_of_class(self.object) };
        // SAFETY: the attributes of a class that is alive are a dictionary.
        parts.starts_with(&own) && unsafe { dictionary::version(attributes) } == Some(known)
    }

    /// Visits the current parts of the object until `visit` returns false. Returns false if it did.
    #[inline]
    fn for_each_part<V: FnMut(Pointer) -> bool>(&self, types: &KnownTypes, visit: &mut V) -> bool {
        let object = self.object;
        match self.kind {
            // SAFETY: the object is a tuple, and visiting runs no Python code.
            ReachableKind::Tuple => unsafe {
                (0..ffi::PyTuple_GET_SIZE(object))
                    .all(|index| visit(ffi::PyTuple_GET_ITEM(object, index)))
            },
            // SAFETY: the object is a list, and visiting runs no Python code that could change it.
            ReachableKind::List => unsafe {
                (0..ffi::PyList_GET_SIZE(object))
                    .all(|index| visit(ffi::PyList_GET_ITEM(object, index)))
            },
            ReachableKind::Dictionary => for_each_entry(object, visit),
            ReachableKind::Traversed(traverse) => {
                // SAFETY: the function belongs to the object's type, or to a base of it, and
                // `visit_adapter` gets the closure that is passed here.
                unsafe { traverse(object, visit_adapter::<V>, (&raw mut *visit).cast()) == 0 }
            }
            ReachableKind::Function => {
                // SAFETY: the object is a function, so it has this layout.
                let function = unsafe { &*object.cast::<ffi::PyFunctionObject>() };
                [
                    function.func_code,
                    function.func_globals,
                    function.func_defaults,
                    function.func_kwdefaults,
                    function.func_closure,
                    function.func_dict,
                    function.func_name,
                    function.func_qualname,
                    function.func_doc,
                    function.func_module,
                ]
                .into_iter()
                .all(visit)
            }
            ReachableKind::Class(_) => {
                // SAFETY: the object is a class written in Python.
                let (own, attributes) = unsafe { parts_of_class(object) };
                own.into_iter().all(&mut *visit) && for_each_entry(attributes, visit)
            }
            ReachableKind::Instance(number) => {
                let shape = types.classes.number(number);
                // SAFETY: the object is an instance of exactly the class of the shape.
                unsafe { for_each_attribute(object, shape, visit) }
            }
        }
    }
}

/// Returns the bases and the names of a class, and the dictionary of its attributes.
///
/// # Safety
///
/// The object must be a class written in Python.
#[inline]
unsafe fn parts_of_class(object: Pointer) -> ([Pointer; 3], Pointer) {
    // SAFETY: classes written in Python have this layout, and a dictionary of their own.
    let class = unsafe { &*object.cast::<ffi::PyHeapTypeObject>() };
    let own = [class.ht_type.tp_bases, class.ht_name, class.ht_qualname];
    (own, class.ht_type.tp_dict)
}

/// Calls a closure as a visitor function of the garbage collector.
extern "C" fn visit_adapter<V: FnMut(Pointer) -> bool>(
    part: Pointer,
    closure: *mut c_void,
) -> c_int {
    // SAFETY: `for_each_part` passes a closure of this type, which outlives the call.
    let visit = unsafe { &mut *closure.cast::<V>() };
    c_int::from(!visit(part))
}

/// Visits keys and values of a dictionary until `visit` returns false. Returns false if it did.
pub(crate) fn for_each_entry(dictionary: Pointer, visit: &mut impl FnMut(Pointer) -> bool) -> bool {
    let mut position = 0;
    let (mut key, mut value) = (null_mut(), null_mut());
    // SAFETY: the object is a dictionary, and visiting runs no Python code that could change it.
    while unsafe { ffi::PyDict_Next(dictionary, &mut position, &mut key, &mut value) } != 0 {
        if !(visit(key) && visit(value)) {
            return false;
        }
    }
    true
}

/// Visits the attributes of an instance: those in `__slots__`, then the others. Missing ones are
/// null.
///
/// # Safety
///
/// The object must be an instance of the class of the shape.
#[inline]
unsafe fn for_each_attribute(
    object: Pointer,
    shape: &InstanceShape,
    visit: &mut impl FnMut(Pointer) -> bool,
) -> bool {
    for offset in &shape.layout.slots {
        // SAFETY: the class states that an object or null is at this offset.
        if !visit(unsafe { *object.byte_offset(*offset).cast::<Pointer>() }) {
            return false;
        }
    }
    // SAFETY: guaranteed by the caller.
    match unsafe { shape.layout.attributes(object) } {
        InstanceAttributes::None => true,
        InstanceAttributes::Dictionary(dictionary) => visit(dictionary),
        InstanceAttributes::Values(values) => values.iter().all(|value| visit(*value)),
    }
}
