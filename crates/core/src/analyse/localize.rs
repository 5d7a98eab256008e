//! Fault localisation: which parts of the code are touched by tests that fail, and not by tests that pass.
//!
//! Nothing but coverage goes in. For each target it is counted how many failing and how many passing tests touch it, and
//! a [`Formula`] turns the counts into how suspicious it is. Reduced failing tests and many passing ones work best.

use crate::{Coverage, TargetId};

/// How often a target is touched, and by whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How many failing tests touch it.
    pub failing: u64,
    /// How many passing tests touch it.
    pub passing: u64,
    /// How many failing tests there are.
    pub all_failing: u64,
    /// How many passing tests there are.
    pub all_passing: u64,
}

/// How suspicious counts are. With *f* and *p* failing and passing tests that touch a target, of *F* and *P* in all:
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Formula {
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

impl Formula {
    /// How suspicious a target with these counts is; 0 where the formula does not say.
    pub fn score(self, counts: Counts) -> f64 {
        let [failing, passing, all_failing, all_passing] = [
            counts.failing,
            counts.passing,
            counts.all_failing,
            counts.all_passing,
        ]
        .map(|count| count as f64);
        let ratio = |part: f64, whole: f64| if whole == 0.0 { 0.0 } else { part / whole };
        match self {
            Formula::Ochiai => ratio(failing, (all_failing * (failing + passing)).sqrt()),
            Formula::Tarantula => {
                let share = ratio(failing, all_failing);
                ratio(share, share + ratio(passing, all_passing))
            }
            Formula::DStar if failing == 0.0 => 0.0,
            Formula::DStar => failing * failing / (passing + all_failing - failing),
            Formula::Op2 => failing - passing / (all_passing + 1.0),
        }
    }
}

/// A target and how suspicious it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suspect {
    /// The target.
    pub target: TargetId,
    /// How suspicious it is.
    pub score: f64,
    /// Its place, from 1; those with equal scores share the best of their places.
    pub rank: usize,
    /// How many have this score. A person who looks at all of them sees at most `rank + ties - 1` targets.
    pub ties: usize,
    /// What the score is made of.
    pub counts: Counts,
}

/// Who touched what: the coverage of tests that failed and of tests that passed.
#[derive(Clone, Debug, Default)]
pub struct Spectrum {
    /// By target: how many failing and passing tests touch it.
    touched: Vec<(u64, u64)>,
    failing: u64,
    passing: u64,
}

impl Spectrum {
    /// Adds a test.
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

    /// How often a target was touched.
    pub fn counts(&self, target: TargetId) -> Counts {
        let (failing, passing) = self
            .touched
            .get(target.0 as usize)
            .copied()
            .unwrap_or_default();
        Counts {
            failing,
            passing,
            all_failing: self.failing,
            all_passing: self.passing,
        }
    }

    /// All targets that a failing test touches, the most suspicious first, equal ones in order.
    pub fn rank(&self, formula: Formula) -> Vec<Suspect> {
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

    fn counts(failing: u64, passing: u64) -> Counts {
        Counts {
            failing,
            passing,
            all_failing: 4,
            all_passing: 9,
        }
    }

    #[test]
    fn the_formulas() {
        let score = |formula: Formula, failing, passing| formula.score(counts(failing, passing));
        assert_eq!(score(Formula::Ochiai, 4, 0), 1.0);
        assert_eq!(score(Formula::Ochiai, 2, 2), 0.5);
        assert_eq!(score(Formula::Ochiai, 0, 0), 0.0);
        assert_eq!(score(Formula::Tarantula, 4, 9), 0.5);
        assert_eq!(score(Formula::Tarantula, 1, 0), 1.0);
        assert_eq!(score(Formula::DStar, 4, 0), f64::INFINITY);
        assert_eq!(score(Formula::DStar, 2, 2), 1.0);
        assert_eq!(score(Formula::DStar, 0, 0), 0.0);
        assert_eq!(score(Formula::Op2, 4, 5), 3.5);
        for formula in [
            Formula::Ochiai,
            Formula::Tarantula,
            Formula::DStar,
            Formula::Op2,
        ] {
            assert!(!formula.score(Counts::default()).is_nan());
        }
    }

    #[test]
    fn the_culprit_is_on_top_and_ties_are_told() {
        let touched = |targets: &[u32]| targets.iter().copied().map(TargetId).collect::<Coverage>();
        let mut spectrum = Spectrum::default();
        spectrum.add(&touched(&[0, 1, 5]), true);
        spectrum.add(&touched(&[0, 1, 5, 6]), true);
        spectrum.add(&touched(&[0, 1]), false);
        spectrum.add(&touched(&[0, 1, 2]), false);
        for formula in [
            Formula::Ochiai,
            Formula::Tarantula,
            Formula::DStar,
            Formula::Op2,
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
