//! The command line without a process of its own, and the tidy tests of the whole repository.
//!
//! One program, because linking one per file cost more than running them all.

mod arguments;
mod bad_harnesses;
mod tidy;
