//! Tests an implementation against a model: runs through a product, one step at a time.
//!
//! A run follows the model. Before each step, the runner first handles the actions that the
//! implementation has taken by itself: the model must allow them. Otherwise a [`Chooser`] picks one
//! of the possible steps, the model takes it, and the [`Implementation`] performs it. A run may end
//! in an accepting state. It fails if the implementation does something else, or if it ends in
//! another state.
//!
//! A model may be nondeterministic. Then it is in several states at a time: all those that agree
//! with the observations so far.
//!
//! The implementation is optional. Without one, a run only generates steps.

use testwright_core::product::{
    Interner, JointStep, ModelError, ModelState, NameId, Phase, Product, StepLabel, ValueId,
};
use testwright_core::{Failure, FailureKind};

use crate::mismatch::{mismatch, step_mismatch};
use crate::observation::check_observation;

/// Strategy that picks the steps of runs.
pub trait Chooser {
    /// Starts a run.
    fn begin_run(&mut self, _run: usize) {}

    /// Picks one of the possible steps. `None` ends the run.
    fn choose(
        &mut self,
        product: &mut Product<'_>,
        possible: &[JointStep],
    ) -> Result<Option<ChosenStep>, ModelError>;

    /// Returns true if the chooser has played all its steps. Otherwise, a run without a picked step
    /// counts as one in which no step was possible.
    fn is_finished(&self) -> bool {
        false
    }

    /// Decides how to go on after no step was picked and the implementation did nothing by itself
    /// either. Returns true to be called for a choice once more.
    fn should_retry(&mut self) -> bool {
        false
    }
}

/// A step that a chooser picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChosenStep {
    /// Name of the action.
    pub name: NameId,
    /// Arguments of the action.
    pub arguments: ValueId,
    /// Wanted result, for models that allow several. If it is not possible, the first possible
    /// result is taken.
    pub result: Option<ValueId>,
}

/// A step that the implementation did not perform as its label says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepMismatch {
    /// Description for people.
    pub text: String,
    /// Class of the exception that was raised, if it was one.
    pub exception: Option<String>,
    /// The part of the description that stays the same with other values, if it is known.
    pub reason: Option<String>,
    /// True if the step did not end within its time limit.
    pub is_hang: bool,
}

/// The implementation under test.
pub trait Implementation {
    /// Performs a step. Returns the mismatch if it did not behave as the label says.
    fn act(
        &mut self,
        interner: &Interner,
        label: StepLabel,
    ) -> Result<Option<StepMismatch>, ModelError>;

    /// Begins to record the lines of code that it executes, if it can. Without `record`, stops and returns
    /// them.
    fn record_lines(&mut self, _record: bool) -> Vec<String> {
        Vec::new()
    }

    /// Resets it for another run.
    fn reset(&mut self) -> Result<(), ModelError>;

    /// Returns the oldest action that it took by itself and that was not returned before.
    fn next_observation(
        &mut self,
        interner: &mut Interner,
    ) -> Result<Option<(NameId, ValueId)>, ModelError>;

    /// Waits for an action that the implementation takes by itself, up to its own time limit.
    /// Returns `None` if it never does so, and false if nothing came.
    fn wait(&mut self) -> Result<Option<bool>, ModelError>;

    /// Returns true if it can be reset.
    fn can_reset(&self) -> bool {
        true
    }

    /// Gives steps that are known to hang as much time as others, to confirm that they do.
    fn use_full_limits(&mut self) {}

    /// Discards the actions that it took by itself, and returns how many were not handled.
    fn discard_observations(&mut self) -> Result<usize, ModelError>;

    /// Returns true if it acts by itself in its own time, so that the same steps need not have the
    /// same effect twice.
    fn is_asynchronous(&self) -> bool;
}

/// Number and length of the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPlan {
    /// Number of runs. `None` means until the watcher stops them. A product with a suite plays the
    /// runs of the suite instead.
    pub runs: Option<usize>,
    /// Number of steps before a run is brought to its end. `None` means until no step is possible.
    pub steps: Option<usize>,
    /// Number of additional steps for bringing a run to an accepting state.
    pub cleanup: usize,
    /// True if a false invariant ends a run with a failure.
    pub check_invariants: bool,
    /// True if a model without a reset of its own is put back to its initial state for another run.
    pub restore_initial: bool,
    /// True to do as PyModel does: the implementation is not reset before the first run, a run that
    /// was merely too short to reach an accepting state has failed, and the implementation is waited
    /// for even where a run may end and the models expect nothing.
    pub follows_pymodel: bool,
}

/// Result of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// Number of the run, from 0.
    pub run: usize,
    /// Number of steps taken.
    pub steps: usize,
    /// True if the run ended because no step was possible.
    pub no_step_possible: bool,
    /// True if the run ended in an accepting state.
    pub accepting: bool,
    /// Failure that ended the run.
    pub failure: Option<Failure>,
    /// Number of actions that the implementation took by itself and the run did not handle.
    pub unhandled: usize,
}

/// Observer of runs.
pub trait RunWatcher {
    /// Called when a run starts.
    fn run_started(&mut self, run: usize);
    /// Called when the model has taken a step, before the implementation performs it. `is_observed`
    /// is true if the implementation took the step by itself.
    fn step(&mut self, interner: &Interner, label: StepLabel, is_observed: bool);
    /// Called when a run has ended. Returns false to stop after it.
    fn run_ended(&mut self, end: &RunEnd) -> bool;
}

/// Totals over all runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// Number of runs that ended.
    pub runs: usize,
    /// Number of runs that failed.
    pub failed: usize,
}

/// Executes runs of a product, with or without an implementation.
pub struct ModelRunner<'t, 'm> {
    /// Models that the runs follow.
    pub product: &'t mut Product<'m>,
    /// Strategy that picks the steps.
    pub chooser: &'t mut dyn Chooser,
    /// Implementation under test, if there is one.
    pub implementation: Option<&'t mut dyn Implementation>,
    /// Number and length of the runs.
    pub plan: RunPlan,
}

/// Reason for the end of a run.
enum RunStop {
    /// No step was possible.
    NoStepPossible,
    /// The plan or the chooser has no more steps.
    Finished,
    /// The run failed.
    Failed(Failure),
}

impl ModelRunner<'_, '_> {
    /// Executes all runs. The totals include the runs that ended before an error.
    pub fn run_all(&mut self, watcher: &mut dyn RunWatcher) -> (RunCounts, Result<(), ModelError>) {
        let mut counts = RunCounts::default();
        let result = self.run_each(watcher, &mut counts);
        (counts, result)
    }

    /// Returns the number of runs, or `None` if there is no limit.
    fn max_runs(&self) -> Option<usize> {
        if self.product.has_suite() {
            self.product.runs()
        } else {
            self.plan.runs
        }
    }

    /// Returns the name of a model without a reset, if the plan needs one for a second run.
    pub fn unresettable_model(&self) -> Option<&str> {
        let needs_reset = !self.plan.restore_initial && self.max_runs().is_none_or(|max| max > 1);
        self.product.unresettable_model().filter(|_| needs_reset)
    }

    /// Executes one run after the other, and counts them.
    fn run_each(
        &mut self,
        watcher: &mut dyn RunWatcher,
        counts: &mut RunCounts,
    ) -> Result<(), ModelError> {
        let max_runs = self.max_runs();
        for run in 0.. {
            if max_runs.is_some_and(|max| run >= max) {
                break;
            }
            let start = match self.product.start(run) {
                Err(ModelError::NoReset { .. }) if self.plan.restore_initial => {
                    self.product.initial_state(run)?
                }
                start => start?,
            };
            let Some(start) = start else {
                break;
            };
            let resets_first = !self.plan.follows_pymodel;
            if let Some(implementation) = &mut self.implementation
                && (run > 0 || resets_first && implementation.can_reset())
            {
                implementation.reset()?;
            }
            self.chooser.begin_run(run);
            watcher.run_started(run);
            let end = self.run_once(run, start, watcher)?;
            counts.runs += 1;
            counts.failed += usize::from(end.failure.is_some());
            if !watcher.run_ended(&end) {
                break;
            }
        }
        Ok(())
    }

    /// Repeats a run by its number. Returns `None` if there is no such run. The implementation must
    /// have been reset.
    pub(crate) fn rerun(
        &mut self,
        run: usize,
        watcher: &mut dyn RunWatcher,
    ) -> Result<Option<RunEnd>, ModelError> {
        let Some(start) = self.product.initial_state(run)? else {
            return Ok(None);
        };
        self.run_once(run, start, watcher).map(Some)
    }

    /// Executes one run from `start`, and judges its end.
    fn run_once(
        &mut self,
        run: usize,
        start: Vec<ModelState>,
        watcher: &mut dyn RunWatcher,
    ) -> Result<RunEnd, ModelError> {
        let mut states = vec![start];
        let mut steps = 0;
        let stop = self.take_steps(&mut states, &mut steps, watcher)?;
        let accepting = self.is_accepting(&states);
        let nothing_left = matches!(stop, RunStop::NoStepPossible);
        let failure = match stop {
            RunStop::Failed(why) => Some(why),
            RunStop::NoStepPossible if self.implementation.is_some() && !accepting => {
                let why = format!("{}, {}", RunEnd::NOTHING_LEFT, RunEnd::NOT_ACCEPTING);
                Some(mismatch("", why, None))
            }
            RunStop::Finished
                if self.plan.follows_pymodel && self.implementation.is_some() && !accepting =>
            {
                Some(mismatch("", RunEnd::NOT_ACCEPTING.to_owned(), None))
            }
            _ => None,
        };
        let unhandled = match &mut self.implementation {
            Some(implementation) => implementation.discard_observations()?,
            None => 0,
        };
        Ok(RunEnd {
            run,
            steps,
            no_step_possible: nothing_left,
            accepting,
            failure,
            unhandled,
        })
    }

    /// Takes steps until there is a reason to stop.
    ///
    /// `states` are the states that the model may be in. After the planned number of steps, the
    /// cleanup phase begins: it ends in the first accepting state.
    fn take_steps(
        &mut self,
        states: &mut Vec<Vec<ModelState>>,
        steps: &mut usize,
        watcher: &mut dyn RunWatcher,
    ) -> Result<RunStop, ModelError> {
        let mut phase = Phase::Normal;
        let mut max_steps = self.plan.steps;
        while max_steps.is_none_or(|max| *steps < max) {
            let observed = match &mut self.implementation {
                Some(implementation) => {
                    implementation.next_observation(self.product.interner_mut())?
                }
                None => None,
            };
            let mut possible = Vec::new();
            let choice = match observed {
                Some((name, arguments)) => {
                    if let Some(why) = check_observation(self.product, states, name, arguments)? {
                        return Ok(RunStop::Failed(why));
                    }
                    ChosenStep {
                        name,
                        arguments,
                        result: None,
                    }
                }
                None => {
                    possible = self.possible_steps(states, phase)?;
                    match self.chooser.choose(self.product, &possible)? {
                        Some(_) if phase == Phase::Cleanup && self.is_accepting(states) => {
                            return Ok(RunStop::Finished);
                        }
                        Some(chosen) => chosen,
                        None => {
                            if self.wait(states)? || self.chooser.should_retry() {
                                continue;
                            }
                            let has_finished = self.chooser.is_finished()
                                || phase == Phase::Cleanup && !self.is_stuck(states)?;
                            return Ok(if has_finished {
                                RunStop::Finished
                            } else {
                                RunStop::NoStepPossible
                            });
                        }
                    }
                }
            };
            let Some(label) = self.perform(states, choice, &possible)? else {
                let text = self.action_text(choice.name, choice.arguments);
                let why = format!("{text}, which the model cannot do");
                let name = self.product.interner().name_text(choice.name);
                return Ok(RunStop::Failed(mismatch(name, why, None)));
            };
            *steps += 1;
            watcher.step(self.product.interner(), label, observed.is_some());
            if self.plan.check_invariants && !states.iter().any(|state| self.product.is_safe(state))
            {
                let first = states.first();
                let first = first.map(|state| crate::state_text(self.product, state));
                return Ok(RunStop::Failed(Failure {
                    kind: FailureKind::Property,
                    message: "the invariant does not hold".to_owned(),
                    signature: "invariant".to_owned(),
                    details: format!("in the state {}", first.unwrap_or_default()),
                }));
            }
            if observed.is_none()
                && let Some(implementation) = &mut self.implementation
                && let Some(why) = implementation.act(self.product.interner(), label)?
            {
                return Ok(RunStop::Failed(step_mismatch(
                    self.product.interner(),
                    label,
                    why,
                )));
            }
            if Some(*steps) == self.plan.steps {
                phase = Phase::Cleanup;
                max_steps = max_steps.map(|max| max + self.plan.cleanup);
            }
        }
        Ok(RunStop::Finished)
    }

    /// Returns true if the models cannot go on, not even by actions that do not lead to an end.
    fn is_stuck(&mut self, states: &[Vec<ModelState>]) -> Result<bool, ModelError> {
        Ok(!self.plan.follows_pymodel && self.possible_steps(states, Phase::Normal)?.is_empty())
    }

    /// Waits for an action of the implementation. Returns true if one came. There is nothing to wait
    /// for where a run may end and the models expect nothing more.
    fn wait(&mut self, states: &[Vec<ModelState>]) -> Result<bool, ModelError> {
        if !self.plan.follows_pymodel && is_at_rest(self.product, states)? {
            return Ok(false);
        }
        match &mut self.implementation {
            Some(implementation) => Ok(implementation.wait()?.unwrap_or(false)),
            None => Ok(false),
        }
    }

    /// Returns true if the run may end in one of the states.
    fn is_accepting(&self, states: &[Vec<ModelState>]) -> bool {
        states.iter().any(|state| self.product.is_accepting(state))
    }

    /// Returns the distinct steps that are possible in any of the states.
    fn possible_steps(
        &mut self,
        states: &[Vec<ModelState>],
        phase: Phase,
    ) -> Result<Vec<JointStep>, ModelError> {
        let mut all: Vec<JointStep> = Vec::new();
        for state in states {
            let moves = self.product.possible_steps(state, phase)?;
            if all.is_empty() {
                all = moves
            } else {
                all.extend(moves)
            }
        }
        if states.len() > 1 {
            let mut seen = rustc_hash::FxHashSet::default();
            all.retain(|one| seen.insert((one.label, one.to.clone())));
        }
        Ok(all)
    }

    /// Takes a step in all states that the model may be in, and returns its label. Returns `None`
    /// if it is not possible in any.
    ///
    /// The result of an observed action is not known, so every result stays possible. A chosen step
    /// has the result that is reported, and leads only where one of the `possible` steps with that
    /// label leads.
    fn perform(
        &mut self,
        states: &mut Vec<Vec<ModelState>>,
        choice: ChosenStep,
        possible: &[JointStep],
    ) -> Result<Option<StepLabel>, ModelError> {
        let mut done: Vec<JointStep> = Vec::new();
        for state in states.iter() {
            let steps = self.product.perform(state, choice.name, choice.arguments)?;
            done.extend(steps);
        }
        let fits = |one: &JointStep| Some(one.label.result) == choice.result;
        if done.iter().any(fits) {
            done.retain(fits);
        }
        // Alone, a machine takes only the steps that are written down. Observed, it also takes
        // those that it leaves open.
        let is_possible = |one: &JointStep| possible.contains(one);
        if done.iter().any(is_possible) {
            done.retain(is_possible);
        }
        let Some(label) = done.first().map(|one| one.label) else {
            return Ok(None);
        };
        let mut after: Vec<Vec<ModelState>> = Vec::new();
        for one in done {
            if (possible.is_empty() || one.label == label) && !after.contains(&one.to) {
                after.push(one.to);
            }
        }
        *states = after;
        Ok(Some(label))
    }

    /// Renders an action with its arguments.
    fn action_text(&self, name: NameId, arguments: ValueId) -> String {
        let interner = self.product.interner();
        format!(
            "{}{}",
            interner.name_text(name),
            interner.value_text(arguments).plain()
        )
    }
}

/// Returns true if a run may end in one of the states, and no observable action may happen in any.
pub(crate) fn is_at_rest(
    product: &mut Product<'_>,
    states: &[Vec<ModelState>],
) -> Result<bool, ModelError> {
    if !states.iter().any(|state| product.is_accepting(state)) {
        return Ok(false);
    }
    for state in states {
        if product.may_observe(state)? {
            return Ok(false);
        }
    }
    Ok(true)
}

impl RunEnd {
    /// Text for a run that ended because no step was possible.
    pub const NOTHING_LEFT: &'static str = "no more actions enabled";
    /// Text for a run that ended in an accepting state.
    pub const ACCEPTING: &'static str = "reached accepting state";
    /// Text for a run that ended in another state.
    pub const NOT_ACCEPTING: &'static str = "ended in non-accepting state";

    /// Describes how the run ended, in the words of PyModel.
    pub fn description(&self) -> String {
        let position = if self.accepting {
            RunEnd::ACCEPTING
        } else {
            RunEnd::NOT_ACCEPTING
        };
        if self.no_step_possible {
            format!("{}, {position}", RunEnd::NOTHING_LEFT)
        } else {
            position.to_owned()
        }
    }
}

/// Renders a step for people: `Push(1,)`, `Pop() / 2`.
pub fn step_text(interner: &Interner, label: StepLabel) -> String {
    let name = interner.name_text(label.name);
    let arguments = interner.value_text(label.arguments).plain();
    match label.result {
        ValueId::NONE => format!("{name}{arguments}"),
        result => format!(
            "{name}{arguments} / {}",
            interner.value_text(result).plain()
        ),
    }
}
