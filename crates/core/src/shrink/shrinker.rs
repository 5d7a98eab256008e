//! All that can be done to make one test simpler, with one memory and one budget.

use super::goal::Goal;
use super::prefixes::FromSnapshots;
use super::reduce::{Method, ReduceOptions, Reducer};
use super::trials::{Effort, ReduceError, Stop, Trials};
use crate::{Failure, Snapshot, System, Test};

/// A simpler test that achieves the goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// The simpler test.
    pub test: Test,
    /// How it fails, if it does.
    pub failure: Option<Failure>,
    /// For each step the index of the step of the original test that it comes from.
    pub kept: Vec<usize>,
    /// Nothing more can be done. False if it was stopped early.
    pub complete: bool,
}

/// Makes a test simpler while it achieves a [`Goal`].
///
/// [`reduce`](Shrinker::reduce), [`normalize`](Shrinker::normalize) and [`generalize`](Shrinker::generalize) share what they
/// learn: no candidate is run twice. They share a budget as well, and once it is used up, or `proceed` says `false`, each
/// returns the best it has.
///
/// ```
/// use testwright_core::shrink::{AnyFailure, NormalizeOptions, ReduceOptions, Shrinker};
/// use testwright_core::toys::Stack;
/// use testwright_core::{ActionId, System, Test};
///
/// let mut stack = Stack::default();
/// let push = |element| ActionId(element);
/// let pop = ActionId(3);
/// let test = Test::of([push(2), pop, push(2), push(0), push(1), push(2), pop, pop, pop, pop, pop]);
///
/// let (mut goal, mut proceed) = (AnyFailure, || true);
/// let mut shrinker = Shrinker::new(&mut stack, &mut goal, &ReduceOptions::default(), &mut proceed)
///     .with_budget(1_000)
///     .with_snapshots(8);
/// let reduced = shrinker.reduce(&test).unwrap();
/// let normal = shrinker.normalize(&reduced.test, &NormalizeOptions::default()).unwrap();
/// assert_eq!(normal.test, Test::of([push(0), push(0), push(0), push(0), pop, pop, pop, pop]));
/// ```
pub struct Shrinker<'a, S: System + ?Sized> {
    pub(super) trials: Trials<'a, S>,
    method: Method,
}

impl<'a, S: System + ?Sized> Shrinker<'a, S> {
    /// Nothing is run yet. `proceed` is asked before each step.
    pub fn new(
        system: &'a mut S,
        goal: &'a mut dyn Goal<S>,
        options: &ReduceOptions,
        proceed: &'a mut dyn FnMut() -> bool,
    ) -> Shrinker<'a, S> {
        Shrinker {
            trials: Trials::new(system, goal, options.keep_last, options.check, proceed),
            method: options.method,
        }
    }

    /// With at most so many runs, all in all.
    pub fn with_budget(mut self, runs: u64) -> Shrinker<'a, S> {
        self.trials.budget = runs;
        self
    }

    /// Lets runs go on from copies of the system, if they prove true; so many are kept at a time. Results are the same,
    /// and every candidate that is accepted was run from a reset.
    /// Goals that look at more than what happened at each step, such as coverage, make no use of them.
    pub fn with_snapshots(mut self, limit: usize) -> Shrinker<'a, S>
    where
        S: Snapshot,
        S::State: 'a,
    {
        self.trials.prefixes = Box::new(FromSnapshots::<S>::new(limit));
        self
    }

    pub(super) fn method(&self) -> Method {
        self.method
    }

    /// What it has cost so far.
    pub fn effort(&self) -> Effort {
        self.trials.effort
    }

    /// Whether a test achieves the goal. An error if it was stopped before that is known.
    pub fn achieves(&mut self, test: &Test) -> Result<bool, ReduceError> {
        match self.trials.attempt(&test.steps) {
            Ok(achieved) => Ok(achieved.is_some()),
            Err(Stop::For(error)) => Err(error),
            Err(Stop::Asked) => {
                let message = "stopped before the test came to its end";
                Err(ReduceError::Error(crate::Error::new(message)))
            }
        }
    }

    /// Leaves out what the goal does not need, then puts the slots in order. The result is 1-minimal: no single step
    /// can be left out.
    pub fn reduce(&mut self, test: &Test) -> Result<Shrunk, ReduceError> {
        let method = self.method;
        self.shrink(test, |reducer| reducer.reduce(method))
    }

    /// Lets some passes work on a test. What they have done when they are stopped counts.
    pub(super) fn shrink(
        &mut self,
        test: &Test,
        passes: impl FnOnce(&mut Reducer<'_, 'a, S>) -> Result<(), Stop>,
    ) -> Result<Shrunk, ReduceError> {
        let mut reducer = Reducer::new(&mut self.trials, test);
        let complete = match passes(&mut reducer) {
            Ok(()) => true,
            Err(Stop::Asked) => false,
            Err(Stop::For(error)) => return Err(error),
        };
        let current = reducer.current;
        let remark = |(index, remark): &(usize, String)| {
            let now = current.kept.iter().position(|kept| kept == index)?;
            Some((now, remark.clone()))
        };
        let mut remarks: Vec<_> = test.remarks.iter().filter_map(remark).collect();
        remarks.sort();
        Ok(Shrunk {
            test: Test {
                steps: current.steps,
                remarks,
            },
            failure: current.failure,
            kept: current.kept,
            complete,
        })
    }
}
