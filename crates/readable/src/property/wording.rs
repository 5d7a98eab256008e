//! The texts of steps, with names or with values, whole or in pieces that a step file finds them by.

use super::rule::{Piece, Values};
use super::script::Saying;
use crate::gherkin::without_breaks;
use crate::phrase::Speaker;
use crate::sample::{Argument, Case};
use crate::term::{Reference, Role, Term};

/// Between marks that no text contains stands the number of an input.
const MARK: char = '\u{f0000}';

/// The text of a line.
pub(crate) fn step_text(
    saying: &Saying,
    case: &Case,
    values: Values,
    speaker: &Speaker<'_>,
) -> String {
    let words = |identifier: &str| speaker.words(identifier);
    without_breaks(&match (saying, values) {
        (Saying::Input { name }, Values::Named) => {
            format!(
                "I have {}, called {}",
                phrase_of(case, name, &words),
                words(name)
            )
        }
        (Saying::Input { name }, Values::Inline) => {
            format!("I have {}", phrase_of(case, name, &words))
        }
        (_, Values::Named) => saying.words(speaker),
        (_, Values::Inline) => saying
            .with_terms(&|term| {
                with_inputs(term, &|name| {
                    argument(case, name).map(|argument| argument.value.notation_in(false, &words))
                })
            })
            .words(speaker),
    })
}

fn phrase_of(case: &Case, name: &str, words: &dyn Fn(&str) -> String) -> String {
    argument(case, name).map_or_else(
        || "a value".to_owned(),
        |argument| argument.value.phrase_in(false, words),
    )
}

pub(super) fn argument<'c>(case: &'c Case, name: &str) -> Option<&'c Argument> {
    case.arguments.iter().find(|argument| argument.name == name)
}

/// Whether reading its phrase gives the value again.
pub(super) fn can_be_read(argument: &Argument) -> bool {
    crate::value::read::read(&argument.value.phrase()).is_ok_and(|value| value == argument.value)
}

/// The same with other words for inputs.
fn with_inputs(term: &Term, words: &dyn Fn(&str) -> Option<String>) -> Term {
    term.replaced(&mut |part| match part {
        Term::Reference(reference) if reference.role == Role::Variable => {
            let written = Reference::new(words(&reference.name)?, Role::Phrase);
            Some(written.with_type(reference.type_.clone()).into())
        }
        // What a comprehension or lambda binds is no input, even if it is called like one.
        Term::Comprehension { clauses, .. } | Term::DictionaryComprehension { clauses, .. } => {
            let bound: Vec<String> = clauses
                .iter()
                .flat_map(|clause| clause.targets.clone())
                .collect();
            shadowed(part, &bound, words)
        }
        Term::Lambda { parameters, .. } => shadowed(part, parameters, words),
        _ => None,
    })
}

fn shadowed(part: &Term, bound: &[String], words: &dyn Fn(&str) -> Option<String>) -> Option<Term> {
    let is_shadowing = bound.iter().any(|name| words(name).is_some());
    is_shadowing.then(|| {
        let rest = |name: &str| words(name).filter(|_| !bound.iter().any(|other| other == name));
        with_inputs(part, &rest)
    })
}

/// The text of a line in pieces, so that a step can be found by it.
pub(super) fn pieces(
    saying: &Saying,
    case: &Case,
    values: Values,
    speaker: &Speaker<'_>,
    text: &str,
) -> Vec<Piece> {
    let exact = || vec![Piece::Words(text.to_owned())];
    match (saying, values) {
        (Saying::Input { name }, _)
            if argument(case, name).is_none_or(|argument| !can_be_read(argument)) =>
        {
            exact()
        }
        (Saying::Input { name }, Values::Named) => stored(&speaker.words(name)),
        (Saying::Input { name }, Values::Inline) => vec![
            Piece::Words("I have ".to_owned()),
            Piece::Phrase(speaker.words(name)),
        ],
        (
            Saying::Have {
                term: Term::Value(value),
                name,
            },
            Values::Named,
        ) if can_be_read(&Argument::new(name, value.clone())) => stored(&speaker.words(name)),
        (_, Values::Named) => exact(),
        (_, Values::Inline) => {
            let marked = saying.with_terms(&|term| {
                with_inputs(term, &|name| {
                    let index = case
                        .arguments
                        .iter()
                        .position(|argument| argument.name == name)?;
                    can_be_read(case.arguments.get(index)?).then(|| format!("{MARK}{index}{MARK}"))
                })
            });
            split(&without_breaks(&marked.words(speaker)), case, speaker)
        }
    }
}

/// "I have PHRASE, called NAME".
pub(super) fn stored(name: &str) -> Vec<Piece> {
    vec![
        Piece::Words("I have ".to_owned()),
        Piece::Phrase(name.to_owned()),
        Piece::Words(format!(", called {name}")),
    ]
}

fn split(marked: &str, case: &Case, speaker: &Speaker<'_>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (position, part) in marked.split(MARK).enumerate() {
        let argument = part
            .parse::<usize>()
            .ok()
            .and_then(|index| case.arguments.get(index));
        match (position % 2, argument) {
            (1, Some(argument)) => pieces.push(Piece::Value(speaker.words(&argument.name))),
            _ if part.is_empty() => {}
            _ => pieces.push(Piece::Words(part.to_owned())),
        }
    }
    pieces
}
