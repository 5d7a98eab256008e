//! Constant folding, so that readers see 2 instead of `len(NAMES) - 1` (R7, Y1: constants are
//! replaced by their values).

use super::{CallTarget, Comparison, Operator, Term, UnaryOperator};
use crate::value::PythonValue;

impl Term {
    /// Folds the outermost operation if its operands are constant. The operands must be folded
    /// already.
    #[must_use]
    pub fn fold_constants(self) -> Self {
        match self {
            Self::List(items) => fold_collection(items, PythonValue::List, Self::List),
            Self::Tuple(items) => fold_collection(items, PythonValue::Tuple, Self::Tuple),
            Self::Set(items) => fold_collection(
                items,
                |items| PythonValue::Set(dedup_values(items)),
                Self::Set,
            ),
            Self::Dictionary(entries) => fold_dictionary(entries),
            Self::Unary { operator, operand } => match fold_unary(operator, &operand) {
                Some(value) => Self::Value(value),
                None => Self::Unary { operator, operand },
            },
            Self::Binary {
                left,
                operator,
                right,
            } => match fold_binary(&left, operator, &right) {
                Some(value) => Self::Value(value),
                None => Self::Binary {
                    left,
                    operator,
                    right,
                },
            },
            Self::Not(operand) => match operand.truth() {
                Some(truth) => Self::Value(PythonValue::Boolean(!truth)),
                None => Self::Not(operand),
            },
            Self::And(operands) => fold_connective(operands, true, Self::And),
            Self::Or(operands) => fold_connective(operands, false, Self::Or),
            Self::Compare { first, rest } => match fold_comparisons(&first, &rest) {
                Some(truth) => Self::Value(PythonValue::Boolean(truth)),
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
            Self::Item { object, index } => match fold_item(&object, &index) {
                Some(value) => Self::Value(value),
                None => Self::Item { object, index },
            },
            Self::Call(call) => match fold_call(&call) {
                Some(value) => Self::Value(value),
                None => Self::Call(call),
            },
            Self::Formatted(pieces) => match pieces.as_slice() {
                [] => Self::Value(PythonValue::Text(String::new())),
                [Self::Value(PythonValue::Text(text))] => {
                    Self::Value(PythonValue::Text(text.clone()))
                }
                _ => Self::Formatted(pieces),
            },
            other => other,
        }
    }

    /// Returns its truth value in a condition, if that is constant.
    #[must_use]
    pub fn truth(&self) -> Option<bool> {
        self.as_value().and_then(PythonValue::truth)
    }
}

/// Turns a display of constants into a value.
fn fold_collection(
    items: Vec<Term>,
    value: impl Fn(Vec<PythonValue>) -> PythonValue,
    term: impl Fn(Vec<Term>) -> Term,
) -> Term {
    let values: Option<Vec<PythonValue>> =
        items.iter().map(|item| item.as_value().cloned()).collect();
    match values {
        Some(values) => Term::Value(value(values)),
        None => term(items),
    }
}

/// Removes repeated values, keeping the first.
fn dedup_values(items: Vec<PythonValue>) -> Vec<PythonValue> {
    let mut distinct: Vec<PythonValue> = Vec::with_capacity(items.len());
    for item in items {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
    }
    distinct
}

/// Turns a dictionary display of constants into a value; later entries replace earlier ones.
fn fold_dictionary(entries: Vec<(Option<Term>, Term)>) -> Term {
    let mut values: Vec<(PythonValue, PythonValue)> = Vec::new();
    for (key, value) in &entries {
        let (Some(Term::Value(key)), Term::Value(value)) = (key, value) else {
            return Term::Dictionary(entries);
        };
        match values.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => *known = value.clone(),
            None => values.push((key.clone(), value.clone())),
        }
    }
    Term::Value(PythonValue::Dictionary(values))
}

/// Folds a sign before a number.
fn fold_unary(operator: UnaryOperator, operand: &Term) -> Option<PythonValue> {
    match (operator, operand.as_value()?) {
        (UnaryOperator::Minus, PythonValue::Integer(digits)) => {
            Some(PythonValue::Integer(match digits.strip_prefix('-') {
                Some(positive) => positive.to_owned(),
                None if digits == "0" => digits.clone(),
                None => format!("-{digits}"),
            }))
        }
        (UnaryOperator::Minus, PythonValue::Float(number)) => {
            Some(PythonValue::Float(crate::value::PythonFloat(-number.0)))
        }
        (UnaryOperator::Plus, value) if value.is_number() => Some(value.clone()),
        _ => None,
    }
}

/// Folds arithmetic on integers that fit, and joins texts, lists and tuples. Anything less certain
/// stays as it is.
fn fold_binary(left: &Term, operator: Operator, right: &Term) -> Option<PythonValue> {
    let (left, right) = (left.as_value()?, right.as_value()?);
    if let (Some(left), Some(right)) = (left.as_integer(), right.as_integer()) {
        let number = match operator {
            Operator::Add => left.checked_add(right)?,
            Operator::Subtract => left.checked_sub(right)?,
            Operator::Multiply => left.checked_mul(right)?,
            Operator::Remainder => python_remainder(left, right)?,
            Operator::FloorDivide => left
                .checked_sub(python_remainder(left, right)?)?
                .checked_div(right)?,
            Operator::Power => left.checked_pow(u32::try_from(right).ok()?)?,
            _ => return None,
        };
        return Some(PythonValue::integer(number));
    }
    match (left, operator, right) {
        (PythonValue::Text(left), Operator::Add, PythonValue::Text(right)) => {
            Some(PythonValue::Text(format!("{left}{right}")))
        }
        (PythonValue::List(left), Operator::Add, PythonValue::List(right)) => Some(
            PythonValue::List(left.iter().chain(right).cloned().collect()),
        ),
        (PythonValue::Tuple(left), Operator::Add, PythonValue::Tuple(right)) => Some(
            PythonValue::Tuple(left.iter().chain(right).cloned().collect()),
        ),
        (sequence, Operator::Multiply, times) | (times, Operator::Multiply, sequence)
            if sequence.as_integer().is_none() =>
        {
            repeat_sequence(sequence, times.as_integer()?)
        }
        _ => None,
    }
}

/// Repeats a sequence (`[0] * 3`), up to a length that a reader can take in.
fn repeat_sequence(sequence: &PythonValue, times: i128) -> Option<PythonValue> {
    const LONGEST: usize = 1_000;
    let times = usize::try_from(times.max(0)).ok()?;
    let fits = |length: usize| length.checked_mul(times).filter(|all| *all <= LONGEST);
    let items = |items: &[PythonValue]| {
        let length = fits(items.len())?;
        Some(items.iter().cycle().take(length).cloned().collect())
    };
    match sequence {
        PythonValue::Text(text) => fits(text.len()).map(|_| PythonValue::Text(text.repeat(times))),
        PythonValue::List(all) => items(all).map(PythonValue::List),
        PythonValue::Tuple(all) => items(all).map(PythonValue::Tuple),
        _ => None,
    }
}

/// Computes Python's remainder, which has the sign of the divisor.
fn python_remainder(left: i128, right: i128) -> Option<i128> {
    let remainder = left.checked_rem(right)?;
    if remainder != 0 && (remainder < 0) != (right < 0) {
        remainder.checked_add(right)
    } else {
        Some(remainder)
    }
}

/// Drops operands of `and` or `or` that decide nothing. An operand that decides everything replaces
/// the whole.
fn fold_connective(operands: Vec<Term>, neutral: bool, term: impl Fn(Vec<Term>) -> Term) -> Term {
    let mut kept = Vec::with_capacity(operands.len());
    for operand in operands {
        match operand {
            Term::Value(PythonValue::Boolean(value)) if value == neutral => {}
            Term::Value(PythonValue::Boolean(_)) => return operand,
            _ => kept.push(operand),
        }
    }
    match kept.len() {
        0 => Term::Value(PythonValue::Boolean(neutral)),
        1 => kept.swap_remove(0),
        _ => term(kept),
    }
}

/// Folds a chain of comparisons of constants.
fn fold_comparisons(first: &Term, rest: &[(Comparison, Term)]) -> Option<bool> {
    let mut left = first;
    let mut truth = true;
    for (comparison, right) in rest {
        truth = truth && fold_pair(left, *comparison, right)?;
        left = right;
    }
    Some(truth)
}

/// Folds one comparison.
fn fold_pair(left: &Term, comparison: Comparison, right: &Term) -> Option<bool> {
    let right = right.as_value()?;
    let is_empty = right.length() == Some(0) && !matches!(right, PythonValue::Text(_));
    match comparison {
        // Nothing is in an empty collection.
        Comparison::In if is_empty => Some(false),
        Comparison::NotIn if is_empty => Some(true),
        _ => compare_values(left.as_value()?, comparison, right),
    }
}

/// Compares two values. Returns nothing if the result is not certain.
fn compare_values(left: &PythonValue, comparison: Comparison, right: &PythonValue) -> Option<bool> {
    use std::cmp::Ordering::{Greater, Less};
    let order = match (left, right) {
        (PythonValue::Text(left), PythonValue::Text(right)) => Some(left.cmp(right)),
        _ => left
            .as_integer()
            .zip(right.as_integer())
            .map(|(left, right)| left.cmp(&right)),
    };
    match comparison {
        Comparison::Equal | Comparison::NotEqual => {
            // 1 == 1.0 and True == 1, so equality is only decided within one type. Two members of
            // an enumeration may be aliases.
            let is_decided = match left {
                PythonValue::Member { .. }
                | PythonValue::Record { .. }
                | PythonValue::Object(_) => false,
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
            let is_none = matches!(
                (left, right),
                (PythonValue::Nothing, _) | (_, PythonValue::Nothing)
            );
            is_none.then(|| (left == right) == (comparison == Comparison::Is))
        }
        Comparison::In | Comparison::NotIn => {
            let members: Vec<&PythonValue> = match right {
                PythonValue::List(items)
                | PythonValue::Tuple(items)
                | PythonValue::Set(items)
                | PythonValue::FrozenSet(items) => items.iter().collect(),
                PythonValue::Dictionary(entries) => entries.iter().map(|(key, _)| key).collect(),
                _ => return None,
            };
            let mut found = false;
            for member in members {
                found = found || compare_values(left, Comparison::Equal, member)?;
            }
            Some(found == (comparison == Comparison::In))
        }
    }
}

/// Folds a subscript of a constant.
fn fold_item(object: &Term, index: &Term) -> Option<PythonValue> {
    let (object, index) = (object.as_value()?, index.as_value()?);
    match object {
        PythonValue::List(items) | PythonValue::Tuple(items) => {
            let length = i128::try_from(items.len()).ok()?;
            let index = index.as_integer()?;
            let index = if index < 0 { index + length } else { index };
            items.get(usize::try_from(index).ok()?).cloned()
        }
        PythonValue::Dictionary(entries) => entries
            .iter()
            .find(|(key, _)| key == index)
            .map(|(_, value)| value.clone()),
        _ => None,
    }
}

/// Reads an empty collection of the `collections` module as a list or a dictionary. A `Counter` of
/// unknown origin is left alone, because it often belongs to the system under test.
fn empty_collection(call: &super::CallTerm) -> Option<PythonValue> {
    let (is_known, name) = match &call.callee {
        CallTarget::Function { module: None, name } => (name != "Counter", name),
        CallTarget::Function {
            module: Some(module),
            name,
        } => (module == "collections", name),
        CallTarget::Method {
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
            Some(PythonValue::List(Vec::new()))
        }
        "OrderedDict" | "Counter" if is_known && has_none && is_plain => {
            Some(PythonValue::Dictionary(Vec::new()))
        }
        "defaultdict" if is_known && call.arguments.len() < 2 && is_plain => {
            Some(PythonValue::Dictionary(Vec::new()))
        }
        _ => None,
    }
}

/// Folds `len` and other functions of constants (R7), and constructors of constants.
fn fold_call(call: &super::CallTerm) -> Option<PythonValue> {
    if let Some(empty) = empty_collection(call) {
        return Some(empty);
    }
    let CallTarget::Function { module: None, name } = &call.callee else {
        return None;
    };
    if !call.keywords.is_empty() {
        return match (name.as_str(), call.arguments.is_empty()) {
            ("dict", true) => dictionary_from_keywords(&call.keywords),
            _ => None,
        };
    }
    let arguments: Option<Vec<&PythonValue>> = call.arguments.iter().map(Term::as_value).collect();
    match (name.as_str(), arguments?.as_slice()) {
        ("len", [value]) => Some(PythonValue::integer(i128::try_from(value.length()?).ok()?)),
        ("abs", [value]) => Some(PythonValue::integer(value.as_integer()?.checked_abs()?)),
        ("sum", [value]) => {
            let mut all = integers(&collection_members(value)?)?.into_iter();
            all.try_fold(0, i128::checked_add).map(PythonValue::integer)
        }
        ("min", all) => min_max_operands(all)?
            .into_iter()
            .min()
            .map(PythonValue::integer),
        ("max", all) => min_max_operands(all)?
            .into_iter()
            .max()
            .map(PythonValue::integer),
        ("list", []) => Some(PythonValue::List(Vec::new())),
        ("tuple", []) => Some(PythonValue::Tuple(Vec::new())),
        ("set", []) => Some(PythonValue::Set(Vec::new())),
        ("frozenset", []) => Some(PythonValue::FrozenSet(Vec::new())),
        ("dict", []) => Some(PythonValue::Dictionary(Vec::new())),
        ("str", []) => Some(PythonValue::Text(String::new())),
        ("set", [value]) => Some(PythonValue::Set(dedup_values(collection_members(value)?))),
        ("frozenset", [value]) => Some(PythonValue::FrozenSet(dedup_values(collection_members(
            value,
        )?))),
        ("list", [value]) => Some(PythonValue::List(collection_members(value)?)),
        ("tuple", [value]) => Some(PythonValue::Tuple(collection_members(value)?)),
        ("range", bounds) => {
            let bounds: Option<Vec<i128>> = bounds.iter().map(|bound| bound.as_integer()).collect();
            let (start, stop, step) = match bounds?.as_slice() {
                [stop] => (0, *stop, 1),
                [start, stop] => (*start, *stop, 1),
                [start, stop, step] if *step != 0 => (*start, *stop, *step),
                _ => return None,
            };
            Some(PythonValue::Range { start, stop, step })
        }
        ("float", [PythonValue::Text(text)]) => {
            match text.trim().to_lowercase().trim_start_matches('+') {
                "inf" | "infinity" => {
                    Some(PythonValue::Float(crate::value::PythonFloat(f64::INFINITY)))
                }
                "-inf" | "-infinity" => Some(PythonValue::Float(crate::value::PythonFloat(
                    f64::NEG_INFINITY,
                ))),
                "nan" => Some(PythonValue::Float(crate::value::PythonFloat(f64::NAN))),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the numbers that `min` or `max` compares: its arguments, or the members of a single one.
fn min_max_operands(arguments: &[&PythonValue]) -> Option<Vec<i128>> {
    match arguments {
        [one] => integers(&collection_members(one)?),
        _ => arguments.iter().map(|one| one.as_integer()).collect(),
    }
}

/// Returns all values as integers, or nothing if one is not.
fn integers(values: &[PythonValue]) -> Option<Vec<i128>> {
    values.iter().map(PythonValue::as_integer).collect()
}

/// Folds `dict(a=1, b=2)`.
fn dictionary_from_keywords(keywords: &[(Option<String>, Term)]) -> Option<PythonValue> {
    let entries = keywords.iter().map(|(key, value)| {
        let key = PythonValue::text(key.clone()?);
        Some((key, value.as_value()?.clone()))
    });
    entries.collect::<Option<_>>().map(PythonValue::Dictionary)
}

/// Returns the members in an order that does not depend on hashing (trap 14). Ranges are left
/// alone, since they may be long.
pub(super) fn collection_members(value: &PythonValue) -> Option<Vec<PythonValue>> {
    match value {
        PythonValue::List(items) | PythonValue::Tuple(items) => Some(items.clone()),
        PythonValue::Dictionary(entries) => {
            Some(entries.iter().map(|(key, _)| key.clone()).collect())
        }
        PythonValue::Set(items) | PythonValue::FrozenSet(items) => {
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
