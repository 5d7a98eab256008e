//! Terms as English: noun phrases (3.5) and clauses (3.6).
//!
//! A [`Speaker`] knows the words to use (names and idioms files), which state variables have to be told apart as old and
//! new, and who keeps count of what had no phrase of its own.
//!
//! ```
//! use testwright_readable::{idiom::Vocabulary, phrase::Speaker, term::{Term, Unscoped}};
//!
//! let text = "n not in xs or len(xs) > 3";
//! let expression = testwright_source::tree::expression(text).unwrap();
//! let vocabulary = Vocabulary::default();
//! let speaker = Speaker::new(&vocabulary);
//! let term = Term::read(&expression, text, &Unscoped);
//! assert_eq!(speaker.clause(&term), "if n is in xs then xs has more than 3 elements");
//! ```

mod clause;
pub mod join;
mod noun;
mod record;

use std::collections::BTreeSet;

pub use record::{Fallback, Recorder, Tally};

use crate::idiom::Vocabulary;
use crate::term::{Change, Reference, Role, Term, Type};
use crate::words::{self, ordinal};
pub use crate::words::{Polarity, Tense};

/// A noun phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noun {
    /// The words.
    pub text: String,
    /// Whether verbs after it are those of several.
    pub plural: bool,
}

impl Noun {
    /// One thing.
    #[must_use]
    pub fn one(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            plural: false,
        }
    }

    /// Several things.
    #[must_use]
    pub fn several(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            plural: true,
        }
    }
}

/// Which state variables are "the old" or "the new" ones (R10).
#[derive(Debug, Clone, Copy, Default)]
pub enum Marking<'a> {
    /// None: loops, definitions, guards, everything that is not inside an outcome.
    #[default]
    None,
    /// Inside a change, a check or a result: these variables are changed by the outcome.
    Outcome(&'a BTreeSet<String>),
    /// In a condition: only a later value is marked.
    Condition,
}

/// Someone who puts terms into words.
#[derive(Debug, Clone, Copy)]
pub struct Speaker<'a> {
    vocabulary: &'a Vocabulary,
    marking: Marking<'a>,
    shorten: bool,
    recorder: Option<&'a Recorder>,
}

impl<'a> Speaker<'a> {
    /// Someone who uses these names and idioms.
    #[must_use]
    pub fn new(vocabulary: &'a Vocabulary) -> Self {
        Self {
            vocabulary,
            marking: Marking::None,
            shorten: false,
            recorder: None,
        }
    }

    /// The same, telling old and new values apart.
    #[must_use]
    pub fn with_marking(self, marking: Marking<'a>) -> Self {
        Self { marking, ..self }
    }

    /// The same, shortening large values as documents do.
    #[must_use]
    pub fn with_shortening(self) -> Self {
        Self {
            shorten: true,
            ..self
        }
    }

    /// The same, noting what is phrased by which rule. Whatever is phrased more than once counts more than once.
    #[must_use]
    pub fn with_recorder(self, recorder: &'a Recorder) -> Self {
        Self {
            recorder: Some(recorder),
            ..self
        }
    }

    /// The names and idioms.
    #[must_use]
    pub fn vocabulary(&self) -> &'a Vocabulary {
        self.vocabulary
    }

    /// The words of an identifier (H), or those that a names file has for it (W3).
    #[must_use]
    pub fn words(&self, identifier: &str) -> String {
        self.vocabulary.words(identifier)
    }

    /// The noun of a state variable without "the" (S of 3.2), whose start value is of this type.
    #[must_use]
    pub fn state_noun(&self, name: &str, start: &Type) -> String {
        let _ = (name, start);
        String::new()
    }

    /// What refers to something (3.2), marked as old or new (R10).
    #[must_use]
    pub fn reference(&self, reference: &Reference) -> Noun {
        let _ = (reference, Role::Input, ordinal(1), words::is_plural(""));
        Noun::one("")
    }

    /// The noun phrase of a term (NP).
    #[must_use]
    pub fn noun(&self, term: &Term) -> Noun {
        let _ = term;
        Noun::one("")
    }

    /// The noun phrase of what is changed, which is never marked as old or new.
    #[must_use]
    pub fn target(&self, term: &Term) -> Noun {
        self.with_marking(Marking::None).noun(term)
    }

    /// Noun phrases of several operands, with parentheses where they would run into one another: what stands behind
    /// "with" in a call. Joined by "and".
    #[must_use]
    pub fn operands(&self, terms: &[Term]) -> String {
        let _ = terms;
        String::new()
    }

    /// The arguments of a call, keywords included ("H(key) set to V"), joined by "and"; nothing if there are none.
    #[must_use]
    pub fn arguments(&self, call: &crate::term::Call) -> Option<String> {
        let _ = call;
        None
    }

    /// The clause of a term in boolean position (CL).
    #[must_use]
    pub fn clause(&self, term: &Term) -> String {
        self.say(term, Polarity::Positive, Tense::Present)
    }

    /// Its negative form (CL-).
    #[must_use]
    pub fn negative(&self, term: &Term) -> String {
        self.say(term, Polarity::Negative, Tense::Present)
    }

    /// The clause of a term in any form.
    #[must_use]
    pub fn say(&self, term: &Term, polarity: Polarity, tense: Tense) -> String {
        let _ = (term, polarity, tense);
        String::new()
    }

    /// The sentence, without capital and full stop, that an idiom has for the first of these changes, and how many of
    /// them it covers (I3).
    #[must_use]
    pub fn effect(&self, changes: &[Change]) -> Option<(usize, String)> {
        self.vocabulary.effect(changes, self)
    }

    /// What an idiom of kind `call` has for a step that makes this call: it replaces `call "H(f)" on O with A`.
    #[must_use]
    pub fn call_idiom(&self, term: &Term) -> Option<String> {
        self.vocabulary.call(term, self)
    }
}
