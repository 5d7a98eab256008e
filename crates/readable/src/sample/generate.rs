//! Values for plain annotated functions, which have no strategies of their own, and simpler ones.

use testwright_core::Random;
use testwright_source::tree::{Expression, ExpressionKind, Operator, UnaryOperator};

use crate::value::{Float, Value};

/// Makes values of one kind.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "each makes what it is called")]
pub enum Generator {
    Integer,
    Float,
    Boolean,
    Text,
    Bytes,
    List(Box<Generator>),
    Set(Box<Generator>),
    FrozenSet(Box<Generator>),
    /// One generator for each place.
    Tuple(Vec<Generator>),
    /// Any number of places, as in `tuple[int, ...]`.
    AnyTuple(Box<Generator>),
    Dictionary(Box<Generator>, Box<Generator>),
    OneOf(Vec<Generator>),
    /// One of these.
    Among(Vec<Value>),
}

/// What makes the values that an annotation allows; nothing if only running it could tell.
#[must_use]
pub fn generator(annotation: &Expression) -> Option<Generator> {
    match &annotation.kind {
        ExpressionKind::None => Some(Generator::Among(vec![Value::Nothing])),
        // `"list[int]"`, as is written where names are not known yet.
        ExpressionKind::Text(text) => generator(&testwright_source::tree::expression(text).ok()?),
        ExpressionKind::Binary {
            left,
            operator: Operator::BitOr,
            right,
        } => Some(Generator::OneOf(vec![generator(left)?, generator(right)?])),
        ExpressionKind::Subscript { object, index } => {
            let arguments = match &index.kind {
                ExpressionKind::Tuple(items) => items.as_slice(),
                _ => std::slice::from_ref(index.as_ref()),
            };
            subscripted(object.dotted()?.last()?, arguments)
        }
        _ => plain(annotation.dotted()?.last()?),
    }
}

fn plain(name: &str) -> Option<Generator> {
    let numbers = || Box::new(Generator::Integer);
    Some(match name {
        "int" => Generator::Integer,
        "float" => Generator::Float,
        "bool" => Generator::Boolean,
        "str" => Generator::Text,
        "bytes" => Generator::Bytes,
        // Of anything: numbers will do.
        "list" | "List" => Generator::List(numbers()),
        "set" | "Set" => Generator::Set(numbers()),
        "frozenset" | "FrozenSet" => Generator::FrozenSet(numbers()),
        "tuple" | "Tuple" => Generator::AnyTuple(numbers()),
        "dict" | "Dict" => Generator::Dictionary(Box::new(Generator::Text), numbers()),
        "Any" | "object" => Generator::OneOf(vec![Generator::Integer, Generator::Text]),
        _ => return None,
    })
}

fn subscripted(name: &str, arguments: &[Expression]) -> Option<Generator> {
    let of = |argument: &Expression| generator(argument).map(Box::new);
    Some(match (name, arguments) {
        ("list" | "List" | "Sequence" | "Iterable" | "Collection", [item]) => {
            Generator::List(of(item)?)
        }
        ("set" | "Set", [item]) => Generator::Set(of(item)?),
        ("frozenset" | "FrozenSet", [item]) => Generator::FrozenSet(of(item)?),
        ("tuple" | "Tuple", [item, rest]) if rest.kind == ExpressionKind::Ellipsis => {
            Generator::AnyTuple(of(item)?)
        }
        ("tuple" | "Tuple", items) => {
            Generator::Tuple(items.iter().map(generator).collect::<Option<_>>()?)
        }
        ("dict" | "Dict" | "Mapping", [key, item]) => Generator::Dictionary(of(key)?, of(item)?),
        ("Optional", [item]) => Generator::OneOf(vec![
            Generator::Among(vec![Value::Nothing]),
            generator(item)?,
        ]),
        ("Union", items) => Generator::OneOf(items.iter().map(generator).collect::<Option<_>>()?),
        ("Literal", items) => Generator::Among(items.iter().map(literal).collect::<Option<_>>()?),
        ("Annotated", [item, ..]) => generator(item)?,
        _ => return None,
    })
}

fn literal(item: &Expression) -> Option<Value> {
    Some(match &item.kind {
        ExpressionKind::None => Value::Nothing,
        ExpressionKind::Boolean(truth) => Value::Boolean(*truth),
        ExpressionKind::Integer(digits) => Value::Integer(digits.clone()),
        ExpressionKind::Text(text) => Value::Text(text.clone()),
        ExpressionKind::Unary {
            operator: UnaryOperator::Minus,
            operand,
        } => match &operand.kind {
            ExpressionKind::Integer(digits) => Value::Integer(format!("-{digits}")),
            _ => return None,
        },
        _ => return None,
    })
}

/// How many items a collection has at most. Examples are to be read by people.
const LONGEST: u64 = 6;

impl Generator {
    /// A value. Small ones are likely, for they are what readers like and where programs break.
    pub fn draw(&self, random: &mut Random) -> Value {
        match self {
            Generator::Integer => Value::integer(integer(random)),
            Generator::Float => Value::Float(Float(match random.below(4) {
                0 => integer(random) as f64,
                _ => integer(random) as f64 / 4.0,
            })),
            Generator::Boolean => Value::Boolean(random.below(2) == 1),
            Generator::Text => {
                let length = random.below(LONGEST + 1);
                Value::Text((0..length).map(|_| letter(random)).collect())
            }
            Generator::Bytes => {
                let length = random.below(LONGEST + 1);
                Value::Bytes((0..length).map(|_| random.below(256) as u8).collect())
            }
            Generator::List(item) => Value::List(items(item, random)),
            Generator::AnyTuple(item) => Value::Tuple(items(item, random)),
            Generator::Set(item) => Value::Set(different(items(item, random))),
            Generator::FrozenSet(item) => Value::FrozenSet(different(items(item, random))),
            Generator::Tuple(places) => {
                Value::Tuple(places.iter().map(|place| place.draw(random)).collect())
            }
            Generator::Dictionary(key, item) => {
                let keys = different(items(key, random));
                Value::Dictionary(
                    keys.into_iter()
                        .map(|key| (key, item.draw(random)))
                        .collect(),
                )
            }
            Generator::OneOf(kinds) => match random.choose(kinds) {
                Some(kind) => kind.draw(random),
                None => Value::Nothing,
            },
            Generator::Among(values) => random.choose(values).cloned().unwrap_or(Value::Nothing),
        }
    }

    /// Whether it could have made the value.
    #[must_use]
    pub fn allows(&self, value: &Value) -> bool {
        match (self, value) {
            (Generator::Integer, Value::Integer(_))
            | (Generator::Float, Value::Float(_))
            | (Generator::Boolean, Value::Boolean(_))
            | (Generator::Text, Value::Text(_))
            | (Generator::Bytes, Value::Bytes(_)) => true,
            (Generator::List(item), Value::List(items))
            | (Generator::AnyTuple(item), Value::Tuple(items))
            | (Generator::Set(item), Value::Set(items))
            | (Generator::FrozenSet(item), Value::FrozenSet(items)) => {
                items.iter().all(|value| item.allows(value))
            }
            (Generator::Tuple(places), Value::Tuple(items)) => {
                places.len() == items.len()
                    && places
                        .iter()
                        .zip(items)
                        .all(|(place, item)| place.allows(item))
            }
            (Generator::Dictionary(keys, items), Value::Dictionary(entries)) => {
                (entries.iter()).all(|(key, item)| keys.allows(key) && items.allows(item))
            }
            (Generator::OneOf(kinds), value) => kinds.iter().any(|kind| kind.allows(value)),
            (Generator::Among(values), value) => values.contains(value),
            _ => false,
        }
    }
}

fn integer(random: &mut Random) -> i64 {
    let bound = random.choose(&[3, 11, 101, 10_001]).copied().unwrap_or(3);
    let magnitude = random.below(bound) as i64;
    match random.below(2) {
        0 => magnitude,
        _ => -magnitude,
    }
}

fn letter(random: &mut Random) -> char {
    const USUAL: [char; 8] = ['a', 'b', 'c', 'A', '0', ' ', '-', 'é'];
    random.choose(&USUAL).copied().unwrap_or('a')
}

fn items(item: &Generator, random: &mut Random) -> Vec<Value> {
    let length = random.below(LONGEST + 1);
    (0..length).map(|_| item.draw(random)).collect()
}

fn different(items: Vec<Value>) -> Vec<Value> {
    let mut different = Vec::new();
    for item in items {
        if !different.contains(&item) {
            different.push(item);
        }
    }
    different
}

/// Values that are a little simpler, the simplest first. Repeating this ends, for each is smaller.
#[must_use]
pub fn simpler(value: &Value) -> Vec<Value> {
    match value {
        Value::Boolean(true) => vec![Value::Boolean(false)],
        Value::Integer(_) => simpler_numbers(value.as_integer().unwrap_or(0))
            .into_iter()
            .map(Value::integer)
            .collect(),
        Value::Float(number) if number.0.is_finite() => {
            let candidates = [0.0, number.0.trunc(), (number.0 / 2.0).trunc()];
            let is_simpler = |candidate: &f64| {
                super::size(&Value::Float(Float(*candidate))) < super::size(value)
            };
            candidates
                .into_iter()
                .filter(is_simpler)
                .map(|number| Value::Float(Float(number)))
                .collect()
        }
        Value::Text(text) => {
            let letters: Vec<char> = text.chars().collect();
            let shorter = without_one(&letters)
                .into_iter()
                .map(|letters| Value::Text(letters.into_iter().collect()));
            shorter.collect()
        }
        Value::List(items) => simpler_items(items).into_iter().map(Value::List).collect(),
        Value::Tuple(items) => each_simpler(items).into_iter().map(Value::Tuple).collect(),
        Value::Set(items) => without_one(items).into_iter().map(Value::Set).collect(),
        Value::FrozenSet(items) => without_one(items)
            .into_iter()
            .map(Value::FrozenSet)
            .collect(),
        Value::Dictionary(entries) => without_one(entries)
            .into_iter()
            .map(Value::Dictionary)
            .collect(),
        _ => Vec::new(),
    }
}

/// The same values with one number made simpler wherever it occurs: what matters is often only that two are equal.
#[must_use]
pub fn simpler_together(values: &[Value]) -> Vec<Vec<Value>> {
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

fn collect_numbers(value: &Value, numbers: &mut Vec<i128>) {
    match value {
        Value::Integer(_) => {
            let number = value
                .as_integer()
                .filter(|number| !numbers.contains(number));
            numbers.extend(number);
        }
        Value::List(items) | Value::Tuple(items) => {
            items.iter().for_each(|item| collect_numbers(item, numbers))
        }
        _ => {}
    }
}

fn renumbered(value: &Value, number: i128, simpler: i128) -> Value {
    let all = |items: &[Value]| {
        items
            .iter()
            .map(|item| renumbered(item, number, simpler))
            .collect()
    };
    match value {
        Value::Integer(_) if value.as_integer() == Some(number) => Value::integer(simpler),
        Value::List(items) => Value::List(all(items)),
        Value::Tuple(items) => Value::Tuple(all(items)),
        other => other.clone(),
    }
}

fn simpler_numbers(number: i128) -> Vec<i128> {
    let mut candidates = vec![0, number / 2, number - number.signum()];
    candidates.retain(|candidate| candidate.unsigned_abs() < number.unsigned_abs());
    candidates.dedup();
    candidates
}

fn simpler_items(items: &[Value]) -> Vec<Vec<Value>> {
    let mut candidates = without_one(items);
    candidates.extend(each_simpler(items));
    candidates
}

fn each_simpler(items: &[Value]) -> Vec<Vec<Value>> {
    let replaced = items.iter().enumerate().flat_map(|(index, item)| {
        simpler(item).into_iter().map(move |simpler| {
            let mut items = items.to_vec();
            if let Some(place) = items.get_mut(index) {
                *place = simpler;
            }
            items
        })
    });
    replaced.collect()
}

/// All lists that have one item less.
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

    fn of(annotation: &str) -> Option<Generator> {
        generator(&tree::expression(annotation).expect("an annotation"))
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
            Value::integer(7),
            Value::List(vec![Value::integer(7), Value::integer(1)]),
        ];
        let first = simpler_together(&values)
            .into_iter()
            .next()
            .expect("a candidate");
        let zeros = [
            Value::integer(0),
            Value::List(vec![Value::integer(0), Value::integer(1)]),
        ];
        assert_eq!(first, zeros);
        assert!(simpler_together(&[Value::integer(0)]).is_empty());
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
                for simpler in simpler(&value) {
                    assert!(size(&simpler) < size(&value), "{value:?} {simpler:?}");
                    assert!(generator.allows(&simpler), "{value:?} {simpler:?}");
                }
            }
        }
    }
}
