//! Aliases: after `a = stack; a.append(1)`, the stack has changed, and `a` has one more element as
//! well. Only assigning another object to the variable leaves the old one to its alias.

use testwright_source::tree::{Expression, ExpressionKind, Statement, StatementKind};

use super::assign::{is_collection, is_fresh};
use super::cycle::{bodies, holder};
use super::{Execution, Frame, Path, Work};
use crate::explain::flow::{Event, root};
use crate::term::{MUTATING_METHODS, NameReference, NameRole, Term};

impl Path {
    /// Records that the next change of a variable assigns another object.
    pub(super) fn replaces(&mut self, target: &Term) {
        if let Term::Reference(variable) = target
            && let NameRole::State { .. } = variable.role
        {
            let next = self.version(&variable.name) + 1;
            self.same_since.insert(variable.name.clone(), next);
        }
    }

    /// Returns the current meaning of a local: the current version of a variable, if that is still
    /// the object which the local got.
    pub(super) fn met_again(&self, value: Term) -> Term {
        match value {
            Term::Reference(variable) if self.is_same(&variable) => self.now(&variable).into(),
            other => other,
        }
    }

    /// Returns true if a local has kept an object that the variable no longer is.
    pub(super) fn is_left_alone(&self, value: &Term) -> bool {
        matches!(value, Term::Reference(variable)
            if matches!(variable.role, NameRole::State { .. }) && !self.is_same(variable))
    }

    fn is_same(&self, variable: &NameReference) -> bool {
        let since = self.same_since.get(&variable.name).copied();
        matches!(variable.role, NameRole::State { version } if version >= since.unwrap_or_default())
    }

    fn version(&self, name: &str) -> u32 {
        self.versions.get(name).copied().unwrap_or_default()
    }

    fn now(&self, variable: &NameReference) -> NameReference {
        let version = self.version(&variable.name);
        NameReference {
            role: NameRole::State { version },
            ..variable.clone()
        }
    }
}

impl<'w> Execution<'w> {
    /// Names a local's own collection that gets an alias, or is put somewhere, and changes later.
    /// So the later change is described as one of that collection.
    pub(super) fn name_shared(
        &self,
        statement: &'w Statement,
        work: &Work<'w>,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) {
        let mut shared = Vec::new();
        let mut names = Vec::new();
        match &statement.kind {
            StatementKind::Assign { targets, value } => {
                put(value, &mut shared);
                names.extend(targets.iter().filter_map(Expression::as_name));
            }
            StatementKind::Expression(expression) => {
                if let ExpressionKind::Call { arguments, .. } = &expression.kind
                    && changed_by(expression).is_some()
                {
                    arguments.iter().for_each(|one| put(one, &mut shared));
                }
            }
            _ => {}
        }
        for name in shared {
            let Some(known) = path.locals.get(name) else {
                continue;
            };
            let is_own = is_collection(known) && is_fresh(&self.expanded(known));
            let is_known = frame.globals.contains(name) || path.loose.contains(name);
            let changes = |one: &str| work.iter().any(|later| changes_in_place(later, one));
            if is_own && !is_known && (changes(name) || names.iter().any(|one| changes(one))) {
                self.loosen(name, &statement.range, path, events);
            }
        }
    }

    /// Updates locals that stand for an element or entry which has just changed.
    pub(super) fn follow(&self, changed: &Term, path: &mut Path) {
        if root(changed).is_none() || matches!(changed, Term::Reference(_)) {
            return;
        }
        let changed = self.expanded(changed);
        let now = changed.map_parts(&mut |part| match part {
            Term::Reference(one) if matches!(one.role, NameRole::State { .. }) => {
                Some(path.now(one).into())
            }
            _ => None,
        });
        let kept: Vec<String> = path.locals.keys().cloned().collect();
        for name in kept {
            if let Some(value) = path.locals.get_mut(&name)
                && self.expanded(value) == changed
            {
                *value = now.clone();
            }
        }
    }
}

/// Collects the names whose values are put somewhere unchanged.
fn put<'e>(value: &'e Expression, names: &mut Vec<&'e str>) {
    match &value.kind {
        ExpressionKind::Name(name) => names.push(name),
        ExpressionKind::List(items) | ExpressionKind::Tuple(items) => {
            items.iter().for_each(|item| put(item, names));
        }
        ExpressionKind::Dictionary(entries) => {
            entries.iter().for_each(|(_, item)| put(item, names));
        }
        _ => {}
    }
}

/// Returns the object that a call changes, if it is a collection.
fn changed_by(expression: &Expression) -> Option<&Expression> {
    let ExpressionKind::Call { function, .. } = &expression.kind else {
        return None;
    };
    match &function.kind {
        ExpressionKind::Attribute { object, name } if MUTATING_METHODS.contains(&name.as_str()) => {
            Some(object)
        }
        _ => None,
    }
}

/// Returns true if a statement changes the object of a name, rather than assigning the name.
fn changes_in_place(statement: &Statement, name: &str) -> bool {
    let is_inside = |target: &Expression| {
        let is_part = matches!(target.kind, ExpressionKind::Subscript { .. });
        is_part && holder(target).as_name() == Some(name)
    };
    let is_changed = |value: &Expression| {
        changed_by(value).is_some_and(|object| holder(object).as_name() == Some(name))
    };
    let changes = match &statement.kind {
        StatementKind::Assign { targets, value } => {
            targets.iter().any(is_inside) || is_changed(value)
        }
        StatementKind::Augmented { target, .. } => holder(target).as_name() == Some(name),
        StatementKind::Delete(targets) => targets.iter().any(is_inside),
        StatementKind::Expression(value) => is_changed(value),
        _ => false,
    };
    let inside = bodies(statement).into_iter().flatten();
    changes
        || inside
            .into_iter()
            .any(|inner| changes_in_place(inner, name))
}
