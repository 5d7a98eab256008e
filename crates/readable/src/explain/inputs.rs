//! Describes the inputs of an action: the values they come from, and their types.

use testwright_source::tree::Expression;

use super::locate::{Action, Callable, Input, Origin};
use super::run::{Execution, Frame, Path, World};
use crate::kind::{KindPhrase, KindReader};
use crate::phrase::{Phraser, join};
use crate::term::{CallTarget, CallTerm, NameReference, NameRole, NameScope, Term, Type};
use crate::value::PythonValue;

/// Maximum number of members of a collection that are listed. Larger collections are shortened to
/// this many.
const MOST: usize = 12;
const FIRST: usize = 10;

/// Facts about an input.
pub(crate) struct Known {
    /// Phrase behind "NAME: ".
    pub(crate) phrase: String,
    pub(crate) type_: Type,
}

/// Scope with the constants and variables of a model.
struct Globals<'a, 'w>(&'a World<'w>);

impl NameScope for Globals<'_, '_> {
    fn resolve_name(&self, name: &str) -> Option<Term> {
        self.0.global(name, &Default::default())
    }

    fn resolve_attribute(&self, object: &str, name: &str) -> Option<Term> {
        let is_own = self.0.parts.is_machine && object == "self";
        is_own.then(|| self.0.global(name, &Default::default()))?
    }
}

/// Returns the facts about an input of an action.
pub(crate) fn known<'w>(
    input: &'w Input,
    execution: &Execution<'w>,
    phraser: Phraser<'_>,
) -> Known {
    let world = execution.world;
    // Conditions of `filter` refer to this variable.
    let variable: Term = NameReference::new(input.name.clone(), NameRole::Variable).into();
    match &input.from {
        Origin::Any => Known {
            phrase: "any value".to_owned(),
            type_: annotated(input, world, phraser),
        },
        Origin::Domain(values) => {
            let term = Term::from_expression(values, world.text, &Globals(world));
            of_values(&term, phraser)
        }
        Origin::Computed(function) => match computed(function, execution) {
            Some(term) => of_values(&term, phraser),
            None => Known {
                phrase: "any value".to_owned(),
                type_: Type::Unknown,
            },
        },
        Origin::Strategy(strategy) => {
            let kind = with_kinds(world, phraser, |kinds| {
                kinds.read_strategy(strategy, Some(&variable))
            });
            Known {
                phrase: kind.any(None),
                type_: kind.type_,
            }
        }
        Origin::Bundle {
            name,
            is_consumed,
            filtered,
        } => {
            let such_that = filtered.as_ref().map(|strategy| {
                let variable = Some(&variable);
                with_kinds(world, phraser, |kinds| {
                    kinds.read_strategy(strategy, variable)
                })
                .restriction
            });
            let such_that = such_that.unwrap_or_default();
            let used_up = if *is_consumed {
                ", which is then used up"
            } else {
                ""
            };
            Known {
                phrase: format!("any of the {}{such_that}{used_up}", phraser.words(name)),
                type_: Type::Unknown,
            }
        }
    }
}

/// Returns the facts about the values of a strategy.
pub(crate) fn drawn(strategy: &Expression, world: &World<'_>, phraser: Phraser<'_>) -> String {
    with_kinds(world, phraser, |kinds| kinds.read_strategy(strategy, None)).any(None)
}

fn annotated(input: &Input, world: &World<'_>, phraser: Phraser<'_>) -> Type {
    match &input.annotation {
        Some(annotation) => {
            with_kinds(world, phraser, |kinds| kinds.read_annotation(annotation)).type_
        }
        None => Type::Unknown,
    }
}

fn with_kinds(
    world: &World<'_>,
    phraser: Phraser<'_>,
    ask: impl FnOnce(&KindReader<'_>) -> KindPhrase,
) -> KindPhrase {
    let scope = Globals(world);
    let definition = |name: &str| -> Option<Expression> { world.parts.values.get(name).cloned() };
    ask(&KindReader {
        text: world.text,
        scope: &scope,
        definition: &definition,
        phraser,
    })
}

/// Returns the result of a function without parameters.
fn computed<'w>(function: &'w Callable, execution: &Execution<'w>) -> Option<Term> {
    let frame = Frame::new(execution.world.text, function, false);
    let term = execution.condition(function, Path::default(), &frame)?;
    Some(execution.expanded(&term))
}

/// Returns the facts about the values of a domain.
fn of_values(term: &Term, phraser: Phraser<'_>) -> Known {
    let inner = without_wrapping(term);
    let type_ = inner.type_of().element();
    let phrase = match inner {
        Term::Value(PythonValue::Range { start, stop, step }) => {
            let values = inner.as_value().and_then(numbers).unwrap_or_default();
            match (values.len(), step) {
                (0, _) | (2.., 1) => format!("a whole number from {start} to {}", stop - 1),
                _ => one_of(&notations(&values, phraser), values.len()),
            }
        }
        Term::Value(value) => match members(value) {
            Some(members) => one_of(&notations(&members, phraser), members.len()),
            None => format!("any element of {}", phraser.noun(inner).text),
        },
        Term::List(members) | Term::Tuple(members) | Term::Set(members) => {
            let phrases: Vec<String> = members.iter().map(|one| phraser.noun(one).text).collect();
            one_of(&phrases, phrases.len())
        }
        _ => match keys_of(inner) {
            Some(dictionary) => format!("any key of {}", phraser.noun(dictionary).text),
            None => format!("any element of {}", phraser.noun(inner).text),
        },
    };
    Known { phrase, type_ }
}

/// Returns the dictionary whose keys a term is.
fn keys_of(term: &Term) -> Option<&Term> {
    if let Type::Dictionary(..) = term.type_of() {
        return Some(term);
    }
    match term {
        Term::Call(call) => match &**call {
            CallTerm {
                callee: CallTarget::Method { object, name },
                arguments,
                ..
            } if name == "keys" && arguments.is_empty() => Some(object),
            _ => None,
        },
        _ => None,
    }
}

/// Returns `x` for `list(x)`, `sorted(x)` and other calls that keep the elements.
fn without_wrapping(term: &Term) -> &Term {
    match term {
        Term::Call(call) => match (&call.callee, call.arguments.as_slice()) {
            (CallTarget::Function { module: None, name }, [inner])
                if matches!(
                    name.as_str(),
                    "list" | "tuple" | "set" | "sorted" | "frozenset"
                ) =>
            {
                without_wrapping(inner)
            }
            _ => term,
        },
        _ => term,
    }
}

fn members(value: &PythonValue) -> Option<Vec<PythonValue>> {
    match value {
        PythonValue::List(members) | PythonValue::Tuple(members) => Some(members.clone()),
        // Sets have no order of their own, so their members are sorted.
        PythonValue::Set(members) | PythonValue::FrozenSet(members) => {
            let mut members = members.clone();
            members.sort_by_cached_key(|one| {
                let notation = one.notation();
                (notation.chars().count(), notation)
            });
            Some(members)
        }
        PythonValue::Dictionary(entries) => {
            Some(entries.iter().map(|(key, _)| key.clone()).collect())
        }
        PythonValue::Text(text) => Some(
            text.chars()
                .map(|one| PythonValue::text(one.to_string()))
                .collect(),
        ),
        _ => None,
    }
}

/// Returns the numbers of a range, unless there are very many.
fn numbers(value: &PythonValue) -> Option<Vec<PythonValue>> {
    let PythonValue::Range { start, step, .. } = value else {
        return None;
    };
    let length = value.length().filter(|length| *length <= 1_000)?;
    let number = |at: usize| start + step * at as i128;
    Some(
        (0..length)
            .map(|at| PythonValue::integer(number(at)))
            .collect(),
    )
}

fn notations(values: &[PythonValue], phraser: Phraser<'_>) -> Vec<String> {
    values.iter().map(|one| phraser.notation(one)).collect()
}

fn one_of(phrases: &[String], total: usize) -> String {
    match phrases {
        [] => "no value at all".to_owned(),
        [only] => format!("always {only}"),
        [one, other] => format!("either {one} or {other}"),
        _ if total > MOST => {
            let shown: Vec<&str> = phrases.iter().take(FIRST).map(String::as_str).collect();
            format!("one of {}, ... ({total} in total)", shown.join(", "))
        }
        _ => format!("one of {}", join::nouns(phrases, "or")),
    }
}

/// Returns the distinct bundles from which an action takes values.
pub(crate) fn bundles(action: &Action) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for input in &action.inputs {
        if let Origin::Bundle { name, .. } = &input.from
            && !names.contains(&name.as_str())
        {
            names.push(name);
        }
    }
    names
}
