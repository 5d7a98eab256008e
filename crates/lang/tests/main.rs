//! Harness texts: expansion, diagnostics, hostile input, and what the papers show.
//!
//! One program, because linking one per file cost more than running them all.

mod diagnostics;
mod golden;
mod hostile;
mod papers;
mod vectors;
