//! Values of the program as plain data, without running any of its code.
//!
//! A walk goes from some objects to all they hold. Built-in containers are read from their own storage, also if a
//! class derived from them says otherwise; instances where the interpreter keeps their attributes (`instances`);
//! well-known library types by how they are made (`library`). What is too large or too deep is left out, and said to
//! be; what nobody can look into is said to be unknown.

mod instances;
mod iterators;
mod library;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyCFunction, PyComplex, PyDict, PyFloat, PyFrozenSet, PyFunction,
    PyInt, PyList, PyModule, PySet, PyString, PyTuple, PyType,
};
use rustc_hash::FxHashMap;
use testwright_capture::{Float, Function, Graph, Node, NodeId, Place, Reference, Value};

pub(super) use instances::Instances;

use super::identity::{Identities, Window};
use super::names;

/// The most nodes of one moment of a call.
const MOST_NODES: usize = 4_000;
/// How deep values are followed.
const DEEPEST: u32 = 120;
/// Texts and bytes above this length are left out.
const LONGEST: usize = 1 << 20;
/// The most bytes of texts and the like in one moment.
const MOST_BYTES: usize = 4 << 20;
/// What a node takes in memory, about.
const NODE_SIZE: usize = 150;

/// What a walk needs to know, from call to call.
pub(super) struct Eyes {
    pub(super) identities: Identities,
    instances: Instances,
}

impl Eyes {
    pub(super) fn new(python: Python<'_>) -> PyResult<Eyes> {
        Ok(Eyes {
            identities: Identities::new(),
            instances: Instances::new(python)?,
        })
    }
}

/// One moment: all walks of it share what they have seen.
pub(super) struct Moment<'a> {
    eyes: &'a mut Eyes,
    graph: &'a mut Graph,
    window: &'a mut Window,
    seen: FxHashMap<usize, NodeId>,
    /// How many nodes there may be in the graph.
    most: usize,
    bytes: usize,
}

/// What a graph takes in memory, about.
pub(super) fn weight(graph: &Graph) -> usize {
    graph.len() * NODE_SIZE
        + graph
            .iter()
            .map(|(_, node)| bytes_in(&node.value))
            .sum::<usize>()
}

fn bytes_in(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) | Value::ByteArray(bytes) => bytes.len(),
        _ => 0,
    }
}

impl<'a> Moment<'a> {
    pub(super) fn new(eyes: &'a mut Eyes, graph: &'a mut Graph, window: &'a mut Window) -> Self {
        let most = graph.len() + MOST_NODES;
        Moment {
            eyes,
            graph,
            window,
            seen: FxHashMap::default(),
            most,
            bytes: 0,
        }
    }

    /// The node of an object.
    pub(super) fn of(&mut self, object: &Bound<'_, PyAny>) -> NodeId {
        self.node(object, 0)
    }

    /// What an importer finds at a place.
    pub(super) fn reference(&mut self, place: &Place) -> NodeId {
        self.plain(match place {
            Place::Global { module, name } => Value::Reference(Reference::new(module, name)),
            Place::ClassAttribute { class, name } => {
                let path = format!("{}.{name}", class.path);
                Value::Reference(Reference::new(&class.module, path))
            }
            Place::Cell { .. } | Place::Default { .. } => Value::None,
        })
    }

    /// What has been seen so far.
    pub(super) fn graph(&self) -> &Graph {
        self.graph
    }

    /// All objects that have been seen, by their addresses.
    pub(super) fn seen(&self) -> impl Iterator<Item = (usize, NodeId)> {
        self.seen.iter().map(|(address, node)| (*address, *node))
    }

    fn plain(&mut self, value: Value) -> NodeId {
        self.graph.add(Node::plain(value))
    }

    fn node(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> NodeId {
        if let Some(value) = simple(object) {
            self.bytes += bytes_in(&value);
            return if self.bytes > MOST_BYTES {
                let class = names::class_reference(&object.get_type());
                self.plain(too_long(&class.path, bytes_in(&value)))
            } else {
                self.plain(value)
            };
        }
        let address = object.as_ptr() as usize;
        if let Some(place) = self.seen.get(&address) {
            return *place;
        }
        if let Some(reference) = reference(object) {
            let place = self.plain(Value::Reference(reference));
            self.seen.insert(address, place);
            return place;
        }
        if depth >= DEEPEST || self.graph.len() >= self.most {
            let class = names::class_reference(&object.get_type());
            let length = length(object);
            return self.plain(Value::Omitted { class, length });
        }
        let identity = has_identity(object).then(|| self.eyes.identities.of(object, self.window));
        // Its place is needed before its parts are there, for they may refer to it.
        let place = self.plain(Value::None);
        self.seen.insert(address, place);
        let value = self.inside(object, depth + 1);
        let node = Node {
            value,
            object: identity,
        };
        self.graph.set(place, node);
        place
    }

    fn inside(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Value {
        if let Some(value) = self.container(object, depth, true) {
            return value;
        }
        if let Ok(function) = object.cast_exact::<PyFunction>() {
            return self.function(function, depth);
        }
        if let Some(value) = self.bound_method(object, depth) {
            return value;
        }
        if let Some(value) = self.library(object, depth) {
            return value;
        }
        self.instance(object, depth)
    }

    /// A built-in container as such: of exactly that type, or what a derived class stores.
    fn container(
        &mut self,
        object: &Bound<'_, PyAny>,
        depth: u32,
        is_exact: bool,
    ) -> Option<Value> {
        fn is<'a, 'py, T: pyo3::PyTypeCheck + pyo3::type_object::PyTypeInfo>(
            object: &'a Bound<'py, PyAny>,
            is_exact: bool,
        ) -> Option<&'a Bound<'py, T>> {
            if is_exact {
                object.cast_exact::<T>().ok()
            } else {
                object.cast::<T>().ok()
            }
        }
        if let Some(list) = is::<PyList>(object, is_exact) {
            return Some(Value::List(self.all(list.iter(), depth)));
        }
        if let Some(tuple) = is::<PyTuple>(object, is_exact) {
            return Some(Value::Tuple(self.all(tuple.iter(), depth)));
        }
        if let Some(dictionary) = is::<PyDict>(object, is_exact) {
            return Some(Value::Dictionary(self.entries(dictionary, depth)));
        }
        if let Some(set) = is::<PySet>(object, is_exact) {
            return Some(Value::Set(self.members(set.as_any(), depth)));
        }
        if let Some(set) = is::<PyFrozenSet>(object, is_exact) {
            return Some(Value::FrozenSet(self.members(set.as_any(), depth)));
        }
        let bytes = is::<PyByteArray>(object, is_exact)?;
        Some(Value::ByteArray(bytes.to_vec()))
    }

    fn all<'py>(
        &mut self,
        objects: impl Iterator<Item = Bound<'py, PyAny>>,
        depth: u32,
    ) -> Vec<NodeId> {
        objects.map(|object| self.node(&object, depth)).collect()
    }

    fn entries(&mut self, dictionary: &Bound<'_, PyDict>, depth: u32) -> Vec<(NodeId, NodeId)> {
        let both = |(key, value)| (self.node(&key, depth), self.node(&value, depth));
        dictionary.iter().map(both).collect()
    }

    /// The members of a set by the way of the built-in type, in an order of their own.
    fn members(&mut self, set: &Bound<'_, PyAny>, depth: u32) -> Vec<NodeId> {
        let mut members = Vec::new();
        // SAFETY: both types iterate over both kinds of sets; the iterator is a new reference.
        let iterator = unsafe {
            let iterate = ffi::PySet_Type.tp_iter;
            iterate
                .and_then(|iterate| Bound::from_owned_ptr_or_opt(set.py(), iterate(set.as_ptr())))
        };
        let items = iterator.iter().flat_map(|items| items.try_iter());
        members.extend(
            items
                .flatten()
                .flatten()
                .map(|member| self.node(&member, depth)),
        );
        members.sort_by_cached_key(|member| order(self.graph, *member));
        members
    }

    fn function(&mut self, function: &Bound<'_, PyFunction>, depth: u32) -> Value {
        let python = function.py();
        // SAFETY: the object is a function, so it has this layout, and its parts are alive or null.
        let (module, qualified_name, code, closure) = unsafe {
            let parts = &*function.as_ptr().cast::<ffi::PyFunctionObject>();
            (
                names::text(python, parts.func_module).unwrap_or_default(),
                names::text(python, parts.func_qualname).unwrap_or_default(),
                Bound::from_borrowed_ptr(python, parts.func_code),
                Bound::from_borrowed_ptr_or_opt(python, parts.func_closure),
            )
        };
        let line = code
            .getattr("co_firstlineno")
            .and_then(|line| line.extract());
        let variables = code
            .getattr("co_freevars")
            .and_then(|names| names.extract());
        let variables: Vec<String> = variables.unwrap_or_default();
        let cells = closure.and_then(|cells| cells.cast_into::<PyTuple>().ok());
        let cells = cells.iter().flat_map(|cells| cells.iter());
        let mut enclosed = Vec::new();
        for (name, cell) in variables.into_iter().zip(cells) {
            if let Some(value) = content_of_cell(&cell) {
                enclosed.push((name, self.node(&value, depth)));
            }
        }
        Value::Function(Function {
            module,
            qualified_name,
            line: line.unwrap_or(0),
            closure: enclosed,
        })
    }

    /// A method bound to an object, written in Python or in C.
    fn bound_method(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Option<Value> {
        let class = names::class_reference(&object.get_type());
        let is_written_in_python = class == Reference::new("builtins", "method");
        if !is_written_in_python && object.cast_exact::<PyCFunction>().is_err() {
            return None;
        }
        // Both are of types written in C, which answer themselves.
        let receiver = object.getattr("__self__").ok()?;
        let name = if is_written_in_python {
            let function = object.getattr("__func__").ok()?;
            let function = function.cast_exact::<PyFunction>().ok()?;
            // SAFETY: the object is a function, so it has this layout.
            unsafe {
                let parts = &*function.as_ptr().cast::<ffi::PyFunctionObject>();
                names::text(object.py(), parts.func_name)?
            }
        } else {
            object.getattr("__name__").ok()?.extract().ok()?
        };
        let receiver = self.node(&receiver, depth);
        Some(Value::Method { receiver, name })
    }
}

/// What a cell holds.
pub(super) fn content_of_cell<'py>(cell: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    // SAFETY: the type is checked; the answer is a new reference, or null without an exception for an empty cell.
    unsafe {
        if ffi::Py_TYPE(cell.as_ptr()) != &raw mut ffi::PyCell_Type {
            return None;
        }
        Bound::from_owned_ptr_or_opt(cell.py(), ffi::PyCell_Get(cell.as_ptr()))
    }
}

/// Values of built-in types without parts.
fn simple(object: &Bound<'_, PyAny>) -> Option<Value> {
    if object.is_none() {
        Some(Value::None)
    } else if let Ok(text) = object.cast_exact::<PyString>() {
        Some(of_text(text))
    } else if let Ok(number) = object.cast_exact::<PyInt>() {
        Some(of_integer(number.as_any()))
    } else if let Ok(value) = object.cast_exact::<PyBool>() {
        Some(Value::Boolean(value.is_true()))
    } else if let Ok(number) = object.cast_exact::<PyFloat>() {
        Some(Value::Float(Float(number.value())))
    } else if let Ok(bytes) = object.cast_exact::<PyBytes>() {
        Some(of_bytes(bytes))
    } else if let Ok(number) = object.cast_exact::<PyComplex>() {
        Some(of_complex(number))
    } else if object.is(object.py().Ellipsis()) {
        Some(Value::Ellipsis)
    } else if object.is(object.py().NotImplemented()) {
        Some(Value::NotImplemented)
    } else {
        None
    }
}

/// The value of an object that is derived from a type without parts, as that type has it.
fn simple_content(object: &Bound<'_, PyAny>) -> Option<Value> {
    if let Ok(text) = object.cast::<PyString>() {
        Some(of_text(text))
    } else if object.is_instance_of::<PyInt>() {
        Some(of_integer(object))
    } else if let Ok(number) = object.cast::<PyFloat>() {
        Some(Value::Float(Float(number.value())))
    } else if let Ok(bytes) = object.cast::<PyBytes>() {
        Some(of_bytes(bytes))
    } else if let Ok(number) = object.cast::<PyComplex>() {
        Some(of_complex(number))
    } else {
        None
    }
}

fn of_text(text: &Bound<'_, PyString>) -> Value {
    match text.to_str() {
        Ok(text) if text.len() > LONGEST => too_long("str", text.chars().count()),
        Ok(text) => Value::Text(super::sources::masked(text).into_owned()),
        Err(_) => {
            // SAFETY: it is a text, and the places are inside it.
            let points = unsafe {
                let length = ffi::PyUnicode_GetLength(text.as_ptr());
                (0..length.min(LONGEST as isize))
                    .map(|place| ffi::PyUnicode_ReadChar(text.as_ptr(), place))
                    .collect()
            };
            Value::BrokenText(points)
        }
    }
}

fn of_bytes(bytes: &Bound<'_, PyBytes>) -> Value {
    match bytes.as_bytes() {
        bytes if bytes.len() > LONGEST => too_long("bytes", bytes.len()),
        bytes => Value::Bytes(match std::str::from_utf8(bytes) {
            Ok(text) => super::sources::masked(text).into_owned().into_bytes(),
            Err(_) => bytes.to_vec(),
        }),
    }
}

fn too_long(class: &str, length: usize) -> Value {
    let class = Reference::new("builtins", class);
    let length = Some(length as u64);
    Value::Omitted { class, length }
}

fn of_complex(number: &Bound<'_, PyComplex>) -> Value {
    // SAFETY: it is a complex number.
    let (real, imaginary) = unsafe {
        let number = number.as_ptr();
        (
            ffi::PyComplex_RealAsDouble(number),
            ffi::PyComplex_ImagAsDouble(number),
        )
    };
    Value::Complex(Float(real), Float(imaginary))
}

/// A whole number, also of a derived class, which is not asked.
fn of_integer(number: &Bound<'_, PyAny>) -> Value {
    let mut overflow = 0;
    // SAFETY: it is a whole number, so nothing of its class is called; the text is a new reference.
    unsafe {
        let value = ffi::PyLong_AsLongLongAndOverflow(number.as_ptr(), &mut overflow);
        if overflow == 0 {
            return Value::Integer(value);
        }
        let text = ffi::PyNumber_ToBase(number.as_ptr(), 16);
        match Bound::from_owned_ptr_or_opt(number.py(), text) {
            Some(text) => Value::LargeInteger(text.to_string()),
            None => {
                ffi::PyErr_Clear();
                too_long("int", 0)
            }
        }
    }
}

/// A class, function, module or built-in that can be imported.
fn reference(object: &Bound<'_, PyAny>) -> Option<Reference> {
    let python = object.py();
    let reference = if let Ok(class) = object.cast::<PyType>() {
        names::class_reference(class)
    } else if let Ok(function) = object.cast_exact::<PyFunction>() {
        // SAFETY: the object is a function, so it has this layout.
        unsafe {
            let parts = &*function.as_ptr().cast::<ffi::PyFunctionObject>();
            Reference {
                module: names::text(python, parts.func_module)?,
                path: names::text(python, parts.func_qualname)?,
            }
        }
    } else if object.is_instance_of::<PyModule>() {
        Reference::new(names::module_name(object)?, "")
    } else if let Some(original) = super::sources::original(object) {
        return reference(&original);
    } else if let Some(method) = method_of_type(object) {
        method
    } else if object.cast_exact::<PyCFunction>().is_ok() {
        // Of a type written in C, which answers itself.
        let module: String = object.getattr("__module__").ok()?.extract().ok()?;
        Reference::new(
            module,
            object.getattr("__name__").ok()?.extract::<String>().ok()?,
        )
    } else {
        return None;
    };
    let found = names::found(python, &reference)?;
    let is_same = names::leads_to(&reference, object)
        || super::sources::original(&found).is_some_and(|original| original.is(object));
    is_same.then_some(reference)
}

/// A method of a type written in C, such as `str.upper`.
fn method_of_type(object: &Bound<'_, PyAny>) -> Option<Reference> {
    let kind = names::class_reference(&object.get_type()).path;
    let kinds = ["method_descriptor", "wrapper_descriptor"];
    if !kinds.contains(&kind.as_str()) {
        return None;
    }
    // Both are of types written in C, which answer themselves.
    let class = object
        .getattr("__objclass__")
        .ok()?
        .cast_into::<PyType>()
        .ok()?;
    let name: String = object.getattr("__name__").ok()?.extract().ok()?;
    let class = names::class_reference(&class);
    Some(Reference::new(
        class.module.clone(),
        format!("{}.{name}", class.path),
    ))
}

/// Whether it matters which object it is, and not only what it is worth.
fn has_identity(object: &Bound<'_, PyAny>) -> bool {
    object.cast_exact::<PyTuple>().is_err() && object.cast_exact::<PyFrozenSet>().is_err()
}

/// `len()` of a built-in container.
fn length(object: &Bound<'_, PyAny>) -> Option<u64> {
    let is_container = object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>()
        || object.is_instance_of::<PyDict>()
        || object.is_instance_of::<PySet>()
        || object.is_instance_of::<PyFrozenSet>();
    if !is_container {
        return None;
    }
    // SAFETY: all of them begin like an object with a size, or are dictionaries or sets, which have functions for it.
    let length = unsafe {
        let pointer = object.as_ptr();
        if ffi::PyDict_Check(pointer) != 0 {
            ffi::PyDict_Size(pointer)
        } else if ffi::PyAnySet_Check(pointer) != 0 {
            ffi::PySet_Size(pointer)
        } else {
            ffi::Py_SIZE(pointer)
        }
    };
    u64::try_from(length).ok()
}

/// A text by which members of sets are put in order: numbers by their size, everything else by what it looks like.
fn order(graph: &Graph, place: NodeId) -> (u8, i64, String) {
    match graph.value(place) {
        Value::Integer(number) => (0, *number, String::new()),
        Value::Text(text) => (1, 0, text.clone()),
        value => {
            let mut words = format!("{:?}", value.clone().map(|_| ()));
            for child in graph.children(place).into_iter().take(20) {
                words.push_str(&format!("{:?}", graph.value(child).clone().map(|_| ())));
            }
            (2, 0, words)
        }
    }
}
