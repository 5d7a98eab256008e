//! Paths to objects that a test has no name for, starting from arguments and variables.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::literal;
use crate::ValueGraph;
use crate::recording::Call;
use crate::value::{NodeId, ObjectId, Value};

/// The start of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// An argument, by its index in [`Call::arguments`].
    Argument(usize),
    /// A variable, by its index in [`Call::variables`].
    Variable(usize),
}

/// A path to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AccessPath {
    /// Its start.
    pub(super) root: Root,
    /// The steps from the start: `.next[0]["name"]`.
    pub(super) steps: String,
    /// The node of the object.
    pub(super) node: NodeId,
}

/// Returns the shortest paths to all objects that can be reached at the end of a call.
pub(super) fn paths_at_exit(call: &Call) -> BTreeMap<ObjectId, AccessPath> {
    let arguments = call.arguments.iter().enumerate();
    let arguments =
        arguments.filter_map(|(index, argument)| Some((Root::Argument(index), argument.after?)));
    let variables = call.variables.iter().enumerate();
    let variables =
        variables.filter_map(|(index, state)| Some((Root::Variable(index), state.after?)));
    shortest_paths(&call.values, arguments.chain(variables))
}

/// Returns the shortest paths to all objects that can be reached at the start of a call.
pub(super) fn paths_at_entry(call: &Call) -> BTreeMap<ObjectId, AccessPath> {
    let arguments = call.arguments.iter().enumerate();
    let arguments = arguments.map(|(index, argument)| (Root::Argument(index), argument.before));
    let variables = call.variables.iter().enumerate();
    let variables =
        variables.filter_map(|(index, state)| Some((Root::Variable(index), state.before?)));
    shortest_paths(&call.values, arguments.chain(variables))
}

/// Returns the shortest paths from a variable, by its index in [`Call::variables`], to all objects
/// inside of its value.
pub(super) fn paths_inside(
    graph: &ValueGraph,
    variable: usize,
    held: NodeId,
) -> BTreeMap<ObjectId, AccessPath> {
    shortest_paths(graph, std::iter::once((Root::Variable(variable), held)))
}

/// Finds the shortest path to each object by breadth-first search.
fn shortest_paths(
    graph: &ValueGraph,
    roots: impl Iterator<Item = (Root, NodeId)>,
) -> BTreeMap<ObjectId, AccessPath> {
    let mut found = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut pending: VecDeque<(Root, String, NodeId)> = roots
        .map(|(root, node)| (root, String::new(), node))
        .collect();
    while let Some((root, steps, node)) = pending.pop_front() {
        if !seen.insert(node) {
            continue;
        }
        if let Some(object) = graph.object(node) {
            let steps = steps.clone();
            found
                .entry(object)
                .or_insert(AccessPath { root, steps, node });
        }
        for (step, child) in accessible_parts(graph, node) {
            pending.push_back((root, format!("{steps}{step}"), child));
        }
    }
    found
}

/// Returns the parts of a value that an expression can reach, with the step to each.
fn accessible_parts(graph: &ValueGraph, node: NodeId) -> Vec<(String, NodeId)> {
    match graph.value(node) {
        Value::List(items) | Value::Tuple(items) => {
            let indexed = items.iter().enumerate();
            indexed
                .map(|(index, item)| (format!("[{index}]"), *item))
                .collect()
        }
        Value::Dictionary(entries) => entries
            .iter()
            .filter_map(|(key, value)| {
                let key = match graph.value(*key) {
                    Value::Text(text) => literal::quoted(text),
                    Value::Integer(number) => number.to_string(),
                    _ => return None,
                };
                Some((format!("[{key}]"), *value))
            })
            .collect(),
        Value::Object(object) => {
            let attributes = object.attributes.iter();
            let named = attributes.map(|(name, value)| (format!(".{name}"), *value));
            let content = object
                .content
                .map(|content| accessible_parts(graph, content));
            named.chain(content.unwrap_or_default()).collect()
        }
        _ => Vec::new(),
    }
}
