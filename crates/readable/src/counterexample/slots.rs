//! The contents of a test's slots while the test is rendered.

use std::collections::BTreeMap;

use testwright_source::tree::{Expression, ExpressionKind};

use crate::phrase::Phraser;
use crate::term::{CallTarget, CallTerm, NameReference, NameRole, NameScope, Term, Type};

/// The slots of a test and the terms they hold.
pub(super) struct SlotTable<'a> {
    /// The term in each slot.
    pub(super) values: BTreeMap<String, Term>,
    /// The names of the pools.
    pub(super) pools: &'a [String],
    /// Further known names; attributes of a state machine as `self.name`.
    pub(super) names: &'a BTreeMap<String, Term>,
    pub(super) phraser: &'a Phraser<'a>,
}

impl SlotTable<'_> {
    /// Builds the term of an expression on the slots.
    pub(super) fn term(&self, expression: &Expression, text: &str) -> Term {
        self.term_in(expression, text, self)
    }

    /// Builds a term in a scope that knows more.
    pub(super) fn term_in(
        &self,
        expression: &Expression,
        text: &str,
        scope: &dyn NameScope,
    ) -> Term {
        Term::from_expression(expression, text, scope).map_parts(&mut |part| self.stored_slot(part))
    }

    /// Resolves `self.p_int[0]` to the slot `int0`, and `self.items` to a state variable.
    fn stored_slot(&self, part: &Term) -> Option<Term> {
        let own = |object: &Term| matches!(object, Term::Reference(NameReference { name, .. }) if name == "self");
        match part {
            Term::Item { object, index } => {
                let Term::Attribute { object, name } = &**object else {
                    return None;
                };
                let pool = name.strip_prefix("p_").filter(|_| own(object))?;
                let index = index.as_value()?.as_integer()?;
                Some(self.look_up(&slot_name(pool, &index.to_string())))
            }
            Term::Attribute { object, name } if own(object) => {
                let known = self.names.get(&format!("self.{name}")).cloned();
                let unlisted = || NameReference::new(name, NameRole::State { version: 0 }).into();
                Some(known.unwrap_or_else(unlisted))
            }
            _ => None,
        }
    }

    /// Returns the slot that a target names.
    pub(super) fn slot_of(&self, target: &Expression) -> Option<String> {
        match &target.kind {
            ExpressionKind::Name(name) => Some(name.clone()),
            ExpressionKind::Subscript { object, index } => match (&object.kind, &index.kind) {
                (ExpressionKind::Attribute { object, name }, ExpressionKind::Integer(index)) => {
                    let pool = name.strip_prefix("p_")?;
                    (object.as_name() == Some("self")).then(|| slot_name(pool, index))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Refers to the slot by its name from now on.
    pub(super) fn name_slot(&mut self, slot: &str, type_: Type) {
        let reference =
            NameReference::new(self.display_name(slot), NameRole::Phrase).with_type(type_);
        self.values.insert(slot.to_owned(), reference.into());
    }

    /// Returns the name of a slot, or the words that a names file has for its pool (X8).
    pub(super) fn display_name(&self, slot: &str) -> String {
        let pool = self.pools.iter().find_map(|pool| {
            let number = slot.strip_prefix(pool.as_str())?.trim_start_matches('_');
            number.parse::<u64>().ok().map(|number| (pool, number))
        });
        match pool {
            Some((pool, number)) if self.phraser.vocabulary().has_name(pool) => {
                format!("{} {}", self.phraser.words(pool), number + 1)
            }
            _ => slot.to_owned(),
        }
    }

    /// Returns the term in a slot, or its name if nothing is known of it.
    fn look_up(&self, slot: &str) -> Term {
        let unknown = || NameReference::new(self.display_name(slot), NameRole::Phrase).into();
        self.values.get(slot).cloned().unwrap_or_else(unknown)
    }

    /// Returns true if a name is that of a slot.
    fn is_slot(&self, name: &str) -> bool {
        self.values.contains_key(name)
            || self.pools.iter().any(|pool| {
                let number = name
                    .strip_prefix(pool.as_str())
                    .map(|rest| rest.trim_start_matches('_'));
                number.is_some_and(|number| {
                    !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
                })
            })
    }
}

/// Returns the name of a slot as the harness shows it: `int0`, or `c1_0` if the pool's name ends in
/// a digit.
fn slot_name(pool: &str, index: &str) -> String {
    if pool.ends_with(|last: char| last.is_ascii_digit()) {
        format!("{pool}_{index}")
    } else {
        format!("{pool}{index}")
    }
}

impl NameScope for SlotTable<'_> {
    fn resolve_name(&self, name: &str) -> Option<Term> {
        if self.is_slot(name) {
            Some(self.look_up(name))
        } else {
            self.names.get(name).cloned()
        }
    }

    fn resolve_call(&self, call: &CallTerm) -> Option<Term> {
        match (&call.callee, call.arguments.as_slice()) {
            (CallTarget::Function { module: None, name }, [earlier]) if name == "pre" => {
                Some(Term::Earlier(Box::new(earlier.clone())))
            }
            _ => None,
        }
    }

    /// Returns true for every name that is neither a slot nor `self`: in a test, such an object is
    /// a module.
    fn is_module(&self, name: &str) -> bool {
        !self.is_slot(name) && name != "self"
    }
}
