//! `testwright harness`: a first harness, drafted from signatures and recorded calls.

mod target;

use std::path::{Path, PathBuf};

use testwright_capture::draft::{Draft, draft};
use testwright_capture::merge::{FileChange, Transaction};
use testwright_core::Error;

use super::generate::write_error;
use crate::console::Console;
use crate::{CommandError, ExitStatus, quantity};
use target::DraftTarget;

/// Draft a harness for a module from its type hints and recorded calls
///
/// The draft runs at once, and is meant to be edited. It has pools with the recorded values, an action for each
/// public function and method, and the usual exceptions. Recorded calls are written as saved tests. Actions
/// that reach outside of the program, or whose arguments are unknown, are commented out. No code of the module
/// is run.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright harness shop.cart                   for a module or package, with what was recorded of it
  testwright harness                             for all modules that were recorded
  testwright harness shop.cart run.recording     with a recording from elsewhere; several are put together
  testwright harness shop.cart --out first.tstl  into a file of another name

Exit status: 0 drafted, 2 could not do what was asked."
)]
pub(crate) struct HarnessCommand {
    /// Modules, by dotted name or path, and recordings, by path [default: all that was recorded here]
    #[arg(value_name = "MODULE|RECORDING")]
    words: Vec<String>,

    /// File to write the harness to [default: named after the module]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Replace existing files
    #[arg(long)]
    force: bool,
}

impl HarnessCommand {
    /// Runs the command.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let target = DraftTarget::resolve(&self.words, console)?;
        let path = match &self.out {
            Some(path) => path.clone(),
            None => target.default_file(),
        };
        let file = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let file = file.filter(|_| !path.is_dir()).ok_or_else(|| {
            let error = Error::new(format!("`{}` is not the name of a file", path.display()));
            error.with_help("name the harness: `--out first.tstl`")
        })?;
        let drafted = draft(&target.recording, &target.project, &target.modules, &file);
        if drafted.summary.actions + drafted.summary.commented_out == 0 {
            let names = target.modules.join("`, `");
            let error = Error::new(format!("`{names}` has no public functions or classes"));
            return Err(error.with_help("name a module that has some").into());
        }
        self.write(&path, &drafted)?;
        print_summary(console, &path, &drafted);
        let left_over = test_path(&path, drafted.tests.len() + 1);
        if left_over.exists() {
            let message = format!("`{}` is from an earlier draft", left_over.display());
            console.warning(
                &message,
                Some("delete it and those that follow, unless they are of use"),
            );
        }
        Ok(ExitStatus::NothingFound)
    }

    /// Writes the harness and its tests, all or nothing.
    fn write(&self, path: &Path, drafted: &Draft) -> Result<(), Error> {
        let numbered = (1..).zip(&drafted.tests);
        let tests = numbered.map(|(number, text)| (test_path(path, number), text));
        let files = std::iter::once((path.to_owned(), &drafted.text)).chain(tests);
        let mut transaction = Transaction::default();
        for (path, text) in files {
            let before = std::fs::read(&path).ok();
            if before.is_some() && !self.force {
                let error = Error::new(format!(
                    "`{}` already exists; nothing was written",
                    path.display()
                ));
                return Err(error
                    .with_help("replace it with `--force`, or choose another name with `--out`"));
            }
            transaction.changes.push(FileChange {
                path,
                before,
                after: text.clone().into_bytes(),
            });
        }
        transaction.commit().map_err(write_error)
    }
}

/// Returns the path of a saved test beside the harness, by its number.
fn test_path(harness: &Path, number: usize) -> PathBuf {
    let stem = harness
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    harness.with_file_name(format!(
        "{}-recorded-{number}.test",
        stem.unwrap_or_default()
    ))
}

/// Prints what was drafted, and how to try it.
fn print_summary(console: &mut Console<'_>, path: &Path, drafted: &Draft) {
    let summary = &drafted.summary;
    let count = |number: usize, noun: &str| quantity::format_count(number as u64, noun);
    let mut line = format!(
        "{}: {}",
        path.display(),
        count(summary.actions, "action line")
    );
    if summary.commented_out > 0 {
        line.push_str(&format!(
            ", {} more commented out with the reason",
            summary.commented_out
        ));
    }
    console.out(line);
    match summary.calls {
        0 => console.out("no calls were recorded; for a better draft run `testwright capture -- python PROGRAM` first"),
        _ => console.out(format!(
            "{} recorded, {} repeated in {}, {} not repeated",
            count(summary.calls, "call"),
            summary.replayed_calls,
            count(drafted.tests.len(), "saved test"),
            summary.skipped_calls
        )),
    }
    console.out(format!("try it: testwright run {}", path.display()));
}
