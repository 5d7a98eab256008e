//! What is known of the type of a term (3.5): from literals, start values, annotations, generators and built-ins.

use crate::value::Value;

/// Methods of Python's own collections that change what they are called on.
pub(crate) const CHANGING: [&str; 18] = [
    "append",
    "appendleft",
    "extend",
    "insert",
    "remove",
    "pop",
    "popleft",
    "popitem",
    "clear",
    "sort",
    "reverse",
    "add",
    "discard",
    "update",
    "setdefault",
    "difference_update",
    "intersection_update",
    "symmetric_difference_update",
];

/// What is known of a type, as far as phrases depend on it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Type {
    /// Nothing is known.
    #[default]
    Unknown,
    /// `None`.
    Nothing,
    /// Truth values.
    Boolean,
    /// Any kind of number.
    Number,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
    /// A list, or anything else that is a row of elements, with the type of these.
    List(Box<Type>),
    /// A tuple with the types of its items; none if they are not known.
    Tuple(Vec<Type>),
    /// A set, with the type of its elements.
    Set(Box<Type>),
    /// A dictionary, with the types of its keys and values.
    Dictionary(Box<Type>, Box<Type>),
    /// Of a class that is not built in.
    Object(String),
}

impl Type {
    /// A list of anything.
    #[must_use]
    pub fn list() -> Self {
        Self::List(Box::default())
    }

    /// A set of anything.
    #[must_use]
    pub fn set() -> Self {
        Self::Set(Box::default())
    }

    /// A dictionary of anything.
    #[must_use]
    pub fn dictionary() -> Self {
        Self::Dictionary(Box::default(), Box::default())
    }

    /// The type of a value.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Nothing => Self::Nothing,
            Value::Boolean(_) => Self::Boolean,
            Value::Integer(_)
            | Value::Float(_)
            | Value::Complex(..)
            | Value::Decimal(_)
            | Value::Fraction { .. } => Self::Number,
            Value::Text(_) => Self::Text,
            Value::List(items) => Self::List(Box::new(Self::common(items.iter().map(Self::of)))),
            Value::Tuple(items) => Self::Tuple(items.iter().map(Self::of).collect()),
            Value::Set(items) | Value::FrozenSet(items) => {
                Self::Set(Box::new(Self::common(items.iter().map(Self::of))))
            }
            Value::Dictionary(entries) => Self::Dictionary(
                Box::new(Self::common(entries.iter().map(|(key, _)| Self::of(key)))),
                Box::new(Self::common(
                    entries.iter().map(|(_, value)| Self::of(value)),
                )),
            ),
            Value::Bytes(_) => Self::Bytes,
            Value::Range { .. } => Self::List(Box::new(Self::Number)),
            Value::Member { class, .. } | Value::Record { class, .. } | Value::Object(class) => {
                Self::Object(class.clone())
            }
            Value::Date(_) | Value::Moment(_) | Value::Duration(_) | Value::Function(_) => {
                Self::Unknown
            }
        }
    }

    /// The one type that all have, if there is one.
    #[must_use]
    pub fn common(mut types: impl Iterator<Item = Self>) -> Self {
        let Some(first) = types.next() else {
            return Self::Unknown;
        };
        types.fold(first, Self::joined)
    }

    /// What is known if it may be either.
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        match (self, other) {
            (one, two) if one == two => one,
            (Self::List(one), Self::List(two)) => Self::List(Box::new(one.joined(*two))),
            (Self::Set(one), Self::Set(two)) => Self::Set(Box::new(one.joined(*two))),
            (Self::Tuple(_), Self::Tuple(_)) => Self::Tuple(Vec::new()),
            (Self::Dictionary(key, value), Self::Dictionary(other_key, other_value)) => {
                Self::Dictionary(
                    Box::new(key.joined(*other_key)),
                    Box::new(value.joined(*other_value)),
                )
            }
            _ => Self::Unknown,
        }
    }

    /// What iterating over it gives.
    #[must_use]
    pub fn element(&self) -> Self {
        match self {
            Self::Text => Self::Text,
            Self::Bytes => Self::Number,
            Self::List(element) | Self::Set(element) => (**element).clone(),
            Self::Dictionary(key, _) => (**key).clone(),
            Self::Tuple(items) => Self::common(items.iter().cloned()),
            _ => Self::Unknown,
        }
    }

    /// What stands at a position of it.
    #[must_use]
    pub fn item(&self, index: usize) -> Self {
        match self {
            Self::Tuple(items) => items.get(index).cloned().unwrap_or_default(),
            other => other.element(),
        }
    }

    /// What one member is called: "character", "entry" or "element".
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match self {
            Self::Text => "character",
            Self::Dictionary(..) => "entry",
            _ => "element",
        }
    }

    /// Whether it is a text or a collection, which can be empty.
    #[must_use]
    pub fn is_sized(&self) -> bool {
        matches!(
            self,
            Self::Text
                | Self::Bytes
                | Self::List(_)
                | Self::Tuple(_)
                | Self::Set(_)
                | Self::Dictionary(..)
        )
    }

    /// Whether it is known to be one of Python's own types.
    #[must_use]
    pub fn is_built_in(&self) -> bool {
        !matches!(self, Self::Unknown | Self::Object(_))
    }

    /// Whether `+` puts one behind the other.
    #[must_use]
    pub(crate) fn is_sequence(&self) -> bool {
        matches!(
            self,
            Self::Text | Self::Bytes | Self::List(_) | Self::Tuple(_)
        )
    }

    /// What one behind the other makes.
    pub(super) fn joined_sequence(self, other: Self) -> Self {
        match (&self, &other) {
            (Self::List(_), Self::List(_)) => self.joined(other),
            (Self::Tuple(one), Self::Tuple(two)) => {
                Self::Tuple(one.iter().chain(two).cloned().collect())
            }
            _ => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_common_is_known() {
        let common = |types: &[Type]| Type::common(types.iter().cloned());
        assert_eq!(common(&[Type::Number, Type::Number]), Type::Number);
        assert_eq!(common(&[Type::Number, Type::Text]), Type::Unknown);
        assert_eq!(
            common(&[Type::List(Box::new(Type::Text)), Type::list()]),
            Type::list()
        );
        assert_eq!(common(&[]), Type::Unknown);
    }

    #[test]
    fn units() {
        assert_eq!(Type::Text.unit(), "character");
        assert_eq!(Type::dictionary().unit(), "entry");
        assert_eq!(Type::Unknown.unit(), "element");
    }
}
