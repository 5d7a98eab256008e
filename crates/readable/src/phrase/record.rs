//! A record of the rules that phrased expressions (I6: those without a specific rule can be listed;
//! Q7: the share is measured).

use std::cell::RefCell;

use crate::term::Term;

/// A general rule, which phrases whatever no specific rule knows.
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
    /// An expression as it is written (P42), which is a leak.
    Source,
    /// A statement as it is written, which is a leak.
    Statement,
}

/// The number of phrased expressions, and those that only a general rule could phrase.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PhraseCounts {
    /// The number of expressions and changes that were phrased; names and values do not count.
    pub phrased: usize,
    /// The expressions that no specific rule or idiom knew, in the order in which they came.
    pub fallbacks: Vec<(Fallback, Term)>,
}

/// A shared counter that a [`Phraser`](super::Phraser) reports to.
#[derive(Debug, Default)]
pub struct PhraseRecorder(RefCell<PhraseCounts>);

impl PhraseRecorder {
    /// Returns the counts so far.
    #[must_use]
    pub fn counts(&self) -> PhraseCounts {
        self.0.borrow().clone()
    }

    /// Records an expression or a change that a specific rule or an idiom has phrased.
    pub fn record_specific(&self) {
        self.0.borrow_mut().phrased += 1;
    }

    /// Records an expression or a change that only a general rule could phrase.
    pub fn record_fallback(&self, fallback: Fallback, term: &Term) {
        let mut tally = self.0.borrow_mut();
        tally.phrased += 1;
        tally.fallbacks.push((fallback, term.clone()));
    }
}
