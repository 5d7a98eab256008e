//! Coverage of models: the transitions that were taken, as branches are for code.

use std::cell::Cell;
use std::hash::{DefaultHasher, Hasher};

use rustc_hash::FxHashMap;
use testwright_core::product::ModelState;
use testwright_core::{ActionId, Coverage, TargetId, TemplateId};

use super::ProductSystem;
use crate::graph::key_of_states;

/// All transitions that were ever taken, numbered as coverage targets.
#[derive(Default)]
pub(super) struct TransitionCoverage {
    /// Target of each pair of states and action.
    numbers: FxHashMap<(u128, ActionId), TargetId>,
    /// For each target, one of the states it was taken in, and its action.
    transitions: Vec<(Vec<ModelState>, ActionId)>,
    /// Number of targets that `take_new` has reported.
    reported: Cell<usize>,
    /// Targets since the current test began.
    current_test: Coverage,
}

impl TransitionCoverage {
    /// Records that an action was taken in these states.
    pub(super) fn record(&mut self, states: &[Vec<ModelState>], action: ActionId) {
        let next = TargetId(u32::try_from(self.transitions.len()).unwrap_or(u32::MAX));
        let key = (key_of_states(states), action);
        let target = *self.numbers.entry(key).or_insert(next);
        if target == next {
            let state = states.first().cloned().unwrap_or_default();
            self.transitions.push((state, action));
        }
        self.current_test.insert(target);
    }

    /// Returns all targets that were ever taken.
    pub(super) fn all(&self) -> Coverage {
        (0..self.transitions.len() as u32).map(TargetId).collect()
    }

    /// Returns the targets that were taken for the first time since the last call.
    pub(super) fn take_new(&self) -> Vec<TargetId> {
        let new = self.reported.replace(self.transitions.len())..self.transitions.len();
        new.map(|number| TargetId(number as u32)).collect()
    }

    /// Starts counting for another test.
    pub(super) fn begin_test(&mut self) {
        self.current_test.clear();
    }

    /// Returns the targets that were taken in the current test.
    pub(super) fn current_test(&self) -> Coverage {
        self.current_test.clone()
    }
}

/// A taken transition, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenTransition {
    /// State before the transition.
    pub state: String,
    /// Action with its arguments.
    pub action: String,
}

impl ProductSystem<'_, '_> {
    /// Returns the transitions that were taken for the first time ever since the last call.
    pub fn take_new_transitions(&self) -> Vec<TargetId> {
        self.coverage.take_new()
    }

    /// Returns a key for a target that other processes understand: the template of its action, and
    /// a hash that is the same in all processes.
    pub fn transition_key(&self, target: TargetId) -> Option<(TemplateId, u64)> {
        let (state, action) = self.coverage.transitions.get(target.0 as usize)?;
        let mut hasher = DefaultHasher::new();
        for (model, model_state) in self.product.models().iter().zip(state) {
            // An export begins with a key of the state. The rest may be written in several ways.
            match model.export(*model_state) {
                Some(bytes) => hasher.write(&bytes[..bytes.len().min(size_of::<u128>())]),
                None => hasher.write(model.text(*model_state).as_bytes()),
            }
            hasher.write_u8(u8::MAX);
        }
        hasher.write(self.actions.text(*action).as_bytes());
        Some((self.actions.template_of(*action), hasher.finish()))
    }

    /// Returns the transition that a target stands for.
    pub fn transition(&self, target: TargetId) -> Option<TakenTransition> {
        let (state, action) = self.coverage.transitions.get(target.0 as usize)?;
        Some(TakenTransition {
            state: crate::state_text(self.product, state),
            action: self.actions.text(*action),
        })
    }
}
