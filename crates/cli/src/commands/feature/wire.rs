//! Values as the process that runs properties tells them.

use serde_json::Value as Json;
use testwright_readable::sample::Argument;
use testwright_readable::value::{Float, Value};

/// An argument: its name, what it is, and how it is made.
pub(super) fn argument(told: &Json) -> Option<Argument> {
    Some(Argument {
        name: told.get(0)?.as_str()?.to_owned(),
        value: value(told.get(1)?)?,
        recipe: told.get(2).and_then(Json::as_str).map(str::to_owned),
    })
}

/// A value from a kind and its parts.
pub(super) fn value(told: &Json) -> Option<Value> {
    let text = |index: usize| told.get(index).and_then(Json::as_str).map(str::to_owned);
    let number = |index: usize| text(index)?.parse::<i128>().ok();
    let float = |index: usize| Some(Float(text(index)?.parse().ok()?));
    let items = |index: usize| -> Option<Vec<Value>> {
        told.get(index)?.as_array()?.iter().map(value).collect()
    };
    Some(match told.get(0)?.as_str()? {
        "none" => Value::Nothing,
        "bool" => Value::Boolean(told.get(1)?.as_bool()?),
        "int" => Value::Integer(text(1)?),
        "float" => Value::Float(float(1)?),
        "text" => Value::Text(text(1)?),
        "bytes" => Value::Bytes(bytes(&text(1)?)?),
        "complex" => Value::Complex(float(1)?, float(2)?),
        "decimal" => Value::Decimal(text(1)?),
        "fraction" => Value::Fraction {
            numerator: text(1)?,
            denominator: text(2)?,
        },
        "date" => Value::Date(text(1)?),
        "moment" => Value::Moment(text(1)?),
        "duration" => Value::Duration((number(1)? * 86_400 + number(2)?) * 1_000_000 + number(3)?),
        "range" => Value::Range {
            start: number(1)?,
            stop: number(2)?,
            step: number(3)?,
        },
        "list" => Value::List(items(1)?),
        "tuple" => Value::Tuple(items(1)?),
        "set" => Value::Set(items(1)?),
        "frozenset" => Value::FrozenSet(items(1)?),
        "dict" => {
            let entries = told.get(1)?.as_array()?.iter();
            Value::Dictionary(
                entries
                    .map(|entry| Some((value(entry.get(0)?)?, value(entry.get(1)?)?)))
                    .collect::<Option<_>>()?,
            )
        }
        "enum" => Value::Member {
            class: text(1)?,
            name: text(2)?,
        },
        "record" => {
            let fields = told.get(2)?.as_array()?.iter();
            let fields = fields
                .map(|field| Some((field.get(0)?.as_str()?.to_owned(), value(field.get(1)?)?)));
            Value::Record {
                class: text(1)?,
                fields: fields.collect::<Option<_>>()?,
            }
        }
        "function" => Value::Function(text(1)?),
        _ => Value::Object(text(1)?),
    })
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = (0..digits.len()).step_by(2);
    pairs
        .map(|start| u8::from_str_radix(digits.get(start..start + 2)?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_arrive_as_they_were_sent() {
        for (told, notation) in [
            (json!(["int", "-12"]), "-12"),
            (json!(["float", "inf"]), "infinity"),
            (
                json!(["list", [["text", "a"], ["none"], ["bool", true]]]),
                "[\"a\", nothing, true]",
            ),
            (json!(["dict", [[["int", "1"], ["tuple", []]]]]), "{1: ()}"),
            (json!(["bytes", "00ff"]), "the bytes 00 ff"),
            (
                json!(["duration", "-1", "86399", "0"]),
                "the duration minus 1 second",
            ),
            (json!(["other", "UserAccount"]), "an user account"),
        ] {
            assert_eq!(
                value(&told).map(|value| value.notation()).as_deref(),
                Some(notation)
            );
        }
        assert_eq!(value(&json!(["list", [["int"]]])), None);
        assert_eq!(value(&json!(7)), None);
    }
}
