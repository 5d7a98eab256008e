//! What a person wants to know, compiled before the exploration begins.

use std::path::PathBuf;

use testwright_core::Error;
use testwright_core::explore::temporal::{self, Atom, Parsed};
use testwright_lang::{Diagnostic, Severity};
use testwright_python::{Expression, Pattern, PythonSystem};

use super::Explore;
use crate::Trouble;
use crate::console::Console;
use crate::files::TextFile;
use crate::load;

/// All that is asked, ready to be answered.
pub(super) struct Questions<'py> {
    pub(super) goal: Option<Expression<'py>>,
    pub(super) heuristic: Option<Expression<'py>>,
    pub(super) without: Option<Pattern<'py>>,
    /// The predicates of the formula, with their texts.
    predicates: Vec<(String, Expression<'py>)>,
}

impl<'py> Questions<'py> {
    /// Compiles everything, and tells all that is wrong with it.
    pub(super) fn compile(
        explore: &Explore,
        console: &mut Console<'_>,
        system: &PythonSystem<'py>,
        formula: Option<&Parsed>,
    ) -> Result<Questions<'py>, Trouble> {
        let mut in_order = true;
        let mut tell = |option: &str, text: &str, problems: Vec<Diagnostic>| {
            in_order = false;
            load::tell_problems(console, &typed(option, text), &problems);
        };
        let mut expression = |option: &str, text: &Option<String>| {
            let text = text.as_deref()?;
            let compiled = system.expression(text);
            compiled
                .map_err(|problems| tell(option, text, problems))
                .ok()
        };
        let goal = expression("--goal", &explore.goal);
        let heuristic = expression("--heuristic", &explore.heuristic);
        let mut predicates = Vec::new();
        let mut problems = Vec::new();
        for (atom, range) in formula.map_or(&[][..], |parsed| &parsed.places) {
            let Atom::Predicate(text) = atom else {
                continue;
            };
            match system.expression(text) {
                Ok(compiled) => predicates.push((text.clone(), compiled)),
                Err(wrong) => problems.extend(wrong.into_iter().map(|problem| Diagnostic {
                    range: range.start + problem.range.start..range.start + problem.range.end,
                    ..problem
                })),
            }
        }
        if !problems.is_empty() {
            tell(
                "--formula",
                explore.formula.as_deref().unwrap_or_default(),
                problems,
            );
        }
        let without = explore.without.as_deref().and_then(|text| {
            let compiled = system.pattern(text);
            compiled
                .map_err(|problems| tell("--without", text, problems))
                .ok()
        });
        if in_order {
            Ok(Questions {
                goal,
                heuristic,
                without,
                predicates,
            })
        } else {
            Err(Trouble::Told)
        }
    }

    /// Whether a predicate of the formula is true now.
    pub(super) fn holds(&self, system: &PythonSystem<'py>, predicate: &str) -> Result<bool, Error> {
        let mut known = self.predicates.iter();
        match known.find(|(text, _)| text == predicate) {
            Some((_, expression)) => expression.is_true(system),
            None => Err(Error::new(format!("nothing is known of `{predicate}`"))),
        }
    }
}

/// Reads a formula, or tells what is wrong with it.
pub(super) fn formula(
    console: &mut Console<'_>,
    text: Option<&str>,
) -> Result<Option<Parsed>, Trouble> {
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
        load::tell_problems(console, &typed("--formula", text), &[problem]);
        Trouble::Told
    })
}

/// A text that was typed after an option, for those who show what is wrong in it.
fn typed(option: &str, text: &str) -> TextFile {
    TextFile {
        path: PathBuf::from(option),
        name: option.to_owned(),
        text: text.to_owned(),
    }
}
