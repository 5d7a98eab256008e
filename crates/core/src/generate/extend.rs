//! Extending good tests: figure 10 of the TSTL paper.
//!
//! A few tests with unusually high coverage are remembered as they were when they last touched something new. Now and
//! then a test does not begin anew but where one of them ended, so that good tests grow far beyond the usual length.
//! Simpler than [`Exploit`](super::Exploit), and another idea of what is good: not what is rare, but what touches much.

use super::{Made, Novelty, Start, Strategy};
use crate::{ActionId, Error, Random, Step, System, TargetId};

/// How many good tests, and how often to extend them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExtendOptions {
    /// How many good tests are remembered.
    pub memory: usize,
    /// With which probability a test extends one of them.
    pub probability: f64,
    /// Tests with more steps than this are not extended.
    pub longest: usize,
}

/// As in the paper.
impl Default for ExtendOptions {
    fn default() -> ExtendOptions {
        ExtendOptions {
            memory: 5,
            probability: 0.2,
            longest: 5_000,
        }
    }
}

/// Extends tests that touched much. It [learns](Strategy::learns), and measures what every single test touches.
#[derive(Clone, Debug)]
pub struct Extend<N> {
    novelty: N,
    options: ExtendOptions,
    /// How much each touched, and its steps; the best first.
    good: Vec<(usize, Vec<Step>)>,
    /// How much the current test had touched when it last touched something new, and how many steps it had.
    current: Option<(usize, usize)>,
    new: Vec<TargetId>,
}

impl<N> Extend<N> {
    /// Nothing is good yet.
    pub fn new(novelty: N, options: ExtendOptions) -> Extend<N> {
        Extend {
            novelty,
            options,
            good: Vec::new(),
            current: None,
            new: Vec::new(),
        }
    }

    /// The good tests, the best first.
    pub fn good(&self) -> impl Iterator<Item = &[Step]> {
        self.good.iter().map(|(_, steps)| steps.as_slice())
    }
}

impl<S: System + ?Sized, N: Novelty<S>> Strategy<S> for Extend<N> {
    fn begin(
        &mut self,
        system: &mut S,
        start: &mut Start,
        random: &mut Random,
    ) -> Result<(), Error> {
        self.current = None;
        self.new = self.novelty.take_new(system)?;
        self.novelty.begin_anew(system)?;
        if random.chance(self.options.probability)
            && let Some((_, steps)) = random.choose(&self.good)
        {
            start.prefix.steps.extend_from_slice(steps);
        }
        Ok(())
    }

    fn next(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
        system.pick(random)
    }

    fn after(&mut self, system: &mut S, steps: &[Step]) -> Result<(), Error> {
        let new = self.novelty.take_new(system)?;
        if !new.is_empty() {
            self.current = Some((self.novelty.touched(system).len(), steps.len()));
            self.new.extend(new);
        }
        Ok(())
    }

    fn end(&mut self, _system: &mut S, made: &Made<'_>) -> Result<(), Error> {
        let good = made.steps.len() - usize::from(made.failure.is_some());
        if let Some((touched, length)) = self.current {
            let length = length.min(good);
            if (1..=self.options.longest).contains(&length) {
                // Of those that touch as much, the latest is the better: it touched what the others did not.
                self.good
                    .insert(0, (touched, made.steps[..length].to_vec()));
            }
            self.good
                .sort_by_key(|(touched, _)| std::cmp::Reverse(*touched));
            self.good.truncate(self.options.memory);
        }
        Ok(())
    }

    fn new_targets(&self) -> &[TargetId] {
        &self.new
    }

    fn learns(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SEARCH, median_of_seeds, steps_to_failure, tests_of};
    use super::super::{NewCoverage, Search, Uniform};
    use super::*;
    use crate::toys::Safe;

    const CODE: [u64; 5] = [17, 4, 99, 4, 56];

    #[test]
    fn good_tests_grow_until_they_get_there() {
        let steps = |extend: bool| {
            median_of_seeds(|seed| {
                let plan = Search { seed, ..SEARCH };
                let mut safe = Safe::new(99, &CODE);
                if extend {
                    let mut extend = Extend::new(NewCoverage, ExtendOptions::default());
                    steps_to_failure(&mut safe, &mut extend, &plan, 30_000)
                } else {
                    steps_to_failure(&mut safe, &mut Uniform, &plan, 30_000)
                }
            })
        };
        let (extend, uniform) = (steps(true), steps(false));
        assert!(extend * 3 < uniform, "{extend} {uniform}");
    }

    #[test]
    fn the_best_are_remembered() {
        let options = ExtendOptions {
            memory: 2,
            probability: 0.5,
            ..ExtendOptions::default()
        };
        let mut extend = Extend::new(NewCoverage, options);
        let mut safe = Safe::new(9, &[3; 400]);
        tests_of(
            &mut safe,
            &mut extend,
            &Search {
                length: 20,
                ..SEARCH
            },
            60,
        );
        let threes = |steps: &[Step]| {
            steps
                .iter()
                .filter(|step| **step == Step::Act(ActionId(3)))
                .count()
        };
        let good: Vec<usize> = extend.good().map(threes).collect();
        assert_eq!(good.len(), 2);
        assert!(good[0] > good[1] && good[1] >= 8, "{good:?}");
    }
}
