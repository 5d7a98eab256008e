//! Guards: conditions that always held before a method was called.
//!
//! Only simple conditions on public attributes count, and only if the attribute had other values at
//! other times. A condition that always held need not be required, so the draft notes where it
//! comes from.

use super::action::DraftGuard;
use crate::recording::Call;
use crate::value::{NodeId, Value};

/// The minimum number of calls from which a condition is inferred.
const MIN_CALLS: usize = 3;

/// A condition on an attribute.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AttributeFact {
    /// It is `True`.
    True,
    /// It is `False`.
    False,
    /// It is `None`.
    IsNone,
    /// It is not `None`.
    IsNotNone,
    /// It is an empty collection.
    Empty,
    /// It is a collection with items.
    NotEmpty,
}

impl AttributeFact {
    /// Returns the condition that a value satisfies.
    fn from_value(value: &Value) -> AttributeFact {
        match value {
            Value::Boolean(true) => AttributeFact::True,
            Value::Boolean(false) => AttributeFact::False,
            Value::None => AttributeFact::IsNone,
            Value::List(items) | Value::Set(items) if items.is_empty() => AttributeFact::Empty,
            Value::Dictionary(entries) if entries.is_empty() => AttributeFact::Empty,
            Value::List(_) | Value::Set(_) | Value::Dictionary(_) => AttributeFact::NotEmpty,
            _ => AttributeFact::IsNotNone,
        }
    }

    /// Converts the condition to a guard.
    fn to_guard(self, attribute: &str) -> DraftGuard {
        let (before, behind) = match self {
            AttributeFact::True | AttributeFact::NotEmpty => ("", String::new()),
            AttributeFact::False | AttributeFact::Empty => ("not ", String::new()),
            AttributeFact::IsNone => ("", " is None".to_owned()),
            AttributeFact::IsNotNone => ("", " is not None".to_owned()),
        };
        DraftGuard {
            before_receiver: before,
            after_receiver: format!(".{attribute}{behind}"),
        }
    }
}

/// The maximum size of objects for actions that could double their size repeatedly.
const MAX_SIZE: usize = 100;

/// Returns a guard against objects that grow without limit.
pub(super) fn size_guard() -> DraftGuard {
    DraftGuard {
        before_receiver: "len(",
        after_receiver: format!(") < {MAX_SIZE}"),
    }
}

/// Infers a guard from the calls of a method, compared with all calls on objects of the class.
pub(super) fn infer_guard(calls: &[&Call], others: &[&Call]) -> Option<DraftGuard> {
    if calls.len() < MIN_CALLS {
        return None;
    }
    let first = attribute_facts(calls.first()?);
    for (name, fact) in &first {
        let is_same = |call: &&Call| {
            attribute_facts(call)
                .iter()
                .any(|known| known == &(name.clone(), *fact))
        };
        let is_otherwise = |call: &&Call| {
            let known = attribute_facts(call);
            let found = known.iter().find(|(known, _)| known == name);
            found.is_some_and(|(_, other)| other != fact)
        };
        if calls.iter().all(is_same) && others.iter().any(is_otherwise) {
            return Some(fact.to_guard(name));
        }
    }
    None
}

/// Returns the public attributes of the receiver at entry, with their conditions.
fn attribute_facts(call: &Call) -> Vec<(String, AttributeFact)> {
    let own: Option<NodeId> = call.arguments.first().map(|own| own.before);
    let Some(Value::Object(object)) = own.map(|own| call.values.value(own)) else {
        return Vec::new();
    };
    let public = object
        .attributes
        .iter()
        .filter(|(name, _)| !name.starts_with('_'));
    public
        .map(|(name, node)| {
            (
                name.clone(),
                AttributeFact::from_value(call.values.value(*node)),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests;
