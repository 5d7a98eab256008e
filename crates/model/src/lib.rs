//! Models that need no program to run: machines with explicit states, and lists of runs. And what can be done with
//! any product of models: visiting all its states, and saying what they tell.
//!
//! Two lamps, each of which can be switched, and never both at the same time:
//!
//! ```
//! use testwright_core::product::Product;
//! use testwright_core::toys::Machine;
//! use testwright_model::{Limits, explore};
//!
//! let mut words = Machine::words();
//! let left = Machine::program(&mut words, "left", &["off left on", "on left off"]);
//! let right = Machine::program(&mut words, "right", &["off right on", "on right off"]);
//! let mut lamps = Product::new(words, vec![Box::new(left), Box::new(right)]);
//! let graph = explore(&mut lamps, &Limits::default(), &mut |_| true).graph;
//! assert_eq!((graph.states(), graph.transitions.len()), (4, 8));
//! ```
//!
//! # What to read next
//!
//! - [`Fsm`] and [`Suite`]: the scenarios. What a *model* is, and how models are composed, is in
//!   [`testwright_core::product`].
//! - [`explore`] and [`Graph`]: all states of a product, up to a limit, and which of them are good or bad.
//! - [`Runs`]: testing with a model. [`Walk`]: a product as a system, for everything else.
//! - [`Script`] and [`shorten`]: playing a run again, and making one short that fails.
//! - [`conform`]: whether a model allows what really happened. [`recorded()`]: that as a scenario.
//! - [`parallel`]: exploring with the help of other processes.
//! - [`cover`]: suites that cover what an exploration has found.
//! - [`fsm_file`], [`suite_file`]: both as Python modules.

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
pub mod parallel;
mod playlist;
mod recorded;
mod refused;
mod replay;
mod runs;
mod shorten;
mod suite;
pub mod suite_file;
mod walk;

pub use cover::{Cover, CoverPlan, Goal, RUN_COST, Reason, Target, Unreachable, cover, pairs};
pub use explore::{Expander, Exploration, Limits, Progress, explore, explore_from, explore_with};
pub use filter::Filter;
pub use fsm::{Edge, Fsm};
pub use graph::{Graph, Transition, Ways, state_text};
pub use playlist::Playlist;
pub use recorded::recorded;
pub use replay::{Replayed, Script, make_ready};
pub use runs::{Choice, Chooser, Implementation, Plan, RunEnd, RunWatcher, Runs, Tally, step_text};
pub use shorten::{Short, shorten};
pub use suite::Suite;
pub use walk::{TakenTransition, Walk};
