//! Recorded calls as JSON, for other tools: documentation, type hints, seeds for searches.
//!
//! Values are told by their type and as a text, and their parts the same way again, down to a depth. What the store keeps is
//! more, and may change; this stays as it is, and grows.

use std::path::Path;

use serde_json::{Map, Value as Json, json};

use crate::graph::Graph;
use crate::recording::{Call, Outcome, Recording, StepAction, StepOutcome, Unit, UnitId, UnitKind};
use crate::value::{NodeId, Value};
use crate::words;

/// Deeper parts are told as a text only.
const DEEPEST: usize = 6;
/// More parts of one value are not told.
const MOST_PARTS: usize = 200;

/// Some units of a recording, with at most so many of their calls.
pub fn units(recording: &Recording, units: &[UnitId], limit: usize) -> Json {
    let told = units.iter().filter_map(|number| {
        let unit = recording.unit(*number)?;
        let calls = recording.calls_of(*number).take(limit);
        let calls: Vec<Json> = calls.map(|one| call(recording, unit, one)).collect();
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
    Json::Array(told.collect())
}

/// Whether a name means a unit: the whole, whole words at its end, or something around it. A module that ran as the
/// program may also be called as its file is.
pub fn is_called(unit: &Unit, name: &str) -> bool {
    let is_in = |whole: &str| format!(".{whole}.").contains(&format!(".{name}."));
    let file = Path::new(&unit.file).file_stem().unwrap_or_default();
    let by_file = format!("{}.{}", file.to_string_lossy(), unit.qualified_name);
    is_in(&unit.name()) || (unit.module == "__main__" && is_in(&by_file))
}

/// The units that a name means; all of them without one.
pub fn named(recording: &Recording, name: Option<&str>) -> Vec<UnitId> {
    (0..)
        .zip(&recording.units)
        .filter(|(_, unit)| name.is_none_or(|name| is_called(unit, name)))
        .map(|(number, _)| UnitId(number))
        .collect()
}

fn call(recording: &Recording, unit: &Unit, call: &Call) -> Json {
    let tell = |place: NodeId| value(&call.values, place, 0);
    let arguments: Vec<Json> = (call.arguments.iter())
        .map(|argument| {
            json!({
                "name": argument.name,
                "before": tell(argument.before),
                "after": argument.after.map(tell),
                "is_default": argument.is_default,
            })
        })
        .collect();
    let steps: Vec<Json> = (call.steps.iter())
        .map(|step| {
            let (action, given) = match step.action {
                StepAction::Next => ("next", None),
                StepAction::Send(item) => ("send", Some(tell(item))),
                StepAction::Throw(error) => ("throw", Some(tell(error))),
                StepAction::Close => ("close", None),
            };
            let (outcome, result) = match step.outcome {
                StepOutcome::Yielded(item) => ("yielded", item),
                StepOutcome::Returned(item) => ("returned", item),
                StepOutcome::Raised(error) => ("raised", error),
            };
            json!({"action": action, "given": given, "outcome": outcome, "value": tell(result)})
        })
        .collect();
    let (outcome, result) = match call.outcome {
        Outcome::Returned(result) => ("returned", Some(tell(result))),
        Outcome::Raised { exception, .. } => ("raised", Some(tell(exception))),
        Outcome::Unfinished => ("unfinished", None),
    };
    let mut text = words::call(unit, call).into_iter();
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

fn value(graph: &Graph, place: NodeId, depth: usize) -> Json {
    let node = graph.value(place);
    let mut told = Map::new();
    told.insert("type".to_owned(), json!(type_name(node)));
    told.insert("text".to_owned(), json!(words::value(graph, place)));
    let all = |places: &[NodeId]| -> Json {
        let some = places.iter().take(MOST_PARTS);
        some.map(|place| value(graph, *place, depth + 1)).collect()
    };
    let named = |parts: &[(String, NodeId)]| -> Json {
        let some = parts.iter().take(MOST_PARTS);
        let some = some.map(|(name, place)| (name.clone(), value(graph, *place, depth + 1)));
        Json::Object(some.collect())
    };
    let (name, part) = match node {
        Value::Boolean(value) => ("value", json!(value)),
        Value::Integer(value) => ("value", json!(value)),
        // JSON has no others.
        Value::Float(value) if value.0.is_finite() => ("value", json!(value.0)),
        Value::Text(value) => ("value", json!(value)),
        _ if depth >= DEEPEST => return Json::Object(told),
        Value::List(items) | Value::Tuple(items) | Value::Set(items) | Value::FrozenSet(items) => {
            ("items", all(items))
        }
        Value::Dictionary(entries) => {
            let some = entries.iter().take(MOST_PARTS);
            (
                "entries",
                some.map(|(key, value)| all(&[*key, *value])).collect(),
            )
        }
        Value::Object(object) => ("attributes", named(&object.attributes)),
        Value::Exception(exception) => {
            told.insert("attributes".to_owned(), named(&exception.attributes));
            ("arguments", all(&exception.arguments))
        }
        Value::Made { arguments, .. } => ("arguments", all(arguments)),
        _ => return Json::Object(told),
    };
    told.insert(name.to_owned(), part);
    Json::Object(told)
}

/// The type of a value, as an importer finds it.
fn type_name(value: &Value) -> String {
    let own = match value {
        Value::None => "NoneType",
        Value::Ellipsis => "ellipsis",
        Value::NotImplemented => "NotImplementedType",
        Value::Boolean(_) => "bool",
        Value::Integer(_) | Value::LargeInteger(_) => "int",
        Value::Float(_) => "float",
        Value::Complex(..) => "complex",
        Value::Text(_) | Value::BrokenText(_) => "str",
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
        // What it is called is told in the text.
        Value::Reference(_) => "definition",
        Value::Made { callee, .. } => return callee.to_string(),
        Value::Object(object) => return object.class.to_string(),
        Value::Exception(exception) => return exception.class.to_string(),
        Value::Member { class, .. }
        | Value::Stream { class, .. }
        | Value::Unknown { class, .. }
        | Value::Omitted { class, .. } => return class.to_string(),
    };
    own.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Argument;
    use crate::toys::Made;
    use crate::{Execution, Node};

    #[test]
    fn a_call_is_told_with_its_values() {
        let mut made = Made::of("double");
        let graph = &mut made.call.values;
        let number = graph.add(Node::plain(Value::Integer(2)));
        let list = graph.add(Node::plain(Value::None));
        // A list that has itself as an item.
        graph.set(list, Node::plain(Value::List(vec![number, list])));
        made.call.arguments = vec![Argument {
            name: "number".to_owned(),
            before: number,
            after: Some(number),
            is_default: true,
        }];
        made.call.outcome = Outcome::Returned(list);
        let recording = Recording {
            executions: vec![Execution::default()],
            units: vec![made.unit],
            calls: vec![made.call],
        };
        assert_eq!(named(&recording, Some("doubl")), []);
        let told = units(&recording, &named(&recording, Some("double")), 9);
        let call = &told[0]["calls"][0];
        assert_eq!(told[0]["name"], "zoo.double");
        assert_eq!(call["arguments"][0]["before"]["value"], 2);
        assert_eq!(call["arguments"][0]["is_default"], true);
        assert_eq!(call["outcome"], "returned");
        assert_eq!(call["value"]["type"], "list");
        assert_eq!(call["value"]["items"][1]["items"][0]["text"], "2");
    }
}
