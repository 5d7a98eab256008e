//! What a value looks like, roughly: two that look alike make poor company as examples.

use crate::value::Value;

/// The classes that a value belongs to (4.3, step 3).
#[must_use]
pub fn shapes(value: &Value) -> Vec<String> {
    let mut shapes = Vec::new();
    let mut add = |shape: &str| shapes.push(shape.to_owned());
    match value {
        Value::Integer(digits) | Value::Decimal(digits) => add(sign_of(digits)),
        Value::Fraction { numerator, .. } => add(sign_of(numerator)),
        Value::Float(number) => add(match number.0.partial_cmp(&0.0) {
            Some(std::cmp::Ordering::Less) => "negative",
            Some(std::cmp::Ordering::Equal) => "zero",
            Some(std::cmp::Ordering::Greater) => "positive",
            None => "not a number",
        }),
        Value::Text(text) => {
            add(how_many(text.chars().count()));
            add(if text.is_ascii() {
                "plain letters"
            } else {
                "other letters"
            });
        }
        Value::List(items) | Value::Tuple(items) => {
            add(how_many(items.len()));
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
        Value::Set(_)
        | Value::FrozenSet(_)
        | Value::Dictionary(_)
        | Value::Bytes(_)
        | Value::Range { .. } => {
            add(how_many(value.length().unwrap_or(0)));
        }
        Value::Record { class, .. } | Value::Object(class) => add(class),
        // Each member of a choice is a class of its own.
        _ => add(&value.notation()),
    }
    shapes
}

/// The sum of absolute numbers, lengths and depths.
#[must_use]
pub fn size(value: &Value) -> u128 {
    let all = |items: &[Value]| {
        let sizes = items.iter().map(|item| size(item).saturating_add(1));
        sizes.fold(1, u128::saturating_add)
    };
    match value {
        Value::Nothing | Value::Member { .. } | Value::Function(_) => 0,
        Value::Boolean(truth) => u128::from(*truth),
        Value::Integer(digits) => {
            let digits = digits.trim_start_matches('-');
            digits.parse().unwrap_or(u128::MAX)
        }
        // The whole part, and one more if there is anything behind it: 1 is simpler than 0.5.
        Value::Float(number) => {
            let whole = number.0.abs() as u128;
            whole.saturating_add(u128::from(number.0.fract() != 0.0))
        }
        Value::Text(text) => text.chars().count() as u128,
        Value::List(items) | Value::Tuple(items) | Value::Set(items) | Value::FrozenSet(items) => {
            if items.is_empty() {
                0
            } else {
                all(items)
            }
        }
        Value::Dictionary(entries) => {
            let sizes = entries
                .iter()
                .map(|(key, item)| size(key).saturating_add(size(item)).saturating_add(1));
            sizes.fold(0, u128::saturating_add)
        }
        Value::Record { fields, .. } => {
            let sizes = fields.iter().map(|(_, item)| size(item));
            sizes.fold(1, u128::saturating_add)
        }
        other => other
            .length()
            .unwrap_or_else(|| other.notation().chars().count()) as u128,
    }
}

fn sign_of(digits: &str) -> &'static str {
    let is_zero = !digits.contains(|digit: char| ('1'..='9').contains(&digit));
    match (is_zero, digits.starts_with('-')) {
        (true, _) => "zero",
        (false, true) => "negative",
        (false, false) => "positive",
    }
}

fn how_many(count: usize) -> &'static str {
    match count {
        0 => "empty",
        1 => "one",
        _ => "several",
    }
}

/// Whether each is at most the next; values that have no order do not count as sorted.
fn is_sorted(items: &[Value]) -> bool {
    let pairs = items.iter().zip(items.iter().skip(1));
    let mut known = pairs.map(|(one, next)| match (one, next) {
        (Value::Text(one), Value::Text(next)) => one <= next,
        (Value::Float(one), Value::Float(next)) => one.0 <= next.0,
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

    fn numbers(numbers: &[i64]) -> Value {
        Value::List(
            numbers
                .iter()
                .map(|number| Value::integer(*number))
                .collect(),
        )
    }

    #[test]
    fn values_look_like_something() {
        assert_eq!(shapes(&Value::integer(-3)), ["negative"]);
        assert_eq!(shapes(&Value::integer(0)), ["zero"]);
        assert_eq!(shapes(&Value::Decimal("0.10".to_owned())), ["positive"]);
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
        assert_eq!(shapes(&Value::text("é")), ["one", "other letters"]);
        assert_ne!(
            shapes(&Value::Boolean(true)),
            shapes(&Value::Boolean(false))
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
        assert!(size(&Value::integer(2)) < size(&Value::integer(-3)));
        assert_eq!(size(&Value::Integer("9".repeat(60))), u128::MAX);
    }
}
