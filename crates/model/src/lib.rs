//! Models that need no program to run, and algorithms on products of models.
//!
//! A finite state machine ([`Fsm`]) and a list of runs ([`RunSuite`]) are models by themselves.
//! Models of other kinds, for example Python modules, come from other crates. All algorithms here
//! take a product, so they work on any combination: exploration, testing, conformance checking,
//! covering suites and shrinking.
//!
//! Two lamps that can be switched, but never both at the same time:
//!
//! ```
//! use testwright_core::product::Product;
//! use testwright_core::toys::ToyMachine;
//! use testwright_model::{GraphLimits, explore};
//!
//! let mut interner = ToyMachine::interner();
//! let left = ToyMachine::program(&mut interner, "left", &["off left on", "on left off"]);
//! let right = ToyMachine::program(&mut interner, "right", &["off right on", "on right off"]);
//! let mut lamps = Product::new(interner, vec![Box::new(left), Box::new(right)]);
//! let graph = explore(&mut lamps, &GraphLimits::default(), &mut |_| true).graph;
//! assert_eq!((graph.states(), graph.transitions.len()), (4, 8));
//! ```
//!
//! # What to read next
//!
//! - [`Fsm`] and [`RunSuite`]: the scenarios. [`testwright_core::product`] defines *models* and how
//!   they are composed.
//! - [`explore()`] and [`ProductGraph`]: all states of a product, up to a limit, and which of them
//!   are accepting, unsafe or dead.
//! - [`ModelRunner`]: tests an implementation against a model. [`ProductSystem`]: a product as a
//!   system, for everything else.
//! - [`RecordedRun`] and [`shrink()`]: replay runs, and shrink failing ones.
//! - [`conform`]: decides whether a model allows a recorded behavior. [`recorded_suite()`]: turns
//!   it into a scenario.
//! - [`parallel`]: explores with the help of other processes.
//! - [`compute_suite`]: makes suites that cover an explored graph.
//! - [`fsm_file`], [`suite_file`]: write graphs and runs as Python modules.

#![warn(missing_docs)]

pub mod conform;
mod cover;
mod explore;
mod filter;
mod fsm;
pub mod fsm_file;
mod graph;
mod mismatch;
mod module_text;
mod observation;
pub mod parallel;
mod playlist;
mod product_system;
mod recorded_suite;
mod replay;
mod runs;
mod shrink;
mod suite;
pub mod suite_file;

pub use cover::{
    CoverGoal, CoverPlan, CoverTarget, CoveringSuite, RUN_COST, UnreachableReason,
    UnreachableTarget, compute_suite, count_pairs,
};
pub use explore::{
    Expander, ExploredGraph, GraphLimits, GraphProgress, GraphWatcher, LocalExpander, explore,
    explore_from, explore_with,
};
pub use filter::Filter;
pub use fsm::{Fsm, FsmEdge};
pub use graph::{ProductGraph, ProductTransition, ShortestPaths, state_text};
pub use playlist::Playlist;
pub use product_system::{ProductSystem, TakenTransition};
pub use recorded_suite::recorded_suite;
pub use replay::{RecordedRun, ReplayOutcome, prepare_run};
pub use runs::{
    Chooser, ChosenStep, Implementation, ModelRunner, RunCounts, RunEnd, RunPlan, RunWatcher,
    StepMismatch, step_text,
};
pub use shrink::{MinimalRun, shrink};
pub use suite::RunSuite;
