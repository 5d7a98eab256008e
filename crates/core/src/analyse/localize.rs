//! Fault localisation: which parts of the code are touched by tests that fail, and not by tests that pass.
//!
//! The only input is coverage. For each target, the failing and passing tests that touch it are
//! counted, and a [`SuspicionFormula`] turns the counts into a score. Reduced failing tests and
//! many passing ones work best.

use crate::{Coverage, TargetId};

/// The number of failing and passing tests that touch a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TouchCounts {
    /// Failing tests that touch the target.
    pub failing: u64,
    /// Passing tests that touch the target.
    pub passing: u64,
    /// All failing tests.
    pub all_failing: u64,
    /// All passing tests.
    pub all_passing: u64,
}

/// A formula that turns counts into a suspicion score. With *f* and *p* failing and passing tests
/// that touch a target, of *F* and *P* in all:
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SuspicionFormula {
    /// f / √(F · (f + p)), from 0 to 1.
    #[default]
    Ochiai,
    /// (f/F) / (f/F + p/P), from 0 to 1.
    Tarantula,
    /// f² / (p + F − f): infinite for what all failing tests touch and no passing one does.
    DStar,
    /// f − p / (P + 1): made for programs with a single fault.
    Op2,
}

impl SuspicionFormula {
    /// Computes how suspicious a target with these counts is; 0 where the formula is undefined.
    pub fn score(self, counts: TouchCounts) -> f64 {
        let [failing, passing, all_failing, all_passing] = [
            counts.failing,
            counts.passing,
            counts.all_failing,
            counts.all_passing,
        ]
        .map(|count| count as f64);
        let ratio = |part: f64, whole: f64| if whole == 0.0 { 0.0 } else { part / whole };
        match self {
            SuspicionFormula::Ochiai => ratio(failing, (all_failing * (failing + passing)).sqrt()),
            SuspicionFormula::Tarantula => {
                let share = ratio(failing, all_failing);
                ratio(share, share + ratio(passing, all_passing))
            }
            SuspicionFormula::DStar if failing == 0.0 => 0.0,
            SuspicionFormula::DStar => failing * failing / (passing + all_failing - failing),
            SuspicionFormula::Op2 => failing - passing / (all_passing + 1.0),
        }
    }
}

/// A target and how suspicious it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suspect {
    /// The target.
    pub target: TargetId,
    /// Its suspicion score.
    pub score: f64,
    /// Its rank, from 1. Targets with equal scores share the best rank.
    pub rank: usize,
    /// The number of targets with this score. A person who reads them all sees at most `rank + ties
    /// - 1` targets.
    pub ties: usize,
    /// The counts behind the score.
    pub counts: TouchCounts,
}

/// The coverage of failing and passing tests, counted by target.
#[derive(Clone, Debug, Default)]
pub struct Spectrum {
    /// By target: the numbers of failing and passing tests that touch it.
    touched: Vec<(u64, u64)>,
    failing: u64,
    passing: u64,
}

impl Spectrum {
    /// Adds the coverage of one test.
    pub fn add(&mut self, touched: &Coverage, failed: bool) {
        for target in touched.iter() {
            let index = target.0 as usize;
            if index >= self.touched.len() {
                self.touched.resize(index + 1, (0, 0));
            }
            let (failing, passing) = &mut self.touched[index];
            *if failed { failing } else { passing } += 1;
        }
        *if failed {
            &mut self.failing
        } else {
            &mut self.passing
        } += 1;
    }

    /// Returns the counts of a target.
    pub fn counts(&self, target: TargetId) -> TouchCounts {
        let (failing, passing) = self
            .touched
            .get(target.0 as usize)
            .copied()
            .unwrap_or_default();
        TouchCounts {
            failing,
            passing,
            all_failing: self.failing,
            all_passing: self.passing,
        }
    }

    /// Ranks all targets that a failing test touches, the most suspicious first, equal ones in
    /// order.
    pub fn rank(&self, formula: SuspicionFormula) -> Vec<Suspect> {
        let all = (0..self.touched.len() as u32).map(TargetId);
        let mut suspects: Vec<Suspect> = all
            .map(|target| {
                let counts = self.counts(target);
                Suspect {
                    target,
                    score: formula.score(counts),
                    rank: 0,
                    ties: 0,
                    counts,
                }
            })
            .filter(|suspect| suspect.counts.failing > 0)
            .collect();
        suspects.sort_by(|one, other| {
            other
                .score
                .total_cmp(&one.score)
                .then(one.target.cmp(&other.target))
        });
        let mut start = 0;
        while start < suspects.len() {
            let score = suspects[start].score;
            let ties = suspects[start..]
                .iter()
                .take_while(|suspect| suspect.score == score)
                .count();
            for suspect in &mut suspects[start..start + ties] {
                suspect.rank = start + 1;
                suspect.ties = ties;
            }
            start += ties;
        }
        suspects
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(failing: u64, passing: u64) -> TouchCounts {
        TouchCounts {
            failing,
            passing,
            all_failing: 4,
            all_passing: 9,
        }
    }

    #[test]
    fn the_formulas() {
        let score =
            |formula: SuspicionFormula, failing, passing| formula.score(counts(failing, passing));
        assert_eq!(score(SuspicionFormula::Ochiai, 4, 0), 1.0);
        assert_eq!(score(SuspicionFormula::Ochiai, 2, 2), 0.5);
        assert_eq!(score(SuspicionFormula::Ochiai, 0, 0), 0.0);
        assert_eq!(score(SuspicionFormula::Tarantula, 4, 9), 0.5);
        assert_eq!(score(SuspicionFormula::Tarantula, 1, 0), 1.0);
        assert_eq!(score(SuspicionFormula::DStar, 4, 0), f64::INFINITY);
        assert_eq!(score(SuspicionFormula::DStar, 2, 2), 1.0);
        assert_eq!(score(SuspicionFormula::DStar, 0, 0), 0.0);
        assert_eq!(score(SuspicionFormula::Op2, 4, 5), 3.5);
        for formula in [
            SuspicionFormula::Ochiai,
            SuspicionFormula::Tarantula,
            SuspicionFormula::DStar,
            SuspicionFormula::Op2,
        ] {
            assert!(!formula.score(TouchCounts::default()).is_nan());
        }
    }

    #[test]
    fn the_culprit_ranks_first_and_ties_are_counted() {
        let touched = |targets: &[u32]| targets.iter().copied().map(TargetId).collect::<Coverage>();
        let mut spectrum = Spectrum::default();
        spectrum.add(&touched(&[0, 1, 5]), true);
        spectrum.add(&touched(&[0, 1, 5, 6]), true);
        spectrum.add(&touched(&[0, 1]), false);
        spectrum.add(&touched(&[0, 1, 2]), false);
        for formula in [
            SuspicionFormula::Ochiai,
            SuspicionFormula::Tarantula,
            SuspicionFormula::DStar,
            SuspicionFormula::Op2,
        ] {
            let ranked = spectrum.rank(formula);
            assert_eq!(ranked[0].target, TargetId(5), "{formula:?}");
            assert_eq!(
                ranked.len(),
                4,
                "what no failing test touches is not suspicious"
            );
            let shared: Vec<_> = ranked
                .iter()
                .filter(|suspect| suspect.target.0 < 2)
                .collect();
            assert!(shared[0].rank > 1 && shared[0].ties >= 2, "{formula:?}");
            let equal = |suspect: &&Suspect| suspect.score == shared[0].score;
            assert_eq!(ranked.iter().filter(equal).count(), shared[0].ties);
            assert_eq!(shared[0].rank, shared[1].rank);
        }
    }
}
