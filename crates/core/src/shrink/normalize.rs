//! Normalization: rewrites equivalent tests into one canonical test.
//!
//! Reduction leaves out steps. The rest still has randomly drawn values and slots: `int3 = 17`
//! where `int0 = 1` would do. Two tests for one bug look different for no reason, and a reader
//! wonders whether the 17 matters. So a test is rewritten, rule by rule, as long as it achieves the
//! goal and becomes *lower*.
//!
//! # The order
//!
//! A test is lower than another if it is shorter; or equally long, and its actions, sorted from the
//! highest down, come first in catalog order (which is harness order); or it has the same
//! actions, and the sequence itself comes first. There are finitely many tests up to a given
//! length, and each step down this order is strict, so normalization ends. With
//! [`NormalizeOptions::no_reassigns`], the number of steps that overwrite a slot counts right after
//! the length.
//!
//! # The rules
//!
//! | rule | a test becomes lower by |
//! |---|---|
//! | NoReassigns | a slot of its own for a value that would overwrite another (only on request) |
//! | SimplifyAll | a lower action in place of all equal steps |
//! | ReplacePool | a lower slot for a value, from its definition to its last use, or throughout the test |
//! | ReplaceMovePool | a lower slot for a value, after moving steps out of the way |
//! | SimplifySingle | a lower action in place of one step |
//! | SwapPool | a swap of two slots of a pool, from some definition on |
//! | SwapAction | a swap of two steps |
//! | ReduceAction | some other action in place of a step, so that another step can be removed |
//!
//! The rules are TSTL's. It tries all actions of lower number at every step, which takes forever
//! for a harness with a hundred thousand actions. Since we know the structure of an action, we try
//! fewer candidates, in this order: the same template with its first alternatives; alternatives one
//! by one where there are few, else by bisection, which finds the smallest that works if all above
//! it work; lower slots; then earlier templates, those first that fill and use the same pools, with
//! the current slots. Candidates that slots forbid are never run, and the guards of all candidates
//! are checked together, after one run of the preceding steps. [`Speed`] limits the number of other
//! actions per step.
//!
//! The result is a fixed point: no rule, and no removal, can improve it. So normalization is
//! idempotent.

mod lower;
mod slots;

use std::cmp::Ordering;

use super::dataflow;
use super::reduce::{ReduceMethod, ReductionState};
use super::shrinker::{Shrinker, Shrunk};
use super::trials::{ReduceError, ShrinkStop};
use crate::{Catalog, Step, System, Test};

/// The effort of a search for simpler or equivalent tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Speed {
    /// Up to 16 other actions per step, one of each template. Steps are swapped if they are at most
    /// 12 apart.
    #[default]
    Fast,
    /// Up to 400 other actions per step, up to 40 of each template. Any two steps are swapped.
    Thorough,
}

impl Speed {
    /// Returns the maximum number of actions of other templates to try instead of a step.
    pub(super) fn max_other_actions(self) -> usize {
        match self {
            Speed::Fast => 16,
            Speed::Thorough => 400,
        }
    }

    /// Returns the maximum number of actions to try per template.
    pub(super) fn max_template_actions(self) -> u64 {
        match self {
            Speed::Fast => 1,
            Speed::Thorough => 40,
        }
    }

    /// Returns the maximum distance of two steps that are swapped.
    fn max_swap_distance(self) -> usize {
        match self {
            Speed::Fast => 12,
            Speed::Thorough => usize::MAX,
        }
    }

    /// Returns the maximum number of actions to try in order to remove another step.
    fn max_replacements(self) -> usize {
        match self {
            Speed::Fast => 3,
            Speed::Thorough => 60,
        }
    }
}

/// Options of normalization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NormalizeOptions {
    /// The effort of a search for simpler or equivalent tests.
    pub speed: Speed,
    /// Prefer tests that never fill a slot twice.
    pub no_reassigns: bool,
    /// The maximum Levenshtein distance between the texts of an action and its replacement.
    pub max_text_distance: Option<usize>,
}

/// One of the [rules](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NormalizeRule {
    /// Give a value its own slot instead of overwriting another.
    NoReassigns,
    /// Replace all equal steps by a lower action.
    SimplifyAll,
    /// Give a value a lower slot, also after moving steps out of the way.
    ReplacePool,
    /// Replace one step by a lower action.
    SimplifySingle,
    /// Swap two slots of a pool.
    SwapPool,
    /// Swap two steps.
    SwapAction,
    /// Replace a step by any other action so that another step can be removed.
    ReduceAction,
}

impl NormalizeRule {
    /// All rules, in the order in which they are tried.
    pub const ALL: [NormalizeRule; 7] = [
        NormalizeRule::NoReassigns,
        NormalizeRule::SimplifyAll,
        NormalizeRule::ReplacePool,
        NormalizeRule::SimplifySingle,
        NormalizeRule::SwapPool,
        NormalizeRule::SwapAction,
        NormalizeRule::ReduceAction,
    ];
}

impl<S: System + ?Sized> Shrinker<'_, S> {
    /// Rewrites a test into its canonical form. The result is never longer.
    pub fn normalize(
        &mut self,
        test: &Test,
        options: &NormalizeOptions,
    ) -> Result<Shrunk, ReduceError> {
        let method = self.method();
        self.shrink(test, |reducer| {
            reducer.reproduce()?;
            Normalizer { reducer, options }.normalize(method)
        })
    }

    /// Applies a single rule as often as possible. Returns `None` if it changes nothing.
    pub fn apply(
        &mut self,
        rule: NormalizeRule,
        test: &Test,
        options: &NormalizeOptions,
    ) -> Result<Option<Shrunk>, ReduceError> {
        let mut changed = false;
        let shrunk = self.shrink(test, |reducer| {
            reducer.reproduce()?;
            changed = Normalizer { reducer, options }.apply(rule)?;
            Ok(())
        })?;
        Ok(changed.then_some(shrunk))
    }
}

/// A test that is being rewritten.
struct Normalizer<'r, 't, 'a, S: System + ?Sized> {
    reducer: &'r mut ReductionState<'t, 'a, S>,
    options: &'r NormalizeOptions,
}

impl<S: System + ?Sized> Normalizer<'_, '_, '_, S> {
    /// Applies removal and all rules until nothing changes.
    fn normalize(&mut self, method: ReduceMethod) -> Result<(), ShrinkStop> {
        self.reducer.remove_by(method)?;
        loop {
            while self.rewrite()? | self.remove_unneeded_steps()? {}
            // The rewritten test may allow the removal of larger blocks.
            if !self.reducer.remove_by(method)? {
                return Ok(());
            }
        }
    }

    /// Applies every rule once. Returns true if the test changed.
    fn rewrite(&mut self) -> Result<bool, ShrinkStop> {
        let mut changed = false;
        for rule in NormalizeRule::ALL {
            if rule != NormalizeRule::NoReassigns || self.options.no_reassigns {
                changed |= self.apply(rule)?;
            }
        }
        Ok(changed)
    }

    /// Applies one rule. Returns true if the test changed.
    fn apply(&mut self, rule: NormalizeRule) -> Result<bool, ShrinkStop> {
        match rule {
            NormalizeRule::NoReassigns => self.remove_reassigns(),
            NormalizeRule::SimplifyAll => self.simplify_all(),
            NormalizeRule::ReplacePool => self.replace_slots(),
            NormalizeRule::SimplifySingle => self.simplify_single(),
            NormalizeRule::SwapPool => self.swap_slots(),
            NormalizeRule::SwapAction => self.swap_steps(),
            NormalizeRule::ReduceAction => self.replace_and_remove(),
        }
    }

    /// Removes steps that are no longer needed. Returns true if the test changed.
    fn remove_unneeded_steps(&mut self) -> Result<bool, ShrinkStop> {
        let removed = self.reducer.remove_single_steps()?;
        // Reusing a value may overwrite its slot.
        let reused = !self.options.no_reassigns && self.reducer.reuse_values()?;
        Ok(removed | reused)
    }

    /// Returns the catalog of the system.
    fn catalog(&self) -> &Catalog {
        self.reducer.trials.system.actions()
    }

    /// Returns the steps of the current test.
    fn steps(&self) -> &[Step] {
        &self.reducer.current.steps
    }

    /// Returns the number of steps that may be replaced or moved: all, or all but the last.
    fn movable_len(&self) -> usize {
        let kept = usize::from(self.reducer.trials.keep_last);
        self.steps().len().saturating_sub(kept)
    }

    /// Accepts a candidate if it is lower and achieves the goal. Returns true if it was accepted.
    fn attempt(&mut self, steps: Vec<Step>, kept: Vec<usize>) -> Result<bool, ShrinkStop> {
        let ends_alike = kept.last() == self.reducer.current.kept.last();
        if self.reducer.trials.keep_last && !ends_alike {
            return Ok(false);
        }
        if !self.is_promising(&steps) || self.compare(&steps) != Ordering::Less {
            return Ok(false);
        }
        self.reducer.attempt(steps, kept)
    }

    /// Accepts a candidate with the same number of steps as the current test.
    fn attempt_in_place(&mut self, steps: Vec<Step>) -> Result<bool, ShrinkStop> {
        let kept = self.reducer.current.kept.clone();
        self.attempt(steps, kept)
    }

    /// Returns true if the slots of a candidate allow as many steps as now.
    fn is_promising(&self, steps: &[Step]) -> bool {
        let reassigns = |steps: &[Step]| dataflow::count_reassigns(self.catalog(), steps);
        !self.reducer.disables_more(steps)
            && (!self.options.no_reassigns || reassigns(steps) <= reassigns(self.steps()))
    }

    /// Compares a candidate with the current test.
    fn compare(&self, steps: &[Step]) -> Ordering {
        let rank =
            |steps: &[Step]| TestRank::for_steps(self.catalog(), steps, self.options.no_reassigns);
        rank(steps).cmp(&rank(self.steps()))
    }

    /// Swaps two steps if the later one is lower: neighbors first, then steps further apart.
    fn swap_steps(&mut self) -> Result<bool, ShrinkStop> {
        let mut changed = false;
        let mut distance = 1;
        while distance < self.movable_len() && distance <= self.options.speed.max_swap_distance() {
            let mut succeeded = false;
            for later in distance..self.movable_len() {
                let mut steps = self.steps().to_vec();
                let mut kept = self.reducer.current.kept.clone();
                if later >= steps.len() || key(steps[later]) >= key(steps[later - distance]) {
                    continue;
                }
                steps.swap(later, later - distance);
                kept.swap(later, later - distance);
                succeeded |= self.attempt(steps, kept)?;
            }
            changed |= succeeded;
            distance = if succeeded { 1 } else { distance + 1 };
        }
        Ok(changed)
    }
}

/// The rank of a test in the order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct TestRank {
    length: usize,
    reassigns: usize,
    /// The actions, from the highest down.
    sorted: Vec<u64>,
    sequence: Vec<u64>,
}

impl TestRank {
    /// Computes the rank of a test.
    fn for_steps(catalog: &Catalog, steps: &[Step], no_reassigns: bool) -> TestRank {
        let sequence: Vec<u64> = steps.iter().copied().map(key).collect();
        let mut sorted = sequence.clone();
        sorted.sort_unstable_by(|one, other| other.cmp(one));
        let reassigns = if no_reassigns {
            dataflow::count_reassigns(catalog, steps)
        } else {
            0
        };
        TestRank {
            length: steps.len(),
            reassigns,
            sorted,
            sequence,
        }
    }
}

/// Returns the sort key of a step. A restart is higher than any action.
fn key(step: Step) -> u64 {
    match step {
        Step::Act(action) => action.0,
        Step::Restart => u64::MAX,
    }
}

#[cfg(test)]
mod tests;
