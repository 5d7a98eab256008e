//! Extending good tests: figure 10 of the TSTL paper.
//!
//! A few tests with unusually high coverage are remembered as they were when they last touched
//! something new. Now and then a test does not start fresh but continues one of them, so that good
//! tests grow far beyond the usual length. Simpler than [`Exploit`](super::Exploit), with another
//! idea of what is good: not what is rare, but what touches much.

use super::{GeneratedTest, Novelty, Strategy, TestStart};
use crate::{ActionId, Error, Random, Step, System, TargetId};

/// Options for remembering and extending good tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExtendOptions {
    /// The number of good tests remembered.
    pub max_remembered: usize,
    /// The probability that a test extends one of them.
    pub probability: f64,
    /// The maximum length of a test that is extended.
    pub max_length: usize,
}

/// The values of the paper.
impl Default for ExtendOptions {
    fn default() -> ExtendOptions {
        ExtendOptions {
            max_remembered: 5,
            probability: 0.2,
            max_length: 5_000,
        }
    }
}

/// Extends tests with high coverage. It [depends on earlier results](Strategy::depends_on_results), and measures the coverage of
/// every test.
#[derive(Clone, Debug)]
pub struct Extend<N> {
    novelty: N,
    options: ExtendOptions,
    /// The coverage size and steps of each good test, the best first.
    best_tests: Vec<(usize, Vec<Step>)>,
    /// The coverage size and the length of the current test when it last touched something new.
    current_best: Option<(usize, usize)>,
    new: Vec<TargetId>,
}

impl<N> Extend<N> {
    /// Creates a strategy that remembers no test yet.
    pub fn new(novelty: N, options: ExtendOptions) -> Extend<N> {
        Extend {
            novelty,
            options,
            best_tests: Vec::new(),
            current_best: None,
            new: Vec::new(),
        }
    }

    /// Returns the good tests, the best first.
    pub fn best_tests(&self) -> impl Iterator<Item = &[Step]> {
        self.best_tests.iter().map(|(_, steps)| steps.as_slice())
    }
}

impl<S: System + ?Sized, N: Novelty<S>> Strategy<S> for Extend<N> {
    fn begin_test(
        &mut self,
        system: &mut S,
        start: &mut TestStart,
        random: &mut Random,
    ) -> Result<(), Error> {
        self.current_best = None;
        self.new = self.novelty.take_new(system)?;
        self.novelty.reset_touched(system)?;
        if random.chance(self.options.probability)
            && let Some((_, steps)) = random.choose(&self.best_tests)
        {
            start.prefix.steps.extend_from_slice(steps);
        }
        Ok(())
    }

    fn next_action(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
        system.pick(random)
    }

    fn after_step(&mut self, system: &mut S, steps: &[Step]) -> Result<(), Error> {
        let new = self.novelty.take_new(system)?;
        if !new.is_empty() {
            self.current_best = Some((self.novelty.touched(system).len(), steps.len()));
            self.new.extend(new);
        }
        Ok(())
    }

    fn end_test(&mut self, _system: &mut S, generated: &GeneratedTest<'_>) -> Result<(), Error> {
        let good = generated.steps.len() - usize::from(generated.failure.is_some());
        if let Some((touched, length)) = self.current_best {
            let length = length.min(good);
            if (1..=self.options.max_length).contains(&length) {
                // Of tests with equal coverage the latest is better: it touched what the others did
                // not.
                self.best_tests
                    .insert(0, (touched, generated.steps[..length].to_vec()));
            }
            self.best_tests
                .sort_by_key(|(touched, _)| std::cmp::Reverse(*touched));
            self.best_tests.truncate(self.options.max_remembered);
        }
        Ok(())
    }

    fn new_targets(&self) -> &[TargetId] {
        &self.new
    }

    fn depends_on_results(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SEARCH, generate_tests, median_of_seeds, steps_to_failure};
    use super::super::{NewCoverage, SearchOptions, Uniform};
    use super::*;
    use crate::toys::Safe;

    const CODE: [u64; 5] = [17, 4, 99, 4, 56];

    #[test]
    fn good_tests_grow_until_they_get_there() {
        let steps = |extend: bool| {
            median_of_seeds(|seed| {
                let options = SearchOptions { seed, ..SEARCH };
                let mut safe = Safe::new(99, &CODE);
                if extend {
                    let mut extend = Extend::new(NewCoverage, ExtendOptions::default());
                    steps_to_failure(&mut safe, &mut extend, &options, 30_000)
                } else {
                    steps_to_failure(&mut safe, &mut Uniform, &options, 30_000)
                }
            })
        };
        let (extend, uniform) = (steps(true), steps(false));
        assert!(extend * 3 < uniform, "{extend} {uniform}");
    }

    #[test]
    fn the_best_are_remembered() {
        let options = ExtendOptions {
            max_remembered: 2,
            probability: 0.5,
            ..ExtendOptions::default()
        };
        let mut extend = Extend::new(NewCoverage, options);
        let mut safe = Safe::new(9, &[3; 400]);
        generate_tests(
            &mut safe,
            &mut extend,
            &SearchOptions {
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
        let good: Vec<usize> = extend.best_tests().map(threes).collect();
        assert_eq!(good.len(), 2);
        assert!(good[0] > good[1] && good[1] >= 8, "{good:?}");
    }
}
