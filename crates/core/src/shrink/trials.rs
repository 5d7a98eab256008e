//! Trials: runs candidates and remembers the results.
//!
//! Runs dominate the cost of shrinking. Reduction, normalization and generalization of one test try
//! many similar tests, and often the same ones, so they share one cache. It stores for each
//! candidate whether it achieved the [`ShrinkGoal`], and how: which of its steps were executed, and
//! its failure. A candidate with skipped steps is also cached without them.

use std::fmt;

use rustc_hash::FxHashMap;

use super::goal::{Basis, ShrinkGoal};
use super::prefixes::{FromReset, Prefixes};
use crate::replay::{ReplayOptions, ReplayWatcher, continue_replay};
use crate::{ActionId, Error, Failure, Step, System, Test, Trace, TraceEvent};

/// The cost of shrinking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// The number of tests run.
    pub runs: u64,
    /// The number of runs saved since the answer was known.
    pub cached: u64,
    /// The number of steps taken in the runs, without those that a snapshot saved.
    pub steps: u64,
    /// The number of runs that started from a snapshot.
    pub from_snapshot: u64,
}

/// The reason why a test cannot be shrunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReduceError {
    /// The test did not fail, or failed in another way, when it was run again. For other goals: the
    /// test does not achieve the goal.
    NotReproduced(Option<Failure>),
    /// The system reported an error.
    Error(Error),
}

impl From<Error> for ReduceError {
    fn from(error: Error) -> ReduceError {
        ReduceError::Error(error)
    }
}

impl fmt::Display for ReduceError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReduceError::NotReproduced(None) => {
                out.write_str("the test does not fail when it is run again")
            }
            ReduceError::NotReproduced(Some(failure)) => write!(
                out,
                "the test fails in another way when it is run again: {}",
                failure.message
            ),
            ReduceError::Error(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for ReduceError {}

/// The reason why shrinking stops.
pub(super) enum ShrinkStop {
    /// It was stopped, or the budget is used up; the best test so far counts.
    Requested,
    /// It cannot continue.
    Failed(ReduceError),
}

impl From<Error> for ShrinkStop {
    fn from(error: Error) -> ShrinkStop {
        ShrinkStop::Failed(ReduceError::Error(error))
    }
}

/// The result of a candidate that achieved the goal.
#[derive(Clone, Debug)]
pub(super) struct Achieved {
    /// The indices of the executed steps.
    pub(super) executed: Vec<usize>,
    pub(super) failure: Option<Failure>,
}

impl Achieved {
    /// Selects the executed ones of `steps`.
    pub(super) fn steps(&self, steps: &[Step]) -> Vec<Step> {
        self.executed.iter().map(|index| steps[*index]).collect()
    }
}

/// Runs candidates, caches the results, and enforces the budget.
pub(super) struct Trials<'a, S: System + ?Sized> {
    pub(super) system: &'a mut S,
    goal: &'a mut dyn ShrinkGoal<S>,
    proceed: &'a mut dyn FnMut() -> bool,
    pub(super) keep_last: bool,
    check: bool,
    /// The maximum number of runs.
    pub(super) budget: u64,
    pub(super) effort: Effort,
    pub(super) prefixes: Box<dyn Prefixes<S> + 'a>,
    /// The last test that achieved the goal, and its trace: to verify snapshots.
    last_success: (Vec<Step>, Trace),
    /// Results by candidate; `None` if it does not achieve the goal.
    results: FxHashMap<Vec<Step>, Option<Achieved>>,
    /// By steps: the actions that are known to be enabled, or not, after them.
    enabled: FxHashMap<Vec<Step>, FxHashMap<ActionId, bool>>,
}

impl<'a, S: System + ?Sized> Trials<'a, S> {
    /// Creates an empty cache.
    pub(super) fn new(
        system: &'a mut S,
        goal: &'a mut dyn ShrinkGoal<S>,
        keep_last: bool,
        check: bool,
        proceed: &'a mut dyn FnMut() -> bool,
    ) -> Trials<'a, S> {
        Trials {
            system,
            goal,
            proceed,
            keep_last,
            check,
            budget: u64::MAX,
            effort: Effort::default(),
            prefixes: Box::new(FromReset),
            last_success: (Vec::new(), Trace::default()),
            results: FxHashMap::default(),
            enabled: FxHashMap::default(),
        }
    }

    /// Returns true if the last step of every test that achieves the goal fails.
    pub(super) fn ends_in_failure(&self) -> bool {
        self.goal.ends_in_failure()
    }

    /// Runs a test that should achieve the goal, or else returns its failure as an error. The test
    /// may have steps after its failure.
    pub(super) fn reproduce(&mut self, steps: &[Step]) -> Result<Achieved, ShrinkStop> {
        if let Some(Some(achieved)) = self.results.get(steps) {
            self.effort.cached += 1;
            return Ok(achieved.clone());
        }
        let keep_last = std::mem::take(&mut self.keep_last);
        let answer = self.run(steps);
        self.keep_last = keep_last;
        let (achieved, failure) = answer?;
        achieved.ok_or(ShrinkStop::Failed(ReduceError::NotReproduced(failure)))
    }

    /// Tries a candidate; `None` if it does not achieve the goal.
    pub(super) fn attempt(&mut self, steps: &[Step]) -> Result<Option<Achieved>, ShrinkStop> {
        if let Some(answer) = self.results.get(steps) {
            self.effort.cached += 1;
            return Ok(answer.clone());
        }
        let (achieved, _) = self.run(steps)?;
        Ok(achieved)
    }

    /// Returns which of these actions are enabled after `steps`. Takes one run, however many
    /// actions there are.
    pub(super) fn enabled_after(
        &mut self,
        steps: &[Step],
        actions: &[ActionId],
    ) -> Result<Vec<ActionId>, ShrinkStop> {
        let mut known = self.enabled.remove(steps).unwrap_or_default();
        if actions.iter().any(|action| !known.contains_key(action)) {
            self.replay(steps)?;
            for action in actions {
                let enabled = || self.system.is_enabled(*action);
                known.entry(*action).or_insert_with(enabled);
            }
        } else {
            self.effort.cached += 1;
        }
        let is_enabled = |action: &ActionId| known.get(action) == Some(&true);
        let enabled = actions.iter().copied().filter(is_enabled).collect();
        self.enabled.insert(steps.to_vec(), known);
        Ok(enabled)
    }

    /// Runs a candidate and caches the result. If it does not achieve the goal, also returns its
    /// failure.
    fn run(&mut self, steps: &[Step]) -> Result<(Option<Achieved>, Option<Failure>), ShrinkStop> {
        let (answer, failure) = match self.goal.basis() {
            Basis::Test => (self.query_goal(steps)?, None),
            Basis::Trace | Basis::Run => self.judge(steps)?,
        };
        self.results.insert(steps.to_vec(), answer.clone());
        Ok((answer, failure))
    }

    /// Runs a candidate and lets the goal judge the run.
    fn judge(&mut self, steps: &[Step]) -> Result<(Option<Achieved>, Option<Failure>), ShrinkStop> {
        let resumed_before = self.effort.from_snapshot;
        self.goal.before_run(self.system)?;
        let mut trace = self.replay(steps)?;
        let test = Test::from_steps(steps.to_vec());
        let mut is_achieved = self.goal.is_achieved(self.system, &test, &trace)?;
        if is_achieved && self.effort.from_snapshot > resumed_before {
            trace = self.replay_from_reset(steps)?;
            is_achieved = self.goal.is_achieved(self.system, &test, &trace)?;
            if !is_achieved {
                // Other results may depend on wrong snapshots, too.
                self.prefixes.disable();
                self.results.clear();
                self.enabled.clear();
            }
        }
        let failure = trace.failure().cloned();
        let executed: Vec<usize> = executed_steps(&trace).collect();
        if !is_achieved {
            let fewer = executed.iter().map(|index| steps[*index]).collect();
            self.results.insert(fewer, None);
            return Ok((None, failure));
        }
        self.last_success = (steps.to_vec(), trace);
        if self.keep_last && executed.last().copied() != steps.len().checked_sub(1) {
            return Ok((None, failure));
        }
        let answer = Achieved { executed, failure };
        let fewer = answer.steps(steps);
        let all = Achieved {
            executed: (0..fewer.len()).collect(),
            failure: answer.failure.clone(),
        };
        self.results.insert(fewer, Some(all));
        Ok((Some(answer), None))
    }

    /// Queries a goal that runs tests itself. A run of our own finds the disabled steps, and the
    /// goal is queried without them, too, since it may judge that differently.
    fn query_goal(&mut self, steps: &[Step]) -> Result<Option<Achieved>, ShrinkStop> {
        if !self.query_once(steps)? {
            return Ok(None);
        }
        let trace = self.replay(steps)?;
        let is_skipped =
            |index: &usize| matches!(trace.events.get(*index), Some(TraceEvent::Skipped(_)));
        let all: Vec<usize> = (0..steps.len()).collect();
        let rest: Vec<usize> = all
            .iter()
            .copied()
            .filter(|index| !is_skipped(index))
            .collect();
        let ends_alike = !self.keep_last || rest.last() == all.last();
        let failure = trace.failure().cloned();
        if rest.len() < all.len() && ends_alike {
            let fewer: Vec<Step> = rest.iter().map(|index| steps[*index]).collect();
            let answer = match self.results.get(&fewer) {
                Some(answer) => answer.is_some(),
                None => self.query_once(&fewer)?,
            };
            let executed = (0..fewer.len()).collect();
            let achieved = answer.then_some(Achieved {
                executed,
                failure: failure.clone(),
            });
            self.results.insert(fewer, achieved);
            if answer {
                return Ok(Some(Achieved {
                    executed: rest,
                    failure,
                }));
            }
        }
        Ok(Some(Achieved {
            executed: all,
            failure,
        }))
    }

    /// Queries the goal once and counts it as a run.
    fn query_once(&mut self, steps: &[Step]) -> Result<bool, ShrinkStop> {
        self.count_run()?;
        if !(self.proceed)() {
            return Err(ShrinkStop::Requested);
        }
        let test = Test::from_steps(steps.to_vec());
        Ok(self
            .goal
            .is_achieved(self.system, &test, &Trace::default())?)
    }

    /// Counts a run against the budget.
    fn count_run(&mut self) -> Result<(), ShrinkStop> {
        if self.effort.runs >= self.budget {
            return Err(ShrinkStop::Requested);
        }
        self.effort.runs += 1;
        Ok(())
    }

    /// Runs steps, starting from the longest known prefix if the goal allows it.
    fn replay(&mut self, steps: &[Step]) -> Result<Trace, ShrinkStop> {
        self.count_run()?;
        self.replay_from(steps, self.goal.basis() == Basis::Trace)
    }

    /// Runs steps from a reset to confirm the result of a run from a snapshot; not counted as a
    /// run.
    fn replay_from_reset(&mut self, steps: &[Step]) -> Result<Trace, ShrinkStop> {
        self.replay_from(steps, false)
    }

    /// Runs steps, from a snapshot or from a reset.
    fn replay_from(&mut self, steps: &[Step], use_snapshots: bool) -> Result<Trace, ShrinkStop> {
        let from_reset: &mut dyn Prefixes<S> = &mut FromReset;
        let prefixes = if use_snapshots {
            self.prefixes.as_mut()
        } else {
            from_reset
        };
        let options = ReplayOptions { check: self.check };
        self.effort.steps += prefixes.verify(self.system, steps, &self.last_success, &options)?;
        let events = prefixes.start(self.system, steps)?;
        self.effort.from_snapshot += u64::from(!events.is_empty());
        let started_at = events.len();
        let mut watcher = SnapshotTaker {
            proceed: self.proceed,
            snapshot_point: prefixes.snapshot_point(steps, started_at),
            prefixes,
            steps,
            events: events.clone(),
        };
        let trace = Trace {
            events,
            interrupted: false,
        };
        let trace = continue_replay(self.system, steps, trace, &options, &mut watcher)?;
        self.effort.steps += (trace.events.len() - started_at) as u64;
        if trace.interrupted {
            return Err(ShrinkStop::Requested);
        }
        Ok(trace)
    }
}

/// Returns the indices of the steps that a run executed.
fn executed_steps(trace: &Trace) -> impl Iterator<Item = usize> {
    let events = trace.events.iter().enumerate();
    events.filter_map(|(index, event)| (!matches!(event, TraceEvent::Skipped(_))).then_some(index))
}

/// Forwards `proceed` during a run, and takes a snapshot on the way.
struct SnapshotTaker<'a, S: ?Sized> {
    proceed: &'a mut dyn FnMut() -> bool,
    prefixes: &'a mut dyn Prefixes<S>,
    /// The number of steps after which to take a snapshot.
    snapshot_point: Option<usize>,
    steps: &'a [Step],
    /// The events so far; only recorded up to the snapshot.
    events: Vec<TraceEvent>,
}

impl<S: ?Sized> ReplayWatcher<S> for SnapshotTaker<'_, S> {
    fn proceed(&mut self) -> bool {
        (self.proceed)()
    }

    fn after_step(&mut self, system: &mut S, event: &TraceEvent) {
        let Some(snapshot_point) = self.snapshot_point else {
            return;
        };
        if matches!(event, TraceEvent::Failed(..)) {
            return;
        }
        self.events.push(event.clone());
        if self.events.len() == snapshot_point {
            self.prefixes
                .take_snapshot(system, &self.steps[..snapshot_point], &self.events);
            self.snapshot_point = None;
        }
    }
}
