//! Replacement of steps by lower actions: SimplifyAll, SimplifySingle and ReduceAction.

use super::super::dataflow;
use super::super::trials::ShrinkStop;
use super::Normalizer;
use crate::{ActionId, Axis, Catalog, SlotRole, Step, System, TemplateId, text_distance};

/// The largest number of lower alternatives that are tried one by one.
const MAX_EXHAUSTIVE: u64 = 8;

/// The steps to replace.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReplaceScope {
    /// The step at the index.
    One,
    /// All steps equal to it.
    Equal,
}

impl<S: System + ?Sized> Normalizer<'_, '_, '_, S> {
    /// Replaces all equal steps by lower actions. Returns true if the test changed.
    pub(super) fn simplify_all(&mut self) -> Result<bool, ShrinkStop> {
        let mut changed = false;
        let mut index = 0;
        while index < self.movable_len() {
            let step = self.steps()[index];
            let is_first = !self.steps()[..index].contains(&step);
            let is_repeated = self.steps()[index + 1..].contains(&step);
            // Single steps are handled by the other rule.
            if is_first && is_repeated && self.lower_step(index, ReplaceScope::Equal)? {
                changed = true;
            } else {
                index += 1;
            }
        }
        Ok(changed)
    }

    /// Replaces single steps by lower actions. Returns true if the test changed.
    pub(super) fn simplify_single(&mut self) -> Result<bool, ShrinkStop> {
        let mut changed = false;
        let mut index = 0;
        while index < self.movable_len() {
            if self.lower_step(index, ReplaceScope::One)? {
                changed = true;
            } else {
                index += 1;
            }
        }
        Ok(changed)
    }

    /// Replaces a step by a lower action. Returns true at the first success.
    fn lower_step(&mut self, index: usize, scope: ReplaceScope) -> Result<bool, ShrinkStop> {
        let Step::Act(action) = self.steps()[index] else {
            return Ok(false);
        };
        if self.lower_alternatives(index, action, scope)? {
            return Ok(true);
        }
        let lower = |other: &ActionId| *other < action;
        let mut proposals = lower_slots(self.catalog(), action);
        proposals.extend(self.other_actions(action).into_iter().filter(lower));
        for proposal in self.allowed_proposals(index, proposals, scope)? {
            if self.replace(index, proposal, scope)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Tries the same template with lower alternatives: the first ones everywhere, then axis by
    /// axis.
    fn lower_alternatives(
        &mut self,
        index: usize,
        action: ActionId,
        scope: ReplaceScope,
    ) -> Result<bool, ShrinkStop> {
        let (template, values) = self.catalog().values(action);
        let axes: Vec<usize> = free_axes(self.catalog(), template);
        let mut first = values.clone();
        for axis in &axes {
            first[*axis] = 0;
        }
        let first = self.catalog().action(template, &first);
        if first != action && self.replace(index, first, scope)? {
            return Ok(true);
        }
        for axis in axes {
            let with = |normalizer: &Self, value: u64| {
                let mut values = values.clone();
                values[axis] = value;
                normalizer.catalog().action(template, &values)
            };
            let now = values[axis];
            if now <= MAX_EXHAUSTIVE {
                for value in 0..now {
                    let lower = with(self, value);
                    if self.replace(index, lower, scope)? {
                        return Ok(true);
                    }
                }
                continue;
            }
            // All tried values at or below `fails` failed.
            let mut fails = None;
            while fails.is_none_or(|fails| fails + 1 < now) {
                let value = fails.map_or(0, |fails| fails + (now - fails) / 2);
                let lower = with(self, value);
                if self.replace(index, lower, scope)? {
                    // The next call continues below it.
                    return Ok(true);
                }
                fails = Some(value);
            }
        }
        Ok(false)
    }

    /// Returns other actions to try, the most promising first: one or a few of each template.
    fn other_actions(&self, action: ActionId) -> Vec<ActionId> {
        let catalog = self.catalog();
        let speed = self.options.speed;
        let slot_signature = |template: TemplateId| {
            let axes = catalog.templates()[template.0].axes.iter();
            let mut slots: Vec<_> = axes
                .filter_map(|axis| match axis {
                    Axis::Slot { pool, role } => Some((*pool, *role == SlotRole::Definition)),
                    _ => None,
                })
                .collect();
            slots.sort();
            slots
        };
        let now = catalog.template_of(action);
        let wanted = slot_signature(now);
        let mut templates: Vec<TemplateId> =
            (0..catalog.templates().len()).map(TemplateId).collect();
        templates.retain(|template| *template != now);
        // Stable: file order within.
        templates.sort_by_key(|template| slot_signature(*template) != wanted);
        let mut other_actions = Vec::new();
        for template in templates {
            let fitting_action = dataflow::fitting_action(catalog, template, action);
            other_actions.extend(fitting_action);
            let first = catalog.first(template).0;
            let more = speed
                .max_template_actions()
                .min(catalog.count(template))
                .saturating_sub(1);
            other_actions.extend(
                (first..first + more)
                    .map(ActionId)
                    .filter(|other| Some(*other) != fitting_action),
            );
        }
        other_actions
    }

    /// Returns the proposals that slots and guards allow instead of the step at `index`, up to a
    /// limit.
    fn allowed_proposals(
        &mut self,
        index: usize,
        mut proposals: Vec<ActionId>,
        scope: ReplaceScope,
    ) -> Result<Vec<ActionId>, ShrinkStop> {
        proposals.retain(|proposal| {
            self.is_similar_text(index, *proposal)
                && self.is_promising(&self.with_replacement(index, *proposal, scope))
        });
        // One run answers for all of them; for one or two it is not worth it.
        if proposals.len() > 2 {
            let before = self.steps()[..index].to_vec();
            proposals = self.reducer.trials.enabled_after(&before, &proposals)?;
        }
        proposals.truncate(self.options.speed.max_other_actions());
        Ok(proposals)
    }

    /// Tries a replacement. Returns true if it was accepted.
    fn replace(
        &mut self,
        index: usize,
        proposal: ActionId,
        scope: ReplaceScope,
    ) -> Result<bool, ShrinkStop> {
        if !self.is_similar_text(index, proposal) {
            return Ok(false);
        }
        let steps = self.with_replacement(index, proposal, scope);
        self.attempt_in_place(steps)
    }

    /// Returns true if the text of an action is close enough to that of the step at `index`.
    fn is_similar_text(&self, index: usize, proposal: ActionId) -> bool {
        let (Some(furthest), Step::Act(now)) =
            (self.options.max_text_distance, self.steps()[index])
        else {
            return true;
        };
        let catalog = self.catalog();
        text_distance(&catalog.text(now), &catalog.text(proposal)) <= furthest
    }

    /// Returns the current test with a step, or all steps equal to it, replaced. A last step that
    /// must be kept stays.
    fn with_replacement(&self, index: usize, proposal: ActionId, scope: ReplaceScope) -> Vec<Step> {
        let mut steps = self.steps().to_vec();
        let old = steps[index];
        let movable = self.movable_len();
        for (position, step) in steps.iter_mut().enumerate().take(movable) {
            if position == index || (scope == ReplaceScope::Equal && *step == old) {
                *step = Step::Act(proposal);
            }
        }
        steps
    }

    /// Replaces steps by any other action if another step can be removed then. Returns true if the
    /// test changed.
    pub(super) fn replace_and_remove(&mut self) -> Result<bool, ShrinkStop> {
        let mut changed = false;
        let mut index = 0;
        while index < self.movable_len() {
            let succeeded = self.replace_one_and_remove(index)?;
            changed |= succeeded;
            if !succeeded {
                index += 1;
            }
        }
        Ok(changed)
    }

    /// Replaces one step if another step can be removed then.
    fn replace_one_and_remove(&mut self, index: usize) -> Result<bool, ShrinkStop> {
        let Step::Act(action) = self.steps()[index] else {
            return Ok(false);
        };
        let mut proposals = other_alternatives(self.catalog(), action);
        proposals.extend(self.other_actions(action));
        let mut allowed = self.allowed_proposals(index, proposals, ReplaceScope::One)?;
        allowed.truncate(self.options.speed.max_replacements());
        for proposal in allowed {
            let steps = self.with_replacement(index, proposal, ReplaceScope::One);
            let Some(achieved) = self.reducer.trials.attempt(&steps)? else {
                continue;
            };
            let kept = self.reducer.current.kept.clone();
            if achieved.executed.len() < steps.len() {
                return self.reducer.attempt(steps, kept);
            }
            for superfluous in (0..self.reducer.removable_len()).filter(|other| *other != index) {
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

/// Returns the axes of a template that are not slots.
fn free_axes(catalog: &Catalog, template: TemplateId) -> Vec<usize> {
    let axes = catalog.templates()[template.0].axes.iter().enumerate();
    axes.filter(|(_, axis)| !matches!(axis, Axis::Slot { .. }))
        .map(|(index, _)| index)
        .collect()
}

/// Returns variants of an action with a lower slot instead of one that it uses.
fn lower_slots(catalog: &Catalog, action: ActionId) -> Vec<ActionId> {
    let (template, values) = catalog.values(action);
    let axes = &catalog.templates()[template.0].axes;
    let mut proposals = Vec::new();
    for (index, axis) in axes.iter().enumerate() {
        // The slot of a definition is chosen together with its uses, by the rules for slots.
        if matches!(axis, Axis::Slot { role, .. } if *role != SlotRole::Definition) {
            for lower in 0..values[index] {
                let mut values = values.clone();
                values[index] = lower;
                proposals.push(catalog.action(template, &values));
            }
        }
    }
    proposals
}

/// Returns variants of an action with other alternatives, a few of each choice: the ends, then some
/// in between.
fn other_alternatives(catalog: &Catalog, action: ActionId) -> Vec<ActionId> {
    let (template, values) = catalog.values(action);
    let axes = &catalog.templates()[template.0].axes;
    let mut proposals = Vec::new();
    for (index, axis) in axes.iter().enumerate() {
        let Axis::Choice(choice) = axis else { continue };
        let last = choice.len() - 1;
        for value in [last, 0, last / 2, last / 4, last - last / 4] {
            let mut values = values.clone();
            values[index] = value;
            let other = catalog.action(template, &values);
            if other != action && !proposals.contains(&other) {
                proposals.push(other);
            }
        }
    }
    proposals
}
