//! Places outside the arguments that a unit can read or write: globals and attributes of classes.
//!
//! What a unit can reach is read off the names in its code and, through the functions of the project that these names
//! lead to, in theirs. That is more than it uses, which does no harm: what did not change and is as it was imported
//! is of no interest to anybody.
//!
//! What is found that way (`search`) is remembered as a plan for the calls to come. What imports give is the baseline.

mod baseline;
mod search;

use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyCode, PyDict, PyFunction, PyModule, PyString, PyType};
use rustc_hash::FxHashMap;
use testwright_capture::{Place, PlaceState};

use super::scope::Scoped;
use super::snapshot::Moment;
use super::{identity, names};
use crate::sight::Pointer;
pub(super) use baseline::Baseline;

/// How many units and classes of receivers are remembered.
const MOST_PLANS: usize = 2_000;

/// What units can reach, by their code object and the class of their receiver. Finding it takes a hundred times as
/// long as seeing that nothing has changed.
#[derive(Default)]
pub(super) struct Plans {
    known: FxHashMap<(usize, usize), Arc<Plan>>,
}

impl Plans {
    /// The places that a call can reach: of a code object that runs with these globals, on a receiver of this class.
    pub(super) fn reach(
        &mut self,
        code: &Bound<'_, PyCode>,
        globals: &Bound<'_, PyDict>,
        receiver: Option<&Bound<'_, PyType>>,
        scoped: &mut Scoped,
    ) -> Reach {
        let class = receiver.map_or(0, |class| class.as_ptr() as usize);
        let key = (code.as_ptr() as usize, class);
        if let Some(plan) = self.known.get(&key)
            && let Some(namespaces) = plan.namespaces(code.py())
            && plan.still_holds(&namespaces)
        {
            return Reach::new(Arc::clone(plan), namespaces);
        }
        let (plan, namespaces) = search::plan(code, globals, receiver, scoped);
        let plan = Arc::new(plan);
        if self.known.len() >= MOST_PLANS {
            self.known.clear();
        }
        if plan.owners.iter().all(Option::is_some) {
            self.known.insert(key, Arc::clone(&plan))
        } else {
            // A namespace that nobody owns cannot be found again without keeping it alive.
            self.known.remove(&key)
        };
        Reach::new(plan, namespaces)
    }

    /// What an import gives has changed.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }
}

/// The places that calls of a unit can reach.
#[derive(Default)]
struct Plan {
    /// Weak references to the modules, classes and functions whose namespaces are looked into, with these.
    owners: Vec<Option<Owner>>,
    places: Vec<Reached>,
    /// Names that had nothing yet, but may get something.
    absent: Vec<Reached>,
    /// Names of functions, and where these are. They are of interest only if somebody replaces them.
    definitions: Vec<(Reached, usize)>,
    /// Which of them had been replaced when that was first asked.
    replaced: OnceLock<Vec<usize>>,
    /// All names that were looked up on the way.
    lookups: Vec<Lookup>,
}

struct Owner {
    reference: Py<PyAny>,
    /// Its namespace, which is there as long as it is.
    namespace: usize,
}

/// A name in one of the namespaces, and what it led to.
struct Lookup {
    namespace: usize,
    name: Py<PyString>,
    found: Found,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    /// A function, a class or a module, by where it is.
    Definition(usize),
    /// Anything else, by its type.
    Data(usize),
}

struct Reached {
    place: Place,
    namespace: usize,
    name: Py<PyString>,
}

/// The places that one call can reach.
pub(super) struct Reach {
    plan: Arc<Plan>,
    /// They live as long as the call.
    namespaces: Vec<Py<PyDict>>,
}

impl Plan {
    /// The namespaces, if all of them are still there.
    fn namespaces<'py>(&self, python: Python<'py>) -> Option<Vec<Bound<'py, PyDict>>> {
        let namespace = |owner: &Option<Owner>| {
            let owner = owner.as_ref()?;
            identity::is_alive(owner.reference.bind(python)).then_some(())?;
            // SAFETY: the owner is alive, and so is its namespace.
            let object = unsafe { Bound::from_borrowed_ptr(python, owner.namespace as Pointer) };
            object.cast_into::<PyDict>().ok()
        };
        self.owners.iter().map(namespace).collect()
    }

    /// Whether all names lead to where they led.
    fn still_holds(&self, namespaces: &[Bound<'_, PyDict>]) -> bool {
        self.lookups.iter().all(|lookup| {
            let namespace = &namespaces[lookup.namespace];
            let value = names::entry_at(namespace, &lookup.name);
            match (lookup.found, value) {
                (Found::Nothing, None) => true,
                (Found::Definition(address), Some(value)) => value.as_ptr() as usize == address,
                (Found::Data(class), Some(value)) => {
                    value.get_type_ptr() as usize == class || is_data(&value)
                }
                _ => false,
            }
        })
    }
}

impl Reach {
    fn new(plan: Arc<Plan>, namespaces: Vec<Bound<'_, PyDict>>) -> Reach {
        Reach {
            plan,
            namespaces: namespaces.into_iter().map(Bound::unbind).collect(),
        }
    }

    fn value<'py>(&self, python: Python<'py>, reached: &Reached) -> Option<Bound<'py, PyAny>> {
        let namespace = self.namespaces[reached.namespace].bind(python);
        names::entry_at(namespace, &reached.name)
    }

    /// Those whose values are kept, in the order of their states. Functions that had been replaced are places like
    /// others.
    fn places(&self) -> impl Iterator<Item = &Reached> {
        let replaced = self.replaced().iter();
        let replaced = replaced.map(|number| &self.plan.definitions[*number].0);
        self.plan.places.iter().chain(replaced)
    }

    fn replaced(&self) -> &[usize] {
        self.plan.replaced.get().map_or(&[], Vec::as_slice)
    }

    /// What the places hold at entry.
    pub(super) fn before(
        &self,
        python: Python<'_>,
        moment: &mut Moment<'_>,
        baseline: &mut Baseline,
    ) -> Vec<PlaceState> {
        // As long as the plan holds, the functions are the same.
        self.plan.replaced.get_or_init(|| {
            let all = self.plan.definitions.iter().enumerate();
            let other = all.filter(|(_, (reached, address))| {
                !baseline.is_same_definition(&reached.place, *address)
            });
            other.map(|(number, _)| number).collect()
        });
        let state = |reached: &Reached| {
            let node = self.value(python, reached).map(|value| moment.of(&value));
            let is_as_imported = match node {
                Some(_) if baseline.is_definition(&reached.place) => false,
                Some(node) => baseline.is_same(&reached.place, moment.graph(), node),
                None => false,
            };
            PlaceState {
                place: reached.place.clone(),
                before: node,
                after: None,
                is_as_imported,
            }
        };
        self.places().map(state).collect()
    }

    /// What they hold at exit, and what is new.
    pub(super) fn after(
        &self,
        python: Python<'_>,
        moment: &mut Moment<'_>,
        states: &mut Vec<PlaceState>,
    ) {
        for (reached, state) in self.places().zip(states.iter_mut()) {
            state.after = self.value(python, reached).map(|value| moment.of(&value));
        }
        for (number, (reached, address)) in self.plan.definitions.iter().enumerate() {
            if self.replaced().contains(&number) {
                continue;
            }
            let now = self.value(python, reached);
            if now.as_ref().map(|now| now.as_ptr() as usize) != Some(*address) {
                states.push(PlaceState {
                    place: reached.place.clone(),
                    before: Some(moment.reference(&reached.place)),
                    after: now.map(|now| moment.of(&now)),
                    is_as_imported: true,
                });
            }
        }
        for reached in &self.plan.absent {
            if let Some(value) = self.value(python, reached).filter(is_data) {
                states.push(PlaceState {
                    place: reached.place.clone(),
                    before: None,
                    after: Some(moment.of(&value)),
                    is_as_imported: true,
                });
            }
        }
    }

    pub(super) fn into_objects(self) -> impl Iterator<Item = Py<PyAny>> {
        self.namespaces.into_iter().map(Py::into_any)
    }
}

/// Whether a value is more than a definition.
pub(super) fn is_data(value: &Bound<'_, PyAny>) -> bool {
    let kind = value.get_type();
    let path = names::class_reference(&kind).path;
    let is_descriptor = matches!(
        path.as_str(),
        "property"
            | "staticmethod"
            | "classmethod"
            | "member_descriptor"
            | "getset_descriptor"
            | "cached_property"
            | "method_descriptor"
            | "wrapper_descriptor"
    );
    !is_descriptor
        && value.cast_exact::<PyFunction>().is_err()
        && value.cast_exact::<PyCFunction>().is_err()
        && !value.is_instance_of::<PyType>()
        && !value.is_instance_of::<PyModule>()
        && super::sources::original(value).is_none()
}
