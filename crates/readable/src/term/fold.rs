//! Working out what is constant, so that nobody has to read `len(NAMES) - 1`.

use super::{Callee, Comparison, Operator, Term, UnaryOperator};
use crate::value::Value;

impl Term {
    /// Worked out as far as it is constant, its parts being worked out already.
    #[must_use]
    pub fn folded(self) -> Self {
        match self {
            Self::List(items) => collection(items, Value::List, Self::List),
            Self::Tuple(items) => collection(items, Value::Tuple, Self::Tuple),
            Self::Set(items) => collection(items, |items| Value::Set(distinct(items)), Self::Set),
            Self::Dictionary(entries) => dictionary(entries),
            Self::Unary { operator, operand } => match unary(operator, &operand) {
                Some(value) => Self::Value(value),
                None => Self::Unary { operator, operand },
            },
            Self::Binary {
                left,
                operator,
                right,
            } => match binary(&left, operator, &right) {
                Some(value) => Self::Value(value),
                None => Self::Binary {
                    left,
                    operator,
                    right,
                },
            },
            Self::Not(operand) => match operand.truth() {
                Some(truth) => Self::Value(Value::Boolean(!truth)),
                None => Self::Not(operand),
            },
            Self::And(operands) => connective(operands, true, Self::And),
            Self::Or(operands) => connective(operands, false, Self::Or),
            Self::Compare { first, rest } => match comparisons(&first, &rest) {
                Some(truth) => Self::Value(Value::Boolean(truth)),
                None => Self::Compare { first, rest },
            },
            Self::Conditional {
                condition,
                then,
                otherwise,
            } => match condition.truth() {
                Some(true) => *then,
                Some(false) => *otherwise,
                None => Self::Conditional {
                    condition,
                    then,
                    otherwise,
                },
            },
            Self::Item { object, index } => match item(&object, &index) {
                Some(value) => Self::Value(value),
                None => Self::Item { object, index },
            },
            Self::Call(call) => match known_call(&call) {
                Some(value) => Self::Value(value),
                None => Self::Call(call),
            },
            Self::Formatted(pieces) => match pieces.as_slice() {
                [] => Self::Value(Value::Text(String::new())),
                [Self::Value(Value::Text(text))] => Self::Value(Value::Text(text.clone())),
                _ => Self::Formatted(pieces),
            },
            other => other,
        }
    }

    /// What it is in a condition, if that is constant.
    #[must_use]
    pub fn truth(&self) -> Option<bool> {
        self.as_value().and_then(Value::truth)
    }
}

fn collection(
    items: Vec<Term>,
    value: impl Fn(Vec<Value>) -> Value,
    term: impl Fn(Vec<Term>) -> Term,
) -> Term {
    let values: Option<Vec<Value>> = items.iter().map(|item| item.as_value().cloned()).collect();
    match values {
        Some(values) => Term::Value(value(values)),
        None => term(items),
    }
}

fn distinct(items: Vec<Value>) -> Vec<Value> {
    let mut distinct: Vec<Value> = Vec::with_capacity(items.len());
    for item in items {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
    }
    distinct
}

fn dictionary(entries: Vec<(Option<Term>, Term)>) -> Term {
    let mut values: Vec<(Value, Value)> = Vec::new();
    for (key, value) in &entries {
        let (Some(Term::Value(key)), Term::Value(value)) = (key, value) else {
            return Term::Dictionary(entries);
        };
        match values.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => *known = value.clone(),
            None => values.push((key.clone(), value.clone())),
        }
    }
    Term::Value(Value::Dictionary(values))
}

fn unary(operator: UnaryOperator, operand: &Term) -> Option<Value> {
    match (operator, operand.as_value()?) {
        (UnaryOperator::Minus, Value::Integer(digits)) => {
            Some(Value::Integer(match digits.strip_prefix('-') {
                Some(positive) => positive.to_owned(),
                None if digits == "0" => digits.clone(),
                None => format!("-{digits}"),
            }))
        }
        (UnaryOperator::Minus, Value::Float(number)) => {
            Some(Value::Float(crate::value::Float(-number.0)))
        }
        (UnaryOperator::Plus, value) if value.is_number() => Some(value.clone()),
        _ => None,
    }
}

/// Only what is certain to be what Python makes of it: integers that fit, floats, texts and lists that are joined.
fn binary(left: &Term, operator: Operator, right: &Term) -> Option<Value> {
    let (left, right) = (left.as_value()?, right.as_value()?);
    if let (Some(left), Some(right)) = (left.as_integer(), right.as_integer()) {
        let number = match operator {
            Operator::Add => left.checked_add(right)?,
            Operator::Subtract => left.checked_sub(right)?,
            Operator::Multiply => left.checked_mul(right)?,
            Operator::Remainder => remainder(left, right)?,
            Operator::FloorDivide => left
                .checked_sub(remainder(left, right)?)?
                .checked_div(right)?,
            Operator::Power => left.checked_pow(u32::try_from(right).ok()?)?,
            _ => return None,
        };
        return Some(Value::integer(number));
    }
    match (left, operator, right) {
        (Value::Text(left), Operator::Add, Value::Text(right)) => {
            Some(Value::Text(format!("{left}{right}")))
        }
        (Value::List(left), Operator::Add, Value::List(right)) => {
            Some(Value::List(left.iter().chain(right).cloned().collect()))
        }
        (Value::Tuple(left), Operator::Add, Value::Tuple(right)) => {
            Some(Value::Tuple(left.iter().chain(right).cloned().collect()))
        }
        (sequence, Operator::Multiply, times) | (times, Operator::Multiply, sequence)
            if sequence.as_integer().is_none() =>
        {
            repeated(sequence, times.as_integer()?)
        }
        _ => None,
    }
}

/// `[0] * 3`, as long as people could still take it in.
fn repeated(sequence: &Value, times: i128) -> Option<Value> {
    const LONGEST: usize = 1_000;
    let times = usize::try_from(times.max(0)).ok()?;
    let fits = |length: usize| length.checked_mul(times).filter(|all| *all <= LONGEST);
    let items = |items: &[Value]| {
        let length = fits(items.len())?;
        Some(items.iter().cycle().take(length).cloned().collect())
    };
    match sequence {
        Value::Text(text) => fits(text.len()).map(|_| Value::Text(text.repeat(times))),
        Value::List(all) => items(all).map(Value::List),
        Value::Tuple(all) => items(all).map(Value::Tuple),
        _ => None,
    }
}

/// Python's: its sign is that of the divisor.
fn remainder(left: i128, right: i128) -> Option<i128> {
    let remainder = left.checked_rem(right)?;
    if remainder != 0 && (remainder < 0) != (right < 0) {
        remainder.checked_add(right)
    } else {
        Some(remainder)
    }
}

/// Boolean constants that decide nothing are left out; one that decides everything is all that is left.
fn connective(operands: Vec<Term>, neutral: bool, term: impl Fn(Vec<Term>) -> Term) -> Term {
    let mut kept = Vec::with_capacity(operands.len());
    for operand in operands {
        match operand {
            Term::Value(Value::Boolean(value)) if value == neutral => {}
            Term::Value(Value::Boolean(_)) => return operand,
            _ => kept.push(operand),
        }
    }
    match kept.len() {
        0 => Term::Value(Value::Boolean(neutral)),
        1 => kept.swap_remove(0),
        _ => term(kept),
    }
}

fn comparisons(first: &Term, rest: &[(Comparison, Term)]) -> Option<bool> {
    let mut left = first;
    let mut truth = true;
    for (comparison, right) in rest {
        truth = truth && pair(left, *comparison, right)?;
        left = right;
    }
    Some(truth)
}

fn pair(left: &Term, comparison: Comparison, right: &Term) -> Option<bool> {
    let right = right.as_value()?;
    let is_empty = right.length() == Some(0) && !matches!(right, Value::Text(_));
    match comparison {
        // Nothing is in what is empty, whatever it is.
        Comparison::In if is_empty => Some(false),
        Comparison::NotIn if is_empty => Some(true),
        _ => compared(left.as_value()?, comparison, right),
    }
}

fn compared(left: &Value, comparison: Comparison, right: &Value) -> Option<bool> {
    use std::cmp::Ordering::{Greater, Less};
    let order = match (left, right) {
        (Value::Text(left), Value::Text(right)) => Some(left.cmp(right)),
        _ => left
            .as_integer()
            .zip(right.as_integer())
            .map(|(left, right)| left.cmp(&right)),
    };
    match comparison {
        Comparison::Equal | Comparison::NotEqual => {
            // 1 == 1.0 and True == 1, so equality is only decided within one type; and two members may be one.
            let is_decided = match left {
                Value::Member { .. } | Value::Record { .. } | Value::Object(_) => false,
                _ => std::mem::discriminant(left) == std::mem::discriminant(right),
            };
            let is_equal = is_decided.then(|| left == right)?;
            Some(is_equal == (comparison == Comparison::Equal))
        }
        Comparison::Less => order.map(|order| order == Less),
        Comparison::LessOrEqual => order.map(|order| order != Greater),
        Comparison::Greater => order.map(|order| order == Greater),
        Comparison::GreaterOrEqual => order.map(|order| order != Less),
        Comparison::Is | Comparison::IsNot => {
            let is_none = matches!((left, right), (Value::Nothing, _) | (_, Value::Nothing));
            is_none.then(|| (left == right) == (comparison == Comparison::Is))
        }
        Comparison::In | Comparison::NotIn => {
            let members: Vec<&Value> = match right {
                Value::List(items)
                | Value::Tuple(items)
                | Value::Set(items)
                | Value::FrozenSet(items) => items.iter().collect(),
                Value::Dictionary(entries) => entries.iter().map(|(key, _)| key).collect(),
                _ => return None,
            };
            let mut found = false;
            for member in members {
                found = found || compared(left, Comparison::Equal, member)?;
            }
            Some(found == (comparison == Comparison::In))
        }
    }
}

fn item(object: &Term, index: &Term) -> Option<Value> {
    let (object, index) = (object.as_value()?, index.as_value()?);
    match object {
        Value::List(items) | Value::Tuple(items) => {
            let length = i128::try_from(items.len()).ok()?;
            let index = index.as_integer()?;
            let index = if index < 0 { index + length } else { index };
            items.get(usize::try_from(index).ok()?).cloned()
        }
        Value::Dictionary(entries) => entries
            .iter()
            .find(|(key, _)| key == index)
            .map(|(_, value)| value.clone()),
        _ => None,
    }
}

/// Python's other collections are for people what lists and dictionaries are. A `Counter` of unknown origin is often one
/// of the system under test.
fn empty_collection(call: &super::Call) -> Option<Value> {
    let (is_known, name) = match &call.callee {
        Callee::Function { module: None, name } => (name != "Counter", name),
        Callee::Function {
            module: Some(module),
            name,
        } => (module == "collections", name),
        Callee::Method {
            object: Term::Reference(module),
            name,
        } => (module.name == "collections", name),
        _ => return None,
    };
    let has_none = call.arguments.is_empty();
    let has_limit = |(name, _): &(Option<String>, Term)| name.as_deref() == Some("maxlen");
    let is_plain = call.keywords.is_empty();
    match name.as_str() {
        "deque" if is_known && has_none && call.keywords.iter().all(has_limit) => {
            Some(Value::List(Vec::new()))
        }
        "OrderedDict" | "Counter" if is_known && has_none && is_plain => {
            Some(Value::Dictionary(Vec::new()))
        }
        "defaultdict" if is_known && call.arguments.len() < 2 && is_plain => {
            Some(Value::Dictionary(Vec::new()))
        }
        _ => None,
    }
}

/// `len` of a constant (R7), what else is counted or compared of whole numbers, and the constructors of constants.
fn known_call(call: &super::Call) -> Option<Value> {
    if let Some(empty) = empty_collection(call) {
        return Some(empty);
    }
    let Callee::Function { module: None, name } = &call.callee else {
        return None;
    };
    if !call.keywords.is_empty() {
        return match (name.as_str(), call.arguments.is_empty()) {
            ("dict", true) => keyed(&call.keywords),
            _ => None,
        };
    }
    let arguments: Option<Vec<&Value>> = call.arguments.iter().map(Term::as_value).collect();
    match (name.as_str(), arguments?.as_slice()) {
        ("len", [value]) => Some(Value::integer(i128::try_from(value.length()?).ok()?)),
        ("abs", [value]) => Some(Value::integer(value.as_integer()?.checked_abs()?)),
        ("sum", [value]) => {
            let mut all = integers(&members(value)?)?.into_iter();
            all.try_fold(0, i128::checked_add).map(Value::integer)
        }
        ("min", all) => compared_numbers(all)?.into_iter().min().map(Value::integer),
        ("max", all) => compared_numbers(all)?.into_iter().max().map(Value::integer),
        ("list", []) => Some(Value::List(Vec::new())),
        ("tuple", []) => Some(Value::Tuple(Vec::new())),
        ("set", []) => Some(Value::Set(Vec::new())),
        ("frozenset", []) => Some(Value::FrozenSet(Vec::new())),
        ("dict", []) => Some(Value::Dictionary(Vec::new())),
        ("str", []) => Some(Value::Text(String::new())),
        ("set", [value]) => Some(Value::Set(distinct(members(value)?))),
        ("frozenset", [value]) => Some(Value::FrozenSet(distinct(members(value)?))),
        ("list", [value]) => Some(Value::List(members(value)?)),
        ("tuple", [value]) => Some(Value::Tuple(members(value)?)),
        ("range", bounds) => {
            let bounds: Option<Vec<i128>> = bounds.iter().map(|bound| bound.as_integer()).collect();
            let (start, stop, step) = match bounds?.as_slice() {
                [stop] => (0, *stop, 1),
                [start, stop] => (*start, *stop, 1),
                [start, stop, step] if *step != 0 => (*start, *stop, *step),
                _ => return None,
            };
            Some(Value::Range { start, stop, step })
        }
        ("float", [Value::Text(text)]) => {
            match text.trim().to_lowercase().trim_start_matches('+') {
                "inf" | "infinity" => Some(Value::Float(crate::value::Float(f64::INFINITY))),
                "-inf" | "-infinity" => Some(Value::Float(crate::value::Float(f64::NEG_INFINITY))),
                "nan" => Some(Value::Float(crate::value::Float(f64::NAN))),
                _ => None,
            }
        }
        _ => None,
    }
}

/// What `min` and `max` compare: several arguments, or the members of one.
fn compared_numbers(arguments: &[&Value]) -> Option<Vec<i128>> {
    match arguments {
        [one] => integers(&members(one)?),
        _ => arguments.iter().map(|one| one.as_integer()).collect(),
    }
}

fn integers(values: &[Value]) -> Option<Vec<i128>> {
    values.iter().map(Value::as_integer).collect()
}

/// `dict(a=1, b=2)`.
fn keyed(keywords: &[(Option<String>, Term)]) -> Option<Value> {
    let entries = keywords.iter().map(|(key, value)| {
        let key = Value::text(key.clone()?);
        Some((key, value.as_value()?.clone()))
    });
    entries.collect::<Option<_>>().map(Value::Dictionary)
}

/// The members in an order that does not depend on hashing; ranges are left alone, because they may be long.
pub(super) fn members(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::List(items) | Value::Tuple(items) => Some(items.clone()),
        Value::Dictionary(entries) => Some(entries.iter().map(|(key, _)| key.clone()).collect()),
        Value::Set(items) | Value::FrozenSet(items) => {
            let mut items = items.clone();
            items.sort_by_cached_key(|one| {
                let notation = one.notation();
                (notation.chars().count(), notation)
            });
            Some(items)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::phrase::testing::term;

    #[test]
    fn r7_constants_are_worked_out() {
        for (text, expected) in [
            ("len('abc') + 2", "5"),
            ("-7 // 2", "-4"),
            ("-7 % 3", "2"),
            ("2 ** 10", "1024"),
            ("[1] + [2]", "[1, 2]"),
            ("'a' + 'b'", "'ab'"),
            ("{'a': 1}['a']", "1"),
            ("NAMES[-1]", "'b'"),
            ("len(NAMES) > 1", "True"),
            ("'a' in NAMES", "True"),
            ("not []", "True"),
            ("1 if 2 > 1 else x", "1"),
            ("x and False", "False"),
            ("False or x", "x"),
            ("min(len(NAMES), 3)", "2"),
            ("max([4, 1])", "4"),
            ("sum((1, 2)) - abs(-4)", "-1"),
            ("max(1, 2.5)", "max(1, 2.5)"),
            ("min([])", "min([])"),
            ("range(2, 4)", "range(2, 4)"),
            ("None is None", "True"),
            ("1 == 1.0", "1 == 1.0"),
            (
                "Colour.RED == Colour.CRIMSON",
                "Colour.RED == Colour.CRIMSON",
            ),
            ("1 // 0", "1 // 0"),
            ("10 ** 1000", "10 ** 1000"),
            ("[1][5]", "[1][5]"),
            ("x + 0", "x + 0"),
        ] {
            assert_eq!(term(text).to_python(), expected, "{text}");
        }
    }
}
