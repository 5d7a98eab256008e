//! Reduction: removal of steps that the failure does not need.

use std::ops::Range;

use super::alpha::SlotNumbering;
use super::dataflow;
use super::goal::SameFailure;
use super::shrinker::Shrinker;
use super::trials::{Achieved, ReduceError, ShrinkStop, Trials};
use crate::{Failure, Step, System, Test};

/// The method of removing steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReduceMethod {
    /// Remove large blocks first, then single steps, continuing where the last success was.
    #[default]
    Greedy,
    /// Classic delta debugging: start over with halves after every success.
    Ddmin,
}

/// Options of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReduceOptions {
    /// The method of removing steps.
    pub method: ReduceMethod,
    /// Keep the action in which the test fails now.
    pub keep_last: bool,
    /// Check the invariants after every step; needed to see failures of properties.
    pub check: bool,
}

impl Default for ReduceOptions {
    fn default() -> ReduceOptions {
        ReduceOptions {
            method: ReduceMethod::Greedy,
            keep_last: false,
            check: true,
        }
    }
}

/// The result of a reduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// The reduced test.
    pub test: Test,
    /// The failure of the reduced test: the same bug, but its message may have other values.
    pub failure: Failure,
    /// The number of tests run.
    pub runs: u64,
    /// The number of runs saved since the answer was known.
    pub cached: u64,
    /// True if no single step can be left out. False if the reduction was stopped early.
    pub minimal: bool,
    /// The indices of the original steps that are left.
    pub kept: Vec<usize>,
}

/// Makes a test shorter while it fails the same way, then puts its slots in order.
///
/// The result is 1-minimal: no single step can be left out. `proceed` is called before each step;
/// once it returns `false` the best test so far is the result. See the [module](crate::shrink) for
/// the reasons.
pub fn reduce<S: System + ?Sized>(
    system: &mut S,
    test: &Test,
    failure: &Failure,
    options: &ReduceOptions,
    proceed: &mut dyn FnMut() -> bool,
) -> Result<Reduction, ReduceError> {
    let mut goal = SameFailure(failure.clone());
    let mut shrinker = Shrinker::new(system, &mut goal, options, proceed);
    let shrunk = shrinker.reduce(test)?;
    let effort = shrinker.effort();
    Ok(Reduction {
        test: shrunk.test,
        failure: shrunk.failure.unwrap_or_else(|| failure.clone()),
        runs: effort.runs,
        cached: effort.cached,
        minimal: shrunk.complete,
        kept: shrunk.kept,
    })
}

/// The best test so far, which achieves the goal.
#[derive(Clone)]
pub(super) struct CurrentTest {
    /// The steps. All of them are executed, and the last one fails if the goal is to fail.
    pub(super) steps: Vec<Step>,
    /// By step: its index in the original test.
    pub(super) kept: Vec<usize>,
    pub(super) failure: Option<Failure>,
}

/// A test that is being reduced. Passes propose candidates, [`attempt`](ReductionState::attempt)
/// accepts them.
pub(super) struct ReductionState<'t, 'a, S: System + ?Sized> {
    pub(super) trials: &'t mut Trials<'a, S>,
    /// The best test so far.
    pub(super) current: CurrentTest,
}

impl<'t, 'a, S: System + ?Sized> ReductionState<'t, 'a, S> {
    /// Starts with an unchanged test.
    pub(super) fn new(trials: &'t mut Trials<'a, S>, test: &Test) -> ReductionState<'t, 'a, S> {
        let current = CurrentTest {
            steps: test.steps.clone(),
            kept: (0..test.len()).collect(),
            failure: None,
        };
        ReductionState { trials, current }
    }
}

impl<S: System + ?Sized> ReductionState<'_, '_, S> {
    /// Runs all passes until nothing changes.
    pub(super) fn reduce(&mut self, method: ReduceMethod) -> Result<(), ShrinkStop> {
        self.reproduce()?;
        self.remove_by(method)?;
        // Each of these may make a step superfluous, and then the others may find something again.
        while self.reuse_values()? | self.replace_values()? | self.renumber()?
            && self.remove_single_steps()?
        {}
        Ok(())
    }

    /// Removes steps until the test is 1-minimal. Returns true if the test changed.
    pub(super) fn remove_by(&mut self, method: ReduceMethod) -> Result<bool, ShrinkStop> {
        let length = self.current.steps.len();
        match method {
            ReduceMethod::Greedy => {
                self.remove_blocks()?;
                self.remove_single_steps()?;
                // Steps that undo each other (push and pop) can only be removed together.
                while self.remove_each(2)? && self.remove_single_steps()? {}
            }
            ReduceMethod::Ddmin => self.ddmin()?,
        }
        Ok(self.current.steps.len() < length)
    }

    /// Runs the original test. The steps it executes up to the failure are the first test to
    /// reduce.
    pub(super) fn reproduce(&mut self) -> Result<(), ShrinkStop> {
        let achieved = self.trials.reproduce(&self.current.steps)?;
        let steps = self.current.steps.clone();
        let kept = self.current.kept.clone();
        self.accept(achieved, &steps, &kept);
        Ok(())
    }

    /// Returns the number of steps that might be removed. If the test has to fail, the last one is
    /// not among them: without it the test is known to pass.
    pub(super) fn removable_len(&self) -> usize {
        let needs_last = self.trials.ends_in_failure() || self.trials.keep_last;
        self.current
            .steps
            .len()
            .saturating_sub(usize::from(needs_last))
    }

    /// Removes halves, quarters, eighths and so on, each size once through the test.
    fn remove_blocks(&mut self) -> Result<(), ShrinkStop> {
        let mut size = self.removable_len() / 2;
        while size > 1 {
            let mut at = 0;
            while at < self.removable_len() {
                let end = (at + size).min(self.removable_len());
                if !self.remove(at..end)? {
                    at = end;
                }
            }
            size = (size / 2).min(self.removable_len() / 2);
        }
        Ok(())
    }

    /// Removes single steps until none can be removed. Returns true if the test changed.
    pub(super) fn remove_single_steps(&mut self) -> Result<bool, ShrinkStop> {
        self.remove_each(1)
    }

    /// Removes `size` consecutive steps until no more such block can be removed. After a success it
    /// continues at the same index, since the steps before have just been shown to matter and
    /// mostly still do. Returns true if the test changed.
    fn remove_each(&mut self, size: usize) -> Result<bool, ShrinkStop> {
        let mut removed = false;
        let mut at = 0;
        let mut needed = 0;
        // Until every index was tried since the last success.
        while needed + size <= self.removable_len() {
            if at + size > self.removable_len() {
                at = 0;
            }
            let rest = self.steps_without(at..at + size).0;
            // If two steps are removed together, one needs the other, and no other step needs
            // either of them.
            let is_hopeless = size > 1 && self.disables_more(&rest);
            if !is_hopeless && self.remove(at..at + size)? {
                removed = true;
                needed = 0;
            } else {
                at += 1;
                needed += 1;
            }
        }
        Ok(removed)
    }

    /// Delta debugging as published: in halves; after a success in halves again, else in parts half
    /// the size, until the parts are single steps.
    fn ddmin(&mut self) -> Result<(), ShrinkStop> {
        let mut parts = 2;
        while self.removable_len() > 0 {
            let removable_len = self.removable_len();
            parts = parts.min(removable_len);
            let size = removable_len / parts;
            if size == 1 {
                parts = removable_len;
            }
            let mut removed = false;
            for part in 0..parts {
                if self.remove(part * size..(part + 1) * size)? {
                    removed = true;
                    break;
                }
            }
            if removed {
                parts = 2;
            } else if parts == removable_len {
                break;
            } else {
                parts *= 2;
            }
        }
        Ok(())
    }

    /// Puts the slots in order, in all pools at once or else in those where the failure survives
    /// it. Returns true if the test changed.
    fn renumber(&mut self) -> Result<bool, ShrinkStop> {
        let numbering = SlotNumbering::for_steps(self.trials.system.actions(), &self.current.steps);
        if numbering.is_identity() {
            return Ok(false);
        }
        if self.rename_slots(&numbering)? {
            return Ok(true);
        }
        let mut changed = false;
        let pools = numbering.by_pool();
        if pools.len() > 1 {
            for numbering in pools {
                changed |= self.rename_slots(&numbering)?;
            }
        }
        Ok(changed)
    }

    /// Tries a numbering of slots.
    fn rename_slots(&mut self, numbering: &SlotNumbering) -> Result<bool, ShrinkStop> {
        let steps = numbering.apply(self.trials.system.actions(), &self.current.steps);
        let kept = self.current.kept.clone();
        self.attempt(steps, kept)
    }

    /// Tries to remove these steps. Returns true if they were removed.
    fn remove(&mut self, range: Range<usize>) -> Result<bool, ShrinkStop> {
        let (steps, kept) = self.steps_without(range);
        self.attempt(steps, kept)
    }

    /// Returns the current test without these steps, and the origins of the others.
    fn steps_without(&self, range: Range<usize>) -> (Vec<Step>, Vec<usize>) {
        let CurrentTest { steps, kept, .. } = &self.current;
        let steps = [&steps[..range.start], &steps[range.end..]].concat();
        let kept = [&kept[..range.start], &kept[range.end..]].concat();
        (steps, kept)
    }

    /// Returns true if slots disable more steps of a candidate than of the current test, so that it
    /// is really a candidate for something shorter.
    pub(super) fn disables_more(&self, steps: &[Step]) -> bool {
        let catalog = self.trials.system.actions();
        let disabled = |steps: &[Step]| dataflow::count_disabled(catalog, steps);
        disabled(steps) > disabled(&self.current.steps)
    }

    /// Accepts a candidate if it achieves the goal. Returns true if it was accepted.
    pub(super) fn attempt(
        &mut self,
        steps: Vec<Step>,
        kept: Vec<usize>,
    ) -> Result<bool, ShrinkStop> {
        // No proper prefix of the current test fails.
        if self.trials.ends_in_failure() && self.current.steps.starts_with(&steps) {
            self.trials.effort.cached += 1;
            return Ok(false);
        }
        let Some(achieved) = self.trials.attempt(&steps)? else {
            return Ok(false);
        };
        self.accept(achieved, &steps, &kept);
        Ok(true)
    }

    /// Makes the executed steps of a run the current test. `kept` has the original index of each of
    /// its steps.
    fn accept(&mut self, achieved: Achieved, steps: &[Step], kept: &[usize]) {
        self.current = CurrentTest {
            steps: achieved.steps(steps),
            kept: achieved.executed.iter().map(|index| kept[*index]).collect(),
            failure: achieved.failure,
        };
    }
}

#[cfg(test)]
mod tests;
