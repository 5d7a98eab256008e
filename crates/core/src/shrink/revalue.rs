//! Other values: a shorter test may need other values than the ones that chance drew.
//!
//! A tree that is out of balance with five nodes may have been found with nine. No node can go, since with these
//! keys each is needed; with other keys four of them could. So a definition gets another value, and some step that
//! uses a value goes. There are many such pairs, so this is done only for tests that are still long, and not for
//! ever.

use super::reduce::Reducer;
use super::trials::Stop;
use crate::{ActionId, Axis, Catalog, Role, Step, System};

/// Tests up to this length are read at a glance; looking on for shorter ones is not worth the runs.
const AT_A_GLANCE: usize = 12;

/// How many values are tried for one definition, spread over all there are.
const VALUES: u64 = 8;

/// How many candidates a person would wait for to have a shorter test. Candidates that were tried before count, too, so
/// that the result does not depend on what is remembered.
const CANDIDATES: u64 = 1_000;

impl<S: System + ?Sized> Reducer<'_, '_, S> {
    /// Looks for a shorter test with other values, as long as the test is not read at a glance. True if there
    /// was a success.
    pub(super) fn revalue(&mut self) -> Result<bool, Stop> {
        let mut left = CANDIDATES;
        let mut changed = false;
        let mut index = 0;
        while index < self.body() && self.current.steps.len() > AT_A_GLANCE {
            let mut succeeded = false;
            for step in with_other_values(self.trials.system.actions(), self.current.steps[index]) {
                succeeded = self.revalue_step(index, step, &mut left)?;
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

    /// Tries `step` at `index` while some step that uses a value goes.
    fn revalue_step(&mut self, index: usize, step: Step, left: &mut u64) -> Result<bool, Stop> {
        for superfluous in (0..self.body()).rev() {
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

/// The step at `index` with other values in place of its own, if it is a definition with a choice in it.
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
    for (place, axis) in axes.iter().enumerate() {
        let Axis::Choice(choice) = axis else { continue };
        let tried = choice.len().min(VALUES);
        for number in 0..tried {
            let mut changed = values.clone();
            changed[place] = number * choice.len() / tried;
            if changed != values {
                others.push(Step::Act(catalog.action(template, &changed)));
            }
        }
    }
    others
}

/// Whether a step fills a slot.
fn is_definition(catalog: &Catalog, step: Step) -> bool {
    let defines = |action: ActionId| {
        catalog
            .slots(action)
            .iter()
            .any(|(_, _, role)| *role == Role::Definition)
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
