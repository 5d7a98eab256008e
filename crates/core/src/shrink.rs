//! A simpler test that shows the same.
//!
//! A random test that fails has a hundred steps, and three of them matter. Nobody reads a hundred steps. This
//! module finds the three, by trial: it leaves steps out, runs what remains, and keeps the shorter test if it
//! still fails. There are three things to do with a test, each a method of [`Shrinker`], best in this order:
//!
//! - [`reduce`](Shrinker::reduce) leaves out steps that do not matter;
//! - [`normalize`](Shrinker::normalize) rewrites what is left into the simplest test of its kind, so that two tests for
//!   one bug become the same test;
//! - [`generalize`](Shrinker::generalize) tells what else could stand in it: which values, which order.
//!
//! The function [`reduce`] is the first of them for those who have a failure and want no more. Whoever adds a pass
//! should know the following.
//!
//! # What progress means
//!
//! A pass takes a test that achieves a [`Goal`], which mostly is to fail the same way, and proposes candidates. A candidate
//! is accepted if it achieves the goal, too, and then it is replaced by exactly those steps that its run executed: nothing
//! after the failing step, and no step that was not enabled when its turn came. That is progress for free, and it keeps
//! an invariant worth having: *every step of the current test is executed, and if the goal is to fail, the last one
//! fails*. From it follows, without a single run, that no proper prefix of a failing test fails. (A predicate of the caller
//! sees tests, not runs. It is asked whether it agrees before steps that are not enabled go.)
//!
//! Accepted candidates must be smaller in an order that has no infinite descent, or shrinking would not end.
//! For reduction that is the number of steps, and among tests of equal length the numbering of slots, which
//! [alpha conversion](alpha_convert) brings into its one normal form. Normalisation has a finer order of its own, told
//! [there](normalize).
//!
//! Passes that leave steps out come first, because they need few runs. Then come two that know what a slot is: one
//! reuses values that are there already, one tries other values.
//!
//! # Why 1-minimal
//!
//! The shortest failing test would be best, but finding it takes exponentially many runs. A test is *1-minimal* if
//! no single step can be left out. That is cheap to establish, a run per step, and a person who reads such a test
//! may rely on every line mattering: for each there is a run that shows it. A pass that changes a test after it
//! was made 1-minimal has to make it so again. Renaming slots is no exception, for nothing forbids a system to
//! treat slot 0 differently from slot 1.
//!
//! # Why the same failure
//!
//! While a test shrinks it may stumble over another bug, and usually the other bug is the boring one: an
//! exception for an argument that was never set up. If any failure were good enough, reduction would slide from
//! the bug that was found to the one that is easiest to reach, and a search that finds ten bugs would report one of
//! them ten times. So the usual goal is [`SameFailure`]: kind and signature
//! [are the same](crate::Failure::is_same_as), not the message, which may speak of values that change with the test.
//! [`ReduceOptions::keep_last`] is stricter still and keeps the action that fails. [`AnyFailure`] is for those who do not
//! mind.
//!
//! # Why nothing is run twice
//!
//! Runs are what shrinking costs. A candidate that was tried before is not run again, and neither is one that is
//! equal to what an earlier candidate came to when its disabled steps were skipped; this holds across all that one
//! [`Shrinker`] does. Where a system can be copied, a run may begin at a [copy](Shrinker::with_snapshots) of a state that an
//! earlier run went through. What slots forbid is known without a run. All this relies on the laws of
//! [`System`](crate::System). For a system that breaks them (a flaky one) there is no right answer, but there is
//! an honest one: the original test is run first, and if it does not fail as it did,
//! [`ReduceError::NotReproduced`] says so, and nothing is reduced.

mod alpha;
mod dataflow;
pub mod generalize;
mod goal;
pub mod normalize;
mod prefixes;
mod reduce;
mod reuse;
mod revalue;
mod several;
mod shrinker;
mod trials;

pub use alpha::alpha_convert;
pub use dataflow::reassigns;
pub use generalize::{Alternatives, Block, Generalization, GeneralizeOptions, Variations};
pub use goal::{AnyFailure, Basis, Goal, Holds, SameFailure, Touches, TouchesMore};
pub use normalize::{NormalizeOptions, Rule, Speed};
pub use reduce::{Method, ReduceOptions, Reduction, reduce};
pub use several::{Essentials, SeveralOptions};
pub use shrinker::{Shrinker, Shrunk};
pub use trials::{Effort, ReduceError};
