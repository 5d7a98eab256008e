//! Reuse: doing without a definition, by using a value that is there already.
//!
//! Random tests fill slots again and again. `int2 = 4; tree.delete(int2)` is two steps where `tree.delete(int0)`
//! might do, if `int0` holds some value, or held this very one until it was overwritten. Leaving steps out never
//! finds that, since no single step can go: the use needs some definition. So here a definition goes and its uses
//! turn to another slot.
//!
//! Each proposal has a step less than the test, so this is progress like any other removal.

use super::dataflow::Slot;
use super::reduce::Reducer;
use super::trials::Stop;
use crate::{ActionId, Catalog, Role, Step, System};

impl<S: System + ?Sized> Reducer<'_, '_, S> {
    /// Does without definitions where a value that is there already will do. True if there was a success.
    pub(super) fn reuse(&mut self) -> Result<bool, Stop> {
        let mut changed = false;
        let mut index = 0;
        while index < self.body() {
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

/// Tests that do without the step at `index`, if that is a definition; the most promising first.
fn without_definition(catalog: &Catalog, steps: &[Step], index: usize) -> Vec<Vec<Step>> {
    let Some(slot) = defined(catalog, steps[index]) else {
        return Vec::new();
    };
    let life = life(catalog, steps, index, slot);
    let mut proposals = Vec::new();
    for earlier in
        (0..index).filter(|earlier| is_same_value(catalog, steps[*earlier], steps[index]))
    {
        proposals.extend(keeping(catalog, steps, earlier, index, &life));
    }
    let (pool, _) = slot;
    for other in (0..catalog.pool(pool).size).map(|number| (pool, number)) {
        let holds_a_value = steps[..index]
            .iter()
            .any(|step| defined(catalog, *step) == Some(other));
        if other != slot && holds_a_value {
            let mut renamed = steps.to_vec();
            rename(catalog, &mut renamed, &life, slot, other);
            renamed.remove(index);
            proposals.push(renamed);
        }
    }
    proposals
}

/// Keeps the value of an earlier, equal definition in a slot where nothing overwrites it, and uses it instead.
fn keeping(
    catalog: &Catalog,
    steps: &[Step],
    earlier: usize,
    index: usize,
    life_after: &[usize],
) -> Vec<Vec<Step>> {
    let (Some(old), Some(slot)) = (
        defined(catalog, steps[earlier]),
        defined(catalog, steps[index]),
    ) else {
        return Vec::new();
    };
    let mut life_before = life(catalog, steps, earlier, old);
    life_before.push(earlier);
    let last = life_after.last().copied().unwrap_or(index);
    let (pool, _) = slot;
    let slots = (0..catalog.pool(pool).size).map(|number| (pool, number));
    let is_free = |free: &Slot| {
        // Mentions that are about to be renamed are not in the way.
        (earlier..=last).all(|place| {
            let moves_away = (life_before.contains(&place) && old == *free)
                || ((life_after.contains(&place) || place == index) && slot == *free);
            moves_away || !mentions(catalog, steps[place], *free)
        })
    };
    slots
        .filter(is_free)
        .map(|free| {
            let mut renamed = steps.to_vec();
            rename(catalog, &mut renamed, &life_before, old, free);
            rename(catalog, &mut renamed, life_after, slot, free);
            renamed.remove(index);
            renamed
        })
        .collect()
}

/// The one slot that a step defines.
pub(super) fn defined(catalog: &Catalog, step: Step) -> Option<Slot> {
    let Step::Act(action) = step else { return None };
    let mut definitions = catalog
        .slots(action)
        .into_iter()
        .filter(|(_, _, role)| *role == Role::Definition)
        .map(|(pool, slot, _)| (pool, slot));
    let only = definitions.next()?;
    definitions.next().is_none().then_some(only)
}

/// Whether two definitions differ in nothing but the slot they fill.
fn is_same_value(catalog: &Catalog, one: Step, other: Step) -> bool {
    let (Some(from), Some(to)) = (defined(catalog, one), defined(catalog, other)) else {
        return false;
    };
    from.0 == to.0 && renamed(catalog, one, from, to) == other
}

/// The steps that use what the definition at `index` put into `slot`, up to the next definition of it.
pub(super) fn life(catalog: &Catalog, steps: &[Step], index: usize, slot: Slot) -> Vec<usize> {
    let mut uses = Vec::new();
    for (place, step) in steps.iter().enumerate().skip(index + 1) {
        if *step == Step::Restart || defined(catalog, *step) == Some(slot) {
            break;
        }
        if mentions(catalog, *step, slot) {
            uses.push(place);
        }
    }
    uses
}

pub(super) fn mentions(catalog: &Catalog, step: Step, slot: Slot) -> bool {
    match step {
        Step::Act(action) => catalog
            .slots(action)
            .iter()
            .any(|(pool, index, _)| (*pool, *index) == slot),
        Step::Restart => false,
    }
}

fn rename(catalog: &Catalog, steps: &mut [Step], places: &[usize], from: Slot, to: Slot) {
    for place in places {
        steps[*place] = renamed(catalog, steps[*place], from, to);
    }
}

pub(super) fn renamed(catalog: &Catalog, step: Step, from: Slot, to: Slot) -> Step {
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
