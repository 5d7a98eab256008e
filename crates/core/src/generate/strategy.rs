//! The strategy trait: how tests are generated.

use super::GeneratedTest;
use crate::{ActionId, Error, Random, System, TargetId, Test};

/// Decides how tests are generated. A search calls it at the beginning of each test, before each
/// step and at the end.
///
/// Only [`next_action`](Strategy::next_action) is required. Here is a strategy that repeats actions now and then:
///
/// ```
/// use testwright_core::generate::Strategy;
/// use testwright_core::{ActionId, Random, System};
///
/// struct Stutter {
///     last: Option<ActionId>,
/// }
///
/// impl<S: System + ?Sized> Strategy<S> for Stutter {
///     fn next_action(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
///         let again = self.last.filter(|action| random.chance(0.2) && system.is_enabled(*action));
///         self.last = again.or_else(|| system.pick(random));
///         self.last
///     }
/// }
/// ```
///
/// # Laws
/// - All randomness comes from the `random` argument, which depends on the seed and the number of
///   the test. So the same seed always generates the same tests on the same system.
/// - [`next_action`](Strategy::next_action) returns an enabled action, and `None` only if nothing is enabled. A
///   strategy without a preference takes any action, so that a deadlock is always the system's.
/// - A strategy whose tests depend on earlier results returns true from
///   [`depends_on_results`](Strategy::depends_on_results): its test number n cannot be regenerated without the n before it,
///   and is saved completely instead.
pub trait Strategy<S: System + ?Sized> {
    /// Called before each test, right after the reset. State left over from the last test is
    /// obsolete.
    fn begin_test(
        &mut self,
        _system: &mut S,
        _start: &mut TestStart,
        _random: &mut Random,
    ) -> Result<(), Error> {
        Ok(())
    }

    /// Returns the action to take now; `None` if nothing is enabled.
    fn next_action(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId>;

    /// Returns a remark about the action that [`next_action`](Strategy::next_action) just returned.
    fn remark(&mut self) -> Option<String> {
        None
    }

    /// Called after each step and its check, whatever their results. The step is the last of
    /// `steps`.
    fn after_step(&mut self, _system: &mut S, _steps: &[crate::Step]) -> Result<(), Error> {
        Ok(())
    }

    /// Called for each test that ended.
    fn end_test(&mut self, _system: &mut S, _generated: &GeneratedTest<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// Called instead of [`end_test`](Strategy::end_test) if the test was borrowed from another search: worth
    /// continuing, but not credited to this strategy.
    fn learn_from_borrowed(
        &mut self,
        system: &mut S,
        generated: &GeneratedTest<'_>,
    ) -> Result<(), Error> {
        self.end_test(system, generated)
    }

    /// Returns the targets touched for the first time since the last test ended, if the strategy
    /// measures them.
    fn new_targets(&self) -> &[TargetId] {
        &[]
    }

    /// Returns true if tests depend on what earlier ones found, so that they cannot be regenerated
    /// by their number alone.
    fn depends_on_results(&self) -> bool {
        false
    }
}

/// The beginning of a test. A strategy may change it in [`Strategy::begin_test`].
#[derive(Clone, Debug, Default)]
pub struct TestStart {
    /// The number of the test in the search, from 0.
    pub number: u64,
    /// The number of steps to choose after the prefix; the requested length, unless the strategy
    /// changes it.
    pub length: usize,
    /// Steps to take first. Steps that are not enabled in their turn are skipped.
    pub prefix: Test,
    /// Indices of prefix steps before which one more step is chosen, in order.
    pub insertions: Vec<usize>,
}

impl TestStart {
    /// Prepares the beginning of another test.
    pub(super) fn restart(&mut self, number: u64, length: usize) {
        self.number = number;
        self.length = length;
        self.prefix.steps.clear();
        self.prefix.remarks.clear();
        self.insertions.clear();
    }

    /// Returns true if the test has no given beginning.
    pub(super) fn is_empty(&self) -> bool {
        self.prefix.steps.is_empty() && self.insertions.is_empty()
    }
}

/// A boxed strategy, for callers that choose one at run time. Each step costs one more call.
impl<S: System + ?Sized, T: Strategy<S> + ?Sized> Strategy<S> for Box<T> {
    fn begin_test(
        &mut self,
        system: &mut S,
        start: &mut TestStart,
        random: &mut Random,
    ) -> Result<(), Error> {
        (**self).begin_test(system, start, random)
    }

    fn next_action(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
        (**self).next_action(system, random)
    }

    fn remark(&mut self) -> Option<String> {
        (**self).remark()
    }

    fn after_step(&mut self, system: &mut S, steps: &[crate::Step]) -> Result<(), Error> {
        (**self).after_step(system, steps)
    }

    fn end_test(&mut self, system: &mut S, generated: &GeneratedTest<'_>) -> Result<(), Error> {
        (**self).end_test(system, generated)
    }

    fn learn_from_borrowed(
        &mut self,
        system: &mut S,
        generated: &GeneratedTest<'_>,
    ) -> Result<(), Error> {
        (**self).learn_from_borrowed(system, generated)
    }

    fn new_targets(&self) -> &[TargetId] {
        (**self).new_targets()
    }

    fn depends_on_results(&self) -> bool {
        (**self).depends_on_results()
    }
}
