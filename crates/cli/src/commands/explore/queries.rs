//! Queries about states, compiled before the exploration begins.

use std::path::PathBuf;

use testwright_core::Error;
use testwright_core::explore::temporal::{self, Atom, ParsedFormula};
use testwright_lang::{Diagnostic, Severity};
use testwright_python::{PythonSystem, StateExpression, TextPattern};

use super::ExploreCommand;
use crate::CommandError;
use crate::console::Console;
use crate::files::TextFile;
use crate::load;

/// The compiled expressions of `--goal`, `--heuristic`, `--without` and `--formula`.
pub(super) struct Queries<'py> {
    /// Condition of a goal state.
    pub(super) goal: Option<StateExpression<'py>>,
    /// Estimated distance to a goal; smaller is better.
    pub(super) heuristic: Option<StateExpression<'py>>,
    /// Pattern of actions to leave out.
    pub(super) without: Option<TextPattern<'py>>,
    /// Predicates of the formula, by their texts.
    predicates: Vec<(String, StateExpression<'py>)>,
}

impl<'py> Queries<'py> {
    /// Compiles all expressions. Prints everything that is wrong with them.
    pub(super) fn compile(
        explore: &ExploreCommand,
        console: &mut Console<'_>,
        system: &PythonSystem<'py>,
        formula: Option<&ParsedFormula>,
    ) -> Result<Queries<'py>, CommandError> {
        let mut is_valid = true;
        let mut report = |option: &str, text: &str, problems: Vec<Diagnostic>| {
            is_valid = false;
            load::print_problems(console, &option_text(option, text), &problems);
        };
        let mut expression = |option: &str, text: &Option<String>| {
            let text = text.as_deref()?;
            let compiled = system.expression(text);
            compiled
                .map_err(|problems| report(option, text, problems))
                .ok()
        };
        let goal = expression("--goal", &explore.goal);
        let heuristic = expression("--heuristic", &explore.heuristic);
        let mut predicates = Vec::new();
        let mut problems = Vec::new();
        for (atom, range) in formula.map_or(&[][..], |parsed| &parsed.atom_ranges) {
            let Atom::Predicate(text) = atom else {
                continue;
            };
            match system.expression(text) {
                Ok(compiled) => predicates.push((text.clone(), compiled)),
                Err(found) => problems.extend(found.into_iter().map(|problem| Diagnostic {
                    range: range.start + problem.range.start..range.start + problem.range.end,
                    ..problem
                })),
            }
        }
        if !problems.is_empty() {
            report(
                "--formula",
                explore.formula.as_deref().unwrap_or_default(),
                problems,
            );
        }
        let without = explore.without.as_deref().and_then(|text| {
            let compiled = system.pattern(text);
            compiled
                .map_err(|problems| report("--without", text, problems))
                .ok()
        });
        if is_valid {
            Ok(Queries {
                goal,
                heuristic,
                without,
                predicates,
            })
        } else {
            Err(CommandError::Reported)
        }
    }

    /// Returns true if a predicate of the formula holds in the current state.
    pub(super) fn holds(&self, system: &PythonSystem<'py>, predicate: &str) -> Result<bool, Error> {
        let mut known = self.predicates.iter();
        match known.find(|(text, _)| text == predicate) {
            Some((_, expression)) => expression.is_true(system),
            None => Err(Error::new(format!("nothing is known of `{predicate}`"))),
        }
    }
}

/// Parses a formula, or prints what is wrong with it.
pub(super) fn parse_formula(
    console: &mut Console<'_>,
    text: Option<&str>,
) -> Result<Option<ParsedFormula>, CommandError> {
    let Some(text) = text else {
        return Ok(None);
    };
    temporal::parse(text).map(Some).map_err(|problem| {
        let problem = Diagnostic {
            severity: Severity::Error,
            name: "bad-formula",
            message: problem.message,
            range: problem.range,
            label: String::new(),
            related: None,
            help: problem.help,
        };
        load::print_problems(console, &option_text("--formula", text), &[problem]);
        CommandError::Reported
    })
}

/// Wraps the value of an option as a text file, so that problems can be shown in it.
fn option_text(option: &str, text: &str) -> TextFile {
    TextFile {
        path: PathBuf::from(option),
        name: option.to_owned(),
        text: text.to_owned(),
    }
}
