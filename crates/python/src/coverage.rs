//! Which lines and branches of the code under test were reached.
//!
//! What coverage.py finds out by listening to every line, this finds out by looking at every place once. Code
//! objects are read before they run ([`instructions`], [`line_table`], [`exception_table`], in the words of
//! [`dialect`]); [`flow`] says which arcs each step between two instructions would make, by the rules of
//! [`tracing`]; [`assemble`] puts marks where the interpreter alone would not tell. Then [`monitoring`] waits for
//! each place to be reached once, [`record`] keeps what was, and [`quicken`] sees to it that this costs nothing later. Before 3.12 the interpreter tells nothing worth
//! waiting for; there [`watch`] says what calls of our own to insert, and [`probes`] answers them.

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
mod observer;
mod probes;
#[cfg(Py_3_11)]
mod quicken;
mod record;
mod tracing;
#[cfg_attr(
    not(Py_3_11),
    expect(dead_code, reason = "half of it is for `monitoring`")
)]
mod unit;
mod watch;

pub use collector::{Collector, Ended, MeasuredFile, SourceChoice};
pub use flow::Arc;
