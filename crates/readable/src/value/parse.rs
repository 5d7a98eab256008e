//! Parsing phrases of values back.
//!
//! Every phrase of a value of Python's own types gives an equal value of the same type again. The
//! only exception are frozen sets inside collections, which are written like sets.

use super::notation::UNITS;
use super::{PythonFloat, PythonValue};

/// The deepest nesting of collections; parsing recurses.
const MAX_DEPTH: usize = 200;

/// The reason why a phrase cannot be parsed back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// The number of characters that could be parsed.
    pub position: usize,
    /// The text that was expected there.
    pub message: String,
}

/// Parses a phrase with its kind, such as "the list [1, 2]".
///
/// ```
/// use testwright_readable::value::{PythonValue, parse::parse_phrase};
///
/// let pair = PythonValue::Tuple(vec![PythonValue::integer(1), PythonValue::text("a")]);
/// assert_eq!(parse_phrase("the pair (1, \"a\")").unwrap(), pair);
/// assert!(parse_phrase("the pair 1").is_err());
/// ```
///
/// # Errors
///
/// Fails at the first character that does not fit.
pub fn parse_phrase(phrase: &str) -> Result<PythonValue, ReadError> {
    parse_whole(phrase, |reader| {
        if reader.take("nothing") {
            return Ok(PythonValue::Nothing);
        }
        reader.with_kind(0)
    })
}

/// Parses bare notation, as in the tables of outlines.
///
/// # Errors
///
/// Fails at the first character that does not fit.
pub fn parse_notation(text: &str) -> Result<PythonValue, ReadError> {
    parse_whole(text, |reader| reader.value(0))
}

/// Runs a parser and checks that it has consumed the whole text.
fn parse_whole(
    text: &str,
    read: impl Fn(&mut PhraseParser<'_>) -> Result<PythonValue, ReadError>,
) -> Result<PythonValue, ReadError> {
    let mut reader = PhraseParser { text, rest: text };
    let value = read(&mut reader)?;
    if reader.rest.is_empty() {
        Ok(value)
    } else {
        Err(reader.error("nothing more"))
    }
}

/// A recursive-descent parser over the rest of a text.
struct PhraseParser<'a> {
    /// The whole text.
    text: &'a str,
    /// The part that is not parsed yet.
    rest: &'a str,
}

impl<'a> PhraseParser<'a> {
    /// Creates an error at the current position.
    fn error(&self, expected: &str) -> ReadError {
        let read = self.text.len() - self.rest.len();
        ReadError {
            position: self.text.get(..read).unwrap_or_default().chars().count(),
            message: format!("expected {expected}"),
        }
    }

    /// Consumes `word` if it comes next, and returns true if it did.
    fn take(&mut self, word: &str) -> bool {
        match self.rest.strip_prefix(word) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Consumes `word`, or fails.
    fn expect(&mut self, word: &str) -> Result<(), ReadError> {
        if self.take(word) {
            Ok(())
        } else {
            Err(self.error(&format!("`{word}`")))
        }
    }

    /// Consumes characters as long as the predicate accepts them.
    fn take_while(&mut self, predicate: impl Fn(char) -> bool) -> &'a str {
        let end = self
            .rest
            .find(|character| !predicate(character))
            .unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Parses "the list [1, 2]" or "the empty list".
    fn with_kind(&mut self, depth: usize) -> Result<PythonValue, ReadError> {
        self.expect("the ")?;
        if self.take("empty ") {
            return self.empty();
        }
        if self.take("value ") {
            return self
                .boolean()
                .ok_or_else(|| self.error("`true` or `false`"));
        }
        if self.take("numbers from ") {
            return self.range();
        }
        if self.take("number ") {
            return self.number().ok_or_else(|| self.error("a number"));
        }
        if self.take("text ") {
            return self.quoted().map(PythonValue::Text);
        }
        if self.take("list ") {
            return self.items("[", "]", depth).map(PythonValue::List);
        }
        if self.take("pair ") || self.take("group ") {
            return self.items("(", ")", depth).map(PythonValue::Tuple);
        }
        if self.take("set ") {
            return self.items("{", "}", depth).map(PythonValue::Set);
        }
        if self.take("fixed set ") {
            return self.items("{", "}", depth).map(PythonValue::FrozenSet);
        }
        if self.take("dictionary ") {
            return self.braces(depth);
        }
        self.named_kind()
    }

    /// Parses the kinds that are written with their name even inside collections.
    fn named_kind(&mut self) -> Result<PythonValue, ReadError> {
        if self.take("bytes ") {
            return self.bytes();
        }
        if self.take("complex number ") {
            return self.complex();
        }
        if self.take("exact number ") {
            let text = self.take_while(|character| {
                character.is_ascii_alphanumeric() || "+-.".contains(character)
            });
            return if text.is_empty() {
                Err(self.error("a number"))
            } else {
                Ok(PythonValue::Decimal(text.to_owned()))
            };
        }
        if self.take("fraction ") {
            return self.fraction();
        }
        if self.take("date ") {
            return self.digits_matching("0000-00-00").map(PythonValue::Date);
        }
        if self.take("moment ") {
            return self.date_time();
        }
        if self.take("duration ") {
            return self.duration();
        }
        Err(self.error("a kind of value that can be read back"))
    }

    /// Parses the kind after "the empty".
    fn empty(&mut self) -> Result<PythonValue, ReadError> {
        let kinds = [
            ("text", PythonValue::Text(String::new())),
            ("list", PythonValue::List(Vec::new())),
            ("group", PythonValue::Tuple(Vec::new())),
            ("set", PythonValue::Set(Vec::new())),
            ("fixed set", PythonValue::FrozenSet(Vec::new())),
            ("dictionary", PythonValue::Dictionary(Vec::new())),
            ("byte string", PythonValue::Bytes(Vec::new())),
        ];
        kinds
            .into_iter()
            .find_map(|(kind, value)| self.take(kind).then_some(value))
            .ok_or_else(|| self.error("a kind of value that can be empty"))
    }

    /// Parses bare notation.
    fn value(&mut self, depth: usize) -> Result<PythonValue, ReadError> {
        if depth > MAX_DEPTH {
            return Err(self.error("fewer collections inside one another"));
        }
        match self.rest.chars().next() {
            Some('"') => self.quoted().map(PythonValue::Text),
            Some('[') => self.items("[", "]", depth).map(PythonValue::List),
            Some('(') => self.items("(", ")", depth).map(PythonValue::Tuple),
            Some('{') => self.braces(depth),
            _ if self.take("nothing") => Ok(PythonValue::Nothing),
            _ if self.take("empty set") => Ok(PythonValue::Set(Vec::new())),
            _ if self.rest.starts_with("the ") => self.with_kind(depth),
            _ => match self.boolean() {
                Some(boolean) => Ok(boolean),
                None => self.number().ok_or_else(|| self.error("a value")),
            },
        }
    }

    /// Parses `true` or `false`.
    fn boolean(&mut self) -> Option<PythonValue> {
        if self.take("true") {
            return Some(PythonValue::Boolean(true));
        }
        self.take("false").then_some(PythonValue::Boolean(false))
    }

    /// Parses an integer or a float, including the words for infinities and not-a-number.
    fn number(&mut self) -> Option<PythonValue> {
        for (word, number) in [
            ("infinity", f64::INFINITY),
            ("minus infinity", f64::NEG_INFINITY),
            ("not-a-number", f64::NAN),
        ] {
            if self.take(word) {
                return Some(PythonValue::Float(PythonFloat(number)));
            }
        }
        let before = self.rest;
        let text =
            self.take_while(|character| character.is_ascii_digit() || "+-.e".contains(character));
        let digits = text.strip_prefix('-').unwrap_or(text);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let trimmed = digits.trim_start_matches('0');
            let trimmed = if trimmed.is_empty() { "0" } else { trimmed };
            let sign = if text.starts_with('-') && trimmed != "0" {
                "-"
            } else {
                ""
            };
            return Some(PythonValue::Integer(format!("{sign}{trimmed}")));
        }
        match text.parse() {
            Ok(number) => Some(PythonValue::Float(PythonFloat(number))),
            Err(_) => {
                self.rest = before;
                None
            }
        }
    }

    /// Parses a text between quotation marks and undoes its escapes.
    fn quoted(&mut self) -> Result<String, ReadError> {
        self.expect("\"")?;
        let mut text = String::new();
        loop {
            text.push_str(self.take_while(|character| !matches!(character, '"' | '\\')));
            if self.take("\"") {
                return Ok(text);
            }
            if self.take("\\\"") {
                text.push('"');
            } else if self.take("\\\\") {
                text.push('\\');
            } else if self.take("\\n") {
                text.push('\n');
            } else if self.take("\\t") {
                text.push('\t');
            } else if self.take("\\u{") {
                let digits = self.take_while(|character| character.is_ascii_hexdigit());
                let character = u32::from_str_radix(digits, 16)
                    .ok()
                    .and_then(char::from_u32);
                text.push(character.ok_or_else(|| self.error("the number of a character"))?);
                self.expect("}")?;
            } else if self.rest.is_empty() {
                return Err(self.error("a closing quotation mark"));
            } else {
                return Err(self.error("`\\\"`, `\\\\`, `\\n`, `\\t` or `\\u{...}`"));
            }
        }
    }

    /// Parses the members of a list, a group or a set between brackets.
    fn items(
        &mut self,
        open: &str,
        close: &str,
        depth: usize,
    ) -> Result<Vec<PythonValue>, ReadError> {
        self.expect(open)?;
        let mut items = Vec::new();
        if self.take(close) {
            return Ok(items);
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.take(close) {
                return Ok(items);
            }
            self.expect(", ")?;
        }
    }

    /// Parses a set, or a dictionary if a colon follows the first value.
    fn braces(&mut self, depth: usize) -> Result<PythonValue, ReadError> {
        self.expect("{")?;
        if self.take("}") {
            return Ok(PythonValue::Dictionary(Vec::new()));
        }
        let first = self.value(depth + 1)?;
        if self.take(": ") {
            let mut entries = vec![(first, self.value(depth + 1)?)];
            while self.take(", ") {
                let key = self.value(depth + 1)?;
                self.expect(": ")?;
                entries.push((key, self.value(depth + 1)?));
            }
            self.expect("}")?;
            return Ok(PythonValue::Dictionary(entries));
        }
        let mut members = vec![first];
        while self.take(", ") {
            members.push(self.value(depth + 1)?);
        }
        self.expect("}")?;
        Ok(PythonValue::Set(members))
    }

    /// Parses pairs of hexadecimal digits.
    fn bytes(&mut self) -> Result<PythonValue, ReadError> {
        let mut bytes = Vec::new();
        loop {
            let pair = self
                .rest
                .get(..2)
                .filter(|pair| pair.bytes().all(|byte| byte.is_ascii_hexdigit()));
            let byte = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok());
            bytes.push(byte.ok_or_else(|| self.error("two hexadecimal digits"))?);
            self.rest = self.rest.get(2..).unwrap_or_default();
            let goes_on = self.rest.strip_prefix(' ').is_some_and(|rest| {
                rest.get(..2)
                    .is_some_and(|pair| pair.bytes().all(|byte| byte.is_ascii_hexdigit()))
            });
            if !goes_on {
                return Ok(PythonValue::Bytes(bytes));
            }
            self.rest = self.rest.get(1..).unwrap_or_default();
        }
    }

    /// Parses a whole number; consumes nothing if there is none.
    fn integer(&mut self) -> Option<i128> {
        let before = self.rest;
        let sign = if self.take("-") { "-" } else { "" };
        let digits = self.take_while(|character| character.is_ascii_digit());
        let number = format!("{sign}{digits}").parse().ok();
        if number.is_none() {
            self.rest = before;
        }
        number
    }

    /// Parses "0 to 9 in steps of 3". The phrase includes the last number.
    fn range(&mut self) -> Result<PythonValue, ReadError> {
        let start = self.integer().ok_or_else(|| self.error("a whole number"))?;
        self.expect(" to ")?;
        let last = self.integer().ok_or_else(|| self.error("a whole number"))?;
        let step = if self.take(" in steps of ") {
            self.integer()
                .filter(|step| *step != 0)
                .ok_or_else(|| self.error("a step"))?
        } else {
            1
        };
        let stop = last
            .checked_add(step.signum())
            .ok_or_else(|| self.error("a smaller number"))?;
        Ok(PythonValue::Range { start, stop, step })
    }

    /// Parses a complex number without parentheses.
    fn complex(&mut self) -> Result<PythonValue, ReadError> {
        let text = self
            .take_while(|character| character.is_ascii_alphanumeric() || "+-.".contains(character));
        let parts = text.strip_suffix('j').and_then(|text| {
            // The middle sign is neither the first one nor that of an exponent.
            let middle = text.char_indices().rev().find(|(index, character)| {
                *index > 0
                    && "+-".contains(*character)
                    && !text.get(..*index).unwrap_or_default().ends_with('e')
            });
            let (real, imaginary) = match middle {
                Some((index, _)) => text.split_at_checked(index)?,
                None => ("0", text),
            };
            Some((real.parse().ok()?, imaginary.parse().ok()?))
        });
        let (real, imaginary) = parts.ok_or_else(|| self.error("a complex number"))?;
        Ok(PythonValue::Complex(
            PythonFloat(real),
            PythonFloat(imaginary),
        ))
    }

    /// Parses "1/3".
    fn fraction(&mut self) -> Result<PythonValue, ReadError> {
        let sign = if self.take("-") { "-" } else { "" };
        let numerator = self.take_while(|character| character.is_ascii_digit());
        self.expect("/")?;
        let denominator = self.take_while(|character| character.is_ascii_digit());
        if numerator.is_empty() || denominator.trim_start_matches('0').is_empty() {
            return Err(self.error("a fraction"));
        }
        Ok(PythonValue::Fraction {
            numerator: format!("{sign}{numerator}"),
            denominator: denominator.to_owned(),
        })
    }

    /// Parses a text of this shape, in which 0 stands for any digit.
    fn digits_matching(&mut self, shape: &str) -> Result<String, ReadError> {
        let text = self.rest.get(..shape.len()).filter(|text| {
            text.chars()
                .zip(shape.chars())
                .all(|(character, shape)| match shape {
                    '0' => character.is_ascii_digit(),
                    _ => character == shape,
                })
        });
        let text = text.ok_or_else(|| self.error(&format!("something like {shape}")))?;
        self.rest = self.rest.get(shape.len()..).unwrap_or_default();
        Ok(text.to_owned())
    }

    /// Parses a date, a time, and an optional fraction and zone.
    fn date_time(&mut self) -> Result<PythonValue, ReadError> {
        let mut text = self.digits_matching("0000-00-00 00:00:00")?;
        if self.rest.starts_with('.') {
            text += &self.digits_matching(".000000")?;
        }
        for sign in ["+", "-"] {
            if self.take(sign) {
                text += sign;
                text += &self.digits_matching("00:00")?;
                // A colon may also belong to an enclosing dictionary.
                if let Ok(seconds) = self.digits_matching(":00") {
                    text += &seconds;
                }
            }
        }
        Ok(PythonValue::DateTime(text))
    }

    /// Parses "3 days, 4 hours and 5 seconds".
    fn duration(&mut self) -> Result<PythonValue, ReadError> {
        let is_negative = self.take("minus ");
        let mut total = self
            .time_span()
            .ok_or_else(|| self.error("a number and a unit of time"))?;
        loop {
            // A comma may also belong to an enclosing list.
            let before = self.rest;
            let span = if self.take(", ") || self.take(" and ") {
                self.time_span()
            } else {
                None
            };
            match span {
                Some(span) => total = total.saturating_add(span),
                None => {
                    self.rest = before;
                    break;
                }
            }
        }
        Ok(PythonValue::Duration(if is_negative {
            -total
        } else {
            total
        }))
    }

    /// Parses "3 days" and returns microseconds.
    fn time_span(&mut self) -> Option<i128> {
        let count: i128 = self
            .take_while(|character| character.is_ascii_digit())
            .parse()
            .ok()?;
        let fraction = if self.take(".") {
            self.take_while(|character| character.is_ascii_digit())
        } else {
            ""
        };
        self.take(" ").then_some(())?;
        let (unit, size) = UNITS
            .into_iter()
            .find(|(unit, _)| self.rest.starts_with(unit))?;
        self.rest = self.rest.get(unit.len()..).unwrap_or_default();
        self.take("s");
        let digits: String = fraction.chars().chain("000000".chars()).take(6).collect();
        let millionths: i128 = digits.parse().ok()?;
        count
            .checked_mul(size)?
            .checked_add(millionths.checked_mul(size)? / 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn phrases_are_read_back() {
        assert_eq!(parse_phrase("the number 19"), Ok(PythonValue::integer(19)));
        assert_eq!(parse_phrase("nothing"), Ok(PythonValue::Nothing));
        assert_eq!(
            parse_phrase("the empty fixed set"),
            Ok(PythonValue::FrozenSet(vec![]))
        );
        assert_eq!(
            parse_phrase("the value true"),
            Ok(PythonValue::Boolean(true))
        );
        let list = PythonValue::List(vec![
            PythonValue::Duration(UNITS[0].1),
            PythonValue::integer(4),
            PythonValue::Bytes(vec![10, 11]),
        ]);
        assert_eq!(
            parse_phrase("the list [the duration 1 day, 4, the bytes 0a 0b]"),
            Ok(list)
        );
        assert_eq!(
            parse_phrase("the complex number 1e-05-2.5j"),
            Ok(PythonValue::Complex(PythonFloat(1e-5), PythonFloat(-2.5)))
        );
    }

    #[test]
    fn invalid_phrases_are_refused_with_their_position() {
        for (phrase, position) in [
            ("the list [1, 2", 14),
            ("the list [1 2]", 11),
            ("the number one", 11),
            ("the text \"é\\x\"", 11),
            ("the number 1 ", 12),
            ("the account with balance 3", 4),
            ("", 0),
            ("the bytes 0", 10),
            ("the text \"\\u{110000}\"", 19),
            ("the numbers from 1 to", 18),
        ] {
            let error = parse_phrase(phrase).expect_err(phrase);
            assert_eq!(error.position, position, "{phrase}: {}", error.message);
        }
        let deep = format!("the list {}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(parse_phrase(&deep).is_err());
    }

    fn scalar() -> BoxedStrategy<PythonValue> {
        prop_oneof![
            Just(PythonValue::Nothing),
            any::<bool>().prop_map(PythonValue::Boolean),
            any::<i64>().prop_map(PythonValue::integer),
            any::<i128>().prop_map(|number| PythonValue::Integer(format!("{number}123456789012345678901234567890"))),
            any::<u64>().prop_map(|bits| PythonValue::Float(PythonFloat(f64::from_bits(bits)))),
            (-1000..1000_i32).prop_map(|number| PythonValue::Float(PythonFloat(f64::from(number) / 8.0))),
            any::<String>().prop_map(PythonValue::Text),
            "[a-z\"\\\\\n\t,:{}\\[\\] ]{0,8}".prop_map(PythonValue::Text),
            proptest::collection::vec(any::<u8>(), 0..4).prop_map(PythonValue::Bytes),
            (any::<i32>(), any::<i32>())
                .prop_map(|(one, two)| PythonValue::Complex(PythonFloat(f64::from(one) / 4.0), PythonFloat(f64::from(two) / 1e9))),
            "-?[0-9]{1,5}(\\.[0-9]{1,3})?(E[+-][0-9]{1,2})?".prop_map(PythonValue::Decimal),
            (any::<i32>(), 1..1000_u32).prop_map(|(numerator, denominator)| PythonValue::Fraction {
                numerator: numerator.to_string(),
                denominator: denominator.to_string(),
            }),
            "[12][0-9]{3}-0[1-9]-[12][0-9]".prop_map(PythonValue::Date),
            "[12][0-9]{3}-0[1-9]-[12][0-9] 1[0-9]:[0-5][0-9]:[0-5][0-9](\\.[0-9]{6})?([+-]0[0-9]:[0-5]0(:30)?)?"
                .prop_map(PythonValue::DateTime),
            any::<i64>().prop_map(|microseconds| PythonValue::Duration(microseconds.into())),
            (-50..50_i128, -50..50_i128, prop_oneof![-5..=-1_i128, 1..=5_i128])
                .prop_map(|(start, stop, step)| PythonValue::Range { start, stop, step }),
        ]
        .boxed()
    }

    fn distinct(values: Vec<PythonValue>) -> Vec<PythonValue> {
        let mut distinct: Vec<PythonValue> = Vec::new();
        for value in values {
            if !distinct.contains(&value) {
                distinct.push(value);
            }
        }
        distinct
    }

    fn nested() -> BoxedStrategy<PythonValue> {
        scalar()
            .prop_recursive(4, 24, 5, |inner| {
                let items = proptest::collection::vec(inner.clone(), 0..5);
                prop_oneof![
                    items.clone().prop_map(PythonValue::List),
                    items.clone().prop_map(PythonValue::Tuple),
                    items.prop_map(|items| PythonValue::Set(distinct(items))),
                    proptest::collection::vec((inner.clone(), inner), 0..4)
                        .prop_map(PythonValue::Dictionary),
                ]
            })
            .boxed()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3_200) })]

        #[test]
        fn reading_back_returns_an_equal_value_of_the_same_type(value in nested()) {
            let phrase = value.phrase();
            prop_assert!(!phrase.contains('\n'));
            prop_assert_eq!(parse_phrase(&phrase).map_err(|error| error.message), Ok(value.clone()), "{}", phrase);
            let notation = value.notation();
            prop_assert_eq!(parse_notation(&notation).map_err(|error| error.message), Ok(value), "{}", notation);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

        #[test]
        fn reading_anything_at_all_does_not_panic(text in "(the |empty |list |text |numbers from |duration |bytes )*\\PC{0,12}") {
            let _ = (parse_phrase(&text), parse_notation(&text));
        }

        #[test]
        fn fixed_sets_are_read_back_where_they_stand_alone(items in proptest::collection::vec(scalar(), 0..5)) {
            let value = PythonValue::FrozenSet(distinct(items));
            prop_assert_eq!(parse_phrase(&value.phrase()).map_err(|error| error.message), Ok(value));
        }
    }
}
