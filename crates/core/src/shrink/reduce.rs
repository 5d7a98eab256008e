//! Reduction: leaving out what the failure does not need.

use std::ops::Range;

use super::alpha::Numbering;
use super::dataflow;
use super::goal::SameFailure;
use super::shrinker::Shrinker;
use super::trials::{Achieved, ReduceError, Stop, Trials};
use crate::{Failure, Step, System, Test};

/// How to look for steps that can go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// Large blocks first, then one by one, going on where the last success was.
    #[default]
    Greedy,
    /// Classic delta debugging: start over with halves after every success.
    Ddmin,
}

/// How to reduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReduceOptions {
    /// How to look for steps that can go.
    pub method: Method,
    /// The test must keep failing in the action it fails in now.
    pub keep_last: bool,
    /// Check the invariants after every step; needed to see failures of properties.
    pub check: bool,
}

impl Default for ReduceOptions {
    fn default() -> ReduceOptions {
        ReduceOptions {
            method: Method::Greedy,
            keep_last: false,
            check: true,
        }
    }
}

/// What a reduction came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// The reduced test.
    pub test: Test,
    /// How the reduced test fails: the same bug, but its message may have other values.
    pub failure: Failure,
    /// How many tests were run.
    pub runs: u64,
    /// How many runs were saved since the answer was known.
    pub cached: u64,
    /// No single step can be left out. False if the reduction was stopped early.
    pub minimal: bool,
    /// Which steps of the original test are left, by index.
    pub kept: Vec<usize>,
}

/// Makes a test shorter as long as it fails the same way, then puts its slots in order.
///
/// The result is 1-minimal: no single step can be left out. `proceed` is asked before each step; once it says
/// `false` the best test so far is the result. See the [module](crate::shrink) for the reasons behind all this.
pub fn reduce<S: System + ?Sized>(
    system: &mut S,
    test: &Test,
    failure: &Failure,
    options: &ReduceOptions,
    proceed: &mut dyn FnMut() -> bool,
) -> Result<Reduction, ReduceError> {
    let mut goal = SameFailure(failure.clone());
    let mut shrinker = Shrinker::new(system, &mut goal, options, proceed);
    let shrunk = shrinker.reduce(test)?;
    let effort = shrinker.effort();
    Ok(Reduction {
        test: shrunk.test,
        failure: shrunk.failure.unwrap_or_else(|| failure.clone()),
        runs: effort.runs,
        cached: effort.cached,
        minimal: shrunk.complete,
        kept: shrunk.kept,
    })
}

/// A test that achieves the goal.
#[derive(Clone)]
pub(super) struct Current {
    /// All of them are executed, and the last one fails if the goal is to fail.
    pub(super) steps: Vec<Step>,
    /// For each step its index in the original test.
    pub(super) kept: Vec<usize>,
    pub(super) failure: Option<Failure>,
}

/// A test that is being made simpler. Passes propose tests, [`attempt`](Reducer::attempt) accepts them.
pub(super) struct Reducer<'t, 'a, S: System + ?Sized> {
    pub(super) trials: &'t mut Trials<'a, S>,
    /// The best test so far.
    pub(super) current: Current,
}

impl<'t, 'a, S: System + ?Sized> Reducer<'t, 'a, S> {
    /// Begins with a test as it is.
    pub(super) fn new(trials: &'t mut Trials<'a, S>, test: &Test) -> Reducer<'t, 'a, S> {
        let current = Current {
            steps: test.steps.clone(),
            kept: (0..test.len()).collect(),
            failure: None,
        };
        Reducer { trials, current }
    }
}

impl<S: System + ?Sized> Reducer<'_, '_, S> {
    /// All passes, until none of them has anything to do.
    pub(super) fn reduce(&mut self, method: Method) -> Result<(), Stop> {
        self.reproduce()?;
        self.remove_by(method)?;
        // Each of these may make a step superfluous, and then the others may have something to do again.
        while self.reuse()? | self.revalue()? | self.renumber()? && self.remove_single_steps()? {}
        Ok(())
    }

    /// Leaves out steps until the test is 1-minimal. True if there was a success.
    pub(super) fn remove_by(&mut self, method: Method) -> Result<bool, Stop> {
        let length = self.current.steps.len();
        match method {
            Method::Greedy => {
                self.remove_blocks()?;
                self.remove_single_steps()?;
                // What is done and undone (push and pop) can only go together.
                while self.remove_each(2)? && self.remove_single_steps()? {}
            }
            Method::Ddmin => self.ddmin()?,
        }
        Ok(self.current.steps.len() < length)
    }

    /// Runs the original test. What it executes up to the failure is the first test to reduce.
    pub(super) fn reproduce(&mut self) -> Result<(), Stop> {
        let achieved = self.trials.reproduce(&self.current.steps)?;
        let steps = self.current.steps.clone();
        let kept = self.current.kept.clone();
        self.accept(achieved, &steps, &kept);
        Ok(())
    }

    /// How many steps might be left out. If the test has to fail, the last one is not among them: without it the
    /// test is known to pass.
    pub(super) fn body(&self) -> usize {
        let needs_last = self.trials.ends_in_failure() || self.trials.keep_last;
        self.current
            .steps
            .len()
            .saturating_sub(usize::from(needs_last))
    }

    /// Leaves out halves, quarters, eighths and so on, each size once through the test.
    fn remove_blocks(&mut self) -> Result<(), Stop> {
        let mut size = self.body() / 2;
        while size > 1 {
            let mut at = 0;
            while at < self.body() {
                let end = (at + size).min(self.body());
                if !self.remove(at..end)? {
                    at = end;
                }
            }
            size = (size / 2).min(self.body() / 2);
        }
        Ok(())
    }

    /// Leaves out single steps until none can be. True if there was a success.
    pub(super) fn remove_single_steps(&mut self) -> Result<bool, Stop> {
        self.remove_each(1)
    }

    /// Leaves out `size` steps in a row until that is nowhere possible. After a success it goes on where it was,
    /// for the steps before have just been shown to matter and mostly still do. True if there was a success.
    fn remove_each(&mut self, size: usize) -> Result<bool, Stop> {
        let mut removed = false;
        let mut at = 0;
        let mut needed = 0;
        // As long as there is a place that was not tried since the last success.
        while needed + size <= self.body() {
            if at + size > self.body() {
                at = 0;
            }
            let rest = self.without(at..at + size).0;
            // Of two steps that go together the one needs the other. Then nothing else needs either of them.
            let is_hopeless = size > 1 && self.disables_more(&rest);
            if !is_hopeless && self.remove(at..at + size)? {
                removed = true;
                needed = 0;
            } else {
                at += 1;
                needed += 1;
            }
        }
        Ok(removed)
    }

    /// Delta debugging as its authors wrote it: in halves; after a success in halves again, else in parts half
    /// the size, until the parts are single steps.
    fn ddmin(&mut self) -> Result<(), Stop> {
        let mut parts = 2;
        while self.body() > 0 {
            let body = self.body();
            parts = parts.min(body);
            let size = body / parts;
            if size == 1 {
                parts = body;
            }
            let mut removed = false;
            for part in 0..parts {
                if self.remove(part * size..(part + 1) * size)? {
                    removed = true;
                    break;
                }
            }
            if removed {
                parts = 2;
            } else if parts == body {
                break;
            } else {
                parts *= 2;
            }
        }
        Ok(())
    }

    /// Puts the slots in order, in all pools at once or else in those where the failure survives it. True if
    /// anything changed.
    fn renumber(&mut self) -> Result<bool, Stop> {
        let numbering = Numbering::of(self.trials.system.actions(), &self.current.steps);
        if numbering.is_identity() {
            return Ok(false);
        }
        if self.rename(&numbering)? {
            return Ok(true);
        }
        let mut changed = false;
        let pools = numbering.by_pool();
        if pools.len() > 1 {
            for numbering in pools {
                changed |= self.rename(&numbering)?;
            }
        }
        Ok(changed)
    }

    fn rename(&mut self, numbering: &Numbering) -> Result<bool, Stop> {
        let steps = numbering.apply(self.trials.system.actions(), &self.current.steps);
        let kept = self.current.kept.clone();
        self.attempt(steps, kept)
    }

    /// Tries the current test without these steps.
    fn remove(&mut self, range: Range<usize>) -> Result<bool, Stop> {
        let (steps, kept) = self.without(range);
        self.attempt(steps, kept)
    }

    /// The current test without these steps, and where the others come from.
    fn without(&self, range: Range<usize>) -> (Vec<Step>, Vec<usize>) {
        let Current { steps, kept, .. } = &self.current;
        let steps = [&steps[..range.start], &steps[range.end..]].concat();
        let kept = [&kept[..range.start], &kept[range.end..]].concat();
        (steps, kept)
    }

    /// Whether the slots of a candidate forbid more steps than they do in the current test, so that it is in truth a
    /// candidate for something shorter.
    pub(super) fn disables_more(&self, steps: &[Step]) -> bool {
        let catalog = self.trials.system.actions();
        let disabled = |steps: &[Step]| dataflow::disabled(catalog, steps);
        disabled(steps) > disabled(&self.current.steps)
    }

    /// Makes a candidate the current test if it achieves the goal.
    pub(super) fn attempt(&mut self, steps: Vec<Step>, kept: Vec<usize>) -> Result<bool, Stop> {
        // No beginning of the current test fails before its end.
        if self.trials.ends_in_failure() && self.current.steps.starts_with(&steps) {
            self.trials.effort.cached += 1;
            return Ok(false);
        }
        let Some(achieved) = self.trials.attempt(&steps)? else {
            return Ok(false);
        };
        self.accept(achieved, &steps, &kept);
        Ok(true)
    }

    /// Takes what a run executed as the current test. `kept` tells for each of its steps where it comes from.
    fn accept(&mut self, achieved: Achieved, steps: &[Step], kept: &[usize]) {
        self.current = Current {
            steps: achieved.steps(steps),
            kept: achieved.executed.iter().map(|place| kept[*place]).collect(),
            failure: achieved.failure,
        };
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::generate::{Found, Search, SearchWatcher, search};
    use crate::toys::{Counters, Crossing, Flaky, Jugs, Safe, Stack};
    use crate::{ActionId, Catalog, Error, FailureKind, Outcome, Random};

    struct First(Option<Found>);

    impl<S: ?Sized> SearchWatcher<S> for First {
        fn found(&mut self, _system: &mut S, found: Found) -> std::ops::ControlFlow<()> {
            self.0 = Some(found);
            std::ops::ControlFlow::Break(())
        }
    }

    fn find(system: &mut impl System, seed: u64) -> Found {
        let mut first = First(None);
        let search_for = Search {
            seed,
            tests: Some(10_000),
            length: 100,
            check: true,
        };
        search(system, &search_for, &mut first).unwrap();
        first.0.expect("a failure within the budget")
    }

    fn both() -> [ReduceOptions; 2] {
        [Method::Greedy, Method::Ddmin].map(|method| ReduceOptions {
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

    /// What the first failure of a seed reduces to, by either method.
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

    /// A test of a hundred steps, three of which open the safe.
    fn haystack(seed: u64) -> (Safe, Test) {
        let mut random = Random::new(seed);
        let mut keys: Vec<u64> = (0..100).map(|_| 3 + random.below(97)).collect();
        let mut places = [
            random.below(33),
            33 + random.below(33),
            66 + random.below(33),
        ];
        if seed.is_multiple_of(2) {
            places[2] = 99;
        }
        for (key, place) in (0..).zip(places) {
            keys[place as usize] = key;
        }
        let test = Test::of(keys.into_iter().map(ActionId));
        (Safe::new(99, &[0, 1, 2]), test)
    }

    #[test]
    fn few_runs_for_three_steps_out_of_a_hundred() {
        let mut total = [0, 0];
        let mut most = [0, 0];
        for seed in 0..100 {
            let (mut safe, test) = haystack(seed);
            let failure = open();
            for (place, options) in both().iter().enumerate() {
                let reduction = reduce(&mut safe, &test, &failure, options, &mut || true).unwrap();
                assert_eq!(reduction.test.len(), 3);
                total[place] += reduction.runs;
                most[place] = reduction.runs.max(most[place]);
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
    fn what_does_not_fail_again_is_not_reduced() {
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

        let longer = Test::of([ActionId(0); 100]);
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
        let mut test = Test::of([5, 3, 7, 1].map(ActionId));
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
            let test = Test::of_steps(steps.clone());
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
            let test = Test::of([add, add, add, divide]);
            let reduction = reduce(&mut system, &test, &three, &options, &mut || true).unwrap();
            assert_eq!(reduction.test, test);

            let test = Test::of([add, modulo, add, add, divide, add]);
            let reduction = reduce(&mut system, &test, &three, &options, &mut || true).unwrap();
            assert_eq!(reduction.test, Test::of([modulo]));
            options.keep_last = true;
            let reduction = reduce(&mut system, &test, &three, &options, &mut || true).unwrap();
            assert_eq!(reduction.test, Test::of([add, add, add, divide]));
        }
    }
}
