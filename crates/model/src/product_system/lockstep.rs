//! Runs an implementation in lockstep with its models.
//!
//! The implementation performs each step that the models take. Actions that the implementation
//! takes by itself happen to the models too. They are not steps of the test, since no chooser
//! picked them.

use testwright_core::product::{JointStep, ModelError, ModelState, NameId, StepLabel, ValueId};
use testwright_core::{ActionId, Error, Outcome};

use super::{ProductSystem, model_failure};
use crate::mismatch::step_mismatch;
use crate::observation::check_observation;
use crate::replay::prepare_run;
use crate::runs::{Implementation, is_at_rest};

/// An implementation that performs each step of the models.
pub(super) struct AttachedImplementation<'m> {
    /// The implementation under test.
    implementation: Box<dyn Implementation + 'm>,
    /// True if it must be reset before it is used.
    is_used: bool,
    /// Actions that it took by itself, until `take_observed` returns them.
    observed: Vec<ActionId>,
}

impl AttachedImplementation<'_> {
    /// Returns true if the implementation acts by itself in its own time.
    pub(super) fn is_asynchronous(&self) -> bool {
        self.implementation.is_asynchronous()
    }

    /// Begins to record the lines of code that the implementation executes, or returns them.
    pub(super) fn record_lines(&mut self, record: bool) -> Vec<String> {
        self.implementation.record_lines(record)
    }
}

impl<'m> ProductSystem<'_, 'm> {
    /// Attaches an implementation that performs each step from now on.
    pub fn attach(&mut self, implementation: Box<dyn Implementation + 'm>) {
        self.attached = Some(AttachedImplementation {
            // It starts from a clean slate, whatever it found when it was imported.
            is_used: implementation.can_reset(),
            implementation,
            observed: Vec::new(),
        });
    }

    /// Gives steps of the implementation that are known to hang as much time as others.
    pub fn use_full_limits(&mut self) {
        if let Some(attached) = &mut self.attached {
            attached.implementation.use_full_limits();
        }
    }

    /// Returns the actions that the implementation took by itself and the models allowed, since the
    /// last call.
    pub fn take_observed(&mut self) -> Vec<ActionId> {
        let attached = self.attached.as_mut();
        attached.map_or_else(Vec::new, |one| std::mem::take(&mut one.observed))
    }

    /// Resets the implementation for another run, unless it has not been used. It sees the models in
    /// their initial state.
    pub(super) fn reset_implementation(&mut self) -> Result<(), Error> {
        let Some(attached) = self.attached.as_mut().filter(|one| one.is_used) else {
            return Ok(());
        };
        attached.is_used = false;
        attached.observed.clear();
        let start = self.starts.first().cloned().unwrap_or_default();
        let entered = self.product.enter_state(&start);
        match entered.and_then(|()| prepare_run(&mut *attached.implementation)) {
            Ok(()) | Err(ModelError::Interrupted) => Ok(()),
            Err(ModelError::Unusable(error)) => Err(error),
            Err(error) => {
                let mut message = error.to_string();
                for line in model_failure(&error).details.lines() {
                    message.push_str("\n  ");
                    message.push_str(line);
                }
                Err(Error::new(message))
            }
        }
    }

    /// Takes a step together with the implementation, and handles the actions that the
    /// implementation takes by itself. Returns `None` if all is well.
    pub(super) fn step_in_lockstep(&mut self, action: ActionId) -> Option<Outcome> {
        self.attached.as_ref()?;
        let chosen = self.name_and_arguments(action);
        let fits = |one: &&JointStep| Some((one.label.name, one.label.arguments)) == chosen;
        let possible: Vec<JointStep> = self.possible_steps().filter(fits).cloned().collect();
        // If the models leave the result open, the first one is as good as the others.
        let label = possible.first()?.label;
        let to = possible.into_iter().filter(|one| one.label == label);
        let mut after: Vec<Vec<ModelState>> = to.map(|one| one.to).collect();
        after.sort_unstable();
        after.dedup();
        self.coverage.record(&self.states, action);
        let before = std::mem::take(&mut self.states);
        self.set_states(after);
        self.take_in_models(&before, label)
            .and_then(|()| self.act(label))
            .and_then(|wrong| match wrong {
                Some(wrong) => Ok(Some(wrong)),
                None => self.apply_observations(),
            })
            .unwrap_or_else(|error| Some(self.error_outcome(error)))
    }

    /// Takes a step in the models themselves, so that the implementation sees them after it.
    fn take_in_models(
        &mut self,
        before: &[Vec<ModelState>],
        label: StepLabel,
    ) -> Result<(), ModelError> {
        for state in before {
            self.product.perform(state, label.name, label.arguments)?;
        }
        match self.states.first() {
            Some(state) => self.product.enter_state(state),
            None => Ok(()),
        }
    }

    /// Performs a step on the implementation. Returns an outcome if it does not match the label.
    fn act(&mut self, label: StepLabel) -> Result<Option<Outcome>, ModelError> {
        let Some(attached) = &mut self.attached else {
            return Ok(None);
        };
        attached.is_used = true;
        let interner = self.product.interner();
        let wrong = attached.implementation.act(interner, label)?;
        Ok(wrong.map(|why| Outcome::Failed(Box::new(step_mismatch(interner, label, why)))))
    }

    /// Applies the actions that the implementation took by itself. Waits for one if no step is
    /// possible.
    pub(super) fn apply_observations(&mut self) -> Result<Option<Outcome>, ModelError> {
        while let Some(attached) = &mut self.attached {
            let implementation = &mut attached.implementation;
            if let Some((name, arguments)) =
                implementation.next_observation(self.product.interner_mut())?
            {
                if let Some(wrong) = self.apply_observation(name, arguments)? {
                    return Ok(Some(wrong));
                }
                continue;
            }
            if self.possible_steps().next().is_some() || self.error.is_some() {
                break;
            }
            if is_at_rest(self.product, &self.states)? {
                break;
            }
            let Some(attached) = &mut self.attached else {
                break;
            };
            if attached.implementation.wait()? != Some(true) {
                break;
            }
        }
        Ok(None)
    }

    /// Applies one such action to the models. Returns a failure if they do not allow it.
    fn apply_observation(
        &mut self,
        name: NameId,
        arguments: ValueId,
    ) -> Result<Option<Outcome>, ModelError> {
        let mut states = self.states.clone();
        if let Some(failure) = check_observation(self.product, &mut states, name, arguments)? {
            return Ok(Some(Outcome::Failed(Box::new(failure))));
        }
        let mut after = Vec::new();
        for state in &states {
            let ways = self.product.perform(state, name, arguments)?;
            after.extend(ways.into_iter().map(|one| one.to));
        }
        after.sort_unstable();
        after.dedup();
        let action = self.action_id(name, arguments)?;
        self.coverage.record(&states, action);
        self.set_states(after);
        if let Some(attached) = &mut self.attached {
            attached.observed.push(action);
        }
        Ok(None)
    }
}
