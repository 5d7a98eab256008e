//! How a value is written: bare (N) and with its kind (P).

use super::{Float, Value, range_length};
use crate::words::humanise;

/// Texts longer than this are shortened in documents,
const LONGEST_TEXT: usize = 60;
/// to this many characters;
const SHORTENED_TEXT: usize = 50;
/// collections with more members than this
const LARGEST_COLLECTION: usize = 12;
/// to this many members.
const SHORTENED_COLLECTION: usize = 10;

/// How a value is to be written.
#[derive(Clone, Copy)]
struct Writer<'a> {
    shorten: bool,
    /// The words of an identifier: a names file may have its own.
    words: &'a dyn Fn(&str) -> String,
}

impl Value {
    /// The value alone (N): `[1, "a"]`. Kinds without a notation of their own are written with their name, so
    /// that they can be read back inside collections, too.
    #[must_use]
    pub fn notation(&self) -> String {
        self.notation_in(false, &humanise)
    }

    /// [`Self::notation`] with other words for identifiers, and shortened for documents if asked for.
    #[must_use]
    pub fn notation_in(&self, shorten: bool, words: &dyn Fn(&str) -> String) -> String {
        Writer { shorten, words }.bare(self)
    }

    /// The value with its kind (P): "the list [1, "a"]".
    #[must_use]
    pub fn phrase(&self) -> String {
        self.phrase_in(false, &humanise)
    }

    /// [`Self::phrase`] with other words for identifiers, and shortened for documents if asked for.
    #[must_use]
    pub fn phrase_in(&self, shorten: bool, words: &dyn Fn(&str) -> String) -> String {
        Writer { shorten, words }.with_kind(self)
    }

    /// What its kind is called, and whether it is written without a notation of its own when empty.
    #[must_use]
    pub fn kind_noun(&self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Boolean(_) => "value",
            Self::Integer(_) | Self::Float(_) => "number",
            Self::Text(_) => "text",
            Self::List(_) => "list",
            Self::Tuple(items) if items.len() == 2 => "pair",
            Self::Tuple(_) => "group",
            Self::Set(_) => "set",
            Self::FrozenSet(_) => "fixed set",
            Self::Dictionary(_) => "dictionary",
            Self::Bytes(bytes) if bytes.is_empty() => "byte string",
            Self::Bytes(_) => "bytes",
            Self::Complex(..) => "complex number",
            Self::Decimal(_) => "exact number",
            Self::Fraction { .. } => "fraction",
            Self::Date(_) => "date",
            Self::Moment(_) => "moment",
            Self::Duration(_) => "duration",
            Self::Range { .. } => "numbers",
            Self::Function(_) => "function",
            Self::Member { .. } | Self::Record { .. } | Self::Object(_) => "value",
        }
    }
}

impl Writer<'_> {
    fn with_kind(self, value: &Value) -> String {
        let is_empty = value.length() == Some(0);
        match value {
            Value::Nothing => "nothing".to_owned(),
            Value::Range { start, stop, step } => range(*start, *stop, *step),
            Value::Member { class, name } => {
                format!("the {} {}", (self.words)(class), (self.words)(name))
            }
            Value::Record { class, fields } => self.record(class, fields),
            Value::Object(class) => crate::words::with_article(&(self.words)(class)),
            _ if is_empty => format!("the empty {}", value.kind_noun()),
            _ => format!("the {} {}", value.kind_noun(), self.content(value)),
        }
    }

    fn bare(self, value: &Value) -> String {
        match value {
            Value::Nothing
            | Value::Boolean(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Tuple(_)
            | Value::Dictionary(_)
            | Value::Set(_)
            | Value::FrozenSet(_) => self.content(value),
            _ => self.with_kind(value),
        }
    }

    /// What stands behind the name of the kind.
    fn content(self, value: &Value) -> String {
        match value {
            Value::Nothing => "nothing".to_owned(),
            Value::Boolean(value) => value.to_string(),
            Value::Integer(digits) => digits.clone(),
            Value::Float(number) => float(*number),
            Value::Text(text) => self.text(text),
            Value::List(items) => format!("[{}]", self.items(items)),
            Value::Tuple(items) => format!("({})", self.items(items)),
            Value::Set(items) | Value::FrozenSet(items) if items.is_empty() => {
                "empty set".to_owned()
            }
            Value::Set(items) | Value::FrozenSet(items) => self.set(items),
            Value::Dictionary(entries) => {
                let entry = |(key, value): &(Value, Value)| {
                    format!("{}: {}", self.member(key), self.member(value))
                };
                format!(
                    "{{{}}}",
                    self.enumeration(entries.len(), entries.iter().map(entry))
                )
            }
            Value::Bytes(bytes) => {
                let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                pairs.join(" ")
            }
            Value::Complex(real, imaginary) => complex(*real, *imaginary),
            Value::Decimal(text) | Value::Date(text) | Value::Moment(text) => text.clone(),
            Value::Fraction {
                numerator,
                denominator,
            } => format!("{numerator}/{denominator}"),
            Value::Duration(microseconds) => duration(*microseconds),
            Value::Function(name) => format!("\"{}\"", (self.words)(name)),
            Value::Member { .. }
            | Value::Record { .. }
            | Value::Range { .. }
            | Value::Object(_) => self.with_kind(value),
        }
    }

    fn items(self, items: &[Value]) -> String {
        self.enumeration(items.len(), items.iter().map(|item| self.member(item)))
    }

    /// Shorter ones first, so that numbers are in their order; the order in memory must not be seen.
    fn set(self, items: &[Value]) -> String {
        let mut members: Vec<String> = items.iter().map(|item| self.member(item)).collect();
        members.sort_by(|one, two| (one.chars().count(), one).cmp(&(two.chars().count(), two)));
        format!("{{{}}}", self.enumeration(items.len(), members.into_iter()))
    }

    fn enumeration(self, total: usize, members: impl Iterator<Item = String>) -> String {
        if !self.shorten || total <= LARGEST_COLLECTION {
            let members: Vec<String> = members.collect();
            return members.join(", ");
        }
        let members: Vec<String> = members.take(SHORTENED_COLLECTION).collect();
        format!("{}, ... ({total} in total)", members.join(", "))
    }

    /// Inside a collection; what has commas or words of its own is put in parentheses.
    fn member(self, value: &Value) -> String {
        match value {
            Value::Record { .. } => format!("({})", self.bare(value)),
            _ => self.bare(value),
        }
    }

    fn record(self, class: &str, fields: &[(String, Value)]) -> String {
        let class = (self.words)(class);
        if fields.is_empty() {
            return format!("the {class}");
        }
        let fields: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{} {}", (self.words)(name), self.member(value)))
            .collect();
        format!(
            "the {class} with {}",
            crate::phrase::join::nouns(&fields, "and")
        )
    }

    fn text(self, text: &str) -> String {
        let total = text.chars().count();
        if self.shorten && total > LONGEST_TEXT {
            let start: String = text.chars().take(SHORTENED_TEXT).collect();
            return format!("{}... ({total} in total)", quoted(&start));
        }
        quoted(text)
    }
}

/// A text between quotation marks, in one line whatever it holds.
#[must_use]
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            _ if is_printable(character) => quoted.push(character),
            _ => quoted.push_str(&format!("\\u{{{:x}}}", u32::from(character))),
        }
    }
    quoted.push('"');
    quoted
}

pub(super) fn is_printable(character: char) -> bool {
    // Rust's own table of what can be printed. A letter goes first, because an accent that has nothing to sit on
    // is escaped while one inside a text is not.
    let mut escaped = ['a', character].iter().collect::<String>();
    escaped = escaped.escape_debug().skip(1).collect();
    escaped.chars().eq([character]) || matches!(character, '\'' | '"' | '\\')
}

fn float(number: Float) -> String {
    match number.to_python().as_str() {
        "inf" => "infinity".to_owned(),
        "-inf" => "minus infinity".to_owned(),
        "nan" => "not-a-number".to_owned(),
        finite => finite.to_owned(),
    }
}

/// Python's own notation, without its parentheses.
fn complex(real: Float, imaginary: Float) -> String {
    let part = |number: Float| {
        let text = number.to_python();
        text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
    };
    let last = part(imaginary);
    if real == Float(0.0) {
        return format!("{last}j");
    }
    let sign = if last.starts_with('-') { "" } else { "+" };
    format!("{}{sign}{last}j", part(real))
}

fn range(start: i128, stop: i128, step: i128) -> String {
    let length = range_length(start, stop, step).unwrap_or_default();
    if length == 0 {
        return format!(
            "the numbers from {start} to {}",
            stop.min(start).saturating_sub(1)
        );
    }
    let rounds = i128::try_from(length - 1).unwrap_or_default();
    let last = start.saturating_add(rounds.saturating_mul(step));
    let step = if length == 1 { 1 } else { step };
    let steps = if step == 1 {
        String::new()
    } else {
        format!(" in steps of {step}")
    };
    format!("the numbers from {start} to {last}{steps}")
}

/// Units of time and how many microseconds they have.
pub(super) const UNITS: [(&str, i128); 4] = [
    ("day", 86_400_000_000),
    ("hour", 3_600_000_000),
    ("minute", 60_000_000),
    ("second", 1_000_000),
];

fn duration(microseconds: i128) -> String {
    let mut rest = microseconds.abs();
    let mut parts = Vec::new();
    for (unit, size) in UNITS {
        let count = rest / size;
        rest %= size;
        let is_last = size == 1_000_000;
        let number = if is_last && rest > 0 {
            format!("{count}.{}", format!("{rest:06}").trim_end_matches('0'))
        } else if count > 0 || (is_last && parts.is_empty()) {
            count.to_string()
        } else {
            continue;
        };
        let ending = if number == "1" { "" } else { "s" };
        parts.push(format!("{number} {unit}{ending}"));
    }
    let sign = if microseconds < 0 { "minus " } else { "" };
    format!("{sign}{}", crate::phrase::join::nouns(&parts, "and"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::text(text)
    }

    fn numbers(numbers: &[i64]) -> Vec<Value> {
        numbers
            .iter()
            .map(|number| Value::integer(*number))
            .collect()
    }

    #[test]
    fn bare_notation() {
        assert_eq!(Value::Nothing.notation(), "nothing");
        assert_eq!(Value::Boolean(true).notation(), "true");
        assert_eq!(
            Value::Float(Float(f64::NEG_INFINITY)).notation(),
            "minus infinity"
        );
        assert_eq!(Value::Float(Float(f64::NAN)).notation(), "not-a-number");
        assert_eq!(text("a\"\\\n\t\u{7}é'").notation(), r#""a\"\\\n\t\u{7}é'""#);
        assert_eq!(Value::List(numbers(&[6, 13])).notation(), "[6, 13]");
        assert_eq!(Value::Tuple(numbers(&[6])).notation(), "(6)");
        assert_eq!(Value::Set(numbers(&[10, 9, -1])).notation(), "{9, -1, 10}");
        assert_eq!(Value::Set(vec![]).notation(), "empty set");
        assert_eq!(Value::Dictionary(vec![]).notation(), "{}");
        let entries = vec![
            (text("b"), Value::Nothing),
            (text("a"), Value::Boolean(false)),
        ];
        assert_eq!(
            Value::Dictionary(entries).notation(),
            r#"{"b": nothing, "a": false}"#
        );
    }

    #[test]
    fn values_with_their_kind() {
        assert_eq!(Value::Nothing.phrase(), "nothing");
        assert_eq!(Value::Boolean(false).phrase(), "the value false");
        assert_eq!(Value::integer(19).phrase(), "the number 19");
        assert_eq!(Value::Float(Float(-2.5)).phrase(), "the number -2.5");
        assert_eq!(text("abc").phrase(), "the text \"abc\"");
        assert_eq!(text("").phrase(), "the empty text");
        assert_eq!(Value::List(vec![]).phrase(), "the empty list");
        assert_eq!(Value::Tuple(numbers(&[1, 2])).phrase(), "the pair (1, 2)");
        assert_eq!(
            Value::Tuple(numbers(&[1, 2, 3])).phrase(),
            "the group (1, 2, 3)"
        );
        assert_eq!(Value::Tuple(vec![]).phrase(), "the empty group");
        assert_eq!(Value::Set(vec![]).phrase(), "the empty set");
        assert_eq!(
            Value::FrozenSet(numbers(&[1, 2])).phrase(),
            "the fixed set {1, 2}"
        );
        assert_eq!(Value::FrozenSet(vec![]).phrase(), "the empty fixed set");
        assert_eq!(Value::Dictionary(vec![]).phrase(), "the empty dictionary");
        assert_eq!(Value::Bytes(vec![0, 255]).phrase(), "the bytes 00 ff");
        assert_eq!(Value::Bytes(vec![]).phrase(), "the empty byte string");
        assert_eq!(
            Value::Complex(Float(1.0), Float(2.0)).phrase(),
            "the complex number 1+2j"
        );
        assert_eq!(
            Value::Decimal("1.10".into()).phrase(),
            "the exact number 1.10"
        );
        let third = Value::Fraction {
            numerator: "1".into(),
            denominator: "3".into(),
        };
        assert_eq!(third.phrase(), "the fraction 1/3");
        assert_eq!(
            Value::Date("2026-02-28".into()).phrase(),
            "the date 2026-02-28"
        );
        let moment = Value::Moment("2026-02-28 10:00:00".into());
        assert_eq!(moment.phrase(), "the moment 2026-02-28 10:00:00");
        let duration = Value::Duration(3 * UNITS[0].1 + 4 * UNITS[1].1);
        assert_eq!(duration.phrase(), "the duration 3 days and 4 hours");
        assert_eq!(
            Value::Duration(-1_500_000).phrase(),
            "the duration minus 1.5 seconds"
        );
        assert_eq!(Value::Duration(0).phrase(), "the duration 0 seconds");
        let member = Value::Member {
            class: "TrafficLight".into(),
            name: "DARK_RED".into(),
        };
        assert_eq!(member.phrase(), "the traffic light DARK RED");
        let fields = vec![
            ("x".into(), Value::integer(1)),
            ("yAxis".into(), Value::integer(2)),
        ];
        let point = Value::Record {
            class: "Point".into(),
            fields,
        };
        assert_eq!(point.phrase(), "the point with x 1 and y axis 2");
        assert_eq!(
            Value::Range {
                start: 0,
                stop: 10,
                step: 1
            }
            .phrase(),
            "the numbers from 0 to 9"
        );
        assert_eq!(
            Value::Function("pop_min".into()).phrase(),
            "the function \"pop min\""
        );
        assert_eq!(Value::Object("AVLTree".into()).phrase(), "an AVL tree");
    }

    #[test]
    fn kinds_without_a_notation_keep_their_name_inside_collections() {
        let list = Value::List(vec![Value::Bytes(vec![1]), Value::FrozenSet(numbers(&[1]))]);
        assert_eq!(list.notation(), "[the bytes 01, {1}]");
    }

    #[test]
    fn ranges_have_steps() {
        let range = |start, stop, step| Value::Range { start, stop, step }.notation();
        assert_eq!(range(0, 10, 3), "the numbers from 0 to 9 in steps of 3");
        assert_eq!(range(3, 0, -1), "the numbers from 3 to 1 in steps of -1");
        assert_eq!(range(5, 5, 1), "the numbers from 5 to 4");
    }

    #[test]
    fn documents_shorten_large_values() {
        let long = text(&"x".repeat(61)).notation_in(true, &humanise);
        assert_eq!(long, format!("\"{}\"... (61 in total)", "x".repeat(50)));
        assert_eq!(text(&"x".repeat(60)).notation_in(true, &humanise).len(), 62);
        let many = Value::List(numbers(&(0..13).collect::<Vec<_>>()));
        assert_eq!(
            many.phrase_in(true, &humanise),
            "the list [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... (13 in total)]"
        );
        assert!(many.phrase().ends_with("11, 12]"));
    }

    #[test]
    fn accents_are_printable_and_controls_are_not() {
        assert!(is_printable('é') && is_printable('\u{301}') && is_printable('\''));
        assert!(!is_printable('\u{200b}') && !is_printable('\u{7f}') && !is_printable('\u{a0}'));
    }
}
