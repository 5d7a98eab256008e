//! Variables outside the arguments that a unit can read or write: globals, and attributes of
//! classes and functions.
//!
//! The names in a unit's code lead to its variables, and to functions of the project, whose code
//! has names in turn. The result (`reach_search`) is a superset of the variables that a call uses.
//! That does no harm: variables that are unchanged and have their imported value (`baseline`) are
//! left out of tests.
//!
//! The result of the search is kept as a plan for later calls of the same unit.

mod baseline;
mod reach_search;

use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyCode, PyDict, PyFunction, PyModule, PyString, PyType};
use rustc_hash::FxHashMap;
use testwright_capture::{ProgramVariable, VariableState};

use super::object_reader::ValueGraphBuilder;
use super::scope::ScopeCache;
use super::{identity, names};
use crate::reachability::Pointer;
pub(super) use baseline::ImportBaseline;

/// The maximum number of plans kept.
const MAX_PLANS: usize = 2_000;

/// Plans of the variables within reach, by the addresses of the code object and of the receiver's
/// class. Finding a plan takes a hundred times as long as checking that it is current.
#[derive(Default)]
pub(super) struct ReachCache {
    plans: FxHashMap<(usize, usize), Arc<ReachPlan>>,
}

impl ReachCache {
    /// Returns the variables that a call can reach, given its code, its globals and the class of
    /// its receiver.
    pub(super) fn reachable(
        &mut self,
        code: &Bound<'_, PyCode>,
        globals: &Bound<'_, PyDict>,
        receiver: Option<&Bound<'_, PyType>>,
        scope_cache: &mut ScopeCache,
    ) -> ReachableVariables {
        let class = receiver.map_or(0, |class| class.as_ptr() as usize);
        let key = (code.as_ptr() as usize, class);
        if let Some(plan) = self.plans.get(&key)
            && let Some(namespaces) = plan.namespaces(code.py())
            && plan.is_current(&namespaces)
        {
            return ReachableVariables::new(Arc::clone(plan), namespaces);
        }
        let (plan, namespaces) = reach_search::plan_reach(code, globals, receiver, scope_cache);
        let plan = Arc::new(plan);
        if self.plans.len() >= MAX_PLANS {
            self.plans.clear();
        }
        if plan.owners.iter().all(Option::is_some) {
            self.plans.insert(key, Arc::clone(&plan))
        } else {
            // A namespace without an owner cannot be found again without keeping it alive.
            self.plans.remove(&key)
        };
        ReachableVariables::new(plan, namespaces)
    }

    /// Forgets all plans, because an import has changed what names refer to.
    pub(super) fn forget(&mut self) {
        self.plans.clear();
    }
}

/// The variables that calls of a unit can reach.
#[derive(Default)]
struct ReachPlan {
    /// The owners of the namespaces involved: modules, classes and functions, by weak reference.
    /// `None` where there is no owner.
    owners: Vec<Option<NamespaceOwner>>,
    /// Variables that hold data.
    variables: Vec<VariableSlot>,
    /// Names that are unbound now, but may be bound later.
    absent: Vec<VariableSlot>,
    /// Names of functions, and the addresses of these. They matter only when the program replaces
    /// them.
    definitions: Vec<(VariableSlot, usize)>,
    /// Indices of the definitions that had been replaced when the plan was first used.
    replaced: OnceLock<Vec<usize>>,
    /// All names looked up by the search. The plan is current while they give the same results.
    lookups: Vec<NameLookup>,
}

/// An object that keeps a namespace alive.
struct NamespaceOwner {
    /// A weak reference to the owner.
    reference: Py<PyAny>,
    /// The address of its namespace, which lives as long as the owner.
    namespace: usize,
}

/// A name looked up in a namespace, and the result.
struct NameLookup {
    /// The index of the namespace in the plan.
    namespace: usize,
    name: Py<PyString>,
    found: LookupResult,
}

/// The result of looking up a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LookupResult {
    /// The name is unbound.
    Nothing,
    /// A function, a class or a module, by address.
    Definition(usize),
    /// Any other value, by the address of its type.
    Data(usize),
}

/// A variable, and the dictionary entry that holds it.
struct VariableSlot {
    variable: ProgramVariable,
    /// The index of the namespace in the plan.
    namespace: usize,
    name: Py<PyString>,
}

/// The variables that one call can reach.
pub(super) struct ReachableVariables {
    plan: Arc<ReachPlan>,
    /// The namespaces of the plan, kept alive during the call.
    namespaces: Vec<Py<PyDict>>,
}

impl ReachPlan {
    /// Returns the namespaces, if all of them still exist.
    fn namespaces<'py>(&self, python: Python<'py>) -> Option<Vec<Bound<'py, PyDict>>> {
        let namespace = |owner: &Option<NamespaceOwner>| {
            let owner = owner.as_ref()?;
            identity::is_alive(owner.reference.bind(python)).then_some(())?;
            // SAFETY: the owner is alive, and so is its namespace.
            let object = unsafe { Bound::from_borrowed_ptr(python, owner.namespace as Pointer) };
            object.cast_into::<PyDict>().ok()
        };
        self.owners.iter().map(namespace).collect()
    }

    /// Returns true if all names still lead to the same definitions, or to data.
    fn is_current(&self, namespaces: &[Bound<'_, PyDict>]) -> bool {
        self.lookups.iter().all(|lookup| {
            let namespace = &namespaces[lookup.namespace];
            let value = names::entry_by_name(namespace, &lookup.name);
            match (lookup.found, value) {
                (LookupResult::Nothing, None) => true,
                (LookupResult::Definition(address), Some(value)) => {
                    value.as_ptr() as usize == address
                }
                (LookupResult::Data(class), Some(value)) => {
                    value.get_type_ptr() as usize == class || is_data(&value)
                }
                _ => false,
            }
        })
    }
}

impl ReachableVariables {
    fn new(plan: Arc<ReachPlan>, namespaces: Vec<Bound<'_, PyDict>>) -> ReachableVariables {
        ReachableVariables {
            plan,
            namespaces: namespaces.into_iter().map(Bound::unbind).collect(),
        }
    }

    /// Returns the current value of a variable.
    fn value<'py>(&self, python: Python<'py>, slot: &VariableSlot) -> Option<Bound<'py, PyAny>> {
        let namespace = self.namespaces[slot.namespace].bind(python);
        names::entry_by_name(namespace, &slot.name)
    }

    /// Returns the variables whose values are recorded, in the order of their states. Replaced
    /// functions count as variables.
    fn variables(&self) -> impl Iterator<Item = &VariableSlot> {
        let replaced = self.replaced().iter();
        let replaced = replaced.map(|number| &self.plan.definitions[*number].0);
        self.plan.variables.iter().chain(replaced)
    }

    /// Returns the indices of the definitions that the program had replaced.
    fn replaced(&self) -> &[usize] {
        self.plan.replaced.get().map_or(&[], Vec::as_slice)
    }

    /// Reads the variables at the start of a call.
    pub(super) fn read_before_call(
        &self,
        python: Python<'_>,
        builder: &mut ValueGraphBuilder<'_>,
        baseline: &mut ImportBaseline,
    ) -> Vec<VariableState> {
        // While the plan is current, the functions stay the same.
        self.plan.replaced.get_or_init(|| {
            let all = self.plan.definitions.iter().enumerate();
            let other = all.filter(|(_, (slot, address))| {
                !baseline.matches_definition(&slot.variable, *address)
            });
            other.map(|(number, _)| number).collect()
        });
        let state = |slot: &VariableSlot| {
            let node = self.value(python, slot).map(|value| builder.add(&value));
            let is_as_imported = match node {
                Some(_) if baseline.is_definition(&slot.variable) => false,
                Some(node) => baseline.is_as_imported(&slot.variable, builder.graph(), node),
                None => false,
            };
            VariableState {
                variable: slot.variable.clone(),
                before: node,
                after: None,
                is_as_imported,
            }
        };
        self.variables().map(state).collect()
    }

    /// Reads the variables at the end of a call, and adds those that were bound or replaced during
    /// it.
    pub(super) fn read_after_call(
        &self,
        python: Python<'_>,
        builder: &mut ValueGraphBuilder<'_>,
        states: &mut Vec<VariableState>,
    ) {
        for (slot, state) in self.variables().zip(states.iter_mut()) {
            state.after = self.value(python, slot).map(|value| builder.add(&value));
        }
        for (number, (slot, address)) in self.plan.definitions.iter().enumerate() {
            if self.replaced().contains(&number) {
                continue;
            }
            let now = self.value(python, slot);
            if now.as_ref().map(|now| now.as_ptr() as usize) != Some(*address) {
                states.push(VariableState {
                    variable: slot.variable.clone(),
                    before: Some(builder.add_reference(&slot.variable)),
                    after: now.map(|now| builder.add(&now)),
                    is_as_imported: true,
                });
            }
        }
        for slot in &self.plan.absent {
            if let Some(value) = self.value(python, slot).filter(is_data) {
                states.push(VariableState {
                    variable: slot.variable.clone(),
                    before: None,
                    after: Some(builder.add(&value)),
                    is_as_imported: true,
                });
            }
        }
    }

    /// Takes the namespaces, to be dropped later.
    pub(super) fn into_objects(self) -> impl Iterator<Item = Py<PyAny>> {
        self.namespaces.into_iter().map(Py::into_any)
    }
}

/// Returns true if a value is data: not a function, class, module or descriptor.
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
        && super::external::wrapped_original(value).is_none()
}
