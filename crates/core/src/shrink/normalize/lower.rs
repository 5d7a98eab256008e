//! Lower actions in place of steps: SimplifyAll, SimplifySingle and ReduceAction.

use super::super::dataflow;
use super::super::trials::Stop;
use super::Normalizer;
use crate::{ActionId, Axis, Catalog, Role, Step, System, TemplateId, text_distance};

/// Up to how many lower alternatives are tried one by one.
const FEW: u64 = 8;

/// Which steps change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    /// The one at the index.
    One,
    /// All that are equal to it.
    Equal,
}

impl<S: System + ?Sized> Normalizer<'_, '_, '_, S> {
    /// Lower actions in place of all equal steps. True if there was a success.
    pub(super) fn simplify_all(&mut self) -> Result<bool, Stop> {
        let mut changed = false;
        let mut index = 0;
        while index < self.movable() {
            let step = self.steps()[index];
            let is_first = !self.steps()[..index].contains(&step);
            let is_repeated = self.steps()[index + 1..].contains(&step);
            // A step that is alone is the business of the other rule.
            if is_first && is_repeated && self.lower(index, Which::Equal)? {
                changed = true;
            } else {
                index += 1;
            }
        }
        Ok(changed)
    }

    /// Lower actions in place of single steps. True if there was a success.
    pub(super) fn simplify_single(&mut self) -> Result<bool, Stop> {
        let mut changed = false;
        let mut index = 0;
        while index < self.movable() {
            if self.lower(index, Which::One)? {
                changed = true;
            } else {
                index += 1;
            }
        }
        Ok(changed)
    }

    /// A lower action in place of a step. True at the first success.
    fn lower(&mut self, index: usize, which: Which) -> Result<bool, Stop> {
        let Step::Act(action) = self.steps()[index] else {
            return Ok(false);
        };
        if self.lower_alternatives(index, action, which)? {
            return Ok(true);
        }
        let lower = |other: &ActionId| *other < action;
        let mut proposals = lower_slots(self.catalog(), action);
        proposals.extend(self.others(action).into_iter().filter(lower));
        for proposal in self.allowed(index, proposals, which)? {
            if self.replace(index, proposal, which)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The same template with lower alternatives: the first ones everywhere, then axis by axis.
    fn lower_alternatives(
        &mut self,
        index: usize,
        action: ActionId,
        which: Which,
    ) -> Result<bool, Stop> {
        let (template, values) = self.catalog().values(action);
        let axes: Vec<usize> = free_axes(self.catalog(), template);
        let mut first = values.clone();
        for axis in &axes {
            first[*axis] = 0;
        }
        let first = self.catalog().action(template, &first);
        if first != action && self.replace(index, first, which)? {
            return Ok(true);
        }
        for axis in axes {
            let with = |normalizer: &Self, value: u64| {
                let mut values = values.clone();
                values[axis] = value;
                normalizer.catalog().action(template, &values)
            };
            let now = values[axis];
            if now <= FEW {
                for value in 0..now {
                    let lower = with(self, value);
                    if self.replace(index, lower, which)? {
                        return Ok(true);
                    }
                }
                continue;
            }
            // Everything at or below `fails` was found useless, as far as it was tried.
            let mut fails = None;
            while fails.is_none_or(|fails| fails + 1 < now) {
                let value = fails.map_or(0, |fails| fails + (now - fails) / 2);
                let lower = with(self, value);
                if self.replace(index, lower, which)? {
                    // The next call goes on below it.
                    return Ok(true);
                }
                fails = Some(value);
            }
        }
        Ok(false)
    }

    /// Other actions in place of one, the most promising first: one or a few of each template.
    fn others(&self, action: ActionId) -> Vec<ActionId> {
        let catalog = self.catalog();
        let speed = self.options.speed;
        let shape = |template: TemplateId| {
            let axes = catalog.templates()[template.0].axes.iter();
            let mut slots: Vec<_> = axes
                .filter_map(|axis| match axis {
                    Axis::Slot { pool, role } => Some((*pool, *role == Role::Definition)),
                    _ => None,
                })
                .collect();
            slots.sort();
            slots
        };
        let now = catalog.template_of(action);
        let wanted = shape(now);
        let mut templates: Vec<TemplateId> =
            (0..catalog.templates().len()).map(TemplateId).collect();
        templates.retain(|template| *template != now);
        // Stable: file order within.
        templates.sort_by_key(|template| shape(*template) != wanted);
        let mut others = Vec::new();
        for template in templates {
            let fitting = dataflow::fitting(catalog, template, action);
            others.extend(fitting);
            let first = catalog.first(template).0;
            let more = speed
                .members()
                .min(catalog.count(template))
                .saturating_sub(1);
            others.extend(
                (first..first + more)
                    .map(ActionId)
                    .filter(|other| Some(*other) != fitting),
            );
        }
        others
    }

    /// Those that the slots and guards allow in place of the step at `index`, not too many.
    fn allowed(
        &mut self,
        index: usize,
        mut proposals: Vec<ActionId>,
        which: Which,
    ) -> Result<Vec<ActionId>, Stop> {
        proposals.retain(|proposal| {
            self.is_near(index, *proposal)
                && self.is_promising(&self.replaced(index, *proposal, which))
        });
        // One run tells about all of them; for one or two it is not worth it.
        if proposals.len() > 2 {
            let before = self.steps()[..index].to_vec();
            proposals = self.reducer.trials.enabled_after(&before, &proposals)?;
        }
        proposals.truncate(self.options.speed.others());
        Ok(proposals)
    }

    fn replace(&mut self, index: usize, proposal: ActionId, which: Which) -> Result<bool, Stop> {
        if !self.is_near(index, proposal) {
            return Ok(false);
        }
        let steps = self.replaced(index, proposal, which);
        self.attempt_in_place(steps)
    }

    /// Whether the text of an action is not too far from that of the step at `index`.
    fn is_near(&self, index: usize, proposal: ActionId) -> bool {
        let (Some(furthest), Step::Act(now)) = (self.options.furthest, self.steps()[index]) else {
            return true;
        };
        let catalog = self.catalog();
        text_distance(&catalog.text(now), &catalog.text(proposal)) <= furthest
    }

    /// The current test with another action in place of a step, or of all equal to it. A last step that must be kept
    /// is not touched.
    fn replaced(&self, index: usize, proposal: ActionId, which: Which) -> Vec<Step> {
        let mut steps = self.steps().to_vec();
        let old = steps[index];
        let movable = self.movable();
        for (place, step) in steps.iter_mut().enumerate().take(movable) {
            if place == index || (which == Which::Equal && *step == old) {
                *step = Step::Act(proposal);
            }
        }
        steps
    }

    /// Any other action in place of a step if another step can go then. True if there was a success.
    pub(super) fn replace_and_shorten(&mut self) -> Result<bool, Stop> {
        let mut changed = false;
        let mut index = 0;
        while index < self.movable() {
            let succeeded = self.replace_one_and_shorten(index)?;
            changed |= succeeded;
            if !succeeded {
                index += 1;
            }
        }
        Ok(changed)
    }

    fn replace_one_and_shorten(&mut self, index: usize) -> Result<bool, Stop> {
        let Step::Act(action) = self.steps()[index] else {
            return Ok(false);
        };
        let mut proposals = other_alternatives(self.catalog(), action);
        proposals.extend(self.others(action));
        let mut allowed = self.allowed(index, proposals, Which::One)?;
        allowed.truncate(self.options.speed.replacements());
        for proposal in allowed {
            let steps = self.replaced(index, proposal, Which::One);
            let Some(achieved) = self.reducer.trials.attempt(&steps)? else {
                continue;
            };
            let kept = self.reducer.current.kept.clone();
            if achieved.executed.len() < steps.len() {
                return self.reducer.attempt(steps, kept);
            }
            for superfluous in (0..self.reducer.body()).filter(|place| *place != index) {
                let (mut fewer, mut kept) = (steps.clone(), kept.clone());
                fewer.remove(superfluous);
                kept.remove(superfluous);
                if self.is_promising(&fewer) && self.reducer.attempt(fewer, kept)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// The axes of a template on which no slot is chosen.
fn free_axes(catalog: &Catalog, template: TemplateId) -> Vec<usize> {
    let axes = catalog.templates()[template.0].axes.iter().enumerate();
    axes.filter(|(_, axis)| !matches!(axis, Axis::Slot { .. }))
        .map(|(place, _)| place)
        .collect()
}

/// The same action with a lower slot in place of one that it uses.
fn lower_slots(catalog: &Catalog, action: ActionId) -> Vec<ActionId> {
    let (template, values) = catalog.values(action);
    let axes = &catalog.templates()[template.0].axes;
    let mut proposals = Vec::new();
    for (place, axis) in axes.iter().enumerate() {
        // Which slot a value is put into is decided together with its uses, by the rules for slots.
        if matches!(axis, Axis::Slot { role, .. } if *role != Role::Definition) {
            for lower in 0..values[place] {
                let mut values = values.clone();
                values[place] = lower;
                proposals.push(catalog.action(template, &values));
            }
        }
    }
    proposals
}

/// The same action with other alternatives, a few of each choice: the ends, then what is between.
fn other_alternatives(catalog: &Catalog, action: ActionId) -> Vec<ActionId> {
    let (template, values) = catalog.values(action);
    let axes = &catalog.templates()[template.0].axes;
    let mut proposals = Vec::new();
    for (place, axis) in axes.iter().enumerate() {
        let Axis::Choice(choice) = axis else { continue };
        let last = choice.len() - 1;
        for value in [last, 0, last / 2, last / 4, last - last / 4] {
            let mut values = values.clone();
            values[place] = value;
            let other = catalog.action(template, &values);
            if other != action && !proposals.contains(&other) {
                proposals.push(other);
            }
        }
    }
    proposals
}
