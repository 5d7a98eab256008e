//! Recombination of pieces of given tests.
//!
//! Handwritten or kept tests know what goes together: open, write, close. This strategy cuts them
//! into windows of a few steps and plays windows in random order, skipping disabled steps. Each
//! step is marked with the test it came from, so that a failing test shows its ancestry.

use super::{Strategy, TestStart};
use crate::{ActionId, Error, Random, Step, System, Test};

/// Options for the windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SequenceOptions {
    /// The number of steps per window; a shorter test is one window.
    pub size: usize,
    /// The probability that a step comes from a window; otherwise it is any enabled action.
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

/// The maximum number of windows without an enabled step before any action is taken.
const MAX_TRIES: usize = 20;

/// Plays windows of given tests.
#[derive(Clone, Debug)]
pub struct Sequences {
    options: SequenceOptions,
    names: Vec<String>,
    /// By run: the index of its test, and its actions, each with its index in the test.
    runs: Vec<(usize, Vec<(usize, ActionId)>)>,
    /// By run: the number of windows up to its end.
    cumulative_windows: Vec<u64>,
    /// The current window: its run, the next position and the end.
    current_window: (usize, usize, usize),
    /// The run and position that the last action came from.
    origin: Option<(usize, usize)>,
}

impl Sequences {
    /// Creates a strategy that plays windows of these tests. Their names go into the remarks.
    /// Windows do not cross restarts.
    pub fn new<'a>(
        tests: impl IntoIterator<Item = (String, &'a Test)>,
        options: SequenceOptions,
    ) -> Sequences {
        let mut sequences = Sequences {
            options,
            names: Vec::new(),
            runs: Vec::new(),
            cumulative_windows: Vec::new(),
            current_window: (0, 0, 0),
            origin: None,
        };
        let mut total = 0;
        for (number, (name, test)) in tests.into_iter().enumerate() {
            sequences.names.push(name);
            let placed: Vec<(usize, Step)> = test.steps.iter().copied().enumerate().collect();
            for run in placed.split(|(_, step)| *step == Step::Restart) {
                let acts = run.iter().filter_map(|(position, step)| match step {
                    Step::Act(action) => Some((*position, *action)),
                    Step::Restart => None,
                });
                let acts: Vec<(usize, ActionId)> = acts.collect();
                if !acts.is_empty() {
                    total += (acts.len() + 1).saturating_sub(options.size).max(1) as u64;
                    sequences.cumulative_windows.push(total);
                    sequences.runs.push((number, acts));
                }
            }
        }
        sequences
    }

    /// Draws a window uniformly.
    fn draw(&mut self, random: &mut Random) {
        let total = self.cumulative_windows.last().copied().unwrap_or(0);
        let window = random.below(total);
        let run = self
            .cumulative_windows
            .partition_point(|windows| *windows <= window);
        let before = run
            .checked_sub(1)
            .map_or(0, |run| self.cumulative_windows[run]);
        let begin = (window - before) as usize;
        let length = self.runs[run].1.len();
        self.current_window = (run, begin, length.min(begin + self.options.size.max(1)));
    }

    /// Returns the next enabled action of the window, and records its origin.
    fn next_enabled<S: System + ?Sized>(&mut self, system: &mut S) -> Option<ActionId> {
        let (run, position, end) = &mut self.current_window;
        while position < end {
            let (_, action) = self.runs[*run].1[*position];
            *position += 1;
            if system.is_enabled(action) {
                self.origin = Some((*run, *position - 1));
                return Some(action);
            }
        }
        None
    }
}

impl<S: System + ?Sized> Strategy<S> for Sequences {
    fn begin_test(&mut self, _: &mut S, _: &mut TestStart, _: &mut Random) -> Result<(), Error> {
        self.current_window = (0, 0, 0);
        Ok(())
    }

    fn next_action(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
        self.origin = None;
        if !self.runs.is_empty() && random.chance(self.options.probability) {
            for _ in 0..MAX_TRIES {
                let played = self.next_enabled(system);
                if played.is_some() {
                    return played;
                }
                self.draw(random);
            }
        }
        system.pick(random)
    }

    /// Returns the name of the test and the index of the step in it, from 0.
    fn remark(&mut self) -> Option<String> {
        let (run, position) = self.origin?;
        let (test, acts) = &self.runs[run];
        Some(format!("{}:{}", self.names[*test], acts[position].0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SEARCH, generate_tests};
    use super::*;
    use crate::toys::{Crossing, Safe};

    fn keys(keys: &[u64]) -> Test {
        Test::from_actions(keys.iter().copied().map(ActionId))
    }

    #[test]
    fn tests_consist_of_windows_and_name_their_origin() {
        let (first, mut second) = (keys(&[1, 2, 3, 4]), keys(&[7, 8, 9, 5, 6]));
        second.steps.insert(3, Step::Restart);
        let given = [
            ("a.test".to_owned(), &first),
            ("b.test".to_owned(), &second),
        ];
        let mut sequences = Sequences::new(given, SequenceOptions::default());
        let windows: [&[u64]; 4] = [&[1, 2, 3], &[2, 3, 4], &[7, 8, 9], &[5, 6]];
        let mut seen = [0; 4];
        let tests = generate_tests(&mut Safe::new(9, &[0]), &mut sequences, &SEARCH, 20);
        for test in &tests {
            assert_eq!(test.remarks.len(), test.len());
            let mut rest = test.steps.as_slice();
            while rest.len() >= 3 {
                let is_next = |window: &&[u64]| rest.starts_with(&keys(window).steps);
                let position = windows.iter().position(is_next).unwrap();
                seen[position] += 1;
                rest = &rest[windows[position].len()..];
            }
        }
        assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
        let remark = |test: &Test, key| {
            let position = test.steps.iter().position(|step| *step == Step::Act(key));
            test.remarks[position.unwrap()].1.clone()
        };
        assert_eq!(remark(&tests[0], ActionId(4)), "a.test:3");
        assert_eq!(remark(&tests[0], ActionId(6)), "b.test:5");
    }

    #[test]
    fn disabled_steps_are_left_out() {
        let given = Test::from_actions([Crossing::GO_AT_RED, Crossing::GO_AT_GREEN]);
        let given = [("x".to_owned(), &given)];
        let mut sequences = Sequences::new(given, SequenceOptions::default());
        let tests = generate_tests(&mut Crossing::default(), &mut sequences, &SEARCH, 2);
        assert_eq!(tests[0], Test::from_actions([Crossing::GO_AT_GREEN; 100]));
        assert_eq!(tests[0].remarks[99], (99, "x:1".to_owned()));
    }

    #[test]
    fn without_tests_or_with_what_is_never_enabled_anything_is_taken() {
        let given = Test::from_actions([Crossing::GO_AT_RED]);
        for given in [vec![], vec![("x".to_owned(), &given)]] {
            let mut sequences = Sequences::new(given, SequenceOptions::default());
            let options = super::super::SearchOptions {
                length: 1,
                ..SEARCH
            };
            let tests = generate_tests(&mut Crossing::default(), &mut sequences, &options, 30);
            assert!(
                tests
                    .iter()
                    .all(|test| test.len() == 1 && test.remarks.is_empty())
            );
        }
    }
}
