//! One test: a walk that takes the actions that a strategy chooses.
//!
//! This is the hot loop of random testing. It is compiled for each strategy by itself, so that one that does
//! nothing but pick costs nothing but picking. It allocates nothing but the growing list of steps, which the next
//! test uses again.

use super::strategy::{Start, Strategy};
use super::{Progress, Search};
use crate::{ActionId, Error, Failure, Outcome, Random, Step, System, Test};

/// How a walk ended.
pub(super) enum Walk {
    /// At its full length.
    Finished,
    /// Where nothing was enabled.
    Deadlocked,
    /// At a failure of its last step.
    Failed(Box<Failure>),
    /// Because somebody said so.
    Stopped,
}

/// How a walk goes on.
pub(super) enum Pace {
    GoOn,
    /// The test is long enough.
    EndTest,
    /// Somebody wants the search to end.
    Stop,
}

impl Pace {
    /// How the walk ends here, if it does.
    #[inline]
    fn end(self) -> Option<Walk> {
        match self {
            Pace::GoOn => None,
            Pace::EndTest => Some(Walk::Finished),
            Pace::Stop => Some(Walk::Stopped),
        }
    }
}

/// What one test is made with, and what the next one uses again.
pub(super) struct Walker<'a, S: ?Sized, T: ?Sized> {
    pub(super) system: &'a mut S,
    pub(super) strategy: &'a mut T,
    pub(super) search: &'a Search,
    pub(super) start: Start,
    pub(super) test: Test,
    pub(super) progress: Progress,
}

impl<S: System + ?Sized, T: Strategy<S> + ?Sized> Walker<'_, S, T> {
    /// Walks test `number` of a search and leaves it in `test`.
    pub(super) fn walk(
        &mut self,
        number: u64,
        pace: &mut dyn FnMut(&Progress) -> Pace,
    ) -> Result<Walk, Error> {
        let mut random = Random::for_part(self.search.seed, number);
        self.test.steps.clear();
        self.test.remarks.clear();
        self.system.reset()?;
        self.start.renew(number, self.search.length);
        self.strategy
            .begin(self.system, &mut self.start, &mut random)?;
        if !self.start.is_empty()
            && let Some(end) = self.walk_again(&mut random, pace)?
        {
            return Ok(end);
        }
        for _ in 0..self.start.length {
            if let Some(end) = self.choose(&mut random, pace)? {
                return Ok(end);
            }
        }
        Ok(Walk::Finished)
    }

    /// Takes the steps that the strategy wants to begin with, as a replay would.
    fn walk_again(
        &mut self,
        random: &mut Random,
        pace: &mut dyn FnMut(&Progress) -> Pace,
    ) -> Result<Option<Walk>, Error> {
        let start = std::mem::take(&mut self.start);
        let mut remarks = start.prefix.remarks.iter().peekable();
        let mut insertions = start.insertions.iter().peekable();
        let mut end = None;
        for index in 0..=start.prefix.steps.len() {
            while end.is_none() && insertions.next_if(|place| **place <= index).is_some() {
                end = self.choose(random, pace)?;
            }
            let (None, Some(step)) = (&end, start.prefix.steps.get(index)) else {
                break;
            };
            end = pace(&self.progress).end();
            if end.is_some() {
                break;
            }
            let place = self.test.steps.len();
            match *step {
                Step::Restart => {
                    self.system.reset()?;
                    self.test.steps.push(Step::Restart);
                }
                Step::Act(action) if !self.system.is_enabled(action) => {}
                Step::Act(action) => end = self.take(action)?,
            }
            while let Some((_, remark)) = remarks.next_if(|(of, _)| *of <= index) {
                if self.test.steps.len() > place {
                    self.test.remarks.push((place, remark.clone()));
                }
            }
        }
        self.start = start;
        Ok(end)
    }

    /// Takes the step that the strategy chooses.
    #[inline]
    fn choose(
        &mut self,
        random: &mut Random,
        pace: &mut dyn FnMut(&Progress) -> Pace,
    ) -> Result<Option<Walk>, Error> {
        if let Some(end) = pace(&self.progress).end() {
            return Ok(Some(end));
        }
        let Some(action) = self.strategy.next(self.system, random) else {
            return Ok(Some(Walk::Deadlocked));
        };
        if let Some(remark) = self.strategy.remark() {
            self.test.remarks.push((self.test.steps.len(), remark));
        }
        self.take(action)
    }

    #[inline]
    fn take(&mut self, action: ActionId) -> Result<Option<Walk>, Error> {
        self.test.steps.push(Step::Act(action));
        self.progress.steps += 1;
        let mut outcome = self.system.step(action);
        if self.search.check && matches!(outcome, Outcome::Passed | Outcome::Expected) {
            outcome = self.system.check();
        }
        match outcome {
            Outcome::Passed | Outcome::Expected => {
                self.strategy.after(self.system, &self.test.steps)?;
                Ok(None)
            }
            Outcome::Failed(failure) => {
                self.strategy.after(self.system, &self.test.steps)?;
                Ok(Some(Walk::Failed(failure)))
            }
            Outcome::Interrupted => Ok(Some(Walk::Stopped)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SEARCH, tests_of};
    use super::*;
    use crate::toys::Crossing;

    /// Begins with given steps, and waits wherever it is asked.
    struct Prefixed(Start);

    impl Strategy<Crossing> for Prefixed {
        fn begin(
            &mut self,
            _system: &mut Crossing,
            start: &mut Start,
            _random: &mut Random,
        ) -> Result<(), Error> {
            start.prefix = self.0.prefix.clone();
            start.insertions = self.0.insertions.clone();
            start.length = self.0.length;
            Ok(())
        }

        fn next(&mut self, _system: &mut Crossing, _random: &mut Random) -> Option<ActionId> {
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
        let mut prefix = Test::of_steps(vec![red, switch, red, Step::Restart, red, go]);
        let remark = |step: usize| (step, format!("was {step}"));
        prefix.remarks = [0, 1, 2, 5].map(remark).to_vec();
        let start = Start {
            length: 2,
            prefix,
            insertions: vec![0, 3, 6, 6],
            ..Start::default()
        };
        let mut crossing = Crossing::default();
        let made = tests_of(&mut crossing, &mut Prefixed(start), &SEARCH, 1).remove(0);
        assert_eq!(
            made.steps,
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
        let remarks: Vec<(usize, &str)> = made
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
        let start = Start {
            length: 9,
            prefix: Test::of_steps(vec![switch, red, red, red]),
            ..Start::default()
        };
        let made = tests_of(&mut Crossing::default(), &mut Prefixed(start), &SEARCH, 1);
        assert_eq!(made[0].steps, [switch, red, red]);
    }
}
