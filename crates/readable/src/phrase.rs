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

mod call;
mod clause;
mod comparison;
mod connective;
mod difference;
mod equality;
mod filled;
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

pub use record::{Fallback, Recorder, Tally};

use crate::idiom::Vocabulary;
use crate::term::{Call, Change, Reference, Role, Term, Type};
use crate::value::Value;
use crate::words::{self, ordinal};
pub use crate::words::{Polarity, Tense};

/// How deep phrases may be nested. Nobody reads as far as this, and each level takes some of the stack.
const DEEPEST: u16 = 200;

/// Words that end a name and are no nouns although they do not end in "ed" (R3).
const NOT_NOUNS: [&str; 15] = [
    "pending", "waiting", "running", "missing", "paid", "sold", "sent", "lost", "held", "spent",
    "done", "seen", "kept", "taken", "given",
];

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
    /// In a condition: a later value is marked, and an earlier one of variables that were said to change before it.
    Condition(&'a BTreeSet<String>),
}

/// Someone who puts terms into words.
#[derive(Debug, Clone, Copy)]
pub struct Speaker<'a> {
    vocabulary: &'a Vocabulary,
    marking: Marking<'a>,
    shorten: bool,
    /// Whether "if" stands before what is said, so that clauses must not begin with another one.
    behind_if: bool,
    /// How many phrases there are around the one that is made.
    depth: u16,
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
            behind_if: false,
            depth: 0,
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

    /// The same, for what "if" stands before: "if if A then B" would be hard to read, so C37 and C40 give way to
    /// "either … or …".
    #[must_use]
    pub fn behind_if(self) -> Self {
        Self {
            behind_if: true,
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

    /// The noun of a state variable without "the" (S of 3.2), whose start value is of this type. A participle or a
    /// truth value is no noun, so one is appended: "the paid total", "the waiting flag".
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
            _ if !is_no_noun(&words) => return words,
            Type::Number => "total",
            Type::List(_) => "list",
            Type::Set(_) => "set",
            Type::Dictionary(..) => "dictionary",
            Type::Text => "text",
            _ => return words,
        };
        format!("{words} {noun}")
    }

    /// What refers to something (3.2), marked as old or new (R10).
    #[must_use]
    pub fn reference(&self, reference: &Reference) -> Noun {
        let words = self.words(&reference.name);
        match &reference.role {
            Role::Variable | Role::Global => Noun::one(words),
            Role::Input => Noun {
                plural: words::is_plural(&words),
                text: format!("the given {words}"),
            },
            Role::State { version } => {
                let noun = self.state_noun(&reference.name, &reference.type_);
                let mark = self.mark(&reference.name, *version);
                Noun {
                    plural: words::is_plural(&noun),
                    text: format!("the {mark}{noun}"),
                }
            }
            Role::Local
                if reference.type_ == Type::Boolean
                    && words::begins_with_verb(&words)
                    && !self.vocabulary.has_name(&reference.name) =>
            {
                Noun::one(format!("the \"{words}\" flag"))
            }
            Role::Local => Noun::one(format!("the {words}")),
            // R4 has all of them singular, but "the jugs is full" is no English.
            Role::Pool { number } => Noun {
                plural: words::is_plural(&words),
                text: match number {
                    0 | 1 => format!("the {words}"),
                    _ => format!("the {} {words}", ordinal(u64::from(*number))),
                },
            },
            Role::Phrase => Noun::one(reference.name.clone()),
        }
    }

    /// R10.
    fn mark(&self, name: &str, version: u32) -> &'static str {
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

    /// The noun phrase of what is changed, which is never marked as old or new.
    #[must_use]
    pub fn target(&self, term: &Term) -> Noun {
        self.with_marking(Marking::None).noun(term)
    }

    /// Noun phrases of several operands joined by "and", with parentheses where they would run into one another.
    #[must_use]
    pub fn operands(&self, terms: &[Term]) -> String {
        self.enumeration(terms, "and")
    }

    /// The same, joined by another word.
    #[must_use]
    pub fn enumeration(&self, terms: &[Term], word: &str) -> String {
        let operands: Vec<String> = terms.iter().map(|term| self.operand(term)).collect();
        join::nouns(&operands, word)
    }

    fn operand(&self, term: &Term) -> String {
        join::operand(&self.noun(term).text)
    }

    /// The arguments of a call, keywords included (P39), joined by "and": what stands behind "with". Nothing if there
    /// are none.
    #[must_use]
    pub fn arguments(&self, call: &Call) -> Option<String> {
        let positions = call.arguments.iter().map(|argument| self.operand(argument));
        let keywords = call.keywords.iter().map(|(name, value)| match name {
            Some(name) => format!("{} set to {}", self.words(name), self.operand(value)),
            None => format!("the entries of {}", self.operand(value)),
        });
        let all: Vec<String> = positions.chain(keywords).collect();
        (!all.is_empty()).then(|| join::nouns(&all, "and"))
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

    /// The same speaker inside a phrase; nobody if it could not be read any more.
    fn deeper(&self) -> Option<Self> {
        (self.depth < DEEPEST).then(|| Self {
            depth: self.depth + 1,
            ..*self
        })
    }

    /// A value alone (N), or shortened in documents.
    #[must_use]
    pub fn notation(&self, value: &Value) -> String {
        value.notation_in(self.shorten, &|identifier| self.words(identifier))
    }

    /// A value with its kind (P), or shortened in documents.
    #[must_use]
    pub fn value(&self, value: &Value) -> String {
        value.phrase_in(self.shorten, &|identifier| self.words(identifier))
    }

    fn note(&self) {
        if let Some(recorder) = self.recorder {
            recorder.specific();
        }
    }

    fn note_fallback(&self, fallback: Fallback, term: &Term) {
        if let Some(recorder) = self.recorder {
            recorder.fallback(fallback, term);
        }
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

/// Whether words end in a participle. What stands behind one and needs no noun either is part of it: "logged in", but not
/// "users logged in", which is about users.
fn is_no_noun(words: &str) -> bool {
    let is_participle = |word: &str| word.ends_with("ed") || NOT_NOUNS.contains(&word);
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

    fn noun(reference: Reference) -> (String, bool) {
        let noun = Speaker::new(&Vocabulary::default()).reference(&reference);
        (noun.text, noun.plural)
    }

    fn state(name: &str, type_: Type) -> (String, bool) {
        noun(Reference::new(name, Role::State { version: 0 }).with_type(type_))
    }

    #[test]
    fn r1_r5_r6_variables() {
        assert_eq!(
            noun(Reference::new("maxSizes", Role::Variable)),
            ("max sizes".into(), false)
        );
    }

    #[test]
    fn r2_inputs() {
        assert_eq!(
            noun(Reference::new("pid", Role::Input)),
            ("the given pid".into(), false)
        );
        assert_eq!(
            noun(Reference::new("new_names", Role::Input)),
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
            noun(Reference::new("tree", Role::Pool { number: 1 })),
            ("the tree".into(), false)
        );
        assert_eq!(
            noun(Reference::new("tree", Role::Pool { number: 2 })),
            ("the second tree".into(), false)
        );
        assert_eq!(
            noun(Reference::new("keys", Role::Pool { number: 11 })),
            ("the 11th keys".into(), true)
        );
    }

    #[test]
    fn r6_results_in_actions() {
        assert_eq!(
            noun(Reference::new("new_answer", Role::Local)),
            ("the new answer".into(), false)
        );
    }

    #[test]
    fn r10_and_trap_7_old_and_new() {
        let vocabulary = Vocabulary::default();
        let changed = BTreeSet::from(["plates".to_owned()]);
        let speaker = Speaker::new(&vocabulary);
        let text = |marking, name: &str, version| {
            let reference = Reference::new(name, Role::State { version });
            speaker.with_marking(marking).reference(&reference).text
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
        let plates = Reference::new("plates", Role::State { version: 0 });
        assert_eq!(
            speaker.with_marking(outcome).target(&plates.into()).text,
            "the plates"
        );
    }
}
