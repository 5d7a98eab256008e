//! Properties of every shrunk test, tested on random systems and on the toys.

use crate::machine;

use machine::{any_machine, fails_as, failures};
use proptest::prelude::*;
use testwright_core::generate::FailingTest;
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::{
    AnyFailure, Effort, Generalization, GeneralizeOptions, NormalizeOptions, PredicateGoal,
    ReduceOptions, SameFailure, SeveralOptions, ShrinkGoal, Shrinker, Shrunk, Speed, Touches,
    TouchesMore,
};
use testwright_core::toys::{self, Counters, Jugs, Stack, Watched};
use testwright_core::{
    ActionId, Catalog, Coverage, Covered, Error, Failure, FailureKind, Outcome, Snapshot, Step,
    System, Test, TraceEvent,
};

fn any_normalize_options() -> impl Strategy<Value = NormalizeOptions> {
    let speed = prop::sample::select(vec![Speed::Fast, Speed::Thorough]);
    (speed, any::<bool>()).prop_map(|(speed, no_reassigns)| NormalizeOptions {
        speed,
        no_reassigns,
        ..NormalizeOptions::default()
    })
}

fn normalize(system: &mut impl System, found: &FailingTest, options: &NormalizeOptions) -> Shrunk {
    let mut goal = SameFailure(found.failure.clone());
    let mut proceed = || true;
    let reduce = ReduceOptions::default();
    let mut shrinker = Shrinker::new(system, &mut goal, &reduce, &mut proceed);
    shrinker
        .normalize(&found.test, options)
        .expect("the failure is reproduced")
}

/// Checks that a normal test fails the same way, is not longer, needs every step, and is unchanged
/// by another normalization.
fn check_normal(system: &mut impl System, found: &FailingTest, options: &NormalizeOptions) {
    let normal = normalize(system, found, options);
    assert!(normal.complete);
    assert!(normal.test.len() <= found.test.len());
    assert_eq!(
        fails_as(system, &normal.test, &found.failure),
        Some(normal.test.len())
    );
    for index in 0..normal.test.len() {
        let mut shorter = normal.test.clone();
        shorter.steps.remove(index);
        assert_eq!(fails_as(system, &shorter, &found.failure), None);
    }
    let found = FailingTest {
        test: normal.test.clone(),
        ..found.clone()
    };
    assert_eq!(normalize(system, &found, options).test, normal.test);
}

/// Checks that every claim marked as tried is true when it is run again, without skipped steps.
fn check_claims(system: &mut impl System, failure: &Failure, found: &Generalization) {
    let mut is_true = |steps: &[Step]| {
        let test = Test::from_steps(steps.to_vec());
        let trace = replay(system, &test, &ReplayOptions::default(), &mut ()).unwrap();
        let skipped = trace
            .events
            .iter()
            .any(|event| matches!(event, TraceEvent::Skipped(_)));
        trace
            .failure()
            .is_some_and(|other| other.is_same_as(failure))
            && !skipped
    };
    for test in found.equivalents(usize::MAX) {
        assert_ne!(test, found.test);
        assert!(is_true(&test.steps), "{test:?} of {found:?}");
    }
    for (index, variations) in found.steps.iter().enumerate() {
        for other in &variations.swaps {
            assert!(found.steps[*other].swaps.contains(&index));
        }
    }
    let steps = &found.test.steps;
    for block in found.blocks.iter().filter(|block| block.exact) {
        let mut orders = vec![steps.clone()];
        for _ in block.first..=block.last {
            for order in orders.clone() {
                for place in block.first..block.last {
                    let mut order = order.clone();
                    order.swap(place, place + 1);
                    if !orders.contains(&order) {
                        orders.push(order);
                    }
                }
            }
        }
        assert!(
            orders.iter().all(|order| is_true(order)),
            "{block:?} in {found:?}"
        );
    }
}

fn generalize(system: &mut impl System, test: &Test, failure: &Failure) -> Generalization {
    let mut goal = SameFailure(failure.clone());
    let mut proceed = || true;
    let reduce = ReduceOptions::default();
    let mut shrinker = Shrinker::new(system, &mut goal, &reduce, &mut proceed);
    shrinker
        .generalize(test, &GeneralizeOptions::default())
        .unwrap()
}

/// The results of all operations on a test.
#[derive(Debug, PartialEq)]
struct Everything {
    reduced: Shrunk,
    normal: Shrunk,
    general: Generalization,
    several: Vec<Shrunk>,
}

fn everything<S: Snapshot>(
    system: &mut S,
    goal: &mut dyn ShrinkGoal<S>,
    test: &Test,
    snapshots: Option<usize>,
) -> (Everything, Effort) {
    let mut proceed = || true;
    let reduce = ReduceOptions::default();
    let mut shrinker = Shrinker::new(system, goal, &reduce, &mut proceed);
    if let Some(limit) = snapshots {
        shrinker = shrinker.with_snapshots(limit);
    }
    let reduced = shrinker.reduce(test).unwrap();
    let normal = shrinker
        .normalize(&reduced.test, &NormalizeOptions::default())
        .unwrap();
    let general = shrinker
        .generalize(&normal.test, &GeneralizeOptions::default())
        .unwrap();
    let several = shrinker.reduce_several(
        test,
        &SeveralOptions {
            max_combinations: 20,
            ..SeveralOptions::default()
        },
    );
    let several = several.unwrap();
    let effort = shrinker.effort();
    (
        Everything {
            reduced,
            normal,
            general,
            several,
        },
        effort,
    )
}

/// Checks that snapshots change only the cost.
fn check_snapshots<S: System + Clone>(system: S, seed: u64, length: usize) {
    let mut system = Watched::new(system);
    for found in failures(&mut system, seed, length) {
        let goal = || SameFailure(found.failure.clone());
        let (without, cost) = everything(&mut system, &mut goal(), &found.test, None);
        for limit in [1, 8] {
            let (with, effort) = everything(&mut system, &mut goal(), &found.test, Some(limit));
            assert_eq!(with, without);
            assert_eq!(effort.runs, cost.runs);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_normal_test_is_minimal_and_stays_as_it_is(
        mut machine in any_machine(),
        seed in 0u64..1000,
        options in any_normalize_options(),
    ) {
        for found in failures(&mut machine, seed, 30) {
            check_normal(&mut machine, &found, &options);
        }
    }

    #[test]
    fn normal_forms_of_toys_are_normal(seed in 0u64..1000, limit in 3u64..20, options in any_normalize_options()) {
        let mut counters = Counters::new(limit);
        for found in failures(&mut counters, seed, 60).iter().take(2) {
            check_normal(&mut counters, found, &options);
        }
        let mut stack = Stack::default();
        for found in failures(&mut stack, seed, 300).iter().take(2) {
            check_normal(&mut stack, found, &options);
        }
        let mut jugs = Jugs::default();
        for found in failures(&mut jugs, seed, 100).iter().take(2) {
            check_normal(&mut jugs, found, &options);
        }
    }

    #[test]
    fn claims_of_a_generalization_hold(mut machine in any_machine(), seed in 0u64..1000, limit in 3u64..20) {
        for found in failures(&mut machine, seed, 30) {
            let normal = normalize(&mut machine, &found, &NormalizeOptions::default());
            let general = generalize(&mut machine, &normal.test, &found.failure);
            check_claims(&mut machine, &found.failure, &general);
        }
        let mut counters = Counters::new(limit);
        for found in failures(&mut counters, seed, 60).iter().take(2) {
            let normal = normalize(&mut counters, found, &NormalizeOptions::default());
            let general = generalize(&mut counters, &normal.test, &found.failure);
            check_claims(&mut counters, &found.failure, &general);
        }
    }

    #[test]
    fn copies_change_no_result(machine in any_machine(), seed in 0u64..1000) {
        check_snapshots(machine, seed, 30);
        check_snapshots(Counters::new(9), seed, 60);
        check_snapshots(Stack::default(), seed, 200);
    }

    #[test]
    fn a_budget_is_kept_and_the_best_so_far_achieves_the_goal(
        mut machine in any_machine(),
        seed in 0u64..1000,
        budget in 1u64..60,
    ) {
        for found in failures(&mut machine, seed, 30) {
            let mut goal = SameFailure(found.failure.clone());
            let mut proceed = || true;
            let reduce = ReduceOptions::default();
            let mut shrinker = Shrinker::new(&mut machine, &mut goal, &reduce, &mut proceed).with_budget(budget);
            let reduced = shrinker.reduce(&found.test).unwrap();
            let normal = shrinker.normalize(&reduced.test, &NormalizeOptions::default()).unwrap();
            let general = shrinker.generalize(&normal.test, &GeneralizeOptions::default()).unwrap();
            let runs = shrinker.effort().runs;
            drop(shrinker);
            prop_assert!(runs <= budget);
            prop_assert!(fails_as(&mut machine, &normal.test, &found.failure).is_some());
            check_claims(&mut machine, &found.failure, &general);
        }
    }

    #[test]
    fn a_test_is_reduced_for_what_it_touches(machine in any_machine(), seed in 0u64..1000, more in any::<bool>()) {
        let mut system = Watched::new(machine);
        for found in failures(&mut system, seed, 30) {
            let touched = touched_by(&mut system, &found.test);
            let some: Coverage = touched.iter().step_by(2).collect();
            let mut touches = Touches(some.clone());
            let mut touches_more = TouchesMore(some.clone());
            let is_more = more && touched.len() > some.len();
            let goal: &mut dyn ShrinkGoal<_> = if is_more { &mut touches_more } else { &mut touches };
            let mut proceed = || true;
            let options = ReduceOptions::default();
            let reduced = Shrinker::new(&mut system, goal, &options, &mut proceed).reduce(&found.test).unwrap();
            let mut achieves = |test: &Test| {
                let touched = touched_by(&mut system, test);
                some.difference(&touched).is_empty() && (!is_more || touched.len() > some.len())
            };
            prop_assert!(reduced.complete);
            prop_assert!(achieves(&reduced.test));
            for index in 0..reduced.test.len() {
                let mut shorter = reduced.test.clone();
                shorter.steps.remove(index);
                prop_assert!(!achieves(&shorter));
            }
        }
    }

    #[test]
    fn a_predicate_that_runs_the_test_does_as_well(mut machine in any_machine(), seed in 0u64..1000) {
        for found in failures(&mut machine, seed, 30) {
            let failure = found.failure.clone();
            let mut goal = PredicateGoal(|system: &mut machine::Machine, test: &Test| {
                Ok(fails_as(system, test, &failure).is_some())
            });
            let mut proceed = || true;
            let options = ReduceOptions::default();
            let reduced = Shrinker::new(&mut machine, &mut goal, &options, &mut proceed).reduce(&found.test).unwrap();
            prop_assert!(fails_as(&mut machine, &reduced.test, &found.failure).is_some());
            for index in 0..reduced.test.len() {
                let mut shorter = reduced.test.clone();
                shorter.steps.remove(index);
                prop_assert_eq!(fails_as(&mut machine, &shorter, &found.failure), None);
            }
        }
    }

    #[test]
    fn several_reductions_are_all_reductions(mut machine in any_machine(), seed in 0u64..1000) {
        for found in failures(&mut machine, seed, 20) {
            let mut proceed = || true;
            let options = ReduceOptions::default();
            let mut goal = AnyFailure;
            let mut shrinker = Shrinker::new(&mut machine, &mut goal, &options, &mut proceed);
            let all = shrinker.reduce_several(&found.test, &SeveralOptions { max_combinations: 50, ..SeveralOptions::default() }).unwrap();
            let essentials = shrinker.essentials(&found.test, &all[0], 50).unwrap();
            drop(shrinker);
            for (place, shrunk) in all.iter().enumerate() {
                prop_assert!(all[..place].iter().all(|other| other.test != shrunk.test));
                let trace = replay(&mut machine, &shrunk.test, &ReplayOptions::default(), &mut ()).unwrap();
                prop_assert!(trace.failure().is_some());
            }
            for set in &essentials.essential {
                let away: Vec<Step> = set.iter().map(|place| found.test.steps[all[0].kept[*place]]).collect();
                let mut rest = found.test.clone();
                rest.steps.retain(|step| !away.contains(step));
                let trace = replay(&mut machine, &rest, &ReplayOptions::default(), &mut ()).unwrap();
                prop_assert!(trace.failure().is_none());
            }
        }
    }
}

fn touched_by(system: &mut impl Covered, test: &Test) -> Coverage {
    system.reset_touched().unwrap();
    replay(system, test, &ReplayOptions::default(), &mut ()).unwrap();
    system.touched()
}

/// The defect of a system's snapshots.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Copies {
    /// No snapshot can be taken.
    None,
    /// A snapshot contains the state after a reset.
    Forgetful,
    /// After some restores, none works any more.
    Wearing,
}

#[derive(Clone)]
struct Copied {
    stack: Stack,
    copies: Copies,
    restored: u32,
}

impl System for Copied {
    fn actions(&self) -> &Catalog {
        self.stack.actions()
    }
    fn reset(&mut self) -> Result<(), Error> {
        self.stack.reset()
    }
    fn is_enabled(&mut self, action: ActionId) -> bool {
        self.stack.is_enabled(action)
    }
    fn step(&mut self, action: ActionId) -> Outcome {
        self.stack.step(action)
    }
    fn check(&mut self) -> Outcome {
        self.stack.check()
    }
}

impl Snapshot for Copied {
    type State = Stack;

    fn snapshot(&mut self) -> Result<Stack, Error> {
        match self.copies {
            Copies::None => Err(Error::new("an open file cannot be copied")),
            Copies::Forgetful => Ok(Stack::default()),
            Copies::Wearing => Ok(self.stack.clone()),
        }
    }

    fn restore(&mut self, state: &Stack) -> Result<(), Error> {
        self.restored += 1;
        if self.copies == Copies::Wearing && self.restored > 15 {
            return Err(Error::new("the file is gone"));
        }
        self.stack = state.clone();
        Ok(())
    }
}

/// Returns the first failure of a stack.
fn failing_stack() -> FailingTest {
    let found = (0..100).find_map(|seed| failures(&mut Stack::default(), seed, 300).pop());
    found.expect("one of four hundred tests fails")
}

#[test]
fn wrong_copies_are_found_out() {
    let found = failing_stack();
    for copies in [Copies::None, Copies::Forgetful, Copies::Wearing] {
        let mut system = Copied {
            stack: Stack::default(),
            copies,
            restored: 0,
        };
        let goal = || SameFailure(found.failure.clone());
        let (without, cost) = everything(&mut system, &mut goal(), &found.test, None);
        let (with, effort) = everything(&mut system, &mut goal(), &found.test, Some(8));
        assert_eq!(with, without, "{copies:?}");
        assert_eq!(effort.runs, cost.runs);
        // Some of the fifteen restores were for verification.
        let is_used = copies == Copies::Wearing;
        assert_eq!(effort.from_snapshot > 0, is_used, "{copies:?}");
        assert!(effort.from_snapshot < 15);
    }
}

#[test]
fn the_last_step_is_kept_if_that_is_wanted() {
    let mut stack = Stack::default();
    let found = failing_stack();
    let mut goal = SameFailure(found.failure.clone());
    let mut proceed = || true;
    let options = ReduceOptions {
        keep_last: true,
        ..ReduceOptions::default()
    };
    let mut shrinker = Shrinker::new(&mut stack, &mut goal, &options, &mut proceed);
    let reduced = shrinker.reduce(&found.test).unwrap();
    let options = NormalizeOptions::default();
    let normal = shrinker.normalize(&reduced.test, &options).unwrap();
    assert_eq!(normal.test.steps.last(), found.test.steps.last());
    let options = GeneralizeOptions::default();
    let general = shrinker.generalize(&normal.test, &options).unwrap();
    let last = general.steps.last().unwrap();
    assert!(last.replacements.is_empty() && last.swaps.is_empty());
}

/// Holds values and fails if their sum exceeds a limit; it has a hundred thousand actions.
struct Large {
    actions: Catalog,
    values: [Option<(u64, bool)>; 10],
    sum: u64,
}

impl System for Large {
    fn actions(&self) -> &Catalog {
        &self.actions
    }
    fn reset(&mut self) -> Result<(), Error> {
        self.values = [None; 10];
        self.sum = 0;
        Ok(())
    }
    fn is_enabled(&mut self, action: ActionId) -> bool {
        let (template, values) = self.actions.values(action);
        let slot = values.first().map(|slot| self.values[*slot as usize]);
        match (template.0, slot) {
            (0, Some(slot)) => slot.is_none_or(|(_, used)| used),
            (1, Some(slot)) => slot.is_some(),
            _ => true,
        }
    }
    fn step(&mut self, action: ActionId) -> Outcome {
        let (template, values) = self.actions.values(action);
        match template.0 {
            0 => self.values[values[0] as usize] = Some((values[1], false)),
            1 => {
                let slot = &mut self.values[values[0] as usize];
                self.sum += slot.map_or(0, |(value, _)| value);
                *slot = slot.map(|(value, _)| (value, true));
            }
            _ => {}
        }
        Outcome::Passed
    }
    fn check(&mut self) -> Outcome {
        if self.sum < 15_000 {
            return Outcome::Passed;
        }
        Outcome::Failed(Box::new(Failure {
            kind: FailureKind::Property,
            message: format!("{} is too much", self.sum),
            signature: "too much".to_owned(),
            details: String::new(),
        }))
    }
}

#[test]
fn a_hundred_thousand_actions_are_feasible() {
    let lines = ["<x> := <[0..9999]>", "add(<x>)", "rest()"];
    let actions = toys::catalog(&[("x", 10)], &lines);
    assert!(actions.len() > 100_000);
    let find = |text: &str| actions.find(text)[0];
    let texts = [
        "x7 = 9001",
        "rest()",
        "x3 = 8888",
        "add(x7)",
        "rest()",
        "add(x3)",
    ];
    let test = Test::from_actions(texts.map(find));
    let mut system = Large {
        actions,
        values: [None; 10],
        sum: 0,
    };
    let (mut goal, mut proceed) = (AnyFailure, || true);
    let options = ReduceOptions::default();
    let mut shrinker = Shrinker::new(&mut system, &mut goal, &options, &mut proceed);
    let reduced = shrinker.reduce(&test).unwrap();
    let normal = shrinker
        .normalize(&reduced.test, &NormalizeOptions::default())
        .unwrap();
    let runs_to_normalize = shrinker.effort().runs;
    let general = shrinker
        .generalize(&normal.test, &GeneralizeOptions::default())
        .unwrap();
    let runs = shrinker.effort().runs - runs_to_normalize;
    drop(shrinker);
    let text = general.render(&|step| match step {
        Step::Act(action) => system.actions.text(action),
        Step::Restart => String::new(),
    });
    expect_test::expect![[r#"
        x0 = 7500                                                    # STEP 0
        #  or x0 = 7501
        #   - x0 = 9999 (probably: 14 of 2499 tried)
        #  (97481 other actions were not tried)
        add(x0)                                                      # STEP 1
        #  (99999 other actions were not tried)
        add(x0)                                                      # STEP 2
        #  or (
        #      x0 = 7500
        #       - x0 = 9999 (probably: 12 of 2500 tried) ;
        #      add(x0)
        #     )
        #  (99999 other actions were not tried)
        56 runs, then 43
    "#]]
    .assert_eq(&format!("{text}{runs_to_normalize} runs, then {runs}\n"));
}
