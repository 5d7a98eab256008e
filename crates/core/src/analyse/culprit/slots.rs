//! The history of the slots of a test: after which steps they differ from the reference.

use std::collections::BTreeMap;

use super::search::Proceed;
use crate::replay::ReplayWatcher;
use crate::{Catalog, PoolId, SlotComparison, SlotRole, Step, System, Test, TraceEvent};

/// Observations after each step of a test.
#[derive(Default)]
pub(super) struct SlotHistory {
    /// The comparisons of slots, by pool and index.
    pub(super) slots: Vec<BTreeMap<(PoolId, u32), SlotComparison>>,
    /// The keys of the states.
    pub(super) states: Vec<Option<u128>>,
}

impl SlotHistory {
    /// Returns the position of the step after which a slot differs, up to the step before `end`. `None` if it
    /// does not differ there, or may always have differed.
    pub(super) fn begin_of_difference(
        &self,
        catalog: &Catalog,
        test: &Test,
        slot: (PoolId, u32),
        end: usize,
    ) -> Option<usize> {
        let differs = |position: usize| {
            let compared = self.slots.get(position)?.get(&slot)?;
            Some(!compared.differences.is_empty())
        };
        let differing = (0..end)
            .rev()
            .take_while(|position| differs(*position) == Some(true));
        let first = differing.last()?;
        let is_new = first == 0
            || differs(first - 1).is_none()
            || slots_of(catalog, test, first)
                .any(|(other, role)| other == slot && role == SlotRole::Definition);
        let is_proven = !is_new || self.slots[first][&slot].is_comparable;
        is_proven.then_some(first)
    }

    /// Returns true if there is no reference, and a step changes the state.
    pub(super) fn is_changed(&self, position: usize) -> bool {
        let [before, after] = [position - 1, position].map(|position| self.states.get(position));
        self.slots.iter().all(BTreeMap::is_empty) && before != after
    }

    /// Returns true if no slot differs after a step.
    pub(super) fn agrees(&self, position: usize) -> bool {
        let compared = self.slots.get(position);
        compared.is_some_and(|slots| {
            !slots.is_empty() && slots.values().all(|one| one.differences.is_empty())
        })
    }
}

/// Returns the slots that a step names, with their roles.
pub(super) fn slots_of(
    catalog: &Catalog,
    test: &Test,
    position: usize,
) -> impl Iterator<Item = ((PoolId, u32), SlotRole)> + use<> {
    let slots = match test.steps.get(position) {
        Some(Step::Act(action)) => catalog.slots(*action),
        _ => Vec::new(),
    };
    slots
        .into_iter()
        .map(|(pool, slot, role)| ((pool, slot), role))
}

/// Records the comparisons of slots while a test runs.
pub(super) struct SlotWatcher<'a, 'p> {
    pub(super) proceed: &'a mut Proceed<'p>,
    pub(super) history: SlotHistory,
}

impl<S: System + ?Sized> ReplayWatcher<S> for SlotWatcher<'_, '_> {
    fn proceed(&mut self) -> bool {
        (self.proceed.0)()
    }

    fn after_step(&mut self, system: &mut S, _event: &TraceEvent) {
        let state = system.examine().unwrap_or_default();
        self.history.states.push(state.state);
        let slots = state.slots.into_iter();
        self.history
            .slots
            .push(slots.map(|one| ((one.pool, one.slot), one)).collect());
    }
}
