//! Two names for one object: `a = stack; a.append(1)` changes the stack, and `a` has one element more as well. Only a variable
//! that is given another object leaves the old one to whoever has kept it.

use testwright_source::tree::{Expression, ExpressionKind, Statement, StatementKind};

use super::assign::{is_collection, is_fresh};
use super::cycle::{bodies, holder};
use super::{Execution, Frame, Path, Work};
use crate::explain::flow::{Event, root};
use crate::term::{CHANGING, Reference, Role, Term};

impl Path {
    /// With its next change a variable is given another object as a whole.
    pub(super) fn replaces(&mut self, target: &Term) {
        if let Term::Reference(variable) = target
            && let Role::State { .. } = variable.role
        {
            let next = self.version(&variable.name) + 1;
            self.same_since.insert(variable.name.clone(), next);
        }
    }

    /// What a local stands for now: a variable, as it is by now, if that is still the object which the local was given.
    pub(super) fn met_again(&self, value: Term) -> Term {
        match value {
            Term::Reference(variable) if self.is_same(&variable) => self.now(&variable).into(),
            other => other,
        }
    }

    /// Whether a local has kept an object that the variable no longer is.
    pub(super) fn is_left_alone(&self, value: &Term) -> bool {
        matches!(value, Term::Reference(variable)
            if matches!(variable.role, Role::State { .. }) && !self.is_same(variable))
    }

    fn is_same(&self, variable: &Reference) -> bool {
        let since = self.same_since.get(&variable.name).copied();
        matches!(variable.role, Role::State { version } if version >= since.unwrap_or_default())
    }

    fn version(&self, name: &str) -> u32 {
        self.versions.get(name).copied().unwrap_or_default()
    }

    fn now(&self, variable: &Reference) -> Reference {
        let version = self.version(&variable.name);
        Reference {
            role: Role::State { version },
            ..variable.clone()
        }
    }
}

impl<'w> Execution<'w> {
    /// A collection that a local has for itself gets another name, or is put somewhere, and changes later on: it is told of by
    /// its name, so that the change is a change of what was put there.
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

    /// Locals that stand for an element or entry which has just changed go on to stand for it.
    pub(super) fn follow(&self, changed: &Term, path: &mut Path) {
        if root(changed).is_none() || matches!(changed, Term::Reference(_)) {
            return;
        }
        let changed = self.expanded(changed);
        let now = changed.replaced(&mut |part| match part {
            Term::Reference(one) if matches!(one.role, Role::State { .. }) => {
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

/// The names of what is put somewhere as it is.
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

/// What a call changes if it is a collection.
fn changed_by(expression: &Expression) -> Option<&Expression> {
    let ExpressionKind::Call { function, .. } = &expression.kind else {
        return None;
    };
    match &function.kind {
        ExpressionKind::Attribute { object, name } if CHANGING.contains(&name.as_str()) => {
            Some(object)
        }
        _ => None,
    }
}

/// Whether a statement changes what a name stands for, rather than what it is a name of.
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
