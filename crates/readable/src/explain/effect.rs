//! Changes as clauses (6.4): what is added, removed, goes up or becomes something else.
//!
//! The target of a change is never "old" or "new"; whatever is read to make the change may be (R10).

use crate::phrase::{Noun, Speaker, join};
use crate::term::{Call, Callee, Change, Form, Operator, Reference, Term, Type};
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

fn assigned(speaker: &Speaker<'_>, target: &Term, value: &Term, is_new: bool) -> String {
    if let Term::Item { object, index } = target
        && is_entry(object, index)
    {
        return entry_set(speaker, target, (object, index), value, is_new);
    }
    let told = grown(speaker, target, value)
        .or_else(|| emptied(speaker, target, value))
        .or_else(|| counted(speaker, target, value))
        .or_else(|| cut(speaker, target, value))
        .or_else(|| rearranged(speaker, target, value));
    told.unwrap_or_else(|| becomes(speaker, target, value))
}

/// E10, E11.
fn entry_set(
    speaker: &Speaker<'_>,
    target: &Term,
    (object, key): (&Term, &Term),
    value: &Term,
    is_new: bool,
) -> String {
    if is_new {
        let (key, value) = (speaker.noun(key).text, speaker.noun(value).text);
        let dictionary = speaker.target(object).text;
        return format!("an entry for {key} is added to {dictionary}, with the value {value}");
    }
    if let Some((operator, amount)) = step_from(target, value)
        && is_number_step(target, amount)
    {
        return up_or_down(speaker, &target_noun(speaker, target), operator, amount);
    }
    grown(speaker, target, value)
        .or_else(|| emptied(speaker, target, value))
        .or_else(|| counted(speaker, target, value))
        .unwrap_or_else(|| becomes(speaker, target, value))
}

/// The noun of what changes. Keys tell that something is used like a dictionary, even if its type is not known.
fn target_noun(speaker: &Speaker<'_>, target: &Term) -> Noun {
    match target {
        Term::Item { object, index }
            if is_entry(object, index) && !matches!(object.type_of(), Type::Dictionary(..)) =>
        {
            let (key, object) = (speaker.noun(index).text, speaker.target(object).text);
            Noun::one(format!("the entry for {key} in {object}"))
        }
        _ => speaker.target(target),
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

/// `t + x` or `t - x` for the target `t`: the operator and `x`.
fn step_from<'v>(target: &Term, value: &'v Term) -> Option<(Operator, &'v Term)> {
    match value {
        Term::Binary {
            left,
            operator,
            right,
        } if **left == *target => Some((*operator, right)),
        _ => None,
    }
}

/// Whether what is added or subtracted is a number, as far as that is known.
fn is_number_step(target: &Term, amount: &Term) -> bool {
    let types = [target.type_of(), amount.type_of()];
    let is_open = |one: &Type| matches!(one, Type::Unknown | Type::Nothing | Type::Object(_));
    types.contains(&Type::Number) || types.iter().all(is_open)
}

fn up_or_down(speaker: &Speaker<'_>, noun: &Noun, operator: Operator, amount: &Term) -> String {
    let (text, goes) = (&noun.text, verb(noun, "goes", "go"));
    let amount_words = speaker.noun(amount).text;
    match operator {
        Operator::Add => format!("{text} {goes} up by {amount_words}"),
        Operator::Subtract => format!("{text} {goes} down by {amount_words}"),
        _ => format!("{text} {} multiplied by {amount_words}", is_or_are(noun)),
    }
}

/// Elements are added (E1, E2, E4, E8, E9, E15).
fn grown(speaker: &Speaker<'_>, target: &Term, value: &Term) -> Option<String> {
    let Term::Binary {
        left,
        operator,
        right,
    } = value
    else {
        return None;
    };
    let noun = || target_noun(speaker, target).text;
    if **right == *target && *operator == Operator::Add {
        let only = only_member(left, is_list)?;
        let element = speaker.noun(&only).text;
        return Some(format!("{element} is added at the start of {}", noun()));
    }
    let (operator, added) = step_from(target, value)?;
    let type_ = match target.type_of() {
        Type::Unknown => added.type_of(),
        known => known,
    };
    match (operator, type_) {
        (Operator::Add, Type::List(_)) => Some(match only_member(added, is_list) {
            Some(only) => added_at_the_end(speaker, &only, &noun()),
            None => elements_added(speaker, added, &noun()),
        }),
        (Operator::Add, Type::Text) => Some(added_at_the_end(speaker, added, &noun())),
        (Operator::BitOr, Type::Set(_)) => Some(match only_member(added, is_set) {
            Some(only) => {
                let only = speaker.noun(&only);
                format!("{} {} added to {}", only.text, is_or_are(&only), noun())
            }
            None => format!(
                "the elements of {} are added to {}",
                speaker.noun(added).text,
                noun()
            ),
        }),
        (Operator::Subtract, Type::Set(_)) => Some(match only_member(added, is_set) {
            Some(only) => {
                let only = speaker.noun(&only);
                format!("{} {} removed from {}", only.text, is_or_are(&only), noun())
            }
            None => format!(
                "the elements of {} are removed from {}",
                speaker.noun(added).text,
                noun()
            ),
        }),
        (Operator::BitOr, Type::Dictionary(..)) => Some(merged(speaker, added, &noun())),
        _ => None,
    }
}

fn is_list(value: &Value) -> bool {
    matches!(value, Value::List(_))
}

fn is_set(value: &Value) -> bool {
    matches!(value, Value::Set(_) | Value::FrozenSet(_))
}

/// The only member of a display.
fn only_member(term: &Term, is_kind: fn(&Value) -> bool) -> Option<Term> {
    match term {
        Term::List(members) if is_kind(&Value::List(vec![])) => match members.as_slice() {
            [Term::Starred(_)] => None,
            [only] => Some(only.clone()),
            _ => None,
        },
        Term::Set(members) if is_kind(&Value::Set(vec![])) => match members.as_slice() {
            [Term::Starred(_)] => None,
            [only] => Some(only.clone()),
            _ => None,
        },
        Term::Value(value) if is_kind(value) => match value {
            Value::List(members) | Value::Set(members) | Value::FrozenSet(members) => {
                match members.as_slice() {
                    [only] => Some(only.clone().into()),
                    _ => None,
                }
            }
            _ => None,
        },
        _ => None,
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

/// Nothing is left (E7, E25).
fn emptied(speaker: &Speaker<'_>, target: &Term, value: &Term) -> Option<String> {
    let is_empty = match value {
        Term::Value(Value::Nothing) => {
            let noun = target_noun(speaker, target);
            let has = verb(&noun, "has", "have");
            return Some(format!("{} no longer {has} a value", noun.text));
        }
        Term::Value(value) => value.length() == Some(0),
        Term::List(items) | Term::Set(items) | Term::Tuple(items) => items.is_empty(),
        Term::Dictionary(entries) => entries.is_empty(),
        Term::Call(call) => {
            let makes_collection = matches!(&call.callee, Callee::Function { module: None, name }
                if matches!(name.as_str(), "list" | "set" | "dict" | "tuple" | "str" | "frozenset"));
            makes_collection && call.arguments.is_empty() && call.keywords.is_empty()
        }
        _ => false,
    };
    is_empty.then(|| becomes_empty(speaker, target))
}

fn becomes_empty(speaker: &Speaker<'_>, target: &Term) -> String {
    let noun = target_noun(speaker, target);
    format!("{} {} empty", noun.text, verb(&noun, "becomes", "become"))
}

/// Numbers and flags go up, down and round (E14, E16, E17, E18).
fn counted(speaker: &Speaker<'_>, target: &Term, value: &Term) -> Option<String> {
    let noun = || target_noun(speaker, target);
    if let Term::Not(inner) = value
        && **inner == *target
    {
        return Some(switches(&noun(), "true and false"));
    }
    let Term::Binary {
        left,
        operator,
        right,
    } = value
    else {
        return None;
    };
    let is_one = |term: &Term| term.as_value().and_then(Value::as_integer) == Some(1);
    match operator {
        Operator::Subtract if is_one(left) && **right == *target => {
            Some(switches(&noun(), "0 and 1"))
        }
        Operator::Remainder => {
            let (Operator::Add, amount) = step_from(target, left)? else {
                return None;
            };
            let last = Term::Binary {
                left: right.clone(),
                operator: Operator::Subtract,
                right: Box::new(Value::integer(1).into()),
            };
            let last = speaker.noun(&last.folded()).text;
            let up = up_or_down(speaker, &noun(), Operator::Add, amount);
            Some(format!("{up}, starting again from 0 after {last}"))
        }
        Operator::Add | Operator::Subtract | Operator::Multiply if **left == *target => {
            is_number_step(target, right).then(|| up_or_down(speaker, &noun(), *operator, right))
        }
        _ => None,
    }
}

fn switches(noun: &Noun, between: &str) -> String {
    let switches = verb(noun, "switches", "switch");
    format!("{} {switches} between {between}", noun.text)
}

/// A part is kept (E19, E20).
fn cut(speaker: &Speaker<'_>, target: &Term, value: &Term) -> Option<String> {
    match value {
        Term::Slice {
            object,
            start,
            stop,
            step: None,
        } if **object == *target => {
            let number =
                |bound: &Option<Box<Term>>| bound.as_deref().and_then(Term::as_value)?.as_integer();
            let unit = target.type_of();
            let unit = unit.unit();
            let text = speaker.target(target).text;
            match (start, stop) {
                (Some(_), None) if number(start) == Some(1) => {
                    Some(format!("the first {unit} of {text} is removed"))
                }
                (None, Some(_)) if number(stop) == Some(-1) => {
                    Some(format!("the last {unit} of {text} is removed"))
                }
                (Some(count), None) if number(start).is_none_or(|count| count > 0) => Some(
                    format!("{} are removed", first_units(speaker, target, count)),
                ),
                (None, Some(count)) if number(stop).is_none_or(|count| count >= 0) => Some(
                    format!("only {} are kept", first_units(speaker, target, count)),
                ),
                _ => None,
            }
        }
        Term::Comprehension {
            form: Form::List | Form::Set,
            element,
            clauses,
        } => {
            let [clause] = clauses.as_slice() else {
                return None;
            };
            let [name] = clause.targets.as_slice() else {
                return None;
            };
            let is_element = matches!(&**element, Term::Reference(one) if one.name == *name);
            if !is_element || clause.iterable != *target || clause.conditions.is_empty() {
                return None;
            }
            let condition = match clause.conditions.as_slice() {
                [only] => only.clone(),
                all => Term::And(all.to_vec()),
            };
            Some(format!(
                "only the elements {} of {} such that {} are kept",
                speaker.words(name),
                speaker.target(target).text,
                speaker.clause(&condition)
            ))
        }
        _ => None,
    }
}

/// "the first n UNITs of T", or with P14's exception "the first UNITs of T (as many as N)".
fn first_units(speaker: &Speaker<'_>, target: &Term, count: &Term) -> String {
    let type_ = target.type_of();
    let units = crate::words::plural_of(type_.unit());
    let (text, count) = (speaker.target(target).text, speaker.noun(count).text);
    match count.starts_with("the ") || count.starts_with("one ") {
        true => format!("the first {units} of {text} (as many as {count})"),
        false => format!("the first {count} {units} of {text}"),
    }
}

/// The same elements in another order (E21).
fn rearranged(speaker: &Speaker<'_>, target: &Term, value: &Term) -> Option<String> {
    let order = match value {
        Term::Call(call) => {
            let Callee::Function { module: None, name } = &call.callee else {
                return None;
            };
            let [only] = call.arguments.as_slice() else {
                return None;
            };
            match (name.as_str(), only) {
                ("list", Term::Call(_)) => return rearranged(speaker, target, only),
                ("sorted", inner) if *inner == *target => sorted_order(call)?,
                ("reversed", inner) if *inner == *target => "reverse",
                _ => return None,
            }
        }
        Term::Slice {
            object,
            start: None,
            stop: None,
            step: Some(step),
        } if **object == *target && step.as_value().and_then(Value::as_integer) == Some(-1) => {
            "reverse"
        }
        _ => return None,
    };
    Some(put_in_order(speaker, target, order))
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

/// E23, E24, E26.
fn becomes(speaker: &Speaker<'_>, target: &Term, value: &Term) -> String {
    let value = speaker.noun(value).text;
    if let Term::Item { object, index } = target
        && !is_entry(object, index)
    {
        return format!("{} becomes {value}", element_at(speaker, object, index));
    }
    let noun = target_noun(speaker, target);
    format!("{} {} {value}", noun.text, verb(&noun, "becomes", "become"))
}

fn element_at(speaker: &Speaker<'_>, object: &Term, index: &Term) -> String {
    let (text, position) = (speaker.target(object).text, speaker.noun(index).text);
    format!("the element of {text} at position {position}")
}

/// `del` (E6, E7, E12, E19).
fn deleted(speaker: &Speaker<'_>, target: &Term) -> String {
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
        Term::Slice {
            object,
            start: None,
            stop: Some(count),
            step: None,
        } => format!("{} are removed", first_units(speaker, object, count)),
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

/// A call for its effect (E1 to E9, E12, E13, E21, E27, E28).
fn called(speaker: &Speaker<'_>, term: &Term, giving: &[Reference]) -> String {
    let Term::Call(call) = term else {
        return format!("{} is computed", speaker.noun(term).text);
    };
    if !term.is_unknown_call()
        && let Callee::Method { object, name } = &call.callee
        && let Some(told) = method(speaker, object, name, call)
    {
        return told;
    }
    if !term.is_unknown_call() {
        return format!("{} is computed", speaker.noun(term).text);
    }
    let name = match &call.callee {
        Callee::Function { name, .. } | Callee::Method { name, .. } => speaker.words(name),
        Callee::Other(other) => speaker.noun(other).text,
    };
    let object = match &call.callee {
        Callee::Method { object, .. } => format!(" on {}", speaker.noun(object).text),
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
    let given = match given.is_empty() {
        true => String::new(),
        false => format!(", giving {}", join::nouns(&given, "and")),
    };
    format!("\"{name}\" is carried out{object}{with}{given}")
}

/// The methods of Python's own collections that change them.
fn method(speaker: &Speaker<'_>, object: &Term, name: &str, call: &Call) -> Option<String> {
    let text = || speaker.target(object).text;
    let noun = |term: &Term| speaker.noun(term);
    let is_number =
        |term: &Term, number| term.as_value().and_then(Value::as_integer) == Some(number);
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
        ("pop", Type::Dictionary(..), [key, ..]) => entry_removed(speaker, object, key),
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

fn removed_from(one: &Noun, target: &str) -> String {
    format!("{} {} removed from {target}", one.text, is_or_are(one))
}
