//! What the slots of a test hold while it is told.

use std::collections::BTreeMap;

use testwright_source::tree::{Expression, ExpressionKind};

use crate::phrase::Speaker;
use crate::term::{Call, Callee, Reference, Role, Scope, Term, Type};

/// What the slots hold.
pub(super) struct Slots<'a> {
    pub(super) values: BTreeMap<String, Term>,
    pub(super) pools: &'a [String],
    /// What else is known by name; attributes of a state machine as `self.name`.
    pub(super) known: &'a BTreeMap<String, Term>,
    pub(super) speaker: &'a Speaker<'a>,
}

impl Slots<'_> {
    pub(super) fn term(&self, expression: &Expression, text: &str) -> Term {
        self.term_in(expression, text, self)
    }

    /// The same in a scope that knows more.
    pub(super) fn term_in(&self, expression: &Expression, text: &str, scope: &dyn Scope) -> Term {
        Term::read(expression, text, scope).replaced(&mut |part| self.stored_slot(part))
    }

    /// `self.p_int[0]` is the slot `int0`, and `self.items` what a state machine remembers.
    fn stored_slot(&self, part: &Term) -> Option<Term> {
        let own = |object: &Term| matches!(object, Term::Reference(Reference { name, .. }) if name == "self");
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
                let known = self.known.get(&format!("self.{name}")).cloned();
                let unlisted = || Reference::new(name, Role::State { version: 0 }).into();
                Some(known.unwrap_or_else(unlisted))
            }
            _ => None,
        }
    }

    /// The slot that a target names.
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

    /// From now on it is spoken of by its name.
    pub(super) fn hold(&mut self, slot: &str, type_: Type) {
        let reference = Reference::new(self.shown(slot), Role::Phrase).with_type(type_);
        self.values.insert(slot.to_owned(), reference.into());
    }

    /// The name of a slot, or what a names file makes of its pool (X8).
    pub(super) fn shown(&self, slot: &str) -> String {
        let pool = self.pools.iter().find_map(|pool| {
            let number = slot.strip_prefix(pool.as_str())?.trim_start_matches('_');
            number.parse::<u64>().ok().map(|number| (pool, number))
        });
        match pool {
            Some((pool, number)) if self.speaker.vocabulary().has_name(pool) => {
                format!("{} {}", self.speaker.words(pool), number + 1)
            }
            _ => slot.to_owned(),
        }
    }

    fn look_up(&self, slot: &str) -> Term {
        let unknown = || Reference::new(self.shown(slot), Role::Phrase).into();
        self.values.get(slot).cloned().unwrap_or_else(unknown)
    }

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

/// As the harness shows it: `int0`, or `c1_0` where the name itself ends in a digit.
fn slot_name(pool: &str, index: &str) -> String {
    if pool.ends_with(|last: char| last.is_ascii_digit()) {
        format!("{pool}_{index}")
    } else {
        format!("{pool}{index}")
    }
}

impl Scope for Slots<'_> {
    fn name(&self, name: &str) -> Option<Term> {
        if self.is_slot(name) {
            Some(self.look_up(name))
        } else {
            self.known.get(name).cloned()
        }
    }

    fn call(&self, call: &Call) -> Option<Term> {
        match (&call.callee, call.arguments.as_slice()) {
            (Callee::Function { module: None, name }, [earlier]) if name == "pre" => {
                Some(Term::Earlier(Box::new(earlier.clone())))
            }
            _ => None,
        }
    }

    /// In a test, whatever something is taken out of and is no slot is a module.
    fn is_module(&self, name: &str) -> bool {
        !self.is_slot(name) && name != "self"
    }
}
