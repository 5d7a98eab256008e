//! Generalisation: what else could stand in a test, and still it would fail.
//!
//! A reduced test is one example of a bug. Which of its details matter? If `int0 = 3` may just as well be any integer from
//! 2 to 20, and the first two steps can be in any order, the reader knows a lot more. So each step is varied, one at a
//! time, and what still achieves the goal is told:
//!
//! - *replacements*: other actions in its place;
//! - *fresh values*: a definition put before it, so that it uses a value of its own;
//! - *swaps*: other steps that it can trade places with;
//! - *blocks*: steps in a row that can be in any order.
//!
//! Every claim is about a test that was run, with no step of it skipped, or is marked as probable.
//!
//! # Twenty thousand alternatives
//!
//! Where there are few actions, all are tried that slots and guards allow. Otherwise the alternatives of each choice of
//! the step are probed one axis at a time: all of them if there are few, else both ends, eight points between, and
//! points at distances 1, 2, 4, … from the alternative that the test has. Between a neighbouring pair of points of which
//! one works and the other does not the border is found by bisection. What lies between points that work is claimed as a
//! range that *probably* works, with the number of members that were tried. Of other templates a few actions are tried,
//! and [`Variations::untried`] says how many were not.

mod equivalents;
mod order;
mod probe;
mod show;

use super::dataflow;
use super::normalize::Speed;
use super::shrinker::Shrinker;
use super::trials::{ReduceError, Stop, Trials};
use crate::{ActionId, Axis, Catalog, Role, Step, System, TemplateId, Test};

/// How to generalise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneralizeOptions {
    /// How much to try.
    pub speed: Speed,
    /// Look for fresh values, too.
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
    /// Up to how many actions a system may have so that all of them are tried at each step.
    fn all_actions(self) -> u64 {
        match self {
            Speed::Fast => 200,
            Speed::Thorough => 5_000,
        }
    }

    /// Up to how many alternatives of a choice are tried one by one.
    fn all_alternatives(self) -> u64 {
        match self {
            Speed::Fast => 24,
            Speed::Thorough => 256,
        }
    }

    /// How many orders of a block are tried.
    fn orders(self) -> usize {
        match self {
            Speed::Fast => 24,
            Speed::Thorough => 120,
        }
    }
}

/// What else a test could be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generalization {
    /// The test itself.
    pub test: Test,
    /// For each step what it could be instead.
    pub steps: Vec<Variations>,
    /// Steps in a row that can be in any order. Blocks do not overlap.
    pub blocks: Vec<Block>,
    /// Everything was tried that should be. False if it was stopped early.
    pub complete: bool,
}

impl Generalization {
    /// A test of which nothing is known yet.
    pub fn of(test: &Test) -> Generalization {
        Generalization {
            test: test.clone(),
            steps: vec![Variations::default(); test.len()],
            blocks: Vec::new(),
            complete: true,
        }
    }
}

/// What one step of a test could be instead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variations {
    /// Other actions in its place, in order.
    pub replacements: Vec<Alternatives>,
    /// Definitions that can be put before it.
    pub fresh: Vec<Alternatives>,
    /// Other steps that it can trade places with, earlier and later, by index.
    pub swaps: Vec<usize>,
    /// How many actions were not tried in its place, though nothing is known for or against them.
    pub untried: u64,
}

/// Some actions that differ in one choice or slot: a range of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alternatives {
    /// The first of them.
    pub first: ActionId,
    /// How many there are.
    pub count: u64,
    /// From one to the next.
    pub stride: u64,
    /// How many of them were tried. The first and the last are among them.
    pub tried: u64,
}

impl Alternatives {
    /// The last of them.
    pub fn last(&self) -> ActionId {
        ActionId(self.first.0 + (self.count - 1) * self.stride)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = ActionId> + use<> {
        let Alternatives { first, stride, .. } = *self;
        (0..self.count).map(move |place| ActionId(first.0 + place * stride))
    }

    /// Whether an action is one of them.
    pub fn contains(&self, action: ActionId) -> bool {
        let distance = action.0.wrapping_sub(self.first.0);
        action >= self.first && action <= self.last() && distance.is_multiple_of(self.stride)
    }

    /// Whether all of them were tried. If not, those between the tried ones probably work as well.
    pub fn is_exact(&self) -> bool {
        self.tried == self.count
    }
}

/// Steps in a row that can be in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The index of the first step.
    pub first: usize,
    /// The index of the last step.
    pub last: usize,
    /// Whether all orders were tried. If not, all exchanges of two steps and some other orders were.
    pub exact: bool,
}

impl<S: System + ?Sized> Shrinker<'_, S> {
    /// What else a test could be and still achieve the goal. It should be reduced, and better normalised, before.
    pub fn generalize(
        &mut self,
        test: &Test,
        options: &GeneralizeOptions,
    ) -> Result<Generalization, ReduceError> {
        let mut generalizer = Generalizer {
            trials: &mut self.trials,
            options,
            steps: test.steps.clone(),
            found: Generalization::of(test),
        };
        match generalizer.generalize() {
            Ok(()) => {}
            Err(Stop::Asked) => generalizer.found.complete = false,
            Err(Stop::For(error)) => return Err(error),
        }
        Ok(generalizer.found)
    }
}

/// A generalisation under way.
struct Generalizer<'t, 'a, S: System + ?Sized> {
    trials: &'t mut Trials<'a, S>,
    options: &'t GeneralizeOptions,
    steps: Vec<Step>,
    found: Generalization,
}

impl<S: System + ?Sized> Generalizer<'_, '_, S> {
    fn generalize(&mut self) -> Result<(), Stop> {
        self.trials.reproduce(&self.steps)?;
        for index in 0..self.steps.len() {
            self.replace(index)?;
        }
        if self.options.fresh {
            for index in 0..self.steps.len() {
                self.freshen(index)?;
            }
        }
        self.swap()?;
        self.find_blocks()
    }

    fn catalog(&self) -> &Catalog {
        self.trials.system.actions()
    }

    /// Whether a variation achieves the goal and no step of it is skipped.
    fn holds(&mut self, steps: &[Step]) -> Result<bool, Stop> {
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

    /// Whether the slots of a variation allow all that they allow in the test.
    fn is_promising(&self, steps: &[Step]) -> bool {
        let disabled = |steps: &[Step]| dataflow::disabled(self.catalog(), steps);
        disabled(steps) <= disabled(&self.steps)
    }

    fn with(&self, index: usize, action: ActionId) -> Vec<Step> {
        let mut steps = self.steps.clone();
        steps[index] = Step::Act(action);
        steps
    }

    /// What could stand in place of a step.
    fn replace(&mut self, index: usize) -> Result<(), Stop> {
        let Step::Act(action) = self.steps[index] else {
            return Ok(());
        };
        if self.trials.keep_last && index + 1 == self.steps.len() {
            return Ok(());
        }
        let count = self.catalog().len();
        let mut members: Vec<ActionId> = Vec::new();
        if count <= self.options.speed.all_actions() {
            members.extend((0..count).map(ActionId));
        } else {
            self.found.steps[index].untried = self.probe_axes(index, action)?;
            members.extend(self.of_other_templates(action));
        }
        let same = self.catalog().without_repeat(action);
        members.retain(|other| {
            // Copies of an action are no alternatives.
            let other_first = self.catalog().without_repeat(*other);
            other_first != same && other_first == *other
        });
        let is_known = |other: &ActionId| {
            let ranges = &self.found.steps[index].replacements;
            ranges.iter().any(|range| range.contains(*other))
        };
        members.retain(|other| !is_known(other) && self.is_promising(&self.with(index, *other)));
        if members.len() > 2 {
            members = self.trials.enabled_after(&self.steps[..index], &members)?;
        }
        for member in members {
            let steps = self.with(index, member);
            if self.holds(&steps)? {
                let sizes = last_axis(self.catalog(), member);
                push(&mut self.found.steps[index].replacements, member, sizes);
            }
        }
        self.found.steps[index]
            .replacements
            .sort_by_key(|range| range.first);
        Ok(())
    }

    /// Probes the choices and slots of a step, one at a time. How many actions are left.
    fn probe_axes(&mut self, index: usize, action: ActionId) -> Result<u64, Stop> {
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
            let few = self.options.speed.all_alternatives();
            let mut works = |value: u64| {
                tried += 1;
                let steps = self.with(index, ActionId(zero + value * stride));
                self.holds(&steps)
            };
            let ranges = probe::probe(sizes[axis], *now, few, &mut works)?;
            let found = ranges.into_iter().map(|range| Alternatives {
                first: ActionId(zero + range.first * stride),
                count: range.last - range.first + 1,
                stride,
                tried: range.tried,
            });
            self.found.steps[index].replacements.extend(found);
        }
        let others = self.of_other_templates(action).len() as u64;
        let ranges = self.found.steps[index].replacements.iter();
        let probable: u64 = ranges.map(|range| range.count - range.tried).sum();
        Ok((self.catalog().len() - 1).saturating_sub(tried + others + probable))
    }

    /// A few actions of each other template: the one with the same slots, and the first ones.
    fn of_other_templates(&self, action: ActionId) -> Vec<ActionId> {
        let catalog = self.catalog();
        let now = catalog.template_of(action);
        let mut members = Vec::new();
        for template in (0..catalog.templates().len())
            .map(TemplateId)
            .filter(|other| *other != now)
        {
            let few = catalog.count(template).min(self.options.speed.members());
            let first = catalog.first(template).0;
            members.extend(dataflow::fitting(catalog, template, action));
            members.extend((first..first + few).map(ActionId));
        }
        members.sort();
        members.dedup();
        members.truncate(self.options.speed.others() * 4);
        members
    }

    /// Which definitions could be put before a step, so that it uses a value of its own.
    fn freshen(&mut self, index: usize) -> Result<(), Stop> {
        let Step::Act(action) = self.steps[index] else {
            return Ok(());
        };
        let slots = self.catalog().slots(action);
        let fills = |pool, slot| slots.contains(&(pool, slot, Role::Definition));
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
                        role: Role::Definition,
                    })
                    && self.catalog().count(template) > 0
                {
                    self.put_before(index, template, only, u64::from(slot))?;
                }
            }
        }
        Ok(())
    }

    /// Tries the definitions of a template before a step, with a slot on one axis. The last axis that is left is
    /// probed, with the first alternatives on the others.
    fn put_before(
        &mut self,
        index: usize,
        template: TemplateId,
        axis: usize,
        slot: u64,
    ) -> Result<(), Stop> {
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
        let few = self.options.speed.all_alternatives();
        let mut works = |value: u64| {
            let definition = ActionId(zero + value * stride);
            if self.is_there_already(index, definition) {
                return Ok(false);
            }
            let mut steps = self.steps.clone();
            steps.insert(index, Step::Act(definition));
            self.holds(&steps)
        };
        let ranges = probe::probe_all(size, few, &mut works)?;
        self.found.steps[index]
            .fresh
            .extend(ranges.into_iter().map(|range| Alternatives {
                first: ActionId(zero + range.first * stride),
                count: range.last - range.first + 1,
                stride,
                tried: range.tried,
            }));
        Ok(())
    }

    /// Whether the step before is such a definition, or could be.
    fn is_there_already(&self, index: usize, definition: ActionId) -> bool {
        index.checked_sub(1).is_some_and(|before| {
            let replacements = &self.found.steps[before].replacements;
            self.steps[before] == Step::Act(definition)
                || replacements.iter().any(|range| range.contains(definition))
        })
    }
}

/// The number of alternatives on the last axis, and the first action of the row.
fn last_axis(catalog: &Catalog, action: ActionId) -> (u64, u64) {
    let template = catalog.template_of(action);
    let size = catalog.sizes(template).last().copied().unwrap_or(1);
    let place = action.0 - catalog.first(template).0;
    (size, action.0 - place % size)
}

/// Adds a member that was tried to the last range if it is the next one in its row, or else begins a new one.
fn push(ranges: &mut Vec<Alternatives>, member: ActionId, (_, row): (u64, u64)) {
    if let Some(range) = ranges.last_mut() {
        let is_next = range.stride == 1 && range.is_exact() && range.last().0 + 1 == member.0;
        if is_next && range.first.0 >= row {
            range.count += 1;
            range.tried += 1;
            return;
        }
    }
    ranges.push(Alternatives {
        first: member,
        count: 1,
        stride: 1,
        tried: 1,
    });
}

#[cfg(test)]
mod tests;
