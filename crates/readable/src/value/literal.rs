//! Conversion between values and Python source, for samples, start values and failing arguments.

use testwright_source::tree;

use super::{PythonFloat, PythonValue};
use crate::term::{CallTarget, CallTerm, EmptyScope, NameScope, Term};

impl PythonValue {
    /// Returns the value of a Python expression without names: literals, displays, and constructors
    /// of Python's own types. Returns nothing for anything else.
    ///
    /// ```
    /// use testwright_readable::value::PythonValue;
    ///
    /// let value = PythonValue::from_python("{'a': [1, -2.5], 'b': datetime.date(2026, 2, 28)}").unwrap();
    /// assert_eq!(value.phrase(), "the dictionary {\"a\": [1, -2.5], \"b\": the date 2026-02-28}");
    /// ```
    #[must_use]
    pub fn from_python(text: &str) -> Option<Self> {
        Self::from_expression(&tree::expression(text).ok()?, text, &EmptyScope)
    }

    /// Returns the value of an expression that stands in `text`, with names resolved by `scope`.
    #[must_use]
    pub fn from_expression(
        expression: &tree::Expression,
        text: &str,
        scope: &dyn NameScope,
    ) -> Option<Self> {
        Self::from_term(&Term::from_expression(expression, text, scope))
    }

    /// Returns the value of a term if it is constant.
    #[must_use]
    pub fn from_term(term: &Term) -> Option<Self> {
        match term {
            Term::Value(value) => Some(value.clone()),
            Term::List(items) => Some(Self::List(terms_to_values(items)?)),
            Term::Tuple(items) => Some(Self::Tuple(terms_to_values(items)?)),
            Term::Set(items) => Some(Self::Set(terms_to_values(items)?)),
            Term::Dictionary(entries) => entries
                .iter()
                .map(|(key, value)| {
                    Some((Self::from_term(key.as_ref()?)?, Self::from_term(value)?))
                })
                .collect::<Option<_>>()
                .map(Self::Dictionary),
            Term::Binary {
                left,
                operator,
                right,
            } => {
                let sign = match operator {
                    tree::Operator::Add => 1.0,
                    tree::Operator::Subtract => -1.0,
                    _ => return None,
                };
                let real = match Self::from_term(left)? {
                    Self::Integer(digits) => digits.parse().ok()?,
                    Self::Float(number) => number.0,
                    _ => return None,
                };
                match Self::from_term(right)? {
                    Self::Complex(zero, imaginary) if zero.0 == 0.0 => Some(Self::Complex(
                        PythonFloat(real),
                        PythonFloat(sign * imaginary.0),
                    )),
                    _ => None,
                }
            }
            Term::Unary {
                operator: tree::UnaryOperator::Minus,
                operand,
            } => match Self::from_term(operand)? {
                Self::Complex(real, imaginary) => Some(Self::Complex(
                    PythonFloat(-real.0),
                    PythonFloat(-imaginary.0),
                )),
                _ => None,
            },
            Term::Call(call) => constructed_value(call),
            // `repr` writes these floats, which have no literal, like names.
            Term::Reference(reference) => match reference.name.as_str() {
                "inf" => Some(Self::Float(PythonFloat(f64::INFINITY))),
                "nan" => Some(Self::Float(PythonFloat(f64::NAN))),
                _ => None,
            },
            // Members of enumerations that are not written in capitals.
            Term::Attribute { object, name } => match &**object {
                Term::Reference(reference) if crate::term::is_class_name(&reference.name) => {
                    Some(Self::Member {
                        class: reference.name.clone(),
                        name: name.clone(),
                    })
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns a Python expression that makes the value. Records and objects are written as calls
    /// of their classes.
    #[must_use]
    pub fn to_python(&self) -> String {
        match self {
            Self::Nothing => "None".to_owned(),
            Self::Boolean(true) => "True".to_owned(),
            Self::Boolean(false) => "False".to_owned(),
            Self::Integer(digits) => digits.clone(),
            Self::Float(number) if number.0.is_finite() => number.to_python(),
            Self::Float(number) => format!("float('{}')", number.to_python()),
            Self::Text(text) => quote_python(text),
            Self::List(items) => format!("[{}]", join_python(items)),
            Self::Tuple(items) if items.len() == 1 => format!("({},)", join_python(items)),
            Self::Tuple(items) => format!("({})", join_python(items)),
            Self::Set(items) if items.is_empty() => "set()".to_owned(),
            Self::Set(items) => format!("{{{}}}", join_python(&sort_members(items))),
            Self::FrozenSet(items) if items.is_empty() => "frozenset()".to_owned(),
            Self::FrozenSet(items) => {
                format!("frozenset({{{}}})", join_python(&sort_members(items)))
            }
            Self::Dictionary(entries) => {
                let entries: Vec<String> = entries
                    .iter()
                    .map(|(key, value)| format!("{}: {}", key.to_python(), value.to_python()))
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }
            Self::Bytes(bytes) => {
                let bytes: String = bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect();
                format!("b'{bytes}'")
            }
            Self::Complex(real, imaginary) => {
                format!(
                    "complex({}, {})",
                    Self::Float(*real).to_python(),
                    Self::Float(*imaginary).to_python()
                )
            }
            Self::Decimal(text) => format!("decimal.Decimal('{text}')"),
            Self::Fraction {
                numerator,
                denominator,
            } => format!("fractions.Fraction({numerator}, {denominator})"),
            Self::Date(text) => format!("datetime.date.fromisoformat('{text}')"),
            Self::DateTime(text) => format!("datetime.datetime.fromisoformat('{text}')"),
            Self::Duration(microseconds) => {
                format!("datetime.timedelta(microseconds={microseconds})")
            }
            Self::Member { class, name } => format!("{class}.{name}"),
            Self::Record { class, fields } => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(name, value)| format!("{name}={}", value.to_python()))
                    .collect();
                format!("{class}({})", fields.join(", "))
            }
            Self::Range {
                start,
                stop,
                step: 1,
            } => format!("range({start}, {stop})"),
            Self::Range { start, stop, step } => format!("range({start}, {stop}, {step})"),
            Self::Function(name) => name.clone(),
            Self::Object(class) => format!("{class}()"),
        }
    }
}

/// Returns the values of all terms, or nothing if one of them is not constant.
fn terms_to_values(items: &[Term]) -> Option<Vec<PythonValue>> {
    items.iter().map(PythonValue::from_term).collect()
}

/// Joins the Python source of items with commas.
fn join_python(items: &[PythonValue]) -> String {
    let items: Vec<String> = items.iter().map(PythonValue::to_python).collect();
    items.join(", ")
}

/// Sorts the members of a set by the length of their notation, then by text, as everywhere (trap
/// 14: output does not depend on hash order).
fn sort_members(items: &[PythonValue]) -> Vec<PythonValue> {
    let mut items = items.to_vec();
    items.sort_by_cached_key(|item| {
        let notation = item.notation();
        (notation.chars().count(), notation)
    });
    items
}

/// Returns a Python string literal. It uses single quotation marks like `repr`, because step
/// definitions contain many double ones.
fn quote_python(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut quoted = String::from(quote);
    for character in text.chars() {
        match character {
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            _ if character == quote => quoted.extend(['\\', quote]),
            _ if super::notation::is_printable(character) => quoted.push(character),
            _ => quoted.push_str(&format!("\\U{:08x}", u32::from(character))),
        }
    }
    quoted.push(quote);
    quoted
}

/// Returns the value that a call of a constructor makes: `frozenset`, `Decimal`, `date` and the
/// like, or a record with keyword arguments.
fn constructed_value(call: &CallTerm) -> Option<PythonValue> {
    let name = match &call.callee {
        CallTarget::Function { name, .. } => name.as_str(),
        CallTarget::Method {
            object: Term::Reference(_) | Term::Attribute { .. },
            name,
        } => name.as_str(),
        _ => return None,
    };
    let arguments = terms_to_values(&call.arguments)?;
    let keywords: Vec<(&str, PythonValue)> = call
        .keywords
        .iter()
        .map(|(name, value)| Some((name.as_deref()?, PythonValue::from_term(value)?)))
        .collect::<Option<_>>()?;
    let numbers: Option<Vec<i128>> = arguments.iter().map(PythonValue::as_integer).collect();
    match (name, arguments.as_slice()) {
        ("frozenset", [PythonValue::Set(items)]) => Some(PythonValue::FrozenSet(items.clone())),
        ("bytearray", [PythonValue::Bytes(bytes)]) => Some(PythonValue::Bytes(bytes.clone())),
        ("Decimal", [PythonValue::Text(text) | PythonValue::Integer(text)]) => {
            Some(PythonValue::Decimal(text.clone()))
        }
        ("Fraction", [PythonValue::Integer(numerator)]) => Some(fraction(numerator, "1")),
        (
            "Fraction",
            [
                PythonValue::Integer(numerator),
                PythonValue::Integer(denominator),
            ],
        ) => Some(fraction(numerator, denominator)),
        ("complex", [real, imaginary]) => {
            Some(PythonValue::Complex(float(real)?, float(imaginary)?))
        }
        ("date", _) if keywords.is_empty() => match numbers?.as_slice() {
            [year, month, day] => Some(PythonValue::Date(format!("{year:04}-{month:02}-{day:02}"))),
            _ => None,
        },
        ("datetime", _) if keywords.is_empty() => date_time(&numbers?),
        ("timedelta", _) => duration(&arguments, &keywords),
        (_, []) if crate::term::is_class_name(name) && !keywords.is_empty() => {
            Some(PythonValue::Record {
                class: name.to_owned(),
                fields: keywords
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect(),
            })
        }
        _ => None,
    }
}

/// Creates a fraction from digits.
fn fraction(numerator: &str, denominator: &str) -> PythonValue {
    PythonValue::Fraction {
        numerator: numerator.to_owned(),
        denominator: denominator.to_owned(),
    }
}

/// Converts a number to a float.
fn float(value: &PythonValue) -> Option<PythonFloat> {
    match value {
        PythonValue::Float(number) => Some(*number),
        PythonValue::Integer(digits) => digits.parse().ok().map(PythonFloat),
        _ => None,
    }
}

/// Creates a moment from the arguments of `datetime`: year, month, day, and up to four parts of the
/// time.
fn date_time(numbers: &[i128]) -> Option<PythonValue> {
    let [year, month, day, time @ ..] = numbers else {
        return None;
    };
    let part = |index: usize| time.get(index).copied().unwrap_or_default();
    if time.len() > 4 {
        return None;
    }
    let fraction = match part(3) {
        0 => String::new(),
        microseconds => format!(".{microseconds:06}"),
    };
    Some(PythonValue::DateTime(format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}{fraction}",
        part(0),
        part(1),
        part(2)
    )))
}

/// Creates a duration from the arguments of `timedelta`.
fn duration(arguments: &[PythonValue], keywords: &[(&str, PythonValue)]) -> Option<PythonValue> {
    const PARTS: [(&str, i128); 7] = [
        ("days", 86_400_000_000),
        ("seconds", 1_000_000),
        ("microseconds", 1),
        ("milliseconds", 1_000),
        ("minutes", 60_000_000),
        ("hours", 3_600_000_000),
        ("weeks", 604_800_000_000),
    ];
    let positions = PARTS
        .iter()
        .zip(arguments)
        .map(|((_, size), value)| (*size, value));
    let mut total: i128 = 0;
    let mut parts: Vec<(i128, &PythonValue)> = positions.collect();
    for (name, value) in keywords {
        let (_, size) = PARTS.iter().find(|(part, _)| part == name)?;
        parts.push((*size, value));
    }
    for (size, value) in parts {
        total = total.checked_add(size.checked_mul(value.as_integer()?)?)?;
    }
    Some(PythonValue::Duration(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_literals_are_values() {
        for (text, phrase) in [
            ("-3", "the number -3"),
            ("(1,)", "the group (1)"),
            ("set()", "the empty set"),
            ("frozenset({1, 2})", "the fixed set {1, 2}"),
            ("Decimal('1.10')", "the exact number 1.10"),
            ("Fraction(1, 3)", "the fraction 1/3"),
            ("(1+2j)", "the complex number 1+2j"),
            ("2j", "the complex number 2j"),
            (
                "datetime.datetime(2026, 2, 28, 10, 0)",
                "the moment 2026-02-28 10:00:00",
            ),
            (
                "datetime.timedelta(days=3, seconds=14400)",
                "the duration 3 days and 4 hours",
            ),
            ("Colour.RED", "the colour RED"),
            ("Colour.red", "the colour red"),
            ("Point(x=1, y=2)", "the point with x 1 and y 2"),
            ("range(0, 10)", "the numbers from 0 to 9"),
            ("float('-inf')", "the number minus infinity"),
            ("[nan]", "the list [not-a-number]"),
        ] {
            assert_eq!(
                PythonValue::from_python(text)
                    .map(|value| value.phrase())
                    .as_deref(),
                Some(phrase),
                "{text}"
            );
        }
        for text in ["x", "f(1)", "[x]", "1 +", "Point(x)"] {
            assert_eq!(PythonValue::from_python(text), None, "{text}");
        }
    }

    #[test]
    fn values_are_written_as_python() {
        for text in [
            "None",
            "True",
            "-3",
            "1e+16",
            "'a\\n\"'",
            "\"it's\"",
            "[1, (2,), set()]",
            "{'a': {1, 20}}",
            "frozenset({1})",
            "b'\\x00\\xff'",
            "float('nan')",
            "range(1, 5)",
            "Colour.RED",
            "Point(x=1)",
        ] {
            assert_eq!(
                PythonValue::from_python(text)
                    .map(|value| value.to_python())
                    .as_deref(),
                Some(text)
            );
        }
    }
}
