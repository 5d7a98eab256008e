//! What an idiom says: words and placeholders (I2).

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

    /// The same in another tense, if the verb is known: it is what follows the first placeholder.
    pub(super) fn in_tense(
        &self,
        bindings: &Bindings,
        speaker: &Speaker<'_>,
        tense: Tense,
    ) -> String {
        if let [
            Piece::Hole {
                placeholder,
                form: Form::Noun,
            },
            Piece::Text(text),
            rest @ ..,
        ] = self.0.as_slice()
            && let Some((verb, polarity, behind)) = text.strip_prefix(' ').and_then(Verb::read)
        {
            let subject = filled(placeholder, Form::Noun, bindings, speaker);
            let verb = verb.form(subject.plural, polarity, tense);
            return format!(
                "{} {verb}{behind}{}",
                subject.text,
                joined(rest, bindings, speaker)
            );
        }
        joined(&self.0, bindings, speaker)
    }

    /// The same as a noun: plural if its words are, or if it begins with something plural.
    pub(super) fn noun(&self, bindings: &Bindings, speaker: &Speaker<'_>) -> Noun {
        match self.0.as_slice() {
            [Piece::Hole { placeholder, form }, rest @ ..] => {
                let first = filled(placeholder, *form, bindings, speaker);
                let text = format!("{}{}", first.text, joined(rest, bindings, speaker));
                Noun {
                    text,
                    plural: first.plural,
                }
            }
            [Piece::Text(words), ..] => {
                let plural = is_plural(words.trim_start_matches("the "));
                Noun {
                    text: joined(&self.0, bindings, speaker),
                    plural,
                }
            }
            [] => Noun::one(""),
        }
    }
}

fn joined(pieces: &[Piece], bindings: &Bindings, speaker: &Speaker<'_>) -> String {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Hole { placeholder, form } => filled(placeholder, *form, bindings, speaker).text,
        })
        .collect()
}

fn filled(placeholder: &str, form: Form, bindings: &Bindings, speaker: &Speaker<'_>) -> Noun {
    match bindings.get(placeholder) {
        None => Noun::one("nothing"),
        Some(Bound::Rest(terms)) => match terms.as_slice() {
            [] => Noun::one("nothing"),
            terms => Noun {
                text: speaker.operands(terms),
                plural: terms.len() > 1,
            },
        },
        Some(Bound::One(term)) => said(term, form, speaker),
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
