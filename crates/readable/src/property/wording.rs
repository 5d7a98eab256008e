//! Step texts with names or with values, as a whole or in the pieces by which a step is found.

use super::rule::{StepPiece, ValuePlacement};
use super::script::StepSentence;
use crate::gherkin::remove_line_breaks;
use crate::phrase::Phraser;
use crate::sample::{SampleArgument, SampleCase};
use crate::term::{NameReference, NameRole, Term};

/// Encloses the number of an input in a marked text. No source contains it.
const MARK: char = '\u{f0000}';

/// Returns the text of a line.
pub(crate) fn step_text(
    sentence: &StepSentence,
    case: &SampleCase,
    values: ValuePlacement,
    phraser: &Phraser<'_>,
) -> String {
    let words = |identifier: &str| phraser.words(identifier);
    remove_line_breaks(&match (sentence, values) {
        (StepSentence::Input { name }, ValuePlacement::Named) => {
            format!(
                "I have {}, called {}",
                phrase_of(case, name, &words),
                words(name)
            )
        }
        (StepSentence::Input { name }, ValuePlacement::Inline) => {
            format!("I have {}", phrase_of(case, name, &words))
        }
        (_, ValuePlacement::Named) => sentence.text(phraser),
        (_, ValuePlacement::Inline) => sentence
            .map_terms(&|term| {
                replace_inputs(term, &|name| {
                    find_argument(case, name)
                        .map(|argument| argument.value.notation_with(false, &words))
                })
            })
            .text(phraser),
    })
}

/// Returns the phrase of an input's value.
fn phrase_of(case: &SampleCase, name: &str, words: &dyn Fn(&str) -> String) -> String {
    find_argument(case, name).map_or_else(
        || "a value".to_owned(),
        |argument| argument.value.phrase_with(false, words),
    )
}

/// Finds the argument of an input.
pub(super) fn find_argument<'c>(case: &'c SampleCase, name: &str) -> Option<&'c SampleArgument> {
    case.arguments.iter().find(|argument| argument.name == name)
}

/// Returns true if parsing the phrase of the value gives the same value.
pub(super) fn is_readable_back(argument: &SampleArgument) -> bool {
    crate::value::parse::parse_phrase(&argument.value.phrase())
        .is_ok_and(|value| value == argument.value)
}

/// Replaces inputs by other words in a term. Variables that a comprehension or lambda binds stay.
fn replace_inputs(term: &Term, words: &dyn Fn(&str) -> Option<String>) -> Term {
    term.map_parts(&mut |part| match part {
        Term::Reference(reference) if reference.role == NameRole::Variable => {
            let written = NameReference::new(words(&reference.name)?, NameRole::Phrase);
            Some(written.with_type(reference.type_.clone()).into())
        }
        // A bound variable is no input, even if it has the name of one.
        Term::Comprehension { clauses, .. } | Term::DictionaryComprehension { clauses, .. } => {
            let bound: Vec<String> = clauses
                .iter()
                .flat_map(|clause| clause.targets.clone())
                .collect();
            replace_unshadowed(part, &bound, words)
        }
        Term::Lambda { parameters, .. } => replace_unshadowed(part, parameters, words),
        _ => None,
    })
}

/// Replaces the inputs whose names are not bound here.
fn replace_unshadowed(
    part: &Term,
    bound: &[String],
    words: &dyn Fn(&str) -> Option<String>,
) -> Option<Term> {
    let is_shadowing = bound.iter().any(|name| words(name).is_some());
    is_shadowing.then(|| {
        let rest = |name: &str| words(name).filter(|_| !bound.iter().any(|other| other == name));
        replace_inputs(part, &rest)
    })
}

/// Returns the text of a line in pieces, with values where they can be parsed back.
pub(super) fn text_pieces(
    sentence: &StepSentence,
    case: &SampleCase,
    values: ValuePlacement,
    phraser: &Phraser<'_>,
    text: &str,
) -> Vec<StepPiece> {
    let exact = || vec![StepPiece::Words(text.to_owned())];
    match (sentence, values) {
        (StepSentence::Input { name }, _)
            if find_argument(case, name).is_none_or(|argument| !is_readable_back(argument)) =>
        {
            exact()
        }
        (StepSentence::Input { name }, ValuePlacement::Named) => input_pieces(&phraser.words(name)),
        (StepSentence::Input { name }, ValuePlacement::Inline) => vec![
            StepPiece::Words("I have ".to_owned()),
            StepPiece::Phrase(phraser.words(name)),
        ],
        (
            StepSentence::Have {
                term: Term::Value(value),
                name,
            },
            ValuePlacement::Named,
        ) if is_readable_back(&SampleArgument::new(name, value.clone())) => {
            input_pieces(&phraser.words(name))
        }
        (_, ValuePlacement::Named) => exact(),
        (_, ValuePlacement::Inline) => {
            let marked = sentence.map_terms(&|term| {
                replace_inputs(term, &|name| {
                    let index = case
                        .arguments
                        .iter()
                        .position(|argument| argument.name == name)?;
                    is_readable_back(case.arguments.get(index)?)
                        .then(|| format!("{MARK}{index}{MARK}"))
                })
            });
            split_at_marks(&remove_line_breaks(&marked.text(phraser)), case, phraser)
        }
    }
}

/// Returns the pieces of "I have PHRASE, called NAME".
pub(super) fn input_pieces(name: &str) -> Vec<StepPiece> {
    vec![
        StepPiece::Words("I have ".to_owned()),
        StepPiece::Phrase(name.to_owned()),
        StepPiece::Words(format!(", called {name}")),
    ]
}

/// Splits a marked text into words and values.
fn split_at_marks(marked: &str, case: &SampleCase, phraser: &Phraser<'_>) -> Vec<StepPiece> {
    let mut pieces = Vec::new();
    for (position, part) in marked.split(MARK).enumerate() {
        let argument = part
            .parse::<usize>()
            .ok()
            .and_then(|index| case.arguments.get(index));
        match (position % 2, argument) {
            (1, Some(argument)) => pieces.push(StepPiece::Value(phraser.words(&argument.name))),
            _ if part.is_empty() => {}
            _ => pieces.push(StepPiece::Words(part.to_owned())),
        }
    }
    pieces
}
