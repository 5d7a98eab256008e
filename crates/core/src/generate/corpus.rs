//! Tests worth going on from.
//!
//! Whenever a step touches something for the first time, the test up to that step is kept: it is the way there.
//! Where to go on from is then a matter of rarity. What most tests touch anyway needs no help; what few tests touch has
//! seldom been looked at from close by. So a kept test is *active* as long as something that it touched first is
//! touched by few tests.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Made, Novelty};
use crate::{Error, Random, Step, System, TargetId, Test};

/// What to keep, and what to go on from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorpusOptions {
    /// A target is rare if at most this many times the mean number of tests touch it.
    pub ceiling: f64,
    /// The coverage of one test in so many is looked at to see what is rare; of the first few dozen, of each. Looking
    /// may take its time: places that were reached before have to be watched again.
    pub measure_every: u64,
    /// How many tests to keep; then those go whose targets are the most common.
    pub most: usize,
    /// How many tests to keep that came nearest to where a hint points.
    pub best_hints: usize,
    /// Tests with more steps than this are not gone on from.
    pub longest: usize,
}

impl Default for CorpusOptions {
    fn default() -> CorpusOptions {
        CorpusOptions {
            ceiling: 0.5,
            measure_every: 8,
            most: 2_000,
            best_hints: 1,
            longest: 5_000,
        }
    }
}

/// How many tests are measured before only some are.
const ALL_MEASURED: u64 = 32;

/// A test that touched something for the first time with its last step.
#[derive(Clone, Debug)]
pub struct Kept {
    whole: Arc<[Step]>,
    length: usize,
    targets: Vec<TargetId>,
}

impl Kept {
    /// The steps up to the one that touched something.
    pub fn steps(&self) -> &[Step] {
        &self.whole[..self.length]
    }

    /// What that one touched.
    pub fn targets(&self) -> &[TargetId] {
        &self.targets
    }
}

/// Looks on while tests are made, and keeps those that reach something new.
#[derive(Clone, Debug)]
pub struct Corpus<N> {
    novelty: N,
    options: CorpusOptions,
    kept: Vec<Kept>,
    hinted: VecDeque<Kept>,
    best_hint: Option<f64>,
    /// For each target, how many of the measured tests touched it.
    hits: Vec<u64>,
    tests: u64,
    measuring: bool,
    /// What the current test touched first, by how many steps it had then.
    found: Vec<(usize, Vec<TargetId>)>,
    /// When the current test came nearer to where the hint points.
    nearer: Option<usize>,
    new: Vec<TargetId>,
    stalled: u64,
}

impl<N> Corpus<N> {
    /// Nothing is kept yet.
    pub fn new(novelty: N, options: CorpusOptions) -> Corpus<N> {
        Corpus {
            novelty,
            options,
            kept: Vec::new(),
            hinted: VecDeque::new(),
            best_hint: None,
            hits: Vec::new(),
            tests: 0,
            measuring: false,
            found: Vec::new(),
            nearer: None,
            new: Vec::new(),
            stalled: 0,
        }
    }

    /// All tests that were kept: to save them, for example.
    pub fn kept(&self) -> &[Kept] {
        &self.kept
    }

    /// The tests that came nearest to where the hint points, the nearest last.
    pub fn hinted(&self) -> impl Iterator<Item = &Kept> {
        self.hinted.iter()
    }

    /// Keeps a test from elsewhere, of an earlier search for example. As nothing is known of it, it counts as rare until
    /// the corpus is full.
    pub fn add(&mut self, test: &Test) {
        self.keep(Kept {
            whole: test.steps.as_slice().into(),
            length: test.len(),
            targets: Vec::new(),
        });
    }

    /// What counts as new.
    pub fn novelty(&self) -> &N {
        &self.novelty
    }

    /// What was touched for the first time since the last test ended.
    pub fn new_targets(&self) -> &[TargetId] {
        &self.new
    }

    /// How many tests in a row touched nothing new.
    pub fn stalled(&self) -> u64 {
        self.stalled
    }

    /// How many tests were made.
    pub fn tests(&self) -> u64 {
        self.tests
    }

    /// A test to go on from: the better of two of those that are active, the one that touched what is rarer, or that came
    /// later. All have their chance, and those at the edge of what is known have the best.
    pub fn choose(&self, random: &mut Random) -> Option<&Kept> {
        let limit = self.options.ceiling * self.mean();
        let is_active = |kept: &&Kept| self.rarest(kept) as f64 <= limit;
        let fits = |kept: &&Kept| kept.length <= self.options.longest;
        let kept = || self.kept.iter().filter(fits);
        let mut active: Vec<&Kept> = kept().filter(is_active).collect();
        active.extend(self.hinted.iter().filter(fits));
        if active.is_empty() {
            active.extend(kept());
        }
        let [one, two] = [0; 2].map(|_| random.below(active.len() as u64) as usize);
        let (earlier, later) = (active.get(one.min(two))?, active.get(one.max(two))?);
        Some(if self.rarest(earlier) < self.rarest(later) {
            earlier
        } else {
            later
        })
    }

    /// Any test that is kept, to cross another with.
    pub fn choose_any(&self, random: &mut Random) -> Option<&Kept> {
        random.choose(&self.kept)
    }

    fn mean(&self) -> f64 {
        let touched = self.hits.iter().filter(|hits| **hits > 0).count();
        match touched {
            0 => 0.0,
            touched => self.hits.iter().sum::<u64>() as f64 / touched as f64,
        }
    }

    /// How many tests touched the rarest target of a test.
    fn rarest(&self, kept: &Kept) -> u64 {
        let hits = |target: &TargetId| self.hits.get(target.0 as usize).copied().unwrap_or(0);
        kept.targets.iter().map(hits).min().unwrap_or(0)
    }

    fn keep(&mut self, kept: Kept) {
        self.kept.push(kept);
        if self.kept.len() > self.options.most {
            // The first of the most common ones: what came later is mostly deeper in.
            let rarity = |place: &usize| std::cmp::Reverse(self.rarest(&self.kept[*place]));
            if let Some(place) = (0..self.kept.len()).min_by_key(rarity) {
                self.kept.remove(place);
            }
        }
    }

    /// To be told before each test, right after the reset.
    pub fn begin<S: System + ?Sized>(&mut self, system: &mut S) -> Result<(), Error>
    where
        N: Novelty<S>,
    {
        self.found.clear();
        self.nearer = None;
        // What the reset touched, or whoever used the system since, is nobody's merit.
        self.new = self.novelty.take_new(system)?;
        let every = self.options.measure_every.max(1);
        self.measuring = self.tests < ALL_MEASURED || self.tests.is_multiple_of(every);
        if self.measuring {
            self.novelty.begin_anew(system)?;
        }
        Ok(())
    }

    /// To be told after each step.
    #[inline]
    pub fn after<S: System + ?Sized>(&mut self, system: &mut S, steps: &[Step]) -> Result<(), Error>
    where
        N: Novelty<S>,
    {
        let new = self.novelty.take_new(system)?;
        if !new.is_empty() {
            self.new.extend_from_slice(&new);
            self.found.push((steps.len(), new));
        }
        if let Some(hint) = self.novelty.hint(system)
            && self.best_hint.is_none_or(|best| hint > best)
        {
            self.best_hint = Some(hint);
            self.nearer = Some(steps.len());
        }
        Ok(())
    }

    /// To be told at the end of each test; says how many targets its steps touched for the first time.
    pub fn end<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        made: &Made<'_>,
    ) -> Result<usize, Error>
    where
        N: Novelty<S>,
    {
        if self.measuring {
            for target in self.novelty.touched(system).iter() {
                let place = target.0 as usize;
                if place >= self.hits.len() {
                    self.hits.resize(place + 1, 0);
                }
                self.hits[place] += 1;
            }
        }
        self.tests += 1;
        let found = std::mem::take(&mut self.found);
        let count: usize = found.iter().map(|(_, targets)| targets.len()).sum();
        self.stalled = if count > 0 || self.nearer.is_some() {
            0
        } else {
            self.stalled + 1
        };
        // Nobody can go on from a failure, but from the step before it.
        let good = made.steps.len() - usize::from(made.failure.is_some());
        let last = found.last().map(|(length, _)| *length);
        let longest = last.max(self.nearer).unwrap_or(0).min(good);
        if longest == 0 {
            return Ok(count);
        }
        let whole: Arc<[Step]> = made.steps[..longest].into();
        let kept = |length: usize, targets| Kept {
            whole: Arc::clone(&whole),
            length: length.min(good),
            targets,
        };
        for (length, targets) in found {
            self.keep(kept(length, targets));
        }
        if let Some(length) = self.nearer {
            self.hinted.push_back(kept(length, Vec::new()));
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
        corpus.begin(safe).unwrap();
        let mut steps = Vec::new();
        for key in keys {
            safe.step(ActionId(*key));
            steps.push(Step::Act(ActionId(*key)));
            corpus.after(safe, &steps).unwrap();
        }
        let made = Made {
            steps: &steps,
            remarks: &[],
            failure: None,
            number: 0,
            new: &[],
        };
        corpus.end(safe, &made).unwrap()
    }

    fn lengths(corpus: &Corpus<NewCoverage>) -> Vec<usize> {
        corpus
            .kept()
            .iter()
            .map(|kept| kept.steps().len())
            .collect()
    }

    #[test]
    fn what_is_kept_is_the_way_to_each_target() {
        let mut corpus = Corpus::new(NewCoverage, CorpusOptions::default());
        let mut safe = Safe::new(9, &[1, 2, 3, 4, 5]);
        assert_eq!(run(&mut corpus, &mut safe, &[7, 1, 7, 2, 7]), 2);
        assert_eq!(corpus.stalled(), 0);
        assert_eq!(run(&mut corpus, &mut safe, &[1, 2]), 0);
        assert_eq!(corpus.stalled(), 1);
        assert_eq!(run(&mut corpus, &mut safe, &[1, 2, 3]), 1);
        assert_eq!(corpus.new_targets(), [TargetId(3)]);
        assert_eq!(lengths(&corpus), [2, 4, 3]);
        assert_eq!(corpus.kept()[2].targets(), [TargetId(3)]);
    }

    #[test]
    fn the_rare_is_gone_on_from_and_the_common_goes_first() {
        let options = CorpusOptions {
            most: 3,
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
