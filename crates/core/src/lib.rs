//! What a [`System`] is, and all that can be done with one. Pure Rust: no Python, no files, no clock.
//!
//! Anything that can be tested has a state, actions that change it, and invariants. That is a [`System`]. A
//! [`Test`] is a path through it: a list of actions, as plain data. Everything else here is written once, against
//! that one trait: searching for a test that fails, running it again, making it shorter, saving it as text.
//!
//! Here is all of it on a toy, two jugs of three and five litres. Its property says that there are never four
//! litres in the big one, so a test that fails is a solution of the puzzle.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use testwright_core::generate::{Found, Search, SearchWatcher, search};
//! use testwright_core::shrink::{ReduceOptions, reduce};
//! use testwright_core::toys::Jugs;
//! use testwright_core::{System, saved};
//!
//! /// What to do with a failure: make it short, keep it, and stop.
//! struct Shortest(Option<String>);
//!
//! impl SearchWatcher<Jugs> for Shortest {
//!     fn found(&mut self, jugs: &mut Jugs, found: Found) -> ControlFlow<()> {
//!         let options = ReduceOptions::default();
//!         let reduction = reduce(jugs, &found.test, &found.failure, &options, &mut || true).unwrap();
//!         let notes = [("failure".to_owned(), reduction.failure.message)];
//!         self.0 = Some(saved::write(jugs.actions(), &reduction.test, &notes));
//!         ControlFlow::Break(())
//!     }
//! }
//!
//! let mut shortest = Shortest(None);
//! let plan = Search { seed: 1, tests: Some(100), length: 100, check: true };
//! search(&mut Jugs::default(), &plan, &mut shortest).unwrap();
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
//! # What to read next
//!
//! - [`System`]: the trait and its laws. [`laws`] has the test that every implementation should pass, [`toys`]
//!   has implementations that fit on a screen.
//! - [`Catalog`]: how a hundred thousand actions are numbered, named and found without being written out.
//! - [`Test`], [`Trace`], [`Failure`]: what to do, what happened, and why it is wrong.
//! - [`replay`], [`generate`], [`shrink`], [`saved`]: run a test, search for one, make it short, keep it.
//! - [`analyse`]: what many tests tell when they are looked at together.
//! - [`explore`]: visit every state, and know what does not exist.
//!
//! Three kinds of trouble are never mixed: a [`Failure`] is a result, the system misbehaved; a
//! [`saved::ReadProblem`] is a text that cannot be understood; an [`Error`] means that the work cannot go on.

#![warn(missing_docs)]

pub mod analyse;
mod blocks;
pub mod bytes;
mod catalog;
mod coverage;
mod error;
pub mod explore;
pub mod generate;
pub mod laws;
pub mod numbering;
pub mod product;
mod random;
pub mod replay;
pub mod saved;
pub mod shrink;
mod system;
mod test;
pub mod toys;
mod trace;

pub use catalog::{
    ActionId, Axis, Catalog, Choice, ClassId, Classes, Piece, Pool, PoolId, Role, Template,
    TemplateId, TemplateSet, TooManyActions, text_distance,
};
pub use coverage::{Coverage, TargetId};
pub use error::Error;
pub use random::Random;
pub use system::{Covered, Fingerprint, Likeness, Snapshot, System};
pub use test::{Step, Test};
pub use trace::{Event, Failure, FailureKind, Outcome, Trace};
