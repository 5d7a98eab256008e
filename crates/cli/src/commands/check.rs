//! `testwright check`: problems of harnesses, without running anything.

use std::path::{Path, PathBuf};

use testwright_lang::{Diagnostic, Harness};

use crate::console::{Console, TextStyle};
use crate::files::TextFile;
use crate::load::{has_errors, print_problems};
use crate::render::count_text;
use crate::{CommandError, ExitStatus, quantity, report};

/// Check harnesses, and show all problems of all files
///
/// No code of the system under test is imported or run. Warnings alone leave the exit status at 0.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright check stack.tstl
  testwright check harnesses/*.tstl

Exit status: 0 all harnesses can be used (there may be warnings), 2 one has errors, or cannot be read."
)]
pub(crate) struct CheckCommand {
    /// Harnesses to check
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl CheckCommand {
    /// Runs the command.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let mut status = ExitStatus::NothingFound;
        for path in &self.files {
            let is_usable = match TextFile::read(path) {
                Ok(file) => check(console, &file),
                Err(error) => {
                    console.error(&error);
                    false
                }
            };
            if !is_usable {
                status = ExitStatus::Error;
            }
        }
        Ok(status)
    }
}

/// Checks one harness and prints its problems. Returns true if it can be used.
fn check(console: &mut Console<'_>, file: &TextFile) -> bool {
    let (harness, mut problems) = testwright_lang::parse(&file.text);
    let complete = !has_errors(&problems);
    problems.extend(check_with_python(
        &file.path, &harness, &file.text, complete,
    ));
    problems.sort_by_key(|problem| problem.range.start);
    print_problems(console, file, &problems);
    if has_errors(&problems) {
        return false;
    }
    let verdict = if problems.is_empty() {
        console.paint(TextStyle::Success, "no problems")
    } else {
        count_text(&problems)
    };
    console.out(format_args!(
        "{}: {}, {verdict}",
        file.name,
        size_text(&harness)
    ));
    true
}

/// Returns the problems that only the Python compiler finds.
fn check_with_python(
    path: &Path,
    harness: &Harness,
    text: &str,
    complete: bool,
) -> Vec<Diagnostic> {
    testwright_python::attach(|interpreter| {
        testwright_python::check(interpreter, path, text, harness, complete)
    })
}

/// Formats the size of a harness: `134 actions from 8 lines, 2 properties`.
fn size_text(harness: &Harness) -> String {
    format!(
        "{}, {}",
        report::actions_from_lines(harness),
        quantity::format_count(harness.properties.len() as u64, "property")
    )
}
