//! What properties can see, kept in order to tell later whether any of it has changed.
//!
//! A [`View`] lists everything that can be reached from some objects, and what each of them holds. Comparing it with
//! how things are now is comparing pointers, and runs no Python code. A [`World`] does the same for what the code of
//! properties can reach without being handed anything: globals, classes, enclosed variables, defaults.
//!
//! Only numbers, texts and the like are kept alive by a view, and classes by the world. To keep more alive would
//! change when the system's objects die. So an object may die and another come to lie in its place; it is then
//! looked at again, its class and all it holds, and if all that is the same, nobody could tell the two apart. For the
//! same reason holders come before what they hold: an object is looked at only after its holder was found to hold it
//! still, so it is alive.
//!
//! What is not understood is not guessed at: an iterator or an open file keeps state that nobody sees from outside.

pub(crate) mod classes;
mod names;
mod world;

use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::dictionary;

use classes::{Attributes, Classes, Shape};
pub(crate) use world::World;

pub(crate) type Pointer = *mut ffi::PyObject;

/// Whoever holds more than this is checked anyway: looking would not be faster.
const MOST_NODES: usize = 2_000;

/// Classes are kept alive while they are known, up to this number.
const MOST_CLASSES: usize = 1_000;

/// Modules of the standard library whose functions and classes depend on nothing but their arguments.
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

fn is_stateless(module: &str) -> bool {
    STATELESS.binary_search(&module).is_ok()
}

/// Something that cannot be looked into, as the end of "because …".
pub(crate) type Unknown = String;

/// Everything that can be reached from some slots, as it was.
#[derive(Default)]
pub(crate) struct View {
    roots: Vec<Pointer>,
    nodes: Vec<Node>,
    /// What the nodes hold, one after the other.
    parts: Vec<Pointer>,
    kept: Vec<Py<PyAny>>,
}

/// An object that can change, or holds one that can.
struct Node {
    kind: Kind,
    object: Pointer,
    class: *mut ffi::PyTypeObject,
    /// Where its parts end.
    end: usize,
}

#[derive(Clone, Copy)]
enum Kind {
    Tuple,
    List,
    Dictionary,
    /// All it holds is what the garbage collector is told of.
    Traversed(ffi::traverseproc),
    Function,
    /// With the version of its dictionary.
    Class(Option<u64>),
    /// An instance of a class made in Python: its attributes.
    Instance(usize),
}

/// Types that are understood, by address.
pub(crate) struct Types {
    /// Nothing in them ever changes, nor in what they refer to.
    settled: FxHashSet<*mut ffi::PyTypeObject>,
    /// What is written in C of classes: the methods of `str`, the attributes in `__slots__`.
    descriptors: FxHashSet<*mut ffi::PyTypeObject>,
    /// Classes written in C that the interpreter itself is made of.
    builtin: FxHashSet<*mut ffi::PyTypeObject>,
    traversed: FxHashMap<*mut ffi::PyTypeObject, ffi::traverseproc>,
    classes: Classes,
}

impl Types {
    /// Whether more classes are kept alive than a system is likely to have.
    pub(crate) fn know_too_many_classes(&self) -> bool {
        self.classes.len() > MOST_CLASSES
    }

    /// Lets go of all classes. No view that was made before may be compared any more.
    pub(crate) fn forget_classes(&mut self) {
        self.classes.clear();
    }

    pub(crate) fn new(python: Python<'_>) -> PyResult<Types> {
        let builtins = python.import("builtins")?;
        let types = python.import("types")?;
        let mut settled = FxHashSet::default();
        for name in ["bool", "int", "float", "complex", "str", "bytes", "range"] {
            settled.insert(builtins.getattr(name)?.as_ptr().cast());
        }
        for value in [python.None(), python.Ellipsis(), python.NotImplemented()] {
            settled.insert(value.bind(python).get_type().as_ptr().cast());
        }
        settled.insert(types.getattr("CodeType")?.as_ptr().cast());
        settled.insert(python.import("re")?.getattr("Pattern")?.as_ptr().cast());
        // What is registered with an abstract class is counted by the world.
        let registry = python.import("abc")?.getattr("ABC")?.getattr("_abc_impl")?;
        settled.insert(registry.get_type().as_ptr().cast());
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
        let mut builtin = settled.clone();
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
        Ok(Types {
            settled,
            descriptors,
            builtin,
            traversed,
            classes: Classes::new(python)?,
        })
    }
}

impl View {
    /// Of what can be reached from these objects. What they need of the world is noted there.
    pub(crate) fn record(
        &mut self,
        python: Python<'_>,
        roots: impl Iterator<Item = Pointer>,
        types: &mut Types,
        seen: &mut FxHashSet<Pointer>,
        world: &mut World,
    ) -> Result<(), Unknown> {
        self.clear();
        self.roots.extend(roots);
        seen.clear();
        let mut found: Vec<Pointer> = self.roots.iter().rev().copied().collect();
        while let Some(object) = found.pop() {
            // Methods are mostly known to the world, through their class, and compared there.
            if !seen.insert(object) || world.knows_function(object) {
                continue;
            }
            if let Err(unknown) = self.look_at(python, object, types, &mut found, world) {
                self.clear();
                return Err(unknown);
            }
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.roots.clear();
        self.nodes.clear();
        self.parts.clear();
        self.kept.clear();
    }

    /// Whether everything is as it was.
    pub(crate) fn is_unchanged(&self, roots: impl Iterator<Item = Pointer>, types: &Types) -> bool {
        self.roots.iter().copied().eq(roots) && self.nodes_are_unchanged(types)
    }

    fn nodes_are_unchanged(&self, types: &Types) -> bool {
        let mut place = 0;
        for node in &self.nodes {
            let parts = &self.parts[place..node.end];
            // SAFETY: the roots are alive, and everything else is held by a node that was found unchanged before.
            if unsafe { ffi::Py_TYPE(node.object) } != node.class {
                return false;
            }
            if matches!(node.kind, Kind::Class(_)) && node.has_same_version(parts) {
                place = node.end;
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
            place = node.end;
        }
        true
    }

    fn keep(&mut self, python: Python<'_>, object: Pointer) {
        // SAFETY: the object was found in one that is alive.
        let object = unsafe { Bound::from_borrowed_ptr(python, object) };
        self.kept.push(object.unbind());
    }

    fn add(
        &mut self,
        kind: Kind,
        object: Pointer,
        types: &Types,
        found: &mut Vec<Pointer>,
    ) -> Result<(), Unknown> {
        if self.nodes.len() >= MOST_NODES {
            return Err(format!(
                "there are more than {MOST_NODES} objects to look at"
            ));
        }
        let mut node = Node {
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

    /// Takes note of an object and of what it holds.
    fn look_at(
        &mut self,
        python: Python<'_>,
        object: Pointer,
        types: &mut Types,
        found: &mut Vec<Pointer>,
        world: &mut World,
    ) -> Result<(), Unknown> {
        // SAFETY: the object was found in one that is alive, and no Python code runs in between.
        let class = unsafe { ffi::Py_TYPE(object) };
        if types.settled.contains(&class) {
            self.keep(python, object);
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
            return self.add(Kind::Tuple, object, types, found);
        }
        if class == list {
            return self.add(Kind::List, object, types, found);
        }
        if class == dictionary {
            return self.add(Kind::Dictionary, object, types, found);
        }
        if let Some(traverse) = types.traversed.get(&class) {
            return self.add(Kind::Traversed(*traverse), object, types, found);
        }
        if class == function {
            return self.look_at_function(python, object, types, found, world);
        }
        if class == builtin {
            return self.look_at_builtin(python, object, types, found, world);
        }
        if class == module {
            world.note_module(python, object);
            return Ok(());
        }
        if types.descriptors.contains(&class) {
            self.keep(python, object);
            // SAFETY: all kinds of descriptors begin alike, and hold the class they are of.
            world.note_class(
                python,
                unsafe { classes::class_of_descriptor(object) }.cast(),
            );
            return Ok(());
        }
        // SAFETY: a check of flags of a type that is alive.
        if unsafe { ffi::PyType_Check(object) } != 0 {
            world.note_class(python, object);
            return Ok(());
        }
        let shape = types.classes.shape(class)?;
        let (base, number) = (shape.base, shape.number);
        world.note_class(python, class.cast());
        match base {
            classes::Base::Object => {}
            classes::Base::Tuple => self.add(Kind::Tuple, object, types, found)?,
            classes::Base::List => self.add(Kind::List, object, types, found)?,
            classes::Base::Dictionary => self.add(Kind::Dictionary, object, types, found)?,
            classes::Base::Set(traverse) => {
                self.add(Kind::Traversed(traverse), object, types, found)?;
            }
        }
        self.add(Kind::Instance(number), object, types, found)
    }

    fn look_at_function(
        &mut self,
        python: Python<'_>,
        object: Pointer,
        types: &Types,
        found: &mut Vec<Pointer>,
        world: &mut World,
    ) -> Result<(), Unknown> {
        // SAFETY: the object is a function, so it has this layout, and its globals are a dictionary.
        let (code, globals) = unsafe {
            let function = &*object.cast::<ffi::PyFunctionObject>();
            (function.func_code, function.func_globals)
        };
        world.note_scope(python, globals, code);
        self.keep(python, code);
        // The globals are looked at name by name, in the world.
        let start = found.len();
        self.add(Kind::Function, object, types, found)?;
        let mut kept = start;
        for place in start..found.len() {
            if found[place] != globals && found[place] != code {
                found[kept] = found[place];
                kept += 1;
            }
        }
        found.truncate(kept);
        Ok(())
    }

    fn look_at_builtin(
        &mut self,
        python: Python<'_>,
        object: Pointer,
        types: &Types,
        found: &mut Vec<Pointer>,
        world: &mut World,
    ) -> Result<(), Unknown> {
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
            // SAFETY: the type of functions written in C is always there.
            let traverse = unsafe { ffi::PyCFunction_Type.tp_traverse };
            let traverse = traverse.ok_or_else(|| format!("`{name}` cannot be looked into"))?;
            return self.add(Kind::Traversed(traverse), object, types, found);
        }
        let module = module_name(python, object, holder);
        self.keep(python, object);
        world.note_builtin(&module, &name)
    }
}

/// The module of a function written in C.
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

impl Node {
    /// Whether this is a class that begins with these parts and whose dictionary was not touched.
    #[inline]
    fn has_same_version(&self, parts: &[Pointer]) -> bool {
        let Kind::Class(Some(known)) = self.kind else {
            return false;
        };
        // SAFETY: the object is a class made in Python.
        let (own, attributes) = unsafe { parts_of_class(self.object) };
        // SAFETY: the attributes of a class that is alive are a dictionary.
        parts.starts_with(&own) && unsafe { dictionary::version(attributes) } == Some(known)
    }

    /// Visits the parts of the object as it is now, until `visit` says that it is enough. False if it did.
    #[inline]
    fn for_each_part<V: FnMut(Pointer) -> bool>(&self, types: &Types, visit: &mut V) -> bool {
        let object = self.object;
        match self.kind {
            // SAFETY: the object is a tuple, and visiting runs no Python code.
            Kind::Tuple => unsafe {
                (0..ffi::PyTuple_GET_SIZE(object))
                    .all(|place| visit(ffi::PyTuple_GET_ITEM(object, place)))
            },
            // SAFETY: the object is a list, and visiting runs no Python code that could change it.
            Kind::List => unsafe {
                (0..ffi::PyList_GET_SIZE(object))
                    .all(|place| visit(ffi::PyList_GET_ITEM(object, place)))
            },
            Kind::Dictionary => for_each_entry(object, visit),
            Kind::Traversed(traverse) => {
                // SAFETY: the function is the one of the object's type, or of one it is derived from, and `hand_on`
                // gets back the closure that is handed to it here.
                unsafe { traverse(object, hand_on::<V>, (&raw mut *visit).cast()) == 0 }
            }
            Kind::Function => {
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
            Kind::Class(_) => {
                // SAFETY: the object is a class made in Python.
                let (own, attributes) = unsafe { parts_of_class(object) };
                own.into_iter().all(&mut *visit) && for_each_entry(attributes, visit)
            }
            Kind::Instance(number) => {
                let shape = types.classes.number(number);
                // SAFETY: the object is an instance of exactly the class that the shape is of.
                unsafe { for_each_attribute(object, shape, visit) }
            }
        }
    }
}

/// What a class holds itself, its bases and its names, and the dictionary of its attributes.
///
/// # Safety
///
/// The object must be a class made in Python.
#[inline]
unsafe fn parts_of_class(object: Pointer) -> ([Pointer; 3], Pointer) {
    // SAFETY: classes made in Python have this layout, and a dictionary of their own.
    let class = unsafe { &*object.cast::<ffi::PyHeapTypeObject>() };
    let own = [class.ht_type.tp_bases, class.ht_name, class.ht_qualname];
    (own, class.ht_type.tp_dict)
}

/// A visitor as the garbage collector's functions want it.
extern "C" fn hand_on<V: FnMut(Pointer) -> bool>(part: Pointer, closure: *mut c_void) -> c_int {
    // SAFETY: `for_each_part` hands over a closure of this type, which outlives the call.
    let visit = unsafe { &mut *closure.cast::<V>() };
    c_int::from(!visit(part))
}

/// Visits keys and values of a dictionary.
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

/// Visits the attributes of an instance: those in `__slots__`, then the others, null for those that are missing.
///
/// # Safety
///
/// The object must be an instance of the class that the shape is of.
#[inline]
unsafe fn for_each_attribute(
    object: Pointer,
    shape: &Shape,
    visit: &mut impl FnMut(Pointer) -> bool,
) -> bool {
    for offset in &shape.layout.slots {
        // SAFETY: the class says that an object or null is at this offset.
        if !visit(unsafe { *object.byte_offset(*offset).cast::<Pointer>() }) {
            return false;
        }
    }
    // SAFETY: as the caller promises.
    match unsafe { shape.layout.attributes(object) } {
        Attributes::None => true,
        Attributes::Dictionary(dictionary) => visit(dictionary),
        Attributes::Values(values) => values.iter().all(|value| visit(*value)),
    }
}
