//! Definitions of novelty.
//!
//! Strategies that continue tests that reached something new ask a [`Novelty`] what that is: code
//! that was never reached ([`NewCoverage`]), states that were never seen ([`NewStates`]), or
//! nothing ([`NothingNew`]), for systems that can tell neither. [`WithHint`] adds a score for the
//! distance from a goal.

use rustc_hash::FxHashMap;

use crate::{Coverage, Covered, Equivalence, Error, Fingerprint, System, TargetId};

/// Decides whether a test is worth continuing.
///
/// During a search, only its strategy may query novelty from the system: each query consumes the
/// answer.
pub trait Novelty<S: System + ?Sized> {
    /// Returns the targets touched for the first time since the last call. Called after each step.
    fn take_new(&mut self, system: &mut S) -> Result<Vec<TargetId>, Error>;

    /// Starts a new measurement of [`touched`](Novelty::touched). Called at the beginning of a
    /// measured test.
    fn reset_touched(&mut self, system: &mut S) -> Result<(), Error>;

    /// Returns the targets touched since [`reset_touched`](Novelty::reset_touched).
    fn touched(&mut self, system: &mut S) -> Coverage;

    /// Returns a score of how near the state is to a goal: higher is nearer. Called after each
    /// step.
    fn hint(&mut self, _system: &mut S) -> Option<f64> {
        None
    }

    /// Returns true if nothing is ever new.
    fn is_blind(&self) -> bool {
        false
    }
}

/// Novelty for systems that cannot measure it: nothing is ever new. Strategies that learn are of
/// little use then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NothingNew;

impl<S: System + ?Sized> Novelty<S> for NothingNew {
    fn take_new(&mut self, _system: &mut S) -> Result<Vec<TargetId>, Error> {
        Ok(Vec::new())
    }

    fn reset_touched(&mut self, _system: &mut S) -> Result<(), Error> {
        Ok(())
    }

    fn touched(&mut self, _system: &mut S) -> Coverage {
        Coverage::default()
    }

    fn is_blind(&self) -> bool {
        true
    }
}

/// Novelty by coverage: usually branches of the code under test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewCoverage;

impl<S: Covered + ?Sized> Novelty<S> for NewCoverage {
    #[inline]
    fn take_new(&mut self, system: &mut S) -> Result<Vec<TargetId>, Error> {
        Ok(system.take_new())
    }

    fn reset_touched(&mut self, system: &mut S) -> Result<(), Error> {
        system.reset_touched()
    }

    fn touched(&mut self, system: &mut S) -> Coverage {
        system.touched()
    }
}

/// Novelty by state fingerprints. All seen states are remembered, with 16 bytes and some overhead
/// each.
#[derive(Clone, Debug, Default)]
pub struct NewStates {
    /// The states that count as one.
    pub equivalence: Equivalence,
    known: FxHashMap<u128, TargetId>,
    current: Coverage,
}

impl NewStates {
    /// Creates a novelty that distinguishes states by this equivalence.
    pub fn new(equivalence: Equivalence) -> NewStates {
        NewStates {
            equivalence,
            ..NewStates::default()
        }
    }
}

impl<S: Fingerprint + ?Sized> Novelty<S> for NewStates {
    fn take_new(&mut self, system: &mut S) -> Result<Vec<TargetId>, Error> {
        let fingerprint = system.fingerprint(self.equivalence)?;
        let next = TargetId(u32::try_from(self.known.len()).unwrap_or(u32::MAX));
        let target = *self.known.entry(fingerprint).or_insert(next);
        self.current.insert(target);
        Ok(if target == next {
            vec![target]
        } else {
            Vec::new()
        })
    }

    fn reset_touched(&mut self, _system: &mut S) -> Result<(), Error> {
        self.current.clear();
        Ok(())
    }

    fn touched(&mut self, _system: &mut S) -> Coverage {
        self.current.clone()
    }
}

/// Another novelty, extended by a hint function that scores states.
#[derive(Clone, Copy, Debug, Default)]
pub struct WithHint<N, F>(pub N, pub F);

impl<S: System + ?Sized, N: Novelty<S>, F: FnMut(&mut S) -> f64> Novelty<S> for WithHint<N, F> {
    fn take_new(&mut self, system: &mut S) -> Result<Vec<TargetId>, Error> {
        self.0.take_new(system)
    }

    fn reset_touched(&mut self, system: &mut S) -> Result<(), Error> {
        self.0.reset_touched(system)
    }

    fn touched(&mut self, system: &mut S) -> Coverage {
        self.0.touched(system)
    }

    fn hint(&mut self, system: &mut S) -> Option<f64> {
        Some((self.1)(system)).filter(|hint| !hint.is_nan())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SEARCH, median_of_seeds, steps_to_failure};
    use super::super::{Exploit, SearchOptions, Uniform};
    use super::*;
    use crate::toys::Safe;
    use crate::{ActionId, Catalog, Outcome, Random};

    /// A safe with fingerprints and without coverage.
    struct Glass(Safe);

    impl System for Glass {
        fn actions(&self) -> &Catalog {
            self.0.actions()
        }
        fn reset(&mut self) -> Result<(), Error> {
            self.0.reset()
        }
        fn is_enabled(&mut self, action: ActionId) -> bool {
            self.0.is_enabled(action)
        }
        fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
            self.0.pick(random)
        }
        fn step(&mut self, action: ActionId) -> Outcome {
            self.0.step(action)
        }
        fn check(&mut self) -> Outcome {
            self.0.check()
        }
    }

    impl Fingerprint for Glass {
        fn fingerprint(&mut self, _equivalence: Equivalence) -> Result<u128, Error> {
            Ok(self.0.pressed() as u128 * 0x1234_5678_9abc_def1)
        }
    }

    #[test]
    fn new_states_lead_on_as_new_code_does() {
        let glass = || Glass(Safe::new(99, &[17, 4, 99, 4, 56]));
        let uniform = median_of_seeds(|seed| {
            let options = SearchOptions { seed, ..SEARCH };
            steps_to_failure(&mut glass(), &mut Uniform, &options, 20_000)
        });
        let exploit = median_of_seeds(|seed| {
            let options = SearchOptions { seed, ..SEARCH };
            let mut exploit = Exploit::with_novelty(NewStates::new(Equivalence::Equal));
            steps_to_failure(&mut glass(), &mut exploit, &options, 20_000)
        });
        assert!(exploit * 4 < uniform, "{exploit} {uniform}");
    }

    #[test]
    fn a_state_is_new_once_and_touched_in_each_test() {
        let mut glass = Glass(Safe::new(9, &[1, 2, 3]));
        let mut states = NewStates::default();
        assert_eq!(states.take_new(&mut glass).unwrap(), [TargetId(0)]);
        assert_eq!(states.take_new(&mut glass).unwrap(), []);
        Novelty::<Glass>::reset_touched(&mut states, &mut glass).unwrap();
        glass.step(ActionId(1));
        assert_eq!(states.take_new(&mut glass).unwrap(), [TargetId(1)]);
        glass.reset().unwrap();
        assert_eq!(states.take_new(&mut glass).unwrap(), []);
        assert_eq!(states.touched(&mut glass).len(), 2);
    }
}
