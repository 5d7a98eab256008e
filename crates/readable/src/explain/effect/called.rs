//! Calls and deletions as clauses.

use super::{
    added_at_the_end, assigned, becomes_empty, element_at, elements_added, is_entry, is_or_are,
    merged, put_in_order, sorted_order, without_slice,
};
use crate::explain::flow::changed_by_call;
use crate::phrase::{Noun, Speaker, join};
use crate::term::{Call, Callee, Reference, Term, Type};
use crate::value::Value;

/// A call for its effect (E1 to E9, E12, E13, E21, E27, E28).
pub(super) fn called(speaker: &Speaker<'_>, term: &Term, giving: &[Reference]) -> String {
    let Term::Call(call) = term else {
        return format!("{} is computed", speaker.noun(term).text);
    };
    if !term.is_unknown_call()
        && let Callee::Method { object, name } = &call.callee
        && let Some(told) = method(speaker, object, name, call)
    {
        return told;
    }
    if !term.is_unknown_call() && changed_by_call(term).is_none() {
        let noun = speaker.noun(term);
        // A copy that nobody keeps is no result, but what is copied may fail, or be compared with a reference.
        let done = match call.copied() {
            Some(Term::Reference(_)) => "looked at",
            _ => "computed",
        };
        return format!("{} {} {done}", noun.text, is_or_are(&noun));
    }
    let name = speaker.callee(call);
    let object = match &call.callee {
        Callee::Method { object, .. } => format!(" on {}", speaker.target(object).text),
        _ => String::new(),
    };
    let with = match speaker.arguments(call) {
        Some(arguments) => format!(" with {arguments}"),
        None => String::new(),
    };
    let given: Vec<String> = giving
        .iter()
        .map(|one| speaker.reference(one).text)
        .collect();
    let given = if given.is_empty() {
        String::new()
    } else {
        format!(", giving {}", join::nouns(&given, "and"))
    };
    format!("{name} is carried out{object}{with}{given}")
}

/// The methods of Python's own collections that change them.
fn method(speaker: &Speaker<'_>, object: &Term, name: &str, call: &Call) -> Option<String> {
    let text = || speaker.target(object).text;
    let noun = |term: &Term| speaker.noun(term);
    let is_number =
        |term: &Term, number| term.as_value().and_then(Value::as_integer) == Some(number);
    // Only the order of sorting has words of its own.
    (call.keywords.is_empty() || name == "sort").then_some(())?;
    Some(match (name, object.type_of(), call.arguments.as_slice()) {
        ("append", _, [one]) => added_at_the_end(speaker, one, &text()),
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
        ("extend", _, [more]) => elements_added(speaker, more, &text()),
        ("remove", Type::Set(_), [one]) => removed_from(&noun(one), &text()),
        ("remove", _, [one]) => {
            format!(
                "the first occurrence of {} is removed from {}",
                noun(one).text,
                text()
            )
        }
        ("pop", Type::Dictionary(..), [key]) => entry_removed(speaker, object, key),
        ("pop", Type::Dictionary(..), [key, _]) => {
            format!("{} if present", entry_removed(speaker, object, key))
        }
        ("pop", Type::Set(_), []) => format!("an element of {} is removed", text()),
        ("pop", _, []) => format!("the last element of {} is removed", text()),
        ("pop", _, [at]) => element_removed(speaker, object, at),
        ("popitem", _, []) => format!("the last entry of {} is removed", text()),
        ("clear", _, []) => becomes_empty(speaker, object),
        ("add", _, [one]) => {
            let one = noun(one);
            format!("{} {} added to {}", one.text, is_or_are(&one), text())
        }
        ("discard", _, [one]) => format!("{} if present", removed_from(&noun(one), &text())),
        ("update", Type::Dictionary(..), [entries]) => merged(speaker, entries, &text()),
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
        ("sort", _, []) => put_in_order(speaker, object, sorted_order(call)?),
        ("reverse", _, []) => put_in_order(speaker, object, "reverse"),
        _ => return None,
    })
}

/// `del` (E6, E7, E12, E19).
pub(super) fn deleted(speaker: &Speaker<'_>, target: &Term) -> String {
    match target {
        Term::Item { object, index } if is_entry(object, index) => {
            entry_removed(speaker, object, index)
        }
        Term::Item { object, index } => element_removed(speaker, object, index),
        Term::Slice {
            object,
            start: None,
            stop: None,
            step: None,
        } => becomes_empty(speaker, object),
        Term::Slice { object, .. } if let Some(kept) = without_slice(target, None) => {
            assigned(speaker, object, &kept, false)
        }
        other => {
            let noun = speaker.target(other);
            format!("{} {} removed", noun.text, is_or_are(&noun))
        }
    }
}

fn entry_removed(speaker: &Speaker<'_>, object: &Term, key: &Term) -> String {
    let (key, dictionary) = (speaker.noun(key).text, speaker.target(object).text);
    format!("the entry for {key} is removed from {dictionary}")
}

fn element_removed(speaker: &Speaker<'_>, object: &Term, index: &Term) -> String {
    let text = speaker.target(object).text;
    match index.as_value().and_then(Value::as_integer) {
        Some(0) => format!("the first element of {text} is removed"),
        Some(-1) => format!("the last element of {text} is removed"),
        _ => format!("{} is removed", element_at(speaker, object, index)),
    }
}

fn removed_from(one: &Noun, target: &str) -> String {
    format!("{} {} removed from {target}", one.text, is_or_are(one))
}
