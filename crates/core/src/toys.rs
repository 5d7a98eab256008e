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
//! | [`ToyMachine`] | states and steps between them, to be composed |
//! | [`Watched`] | any of these, with copies and coverage |
//!
//! [`catalog`] makes a catalog from a few lines that look like those of a harness.

mod buffer;
mod counters;
mod crossing;
mod flaky;
mod jugs;
mod lines;
mod machine;
mod safe;
mod stack;
mod touched;
mod watched;

pub use buffer::Buffer;
pub use counters::Counters;
pub use crossing::Crossing;
pub use flaky::Flaky;
pub use jugs::Jugs;
pub use lines::catalog;
pub use machine::ToyMachine;
pub use safe::Safe;
pub use stack::Stack;
pub use watched::Watched;

use crate::{Failure, FailureKind, Outcome};

/// Creates a failure whose signature is its message.
pub(crate) fn failed(kind: FailureKind, message: &str) -> Outcome {
    Outcome::Failed(Box::new(Failure {
        kind,
        message: message.to_owned(),
        signature: message.to_owned(),
        details: String::new(),
    }))
}

/// Computes a fingerprint of numbers: two 64-bit hashes side by side.
pub(crate) fn fingerprint(numbers: impl IntoIterator<Item = u64>) -> u128 {
    let mut halves = [0x243f_6a88_85a3_08d3_u64, 0x1319_8a2e_0370_7344];
    for number in numbers {
        for (half, factor) in halves
            .iter_mut()
            .zip([0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93])
        {
            let mixed = (*half ^ number).wrapping_mul(factor);
            *half = (mixed ^ mixed >> 32).wrapping_add(factor);
        }
    }
    u128::from(halves[0]) << 64 | u128::from(halves[1])
}
