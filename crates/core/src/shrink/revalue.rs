//! Revaluing: a shorter test may need other values than those drawn at random.
//!
//! A tree that is out of balance with five nodes may have been found with nine. No node can be
//! removed, since with these keys each is needed; with other keys four of them could. So a
//! definition gets another value, and some step that uses a value is removed. There are many such
//! pairs, so this is done only for tests that are still long, and with a limit.

use super::reduce::ReductionState;
use super::trials::ShrinkStop;
use crate::{ActionId, Axis, Catalog, SlotRole, Step, System};

/// The length up to which a test is short enough to read; shorter tests are not worth more runs.
const SHORT_TEST: usize = 12;

/// The number of values tried for one definition, spread over all of them.
const MAX_VALUES: u64 = 8;

/// The maximum number of candidates. Candidates that were tried before count, too, so that the
/// result does not depend on what is remembered.
const MAX_CANDIDATES: u64 = 1_000;

impl<S: System + ?Sized> ReductionState<'_, '_, S> {
    /// Looks for a shorter test with other values while the test is long. Returns true if the test
    /// changed.
    pub(super) fn replace_values(&mut self) -> Result<bool, ShrinkStop> {
        let mut left = MAX_CANDIDATES;
        let mut changed = false;
        let mut index = 0;
        while index < self.removable_len() && self.current.steps.len() > SHORT_TEST {
            let mut succeeded = false;
            for step in with_other_values(self.trials.system.actions(), self.current.steps[index]) {
                succeeded = self.replace_values_of_step(index, step, &mut left)?;
                if succeeded || left == 0 {
                    break;
                }
            }
            if left == 0 {
                break;
            }
            changed |= succeeded;
            index = if succeeded { 0 } else { index + 1 };
            if succeeded {
                self.remove_single_steps()?;
            }
        }
        Ok(changed)
    }

    /// Tries `step` at `index` while some step that uses a value is removed.
    fn replace_values_of_step(
        &mut self,
        index: usize,
        step: Step,
        left: &mut u64,
    ) -> Result<bool, ShrinkStop> {
        for superfluous in (0..self.removable_len()).rev() {
            let is_use = !is_definition(
                self.trials.system.actions(),
                self.current.steps[superfluous],
            );
            if superfluous == index || !is_use {
                continue;
            }
            if *left == 0 {
                break;
            }
            *left -= 1;
            let mut steps = self.current.steps.clone();
            let mut kept = self.current.kept.clone();
            steps[index] = step;
            steps.remove(superfluous);
            kept.remove(superfluous);
            if self.attempt(steps, kept)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns variants of a step with other values, if it is a definition with a choice in it.
fn with_other_values(catalog: &Catalog, step: Step) -> Vec<Step> {
    let Step::Act(action) = step else {
        return Vec::new();
    };
    if !is_definition(catalog, step) {
        return Vec::new();
    }
    let (template, values) = catalog.values(action);
    let axes = &catalog.templates()[template.0].axes;
    let mut others = Vec::new();
    for (axis_index, axis) in axes.iter().enumerate() {
        let Axis::Choice(choice) = axis else { continue };
        let tried = choice.len().min(MAX_VALUES);
        for number in 0..tried {
            let mut changed = values.clone();
            changed[axis_index] = number * choice.len() / tried;
            if changed != values {
                others.push(Step::Act(catalog.action(template, &changed)));
            }
        }
    }
    others
}

/// Returns true if a step fills a slot.
fn is_definition(catalog: &Catalog, step: Step) -> bool {
    let defines = |action: ActionId| {
        catalog
            .slots(action)
            .iter()
            .any(|(_, _, role)| *role == SlotRole::Definition)
    };
    matches!(step, Step::Act(action) if defines(action))
}

#[cfg(test)]
mod tests {
    use super::with_other_values;
    use crate::{Step, toys};

    #[test]
    fn values_are_spread_over_the_choice() {
        let catalog = toys::catalog(&[("int", 2)], &["<int> := <[1..100]>", "add(<int>)"]);
        let others = |text: &str| -> Vec<String> {
            with_other_values(&catalog, Step::Act(catalog.find(text)[0]))
                .iter()
                .filter_map(|step| match step {
                    Step::Act(action) => Some(catalog.text(*action)),
                    Step::Restart => None,
                })
                .collect()
        };
        assert_eq!(
            others("int1 = 1"),
            [
                "int1 = 13",
                "int1 = 26",
                "int1 = 38",
                "int1 = 51",
                "int1 = 63",
                "int1 = 76",
                "int1 = 88"
            ]
        );
        assert_eq!(others("add(int0)"), [""; 0]);
    }
}
