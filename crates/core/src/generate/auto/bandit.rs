//! A multi-armed bandit: shares a budget by recent results.
//!
//! The arms of a bandit each pay at an unknown rate, here new targets per step, and the rates fall
//! as there is less and less to find. So old results are gradually forgotten, and an arm is never
//! given up:
//!
//! - Each arm's rate is estimated from its recent results, drawn towards the overall rate while
//!   little is known about it.
//! - Its share of the choices is proportional to the *square* of that rate: twice as good, four times as often. (In
//!   proportion to the rate itself, a dozen poor arms would take most of the budget from a good one.)
//! - A part of the budget is shared by the initial shares alone.
//!
//! When nothing was found for a while, all rates are zero, and the shares return to their initial
//! values: the search becomes as diverse as it can be. Thompson sampling and its like promise more
//! where rates stay the same, but need logarithms and powers, whose last bit differs between
//! machines. Sums, products and quotients do not, and the same seed must generate the same tests
//! everywhere.

use super::super::class_draw::draw_index;
use crate::Random;

/// The part of the budget that is shared by the initial shares alone.
const FIXED_SHARE: f64 = 0.3;

/// The factor by which old results decay with each test: about a hundred tests are remembered.
const DECAY: f64 = 0.99;

/// The weight of the overall rate, in tests, when an arm's rate is estimated.
const PRIOR_TESTS: f64 = 1.5;

/// Arms and their results.
#[derive(Clone, Debug)]
pub(super) struct Bandit {
    arms: Vec<ArmStats>,
    /// The decayed number of tests.
    tests: f64,
    shares: Vec<f64>,
}

/// The decayed results of one arm.
#[derive(Clone, Copy, Debug)]
struct ArmStats {
    /// The initial share.
    initial_share: f64,
    steps: f64,
    reward: f64,
}

impl Bandit {
    /// Creates arms with these initial shares.
    pub(super) fn new(initial_shares: &[f64]) -> Bandit {
        let arm = |initial_share: &f64| ArmStats {
            initial_share: *initial_share,
            steps: 0.0,
            reward: 0.0,
        };
        let mut bandit = Bandit {
            arms: initial_shares.iter().map(arm).collect(),
            tests: 0.0,
            shares: Vec::new(),
        };
        bandit.update_shares();
        bandit
    }

    /// Returns the current share of each arm. They sum to 1.
    pub(super) fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// Draws an arm by its share.
    pub(super) fn choose(&self, random: &mut Random) -> usize {
        draw_index(&self.shares, random).unwrap_or(0)
    }

    /// Records the result of a choice.
    pub(super) fn learn(&mut self, chosen: usize, reward: u64, steps: u64) {
        for arm in &mut self.arms {
            arm.reward *= DECAY;
            arm.steps *= DECAY;
        }
        self.tests = self.tests * DECAY + 1.0;
        let arm = &mut self.arms[chosen];
        arm.reward += reward as f64;
        arm.steps += steps as f64;
        self.update_shares();
    }

    /// Recomputes the shares.
    fn update_shares(&mut self) {
        let reward: f64 = self.arms.iter().map(|arm| arm.reward).sum();
        let steps: f64 = self.arms.iter().map(|arm| arm.steps).sum();
        let initial_shares: f64 = self.arms.iter().map(|arm| arm.initial_share).sum();
        // Old results decay to next to nothing, but never quite to zero.
        let mean = if reward < 0.05 { 0.0 } else { reward / steps };
        let prior_steps = PRIOR_TESTS * steps / self.tests;
        let weight = |arm: &ArmStats| {
            if mean == 0.0 {
                return arm.initial_share;
            }
            let rate = (arm.reward + prior_steps * mean) / (arm.steps + prior_steps) / mean;
            arm.initial_share * rate * rate
        };
        let total: f64 = self.arms.iter().map(weight).sum();
        let share = |arm: &ArmStats| {
            FIXED_SHARE * arm.initial_share / initial_shares
                + (1.0 - FIXED_SHARE) * weight(arm) / total
        };
        self.shares.clear();
        self.shares.extend(self.arms.iter().map(share));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_arms_are_chosen_more_often_and_none_is_given_up() {
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
    fn the_bandit_follows_changing_rewards() {
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
