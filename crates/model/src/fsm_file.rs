//! A graph as a Python module, which can be explored and composed like any other machine.

use std::fmt::Write;

use testwright_core::product::Product;

use crate::Graph;
use crate::module_text::{Stubs, head};

/// The names of the module that are not actions.
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

/// How many there are of what, in the order in which people ask.
pub fn summary(graph: &Graph) -> String {
    format!(
        "{} states, {} transitions, {} accepting states, {} unsafe states",
        graph.states(),
        graph.transitions.len(),
        graph.accepting.len(),
        graph.not_safe.len(),
    )
}

/// The module. The command by which it was made stands at its head.
pub fn write(product: &Product<'_>, graph: &Graph, command: &str) -> String {
    let mut text = head(command);
    let _ = writeln!(
        text,
        "# {}, {} finished and {} deadend states\n",
        summary(graph),
        graph.finished.len(),
        graph.dead_ends.len(),
    );
    let stubs = Stubs::new(product.words(), RESERVED);
    text.push_str("# The actions: only their names matter here.\n");
    stubs.write(&mut text, product.vocabulary());
    text.push_str("\n# What each state is, by model.\nstates = {\n");
    for state in 0..graph.states() as u32 {
        let _ = writeln!(text, "  {state} : {},", graph.text(product, state));
    }
    text.push_str("}\n\n# Where runs begin and may end, and states to look at.\ninitial = 0\n");
    for (name, states) in [
        ("accepting", &graph.accepting),
        ("unsafe", &graph.not_safe),
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
