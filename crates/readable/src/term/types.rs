//! Types of terms, as far as phrases depend on them.

use crate::value::PythonValue;

/// Methods of Python's own collections that change the object they are called on.
pub(crate) const MUTATING_METHODS: [&str; 18] = [
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

/// A type, as far as phrases depend on it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Type {
    /// An unknown type.
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
    /// A list or another sequence, with the type of its elements.
    List(Box<Type>),
    /// A tuple with the types of its items; empty if they are not known.
    Tuple(Vec<Type>),
    /// A set, with the type of its elements.
    Set(Box<Type>),
    /// A dictionary, with the types of its keys and values.
    Dictionary(Box<Type>, Box<Type>),
    /// A class that is not built in.
    Object(String),
}

impl Type {
    /// Returns a list of anything.
    #[must_use]
    pub fn list() -> Self {
        Self::List(Box::default())
    }

    /// Returns a set of anything.
    #[must_use]
    pub fn set() -> Self {
        Self::Set(Box::default())
    }

    /// Returns a dictionary of anything.
    #[must_use]
    pub fn dictionary() -> Self {
        Self::Dictionary(Box::default(), Box::default())
    }

    /// Returns the type of a value.
    #[must_use]
    pub fn of_value(value: &PythonValue) -> Self {
        match value {
            PythonValue::Nothing => Self::Nothing,
            PythonValue::Boolean(_) => Self::Boolean,
            PythonValue::Integer(_)
            | PythonValue::Float(_)
            | PythonValue::Complex(..)
            | PythonValue::Decimal(_)
            | PythonValue::Fraction { .. } => Self::Number,
            PythonValue::Text(_) => Self::Text,
            PythonValue::List(items) => {
                Self::List(Box::new(Self::unify_all(items.iter().map(Self::of_value))))
            }
            PythonValue::Tuple(items) => Self::Tuple(items.iter().map(Self::of_value).collect()),
            PythonValue::Set(items) | PythonValue::FrozenSet(items) => {
                Self::Set(Box::new(Self::unify_all(items.iter().map(Self::of_value))))
            }
            PythonValue::Dictionary(entries) => Self::Dictionary(
                Box::new(Self::unify_all(
                    entries.iter().map(|(key, _)| Self::of_value(key)),
                )),
                Box::new(Self::unify_all(
                    entries.iter().map(|(_, value)| Self::of_value(value)),
                )),
            ),
            PythonValue::Bytes(_) => Self::Bytes,
            PythonValue::Range { .. } => Self::List(Box::new(Self::Number)),
            PythonValue::Member { class, .. }
            | PythonValue::Record { class, .. }
            | PythonValue::Object(class) => Self::Object(class.clone()),
            PythonValue::Date(_)
            | PythonValue::DateTime(_)
            | PythonValue::Duration(_)
            | PythonValue::Function(_) => Self::Unknown,
        }
    }

    /// Returns the one type that covers all, or [`Type::Unknown`].
    #[must_use]
    pub fn unify_all(mut types: impl Iterator<Item = Self>) -> Self {
        let Some(first) = types.next() else {
            return Self::Unknown;
        };
        types.fold(first, Self::unify)
    }

    /// Returns what is known if a term may be of either type.
    #[must_use]
    pub fn unify(self, other: Self) -> Self {
        match (self, other) {
            (one, two) if one == two => one,
            (Self::List(one), Self::List(two)) => Self::List(Box::new(one.unify(*two))),
            (Self::Set(one), Self::Set(two)) => Self::Set(Box::new(one.unify(*two))),
            (Self::Tuple(_), Self::Tuple(_)) => Self::Tuple(Vec::new()),
            (Self::Dictionary(key, value), Self::Dictionary(other_key, other_value)) => {
                Self::Dictionary(
                    Box::new(key.unify(*other_key)),
                    Box::new(value.unify(*other_value)),
                )
            }
            _ => Self::Unknown,
        }
    }

    /// Returns the type that iteration gives.
    #[must_use]
    pub fn element(&self) -> Self {
        match self {
            Self::Text => Self::Text,
            Self::Bytes => Self::Number,
            Self::List(element) | Self::Set(element) => (**element).clone(),
            Self::Dictionary(key, _) => (**key).clone(),
            Self::Tuple(items) => Self::unify_all(items.iter().cloned()),
            _ => Self::Unknown,
        }
    }

    /// Returns the type of the item at a position.
    #[must_use]
    pub fn item(&self, index: usize) -> Self {
        match self {
            Self::Tuple(items) => items.get(index).cloned().unwrap_or_default(),
            other => other.element(),
        }
    }

    /// Returns the word for one member: "character", "entry" or "element".
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match self {
            Self::Text => "character",
            Self::Dictionary(..) => "entry",
            _ => "element",
        }
    }

    /// Returns true if it is a text or a collection, which can be empty.
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

    /// Returns true if it is known to be one of Python's own types.
    #[must_use]
    pub fn is_built_in(&self) -> bool {
        !matches!(self, Self::Unknown | Self::Object(_))
    }

    /// Returns true if `+` concatenates values of the type.
    #[must_use]
    pub(crate) fn is_sequence(&self) -> bool {
        matches!(
            self,
            Self::Text | Self::Bytes | Self::List(_) | Self::Tuple(_)
        )
    }

    /// Returns the type of two sequences joined by `+`.
    pub(super) fn concatenate(self, other: Self) -> Self {
        match (&self, &other) {
            (Self::List(_), Self::List(_)) => self.unify(other),
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
    fn unified_types_are_known() {
        let common = |types: &[Type]| Type::unify_all(types.iter().cloned());
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
