//! Values that a harness can try.

use crate::value::Value;
use crate::write::Code;

/// A value, as an expression that makes it. Two are equal if they are written alike.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) code: Code,
    pub(super) kind: Kind,
}

impl PartialEq for Sample {
    fn eq(&self, other: &Sample) -> bool {
        self.code.flat() == other.code.flat()
    }
}

impl Eq for Sample {}

impl Sample {
    pub(super) fn new(kind: Kind, text: impl Into<String>) -> Sample {
        Sample {
            code: Code::text(text),
            kind,
        }
    }
}

/// What kind of thing a value is. Parameters of the same name share values only if they take the same kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Boolean,
    Integer,
    Float,
    Text,
    Bytes,
    Tuple,
    List,
    Set,
    Dictionary,
    Other,
}

impl Kind {
    pub(super) fn of(value: &Value) -> Kind {
        match value {
            Value::Boolean(_) => Kind::Boolean,
            Value::Integer(_) | Value::LargeInteger(_) => Kind::Integer,
            Value::Float(_) => Kind::Float,
            Value::Text(_) | Value::BrokenText(_) => Kind::Text,
            Value::Bytes(_) => Kind::Bytes,
            Value::Tuple(_) => Kind::Tuple,
            Value::List(_) => Kind::List,
            Value::Set(_) | Value::FrozenSet(_) => Kind::Set,
            Value::Dictionary(_) => Kind::Dictionary,
            _ => Kind::Other,
        }
    }

    /// Whether an action could change such a value, so that each test needs its own.
    pub(super) fn can_change(self) -> bool {
        matches!(
            self,
            Kind::Tuple | Kind::List | Kind::Set | Kind::Dictionary | Kind::Other
        )
    }

    /// What such values are called in a comment.
    pub(super) fn word(self) -> Option<&'static str> {
        Some(match self {
            Kind::Boolean => "bool",
            Kind::Integer => "int",
            Kind::Float => "float",
            Kind::Text => "str",
            Kind::Bytes => "bytes",
            Kind::Tuple => "tuple",
            Kind::List => "list",
            Kind::Set => "set",
            Kind::Dictionary => "dict",
            Kind::Other => return None,
        })
    }
}
