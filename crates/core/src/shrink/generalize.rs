//! Generalization: which other values and orders make a failing test fail too.
//!
//! A reduced test is one example of a bug. Which of its details matter? If `int0 = 3` may just as
//! well be any integer from 2 to 20, and the first two steps can be in any order, the reader knows
//! a lot more. So each step is varied, one at a time, and the variations that still achieve the
//! goal are reported:
//!
//! - *replacements*: other actions instead of the step;
//! - *fresh values*: a definition inserted before it, so that it uses a value of its own;
//! - *swaps*: other steps that it can be exchanged with;
//! - *blocks*: consecutive steps that can be in any order.
//!
//! Every claim is about a test that was run without skipped steps, or is marked as probable.
//!
//! # Many alternatives
//!
//! With few actions, all are tried that slots and guards allow. Otherwise the alternatives of each
//! choice of the step are probed one axis at a time: all of them if there are few, else both ends,
//! eight points between, and points at distances 1, 2, 4, … from the current alternative. Between a
//! neighboring pair of points where one works and the other does not, the border is found by
//! bisection. The range between points that work is claimed to work *probably*, with the number of
//! members that were tried. Of other templates a few actions are tried, and [`Variations::untried`]
//! counts the rest.

mod equivalents;
mod order;
mod probe;
mod render;

use super::dataflow;
use super::normalize::Speed;
use super::shrinker::Shrinker;
use super::trials::{ReduceError, ShrinkStop, Trials};
use crate::{ActionId, Axis, Catalog, SlotRole, Step, System, TemplateId, Test};

/// Options of generalization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneralizeOptions {
    /// The amount of variations to try.
    pub speed: Speed,
    /// Also look for fresh values.
    pub fresh: bool,
}

impl Default for GeneralizeOptions {
    fn default() -> GeneralizeOptions {
        GeneralizeOptions {
            speed: Speed::Fast,
            fresh: true,
        }
    }
}

impl Speed {
    /// Returns the largest number of actions in a system for which all of them are tried at each
    /// step.
    fn max_exhaustive_actions(self) -> u64 {
        match self {
            Speed::Fast => 200,
            Speed::Thorough => 5_000,
        }
    }

    /// Returns the largest number of alternatives of a choice that are tried one by one.
    fn max_exhaustive_alternatives(self) -> u64 {
        match self {
            Speed::Fast => 24,
            Speed::Thorough => 256,
        }
    }

    /// Returns the maximum number of orders of a block to try.
    fn max_orders(self) -> usize {
        match self {
            Speed::Fast => 24,
            Speed::Thorough => 120,
        }
    }
}

/// The variations of a test that still achieve the goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generalization {
    /// The test itself.
    pub test: Test,
    /// By step: its variations.
    pub steps: Vec<Variations>,
    /// Blocks of consecutive steps that can be in any order. They do not overlap.
    pub blocks: Vec<ReorderableSteps>,
    /// True if all variations were tried. False if the search was stopped early.
    pub complete: bool,
}

impl Generalization {
    /// Creates a generalization without any variations.
    pub fn from_test(test: &Test) -> Generalization {
        Generalization {
            test: test.clone(),
            steps: vec![Variations::default(); test.len()],
            blocks: Vec::new(),
            complete: true,
        }
    }
}

/// The variations of one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variations {
    /// Other actions instead of it, in order.
    pub replacements: Vec<StepAlternatives>,
    /// Definitions that can be inserted before it.
    pub fresh: Vec<StepAlternatives>,
    /// Other steps that it can be exchanged with, earlier and later, by index.
    pub swaps: Vec<usize>,
    /// The number of actions that were not tried instead of it, though nothing is known about them.
    pub untried: u64,
}

/// A range of actions that differ in one choice or slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepAlternatives {
    /// The first action.
    pub first: ActionId,
    /// The number of actions.
    pub count: u64,
    /// The distance between the ids of neighbors.
    pub stride: u64,
    /// The number of actions that were tried. The first and the last are among them.
    pub tried: u64,
}

impl StepAlternatives {
    /// Returns the last action.
    pub fn last(&self) -> ActionId {
        ActionId(self.first.0 + (self.count - 1) * self.stride)
    }

    /// Returns all actions, in order.
    pub fn iter(&self) -> impl Iterator<Item = ActionId> + use<> {
        let StepAlternatives { first, stride, .. } = *self;
        (0..self.count).map(move |offset| ActionId(first.0 + offset * stride))
    }

    /// Returns true if an action is in the range.
    pub fn contains(&self, action: ActionId) -> bool {
        let distance = action.0.wrapping_sub(self.first.0);
        action >= self.first && action <= self.last() && distance.is_multiple_of(self.stride)
    }

    /// Returns true if all actions were tried. If not, those between the tried ones probably work
    /// as well.
    pub fn is_exact(&self) -> bool {
        self.tried == self.count
    }
}

/// Consecutive steps that can be in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReorderableSteps {
    /// The index of the first step.
    pub first: usize,
    /// The index of the last step.
    pub last: usize,
    /// True if all orders were tried. If not, all swaps of two steps and some other orders were.
    pub exact: bool,
}

impl<S: System + ?Sized> Shrinker<'_, S> {
    /// Finds variations of a test that still achieve the goal. The test should be reduced, and
    /// preferably normalized, before.
    pub fn generalize(
        &mut self,
        test: &Test,
        options: &GeneralizeOptions,
    ) -> Result<Generalization, ReduceError> {
        let mut search = VariationSearch {
            trials: &mut self.trials,
            options,
            steps: test.steps.clone(),
            found: Generalization::from_test(test),
        };
        match search.generalize() {
            Ok(()) => {}
            Err(ShrinkStop::Requested) => search.found.complete = false,
            Err(ShrinkStop::Failed(error)) => return Err(error),
        }
        Ok(search.found)
    }
}

/// A generalization in progress.
struct VariationSearch<'t, 'a, S: System + ?Sized> {
    trials: &'t mut Trials<'a, S>,
    options: &'t GeneralizeOptions,
    steps: Vec<Step>,
    found: Generalization,
}

impl<S: System + ?Sized> VariationSearch<'_, '_, S> {
    /// Tries all kinds of variations.
    fn generalize(&mut self) -> Result<(), ShrinkStop> {
        self.trials.reproduce(&self.steps)?;
        for index in 0..self.steps.len() {
            self.replace(index)?;
        }
        if self.options.fresh {
            for index in 0..self.steps.len() {
                self.find_fresh_values(index)?;
            }
        }
        self.swap()?;
        self.find_blocks()
    }

    /// Returns the catalog of the system.
    fn catalog(&self) -> &Catalog {
        self.trials.system.actions()
    }

    /// Returns true if a variation achieves the goal and none of its steps is skipped.
    fn holds(&mut self, steps: &[Step]) -> Result<bool, ShrinkStop> {
        if !self.is_promising(steps) {
            return Ok(false);
        }
        let achieved = self.trials.attempt(steps)?;
        Ok(achieved.is_some_and(|achieved| {
            (0..)
                .zip(&achieved.executed)
                .all(|(one, other)| one == *other)
        }))
    }

    /// Returns true if the slots of a variation allow as many steps as in the test.
    fn is_promising(&self, steps: &[Step]) -> bool {
        let disabled = |steps: &[Step]| dataflow::count_disabled(self.catalog(), steps);
        disabled(steps) <= disabled(&self.steps)
    }

    /// Returns the test with another action at an index.
    fn with_action(&self, index: usize, action: ActionId) -> Vec<Step> {
        let mut steps = self.steps.clone();
        steps[index] = Step::Act(action);
        steps
    }

    /// Finds replacements of a step.
    fn replace(&mut self, index: usize) -> Result<(), ShrinkStop> {
        let Step::Act(action) = self.steps[index] else {
            return Ok(());
        };
        if self.trials.keep_last && index + 1 == self.steps.len() {
            return Ok(());
        }
        let count = self.catalog().len();
        let mut members: Vec<ActionId> = Vec::new();
        if count <= self.options.speed.max_exhaustive_actions() {
            members.extend((0..count).map(ActionId));
        } else {
            self.found.steps[index].untried = self.probe_axes(index, action)?;
            members.extend(self.actions_of_other_templates(action));
        }
        let same = self.catalog().first_copy(action);
        members.retain(|other| {
            // Copies of an action are not alternatives.
            let other_first = self.catalog().first_copy(*other);
            other_first != same && other_first == *other
        });
        let is_known = |other: &ActionId| {
            let ranges = &self.found.steps[index].replacements;
            ranges.iter().any(|range| range.contains(*other))
        };
        members.retain(|other| {
            !is_known(other) && self.is_promising(&self.with_action(index, *other))
        });
        if members.len() > 2 {
            members = self.trials.enabled_after(&self.steps[..index], &members)?;
        }
        for member in members {
            let steps = self.with_action(index, member);
            if self.holds(&steps)? {
                let sizes = last_axis(self.catalog(), member);
                push_alternative(&mut self.found.steps[index].replacements, member, sizes);
            }
        }
        self.found.steps[index]
            .replacements
            .sort_by_key(|range| range.first);
        Ok(())
    }

    /// Probes the choices and slots of a step, one at a time. Returns the number of actions that
    /// are left.
    fn probe_axes(&mut self, index: usize, action: ActionId) -> Result<u64, ShrinkStop> {
        let (template, values) = self.catalog().values(action);
        let sizes = self.catalog().sizes(template).to_vec();
        let mut tried = 0;
        let mut stride: u64 = sizes.iter().product();
        for (axis, now) in values.iter().enumerate() {
            stride /= sizes[axis];
            if matches!(
                self.catalog().templates()[template.0].axes[axis],
                Axis::Repeat(_)
            ) {
                continue;
            }
            let zero = action.0 - now * stride;
            let max_exhaustive = self.options.speed.max_exhaustive_alternatives();
            let mut achieves = |value: u64| {
                tried += 1;
                let steps = self.with_action(index, ActionId(zero + value * stride));
                self.holds(&steps)
            };
            let ranges = probe::probe(sizes[axis], *now, max_exhaustive, &mut achieves)?;
            let found = ranges.into_iter().map(|range| StepAlternatives {
                first: ActionId(zero + range.first * stride),
                count: range.last - range.first + 1,
                stride,
                tried: range.tried,
            });
            self.found.steps[index].replacements.extend(found);
        }
        let others = self.actions_of_other_templates(action).len() as u64;
        let ranges = self.found.steps[index].replacements.iter();
        let probable: u64 = ranges.map(|range| range.count - range.tried).sum();
        Ok((self.catalog().len() - 1).saturating_sub(tried + others + probable))
    }

    /// Returns a few actions of each other template: the one with the same slots, and the first
    /// ones.
    fn actions_of_other_templates(&self, action: ActionId) -> Vec<ActionId> {
        let catalog = self.catalog();
        let now = catalog.template_of(action);
        let mut members = Vec::new();
        for template in (0..catalog.templates().len())
            .map(TemplateId)
            .filter(|other| *other != now)
        {
            let max_exhaustive = catalog
                .count(template)
                .min(self.options.speed.max_template_actions());
            let first = catalog.first(template).0;
            members.extend(dataflow::fitting_action(catalog, template, action));
            members.extend((first..first + max_exhaustive).map(ActionId));
        }
        members.sort();
        members.dedup();
        members.truncate(self.options.speed.max_other_actions() * 4);
        members
    }

    /// Finds definitions that can be inserted before a step, so that it uses a value of its own.
    fn find_fresh_values(&mut self, index: usize) -> Result<(), ShrinkStop> {
        let Step::Act(action) = self.steps[index] else {
            return Ok(());
        };
        let slots = self.catalog().slots(action);
        let fills = |pool, slot| slots.contains(&(pool, slot, SlotRole::Definition));
        let mut used: Vec<_> = slots.iter().map(|(pool, slot, _)| (*pool, *slot)).collect();
        used.retain(|(pool, slot)| !fills(*pool, *slot));
        used.dedup();
        for (pool, slot) in used {
            for template in (0..self.catalog().templates().len()).map(TemplateId) {
                let axes = &self.catalog().templates()[template.0].axes;
                let slot_axes: Vec<usize> = (0..axes.len())
                    .filter(|axis| matches!(axes[*axis], Axis::Slot { .. }))
                    .collect();
                let [only] = slot_axes[..] else { continue };
                if axes[only]
                    == (Axis::Slot {
                        pool,
                        role: SlotRole::Definition,
                    })
                    && self.catalog().count(template) > 0
                {
                    self.insert_before(index, template, only, u64::from(slot))?;
                }
            }
        }
        Ok(())
    }

    /// Tries the definitions of a template before a step, with a slot on one axis. The last free
    /// axis is probed, with the first alternatives on the others.
    fn insert_before(
        &mut self,
        index: usize,
        template: TemplateId,
        axis: usize,
        slot: u64,
    ) -> Result<(), ShrinkStop> {
        let sizes = self.catalog().sizes(template).to_vec();
        let mut values = vec![0; sizes.len()];
        values[axis] = slot;
        let axes = &self.catalog().templates()[template.0].axes;
        let varied = (0..axes.len())
            .rev()
            .find(|other| matches!(axes[*other], Axis::Choice(_)));
        let zero = self.catalog().action(template, &values).0;
        let (size, stride) = match varied {
            Some(varied) => (sizes[varied], sizes[varied + 1..].iter().product()),
            None => (1, 1),
        };
        let max_exhaustive = self.options.speed.max_exhaustive_alternatives();
        let mut achieves = |value: u64| {
            let definition = ActionId(zero + value * stride);
            if self.is_already_defined(index, definition) {
                return Ok(false);
            }
            let mut steps = self.steps.clone();
            steps.insert(index, Step::Act(definition));
            self.holds(&steps)
        };
        let ranges = probe::probe_all(size, max_exhaustive, &mut achieves)?;
        self.found.steps[index]
            .fresh
            .extend(ranges.into_iter().map(|range| StepAlternatives {
                first: ActionId(zero + range.first * stride),
                count: range.last - range.first + 1,
                stride,
                tried: range.tried,
            }));
        Ok(())
    }

    /// Returns true if the preceding step is such a definition, or could be replaced by it.
    fn is_already_defined(&self, index: usize, definition: ActionId) -> bool {
        index.checked_sub(1).is_some_and(|before| {
            let replacements = &self.found.steps[before].replacements;
            self.steps[before] == Step::Act(definition)
                || replacements.iter().any(|range| range.contains(definition))
        })
    }
}

/// Returns the number of alternatives on the last axis, and the first action of the row.
fn last_axis(catalog: &Catalog, action: ActionId) -> (u64, u64) {
    let template = catalog.template_of(action);
    let size = catalog.sizes(template).last().copied().unwrap_or(1);
    let offset = action.0 - catalog.first(template).0;
    (size, action.0 - offset % size)
}

/// Adds a tried action to the last range if it is the next one in its row, or else begins a new
/// range.
fn push_alternative(ranges: &mut Vec<StepAlternatives>, member: ActionId, (_, row): (u64, u64)) {
    if let Some(range) = ranges.last_mut() {
        let is_next = range.stride == 1 && range.is_exact() && range.last().0 + 1 == member.0;
        if is_next && range.first.0 >= row {
            range.count += 1;
            range.tried += 1;
            return;
        }
    }
    ranges.push(StepAlternatives {
        first: member,
        count: 1,
        stride: 1,
        tried: 1,
    });
}

#[cfg(test)]
mod tests;
