//! Locals for which there is no expression, because what they are given depends on rounds or failures: they are told of like
//! state variables.

use testwright_source::Range;

use super::{Execution, Path, event};
use crate::explain::flow::{Event, EventKind};
use crate::term::{Change, Reference, Role, Term};

impl Execution<'_> {
    /// From now on a local is told of like a variable: its changes are events.
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
            change: Change::Assign {
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
    /// A local that is going to be told of like a variable, and is not given anything yet.
    pub(super) fn hold(&mut self, name: &str) {
        self.loose.insert(name.to_owned());
        self.locals.insert(name.to_owned(), loose(name));
    }
}

pub(super) fn loose(name: &str) -> Term {
    Reference::new(name, Role::Local).into()
}
