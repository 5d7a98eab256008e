//! Putting pieces of given tests together anew.
//!
//! Tests that somebody wrote, or that were kept, know what goes together: open, write, close. This strategy cuts them
//! into windows of a few steps and plays windows in random order, leaving out what is not enabled. Each step says
//! which test it came from, so that a failing test tells its ancestry.

use super::{Start, Strategy};
use crate::{ActionId, Error, Random, Step, System, Test};

/// How to use the windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SequenceOptions {
    /// How many steps a window has; a test with less is one window.
    pub size: usize,
    /// With which probability a step comes from a window; any enabled action otherwise.
    pub probability: f64,
}

impl Default for SequenceOptions {
    fn default() -> SequenceOptions {
        SequenceOptions {
            size: 3,
            probability: 1.0,
        }
    }
}

/// How many windows in a row may have nothing enabled before any action is taken.
const MOST_TRIES: usize = 20;

/// Plays windows of given tests.
#[derive(Clone, Debug)]
pub struct Sequences {
    options: SequenceOptions,
    names: Vec<String>,
    /// For each given test its actions, each with its place in the test.
    runs: Vec<(usize, Vec<(usize, ActionId)>)>,
    /// For each run, how many windows there are up to its end.
    windows: Vec<u64>,
    /// The window that is being played: its run, the next place and the end.
    current: (usize, usize, usize),
    /// Where the last action came from: run and place.
    origin: Option<(usize, usize)>,
}

impl Sequences {
    /// Plays windows of these tests; their names go into the remarks. Windows do not reach across a restart.
    pub fn new<'a>(
        tests: impl IntoIterator<Item = (String, &'a Test)>,
        options: SequenceOptions,
    ) -> Sequences {
        let mut sequences = Sequences {
            options,
            names: Vec::new(),
            runs: Vec::new(),
            windows: Vec::new(),
            current: (0, 0, 0),
            origin: None,
        };
        let mut total = 0;
        for (number, (name, test)) in tests.into_iter().enumerate() {
            sequences.names.push(name);
            let placed: Vec<(usize, Step)> = test.steps.iter().copied().enumerate().collect();
            for run in placed.split(|(_, step)| *step == Step::Restart) {
                let acts = run.iter().filter_map(|(place, step)| match step {
                    Step::Act(action) => Some((*place, *action)),
                    Step::Restart => None,
                });
                let acts: Vec<(usize, ActionId)> = acts.collect();
                if !acts.is_empty() {
                    total += (acts.len() + 1).saturating_sub(options.size).max(1) as u64;
                    sequences.windows.push(total);
                    sequences.runs.push((number, acts));
                }
            }
        }
        sequences
    }

    /// Any window, all of them equally likely.
    fn draw(&mut self, random: &mut Random) {
        let total = self.windows.last().copied().unwrap_or(0);
        let window = random.below(total);
        let run = self.windows.partition_point(|windows| *windows <= window);
        let before = run.checked_sub(1).map_or(0, |run| self.windows[run]);
        let begin = (window - before) as usize;
        let length = self.runs[run].1.len();
        self.current = (run, begin, length.min(begin + self.options.size.max(1)));
    }

    /// The next enabled action of the window, and where it comes from.
    fn play<S: System + ?Sized>(&mut self, system: &mut S) -> Option<ActionId> {
        let (run, place, end) = &mut self.current;
        while place < end {
            let (_, action) = self.runs[*run].1[*place];
            *place += 1;
            if system.is_enabled(action) {
                self.origin = Some((*run, *place - 1));
                return Some(action);
            }
        }
        None
    }
}

impl<S: System + ?Sized> Strategy<S> for Sequences {
    fn begin(&mut self, _: &mut S, _: &mut Start, _: &mut Random) -> Result<(), Error> {
        self.current = (0, 0, 0);
        Ok(())
    }

    fn next(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
        self.origin = None;
        if !self.runs.is_empty() && random.chance(self.options.probability) {
            for _ in 0..MOST_TRIES {
                let played = self.play(system);
                if played.is_some() {
                    return played;
                }
                self.draw(random);
            }
        }
        system.pick(random)
    }

    /// The name of the test and the place of the step in it, from 0.
    fn remark(&mut self) -> Option<String> {
        let (run, place) = self.origin?;
        let (test, acts) = &self.runs[run];
        Some(format!("{}:{}", self.names[*test], acts[place].0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SEARCH, tests_of};
    use super::*;
    use crate::toys::{Crossing, Safe};

    fn keys(keys: &[u64]) -> Test {
        Test::of(keys.iter().copied().map(ActionId))
    }

    #[test]
    fn tests_are_made_of_windows_and_say_so() {
        let (first, mut second) = (keys(&[1, 2, 3, 4]), keys(&[7, 8, 9, 5, 6]));
        second.steps.insert(3, Step::Restart);
        let given = [
            ("a.test".to_owned(), &first),
            ("b.test".to_owned(), &second),
        ];
        let mut sequences = Sequences::new(given, SequenceOptions::default());
        let windows: [&[u64]; 4] = [&[1, 2, 3], &[2, 3, 4], &[7, 8, 9], &[5, 6]];
        let mut seen = [0; 4];
        let tests = tests_of(&mut Safe::new(9, &[0]), &mut sequences, &SEARCH, 20);
        for test in &tests {
            assert_eq!(test.remarks.len(), test.len());
            let mut rest = test.steps.as_slice();
            while rest.len() >= 3 {
                let is_next = |window: &&[u64]| rest.starts_with(&keys(window).steps);
                let place = windows.iter().position(is_next).unwrap();
                seen[place] += 1;
                rest = &rest[windows[place].len()..];
            }
        }
        assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
        let remark = |test: &Test, key| {
            let place = test.steps.iter().position(|step| *step == Step::Act(key));
            test.remarks[place.unwrap()].1.clone()
        };
        assert_eq!(remark(&tests[0], ActionId(4)), "a.test:3");
        assert_eq!(remark(&tests[0], ActionId(6)), "b.test:5");
    }

    #[test]
    fn what_is_not_enabled_is_left_out() {
        let given = Test::of([Crossing::GO_AT_RED, Crossing::GO_AT_GREEN]);
        let given = [("x".to_owned(), &given)];
        let mut sequences = Sequences::new(given, SequenceOptions::default());
        let tests = tests_of(&mut Crossing::default(), &mut sequences, &SEARCH, 2);
        assert_eq!(tests[0], Test::of([Crossing::GO_AT_GREEN; 100]));
        assert_eq!(tests[0].remarks[99], (99, "x:1".to_owned()));
    }

    #[test]
    fn without_tests_or_with_what_is_never_enabled_anything_is_taken() {
        let given = Test::of([Crossing::GO_AT_RED]);
        for given in [vec![], vec![("x".to_owned(), &given)]] {
            let mut sequences = Sequences::new(given, SequenceOptions::default());
            let plan = super::super::Search {
                length: 1,
                ..SEARCH
            };
            let tests = tests_of(&mut Crossing::default(), &mut sequences, &plan, 30);
            assert!(
                tests
                    .iter()
                    .all(|test| test.len() == 1 && test.remarks.is_empty())
            );
        }
    }
}
