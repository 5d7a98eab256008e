//! Observation of all that can be observed after the first steps of a test.

use std::collections::BTreeSet;

use super::search::CulpritSearch;
use crate::replay::replay;
use crate::{ActionId, Error, Outcome, System, Test};

/// The maximum number of observations after one step.
const MAX_OBSERVATIONS: usize = 64;

/// The maximum number of steps that the search for a culprit takes. It is a number and not a time,
/// so that the result does not depend on the machine.
const MAX_STEPS: usize = 50_000;

/// The observations after a prefix of the test.
pub(super) struct Observations {
    /// The shapes of all observers.
    all: BTreeSet<String>,
    /// The shapes of those that fail.
    pub(super) wrong: BTreeSet<String>,
    /// True if the values are known to agree with those of the reference.
    agrees: bool,
    /// The invariants that do not hold.
    pub(super) violations: Vec<String>,
}

impl Observations {
    /// Returns true if the state is spoiled, and not just an observer wrong. `failing` is the shape of the
    /// test's last step.
    pub(super) fn is_proof(&self, failing: &str) -> bool {
        let others = self.wrong.iter().any(|shape| shape != failing);
        others && !self.agrees && 2 * self.wrong.len() >= self.all.len()
    }
}

/// The result of one observation.
enum Observation {
    /// The result is as it should be.
    Right,
    /// The result is not as it should be.
    Wrong,
    /// The action changes the state, so it observes nothing.
    Changes,
    /// The action cannot be taken here.
    Impossible,
}

impl<S: System + ?Sized> CulpritSearch<'_, S> {
    /// Runs the first steps of the test. Returns false if they fail, unless they are the whole test.
    pub(super) fn run_prefix(&mut self, length: usize) -> Result<bool, Error> {
        let prefix = Test::from_steps(self.test.steps[..length].to_vec());
        self.run_part(length, &prefix)
    }

    /// Runs the first steps of the test and assigns the constants of later steps, so that all can be
    /// observed that later steps observe.
    fn run_to_observe(&mut self, length: usize) -> Result<bool, Error> {
        let prefix = self.with_constants(length);
        self.run_part(length, &prefix)
    }

    /// Runs a part of the test. Returns false if it fails, unless it is the whole test.
    fn run_part(&mut self, length: usize, prefix: &Test) -> Result<bool, Error> {
        self.steps += prefix.len();
        let trace = replay(self.system, prefix, &self.options, &mut self.proceed)?;
        let is_whole = length == self.test.len();
        Ok(!trace.interrupted && (is_whole || trace.failure().is_none()))
    }

    /// Observes all that can be observed after the first steps of the test. `None` if that cannot be
    /// done.
    pub(super) fn observe(&mut self, length: usize) -> Result<Option<Observations>, Error> {
        if !self.run_to_observe(length)? {
            return Ok(None);
        }
        let Some(state) = self.system.examine() else {
            return Ok(None);
        };
        let mut seen = Observations {
            all: BTreeSet::new(),
            wrong: BTreeSet::new(),
            agrees: !state.slots.is_empty()
                && state.slots.iter().all(|one| one.differences.is_empty()),
            violations: state.violations,
        };
        for observer in state.observers.into_iter().take(MAX_OBSERVATIONS) {
            let shape = self.shape(observer);
            if self.changing.contains(&shape) || seen.wrong.contains(&shape) {
                continue;
            }
            if self.steps > MAX_STEPS {
                return Ok(None);
            }
            match self.quick_observation(length, observer, &shape)? {
                Observation::Right => {}
                Observation::Wrong => {
                    seen.wrong.insert(shape.clone());
                }
                Observation::Changes => {
                    self.changing.insert(shape);
                    continue;
                }
                Observation::Impossible => continue,
            }
            seen.all.insert(shape);
        }
        seen.all.retain(|shape| !self.changing.contains(shape));
        seen.wrong.retain(|shape| !self.changing.contains(shape));
        Ok(Some(seen))
    }

    /// Takes one observer in the current state, where other observers may have been taken before. If
    /// that is not known to be harmless, or something is wrong, it is taken once more on its own.
    fn quick_observation(
        &mut self,
        length: usize,
        observer: ActionId,
        shape: &str,
    ) -> Result<Observation, Error> {
        if self.harmless.contains(shape) && self.system.is_enabled(observer) {
            self.steps += 1;
            if matches!(
                self.system.step(observer),
                Outcome::Passed | Outcome::Expected
            ) {
                return Ok(Observation::Right);
            }
        }
        let observation = self.observation(length, observer)?;
        if matches!(observation, Observation::Right | Observation::Wrong) {
            self.harmless.insert(shape.to_owned());
        } else {
            self.harmless.remove(shape);
        }
        if !matches!(observation, Observation::Right) {
            self.run_to_observe(length)?;
        }
        Ok(observation)
    }

    /// Takes one observer after the first steps of the test. It is taken twice, because the first
    /// time may mark the slots that it reads as used.
    fn observation(&mut self, length: usize, observer: ActionId) -> Result<Observation, Error> {
        if !self.run_to_observe(length)? || !self.system.is_enabled(observer) {
            return Ok(Observation::Impossible);
        }
        self.steps += 2;
        let first = self.system.step(observer);
        if first == Outcome::Interrupted {
            return Ok(Observation::Impossible);
        }
        let before = self.system.examine().and_then(|state| state.state);
        if self.system.is_enabled(observer) {
            self.system.step(observer);
        }
        let after = self.system.examine().and_then(|state| state.state);
        Ok(match first {
            _ if before != after => Observation::Changes,
            Outcome::Failed(_) => Observation::Wrong,
            _ => Observation::Right,
        })
    }
}
