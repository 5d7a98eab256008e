//! How a test can say an object that it has no name for: by the way that leads to it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::literal;
use crate::Graph;
use crate::recording::Call;
use crate::value::{NodeId, ObjectId, Value};

/// Where a way begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// An argument, by its position among [`Call::arguments`].
    Argument(usize),
    /// A place, by its position among [`Call::places`].
    Place(usize),
}

/// A way to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) root: Root,
    /// `.next[0]["name"]`
    pub(super) steps: String,
    /// Where it leads.
    pub(super) node: NodeId,
}

/// The ways to all objects that can be reached when a call has ended, the shortest for each.
pub(super) fn after(call: &Call) -> BTreeMap<ObjectId, Access> {
    let arguments = call.arguments.iter().enumerate();
    let arguments =
        arguments.filter_map(|(index, argument)| Some((Root::Argument(index), argument.after?)));
    let places = call.places.iter().enumerate();
    let places = places.filter_map(|(index, state)| Some((Root::Place(index), state.after?)));
    ways(&call.values, arguments.chain(places))
}

/// The same for when it began.
pub(super) fn before(call: &Call) -> BTreeMap<ObjectId, Access> {
    let arguments = call.arguments.iter().enumerate();
    let arguments = arguments.map(|(index, argument)| (Root::Argument(index), argument.before));
    let places = call.places.iter().enumerate();
    let places = places.filter_map(|(index, state)| Some((Root::Place(index), state.before?)));
    ways(&call.values, arguments.chain(places))
}

/// The ways from a place, by its position among [`Call::places`], to all that is inside of what it holds.
pub(super) fn inside(graph: &Graph, place: usize, held: NodeId) -> BTreeMap<ObjectId, Access> {
    ways(graph, std::iter::once((Root::Place(place), held)))
}

fn ways(graph: &Graph, roots: impl Iterator<Item = (Root, NodeId)>) -> BTreeMap<ObjectId, Access> {
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
            found.entry(object).or_insert(Access { root, steps, node });
        }
        for (step, child) in parts(graph, node) {
            pending.push_back((root, format!("{steps}{step}"), child));
        }
    }
    found
}

/// The parts of a value that an expression can say.
fn parts(graph: &Graph, node: NodeId) -> Vec<(String, NodeId)> {
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
            let content = object.content.map(|content| parts(graph, content));
            named.chain(content.unwrap_or_default()).collect()
        }
        _ => Vec::new(),
    }
}
