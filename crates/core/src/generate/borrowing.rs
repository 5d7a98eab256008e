//! Exchange of tests between parallel searches.

use super::{GeneratedTest, Strategy, TestStart};
use crate::{ActionId, Error, Random, Step, System, TargetId, Test};

/// A strategy that occasionally replays a test of another search, so that it can continue it.
///
/// The inner strategy evaluates the borrowed test like its own tests: by what it touches.
#[derive(Debug)]
pub struct BorrowingStrategy<T, F> {
    strategy: T,
    others: F,
    /// True if the current test is borrowed.
    is_borrowed: bool,
}

impl<T, F> BorrowingStrategy<T, F> {
    /// Wraps a strategy. `others` is called before each test and may return a test to replay.
    pub fn new(strategy: T, others: F) -> BorrowingStrategy<T, F> {
        BorrowingStrategy {
            strategy,
            others,
            is_borrowed: false,
        }
    }
}

impl<S, T, F> Strategy<S> for BorrowingStrategy<T, F>
where
    S: System + ?Sized,
    T: Strategy<S>,
    F: FnMut(&mut S) -> Option<Test>,
{
    fn begin_test(
        &mut self,
        system: &mut S,
        start: &mut TestStart,
        random: &mut Random,
    ) -> Result<(), Error> {
        self.strategy.begin_test(system, start, random)?;
        let other = (self.others)(system);
        self.is_borrowed = other.is_some();
        if let Some(test) = other {
            start.prefix = test;
            start.insertions.clear();
            start.length = 0;
        }
        Ok(())
    }

    #[inline]
    fn next_action(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
        self.strategy.next_action(system, random)
    }

    #[inline]
    fn remark(&mut self) -> Option<String> {
        self.strategy.remark()
    }

    #[inline]
    fn after_step(&mut self, system: &mut S, steps: &[Step]) -> Result<(), Error> {
        self.strategy.after_step(system, steps)
    }

    fn end_test(&mut self, system: &mut S, generated: &GeneratedTest<'_>) -> Result<(), Error> {
        if self.is_borrowed {
            self.strategy.learn_from_borrowed(system, generated)
        } else {
            self.strategy.end_test(system, generated)
        }
    }

    fn learn_from_borrowed(
        &mut self,
        system: &mut S,
        generated: &GeneratedTest<'_>,
    ) -> Result<(), Error> {
        self.strategy.learn_from_borrowed(system, generated)
    }

    fn new_targets(&self) -> &[TargetId] {
        self.strategy.new_targets()
    }

    fn depends_on_results(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::testing::{SEARCH, generate_tests};
    use super::super::{Auto, NewCoverage, Uniform};
    use super::*;
    use crate::ActionClasses;
    use crate::toys::Safe;

    const CODE: [u64; 4] = [17, 4, 99, 4];

    #[test]
    fn tests_of_others_are_repeated_and_the_rest_stays_as_it_is() {
        let mut others = vec![Test::from_actions([ActionId(4), ActionId(17)])];
        let mut safe = Safe::new(99, &CODE);
        let shared = &mut BorrowingStrategy::new(Uniform, |_: &mut Safe| others.pop());
        let with = generate_tests(&mut safe, shared, &SEARCH, 3);
        let without = generate_tests(&mut safe, &mut Uniform, &SEARCH, 3);
        assert_eq!(with[0], Test::from_actions([ActionId(4), ActionId(17)]));
        assert_eq!(with[1..], without[1..]);
    }

    #[test]
    fn a_strategy_goes_on_from_what_others_have_reached() {
        let almost = Test::from_actions(CODE[..3].iter().copied().map(ActionId));
        let mut others = vec![almost.clone()];
        let mut safe = Safe::new(99, &CODE);
        let classes = Arc::new(ActionClasses::new(safe.actions()));
        let auto = Auto::new(&classes, NewCoverage);
        let shared = &mut BorrowingStrategy::new(auto, |_: &mut Safe| others.pop());
        let tests = generate_tests(&mut safe, shared, &SEARCH, 30);
        let goes_on = |test: &Test| test.steps.starts_with(&almost.steps) && test.len() > 3;
        assert!(tests[1..].iter().any(goes_on));
    }
}
