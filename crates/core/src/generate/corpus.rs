//! A corpus of tests that are worth continuing.
//!
//! Whenever a step touches something for the first time, the test up to that step is kept: it is
//! the path to the new target. The choice of the test to continue is a matter of rarity. What most
//! tests touch needs no help; what few tests touch has seldom been explored further. So a kept test
//! is *active* as long as something that it touched first is touched by few tests.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{GeneratedTest, Novelty};
use crate::{Error, Random, Step, System, TargetId, Test};

/// Options for keeping and choosing tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorpusOptions {
    /// A target is rare if at most this many times the mean number of tests touch it.
    pub ceiling: f64,
    /// Measure the coverage of one test in this many to see what is rare; of the first few dozen,
    /// of each. Measuring may be slow, since code that was reached before has to be observed again.
    pub measure_every: u64,
    /// The maximum number of tests to keep. Beyond it, tests with the most common targets are
    /// dropped.
    pub max_entries: usize,
    /// The maximum number of tests to keep that came nearest to the hint's goal.
    pub best_hints: usize,
    /// The maximum length of a test that is continued.
    pub max_length: usize,
}

impl Default for CorpusOptions {
    fn default() -> CorpusOptions {
        CorpusOptions {
            ceiling: 0.5,
            measure_every: 8,
            max_entries: 2_000,
            best_hints: 1,
            max_length: 5_000,
        }
    }
}

/// The number of tests at the beginning that are all measured.
const FIRST_MEASURED: u64 = 32;

/// A test whose last step touched something for the first time.
#[derive(Clone, Debug)]
pub struct CorpusEntry {
    whole_test: Arc<[Step]>,
    length: usize,
    targets: Vec<TargetId>,
}

impl CorpusEntry {
    /// Returns the steps up to the one that touched something new.
    pub fn steps(&self) -> &[Step] {
        &self.whole_test[..self.length]
    }

    /// Returns the targets that the last step touched first.
    pub fn targets(&self) -> &[TargetId] {
        &self.targets
    }
}

/// Observes the generation of tests, and keeps those that reach something new.
#[derive(Clone, Debug)]
pub struct Corpus<N> {
    novelty: N,
    options: CorpusOptions,
    entries: Vec<CorpusEntry>,
    hinted: VecDeque<CorpusEntry>,
    best_hint: Option<f64>,
    /// By target: the number of measured tests that touched it.
    hits: Vec<u64>,
    tests: u64,
    measuring: bool,
    /// The targets the current test touched first, with its length at that point.
    new_by_length: Vec<(usize, Vec<TargetId>)>,
    /// The length of the current test when it last came nearer to the hint's goal.
    nearest_length: Option<usize>,
    new: Vec<TargetId>,
    tests_without_new: u64,
}

impl<N> Corpus<N> {
    /// Creates an empty corpus.
    pub fn new(novelty: N, options: CorpusOptions) -> Corpus<N> {
        Corpus {
            novelty,
            options,
            entries: Vec::new(),
            hinted: VecDeque::new(),
            best_hint: None,
            hits: Vec::new(),
            tests: 0,
            measuring: false,
            new_by_length: Vec::new(),
            nearest_length: None,
            new: Vec::new(),
            tests_without_new: 0,
        }
    }

    /// Returns all kept tests: to save them, for example.
    pub fn entries(&self) -> &[CorpusEntry] {
        &self.entries
    }

    /// Returns the tests that came nearest to the hint's goal, the nearest last.
    pub fn hinted(&self) -> impl Iterator<Item = &CorpusEntry> {
        self.hinted.iter()
    }

    /// Adds a test from elsewhere, of an earlier search for example. Since nothing is known of it,
    /// it counts as rare until the corpus is full.
    pub fn add(&mut self, test: &Test) {
        self.insert_entry(CorpusEntry {
            whole_test: test.steps.as_slice().into(),
            length: test.len(),
            targets: Vec::new(),
        });
    }

    /// Returns the novelty that decides what counts as new.
    pub fn novelty(&self) -> &N {
        &self.novelty
    }

    /// Returns the targets touched for the first time since the last test ended.
    pub fn new_targets(&self) -> &[TargetId] {
        &self.new
    }

    /// Returns the number of consecutive tests that touched nothing new.
    pub fn tests_without_new(&self) -> u64 {
        self.tests_without_new
    }

    /// Returns the number of tests observed.
    pub fn tests(&self) -> u64 {
        self.tests
    }

    /// Chooses a test to continue: the better of two active ones, which is the one that touched the
    /// rarer target, or else the later one. All have a chance, and those at the edge of what is
    /// known have the best.
    pub fn choose(&self, random: &mut Random) -> Option<&CorpusEntry> {
        let limit = self.options.ceiling * self.mean_hits();
        let is_active = |entry: &&CorpusEntry| self.rarest_hits(entry) as f64 <= limit;
        let fits = |entry: &&CorpusEntry| entry.length <= self.options.max_length;
        let fitting = || self.entries.iter().filter(fits);
        let mut active: Vec<&CorpusEntry> = fitting().filter(is_active).collect();
        active.extend(self.hinted.iter().filter(fits));
        if active.is_empty() {
            active.extend(fitting());
        }
        let [one, two] = [0; 2].map(|_| random.below(active.len() as u64) as usize);
        let (earlier, later) = (active.get(one.min(two))?, active.get(one.max(two))?);
        Some(if self.rarest_hits(earlier) < self.rarest_hits(later) {
            earlier
        } else {
            later
        })
    }

    /// Chooses any kept test, to cross another with.
    pub fn choose_any(&self, random: &mut Random) -> Option<&CorpusEntry> {
        random.choose(&self.entries)
    }

    /// Returns the mean number of tests that touch a touched target.
    fn mean_hits(&self) -> f64 {
        let touched = self.hits.iter().filter(|hits| **hits > 0).count();
        match touched {
            0 => 0.0,
            touched => self.hits.iter().sum::<u64>() as f64 / touched as f64,
        }
    }

    /// Returns how many tests touched the rarest target of an entry.
    fn rarest_hits(&self, entry: &CorpusEntry) -> u64 {
        let hits = |target: &TargetId| self.hits.get(target.0 as usize).copied().unwrap_or(0);
        entry.targets.iter().map(hits).min().unwrap_or(0)
    }

    /// Adds an entry, and drops one if there are too many.
    fn insert_entry(&mut self, entry: CorpusEntry) {
        self.entries.push(entry);
        if self.entries.len() > self.options.max_entries {
            // Drop the first of the most common ones: later tests mostly lead deeper.
            let rarity = |index: &usize| std::cmp::Reverse(self.rarest_hits(&self.entries[*index]));
            if let Some(index) = (0..self.entries.len()).min_by_key(rarity) {
                self.entries.remove(index);
            }
        }
    }

    /// Must be called before each test, right after the reset.
    pub fn begin_test<S: System + ?Sized>(&mut self, system: &mut S) -> Result<(), Error>
    where
        N: Novelty<S>,
    {
        self.new_by_length.clear();
        self.nearest_length = None;
        // Targets touched by the reset, or by other uses of the system, are not credited to the
        // test.
        self.new = self.novelty.take_new(system)?;
        let every = self.options.measure_every.max(1);
        self.measuring = self.tests < FIRST_MEASURED || self.tests.is_multiple_of(every);
        if self.measuring {
            self.novelty.reset_touched(system)?;
        }
        Ok(())
    }

    /// Must be called after each step.
    #[inline]
    pub fn after_step<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        steps: &[Step],
    ) -> Result<(), Error>
    where
        N: Novelty<S>,
    {
        let new = self.novelty.take_new(system)?;
        if !new.is_empty() {
            self.new.extend_from_slice(&new);
            self.new_by_length.push((steps.len(), new));
        }
        if let Some(hint) = self.novelty.hint(system)
            && self.best_hint.is_none_or(|best| hint > best)
        {
            self.best_hint = Some(hint);
            self.nearest_length = Some(steps.len());
        }
        Ok(())
    }

    /// Must be called at the end of each test. Returns the number of targets its steps touched
    /// first.
    pub fn end_test<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        generated: &GeneratedTest<'_>,
    ) -> Result<usize, Error>
    where
        N: Novelty<S>,
    {
        if self.measuring {
            for target in self.novelty.touched(system).iter() {
                let index = target.0 as usize;
                if index >= self.hits.len() {
                    self.hits.resize(index + 1, 0);
                }
                self.hits[index] += 1;
            }
        }
        self.tests += 1;
        let found = std::mem::take(&mut self.new_by_length);
        let count: usize = found.iter().map(|(_, targets)| targets.len()).sum();
        self.tests_without_new = if count > 0 || self.nearest_length.is_some() {
            0
        } else {
            self.tests_without_new + 1
        };
        // A failing test cannot be continued, but its part before the failing step can.
        let passing_length = generated.steps.len() - usize::from(generated.failure.is_some());
        let last = found.last().map(|(length, _)| *length);
        let longest_kept = last
            .max(self.nearest_length)
            .unwrap_or(0)
            .min(passing_length);
        if longest_kept == 0 {
            return Ok(count);
        }
        let whole: Arc<[Step]> = generated.steps[..longest_kept].into();
        let entry = |length: usize, targets| CorpusEntry {
            whole_test: Arc::clone(&whole),
            length: length.min(passing_length),
            targets,
        };
        for (length, targets) in found {
            self.insert_entry(entry(length, targets));
        }
        if let Some(length) = self.nearest_length {
            self.hinted.push_back(entry(length, Vec::new()));
            if self.hinted.len() > self.options.best_hints {
                self.hinted.pop_front();
            }
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::super::NewCoverage;
    use super::*;
    use crate::ActionId;
    use crate::toys::Safe;

    fn run(corpus: &mut Corpus<NewCoverage>, safe: &mut Safe, keys: &[u64]) -> usize {
        safe.reset().unwrap();
        corpus.begin_test(safe).unwrap();
        let mut steps = Vec::new();
        for key in keys {
            safe.step(ActionId(*key));
            steps.push(Step::Act(ActionId(*key)));
            corpus.after_step(safe, &steps).unwrap();
        }
        let generated = GeneratedTest {
            steps: &steps,
            remarks: &[],
            failure: None,
            number: 0,
            new: &[],
        };
        corpus.end_test(safe, &generated).unwrap()
    }

    fn lengths(corpus: &Corpus<NewCoverage>) -> Vec<usize> {
        corpus
            .entries()
            .iter()
            .map(|entry| entry.steps().len())
            .collect()
    }

    #[test]
    fn entries_end_where_their_targets_were_reached() {
        let mut corpus = Corpus::new(NewCoverage, CorpusOptions::default());
        let mut safe = Safe::new(9, &[1, 2, 3, 4, 5]);
        assert_eq!(run(&mut corpus, &mut safe, &[7, 1, 7, 2, 7]), 2);
        assert_eq!(corpus.tests_without_new(), 0);
        assert_eq!(run(&mut corpus, &mut safe, &[1, 2]), 0);
        assert_eq!(corpus.tests_without_new(), 1);
        assert_eq!(run(&mut corpus, &mut safe, &[1, 2, 3]), 1);
        assert_eq!(corpus.new_targets(), [TargetId(3)]);
        assert_eq!(lengths(&corpus), [2, 4, 3]);
        assert_eq!(corpus.entries()[2].targets(), [TargetId(3)]);
    }

    #[test]
    fn entries_with_rare_targets_are_chosen_and_common_ones_evicted() {
        let options = CorpusOptions {
            max_entries: 3,
            ..CorpusOptions::default()
        };
        let mut corpus = Corpus::new(NewCoverage, options);
        let mut safe = Safe::new(9, &[1, 2, 3, 4, 5]);
        for _ in 0..10 {
            run(&mut corpus, &mut safe, &[1, 2]);
        }
        run(&mut corpus, &mut safe, &[1, 2, 3]);
        let mut random = Random::new(1);
        for _ in 0..20 {
            let chosen = corpus.choose(&mut random).unwrap();
            assert_eq!(chosen.steps().len(), 3, "two of three are common");
        }
        run(&mut corpus, &mut safe, &[1, 2, 3, 4]);
        assert_eq!(lengths(&corpus), [2, 3, 4]);
        let nothing = Corpus::new(NewCoverage, options);
        assert!(nothing.choose(&mut random).is_none());
    }
}
