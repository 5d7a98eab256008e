//! A running program becomes a recording, and a recording becomes the unit tests it lacked.

#![warn(missing_docs)]

mod digest;
pub mod inspect;
pub mod merge;
pub mod suite;
