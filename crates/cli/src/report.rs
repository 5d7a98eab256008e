//! Renders tests and failures for people.

use std::collections::BTreeSet;
use std::path::Path;

use testwright_core::{ActionId, Catalog, Failure, FailureKind, Step, Test, TraceEvent};
use testwright_lang::Harness;

use crate::console::{Console, TextStyle};
use crate::quantity;

/// Returns the number of lines of a harness that have actions.
pub(crate) fn action_lines(harness: &Harness) -> u64 {
    let lines: BTreeSet<usize> = harness.actions.iter().map(|action| action.line).collect();
    lines.len() as u64
}

/// Renders `134 actions from 8 lines`.
pub(crate) fn actions_from_lines(harness: &Harness) -> String {
    let actions = quantity::format_count(harness.catalog.len(), "action");
    let lines = quantity::format_count(action_lines(harness), "line");
    format!("{actions} from {lines}")
}

/// Renders the steps of a test for people.
pub(crate) fn step_texts(catalog: &Catalog, test: &Test) -> Vec<String> {
    steps(test, |action| catalog.text(action))
}

/// Renders the steps of a test as in saved tests, where actions with equal texts are distinguished.
pub(crate) fn step_labels(catalog: &Catalog, test: &Test) -> Vec<String> {
    steps(test, |action| catalog.label(action))
}

/// Renders the steps of a test.
fn steps(test: &Test, text: impl Fn(ActionId) -> String) -> Vec<String> {
    let text = |step: &Step| match step {
        Step::Act(action) => text(*action),
        Step::Restart => "<<RESTART>>".to_owned(),
    };
    test.steps.iter().map(text).collect()
}

/// Renders the events of a run, a line for each step.
pub(crate) fn event_lines(catalog: &Catalog, events: &[TraceEvent]) -> Vec<String> {
    let line = |event: &TraceEvent| match event {
        TraceEvent::Restarted => "<<RESTART>>".to_owned(),
        TraceEvent::Passed(action) | TraceEvent::Failed(action, _) => catalog.text(*action),
        TraceEvent::Skipped(action) => format!("{}  (skipped)", catalog.text(*action)),
        TraceEvent::Expected(action, exception) => {
            format!(
                "{}  (raised {exception}, as expected)",
                catalog.text(*action)
            )
        }
    };
    events.iter().map(line).collect()
}

/// Prints the numbered steps of a test and its failure.
pub(crate) fn print_test(
    console: &mut Console<'_>,
    catalog: &Catalog,
    test: &Test,
    failure: &Failure,
) {
    print_steps(console, catalog, test, 1);
    let width = test.len().to_string().len();
    print_failure(console, failure, 4 + width);
}

/// Prints the steps of a test, numbered from `first`.
pub(crate) fn print_steps(console: &mut Console<'_>, catalog: &Catalog, test: &Test, first: usize) {
    let width = (first + test.len() - 1).to_string().len();
    for (index, text) in step_texts(catalog, test).into_iter().enumerate() {
        let number = console.paint(TextStyle::Dim, format_args!("{:>width$}", index + first));
        console.out(format_args!("  {number}  {text}"));
    }
}

/// Prints the failure of a test with this indentation.
pub(crate) fn print_failure(console: &mut Console<'_>, failure: &Failure, indent: usize) {
    let message = console.paint(
        TextStyle::Failure,
        format_args!("{}: {}", kind_text(failure.kind), failure.message),
    );
    console.out(format_args!("{:indent$}{message}", ""));
    for line in failure.details.lines() {
        let line = console.paint(TextStyle::Dim, line);
        console.out(format_args!("{:indent$}{line}", ""));
    }
}

/// Returns the kind of a failure in words that need no manual.
pub(crate) fn kind_text(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::UncaughtException => "uncaught exception",
        FailureKind::Property => "property violated",
        FailureKind::PoolType => "wrong type in a pool",
        FailureKind::PostCondition => "post-condition violated",
        FailureKind::ReferenceMismatch => "differs from the reference",
        FailureKind::ExceptionMismatch => "raises unlike the reference",
        FailureKind::Crash => "crash",
        FailureKind::Hang => "hang",
        FailureKind::ModelMismatch => "difference from the model",
    }
}

/// Quotes a path for a shell, if necessary.
pub(crate) fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-./+,:@%=".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_the_shell() {
        let typed = ["a/b-1.test", "naïve.tstl", "my tests/x", "it's", ""]
            .map(|path| shell_word(Path::new(path)));
        assert_eq!(
            typed,
            [
                "a/b-1.test",
                "naïve.tstl",
                "'my tests/x'",
                r"'it'\''s'",
                "''"
            ]
        );
    }
}
