//! What counts as new.
//!
//! Strategies that go on from tests that reached something new ask a [`Novelty`] what that is: code that was never
//! reached ([`NewCoverage`]), states that were never seen ([`NewStates`]), or nothing ([`NothingNew`]), for systems
//! that can tell neither. [`WithHint`] adds a score for how near a state is to where somebody wants to get.

use rustc_hash::FxHashMap;

use crate::{Coverage, Covered, Error, Fingerprint, Likeness, System, TargetId};

/// What a strategy looks at to see whether a test is worth going on from.
///
/// While a search runs, this belongs to its strategy: whoever else asks the system the same questions takes the
/// answers away from it.
pub trait Novelty<S: System + ?Sized> {
    /// What was touched for the first time ever since this was last asked. Asked after each step.
    fn take_new(&mut self, system: &mut S) -> Result<Vec<TargetId>, Error>;

    /// Forgets what was touched lately. Asked at the beginning of a test whose [`touched`](Novelty::touched) will be.
    fn begin_anew(&mut self, system: &mut S) -> Result<(), Error>;

    /// What was touched since [`begin_anew`](Novelty::begin_anew).
    fn touched(&mut self, system: &mut S) -> Coverage;

    /// How near the state is to where somebody wants to get: higher is nearer. Asked after each step.
    fn hint(&mut self, _system: &mut S) -> Option<f64> {
        None
    }

    /// Whether nothing is ever new.
    fn is_blind(&self) -> bool {
        false
    }
}

/// Nothing is ever new: for systems that cannot tell. Strategies that learn are of little use then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NothingNew;

impl<S: System + ?Sized> Novelty<S> for NothingNew {
    fn take_new(&mut self, _system: &mut S) -> Result<Vec<TargetId>, Error> {
        Ok(Vec::new())
    }

    fn begin_anew(&mut self, _system: &mut S) -> Result<(), Error> {
        Ok(())
    }

    fn touched(&mut self, _system: &mut S) -> Coverage {
        Coverage::default()
    }

    fn is_blind(&self) -> bool {
        true
    }
}

/// What a [`Covered`] system says is new: branches of the code under test, mostly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewCoverage;

impl<S: Covered + ?Sized> Novelty<S> for NewCoverage {
    #[inline]
    fn take_new(&mut self, system: &mut S) -> Result<Vec<TargetId>, Error> {
        Ok(system.take_new())
    }

    fn begin_anew(&mut self, system: &mut S) -> Result<(), Error> {
        system.begin_anew()
    }

    fn touched(&mut self, system: &mut S) -> Coverage {
        system.touched()
    }
}

/// States that were never seen, by their fingerprints. All that were seen are remembered, 16 bytes and some more each.
#[derive(Clone, Debug, Default)]
pub struct NewStates {
    /// Which states count as one.
    pub likeness: Likeness,
    known: FxHashMap<u128, TargetId>,
    current: Coverage,
}

impl NewStates {
    /// States as far as they are not alike.
    pub fn new(likeness: Likeness) -> NewStates {
        NewStates {
            likeness,
            ..NewStates::default()
        }
    }
}

impl<S: Fingerprint + ?Sized> Novelty<S> for NewStates {
    fn take_new(&mut self, system: &mut S) -> Result<Vec<TargetId>, Error> {
        let fingerprint = system.fingerprint(self.likeness)?;
        let next = TargetId(u32::try_from(self.known.len()).unwrap_or(u32::MAX));
        let target = *self.known.entry(fingerprint).or_insert(next);
        self.current.insert(target);
        Ok(if target == next {
            vec![target]
        } else {
            Vec::new()
        })
    }

    fn begin_anew(&mut self, _system: &mut S) -> Result<(), Error> {
        self.current.clear();
        Ok(())
    }

    fn touched(&mut self, _system: &mut S) -> Coverage {
        self.current.clone()
    }
}

/// What is new as another one says, and how near a state is as a function says.
#[derive(Clone, Copy, Debug, Default)]
pub struct WithHint<N, F>(pub N, pub F);

impl<S: System + ?Sized, N: Novelty<S>, F: FnMut(&mut S) -> f64> Novelty<S> for WithHint<N, F> {
    fn take_new(&mut self, system: &mut S) -> Result<Vec<TargetId>, Error> {
        self.0.take_new(system)
    }

    fn begin_anew(&mut self, system: &mut S) -> Result<(), Error> {
        self.0.begin_anew(system)
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
    use super::super::{Exploit, Search, Uniform};
    use super::*;
    use crate::toys::Safe;
    use crate::{ActionId, Catalog, Outcome, Random};

    /// A safe whose state can be seen, and nothing else.
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
        fn fingerprint(&mut self, _likeness: Likeness) -> Result<u128, Error> {
            Ok(self.0.pressed() as u128 * 0x1234_5678_9abc_def1)
        }
    }

    #[test]
    fn new_states_lead_on_as_new_code_does() {
        let glass = || Glass(Safe::new(99, &[17, 4, 99, 4, 56]));
        let uniform = median_of_seeds(|seed| {
            let plan = Search { seed, ..SEARCH };
            steps_to_failure(&mut glass(), &mut Uniform, &plan, 20_000)
        });
        let exploit = median_of_seeds(|seed| {
            let plan = Search { seed, ..SEARCH };
            let mut exploit = Exploit::with(NewStates::new(Likeness::Equal));
            steps_to_failure(&mut glass(), &mut exploit, &plan, 20_000)
        });
        assert!(exploit * 4 < uniform, "{exploit} {uniform}");
    }

    #[test]
    fn a_state_is_new_once_and_touched_in_each_test() {
        let mut glass = Glass(Safe::new(9, &[1, 2, 3]));
        let mut states = NewStates::default();
        assert_eq!(states.take_new(&mut glass).unwrap(), [TargetId(0)]);
        assert_eq!(states.take_new(&mut glass).unwrap(), []);
        Novelty::<Glass>::begin_anew(&mut states, &mut glass).unwrap();
        glass.step(ActionId(1));
        assert_eq!(states.take_new(&mut glass).unwrap(), [TargetId(1)]);
        glass.reset().unwrap();
        assert_eq!(states.take_new(&mut glass).unwrap(), []);
        assert_eq!(states.touched(&mut glass).len(), 2);
    }
}
