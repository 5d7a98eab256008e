//! What would have to be otherwise for it not to happen (5.5).

use crate::phrase::Speaker;
use crate::sample::simpler;
use crate::value::{Float, Value};

/// What is known about an argument of a counterexample.
#[derive(Debug, Clone, PartialEq)]
pub enum Contrast {
    /// With this value instead, all is well.
    NotWhen {
        /// The parameter.
        name: String,
        /// The nearest value that makes the check succeed.
        value: Value,
    },
    /// Whatever it is, it goes wrong.
    Always {
        /// The parameter.
        name: String,
    },
}

/// At most so many neighbours of a value are tried, and so many random replacements must fail to call it general.
pub const NEIGHBOURS: usize = 20;

impl Contrast {
    /// The line of a description.
    #[must_use]
    pub fn words(&self, speaker: &Speaker<'_>) -> String {
        match self {
            Contrast::NotWhen { name, value } => format!(
                "It does not happen when {} is {}.",
                speaker.words(name),
                value.phrase_in(false, &|identifier| speaker.words(identifier))
            ),
            Contrast::Always { name } => {
                format!(
                    "It happens for any other value of {} as well.",
                    speaker.words(name)
                )
            }
        }
    }
}

/// Values that differ a little, the nearest first: one element removed, changed by one, one element replaced.
#[must_use]
pub fn neighbours(value: &Value) -> Vec<Value> {
    let mut found = match value {
        Value::Boolean(truth) => vec![Value::Boolean(!truth)],
        Value::Integer(_) => match value.as_integer() {
            Some(number) => [number.checked_add(1), number.checked_sub(1)]
                .into_iter()
                .flatten()
                .map(Value::integer)
                .collect(),
            None => Vec::new(),
        },
        Value::Float(number) => vec![
            Value::Float(Float(number.0 + 1.0)),
            Value::Float(Float(number.0 - 1.0)),
        ],
        Value::Text(text) => {
            let letters: Vec<char> = text.chars().collect();
            let shorter = shorter(&letters)
                .into_iter()
                .map(|letters| letters.into_iter().collect());
            let replaced = (0..letters.len()).map(|index| {
                let letters = letters.iter().enumerate();
                letters
                    .map(|(other, letter)| {
                        if other == index {
                            next_letter(*letter)
                        } else {
                            *letter
                        }
                    })
                    .collect()
            });
            shorter.chain(replaced).map(Value::Text).collect()
        }
        Value::List(items) => items_nearby(items).into_iter().map(Value::List).collect(),
        Value::Set(items) => shorter(items).into_iter().map(Value::Set).collect(),
        Value::FrozenSet(items) => shorter(items).into_iter().map(Value::FrozenSet).collect(),
        Value::Dictionary(entries) => shorter(entries)
            .into_iter()
            .map(Value::Dictionary)
            .collect(),
        Value::Tuple(items) => replaced(items).into_iter().map(Value::Tuple).collect(),
        _ => simpler(value),
    };
    let mut different: Vec<Value> = Vec::new();
    found.retain(|other| {
        let is_new = other != value && !different.contains(other);
        if is_new {
            different.push(other.clone());
        }
        is_new
    });
    found.truncate(NEIGHBOURS);
    found
}

fn items_nearby(items: &[Value]) -> Vec<Vec<Value>> {
    let mut nearby = shorter(items);
    nearby.extend(replaced(items));
    nearby
}

fn replaced(items: &[Value]) -> Vec<Vec<Value>> {
    let replaced = items.iter().enumerate().flat_map(|(index, item)| {
        neighbours(item).into_iter().map(move |neighbour| {
            let items = items.iter().enumerate();
            items
                .map(|(other, item)| {
                    if other == index {
                        neighbour.clone()
                    } else {
                        item.clone()
                    }
                })
                .collect()
        })
    });
    replaced.collect()
}

fn shorter<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    crate::sample::without_one(items)
}

fn next_letter(letter: char) -> char {
    match letter {
        'a' => 'b',
        _ => 'a',
    }
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
    fn neighbours_differ_a_little_and_the_nearest_come_first() {
        assert_eq!(
            neighbours(&Value::integer(7)),
            [Value::integer(8), Value::integer(6)]
        );
        assert_eq!(neighbours(&Value::Boolean(true)), [Value::Boolean(false)]);
        let near = neighbours(&numbers(&[7, 7]));
        assert_eq!(
            near[..3],
            [numbers(&[7]), numbers(&[8, 7]), numbers(&[6, 7])]
        );
        assert!(neighbours(&numbers(&[])).is_empty());
        assert_eq!(
            neighbours(&Value::text("ab"))[..3],
            ["b", "a", "bb"].map(Value::text)
        );
        assert!(neighbours(&numbers(&[1; 50])).len() <= NEIGHBOURS);
        assert!(neighbours(&Value::Object("Account".to_owned())).is_empty());
    }
}
