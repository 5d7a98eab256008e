//! Phrases changes as clauses: something is added, removed, goes up or becomes something else.
//!
//! The target of a change is never marked "old" or "new". Values that are read for the change may
//! be (R10).

mod assigned;
mod called;

use assigned::assigned;
use called::{called, deleted};

use crate::phrase::{Noun, Phraser};
use crate::term::{CallTerm, EffectTerm, NameReference, Operator, Term, Type};
use crate::value::PythonValue;

/// Phrases a change as a clause, without capital and full stop. `is_new` is true if it sets an
/// entry that is known to be absent.
pub(crate) fn clause(
    phraser: &Phraser<'_>,
    change: &EffectTerm,
    is_new: bool,
    giving: &[NameReference],
) -> String {
    match change {
        EffectTerm::Assign { target, value } => assigned(phraser, target, value, is_new),
        EffectTerm::Augment {
            target,
            operator,
            value,
        } => {
            let sum = Term::Binary {
                left: Box::new(target.clone()),
                operator: *operator,
                right: Box::new(value.clone()),
            };
            assigned(phraser, target, &sum, false)
        }
        EffectTerm::Delete(target) => deleted(phraser, target),
        EffectTerm::Call(term) => called(phraser, term, giving),
    }
}

/// Phrases `a, b = b, a` as "A and B swap values" (E22).
pub(crate) fn swapped(phraser: &Phraser<'_>, one: &Term, other: &Term) -> String {
    let (one, other) = (phraser.target(one).text, phraser.target(other).text);
    format!("{one} and {other} swap values")
}

fn verb<'v>(noun: &Noun, one: &'v str, several: &'v str) -> &'v str {
    if noun.plural { several } else { one }
}

fn is_or_are(noun: &Noun) -> &'static str {
    verb(noun, "is", "are")
}

/// Returns the noun of the target. A key implies a dictionary, even if the type is not known. Keys
/// are not part of the target, so they are marked old or new.
fn target_noun(phraser: &Phraser<'_>, target: &Term) -> Noun {
    let Term::Item { object, index } = target else {
        return phraser.target(target);
    };
    let key = phraser.noun(index).text;
    let is_marked = key != phraser.target(index).text;
    let is_known = matches!(object.type_of(), Type::Dictionary(..));
    let is_entry = is_entry(object, index);
    if is_entry && (is_marked || !is_known) {
        let object = target_noun(phraser, object).text;
        Noun::one(format!("the entry for {key} in {object}"))
    } else if !is_entry && is_marked {
        Noun::one(element_at(phraser, object, index))
    } else {
        phraser.target(target)
    }
}

/// Returns true if `object[index]` is an entry of a dictionary rather than an element at a
/// position.
fn is_entry(object: &Term, index: &Term) -> bool {
    match object.type_of() {
        Type::Dictionary(..) => true,
        Type::Unknown | Type::Object(_) => index.type_of() == Type::Text,
        _ => false,
    }
}

fn added_at_the_end(phraser: &Phraser<'_>, element: &Term, target: &str) -> String {
    let element = phraser.noun(element);
    let is = is_or_are(&element);
    format!("{} {is} added at the end of {target}", element.text)
}

fn elements_added(phraser: &Phraser<'_>, added: &Term, target: &str) -> String {
    let added = phraser.noun(added).text;
    format!("the elements of {added} are added at the end of {target}")
}

fn merged(phraser: &Phraser<'_>, entries: &Term, target: &str) -> String {
    let entries = phraser.noun(entries).text;
    format!("the entries of {entries} are merged into {target}")
}

fn becomes_empty(phraser: &Phraser<'_>, target: &Term) -> String {
    let noun = target_noun(phraser, target);
    format!("{} {} empty", noun.text, verb(&noun, "becomes", "become"))
}

/// Returns the list after its beginning or end is replaced or removed, or `None` for any other
/// part.
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
    let is_from_the_end = |bound: &Term| match bound.as_value().and_then(PythonValue::as_integer) {
        Some(at) => at < 0,
        None => false,
    };
    let is_number =
        |bound: &Term, number| bound.as_value().and_then(PythonValue::as_integer) == Some(number);
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
    let is_empty = |given: &Term| given.as_value().and_then(PythonValue::length) == Some(0);
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

/// Phrases "the first n UNITs of T", or "the first UNITs of T (as many as N)" if the phrase of n
/// starts with "the" or "one" (P14).
fn first_units(phraser: &Phraser<'_>, target: &Term, count: &Term) -> String {
    let type_ = target.type_of();
    let units = crate::words::pluralise(type_.unit());
    let (text, count) = (phraser.target(target).text, phraser.noun(count).text);
    if count.starts_with("the ") || count.starts_with("one ") {
        format!("the first {units} of {text} (as many as {count})")
    } else {
        format!("the first {count} {units} of {text}")
    }
}

/// Returns "sorted" or "descending", or `None` if there is a key function.
fn sorted_order(call: &CallTerm) -> Option<&'static str> {
    match call.keywords.as_slice() {
        [] => Some("sorted"),
        [(Some(name), Term::Value(PythonValue::Boolean(reverse)))] if name == "reverse" => {
            Some(if *reverse { "descending" } else { "sorted" })
        }
        _ => None,
    }
}

fn put_in_order(phraser: &Phraser<'_>, target: &Term, order: &str) -> String {
    let noun = phraser.target(target);
    format!("{} {} put in {order} order", noun.text, is_or_are(&noun))
}

fn element_at(phraser: &Phraser<'_>, object: &Term, index: &Term) -> String {
    let text = target_noun(phraser, object).text;
    let position = phraser.noun(index).text;
    format!("the element of {text} at position {position}")
}
