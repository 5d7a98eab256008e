//! Phrases assignments as clauses: something grows, shrinks, goes up or becomes something else.

use super::{
    added_at_the_end, becomes_empty, element_at, elements_added, first_units, is_entry, is_or_are,
    merged, put_in_order, sorted_order, target_noun, verb, without_slice,
};
use crate::phrase::{Noun, Phraser};
use crate::term::{CallTarget, ComprehensionKind, NameRole, Operator, Term, Type};
use crate::value::PythonValue;

pub(super) fn assigned(phraser: &Phraser<'_>, target: &Term, value: &Term, is_new: bool) -> String {
    if let Term::Item { object, index } = target
        && is_entry(object, index)
    {
        return entry_set(phraser, target, (object, index), value, is_new);
    }
    if let Term::Slice { object, .. } = target
        && let Some(whole) = without_slice(target, Some(value))
    {
        return assigned(phraser, object, &whole, is_new);
    }
    let told = grown(phraser, target, value)
        .or_else(|| emptied(phraser, target, value, is_new))
        .or_else(|| counted(phraser, target, value))
        .or_else(|| cut(phraser, target, value))
        .or_else(|| rearranged(phraser, target, value));
    told.unwrap_or_else(|| becomes(phraser, target, value))
}

/// Phrases `d[k] = v`: an entry is added if it is known to be absent (E10), goes up or down, or
/// becomes V (E11).
fn entry_set(
    phraser: &Phraser<'_>,
    target: &Term,
    (object, key): (&Term, &Term),
    value: &Term,
    is_new: bool,
) -> String {
    if is_new {
        let (key, value) = (phraser.noun(key).text, phraser.noun(value).text);
        let dictionary = phraser.target(object).text;
        return format!("an entry for {key} is added to {dictionary}, with the value {value}");
    }
    if let Some((operator, amount)) = step_from(target, value)
        && is_number_step(target, amount)
    {
        return up_or_down(phraser, &target_noun(phraser, target), operator, amount);
    }
    grown(phraser, target, value)
        .or_else(|| emptied(phraser, target, value, is_new))
        .or_else(|| counted(phraser, target, value))
        .unwrap_or_else(|| becomes(phraser, target, value))
}

/// Splits `t + x` or `t - x` for the target `t` into the operator and `x`.
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

/// Returns true if the added or subtracted value is a number, as far as that is known.
fn is_number_step(target: &Term, amount: &Term) -> bool {
    let types = [target.type_of(), amount.type_of()];
    let is_open = |one: &Type| matches!(one, Type::Unknown | Type::Nothing | Type::Object(_));
    types.contains(&Type::Number) || types.iter().all(is_open)
}

fn up_or_down(phraser: &Phraser<'_>, noun: &Noun, operator: Operator, amount: &Term) -> String {
    let (text, goes) = (&noun.text, verb(noun, "goes", "go"));
    let amount_words = phraser.noun(amount).text;
    match operator {
        Operator::Add => format!("{text} {goes} up by {amount_words}"),
        Operator::Subtract => format!("{text} {goes} down by {amount_words}"),
        _ => format!("{text} {} multiplied by {amount_words}", is_or_are(noun)),
    }
}

/// Phrases additions of elements: at the end (E1, E4, E15), at the start (E2), or to and from a set
/// (E8, E9).
fn grown(phraser: &Phraser<'_>, target: &Term, value: &Term) -> Option<String> {
    let Term::Binary {
        left,
        operator,
        right,
    } = value
    else {
        return None;
    };
    let noun = || target_noun(phraser, target).text;
    if **right == *target && *operator == Operator::Add {
        let only = only_member(left, is_list)?;
        let element = phraser.noun(&only).text;
        return Some(format!("{element} is added at the start of {}", noun()));
    }
    let (operator, added) = step_from(target, value)?;
    let type_ = match target.type_of() {
        Type::Unknown => added.type_of(),
        known => known,
    };
    match (operator, type_) {
        (Operator::Add, Type::List(_)) => Some(match only_member(added, is_list) {
            Some(only) => added_at_the_end(phraser, &only, &noun()),
            None => elements_added(phraser, added, &noun()),
        }),
        (Operator::Add, Type::Text) => Some(added_at_the_end(phraser, added, &noun())),
        (Operator::BitOr, Type::Set(_)) => Some(match only_member(added, is_set) {
            Some(only) => {
                let only = phraser.noun(&only);
                format!("{} {} added to {}", only.text, is_or_are(&only), noun())
            }
            None => format!(
                "the elements of {} are added to {}",
                phraser.noun(added).text,
                noun()
            ),
        }),
        (Operator::Subtract, Type::Set(_)) => Some(match only_member(added, is_set) {
            Some(only) => {
                let only = phraser.noun(&only);
                format!("{} {} removed from {}", only.text, is_or_are(&only), noun())
            }
            None => format!(
                "the elements of {} are removed from {}",
                phraser.noun(added).text,
                noun()
            ),
        }),
        (Operator::BitOr, Type::Dictionary(..)) => Some(merged(phraser, added, &noun())),
        _ => None,
    }
}

fn is_list(value: &PythonValue) -> bool {
    matches!(value, PythonValue::List(_))
}

fn is_set(value: &PythonValue) -> bool {
    matches!(value, PythonValue::Set(_) | PythonValue::FrozenSet(_))
}

/// Returns the only member of a display.
fn only_member(term: &Term, is_kind: fn(&PythonValue) -> bool) -> Option<Term> {
    match term {
        Term::List(members) if is_kind(&PythonValue::List(vec![])) => match members.as_slice() {
            [Term::Starred(_)] => None,
            [only] => Some(only.clone()),
            _ => None,
        },
        Term::Set(members) if is_kind(&PythonValue::Set(vec![])) => match members.as_slice() {
            [Term::Starred(_)] => None,
            [only] => Some(only.clone()),
            _ => None,
        },
        Term::Value(value) if is_kind(value) => match value {
            PythonValue::List(members)
            | PythonValue::Set(members)
            | PythonValue::FrozenSet(members) => match members.as_slice() {
                [only] => Some(only.clone().into()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// Phrases an empty value: "T becomes empty" (E7), or "T no longer has a value" (E25).
fn emptied(phraser: &Phraser<'_>, target: &Term, value: &Term, is_new: bool) -> Option<String> {
    let is_empty = match value {
        Term::Value(PythonValue::Nothing) => {
            let noun = target_noun(phraser, target);
            let has = verb(&noun, "has", "have");
            if is_new {
                return Some(format!("{} {has} no value at first", noun.text));
            }
            return Some(format!("{} no longer {has} a value", noun.text));
        }
        Term::Value(value) => value.length() == Some(0),
        Term::List(items) | Term::Set(items) | Term::Tuple(items) => items.is_empty(),
        Term::Dictionary(entries) => entries.is_empty(),
        Term::Call(call) => {
            let makes_collection = matches!(&call.callee, CallTarget::Function { module: None, name }
                if matches!(name.as_str(), "list" | "set" | "dict" | "tuple" | "str" | "frozenset"));
            makes_collection && call.arguments.is_empty() && call.keywords.is_empty()
        }
        _ => false,
    };
    is_empty.then(|| becomes_empty(phraser, target))
}

/// Phrases steps of numbers and flags: T goes up (E14), starts again from 0 (E16), switches between
/// 0 and 1 (E17) or between true and false (E18).
fn counted(phraser: &Phraser<'_>, target: &Term, value: &Term) -> Option<String> {
    let noun = || target_noun(phraser, target);
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
    let is_one = |term: &Term| term.as_value().and_then(PythonValue::as_integer) == Some(1);
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
                right: Box::new(PythonValue::integer(1).into()),
            };
            let last = phraser.noun(&last.fold_constants()).text;
            let up = up_or_down(phraser, &noun(), Operator::Add, amount);
            Some(format!("{up}, starting again from 0 after {last}"))
        }
        Operator::Add | Operator::Subtract | Operator::Multiply if **left == *target => {
            is_number_step(target, right).then(|| up_or_down(phraser, &noun(), *operator, right))
        }
        _ => None,
    }
}

fn switches(noun: &Noun, between: &str) -> String {
    let switches = verb(noun, "switches", "switch");
    format!("{} {switches} between {between}", noun.text)
}

/// Phrases a slice or filter: the first UNITs are removed (E19), or only some elements are kept
/// (E20).
fn cut(phraser: &Phraser<'_>, target: &Term, value: &Term) -> Option<String> {
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
            let text = phraser.target(target).text;
            match (start, stop) {
                (Some(_), None) if number(start) == Some(1) => {
                    Some(format!("the first {unit} of {text} is removed"))
                }
                (None, Some(_)) if number(stop) == Some(-1) => {
                    Some(format!("the last {unit} of {text} is removed"))
                }
                (None, Some(_)) if number(stop) == Some(1) => {
                    Some(format!("only the first {unit} of {text} is kept"))
                }
                (Some(count), None) if number(start).is_none_or(|count| count > 0) => Some(
                    format!("{} are removed", first_units(phraser, target, count)),
                ),
                (None, Some(count)) if number(stop).is_none_or(|count| count >= 0) => Some(
                    format!("only {} are kept", first_units(phraser, target, count)),
                ),
                _ => None,
            }
        }
        Term::Comprehension {
            form: ComprehensionKind::List | ComprehensionKind::Set,
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
                phraser.words(name),
                phraser.target(target).text,
                phraser.clause(&condition)
            ))
        }
        _ => None,
    }
}

/// Phrases a new order of the elements: sorted or reversed (E21).
fn rearranged(phraser: &Phraser<'_>, target: &Term, value: &Term) -> Option<String> {
    let order = match value {
        Term::Call(call) => {
            let CallTarget::Function { module: None, name } = &call.callee else {
                return None;
            };
            let [only] = call.arguments.as_slice() else {
                return None;
            };
            match (name.as_str(), only) {
                ("list", Term::Call(_)) => return rearranged(phraser, target, only),
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
        } if **object == *target
            && step.as_value().and_then(PythonValue::as_integer) == Some(-1) =>
        {
            "reverse"
        }
        _ => return None,
    };
    Some(put_in_order(phraser, target, order))
}

/// Phrases all other assignments: an element (E23), an attribute (E24) or the whole target (E26)
/// becomes V.
fn becomes(phraser: &Phraser<'_>, target: &Term, value: &Term) -> String {
    let value = phraser.noun(value).text;
    if let Term::Item { object, index } = target
        && !is_entry(object, index)
    {
        return format!("{} becomes {value}", element_at(phraser, object, index));
    }
    let noun = target_noun(phraser, target);
    // "the new tree" was only just created.
    let is_new = matches!(target, Term::Reference(one) if one.role == NameRole::Phrase);
    let verb = if is_new {
        is_or_are(&noun)
    } else {
        verb(&noun, "becomes", "become")
    };
    format!("{} {verb} {value}", noun.text)
}
