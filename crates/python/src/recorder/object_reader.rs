//! Values of the program as plain data, read without running any of its code.
//!
//! Reading starts from some objects and follows all references. Built-in containers are read from
//! their own storage, even if a derived class overrides access; instances from the interpreter's
//! attribute storage (`instances`); well-known library types by the arguments that recreate them
//! (`library`). Values that are too large or too deep are marked as omitted, and opaque ones as
//! unknown.

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
use testwright_capture::{
    ExactFloat, ImportPath, LocalFunction, NodeId, ProgramVariable, Value, ValueGraph, ValueNode,
};

pub(super) use instances::ClassCache;

use super::identity::{HeldObjects, ObjectIdentities};
use super::names;

/// The maximum number of nodes added at one point of a call.
const MAX_NODES: usize = 4_000;
/// The maximum depth of nested values.
const MAX_DEPTH: u32 = 120;
/// The maximum length of texts and bytes.
const MAX_LENGTH: usize = 1 << 20;
/// The maximum number of bytes of texts and the like at one point of a call.
const MAX_BYTES: usize = 4 << 20;
/// The approximate memory use of a node.
const NODE_SIZE: usize = 150;

/// The state shared by all readings: identities of objects, and known classes.
pub(super) struct ObjectReader {
    pub(super) identities: ObjectIdentities,
    classes: ClassCache,
}

impl ObjectReader {
    pub(super) fn new(python: Python<'_>) -> PyResult<ObjectReader> {
        Ok(ObjectReader {
            identities: ObjectIdentities::new(),
            classes: ClassCache::new(python)?,
        })
    }
}

/// Adds objects to a graph at one point of a call. Objects that are added twice share a node.
pub(super) struct ValueGraphBuilder<'a> {
    reader: &'a mut ObjectReader,
    graph: &'a mut ValueGraph,
    held: &'a mut HeldObjects,
    /// Nodes by the address of their object.
    nodes_by_address: FxHashMap<usize, NodeId>,
    /// The maximum number of nodes in the graph.
    max_nodes: usize,
    /// The number of bytes of texts and the like added so far.
    bytes: usize,
}

/// Returns the approximate memory use of a graph.
pub(super) fn memory_size(graph: &ValueGraph) -> usize {
    graph.len() * NODE_SIZE
        + graph
            .iter()
            .map(|(_, node)| bytes_in(&node.value))
            .sum::<usize>()
}

/// Returns the number of bytes of a text or byte string.
fn bytes_in(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) | Value::ByteArray(bytes) => bytes.len(),
        _ => 0,
    }
}

impl<'a> ValueGraphBuilder<'a> {
    pub(super) fn new(
        reader: &'a mut ObjectReader,
        graph: &'a mut ValueGraph,
        held: &'a mut HeldObjects,
    ) -> Self {
        let max_nodes = graph.len() + MAX_NODES;
        ValueGraphBuilder {
            reader,
            graph,
            held,
            nodes_by_address: FxHashMap::default(),
            max_nodes,
            bytes: 0,
        }
    }

    /// Adds an object and everything in it. Returns its node.
    pub(super) fn add(&mut self, object: &Bound<'_, PyAny>) -> NodeId {
        self.node(object, 0)
    }

    /// Adds a reference to a variable, as a test would import it.
    pub(super) fn add_reference(&mut self, node: &ProgramVariable) -> NodeId {
        self.add_plain(match node {
            ProgramVariable::Global { module, name } => {
                Value::Reference(ImportPath::new(module, name))
            }
            ProgramVariable::ClassAttribute { class, name } => {
                let path = format!("{}.{name}", class.path);
                Value::Reference(ImportPath::new(&class.module, path))
            }
            ProgramVariable::ClosureVariable { .. } | ProgramVariable::Default { .. } => {
                Value::None
            }
        })
    }

    /// Returns the graph built so far.
    pub(super) fn graph(&self) -> &ValueGraph {
        self.graph
    }

    /// Returns all objects added so far, by address.
    pub(super) fn nodes_by_address(&self) -> impl Iterator<Item = (usize, NodeId)> {
        self.nodes_by_address
            .iter()
            .map(|(address, node)| (*address, *node))
    }

    /// Adds a value without an identity.
    fn add_plain(&mut self, value: Value) -> NodeId {
        self.graph.add(ValueNode::plain(value))
    }

    /// Adds an object at a depth of nesting.
    fn node(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> NodeId {
        if let Some(value) = simple_value(object) {
            self.bytes += bytes_in(&value);
            return if self.bytes > MAX_BYTES {
                let class = names::class_reference(&object.get_type());
                self.add_plain(omitted_value(&class.path, bytes_in(&value)))
            } else {
                self.add_plain(value)
            };
        }
        let address = object.as_ptr() as usize;
        if let Some(node) = self.nodes_by_address.get(&address) {
            return *node;
        }
        if let Some(reference) = reference(object) {
            let node = self.add_plain(Value::Reference(reference));
            self.nodes_by_address.insert(address, node);
            return node;
        }
        if depth >= MAX_DEPTH || self.graph.len() >= self.max_nodes {
            let class = names::class_reference(&object.get_type());
            let length = length(object);
            return self.add_plain(Value::Omitted { class, length });
        }
        let identity =
            has_identity(object).then(|| self.reader.identities.identify(object, self.held));
        // The node is needed before its parts, which may refer to it.
        let node = self.add_plain(Value::None);
        self.nodes_by_address.insert(address, node);
        let value = self.read_parts(object, depth + 1);
        let content = ValueNode {
            value,
            object: identity,
        };
        self.graph.set(node, content);
        node
    }

    /// Reads the content of an object that is not a simple value.
    fn read_parts(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Value {
        if let Some(value) = self.container(object, depth, true) {
            return value;
        }
        if let Ok(function) = object.cast_exact::<PyFunction>() {
            return self.function(function, depth);
        }
        if let Some(value) = self.bound_method(object, depth) {
            return value;
        }
        if let Some(value) = self.library_value(object, depth) {
            return value;
        }
        self.instance(object, depth)
    }

    /// Reads a built-in container: of exactly that type, or the storage of a derived class.
    fn container(
        &mut self,
        object: &Bound<'_, PyAny>,
        depth: u32,
        is_exact: bool,
    ) -> Option<Value> {
        fn cast_to<'a, 'py, T: pyo3::PyTypeCheck + pyo3::type_object::PyTypeInfo>(
            object: &'a Bound<'py, PyAny>,
            is_exact: bool,
        ) -> Option<&'a Bound<'py, T>> {
            if is_exact {
                object.cast_exact::<T>().ok()
            } else {
                object.cast::<T>().ok()
            }
        }
        if let Some(list) = cast_to::<PyList>(object, is_exact) {
            return Some(Value::List(self.add_all(list.iter(), depth)));
        }
        if let Some(tuple) = cast_to::<PyTuple>(object, is_exact) {
            return Some(Value::Tuple(self.add_all(tuple.iter(), depth)));
        }
        if let Some(dictionary) = cast_to::<PyDict>(object, is_exact) {
            return Some(Value::Dictionary(self.entries(dictionary, depth)));
        }
        if let Some(set) = cast_to::<PySet>(object, is_exact) {
            return Some(Value::Set(self.members(set.as_any(), depth)));
        }
        if let Some(set) = cast_to::<PyFrozenSet>(object, is_exact) {
            return Some(Value::FrozenSet(self.members(set.as_any(), depth)));
        }
        let bytes = cast_to::<PyByteArray>(object, is_exact)?;
        Some(Value::ByteArray(bytes.to_vec()))
    }

    /// Adds several objects.
    fn add_all<'py>(
        &mut self,
        objects: impl Iterator<Item = Bound<'py, PyAny>>,
        depth: u32,
    ) -> Vec<NodeId> {
        objects.map(|object| self.node(&object, depth)).collect()
    }

    /// Adds the entries of a dictionary.
    fn entries(&mut self, dictionary: &Bound<'_, PyDict>, depth: u32) -> Vec<(NodeId, NodeId)> {
        let both = |(key, value)| (self.node(&key, depth), self.node(&value, depth));
        dictionary.iter().map(both).collect()
    }

    /// Adds the members of a set, read as the built-in type and sorted.
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
        members.sort_by_cached_key(|member| sort_key(self.graph, *member));
        members
    }

    /// Reads a function that cannot be imported: its names, its line and its closure.
    fn function(&mut self, function: &Bound<'_, PyFunction>, depth: u32) -> Value {
        let python = function.py();
        // SAFETY: the object is a function, so it has this layout, and its parts are alive or null.
        let (module, qualified_name, code, closure) = unsafe {
            let parts = &*function.as_ptr().cast::<ffi::PyFunctionObject>();
            (
                names::read_text(python, parts.func_module).unwrap_or_default(),
                names::read_text(python, parts.func_qualname).unwrap_or_default(),
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
            if let Some(value) = cell_content(&cell) {
                enclosed.push((name, self.node(&value, depth)));
            }
        }
        Value::Function(LocalFunction {
            module,
            qualified_name,
            line: line.unwrap_or(0),
            closure: enclosed,
        })
    }

    /// Reads a method bound to an object, written in Python or in C.
    fn bound_method(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Option<Value> {
        let class = names::class_reference(&object.get_type());
        let is_written_in_python = class == ImportPath::new("builtins", "method");
        if !is_written_in_python && object.cast_exact::<PyCFunction>().is_err() {
            return None;
        }
        // Both types are written in C, so these attributes run no code of the program.
        let receiver = object.getattr("__self__").ok()?;
        let name = if is_written_in_python {
            let function = object.getattr("__func__").ok()?;
            let function = function.cast_exact::<PyFunction>().ok()?;
            // SAFETY: the object is a function, so it has this layout.
            unsafe {
                let parts = &*function.as_ptr().cast::<ffi::PyFunctionObject>();
                names::read_text(object.py(), parts.func_name)?
            }
        } else {
            object.getattr("__name__").ok()?.extract().ok()?
        };
        let receiver = self.node(&receiver, depth);
        Some(Value::Method { receiver, name })
    }
}

/// Returns the content of a closure cell.
pub(super) fn cell_content<'py>(cell: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    // SAFETY: the type is checked; the result is a new reference, or null without an exception for
    // an empty cell.
    unsafe {
        if ffi::Py_TYPE(cell.as_ptr()) != &raw mut ffi::PyCell_Type {
            return None;
        }
        Bound::from_owned_ptr_or_opt(cell.py(), ffi::PyCell_Get(cell.as_ptr()))
    }
}

/// Reads a value of a built-in type without parts.
fn simple_value(object: &Bound<'_, PyAny>) -> Option<Value> {
    if object.is_none() {
        Some(Value::None)
    } else if let Ok(text) = object.cast_exact::<PyString>() {
        Some(read_string(text))
    } else if let Ok(number) = object.cast_exact::<PyInt>() {
        Some(read_integer(number.as_any()))
    } else if let Ok(value) = object.cast_exact::<PyBool>() {
        Some(Value::Boolean(value.is_true()))
    } else if let Ok(number) = object.cast_exact::<PyFloat>() {
        Some(Value::Float(ExactFloat(number.value())))
    } else if let Ok(bytes) = object.cast_exact::<PyBytes>() {
        Some(read_bytes(bytes))
    } else if let Ok(number) = object.cast_exact::<PyComplex>() {
        Some(read_complex(number))
    } else if object.is(object.py().Ellipsis()) {
        Some(Value::Ellipsis)
    } else if object.is(object.py().NotImplemented()) {
        Some(Value::NotImplemented)
    } else {
        None
    }
}

/// Reads the value of an object derived from a type without parts, as the base type stores it.
fn simple_content(object: &Bound<'_, PyAny>) -> Option<Value> {
    if let Ok(text) = object.cast::<PyString>() {
        Some(read_string(text))
    } else if object.is_instance_of::<PyInt>() {
        Some(read_integer(object))
    } else if let Ok(number) = object.cast::<PyFloat>() {
        Some(Value::Float(ExactFloat(number.value())))
    } else if let Ok(bytes) = object.cast::<PyBytes>() {
        Some(read_bytes(bytes))
    } else if let Ok(number) = object.cast::<PyComplex>() {
        Some(read_complex(number))
    } else {
        None
    }
}

/// Reads a string. Those that are not valid Unicode are kept as code points.
fn read_string(text: &Bound<'_, PyString>) -> Value {
    match text.to_str() {
        Ok(text) if text.len() > MAX_LENGTH => omitted_value("str", text.chars().count()),
        Ok(text) => Value::Text(super::external::mask(text).into_owned()),
        Err(_) => {
            // SAFETY: it is a string, and the positions are inside it.
            let points = unsafe {
                let length = ffi::PyUnicode_GetLength(text.as_ptr());
                (0..length.min(MAX_LENGTH as isize))
                    .map(|node| ffi::PyUnicode_ReadChar(text.as_ptr(), node))
                    .collect()
            };
            Value::SurrogateText(points)
        }
    }
}

/// Reads a byte string, with secrets masked if it is text.
fn read_bytes(bytes: &Bound<'_, PyBytes>) -> Value {
    match bytes.as_bytes() {
        bytes if bytes.len() > MAX_LENGTH => omitted_value("bytes", bytes.len()),
        bytes => Value::Bytes(match std::str::from_utf8(bytes) {
            Ok(text) => super::external::mask(text).into_owned().into_bytes(),
            Err(_) => bytes.to_vec(),
        }),
    }
}

/// Returns a value that stands for one that is too long.
fn omitted_value(class: &str, length: usize) -> Value {
    let class = ImportPath::new("builtins", class);
    let length = Some(length as u64);
    Value::Omitted { class, length }
}

/// Reads a complex number.
fn read_complex(number: &Bound<'_, PyComplex>) -> Value {
    // SAFETY: it is a complex number.
    let (real, imaginary) = unsafe {
        let number = number.as_ptr();
        (
            ffi::PyComplex_RealAsDouble(number),
            ffi::PyComplex_ImagAsDouble(number),
        )
    };
    Value::Complex(ExactFloat(real), ExactFloat(imaginary))
}

/// Reads an integer, including one of a derived class, without calling its methods.
fn read_integer(number: &Bound<'_, PyAny>) -> Value {
    let mut overflow = 0;
    // SAFETY: it is an integer, so its class is not called; the text is a new reference.
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
                omitted_value("int", 0)
            }
        }
    }
}

/// Returns the import path of a class, function, module or built-in, if importing it gives this
/// object.
fn reference(object: &Bound<'_, PyAny>) -> Option<ImportPath> {
    let python = object.py();
    let reference = if let Ok(class) = object.cast::<PyType>() {
        names::class_reference(class)
    } else if let Ok(function) = object.cast_exact::<PyFunction>() {
        // SAFETY: the object is a function, so it has this layout.
        unsafe {
            let parts = &*function.as_ptr().cast::<ffi::PyFunctionObject>();
            ImportPath {
                module: names::read_text(python, parts.func_module)?,
                path: names::read_text(python, parts.func_qualname)?,
            }
        }
    } else if object.is_instance_of::<PyModule>() {
        ImportPath::new(names::module_name(object)?, "")
    } else if let Some(original) = super::external::wrapped_original(object) {
        return reference(&original);
    } else if let Some(method) = method_of_type(object) {
        method
    } else if object.cast_exact::<PyCFunction>().is_ok() {
        // The type is written in C, so these attributes run no code of the program.
        let module: String = object.getattr("__module__").ok()?.extract().ok()?;
        ImportPath::new(
            module,
            object.getattr("__name__").ok()?.extract::<String>().ok()?,
        )
    } else {
        return None;
    };
    let found = names::resolve(python, &reference)?;
    let is_same = names::resolves_to(&reference, object)
        || super::external::wrapped_original(&found).is_some_and(|original| original.is(object));
    is_same.then_some(reference)
}

/// Returns the path of a method of a type written in C, such as `str.upper`.
fn method_of_type(object: &Bound<'_, PyAny>) -> Option<ImportPath> {
    let kind = names::class_reference(&object.get_type()).path;
    let kinds = ["method_descriptor", "wrapper_descriptor"];
    if !kinds.contains(&kind.as_str()) {
        return None;
    }
    // Both types are written in C, so these attributes run no code of the program.
    let class = object
        .getattr("__objclass__")
        .ok()?
        .cast_into::<PyType>()
        .ok()?;
    let name: String = object.getattr("__name__").ok()?.extract().ok()?;
    let class = names::class_reference(&class);
    Some(ImportPath::new(
        class.module.clone(),
        format!("{}.{name}", class.path),
    ))
}

/// Returns true if the identity of an object matters, and not only its value.
fn has_identity(object: &Bound<'_, PyAny>) -> bool {
    object.cast_exact::<PyTuple>().is_err() && object.cast_exact::<PyFrozenSet>().is_err()
}

/// Returns the length of a built-in container.
fn length(object: &Bound<'_, PyAny>) -> Option<u64> {
    let is_container = object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>()
        || object.is_instance_of::<PyDict>()
        || object.is_instance_of::<PySet>()
        || object.is_instance_of::<PyFrozenSet>();
    if !is_container {
        return None;
    }
    // SAFETY: all of them start like an object with a size, or are dictionaries or sets, which have
    // functions for it.
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

/// Returns a key by which members of sets are sorted: numbers by size, texts by content, others by
/// appearance.
fn sort_key(graph: &ValueGraph, node: NodeId) -> (u8, i64, String) {
    match graph.value(node) {
        Value::Integer(number) => (0, *number, String::new()),
        Value::Text(text) => (1, 0, text.clone()),
        value => {
            let mut words = format!("{:?}", value.clone().map(|_| ()));
            for child in graph.children(node).into_iter().take(20) {
                words.push_str(&format!("{:?}", graph.value(child).clone().map(|_| ())));
            }
            (2, 0, words)
        }
    }
}
