//! What a constant of a module comes to, and what a variable starts as, beyond what is worked out everywhere (R7).
//!
//! In a condition `sorted(NAMES)` says more than the list that it gives (C16), but whoever asks what a domain or a board is
//! wants to see it.

use super::fold::members;
use super::{Call, Callee, Clause, Form, Term};
use crate::value::Value;

/// Constants with more members than this are left as they are written.
const MOST: usize = 100;

impl Term {
    /// The same, or the value that it gives when the module is loaded.
    pub(crate) fn loaded(self) -> Term {
        let value = match &self {
            Term::Comprehension {
                form: form @ (Form::List | Form::Set),
                element,
                clauses,
            } => rounds(clauses, &[element]).map(|rounds| {
                let values = rounds.into_iter().flatten().collect();
                match form {
                    Form::Set => Term::Set(values),
                    _ => Term::List(values),
                }
            }),
            Term::DictionaryComprehension {
                key,
                value,
                clauses,
            } => rounds(clauses, &[key, value]).map(|rounds| {
                let entries = rounds.into_iter().filter_map(entry);
                Term::Dictionary(entries.collect())
            }),
            Term::Call(call) => called(call).map(Term::Value),
            _ => None,
        };
        match value.map(Term::folded) {
            Some(known @ Term::Value(_)) => known,
            _ => self,
        }
    }
}

fn entry(pair: Vec<Term>) -> Option<(Option<Term>, Term)> {
    let [key, value] = <[Term; 2]>::try_from(pair).ok()?;
    Some((Some(key), value))
}

/// What terms come to in each round of a comprehension over a constant; nothing if they are not constant.
fn rounds(clauses: &[Clause], terms: &[&Term]) -> Option<Vec<Vec<Term>>> {
    let [clause] = clauses else { return None };
    let [target] = clause.targets.as_slice() else {
        return None;
    };
    let mut rounds = Vec::new();
    for member in all_members(clause.iterable.as_value()?)? {
        let with = |term: &Term| {
            let term = term.replaced(&mut |part| match part {
                Term::Reference(one) if one.name == *target => Some(member.clone().into()),
                _ => None,
            });
            let term = term.loaded();
            term.as_value().is_some().then_some(term)
        };
        let conditions: Option<Vec<Term>> = clause.conditions.iter().map(with).collect();
        if conditions?.iter().all(|one| one.truth() == Some(true)) {
            rounds.push(terms.iter().map(|term| with(term)).collect::<Option<_>>()?);
        }
    }
    Some(rounds)
}

fn all_members(value: &Value) -> Option<Vec<Value>> {
    if value.length()? > MOST {
        return None;
    }
    match value {
        Value::Range { start, step, .. } => {
            let length = i128::try_from(value.length()?).ok()?;
            Some(
                (0..length)
                    .map(|at| Value::integer(start + step * at))
                    .collect(),
            )
        }
        other => members(other),
    }
}

/// `sorted(X)`, `dict.fromkeys(X, v)`, `dict(zip(X, Y))`.
fn called(call: &Call) -> Option<Value> {
    if !call.keywords.is_empty() {
        return None;
    }
    let is_dict = |object: &Term| matches!(object, Term::Reference(one) if one.name == "dict");
    match (&call.callee, call.arguments.as_slice()) {
        (Callee::Function { module: None, name }, [all]) if name == "sorted" => {
            in_order(all_members(all.as_value()?)?)
        }
        (Callee::Function { module: None, name }, [Term::Call(pairs)]) if name == "dict" => {
            zipped(pairs)
        }
        (Callee::Method { object, name }, [keys, rest @ ..])
            if name == "fromkeys" && is_dict(object) && rest.len() < 2 =>
        {
            let value = match rest {
                [value] => value.as_value()?.clone(),
                _ => Value::Nothing,
            };
            let keys = all_members(keys.as_value()?)?;
            let entries = keys.into_iter().map(|key| (key, value.clone()));
            Some(Value::Dictionary(entries.collect()))
        }
        _ => None,
    }
}

fn zipped(pairs: &Call) -> Option<Value> {
    match (&pairs.callee, pairs.arguments.as_slice()) {
        (Callee::Function { module: None, name }, [keys, values]) if name == "zip" => {
            let keys = all_members(keys.as_value()?)?;
            let values = all_members(values.as_value()?)?;
            Some(Value::Dictionary(keys.into_iter().zip(values).collect()))
        }
        _ => None,
    }
}

/// Whole numbers or texts, sorted; of anything else Python knows the order, or none.
fn in_order(mut members: Vec<Value>) -> Option<Value> {
    let text = |value: &Value| match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    if members.iter().all(|one| one.as_integer().is_some()) {
        members.sort_by_key(Value::as_integer);
    } else if members.iter().all(|one| text(one).is_some()) {
        members.sort_by_key(text);
    } else {
        return None;
    }
    Some(Value::List(members))
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
            assert_eq!(term(text).loaded().to_python(), expected, "{text}");
        }
    }
}
