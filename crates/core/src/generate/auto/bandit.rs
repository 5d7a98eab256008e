//! Sharing out a budget by what paid lately.
//!
//! The arms of a bandit each pay at an unknown rate, here new targets per step, and the rates fall as there is less and
//! less to find. So what was seen is forgotten by and by, and an arm is never given up:
//!
//! - Each arm's rate is estimated from what it paid lately, drawn towards the rate of all together as long as little is
//!   known of it.
//! - Its share of the choices is proportional to the *square* of that rate: twice as good, four times as often. (In
//!   proportion to the rate itself, a dozen poor arms would take most of the budget from a good one.)
//! - A part of the budget is shared out without regard to all this.
//!
//! When nothing was found for a while, all rates are zero, and the shares are what they were at the beginning: the
//! search goes back to being as diverse as it can. That is all there is to it; Thompson sampling and its like promise
//! more where rates stay the same, but need logarithms and powers, whose last bit differs between machines. Sums,
//! products and quotients do not, and the same seed must make the same tests everywhere.

use super::super::class_draw::drawn;
use crate::Random;

/// Which part of the budget is shared out whatever was found.
const FLOOR: f64 = 0.3;

/// What is left after each test of what was seen before: about a hundred tests are remembered.
const MEMORY: f64 = 0.99;

/// How many tests of all together are worth as much as those of an arm itself.
const TRUST: f64 = 1.5;

/// Arms and what they paid.
#[derive(Clone, Debug)]
pub(super) struct Bandit {
    arms: Vec<Arm>,
    /// How many tests are remembered.
    tests: f64,
    shares: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Arm {
    /// The share it has as long as nothing is known.
    base: f64,
    steps: f64,
    paid: f64,
}

impl Bandit {
    /// Arms with these shares to begin with.
    pub(super) fn new(bases: &[f64]) -> Bandit {
        let arm = |base: &f64| Arm {
            base: *base,
            steps: 0.0,
            paid: 0.0,
        };
        let mut bandit = Bandit {
            arms: bases.iter().map(arm).collect(),
            tests: 0.0,
            shares: Vec::new(),
        };
        bandit.share_out();
        bandit
    }

    /// The part of the choices that each arm has now; all together 1.
    pub(super) fn shares(&self) -> &[f64] {
        &self.shares
    }

    pub(super) fn choose(&self, random: &mut Random) -> usize {
        drawn(&self.shares, random).unwrap_or(0)
    }

    /// Tells what a choice came to.
    pub(super) fn learn(&mut self, chosen: usize, paid: u64, steps: u64) {
        for arm in &mut self.arms {
            arm.paid *= MEMORY;
            arm.steps *= MEMORY;
        }
        self.tests = self.tests * MEMORY + 1.0;
        let arm = &mut self.arms[chosen];
        arm.paid += paid as f64;
        arm.steps += steps as f64;
        self.share_out();
    }

    fn share_out(&mut self) {
        let paid: f64 = self.arms.iter().map(|arm| arm.paid).sum();
        let steps: f64 = self.arms.iter().map(|arm| arm.steps).sum();
        let bases: f64 = self.arms.iter().map(|arm| arm.base).sum();
        // What was paid long ago is next to nothing, but never quite zero.
        let mean = if paid < 0.05 { 0.0 } else { paid / steps };
        let trust = TRUST * steps / self.tests;
        let worth = |arm: &Arm| {
            if mean == 0.0 {
                return arm.base;
            }
            let rate = (arm.paid + trust * mean) / (arm.steps + trust) / mean;
            arm.base * rate * rate
        };
        let total: f64 = self.arms.iter().map(worth).sum();
        let share = |arm: &Arm| FLOOR * arm.base / bases + (1.0 - FLOOR) * worth(arm) / total;
        self.shares.clear();
        self.shares.extend(self.arms.iter().map(share));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pays_is_chosen_more_often_and_nothing_is_given_up() {
        let mut bandit = Bandit::new(&[1.0; 8]);
        let mut random = Random::new(1);
        for _ in 0..300 {
            let arm = bandit.choose(&mut random);
            bandit.learn(arm, if arm == 5 { 2 } else { 0 }, 100);
        }
        let shares = bandit.shares();
        assert!(shares[5] > 0.5, "{shares:?}");
        assert!(shares.iter().all(|share| *share > 0.03), "{shares:?}");
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn when_nothing_pays_any_more_all_are_alike_again() {
        let mut bandit = Bandit::new(&[1.0, 2.0, 1.0]);
        for test in 0..99 {
            bandit.learn(test % 3, u64::from(test % 3 == 0), 100);
        }
        assert!(bandit.shares()[0] > 0.6, "{:?}", bandit.shares());
        for _ in 0..1_000 {
            bandit.learn(0, 0, 100);
        }
        assert_eq!(bandit.shares(), [0.25, 0.5, 0.25]);
    }

    #[test]
    fn it_follows_what_changes() {
        let mut bandit = Bandit::new(&[1.0; 4]);
        let mut random = Random::new(7);
        for good in [1, 3] {
            for _ in 0..600 {
                let arm = bandit.choose(&mut random);
                bandit.learn(arm, u64::from(arm == good), 100);
            }
            assert!(bandit.shares()[good] > 0.6, "{:?}", bandit.shares());
        }
    }
}
