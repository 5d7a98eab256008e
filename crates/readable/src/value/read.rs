//! Reading phrases of values back (3.3).
//!
//! Every phrase that a value of Python's own kinds is written as gives an equal value of the same type again, but for fixed
//! sets inside collections, which are written like sets.

use super::notation::UNITS;
use super::{Float, Value};

/// How deep collections may be nested: reading them takes the stack.
const DEEPEST: usize = 200;

/// Why a phrase cannot be read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// How many characters could be read.
    pub position: usize,
    /// What was expected there.
    pub message: String,
}

/// The value that a phrase with its kind (P) stands for.
///
/// ```
/// use testwright_readable::value::{Value, read::read};
///
/// assert_eq!(read("the pair (1, \"a\")").unwrap(), Value::Tuple(vec![Value::integer(1), Value::text("a")]));
/// assert!(read("the pair 1").is_err());
/// ```
///
/// # Errors
/// Where and why it cannot be read.
pub fn read(phrase: &str) -> Result<Value, ReadError> {
    whole(phrase, |reader| {
        if reader.take("nothing") {
            return Ok(Value::Nothing);
        }
        reader.with_kind(0)
    })
}

/// The value that bare notation (N) stands for, as in the tables of outlines.
///
/// # Errors
/// Where and why it cannot be read.
pub fn read_notation(text: &str) -> Result<Value, ReadError> {
    whole(text, |reader| reader.value(0))
}

fn whole(
    text: &str,
    read: impl Fn(&mut Reader<'_>) -> Result<Value, ReadError>,
) -> Result<Value, ReadError> {
    let mut reader = Reader { text, rest: text };
    let value = read(&mut reader)?;
    if reader.rest.is_empty() {
        Ok(value)
    } else {
        Err(reader.error("nothing more"))
    }
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn error(&self, expected: &str) -> ReadError {
        let read = self.text.len() - self.rest.len();
        ReadError {
            position: self.text.get(..read).unwrap_or_default().chars().count(),
            message: format!("expected {expected}"),
        }
    }

    fn take(&mut self, word: &str) -> bool {
        match self.rest.strip_prefix(word) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, word: &str) -> Result<(), ReadError> {
        if self.take(word) {
            Ok(())
        } else {
            Err(self.error(&format!("`{word}`")))
        }
    }

    /// As long as the characters are such.
    fn while_(&mut self, is_such: impl Fn(char) -> bool) -> &'a str {
        let end = self
            .rest
            .find(|character| !is_such(character))
            .unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// "the list [1, 2]", "the empty list".
    fn with_kind(&mut self, depth: usize) -> Result<Value, ReadError> {
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
            return self.quoted().map(Value::Text);
        }
        if self.take("list ") {
            return self.items("[", "]", depth).map(Value::List);
        }
        if self.take("pair ") || self.take("group ") {
            return self.items("(", ")", depth).map(Value::Tuple);
        }
        if self.take("set ") {
            return self.items("{", "}", depth).map(Value::Set);
        }
        if self.take("fixed set ") {
            return self.items("{", "}", depth).map(Value::FrozenSet);
        }
        if self.take("dictionary ") {
            return self.braces(depth);
        }
        self.named()
    }

    /// The kinds that are written with their name even inside collections.
    fn named(&mut self) -> Result<Value, ReadError> {
        if self.take("bytes ") {
            return self.bytes();
        }
        if self.take("complex number ") {
            return self.complex();
        }
        if self.take("exact number ") {
            let text = self
                .while_(|character| character.is_ascii_alphanumeric() || "+-.".contains(character));
            return if text.is_empty() {
                Err(self.error("a number"))
            } else {
                Ok(Value::Decimal(text.to_owned()))
            };
        }
        if self.take("fraction ") {
            return self.fraction();
        }
        if self.take("date ") {
            return self.digits_like("0000-00-00").map(Value::Date);
        }
        if self.take("moment ") {
            return self.moment();
        }
        if self.take("duration ") {
            return self.duration();
        }
        Err(self.error("a kind of value that can be read back"))
    }

    fn empty(&mut self) -> Result<Value, ReadError> {
        let kinds = [
            ("text", Value::Text(String::new())),
            ("list", Value::List(Vec::new())),
            ("group", Value::Tuple(Vec::new())),
            ("set", Value::Set(Vec::new())),
            ("fixed set", Value::FrozenSet(Vec::new())),
            ("dictionary", Value::Dictionary(Vec::new())),
            ("byte string", Value::Bytes(Vec::new())),
        ];
        kinds
            .into_iter()
            .find_map(|(kind, value)| self.take(kind).then_some(value))
            .ok_or_else(|| self.error("a kind of value that can be empty"))
    }

    /// Bare notation.
    fn value(&mut self, depth: usize) -> Result<Value, ReadError> {
        if depth > DEEPEST {
            return Err(self.error("fewer collections inside one another"));
        }
        match self.rest.chars().next() {
            Some('"') => self.quoted().map(Value::Text),
            Some('[') => self.items("[", "]", depth).map(Value::List),
            Some('(') => self.items("(", ")", depth).map(Value::Tuple),
            Some('{') => self.braces(depth),
            _ if self.take("nothing") => Ok(Value::Nothing),
            _ if self.take("empty set") => Ok(Value::Set(Vec::new())),
            _ if self.rest.starts_with("the ") => self.with_kind(depth),
            _ => match self.boolean() {
                Some(boolean) => Ok(boolean),
                None => self.number().ok_or_else(|| self.error("a value")),
            },
        }
    }

    fn boolean(&mut self) -> Option<Value> {
        if self.take("true") {
            return Some(Value::Boolean(true));
        }
        self.take("false").then_some(Value::Boolean(false))
    }

    fn number(&mut self) -> Option<Value> {
        for (word, number) in [
            ("infinity", f64::INFINITY),
            ("minus infinity", f64::NEG_INFINITY),
            ("not-a-number", f64::NAN),
        ] {
            if self.take(word) {
                return Some(Value::Float(Float(number)));
            }
        }
        let before = self.rest;
        let text =
            self.while_(|character| character.is_ascii_digit() || "+-.e".contains(character));
        let digits = text.strip_prefix('-').unwrap_or(text);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let trimmed = digits.trim_start_matches('0');
            let trimmed = if trimmed.is_empty() { "0" } else { trimmed };
            let sign = if text.starts_with('-') && trimmed != "0" {
                "-"
            } else {
                ""
            };
            return Some(Value::Integer(format!("{sign}{trimmed}")));
        }
        match text.parse() {
            Ok(number) => Some(Value::Float(Float(number))),
            Err(_) => {
                self.rest = before;
                None
            }
        }
    }

    fn quoted(&mut self) -> Result<String, ReadError> {
        self.expect("\"")?;
        let mut text = String::new();
        loop {
            text.push_str(self.while_(|character| !matches!(character, '"' | '\\')));
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
                let digits = self.while_(|character| character.is_ascii_hexdigit());
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

    fn items(&mut self, open: &str, close: &str, depth: usize) -> Result<Vec<Value>, ReadError> {
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

    /// A set, or a dictionary if there is a colon behind the first value.
    fn braces(&mut self, depth: usize) -> Result<Value, ReadError> {
        self.expect("{")?;
        if self.take("}") {
            return Ok(Value::Dictionary(Vec::new()));
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
            return Ok(Value::Dictionary(entries));
        }
        let mut members = vec![first];
        while self.take(", ") {
            members.push(self.value(depth + 1)?);
        }
        self.expect("}")?;
        Ok(Value::Set(members))
    }

    fn bytes(&mut self) -> Result<Value, ReadError> {
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
                return Ok(Value::Bytes(bytes));
            }
            self.rest = self.rest.get(1..).unwrap_or_default();
        }
    }

    fn integer(&mut self) -> Option<i128> {
        let before = self.rest;
        let sign = if self.take("-") { "-" } else { "" };
        let digits = self.while_(|character| character.is_ascii_digit());
        let number = format!("{sign}{digits}").parse().ok();
        if number.is_none() {
            self.rest = before;
        }
        number
    }

    fn range(&mut self) -> Result<Value, ReadError> {
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
        Ok(Value::Range { start, stop, step })
    }

    fn complex(&mut self) -> Result<Value, ReadError> {
        let text =
            self.while_(|character| character.is_ascii_alphanumeric() || "+-.".contains(character));
        let parts = text.strip_suffix('j').and_then(|text| {
            // The sign in the middle is not the first one and not that of an exponent.
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
        Ok(Value::Complex(Float(real), Float(imaginary)))
    }

    fn fraction(&mut self) -> Result<Value, ReadError> {
        let sign = if self.take("-") { "-" } else { "" };
        let numerator = self.while_(|character| character.is_ascii_digit());
        self.expect("/")?;
        let denominator = self.while_(|character| character.is_ascii_digit());
        if numerator.is_empty() || denominator.trim_start_matches('0').is_empty() {
            return Err(self.error("a fraction"));
        }
        Ok(Value::Fraction {
            numerator: format!("{sign}{numerator}"),
            denominator: denominator.to_owned(),
        })
    }

    /// A text of this shape, in which 0 is any digit.
    fn digits_like(&mut self, shape: &str) -> Result<String, ReadError> {
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

    /// A date, a time, and whatever fraction and zone there is.
    fn moment(&mut self) -> Result<Value, ReadError> {
        let mut text = self.digits_like("0000-00-00 00:00:00")?;
        if self.rest.starts_with('.') {
            text += &self.digits_like(".000000")?;
        }
        for sign in ["+", "-"] {
            if self.take(sign) {
                text += sign;
                text += &self.digits_like("00:00")?;
                // A colon may also be that of a dictionary around.
                if let Ok(seconds) = self.digits_like(":00") {
                    text += &seconds;
                }
            }
        }
        Ok(Value::Moment(text))
    }

    fn duration(&mut self) -> Result<Value, ReadError> {
        let is_negative = self.take("minus ");
        let mut total = self
            .span()
            .ok_or_else(|| self.error("a number and a unit of time"))?;
        loop {
            // A comma may also be that of a list around.
            let before = self.rest;
            let span = if self.take(", ") || self.take(" and ") {
                self.span()
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
        Ok(Value::Duration(if is_negative { -total } else { total }))
    }

    /// "3 days", in microseconds.
    fn span(&mut self) -> Option<i128> {
        let count: i128 = self
            .while_(|character| character.is_ascii_digit())
            .parse()
            .ok()?;
        let fraction = if self.take(".") {
            self.while_(|character| character.is_ascii_digit())
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
        assert_eq!(read("the number 19"), Ok(Value::integer(19)));
        assert_eq!(read("nothing"), Ok(Value::Nothing));
        assert_eq!(read("the empty fixed set"), Ok(Value::FrozenSet(vec![])));
        assert_eq!(read("the value true"), Ok(Value::Boolean(true)));
        let list = Value::List(vec![
            Value::Duration(UNITS[0].1),
            Value::integer(4),
            Value::Bytes(vec![10, 11]),
        ]);
        assert_eq!(
            read("the list [the duration 1 day, 4, the bytes 0a 0b]"),
            Ok(list)
        );
        assert_eq!(
            read("the complex number 1e-05-2.5j"),
            Ok(Value::Complex(Float(1e-5), Float(-2.5)))
        );
    }

    #[test]
    fn what_is_no_phrase_is_refused_with_its_place() {
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
            let error = read(phrase).expect_err(phrase);
            assert_eq!(error.position, position, "{phrase}: {}", error.message);
        }
        let deep = format!("the list {}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(read(&deep).is_err());
    }

    fn scalar() -> BoxedStrategy<Value> {
        prop_oneof![
            Just(Value::Nothing),
            any::<bool>().prop_map(Value::Boolean),
            any::<i64>().prop_map(Value::integer),
            any::<i128>().prop_map(|number| Value::Integer(format!("{number}123456789012345678901234567890"))),
            any::<u64>().prop_map(|bits| Value::Float(Float(f64::from_bits(bits)))),
            (-1000..1000_i32).prop_map(|number| Value::Float(Float(f64::from(number) / 8.0))),
            any::<String>().prop_map(Value::Text),
            "[a-z\"\\\\\n\t,:{}\\[\\] ]{0,8}".prop_map(Value::Text),
            proptest::collection::vec(any::<u8>(), 0..4).prop_map(Value::Bytes),
            (any::<i32>(), any::<i32>())
                .prop_map(|(one, two)| Value::Complex(Float(f64::from(one) / 4.0), Float(f64::from(two) / 1e9))),
            "-?[0-9]{1,5}(\\.[0-9]{1,3})?(E[+-][0-9]{1,2})?".prop_map(Value::Decimal),
            (any::<i32>(), 1..1000_u32).prop_map(|(numerator, denominator)| Value::Fraction {
                numerator: numerator.to_string(),
                denominator: denominator.to_string(),
            }),
            "[12][0-9]{3}-0[1-9]-[12][0-9]".prop_map(Value::Date),
            "[12][0-9]{3}-0[1-9]-[12][0-9] 1[0-9]:[0-5][0-9]:[0-5][0-9](\\.[0-9]{6})?([+-]0[0-9]:[0-5]0(:30)?)?"
                .prop_map(Value::Moment),
            any::<i64>().prop_map(|microseconds| Value::Duration(microseconds.into())),
            (-50..50_i128, -50..50_i128, prop_oneof![-5..=-1_i128, 1..=5_i128])
                .prop_map(|(start, stop, step)| Value::Range { start, stop, step }),
        ]
        .boxed()
    }

    fn distinct(values: Vec<Value>) -> Vec<Value> {
        let mut distinct: Vec<Value> = Vec::new();
        for value in values {
            if !distinct.contains(&value) {
                distinct.push(value);
            }
        }
        distinct
    }

    fn nested() -> BoxedStrategy<Value> {
        scalar()
            .prop_recursive(4, 24, 5, |inner| {
                let items = proptest::collection::vec(inner.clone(), 0..5);
                prop_oneof![
                    items.clone().prop_map(Value::List),
                    items.clone().prop_map(Value::Tuple),
                    items.prop_map(|items| Value::Set(distinct(items))),
                    proptest::collection::vec((inner.clone(), inner), 0..4)
                        .prop_map(Value::Dictionary),
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
            prop_assert_eq!(read(&phrase).map_err(|error| error.message), Ok(value.clone()), "{}", phrase);
            let notation = value.notation();
            prop_assert_eq!(read_notation(&notation).map_err(|error| error.message), Ok(value), "{}", notation);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

        #[test]
        fn reading_anything_at_all_does_not_panic(text in "(the |empty |list |text |numbers from |duration |bytes )*\\PC{0,12}") {
            let _ = (read(&text), read_notation(&text));
        }

        #[test]
        fn fixed_sets_are_read_back_where_they_stand_alone(items in proptest::collection::vec(scalar(), 0..5)) {
            let value = Value::FrozenSet(distinct(items));
            prop_assert_eq!(read(&value.phrase()).map_err(|error| error.message), Ok(value));
        }
    }
}
