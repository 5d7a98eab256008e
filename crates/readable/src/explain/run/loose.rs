//! Loose locals: their value depends on rounds or failures, so they have no expression and are
//! described like state variables.

use testwright_source::Range;

use super::{Execution, Path, event};
use crate::explain::flow::{Event, EventKind};
use crate::term::{EffectTerm, NameReference, NameRole, Term};

impl Execution<'_> {
    /// Makes a local loose: from now on its changes are events.
    pub(super) fn loosen(
        &self,
        name: &str,
        range: &Range,
        path: &mut Path,
        events: &mut Vec<Event>,
    ) {
        if !path.loose.insert(name.to_owned()) {
            return;
        }
        if let Some(value) = path.locals.get(name).cloned() {
            self.change_loose(name, value, true, range, path, events);
        }
    }

    pub(super) fn change_loose(
        &self,
        name: &str,
        value: Term,
        is_new: bool,
        range: &Range,
        path: &mut Path,
        events: &mut Vec<Event>,
    ) {
        let type_ = value.type_of();
        let target = loose(name);
        let kind = EventKind::Change {
            change: EffectTerm::Assign {
                target: target.clone(),
                value,
            },
            is_new,
            giving: vec![],
        };
        events.push(event(kind, range));
        let known = match target {
            Term::Reference(reference) => reference.with_type(type_).into(),
            other => other,
        };
        path.locals.insert(name.to_owned(), known);
    }
}

impl Path {
    /// Marks a local as loose before it has a value.
    pub(super) fn hold(&mut self, name: &str) {
        self.loose.insert(name.to_owned());
        self.locals.insert(name.to_owned(), loose(name));
    }
}

pub(super) fn loose(name: &str) -> Term {
    NameReference::new(name, NameRole::Local).into()
}
