//! Tiny systems, each with a bug or a flaw worth showing: for documentation, and for the tests of everything that
//! works on systems.
//!
//! | toy | what it shows |
//! |---|---|
//! | [`Safe`] | the smallest system; which steps matter is up to the test |
//! | [`Jugs`] | a puzzle: the failing test is its solution |
//! | [`Stack`] | results compared with a reference, exceptions that are expected |
//! | [`Buffer`] | a bug that shows only in tests that do without some of the actions |
//! | [`Counters`] | pools: values that actions make and use |
//! | [`Crossing`] | different actions with the same text, and `*N` |
//! | [`Flaky`] | a system that breaks the laws |
//!
//! [`catalog`] makes a catalogue from a few lines that look like those of a harness.

mod buffer;
mod counters;
mod crossing;
mod flaky;
mod jugs;
mod lines;
mod safe;
mod stack;
mod touched;

pub use buffer::Buffer;
pub use counters::Counters;
pub use crossing::Crossing;
pub use flaky::Flaky;
pub use jugs::Jugs;
pub use lines::catalog;
pub use safe::Safe;
pub use stack::Stack;

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
