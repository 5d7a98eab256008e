//! Shrinking goals: what a test must still do after it was made simpler.
//!
//! Usually that is to fail the same way. But the passes that find the three steps which make a test
//! fail can also find the three steps which reach a branch, or which satisfy a script of the user.
//! A [`ShrinkGoal`] defines what they preserve.

use crate::{Coverage, Covered, Error, Failure, System, Test, Trace};

/// The basis of a goal's decision. It determines how candidates may be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Basis {
    /// Only the events of the steps. A run may start from a snapshot.
    Trace,
    /// The report of the system about a run from reset to end, such as its coverage.
    Run,
    /// The test itself. The goal runs it in its own way, or not at all.
    Test,
}

/// A condition that every accepted candidate must satisfy.
///
/// # Laws
/// - The same test gets the same answer. Answers are remembered.
/// - If the basis is not [`Basis::Test`], skipped steps and steps after a failure make no
///   difference.
pub trait ShrinkGoal<S: System + ?Sized> {
    /// Returns the basis of the decision.
    fn basis(&self) -> Basis {
        Basis::Trace
    }

    /// Returns true if all tests that achieve this goal fail. Such a test ends with the failing
    /// step, so its last step is needed and no proper prefix of it has to be tried.
    fn ends_in_failure(&self) -> bool {
        false
    }

    /// Called before each run, before the system is reset.
    fn before_run(&mut self, _system: &mut S) -> Result<(), Error> {
        Ok(())
    }

    /// Returns true if the test that was just run achieves the goal. The trace is empty if the
    /// basis is [`Basis::Test`].
    fn is_achieved(&mut self, system: &mut S, test: &Test, trace: &Trace) -> Result<bool, Error>;
}

/// Goal: [fail the same way](Failure::is_same_as).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SameFailure(pub Failure);

impl<S: System + ?Sized> ShrinkGoal<S> for SameFailure {
    fn ends_in_failure(&self) -> bool {
        true
    }

    fn is_achieved(&mut self, _system: &mut S, _test: &Test, trace: &Trace) -> Result<bool, Error> {
        let failure = trace.failure();
        Ok(failure.is_some_and(|failure| failure.is_same_as(&self.0)))
    }
}

/// Goal: fail in any way. Shrinking may switch from one bug to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnyFailure;

impl<S: System + ?Sized> ShrinkGoal<S> for AnyFailure {
    fn ends_in_failure(&self) -> bool {
        true
    }

    fn is_achieved(&mut self, _system: &mut S, _test: &Test, trace: &Trace) -> Result<bool, Error> {
        Ok(trace.failure().is_some())
    }
}

/// Goal: touch all of these targets, whether the test fails or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touches(pub Coverage);

impl<S: Covered + ?Sized> ShrinkGoal<S> for Touches {
    fn basis(&self) -> Basis {
        Basis::Run
    }

    fn before_run(&mut self, system: &mut S) -> Result<(), Error> {
        system.reset_touched()
    }

    fn is_achieved(&mut self, system: &mut S, _test: &Test, _trace: &Trace) -> Result<bool, Error> {
        Ok(self.0.difference(&system.touched()).is_empty())
    }
}

/// Goal: touch all of these targets and at least one more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchesMore(pub Coverage);

impl<S: Covered + ?Sized> ShrinkGoal<S> for TouchesMore {
    fn basis(&self) -> Basis {
        Basis::Run
    }

    fn before_run(&mut self, system: &mut S) -> Result<(), Error> {
        system.reset_touched()
    }

    fn is_achieved(&mut self, system: &mut S, _test: &Test, _trace: &Trace) -> Result<bool, Error> {
        let touched = system.touched();
        Ok(self.0.difference(&touched).is_empty() && touched.len() > self.0.len())
    }
}

/// Goal: satisfy any predicate. It may run the test on the system, or on something else.
///
/// ```
/// use testwright_core::shrink::{PredicateGoal, ReduceOptions, Shrinker};
/// use testwright_core::toys::Safe;
/// use testwright_core::{ActionId, Test};
///
/// let mut safe = Safe::new(9, &[0]);
/// let mut goal = PredicateGoal(|_: &mut Safe, test: &Test| Ok(test.len() % 3 == 1));
/// let mut proceed = || true;
/// let mut shrinker = Shrinker::new(&mut safe, &mut goal, &ReduceOptions::default(), &mut proceed);
/// let shrunk = shrinker.reduce(&Test::from_actions([5, 5, 5, 5, 5, 5, 5].map(ActionId))).unwrap();
/// assert_eq!(shrunk.test.len() % 3, 1);
/// ```
pub struct PredicateGoal<F>(pub F);

impl<S: System + ?Sized, F: FnMut(&mut S, &Test) -> Result<bool, Error>> ShrinkGoal<S>
    for PredicateGoal<F>
{
    fn basis(&self) -> Basis {
        Basis::Test
    }

    fn is_achieved(&mut self, system: &mut S, test: &Test, _trace: &Trace) -> Result<bool, Error> {
        (self.0)(system, test)
    }
}
