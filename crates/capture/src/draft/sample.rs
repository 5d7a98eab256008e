//! Values that a harness can try.

use crate::value::Value;
use crate::write::Code;

/// A value, as Python that makes it. Two are equal if they are written alike.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// What has to be done first, line by line.
    pub(super) before: Vec<String>,
    pub(super) code: Code,
    pub(super) kind: Kind,
}

impl PartialEq for Sample {
    fn eq(&self, other: &Sample) -> bool {
        self.flat() == other.flat()
    }
}

impl Eq for Sample {}

impl Sample {
    pub(super) fn new(kind: Kind, text: impl Into<String>) -> Sample {
        Sample {
            before: Vec::new(),
            code: Code::text(text),
            kind,
        }
    }

    /// All of it, by which it is known again.
    pub(super) fn flat(&self) -> String {
        let mut lines = self.before.clone();
        lines.push(self.code.flat());
        lines.join("\n")
    }

    /// Whether it is a function that is defined first, under its own name.
    pub(super) fn defined(&self) -> Option<String> {
        let name = self.code.flat();
        let first = self.before.first()?;
        let is_alone = |line: &String| line.is_empty() || line.starts_with([' ', ')']);
        let is_whole = self.before.iter().skip(1).all(is_alone);
        (is_whole && first.starts_with(&format!("def {name}("))).then_some(name)
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
