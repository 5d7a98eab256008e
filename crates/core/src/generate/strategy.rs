//! What a strategy is: how to choose what to do next.

use super::Made;
use crate::{ActionId, Error, Random, System, TargetId, Test};

/// How tests are made: what a search asks at the beginning of each test, before each step and at the end.
///
/// One method must be written, [`next`](Strategy::next). Here is a strategy that repeats itself now and then:
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
///     fn next(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
///         let again = self.last.filter(|action| random.chance(0.2) && system.is_enabled(*action));
///         self.last = again.or_else(|| system.pick(random));
///         self.last
///     }
/// }
/// ```
///
/// # Laws
/// - All chance comes from the `random` that is handed in; it belongs to the seed and the number of the test. So the
///   same seed makes the same tests on the same system, always.
/// - [`next`](Strategy::next) gives an enabled action, and `None` only if nothing at all is enabled: a strategy that
///   runs out of ideas takes any action, so that a deadlock is the system's and not its own.
/// - A strategy whose tests depend on what earlier tests found says so ([`learns`](Strategy::learns)): its test number
///   n cannot be made without the n before it, and is kept as a whole instead.
pub trait Strategy<S: System + ?Sized> {
    /// Told before each test, right after the reset. Whatever the last test left behind is over.
    fn begin(
        &mut self,
        _system: &mut S,
        _start: &mut Start,
        _random: &mut Random,
    ) -> Result<(), Error> {
        Ok(())
    }

    /// The action to take now; `None` if nothing is enabled.
    fn next(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId>;

    /// What is to be noted in the test about the action that [`next`](Strategy::next) just gave.
    fn remark(&mut self) -> Option<String> {
        None
    }

    /// Told after each step and the check after it, whatever they came to; the step is the last of `steps`.
    fn after(&mut self, _system: &mut S, _steps: &[crate::Step]) -> Result<(), Error> {
        Ok(())
    }

    /// Told of each test that came to its end.
    fn end(&mut self, _system: &mut S, _made: &Made<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// Told instead, if the test was another search's and only repeated here: worth going on from, but no merit of this
    /// strategy.
    fn learn(&mut self, system: &mut S, made: &Made<'_>) -> Result<(), Error> {
        self.end(system, made)
    }

    /// What was touched for the first time ever since the last test ended, if the strategy looks at that.
    fn new_targets(&self) -> &[TargetId] {
        &[]
    }

    /// Whether tests depend on what earlier ones found. Then they cannot be made again by their number alone.
    fn learns(&self) -> bool {
        false
    }
}

/// How a test begins: a strategy may change it in [`Strategy::begin`].
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Which test of the search it is, counted from 0.
    pub number: u64,
    /// How many steps are to be chosen, after those of the prefix; the length that the search asks for, if nobody
    /// changes it.
    pub length: usize,
    /// Steps to take first. Those that are not enabled when their turn comes are left out.
    pub prefix: Test,
    /// Before these steps of the prefix, by index and in order, one more is chosen.
    pub insertions: Vec<usize>,
}

impl Start {
    pub(super) fn renew(&mut self, number: u64, length: usize) {
        self.number = number;
        self.length = length;
        self.prefix.steps.clear();
        self.prefix.remarks.clear();
        self.insertions.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.prefix.steps.is_empty() && self.insertions.is_empty()
    }
}

/// A strategy behind a pointer: for callers who know only while running which one it is. Each step costs a call more.
impl<S: System + ?Sized, T: Strategy<S> + ?Sized> Strategy<S> for Box<T> {
    fn begin(
        &mut self,
        system: &mut S,
        start: &mut Start,
        random: &mut Random,
    ) -> Result<(), Error> {
        (**self).begin(system, start, random)
    }

    fn next(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
        (**self).next(system, random)
    }

    fn remark(&mut self) -> Option<String> {
        (**self).remark()
    }

    fn after(&mut self, system: &mut S, steps: &[crate::Step]) -> Result<(), Error> {
        (**self).after(system, steps)
    }

    fn end(&mut self, system: &mut S, made: &Made<'_>) -> Result<(), Error> {
        (**self).end(system, made)
    }

    fn learn(&mut self, system: &mut S, made: &Made<'_>) -> Result<(), Error> {
        (**self).learn(system, made)
    }

    fn new_targets(&self) -> &[TargetId] {
        (**self).new_targets()
    }

    fn learns(&self) -> bool {
        (**self).learns()
    }
}
