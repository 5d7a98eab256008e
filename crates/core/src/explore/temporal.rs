//! Temporal properties, such as `always (request implies eventually grant)`.
//!
//! A property of a state can be checked after each step. That a request is *eventually* granted
//! cannot: however long a test is, the grant may come in the next step. But a system with finitely
//! many states that never grants must repeat a state, and such a cycle can be shown. So a
//! counterexample is a **lasso**: a test that leads somewhere (the prefix), and a test that leads
//! from there back to the same state (the cycle), to be repeated forever.
//!
//! # Formulas
//!
//! | written | also | means |
//! |---|---|---|
//! | `always p` | `G`, `[]` | p holds now and from now on |
//! | `eventually p` | `F`, `<>` | p holds now or later |
//! | `next p` | `X` | p holds after the next step |
//! | `p until q` | `U` | q holds eventually, and p until then |
//! | `p weak until q` | `W` | as `until`, or p holds forever |
//! | `p release q` | `R` | q holds until and including the state in which p does, or forever |
//! | `not p` | `!` | |
//! | `p and q`, `p or q` | `&&`, `\|\|` | |
//! | `p implies q` | `->` | |
//! | `true`, `false` | | |
//!
//! Prefix operators bind tightest (`not`, `always`, `eventually`, `next`), then `until`, `weak
//! until` and `release`, then `and`, `or`, `implies`. Binary operators group to the right.
//!
//! Atoms are predicates on a state that the caller evaluates:
//!
//! - a name, `request`;
//! - any text in braces or backquotes, `{len(queue) < 3}`: usually an expression of the host
//!   language. Braces inside braces must be balanced, and there are no backquotes inside
//!   backquotes;
//! - `took "fill(big)"`: the step that led here was that action. `*` stands for anything, as in
//!   `took "fill(*)"`. In the initial state no step was taken. `\"` is a quote, `\\` a backslash;
//!   single quotes work as well.
//!
//! # Runs
//!
//! - A state in which nothing is enabled (or allowed by the caller) stays as it is forever: the run
//!   continues in that state, with no step taken, so every `took` is false there.
//! - A failing step ends its run, and such runs are not judged. A failure is a result of its own,
//!   and is in [`Judgement::exploration`].
//! - No fairness is assumed. An action that is enabled forever need not ever be taken. If it should
//!   be, say so: `(always eventually took "tick()") implies …`.
//!
//! # Algorithm
//!
//! The states are explored breadth first. The negation of the formula becomes a Büchi automaton
//! (the tableau of Gerth, Peled, Vardi and Wolper, 1995), and a nested depth-first search
//! (Courcoubetis and others, 1992) looks for a run of both together that visits an accepting state
//! infinitely often. It runs each time the number of known states has doubled, so that an early
//! counterexample ends the exploration early. The run found is made as short as the known states
//! allow, then confirmed on the system, and shrunk there step by step.
//!
//! States are matched exactly. Up to renaming, a cycle need not lead back to where it began, so it
//! could not be shown.

use std::fmt;

mod automaton;
mod formula;
mod graph;
mod judge;
mod lasso;
mod parser;
mod product;
mod shrink;

pub use formula::{Atom, Formula};
pub use judge::{AtomEvaluator, Counterexample, FormulaVerdict, Judgement, RunEnding};
pub use lasso::holds_on_lasso;
pub use parser::{ParsedFormula, parse};

/// An error in the text of a formula, and its range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaError {
    /// The byte range of the text that the error refers to.
    pub range: std::ops::Range<usize>,
    /// A lower-case phrase without a full stop.
    pub message: String,
    /// Advice on what to write instead, if there is any.
    pub help: Option<String>,
}

impl fmt::Display for FormulaError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for FormulaError {}
