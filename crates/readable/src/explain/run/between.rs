//! Values that a variable had for a while, which are neither the old nor the new one (R10): whoever has kept such a value is
//! told how it was made.
//!
//! `b = stack.pop(); a = stack.pop(); stack.append(a + b)` would otherwise add "the last element of the new stack", which is
//! nowhere any more.

use testwright_source::Range;

use super::{Execution, Path};
use crate::explain::flow::root;
use crate::term::{Call, Callee, Operator, Reference, Role, Term};
use crate::value::Value;

/// What is larger than this is not written out: nobody could follow, and values made of values grow without end.
const LARGEST: usize = 16;

impl<'w> Execution<'w> {
    /// The variable in which a target lies has another value from now on; `after` is that value, if there is an expression
    /// for it.
    pub(super) fn changed(
        &self,
        target: &Term,
        after: Option<Term>,
        range: &Range,
        path: &mut Path,
    ) {
        let after = after
            .filter(|after| self.expanded_size(after) <= LARGEST)
            .map(|after| of_old(&self.expanded(&after), path))
            .filter(|after| after.size() <= LARGEST);
        let Some(variable) = root(target) else {
            // Values of pools have no versions, so nothing is known of the new one.
            if let Term::Reference(slot) = target {
                path.facts.forget_variable(&slot.name);
            }
            return;
        };
        let version = path.versions.entry(variable.name.clone()).or_default();
        *version += 1;
        if let (Some(after), Term::Reference(_)) = (after, target) {
            path.between
                .insert((variable.name.clone(), *version), after);
        }
        self.keep_as_made(range, path);
    }

    /// What locals have kept is told as it was made, once it is neither old nor new.
    pub(super) fn keep_as_made(&self, range: &Range, path: &mut Path) {
        let kept: Vec<(String, Term)> = path.locals.clone().into_iter().collect();
        for (name, value) in kept {
            if path.met_again(value.clone()) != value {
                continue;
            }
            if let Some(made) = self.made(&value, path) {
                let made = self.define(&name, made, range);
                path.locals.insert(name, made);
            }
        }
    }

    /// A value in which variables stand for what they were in between, as it was made; nothing if there are none.
    pub(super) fn made(&self, value: &Term, path: &Path) -> Option<Term> {
        if path.between.is_empty() || self.expanded_size(value) > LARGEST {
            return None;
        }
        let value = self.expanded(value);
        let is_between = |part: &Term| between(part, path).is_some();
        let made = value.any(&is_between).then(|| {
            let with = |part: &Term| between(part, path).cloned();
            value.replaced(&mut |part| with(part))
        });
        made.filter(|made| made.size() <= LARGEST)
    }
}

/// A value as it is made of what variables were on entry, as far as that is known.
fn of_old(value: &Term, path: &Path) -> Term {
    value.replaced(&mut |part| match part {
        Term::Reference(Reference {
            name,
            role: Role::State { version },
            ..
        }) => path.between.get(&(name.clone(), *version)).cloned(),
        _ => None,
    })
}

/// How a variable was made that has changed since, if that is known.
fn between<'p>(part: &Term, path: &'p Path) -> Option<&'p Term> {
    let Term::Reference(Reference {
        name,
        role: Role::State { version },
        ..
    }) = part
    else {
        return None;
    };
    let now = path.versions.get(name).copied().unwrap_or_default();
    (*version < now).then(|| path.between.get(&(name.clone(), *version)))?
}

/// What a collection is after a call that changes it.
pub(super) fn after_call(call: &Call) -> Option<Term> {
    let Callee::Method { object, name } = &call.callee else {
        return None;
    };
    let number = |number: i64| Some(Box::new(Term::from(Value::integer(number))));
    let slice = |start, stop| Term::Slice {
        object: Box::new(object.clone()),
        start,
        stop,
        step: None,
    };
    let with = |operator, more: Term| Term::Binary {
        left: Box::new(object.clone()),
        operator,
        right: Box::new(more.folded()),
    };
    let is_first = |at: &Term| at.as_value().and_then(Value::as_integer) == Some(0);
    match (name.as_str(), call.arguments.as_slice()) {
        ("pop", []) => Some(slice(None, number(-1))),
        ("pop", [at]) if is_first(at) => Some(slice(number(1), None)),
        ("popleft", []) => Some(slice(number(1), None)),
        ("append", [one]) => Some(with(Operator::Add, Term::List(vec![one.clone()]))),
        ("add", [one]) => Some(with(Operator::BitOr, Term::Set(vec![one.clone()]))),
        _ => None,
    }
}
