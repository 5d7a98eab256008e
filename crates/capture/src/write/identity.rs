//! The name of an interaction in all runs: the same inputs to the same unit have the same id, whatever comes of them.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::digest::digest;
use crate::graph::Graph;
use crate::recording::{Answer, Call, External, Source, Unit};
use crate::value::{NodeId, Value};

/// Eight hexadecimal digits that stand for what went into a call.
pub(crate) fn id(unit: &Unit, call: &Call) -> String {
    let mut text = unit.name();
    let mut numbers = BTreeMap::new();
    let mut varies = false;
    for argument in &call.arguments {
        text.push('\n');
        text.push_str(&argument.name);
        describe(&call.values, argument.before, &mut numbers, &mut text);
    }
    for state in call.places.iter().filter(|state| !state.is_as_imported) {
        let _ = write!(text, "\n{:?}", state.place);
        if let Some(before) = state.before {
            describe(&call.values, before, &mut numbers, &mut text);
        }
    }
    for event in &call.events {
        text.push('\n');
        match &event.external {
            External::Input { text: given, .. } => {
                let _ = write!(text, "input {given:?}");
            }
            External::Output { .. } => {}
            External::File { path, before, .. } => {
                // The folder depends on the machine.
                let name = path.rsplit('/').next();
                let _ = write!(text, "file {name:?} {before:?}");
            }
            External::Environment { name, before, .. } => {
                let _ = write!(text, "variable {name} {before:?}");
            }
            External::WorkingFolder { .. }
            | External::Permissions { .. }
            | External::Logged { .. } => {}
            // These answer otherwise each time, and it is the same interaction all the same.
            External::Called {
                source: Source::Clock | Source::Random | Source::Host,
                function,
                ..
            } => {
                varies = true;
                text.push_str(function);
            }
            External::Called {
                function, answer, ..
            } => {
                let (Answer::Returned(node) | Answer::Raised(node)) = answer;
                text.push_str(function);
                describe(&call.values, *node, &mut numbers, &mut text);
            }
        }
    }
    if varies {
        // What came of it tells calls apart that differ in nothing but the answers.
        let _ = write!(text, "\nlines {:?}", call.lines);
    }
    digest(text.as_bytes())
}

/// Writes a value down; what was written before is told by its number, so that shape counts and cycles end.
fn describe(graph: &Graph, node: NodeId, numbers: &mut BTreeMap<NodeId, usize>, text: &mut String) {
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        if graph.object(node).is_some() {
            let number = numbers.len();
            if let Some(known) = numbers.get(&node) {
                let _ = write!(text, " ^{known}");
                continue;
            }
            numbers.insert(node, number);
        }
        let value = graph.value(node);
        let form: Value<()> = match value.clone().map(|_| ()) {
            // When a generator was made differs from run to run.
            Value::Generator { function, .. } => Value::Generator {
                function,
                created_by: None,
            },
            form => form,
        };
        let _ = write!(text, " {form:?}");
        pending.extend(graph.children(node).into_iter().rev());
    }
}
