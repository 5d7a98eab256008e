//! Mistakes of a harness that would look like failures, or like success, of the code under test.

use std::ffi::CString;
use std::ops::Range;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyModule;
use testwright_core::Axis;
use testwright_lang::harness::{CodePart, Fragment};
use testwright_lang::{Diagnostic, Harness, Severity};

use super::problems::line_range;
use crate::context::HarnessContext;

/// A line of the harness: its number, its kind, its code, its guard, and the exceptions that it
/// expects.
pub(crate) type LineText = (usize, &'static str, String, String, Vec<String>);

/// A mistake: its line, a text in the line, and name, message, label and help of the diagnostic.
type Mistake = (usize, String, String, String, String, Option<String>);

/// Loads the script that finds mistakes.
pub(crate) fn script(python: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let code = CString::new(include_str!("../harness_mistakes.py"))?;
    PyModule::from_code(
        python,
        &code,
        c"testwright/harness_mistakes.py",
        c"testwright_harness_mistakes",
    )
}

/// Returns the mistakes in the lines of a harness. Before the modules under test are loaded, only
/// their text is read.
pub(super) fn find(
    context: &HarnessContext<'_>,
    text: &str,
    is_loaded: bool,
) -> PyResult<Vec<Diagnostic>> {
    let harness = &context.harness;
    let found: Vec<Mistake> = script(context.python)?
        .call_method1(
            "find_mistakes",
            (
                &harness.raw.text,
                line_texts(harness),
                folders(&context.path),
                is_loaded,
            ),
        )?
        .extract()?;
    let diagnostic = |(line, part, name, message, label, help): Mistake| Diagnostic {
        severity: Severity::Error,
        name: match name.as_str() {
            "unknown-attribute" => "unknown-attribute",
            _ => "unawaited-coroutine",
        },
        message,
        range: part_range(text, line, &part),
        label,
        related: None,
        help,
    };
    Ok(found.into_iter().map(diagnostic).collect())
}

/// Returns the folders in which modules under test are looked for.
fn folders(path: &str) -> Vec<PathBuf> {
    let beside = Path::new(path).parent().map(Path::to_path_buf);
    beside.into_iter().chain(std::env::current_dir()).collect()
}

/// Returns the code of all lines that are run while testing.
pub(crate) fn line_texts(harness: &Harness) -> Vec<LineText> {
    let global = || harness.exceptions.iter().map(|class| class.text.clone());
    let actions = harness.actions.iter().map(|action| {
        let code = |fragment: &Fragment| code_text(fragment, &action.axes);
        let guard = action.guard.as_ref().map(code).unwrap_or_default();
        let expected = global().chain(action.expected.clone());
        let expected = expected.chain(action.warnings.clone()).collect();
        let statement = code(&action.statement);
        (action.line, "action", statement, guard, expected)
    });
    let properties = harness.properties.iter().map(|property| {
        let code = code_text(&property.line.code, &property.line.axes);
        let expected = global().chain(property.expected.clone()).collect();
        (
            property.line.line,
            "property",
            code,
            String::new(),
            expected,
        )
    });
    let inits = harness.inits.iter().map(|line| {
        let code = code_text(&line.code, &line.axes);
        (line.line, "init", code, String::new(), Vec::new())
    });
    actions.chain(properties).chain(inits).collect()
}

/// Returns code with a name for each slot, and with the first alternative of each choice.
fn code_text(fragment: &Fragment, axes: &[Axis]) -> String {
    let part = |part: &CodePart| match part {
        CodePart::Text(text) => text.clone(),
        CodePart::Slot { axis, twin, .. } => match axes.get(*axis) {
            Some(Axis::Slot { pool, .. }) if !twin => format!("_tw_pool_{}", pool.0),
            _ => "_tw_twin".to_owned(),
        },
        CodePart::Choice { axis, .. } => match axes.get(*axis) {
            Some(Axis::Choice(choice)) if !choice.is_empty() => choice.text(0).into_owned(),
            _ => "None".to_owned(),
        },
        CodePart::Pre(_) => "None".to_owned(),
    };
    fragment.parts.iter().map(part).collect()
}

/// Returns the range of a part of a line; of the whole line if it does not contain it as written.
fn part_range(text: &str, line: usize, part: &str) -> Range<usize> {
    let whole = line_range(text, line);
    let rest = text.get(whole.start..).unwrap_or_default();
    let is_letter = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
    };
    let found = rest.match_indices(part).find(|(start, part)| {
        let (before, after) = (&rest[..*start], &rest[start + part.len()..]);
        !is_letter(before.chars().next_back()) && !is_letter(after.chars().next())
    });
    match found {
        Some((start, part)) => whole.start + start..whole.start + start + part.len(),
        None => whole,
    }
}
