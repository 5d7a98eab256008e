//! Objects that an importer finds under a name: what modules hold besides functions and classes.
//!
//! A test need not make such an object again, and often could not: a command that was made of a decorated function, a
//! lock, or a mark that is compared by `is`. So a call that meets one notes where it is, like a variable that the unit
//! can read. A script has no such objects: most of what it holds is made only when it is run as the program.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet, PyString, PyTuple};
use rustc_hash::FxHashMap;
use testwright_capture::{Graph, NodeId, Place, PlaceState, Reference, Value};

use super::names;
use super::places::is_data;
use super::snapshot::Moment;

/// More objects of one call than this are not noted.
const MOST_OF_CALL: usize = 20;

/// Where objects are that modules hold.
#[derive(Default)]
pub(super) struct Homes {
    /// By the address of the object. Another one may have come to lie there, so a name is asked whether it still leads to it.
    by_address: FxHashMap<usize, Reference>,
}

impl Homes {
    /// A module has just been run.
    pub(super) fn note_module(&mut self, namespace: &Bound<'_, PyDict>) {
        let module = names::entry(namespace, "__name__");
        // SAFETY: the entry is alive.
        let module = module.and_then(|name| unsafe { names::text(namespace.py(), name.as_ptr()) });
        let Some(module) = module else {
            return;
        };
        for (name, value) in of_namespace(namespace) {
            // The module that was first to hold it is the one that it belongs to.
            let home = self.by_address.entry(value.as_ptr() as usize);
            home.or_insert_with(|| Reference::new(&module, name));
        }
    }

    /// The objects of a moment that an importer finds under a name.
    pub(super) fn met(&self, python: Python<'_>, moment: &Moment<'_>) -> Vec<PlaceState> {
        let mut met: Vec<(Reference, NodeId)> = moment
            .seen()
            .filter_map(|(address, node)| {
                let home = self.by_address.get(&address)?;
                let found = names::found(python, home)?;
                (found.as_ptr() as usize == address).then(|| (home.clone(), node))
            })
            .collect();
        met.retain(|(_, node)| is_object(moment.graph(), *node));
        // Where an object has several names, the first of a module is as good as any.
        met.sort_by(|(one, place), (other, another)| (place, one).cmp(&(another, other)));
        met.dedup_by_key(|(_, node)| *node);
        met.truncate(MOST_OF_CALL);
        let state = |(home, node): (Reference, NodeId)| PlaceState {
            place: Place::Global {
                module: home.module,
                name: home.path,
            },
            before: Some(node),
            after: None,
            // Whether it is quite what an import gives is found out by running the test.
            is_as_imported: true,
        };
        met.into_iter().map(state).collect()
    }
}

/// Looks again at what a call met.
pub(super) fn look_again(python: Python<'_>, moment: &mut Moment<'_>, met: &mut [PlaceState]) {
    for state in met {
        if let Place::Global { module, name } = &state.place {
            let found = names::found(python, &Reference::new(module, name));
            state.after = found.map(|found| moment.of(&found));
        }
    }
}

/// Of what a call met, what it left as it was: only that is the same for the next one who imports it.
pub(super) fn unchanged(graph: &Graph, met: Vec<PlaceState>) -> impl Iterator<Item = PlaceState> {
    met.into_iter()
        .filter(|state| match (state.before, state.after) {
            (Some(before), Some(after)) => {
                graph.object(before) == graph.object(after) && graph.is_alike(before, graph, after)
            }
            _ => false,
        })
}

/// The variables of a module that hold objects of classes, with their names.
fn of_namespace<'py>(
    namespace: &Bound<'py, PyDict>,
) -> impl Iterator<Item = (String, Bound<'py, PyAny>)> {
    let python = namespace.py();
    namespace.iter().filter_map(move |(name, value)| {
        // SAFETY: the name is alive.
        let name = unsafe { names::text(python, name.as_ptr()) }?;
        let is_wanted = !name.starts_with("__") && is_of_class(&value) && is_data(&value);
        is_wanted.then_some((name, value))
    })
}

/// Whether something is more than a plain value, which is written down more easily than imported.
fn is_of_class(value: &Bound<'_, PyAny>) -> bool {
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

fn is_object(graph: &Graph, node: NodeId) -> bool {
    matches!(graph.value(node), Value::Object(_) | Value::Unknown { .. })
}
