//! Products of models: exploration, covering suites, and reduction of failing runs.
//!
//! One program, because linking one per file cost more than running them all.

mod cover;
mod products;
mod shrink;
