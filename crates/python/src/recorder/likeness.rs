//! Which calls are like others, and so not worth keeping.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;
use testwright_capture::{Call, Effect, Graph, NodeId, Outcome, Value, word};

use super::sources;

/// What makes a call like others, or unlike: the lines it reaches, its outcome, its effects, its arguments' shapes.
pub(super) fn traits(call: &Call) -> [u64; 4] {
    let hash = |kind: u8, text: String| {
        let mut hasher = FxHasher::default();
        (kind, text).hash(&mut hasher);
        hasher.finish()
    };
    let outcome = match &call.outcome {
        Outcome::Returned(node) => shape(&call.values, *node),
        Outcome::Raised { exception, .. } => shape(&call.values, *exception),
        Outcome::Unfinished => String::new(),
    };
    let steps: Vec<_> = call
        .steps
        .iter()
        .map(|step| std::mem::discriminant(&step.outcome))
        .collect();
    let effects: Vec<String> = call
        .effects()
        .iter()
        .map(|effect| effect_shape(call, effect))
        .collect();
    let outside: BTreeSet<String> = call.events.iter().map(sources::shape).collect();
    let arguments: Vec<String> = call
        .arguments
        .iter()
        .map(|argument| shape(&call.values, argument.before))
        .collect();
    [
        hash(0, format!("{:?}", call.lines)),
        hash(1, format!("{outcome} {steps:?}")),
        hash(2, format!("{effects:?} {outside:?}")),
        hash(3, format!("{arguments:?}")),
    ]
}

/// The words that a call is given, each with the parameter: they are likely to be choices, like the name of a format.
pub(super) fn words(call: &Call) -> Vec<u64> {
    let chosen = call
        .arguments
        .iter()
        .filter(|argument| !argument.is_default);
    let words = chosen.filter_map(|argument| {
        let word = word(call.values.value(argument.before))?;
        let mut hasher = FxHasher::default();
        (&argument.name, word).hash(&mut hasher);
        Some(hasher.finish())
    });
    words.collect()
}

fn effect_shape(call: &Call, effect: &Effect) -> String {
    match effect {
        Effect::Rebound {
            place,
            before,
            after,
        } => {
            format!("{place:?} {} {}", before.is_some(), after.is_some())
        }
        Effect::Changed { after, .. } => shape(&call.values, *after),
    }
}

/// The type of a value, and whether it is empty, negative, one or many.
fn shape(graph: &Graph, place: NodeId) -> String {
    let many = |length: usize| match length {
        0 => "empty",
        1 => "one",
        2..10 => "some",
        _ => "many",
    };
    match graph.value(place) {
        Value::Integer(number) => format!("int {}", number.signum()),
        Value::Float(number) => match number.0 {
            number if number.is_nan() => "float nan".to_owned(),
            0.0 => "float 0".to_owned(),
            number => format!("float {}", number.signum()),
        },
        Value::Boolean(value) => format!("bool {value}"),
        Value::Text(text) => format!("str {}", many(text.len())),
        Value::Bytes(bytes) => format!("bytes {}", many(bytes.len())),
        Value::Object(object) => format!("object {}", object.class),
        Value::Exception(exception) => format!("exception {}", exception.class),
        Value::Made { callee, .. } => format!("made {callee}"),
        Value::Member { class, names } => format!("member {class} {names:?}"),
        Value::Reference(reference) => format!("reference {reference}"),
        Value::Unknown { class, .. } | Value::Omitted { class, .. } => format!("other {class}"),
        value => {
            let kind = std::mem::discriminant(value);
            let parts: BTreeSet<_> = graph
                .children(place)
                .into_iter()
                .take(50)
                .map(|part| format!("{:?}", std::mem::discriminant(graph.value(part))))
                .collect();
            format!("{kind:?} {} {parts:?}", many(graph.children(place).len()))
        }
    }
}
