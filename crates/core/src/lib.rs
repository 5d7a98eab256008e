//! What a [`System`] is, and all that can be done with one. Pure Rust: no Python, no files, no clock.

#![warn(missing_docs)]

mod catalog;
mod error;
mod random;
mod system;
mod test;
mod trace;

pub use catalog::{
    ActionId, Axis, Catalog, Choice, Piece, Pool, PoolId, Role, Template, TemplateId,
    TooManyActions,
};
pub use error::Error;
pub use random::Random;
pub use system::System;
pub use test::{Step, Test};
pub use trace::{Event, Failure, FailureKind, Outcome, Trace};
