//! Keeping count of what had a phrase of its own and what had not (I6, Q7).

use std::cell::RefCell;

use crate::term::Term;

/// A rule that phrases whatever no other rule knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fallback {
    /// The result of an unknown call (P37).
    Call,
    /// The result of an unknown method (P38).
    Method,
    /// An unknown call in boolean position (C31).
    Condition,
    /// An unknown call as a statement (E27).
    Effect,
    /// An expression as it is written (P42): a leak.
    Source,
    /// A statement as it is written: a leak.
    Statement,
}

/// What was phrased how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many expressions and changes were phrased; names and values do not count.
    pub phrased: usize,
    /// Those among them that no specific rule or idiom knew, in the order in which they came.
    pub fallbacks: Vec<(Fallback, Term)>,
}

/// Where a [`Speaker`](super::Speaker) notes what it does.
#[derive(Debug, Default)]
pub struct Recorder(RefCell<Tally>);

impl Recorder {
    /// What has been noted so far.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.0.borrow().clone()
    }

    /// Notes an expression or change that a specific rule or an idiom has phrased.
    pub fn specific(&self) {
        self.0.borrow_mut().phrased += 1;
    }

    /// Notes an expression or change that only a general rule could phrase.
    pub fn fallback(&self, fallback: Fallback, term: &Term) {
        let mut tally = self.0.borrow_mut();
        tally.phrased += 1;
        tally.fallbacks.push((fallback, term.clone()));
    }
}
