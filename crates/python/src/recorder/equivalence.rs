//! Equivalence of calls: a call that resembles earlier ones in every respect is not worth keeping.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;
use testwright_capture::{Call, CallEffect, CallOutcome, NodeId, Value, ValueGraph, as_name};

use super::external;

/// Returns hashes of the traits that distinguish calls: the lines reached, the outcome, the
/// effects, and summaries of the arguments.
pub(super) fn call_traits(call: &Call) -> [u64; 4] {
    let hash = |kind: u8, text: String| {
        let mut hasher = FxHasher::default();
        (kind, text).hash(&mut hasher);
        hasher.finish()
    };
    let outcome = match &call.outcome {
        CallOutcome::Returned(node) => value_summary(&call.values, *node),
        CallOutcome::Raised { exception, .. } => value_summary(&call.values, *exception),
        CallOutcome::Unfinished => String::new(),
    };
    let steps: Vec<_> = call
        .steps
        .iter()
        .map(|step| std::mem::discriminant(&step.outcome))
        .collect();
    let effects: Vec<String> = call
        .effects()
        .iter()
        .map(|effect| effect_summary(call, effect))
        .collect();
    let outside: BTreeSet<String> = call.events.iter().map(external::event_summary).collect();
    let arguments: Vec<String> = call
        .arguments
        .iter()
        .map(|argument| value_summary(&call.values, argument.before))
        .collect();
    [
        hash(0, format!("{:?}", call.lines)),
        hash(1, format!("{outcome} {steps:?}")),
        hash(2, format!("{effects:?} {outside:?}")),
        hash(3, format!("{arguments:?}")),
    ]
}

/// Returns hashes of the words passed as arguments, each with its parameter. Words are likely to be
/// choices, such as the name of a format.
pub(super) fn word_choices(call: &Call) -> Vec<u64> {
    let chosen = call
        .arguments
        .iter()
        .filter(|argument| !argument.is_default);
    let words = chosen.filter_map(|argument| {
        let word = as_name(call.values.value(argument.before))?;
        let mut hasher = FxHasher::default();
        (&argument.name, word).hash(&mut hasher);
        Some(hasher.finish())
    });
    words.collect()
}

/// Summarizes an effect: the variable that was rebound, or the new value.
fn effect_summary(call: &Call, effect: &CallEffect) -> String {
    match effect {
        CallEffect::Rebound {
            variable,
            before,
            after,
        } => {
            format!("{variable:?} {} {}", before.is_some(), after.is_some())
        }
        CallEffect::Changed { after, .. } => value_summary(&call.values, *after),
    }
}

/// Summarizes a value by its type, its sign and its rough size.
fn value_summary(graph: &ValueGraph, node: NodeId) -> String {
    let size_class = |length: usize| match length {
        0 => "empty",
        1 => "one",
        2..10 => "some",
        _ => "many",
    };
    match graph.value(node) {
        Value::Integer(number) => format!("int {}", number.signum()),
        Value::Float(number) => match number.0 {
            number if number.is_nan() => "float nan".to_owned(),
            0.0 => "float 0".to_owned(),
            number => format!("float {}", number.signum()),
        },
        Value::Boolean(value) => format!("bool {value}"),
        Value::Text(text) => format!("str {}", size_class(text.len())),
        Value::Bytes(bytes) => format!("bytes {}", size_class(bytes.len())),
        Value::Object(object) => format!("object {}", object.class),
        Value::Exception(exception) => format!("exception {}", exception.class),
        Value::Constructed { callee, .. } => format!("made {callee}"),
        Value::EnumMember { class, names } => format!("member {class} {names:?}"),
        Value::Reference(reference) => format!("reference {reference}"),
        Value::Unknown { class, .. } | Value::Omitted { class, .. } => format!("other {class}"),
        value => {
            let kind = std::mem::discriminant(value);
            let parts: BTreeSet<_> = graph
                .children(node)
                .into_iter()
                .take(50)
                .map(|part| format!("{:?}", std::mem::discriminant(graph.value(part))))
                .collect();
            format!(
                "{kind:?} {} {parts:?}",
                size_class(graph.children(node).len())
            )
        }
    }
}
