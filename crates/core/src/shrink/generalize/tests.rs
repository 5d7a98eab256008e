use expect_test::{Expect, expect};

use super::*;
use crate::shrink::{AnyFailure, ReduceOptions};
use crate::toys::{Counters, Safe};

fn check(system: &mut impl System, test: &[&str], expected: Expect) {
    let find = |text: &&str| system.actions().find(text)[0];
    let test = Test::from_actions(test.iter().map(find).collect::<Vec<_>>());
    let (mut goal, mut proceed) = (AnyFailure, || true);
    let mut shrinker = Shrinker::new(system, &mut goal, &ReduceOptions::default(), &mut proceed);
    let found = shrinker
        .generalize(&test, &GeneralizeOptions::default())
        .unwrap();
    let runs = shrinker.effort().runs;
    drop(shrinker);
    assert!(found.complete);
    let text = found.render(&|step| match step {
        Step::Act(action) => system.actions().text(action),
        Step::Restart => "restart".to_owned(),
    });
    expected.assert_eq(&format!("{text}{runs} runs\n"));
}

#[test]
fn values_orders_and_fresh_values() {
    check(
        &mut Counters::new(7),
        &[
            "int0 = 4",
            "counter0 = Counter()",
            "counter0.add(int0)",
            "counter0.add(int0)",
        ],
        expect![[r#"
            #[
            int0 = 4                                                     # STEP 0
            #  or int0 = 5
            counter0 = Counter()                                         # STEP 1
            #] (steps in [] can be in any order)
            counter0.add(int0)                                           # STEP 2
            counter0.add(int0)                                           # STEP 3
            #  or (
            #      int0 = 4
            #       - int0 = 5 ;
            #      counter0.add(int0)
            #     )
            45 runs
        "#]],
    );
}

#[test]
fn many_alternatives_are_not_all_tried() {
    check(
        &mut Safe::new(99_999, &[12_345]),
        &["press(77777)", "press(12345)"],
        expect![[r#"
            #[
            press(77777)                                                 # STEP 0
            #  or press(0)
            #   - press(77776) (probably: 24 of 77777 tried)
            #  or press(77778)
            #   - press(99999) (probably: 17 of 22222 tried)
            press(12345)                                                 # STEP 1
            #  (99959 other actions were not tried)
            #] (steps in [] can be in any order)
            83 runs
        "#]],
    );
}
