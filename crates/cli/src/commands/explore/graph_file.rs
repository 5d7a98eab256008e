//! An explored graph as JSON, for programs that are not written in Python.

use std::collections::BTreeMap;

use serde::Serialize;
use testwright_core::product::{Product, ValueId};
use testwright_model::ProductGraph;

/// Version of the file format.
const VERSION: u32 = 1;

/// Contents of the file. A state is its index in `states`. Values are written as in Python.
#[derive(Serialize)]
struct GraphFile<'g> {
    /// Always [`VERSION`]; readers should check it first.
    version: u32,
    /// Names of all actions, including those that never happen.
    actions: Vec<&'g str>,
    /// Each state, by the names of the models.
    states: Vec<BTreeMap<&'g str, String>>,
    /// Initial states.
    starts: &'g [u32],
    /// States in which runs may end.
    accepting: &'g [u32],
    /// States in which an invariant is false.
    #[serde(rename = "unsafe")]
    unsafe_states: &'g [u32],
    /// States from which no accepting state can be reached.
    dead: Vec<u32>,
    /// Accepting states in which nothing is possible.
    finished: &'g [u32],
    /// Other states in which nothing is possible.
    dead_ends: &'g [u32],
    /// States that were not fully expanded.
    frontier: &'g [u32],
    transitions: Vec<TransitionEntry<'g>>,
}

/// A transition of the graph.
#[derive(Serialize)]
struct TransitionEntry<'g> {
    from: u32,
    action: &'g str,
    /// True if the model only observes the action.
    observed: bool,
    /// A Python tuple.
    arguments: &'g str,
    /// Omitted as `null` if the result is `None`.
    result: Option<&'g str>,
    to: u32,
}

/// Returns the text of the file.
pub(super) fn write(product: &Product<'_>, graph: &ProductGraph) -> String {
    let interner = product.interner();
    let steps = graph.transitions.iter().map(|transition| {
        let label = graph.labels[transition.label as usize];
        let result = Some(label.result).filter(|result| *result != ValueId::NONE);
        TransitionEntry {
            from: transition.from,
            action: interner.name_text(label.name),
            observed: product.is_observable(label.name),
            arguments: &interner.value_text(label.arguments).literal,
            result: result.map(|result| interner.value_text(result).literal.as_str()),
            to: transition.to,
        }
    });
    let state = |number: u32| {
        let each = product.models().iter().zip(graph.state(number));
        each.map(|(model, state_id)| (model.name(), model.text(*state_id)))
            .collect()
    };
    let names = product.vocabulary().iter();
    let file = GraphFile {
        version: VERSION,
        actions: names.map(|name| interner.name_text(*name)).collect(),
        states: (0..graph.states() as u32).map(state).collect(),
        starts: &graph.starts,
        accepting: &graph.accepting,
        unsafe_states: &graph.unsafe_states,
        dead: graph.dead_states(),
        finished: &graph.finished,
        dead_ends: &graph.dead_ends,
        frontier: &graph.frontier,
        transitions: steps.collect(),
    };
    let mut text = serde_json::to_string(&file).unwrap_or_default();
    text.push('\n');
    text
}
