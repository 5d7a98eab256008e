//! Values as Python source, and back: what samples, start values and failing arguments are given as.

use testwright_source::tree;

use super::{Float, Value};
use crate::term::{Call, Callee, Scope, Term, Unscoped};

impl Value {
    /// The value that a Python expression without names stands for: literals, displays, the constructors of Python's own
    /// kinds of values. Nothing if it is anything else.
    ///
    /// ```
    /// use testwright_readable::value::Value;
    ///
    /// let value = Value::of_python("{'a': [1, -2.5], 'b': datetime.date(2026, 2, 28)}").unwrap();
    /// assert_eq!(value.phrase(), "the dictionary {\"a\": [1, -2.5], \"b\": the date 2026-02-28}");
    /// ```
    #[must_use]
    pub fn of_python(text: &str) -> Option<Self> {
        Self::of_expression(&tree::expression(text).ok()?, text, &Unscoped)
    }

    /// The same for an expression that stands in `text`.
    #[must_use]
    pub fn of_expression(
        expression: &tree::Expression,
        text: &str,
        scope: &dyn Scope,
    ) -> Option<Self> {
        Self::of_term(&Term::read(expression, text, scope))
    }

    /// The value of a term, if it is constant.
    #[must_use]
    pub fn of_term(term: &Term) -> Option<Self> {
        match term {
            Term::Value(value) => Some(value.clone()),
            Term::List(items) => Some(Self::List(all(items)?)),
            Term::Tuple(items) => Some(Self::Tuple(all(items)?)),
            Term::Set(items) => Some(Self::Set(all(items)?)),
            Term::Dictionary(entries) => entries
                .iter()
                .map(|(key, value)| Some((Self::of_term(key.as_ref()?)?, Self::of_term(value)?)))
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
                let real = match Self::of_term(left)? {
                    Self::Integer(digits) => digits.parse().ok()?,
                    Self::Float(number) => number.0,
                    _ => return None,
                };
                match Self::of_term(right)? {
                    Self::Complex(zero, imaginary) if zero.0 == 0.0 => {
                        Some(Self::Complex(Float(real), Float(sign * imaginary.0)))
                    }
                    _ => None,
                }
            }
            Term::Unary {
                operator: tree::UnaryOperator::Minus,
                operand,
            } => match Self::of_term(operand)? {
                Self::Complex(real, imaginary) => {
                    Some(Self::Complex(Float(-real.0), Float(-imaginary.0)))
                }
                _ => None,
            },
            Term::Call(call) => constructed(call),
            // How `repr` writes floats that have no literal.
            Term::Reference(reference) => match reference.name.as_str() {
                "inf" => Some(Self::Float(Float(f64::INFINITY))),
                "nan" => Some(Self::Float(Float(f64::NAN))),
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

    /// The value as a Python expression. Records and objects are written as calls of their classes.
    #[must_use]
    pub fn to_python(&self) -> String {
        match self {
            Self::Nothing => "None".to_owned(),
            Self::Boolean(true) => "True".to_owned(),
            Self::Boolean(false) => "False".to_owned(),
            Self::Integer(digits) => digits.clone(),
            Self::Float(number) if number.0.is_finite() => number.to_python(),
            Self::Float(number) => format!("float('{}')", number.to_python()),
            Self::Text(text) => python_text(text),
            Self::List(items) => format!("[{}]", list(items)),
            Self::Tuple(items) if items.len() == 1 => format!("({},)", list(items)),
            Self::Tuple(items) => format!("({})", list(items)),
            Self::Set(items) if items.is_empty() => "set()".to_owned(),
            Self::Set(items) => format!("{{{}}}", list(&sorted(items))),
            Self::FrozenSet(items) if items.is_empty() => "frozenset()".to_owned(),
            Self::FrozenSet(items) => format!("frozenset({{{}}})", list(&sorted(items))),
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
            Self::Moment(text) => format!("datetime.datetime.fromisoformat('{text}')"),
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

fn all(items: &[Term]) -> Option<Vec<Value>> {
    items.iter().map(Value::of_term).collect()
}

fn list(items: &[Value]) -> String {
    let items: Vec<String> = items.iter().map(Value::to_python).collect();
    items.join(", ")
}

/// The order in which sets are written everywhere.
fn sorted(items: &[Value]) -> Vec<Value> {
    let mut items = items.to_vec();
    items.sort_by_cached_key(|item| {
        let notation = item.notation();
        (notation.chars().count(), notation)
    });
    items
}

/// Single quotation marks, as `repr` writes them: sources of step definitions have plenty of double ones.
fn python_text(text: &str) -> String {
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

/// What the constructors of Python's own kinds of values make.
fn constructed(call: &Call) -> Option<Value> {
    let name = match &call.callee {
        Callee::Function { name, .. } => name.as_str(),
        Callee::Method {
            object: Term::Reference(_) | Term::Attribute { .. },
            name,
        } => name.as_str(),
        _ => return None,
    };
    let arguments = all(&call.arguments)?;
    let keywords: Vec<(&str, Value)> = call
        .keywords
        .iter()
        .map(|(name, value)| Some((name.as_deref()?, Value::of_term(value)?)))
        .collect::<Option<_>>()?;
    let numbers: Option<Vec<i128>> = arguments.iter().map(Value::as_integer).collect();
    match (name, arguments.as_slice()) {
        ("frozenset", [Value::Set(items)]) => Some(Value::FrozenSet(items.clone())),
        ("bytearray", [Value::Bytes(bytes)]) => Some(Value::Bytes(bytes.clone())),
        ("Decimal", [Value::Text(text) | Value::Integer(text)]) => {
            Some(Value::Decimal(text.clone()))
        }
        ("Fraction", [Value::Integer(numerator)]) => Some(fraction(numerator, "1")),
        ("Fraction", [Value::Integer(numerator), Value::Integer(denominator)]) => {
            Some(fraction(numerator, denominator))
        }
        ("complex", [real, imaginary]) => Some(Value::Complex(float(real)?, float(imaginary)?)),
        ("date", _) if keywords.is_empty() => match numbers?.as_slice() {
            [year, month, day] => Some(Value::Date(format!("{year:04}-{month:02}-{day:02}"))),
            _ => None,
        },
        ("datetime", _) if keywords.is_empty() => moment(&numbers?),
        ("timedelta", _) => duration(&arguments, &keywords),
        (_, []) if crate::term::is_class_name(name) && !keywords.is_empty() => {
            Some(Value::Record {
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

fn fraction(numerator: &str, denominator: &str) -> Value {
    Value::Fraction {
        numerator: numerator.to_owned(),
        denominator: denominator.to_owned(),
    }
}

fn float(value: &Value) -> Option<Float> {
    match value {
        Value::Float(number) => Some(*number),
        Value::Integer(digits) => digits.parse().ok().map(Float),
        _ => None,
    }
}

fn moment(numbers: &[i128]) -> Option<Value> {
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
    Some(Value::Moment(format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}{fraction}",
        part(0),
        part(1),
        part(2)
    )))
}

fn duration(arguments: &[Value], keywords: &[(&str, Value)]) -> Option<Value> {
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
    let mut parts: Vec<(i128, &Value)> = positions.collect();
    for (name, value) in keywords {
        let (_, size) = PARTS.iter().find(|(part, _)| part == name)?;
        parts.push((*size, value));
    }
    for (size, value) in parts {
        total = total.checked_add(size.checked_mul(value.as_integer()?)?)?;
    }
    Some(Value::Duration(total))
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
                Value::of_python(text)
                    .map(|value| value.phrase())
                    .as_deref(),
                Some(phrase),
                "{text}"
            );
        }
        for text in ["x", "f(1)", "[x]", "1 +", "Point(x)"] {
            assert_eq!(Value::of_python(text), None, "{text}");
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
                Value::of_python(text)
                    .map(|value| value.to_python())
                    .as_deref(),
                Some(text)
            );
        }
    }
}
