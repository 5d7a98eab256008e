//! Replays recorded runs, step by step.

use testwright_core::Failure;
use testwright_core::product::{
    Interner, JointStep, ModelError, NameId, Product, StepLabel, ValueId,
};

use crate::runs::{Chooser, ChosenStep, Implementation, ModelRunner, RunEnd, RunPlan, RunWatcher};

/// A run to replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedRun {
    /// Number of the run, if one of the models is a suite.
    pub run: usize,
    /// Chosen steps, each a name with arguments. The implementation has to repeat by itself what it
    /// did by itself.
    pub steps: Vec<(NameId, ValueId)>,
    /// True if a false invariant is a failure.
    pub check_invariants: bool,
}

/// Outcome of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayOutcome {
    /// Steps taken, each with true if the implementation took it by itself.
    pub steps: Vec<(StepLabel, bool)>,
    /// First step that was not possible at its turn. It was left out.
    pub skipped_step: Option<(NameId, ValueId)>,
    /// Failure of the run.
    pub failure: Option<Failure>,
}

impl RecordedRun {
    /// Replays the run. The implementation must have been reset.
    ///
    /// A step that is not possible is left out, but only after the implementation had time to take
    /// an action by itself that makes it possible. A recorded run may end early. So it is not a
    /// failure if the models could go on from its end. It is one if they cannot go on and do not
    /// accept the state.
    pub fn replay(
        &self,
        product: &mut Product<'_>,
        implementation: &mut dyn Implementation,
    ) -> Result<ReplayOutcome, ModelError> {
        let mut reader = RecordedChooser {
            steps: &self.steps,
            next: 0,
            skipped_step: None,
            can_continue: false,
        };
        let mut recorder = TakenSteps::default();
        let mut runner = ModelRunner {
            product,
            chooser: &mut reader,
            implementation: Some(implementation),
            plan: RunPlan {
                runs: None,
                steps: None,
                cleanup: 0,
                check_invariants: self.check_invariants,
                restore_initial: true,
                follows_pymodel: false,
            },
        };
        let Some(end) = runner.rerun(self.run, &mut recorder)? else {
            return Ok(ReplayOutcome::default());
        };
        Ok(ReplayOutcome {
            steps: recorder.0,
            skipped_step: reader.skipped_step,
            failure: end.failure,
        })
    }
}

/// Resets an implementation for another run, and discards the actions that it took by itself.
pub fn prepare_run(implementation: &mut dyn Implementation) -> Result<(), ModelError> {
    implementation.reset()?;
    implementation.discard_observations()?;
    Ok(())
}

/// Chooser that picks the steps of a recorded run.
struct RecordedChooser<'s> {
    /// Steps of the recorded run.
    steps: &'s [(NameId, ValueId)],
    /// Index of the next step.
    next: usize,
    /// First step that was not possible at its turn.
    skipped_step: Option<(NameId, ValueId)>,
    /// True if a step was possible at the last choice, so that the models could go on.
    can_continue: bool,
}

impl Chooser for RecordedChooser<'_> {
    fn choose(
        &mut self,
        _product: &mut Product<'_>,
        possible: &[JointStep],
    ) -> Result<Option<ChosenStep>, ModelError> {
        self.can_continue = !possible.is_empty();
        let Some((name, arguments)) = self.steps.get(self.next).copied() else {
            return Ok(None);
        };
        let fits = |one: &JointStep| (one.label.name, one.label.arguments) == (name, arguments);
        if !possible.iter().any(fits) {
            return Ok(None);
        }
        self.next += 1;
        Ok(Some(ChosenStep {
            name,
            arguments,
            result: None,
        }))
    }

    fn is_finished(&self) -> bool {
        self.can_continue
    }

    fn should_retry(&mut self) -> bool {
        let Some(step) = self.steps.get(self.next) else {
            return false;
        };
        self.skipped_step.get_or_insert(*step);
        self.next += 1;
        true
    }
}

/// Watcher that keeps the steps of a run.
#[derive(Default)]
struct TakenSteps(Vec<(StepLabel, bool)>);

impl RunWatcher for TakenSteps {
    fn run_started(&mut self, _run: usize) {}

    fn step(&mut self, _interner: &Interner, label: StepLabel, is_observed: bool) {
        self.0.push((label, is_observed));
    }

    fn run_ended(&mut self, _end: &RunEnd) -> bool {
        true
    }
}
