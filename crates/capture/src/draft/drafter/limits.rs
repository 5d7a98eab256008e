//! What is done to all actions together when they are known.

use std::collections::BTreeSet;

use super::super::action::{Callee, What};
use super::super::guard;
use super::Drafter;

impl Drafter<'_> {
    /// What is added to itself, or multiplied, grows without end.
    pub(super) fn keep_small(&mut self) {
        let sized: BTreeSet<usize> = (0..self.classes.len())
            .filter(|number| {
                let class = self.classes.get(*number).map(|class| &class.reference);
                let methods = class
                    .map(|class| self.surface.methods(class))
                    .unwrap_or_default();
                methods
                    .iter()
                    .any(|method| method.definition.name == "__len__")
            })
            .collect();
        for action in &mut self.actions {
            let Callee::Of { class, name, .. } = &action.callee else {
                continue;
            };
            let is_doubled = action
                .arguments
                .iter()
                .any(|argument| argument.what == What::Object(*class));
            let grows = matches!(
                name.as_str(),
                "__add__" | "__iadd__" | "__radd__" | "__mul__" | "__imul__" | "__rmul__"
            );
            let compares = matches!(
                name.as_str(),
                "__eq__" | "__ne__" | "__lt__" | "__le__" | "__gt__" | "__ge__" | "__contains__"
            );
            if sized.contains(class) && (grows || is_doubled) && !compares {
                action.guard = Some(guard::against_growth());
                action.note.push_str("; kept small");
            }
        }
    }

    /// An action that needs an object which no action makes can never be taken.
    pub(super) fn leave_out_what_nothing_makes(&mut self) {
        loop {
            let made: BTreeSet<usize> = self
                .actions
                .iter()
                .filter(|action| action.left_out.is_none())
                // Something that only makes objects from objects of the same class does not begin.
                .filter(|action| {
                    !action
                        .result
                        .is_some_and(|class| action.needs().contains(&class))
                })
                .filter_map(|action| action.result)
                .collect();
            let mut changed = false;
            for action in &mut self.actions {
                let lacking = action
                    .needs()
                    .into_iter()
                    .find(|class| !made.contains(class));
                if let (None, Some(class)) = (&action.left_out, lacking) {
                    let name = self
                        .classes
                        .get(class)
                        .map_or("", |class| class.reference.name());
                    action.left_out = Some(format!("nothing here makes an object of `{name}`"));
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }
}
