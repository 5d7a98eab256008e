//! A running program becomes a recording, and a recording becomes the unit tests it lacked.

#![warn(missing_docs)]

pub mod inspect;
