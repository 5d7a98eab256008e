//! Tests and failures as people read them.

use std::collections::BTreeSet;
use std::path::Path;

use testwright_core::{ActionId, Catalog, Event, Failure, FailureKind, Step, Test};
use testwright_lang::Harness;

use crate::console::{Console, Look};
use crate::quantity;

/// How many lines of a harness have actions.
pub(crate) fn action_lines(harness: &Harness) -> u64 {
    let lines: BTreeSet<usize> = harness.actions.iter().map(|action| action.line).collect();
    lines.len() as u64
}

/// `134 actions from 8 lines`.
pub(crate) fn actions_from_lines(harness: &Harness) -> String {
    let actions = quantity::of(harness.catalog.len(), "action");
    let lines = quantity::of(action_lines(harness), "line");
    format!("{actions} from {lines}")
}

/// The steps of a test as people read them.
pub(crate) fn step_texts(catalog: &Catalog, test: &Test) -> Vec<String> {
    steps(test, |action| catalog.text(action))
}

/// The steps of a test as they stand in saved tests, where actions with equal texts are told apart.
pub(crate) fn step_labels(catalog: &Catalog, test: &Test) -> Vec<String> {
    steps(test, |action| catalog.label(action))
}

fn steps(test: &Test, text: impl Fn(ActionId) -> String) -> Vec<String> {
    let text = |step: &Step| match step {
        Step::Act(action) => text(*action),
        Step::Restart => "<<RESTART>>".to_owned(),
    };
    test.steps.iter().map(text).collect()
}

/// What happened, a line for each step.
pub(crate) fn events(catalog: &Catalog, events: &[Event]) -> Vec<String> {
    let line = |event: &Event| match event {
        Event::Restarted => "<<RESTART>>".to_owned(),
        Event::Passed(action) | Event::Failed(action, _) => catalog.text(*action),
        Event::Skipped(action) => format!("{}  (skipped)", catalog.text(*action)),
        Event::Expected(action, exception) => {
            format!(
                "{}  (raised {exception}, as expected)",
                catalog.text(*action)
            )
        }
    };
    events.iter().map(line).collect()
}

/// Says the steps of a test, numbered, and what the last one led to.
pub(crate) fn say_test(
    console: &mut Console<'_>,
    catalog: &Catalog,
    test: &Test,
    failure: &Failure,
) {
    say_steps(console, catalog, test, 1);
    let width = test.len().to_string().len();
    say_failure(console, failure, 4 + width);
}

/// Says the steps of a test, numbered from `first`.
pub(crate) fn say_steps(console: &mut Console<'_>, catalog: &Catalog, test: &Test, first: usize) {
    let width = (first + test.len() - 1).to_string().len();
    for (index, text) in step_texts(catalog, test).into_iter().enumerate() {
        let number = console.paint(Look::Quiet, format_args!("{:>width$}", index + first));
        console.say(format_args!("  {number}  {text}"));
    }
}

/// Says why a test failed, `indent` characters from the left.
pub(crate) fn say_failure(console: &mut Console<'_>, failure: &Failure, indent: usize) {
    let message = console.paint(
        Look::Bad,
        format_args!("{}: {}", in_words(failure.kind), failure.message),
    );
    console.say(format_args!("{:indent$}{message}", ""));
    for line in failure.details.lines() {
        let line = console.paint(Look::Quiet, line);
        console.say(format_args!("{:indent$}{line}", ""));
    }
}

/// The kind of a failure for a person who has not read the manual.
pub(crate) fn in_words(kind: FailureKind) -> &'static str {
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

/// A path the way it is typed into a shell.
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
