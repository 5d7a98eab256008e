//! What can be known about slots without a run.
//!
//! The roles of an action say which slots must hold a value and which it fills. So a candidate that uses a slot before
//! anything was put into it, or fills one again whose value nobody has used, is known to have a disabled step. Most
//! rewritings of a test are like that, and none of them has to be run.

use rustc_hash::FxHashMap;

use crate::{ActionId, Axis, Catalog, PoolId, Role, Step};

/// A slot.
pub(super) type Slot = (PoolId, u32);

/// How many steps are disabled on account of their slots, if the others are executed.
pub(super) fn disabled(catalog: &Catalog, steps: &[Step]) -> usize {
    // By slot: whether its value was used.
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
                Role::Use | Role::SilentUse => now.is_some(),
                Role::Definition => now != Some(&false),
                Role::Mention => true,
            }
        });
        if !is_enabled {
            count += 1;
            continue;
        }
        for (pool, slot, role) in &slots {
            if *role == Role::Use {
                used.insert((*pool, *slot), true);
            }
        }
        for (pool, slot, role) in &slots {
            if *role == Role::Definition {
                used.insert((*pool, *slot), false);
            }
        }
    }
    count
}

/// How many steps fill a slot that was filled before.
pub fn reassigns(catalog: &Catalog, steps: &[Step]) -> usize {
    let mut filled: Vec<Slot> = Vec::new();
    let mut count = 0;
    for slots in steps.iter().map(|step| definitions(catalog, *step)) {
        count += usize::from(slots.iter().any(|slot| filled.contains(slot)));
        filled.extend(slots);
    }
    count
}

/// The slots that a step fills.
pub(super) fn definitions(catalog: &Catalog, step: Step) -> Vec<Slot> {
    let Step::Act(action) = step else {
        return Vec::new();
    };
    let slots = catalog.slots(action).into_iter();
    slots
        .filter(|(_, _, role)| *role == Role::Definition)
        .map(|(pool, slot, _)| (pool, slot))
        .collect()
}

/// The slots that steps name, in order of first mention.
pub(super) fn mentioned(catalog: &Catalog, steps: &[Step]) -> Vec<Slot> {
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

/// A step that fills another slot and is the same otherwise: what it uses, it uses still.
pub(super) fn with_definition(catalog: &Catalog, step: Step, from: Slot, to: u32) -> Step {
    let Step::Act(action) = step else { return step };
    let (template, mut values) = catalog.values(action);
    let axes = &catalog.templates()[template.0].axes;
    for (axis, value) in axes.iter().zip(&mut values) {
        let is_definition =
            matches!(axis, Axis::Slot { pool, role: Role::Definition } if *pool == from.0);
        if is_definition && *value == u64::from(from.1) {
            *value = u64::from(to);
        }
    }
    Step::Act(catalog.action(template, &values))
}

/// The action of a template that names the slots of another action where it can, and slot 0 and the first
/// alternatives elsewhere.
pub(super) fn fitting(
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
            let defines = |role: Role| role == Role::Definition;
            let place = offered.iter().position(|(other, _, other_role)| {
                other == pool && defines(*other_role) == defines(*role)
            });
            place.map_or(0, |place| u64::from(offered.remove(place).1))
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
    use crate::{Event, System, Test};

    proptest! {
        #[test]
        fn what_is_known_without_a_run_is_what_a_run_shows(ids in prop::collection::vec(0u64..25, 0..30), restart in 0usize..30) {
            let mut counters = Counters::new(u64::MAX);
            let mut test = Test::of(ids.into_iter().map(ActionId));
            if restart < test.len() {
                test.steps[restart] = Step::Restart;
            }
            let trace = replay(&mut counters, &test, &ReplayOptions::default(), &mut ()).unwrap();
            let skipped = trace.events.iter().filter(|event| matches!(event, Event::Skipped(_)));
            prop_assert_eq!(disabled(counters.actions(), &test.steps), skipped.count());
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
            (disabled(&catalog, &steps), reassigns(&catalog, &steps))
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
        let fitting = fitting(&catalog, crate::TemplateId(1), action).unwrap();
        assert_eq!(catalog.text(fitting), "x2 = g(1, y3, x0)");
    }
}
