//! An explored graph as JSON, for programs that are not written in Python.

use std::collections::BTreeMap;

use serde::Serialize;
use testwright_core::product::{Product, ValueId};
use testwright_model::Graph;

/// The layout of the file. Whoever reads it should look at this first.
const VERSION: u32 = 1;

/// The file. States are numbers, from 0: places in `states`. Values are written as in Python.
#[derive(Serialize)]
struct GraphFile<'g> {
    version: u32,
    /// The names of all actions, those that never happen too.
    actions: Vec<&'g str>,
    /// Each state, by model.
    states: Vec<BTreeMap<&'g str, String>>,
    /// Where runs begin.
    starts: &'g [u32],
    accepting: &'g [u32],
    /// Those in which an invariant is false.
    #[serde(rename = "unsafe")]
    not_safe: &'g [u32],
    /// Those from which no accepting state can be reached.
    dead: Vec<u32>,
    /// Those in which nothing is possible: accepting ones, and others.
    finished: &'g [u32],
    dead_ends: &'g [u32],
    /// Those of which not all that follows is known.
    frontier: &'g [u32],
    transitions: Vec<Step<'g>>,
}

#[derive(Serialize)]
struct Step<'g> {
    from: u32,
    action: &'g str,
    /// A tuple.
    arguments: &'g str,
    /// Nothing if it is `None`.
    result: Option<&'g str>,
    to: u32,
}

/// The text of the file.
pub(super) fn write(product: &Product<'_>, graph: &Graph) -> String {
    let words = product.words();
    let steps = graph.transitions.iter().map(|transition| {
        let label = graph.labels[transition.label as usize];
        let result = Some(label.result).filter(|result| *result != ValueId::NONE);
        Step {
            from: transition.from,
            action: words.name_text(label.name),
            arguments: &words.value_text(label.arguments).literal,
            result: result.map(|result| words.value_text(result).literal.as_str()),
            to: transition.to,
        }
    });
    let state = |number: u32| {
        let each = product.models().iter().zip(graph.state(number));
        each.map(|(model, place)| (model.name(), model.text(*place)))
            .collect()
    };
    let names = product.vocabulary().iter();
    let file = GraphFile {
        version: VERSION,
        actions: names.map(|name| words.name_text(*name)).collect(),
        states: (0..graph.states() as u32).map(state).collect(),
        starts: &graph.starts,
        accepting: &graph.accepting,
        not_safe: &graph.not_safe,
        dead: graph.dead(),
        finished: &graph.finished,
        dead_ends: &graph.dead_ends,
        frontier: &graph.frontier,
        transitions: steps.collect(),
    };
    let mut text = serde_json::to_string(&file).unwrap_or_default();
    text.push('\n');
    text
}
