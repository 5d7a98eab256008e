//! Other slots for values: NoReassigns, ReplacePool, ReplaceMovePool and SwapPool.
//!
//! A value lives in its slot from the step that puts it there to its last use before the slot is filled again. These
//! lives are what the rules move, where TSTL tries all pairs of positions: a renaming that begins or ends within a life
//! cuts a use off from its value, and is disabled.

use super::super::alpha::Numbering;
use super::super::dataflow::{self, Slot, definitions, mentioned, with_definition};
use super::super::reuse::{life as life_of, mentions, renamed};
use super::super::trials::Stop;
use super::Normalizer;
use crate::{Catalog, Step, System};

impl<S: System + ?Sized> Normalizer<'_, '_, '_, S> {
    /// A slot of its own for every value, as far as there are slots. True if there was a success.
    pub(super) fn fill_no_slot_twice(&mut self) -> Result<bool, Stop> {
        let mut changed = false;
        while let Some(steps) = without_reassign(self.catalog(), self.steps()) {
            if !self.attempt_in_place(steps)? {
                break;
            }
            changed = true;
        }
        Ok(changed)
    }

    /// Lower slots for values, throughout the test or for one life. True if there was a success.
    pub(super) fn replace_slots(&mut self) -> Result<bool, Stop> {
        let mut changed = self.renumber()?;
        while self.replace_a_slot()? || self.replace_a_life()? {
            changed = true;
        }
        Ok(changed)
    }

    /// All slots in order of definition, if that is lower.
    fn renumber(&mut self) -> Result<bool, Stop> {
        let numbering = Numbering::of(self.catalog(), self.steps());
        if numbering.is_identity() {
            return Ok(false);
        }
        let steps = numbering.apply(self.catalog(), self.steps());
        self.attempt_in_place(steps)
    }

    /// A lower slot throughout the test.
    fn replace_a_slot(&mut self) -> Result<bool, Stop> {
        for (pool, slot) in mentioned(self.catalog(), self.steps()) {
            for lower in 0..slot {
                let rename =
                    |step: &Step| renamed(self.catalog(), *step, (pool, slot), (pool, lower));
                let steps = self.steps().iter().map(rename).collect();
                if self.attempt_in_place(steps)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// A lower slot for one value.
    fn replace_a_life(&mut self) -> Result<bool, Stop> {
        for index in 0..self.steps().len() {
            for slot in definitions(self.catalog(), self.steps()[index]) {
                for lower in 0..slot.1 {
                    for order in Moved::ALL {
                        let Some(places) =
                            order.places(self.catalog(), self.steps(), index, slot, lower)
                        else {
                            continue;
                        };
                        let steps = with_life_in(self.catalog(), self.steps(), index, slot, lower);
                        let kept = &self.reducer.current.kept;
                        let steps = places.iter().map(|place| steps[*place]).collect();
                        let kept = places.iter().map(|place| kept[*place]).collect();
                        if self.attempt(steps, kept)? {
                            return Ok(true);
                        }
                    }
                }
            }
        }
        Ok(false)
    }

    /// Two slots of a pool trade places, from one definition to another. True if there was a success.
    pub(super) fn swap_slots(&mut self) -> Result<bool, Stop> {
        let mut changed = false;
        while self.swap_two_slots()? {
            changed = true;
        }
        Ok(changed)
    }

    fn swap_two_slots(&mut self) -> Result<bool, Stop> {
        let slots = mentioned(self.catalog(), self.steps());
        for (pool, high) in &slots {
            for low in 0..*high {
                let (high, low) = ((*pool, *high), (*pool, low));
                let is_border = |place: &usize| {
                    let filled = definitions(self.catalog(), self.steps()[*place]);
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
                    let steps = swapped(self.catalog(), self.steps(), range, high, low);
                    if self.attempt_in_place(steps)? {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }
}

/// What gives way for a value that moves into a slot which holds another one for a while.
#[derive(Clone, Copy)]
enum Moved {
    Nothing,
    /// The uses of the other value go before the definition.
    OthersBefore,
    /// The definition goes to just before its first use.
    DefinitionAfter,
    /// The definition and all its uses go to before the other value is put there.
    LifeBefore,
    /// The definition and all its uses go to after the last use of the other value.
    LifeAfter,
}

impl Moved {
    const ALL: [Moved; 5] = [
        Moved::Nothing,
        Moved::OthersBefore,
        Moved::DefinitionAfter,
        Moved::LifeBefore,
        Moved::LifeAfter,
    ];

    /// The new order of the steps, unless it is the old one.
    fn places(
        self,
        catalog: &Catalog,
        steps: &[Step],
        index: usize,
        slot: Slot,
        lower: u32,
    ) -> Option<Vec<usize>> {
        let all = 0..steps.len();
        let life = life_of(catalog, steps, index, slot);
        match self {
            Moved::Nothing => Some(all.collect()),
            Moved::OthersBefore => {
                let last = life.last().copied()?;
                let in_the_way = |place: &usize| {
                    *place > index
                        && *place < last
                        && mentions(catalog, steps[*place], (slot.0, lower))
                };
                let others: Vec<usize> = all.clone().filter(in_the_way).collect();
                if others.is_empty() {
                    return None;
                }
                let rest = || all.clone().filter(|place| !others.contains(place));
                let before = rest().take_while(|place| *place < index);
                let after = rest().skip_while(|place| *place < index);
                Some(before.chain(others.iter().copied()).chain(after).collect())
            }
            Moved::DefinitionAfter => {
                let first = life.first().copied().filter(|first| *first > index + 1)?;
                let before = all.clone().take_while(|place| *place < first);
                let before = before.filter(|place| *place != index);
                Some(before.chain([index]).chain(first..steps.len()).collect())
            }
            Moved::LifeBefore | Moved::LifeAfter => {
                let target = (slot.0, lower);
                let fills = |place: &usize| definitions(catalog, steps[*place]).contains(&target);
                let other = (0..index).rev().find(fills)?;
                let border = match self {
                    Moved::LifeBefore => other,
                    _ => life_of(catalog, steps, other, target)
                        .last()
                        .map(|last| last + 1)?,
                };
                let is_moved = |place: &usize| *place == index || life.contains(place);
                let moved = all.clone().filter(is_moved);
                let before = (0..border).filter(|place| !is_moved(place));
                let after = (border..steps.len()).filter(|place| !is_moved(place));
                let places: Vec<usize> = before.chain(moved).chain(after).collect();
                (!places.is_sorted()).then_some(places)
            }
        }
    }
}

/// The test with the value that is put into `slot` at `index` in another slot, up to its last use.
fn with_life_in(catalog: &Catalog, steps: &[Step], index: usize, slot: Slot, to: u32) -> Vec<Step> {
    let mut changed = steps.to_vec();
    for place in life_of(catalog, steps, index, slot) {
        changed[place] = renamed(catalog, steps[place], slot, (slot.0, to));
    }
    changed[index] = with_definition(catalog, steps[index], slot, to);
    changed
}

/// The test with two slots exchanged in some steps.
fn swapped(
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

/// The test with an unused slot for the first value that would overwrite another one, if there is such a value and
/// such a slot.
fn without_reassign(catalog: &Catalog, steps: &[Step]) -> Option<Vec<Step>> {
    let used = mentioned(catalog, steps);
    let mut filled: Vec<Slot> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        for slot in definitions(catalog, *step) {
            if filled.contains(&slot) {
                let mut free =
                    (0..catalog.pool(slot.0).size).filter(|free| !used.contains(&(slot.0, *free)));
                let free = free.next()?;
                let mut changed = steps.to_vec();
                for later in &mut changed[index + 1..] {
                    *later = renamed(catalog, *later, slot, (slot.0, free));
                }
                changed[index] = with_definition(catalog, *step, slot, free);
                return Some(changed);
            }
            filled.push(slot);
        }
    }
    debug_assert_eq!(dataflow::reassigns(catalog, steps), 0);
    None
}
