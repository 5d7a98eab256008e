//! Quick tests: short tests that touch what long ones touch.
//!
//! A random test that reached something new is long, and most of its steps are irrelevant to that.
//! Reduced for what it reached, it becomes a test that runs quickly, and a few of these make a
//! regression suite.

use crate::replay::{ReplayOptions, ReplayWatcher, replay};
use crate::shrink::{Basis, ReduceError, ReduceOptions, ShrinkGoal, Shrinker, Touches};
use crate::{Coverage, Covered, Error, TargetId, Test, Trace, TraceEvent};

/// A short test and its coverage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuickTest {
    /// The test.
    pub test: Test,
    /// Everything it touches, which may be more than was requested.
    pub touches: Coverage,
    /// True if the test fails.
    pub fails: bool,
}

/// Reduces long tests to short ones with the same coverage.
pub struct QuickReducer<'a> {
    /// Options of each reduction.
    pub options: ReduceOptions,
    /// The maximum number of runs per reduction.
    pub budget: u64,
    /// Targets touched by loading the system, without any test. They do not count.
    pub touched_by_loading: Coverage,
    /// Called before each step. Once it returns `false`, the best result so far is kept.
    pub proceed: &'a mut dyn FnMut() -> bool,
}

impl QuickReducer<'_> {
    /// Runs a test and measures its coverage.
    pub fn measure<S: Covered + ?Sized>(
        &mut self,
        system: &mut S,
        test: &Test,
    ) -> Result<QuickTest, Error> {
        system.reset_touched()?;
        let options = ReplayOptions {
            check: self.options.check,
        };
        let trace = replay(system, test, &options, &mut ())?;
        Ok(QuickTest {
            test: test.clone(),
            touches: system.touched().difference(&self.touched_by_loading),
            fails: trace.failure().is_some(),
        })
    }

    /// Reduces a test while it touches these targets. No step of the result can be left out without
    /// losing a target. Targets that the test does not touch when it is rerun do not count; returns
    /// `None` if none is left. If the test passes, so does the result.
    pub fn reduce<S: Covered + ?Sized>(
        &mut self,
        system: &mut S,
        test: &Test,
        targets: &Coverage,
    ) -> Result<Option<QuickTest>, ReduceError> {
        let measured = self.measure(system, test)?;
        let confirmed: Coverage = targets
            .iter()
            .filter(|target| measured.touches.contains(*target))
            .collect();
        if confirmed.is_empty() {
            return Ok(None);
        }
        let mut goal = TouchesAndPasses {
            targets: Touches(confirmed),
            may_fail: measured.fails,
        };
        let shrunk = Shrinker::new(system, &mut goal, &self.options, self.proceed)
            .with_budget(self.budget)
            .reduce(test)?;
        Ok(Some(self.measure(system, &shrunk.test)?))
    }

    /// Measures several tests. Once `proceed` returns `false`, the remaining tests are left out.
    pub fn measure_all<S: Covered + ?Sized>(
        &mut self,
        system: &mut S,
        tests: &[Test],
    ) -> Result<Vec<QuickTest>, Error> {
        let mut known = Vec::new();
        for test in tests {
            let measured = self.measure(system, test)?;
            if !(self.proceed)() {
                break;
            }
            known.push(measured);
        }
        Ok(known)
    }

    /// Returns, for each target that these tests touch, a test from which no step can be left out,
    /// in order of targets. It is a passing test if any passing test touches the target. Targets
    /// that could not be touched again are left out. After a stop, the shortest known test for a
    /// target is used as it is.
    pub fn reduce_per_target<S: Covered + ?Sized>(
        &mut self,
        system: &mut S,
        tests: &[QuickTest],
    ) -> Result<Vec<(TargetId, QuickTest)>, ReduceError> {
        let mut known = tests.to_vec();
        let mut all = Coverage::default();
        for test in tests {
            all.merge(&test.touches);
        }
        let mut found = Vec::new();
        for target in all.iter() {
            // Short tests found for other targets are better starting points than the long ones.
            let touching = known.iter().filter(|known| known.touches.contains(target));
            let Some(shortest) = touching.min_by_key(|known| (known.fails, known.test.len()))
            else {
                continue;
            };
            let shortest = shortest.clone();
            let targets: Coverage = [target].into_iter().collect();
            let reduced = if (self.proceed)() {
                self.reduce(system, &shortest.test, &targets)
            } else {
                Ok(None)
            };
            // A reduction that was stopped half-way says nothing, not even by an error.
            if !(self.proceed)() {
                found.push((target, shortest));
            } else if let Some(quick) = reduced?.filter(|quick| quick.touches.contains(target)) {
                known.push(quick.clone());
                found.push((target, quick));
            }
        }
        Ok(found)
    }

    /// Returns short tests that together touch everything one test touches.
    ///
    /// Starting from the last step, the test is reduced for the targets that the step added and
    /// that are still missing, until none is missing.
    pub fn decompose<S: Covered + ?Sized>(
        &mut self,
        system: &mut S,
        test: &Test,
    ) -> Result<Vec<QuickTest>, ReduceError> {
        let mut added = NewlyTouched::default();
        system.reset_touched()?;
        let options = ReplayOptions {
            check: self.options.check,
        };
        replay(system, test, &options, &mut added)?;
        let mut missing = added.so_far.clone();
        let mut found: Vec<QuickTest> = Vec::new();
        for new in added.by_step.iter().rev() {
            let wanted: Coverage = new
                .iter()
                .filter(|target| missing.contains(*target))
                .collect();
            if let Some(quick) = self.reduce(system, test, &wanted)? {
                missing = missing.difference(&quick.touches);
                found.push(quick);
            }
        }
        // The earlier steps first, as in the test.
        found.reverse();
        Ok(found)
    }
}

/// Goal: touch all of these targets, and pass unless the original test fails.
struct TouchesAndPasses {
    targets: Touches,
    may_fail: bool,
}

impl<S: Covered + ?Sized> ShrinkGoal<S> for TouchesAndPasses {
    fn basis(&self) -> Basis {
        ShrinkGoal::<S>::basis(&self.targets)
    }

    fn before_run(&mut self, system: &mut S) -> Result<(), Error> {
        self.targets.before_run(system)
    }

    fn is_achieved(&mut self, system: &mut S, test: &Test, trace: &Trace) -> Result<bool, Error> {
        let passes = self.may_fail || trace.failure().is_none();
        Ok(passes && self.targets.is_achieved(system, test, trace)?)
    }
}

/// Records the targets that each step touches for the first time in its test.
#[derive(Default)]
struct NewlyTouched {
    by_step: Vec<Coverage>,
    so_far: Coverage,
}

impl<S: Covered + ?Sized> ReplayWatcher<S> for NewlyTouched {
    fn after_step(&mut self, system: &mut S, _event: &TraceEvent) {
        let touched = system.touched();
        self.by_step.push(touched.difference(&self.so_far));
        self.so_far = touched;
    }
}

/// Selects a few of these tests that together touch everything all of them touch, and returns their
/// indices, in order.
///
/// Finding the smallest selection is hard, so this is greedy. It repeatedly takes the test that
/// adds the most targets; ties go to the shortest, then to the first. Then it drops tests that the
/// others have made superfluous, the longest first.
///
/// ```
/// use testwright_core::analyse::quick::{QuickTest, minimal_suite};
/// use testwright_core::{ActionId, TargetId, Test};
///
/// let test = |length: u64, targets: &[u32]| QuickTest {
///     test: Test::from_actions((0..length).map(ActionId)),
///     touches: targets.iter().copied().map(TargetId).collect(),
///     fails: false,
/// };
/// // The first adds the most, and is not needed in the end.
/// let tests = [test(3, &[1, 2, 4, 5]), test(2, &[1, 2, 3]), test(2, &[4, 5, 6])];
/// assert_eq!(minimal_suite(&tests), [1, 2]);
/// ```
pub fn minimal_suite(tests: &[QuickTest]) -> Vec<usize> {
    let mut missing = Coverage::default();
    for test in tests {
        missing.merge(&test.touches);
    }
    let mut suite: Vec<usize> = Vec::new();
    while !missing.is_empty() {
        let gain = |index: usize| {
            let left = missing.difference(&tests[index].touches).len();
            (left, tests[index].test.len(), index)
        };
        let Some(best) = (0..tests.len()).min_by_key(|index| gain(*index)) else {
            break;
        };
        missing = missing.difference(&tests[best].touches);
        suite.push(best);
    }
    let mut longest_first = suite.clone();
    longest_first.sort_by_key(|index| std::cmp::Reverse((tests[*index].test.len(), *index)));
    for index in longest_first {
        let mut others = Coverage::default();
        for other in suite.iter().filter(|other| **other != index) {
            others.merge(&tests[*other].touches);
        }
        if tests[index].touches.difference(&others).is_empty() {
            suite.retain(|other| *other != index);
        }
    }
    suite.sort_unstable();
    suite
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toys::{Jugs, Watched};
    use crate::{Random, System};

    fn walk(system: &mut impl System, seed: u64, length: usize) -> Test {
        let mut random = Random::new(seed);
        system.reset().unwrap();
        let mut actions = Vec::new();
        for _ in 0..length {
            let action = system.pick(&mut random).unwrap();
            system.step(action);
            actions.push(action);
        }
        Test::from_actions(actions)
    }

    #[test]
    fn short_tests_touch_what_long_ones_touch() {
        let mut system = Watched::new(Jugs::default());
        let tests: Vec<Test> = (0..3).map(|seed| walk(&mut system, seed, 40)).collect();
        let mut proceed = || true;
        let mut quick = QuickReducer {
            options: ReduceOptions {
                check: false,
                ..ReduceOptions::default()
            },
            budget: 1_000,
            touched_by_loading: Coverage::default(),
            proceed: &mut proceed,
        };
        let mut all = Coverage::default();
        for test in &tests {
            let touched = quick.measure(&mut system, test).unwrap().touches;
            all.merge(&touched);
            let parts = quick.decompose(&mut system, test).unwrap();
            let mut together = Coverage::default();
            parts.iter().for_each(|part| together.merge(&part.touches));
            assert!(touched.difference(&together).is_empty());
            assert!(parts.iter().all(|part| part.test.len() < 15));
        }
        let measured = quick.measure_all(&mut system, &tests).unwrap();
        let found = quick.reduce_per_target(&mut system, &measured).unwrap();
        assert_eq!(
            found
                .iter()
                .map(|(target, _)| *target)
                .collect::<Coverage>(),
            all
        );
        for (target, test) in &found {
            assert!(test.touches.contains(*target));
            assert!(test.test.len() <= 6, "{test:?}");
        }
        let candidates: Vec<QuickTest> = found.into_iter().map(|(_, test)| test).collect();
        let suite = minimal_suite(&candidates);
        let mut together = Coverage::default();
        suite
            .iter()
            .for_each(|index| together.merge(&candidates[*index].touches));
        assert_eq!(together, all);
        assert!(suite.len() < candidates.len());
    }

    #[test]
    fn once_stopped_tests_stay_as_they_are_and_nothing_is_lost() {
        let mut system = Watched::new(Jugs::default());
        let tests: Vec<Test> = (0..3).map(|seed| walk(&mut system, seed, 40)).collect();
        let mut all = Coverage::default();
        for asked in [0, 150, 1_000, 10_000] {
            let mut left = asked + 120;
            let mut proceed = || {
                left -= 1;
                left > 0
            };
            let mut quick = QuickReducer {
                options: ReduceOptions {
                    check: false,
                    ..ReduceOptions::default()
                },
                budget: 1_000,
                touched_by_loading: Coverage::default(),
                proceed: &mut proceed,
            };
            let measured = quick.measure_all(&mut system, &tests).unwrap();
            assert_eq!(measured.len(), 3);
            measured.iter().for_each(|test| all.merge(&test.touches));
            let found = quick.reduce_per_target(&mut system, &measured).unwrap();
            let mut together = Coverage::default();
            found
                .iter()
                .for_each(|(_, test)| together.merge(&test.touches));
            assert_eq!(together, all, "stopped after {asked}");
        }
    }

    #[test]
    fn targets_that_are_not_touched_again_do_not_count() {
        let mut system = Watched::new(Jugs::default());
        let mut proceed = || true;
        let mut quick = QuickReducer {
            options: ReduceOptions::default(),
            budget: 100,
            touched_by_loading: Coverage::default(),
            proceed: &mut proceed,
        };
        let test = walk(&mut system, 1, 5);
        let targets = [TargetId(1_000)].into_iter().collect();
        assert_eq!(quick.reduce(&mut system, &test, &targets).unwrap(), None);
    }
}
