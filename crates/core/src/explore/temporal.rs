//! What must happen in time: `always (request implies eventually grant)`.
//!
//! A property of a state can be checked after each step. That a request is granted *some day* cannot: however long a
//! test is, the grant may come in the next step. But a system with finitely many states that never grants must go
//! round in circles, and a circle can be shown. So a counterexample is a **lasso**: a test that leads somewhere, and
//! a test that leads from there back to the same state, to be repeated for ever.
//!
//! # Formulas
//!
//! | written | also | means |
//! |---|---|---|
//! | `always p` | `G`, `[]` | p holds now and from now on |
//! | `eventually p` | `F`, `<>` | p holds now or some day |
//! | `next p` | `X` | p holds after the next step |
//! | `p until q` | `U` | q holds some day, and p up to then |
//! | `p weak until q` | `W` | the same, or p for ever |
//! | `p release q` | `R` | q holds up to and with the moment when p does, or for ever |
//! | `not p` | `!` | |
//! | `p and q`, `p or q` | `&&`, `\|\|` | |
//! | `p implies q` | `->` | |
//! | `true`, `false` | | |
//!
//! What stands alone binds most (`not`, `always`, `eventually`, `next`), then `until`, `weak until` and `release`, then
//! `and`, `or`, `implies`. Those of two sides that change with the order of reading group to the right.
//!
//! Atoms are what the caller knows about a state:
//!
//! - a name, `request`;
//! - any text in braces or backquotes, `{len(queue) < 3}`: usually an expression of the host language. Braces in braces
//!   must come in pairs, and there are no backquotes in backquotes;
//! - `took "fill(big)"`: the step that led here was that action. `*` stands for anything, `took "fill(*)"`. In the initial
//!   state no step was taken. `\"` is a quote, `\\` a backslash; single quotes do as well.
//!
//! # What counts as a run
//!
//! - A state in which nothing is enabled (or allowed by the caller) stays as it is for ever: the run goes on in that
//!   state, with no step taken, so that every `took` is false there.
//! - A step that fails ends its run, and such runs are not judged: a failure is a result of its own, and is in
//!   [`Judgement::exploration`].
//! - No fairness is assumed. That an action is enabled for ever does not mean that it is ever taken; if it should, say
//!   so: `(always eventually took "tick()") implies …`.
//!
//! # How it works
//!
//! The states are explored breadth first. The negation of the formula becomes a Büchi automaton (the tableau of Gerth,
//! Peled, Vardi and Wolper, 1995), and a nested depth-first search (Courcoubetis and others, 1992) looks for a run of
//! both together that visits an accepting state for ever. It looks each time the number of known states has doubled,
//! so that an early counterexample ends the exploration early. What it finds is made as short as the known states
//! allow, then run again on the system, and shortened there step by step.
//!
//! States are matched exactly. Up to renaming, a circle need not lead back to where it began, and could not be shown.

use std::fmt;

mod automaton;
mod formula;
mod graph;
mod judge;
mod lasso;
mod parser;
mod product;
mod shorten;

pub use formula::{Atom, Formula};
pub use judge::{Answer, Atoms, Counterexample, Ending, Judgement};
pub use lasso::holds_on;
pub use parser::{Parsed, parse};

/// What is wrong with the text of a formula, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The bytes of the text that it is about.
    pub range: std::ops::Range<usize>,
    /// A lower-case phrase without a full stop.
    pub message: String,
    /// What to write instead, if anybody knows.
    pub help: Option<String>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Diagnostic {}
