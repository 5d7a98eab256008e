//! Terms as English: noun phrases and clauses (rules P1 to P42 and C1 to C41, listed in
//! `docs/readable-rules.md#noun-phrases` and `docs/readable-rules.md#clauses`).
//!
//! A [`Phraser`] holds the user's words (names and idioms files), the state variables that are
//! called old and new, and a recorder of expressions that had no phrase of their own. Each file of
//! this folder has the rules of one topic.
//!
//! ```
//! use testwright_readable::{idiom::Vocabulary, phrase::Phraser, term::{EmptyScope, Term}};
//!
//! let text = "n not in xs or len(xs) > 3";
//! let expression = testwright_source::tree::expression(text).unwrap();
//! let vocabulary = Vocabulary::default();
//! let phraser = Phraser::new(&vocabulary);
//! let term = Term::from_expression(&expression, text, &EmptyScope);
//! assert_eq!(phraser.clause(&term), "if n is in xs then xs has more than 3 elements");
//! ```

mod call;
mod clause;
mod comparison;
mod connective;
mod difference;
mod equality;
mod format_text;
pub mod join;
mod length;
mod membership;
mod noun;
mod part;
mod quantifier;
mod record;
#[cfg(test)]
pub(crate) mod testing;

use std::collections::BTreeSet;

pub use record::{Fallback, PhraseCounts, PhraseRecorder};

use crate::idiom::Vocabulary;
use crate::term::{CallTerm, EffectTerm, NameReference, NameRole, Term, Type};
use crate::value::PythonValue;
use crate::words::{self, ordinal};
pub use crate::words::{Polarity, Tense};

/// The deepest nesting of phrases. Deeper phrases are unreadable, and each level takes some of the
/// stack.
const MAX_DEPTH: u16 = 200;

/// Participles that do not end in "ed" (R3: a participle needs a noun after it).
const PARTICIPLES: [&str; 15] = [
    "pending", "waiting", "running", "missing", "paid", "sold", "sent", "lost", "held", "spent",
    "done", "seen", "kept", "taken", "given",
];

/// A noun phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noun {
    /// The words.
    pub text: String,
    /// True if verbs after it take the plural form.
    pub plural: bool,
}

impl Noun {
    /// Creates a singular phrase.
    #[must_use]
    pub fn one(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            plural: false,
        }
    }

    /// Creates a plural phrase.
    #[must_use]
    pub fn several(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            plural: true,
        }
    }
}

/// The state variables that are called old or new (R10: what one outcome changes is marked).
#[derive(Debug, Clone, Copy, Default)]
pub enum Marking<'a> {
    /// No variable is marked: loops, definitions, guards, and everything outside an outcome.
    #[default]
    None,
    /// Inside a change, a check or a result of an outcome that changes these variables.
    Outcome(&'a BTreeSet<String>),
    /// In a condition: later values are marked, and earlier values of variables that were said to
    /// change before it.
    Condition(&'a BTreeSet<String>),
}

/// Turns terms into English.
///
/// It is cheap to copy. The `with_…` methods return a phraser with other settings.
#[derive(Debug, Clone, Copy)]
pub struct Phraser<'a> {
    /// The user's names and idioms.
    vocabulary: &'a Vocabulary,
    /// The variables that are called old or new.
    marking: Marking<'a>,
    /// True if large values are shortened.
    shorten: bool,
    /// True if "if" stands before the phrase, so that clauses must not begin with another one.
    is_after_if: bool,
    /// The number of phrases around the current one.
    depth: u16,
    /// The recorder of the rules in use.
    recorder: Option<&'a PhraseRecorder>,
}

impl<'a> Phraser<'a> {
    /// Creates a phraser that uses these names and idioms.
    #[must_use]
    pub fn new(vocabulary: &'a Vocabulary) -> Self {
        Self {
            vocabulary,
            marking: Marking::None,
            shorten: false,
            is_after_if: false,
            depth: 0,
            recorder: None,
        }
    }

    /// Marks these state variables as old and new.
    #[must_use]
    pub fn with_marking(self, marking: Marking<'a>) -> Self {
        Self { marking, ..self }
    }

    /// Shortens large values, as documents do.
    #[must_use]
    pub fn with_shortening(self) -> Self {
        Self {
            shorten: true,
            ..self
        }
    }

    /// Phrases what follows an "if". "If if A then B" would be hard to read, so implications (C37)
    /// and choices (C40) give way to "either … or …".
    #[must_use]
    pub fn after_if(self) -> Self {
        Self {
            is_after_if: true,
            ..self
        }
    }

    /// Records which rule phrases each expression. An expression that is phrased twice counts
    /// twice.
    #[must_use]
    pub fn with_recorder(self, recorder: &'a PhraseRecorder) -> Self {
        Self {
            recorder: Some(recorder),
            ..self
        }
    }

    /// Returns the names and idioms.
    #[must_use]
    pub fn vocabulary(&self) -> &'a Vocabulary {
        self.vocabulary
    }

    /// Returns the words of an identifier, or those that a names file has for it (W3).
    #[must_use]
    pub fn words(&self, identifier: &str) -> String {
        self.vocabulary.words(identifier)
    }

    /// Returns the noun of a state variable without "the", given the type of its start value. A
    /// participle or a truth value gets a noun appended (R3): "the paid total", "the waiting flag".
    #[must_use]
    pub fn state_noun(&self, name: &str, start: &Type) -> String {
        let words = self.words(name);
        if self.vocabulary.has_name(name) {
            return words;
        }
        let last = words.split(' ').next_back().unwrap_or_default();
        let noun = match start {
            Type::Boolean if last == "flag" => return words,
            Type::Boolean => "flag",
            _ if !is_participle_phrase(&words) => return words,
            Type::Number => "total",
            Type::List(_) => "list",
            Type::Set(_) => "set",
            Type::Dictionary(..) => "dictionary",
            Type::Text => "text",
            _ => return words,
        };
        format!("{words} {noun}")
    }

    /// Phrases a reference by its role (rules R1 to R9), marked as old or new (R10).
    #[must_use]
    pub fn reference(&self, reference: &NameReference) -> Noun {
        let words = self.words(&reference.name);
        match &reference.role {
            NameRole::Variable | NameRole::Global => Noun::one(words),
            NameRole::Input => Noun {
                plural: words::is_plural(&words),
                text: format!("the given {words}"),
            },
            NameRole::State { version } => {
                let noun = self.state_noun(&reference.name, &reference.type_);
                let mark = self.old_new_mark(&reference.name, *version);
                Noun {
                    plural: words::is_plural(&noun),
                    text: format!("the {mark}{noun}"),
                }
            }
            NameRole::Local
                if reference.type_ == Type::Boolean
                    && words::begins_with_verb(&words)
                    && !self.vocabulary.has_name(&reference.name) =>
            {
                Noun::one(format!("the \"{words}\" flag"))
            }
            NameRole::Local => Noun::one(format!("the {words}")),
            // R4 makes all of them singular, but "the jugs is full" is not English.
            NameRole::Pool { number } => Noun {
                plural: words::is_plural(&words),
                text: match number {
                    0 | 1 => format!("the {words}"),
                    _ => format!("the {} {words}", ordinal(u64::from(*number))),
                },
            },
            NameRole::Phrase => Noun::one(reference.name.clone()),
        }
    }

    /// Returns "old ", "new " or nothing for a version of a state variable (R10).
    fn old_new_mark(&self, name: &str, version: u32) -> &'static str {
        match (self.marking, version) {
            (Marking::Outcome(changed) | Marking::Condition(changed), 0)
                if changed.contains(name) =>
            {
                "old "
            }
            (Marking::Outcome(changed), 1..) if changed.contains(name) => "new ",
            (Marking::Condition(_), 1..) => "new ",
            _ => "",
        }
    }

    /// Phrases what is changed, which is never marked as old or new (R10).
    #[must_use]
    pub fn target(&self, term: &Term) -> Noun {
        self.with_marking(Marking::None).noun(term)
    }

    /// Joins the noun phrases of operands with "and", in parentheses where they would run into one
    /// another.
    #[must_use]
    pub fn operands(&self, terms: &[Term]) -> String {
        self.enumeration(terms, "and")
    }

    /// Joins the noun phrases of operands with another word.
    #[must_use]
    pub fn enumeration(&self, terms: &[Term], word: &str) -> String {
        let operands: Vec<String> = terms.iter().map(|term| self.operand(term)).collect();
        join::nouns(&operands, word)
    }

    /// Phrases an operand, in parentheses if needed.
    fn operand(&self, term: &Term) -> String {
        join::parenthesise(&self.noun(term).text)
    }

    /// Joins the arguments of a call with "and", keyword arguments included (P39: "limit set to
    /// 3"). Returns nothing if there are none.
    #[must_use]
    pub fn arguments(&self, call: &CallTerm) -> Option<String> {
        let positions = call.arguments.iter().map(|argument| self.operand(argument));
        let keywords = call.keywords.iter().map(|(name, value)| match name {
            Some(name) => format!("{} set to {}", self.words(name), self.operand(value)),
            None => format!("the entries of {}", self.operand(value)),
        });
        let all: Vec<String> = positions.chain(keywords).collect();
        (!all.is_empty()).then(|| join::nouns(&all, "and"))
    }

    /// Phrases a term as a clause: what it says if it is true.
    #[must_use]
    pub fn clause(&self, term: &Term) -> String {
        self.clause_in(term, Polarity::Positive, Tense::Present)
    }

    /// Phrases the negative form of a clause.
    #[must_use]
    pub fn negative(&self, term: &Term) -> String {
        self.clause_in(term, Polarity::Negative, Tense::Present)
    }

    /// Returns a phraser for one level deeper, or nothing at the deepest level.
    fn nested(&self) -> Option<Self> {
        (self.depth < MAX_DEPTH).then(|| Self {
            depth: self.depth + 1,
            ..*self
        })
    }

    /// Writes a value in bare notation.
    #[must_use]
    pub fn notation(&self, value: &PythonValue) -> String {
        value.notation_with(self.shorten, &|identifier| self.words(identifier))
    }

    /// Writes a value with its kind.
    #[must_use]
    pub fn value_phrase(&self, value: &PythonValue) -> String {
        value.phrase_with(self.shorten, &|identifier| self.words(identifier))
    }

    /// Records that a specific rule has phrased an expression.
    fn record_specific(&self) {
        if let Some(recorder) = self.recorder {
            recorder.record_specific();
        }
    }

    /// Records that only a general rule could phrase a term.
    fn record_fallback(&self, fallback: Fallback, term: &Term) {
        if let Some(recorder) = self.recorder {
            recorder.record_fallback(fallback, term);
        }
    }

    /// Returns the sentence that an idiom has for the first of these effects, without capital and
    /// full stop, and the number of effects that it covers (I3: one sentence may replace several
    /// statements).
    #[must_use]
    pub fn effect(&self, changes: &[EffectTerm]) -> Option<(usize, String)> {
        self.vocabulary.effect(changes, self)
    }

    /// Returns what an idiom of kind `call` has for a step that makes this call, in place of `"f"
    /// on O with A`.
    #[must_use]
    pub fn call_idiom(&self, term: &Term) -> Option<String> {
        self.vocabulary.call(term, self)
    }
}

/// Returns true if words end in a participle. Prepositions after a leading participle belong to it:
/// "logged in" is one, but "users logged in" is about users.
fn is_participle_phrase(words: &str) -> bool {
    let is_participle = |word: &str| word.ends_with("ed") || PARTICIPLES.contains(&word);
    match words.split_once(' ') {
        Some((first, rest))
            if is_participle(first) && rest.split(' ').all(words::is_preposition) =>
        {
            true
        }
        _ => words.split(' ').next_back().is_some_and(is_participle),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noun(reference: NameReference) -> (String, bool) {
        let noun = Phraser::new(&Vocabulary::default()).reference(&reference);
        (noun.text, noun.plural)
    }

    fn state(name: &str, type_: Type) -> (String, bool) {
        noun(NameReference::new(name, NameRole::State { version: 0 }).with_type(type_))
    }

    #[test]
    fn r1_r5_r6_variables() {
        assert_eq!(
            noun(NameReference::new("maxSizes", NameRole::Variable)),
            ("max sizes".into(), false)
        );
    }

    #[test]
    fn r2_inputs() {
        assert_eq!(
            noun(NameReference::new("pid", NameRole::Input)),
            ("the given pid".into(), false)
        );
        assert_eq!(
            noun(NameReference::new("new_names", NameRole::Input)),
            ("the given new names".into(), true)
        );
    }

    #[test]
    fn r3_and_trap_10_state_variables() {
        assert_eq!(state("plates", Type::list()), ("the plates".into(), true));
        assert_eq!(state("dead", Type::list()), ("the dead".into(), false));
        assert_eq!(
            state("usersLoggedIn", Type::set()),
            ("the users logged in".into(), true)
        );
        assert_eq!(
            state("waiting", Type::Boolean),
            ("the waiting flag".into(), false)
        );
        assert_eq!(
            state("ready", Type::Boolean),
            ("the ready flag".into(), false)
        );
        assert_eq!(
            state("done_flag", Type::Boolean),
            ("the done flag".into(), false)
        );
        assert_eq!(
            state("is_open", Type::Boolean),
            ("the is open flag".into(), false)
        );
        assert_eq!(
            state("flags", Type::Boolean),
            ("the flags flag".into(), false)
        );
        assert_eq!(
            state("paid", Type::Number),
            ("the paid total".into(), false)
        );
        assert_eq!(
            state("blocked", Type::list()),
            ("the blocked list".into(), false)
        );
        assert_eq!(state("seen", Type::set()), ("the seen set".into(), false));
        assert_eq!(
            state("orders_sent", Type::dictionary()),
            ("the orders sent dictionary".into(), false)
        );
        assert_eq!(
            state("last_received", Type::Text),
            ("the last received text".into(), false)
        );
        assert_eq!(
            state("last_received", Type::Unknown),
            ("the last received".into(), false)
        );
        assert_eq!(state("count", Type::Number), ("the count".into(), false));
        assert_eq!(
            state("logged_in", Type::set()),
            ("the logged in set".into(), false)
        );
    }

    #[test]
    fn r4_pool_values() {
        assert_eq!(
            noun(NameReference::new("tree", NameRole::Pool { number: 1 })),
            ("the tree".into(), false)
        );
        assert_eq!(
            noun(NameReference::new("tree", NameRole::Pool { number: 2 })),
            ("the second tree".into(), false)
        );
        assert_eq!(
            noun(NameReference::new("keys", NameRole::Pool { number: 11 })),
            ("the 11th keys".into(), true)
        );
    }

    #[test]
    fn r6_results_in_actions() {
        assert_eq!(
            noun(NameReference::new("new_answer", NameRole::Local)),
            ("the new answer".into(), false)
        );
    }

    #[test]
    fn r10_and_trap_7_old_and_new() {
        let vocabulary = Vocabulary::default();
        let changed = BTreeSet::from(["plates".to_owned()]);
        let phraser = Phraser::new(&vocabulary);
        let text = |marking, name: &str, version| {
            let reference = NameReference::new(name, NameRole::State { version });
            phraser.with_marking(marking).reference(&reference).text
        };
        let outcome = Marking::Outcome(&changed);
        assert_eq!(text(outcome, "plates", 0), "the old plates");
        assert_eq!(text(outcome, "plates", 1), "the new plates");
        assert_eq!(text(outcome, "plates", 2), "the new plates");
        assert_eq!(text(outcome, "cups", 0), "the cups");
        let nothing = BTreeSet::new();
        let condition = Marking::Condition(&nothing);
        assert_eq!(text(condition, "plates", 0), "the plates");
        assert_eq!(text(condition, "plates", 1), "the new plates");
        let condition = Marking::Condition(&changed);
        assert_eq!(text(condition, "plates", 0), "the old plates");
        assert_eq!(text(Marking::None, "plates", 1), "the plates");
        let plates = NameReference::new("plates", NameRole::State { version: 0 });
        assert_eq!(
            phraser.with_marking(outcome).target(&plates.into()).text,
            "the plates"
        );
    }
}
