//! Alternation of free and swarm phases within one test.
//!
//! A test that lacks some lines from its very beginning often never gets anywhere: it lacks what
//! fills the slots and brings the system into an interesting state. A test that has all lines gets
//! there, but then its effects never accumulate, since other actions undo them. So here a stretch
//! of any actions is followed by a stretch of a swarm, and so on, each swarm a new one.

use std::sync::Arc;

use super::super::swarm::{Inclusion, Switching};
use super::super::{Strategy, Swarm, SwarmOptions, TestStart};
use crate::{ActionClasses, ActionId, Error, Random, System};

/// The number of steps per stretch.
const PHASE_LENGTH: usize = 25;

/// Alternates stretches of any actions with stretches of a swarm.
#[derive(Clone, Debug)]
pub(super) struct Phases {
    swarm: Swarm,
    steps: usize,
}

impl Phases {
    /// Creates the strategy for these classes.
    pub(super) fn new(classes: &Arc<ActionClasses>) -> Phases {
        let options = SwarmOptions {
            inclusion: Inclusion::Same(0.5),
            // The swarm counts only its own steps.
            switching: Switching::Every(PHASE_LENGTH),
            ..SwarmOptions::default()
        };
        Phases {
            swarm: Swarm::new(classes, options),
            steps: 0,
        }
    }
}

impl<S: System + ?Sized> Strategy<S> for Phases {
    fn begin_test(
        &mut self,
        system: &mut S,
        start: &mut TestStart,
        random: &mut Random,
    ) -> Result<(), Error> {
        self.steps = 0;
        self.swarm.begin_test(system, start, random)
    }

    #[inline]
    fn next_action(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
        let is_free = (self.steps / PHASE_LENGTH).is_multiple_of(2);
        self.steps += 1;
        if is_free {
            system.pick(random)
        } else {
            self.swarm.next_action(system, random)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{SEARCH, generate_tests};
    use super::*;
    use crate::Step;
    use crate::toys::Counters;

    #[test]
    fn stretches_of_all_lines_and_of_some_take_turns() {
        let mut counters = Counters::new(u64::MAX);
        let classes = Arc::new(ActionClasses::new(counters.actions()));
        let mut phases = Phases::new(&classes);
        let tests = generate_tests(&mut counters, &mut phases, &SEARCH, 40);
        let mut missing = [0; 4];
        for test in &tests {
            for (index, stretch) in test.steps.chunks(PHASE_LENGTH).enumerate() {
                let is_used = |class| {
                    stretch.iter().any(|step| {
                        matches!(step, Step::Act(action)
                            if classes.class_of_action(counters.actions(), *action) == class)
                    })
                };
                missing[index] += classes.iter().filter(|class| !is_used(*class)).count();
            }
        }
        let [first, second, third, fourth] = missing;
        assert!(first + third < second.min(fourth), "{missing:?}");
    }
}
