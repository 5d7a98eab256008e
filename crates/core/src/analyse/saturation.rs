//! Saturation: estimates whether further testing is worthwhile.
//!
//! Coverage that stops growing may be complete, or testing may be stuck. The distance from complete
//! can be estimated from the targets that were touched *rarely*: if many targets were touched by a
//! single test so far, there are more that were touched by none. This is Good and Turing's
//! estimate, known from rare words and rare animals.

use crate::Coverage;

/// The tests that touched one target.
#[derive(Clone, Copy, Debug, Default)]
struct TargetHits {
    count: u64,
    /// The number of the first test that touched it.
    first: u64,
    /// The number of the last test that touched it.
    last: u64,
}

/// Counts how many tests touched each target.
#[derive(Clone, Debug, Default)]
pub struct Saturation {
    tests: u64,
    /// By target id.
    targets: Vec<TargetHits>,
}

impl Saturation {
    /// Adds the coverage of one test.
    pub fn add(&mut self, touched: &Coverage) {
        for target in touched.iter() {
            let index = target.0 as usize;
            if index >= self.targets.len() {
                self.targets.resize(index + 1, TargetHits::default());
            }
            let target = &mut self.targets[index];
            if target.count == 0 {
                target.first = self.tests;
            }
            target.last = self.tests;
            target.count += 1;
        }
        self.tests += 1;
    }

    /// Returns the number of tests.
    pub fn tests(&self) -> u64 {
        self.tests
    }

    /// Returns the number of targets that were touched at all.
    pub fn touched_targets(&self) -> usize {
        self.targets
            .iter()
            .filter(|target| target.count > 0)
            .count()
    }

    /// Returns the number of targets that exactly this many tests touched.
    pub fn targets_touched_by(&self, tests: u64) -> usize {
        self.targets
            .iter()
            .filter(|target| target.count == tests)
            .count()
    }

    /// Estimates how many new targets the next test will touch: the targets touched exactly once,
    /// divided by the number of tests. `None` before the first test.
    pub fn expected_new_targets(&self) -> Option<f64> {
        (self.tests > 0).then(|| self.targets_touched_by(1) as f64 / self.tests as f64)
    }

    /// Estimates the probability that the next test touches something new: the share of tests that
    /// touched something no other test did. Each of them would have been a discovery, had it been
    /// the last one. `None` before the first test.
    pub fn discovery_probability(&self) -> Option<f64> {
        (self.tests > 0).then(|| self.tests_with_unique_targets() as f64 / self.tests as f64)
    }

    /// Returns an upper bound of that probability, with this confidence (0.95, for example).
    ///
    /// This is Esty's normal bound for Good and Turing's estimate, which accounts for the variation
    /// both of the estimate and of what is left to discover, with Wilson's correction for few
    /// discoveries. It treats tests as independent draws. Random tests are; tests that learn from
    /// earlier ones are not.
    pub fn discovery_bound(&self, confidence: f64) -> f64 {
        if self.tests == 0 {
            return 1.0;
        }
        let tests = self.tests as f64;
        let share = self.tests_with_unique_targets() as f64 / tests;
        let almost = self.tests_with_targets_of_two() as f64 / tests;
        let deviations = normal_quantile(confidence);
        let square = deviations * deviations;
        let variance = share * (1.0 - share) + almost;
        let middle = share + square / (2.0 * tests);
        let width = deviations * (variance / tests + square / (4.0 * tests * tests)).sqrt();
        ((middle + width) / (1.0 + square / tests)).min(1.0)
    }

    /// Estimates how many reachable targets were never touched (Chao's lower bound).
    pub fn estimate_unseen(&self) -> f64 {
        let once = self.targets_touched_by(1) as f64;
        let twice = self.targets_touched_by(2) as f64;
        let tests = (self.tests as f64).max(1.0);
        // The form that does not divide by zero if nothing was touched twice.
        (tests - 1.0) / tests * once * (once - 1.0).max(0.0) / (2.0 * (twice + 1.0))
    }

    /// Returns the number of tests that touched something no other test did.
    fn tests_with_unique_targets(&self) -> u64 {
        self.tests_touching_rare(1).len() as u64
    }

    /// Returns the number of other tests that touched something only one more test did.
    fn tests_with_targets_of_two(&self) -> u64 {
        let discoverers = self.tests_touching_rare(1);
        let mut tests = self.tests_touching_rare(2);
        tests.retain(|test| discoverers.binary_search(test).is_err());
        tests.len() as u64
    }

    /// Returns the tests, in order, that touched something exactly `count` tests touched. `count`
    /// is 1 or 2, since only the first and the last test of each target are recorded.
    fn tests_touching_rare(&self, count: u64) -> Vec<u64> {
        let targets = self.targets.iter().filter(|target| target.count == count);
        let mut tests: Vec<u64> = targets
            .flat_map(|target| [target.first, target.last])
            .collect();
        tests.sort_unstable();
        tests.dedup();
        tests
    }
}

/// Returns an upper bound, with this confidence, of the probability that the next test fails after
/// this many tests without a failure. This is the classic bound of software reliability, about 3 /
/// tests for 0.95.
pub fn residual_risk(tests: u64, confidence: f64) -> f64 {
    if tests == 0 {
        return 1.0;
    }
    1.0 - (1.0 - confidence).powf(1.0 / tests as f64)
}

/// TSTL's stopping rule: tests are dealt to several sessions in turn, and testing stops when all
/// sessions have touched the same targets.
#[derive(Clone, Debug)]
pub struct Sessions {
    touched: Vec<Coverage>,
    tests: usize,
}

impl Sessions {
    /// Creates this many sessions; four is usual.
    pub fn new(count: usize) -> Sessions {
        Sessions {
            touched: vec![Coverage::default(); count.max(1)],
            tests: 0,
        }
    }

    /// Adds the coverage of one test. The first one is ignored: it touches what is touched only
    /// once in a process.
    pub fn add(&mut self, touched: &Coverage) {
        if self.tests > 0 {
            let session = (self.tests - 1) % self.touched.len();
            self.touched[session].merge(touched);
        }
        self.tests += 1;
    }

    /// Returns true if each session had a test and all sessions have touched the same targets.
    pub fn have_same_coverage(&self) -> bool {
        self.tests > self.touched.len()
            && self
                .touched
                .iter()
                .all(|touched| *touched == self.touched[0])
    }
}

/// Returns how many standard deviations above the mean a normal variable stays below with this
/// probability (at least one half), after Abramowitz and Stegun 26.2.23, to three digits.
fn normal_quantile(probability: f64) -> f64 {
    let tail = (1.0 - probability).clamp(1e-12, 0.5);
    let root = (-2.0 * tail.ln()).sqrt();
    let above = 2.515_517 + root * (0.802_853 + root * 0.010_328);
    let below = 1.0 + root * (1.432_788 + root * (0.189_269 + root * 0.001_308));
    root - above / below
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Random, TargetId};

    fn touched(targets: &[u32]) -> Coverage {
        targets.iter().copied().map(TargetId).collect()
    }

    #[test]
    fn rare_targets_predict_unseen_ones() {
        let mut saturation = Saturation::default();
        assert_eq!(
            (
                saturation.discovery_probability(),
                saturation.discovery_bound(0.95)
            ),
            (None, 1.0)
        );
        saturation.add(&touched(&[0, 1]));
        saturation.add(&touched(&[0, 2, 3]));
        saturation.add(&touched(&[0]));
        saturation.add(&touched(&[0]));
        assert_eq!(saturation.touched_targets(), 4);
        assert_eq!(saturation.targets_touched_by(1), 3);
        assert_eq!(saturation.expected_new_targets(), Some(0.75));
        assert_eq!(saturation.discovery_probability(), Some(0.5));
        assert!(saturation.discovery_bound(0.95) > 0.5);
        assert!(saturation.estimate_unseen() > 1.0);
        assert_eq!(residual_risk(0, 0.95), 1.0);
        assert!((residual_risk(300, 0.95) - 0.00994).abs() < 0.0001);
    }

    #[test]
    fn the_bound_holds_with_its_confidence() {
        // 200 targets, the rarest with a probability of 1/200 in each test.
        let mut held = 0;
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let mut saturation = Saturation::default();
            let mut draw = || -> Vec<u32> {
                (0..200)
                    .filter(|target| random.below(u64::from(*target) + 1) == 0)
                    .collect()
            };
            let mut seen = Coverage::default();
            for _ in 0..100 {
                let test = touched(&draw());
                seen.merge(&test);
                saturation.add(&test);
            }
            let missed = (0..200u32).filter(|target| !seen.contains(TargetId(*target)));
            let nothing_new: f64 = missed
                .map(|target| 1.0 - 1.0 / f64::from(target + 1))
                .product();
            held += u32::from(1.0 - nothing_new <= saturation.discovery_bound(0.95));
        }
        // 190 are expected; 184 is two standard deviations below.
        assert!(held >= 184, "{held}");
    }

    #[test]
    fn quantiles_are_good_to_three_digits() {
        for (probability, expected) in [(0.95, 1.645), (0.975, 1.960), (0.99, 2.326), (0.5, 0.0)] {
            assert!((normal_quantile(probability) - expected).abs() < 0.001);
        }
    }

    #[test]
    fn sessions_agree_once_they_have_touched_the_same() {
        let mut sessions = Sessions::new(2);
        for targets in [&[0, 9][..], &[0], &[1], &[1]] {
            sessions.add(&touched(targets));
            assert!(!sessions.have_same_coverage());
        }
        sessions.add(&touched(&[0]));
        assert!(
            sessions.have_same_coverage(),
            "what only the first test touched does not count"
        );
    }
}
