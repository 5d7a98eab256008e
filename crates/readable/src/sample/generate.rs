//! Generators for annotated functions, which have no strategies of their own, and simplification of
//! values.

use testwright_core::Random;
use testwright_source::tree::{Expression, ExpressionKind, Operator, UnaryOperator};

use crate::value::{PythonFloat, PythonValue};

/// A generator of random values of one kind.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "each makes what it is called")]
pub enum ValueGenerator {
    Integer,
    Float,
    Boolean,
    Text,
    Bytes,
    List(Box<ValueGenerator>),
    Set(Box<ValueGenerator>),
    FrozenSet(Box<ValueGenerator>),
    /// A tuple with one generator per position.
    Tuple(Vec<ValueGenerator>),
    /// A tuple of any length, as in `tuple[int, ...]`.
    AnyTuple(Box<ValueGenerator>),
    Dictionary(Box<ValueGenerator>, Box<ValueGenerator>),
    OneOf(Vec<ValueGenerator>),
    /// One of these values.
    Among(Vec<PythonValue>),
}

/// Returns the generator for an annotation, or nothing if only running it could tell.
#[must_use]
pub fn generator_for(annotation: &Expression) -> Option<ValueGenerator> {
    match &annotation.kind {
        ExpressionKind::None => Some(ValueGenerator::Among(vec![PythonValue::Nothing])),
        // An annotation may be quoted: `"list[int]"`.
        ExpressionKind::Text(text) => {
            generator_for(&testwright_source::tree::expression(text).ok()?)
        }
        ExpressionKind::Binary {
            left,
            operator: Operator::BitOr,
            right,
        } => Some(ValueGenerator::OneOf(vec![
            generator_for(left)?,
            generator_for(right)?,
        ])),
        ExpressionKind::Subscript { object, index } => {
            let arguments = match &index.kind {
                ExpressionKind::Tuple(items) => items.as_slice(),
                _ => std::slice::from_ref(index.as_ref()),
            };
            generator_for_subscript(object.dotted_parts()?.last()?, arguments)
        }
        _ => generator_for_class(annotation.dotted_parts()?.last()?),
    }
}

/// Returns the generator for a class by its name.
fn generator_for_class(name: &str) -> Option<ValueGenerator> {
    let numbers = || Box::new(ValueGenerator::Integer);
    Some(match name {
        "int" => ValueGenerator::Integer,
        "float" => ValueGenerator::Float,
        "bool" => ValueGenerator::Boolean,
        "str" => ValueGenerator::Text,
        "bytes" => ValueGenerator::Bytes,
        // Numbers stand for elements of any type.
        "list" | "List" => ValueGenerator::List(numbers()),
        "set" | "Set" => ValueGenerator::Set(numbers()),
        "frozenset" | "FrozenSet" => ValueGenerator::FrozenSet(numbers()),
        "tuple" | "Tuple" => ValueGenerator::AnyTuple(numbers()),
        "dict" | "Dict" => ValueGenerator::Dictionary(Box::new(ValueGenerator::Text), numbers()),
        "Any" | "object" => {
            ValueGenerator::OneOf(vec![ValueGenerator::Integer, ValueGenerator::Text])
        }
        _ => return None,
    })
}

/// Returns the generator for a generic annotation.
fn generator_for_subscript(name: &str, arguments: &[Expression]) -> Option<ValueGenerator> {
    let of = |argument: &Expression| generator_for(argument).map(Box::new);
    Some(match (name, arguments) {
        ("list" | "List" | "Sequence" | "Iterable" | "Collection", [item]) => {
            ValueGenerator::List(of(item)?)
        }
        ("set" | "Set", [item]) => ValueGenerator::Set(of(item)?),
        ("frozenset" | "FrozenSet", [item]) => ValueGenerator::FrozenSet(of(item)?),
        ("tuple" | "Tuple", [item, rest]) if rest.kind == ExpressionKind::Ellipsis => {
            ValueGenerator::AnyTuple(of(item)?)
        }
        ("tuple" | "Tuple", items) => {
            ValueGenerator::Tuple(items.iter().map(generator_for).collect::<Option<_>>()?)
        }
        ("dict" | "Dict" | "Mapping", [key, item]) => {
            ValueGenerator::Dictionary(of(key)?, of(item)?)
        }
        ("Optional", [item]) => ValueGenerator::OneOf(vec![
            ValueGenerator::Among(vec![PythonValue::Nothing]),
            generator_for(item)?,
        ]),
        ("Union", items) => {
            ValueGenerator::OneOf(items.iter().map(generator_for).collect::<Option<_>>()?)
        }
        ("Literal", items) => {
            ValueGenerator::Among(items.iter().map(literal).collect::<Option<_>>()?)
        }
        ("Annotated", [item, ..]) => generator_for(item)?,
        _ => return None,
    })
}

/// Returns the value of a member of `Literal[…]`.
fn literal(item: &Expression) -> Option<PythonValue> {
    Some(match &item.kind {
        ExpressionKind::None => PythonValue::Nothing,
        ExpressionKind::Boolean(truth) => PythonValue::Boolean(*truth),
        ExpressionKind::Integer(digits) => PythonValue::Integer(digits.clone()),
        ExpressionKind::Text(text) => PythonValue::Text(text.clone()),
        ExpressionKind::Unary {
            operator: UnaryOperator::Minus,
            operand,
        } => match &operand.kind {
            ExpressionKind::Integer(digits) => PythonValue::Integer(format!("-{digits}")),
            _ => return None,
        },
        _ => return None,
    })
}

/// The largest collection that is generated, since examples are read by people.
const MAX_ITEMS: u64 = 6;

impl ValueGenerator {
    /// Draws a value. Small values are likely, because they are easy to read and often break
    /// programs.
    pub fn draw(&self, random: &mut Random) -> PythonValue {
        match self {
            ValueGenerator::Integer => PythonValue::integer(draw_integer(random)),
            ValueGenerator::Float => PythonValue::Float(PythonFloat(match random.below(4) {
                0 => draw_integer(random) as f64,
                _ => draw_integer(random) as f64 / 4.0,
            })),
            ValueGenerator::Boolean => PythonValue::Boolean(random.below(2) == 1),
            ValueGenerator::Text => {
                let length = random.below(MAX_ITEMS + 1);
                PythonValue::Text((0..length).map(|_| draw_letter(random)).collect())
            }
            ValueGenerator::Bytes => {
                let length = random.below(MAX_ITEMS + 1);
                PythonValue::Bytes((0..length).map(|_| random.below(256) as u8).collect())
            }
            ValueGenerator::List(item) => PythonValue::List(draw_items(item, random)),
            ValueGenerator::AnyTuple(item) => PythonValue::Tuple(draw_items(item, random)),
            ValueGenerator::Set(item) => PythonValue::Set(dedup_values(draw_items(item, random))),
            ValueGenerator::FrozenSet(item) => {
                PythonValue::FrozenSet(dedup_values(draw_items(item, random)))
            }
            ValueGenerator::Tuple(positions) => PythonValue::Tuple(
                positions
                    .iter()
                    .map(|position| position.draw(random))
                    .collect(),
            ),
            ValueGenerator::Dictionary(key, item) => {
                let keys = dedup_values(draw_items(key, random));
                PythonValue::Dictionary(
                    keys.into_iter()
                        .map(|key| (key, item.draw(random)))
                        .collect(),
                )
            }
            ValueGenerator::OneOf(kinds) => match random.choose(kinds) {
                Some(kind) => kind.draw(random),
                None => PythonValue::Nothing,
            },
            ValueGenerator::Among(values) => random
                .choose(values)
                .cloned()
                .unwrap_or(PythonValue::Nothing),
        }
    }

    /// Returns true if the generator could have drawn the value.
    #[must_use]
    pub fn allows(&self, value: &PythonValue) -> bool {
        match (self, value) {
            (ValueGenerator::Integer, PythonValue::Integer(_))
            | (ValueGenerator::Float, PythonValue::Float(_))
            | (ValueGenerator::Boolean, PythonValue::Boolean(_))
            | (ValueGenerator::Text, PythonValue::Text(_))
            | (ValueGenerator::Bytes, PythonValue::Bytes(_)) => true,
            (ValueGenerator::List(item), PythonValue::List(items))
            | (ValueGenerator::AnyTuple(item), PythonValue::Tuple(items))
            | (ValueGenerator::Set(item), PythonValue::Set(items))
            | (ValueGenerator::FrozenSet(item), PythonValue::FrozenSet(items)) => {
                items.iter().all(|value| item.allows(value))
            }
            (ValueGenerator::Tuple(positions), PythonValue::Tuple(items)) => {
                positions.len() == items.len()
                    && positions
                        .iter()
                        .zip(items)
                        .all(|(position, item)| position.allows(item))
            }
            (ValueGenerator::Dictionary(keys, items), PythonValue::Dictionary(entries)) => {
                (entries.iter()).all(|(key, item)| keys.allows(key) && items.allows(item))
            }
            (ValueGenerator::OneOf(kinds), value) => kinds.iter().any(|kind| kind.allows(value)),
            (ValueGenerator::Among(values), value) => values.contains(value),
            _ => false,
        }
    }
}

/// Draws an integer from a range that is itself drawn.
fn draw_integer(random: &mut Random) -> i64 {
    let bound = random.choose(&[3, 11, 101, 10_001]).copied().unwrap_or(3);
    let magnitude = random.below(bound) as i64;
    match random.below(2) {
        0 => magnitude,
        _ => -magnitude,
    }
}

/// Draws a letter, not always an ASCII one.
fn draw_letter(random: &mut Random) -> char {
    const USUAL: [char; 8] = ['a', 'b', 'c', 'A', '0', ' ', '-', 'é'];
    random.choose(&USUAL).copied().unwrap_or('a')
}

/// Draws the items of a collection.
fn draw_items(item: &ValueGenerator, random: &mut Random) -> Vec<PythonValue> {
    let length = random.below(MAX_ITEMS + 1);
    (0..length).map(|_| item.draw(random)).collect()
}

/// Removes repeated values.
fn dedup_values(items: Vec<PythonValue>) -> Vec<PythonValue> {
    let mut different = Vec::new();
    for item in items {
        if !different.contains(&item) {
            different.push(item);
        }
    }
    different
}

/// Returns values that are a little simpler, the simplest first. Repeating this ends, because each
/// value is smaller.
#[must_use]
pub fn simpler_values(value: &PythonValue) -> Vec<PythonValue> {
    match value {
        PythonValue::Boolean(true) => vec![PythonValue::Boolean(false)],
        PythonValue::Integer(_) => simpler_numbers(value.as_integer().unwrap_or(0))
            .into_iter()
            .map(PythonValue::integer)
            .collect(),
        PythonValue::Float(number) if number.0.is_finite() => {
            let candidates = [0.0, number.0.trunc(), (number.0 / 2.0).trunc()];
            let is_simpler = |candidate: &f64| {
                super::size(&PythonValue::Float(PythonFloat(*candidate))) < super::size(value)
            };
            candidates
                .into_iter()
                .filter(is_simpler)
                .map(|number| PythonValue::Float(PythonFloat(number)))
                .collect()
        }
        PythonValue::Text(text) => {
            let letters: Vec<char> = text.chars().collect();
            let shorter = without_one(&letters)
                .into_iter()
                .map(|letters| PythonValue::Text(letters.into_iter().collect()));
            shorter.collect()
        }
        PythonValue::List(items) => simpler_items(items)
            .into_iter()
            .map(PythonValue::List)
            .collect(),
        PythonValue::Tuple(items) => each_simpler(items)
            .into_iter()
            .map(PythonValue::Tuple)
            .collect(),
        PythonValue::Set(items) => without_one(items)
            .into_iter()
            .map(PythonValue::Set)
            .collect(),
        PythonValue::FrozenSet(items) => without_one(items)
            .into_iter()
            .map(PythonValue::FrozenSet)
            .collect(),
        PythonValue::Dictionary(entries) => without_one(entries)
            .into_iter()
            .map(PythonValue::Dictionary)
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the values with one number simplified wherever it occurs, because often only the
/// equality of two values matters.
#[must_use]
pub fn simplify_equal_numbers(values: &[PythonValue]) -> Vec<Vec<PythonValue>> {
    let mut numbers = Vec::new();
    values
        .iter()
        .for_each(|value| collect_numbers(value, &mut numbers));
    let candidates = numbers.into_iter().flat_map(|number| {
        simpler_numbers(number).into_iter().map(move |simpler| {
            let replaced = values
                .iter()
                .map(|value| renumbered(value, number, simpler));
            replaced.collect()
        })
    });
    candidates.collect()
}

/// Appends the distinct integers in a value.
fn collect_numbers(value: &PythonValue, numbers: &mut Vec<i128>) {
    match value {
        PythonValue::Integer(_) => {
            let number = value
                .as_integer()
                .filter(|number| !numbers.contains(number));
            numbers.extend(number);
        }
        PythonValue::List(items) | PythonValue::Tuple(items) => {
            items.iter().for_each(|item| collect_numbers(item, numbers))
        }
        _ => {}
    }
}

/// Replaces one integer by another throughout a value.
fn renumbered(value: &PythonValue, number: i128, simpler: i128) -> PythonValue {
    let all = |items: &[PythonValue]| {
        items
            .iter()
            .map(|item| renumbered(item, number, simpler))
            .collect()
    };
    match value {
        PythonValue::Integer(_) if value.as_integer() == Some(number) => {
            PythonValue::integer(simpler)
        }
        PythonValue::List(items) => PythonValue::List(all(items)),
        PythonValue::Tuple(items) => PythonValue::Tuple(all(items)),
        other => other.clone(),
    }
}

/// Returns integers closer to zero: zero, the half, and the next one.
fn simpler_numbers(number: i128) -> Vec<i128> {
    let mut candidates = vec![0, number / 2, number - number.signum()];
    candidates.retain(|candidate| candidate.unsigned_abs() < number.unsigned_abs());
    candidates.dedup();
    candidates
}

/// Returns lists with an item removed or simplified.
fn simpler_items(items: &[PythonValue]) -> Vec<Vec<PythonValue>> {
    let mut candidates = without_one(items);
    candidates.extend(each_simpler(items));
    candidates
}

/// Returns lists with one item simplified.
fn each_simpler(items: &[PythonValue]) -> Vec<Vec<PythonValue>> {
    let replaced = items.iter().enumerate().flat_map(|(index, item)| {
        simpler_values(item).into_iter().map(move |simpler| {
            let mut items = items.to_vec();
            if let Some(position) = items.get_mut(index) {
                *position = simpler;
            }
            items
        })
    });
    replaced.collect()
}

/// Returns all lists with one item removed.
pub(crate) fn without_one<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    let shorter = (0..items.len()).map(|index| {
        let mut items = items.to_vec();
        items.remove(index);
        items
    });
    shorter.collect()
}

#[cfg(test)]
mod tests {
    use testwright_source::tree;

    use super::super::size;
    use super::*;

    fn of(annotation: &str) -> Option<ValueGenerator> {
        generator_for(&tree::expression(annotation).expect("an annotation"))
    }

    #[test]
    fn annotations_make_values_of_their_kind() {
        let mut random = Random::new(0);
        for annotation in [
            "int",
            "float",
            "bool",
            "str",
            "bytes",
            "list[int]",
            "typing.List[str]",
            "set[int]",
            "frozenset[str]",
            "tuple[int, str]",
            "tuple[int, ...]",
            "dict[str, list[int]]",
            "int | None",
            "Optional[str]",
            "Union[int, str]",
            "Literal['a', -1, None]",
            "'list[int]'",
        ] {
            let generator = of(annotation).unwrap_or_else(|| panic!("{annotation}"));
            for _ in 0..50 {
                let value = generator.draw(&mut random);
                assert!(generator.allows(&value), "{annotation}: {value:?}");
            }
        }
        assert_eq!(of("Account"), None);
        assert_eq!(of("list[Account]"), None);
        assert_eq!(of("f(x)"), None);
    }

    #[test]
    fn the_same_seed_makes_the_same_values() {
        let generator = of("dict[str, list[float]]").expect("a generator");
        let mut one = Random::new(7);
        let mut other = Random::new(7);
        for _ in 0..20 {
            assert_eq!(generator.draw(&mut one), generator.draw(&mut other));
        }
    }

    #[test]
    fn equal_numbers_become_simpler_together() {
        let values = [
            PythonValue::integer(7),
            PythonValue::List(vec![PythonValue::integer(7), PythonValue::integer(1)]),
        ];
        let first = simplify_equal_numbers(&values)
            .into_iter()
            .next()
            .expect("a candidate");
        let zeros = [
            PythonValue::integer(0),
            PythonValue::List(vec![PythonValue::integer(0), PythonValue::integer(1)]),
        ];
        assert_eq!(first, zeros);
        assert!(simplify_equal_numbers(&[PythonValue::integer(0)]).is_empty());
    }

    #[test]
    fn simpler_values_are_smaller_and_of_the_same_kind() {
        let mut random = Random::new(1);
        for annotation in [
            "int",
            "float",
            "list[int]",
            "str",
            "dict[str, int]",
            "tuple[int, list[str]]",
        ] {
            let generator = of(annotation).expect("a generator");
            for _ in 0..50 {
                let value = generator.draw(&mut random);
                for simpler in simpler_values(&value) {
                    assert!(size(&simpler) < size(&value), "{value:?} {simpler:?}");
                    assert!(generator.allows(&simpler), "{value:?} {simpler:?}");
                }
            }
        }
    }
}
