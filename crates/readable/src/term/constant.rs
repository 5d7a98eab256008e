//! Values that a module computes while it loads: constants and start values (R7: constants are
//! written as values).
//!
//! In a condition `sorted(NAMES)` says more than the resulting list (C16: same elements in any
//! order). For a domain or a start value the resulting list is what a reader wants to see, so this
//! evaluation is separate from folding.

use super::fold::collection_members;
use super::{CallTarget, CallTerm, ComprehensionKind, ForClause, Term};
use crate::value::PythonValue;

/// The largest collection that is evaluated; larger ones stay as they are written.
const MAX_MEMBERS: usize = 100;

impl Term {
    /// Evaluates comprehensions over constants and a few built-in calls. Returns the term itself if
    /// it is not constant.
    pub(crate) fn evaluate_constant(self) -> Term {
        let value = match &self {
            Term::Comprehension {
                form: form @ (ComprehensionKind::List | ComprehensionKind::Set),
                element,
                clauses,
            } => evaluate_comprehension(clauses, &[element]).map(|rounds| {
                let values = rounds.into_iter().flatten().collect();
                match form {
                    ComprehensionKind::Set => Term::Set(values),
                    _ => Term::List(values),
                }
            }),
            Term::DictionaryComprehension {
                key,
                value,
                clauses,
            } => evaluate_comprehension(clauses, &[key, value]).map(|rounds| {
                let entries = rounds.into_iter().filter_map(key_value);
                Term::Dictionary(entries.collect())
            }),
            Term::Call(call) => evaluate_call(call).map(Term::Value),
            _ => None,
        };
        match value.map(Term::fold_constants) {
            Some(known @ Term::Value(_)) => known,
            _ => self,
        }
    }
}

/// Turns the two values of one round into an entry of a dictionary.
fn key_value(pair: Vec<Term>) -> Option<(Option<Term>, Term)> {
    let [key, value] = <[Term; 2]>::try_from(pair).ok()?;
    Some((Some(key), value))
}

/// Evaluates terms for each element of a comprehension over a constant. Returns nothing if they are
/// not constant.
fn evaluate_comprehension(clauses: &[ForClause], terms: &[&Term]) -> Option<Vec<Vec<Term>>> {
    let [clause] = clauses else { return None };
    let [target] = clause.targets.as_slice() else {
        return None;
    };
    let mut rounds = Vec::new();
    for member in expand_members(clause.iterable.as_value()?)? {
        let with = |term: &Term| {
            let term = term.map_parts(&mut |part| match part {
                Term::Reference(one) if one.name == *target => Some(member.clone().into()),
                _ => None,
            });
            let term = term.evaluate_constant();
            term.as_value().is_some().then_some(term)
        };
        let conditions: Option<Vec<Term>> = clause.conditions.iter().map(with).collect();
        if conditions?.iter().all(|one| one.truth() == Some(true)) {
            rounds.push(terms.iter().map(|term| with(term)).collect::<Option<_>>()?);
        }
    }
    Some(rounds)
}

/// Lists the members of a collection or range, unless there are too many.
fn expand_members(value: &PythonValue) -> Option<Vec<PythonValue>> {
    if value.length()? > MAX_MEMBERS {
        return None;
    }
    match value {
        PythonValue::Range { start, step, .. } => {
            let length = i128::try_from(value.length()?).ok()?;
            Some(
                (0..length)
                    .map(|at| PythonValue::integer(start + step * at))
                    .collect(),
            )
        }
        other => collection_members(other),
    }
}

/// Evaluates `sorted(X)`, `dict.fromkeys(X, v)` and `dict(zip(X, Y))`.
fn evaluate_call(call: &CallTerm) -> Option<PythonValue> {
    if !call.keywords.is_empty() {
        return None;
    }
    let is_dict = |object: &Term| matches!(object, Term::Reference(one) if one.name == "dict");
    match (&call.callee, call.arguments.as_slice()) {
        (CallTarget::Function { module: None, name }, [all]) if name == "sorted" => {
            sort_values(expand_members(all.as_value()?)?)
        }
        (CallTarget::Function { module: None, name }, [Term::Call(pairs)]) if name == "dict" => {
            zip_to_dictionary(pairs)
        }
        (CallTarget::Method { object, name }, [keys, rest @ ..])
            if name == "fromkeys" && is_dict(object) && rest.len() < 2 =>
        {
            let value = match rest {
                [value] => value.as_value()?.clone(),
                _ => PythonValue::Nothing,
            };
            let keys = expand_members(keys.as_value()?)?;
            let entries = keys.into_iter().map(|key| (key, value.clone()));
            Some(PythonValue::Dictionary(entries.collect()))
        }
        _ => None,
    }
}

/// Evaluates the `zip(X, Y)` inside `dict(…)`.
fn zip_to_dictionary(pairs: &CallTerm) -> Option<PythonValue> {
    match (&pairs.callee, pairs.arguments.as_slice()) {
        (CallTarget::Function { module: None, name }, [keys, values]) if name == "zip" => {
            let keys = expand_members(keys.as_value()?)?;
            let values = expand_members(values.as_value()?)?;
            Some(PythonValue::Dictionary(
                keys.into_iter().zip(values).collect(),
            ))
        }
        _ => None,
    }
}

/// Sorts whole numbers or texts. Returns nothing for other values, whose order only Python knows.
fn sort_values(mut members: Vec<PythonValue>) -> Option<PythonValue> {
    let text = |value: &PythonValue| match value {
        PythonValue::Text(text) => Some(text.clone()),
        _ => None,
    };
    if members.iter().all(|one| one.as_integer().is_some()) {
        members.sort_by_key(PythonValue::as_integer);
    } else if members.iter().all(|one| text(one).is_some()) {
        members.sort_by_key(text);
    } else {
        return None;
    }
    Some(PythonValue::List(members))
}

#[cfg(test)]
mod tests {
    use crate::phrase::testing::term;

    #[test]
    fn r7_what_there_is_when_a_module_is_loaded() {
        for (text, expected) in [
            ("[0 for _ in range(3)]", "[0, 0, 0]"),
            ("[[0] * 2 for _ in range(2)]", "[[0, 0], [0, 0]]"),
            ("{n: [] for n in ['a', 'b']}", "{'a': [], 'b': []}"),
            ("[n * 2 for n in (1, 2, 3) if n > 1]", "[4, 6]"),
            ("{n + 1 for n in {1, 2}}", "{2, 3}"),
            (
                "[[a for _ in range(2)] for a in range(2)]",
                "[[0, 0], [1, 1]]",
            ),
            ("sorted({3, 10, 2})", "[2, 3, 10]"),
            ("dict.fromkeys(['a', 'b'], 0)", "{'a': 0, 'b': 0}"),
            ("dict(zip(['a', 'b'], [1, 2]))", "{'a': 1, 'b': 2}"),
            ("[x for n in (1, 2)]", "[x for n in (1, 2)]"),
        ] {
            assert_eq!(
                term(text).evaluate_constant().to_python(),
                expected,
                "{text}"
            );
        }
    }
}
