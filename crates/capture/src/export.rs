//! Recorded calls as JSON, for other tools: documentation, type hints, seeds for searches.
//!
//! A value has its type and a text; its parts are exported in the same way, down to `MAX_DEPTH`.
//! The store keeps more, and its format may change. This format is stable: keys are only added.

use std::path::Path;

use serde_json::{Map, Value as Json, json};

use crate::describe;
use crate::graph::ValueGraph;
use crate::recording::{
    Call, CallOutcome, CodeUnit, Recording, StepAction, StepOutcome, UnitId, UnitKind,
};
use crate::value::{NodeId, Value};

/// The maximum depth of parts; deeper parts are exported as a text only.
const MAX_DEPTH: usize = 6;
/// The maximum number of exported parts of one value.
const MAX_PARTS: usize = 200;

/// Exports some units of a recording, each with at most `limit` of its calls.
pub fn export_units(recording: &Recording, units: &[UnitId], limit: usize) -> Json {
    let exported = units.iter().filter_map(|number| {
        let unit = recording.unit(*number)?;
        let calls = recording.calls_of(*number).take(limit);
        let calls: Vec<Json> = calls.map(|one| export_call(recording, unit, one)).collect();
        let parameters: Vec<&str> = unit
            .parameters
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        Some(json!({
            "name": unit.name(),
            "file": unit.file,
            "line": unit.line,
            "kind": match unit.kind {
                UnitKind::Function => "function",
                UnitKind::Generator => "generator",
                UnitKind::Coroutine => "coroutine",
                UnitKind::AsyncGenerator => "async generator",
            },
            "parameters": parameters,
            "called": unit.calls.max(recording.calls_of(*number).count() as u64),
            "calls": calls,
        }))
    });
    Json::Array(exported.collect())
}

/// Returns true if a name refers to a unit: the whole name, complete words at its end, or a module
/// or class around it. A module that ran as the main program may also be named by its file.
pub fn matches_name(unit: &CodeUnit, name: &str) -> bool {
    let is_in = |whole: &str| format!(".{whole}.").contains(&format!(".{name}."));
    let file = Path::new(&unit.file).file_stem().unwrap_or_default();
    let by_file = format!("{}.{}", file.to_string_lossy(), unit.qualified_name);
    is_in(&unit.name()) || (unit.module == "__main__" && is_in(&by_file))
}

/// Finds the units that a name refers to; all units without a name.
pub fn find_units(recording: &Recording, name: Option<&str>) -> Vec<UnitId> {
    (0..)
        .zip(&recording.units)
        .filter(|(_, unit)| name.is_none_or(|name| matches_name(unit, name)))
        .map(|(number, _)| UnitId(number))
        .collect()
}

/// Exports a call with its arguments, steps and outcome.
fn export_call(recording: &Recording, unit: &CodeUnit, call: &Call) -> Json {
    let export = |node: NodeId| export_value(&call.values, node, 0);
    let arguments: Vec<Json> = (call.arguments.iter())
        .map(|argument| {
            json!({
                "name": argument.name,
                "before": export(argument.before),
                "after": argument.after.map(export),
                "is_default": argument.is_default,
            })
        })
        .collect();
    let steps: Vec<Json> = (call.steps.iter())
        .map(|step| {
            let (action, given) = match step.action {
                StepAction::Next => ("next", None),
                StepAction::Send(item) => ("send", Some(export(item))),
                StepAction::Throw(error) => ("throw", Some(export(error))),
                StepAction::Close => ("close", None),
            };
            let (outcome, result) = match step.outcome {
                StepOutcome::Yielded(item) => ("yielded", item),
                StepOutcome::Returned(item) => ("returned", item),
                StepOutcome::Raised(error) => ("raised", error),
            };
            json!({"action": action, "given": given, "outcome": outcome, "value": export(result)})
        })
        .collect();
    let (outcome, result) = match call.outcome {
        CallOutcome::Returned(result) => ("returned", Some(export(result))),
        CallOutcome::Raised { exception, .. } => ("raised", Some(export(exception))),
        CallOutcome::Unfinished => ("unfinished", None),
    };
    let mut text = describe::describe_call(unit, call).into_iter();
    let execution = recording.executions.get(call.execution as usize);
    json!({
        "text": text.next(),
        "arguments": arguments,
        "outcome": outcome,
        "value": result,
        "steps": steps,
        "notes": text.collect::<Vec<String>>(),
        "lines": call.lines,
        "microseconds": call.microseconds,
        "thread": call.thread,
        "python": execution.map(|execution| &execution.python),
        "command": execution.map(|execution| &execution.command),
    })
}

/// Exports a value, with its parts down to `MAX_DEPTH`.
fn export_value(graph: &ValueGraph, node_id: NodeId, depth: usize) -> Json {
    let node = graph.value(node_id);
    let mut exported = Map::new();
    exported.insert("type".to_owned(), json!(type_name(node)));
    exported.insert(
        "text".to_owned(),
        json!(describe::describe_value(graph, node_id)),
    );
    let all = |nodes: &[NodeId]| -> Json {
        let some = nodes.iter().take(MAX_PARTS);
        some.map(|node| export_value(graph, *node, depth + 1))
            .collect()
    };
    let named = |parts: &[(String, NodeId)]| -> Json {
        let some = parts.iter().take(MAX_PARTS);
        let some = some.map(|(name, node)| (name.clone(), export_value(graph, *node, depth + 1)));
        Json::Object(some.collect())
    };
    let (name, part) = match node {
        Value::Boolean(value) => ("value", json!(value)),
        Value::Integer(value) => ("value", json!(value)),
        // JSON has neither infinities nor `nan`.
        Value::Float(value) if value.0.is_finite() => ("value", json!(value.0)),
        Value::Text(value) => ("value", json!(value)),
        _ if depth >= MAX_DEPTH => return Json::Object(exported),
        Value::List(items) | Value::Tuple(items) | Value::Set(items) | Value::FrozenSet(items) => {
            ("items", all(items))
        }
        Value::Dictionary(entries) => {
            let some = entries.iter().take(MAX_PARTS);
            (
                "entries",
                some.map(|(key, value)| all(&[*key, *value])).collect(),
            )
        }
        Value::Object(object) => ("attributes", named(&object.attributes)),
        Value::Exception(exception) => {
            exported.insert("attributes".to_owned(), named(&exception.attributes));
            ("arguments", all(&exception.arguments))
        }
        Value::Constructed { arguments, .. } => ("arguments", all(arguments)),
        _ => return Json::Object(exported),
    };
    exported.insert(name.to_owned(), part);
    Json::Object(exported)
}

/// Returns the importable name of a value's type.
fn type_name(value: &Value) -> String {
    let own = match value {
        Value::None => "NoneType",
        Value::Ellipsis => "ellipsis",
        Value::NotImplemented => "NotImplementedType",
        Value::Boolean(_) => "bool",
        Value::Integer(_) | Value::LargeInteger(_) => "int",
        Value::Float(_) => "float",
        Value::Complex(..) => "complex",
        Value::Text(_) | Value::SurrogateText(_) => "str",
        Value::Bytes(_) => "bytes",
        Value::ByteArray(_) => "bytearray",
        Value::List(_) => "list",
        Value::Tuple(_) => "tuple",
        Value::Set(_) => "set",
        Value::FrozenSet(_) => "frozenset",
        Value::Dictionary(_) => "dict",
        Value::Method { .. } => "method",
        Value::Function(_) => "function",
        Value::Generator { .. } => "generator",
        Value::Iterator { kind, .. } => kind,
        // The text contains the name of the definition.
        Value::Reference(_) => "definition",
        Value::Constructed { callee, .. } => return callee.to_string(),
        Value::Object(object) => return object.class.to_string(),
        Value::Exception(exception) => return exception.class.to_string(),
        Value::EnumMember { class, .. }
        | Value::Stream { class, .. }
        | Value::Unknown { class, .. }
        | Value::Omitted { class, .. } => return class.to_string(),
    };
    own.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::BoundArgument;
    use crate::toys::CallBuilder;
    use crate::{ProgramRun, ValueNode};

    #[test]
    fn a_call_is_exported_with_its_values() {
        let mut made = CallBuilder::new("double");
        let graph = &mut made.call.values;
        let number = graph.add(ValueNode::plain(Value::Integer(2)));
        let list = graph.add(ValueNode::plain(Value::None));
        // A list that has itself as an item.
        graph.set(list, ValueNode::plain(Value::List(vec![number, list])));
        made.call.arguments = vec![BoundArgument {
            name: "number".to_owned(),
            before: number,
            after: Some(number),
            is_default: true,
        }];
        made.call.outcome = CallOutcome::Returned(list);
        let recording = Recording {
            executions: vec![ProgramRun::default()],
            units: vec![made.unit],
            calls: vec![made.call],
        };
        assert_eq!(find_units(&recording, Some("doubl")), []);
        let exported = export_units(&recording, &find_units(&recording, Some("double")), 9);
        let call = &exported[0]["calls"][0];
        assert_eq!(exported[0]["name"], "zoo.double");
        assert_eq!(call["arguments"][0]["before"]["value"], 2);
        assert_eq!(call["arguments"][0]["is_default"], true);
        assert_eq!(call["outcome"], "returned");
        assert_eq!(call["value"]["type"], "list");
        assert_eq!(call["value"]["items"][1]["items"][0]["text"], "2");
    }
}
