//! Sentences of idioms: words with placeholders (I2: `{x}` is a noun phrase, and there are four
//! other forms).

use std::collections::BTreeSet;

use super::pattern::{Bindings, PlaceholderValue};
use crate::phrase::{Noun, Phraser, Polarity, Tense, join};
use crate::term::{CallTarget, Term};
use crate::words::{Verb, is_plural};

/// A sentence with placeholders.
#[derive(Debug, Clone)]
pub(super) struct SentenceTemplate(Vec<SentencePiece>);

/// A piece of a sentence.
#[derive(Debug, Clone)]
enum SentencePiece {
    /// Fixed words.
    Text(String),
    /// A placeholder and the form in which it is written.
    Hole {
        placeholder: String,
        form: PlaceholderForm,
    },
}

/// The form in which the value of a placeholder is written (I2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlaceholderForm {
    /// `{x}`: a noun phrase.
    Noun,
    /// `{x:clause}`: a clause.
    Clause,
    /// `{x:not}`: the negative form of a clause.
    Not,
    /// `{x:name}`: the words of an identifier.
    Name,
    /// `{x:value}`: the bare notation of a literal.
    Value,
}

impl SentenceTemplate {
    /// Parses a sentence.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            if !before.is_empty() {
                pieces.push(SentencePiece::Text(before.to_owned()));
            }
            let (hole, behind) = after.split_once('}').ok_or("a `{` is never closed")?;
            let (placeholder, form) = hole.split_once(':').unwrap_or((hole, ""));
            let form = match form.trim() {
                "" => PlaceholderForm::Noun,
                "clause" => PlaceholderForm::Clause,
                "not" => PlaceholderForm::Not,
                "name" => PlaceholderForm::Name,
                "value" => PlaceholderForm::Value,
                other => return Err(format!("`{other}` is none of clause, not, name and value")),
            };
            let placeholder = placeholder.trim().to_owned();
            if placeholder.is_empty() || placeholder == "_" {
                return Err("a placeholder between braces needs a name".to_owned());
            }
            pieces.push(SentencePiece::Hole { placeholder, form });
            rest = behind;
        }
        if !rest.is_empty() {
            pieces.push(SentencePiece::Text(rest.to_owned()));
        }
        Ok(Self(pieces))
    }

    /// Iterates over the names of the placeholders.
    pub(super) fn placeholders(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            SentencePiece::Hole { placeholder, .. } => Some(placeholder.as_str()),
            SentencePiece::Text(_) => None,
        })
    }

    /// Fills in the sentence. Its verb agrees with its subject.
    pub(super) fn text(&self, bindings: &Bindings, phraser: &Phraser<'_>) -> String {
        self.in_tense(bindings, phraser, Tense::Present)
    }

    /// Fills in the sentence of an effect. The `targets` stand for what is changed, which is not
    /// marked as old or new (R10).
    pub(super) fn effect(
        &self,
        bindings: &Bindings,
        phraser: &Phraser<'_>,
        targets: &BTreeSet<String>,
    ) -> String {
        TemplateFiller {
            bindings,
            phraser,
            targets,
        }
        .sentence(&self.0, Tense::Present)
    }

    /// Fills in the sentence in another tense, if its verb is known.
    pub(super) fn in_tense(
        &self,
        bindings: &Bindings,
        phraser: &Phraser<'_>,
        tense: Tense,
    ) -> String {
        TemplateFiller {
            bindings,
            phraser,
            targets: &BTreeSet::new(),
        }
        .sentence(&self.0, tense)
    }

    /// Fills in the sentence as a noun phrase. It is plural if its words are, or if it begins with
    /// something plural.
    pub(super) fn noun(&self, bindings: &Bindings, phraser: &Phraser<'_>) -> Noun {
        let filling = TemplateFiller {
            bindings,
            phraser,
            targets: &BTreeSet::new(),
        };
        match self.0.as_slice() {
            [SentencePiece::Hole { placeholder, form }, rest @ ..] => {
                let first = filling.noun(placeholder, *form);
                let text = format!("{}{}", first.text, filling.join_pieces(rest));
                Noun {
                    text,
                    plural: first.plural,
                }
            }
            [SentencePiece::Text(words), ..] => {
                let plural = is_plural(words.trim_start_matches("the "));
                Noun {
                    text: filling.join_pieces(&self.0),
                    plural,
                }
            }
            [] => Noun::one(""),
        }
    }
}

/// The values for the placeholders of a sentence.
struct TemplateFiller<'a> {
    bindings: &'a Bindings,
    phraser: &'a Phraser<'a>,
    /// The placeholders for what is changed, which are not marked as old or new.
    targets: &'a BTreeSet<String>,
}

impl TemplateFiller<'_> {
    /// Writes a sentence. A verb after the first placeholder agrees with it.
    fn sentence(&self, pieces: &[SentencePiece], tense: Tense) -> String {
        if let [
            SentencePiece::Hole {
                placeholder,
                form: PlaceholderForm::Noun,
            },
            SentencePiece::Text(text),
            rest @ ..,
        ] = pieces
            && let Some((verb, polarity, behind)) =
                text.strip_prefix(' ').and_then(Verb::parse_start)
        {
            let subject = self.noun(placeholder, PlaceholderForm::Noun);
            let verb = verb.conjugate(subject.plural, polarity, tense);
            return format!("{} {verb}{behind}{}", subject.text, self.join_pieces(rest));
        }
        self.join_pieces(pieces)
    }

    /// Joins the pieces as they are.
    fn join_pieces(&self, pieces: &[SentencePiece]) -> String {
        pieces
            .iter()
            .map(|piece| match piece {
                SentencePiece::Text(text) => text.clone(),
                SentencePiece::Hole { placeholder, form } => self.noun(placeholder, *form).text,
            })
            .collect()
    }

    /// Phrases the value of a placeholder.
    fn noun(&self, placeholder: &str, form: PlaceholderForm) -> Noun {
        match self.bindings.get(placeholder) {
            None => Noun::one("nothing"),
            Some(PlaceholderValue::Rest(terms)) => match terms.as_slice() {
                [] => Noun::one("nothing"),
                terms => Noun {
                    text: self.phraser.operands(terms),
                    plural: terms.len() > 1,
                },
            },
            Some(PlaceholderValue::One(term))
                if form == PlaceholderForm::Noun && self.targets.contains(placeholder) =>
            {
                self.phraser.target(term)
            }
            Some(PlaceholderValue::One(term)) => render_term(term, form, self.phraser),
        }
    }
}

/// Phrases a term in a form (I2).
fn render_term(term: &Term, form: PlaceholderForm, phraser: &Phraser<'_>) -> Noun {
    match form {
        PlaceholderForm::Noun => phraser.noun(term),
        PlaceholderForm::Clause => {
            Noun::one(phraser.clause_in(term, Polarity::Positive, Tense::Present))
        }
        PlaceholderForm::Not => {
            Noun::one(phraser.clause_in(term, Polarity::Negative, Tense::Present))
        }
        PlaceholderForm::Value => match term {
            Term::Value(value) => Noun::one(phraser.notation(value)),
            _ => phraser.noun(term),
        },
        PlaceholderForm::Name => match term {
            Term::Reference(reference) => Noun::one(phraser.words(&reference.name)),
            Term::Attribute { name, .. } => Noun::one(phraser.words(name)),
            Term::Call(call) => match &call.callee {
                CallTarget::Function { name, .. } | CallTarget::Method { name, .. } => {
                    Noun::one(phraser.words(name))
                }
                CallTarget::Other(other) => phraser.noun(other),
            },
            Term::Value(value) => Noun::one(crate::words::humanise(
                join::strip_quotes(&phraser.notation(value)).unwrap_or_default(),
            )),
            _ => phraser.noun(term),
        },
    }
}
