//! Shrinking: a simpler test that shows the same failure.
//!
//! A random test that fails has a hundred steps, and three of them matter. This module finds the
//! three, by trial: it leaves steps out, runs the rest, and keeps the shorter test if it still
//! fails. There are three operations, each a method of [`Shrinker`], best in this order:
//!
//! - [`reduce`](Shrinker::reduce) leaves out steps that do not matter;
//! - [`normalize`](Shrinker::normalize) rewrites the rest into the simplest test of its kind, so
//!   that two tests for one bug become the same test;
//! - [`generalize`](Shrinker::generalize) finds out which other values and orders fail too.
//!
//! The function [`reduce()`] does the first of them for a known failure. Authors of new passes should
//! know the following.
//!
//! # Progress
//!
//! A pass takes a test that achieves a [`ShrinkGoal`], usually to fail the same way, and proposes
//! candidates. A candidate is accepted if it achieves the goal, too. Then it is replaced by exactly
//! the steps that its run executed: nothing after the failing step, and no step that was not
//! enabled in its turn. That is progress for free, and it keeps an invariant: *every step of the
//! current test is executed, and if the goal is to fail, the last one fails*. It follows, without a
//! single run, that no proper prefix of a failing test fails. (A predicate of the caller sees
//! tests, not runs. It is asked before disabled steps are removed.)
//!
//! Accepted candidates must be smaller in a well-founded order, or shrinking would not end. For
//! reduction that is the number of steps, and among tests of equal length the numbering of slots,
//! which [alpha conversion](alpha_convert) brings into its normal form. Normalization has a finer
//! order, described [there](normalize).
//!
//! Passes that leave steps out come first, because they need few runs. Then come two passes that
//! understand slots: one reuses existing values, one tries other values.
//!
//! # Minimality
//!
//! The shortest failing test would be best, but finding it takes exponentially many runs. A test is
//! *1-minimal* if no single step can be left out. That is cheap to establish, one run per step, and
//! a reader of such a test may rely on every line mattering: for each there is a run that shows it.
//! A pass that changes a 1-minimal test has to make it 1-minimal again. Renaming slots is no
//! exception, since a system may treat slot 0 differently from slot 1.
//!
//! # Keeping the failure
//!
//! While a test shrinks it may hit another bug, and usually a less interesting one: an exception
//! for an argument that was never set up. If any failure were accepted, reduction would move from
//! the bug that was found to the one that is easiest to reach, and a search that finds ten bugs
//! would report one of them ten times. So the usual goal is [`SameFailure`]: kind and signature
//! [are the same](crate::Failure::is_same_as), not the message, which may contain values that
//! change with the test. [`ReduceOptions::keep_last`] is stricter and also keeps the failing
//! action. [`AnyFailure`] accepts every failure.
//!
//! # Saving runs
//!
//! Runs dominate the cost of shrinking. A candidate that was tried before is not run again, and
//! neither is one that equals an earlier candidate without its disabled steps; this holds across
//! all operations of one [`Shrinker`]. A run may start from a [snapshot](Shrinker::with_snapshots)
//! of a state that an earlier run went through. Candidates that slots forbid are rejected without a
//! run. All this relies on the laws of [`System`](crate::System). For a system that breaks them (a
//! flaky one) no result is right, so the original test is run first: if it does not fail as before,
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
pub use dataflow::count_reassigns;
pub use generalize::{
    Generalization, GeneralizeOptions, ReorderableSteps, StepAlternatives, Variations,
};
pub use goal::{AnyFailure, Basis, PredicateGoal, SameFailure, ShrinkGoal, Touches, TouchesMore};
pub use normalize::{NormalizeOptions, NormalizeRule, Speed};
pub use reduce::{ReduceMethod, ReduceOptions, Reduction, reduce};
pub use several::{Essentials, SeveralOptions};
pub use shrinker::{Shrinker, Shrunk};
pub use trials::{Effort, ReduceError};
