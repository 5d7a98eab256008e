//! Tiny systems, each with a bug or a flaw worth showing: for documentation, and for the tests of everything that
//! works on systems.
//!
//! | toy | what it shows |
//! |---|---|
//! | [`Safe`] | the smallest system; which steps matter is up to the test |
//! | [`Jugs`] | a puzzle: the failing test is its solution |
//! | [`Stack`] | results compared with a reference, exceptions that are expected |
//! | [`Counters`] | pools: values that actions make and use |
//! | [`Crossing`] | different actions with the same text, and `*N` |
//! | [`Flaky`] | a system that breaks the laws |
//! | [`Watched`] | any of these, with copies and coverage |
//!
//! [`catalog`] makes a catalogue from a few lines that look like those of a harness.

mod counters;
mod crossing;
mod flaky;
mod jugs;
mod lines;
mod safe;
mod stack;
mod watched;

pub use counters::Counters;
pub use crossing::Crossing;
pub use flaky::Flaky;
pub use jugs::Jugs;
pub use lines::catalog;
pub use safe::Safe;
pub use stack::Stack;
pub use watched::Watched;

use crate::{Failure, FailureKind, Outcome};

/// A failure whose signature is its message.
pub(crate) fn failed(kind: FailureKind, message: &str) -> Outcome {
    Outcome::Failed(Box::new(Failure {
        kind,
        message: message.to_owned(),
        signature: message.to_owned(),
        details: String::new(),
    }))
}
