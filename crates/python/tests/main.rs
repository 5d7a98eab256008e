//! Harnesses in a real interpreter. Its tests take turns, since a process has only one.
//!
//! One program, because linking one per file cost more than running them all.

mod changed;
mod choice;
mod fingerprints;
mod hostile;
mod modules;
mod properties;
mod semantics;
mod standalone;
mod strategies;
mod support;
