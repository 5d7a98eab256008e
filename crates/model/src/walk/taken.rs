//! Which transitions were taken: what branches are for code, they are for models.

use std::cell::Cell;
use std::hash::{DefaultHasher, Hasher};

use rustc_hash::FxHashMap;
use testwright_core::product::Place;
use testwright_core::{ActionId, Coverage, TargetId, TemplateId};

use super::Walk;
use crate::graph::key_of_set;

/// All transitions that were ever taken.
#[derive(Default)]
pub(super) struct Taken {
    numbers: FxHashMap<(u128, ActionId), TargetId>,
    /// By target: one of the states that it was taken in, and the action.
    meaning: Vec<(Vec<Place>, ActionId)>,
    /// How many of them somebody has been told of.
    told: Cell<usize>,
    since: Coverage,
}

impl Taken {
    pub(super) fn note(&mut self, states: &[Vec<Place>], action: ActionId) {
        let next = TargetId(u32::try_from(self.meaning.len()).unwrap_or(u32::MAX));
        let key = (key_of_set(states), action);
        let target = *self.numbers.entry(key).or_insert(next);
        if target == next {
            let state = states.first().cloned().unwrap_or_default();
            self.meaning.push((state, action));
        }
        self.since.insert(target);
    }

    pub(super) fn all(&self) -> Coverage {
        (0..self.meaning.len() as u32).map(TargetId).collect()
    }

    pub(super) fn take_new(&self) -> Vec<TargetId> {
        let new = self.told.replace(self.meaning.len())..self.meaning.len();
        new.map(|number| TargetId(number as u32)).collect()
    }

    pub(super) fn begin_anew(&mut self) {
        self.since.clear();
    }

    pub(super) fn since(&self) -> Coverage {
        self.since.clone()
    }
}

/// A transition that was taken, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenTransition {
    /// The state that it was taken in.
    pub state: String,
    /// The action.
    pub action: String,
}

impl Walk<'_, '_> {
    /// What was taken for the first time ever, since somebody was last told of that.
    pub fn new_transitions(&self) -> Vec<TargetId> {
        self.taken.take_new()
    }

    /// What a target is, for another process: the place of its action's template, and a number that all processes give
    /// to this transition.
    pub fn transition_key(&self, target: TargetId) -> Option<(TemplateId, u64)> {
        let (state, action) = self.taken.meaning.get(target.0 as usize)?;
        let mut hasher = DefaultHasher::new();
        for (model, place) in self.product.models().iter().zip(state) {
            // It begins with what tells states apart; what follows may be written in several ways.
            match model.export(*place) {
                Some(bytes) => hasher.write(&bytes[..bytes.len().min(size_of::<u128>())]),
                None => hasher.write(model.text(*place).as_bytes()),
            }
            hasher.write_u8(u8::MAX);
        }
        hasher.write(self.actions.text(*action).as_bytes());
        Some((self.actions.template_of(*action), hasher.finish()))
    }

    /// What a target is.
    pub fn transition(&self, target: TargetId) -> Option<TakenTransition> {
        let (state, action) = self.taken.meaning.get(target.0 as usize)?;
        Some(TakenTransition {
            state: crate::state_text(self.product, state),
            action: self.actions.text(*action),
        })
    }
}
