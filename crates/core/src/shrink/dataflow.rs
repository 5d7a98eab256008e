//! Static analysis of slots: facts that are known without a run.
//!
//! The roles of an action say which slots must hold a value and which it fills. So a candidate that
//! uses an empty slot, or overwrites a value that was never used, is known to have a disabled step.
//! Most rewritten tests are like that, and none of them has to be run.

use rustc_hash::FxHashMap;

use crate::{ActionId, Axis, Catalog, PoolId, SlotRole, Step};

/// A slot: its pool and its number.
pub(super) type Slot = (PoolId, u32);

/// Counts the steps that their slots disable, if the others are executed.
pub(super) fn count_disabled(catalog: &Catalog, steps: &[Step]) -> usize {
    // By slot: true if its value was used.
    let mut used: FxHashMap<Slot, bool> = FxHashMap::default();
    let mut count = 0;
    for step in steps {
        let Step::Act(action) = step else {
            used.clear();
            continue;
        };
        let slots = catalog.slots(*action);
        let is_enabled = slots.iter().all(|(pool, slot, role)| {
            let now = used.get(&(*pool, *slot));
            match role {
                SlotRole::Use | SlotRole::SilentUse => now.is_some(),
                SlotRole::Definition => now != Some(&false),
                SlotRole::Mention => true,
            }
        });
        if !is_enabled {
            count += 1;
            continue;
        }
        for (pool, slot, role) in &slots {
            if *role == SlotRole::Use {
                used.insert((*pool, *slot), true);
            }
        }
        for (pool, slot, role) in &slots {
            if *role == SlotRole::Definition {
                used.insert((*pool, *slot), false);
            }
        }
    }
    count
}

/// Counts the steps that fill a slot which was filled before.
pub fn count_reassigns(catalog: &Catalog, steps: &[Step]) -> usize {
    let mut filled: Vec<Slot> = Vec::new();
    let mut count = 0;
    for slots in steps.iter().map(|step| defined_slots(catalog, *step)) {
        count += usize::from(slots.iter().any(|slot| filled.contains(slot)));
        filled.extend(slots);
    }
    count
}

/// Returns the slots that a step fills.
pub(super) fn defined_slots(catalog: &Catalog, step: Step) -> Vec<Slot> {
    let Step::Act(action) = step else {
        return Vec::new();
    };
    let slots = catalog.slots(action).into_iter();
    slots
        .filter(|(_, _, role)| *role == SlotRole::Definition)
        .map(|(pool, slot, _)| (pool, slot))
        .collect()
}

/// Returns the slots that steps name, in order of first mention.
pub(super) fn mentioned_slots(catalog: &Catalog, steps: &[Step]) -> Vec<Slot> {
    let mut all = Vec::new();
    for step in steps {
        let Step::Act(action) = step else { continue };
        for (pool, slot, _) in catalog.slots(*action) {
            if !all.contains(&(pool, slot)) {
                all.push((pool, slot));
            }
        }
    }
    all
}

/// Makes a step fill another slot. The slots that it uses stay the same.
pub(super) fn with_definition(catalog: &Catalog, step: Step, from: Slot, to: u32) -> Step {
    let Step::Act(action) = step else { return step };
    let (template, mut values) = catalog.values(action);
    let axes = &catalog.templates()[template.0].axes;
    for (axis, value) in axes.iter().zip(&mut values) {
        let is_definition =
            matches!(axis, Axis::Slot { pool, role: SlotRole::Definition } if *pool == from.0);
        if is_definition && *value == u64::from(from.1) {
            *value = u64::from(to);
        }
    }
    Step::Act(catalog.action(template, &values))
}

/// Returns the action of a template that names the slots of another action where it can, and slot 0
/// and the first alternatives elsewhere.
pub(super) fn fitting_action(
    catalog: &Catalog,
    template: crate::TemplateId,
    like: ActionId,
) -> Option<ActionId> {
    if catalog.count(template) == 0 {
        return None;
    }
    let mut offered = catalog.slots(like);
    let axes = &catalog.templates()[template.0].axes;
    let values: Vec<u64> = axes
        .iter()
        .map(|axis| {
            let Axis::Slot { pool, role } = axis else {
                return 0;
            };
            let defines = |role: SlotRole| role == SlotRole::Definition;
            let index = offered.iter().position(|(other, _, other_role)| {
                other == pool && defines(*other_role) == defines(*role)
            });
            index.map_or(0, |index| u64::from(offered.remove(index).1))
        })
        .collect();
    Some(catalog.action(template, &values))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::replay::{ReplayOptions, replay};
    use crate::toys::{self, Counters};
    use crate::{System, Test, TraceEvent};

    proptest! {
        #[test]
        fn predicted_skips_match_a_run(ids in prop::collection::vec(0u64..25, 0..30), restart in 0usize..30) {
            let mut counters = Counters::new(u64::MAX);
            let mut test = Test::from_actions(ids.into_iter().map(ActionId));
            if restart < test.len() {
                test.steps[restart] = Step::Restart;
            }
            let trace = replay(&mut counters, &test, &ReplayOptions::default(), &mut ()).unwrap();
            let skipped = trace.events.iter().filter(|event| matches!(event, TraceEvent::Skipped(_)));
            prop_assert_eq!(count_disabled(counters.actions(), &test.steps), skipped.count());
        }
    }

    #[test]
    fn a_silent_use_is_no_use() {
        let catalog = toys::catalog(&[("x", 2)], &["<x> := 1", "look(~<x>)", "take(<x>)"]);
        let count = |test: &str| {
            let steps: Vec<Step> = test
                .split("; ")
                .map(|text| Step::Act(catalog.find(text)[0]))
                .collect();
            (
                count_disabled(&catalog, &steps),
                count_reassigns(&catalog, &steps),
            )
        };
        assert_eq!(count("x0 = 1; look(x0); x0 = 1"), (1, 1));
        assert_eq!(count("x0 = 1; take(x0); x0 = 1"), (0, 1));
        assert_eq!(count("x0 = 1; x1 = 1; take(x0)"), (0, 0));
        assert_eq!(count("take(x0)"), (1, 0));
    }

    #[test]
    fn a_fitting_action_has_the_same_slots() {
        let pools = [("x", 4), ("y", 4)];
        let catalog = toys::catalog(&pools, &["<x> := f(<y>)", "<x> := g(<[1..3]>, <y>, <x>)"]);
        let action = catalog.find("x2 = f(y3)")[0];
        let fitting_action = fitting_action(&catalog, crate::TemplateId(1), action).unwrap();
        assert_eq!(catalog.text(fitting_action), "x2 = g(1, y3, x0)");
    }
}
