use expect_test::{Expect, expect};

use super::*;
use crate::shrink::{AnyFailure, ReduceOptions};
use crate::toys::{Counters, Jugs, Safe, Stack};

fn normalize(system: &mut impl System, test: &Test, options: &NormalizeOptions) -> (Shrunk, u64) {
    let (mut goal, mut proceed) = (AnyFailure, || true);
    let mut shrinker = Shrinker::new(system, &mut goal, &ReduceOptions::default(), &mut proceed);
    let shrunk = shrinker.normalize(test, options).unwrap();
    (shrunk, shrinker.effort().runs)
}

fn check(system: &mut impl System, test: &[&str], options: &NormalizeOptions, expected: Expect) {
    let find = |text: &&str| system.actions().find(text)[0];
    let test = Test::from_actions(test.iter().map(find).collect::<Vec<_>>());
    let (shrunk, runs) = normalize(system, &test, options);
    assert!(shrunk.complete);
    let text = |step: &Step| match step {
        Step::Act(action) => system.actions().text(*action),
        Step::Restart => "restart".to_owned(),
    };
    let texts: Vec<String> = shrunk.test.steps.iter().map(text).collect();
    expected.assert_eq(&format!("{} ({runs} runs)", texts.join("; ")));
    let (again, _) = normalize(system, &shrunk.test, options);
    assert_eq!(again.test, shrunk.test);
}

#[test]
fn the_exact_test_each_toy_comes_to() {
    let fast = NormalizeOptions::default();
    check(
        &mut Counters::new(7),
        &[
            "counter1 = Counter()",
            "int2 = 4",
            "int1 = 5",
            "counter1.add(int1)",
            "counter1.add(int2)",
        ],
        &fast,
        expect!["int0 = 4; counter0 = Counter(); counter0.add(int0); counter0.add(int0) (40 runs)"],
    );
    check(
        &mut Stack::default(),
        &[
            "push(3)", "push(1)", "push(2)", "push(1)", "pop()", "pop()", "pop()", "pop()",
        ],
        &fast,
        expect!["push(1); push(1); push(1); push(1); pop(); pop(); pop(); pop() (53 runs)"],
    );
    check(
        &mut Jugs::default(),
        &[
            "fill(big)",
            "pour_from(big)",
            "empty(small)",
            "pour_from(big)",
            "fill(big)",
            "pour_from(big)",
        ],
        &fast,
        expect![
            "fill(big); pour_from(big); empty(small); pour_from(big); fill(big); pour_from(big) (38 runs)"
        ],
    );
}

#[test]
fn a_large_choice_is_bisected() {
    // Opens at its second key; the first one that works is far from the lowest.
    check(
        &mut Safe::new(99_999, &[12_345]),
        &["press(77777)", "press(12345)"],
        &NormalizeOptions::default(),
        expect!["press(12345) (20 runs)"],
    );
}

#[test]
fn a_single_rule_does_its_part_and_no_more() {
    let texts = [
        "counter1 = Counter()",
        "int2 = 5",
        "counter1.add(int2)",
        "counter1.add(int2)",
    ];
    let applied = |rule: NormalizeRule, furthest: Option<usize>| {
        let mut counters = Counters::new(7);
        let find = |text: &&str| counters.actions().find(text)[0];
        let test = Test::from_actions(texts.iter().map(find).collect::<Vec<_>>());
        let (mut goal, mut proceed) = (AnyFailure, || true);
        let options = NormalizeOptions {
            max_text_distance: furthest,
            ..NormalizeOptions::default()
        };
        let mut shrinker = Shrinker::new(
            &mut counters,
            &mut goal,
            &ReduceOptions::default(),
            &mut proceed,
        );
        let shrunk = shrinker.apply(rule, &test, &options).unwrap()?;
        drop(shrinker);
        let text = |step: &Step| match step {
            Step::Act(action) => counters.actions().text(*action),
            Step::Restart => "restart".to_owned(),
        };
        Some(
            shrunk
                .test
                .steps
                .iter()
                .map(text)
                .collect::<Vec<_>>()
                .join("; "),
        )
    };
    let expectations = [
        (NormalizeRule::NoReassigns, None, None),
        (
            NormalizeRule::ReplacePool,
            None,
            Some("counter0 = Counter(); int0 = 5; counter0.add(int0); counter0.add(int0)"),
        ),
        (
            NormalizeRule::SimplifySingle,
            None,
            Some("counter1 = Counter(); int2 = 4; counter1.add(int2); counter1.add(int2)"),
        ),
        (NormalizeRule::SimplifySingle, Some(0), None),
        (
            NormalizeRule::SwapAction,
            None,
            Some("int2 = 5; counter1 = Counter(); counter1.add(int2); counter1.add(int2)"),
        ),
    ];
    for (rule, furthest, expected) in expectations {
        assert_eq!(applied(rule, furthest).as_deref(), expected, "{rule:?}");
    }
}
