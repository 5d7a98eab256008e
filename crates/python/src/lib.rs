//! The CPython backend: a harness plus an interpreter is a [`System`](testwright_core::System).

#![warn(missing_docs)]

mod api;
pub use api::*;
