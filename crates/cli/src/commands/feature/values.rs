//! Values in the JSON protocol of the process that runs properties.

use serde_json::Value as Json;
use testwright_readable::sample::SampleArgument;
use testwright_readable::value::{PythonFloat, PythonValue};

/// Parses an argument: its name, its value, and the expression that makes it.
pub(super) fn parse_argument(json: &Json) -> Option<SampleArgument> {
    Some(SampleArgument {
        name: json.get(0)?.as_str()?.to_owned(),
        value: parse_value(json.get(1)?)?,
        recipe: json.get(2).and_then(Json::as_str).map(str::to_owned),
    })
}

/// Parses a value: a list of its kind and its parts.
pub(super) fn parse_value(json: &Json) -> Option<PythonValue> {
    let text = |index: usize| json.get(index).and_then(Json::as_str).map(str::to_owned);
    let number = |index: usize| text(index)?.parse::<i128>().ok();
    let float = |index: usize| Some(PythonFloat(text(index)?.parse().ok()?));
    let items = |index: usize| -> Option<Vec<PythonValue>> {
        json.get(index)?
            .as_array()?
            .iter()
            .map(parse_value)
            .collect()
    };
    Some(match json.get(0)?.as_str()? {
        "none" => PythonValue::Nothing,
        "bool" => PythonValue::Boolean(json.get(1)?.as_bool()?),
        "int" => PythonValue::Integer(text(1)?),
        "float" => PythonValue::Float(float(1)?),
        "text" => PythonValue::Text(text(1)?),
        "bytes" => PythonValue::Bytes(decode_hex(&text(1)?)?),
        "complex" => PythonValue::Complex(float(1)?, float(2)?),
        "decimal" => PythonValue::Decimal(text(1)?),
        "fraction" => PythonValue::Fraction {
            numerator: text(1)?,
            denominator: text(2)?,
        },
        "date" => PythonValue::Date(text(1)?),
        "moment" => PythonValue::DateTime(text(1)?),
        "duration" => {
            PythonValue::Duration((number(1)? * 86_400 + number(2)?) * 1_000_000 + number(3)?)
        }
        "range" => PythonValue::Range {
            start: number(1)?,
            stop: number(2)?,
            step: number(3)?,
        },
        "list" => PythonValue::List(items(1)?),
        "tuple" => PythonValue::Tuple(items(1)?),
        "set" => PythonValue::Set(items(1)?),
        "frozenset" => PythonValue::FrozenSet(items(1)?),
        "dict" => {
            let entries = json.get(1)?.as_array()?.iter();
            PythonValue::Dictionary(
                entries
                    .map(|entry| Some((parse_value(entry.get(0)?)?, parse_value(entry.get(1)?)?)))
                    .collect::<Option<_>>()?,
            )
        }
        "enum" => PythonValue::Member {
            class: text(1)?,
            name: text(2)?,
        },
        "record" => {
            let fields = json.get(2)?.as_array()?.iter();
            let fields = fields.map(|field| {
                Some((
                    field.get(0)?.as_str()?.to_owned(),
                    parse_value(field.get(1)?)?,
                ))
            });
            PythonValue::Record {
                class: text(1)?,
                fields: fields.collect::<Option<_>>()?,
            }
        }
        "function" => PythonValue::Function(text(1)?),
        _ => PythonValue::Object(text(1)?),
    })
}

/// Decodes hexadecimal digits.
fn decode_hex(digits: &str) -> Option<Vec<u8>> {
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
        for (json, notation) in [
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
                parse_value(&json).map(|value| value.notation()).as_deref(),
                Some(notation)
            );
        }
        assert_eq!(parse_value(&json!(["list", [["int"]]])), None);
        assert_eq!(parse_value(&json!(7)), None);
    }
}
