//! The object walker: how the state of a system in Python is seen, told apart and restored.
//!
//! A state consists of objects that can change: those in the slots, and those that the modules under
//! test hold. Everything else is a value. The walker knows for each object
//!
//! - its [layout]: the parts in which it can change, read from memory without running any of
//!   its code;
//! - its [encoding](encoder): the bytes that say all that code can notice about it, never an address;
//! - the way to [write its parts back](mod@write) into the same object, so that identity stays right.
//!
//! The [base] holds the modules as they were after the last reset, so that only what differs
//! has to be visited in each state.

pub(crate) mod base;
pub(crate) mod context;
pub(crate) mod encoder;
pub(crate) mod foreign;
pub(crate) mod layout;
pub(crate) mod node;
pub(crate) mod sets;
pub(crate) mod write;

pub(crate) use crate::reachability::Pointer;
