//! Coverage of the code under test: the lines and branches that were reached.
//!
//! Coverage.py listens to every line event; this module observes every relevant point of the code
//! once. Code objects are parsed before they run ([`instructions`], [`line_table`],
//! [`exception_table`], with the instruction set in [`dialect`]). [`flow`] determines the arcs that
//! each step between two instructions would make, by the rules of [`tracing`]. [`assemble`] inserts
//! marks at points for which the interpreter reports no event. Then [`monitoring`] waits for each
//! point to be reached once, [`record`] stores the result, and [`quicken`] removes the remaining
//! cost.
//!
//! Before 3.12 the interpreter has no suitable events. There [`probe_plan`] decides on calls of our
//! own to insert, and [`probes`] handles them.

mod assemble;
mod blocks;
mod code_memory;
mod collector;
mod dialect;
mod exception_table;
mod flow;
mod instructions;
mod instrument;
mod line_table;
#[cfg(Py_3_11)]
mod monitoring;
#[cfg_attr(
    not(Py_3_11),
    expect(dead_code, reason = "half of it is for `monitoring`")
)]
mod observed_code;
mod observer;
mod probe_plan;
mod probes;
#[cfg(Py_3_11)]
mod quicken;
mod record;
mod tracing;

pub use collector::{Collector, MeasuredFile, ProgramExit, SourceSelection};
pub use flow::Arc;
