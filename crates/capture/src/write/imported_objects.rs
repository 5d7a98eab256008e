//! Objects that exist as soon as their module is imported. A test refers to them by name and need
//! not make them.
//!
//! A module variable is shorter to import than to rebuild, and it is the very object that the unit
//! may compare with by `is`. Objects inside of it are rebuilt where that is possible, because
//! `Version("1.0")` is clearer than `registry.entries[3].version`. Otherwise the path from the
//! variable is written.

use std::collections::BTreeMap;

use super::access::{self, AccessPath};
use super::build::ValueBuilder;
use super::code::PythonCode;
use crate::recording::{Call, ProgramVariable};
use crate::value::{ImportPath, ObjectId, Value};

/// The maximum length of a path; longer ones are hard to follow.
const MAX_PATH_LENGTH: usize = 80;

/// The objects of a call that an import provides, with their paths.
#[derive(Default)]
pub(super) struct ImportedObjects {
    by_object: BTreeMap<ObjectId, ImportedObject>,
}

/// An object that an import provides.
#[derive(Clone)]
struct ImportedObject {
    /// The module variable that holds it.
    variable: ImportPath,
    /// The path from the variable to the object: empty, or `.params[0]`.
    steps: String,
}

impl ImportedObjects {
    /// Finds the imported objects of a call. Variables that the call or an earlier one changes are
    /// left out.
    pub(super) fn find(call: &Call) -> ImportedObjects {
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
            let state = call.variables.get(index)?;
            let (ProgramVariable::Global { module, name }, Some(before), Some(after)) =
                (&state.variable, state.before, state.after)
            else {
                return None;
            };
            let is_same = graph.object(before) == graph.object(after)
                && graph.is_isomorphic(before, graph, after);
            // Variables that the call changes are replaced for the time of the test, and so are
            // those that another call has changed.
            (state.is_as_imported && is_object(before) && is_same)
                .then(|| (ImportPath::new(module.clone(), name.clone()), before))
        };
        let mut by_object = BTreeMap::new();
        for index in 0..call.variables.len() {
            let Some((variable, node)) = variable(index) else {
                continue;
            };
            for (object, AccessPath { steps, node, .. }) in access::paths_inside(graph, index, node)
            {
                if is_object(node) && steps.len() <= MAX_PATH_LENGTH {
                    let variable = variable.clone();
                    let found = ImportedObject { variable, steps };
                    let known: &mut ImportedObject =
                        by_object.entry(object).or_insert(found.clone());
                    if found.steps.len() < known.steps.len() {
                        *known = found;
                    }
                }
            }
        }
        ImportedObjects { by_object }
    }
}

impl ValueBuilder<'_> {
    /// Refers to an object by the module variable that holds it.
    pub(super) fn imported_code(&mut self, object: ObjectId) -> Option<PythonCode> {
        let found = self.imported.by_object.get(&object)?;
        found.steps.is_empty().then_some(())?;
        self.import_path_code(object)
    }

    /// Refers to an object by a path from a module variable.
    pub(super) fn import_path_code(&mut self, object: ObjectId) -> Option<PythonCode> {
        let found = self.imported.by_object.get(&object)?.clone();
        let variable = self.reference_code(&found.variable).ok()?.one_line();
        let code = format!("{variable}{}", found.steps);
        self.existing.insert(object, code.clone());
        Some(PythonCode::Text(code))
    }

    /// Returns true if an import provides an object, or something that contains it.
    pub(super) fn is_imported(&self, object: ObjectId) -> bool {
        self.imported.by_object.contains_key(&object)
    }
}
