//! Counterexamples: a failure as one scenario with a sequence diagram (rules X1 to X8 of
//! `docs/readable-rules.md#counterexamples`).
//!
//! A counterexample comes from a property and its failing arguments, from a harness and a reduced
//! test, from a model and a failed run, or from the trace that Hypothesis prints of a state
//! machine.

mod contrast;
mod harness;
mod property;
mod run;
mod slots;
#[cfg(test)]
mod tests;
mod trace;
mod values;

pub use contrast::{Contrast, MAX_NEIGHBOURS, neighbours};
pub use harness::{FailedTest, FailureCause, TestCode};
pub use property::FailureObservation;
pub use run::{FailedRun, RunFailure, RunStep};
pub use trace::{MachineTrace, StateMachine, machine_name};
pub use values::{find_reported_values, parse_values};

use crate::mermaid::SequenceDiagram;
use crate::property::RenderedFeature;

/// The way a failed check is written (X4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CounterexampleStyle {
    /// The check as it should be: the scenario fails until the bug is repaired.
    #[default]
    Expected,
    /// The opposite of the check: the scenario passes as long as the bug is there.
    Observed,
}

/// A failure as a scenario and a diagram.
#[derive(Debug, Clone, Default)]
pub struct RenderedCounterexample {
    /// The scenario and the code of its steps.
    pub rendered: RenderedFeature,
    /// The messages between the tester and the system.
    pub diagram: SequenceDiagram,
}
