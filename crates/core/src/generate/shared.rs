//! Several searches that profit from each other.

use super::{Made, Start, Strategy};
use crate::{ActionId, Error, Random, Step, System, TargetId, Test};

/// A strategy that now and then repeats a test of another search, so that it can go on from there.
///
/// What the test is worth here, the strategy finds out as it does with its own: by looking at what it touches.
#[derive(Debug)]
pub struct Shared<T, F> {
    strategy: T,
    others: F,
    /// The current test is not our own.
    repeats: bool,
}

impl<T, F> Shared<T, F> {
    /// Asks before each test whether there is one to repeat.
    pub fn new(strategy: T, others: F) -> Shared<T, F> {
        Shared {
            strategy,
            others,
            repeats: false,
        }
    }
}

impl<S, T, F> Strategy<S> for Shared<T, F>
where
    S: System + ?Sized,
    T: Strategy<S>,
    F: FnMut(&mut S) -> Option<Test>,
{
    fn begin(
        &mut self,
        system: &mut S,
        start: &mut Start,
        random: &mut Random,
    ) -> Result<(), Error> {
        self.strategy.begin(system, start, random)?;
        let other = (self.others)(system);
        self.repeats = other.is_some();
        if let Some(test) = other {
            start.prefix = test;
            start.insertions.clear();
            start.length = 0;
        }
        Ok(())
    }

    #[inline]
    fn next(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
        self.strategy.next(system, random)
    }

    #[inline]
    fn remark(&mut self) -> Option<String> {
        self.strategy.remark()
    }

    #[inline]
    fn after(&mut self, system: &mut S, steps: &[Step]) -> Result<(), Error> {
        self.strategy.after(system, steps)
    }

    fn end(&mut self, system: &mut S, made: &Made<'_>) -> Result<(), Error> {
        if self.repeats {
            self.strategy.learn(system, made)
        } else {
            self.strategy.end(system, made)
        }
    }

    fn learn(&mut self, system: &mut S, made: &Made<'_>) -> Result<(), Error> {
        self.strategy.learn(system, made)
    }

    fn new_targets(&self) -> &[TargetId] {
        self.strategy.new_targets()
    }

    fn learns(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::testing::{SEARCH, tests_of};
    use super::super::{Auto, NewCoverage, Uniform};
    use super::*;
    use crate::Classes;
    use crate::toys::Safe;

    const CODE: [u64; 4] = [17, 4, 99, 4];

    #[test]
    fn tests_of_others_are_repeated_and_the_rest_stays_as_it_is() {
        let mut others = vec![Test::of([ActionId(4), ActionId(17)])];
        let mut safe = Safe::new(99, &CODE);
        let shared = &mut Shared::new(Uniform, |_: &mut Safe| others.pop());
        let with = tests_of(&mut safe, shared, &SEARCH, 3);
        let without = tests_of(&mut safe, &mut Uniform, &SEARCH, 3);
        assert_eq!(with[0], Test::of([ActionId(4), ActionId(17)]));
        assert_eq!(with[1..], without[1..]);
    }

    #[test]
    fn a_strategy_goes_on_from_what_others_have_reached() {
        let almost = Test::of(CODE[..3].iter().copied().map(ActionId));
        let mut others = vec![almost.clone()];
        let mut safe = Safe::new(99, &CODE);
        let classes = Arc::new(Classes::new(safe.actions()));
        let auto = Auto::new(&classes, NewCoverage);
        let shared = &mut Shared::new(auto, |_: &mut Safe| others.pop());
        let tests = tests_of(&mut safe, shared, &SEARCH, 30);
        let goes_on = |test: &Test| test.steps.starts_with(&almost.steps) && test.len() > 3;
        assert!(tests[1..].iter().any(goes_on));
    }
}
