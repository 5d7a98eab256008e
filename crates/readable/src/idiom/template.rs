//! What an idiom says: words and placeholders (I2).

use std::collections::BTreeSet;

use super::pattern::{Bindings, Bound};
use crate::phrase::{Noun, Polarity, Speaker, Tense, join};
use crate::term::{Callee, Term};
use crate::words::{Verb, is_plural};

/// A sentence with holes.
#[derive(Debug, Clone)]
pub(super) struct Template(Vec<Piece>);

#[derive(Debug, Clone)]
enum Piece {
    Text(String),
    Hole { placeholder: String, form: Form },
}

/// How what a placeholder stands for is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Noun,
    Clause,
    Not,
    Name,
    Value,
}

impl Template {
    /// Reads a template.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            let (hole, behind) = after.split_once('}').ok_or("a `{` is never closed")?;
            let (placeholder, form) = hole.split_once(':').unwrap_or((hole, ""));
            let form = match form.trim() {
                "" => Form::Noun,
                "clause" => Form::Clause,
                "not" => Form::Not,
                "name" => Form::Name,
                "value" => Form::Value,
                other => return Err(format!("`{other}` is none of clause, not, name and value")),
            };
            let placeholder = placeholder.trim().to_owned();
            if placeholder.is_empty() || placeholder == "_" {
                return Err("a placeholder between braces needs a name".to_owned());
            }
            pieces.push(Piece::Hole { placeholder, form });
            rest = behind;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(Self(pieces))
    }

    pub(super) fn placeholders(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Hole { placeholder, .. } => Some(placeholder.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// The sentence, its verb agreeing with its subject.
    pub(super) fn text(&self, bindings: &Bindings, speaker: &Speaker<'_>) -> String {
        self.in_tense(bindings, speaker, Tense::Present)
    }

    /// The sentence of an effect, in which these placeholders stand for what is changed.
    pub(super) fn effect(
        &self,
        bindings: &Bindings,
        speaker: &Speaker<'_>,
        targets: &BTreeSet<String>,
    ) -> String {
        Filling {
            bindings,
            speaker,
            targets,
        }
        .sentence(&self.0, Tense::Present)
    }

    /// The sentence in another tense, if its verb is known.
    pub(super) fn in_tense(
        &self,
        bindings: &Bindings,
        speaker: &Speaker<'_>,
        tense: Tense,
    ) -> String {
        Filling {
            bindings,
            speaker,
            targets: &BTreeSet::new(),
        }
        .sentence(&self.0, tense)
    }

    /// The same as a noun: plural if its words are, or if it begins with something plural.
    pub(super) fn noun(&self, bindings: &Bindings, speaker: &Speaker<'_>) -> Noun {
        let filling = Filling {
            bindings,
            speaker,
            targets: &BTreeSet::new(),
        };
        match self.0.as_slice() {
            [Piece::Hole { placeholder, form }, rest @ ..] => {
                let first = filling.noun(placeholder, *form);
                let text = format!("{}{}", first.text, filling.joined(rest));
                Noun {
                    text,
                    plural: first.plural,
                }
            }
            [Piece::Text(words), ..] => {
                let plural = is_plural(words.trim_start_matches("the "));
                Noun {
                    text: filling.joined(&self.0),
                    plural,
                }
            }
            [] => Noun::one(""),
        }
    }
}

/// What the holes of a template are filled with.
struct Filling<'a> {
    bindings: &'a Bindings,
    speaker: &'a Speaker<'a>,
    targets: &'a BTreeSet<String>,
}

impl Filling<'_> {
    /// The verb is what follows the first placeholder.
    fn sentence(&self, pieces: &[Piece], tense: Tense) -> String {
        if let [
            Piece::Hole {
                placeholder,
                form: Form::Noun,
            },
            Piece::Text(text),
            rest @ ..,
        ] = pieces
            && let Some((verb, polarity, behind)) = text.strip_prefix(' ').and_then(Verb::read)
        {
            let subject = self.noun(placeholder, Form::Noun);
            let verb = verb.form(subject.plural, polarity, tense);
            return format!("{} {verb}{behind}{}", subject.text, self.joined(rest));
        }
        self.joined(pieces)
    }

    fn joined(&self, pieces: &[Piece]) -> String {
        pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Hole { placeholder, form } => self.noun(placeholder, *form).text,
            })
            .collect()
    }

    fn noun(&self, placeholder: &str, form: Form) -> Noun {
        match self.bindings.get(placeholder) {
            None => Noun::one("nothing"),
            Some(Bound::Rest(terms)) => match terms.as_slice() {
                [] => Noun::one("nothing"),
                terms => Noun {
                    text: self.speaker.operands(terms),
                    plural: terms.len() > 1,
                },
            },
            Some(Bound::One(term)) if form == Form::Noun && self.targets.contains(placeholder) => {
                self.speaker.target(term)
            }
            Some(Bound::One(term)) => said(term, form, self.speaker),
        }
    }
}

fn said(term: &Term, form: Form, speaker: &Speaker<'_>) -> Noun {
    match form {
        Form::Noun => speaker.noun(term),
        Form::Clause => Noun::one(speaker.say(term, Polarity::Positive, Tense::Present)),
        Form::Not => Noun::one(speaker.say(term, Polarity::Negative, Tense::Present)),
        Form::Value => match term {
            Term::Value(value) => Noun::one(speaker.notation(value)),
            _ => speaker.noun(term),
        },
        Form::Name => match term {
            Term::Reference(reference) => Noun::one(speaker.words(&reference.name)),
            Term::Attribute { name, .. } => Noun::one(speaker.words(name)),
            Term::Call(call) => match &call.callee {
                Callee::Function { name, .. } | Callee::Method { name, .. } => {
                    Noun::one(speaker.words(name))
                }
                Callee::Other(other) => speaker.noun(other),
            },
            Term::Value(value) => Noun::one(crate::words::humanise(
                join::unquoted(&speaker.notation(value)).unwrap_or_default(),
            )),
            _ => speaker.noun(term),
        },
    }
}
