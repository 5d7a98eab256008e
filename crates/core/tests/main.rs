//! The laws of `System`, and every algorithm checked against slow and obvious ones.
//!
//! One program, because linking one per file cost more than running them all.

mod ancestor;
mod executions;
mod explore;
mod laws;
mod machine;
mod shrinking;
mod strategies;
mod temporal;
