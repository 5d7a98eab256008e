//! What was always true of an object before it was asked to do something.
//!
//! Only what can be said cheaply about public attributes, and only if it says something: the attribute was otherwise at other
//! times. That a thing was always so does not mean that it has to be, so the draft says where it comes from.

use super::action::Guard;
use crate::recording::Call;
use crate::value::{NodeId, Value};

/// How often a call has to be seen before what was always so counts.
const FEWEST: usize = 3;

/// What can be said of an attribute.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fact {
    True,
    False,
    Nothing,
    Something,
    Empty,
    Filled,
}

impl Fact {
    fn of(value: &Value) -> Fact {
        match value {
            Value::Boolean(true) => Fact::True,
            Value::Boolean(false) => Fact::False,
            Value::None => Fact::Nothing,
            Value::List(items) | Value::Set(items) if items.is_empty() => Fact::Empty,
            Value::Dictionary(entries) if entries.is_empty() => Fact::Empty,
            Value::List(_) | Value::Set(_) | Value::Dictionary(_) => Fact::Filled,
            _ => Fact::Something,
        }
    }

    fn guard(self, attribute: &str) -> Guard {
        let (before, behind) = match self {
            Fact::True | Fact::Filled => ("", String::new()),
            Fact::False | Fact::Empty => ("not ", String::new()),
            Fact::Nothing => ("", " is None".to_owned()),
            Fact::Something => ("", " is not None".to_owned()),
        };
        Guard {
            before,
            behind: format!(".{attribute}{behind}"),
        }
    }
}

/// Objects are kept smaller than this by actions that could make them twice as large again and again.
const LARGEST: usize = 100;

/// A guard against objects that grow without end.
pub(super) fn against_growth() -> Guard {
    Guard {
        before: "len(",
        behind: format!(") < {LARGEST}"),
    }
}

/// A guard for calls of a method, among all calls on objects of the class.
pub(super) fn observed(calls: &[&Call], others: &[&Call]) -> Option<Guard> {
    if calls.len() < FEWEST {
        return None;
    }
    let first = attributes(calls.first()?);
    for (name, fact) in &first {
        let is_same = |call: &&Call| {
            attributes(call)
                .iter()
                .any(|known| known == &(name.clone(), *fact))
        };
        let is_otherwise = |call: &&Call| {
            let known = attributes(call);
            let found = known.iter().find(|(known, _)| known == name);
            found.is_some_and(|(_, other)| other != fact)
        };
        if calls.iter().all(is_same) && others.iter().any(is_otherwise) {
            return Some(fact.guard(name));
        }
    }
    None
}

/// The public attributes of the receiver at entry.
fn attributes(call: &Call) -> Vec<(String, Fact)> {
    let own: Option<NodeId> = call.arguments.first().map(|own| own.before);
    let Some(Value::Object(object)) = own.map(|own| call.values.value(own)) else {
        return Vec::new();
    };
    let public = object
        .attributes
        .iter()
        .filter(|(name, _)| !name.starts_with('_'));
    public
        .map(|(name, node)| (name.clone(), Fact::of(call.values.value(*node))))
        .collect()
}

#[cfg(test)]
mod tests;
