//! The generation of one test: takes the actions that a strategy chooses.
//!
//! This is the hot loop of random testing. It is compiled separately for each strategy, so that a
//! strategy that only picks costs only picking. It allocates nothing but the growing list of steps,
//! which the next test reuses.

use super::strategy::{Strategy, TestStart};
use super::{SearchOptions, SearchProgress};
use crate::{ActionId, Error, Failure, Outcome, Random, Step, System, Test};

/// The way in which a test ended.
pub(super) enum TestEnd {
    /// It has its full length.
    Finished,
    /// Nothing was enabled.
    Deadlocked,
    /// Its last step failed.
    Failed(Box<Failure>),
    /// The watcher or the user ended the search.
    Stopped,
}

/// The decision of the watcher before each step.
pub(super) enum SearchControl {
    Continue,
    /// End the test; it is long enough.
    EndTest,
    /// End the search.
    Stop,
}

impl SearchControl {
    /// Returns the end of the test that this decision means, if it ends the test.
    #[inline]
    fn end(self) -> Option<TestEnd> {
        match self {
            SearchControl::Continue => None,
            SearchControl::EndTest => Some(TestEnd::Finished),
            SearchControl::Stop => Some(TestEnd::Stopped),
        }
    }
}

/// Generates tests one after the other, and reuses its buffers.
pub(super) struct TestGenerator<'a, S: ?Sized, T: ?Sized> {
    pub(super) system: &'a mut S,
    pub(super) strategy: &'a mut T,
    pub(super) search: &'a SearchOptions,
    pub(super) start: TestStart,
    pub(super) test: Test,
    pub(super) progress: SearchProgress,
}

impl<S: System + ?Sized, T: Strategy<S> + ?Sized> TestGenerator<'_, S, T> {
    /// Generates test `number` of a search and leaves it in `test`.
    pub(super) fn generate(
        &mut self,
        number: u64,
        control: &mut dyn FnMut(&SearchProgress) -> SearchControl,
    ) -> Result<TestEnd, Error> {
        let mut random = Random::for_part(self.search.seed, number);
        self.test.steps.clear();
        self.test.remarks.clear();
        self.system.reset()?;
        self.start.restart(number, self.search.length);
        self.strategy
            .begin_test(self.system, &mut self.start, &mut random)?;
        if !self.start.is_empty()
            && let Some(end) = self.replay_prefix(&mut random, control)?
        {
            return Ok(end);
        }
        for _ in 0..self.start.length {
            if let Some(end) = self.take_next_action(&mut random, control)? {
                return Ok(end);
            }
        }
        Ok(TestEnd::Finished)
    }

    /// Takes the prefix that the strategy wants to begin with, as a replay would.
    fn replay_prefix(
        &mut self,
        random: &mut Random,
        control: &mut dyn FnMut(&SearchProgress) -> SearchControl,
    ) -> Result<Option<TestEnd>, Error> {
        let start = std::mem::take(&mut self.start);
        let mut remarks = start.prefix.remarks.iter().peekable();
        let mut insertions = start.insertions.iter().peekable();
        let mut end = None;
        for position in 0..=start.prefix.steps.len() {
            while end.is_none() && insertions.next_if(|before| **before <= position).is_some() {
                end = self.take_next_action(random, control)?;
            }
            let (None, Some(step)) = (&end, start.prefix.steps.get(position)) else {
                break;
            };
            end = control(&self.progress).end();
            if end.is_some() {
                break;
            }
            let index = self.test.steps.len();
            match *step {
                Step::Restart => {
                    self.system.reset()?;
                    self.test.steps.push(Step::Restart);
                }
                Step::Act(action) if !self.system.is_enabled(action) => {}
                Step::Act(action) => end = self.take_action(action)?,
            }
            while let Some((_, remark)) = remarks.next_if(|(of, _)| *of <= position) {
                if self.test.steps.len() > index {
                    self.test.remarks.push((index, remark.clone()));
                }
            }
        }
        self.start = start;
        Ok(end)
    }

    /// Takes the step that the strategy chooses.
    #[inline]
    fn take_next_action(
        &mut self,
        random: &mut Random,
        control: &mut dyn FnMut(&SearchProgress) -> SearchControl,
    ) -> Result<Option<TestEnd>, Error> {
        if let Some(end) = control(&self.progress).end() {
            return Ok(Some(end));
        }
        let Some(action) = self.strategy.next_action(self.system, random) else {
            return Ok(Some(TestEnd::Deadlocked));
        };
        if let Some(remark) = self.strategy.remark() {
            self.test.remarks.push((self.test.steps.len(), remark));
        }
        self.take_action(action)
    }

    /// Takes an action and checks the invariants. Returns the end of the test if it failed.
    #[inline]
    fn take_action(&mut self, action: ActionId) -> Result<Option<TestEnd>, Error> {
        self.test.steps.push(Step::Act(action));
        self.progress.steps += 1;
        let mut outcome = self.system.step(action);
        if self.search.check && matches!(outcome, Outcome::Passed | Outcome::Expected) {
            outcome = self.system.check();
        }
        match outcome {
            Outcome::Passed | Outcome::Expected => {
                self.strategy.after_step(self.system, &self.test.steps)?;
                Ok(None)
            }
            Outcome::Failed(failure) => {
                self.strategy.after_step(self.system, &self.test.steps)?;
                Ok(Some(TestEnd::Failed(failure)))
            }
            Outcome::Interrupted => Ok(Some(TestEnd::Stopped)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SEARCH, generate_tests};
    use super::*;
    use crate::toys::Crossing;

    /// A strategy that begins with given steps, and otherwise waits.
    struct Prefixed(TestStart);

    impl Strategy<Crossing> for Prefixed {
        fn begin_test(
            &mut self,
            _system: &mut Crossing,
            start: &mut TestStart,
            _random: &mut Random,
        ) -> Result<(), Error> {
            start.prefix = self.0.prefix.clone();
            start.insertions = self.0.insertions.clone();
            start.length = self.0.length;
            Ok(())
        }

        fn next_action(
            &mut self,
            _system: &mut Crossing,
            _random: &mut Random,
        ) -> Option<ActionId> {
            Some(Crossing::WAIT)
        }

        fn remark(&mut self) -> Option<String> {
            Some("chosen".to_owned())
        }
    }

    #[test]
    fn a_prefix_is_replayed_with_its_remarks_and_what_is_put_in_between() {
        let [switch, go, red, wait] = [
            Crossing::SWITCH,
            Crossing::GO_AT_GREEN,
            Crossing::GO_AT_RED,
            Crossing::WAIT,
        ]
        .map(Step::Act);
        let mut prefix = Test::from_steps(vec![red, switch, red, Step::Restart, red, go]);
        let remark = |step: usize| (step, format!("was {step}"));
        prefix.remarks = [0, 1, 2, 5].map(remark).to_vec();
        let start = TestStart {
            length: 2,
            prefix,
            insertions: vec![0, 3, 6, 6],
            ..TestStart::default()
        };
        let mut crossing = Crossing::default();
        let generated = generate_tests(&mut crossing, &mut Prefixed(start), &SEARCH, 1).remove(0);
        assert_eq!(
            generated.steps,
            [
                wait,
                switch,
                red,
                wait,
                Step::Restart,
                go,
                wait,
                wait,
                wait,
                wait
            ]
        );
        let remarks: Vec<(usize, &str)> = generated
            .remarks
            .iter()
            .map(|(step, remark)| (*step, remark.as_str()))
            .collect();
        assert_eq!(
            remarks,
            [
                (0, "chosen"),
                (1, "was 1"),
                (2, "was 2"),
                (3, "chosen"),
                (5, "was 5"),
                (6, "chosen"),
                (7, "chosen"),
                (8, "chosen"),
                (9, "chosen"),
            ]
        );
    }

    #[test]
    fn a_prefix_that_fails_is_a_failing_test() {
        let [switch, red] = [Crossing::SWITCH, Crossing::GO_AT_RED].map(Step::Act);
        let start = TestStart {
            length: 9,
            prefix: Test::from_steps(vec![switch, red, red, red]),
            ..TestStart::default()
        };
        let generated = generate_tests(&mut Crossing::default(), &mut Prefixed(start), &SEARCH, 1);
        assert_eq!(generated[0].steps, [switch, red, red]);
    }
}
