//! What can be composed.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use super::{Label, NameId, ValueId, Words};
use crate::Error;

/// A state of one model: dense, numbered in the order in which the model met them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub u32);

/// A step that is possible in a state, and where it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// The step.
    pub label: Label,
    /// The state after it.
    pub to: Place,
}

/// What a run is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Anything goes.
    #[default]
    Usual,
    /// Only what leads to an end: the actions that a model calls `cleanup`.
    Cleanup,
}

/// Why something may not happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A guard says no.
    Guard(String),
    /// It would lead to a state that the filter of the model leaves out.
    Filter,
    /// It may happen, but this would come of it.
    Result(ValueId),
    /// It may happen, but the model does not try it with these arguments.
    Domain,
    /// A scenario is where it is not meant to happen; this is what is meant instead.
    Scenario {
        /// The state of the scenario.
        state: String,
        /// What may happen there.
        instead: Vec<Label>,
    },
}

/// Why a model does not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Its own code raised.
    Raised {
        /// The exception in a line.
        what: String,
        /// What the language shows of it; may be empty.
        traceback: String,
    },
    /// The code of the implementation raised, or that which leads it.
    InStepper {
        /// The stepper.
        stepper: String,
        /// The exception in a line.
        what: String,
        /// What the language shows of it; may be empty.
        traceback: String,
    },
    /// It is not as it must be.
    Unusable(Error),
    /// A text that it is made of cannot be understood.
    Misread(Box<Misread>),
    /// It does not say how to begin another run.
    NoReset {
        /// The model.
        model: String,
    },
    /// The person at the keyboard asked to stop.
    Interrupted,
}

/// A place in a text that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misread {
    /// A kebab-case name for what is wrong, such as `python-2`.
    pub name: &'static str,
    /// The file.
    pub file: PathBuf,
    /// What it says.
    pub text: String,
    /// The place: bytes of the text.
    pub range: Range<usize>,
    /// What is wrong: a lower-case phrase without a full stop.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl fmt::Display for Misread {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = self.text.get(..self.range.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        write!(out, "{}:{line}: {}", self.file.display(), self.message)
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        Trouble::Unusable(error)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Raised { what, .. } => out.write_str(what),
            Trouble::InStepper { stepper, what, .. } => {
                write!(out, "the stepper `{stepper}` raised {what}")
            }
            Trouble::Unusable(error) => error.fmt(out),
            Trouble::Misread(text) => text.fmt(out),
            Trouble::NoReset { model } => {
                write!(
                    out,
                    "the model `{model}` does not say how to begin another run"
                )
            }
            Trouble::Interrupted => out.write_str("interrupted"),
        }
    }
}

/// A system whose states can be asked about, in any order.
///
/// # Laws
/// - The same place has the same moves, in the same order, for the same offers.
/// - Moves to equal states lead to the same place.
pub trait Model {
    /// What it is called.
    fn name(&self) -> &str;

    /// The names of its actions. What stands here but is never possible is forbidden in a product.
    fn vocabulary(&self) -> &[NameId];

    /// Whether it may leave arguments and results open: its steps without any then stand for those with any.
    fn is_scenario(&self) -> bool;

    /// Whether it has a certain number of runs.
    fn is_suite(&self) -> bool {
        false
    }

    /// How many runs it has, if that is certain.
    fn runs(&self) -> Option<usize> {
        None
    }

    /// Whether its own code can make another run begin.
    fn can_reset(&self) -> bool {
        true
    }

    /// Where a run begins, or `None` if it has fewer runs. Runs are numbered from 0, and asked for in order.
    fn start(&mut self, run: usize) -> Result<Option<Place>, Trouble>;

    /// The same without asking the model's own code to make a run begin: where the first one began is known.
    fn begin(&mut self, run: usize) -> Result<Option<Place>, Trouble> {
        self.start(run)
    }

    /// What is possible in a state.
    ///
    /// Some actions happen when others say so; what these others, the scenarios of a product, would allow now are the
    /// `offers`.
    fn moves(
        &mut self,
        words: &mut Words,
        from: Place,
        phase: Phase,
        offers: &[Label],
    ) -> Result<Vec<Move>, Trouble>;

    /// Why an action that somebody else has chosen may not happen in a state; nothing if it may.
    fn refusal(
        &mut self,
        words: &mut Words,
        from: Place,
        name: NameId,
        arguments: ValueId,
    ) -> Result<Option<Refusal>, Trouble>;

    /// Why what is not possible in a state is not, as far as the model has tried it.
    fn refusals(
        &mut self,
        words: &mut Words,
        from: Place,
        offers: &[Label],
    ) -> Result<Vec<(NameId, ValueId, Refusal)>, Trouble>;

    /// What comes of an action that somebody else has chosen, whether it should have been or not. Several moves
    /// mean that the model leaves open which.
    fn perform(
        &mut self,
        words: &mut Words,
        from: Place,
        name: NameId,
        arguments: ValueId,
    ) -> Result<Vec<Move>, Trouble>;

    /// Lets go of the state that it was left in, if it lives in one: whatever is asked next, it puts itself into the
    /// state that it is asked about. Others may hold parts of a state that it lives in, and see them change.
    fn leave(&mut self) {}

    /// Whether a run may end in a state.
    fn is_accepting(&self, place: Place) -> bool;

    /// Whether the invariants hold in a state.
    fn is_safe(&self, place: Place) -> bool;

    /// A state as source text.
    fn text(&self, place: Place) -> String;

    /// A state in a form that a copy of the model in another process understands; none if there is no such form.
    fn export(&self, place: Place) -> Option<Vec<u8>> {
        Some(place.0.to_le_bytes().to_vec())
    }

    /// The state that a copy of the model in another process speaks of.
    fn import(&mut self, state: &[u8]) -> Option<Place> {
        Some(Place(u32::from_le_bytes(state.try_into().ok()?)))
    }

    /// What the states it has met take in memory.
    fn bytes(&self) -> usize {
        0
    }
}
