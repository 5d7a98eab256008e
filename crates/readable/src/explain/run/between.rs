//! Intermediate values of variables, which are neither the old nor the new one (R10). A local that
//! has kept such a value is described by how it was made.
//!
//! Otherwise `b = stack.pop(); a = stack.pop(); stack.append(a + b)` would add "the last element of
//! the new stack", which no longer exists.

use testwright_source::Range;

use super::{Execution, Path};
use crate::explain::flow::root;
use crate::term::{CallTarget, CallTerm, NameReference, NameRole, Operator, Term};
use crate::value::PythonValue;

/// Maximum size of a value that is written out. Larger ones are unreadable, and values made of
/// values grow without end.
const LARGEST: usize = 16;

impl<'w> Execution<'w> {
    /// Records that the variable of a target has changed. `after` is its new value, if there is an
    /// expression for it.
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

    /// Replaces values in locals by how they were made, if they are neither old nor new any more.
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

    /// Returns a value with intermediate values of variables written out, or `None` if it contains
    /// none.
    pub(super) fn made(&self, value: &Term, path: &Path) -> Option<Term> {
        if path.between.is_empty() || self.expanded_size(value) > LARGEST {
            return None;
        }
        let value = self.expanded(value);
        let is_between = |part: &Term| between(part, path).is_some();
        let made = value.any(&is_between).then(|| {
            let with = |part: &Term| between(part, path).cloned();
            value.map_parts(&mut |part| with(part))
        });
        made.filter(|made| made.size() <= LARGEST)
    }
}

/// Returns a value in terms of the variables on entry, as far as that is known.
fn of_old(value: &Term, path: &Path) -> Term {
    value.map_parts(&mut |part| match part {
        Term::Reference(NameReference {
            name,
            role: NameRole::State { version },
            ..
        }) => path.between.get(&(name.clone(), *version)).cloned(),
        _ => None,
    })
}

/// Returns how an intermediate value of a variable was made, if that is known.
fn between<'p>(part: &Term, path: &'p Path) -> Option<&'p Term> {
    let Term::Reference(NameReference {
        name,
        role: NameRole::State { version },
        ..
    }) = part
    else {
        return None;
    };
    let now = path.versions.get(name).copied().unwrap_or_default();
    (*version < now).then(|| path.between.get(&(name.clone(), *version)))?
}

/// Returns a collection after a call that changes it.
pub(super) fn after_call(call: &CallTerm) -> Option<Term> {
    let CallTarget::Method { object, name } = &call.callee else {
        return None;
    };
    let number = |number: i64| Some(Box::new(Term::from(PythonValue::integer(number))));
    let slice = |start, stop| Term::Slice {
        object: Box::new(object.clone()),
        start,
        stop,
        step: None,
    };
    let with = |operator, more: Term| Term::Binary {
        left: Box::new(object.clone()),
        operator,
        right: Box::new(more.fold_constants()),
    };
    let is_first = |at: &Term| at.as_value().and_then(PythonValue::as_integer) == Some(0);
    match (name.as_str(), call.arguments.as_slice()) {
        ("pop", []) => Some(slice(None, number(-1))),
        ("pop", [at]) if is_first(at) => Some(slice(number(1), None)),
        ("popleft", []) => Some(slice(number(1), None)),
        ("append", [one]) => Some(with(Operator::Add, Term::List(vec![one.clone()]))),
        ("add", [one]) => Some(with(Operator::BitOr, Term::Set(vec![one.clone()]))),
        _ => None,
    }
}
