//! Analyses of many tests taken together.
//!
//! | question | answer |
//! |---|---|
//! | Which short tests reach what this long one reaches? | [`quick`] |
//! | Which step of a failing test is to blame, and is it the bug of another test? | [`culprit`] |
//! | Where in the code is the fault? | [`localize`] |
//! | How many bugs are these failures? Which should I look at first? | [`triage`], [`furthest`] |
//! | Is further testing worthwhile? | [`saturation`] |
//! | Does the same test do the same thing twice? | [`determinism`] |
//! | Which earlier tests is this one made of? | [`provenance`] |
//!
//! Analyses that run tests take a system. The others are calculations on plain data.

pub mod culprit;
pub mod determinism;
pub mod furthest;
pub mod localize;
pub mod provenance;
pub mod quick;
pub mod saturation;
pub mod triage;
