//! Graphs as Python modules.
//!
//! The module that is written can be explored and composed like a hand-written state machine. Its
//! format is that of PyModel's FSM modules.

use std::fmt::Write;

use testwright_core::product::Product;

use crate::ProductGraph;
use crate::module_text::{Stubs, header_comment};

/// Names that the module uses for itself. An action of the same name gets another one there.
const RESERVED: &[&str] = &[
    "states",
    "initial",
    "accepting",
    "unsafe",
    "frontier",
    "finished",
    "deadend",
    "runstarts",
    "graph",
    "actions",
    "cleanup",
    "observables",
];

/// Summarizes a graph in one line: its numbers of states, transitions, accepting and unsafe states.
pub fn summary(graph: &ProductGraph) -> String {
    format!(
        "{} states, {} transitions, {} accepting states, {} unsafe states",
        graph.states(),
        graph.transitions.len(),
        graph.accepting.len(),
        graph.unsafe_states.len(),
    )
}

/// Writes a graph as a Python module. `command`, the command line that made it, stands in a comment
/// on top.
pub fn write(product: &Product<'_>, graph: &ProductGraph, command: &str) -> String {
    let mut text = header_comment(command);
    let _ = writeln!(
        text,
        "# {}, {} finished and {} deadend states\n",
        summary(graph),
        graph.finished.len(),
        graph.dead_ends.len(),
    );
    let stubs = Stubs::new(product.interner(), RESERVED);
    text.push_str("# The actions: only their names matter here.\n");
    stubs.write(&mut text, product.vocabulary());
    text.push_str("\n# What each state is, by model.\nstates = {\n");
    for state in 0..graph.states() as u32 {
        let _ = writeln!(text, "  {state} : {},", graph.text(product, state));
    }
    text.push_str("}\n\n# Where runs begin and may end, and states to look at.\ninitial = 0\n");
    for (name, states) in [
        ("accepting", &graph.accepting),
        ("unsafe", &graph.unsafe_states),
        ("frontier", &graph.frontier),
        ("finished", &graph.finished),
        ("deadend", &graph.dead_ends),
        ("runstarts", &graph.starts),
    ] {
        let _ = writeln!(text, "{name} = {states:?}");
    }
    text.push_str("\n# State before, (action, arguments, result), state after.\ngraph = (\n");
    for transition in &graph.transitions {
        let step = stubs.step(graph.labels[transition.label as usize]);
        let _ = writeln!(text, "  ({}, {step}, {}),", transition.from, transition.to);
    }
    text.push_str(")\n");
    text
}
