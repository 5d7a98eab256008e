//! Runs as a Python module, which can be run and composed like any other list of runs.

use std::fmt::Write;

use testwright_core::product::{Label, NameId, Words};

use crate::module_text::{Stubs, head};

/// The names of the module that are not actions.
const RESERVED: &[&str] = &["actions", "testSuite", "testsuite", "test_suite", "graph"];

/// What stands before the runs. The command by which they were made stands first.
pub fn begin(words: &Words, vocabulary: &[NameId], command: &str) -> String {
    let mut text = head(command);
    let stubs = Stubs::new(words, RESERVED);
    text.push_str("\n# The actions: only their names matter here.\n");
    stubs.write(&mut text, vocabulary);
    let _ = writeln!(
        text,
        "\nactions = {}\n\ntestSuite = [",
        stubs.tuple(vocabulary)
    );
    text
}

/// A run.
pub fn run(words: &Words, steps: &[Label]) -> String {
    let mut text = "  [\n".to_owned();
    for label in steps {
        text.push_str(&step(words, *label));
    }
    text.push_str("  ],\n");
    text
}

/// A step of a run.
pub fn step(words: &Words, label: Label) -> String {
    let stubs = Stubs::new(words, RESERVED);
    format!("    {},\n", stubs.short_step(label))
}

/// What stands between two runs.
pub const BETWEEN: &str = "#\n";

/// What stands after the runs.
pub const END: &str = "]";

/// The whole module.
pub fn write(words: &Words, vocabulary: &[NameId], runs: &[Vec<Label>], command: &str) -> String {
    let runs: Vec<String> = runs.iter().map(|steps| run(words, steps)).collect();
    format!(
        "{}{}{END}",
        begin(words, vocabulary, command),
        runs.join(BETWEEN)
    )
}
