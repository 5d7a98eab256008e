use expect_test::{Expect, expect};

use super::*;
use crate::generate::{FailingTest, SearchOptions, SearchWatcher, search};
use crate::toys::{Counters, Crossing, Flaky, Jugs, Safe, Stack};
use crate::{ActionId, Catalog, Error, FailureKind, Outcome, Random};

struct First(Option<FailingTest>);

impl<S: ?Sized> SearchWatcher<S> for First {
    fn failure_found(&mut self, _system: &mut S, found: FailingTest) -> std::ops::ControlFlow<()> {
        self.0 = Some(found);
        std::ops::ControlFlow::Break(())
    }
}

fn find(system: &mut impl System, seed: u64) -> FailingTest {
    let mut first = First(None);
    let search_for = SearchOptions {
        seed,
        tests: Some(10_000),
        length: 100,
        check: true,
    };
    search(system, &search_for, &mut first).unwrap();
    first.0.expect("a failure within the budget")
}

fn both() -> [ReduceOptions; 2] {
    [ReduceMethod::Greedy, ReduceMethod::Ddmin].map(|method| ReduceOptions {
        method,
        ..ReduceOptions::default()
    })
}

fn texts(catalog: &Catalog, test: &Test) -> String {
    let texts: Vec<String> = test
        .steps
        .iter()
        .map(|step| match step {
            Step::Act(action) => catalog.text(*action),
            Step::Restart => "<<RESTART>>".to_owned(),
        })
        .collect();
    texts.join("; ")
}

/// Checks what the first failure of a seed reduces to, by either method.
fn check(system: &mut impl System, seed: u64, expected: Expect) {
    let found = find(system, seed);
    let mut report = String::new();
    for options in both() {
        let reduction = reduce(system, &found.test, &found.failure, &options, &mut || true);
        let reduction = reduction.unwrap();
        assert!(reduction.minimal);
        assert_eq!(reduction.kept.len(), reduction.test.len());
        assert!(reduction.failure.is_same_as(&found.failure));
        report += &format!(
            "{:?}, {} steps, {} runs: {}\n",
            options.method,
            found.test.len(),
            reduction.runs,
            texts(system.actions(), &reduction.test)
        );
    }
    expected.assert_eq(&report);
}

#[test]
fn the_exact_test_each_toy_reduces_to() {
    check(
        &mut Safe::new(9, &[3, 1, 4]),
        1,
        expect![[r#"
            Greedy, 17 steps, 13 runs: press(3); press(1); press(4)
            Ddmin, 17 steps, 17 runs: press(3); press(1); press(4)
        "#]],
    );
    check(
        &mut Jugs::default(),
        1,
        expect![[r#"
            Greedy, 53 steps, 18 runs: fill(big); pour_from(big); empty(small); pour_from(big); fill(big); pour_from(big)
            Ddmin, 53 steps, 18 runs: fill(big); pour_from(big); empty(small); pour_from(big); fill(big); pour_from(big)
        "#]],
    );
    check(
        &mut Stack::default(),
        1,
        expect![[r#"
            Greedy, 84 steps, 14 runs: push(3); push(2); push(1); push(2); pop(); pop(); pop(); pop()
            Ddmin, 84 steps, 15 runs: push(3); push(2); push(1); push(2); pop(); pop(); pop(); pop()
        "#]],
    );
    check(
        &mut Counters::new(14),
        1,
        expect![[r#"
                Greedy, 94 steps, 49 runs: int0 = 5; counter0 = Counter(); counter0.add(int0); counter0.add(int0); counter0.add(int0)
                Ddmin, 94 steps, 93 runs: int0 = 5; counter0 = Counter(); counter0.add(int0); counter0.add(int0); counter0.add(int0)
            "#]],
    );
    check(
        &mut Crossing::default(),
        1,
        expect![[r#"
            Greedy, 20 steps, 22 runs: switch(); go(); go()
            Ddmin, 20 steps, 10 runs: switch(); go(); go()
        "#]],
    );
}

/// Returns a test of a hundred steps. Three of them open the safe.
fn haystack(seed: u64) -> (Safe, Test) {
    let mut random = Random::new(seed);
    let mut keys: Vec<u64> = (0..100).map(|_| 3 + random.below(97)).collect();
    let mut positions = [
        random.below(33),
        33 + random.below(33),
        66 + random.below(33),
    ];
    if seed.is_multiple_of(2) {
        positions[2] = 99;
    }
    for (key, index) in (0..).zip(positions) {
        keys[index as usize] = key;
    }
    let test = Test::from_actions(keys.into_iter().map(ActionId));
    (Safe::new(99, &[0, 1, 2]), test)
}

#[test]
fn few_runs_for_three_steps_out_of_a_hundred() {
    let mut total = [0, 0];
    let mut most = [0, 0];
    for seed in 0..100 {
        let (mut safe, test) = haystack(seed);
        let failure = open();
        for (index, options) in both().iter().enumerate() {
            let reduction = reduce(&mut safe, &test, &failure, options, &mut || true).unwrap();
            assert_eq!(reduction.test.len(), 3);
            total[index] += reduction.runs;
            most[index] = reduction.runs.max(most[index]);
        }
    }
    expect!["greedy and ddmin: mean [27, 35], most [30, 46]"].assert_eq(&format!(
        "greedy and ddmin: mean {:?}, most {most:?}",
        total.map(|runs| runs / 100)
    ));
}

fn open() -> Failure {
    Failure {
        kind: FailureKind::UncaughtException,
        message: "the safe was open yesterday".to_owned(),
        signature: "the safe is open".to_owned(),
        details: String::new(),
    }
}

#[test]
fn no_test_is_run_twice() {
    struct Recording {
        stack: Stack,
        run: Vec<ActionId>,
        runs: Vec<Vec<ActionId>>,
    }
    impl System for Recording {
        fn actions(&self) -> &Catalog {
            self.stack.actions()
        }
        fn reset(&mut self) -> Result<(), Error> {
            self.runs.push(std::mem::take(&mut self.run));
            self.stack.reset()
        }
        fn is_enabled(&mut self, action: ActionId) -> bool {
            self.stack.is_enabled(action)
        }
        fn step(&mut self, action: ActionId) -> Outcome {
            self.run.push(action);
            self.stack.step(action)
        }
        fn check(&mut self) -> Outcome {
            self.stack.check()
        }
    }
    for options in both() {
        let mut stack = Stack::default();
        let found = find(&mut stack, 3);
        let mut system = Recording {
            stack,
            run: Vec::new(),
            runs: Vec::new(),
        };
        let reduction = reduce(
            &mut system,
            &found.test,
            &found.failure,
            &options,
            &mut || true,
        )
        .unwrap();
        system.reset().unwrap();
        let mut runs = system.runs.split_off(1);
        assert_eq!(runs.len() as u64, reduction.runs);
        runs.sort();
        let all = runs.len();
        runs.dedup();
        assert_eq!(runs.len(), all);
    }
}

#[test]
fn a_flaky_failure_is_not_reduced() {
    let mut flaky = Flaky::default();
    let found = find(&mut flaky, 1);
    let options = ReduceOptions::default();
    let result = reduce(
        &mut flaky,
        &found.test,
        &found.failure,
        &options,
        &mut || true,
    );
    assert_eq!(result, Err(ReduceError::NotReproduced(None)));

    let longer = Test::from_actions([ActionId(0); 100]);
    let result = reduce(&mut flaky, &longer, &open(), &options, &mut || true);
    assert_eq!(result, Err(ReduceError::NotReproduced(Some(found.failure))));
}

#[test]
fn an_empty_test_fails_in_no_way() {
    let options = ReduceOptions::default();
    let mut safe = Safe::new(9, &[1]);
    let result = reduce(&mut safe, &Test::default(), &open(), &options, &mut || true);
    assert_eq!(result, Err(ReduceError::NotReproduced(None)));
}

#[test]
fn an_interruption_keeps_the_best_so_far() {
    let (mut safe, test) = haystack(1);
    let options = ReduceOptions::default();
    let mut before = usize::MAX;
    for budget in [0, 90, 200, 300, 500] {
        let mut left = budget;
        let mut proceed = || {
            left -= i32::from(left > 0);
            left > 0
        };
        let reduction = reduce(&mut safe, &test, &open(), &options, &mut proceed).unwrap();
        assert!(!reduction.minimal);
        assert!(reduction.test.len() <= before);
        before = reduction.test.len();
    }
    assert!(before < 50, "{before}");
}

#[test]
fn remarks_stay_with_their_steps() {
    let mut safe = Safe::new(9, &[3, 1]);
    let mut test = Test::from_actions([5, 3, 7, 1].map(ActionId));
    test.remarks = vec![(0, "noise".to_owned()), (3, "opens".to_owned())];
    let options = ReduceOptions::default();
    let reduction = reduce(&mut safe, &test, &open(), &options, &mut || true).unwrap();
    assert_eq!(reduction.kept, [1, 3]);
    assert_eq!(reduction.test.remarks, [(1, "opens".to_owned())]);
}

#[test]
fn restarts_go_if_they_can() {
    let mut safe = Safe::new(9, &[3, 1]);
    let keys = |keys: &[u64]| keys.iter().map(|key| Step::Act(ActionId(*key))).collect();
    let mut steps: Vec<Step> = keys(&[3]);
    steps.push(Step::Restart);
    steps.extend::<Vec<Step>>(keys(&[3, 4, 1]));
    for options in both() {
        let test = Test::from_steps(steps.clone());
        let reduction = reduce(&mut safe, &test, &open(), &options, &mut || true).unwrap();
        assert_eq!(texts(safe.actions(), &reduction.test), "press(3); press(1)");
    }
}

/// Fails at any multiple of three, and in another way at zero.
struct Multiples(Catalog, u64);

impl System for Multiples {
    fn actions(&self) -> &Catalog {
        &self.0
    }
    fn reset(&mut self) -> Result<(), Error> {
        self.1 = 0;
        Ok(())
    }
    fn is_enabled(&mut self, _action: ActionId) -> bool {
        true
    }
    fn step(&mut self, action: ActionId) -> Outcome {
        match action.0 {
            0 => self.1 += 1,
            1 if self.1 == 0 => {
                return crate::toys::failed(FailureKind::UncaughtException, "zero");
            }
            number if self.1.is_multiple_of(3) => {
                // The same bug shows in two actions.
                assert!(number < 3);
                return crate::toys::failed(FailureKind::UncaughtException, "three");
            }
            _ => {}
        }
        Outcome::Passed
    }
    fn check(&mut self) -> Outcome {
        Outcome::Passed
    }
}

#[test]
fn a_reduction_does_not_slide_to_another_failure() {
    let catalog = crate::toys::catalog(&[], &["add()", "divide()", "modulo()"]);
    let mut system = Multiples(catalog, 0);
    let find = |text: &str| system.0.find(text)[0];
    let (add, divide, modulo) = (find("add()"), find("divide()"), find("modulo()"));
    let three = Failure {
        signature: "three".to_owned(),
        ..open()
    };
    for mut options in both() {
        let test = Test::from_actions([add, add, add, divide]);
        let reduction = reduce(&mut system, &test, &three, &options, &mut || true).unwrap();
        assert_eq!(reduction.test, test);

        let test = Test::from_actions([add, modulo, add, add, divide, add]);
        let reduction = reduce(&mut system, &test, &three, &options, &mut || true).unwrap();
        assert_eq!(reduction.test, Test::from_actions([modulo]));
        options.keep_last = true;
        let reduction = reduce(&mut system, &test, &three, &options, &mut || true).unwrap();
        assert_eq!(reduction.test, Test::from_actions([add, add, add, divide]));
    }
}
