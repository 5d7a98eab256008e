//! Properties of every catalog, every test and every system, tested on random ones.

use crate::machine;

use machine::{any_machine, fails_as, failures};
use proptest::prelude::*;
use proptest::sample::Index;
use testwright_core::generate::FailingTest;
use testwright_core::laws::check_laws;
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::{
    ReduceError, ReduceMethod, ReduceOptions, Reduction, alpha_convert, reduce,
};
use testwright_core::toys::{Counters, Jugs, Safe, Stack};
use testwright_core::{
    ActionId, Axis, Catalog, ChoiceValues, PoolId, SlotPool, SlotRole, Step, System, Template,
    TemplatePiece, Test, saved,
};

// ------------------------------------------------------------------------------------------ random catalogs

const POOLS: [(&str, u32); 4] = [("x", 3), ("c1", 12), ("p_", 2), ("x_REF", 2)];

fn any_axis() -> impl Strategy<Value = Axis> {
    let role = prop::sample::select(vec![
        SlotRole::Use,
        SlotRole::SilentUse,
        SlotRole::Definition,
        SlotRole::Mention,
    ]);
    let texts = prop::collection::vec("[1a' ]{0,3}", 1..4);
    prop_oneof![
        4 => (0..POOLS.len(), role).prop_map(|(pool, role)| Axis::Slot { pool: PoolId(pool), role }),
        1 => (-3i64..12, 0i64..14).prop_map(|(first, more)| Axis::Choice(ChoiceValues::Integers { first, last: first + more })),
        1 => prop::char::range(' ', '0').prop_map(|first| Axis::Choice(ChoiceValues::Characters { first, last: '1' })),
        1 => texts.prop_map(|texts| Axis::Choice(ChoiceValues::Texts(texts))),
        1 => (1u64..4).prop_map(Axis::Repeat),
    ]
}

fn any_template() -> impl Strategy<Value = Template> {
    // Few letters, so that texts collide and are prefixes of each other.
    let piece = prop_oneof![
        "[x1 .#=]{0,4}".prop_map(Err),
        (any::<Index>(), any::<bool>()).prop_map(Ok),
    ];
    let pieces = prop::collection::vec(piece, 0..6);
    (prop::collection::vec(any_axis(), 0..4), pieces).prop_map(|(axes, pieces)| {
        // A statement begins with a letter.
        let mut all = vec![TemplatePiece::Text("f".to_owned())];
        for piece in pieces {
            match piece {
                Err(text) => all.push(TemplatePiece::Text(text)),
                Ok(_) if axes.is_empty() => {}
                Ok((index, twin)) => {
                    let axis = index.index(axes.len());
                    let is_slot = matches!(axes[axis], Axis::Slot { .. });
                    all.push(if twin && is_slot {
                        TemplatePiece::Twin(axis)
                    } else {
                        TemplatePiece::Hole(axis)
                    });
                }
            }
        }
        Template {
            class: String::new(),
            line: 1,
            pieces: all,
            axes,
        }
    })
}

fn any_catalog() -> impl Strategy<Value = Catalog> {
    prop::collection::vec(any_template(), 1..5).prop_map(|templates| {
        let pool = |(name, size): (&str, u32)| SlotPool {
            name: name.to_owned(),
            size,
        };
        Catalog::new(POOLS.map(pool).to_vec(), templates).expect("few actions")
    })
}

fn actions(catalog: &Catalog, indices: &[Index]) -> Vec<ActionId> {
    let action = |index: &Index| ActionId(index.index(catalog.len() as usize) as u64);
    indices.iter().map(action).collect()
}

fn any_indices() -> impl Strategy<Value = Vec<Index>> {
    prop::collection::vec(any::<Index>(), 1..12)
}

proptest! {
    #[test]
    fn values_and_action_are_inverse(catalog in any_catalog(), indices in any_indices()) {
        for action in actions(&catalog, &indices) {
            let (template, values) = catalog.values(action);
            prop_assert_eq!(catalog.action(template, &values), action);
            prop_assert_eq!(catalog.template_of(action), template);
        }
    }

    #[test]
    fn a_text_finds_all_and_only_its_actions(catalog in any_catalog(), indices in any_indices()) {
        for action in actions(&catalog, &indices) {
            let text = catalog.text(action);
            let found = catalog.find(&text);
            prop_assert!(found.contains(&catalog.first_copy(action)), "{text:?}: {found:?}");
            prop_assert!(found.is_sorted());
            for other in &found {
                prop_assert_eq!(&catalog.text(*other), &text);
                prop_assert_eq!(catalog.first_copy(*other), *other);
            }
            if catalog.len() <= 2_000 {
                let all = (0..catalog.len()).map(ActionId).filter(|other| {
                    catalog.first_copy(*other) == *other && catalog.text(*other) == text
                });
                prop_assert_eq!(found, all.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_label_finds_its_action_alone(catalog in any_catalog(), indices in any_indices()) {
        for action in actions(&catalog, &indices) {
            let label = catalog.label(action);
            prop_assert_eq!(catalog.find(&label), [catalog.first_copy(action)], "{:?}", label);
        }
    }

    #[test]
    fn any_text_may_be_looked_for(catalog in any_catalog(), text in "(f|x1|self.p_|c1|\\[|\\]|#|1|'|;|result = | |ä|\\PC)*") {
        let found = catalog.find(&text);
        prop_assert!(found.is_sorted());
        let _ = saved::read(&catalog, &text);
    }

    #[test]
    fn renaming_is_invertible(catalog in any_catalog(), indices in any_indices(), turn in 0u32..12) {
        for action in actions(&catalog, &indices) {
            let size = |pool: PoolId| catalog.pool(pool).size;
            let there = catalog.rename(action, |pool, slot| (slot + turn) % size(pool));
            let back = catalog.rename(there, |pool, slot| (slot + size(pool) - turn % size(pool)) % size(pool));
            prop_assert_eq!(back, action);
        }
    }

    #[test]
    fn alpha_conversion_is_a_renaming_and_stable(catalog in any_catalog(), indices in any_indices()) {
        let test = Test::from_actions(actions(&catalog, &indices));
        let converted = alpha_convert(&catalog, &test);
        prop_assert_eq!(converted.len(), test.len());
        prop_assert_eq!(alpha_convert(&catalog, &converted), converted.clone());
        // One permutation of slots for each pool, the same throughout.
        let mut pairs: Vec<(PoolId, u32, u32)> = Vec::new();
        for (old, new) in test.steps.iter().zip(&converted.steps) {
            let (Step::Act(old), Step::Act(new)) = (*old, *new) else { unreachable!() };
            prop_assert_eq!(catalog.template_of(old), catalog.template_of(new));
            let slots = catalog.slots(old).into_iter().zip(catalog.slots(new));
            pairs.extend(slots.map(|(old, new)| (old.0, old.1, new.1)));
        }
        for (pool, old, new) in &pairs {
            for (other_pool, other_old, other_new) in &pairs {
                prop_assert!(pool != other_pool || (old == other_old) == (new == other_new));
            }
        }
    }

    #[test]
    fn writing_then_reading_is_identity(
        catalog in any_catalog(),
        indices in any_indices(),
        restarts in prop::collection::vec(any::<Index>(), 0..2),
        remarks in prop::collection::vec("[a-z#; ]{0,8}", 12),
        notes in prop::collection::vec(("[a-z]{1,5}", "[a-z0-9:;#=]{0,10}"), 0..3),
    ) {
        let first_copy = |action| Step::Act(catalog.first_copy(action));
        let mut steps: Vec<Step> = actions(&catalog, &indices).into_iter().map(first_copy).collect();
        for restart in restarts {
            steps.insert(restart.index(steps.len() + 1), Step::Restart);
        }
        let remarks = remarks.iter().map(|remark| remark.trim().to_owned()).enumerate();
        let remarks = remarks.filter(|(index, remark)| *index < steps.len() && !remark.is_empty()).collect();
        let test = Test { steps, remarks };
        let text = saved::write(&catalog, &test, &notes);
        let read = saved::read(&catalog, &text).expect("what was written can be read");
        prop_assert!(read.is_unambiguous());
        prop_assert_eq!(&read.notes, &notes);
        // Nothing is run, so any system will do.
        let resolved = read.resolve(&mut Jugs::default()).unwrap();
        prop_assert_eq!(&resolved, &test);
        prop_assert_eq!(&resolved.remarks, &test.remarks);
        prop_assert_eq!(saved::write(&catalog, &resolved, &read.notes), text);
    }
}

// --------------------------------------------------------------------------------------------- random systems

/// Checks that a reduction fails the same way, is not longer than the original, and needs every
/// step.
fn check_reduction(system: &mut impl System, found: &FailingTest, options: &ReduceOptions) {
    let reduction = reduce(system, &found.test, &found.failure, options, &mut || true);
    let Reduction {
        test,
        failure,
        minimal,
        kept,
        ..
    } = reduction.expect("the failure is reproduced");
    assert!(minimal);
    assert!(failure.is_same_as(&found.failure));
    assert_eq!(fails_as(system, &test, &found.failure), Some(test.len()));
    assert!(test.len() <= found.test.len());
    assert_eq!(kept.len(), test.len());
    assert!(kept.is_sorted_by(|one, next| one < next));
    for (step, index) in test.steps.iter().zip(&kept) {
        let (Step::Act(now), Step::Act(before)) = (*step, found.test.steps[*index]) else {
            panic!()
        };
        let template = |action| system.actions().template_of(action);
        assert_eq!(template(now), template(before));
    }
    if options.keep_last {
        assert_eq!(kept.last(), Some(&(found.test.len() - 1)));
    }
    for index in 0..test.len() {
        let mut shorter = test.clone();
        shorter.steps.remove(index);
        let fails = fails_as(system, &shorter, &found.failure);
        if options.keep_last {
            assert!(index == test.len() - 1 || fails != Some(shorter.len()));
        } else {
            assert_eq!(fails, None, "step {index} of {test:?} can be left out");
        }
    }
}

fn any_options() -> impl Strategy<Value = ReduceOptions> {
    let method = prop::sample::select(vec![ReduceMethod::Greedy, ReduceMethod::Ddmin]);
    (method, any::<bool>()).prop_map(|(method, keep_last)| ReduceOptions {
        method,
        keep_last,
        check: true,
    })
}

proptest! {
    #[test]
    fn random_machines_keep_the_laws(mut machine in any_machine(), seed in 0u64..1000) {
        prop_assert_eq!(check_laws(&mut machine, seed, 60), Ok(()));
    }

    #[test]
    fn a_reduction_is_minimal_and_fails_the_same_way(
        mut machine in any_machine(),
        seed in 0u64..1000,
        options in any_options(),
    ) {
        for found in failures(&mut machine, seed, 40) {
            check_reduction(&mut machine, &found, &options);
        }
    }

    #[test]
    fn reductions_of_toys_are_minimal_and_fail_the_same_way(seed in 0u64..1000, limit in 3u64..30, options in any_options()) {
        let mut counters = Counters::new(limit);
        for found in failures(&mut counters, seed, 100) {
            check_reduction(&mut counters, &found, &options);
        }
        let mut stack = Stack::default();
        for found in failures(&mut stack, seed, 100) {
            check_reduction(&mut stack, &found, &options);
        }
        let mut jugs = Jugs::default();
        for found in failures(&mut jugs, seed, 100) {
            check_reduction(&mut jugs, &found, &options);
        }
    }

    #[test]
    fn a_safe_reduces_to_its_code(
        noise in prop::collection::vec(0u64..10, 0..80),
        code in prop::collection::vec(0u64..10, 1..5),
        options in any_options(),
    ) {
        let mut safe = Safe::new(9, &code);
        let keys = noise.iter().chain(&code).copied();
        let test = Test::from_actions(keys.map(ActionId));
        let trace = replay(&mut safe, &test, &ReplayOptions::default(), &mut ()).unwrap();
        let failure = trace.failure().unwrap().clone();
        let reduction = reduce(&mut safe, &test, &failure, &options, &mut || true).unwrap();
        prop_assert_eq!(reduction.test, Test::from_actions(code.into_iter().map(ActionId)));
    }

    #[test]
    fn a_reduction_that_is_stopped_still_fails(
        mut machine in any_machine(),
        seed in 0u64..1000,
        budget in 0usize..400,
    ) {
        for found in failures(&mut machine, seed, 40) {
            let mut left = budget;
            let mut proceed = || {
                left = left.saturating_sub(1);
                left > 0
            };
            let options = ReduceOptions::default();
            match reduce(&mut machine, &found.test, &found.failure, &options, &mut proceed) {
                Ok(reduction) => prop_assert!(
                    fails_as(&mut machine, &reduction.test, &found.failure).is_some()
                ),
                Err(ReduceError::NotReproduced(_) | ReduceError::Error(_)) => prop_assert!(false),
            }
        }
    }
}
