//! Ids of tests. Equal inputs to the same unit have the same id in all runs, whatever the call
//! does.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::digest::digest;
use crate::graph::ValueGraph;
use crate::recording::{Call, CodeUnit, ExternalReply, ExternalSource, Interaction};
use crate::value::{NodeId, Value};

/// Computes the id of a call: eight hexadecimal digits for its inputs.
pub(crate) fn test_id(unit: &CodeUnit, call: &Call) -> String {
    let mut text = unit.name();
    let mut numbers = BTreeMap::new();
    let mut varies = false;
    for argument in &call.arguments {
        text.push('\n');
        text.push_str(&argument.name);
        write_value(&call.values, argument.before, &mut numbers, &mut text);
    }
    for state in call.variables.iter().filter(|state| !state.is_as_imported) {
        let _ = write!(text, "\n{:?}", state.variable);
        if let Some(before) = state.before {
            write_value(&call.values, before, &mut numbers, &mut text);
        }
    }
    for event in &call.events {
        text.push('\n');
        match &event.external {
            Interaction::Input { text: given, .. } => {
                let _ = write!(text, "input {given:?}");
            }
            Interaction::Output { .. } => {}
            Interaction::File { path, before, .. } => {
                // The folder depends on the machine.
                let name = path.rsplit('/').next();
                let _ = write!(text, "file {name:?} {before:?}");
            }
            Interaction::Environment { name, before, .. } => {
                let _ = write!(text, "variable {name} {before:?}");
            }
            Interaction::WorkingFolder { .. }
            | Interaction::Permissions { .. }
            | Interaction::Logged { .. } => {}
            // Their replies differ each time, but the test is still the same.
            Interaction::Called {
                source: ExternalSource::Clock | ExternalSource::Random | ExternalSource::Host,
                function,
                ..
            } => {
                varies = true;
                text.push_str(function);
            }
            Interaction::Called {
                function, answer, ..
            } => {
                let (ExternalReply::Returned(node) | ExternalReply::Raised(node)) = answer;
                text.push_str(function);
                write_value(&call.values, *node, &mut numbers, &mut text);
            }
        }
    }
    if varies {
        // The reached lines distinguish calls that differ in nothing but the replies.
        let _ = write!(text, "\nlines {:?}", call.lines);
    }
    digest(text.as_bytes())
}

/// Writes a value for the digest. A node that was written before is a number, so that sharing
/// counts and cycles end. The text uses `Debug`, so the names in it are part of all ids.
fn write_value(
    graph: &ValueGraph,
    node: NodeId,
    numbers: &mut BTreeMap<NodeId, usize>,
    text: &mut String,
) {
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
            // The number of the creating call differs from run to run.
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
