//! The [`System`] trait and the algorithms on it. Pure Rust: no Python, no files, no clock.
//!
//! Anything that can be tested has a state, actions that change it, and invariants. That is a
//! [`System`]. A [`Test`] is a path through it: a list of actions, as plain data. Everything else
//! here is written once, against that one trait: searching for a failing test, replaying it,
//! reducing it, saving it as text.
//!
//! Here is all of it on a toy, two jugs of three and five litres. Its property says that there are
//! never four litres in the big one, so a failing test is a solution of the puzzle.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use testwright_core::generate::{FailingTest, SearchOptions, SearchWatcher, search};
//! use testwright_core::shrink::{ReduceOptions, reduce};
//! use testwright_core::toys::Jugs;
//! use testwright_core::{System, saved};
//!
//! /// Reduces a failure, keeps it, and stops.
//! struct Shortest(Option<String>);
//!
//! impl SearchWatcher<Jugs> for Shortest {
//!     fn failure_found(&mut self, jugs: &mut Jugs, found: FailingTest) -> ControlFlow<()> {
//!         let options = ReduceOptions::default();
//!         let reduction = reduce(jugs, &found.test, &found.failure, &options, &mut || true).unwrap();
//!         let notes = [("failure".to_owned(), reduction.failure.message)];
//!         self.0 = Some(saved::write(jugs.actions(), &reduction.test, &notes));
//!         ControlFlow::Break(())
//!     }
//! }
//!
//! let mut shortest = Shortest(None);
//! let options = SearchOptions { seed: 1, tests: Some(100), length: 100, check: true };
//! search(&mut Jugs::default(), &options, &mut shortest).unwrap();
//! let text = shortest.0.unwrap();
//! let lines: Vec<&str> = text.lines().collect();
//! assert_eq!(
//!     lines,
//!     [
//!         "# testwright test 1",
//!         "# failure: property big != 4 is false",
//!         "fill(big)",
//!         "pour_from(big)",
//!         "empty(small)",
//!         "pour_from(big)",
//!         "fill(big)",
//!         "pour_from(big)",
//!     ]
//! );
//! ```
//!
//! # Where to go next
//!
//! - [`System`]: the trait and its laws. [`laws`] has the test that every implementation should pass, [`toys`]
//!   has implementations that fit on a screen.
//! - [`Catalog`]: numbers, names and finds a hundred thousand actions without writing them out.
//! - [`Test`], [`Trace`], [`Failure`]: the steps, the events of a run, and the reason for a
//!   failure.
//! - [`replay`], [`generate`], [`shrink`], [`saved`]: run a test, search for one, reduce it, save
//!   it.
//! - [`analyse`]: analyses of many tests together.
//! - [`explore`]: visit every state, and prove that something does not exist.
//! - [`verdict`]: the evidence and the limits of an answer.
//!
//! Three kinds of problems are never mixed: a [`Failure`] is a result, the system misbehaved; a
//! [`saved::ReadProblem`] is a text that cannot be understood; an [`Error`] means that the work
//! cannot continue.

#![warn(missing_docs)]

pub mod analyse;
pub mod bytes;
mod catalog;
mod chunked_vec;
mod coverage;
mod error;
pub mod explore;
pub mod fingerprint_set;
pub mod generate;
pub mod laws;
pub mod message;
pub mod product;
mod random;
pub mod replay;
pub mod saved;
pub mod shrink;
pub mod spelling;
mod system;
mod test;
pub mod toys;
mod trace;
pub mod verdict;

pub use catalog::{
    ActionClasses, ActionId, Axis, Catalog, ChoiceValues, ClassId, PoolId, SlotPool, SlotRole,
    Template, TemplateId, TemplatePiece, TemplateSet, TooManyActions, text_distance,
};
pub use coverage::{Coverage, TargetId};
pub use error::{Error, describe_os_error};
pub use random::Random;
pub use system::{
    Covered, Equivalence, Examination, Fingerprint, SlotComparison, Snapshot, System,
};
pub use test::{Step, Test};
pub use trace::{Failure, FailureKind, Outcome, Trace, TraceEvent};
