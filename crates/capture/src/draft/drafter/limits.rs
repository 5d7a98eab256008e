//! Adjustments to all actions together.

use std::collections::BTreeSet;

use super::super::action::{ActionCallee, ArgumentSource};
use super::super::guard;
use super::Drafter;

impl Drafter<'_> {
    /// Adds guards to actions that could let objects grow without limit, such as adding an object
    /// to itself.
    pub(super) fn guard_growth(&mut self) {
        let sized: BTreeSet<usize> = (0..self.classes.len())
            .filter(|number| {
                let class = self.classes.get(*number).map(|class| &class.reference);
                let methods = class
                    .map(|class| self.api.methods(class))
                    .unwrap_or_default();
                methods
                    .iter()
                    .any(|method| method.definition.name == "__len__")
            })
            .collect();
        for action in &mut self.actions {
            let ActionCallee::Member { class, name, .. } = &action.callee else {
                continue;
            };
            let is_doubled = action
                .arguments
                .iter()
                .any(|argument| argument.source == ArgumentSource::Object(*class));
            let grows = matches!(
                name.as_str(),
                "__add__" | "__iadd__" | "__radd__" | "__mul__" | "__imul__" | "__rmul__"
            );
            let compares = matches!(
                name.as_str(),
                "__eq__" | "__ne__" | "__lt__" | "__le__" | "__gt__" | "__ge__" | "__contains__"
            );
            if sized.contains(class) && (grows || is_doubled) && !compares {
                action.guard = Some(guard::size_guard());
                action.note.push_str("; kept small");
            }
        }
    }

    /// Comments out actions that need an object which no action makes.
    pub(super) fn leave_out_unreachable(&mut self) {
        loop {
            let made: BTreeSet<usize> = self
                .actions
                .iter()
                .filter(|action| action.comment_reason.is_none())
                // An action that only makes objects from objects of the same class cannot make the
                // first one.
                .filter(|action| {
                    !action
                        .result
                        .is_some_and(|class| action.needed_classes().contains(&class))
                })
                .filter_map(|action| action.result)
                .collect();
            let mut changed = false;
            for action in &mut self.actions {
                let lacking = action
                    .needed_classes()
                    .into_iter()
                    .find(|class| !made.contains(class));
                if let (None, Some(class)) = (&action.comment_reason, lacking) {
                    let name = self
                        .classes
                        .get(class)
                        .map_or("", |class| class.reference.name());
                    action.comment_reason =
                        Some(format!("nothing here makes an object of `{name}`"));
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }
}
