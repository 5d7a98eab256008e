//! Objects that modules hold besides functions and classes, and that can be imported by name.
//!
//! A test need not build such an object, and often could not: a command made from a decorated
//! function, a lock, or a sentinel compared by `is`. A call whose values include one records its
//! name, like a variable that the unit can read. Scripts have no such objects: most of their
//! variables are set only when they run as the program.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet, PyString, PyTuple};
use rustc_hash::FxHashMap;
use testwright_capture::{ImportPath, NodeId, ProgramVariable, Value, ValueGraph, VariableState};

use super::names;
use super::object_reader::ValueGraphBuilder;
use super::variables::is_data;

/// The maximum number of such objects recorded per call.
const MAX_PER_CALL: usize = 20;

/// The import paths of objects that modules hold.
#[derive(Default)]
pub(super) struct ImportableObjects {
    /// Paths by the address of the object. The address may have been reused, so each use checks
    /// that the path still leads to the object.
    by_address: FxHashMap<usize, ImportPath>,
}

impl ImportableObjects {
    /// Records the objects of a module that was just imported.
    pub(super) fn add_module(&mut self, namespace: &Bound<'_, PyDict>) {
        let module = names::entry(namespace, "__name__");
        // SAFETY: the entry is alive.
        let module =
            module.and_then(|name| unsafe { names::read_text(namespace.py(), name.as_ptr()) });
        let Some(module) = module else {
            return;
        };
        for (name, value) in object_variables(namespace) {
            // The first module seen to hold an object owns it.
            let reference = self.by_address.entry(value.as_ptr() as usize);
            reference.or_insert_with(|| ImportPath::new(&module, name));
        }
    }

    /// Returns the importable objects among those in a graph, as variables with their state at the
    /// start of the call.
    pub(super) fn find_in_graph(
        &self,
        python: Python<'_>,
        builder: &ValueGraphBuilder<'_>,
    ) -> Vec<VariableState> {
        let mut found: Vec<(ImportPath, NodeId)> = builder
            .nodes_by_address()
            .filter_map(|(address, node)| {
                let reference = self.by_address.get(&address)?;
                let found = names::resolve(python, reference)?;
                (found.as_ptr() as usize == address).then(|| (reference.clone(), node))
            })
            .collect();
        found.retain(|(_, node)| is_object(builder.graph(), *node));
        // If an object has several names, the first one in order is as good as any.
        found.sort_by(|(one, place), (other, another)| (place, one).cmp(&(another, other)));
        found.dedup_by_key(|(_, node)| *node);
        found.truncate(MAX_PER_CALL);
        let state = |(reference, node): (ImportPath, NodeId)| VariableState {
            variable: ProgramVariable::Global {
                module: reference.module,
                name: reference.path,
            },
            before: Some(node),
            after: None,
            // Running the test shows whether the imported object really equals this one.
            is_as_imported: true,
        };
        found.into_iter().map(state).collect()
    }
}

/// Reads the importable objects of a call again, at its end.
pub(super) fn read_final_states(
    python: Python<'_>,
    builder: &mut ValueGraphBuilder<'_>,
    found: &mut [VariableState],
) {
    for state in found {
        if let ProgramVariable::Global { module, name } = &state.variable {
            let found = names::resolve(python, &ImportPath::new(module, name));
            state.after = found.map(|found| builder.add(&found));
        }
    }
}

/// Returns the objects that the call left unchanged. Only they equal what a test imports.
pub(super) fn unchanged_objects(
    graph: &ValueGraph,
    found: Vec<VariableState>,
) -> impl Iterator<Item = VariableState> {
    found
        .into_iter()
        .filter(|state| match (state.before, state.after) {
            (Some(before), Some(after)) => {
                graph.object(before) == graph.object(after)
                    && graph.is_isomorphic(before, graph, after)
            }
            _ => false,
        })
}

/// Returns the variables of a module that hold instances of classes, with their names.
fn object_variables<'py>(
    namespace: &Bound<'py, PyDict>,
) -> impl Iterator<Item = (String, Bound<'py, PyAny>)> {
    let python = namespace.py();
    namespace.iter().filter_map(move |(name, value)| {
        // SAFETY: the name is alive.
        let name = unsafe { names::read_text(python, name.as_ptr()) }?;
        let is_wanted = !name.starts_with("__") && is_class_instance(&value) && is_data(&value);
        is_wanted.then_some((name, value))
    })
}

/// Returns true if a value is an instance of a class, and not a plain value, which is easier to
/// write down than to import.
fn is_class_instance(value: &Bound<'_, PyAny>) -> bool {
    let is_plain = value.is_none()
        || value.cast_exact::<PyString>().is_ok()
        || value.cast_exact::<PyDict>().is_ok()
        || value.cast_exact::<PyList>().is_ok()
        || value.cast_exact::<PyTuple>().is_ok()
        || value.cast_exact::<PySet>().is_ok();
    let class = value.get_type_ptr();
    // SAFETY: the class of an object that is alive is alive.
    let is_made_in_python = unsafe { ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_HEAPTYPE) != 0 };
    let is_bare = class == &raw mut ffi::PyBaseObject_Type;
    !is_plain && (is_made_in_python || is_bare)
}

/// Returns true if a node is an object, or an unknown value.
fn is_object(graph: &ValueGraph, node: NodeId) -> bool {
    matches!(graph.value(node), Value::Object(_) | Value::Unknown { .. })
}
