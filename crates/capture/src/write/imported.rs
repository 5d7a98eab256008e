//! Objects that are there as soon as their module is imported: a test says them by name and need not make them.
//!
//! What a module holds under a name is shorter to import than to make, and is the very object that the unit may compare with
//! by `is`. What is inside of it is made like anything else where that is possible, since `Version("1.0")` tells more than
//! `registry.entries[3].version`, and else said by the way that leads there.

use std::collections::BTreeMap;

use super::access::{self, Access};
use super::build::Builder;
use super::code::Code;
use crate::recording::{Call, Place};
use crate::value::{ObjectId, Reference, Value};

/// Nobody follows a longer way.
const LONGEST_WAY: usize = 80;

/// The objects of a call that an import gives, and how to say them.
#[derive(Default)]
pub(super) struct Imported {
    by_object: BTreeMap<ObjectId, Found>,
}

#[derive(Clone)]
struct Found {
    variable: Reference,
    /// What leads from the variable to the object: nothing, or `.params[0]`.
    steps: String,
}

impl Imported {
    pub(super) fn of(call: &Call) -> Imported {
        let graph = &call.values;
        let is_object = |node| {
            matches!(
                graph.value(node),
                Value::Object(_)
                    | Value::Unknown { .. }
                    | Value::Function(_)
                    | Value::Method { .. }
            )
        };
        let variable = |index: usize| {
            let state = call.places.get(index)?;
            let (Place::Global { module, name }, Some(before), Some(after)) =
                (&state.place, state.before, state.after)
            else {
                return None;
            };
            let is_same =
                graph.object(before) == graph.object(after) && graph.is_alike(before, graph, after);
            // What the call changes is replaced for the time of the test, and so is what another call has changed.
            (state.is_as_imported && is_object(before) && is_same)
                .then(|| (Reference::new(module.clone(), name.clone()), before))
        };
        let mut by_object = BTreeMap::new();
        for index in 0..call.places.len() {
            let Some((variable, node)) = variable(index) else {
                continue;
            };
            for (object, Access { steps, node, .. }) in access::inside(graph, index, node) {
                if is_object(node) && steps.len() <= LONGEST_WAY {
                    let variable = variable.clone();
                    let found = Found { variable, steps };
                    let known: &mut Found = by_object.entry(object).or_insert(found.clone());
                    if found.steps.len() < known.steps.len() {
                        *known = found;
                    }
                }
            }
        }
        Imported { by_object }
    }
}

impl Builder<'_> {
    /// An object that a module holds under a name, by that name.
    pub(super) fn imported(&mut self, object: ObjectId) -> Option<Code> {
        let found = self.imported.by_object.get(&object)?;
        found.steps.is_empty().then_some(())?;
        self.said_by_import(object)
    }

    /// The same also for what is inside of such an object.
    pub(super) fn said_by_import(&mut self, object: ObjectId) -> Option<Code> {
        let found = self.imported.by_object.get(&object)?.clone();
        let variable = self.reference(&found.variable).ok()?.flat();
        let said = format!("{variable}{}", found.steps);
        self.live.insert(object, said.clone());
        Some(Code::Text(said))
    }

    /// Whether an import gives an object, or something that it is inside of.
    pub(super) fn is_imported(&self, object: ObjectId) -> bool {
        self.imported.by_object.contains_key(&object)
    }
}
