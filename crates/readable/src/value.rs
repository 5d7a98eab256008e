//! Concrete Python values: literals, start values, samples and failing arguments.
//!
//! A value is written bare, as in `[1, "a"]`, or with its kind, as in "the list [1, "a"]". The
//! latter can be [parsed back](parse::parse_phrase) into an equal value of the same type.

mod float;
mod literal;
mod notation;
pub mod parse;

pub use float::PythonFloat;

/// A Python value.
///
/// Two values are equal if they are equal and of the same type in Python. The order of set members
/// does not matter, and not-a-number equals itself.
#[derive(Debug, Clone)]
#[allow(
    missing_docs,
    reason = "they are what they are called, by Python's names for their parts"
)]
pub enum PythonValue {
    /// `None`
    Nothing,
    /// `True` or `False`.
    Boolean(bool),
    /// Decimal digits, with a minus sign if negative: Python's integers have no limit.
    Integer(String),
    /// A floating-point number.
    Float(PythonFloat),
    /// A `str`.
    Text(String),
    List(Vec<PythonValue>),
    Tuple(Vec<PythonValue>),
    Set(Vec<PythonValue>),
    FrozenSet(Vec<PythonValue>),
    /// The entries in insertion order.
    Dictionary(Vec<(PythonValue, PythonValue)>),
    /// A `bytes` object.
    Bytes(Vec<u8>),
    /// The real and the imaginary part.
    Complex(PythonFloat, PythonFloat),
    /// The number as Python's `str` writes it.
    Decimal(String),
    /// Both as decimal digits; the sign is the numerator's.
    Fraction {
        numerator: String,
        denominator: String,
    },
    /// `2026-02-28`
    Date(String),
    /// `2026-02-28 10:00:00`, with an optional fraction and zone.
    DateTime(String),
    /// A duration in microseconds.
    Duration(i128),
    /// A member of an enumeration.
    Member {
        class: String,
        name: String,
    },
    /// A data class, named tuple or the like.
    Record {
        class: String,
        fields: Vec<(String, PythonValue)>,
    },
    /// A `range`.
    Range {
        start: i128,
        stop: i128,
        step: i128,
    },
    /// A function, by its name.
    Function(String),
    /// Any other object; only its class is known.
    Object(String),
}

impl PythonValue {
    /// Creates an integer.
    #[must_use]
    pub fn integer(number: impl Into<i128>) -> Self {
        Self::Integer(number.into().to_string())
    }

    /// Creates a text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Returns the number if it is an integer that fits into an `i128`.
    #[must_use]
    pub fn as_integer(&self) -> Option<i128> {
        match self {
            Self::Integer(digits) => digits.parse().ok(),
            _ => None,
        }
    }

    /// Returns true if it is a number. Truth values are not numbers here, because readers do not
    /// take them for such.
    #[must_use]
    pub fn is_number(&self) -> bool {
        matches!(
            self,
            Self::Integer(_)
                | Self::Float(_)
                | Self::Complex(..)
                | Self::Decimal(_)
                | Self::Fraction { .. }
        )
    }

    /// Returns the number of members of a text or a collection.
    #[must_use]
    pub fn length(&self) -> Option<usize> {
        match self {
            Self::Text(text) => Some(text.chars().count()),
            Self::List(items) | Self::Tuple(items) | Self::Set(items) | Self::FrozenSet(items) => {
                Some(items.len())
            }
            Self::Dictionary(entries) => Some(entries.len()),
            Self::Bytes(bytes) => Some(bytes.len()),
            Self::Range { start, stop, step } => range_length(*start, *stop, *step),
            _ => None,
        }
    }

    /// Returns the truth value that Python gives it in a condition, if it is known.
    #[must_use]
    pub fn truth(&self) -> Option<bool> {
        match self {
            Self::Nothing => Some(false),
            Self::Boolean(value) => Some(*value),
            Self::Integer(digits) => Some(digits.trim_start_matches('-') != "0"),
            Self::Float(number) => Some(number.0 != 0.0),
            Self::Complex(real, imaginary) => Some(real.0 != 0.0 || imaginary.0 != 0.0),
            Self::Duration(microseconds) => Some(*microseconds != 0),
            Self::Date(_) | Self::DateTime(_) | Self::Function(_) => Some(true),
            _ => self.length().map(|length| length > 0),
        }
    }
}

/// Returns the number of members of a range, or nothing if its step is zero.
fn range_length(start: i128, stop: i128, step: i128) -> Option<usize> {
    let distance = stop.checked_sub(start)?;
    let rounds = match step {
        0 => return None,
        1.. => distance.max(0).checked_add(step - 1)? / step,
        _ => distance.min(0).checked_add(step + 1)? / step,
    };
    usize::try_from(rounds).ok()
}

impl PartialEq for PythonValue {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Nothing, Self::Nothing) => true,
            (Self::Boolean(one), Self::Boolean(two)) => one == two,
            (Self::Float(one), Self::Float(two)) => one == two,
            (Self::Integer(one), Self::Integer(two))
            | (Self::Text(one), Self::Text(two))
            | (Self::Decimal(one), Self::Decimal(two))
            | (Self::Date(one), Self::Date(two))
            | (Self::DateTime(one), Self::DateTime(two))
            | (Self::Function(one), Self::Function(two))
            | (Self::Object(one), Self::Object(two)) => one == two,
            (Self::List(one), Self::List(two)) | (Self::Tuple(one), Self::Tuple(two)) => one == two,
            (Self::Set(one), Self::Set(two)) | (Self::FrozenSet(one), Self::FrozenSet(two)) => {
                one.len() == two.len() && one.iter().all(|member| two.contains(member))
            }
            (Self::Dictionary(one), Self::Dictionary(two)) => {
                one.len() == two.len() && one.iter().all(|entry| two.contains(entry))
            }
            (Self::Bytes(one), Self::Bytes(two)) => one == two,
            (Self::Complex(..), Self::Complex(..)) => self.notation() == other.notation(),
            (
                Self::Fraction {
                    numerator,
                    denominator,
                },
                Self::Fraction {
                    numerator: other_numerator,
                    denominator: other_denominator,
                },
            ) => (numerator, denominator) == (other_numerator, other_denominator),
            (Self::Duration(one), Self::Duration(two)) => one == two,
            (
                Self::Member { class, name },
                Self::Member {
                    class: other_class,
                    name: other_name,
                },
            ) => (class, name) == (other_class, other_name),
            (
                Self::Record { class, fields },
                Self::Record {
                    class: other_class,
                    fields: other_fields,
                },
            ) => (class, fields) == (other_class, other_fields),
            (Self::Range { .. }, Self::Range { .. }) => self.notation() == other.notation(),
            _ => false,
        }
    }
}

impl Eq for PythonValue {}
