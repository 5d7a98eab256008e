//! Writing values: in bare notation, and with their kind.

use super::{PythonFloat, PythonValue, range_length};
use crate::words::humanise;

/// The longest text that is written in full in documents, in characters.
const MAX_TEXT: usize = 60;
/// The number of characters that a shortened text keeps.
const SHORTENED_TEXT: usize = 50;
/// The largest collection that is written in full in documents.
const MAX_COLLECTION: usize = 12;
/// The number of members that a shortened collection keeps.
const SHORTENED_COLLECTION: usize = 10;

/// The options for writing a value.
#[derive(Clone, Copy)]
struct ValueWriter<'a> {
    /// True if long texts and large collections are shortened.
    shorten: bool,
    /// Gives the words of an identifier; a names file may replace them (W3).
    words: &'a dyn Fn(&str) -> String,
}

impl PythonValue {
    /// Returns the value in bare notation: `[1, "a"]`. Kinds without a notation of their own are
    /// written with their name, so that they can be parsed back inside collections, too.
    #[must_use]
    pub fn notation(&self) -> String {
        self.notation_with(false, &humanise)
    }

    /// Returns [`Self::notation`] with other words for identifiers, shortened if `shorten` is set.
    #[must_use]
    pub fn notation_with(&self, shorten: bool, words: &dyn Fn(&str) -> String) -> String {
        ValueWriter { shorten, words }.bare(self)
    }

    /// Returns the value with its kind: "the list [1, "a"]".
    #[must_use]
    pub fn phrase(&self) -> String {
        self.phrase_with(false, &humanise)
    }

    /// Returns [`Self::phrase`] with other words for identifiers, shortened if `shorten` is set.
    #[must_use]
    pub fn phrase_with(&self, shorten: bool, words: &dyn Fn(&str) -> String) -> String {
        ValueWriter { shorten, words }.with_kind(self)
    }

    /// Returns the noun of the value's kind, such as "list" or "pair". Values without such a kind
    /// are a "value".
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
            Self::DateTime(_) => "moment",
            Self::Duration(_) => "duration",
            Self::Range { .. } => "numbers",
            Self::Function(_) => "function",
            Self::Member { .. } | Self::Record { .. } | Self::Object(_) => "value",
        }
    }
}

impl ValueWriter<'_> {
    /// Writes the value with its kind; an empty value is "the empty list".
    fn with_kind(self, value: &PythonValue) -> String {
        let is_empty = value.length() == Some(0);
        match value {
            PythonValue::Nothing => "nothing".to_owned(),
            PythonValue::Range { start, stop, step } => write_range(*start, *stop, *step),
            PythonValue::Member { class, name } => {
                format!("the {} {}", (self.words)(class), (self.words)(name))
            }
            PythonValue::Record { class, fields } => self.record(class, fields),
            PythonValue::Object(class) => crate::words::with_article(&(self.words)(class)),
            _ if is_empty => format!("the empty {}", value.kind_noun()),
            _ => format!("the {} {}", value.kind_noun(), self.content(value)),
        }
    }

    /// Writes the value without its kind, if it has a notation of its own.
    fn bare(self, value: &PythonValue) -> String {
        match value {
            PythonValue::Nothing
            | PythonValue::Boolean(_)
            | PythonValue::Integer(_)
            | PythonValue::Float(_)
            | PythonValue::Text(_)
            | PythonValue::List(_)
            | PythonValue::Tuple(_)
            | PythonValue::Dictionary(_)
            | PythonValue::Set(_)
            | PythonValue::FrozenSet(_) => self.content(value),
            _ => self.with_kind(value),
        }
    }

    /// Writes the part that follows the name of the kind.
    fn content(self, value: &PythonValue) -> String {
        match value {
            PythonValue::Nothing => "nothing".to_owned(),
            PythonValue::Boolean(value) => value.to_string(),
            PythonValue::Integer(digits) => digits.clone(),
            PythonValue::Float(number) => write_float(*number),
            PythonValue::Text(text) => self.text(text),
            PythonValue::List(items) => format!("[{}]", self.items(items)),
            PythonValue::Tuple(items) => format!("({})", self.items(items)),
            PythonValue::Set(items) | PythonValue::FrozenSet(items) if items.is_empty() => {
                "empty set".to_owned()
            }
            PythonValue::Set(items) | PythonValue::FrozenSet(items) => self.set(items),
            PythonValue::Dictionary(entries) => {
                let entry = |(key, value): &(PythonValue, PythonValue)| {
                    format!("{}: {}", self.member(key), self.member(value))
                };
                format!(
                    "{{{}}}",
                    self.enumeration(entries.len(), entries.iter().map(entry))
                )
            }
            PythonValue::Bytes(bytes) => {
                let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                pairs.join(" ")
            }
            PythonValue::Complex(real, imaginary) => write_complex(*real, *imaginary),
            PythonValue::Decimal(text) | PythonValue::Date(text) | PythonValue::DateTime(text) => {
                text.clone()
            }
            PythonValue::Fraction {
                numerator,
                denominator,
            } => format!("{numerator}/{denominator}"),
            PythonValue::Duration(microseconds) => write_duration(*microseconds),
            PythonValue::Function(name) => format!("\"{}\"", (self.words)(name)),
            PythonValue::Member { .. }
            | PythonValue::Record { .. }
            | PythonValue::Range { .. }
            | PythonValue::Object(_) => self.with_kind(value),
        }
    }

    /// Writes the items of a sequence.
    fn items(self, items: &[PythonValue]) -> String {
        self.enumeration(items.len(), items.iter().map(|item| self.member(item)))
    }

    /// Writes the members of a set, shorter ones first, so that numbers are in order. The order in
    /// memory must not show (trap 14).
    fn set(self, items: &[PythonValue]) -> String {
        let mut members: Vec<String> = items.iter().map(|item| self.member(item)).collect();
        members.sort_by(|one, two| (one.chars().count(), one).cmp(&(two.chars().count(), two)));
        format!("{{{}}}", self.enumeration(items.len(), members.into_iter()))
    }

    /// Joins members with commas; in documents a large collection ends in "... (n in total)".
    fn enumeration(self, total: usize, members: impl Iterator<Item = String>) -> String {
        if !self.shorten || total <= MAX_COLLECTION {
            let members: Vec<String> = members.collect();
            return members.join(", ");
        }
        let members: Vec<String> = members.take(SHORTENED_COLLECTION).collect();
        format!("{}, ... ({total} in total)", members.join(", "))
    }

    /// Writes a member of a collection. A record has words of its own and is put in parentheses.
    fn member(self, value: &PythonValue) -> String {
        match value {
            PythonValue::Record { .. } => format!("({})", self.bare(value)),
            _ => self.bare(value),
        }
    }

    /// Writes an object with its fields: "the point with x 1 and y 2".
    fn record(self, class: &str, fields: &[(String, PythonValue)]) -> String {
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

    /// Quotes a text, shortened if documents ask for it.
    fn text(self, text: &str) -> String {
        let total = text.chars().count();
        if self.shorten && total > MAX_TEXT {
            let start: String = text.chars().take(SHORTENED_TEXT).collect();
            return format!("{}... ({total} in total)", quote(&start));
        }
        quote(text)
    }
}

/// Returns a text between quotation marks, on one line whatever it contains.
#[must_use]
pub(crate) fn quote(text: &str) -> String {
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

/// Returns true if a character can be written as it is.
pub(super) fn is_printable(character: char) -> bool {
    // Rust has a table of printable characters. A letter goes first, because an accent without a
    // base letter is escaped, while one inside a text is not.
    let mut escaped = ['a', character].iter().collect::<String>();
    escaped = escaped.escape_debug().skip(1).collect();
    escaped.chars().eq([character]) || matches!(character, '\'' | '"' | '\\')
}

/// Writes a float; infinities and not-a-number have words.
fn write_float(number: PythonFloat) -> String {
    match number.to_python().as_str() {
        "inf" => "infinity".to_owned(),
        "-inf" => "minus infinity".to_owned(),
        "nan" => "not-a-number".to_owned(),
        finite => finite.to_owned(),
    }
}

/// Writes a complex number as Python does, without parentheses.
fn write_complex(real: PythonFloat, imaginary: PythonFloat) -> String {
    let part = |number: PythonFloat| {
        let text = number.to_python();
        text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
    };
    let last = part(imaginary);
    if real == PythonFloat(0.0) {
        return format!("{last}j");
    }
    let sign = if last.starts_with('-') { "" } else { "+" };
    format!("{}{sign}{last}j", part(real))
}

/// Writes a range with its last member, so that the phrase reads inclusively.
fn write_range(start: i128, stop: i128, step: i128) -> String {
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

/// Units of time with their length in microseconds.
pub(super) const UNITS: [(&str, i128); 4] = [
    ("day", 86_400_000_000),
    ("hour", 3_600_000_000),
    ("minute", 60_000_000),
    ("second", 1_000_000),
];

/// Writes a duration in days, hours, minutes and seconds.
fn write_duration(microseconds: i128) -> String {
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

    fn text(text: &str) -> PythonValue {
        PythonValue::text(text)
    }

    fn numbers(numbers: &[i64]) -> Vec<PythonValue> {
        numbers
            .iter()
            .map(|number| PythonValue::integer(*number))
            .collect()
    }

    #[test]
    fn bare_notation() {
        assert_eq!(PythonValue::Nothing.notation(), "nothing");
        assert_eq!(PythonValue::Boolean(true).notation(), "true");
        assert_eq!(
            PythonValue::Float(PythonFloat(f64::NEG_INFINITY)).notation(),
            "minus infinity"
        );
        assert_eq!(
            PythonValue::Float(PythonFloat(f64::NAN)).notation(),
            "not-a-number"
        );
        assert_eq!(text("a\"\\\n\t\u{7}é'").notation(), r#""a\"\\\n\t\u{7}é'""#);
        assert_eq!(PythonValue::List(numbers(&[6, 13])).notation(), "[6, 13]");
        assert_eq!(PythonValue::Tuple(numbers(&[6])).notation(), "(6)");
        assert_eq!(
            PythonValue::Set(numbers(&[10, 9, -1])).notation(),
            "{9, -1, 10}"
        );
        assert_eq!(PythonValue::Set(vec![]).notation(), "empty set");
        assert_eq!(PythonValue::Dictionary(vec![]).notation(), "{}");
        let entries = vec![
            (text("b"), PythonValue::Nothing),
            (text("a"), PythonValue::Boolean(false)),
        ];
        assert_eq!(
            PythonValue::Dictionary(entries).notation(),
            r#"{"b": nothing, "a": false}"#
        );
    }

    #[test]
    fn values_with_their_kind() {
        assert_eq!(PythonValue::Nothing.phrase(), "nothing");
        assert_eq!(PythonValue::Boolean(false).phrase(), "the value false");
        assert_eq!(PythonValue::integer(19).phrase(), "the number 19");
        assert_eq!(
            PythonValue::Float(PythonFloat(-2.5)).phrase(),
            "the number -2.5"
        );
        assert_eq!(text("abc").phrase(), "the text \"abc\"");
        assert_eq!(text("").phrase(), "the empty text");
        assert_eq!(PythonValue::List(vec![]).phrase(), "the empty list");
        assert_eq!(
            PythonValue::Tuple(numbers(&[1, 2])).phrase(),
            "the pair (1, 2)"
        );
        assert_eq!(
            PythonValue::Tuple(numbers(&[1, 2, 3])).phrase(),
            "the group (1, 2, 3)"
        );
        assert_eq!(PythonValue::Tuple(vec![]).phrase(), "the empty group");
        assert_eq!(PythonValue::Set(vec![]).phrase(), "the empty set");
        assert_eq!(
            PythonValue::FrozenSet(numbers(&[1, 2])).phrase(),
            "the fixed set {1, 2}"
        );
        assert_eq!(
            PythonValue::FrozenSet(vec![]).phrase(),
            "the empty fixed set"
        );
        assert_eq!(
            PythonValue::Dictionary(vec![]).phrase(),
            "the empty dictionary"
        );
        assert_eq!(PythonValue::Bytes(vec![0, 255]).phrase(), "the bytes 00 ff");
        assert_eq!(PythonValue::Bytes(vec![]).phrase(), "the empty byte string");
        assert_eq!(
            PythonValue::Complex(PythonFloat(1.0), PythonFloat(2.0)).phrase(),
            "the complex number 1+2j"
        );
        assert_eq!(
            PythonValue::Decimal("1.10".into()).phrase(),
            "the exact number 1.10"
        );
        let third = PythonValue::Fraction {
            numerator: "1".into(),
            denominator: "3".into(),
        };
        assert_eq!(third.phrase(), "the fraction 1/3");
        assert_eq!(
            PythonValue::Date("2026-02-28".into()).phrase(),
            "the date 2026-02-28"
        );
        let moment = PythonValue::DateTime("2026-02-28 10:00:00".into());
        assert_eq!(moment.phrase(), "the moment 2026-02-28 10:00:00");
        let duration = PythonValue::Duration(3 * UNITS[0].1 + 4 * UNITS[1].1);
        assert_eq!(duration.phrase(), "the duration 3 days and 4 hours");
        assert_eq!(
            PythonValue::Duration(-1_500_000).phrase(),
            "the duration minus 1.5 seconds"
        );
        assert_eq!(PythonValue::Duration(0).phrase(), "the duration 0 seconds");
        let member = PythonValue::Member {
            class: "TrafficLight".into(),
            name: "DARK_RED".into(),
        };
        assert_eq!(member.phrase(), "the traffic light DARK RED");
        let fields = vec![
            ("x".into(), PythonValue::integer(1)),
            ("yAxis".into(), PythonValue::integer(2)),
        ];
        let point = PythonValue::Record {
            class: "Point".into(),
            fields,
        };
        assert_eq!(point.phrase(), "the point with x 1 and y axis 2");
        assert_eq!(
            PythonValue::Range {
                start: 0,
                stop: 10,
                step: 1
            }
            .phrase(),
            "the numbers from 0 to 9"
        );
        assert_eq!(
            PythonValue::Function("pop_min".into()).phrase(),
            "the function \"pop min\""
        );
        assert_eq!(
            PythonValue::Object("AVLTree".into()).phrase(),
            "an AVL tree"
        );
    }

    #[test]
    fn kinds_without_a_notation_keep_their_name_inside_collections() {
        let list = PythonValue::List(vec![
            PythonValue::Bytes(vec![1]),
            PythonValue::FrozenSet(numbers(&[1])),
        ]);
        assert_eq!(list.notation(), "[the bytes 01, {1}]");
    }

    #[test]
    fn ranges_have_steps() {
        let range = |start, stop, step| PythonValue::Range { start, stop, step }.notation();
        assert_eq!(range(0, 10, 3), "the numbers from 0 to 9 in steps of 3");
        assert_eq!(range(3, 0, -1), "the numbers from 3 to 1 in steps of -1");
        assert_eq!(range(5, 5, 1), "the numbers from 5 to 4");
    }

    #[test]
    fn documents_shorten_large_values() {
        let long = text(&"x".repeat(61)).notation_with(true, &humanise);
        assert_eq!(long, format!("\"{}\"... (61 in total)", "x".repeat(50)));
        assert_eq!(
            text(&"x".repeat(60)).notation_with(true, &humanise).len(),
            62
        );
        let many = PythonValue::List(numbers(&(0..13).collect::<Vec<_>>()));
        assert_eq!(
            many.phrase_with(true, &humanise),
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
