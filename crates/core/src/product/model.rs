//! The model trait and its data types.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use super::{Interner, NameId, StepLabel, ValueId};
use crate::Error;
use crate::verdict::Caveat;

/// A state of one model: a dense number, in the order in which the model reached its states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelState(pub u32);

/// A possible step of one model, and the state it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModelStep {
    /// The label of the step.
    pub label: StepLabel,
    /// The state after it.
    pub to: ModelState,
}

/// The phase of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Phase {
    /// All actions are allowed.
    #[default]
    Normal,
    /// Only actions that lead to an end: those that a model lists in `cleanup`.
    Cleanup,
}

/// The reason why a model blocks an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockReason {
    /// A guard is false.
    Guard(String),
    /// It would lead to a state that the model's filter excludes.
    Filter,
    /// It may happen, but with this result.
    Result(ValueId),
    /// It may happen, but the model does not try it with these arguments.
    Domain,
    /// The scenario does not allow it in its current state.
    Scenario {
        /// The state of the scenario.
        state: String,
        /// The steps that are allowed there.
        allowed_steps: Vec<StepLabel>,
    },
}

/// An error of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelError {
    /// The model's code raised an exception.
    Raised {
        /// The exception in one line.
        exception: String,
        /// The traceback as the language shows it; may be empty.
        traceback: String,
    },
    /// The stepper, or the implementation it drives, raised an exception.
    InStepper {
        /// The name of the stepper.
        stepper: String,
        /// The exception in one line.
        exception: String,
        /// The traceback as the language shows it; may be empty.
        traceback: String,
    },
    /// The model is malformed.
    Unusable(Error),
    /// A source text of the model cannot be parsed.
    Source(Box<SourceError>),
    /// The model cannot start another run.
    NoReset {
        /// The name of the model.
        model: String,
    },
    /// The user interrupted the work.
    Interrupted,
}

/// A position in a source text that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceError {
    /// A kebab-case name for what is wrong, such as `python-2`.
    pub name: &'static str,
    /// The file.
    pub file: PathBuf,
    /// The text of the file.
    pub text: String,
    /// The byte range in the text.
    pub range: Range<usize>,
    /// The message: a lower-case phrase without a full stop.
    pub message: String,
    /// Advice on what to do about it.
    pub help: String,
}

impl fmt::Display for SourceError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = self.text.get(..self.range.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        write!(out, "{}:{line}: {}", self.file.display(), self.message)
    }
}

impl From<Error> for ModelError {
    fn from(error: Error) -> ModelError {
        ModelError::Unusable(error)
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelError::Raised { exception, .. } => out.write_str(exception),
            ModelError::InStepper {
                stepper, exception, ..
            } => {
                write!(out, "the stepper `{stepper}` raised {exception}")
            }
            ModelError::Unusable(error) => error.fmt(out),
            ModelError::Source(text) => text.fmt(out),
            ModelError::NoReset { model } => {
                write!(
                    out,
                    "the model `{model}` does not define how to begin another run"
                )
            }
            ModelError::Interrupted => out.write_str("interrupted"),
        }
    }
}

/// Observations of a model while its steps were computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelNotices {
    /// The caveats of whatever is claimed about the steps.
    pub caveats: Vec<Caveat>,
    /// The guards that were asked and always said yes, by name.
    pub idle_guards: Vec<String>,
}

/// A model whose states can be queried in any order.
///
/// # Laws
/// - The same state has the same steps, in the same order, for the same offers.
/// - Steps to equal states lead to the same [`ModelState`].
pub trait Model {
    /// Returns the name of the model.
    fn name(&self) -> &str;

    /// Returns the actions of the model. An action listed here that is never possible is forbidden
    /// in a product.
    fn vocabulary(&self) -> &[NameId];

    /// Returns true if the model is a scenario: a step without arguments and result stands for any.
    fn is_scenario(&self) -> bool;

    /// Returns true if it has a fixed number of runs.
    fn is_suite(&self) -> bool {
        false
    }

    /// Lets runs of a suite leave out steps from now on.
    fn allow_gaps(&mut self) {}

    /// Returns the number of runs, if it is fixed.
    fn runs(&self) -> Option<usize> {
        None
    }

    /// Returns true if its own code can start another run.
    fn can_reset(&self) -> bool {
        true
    }

    /// Starts a run and returns its initial state; `None` if there are fewer runs. Runs are
    /// numbered from 0 and started in order.
    fn start(&mut self, run: usize) -> Result<Option<ModelState>, ModelError>;

    /// Returns the initial state of a run without running the model's reset code: the state in
    /// which the first run began is known.
    fn initial_state(&mut self, run: usize) -> Result<Option<ModelState>, ModelError> {
        self.start(run)
    }

    /// Returns the possible steps in a state.
    ///
    /// Some actions happen only when other models allow them. `offers` are the steps that the
    /// scenarios of a product would allow now.
    fn possible_steps(
        &mut self,
        interner: &mut Interner,
        from: ModelState,
        phase: Phase,
        offers: &[StepLabel],
    ) -> Result<Vec<ModelStep>, ModelError>;

    /// Returns the reason why an externally chosen action may not happen in a state; `None` if it
    /// may.
    fn block_reason(
        &mut self,
        interner: &mut Interner,
        from: ModelState,
        name: NameId,
        arguments: ValueId,
    ) -> Result<Option<BlockReason>, ModelError>;

    /// Returns the actions that the model tried and that are impossible in a state, with the
    /// reasons.
    fn block_reasons(
        &mut self,
        interner: &mut Interner,
        from: ModelState,
        offers: &[StepLabel],
    ) -> Result<Vec<(NameId, ValueId, BlockReason)>, ModelError>;

    /// Performs an externally chosen action, whether it is allowed or not. Several steps mean that
    /// the model leaves the choice open.
    fn perform(
        &mut self,
        interner: &mut Interner,
        from: ModelState,
        name: NameId,
        arguments: ValueId,
    ) -> Result<Vec<ModelStep>, ModelError>;

    /// Tries observable actions from now on, too, as far as their arguments are known without a
    /// scenario. Without this, they happen only as scenarios or an implementation say.
    fn try_observables(&mut self) {}

    /// Returns true if an action is one that the model only observes.
    fn is_observable(&self, _name: NameId) -> bool {
        false
    }

    /// Returns false if no observable action may happen in a state, with any arguments.
    fn may_observe(&mut self, _from: ModelState) -> Result<bool, ModelError> {
        Ok(false)
    }

    /// Puts the live state, if the model has one, into this state.
    fn enter_state(&mut self, _state: ModelState) -> Result<(), ModelError> {
        Ok(())
    }

    /// Returns the observable actions whose arguments the model does not know.
    fn observables_without_values(&self) -> Vec<NameId> {
        Vec::new()
    }

    /// Returns true if the model lists all arguments with which an action may happen.
    fn lists_arguments(&self, _name: NameId) -> bool {
        false
    }

    /// Returns true if an action is tried with the same arguments in every state.
    fn has_fixed_arguments(&self, _name: NameId) -> bool {
        false
    }

    /// Returns true if the model says what must hold in every state.
    fn has_invariant(&self) -> bool {
        false
    }

    /// Returns what the model noticed while its steps were computed.
    fn notices(&self) -> ModelNotices {
        ModelNotices::default()
    }

    /// Encodes what the model noticed since the last call, for [`Model::import_notices`] of a copy
    /// in another process.
    fn export_notices(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Adds what a copy of the model in another process noticed.
    fn import_notices(&mut self, _notices: &[u8]) {}

    /// Releases the live state, if the model has one. The next query must restore the state it asks
    /// about. Without this, other holders of parts of the live state could see them change.
    fn release_state(&mut self) {}

    /// Returns true if a run may end in a state.
    fn is_accepting(&self, state: ModelState) -> bool;

    /// Returns true if the invariants hold in a state.
    fn is_safe(&self, state: ModelState) -> bool;

    /// Returns a state as source text.
    fn text(&self, state: ModelState) -> String;

    /// Encodes a state for a copy of the model in another process; `None` if it cannot be encoded.
    fn export(&self, state: ModelState) -> Option<Vec<u8>> {
        Some(state.0.to_le_bytes().to_vec())
    }

    /// Decodes a state that a copy of the model in another process encoded.
    fn import(&mut self, state: &[u8]) -> Option<ModelState> {
        Some(ModelState(u32::from_le_bytes(state.try_into().ok()?)))
    }

    /// Returns the memory of the known states, in bytes.
    fn bytes(&self) -> usize {
        0
    }
}
