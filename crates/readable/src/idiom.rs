//! Names and idioms (section 7): words that users give to identifiers, and sentences that they give to patterns.
//!
//! ```
//! use testwright_readable::{idiom::Vocabulary, phrase::Speaker, term::{Term, Unscoped}};
//!
//! let mut vocabulary = Vocabulary::default();
//! vocabulary.add("[idiom name is taken]\nkind = condition\nmatch = $n in regs\nsay = {n} is taken\nnot = {n} is free").unwrap();
//! let text = "name not in regs";
//! let expression = testwright_source::tree::expression(text).unwrap();
//! let term = Term::read(&expression, text, &Unscoped);
//! assert_eq!(Speaker::new(&vocabulary).clause(&term), "name is free");
//! ```

mod file;
mod matcher;
mod pattern;
mod stub;
mod template;

use std::collections::{BTreeMap, BTreeSet};

pub use file::IdiomError;
use pattern::{Bindings, Guard, Pattern};
pub use stub::stubs;
use template::Template;

use crate::phrase::{Noun, Polarity, Speaker, Tense};
use crate::term::{Change, Comparison, Term};
use crate::words::humanise;

/// What is said without any file, as far as patterns can say it: to be printed, copied and changed.
pub const BUILT_IN: &str = include_str!("idiom/built_in.idioms");

/// All names and idioms, in the order in which they are consulted.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    names: BTreeMap<String, String>,
    idioms: Vec<Idiom>,
}

/// A pattern and how to say it.
#[derive(Debug, Clone)]
struct Idiom {
    kind: Kind,
    /// One, but for effects, which may cover several changes in a row (I3).
    patterns: Vec<Pattern>,
    guards: Vec<Guard>,
    /// The placeholders that stand for what an effect changes, which is never called old or new (R10).
    targets: BTreeSet<String>,
    say: Template,
    not: Option<Template>,
    past: Option<Template>,
    past_not: Option<Template>,
}

/// Where an idiom applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Condition,
    Value,
    Effect,
    Call,
}

impl Vocabulary {
    /// Whether there is a names entry.
    #[must_use]
    pub fn has_name(&self, identifier: &str) -> bool {
        self.names.contains_key(identifier)
    }

    /// Whether a helper has words of its own, a name or an idiom for its calls: then it is never inlined (Y2).
    pub(crate) fn speaks_of(&self, helper: &str) -> bool {
        let mut patterns = self.idioms.iter().flat_map(|idiom| &idiom.patterns);
        self.has_name(helper) || patterns.any(|pattern| pattern.calls(helper))
    }

    /// The same for a module with these constants, whose names patterns may use.
    pub(crate) fn with_constants(&self, constant: &dyn Fn(&str) -> Option<Term>) -> Vocabulary {
        let mut vocabulary = self.clone();
        let patterns = vocabulary.idioms.iter_mut();
        for pattern in patterns.flat_map(|idiom| &mut idiom.patterns) {
            *pattern = pattern.with_constants(constant);
        }
        vocabulary
    }

    /// The words of an identifier: its names entry (W3), or its own words.
    #[must_use]
    pub fn words(&self, identifier: &str) -> String {
        self.names
            .get(identifier)
            .cloned()
            .unwrap_or_else(|| humanise(identifier))
    }

    /// The first idiom of a kind that matches a term, and what its placeholders stand for (I5).
    fn find(&self, kind: Kind, term: &Term) -> Option<(&Idiom, Bindings)> {
        self.idioms
            .iter()
            .filter(|idiom| idiom.kind == kind)
            .find_map(|idiom| {
                let [Pattern::Expression(pattern)] = idiom.patterns.as_slice() else {
                    return None;
                };
                Some((idiom, idiom.guarded(matcher::matched(pattern, term)?)?))
            })
    }

    pub(crate) fn value(&self, term: &Term, speaker: &Speaker<'_>) -> Option<Noun> {
        let (idiom, bindings) = self.find(Kind::Value, term)?;
        Some(idiom.say.noun(&bindings, speaker))
    }

    /// What replaces `call "H(f)" on O with A` in a step.
    pub(crate) fn call(&self, term: &Term, speaker: &Speaker<'_>) -> Option<String> {
        let (idiom, bindings) = self.find(Kind::Call, term)?;
        Some(idiom.say.text(&bindings, speaker))
    }

    /// Whether a call would be phrased by an idiom if it stood in boolean position.
    pub(crate) fn has_condition(&self, term: &Term) -> bool {
        self.find_condition(term).is_some()
    }

    /// I4: the negated forms of a pattern, or of what it is compared with, are the same with "not".
    fn find_condition(&self, term: &Term) -> Option<(&Idiom, Bindings, Polarity)> {
        let (core, polarity) = positive(term);
        self.idioms
            .iter()
            .filter(|idiom| idiom.kind == Kind::Condition)
            .find_map(|idiom| {
                let [Pattern::Expression(pattern)] = idiom.patterns.as_slice() else {
                    return None;
                };
                let (pattern, pattern_polarity) = positive(pattern);
                let bindings = idiom.guarded(matcher::matched(&pattern, &core)?)?;
                Some((idiom, bindings, times(polarity, pattern_polarity)))
            })
    }

    pub(crate) fn condition(
        &self,
        term: &Term,
        polarity: Polarity,
        tense: Tense,
        speaker: &Speaker<'_>,
    ) -> Option<String> {
        if self.idioms.is_empty() {
            return None;
        }
        let (idiom, bindings, own) = self.find_condition(term)?;
        Some(idiom.clause(&bindings, times(polarity, own), tense, speaker))
    }

    /// How many changes in a row an effect can be made of.
    pub(crate) fn longest_effect(&self) -> usize {
        let effects = self.idioms.iter().filter(|one| one.kind == Kind::Effect);
        effects.map(|one| one.patterns.len()).max().unwrap_or(0)
    }

    /// I3: the first effect that covers as many of these changes as it has patterns.
    pub(crate) fn effect(
        &self,
        changes: &[Change],
        speaker: &Speaker<'_>,
    ) -> Option<(usize, String)> {
        self.idioms
            .iter()
            .filter(|idiom| idiom.kind == Kind::Effect)
            .find_map(|idiom| {
                let count = idiom.patterns.len();
                let bindings = idiom.guarded(matcher::matched_changes(
                    &idiom.patterns,
                    changes.get(..count)?,
                )?)?;
                Some((count, idiom.say.effect(&bindings, speaker, &idiom.targets)))
            })
    }
}

impl Idiom {
    /// The bindings, if they are what `where` asks for.
    fn guarded(&self, bindings: Bindings) -> Option<Bindings> {
        self.guards
            .iter()
            .all(|guard| guard.accepts(&bindings))
            .then_some(bindings)
    }

    fn clause(
        &self,
        bindings: &Bindings,
        polarity: Polarity,
        tense: Tense,
        speaker: &Speaker<'_>,
    ) -> String {
        match (polarity, tense) {
            (Polarity::Positive, Tense::Present) => self.say.text(bindings, speaker),
            (Polarity::Positive, Tense::Past) => match &self.past {
                Some(past) => past.text(bindings, speaker),
                None => self.say.in_tense(bindings, speaker, tense),
            },
            (Polarity::Negative, Tense::Present) => match &self.not {
                Some(not) => not.text(bindings, speaker),
                None => format!(
                    "it is not the case that {}",
                    self.say.text(bindings, speaker)
                ),
            },
            (Polarity::Negative, Tense::Past) => match (&self.past_not, &self.not, &self.past) {
                (Some(past_not), ..) => past_not.text(bindings, speaker),
                (None, Some(not), _) => not.in_tense(bindings, speaker, tense),
                (None, None, _) => {
                    let said = self.clause(bindings, Polarity::Positive, Tense::Past, speaker);
                    format!("it is not the case that {said}")
                }
            },
        }
    }
}

/// A condition without the negation around it or in its sign, and whether there was one.
fn positive(term: &Term) -> (Term, Polarity) {
    match term {
        Term::Not(inner) => {
            let (core, polarity) = positive(inner);
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

/// Two negations are none.
fn times(one: Polarity, two: Polarity) -> Polarity {
    if one == two {
        Polarity::Positive
    } else {
        Polarity::Negative
    }
}

#[cfg(test)]
mod tests;
