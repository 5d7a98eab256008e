//! Two names for one object: `a = stack; a.append(1)` changes the stack, and `a` has one element more as well. Only a variable
//! that is given another object leaves the old one to whoever has kept it.

use super::{Execution, Path};
use crate::explain::flow::root;
use crate::term::{Reference, Role, Term};

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

impl Execution<'_> {
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
