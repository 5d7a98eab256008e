//! Shapes of values. Examples of the same shape show the same thing, so one of them is enough.

use crate::value::PythonValue;

/// Returns the shapes of a value: sign, emptiness, repetition, order, letters, or the value itself.
#[must_use]
pub fn shapes(value: &PythonValue) -> Vec<String> {
    let mut shapes = Vec::new();
    let mut add = |shape: &str| shapes.push(shape.to_owned());
    match value {
        PythonValue::Integer(digits) | PythonValue::Decimal(digits) => add(sign_of(digits)),
        PythonValue::Fraction { numerator, .. } => add(sign_of(numerator)),
        PythonValue::Float(number) => add(match number.0.partial_cmp(&0.0) {
            Some(std::cmp::Ordering::Less) => "negative",
            Some(std::cmp::Ordering::Equal) => "zero",
            Some(std::cmp::Ordering::Greater) => "positive",
            None => "not a number",
        }),
        PythonValue::Text(text) => {
            add(count_class(text.chars().count()));
            add(if text.is_ascii() {
                "plain letters"
            } else {
                "other letters"
            });
        }
        PythonValue::List(items) | PythonValue::Tuple(items) => {
            add(count_class(items.len()));
            if items.len() > 1 {
                let repeats = items
                    .iter()
                    .enumerate()
                    .any(|(index, item)| items[..index].contains(item));
                add(if repeats { "repeated" } else { "different" });
                add(if is_sorted(items) {
                    "sorted"
                } else {
                    "not sorted"
                });
            }
        }
        PythonValue::Set(_)
        | PythonValue::FrozenSet(_)
        | PythonValue::Dictionary(_)
        | PythonValue::Bytes(_)
        | PythonValue::Range { .. } => {
            add(count_class(value.length().unwrap_or(0)));
        }
        PythonValue::Record { class, .. } | PythonValue::Object(class) => add(class),
        // Each member of a choice is a class of its own.
        _ => add(&value.notation()),
    }
    shapes
}

/// Returns the size of a value: the sum of absolute numbers, lengths and depths.
#[must_use]
pub fn size(value: &PythonValue) -> u128 {
    let all = |items: &[PythonValue]| {
        let sizes = items.iter().map(|item| size(item).saturating_add(1));
        sizes.fold(1, u128::saturating_add)
    };
    match value {
        PythonValue::Nothing | PythonValue::Member { .. } | PythonValue::Function(_) => 0,
        PythonValue::Boolean(truth) => u128::from(*truth),
        PythonValue::Integer(digits) => {
            let digits = digits.trim_start_matches('-');
            digits.parse().unwrap_or(u128::MAX)
        }
        // The whole part, plus one for a fraction: 1 is simpler than 0.5.
        PythonValue::Float(number) => {
            let whole = number.0.abs() as u128;
            whole.saturating_add(u128::from(number.0.fract() != 0.0))
        }
        PythonValue::Text(text) => text.chars().count() as u128,
        PythonValue::List(items)
        | PythonValue::Tuple(items)
        | PythonValue::Set(items)
        | PythonValue::FrozenSet(items) => {
            if items.is_empty() {
                0
            } else {
                all(items)
            }
        }
        PythonValue::Dictionary(entries) => {
            let sizes = entries
                .iter()
                .map(|(key, item)| size(key).saturating_add(size(item)).saturating_add(1));
            sizes.fold(0, u128::saturating_add)
        }
        PythonValue::Record { fields, .. } => {
            let sizes = fields.iter().map(|(_, item)| size(item));
            sizes.fold(1, u128::saturating_add)
        }
        other => other
            .length()
            .unwrap_or_else(|| other.notation().chars().count()) as u128,
    }
}

/// Returns the sign of a number as a shape.
fn sign_of(digits: &str) -> &'static str {
    let is_zero = !digits.contains(|digit: char| ('1'..='9').contains(&digit));
    match (is_zero, digits.starts_with('-')) {
        (true, _) => "zero",
        (false, true) => "negative",
        (false, false) => "positive",
    }
}

/// Returns the shape of a number of members.
fn count_class(count: usize) -> &'static str {
    match count {
        0 => "empty",
        1 => "one",
        _ => "several",
    }
}

/// Returns true if each item is at most the next. Values without an order are not sorted.
fn is_sorted(items: &[PythonValue]) -> bool {
    let pairs = items.iter().zip(items.iter().skip(1));
    let mut known = pairs.map(|(one, next)| match (one, next) {
        (PythonValue::Text(one), PythonValue::Text(next)) => one <= next,
        (PythonValue::Float(one), PythonValue::Float(next)) => one.0 <= next.0,
        _ => match (one.as_integer(), next.as_integer()) {
            (Some(one), Some(next)) => one <= next,
            _ => false,
        },
    });
    known.all(|in_order| in_order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(numbers: &[i64]) -> PythonValue {
        PythonValue::List(
            numbers
                .iter()
                .map(|number| PythonValue::integer(*number))
                .collect(),
        )
    }

    #[test]
    fn values_look_like_something() {
        assert_eq!(shapes(&PythonValue::integer(-3)), ["negative"]);
        assert_eq!(shapes(&PythonValue::integer(0)), ["zero"]);
        assert_eq!(
            shapes(&PythonValue::Decimal("0.10".to_owned())),
            ["positive"]
        );
        assert_eq!(shapes(&numbers(&[])), ["empty"]);
        assert_eq!(shapes(&numbers(&[1])), ["one"]);
        assert_eq!(
            shapes(&numbers(&[1, 2])),
            ["several", "different", "sorted"]
        );
        assert_eq!(
            shapes(&numbers(&[2, 1, 2])),
            ["several", "repeated", "not sorted"]
        );
        assert_eq!(shapes(&PythonValue::text("é")), ["one", "other letters"]);
        assert_ne!(
            shapes(&PythonValue::Boolean(true)),
            shapes(&PythonValue::Boolean(false))
        );
    }

    #[test]
    fn simpler_is_smaller() {
        let ordered = [
            numbers(&[]),
            numbers(&[0]),
            numbers(&[1]),
            numbers(&[1, 1]),
            numbers(&[5, 5]),
        ];
        let sizes: Vec<u128> = ordered.iter().map(size).collect();
        assert!(sizes.windows(2).all(|pair| pair[0] < pair[1]), "{sizes:?}");
        assert!(size(&PythonValue::integer(2)) < size(&PythonValue::integer(-3)));
        assert_eq!(size(&PythonValue::Integer("9".repeat(60))), u128::MAX);
    }
}
