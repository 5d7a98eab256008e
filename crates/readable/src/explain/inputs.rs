//! What an action is given (6.2): from which values, of which kind.

use testwright_source::tree::Expression;

use super::locate::{Action, Callable, Input, Origin};
use super::run::{Execution, Frame, Path, World};
use crate::kind::{Kind, Kinds};
use crate::phrase::{Speaker, join};
use crate::term::{Call, Callee, Reference, Role, Scope, Term, Type};
use crate::value::Value;

/// Collections with more members than this are shortened, to this many (3.3).
const MOST: usize = 12;
const FIRST: usize = 10;

/// What is known of an input.
pub(crate) struct Known {
    /// Behind "NAME: ".
    pub(crate) phrase: String,
    pub(crate) type_: Type,
}

/// A scope with the constants and variables of a model.
struct Globals<'a, 'w>(&'a World<'w>);

impl Scope for Globals<'_, '_> {
    fn name(&self, name: &str) -> Option<Term> {
        self.0.global(name, &Default::default())
    }

    fn attribute(&self, object: &str, name: &str) -> Option<Term> {
        let is_own = self.0.parts.is_machine && object == "self";
        is_own.then(|| self.0.global(name, &Default::default()))?
    }
}

/// What is known of an input of an action.
pub(crate) fn known<'w>(
    input: &'w Input,
    execution: &Execution<'w>,
    speaker: Speaker<'_>,
) -> Known {
    let world = execution.world;
    // What conditions of `filter` speak of.
    let variable: Term = Reference::new(input.name.clone(), Role::Variable).into();
    match &input.from {
        Origin::Any => Known {
            phrase: "any value".to_owned(),
            type_: annotated(input, world, speaker),
        },
        Origin::Domain(values) => {
            let term = Term::read(values, world.text, &Globals(world));
            of_values(&term, speaker)
        }
        Origin::Computed(function) => match computed(function, execution) {
            Some(term) => of_values(&term, speaker),
            None => Known {
                phrase: "any value".to_owned(),
                type_: Type::Unknown,
            },
        },
        Origin::Strategy(strategy) => {
            let kind = with_kinds(world, speaker, |kinds| {
                kinds.of_strategy(strategy, Some(&variable))
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
                with_kinds(world, speaker, |kinds| {
                    kinds.of_strategy(strategy, variable)
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
                phrase: format!("any of the {}{such_that}{used_up}", speaker.words(name)),
                type_: Type::Unknown,
            }
        }
    }
}

/// What a strategy gives.
pub(crate) fn drawn(strategy: &Expression, world: &World<'_>, speaker: Speaker<'_>) -> String {
    with_kinds(world, speaker, |kinds| kinds.of_strategy(strategy, None)).any(None)
}

fn annotated(input: &Input, world: &World<'_>, speaker: Speaker<'_>) -> Type {
    match &input.annotation {
        Some(annotation) => {
            with_kinds(world, speaker, |kinds| kinds.of_annotation(annotation)).type_
        }
        None => Type::Unknown,
    }
}

fn with_kinds(
    world: &World<'_>,
    speaker: Speaker<'_>,
    ask: impl FnOnce(&Kinds<'_>) -> Kind,
) -> Kind {
    let scope = Globals(world);
    let definition = |name: &str| -> Option<Expression> { world.parts.values.get(name).cloned() };
    ask(&Kinds {
        text: world.text,
        scope: &scope,
        definition: &definition,
        speaker,
    })
}

/// What a function without parameters gives.
fn computed<'w>(function: &'w Callable, execution: &Execution<'w>) -> Option<Term> {
    let frame = Frame::new(execution.world.text, function, false);
    let term = execution.condition(function, Path::default(), &frame)?;
    Some(execution.expanded(&term))
}

/// The values of a domain.
fn of_values(term: &Term, speaker: Speaker<'_>) -> Known {
    let inner = without_wrapping(term);
    let type_ = inner.type_of().element();
    let phrase = match inner {
        Term::Value(Value::Range { start, stop, step }) => {
            let values = inner.as_value().and_then(numbers).unwrap_or_default();
            match (values.len(), step) {
                (0, _) | (2.., 1) => format!("a whole number from {start} to {}", stop - 1),
                _ => one_of(&notations(&values, speaker), values.len()),
            }
        }
        Term::Value(value) => match members(value) {
            Some(members) => one_of(&notations(&members, speaker), members.len()),
            None => format!("any element of {}", speaker.noun(inner).text),
        },
        Term::List(members) | Term::Tuple(members) | Term::Set(members) => {
            let phrases: Vec<String> = members.iter().map(|one| speaker.noun(one).text).collect();
            one_of(&phrases, phrases.len())
        }
        _ => match keys_of(inner) {
            Some(dictionary) => format!("any key of {}", speaker.noun(dictionary).text),
            None => format!("any element of {}", speaker.noun(inner).text),
        },
    };
    Known { phrase, type_ }
}

/// The dictionary whose keys these are.
fn keys_of(term: &Term) -> Option<&Term> {
    if let Type::Dictionary(..) = term.type_of() {
        return Some(term);
    }
    match term {
        Term::Call(call) => match &**call {
            Call {
                callee: Callee::Method { object, name },
                arguments,
                ..
            } if name == "keys" && arguments.is_empty() => Some(object),
            _ => None,
        },
        _ => None,
    }
}

/// `list(x)`, `sorted(x)` and the like have the elements of `x`.
fn without_wrapping(term: &Term) -> &Term {
    match term {
        Term::Call(call) => match (&call.callee, call.arguments.as_slice()) {
            (Callee::Function { module: None, name }, [inner])
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

fn members(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::List(members) | Value::Tuple(members) => Some(members.clone()),
        // Sets have no order of their own (3.3).
        Value::Set(members) | Value::FrozenSet(members) => {
            let mut members = members.clone();
            members.sort_by_cached_key(|one| {
                let notation = one.notation();
                (notation.chars().count(), notation)
            });
            Some(members)
        }
        Value::Dictionary(entries) => Some(entries.iter().map(|(key, _)| key.clone()).collect()),
        Value::Text(text) => Some(
            text.chars()
                .map(|one| Value::text(one.to_string()))
                .collect(),
        ),
        _ => None,
    }
}

/// The numbers of a range, unless there are very many.
fn numbers(value: &Value) -> Option<Vec<Value>> {
    let Value::Range { start, step, .. } = value else {
        return None;
    };
    let length = value.length().filter(|length| *length <= 1_000)?;
    let number = |at: usize| start + step * at as i128;
    Some((0..length).map(|at| Value::integer(number(at))).collect())
}

fn notations(values: &[Value], speaker: Speaker<'_>) -> Vec<String> {
    values.iter().map(|one| speaker.notation(one)).collect()
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

/// The bundles from which an action takes values, each once.
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
