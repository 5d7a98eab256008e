//! Reduction: leaving out what the failure does not need.

use std::ops::Range;

use super::alpha::Numbering;
use super::dataflow;
use super::goal::SameFailure;
use super::shrinker::Shrinker;
use super::trials::{Achieved, ReduceError, Stop, Trials};
use crate::{Failure, Step, System, Test};

/// How to look for steps that can go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// Large blocks first, then one by one, going on where the last success was.
    #[default]
    Greedy,
    /// Classic delta debugging: start over with halves after every success.
    Ddmin,
}

/// How to reduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReduceOptions {
    /// How to look for steps that can go.
    pub method: Method,
    /// The test must keep failing in the action it fails in now.
    pub keep_last: bool,
    /// Check the invariants after every step; needed to see failures of properties.
    pub check: bool,
}

impl Default for ReduceOptions {
    fn default() -> ReduceOptions {
        ReduceOptions {
            method: Method::Greedy,
            keep_last: false,
            check: true,
        }
    }
}

/// What a reduction came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// The reduced test.
    pub test: Test,
    /// How the reduced test fails: the same bug, but its message may have other values.
    pub failure: Failure,
    /// How many tests were run.
    pub runs: u64,
    /// How many runs were saved since the answer was known.
    pub cached: u64,
    /// No single step can be left out. False if the reduction was stopped early.
    pub minimal: bool,
    /// Which steps of the original test are left, by index.
    pub kept: Vec<usize>,
}

/// Makes a test shorter as long as it fails the same way, then puts its slots in order.
///
/// The result is 1-minimal: no single step can be left out. `proceed` is asked before each step; once it says
/// `false` the best test so far is the result. See the [module](crate::shrink) for the reasons behind all this.
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

/// A test that achieves the goal.
#[derive(Clone)]
pub(super) struct Current {
    /// All of them are executed, and the last one fails if the goal is to fail.
    pub(super) steps: Vec<Step>,
    /// For each step its index in the original test.
    pub(super) kept: Vec<usize>,
    pub(super) failure: Option<Failure>,
}

/// A test that is being made simpler. Passes propose tests, [`attempt`](Reducer::attempt) accepts them.
pub(super) struct Reducer<'t, 'a, S: System + ?Sized> {
    pub(super) trials: &'t mut Trials<'a, S>,
    /// The best test so far.
    pub(super) current: Current,
}

impl<'t, 'a, S: System + ?Sized> Reducer<'t, 'a, S> {
    /// Begins with a test as it is.
    pub(super) fn new(trials: &'t mut Trials<'a, S>, test: &Test) -> Reducer<'t, 'a, S> {
        let current = Current {
            steps: test.steps.clone(),
            kept: (0..test.len()).collect(),
            failure: None,
        };
        Reducer { trials, current }
    }
}

impl<S: System + ?Sized> Reducer<'_, '_, S> {
    /// All passes, until none of them has anything to do.
    pub(super) fn reduce(&mut self, method: Method) -> Result<(), Stop> {
        self.reproduce()?;
        self.remove_by(method)?;
        // Each of these may make a step superfluous, and then the others may have something to do again.
        while self.reuse()? | self.revalue()? | self.renumber()? && self.remove_single_steps()? {}
        Ok(())
    }

    /// Leaves out steps until the test is 1-minimal. True if there was a success.
    pub(super) fn remove_by(&mut self, method: Method) -> Result<bool, Stop> {
        let length = self.current.steps.len();
        match method {
            Method::Greedy => {
                self.remove_blocks()?;
                self.remove_single_steps()?;
                // What is done and undone (push and pop) can only go together.
                while self.remove_each(2)? && self.remove_single_steps()? {}
            }
            Method::Ddmin => self.ddmin()?,
        }
        Ok(self.current.steps.len() < length)
    }

    /// Runs the original test. What it executes up to the failure is the first test to reduce.
    pub(super) fn reproduce(&mut self) -> Result<(), Stop> {
        let achieved = self.trials.reproduce(&self.current.steps)?;
        let steps = self.current.steps.clone();
        let kept = self.current.kept.clone();
        self.accept(achieved, &steps, &kept);
        Ok(())
    }

    /// How many steps might be left out. If the test has to fail, the last one is not among them: without it the
    /// test is known to pass.
    pub(super) fn body(&self) -> usize {
        let needs_last = self.trials.ends_in_failure() || self.trials.keep_last;
        self.current
            .steps
            .len()
            .saturating_sub(usize::from(needs_last))
    }

    /// Leaves out halves, quarters, eighths and so on, each size once through the test.
    fn remove_blocks(&mut self) -> Result<(), Stop> {
        let mut size = self.body() / 2;
        while size > 1 {
            let mut at = 0;
            while at < self.body() {
                let end = (at + size).min(self.body());
                if !self.remove(at..end)? {
                    at = end;
                }
            }
            size = (size / 2).min(self.body() / 2);
        }
        Ok(())
    }

    /// Leaves out single steps until none can be. True if there was a success.
    pub(super) fn remove_single_steps(&mut self) -> Result<bool, Stop> {
        self.remove_each(1)
    }

    /// Leaves out `size` steps in a row until that is nowhere possible. After a success it goes on where it was,
    /// for the steps before have just been shown to matter and mostly still do. True if there was a success.
    fn remove_each(&mut self, size: usize) -> Result<bool, Stop> {
        let mut removed = false;
        let mut at = 0;
        let mut needed = 0;
        // As long as there is a place that was not tried since the last success.
        while needed + size <= self.body() {
            if at + size > self.body() {
                at = 0;
            }
            let rest = self.without(at..at + size).0;
            // Of two steps that go together the one needs the other. Then nothing else needs either of them.
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

    /// Delta debugging as its authors wrote it: in halves; after a success in halves again, else in parts half
    /// the size, until the parts are single steps.
    fn ddmin(&mut self) -> Result<(), Stop> {
        let mut parts = 2;
        while self.body() > 0 {
            let body = self.body();
            parts = parts.min(body);
            let size = body / parts;
            if size == 1 {
                parts = body;
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
            } else if parts == body {
                break;
            } else {
                parts *= 2;
            }
        }
        Ok(())
    }

    /// Puts the slots in order, in all pools at once or else in those where the failure survives it. True if
    /// anything changed.
    fn renumber(&mut self) -> Result<bool, Stop> {
        let numbering = Numbering::of(self.trials.system.actions(), &self.current.steps);
        if numbering.is_identity() {
            return Ok(false);
        }
        if self.rename(&numbering)? {
            return Ok(true);
        }
        let mut changed = false;
        let pools = numbering.by_pool();
        if pools.len() > 1 {
            for numbering in pools {
                changed |= self.rename(&numbering)?;
            }
        }
        Ok(changed)
    }

    fn rename(&mut self, numbering: &Numbering) -> Result<bool, Stop> {
        let steps = numbering.apply(self.trials.system.actions(), &self.current.steps);
        let kept = self.current.kept.clone();
        self.attempt(steps, kept)
    }

    /// Tries the current test without these steps.
    fn remove(&mut self, range: Range<usize>) -> Result<bool, Stop> {
        let (steps, kept) = self.without(range);
        self.attempt(steps, kept)
    }

    /// The current test without these steps, and where the others come from.
    fn without(&self, range: Range<usize>) -> (Vec<Step>, Vec<usize>) {
        let Current { steps, kept, .. } = &self.current;
        let steps = [&steps[..range.start], &steps[range.end..]].concat();
        let kept = [&kept[..range.start], &kept[range.end..]].concat();
        (steps, kept)
    }

    /// Whether the slots of a candidate forbid more steps than they do in the current test, so that it is in truth a
    /// candidate for something shorter.
    pub(super) fn disables_more(&self, steps: &[Step]) -> bool {
        let catalog = self.trials.system.actions();
        let disabled = |steps: &[Step]| dataflow::disabled(catalog, steps);
        disabled(steps) > disabled(&self.current.steps)
    }

    /// Makes a candidate the current test if it achieves the goal.
    pub(super) fn attempt(&mut self, steps: Vec<Step>, kept: Vec<usize>) -> Result<bool, Stop> {
        // No beginning of the current test fails before its end.
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

    /// Takes what a run executed as the current test. `kept` tells for each of its steps where it comes from.
    fn accept(&mut self, achieved: Achieved, steps: &[Step], kept: &[usize]) {
        self.current = Current {
            steps: achieved.steps(steps),
            kept: achieved.executed.iter().map(|place| kept[*place]).collect(),
            failure: achieved.failure,
        };
    }
}

#[cfg(test)]
mod tests;
