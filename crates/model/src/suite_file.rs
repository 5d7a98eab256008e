//! Runs as Python modules.
//!
//! The module that is written can be run and composed like a hand-written suite. Its parts can also
//! be written one at a time while runs are still being made: [`write_header`], then [`write_run`]
//! for each run with [`SEPARATOR`] in between, then [`END`]. Its format is that of PyModel's test
//! suites.

use std::fmt::Write;

use testwright_core::product::{Interner, NameId, StepLabel};

use crate::module_text::{Stubs, header_comment};

/// Names that the module uses for itself. An action of the same name gets another one there.
const RESERVED: &[&str] = &["actions", "testSuite", "testsuite", "test_suite", "graph"];

/// Writes the module up to its first run. `command`, the command line that made the runs, stands in
/// a comment on top.
pub fn write_header(interner: &Interner, vocabulary: &[NameId], command: &str) -> String {
    let mut text = header_comment(command);
    let stubs = Stubs::new(interner, RESERVED);
    text.push_str("\n# The actions: only their names matter here.\n");
    stubs.write(&mut text, vocabulary);
    let _ = writeln!(
        text,
        "\nactions = {}\n\ntestSuite = [",
        stubs.tuple(vocabulary)
    );
    text
}

/// Writes one run as a list of steps.
pub fn write_run(interner: &Interner, steps: &[StepLabel]) -> String {
    let mut text = "  [\n".to_owned();
    for label in steps {
        text.push_str(&write_step(interner, *label));
    }
    text.push_str("  ],\n");
    text
}

/// Writes one step of a run.
pub fn write_step(interner: &Interner, label: StepLabel) -> String {
    let stubs = Stubs::new(interner, RESERVED);
    format!("    {},\n", stubs.short_step(label))
}

/// Separator between two runs.
pub const SEPARATOR: &str = "#\n";

/// Text after the last run.
pub const END: &str = "]";

/// Writes a whole module.
pub fn write(
    interner: &Interner,
    vocabulary: &[NameId],
    runs: &[Vec<StepLabel>],
    command: &str,
) -> String {
    let runs: Vec<String> = runs
        .iter()
        .map(|steps| write_run(interner, steps))
        .collect();
    format!(
        "{}{}{END}",
        write_header(interner, vocabulary, command),
        runs.join(SEPARATOR)
    )
}
