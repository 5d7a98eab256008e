//! Assignment of other slots to values: NoReassigns, ReplacePool, ReplaceMovePool and SwapPool.
//!
//! The lifetime of a value begins at its definition and ends at its last use before the slot is
//! overwritten. These rules move whole lifetimes, where TSTL tries all pairs of positions: a
//! renaming that begins or ends within a lifetime separates a use from its value, and is disabled.

use super::super::alpha::SlotNumbering;
use super::super::dataflow::{self, Slot, defined_slots, mentioned_slots, with_definition};
use super::super::reuse::{mentions_slot, slot_lifetime as lifetime_of, with_renamed_slot};
use super::super::trials::ShrinkStop;
use super::Normalizer;
use crate::{Catalog, Step, System};

impl<S: System + ?Sized> Normalizer<'_, '_, '_, S> {
    /// Gives every value its own slot, as far as there are slots. Returns true if the test changed.
    pub(super) fn remove_reassigns(&mut self) -> Result<bool, ShrinkStop> {
        let mut changed = false;
        while let Some(steps) = without_reassign(self.catalog(), self.steps()) {
            if !self.attempt_in_place(steps)? {
                break;
            }
            changed = true;
        }
        Ok(changed)
    }

    /// Gives values lower slots, throughout the test or for one lifetime. Returns true if the test
    /// changed.
    pub(super) fn replace_slots(&mut self) -> Result<bool, ShrinkStop> {
        let mut changed = self.renumber()?;
        while self.lower_slot()? || self.lower_lifetime()? {
            changed = true;
        }
        Ok(changed)
    }

    /// Renumbers all slots in order of definition, if that is lower.
    fn renumber(&mut self) -> Result<bool, ShrinkStop> {
        let numbering = SlotNumbering::for_steps(self.catalog(), self.steps());
        if numbering.is_identity() {
            return Ok(false);
        }
        let steps = numbering.apply(self.catalog(), self.steps());
        self.attempt_in_place(steps)
    }

    /// Replaces a slot by a lower one throughout the test.
    fn lower_slot(&mut self) -> Result<bool, ShrinkStop> {
        for (pool, slot) in mentioned_slots(self.catalog(), self.steps()) {
            for lower in 0..slot {
                let rename = |step: &Step| {
                    with_renamed_slot(self.catalog(), *step, (pool, slot), (pool, lower))
                };
                let steps = self.steps().iter().map(rename).collect();
                if self.attempt_in_place(steps)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Moves one value to a lower slot.
    fn lower_lifetime(&mut self) -> Result<bool, ShrinkStop> {
        for index in 0..self.steps().len() {
            for slot in defined_slots(self.catalog(), self.steps()[index]) {
                for lower in 0..slot.1 {
                    for step_move in StepMove::ALL {
                        let Some(order) =
                            step_move.order(self.catalog(), self.steps(), index, slot, lower)
                        else {
                            continue;
                        };
                        let steps =
                            with_lifetime_in(self.catalog(), self.steps(), index, slot, lower);
                        let kept = &self.reducer.current.kept;
                        let steps = order.iter().map(|position| steps[*position]).collect();
                        let kept = order.iter().map(|position| kept[*position]).collect();
                        if self.attempt(steps, kept)? {
                            return Ok(true);
                        }
                    }
                }
            }
        }
        Ok(false)
    }

    /// Swaps two slots of a pool, from one definition to another. Returns true if the test changed.
    pub(super) fn swap_slots(&mut self) -> Result<bool, ShrinkStop> {
        let mut changed = false;
        while self.swap_two_slots()? {
            changed = true;
        }
        Ok(changed)
    }

    /// Tries to swap each pair of slots. Returns true at the first success.
    fn swap_two_slots(&mut self) -> Result<bool, ShrinkStop> {
        let slots = mentioned_slots(self.catalog(), self.steps());
        for (pool, high) in &slots {
            for low in 0..*high {
                let (high, low) = ((*pool, *high), (*pool, low));
                let is_border = |position: &usize| {
                    let filled = defined_slots(self.catalog(), self.steps()[*position]);
                    filled.contains(&high) || filled.contains(&low)
                };
                let borders: Vec<usize> = (1..self.steps().len()).filter(is_border).collect();
                let starts = || std::iter::once(0).chain(borders.iter().copied());
                let ends =
                    || std::iter::once(self.steps().len()).chain(borders.iter().rev().copied());
                let ranges: Vec<_> = starts()
                    .flat_map(|start| ends().map(move |end| start..end))
                    .filter(|range| range.start < range.end)
                    .collect();
                for range in ranges {
                    let steps = with_swapped_slots(self.catalog(), self.steps(), range, high, low);
                    if self.attempt_in_place(steps)? {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }
}

/// The steps to move when a value moves into a slot that temporarily holds another one.
#[derive(Clone, Copy)]
enum StepMove {
    /// No steps.
    Nothing,
    /// Move the uses of the other value before the definition.
    OthersBefore,
    /// Move the definition to just before its first use.
    DefinitionAfter,
    /// Move the definition and all its uses before the definition of the other value.
    LifetimeBefore,
    /// Move the definition and all its uses after the last use of the other value.
    LifetimeAfter,
}

impl StepMove {
    const ALL: [StepMove; 5] = [
        StepMove::Nothing,
        StepMove::OthersBefore,
        StepMove::DefinitionAfter,
        StepMove::LifetimeBefore,
        StepMove::LifetimeAfter,
    ];

    /// Returns the new order of the steps; `None` if it is the old one.
    fn order(
        self,
        catalog: &Catalog,
        steps: &[Step],
        index: usize,
        slot: Slot,
        lower: u32,
    ) -> Option<Vec<usize>> {
        let all = 0..steps.len();
        let lifetime = lifetime_of(catalog, steps, index, slot);
        match self {
            StepMove::Nothing => Some(all.collect()),
            StepMove::OthersBefore => {
                let last = lifetime.last().copied()?;
                let in_the_way = |position: &usize| {
                    *position > index
                        && *position < last
                        && mentions_slot(catalog, steps[*position], (slot.0, lower))
                };
                let others: Vec<usize> = all.clone().filter(in_the_way).collect();
                if others.is_empty() {
                    return None;
                }
                let rest = || all.clone().filter(|position| !others.contains(position));
                let before = rest().take_while(|position| *position < index);
                let after = rest().skip_while(|position| *position < index);
                Some(before.chain(others.iter().copied()).chain(after).collect())
            }
            StepMove::DefinitionAfter => {
                let first = lifetime
                    .first()
                    .copied()
                    .filter(|first| *first > index + 1)?;
                let before = all.clone().take_while(|position| *position < first);
                let before = before.filter(|position| *position != index);
                Some(before.chain([index]).chain(first..steps.len()).collect())
            }
            StepMove::LifetimeBefore | StepMove::LifetimeAfter => {
                let target = (slot.0, lower);
                let fills =
                    |position: &usize| defined_slots(catalog, steps[*position]).contains(&target);
                let other = (0..index).rev().find(fills)?;
                let border = match self {
                    StepMove::LifetimeBefore => other,
                    _ => lifetime_of(catalog, steps, other, target)
                        .last()
                        .map(|last| last + 1)?,
                };
                let is_moved = |position: &usize| *position == index || lifetime.contains(position);
                let moved = all.clone().filter(is_moved);
                let before = (0..border).filter(|position| !is_moved(position));
                let after = (border..steps.len()).filter(|position| !is_moved(position));
                let order: Vec<usize> = before.chain(moved).chain(after).collect();
                (!order.is_sorted()).then_some(order)
            }
        }
    }
}

/// Moves the value that is put into `slot` at `index` to another slot, up to its last use.
fn with_lifetime_in(
    catalog: &Catalog,
    steps: &[Step],
    index: usize,
    slot: Slot,
    to: u32,
) -> Vec<Step> {
    let mut changed = steps.to_vec();
    for position in lifetime_of(catalog, steps, index, slot) {
        changed[position] = with_renamed_slot(catalog, steps[position], slot, (slot.0, to));
    }
    changed[index] = with_definition(catalog, steps[index], slot, to);
    changed
}

/// Swaps two slots in some steps.
fn with_swapped_slots(
    catalog: &Catalog,
    steps: &[Step],
    range: std::ops::Range<usize>,
    one: Slot,
    other: Slot,
) -> Vec<Step> {
    let mut changed = steps.to_vec();
    for step in &mut changed[range] {
        let Step::Act(action) = *step else { continue };
        *step = Step::Act(catalog.rename(action, |pool, slot| match (pool, slot) {
            now if now == one => other.1,
            now if now == other => one.1,
            _ => slot,
        }));
    }
    changed
}

/// Moves the first value that would overwrite another one to an unused slot; `None` if there is no
/// such value or slot.
fn without_reassign(catalog: &Catalog, steps: &[Step]) -> Option<Vec<Step>> {
    let used = mentioned_slots(catalog, steps);
    let mut filled: Vec<Slot> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        for slot in defined_slots(catalog, *step) {
            if filled.contains(&slot) {
                let mut free =
                    (0..catalog.pool(slot.0).size).filter(|free| !used.contains(&(slot.0, *free)));
                let free = free.next()?;
                let mut changed = steps.to_vec();
                for later in &mut changed[index + 1..] {
                    *later = with_renamed_slot(catalog, *later, slot, (slot.0, free));
                }
                changed[index] = with_definition(catalog, *step, slot, free);
                return Some(changed);
            }
            filled.push(slot);
        }
    }
    debug_assert_eq!(dataflow::count_reassigns(catalog, steps), 0);
    None
}
