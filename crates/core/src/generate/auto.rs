//! The strategy for those who do not want to choose one.
//!
//! No strategy is best for all systems. Uniform choice is hard to beat where bugs are shallow; swarm testing finds what
//! takes much of the same and little of the rest; going on from what reached new code finds what is deep. So each test
//! is made by one of several strategies, the *arms*:
//!
//! | arm | good for |
//! |---|---|
//! | `uniform` | everything a little |
//! | `equal` | harnesses in which some lines stand for thousands of actions and others for one |
//! | `phases` | what piles up when others do not undo it, once the system has got going |
//! | `swarm` | half of the lines: what others are in the way of from the start |
//! | `small-swarm` | a quarter of the lines: what *many* others are in the way of |
//! | `switching-swarm` | first fill, then empty |
//! | `exploit` | what is deep in: goes on from a test that reached something new |
//! | `exploit-swarm` | what is deep in, and which others are in the way of; changes the test, too |
//!
//! Which arm makes the next test is drawn, and the budget shifts to those that touched most that is new per step lately
//! (see [`bandit`] for how, and why so simple). A failure that was not seen before counts as new, too. Everything
//! that any arm reaches goes into the one [`Corpus`] that the last two go on from, so what swarm testing finds by luck,
//! exploitation builds upon.
//!
//! Lengths are drawn in the same way: the asked-for one, and two, four and eight times that. A test begins with an empty
//! system, so its first steps are spent on filling slots, and what takes many steps is found only by those that have
//! them; a test of a quarter of the usual length finds less per step in nearly every system. But where a system has
//! places from which there is no way back, a long test wastes its end there. So most tests are long and some are not.
//!
//! When nothing new is found any more, as in a system whose code was all reached, the shares go back to what they were
//! at the beginning. Then the mix itself is the strategy: there is no telling which arm will find the bug that hides in
//! covered code, so each has its part of the budget. The parts are what paid on average (`docs/benchmarks.md` has the
//! measurements): a swarm finds some bugs that nothing else finds, but mostly it needs several times the steps.
//!
//! On a system that cannot tell what is new ([`NothingNew`](super::NothingNew)) there is nothing to learn. The arms that
//! need no memory take turns, and test number n can be made again by its number, as with uniform choice.

mod bandit;
mod phases;

use std::collections::BTreeSet;
use std::sync::Arc;

use bandit::Bandit;
use phases::Phases;

use super::exploit::go_on;
use super::swarm::{Inclusion, Switching};
use super::{
    ByClass, Corpus, CorpusOptions, ExploitOptions, Made, Novelty, Start, Strategy, Swarm,
    SwarmOptions,
};
use crate::{ActionId, Classes, Error, FailureKind, Random, Step, System, TargetId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arm {
    Uniform,
    Equal,
    Phases,
    Swarm,
    SmallSwarm,
    SwitchingSwarm,
    Exploit,
    ExploitSwarm,
}

/// The arms, their names and their shares to begin with. Half of the tests choose uniformly, from the start or from
/// where another test got to: it is what all others would have to beat, and where everything is needed at once, a swarm
/// is of no use.
const ARMS: [(Arm, &str, f64); 8] = [
    (Arm::Uniform, "uniform", 4.0),
    (Arm::Equal, "equal", 1.5),
    (Arm::Phases, "phases", 2.0),
    (Arm::Swarm, "swarm", 0.5),
    (Arm::SmallSwarm, "small-swarm", 0.25),
    (Arm::SwitchingSwarm, "switching-swarm", 0.5),
    (Arm::Exploit, "exploit", 3.0),
    (Arm::ExploitSwarm, "exploit-swarm", 0.5),
];

/// What takes turns when nothing can be learned.
const WITHOUT_MEMORY: [Arm; 8] = [
    Arm::Uniform,
    Arm::Phases,
    Arm::Uniform,
    Arm::Equal,
    Arm::Uniform,
    Arm::Swarm,
    Arm::Phases,
    Arm::SwitchingSwarm,
];

/// Lengths as multiples of the asked-for one, and how often to choose them.
const LENGTHS: [(usize, f64); 4] = [(1, 1.0), (2, 1.0), (4, 2.0), (8, 0.5)];

/// The place in that table of what the first test has.
const FIRST: usize = 2;

/// How lengths take turns, as places in the table above, when nothing can be learned.
const TURNS: [usize; 7] = [2, 1, 2, 0, 2, 1, 3];

/// What an arm of [`Auto`] did so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmReport {
    /// Its name.
    pub name: &'static str,
    /// How many tests it made.
    pub tests: u64,
    /// How many steps they had.
    pub steps: u64,
    /// How many targets they touched for the first time, and failures that were not seen before.
    pub new: u64,
    /// Its part of the tests to come.
    pub share: f64,
}

/// Mixes strategies, and shifts to those that find something in this system. It [learns](Strategy::learns), unless
/// nothing is ever new.
///
/// Each test is made by one of several *arms*: uniform choice, choice by class, swarms of some kinds, and going on from
/// tests that reached something new. Those that touched most that is new per step lately make more of the tests to
/// come; all keep a part. When nothing new is found any more, each has the part again that it had at first. Lengths vary
/// likewise, up to eight times the one that the search asks for.
#[derive(Clone, Debug)]
pub struct Auto<N> {
    corpus: Corpus<N>,
    is_blind: bool,
    is_length_fixed: bool,
    arms: Bandit,
    lengths: Bandit,
    /// For each arm its tests, steps and findings.
    done: [(u64, u64, u64); ARMS.len()],
    arm: usize,
    length: usize,
    equal: ByClass,
    phases: Phases,
    swarm: Swarm,
    small: Swarm,
    switching: Swarm,
    failures: BTreeSet<(FailureKind, String)>,
}

impl<N> Auto<N> {
    /// A mix for a system with these classes.
    pub fn new(classes: &Arc<Classes>, novelty: N) -> Auto<N> {
        let swarm = |inclusion, switching| {
            let options = SwarmOptions {
                inclusion: Inclusion::Same(inclusion),
                switching,
                ..SwarmOptions::default()
            };
            Swarm::new(classes, options)
        };
        Auto {
            corpus: Corpus::new(novelty, CorpusOptions::default()),
            is_blind: false,
            is_length_fixed: false,
            arms: Bandit::new(&ARMS.map(|(_, _, base)| base)),
            lengths: Bandit::new(&LENGTHS.map(|(_, base)| base)),
            done: [(0, 0, 0); ARMS.len()],
            arm: 0,
            length: 0,
            equal: ByClass::equal(classes),
            phases: Phases::new(classes),
            swarm: swarm(0.5, Switching::PerTest),
            small: swarm(0.25, Switching::PerTest),
            switching: swarm(0.5, Switching::Times(3)),
            failures: BTreeSet::new(),
        }
    }

    /// Always chooses as many steps as the search asks for, no less and no more.
    pub fn with_fixed_length(mut self) -> Auto<N> {
        self.is_length_fixed = true;
        self
    }

    /// What each arm did so far.
    pub fn arms(&self) -> Vec<ArmReport> {
        let arms = ARMS.iter().zip(self.arms.shares()).zip(self.done);
        arms.map(|(((_, name, _), share), (tests, steps, new))| ArmReport {
            name,
            tests,
            steps,
            new,
            share: *share,
        })
        .collect()
    }

    /// The tests that reached something new: to save them, and to [add](Corpus::add) to them.
    pub fn corpus(&mut self) -> &mut Corpus<N> {
        &mut self.corpus
    }

    fn choose(&mut self, number: u64, random: &mut Random) {
        if self.is_blind {
            let turn = |count: usize| (number % count as u64) as usize;
            let arm = WITHOUT_MEMORY[turn(WITHOUT_MEMORY.len())];
            self.arm = ARMS
                .iter()
                .position(|(other, _, _)| *other == arm)
                .unwrap_or(0);
            // Eight and seven have no common factor, so every arm has every length in turn.
            self.length = TURNS[turn(TURNS.len())];
        } else if number == 0 {
            // What is shallow is found at once.
            (self.arm, self.length) = (0, FIRST);
        } else {
            self.arm = self.arms.choose(random);
            self.length = self.lengths.choose(random);
        }
    }
}

impl<S: System + ?Sized, N: Novelty<S>> Strategy<S> for Auto<N> {
    fn begin(
        &mut self,
        system: &mut S,
        start: &mut Start,
        random: &mut Random,
    ) -> Result<(), Error> {
        self.is_blind = self.corpus.novelty().is_blind();
        self.corpus.begin(system)?;
        self.choose(start.number, random);
        if !self.is_length_fixed {
            start.length = start.length.saturating_mul(LENGTHS[self.length].0);
        }
        match ARMS[self.arm].0 {
            Arm::Uniform | Arm::Equal => Ok(()),
            Arm::Phases => self.phases.begin(system, start, random),
            Arm::Swarm => self.swarm.begin(system, start, random),
            Arm::SmallSwarm => self.small.begin(system, start, random),
            Arm::SwitchingSwarm => self.switching.begin(system, start, random),
            Arm::Exploit => {
                go_on(&self.corpus, &EXPLOIT, start, random);
                Ok(())
            }
            Arm::ExploitSwarm => {
                go_on(&self.corpus, &EXPLOIT_CHANGED, start, random);
                self.swarm.begin(system, start, random)
            }
        }
    }

    #[inline]
    fn next(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
        match ARMS[self.arm].0 {
            Arm::Uniform | Arm::Exploit => system.pick(random),
            Arm::Equal => self.equal.next(system, random),
            Arm::Phases => self.phases.next(system, random),
            Arm::Swarm | Arm::ExploitSwarm => self.swarm.next(system, random),
            Arm::SmallSwarm => self.small.next(system, random),
            Arm::SwitchingSwarm => self.switching.next(system, random),
        }
    }

    fn after(&mut self, system: &mut S, steps: &[Step]) -> Result<(), Error> {
        self.corpus.after(system, steps)
    }

    fn end(&mut self, system: &mut S, made: &Made<'_>) -> Result<(), Error> {
        let new = self.look_at(system, made)?;
        let steps = made.steps.len() as u64;
        let done = &mut self.done[self.arm];
        *done = (done.0 + 1, done.1 + steps, done.2 + new);
        self.arms.learn(self.arm, new, steps);
        self.lengths.learn(self.length, new, steps);
        Ok(())
    }

    fn learn(&mut self, system: &mut S, made: &Made<'_>) -> Result<(), Error> {
        self.look_at(system, made).map(|_| ())
    }

    fn new_targets(&self) -> &[TargetId] {
        self.corpus.new_targets()
    }

    fn learns(&self) -> bool {
        !self.corpus.novelty().is_blind()
    }
}

impl<N> Auto<N> {
    /// Keeps a test if there is something new in it, and tells how much.
    fn look_at<S: System + ?Sized>(&mut self, system: &mut S, made: &Made<'_>) -> Result<u64, Error>
    where
        N: Novelty<S>,
    {
        let mut new = self.corpus.end(system, made)? as u64;
        if let Some(failure) = made.failure {
            let is_first = self
                .failures
                .insert((failure.kind, failure.signature.clone()));
            new += u64::from(is_first);
        }
        Ok(new)
    }
}

const EXPLOIT: ExploitOptions = ExploitOptions {
    probability: 1.0,
    mutate: 0.0,
    crossover: 0.0,
    start_after: 0,
    stall: 0,
};

const EXPLOIT_CHANGED: ExploitOptions = ExploitOptions {
    mutate: 0.5,
    crossover: 0.3,
    ..EXPLOIT
};

#[cfg(test)]
mod tests {
    use super::super::testing::{SEARCH, median_of_seeds, steps_to_failure, tests_of};
    use super::super::{Exploit, NewCoverage, NothingNew, Search, regenerate_with};
    use super::*;
    use crate::toys::{Buffer, Counters, Safe};

    const CODE: [u64; 6] = [17, 4, 99, 4, 56, 31];

    fn classes(system: &impl System) -> Arc<Classes> {
        Arc::new(Classes::new(system.actions()))
    }

    fn median<S: System, T: Strategy<S>>(
        system: impl Fn() -> S,
        strategy: impl Fn(&Arc<Classes>) -> T,
    ) -> u64 {
        median_of_seeds(|seed| {
            let mut system = system();
            let mut strategy = strategy(&classes(&system));
            let plan = Search { seed, ..SEARCH };
            steps_to_failure(&mut system, &mut strategy, &plan, 50_000)
        })
    }

    #[test]
    fn it_finds_what_swarm_finds() {
        let buffer = || Buffer::new(12);
        let swarm = median(buffer, |classes| {
            Swarm::new(classes, SwarmOptions::default())
        });
        let auto = median(buffer, |classes| Auto::new(classes, NewCoverage));
        assert!(auto < 6 * swarm, "{auto} {swarm}");
        let blind = median(buffer, |classes| Auto::new(classes, NothingNew));
        assert!(blind < 6 * swarm, "{blind} {swarm}");
    }

    #[test]
    fn it_finds_what_exploitation_finds() {
        let safe = || Safe::new(99, &CODE);
        let exploit = median(safe, |_| Exploit::with(NewCoverage));
        let auto = median(safe, |classes| Auto::new(classes, NewCoverage));
        assert!(auto < 4 * exploit, "{auto} {exploit}");
    }

    #[test]
    fn without_memory_every_test_can_be_made_again_alone() {
        let mut counters = Counters::new(u64::MAX);
        let classes = classes(&counters);
        let mut auto = Auto::new(&classes, NothingNew);
        let tests = tests_of(&mut counters, &mut auto, &SEARCH, 56);
        assert!(!Strategy::<Counters>::learns(&auto));
        for number in [0, 13, 34, 55] {
            let again = regenerate_with(
                &mut counters,
                &mut Auto::new(&classes, NothingNew),
                &SEARCH,
                number,
            );
            assert_eq!(again.unwrap(), tests[number as usize]);
        }
        let mut lengths: Vec<usize> = tests.iter().map(|test| test.len()).collect();
        lengths.sort_unstable();
        lengths.dedup();
        assert_eq!(lengths, [100, 200, 400, 800]);
        let mut fixed = Auto::new(&classes, NothingNew).with_fixed_length();
        let tests = tests_of(&mut counters, &mut fixed, &SEARCH, 20);
        assert!(tests.iter().all(|test| test.len() == 100));
        let tests: Vec<u64> = auto.arms().iter().map(|arm| arm.tests).collect();
        assert_eq!(tests, [21, 7, 14, 7, 0, 7, 0, 0]);
    }

    #[test]
    fn every_arm_keeps_a_part_of_the_budget() {
        let mut safe = Safe::new(99, &[8; 200]);
        let mut auto = Auto::new(&classes(&safe), NewCoverage);
        tests_of(&mut safe, &mut auto, &SEARCH, 300);
        let arms = auto.arms();
        assert!(arms.iter().all(|arm| arm.tests > 2), "{arms:#?}");
        let exploit = arms[6].tests + arms[7].tests;
        assert!(
            exploit > 90,
            "what goes on from others pays here: {arms:#?}"
        );
    }
}
