//! Reuse: removes a definition by using an existing value.
//!
//! Random tests fill slots many times. `int2 = 4; tree.delete(int2)` is two steps where
//! `tree.delete(int0)` might do, if `int0` holds some value, or held this very one until it was
//! overwritten. Removing steps never finds that, since no single step can be removed: the use needs
//! some definition. So here a definition is removed and its uses are redirected to another slot.
//!
//! Each proposal has one step less than the test, so this is progress like any other removal.

use super::dataflow::Slot;
use super::reduce::ReductionState;
use super::trials::ShrinkStop;
use crate::{ActionId, Catalog, SlotRole, Step, System};

impl<S: System + ?Sized> ReductionState<'_, '_, S> {
    /// Removes definitions where an existing value will do. Returns true if the test changed.
    pub(super) fn reuse_values(&mut self) -> Result<bool, ShrinkStop> {
        let mut changed = false;
        let mut index = 0;
        while index < self.removable_len() {
            let mut succeeded = false;
            let catalog = self.trials.system.actions();
            for steps in without_definition(catalog, &self.current.steps, index) {
                if self.disables_more(&steps) {
                    continue;
                }
                let mut kept = self.current.kept.clone();
                kept.remove(index);
                succeeded = self.attempt(steps, kept)?;
                if succeeded {
                    break;
                }
            }
            changed |= succeeded;
            if !succeeded {
                index += 1;
            }
        }
        Ok(changed)
    }
}

/// Returns tests without the step at `index`, if that is a definition; the most promising first.
fn without_definition(catalog: &Catalog, steps: &[Step], index: usize) -> Vec<Vec<Step>> {
    let Some(slot) = defined_slot(catalog, steps[index]) else {
        return Vec::new();
    };
    let lifetime = slot_lifetime(catalog, steps, index, slot);
    let mut proposals = Vec::new();
    for earlier in
        (0..index).filter(|earlier| is_same_value(catalog, steps[*earlier], steps[index]))
    {
        proposals.extend(keep_earlier_value(
            catalog, steps, earlier, index, &lifetime,
        ));
    }
    let (pool, _) = slot;
    for other in (0..catalog.pool(pool).size).map(|number| (pool, number)) {
        let holds_a_value = steps[..index]
            .iter()
            .any(|step| defined_slot(catalog, *step) == Some(other));
        if other != slot && holds_a_value {
            let mut renamed = steps.to_vec();
            rename_slot(catalog, &mut renamed, &lifetime, slot, other);
            renamed.remove(index);
            proposals.push(renamed);
        }
    }
    proposals
}

/// Keeps the value of an earlier, equal definition in a slot where nothing overwrites it, and uses
/// it instead.
fn keep_earlier_value(
    catalog: &Catalog,
    steps: &[Step],
    earlier: usize,
    index: usize,
    lifetime_after: &[usize],
) -> Vec<Vec<Step>> {
    let (Some(old), Some(slot)) = (
        defined_slot(catalog, steps[earlier]),
        defined_slot(catalog, steps[index]),
    ) else {
        return Vec::new();
    };
    let mut lifetime_before = slot_lifetime(catalog, steps, earlier, old);
    lifetime_before.push(earlier);
    let last = lifetime_after.last().copied().unwrap_or(index);
    let (pool, _) = slot;
    let slots = (0..catalog.pool(pool).size).map(|number| (pool, number));
    let is_free = |free: &Slot| {
        // Mentions that are about to be renamed do not count.
        (earlier..=last).all(|position| {
            let moves_away = (lifetime_before.contains(&position) && old == *free)
                || ((lifetime_after.contains(&position) || position == index) && slot == *free);
            moves_away || !mentions_slot(catalog, steps[position], *free)
        })
    };
    slots
        .filter(is_free)
        .map(|free| {
            let mut renamed = steps.to_vec();
            rename_slot(catalog, &mut renamed, &lifetime_before, old, free);
            rename_slot(catalog, &mut renamed, lifetime_after, slot, free);
            renamed.remove(index);
            renamed
        })
        .collect()
}

/// Returns the only slot that a step defines; `None` if it defines none or several.
pub(super) fn defined_slot(catalog: &Catalog, step: Step) -> Option<Slot> {
    let Step::Act(action) = step else { return None };
    let mut definitions = catalog
        .slots(action)
        .into_iter()
        .filter(|(_, _, role)| *role == SlotRole::Definition)
        .map(|(pool, slot, _)| (pool, slot));
    let only = definitions.next()?;
    definitions.next().is_none().then_some(only)
}

/// Returns true if two definitions differ only in the slot they fill.
fn is_same_value(catalog: &Catalog, one: Step, other: Step) -> bool {
    let (Some(from), Some(to)) = (defined_slot(catalog, one), defined_slot(catalog, other)) else {
        return false;
    };
    from.0 == to.0 && with_renamed_slot(catalog, one, from, to) == other
}

/// Returns the steps that use the value that the definition at `index` put into `slot`, up to the
/// next definition.
pub(super) fn slot_lifetime(
    catalog: &Catalog,
    steps: &[Step],
    index: usize,
    slot: Slot,
) -> Vec<usize> {
    let mut uses = Vec::new();
    for (position, step) in steps.iter().enumerate().skip(index + 1) {
        if *step == Step::Restart || defined_slot(catalog, *step) == Some(slot) {
            break;
        }
        if mentions_slot(catalog, *step, slot) {
            uses.push(position);
        }
    }
    uses
}

/// Returns true if a step names a slot.
pub(super) fn mentions_slot(catalog: &Catalog, step: Step, slot: Slot) -> bool {
    match step {
        Step::Act(action) => catalog
            .slots(action)
            .iter()
            .any(|(pool, index, _)| (*pool, *index) == slot),
        Step::Restart => false,
    }
}

/// Renames a slot in some steps.
fn rename_slot(catalog: &Catalog, steps: &mut [Step], indices: &[usize], from: Slot, to: Slot) {
    for index in indices {
        steps[*index] = with_renamed_slot(catalog, steps[*index], from, to);
    }
}

/// Returns a step with a slot renamed.
pub(super) fn with_renamed_slot(catalog: &Catalog, step: Step, from: Slot, to: Slot) -> Step {
    let act = |action: ActionId| {
        catalog.rename(
            action,
            |pool, slot| if (pool, slot) == from { to.1 } else { slot },
        )
    };
    match step {
        Step::Act(action) => Step::Act(act(action)),
        Step::Restart => Step::Restart,
    }
}

#[cfg(test)]
mod tests {
    use super::without_definition;
    use crate::toys;
    use crate::{Catalog, Step};

    const LINES: [&str; 3] = ["<int> := <[1..9]>", "add(<int>)", "drop(<int>)"];

    fn proposals(test: &str, index: usize) -> Vec<String> {
        let catalog: Catalog = toys::catalog(&[("int", 3)], &LINES);
        let steps: Vec<Step> = test
            .split("; ")
            .map(|text| Step::Act(catalog.find(text)[0]))
            .collect();
        let text = |step: &Step| match step {
            Step::Act(action) => catalog.text(*action),
            Step::Restart => String::from("restart"),
        };
        without_definition(&catalog, &steps, index)
            .iter()
            .map(|steps| steps.iter().map(text).collect::<Vec<_>>().join("; "))
            .collect()
    }

    #[test]
    fn another_value_may_do() {
        assert_eq!(
            proposals("int0 = 1; add(int0); int1 = 2; add(int1)", 2),
            ["int0 = 1; add(int0); add(int0)"]
        );
    }

    #[test]
    fn an_overwritten_value_is_kept_in_a_free_slot() {
        let test = "int0 = 1; add(int0); int0 = 2; add(int0); int1 = 1; drop(int1)";
        let found = proposals(test, 4);
        assert_eq!(
            found[0],
            "int1 = 1; add(int1); int0 = 2; add(int0); drop(int1)"
        );
        assert!(
            found.contains(&String::from(
                "int2 = 1; add(int2); int0 = 2; add(int0); drop(int2)"
            )),
            "{found:?}"
        );
    }

    #[test]
    fn other_steps_stay() {
        assert_eq!(proposals("int0 = 1; add(int0)", 1), [""; 0]);
        assert_eq!(proposals("int0 = 1; add(int0)", 0), [""; 0]);
    }
}
