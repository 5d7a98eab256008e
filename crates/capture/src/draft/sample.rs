//! Values that a harness can try.

use crate::value::Value;
use crate::write::PythonCode;

/// A value as Python code that makes it. Two samples with equal code are equal.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// Statements that have to come first, line by line.
    pub(super) setup_lines: Vec<String>,
    /// The expression.
    pub(super) code: PythonCode,
    /// The kind of value.
    pub(super) kind: SampleKind,
}

impl PartialEq for Sample {
    fn eq(&self, other: &Sample) -> bool {
        self.full_text() == other.full_text()
    }
}

impl Eq for Sample {}

impl Sample {
    /// Creates a sample from an expression.
    pub(super) fn new(kind: SampleKind, text: impl Into<String>) -> Sample {
        Sample {
            setup_lines: Vec::new(),
            code: PythonCode::text(text),
            kind,
        }
    }

    /// Returns the whole code as one text, which identifies the sample.
    pub(super) fn full_text(&self) -> String {
        let mut lines = self.setup_lines.clone();
        lines.push(self.code.one_line());
        lines.join("\n")
    }

    /// Returns the name of the function, if the sample is a function that is defined first.
    pub(super) fn defined_function(&self) -> Option<String> {
        let name = self.code.one_line();
        let first = self.setup_lines.first()?;
        let is_alone = |line: &String| line.is_empty() || line.starts_with([' ', ')']);
        let is_whole = self.setup_lines.iter().skip(1).all(is_alone);
        (is_whole && first.starts_with(&format!("def {name}("))).then_some(name)
    }
}

/// The kind of a value. Parameters of the same name share values only if they take the same kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SampleKind {
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

impl SampleKind {
    /// Returns the kind of a recorded value.
    pub(super) fn of_value(value: &Value) -> SampleKind {
        match value {
            Value::Boolean(_) => SampleKind::Boolean,
            Value::Integer(_) | Value::LargeInteger(_) => SampleKind::Integer,
            Value::Float(_) => SampleKind::Float,
            Value::Text(_) | Value::SurrogateText(_) => SampleKind::Text,
            Value::Bytes(_) => SampleKind::Bytes,
            Value::Tuple(_) => SampleKind::Tuple,
            Value::List(_) => SampleKind::List,
            Value::Set(_) | Value::FrozenSet(_) => SampleKind::Set,
            Value::Dictionary(_) => SampleKind::Dictionary,
            _ => SampleKind::Other,
        }
    }

    /// Returns true if an action could change such a value, so that each test needs its own copy.
    pub(super) fn can_change(self) -> bool {
        matches!(
            self,
            SampleKind::Tuple
                | SampleKind::List
                | SampleKind::Set
                | SampleKind::Dictionary
                | SampleKind::Other
        )
    }

    /// Returns the type name for a comment.
    pub(super) fn type_name(self) -> Option<&'static str> {
        Some(match self {
            SampleKind::Boolean => "bool",
            SampleKind::Integer => "int",
            SampleKind::Float => "float",
            SampleKind::Text => "str",
            SampleKind::Bytes => "bytes",
            SampleKind::Tuple => "tuple",
            SampleKind::List => "list",
            SampleKind::Set => "set",
            SampleKind::Dictionary => "dict",
            SampleKind::Other => return None,
        })
    }
}
