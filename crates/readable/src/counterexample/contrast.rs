//! Contrast: values of an argument for which the failure does not happen.

use crate::phrase::Phraser;
use crate::sample::simpler_values;
use crate::value::{PythonFloat, PythonValue};

/// The influence of one argument on a failure.
#[derive(Debug, Clone, PartialEq)]
pub enum Contrast {
    /// The check succeeds with this value instead.
    NotWhen {
        /// The parameter.
        name: String,
        /// The nearest value that makes the check succeed.
        value: PythonValue,
    },
    /// The check fails for every other value that was tried.
    Always {
        /// The parameter.
        name: String,
    },
}

/// The largest number of neighbors that is tried, and the number of random replacements that must
/// fail before an argument is called irrelevant.
pub const MAX_NEIGHBOURS: usize = 20;

impl Contrast {
    /// Returns the line of a scenario's description.
    #[must_use]
    pub fn describe(&self, phraser: &Phraser<'_>) -> String {
        match self {
            Contrast::NotWhen { name, value } => format!(
                "It does not happen when {} is {}.",
                phraser.words(name),
                value.phrase_with(false, &|identifier| phraser.words(identifier))
            ),
            Contrast::Always { name } => {
                format!(
                    "It happens for any other value of {} as well.",
                    phraser.words(name)
                )
            }
        }
    }
}

/// Returns values that differ a little, the nearest first: one element removed, changed by one, or
/// one element replaced.
#[must_use]
pub fn neighbours(value: &PythonValue) -> Vec<PythonValue> {
    let mut found = match value {
        PythonValue::Boolean(truth) => vec![PythonValue::Boolean(!truth)],
        PythonValue::Integer(_) => match value.as_integer() {
            Some(number) => [number.checked_add(1), number.checked_sub(1)]
                .into_iter()
                .flatten()
                .map(PythonValue::integer)
                .collect(),
            None => Vec::new(),
        },
        PythonValue::Float(number) => vec![
            PythonValue::Float(PythonFloat(number.0 + 1.0)),
            PythonValue::Float(PythonFloat(number.0 - 1.0)),
        ],
        PythonValue::Text(text) => {
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
            shorter.chain(replaced).map(PythonValue::Text).collect()
        }
        PythonValue::List(items) => item_neighbours(items)
            .into_iter()
            .map(PythonValue::List)
            .collect(),
        PythonValue::Set(items) => shorter(items).into_iter().map(PythonValue::Set).collect(),
        PythonValue::FrozenSet(items) => shorter(items)
            .into_iter()
            .map(PythonValue::FrozenSet)
            .collect(),
        PythonValue::Dictionary(entries) => shorter(entries)
            .into_iter()
            .map(PythonValue::Dictionary)
            .collect(),
        PythonValue::Tuple(items) => with_one_replaced(items)
            .into_iter()
            .map(PythonValue::Tuple)
            .collect(),
        _ => simpler_values(value),
    };
    let mut different: Vec<PythonValue> = Vec::new();
    found.retain(|other| {
        let is_new = other != value && !different.contains(other);
        if is_new {
            different.push(other.clone());
        }
        is_new
    });
    found.truncate(MAX_NEIGHBOURS);
    found
}

/// Returns the neighbors of a list.
fn item_neighbours(items: &[PythonValue]) -> Vec<Vec<PythonValue>> {
    let mut nearby = shorter(items);
    nearby.extend(with_one_replaced(items));
    nearby
}

/// Returns all lists with one item replaced by a neighbor.
fn with_one_replaced(items: &[PythonValue]) -> Vec<Vec<PythonValue>> {
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

/// Returns all lists with one item removed.
fn shorter<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    crate::sample::without_one(items)
}

/// Returns another letter.
fn next_letter(letter: char) -> char {
    match letter {
        'a' => 'b',
        _ => 'a',
    }
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
    fn neighbours_differ_a_little_and_the_nearest_come_first() {
        assert_eq!(
            neighbours(&PythonValue::integer(7)),
            [PythonValue::integer(8), PythonValue::integer(6)]
        );
        assert_eq!(
            neighbours(&PythonValue::Boolean(true)),
            [PythonValue::Boolean(false)]
        );
        let near = neighbours(&numbers(&[7, 7]));
        assert_eq!(
            near[..3],
            [numbers(&[7]), numbers(&[8, 7]), numbers(&[6, 7])]
        );
        assert!(neighbours(&numbers(&[])).is_empty());
        assert_eq!(
            neighbours(&PythonValue::text("ab"))[..3],
            ["b", "a", "bb"].map(PythonValue::text)
        );
        assert!(neighbours(&numbers(&[1; 50])).len() <= MAX_NEIGHBOURS);
        assert!(neighbours(&PythonValue::Object("Account".to_owned())).is_empty());
    }
}
