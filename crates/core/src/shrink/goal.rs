//! Goals: what a test must still do after it was made simpler.
//!
//! Mostly that is to fail the same way. But the same passes that find the three steps which make a test fail find the
//! three steps which reach a branch, or which make a script of the user happy. A [`Goal`] is what they ask.

use crate::{Coverage, Covered, Error, Failure, System, Test, Trace};

/// What a goal looks at, which decides how candidates may be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Basis {
    /// What happened at each step, and nothing else. A run may go on from a snapshot then.
    Trace,
    /// What the system says about a run from reset to end, such as what it touched.
    Run,
    /// The test. The goal runs it in its own way, or not at all.
    Test,
}

/// What every candidate must achieve to be accepted.
///
/// # Laws
/// - The same test gets the same answer. Answers are remembered.
/// - If the basis is not [`Basis::Test`], steps that are skipped and steps after a failure make no difference.
pub trait Goal<S: System + ?Sized> {
    /// What the answer depends on.
    fn basis(&self) -> Basis {
        Basis::Trace
    }

    /// Whether all tests that achieve this fail. Such a test ends with the step that fails, so its last step is needed and
    /// no beginning of it has to be tried.
    fn ends_in_failure(&self) -> bool {
        false
    }

    /// Called before each run, before the system is reset.
    fn before(&mut self, _system: &mut S) -> Result<(), Error> {
        Ok(())
    }

    /// Whether a test that was just run is good enough. The trace is empty if the basis is [`Basis::Test`].
    fn is_achieved(&mut self, system: &mut S, test: &Test, trace: &Trace) -> Result<bool, Error>;
}

/// To [fail the same way](Failure::is_same_as).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SameFailure(pub Failure);

impl<S: System + ?Sized> Goal<S> for SameFailure {
    fn ends_in_failure(&self) -> bool {
        true
    }

    fn is_achieved(&mut self, _system: &mut S, _test: &Test, trace: &Trace) -> Result<bool, Error> {
        let failure = trace.failure();
        Ok(failure.is_some_and(|failure| failure.is_same_as(&self.0)))
    }
}

/// To fail, no matter how. It may slide from one bug to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnyFailure;

impl<S: System + ?Sized> Goal<S> for AnyFailure {
    fn ends_in_failure(&self) -> bool {
        true
    }

    fn is_achieved(&mut self, _system: &mut S, _test: &Test, trace: &Trace) -> Result<bool, Error> {
        Ok(trace.failure().is_some())
    }
}

/// To touch all of these targets, whether the test fails or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touches(pub Coverage);

impl<S: Covered + ?Sized> Goal<S> for Touches {
    fn basis(&self) -> Basis {
        Basis::Run
    }

    fn before(&mut self, system: &mut S) -> Result<(), Error> {
        system.begin_anew()
    }

    fn is_achieved(&mut self, system: &mut S, _test: &Test, _trace: &Trace) -> Result<bool, Error> {
        Ok(self.0.difference(&system.touched()).is_empty())
    }
}

/// To touch all of these targets and at least one more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchesMore(pub Coverage);

impl<S: Covered + ?Sized> Goal<S> for TouchesMore {
    fn basis(&self) -> Basis {
        Basis::Run
    }

    fn before(&mut self, system: &mut S) -> Result<(), Error> {
        system.begin_anew()
    }

    fn is_achieved(&mut self, system: &mut S, _test: &Test, _trace: &Trace) -> Result<bool, Error> {
        let touched = system.touched();
        Ok(self.0.difference(&touched).is_empty() && touched.len() > self.0.len())
    }
}

/// To satisfy any predicate. It may run the test on the system, or on something else, as it likes.
///
/// ```
/// use testwright_core::shrink::{Holds, ReduceOptions, Shrinker};
/// use testwright_core::toys::Safe;
/// use testwright_core::{ActionId, Test};
///
/// let mut safe = Safe::new(9, &[0]);
/// let mut goal = Holds(|_: &mut Safe, test: &Test| Ok(test.len() % 3 == 1));
/// let mut proceed = || true;
/// let mut shrinker = Shrinker::new(&mut safe, &mut goal, &ReduceOptions::default(), &mut proceed);
/// let shrunk = shrinker.reduce(&Test::of([5, 5, 5, 5, 5, 5, 5].map(ActionId))).unwrap();
/// assert_eq!(shrunk.test.len() % 3, 1);
/// ```
pub struct Holds<F>(pub F);

impl<S: System + ?Sized, F: FnMut(&mut S, &Test) -> Result<bool, Error>> Goal<S> for Holds<F> {
    fn basis(&self) -> Basis {
        Basis::Test
    }

    fn is_achieved(&mut self, system: &mut S, test: &Test, _trace: &Trace) -> Result<bool, Error> {
        (self.0)(system, test)
    }
}
