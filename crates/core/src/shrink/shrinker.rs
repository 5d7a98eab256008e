//! The entry point of shrinking: all operations on one test, with one cache and one budget.

use super::goal::ShrinkGoal;
use super::prefixes::FromSnapshots;
use super::reduce::{ReduceMethod, ReduceOptions, ReductionState};
use super::trials::{Effort, ReduceError, ShrinkStop, Trials};
use crate::{Failure, Snapshot, System, Test};

/// A simpler test that achieves the goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// The simpler test.
    pub test: Test,
    /// Its failure, if it fails.
    pub failure: Option<Failure>,
    /// By step: the index of the original step that it comes from.
    pub kept: Vec<usize>,
    /// True if no more progress is possible. False if shrinking was stopped early.
    pub complete: bool,
}

/// Makes a test simpler while it achieves a [`ShrinkGoal`].
///
/// [`reduce`](Shrinker::reduce), [`normalize`](Shrinker::normalize) and
/// [`generalize`](Shrinker::generalize) share their results: no candidate is run twice. They share
/// a budget as well, and once it is used up, or `proceed` returns `false`, each returns the best it
/// has.
///
/// ```
/// use testwright_core::shrink::{AnyFailure, NormalizeOptions, ReduceOptions, Shrinker};
/// use testwright_core::toys::Stack;
/// use testwright_core::{ActionId, System, Test};
///
/// let mut stack = Stack::default();
/// let push = |element| ActionId(element);
/// let pop = ActionId(3);
/// let test = Test::from_actions([push(2), pop, push(2), push(0), push(1), push(2), pop, pop, pop, pop, pop]);
///
/// let (mut goal, mut proceed) = (AnyFailure, || true);
/// let mut shrinker = Shrinker::new(&mut stack, &mut goal, &ReduceOptions::default(), &mut proceed)
///     .with_budget(1_000)
///     .with_snapshots(8);
/// let reduced = shrinker.reduce(&test).unwrap();
/// let normal = shrinker.normalize(&reduced.test, &NormalizeOptions::default()).unwrap();
/// assert_eq!(normal.test, Test::from_actions([push(0), push(0), push(0), push(0), pop, pop, pop, pop]));
/// ```
pub struct Shrinker<'a, S: System + ?Sized> {
    pub(super) trials: Trials<'a, S>,
    method: ReduceMethod,
}

impl<'a, S: System + ?Sized> Shrinker<'a, S> {
    /// Creates a shrinker. Nothing is run yet. `proceed` is called before each step.
    pub fn new(
        system: &'a mut S,
        goal: &'a mut dyn ShrinkGoal<S>,
        options: &ReduceOptions,
        proceed: &'a mut dyn FnMut() -> bool,
    ) -> Shrinker<'a, S> {
        Shrinker {
            trials: Trials::new(system, goal, options.keep_last, options.check, proceed),
            method: options.method,
        }
    }

    /// Limits the total number of runs.
    pub fn with_budget(mut self, runs: u64) -> Shrinker<'a, S> {
        self.trials.budget = runs;
        self
    }

    /// Lets runs start from snapshots of the system, if they prove reliable; at most `limit` are
    /// kept at a time. Results are the same, and every accepted candidate was run from a reset.
    /// Goals that depend on more than the events of the steps, such as coverage, do not use them.
    pub fn with_snapshots(mut self, limit: usize) -> Shrinker<'a, S>
    where
        S: Snapshot,
        S::State: 'a,
    {
        self.trials.prefixes = Box::new(FromSnapshots::<S>::new(limit));
        self
    }

    /// Returns the method of reduction.
    pub(super) fn method(&self) -> ReduceMethod {
        self.method
    }

    /// Returns the cost so far.
    pub fn effort(&self) -> Effort {
        self.trials.effort
    }

    /// Returns true if a test achieves the goal. Returns an error if it was stopped before that is
    /// known.
    pub fn achieves(&mut self, test: &Test) -> Result<bool, ReduceError> {
        match self.trials.attempt(&test.steps) {
            Ok(achieved) => Ok(achieved.is_some()),
            Err(ShrinkStop::Failed(error)) => Err(error),
            Err(ShrinkStop::Requested) => {
                let message = "stopped before the test came to its end";
                Err(ReduceError::Error(crate::Error::new(message)))
            }
        }
    }

    /// Removes steps that the goal does not need, then puts the slots in order. The result is
    /// 1-minimal: no single step can be left out.
    pub fn reduce(&mut self, test: &Test) -> Result<Shrunk, ReduceError> {
        let method = self.method;
        self.shrink(test, |reducer| reducer.reduce(method))
    }

    /// Runs some passes on a test. Their progress counts even if they are stopped.
    pub(super) fn shrink(
        &mut self,
        test: &Test,
        passes: impl FnOnce(&mut ReductionState<'_, 'a, S>) -> Result<(), ShrinkStop>,
    ) -> Result<Shrunk, ReduceError> {
        let mut reducer = ReductionState::new(&mut self.trials, test);
        let complete = match passes(&mut reducer) {
            Ok(()) => true,
            Err(ShrinkStop::Requested) => false,
            Err(ShrinkStop::Failed(error)) => return Err(error),
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
