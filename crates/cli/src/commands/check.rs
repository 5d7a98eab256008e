//! `testwright check`: is the harness in order?

use std::path::{Path, PathBuf};

use testwright_lang::{Diagnostic, Harness};

use crate::console::{Console, Look};
use crate::files::TextFile;
use crate::load::{has_errors, tell_problems};
use crate::render::tally;
use crate::{ExitStatus, Trouble, quantity, report};

/// Tell whether harnesses are in order, with all problems of all files
///
/// Nothing of the system under test is imported or run. Warnings alone leave the exit status at 0.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright check stack.tstl
  testwright check harnesses/*.tstl"
)]
pub(crate) struct Check {
    /// The harnesses
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl Check {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
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
                status = ExitStatus::CouldNot;
            }
        }
        Ok(status)
    }
}

/// Checks one harness and tells about it; true if it can be used.
fn check(console: &mut Console<'_>, file: &TextFile) -> bool {
    let (harness, mut problems) = testwright_lang::parse(&file.text);
    let complete = !has_errors(&problems);
    problems.extend(ask_python(&file.path, &harness, &file.text, complete));
    problems.sort_by_key(|problem| problem.range.start);
    tell_problems(console, file, &problems);
    if has_errors(&problems) {
        return false;
    }
    let verdict = if problems.is_empty() {
        console.paint(Look::Good, "no problems")
    } else {
        tally(&problems)
    };
    console.say(format_args!("{}: {}, {verdict}", file.name, size(&harness)));
    true
}

fn ask_python(path: &Path, harness: &Harness, text: &str, complete: bool) -> Vec<Diagnostic> {
    testwright_python::attach(|interpreter| {
        testwright_python::check(interpreter, path, text, harness, complete)
    })
}

/// `134 actions from 8 lines, 2 properties`.
fn size(harness: &Harness) -> String {
    format!(
        "{}, {}",
        report::actions_from_lines(harness),
        quantity::of(harness.properties.len() as u64, "property")
    )
}
