//! Reports that other programs read.
//!
//! One program, because linking one per file cost more than running them all.

mod genhtml;
mod graph_dot;
mod graph_page;
