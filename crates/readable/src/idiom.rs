//! Names and idioms: words that users give to identifiers, and sentences that they give to patterns
//! (rules I1 to I7 of `docs/readable-rules.md#names-and-idioms`).
//!
//! A [`Vocabulary`] holds the entries of all files. [`crate::phrase::Phraser`] consults it before
//! its own rules. The file format is described in `docs/guide/idioms.md`.
//!
//! ```
//! use testwright_readable::{idiom::Vocabulary, phrase::Phraser, term::{EmptyScope, Term}};
//!
//! let mut vocabulary = Vocabulary::default();
//! let file = "[idiom name is taken]\nkind = condition\nmatch = $n in regs\n\
//!     say = {n} is taken\nnot = {n} is free";
//! vocabulary.add(file).unwrap();
//! let text = "name not in regs";
//! let expression = testwright_source::tree::expression(text).unwrap();
//! let term = Term::from_expression(&expression, text, &EmptyScope);
//! assert_eq!(Phraser::new(&vocabulary).clause(&term), "name is free");
//! ```

mod file;
mod matcher;
mod pattern;
mod stub;
mod template;

use std::collections::{BTreeMap, BTreeSet};

pub use file::IdiomError;
use pattern::{Bindings, IdiomPattern, PlaceholderGuard};
pub use stub::write_stubs;
use template::SentenceTemplate;

use crate::phrase::{Noun, Phraser, Polarity, Tense};
use crate::term::{Comparison, EffectTerm, Term};
use crate::words::humanise;

/// The built-in wording as an idioms file, as far as patterns can express it. It can be printed,
/// copied and changed.
pub const BUILT_IN: &str = include_str!("idiom/built_in.idioms");

/// The user's names and idioms, in the order in which they are consulted.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    /// The words that replace those of an identifier (W3).
    names: BTreeMap<String, String>,
    /// The idioms, first match first (I5).
    idioms: Vec<Idiom>,
}

/// A pattern and the sentence for it.
#[derive(Debug, Clone)]
struct Idiom {
    /// The place where the idiom applies.
    kind: IdiomKind,
    /// One pattern, or for effects one for each of several consecutive statements (I3).
    patterns: Vec<IdiomPattern>,
    /// The requirements of its `where` lines.
    guards: Vec<PlaceholderGuard>,
    /// The placeholders for what an effect changes, which is never called old or new (R10).
    targets: BTreeSet<String>,
    /// The sentence.
    say: SentenceTemplate,
    /// The negative form of a condition (I4).
    not: Option<SentenceTemplate>,
    /// The past form of a condition.
    past: Option<SentenceTemplate>,
    /// The negative past form of a condition.
    past_not: Option<SentenceTemplate>,
}

/// The place where an idiom applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IdiomKind {
    /// In the place of a condition.
    Condition,
    /// In the place of a value.
    Value,
    /// For one or several statements (I3).
    Effect,
    /// In a step that makes a call.
    Call,
}

impl Vocabulary {
    /// Returns true if there is a names entry for the identifier.
    #[must_use]
    pub fn has_name(&self, identifier: &str) -> bool {
        self.names.contains_key(identifier)
    }

    /// Returns true if a helper has words of its own: a name, or an idiom for its calls. Such a
    /// helper is never inlined (Y2).
    pub(crate) fn has_words_for(&self, helper: &str) -> bool {
        let mut patterns = self.idioms.iter().flat_map(|idiom| &idiom.patterns);
        self.has_name(helper) || patterns.any(|pattern| pattern.calls(helper))
    }

    /// Returns a copy for a module with these constants, whose names patterns may use.
    pub(crate) fn with_constants(&self, constant: &dyn Fn(&str) -> Option<Term>) -> Vocabulary {
        let mut vocabulary = self.clone();
        let patterns = vocabulary.idioms.iter_mut();
        for pattern in patterns.flat_map(|idiom| &mut idiom.patterns) {
            *pattern = pattern.with_constants(constant);
        }
        vocabulary
    }

    /// Returns the words of an identifier: its names entry (W3), or its own words.
    #[must_use]
    pub fn words(&self, identifier: &str) -> String {
        self.names
            .get(identifier)
            .cloned()
            .unwrap_or_else(|| humanise(identifier))
    }

    /// Finds the first idiom of a kind that matches a term, and the values of its placeholders
    /// (I5).
    fn find(&self, kind: IdiomKind, term: &Term) -> Option<(&Idiom, Bindings)> {
        self.idioms
            .iter()
            .filter(|idiom| idiom.kind == kind)
            .find_map(|idiom| {
                let [IdiomPattern::Expression(pattern)] = idiom.patterns.as_slice() else {
                    return None;
                };
                Some((
                    idiom,
                    idiom.check_guards(matcher::match_term(pattern, term)?)?,
                ))
            })
    }

    /// Returns the noun phrase that an idiom has for a term.
    pub(crate) fn value(&self, term: &Term, phraser: &Phraser<'_>) -> Option<Noun> {
        let (idiom, bindings) = self.find(IdiomKind::Value, term)?;
        Some(idiom.say.noun(&bindings, phraser))
    }

    /// Returns the words that replace `"f" on O with A` in a step.
    pub(crate) fn call(&self, term: &Term, phraser: &Phraser<'_>) -> Option<String> {
        let (idiom, bindings) = self.find(IdiomKind::Call, term)?;
        Some(idiom.say.text(&bindings, phraser))
    }

    /// Returns true if an idiom would phrase a call that stands as a condition.
    pub(crate) fn has_condition(&self, term: &Term) -> bool {
        self.find_condition(term).is_some()
    }

    /// Finds an idiom for a condition (I4: the negated forms of a pattern, or of the term, match as
    /// well), and the resulting polarity.
    fn find_condition(&self, term: &Term) -> Option<(&Idiom, Bindings, Polarity)> {
        let (core, polarity) = strip_negation(term);
        self.idioms
            .iter()
            .filter(|idiom| idiom.kind == IdiomKind::Condition)
            .find_map(|idiom| {
                let [IdiomPattern::Expression(pattern)] = idiom.patterns.as_slice() else {
                    return None;
                };
                let (pattern, pattern_polarity) = strip_negation(pattern);
                let bindings = idiom.check_guards(matcher::match_term(&pattern, &core)?)?;
                Some((
                    idiom,
                    bindings,
                    combine_polarity(polarity, pattern_polarity),
                ))
            })
    }

    /// Returns the clause that an idiom has for a condition.
    pub(crate) fn condition(
        &self,
        term: &Term,
        polarity: Polarity,
        tense: Tense,
        phraser: &Phraser<'_>,
    ) -> Option<String> {
        if self.idioms.is_empty() {
            return None;
        }
        let (idiom, bindings, own) = self.find_condition(term)?;
        Some(idiom.clause(&bindings, combine_polarity(polarity, own), tense, phraser))
    }

    /// Returns the largest number of statements that one effect covers.
    pub(crate) fn longest_effect(&self) -> usize {
        let effects = self
            .idioms
            .iter()
            .filter(|one| one.kind == IdiomKind::Effect);
        effects.map(|one| one.patterns.len()).max().unwrap_or(0)
    }

    /// Returns the sentence of the first effect that matches these statements, and how many it
    /// covers (I3).
    pub(crate) fn effect(
        &self,
        changes: &[EffectTerm],
        phraser: &Phraser<'_>,
    ) -> Option<(usize, String)> {
        self.idioms
            .iter()
            .filter(|idiom| idiom.kind == IdiomKind::Effect)
            .find_map(|idiom| {
                let count = idiom.patterns.len();
                let bindings = idiom.check_guards(matcher::match_effects(
                    &idiom.patterns,
                    changes.get(..count)?,
                )?)?;
                Some((count, idiom.say.effect(&bindings, phraser, &idiom.targets)))
            })
    }
}

impl Idiom {
    /// Returns the bindings if they meet all `where` lines.
    fn check_guards(&self, bindings: Bindings) -> Option<Bindings> {
        self.guards
            .iter()
            .all(|guard| guard.accepts(&bindings))
            .then_some(bindings)
    }

    /// Fills in the sentence for this polarity and tense. A form that the file does not give is
    /// derived from the others.
    fn clause(
        &self,
        bindings: &Bindings,
        polarity: Polarity,
        tense: Tense,
        phraser: &Phraser<'_>,
    ) -> String {
        match (polarity, tense) {
            (Polarity::Positive, Tense::Present) => self.say.text(bindings, phraser),
            (Polarity::Positive, Tense::Past) => match &self.past {
                Some(past) => past.text(bindings, phraser),
                None => self.say.in_tense(bindings, phraser, tense),
            },
            (Polarity::Negative, Tense::Present) => match &self.not {
                Some(not) => not.text(bindings, phraser),
                None => format!(
                    "it is not the case that {}",
                    self.say.text(bindings, phraser)
                ),
            },
            (Polarity::Negative, Tense::Past) => match (&self.past_not, &self.not, &self.past) {
                (Some(past_not), ..) => past_not.text(bindings, phraser),
                (None, Some(not), _) => not.in_tense(bindings, phraser, tense),
                (None, None, _) => {
                    let positive = self.clause(bindings, Polarity::Positive, Tense::Past, phraser);
                    format!("it is not the case that {positive}")
                }
            },
        }
    }
}

/// Removes the negation around a condition or in its operator, and returns the polarity that it
/// had.
fn strip_negation(term: &Term) -> (Term, Polarity) {
    match term {
        Term::Not(inner) => {
            let (core, polarity) = strip_negation(inner);
            (core, polarity.opposite())
        }
        Term::Compare { first, rest } => {
            let [(comparison, second)] = rest.as_slice() else {
                return (term.clone(), Polarity::Positive);
            };
            let comparison = match comparison {
                Comparison::NotIn => Comparison::In,
                Comparison::NotEqual => Comparison::Equal,
                Comparison::IsNot => Comparison::Is,
                _ => return (term.clone(), Polarity::Positive),
            };
            (
                Term::compare((**first).clone(), comparison, second.clone()),
                Polarity::Negative,
            )
        }
        _ => (term.clone(), Polarity::Positive),
    }
}

/// Combines two polarities: two negations cancel out.
fn combine_polarity(one: Polarity, two: Polarity) -> Polarity {
    if one == two {
        Polarity::Positive
    } else {
        Polarity::Negative
    }
}

#[cfg(test)]
mod tests;
