//! Phrases calls and deletions as clauses.

use super::{
    added_at_the_end, assigned, becomes_empty, element_at, elements_added, is_entry, is_or_are,
    merged, put_in_order, sorted_order, without_slice,
};
use crate::explain::flow::changed_by_call;
use crate::phrase::{Noun, Phraser, join};
use crate::term::{CallTarget, CallTerm, NameReference, Term, Type};
use crate::value::PythonValue;

/// Phrases a call for its effect: a method that changes a collection (E1 to E9, E12, E13, E21), an
/// unknown call that is carried out (E27), or a built-in that is computed (E28).
pub(super) fn called(phraser: &Phraser<'_>, term: &Term, giving: &[NameReference]) -> String {
    let Term::Call(call) = term else {
        return format!("{} is computed", phraser.noun(term).text);
    };
    if !term.is_unknown_call()
        && let CallTarget::Method { object, name } = &call.callee
        && let Some(told) = method(phraser, object, name, call)
    {
        return told;
    }
    if !term.is_unknown_call() && changed_by_call(term).is_none() {
        let noun = phraser.noun(term);
        // An unused copy is not a result, but copying may fail or be compared with a reference.
        let done = match call.copied_argument() {
            Some(Term::Reference(_)) => "looked at",
            _ => "computed",
        };
        return format!("{} {} {done}", noun.text, is_or_are(&noun));
    }
    let name = phraser.callee_words(call);
    let object = match &call.callee {
        CallTarget::Method { object, .. } => format!(" on {}", phraser.target(object).text),
        _ => String::new(),
    };
    let with = match phraser.arguments(call) {
        Some(arguments) => format!(" with {arguments}"),
        None => String::new(),
    };
    let given: Vec<String> = giving
        .iter()
        .map(|one| phraser.reference(one).text)
        .collect();
    let given = if given.is_empty() {
        String::new()
    } else {
        format!(", giving {}", join::nouns(&given, "and"))
    };
    format!("{name} is carried out{object}{with}{given}")
}

/// Phrases the methods of Python's own collections that change them.
fn method(phraser: &Phraser<'_>, object: &Term, name: &str, call: &CallTerm) -> Option<String> {
    let text = || phraser.target(object).text;
    let noun = |term: &Term| phraser.noun(term);
    let is_number =
        |term: &Term, number| term.as_value().and_then(PythonValue::as_integer) == Some(number);
    // Only the keyword arguments of sorting have phrases.
    (call.keywords.is_empty() || name == "sort").then_some(())?;
    Some(match (name, object.type_of(), call.arguments.as_slice()) {
        ("append", _, [one]) => added_at_the_end(phraser, one, &text()),
        ("insert", _, [at, one]) if is_number(at, 0) => {
            let one = noun(one);
            format!(
                "{} {} added at the start of {}",
                one.text,
                is_or_are(&one),
                text()
            )
        }
        ("insert", _, [at, one]) => {
            let (one, at) = (noun(one), noun(at).text);
            let is = is_or_are(&one);
            format!(
                "{} {is} inserted into {} at position {at}",
                one.text,
                text()
            )
        }
        ("extend", _, [more]) => elements_added(phraser, more, &text()),
        ("remove", Type::Set(_), [one]) => removed_from(&noun(one), &text()),
        ("remove", _, [one]) => {
            format!(
                "the first occurrence of {} is removed from {}",
                noun(one).text,
                text()
            )
        }
        ("pop", Type::Dictionary(..), [key]) => entry_removed(phraser, object, key),
        ("pop", Type::Dictionary(..), [key, _]) => {
            format!("{} if present", entry_removed(phraser, object, key))
        }
        ("pop", Type::Set(_), []) => format!("an element of {} is removed", text()),
        ("pop", _, []) => format!("the last element of {} is removed", text()),
        ("pop", _, [at]) => element_removed(phraser, object, at),
        ("popitem", _, []) => format!("the last entry of {} is removed", text()),
        ("clear", _, []) => becomes_empty(phraser, object),
        ("add", _, [one]) => {
            let one = noun(one);
            format!("{} {} added to {}", one.text, is_or_are(&one), text())
        }
        ("discard", _, [one]) => format!("{} if present", removed_from(&noun(one), &text())),
        ("update", Type::Dictionary(..), [entries]) => merged(phraser, entries, &text()),
        ("update", _, [more]) => {
            format!(
                "the elements of {} are added to {}",
                noun(more).text,
                text()
            )
        }
        ("difference_update", _, [other]) => {
            format!(
                "the elements of {} are removed from {}",
                noun(other).text,
                text()
            )
        }
        ("intersection_update", _, [other]) => {
            let (all, other) = (text(), noun(other).text);
            format!("only the elements common to {all} and {other} are kept")
        }
        ("setdefault", _, [key, rest @ ..]) => {
            let value = rest
                .first()
                .map_or("nothing".to_owned(), |one| noun(one).text);
            let (key, all) = (noun(key).text, text());
            format!(
                "an entry for {key} is added to {all}, with the value {value}, unless there is one already"
            )
        }
        ("sort", _, []) => put_in_order(phraser, object, sorted_order(call)?),
        ("reverse", _, []) => put_in_order(phraser, object, "reverse"),
        _ => return None,
    })
}

/// Phrases `del`: an element (E6), all elements (E7), an entry (E12) or a slice (E19) is removed.
pub(super) fn deleted(phraser: &Phraser<'_>, target: &Term) -> String {
    match target {
        Term::Item { object, index } if is_entry(object, index) => {
            entry_removed(phraser, object, index)
        }
        Term::Item { object, index } => element_removed(phraser, object, index),
        Term::Slice {
            object,
            start: None,
            stop: None,
            step: None,
        } => becomes_empty(phraser, object),
        Term::Slice { object, .. } if let Some(kept) = without_slice(target, None) => {
            assigned(phraser, object, &kept, false)
        }
        other => {
            let noun = phraser.target(other);
            format!("{} {} removed", noun.text, is_or_are(&noun))
        }
    }
}

fn entry_removed(phraser: &Phraser<'_>, object: &Term, key: &Term) -> String {
    let (key, dictionary) = (phraser.noun(key).text, phraser.target(object).text);
    format!("the entry for {key} is removed from {dictionary}")
}

fn element_removed(phraser: &Phraser<'_>, object: &Term, index: &Term) -> String {
    let text = phraser.target(object).text;
    match index.as_value().and_then(PythonValue::as_integer) {
        Some(0) => format!("the first element of {text} is removed"),
        Some(-1) => format!("the last element of {text} is removed"),
        _ => format!("{} is removed", element_at(phraser, object, index)),
    }
}

fn removed_from(one: &Noun, target: &str) -> String {
    format!("{} {} removed from {target}", one.text, is_or_are(one))
}
