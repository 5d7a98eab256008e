//! What went wrong, as one scenario (section 5): from a property and its failing arguments, from a harness and a
//! reduced test, from a model and a run,
//! or from what Hypothesis prints of a state machine.

mod contrast;
mod harness;
mod property;
mod run;
mod slots;
#[cfg(test)]
mod tests;
mod trace;
mod values;

pub use contrast::{Contrast, NEIGHBOURS, neighbours};
pub use harness::{Acts, Failing, Violation};
pub use property::Observation;
pub use run::{FailedRun, RunFailure, Taken};
pub use trace::{Machine, Trace, machine_in};
pub use values::{given, reported};

use crate::mermaid::Diagram;
use crate::property::Told;

/// How a failed check is written (X4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Style {
    /// As it should be, so that the scenario fails until the bug is repaired.
    #[default]
    Expected,
    /// As it is, so that the scenario passes as long as the bug is there.
    Observed,
}

/// A failure as people read it.
#[derive(Debug, Clone, Default)]
pub struct Counterexample {
    /// The scenario, and what its steps do.
    pub told: Told,
    /// Who said what to whom.
    pub diagram: Diagram,
}
