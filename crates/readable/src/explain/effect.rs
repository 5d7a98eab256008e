//! Changes as clauses (6.4): what is added, removed, goes up or becomes something else.
//!
//! The target of a change is never "old" or "new"; whatever is read to make the change may be (R10).

mod assigned;
mod called;

use assigned::assigned;
use called::{called, deleted};

use crate::phrase::{Noun, Speaker};
use crate::term::{Call, Change, Operator, Reference, Term, Type};
use crate::value::Value;

/// The clause of a change, without capital and full stop. `is_new` if it sets an entry that is known not to be there.
pub(crate) fn clause(
    speaker: &Speaker<'_>,
    change: &Change,
    is_new: bool,
    giving: &[Reference],
) -> String {
    match change {
        Change::Assign { target, value } => assigned(speaker, target, value, is_new),
        Change::Augment {
            target,
            operator,
            value,
        } => {
            let sum = Term::Binary {
                left: Box::new(target.clone()),
                operator: *operator,
                right: Box::new(value.clone()),
            };
            assigned(speaker, target, &sum, false)
        }
        Change::Delete(target) => deleted(speaker, target),
        Change::Call(term) => called(speaker, term, giving),
    }
}

/// `a, b = b, a` (E22).
pub(crate) fn swapped(speaker: &Speaker<'_>, one: &Term, other: &Term) -> String {
    let (one, other) = (speaker.target(one).text, speaker.target(other).text);
    format!("{one} and {other} swap values")
}

fn verb<'v>(noun: &Noun, one: &'v str, several: &'v str) -> &'v str {
    if noun.plural { several } else { one }
}

fn is_or_are(noun: &Noun) -> &'static str {
    verb(noun, "is", "are")
}

/// The noun of what changes. Keys tell that something is used like a dictionary, even if its type is not known; and they
/// are no part of what changes, so what is old or new in them is said.
fn target_noun(speaker: &Speaker<'_>, target: &Term) -> Noun {
    let Term::Item { object, index } = target else {
        return speaker.target(target);
    };
    let key = speaker.noun(index).text;
    let is_marked = key != speaker.target(index).text;
    let is_known = matches!(object.type_of(), Type::Dictionary(..));
    let is_entry = is_entry(object, index);
    if is_entry && (is_marked || !is_known) {
        let object = target_noun(speaker, object).text;
        Noun::one(format!("the entry for {key} in {object}"))
    } else if !is_entry && is_marked {
        Noun::one(element_at(speaker, object, index))
    } else {
        speaker.target(target)
    }
}

/// Whether `object[index]` is an entry of a dictionary rather than an element at a position.
fn is_entry(object: &Term, index: &Term) -> bool {
    match object.type_of() {
        Type::Dictionary(..) => true,
        Type::Unknown | Type::Object(_) => index.type_of() == Type::Text,
        _ => false,
    }
}

fn added_at_the_end(speaker: &Speaker<'_>, element: &Term, target: &str) -> String {
    let element = speaker.noun(element);
    let is = is_or_are(&element);
    format!("{} {is} added at the end of {target}", element.text)
}

fn elements_added(speaker: &Speaker<'_>, added: &Term, target: &str) -> String {
    let added = speaker.noun(added).text;
    format!("the elements of {added} are added at the end of {target}")
}

fn merged(speaker: &Speaker<'_>, entries: &Term, target: &str) -> String {
    let entries = speaker.noun(entries).text;
    format!("the entries of {entries} are merged into {target}")
}

fn becomes_empty(speaker: &Speaker<'_>, target: &Term) -> String {
    let noun = target_noun(speaker, target);
    format!("{} {} empty", noun.text, verb(&noun, "becomes", "become"))
}

/// What a list is once its beginning or its end is replaced, or taken away; nothing for any other part of it.
fn without_slice(part: &Term, given: Option<&Term>) -> Option<Term> {
    let Term::Slice {
        object,
        start,
        stop,
        step: None,
    } = part
    else {
        return None;
    };
    let is_from_the_end = |bound: &Term| match bound.as_value().and_then(Value::as_integer) {
        Some(at) => at < 0,
        None => false,
    };
    let is_number =
        |bound: &Term, number| bound.as_value().and_then(Value::as_integer) == Some(number);
    let slice = |start: Option<&Term>, stop: Option<&Term>| Term::Slice {
        object: object.clone(),
        start: start.cloned().map(Box::new),
        stop: stop.cloned().map(Box::new),
        step: None,
    };
    let joined = |left: Term, right: Term| Term::Binary {
        left: Box::new(left),
        operator: Operator::Add,
        right: Box::new(right),
    };
    let is_empty = |given: &Term| given.as_value().and_then(Value::length) == Some(0);
    let given = given.filter(|given| !is_empty(given)).cloned();
    match (start.as_deref(), stop.as_deref()) {
        (None, Some(stop)) => Some(match given {
            Some(given) if is_number(stop, 0) => joined(given, (**object).clone()),
            Some(given) => joined(given, slice(Some(stop), None)),
            None => slice(Some(stop), None),
        }),
        (Some(start), None) if !is_from_the_end(start) => Some(match given {
            Some(given) if *start == Term::call("len", vec![(**object).clone()]) => {
                joined((**object).clone(), given)
            }
            Some(given) => joined(slice(None, Some(start)), given),
            None => slice(None, Some(start)),
        }),
        _ => None,
    }
}

/// "the first n UNITs of T", or with P14's exception "the first UNITs of T (as many as N)".
fn first_units(speaker: &Speaker<'_>, target: &Term, count: &Term) -> String {
    let type_ = target.type_of();
    let units = crate::words::plural_of(type_.unit());
    let (text, count) = (speaker.target(target).text, speaker.noun(count).text);
    if count.starts_with("the ") || count.starts_with("one ") {
        format!("the first {units} of {text} (as many as {count})")
    } else {
        format!("the first {count} {units} of {text}")
    }
}

/// "sorted" or "descending"; nothing if there is a key of its own.
fn sorted_order(call: &Call) -> Option<&'static str> {
    match call.keywords.as_slice() {
        [] => Some("sorted"),
        [(Some(name), Term::Value(Value::Boolean(reverse)))] if name == "reverse" => {
            Some(if *reverse { "descending" } else { "sorted" })
        }
        _ => None,
    }
}

fn put_in_order(speaker: &Speaker<'_>, target: &Term, order: &str) -> String {
    let noun = speaker.target(target);
    format!("{} {} put in {order} order", noun.text, is_or_are(&noun))
}

fn element_at(speaker: &Speaker<'_>, object: &Term, index: &Term) -> String {
    let text = target_noun(speaker, object).text;
    let position = speaker.noun(index).text;
    format!("the element of {text} at position {position}")
}
