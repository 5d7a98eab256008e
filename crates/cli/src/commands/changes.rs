//! `testwright changes`: changes of behavior that generated tests notice.

use std::fs;
use std::path::PathBuf;

use testwright_capture::inspect::{FileFilter, PythonProject};
use testwright_capture::merge::{MarkedTest, find_marked_tests};
use testwright_capture::validate::{PythonRunner, TestVerdict};
use testwright_core::{Error, describe_os_error};

use super::generate::{default_style, executable, import_path};
use crate::console::Console;
use crate::project::current_folder;
use crate::{CommandError, ExitStatus, quantity};

/// Run the generated tests, and show what the program does differently now
///
/// Each generated test that fails is a change of behavior. If the change is intended, record the program again
/// and accept it with `testwright generate --force`. If it is not, it is a bug. If it does not matter, delete
/// the test.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright changes                   what did my change alter?
  testwright generate --force --diff   after recording again: what would be accepted

Exit status: 0 no change found, 1 something has changed, 2 no test gave an answer, or could not do
what was asked."
)]
pub(crate) struct ChangesCommand {
    /// Python interpreter that runs the tests [default: the one that runs this command]
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
}

impl ChangesCommand {
    /// Runs the command.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let root = current_folder()?;
        let project = PythonProject::read(&root, &FileFilter::default());
        let files = generated_tests(&project)?;
        let executable = executable(self.python.as_ref());
        let runner = PythonRunner {
            style: default_style(&executable)?,
            executable,
            path: import_path(&root, &[]),
            modules: Vec::new(),
        };
        console.status(|| "running generated tests …".to_owned());
        let paths = files.iter().map(|(path, _)| root.join(path)).collect();
        let verdicts = runner.run_in_place(&root, paths).map_err(|error| {
            Error::new(format!(
                "the tests cannot be run: {}",
                describe_os_error(&error.0)
            ))
        })?;
        console.clear_status();
        let (mut same, mut changed, mut unanswered) = (0, 0, Vec::new());
        for (path, tests) in &files {
            for test in tests {
                let key = format!("{path}::{}", test.name.replace('.', "::"));
                match verdicts.get(&key).or_else(|| verdicts.get(path)) {
                    Some(TestVerdict::Failed(message)) => {
                        changed += 1;
                        console.out(format!("{path}: {}", test.name));
                        console.out(format!("  {message}"));
                    }
                    Some(TestVerdict::Passed | TestVerdict::Leaked(_)) => same += 1,
                    Some(TestVerdict::Skipped) => {
                        unanswered.push(format!("{path}: {} was skipped", test.name));
                    }
                    None => unanswered.push(format!("{path}: {} did not run", test.name)),
                }
            }
        }
        unanswered.iter().for_each(|line| console.out(line));
        let total = quantity::format_count(same + changed, "generated test");
        let open = match unanswered.len() as u64 {
            0 => String::new(),
            number => format!(
                "; {} gave no answer",
                quantity::format_count(number, "test")
            ),
        };
        if changed > 0 {
            console.out(format!("{changed} of {total} found a change{open}"));
            console.err("if it was meant: record again, then `testwright generate --force`");
            return Ok(ExitStatus::FailureFound);
        }
        if same == 0 {
            let error = Error::new("no generated test gave an answer, so a change is not known");
            let help = "run the tests themselves to see why they are skipped or not found";
            return Err(error.with_help(help).into());
        }
        console.out(if unanswered.is_empty() {
            format!("nothing has changed: {total}")
        } else {
            format!("no change found: {total}{open}")
        });
        Ok(ExitStatus::NothingFound)
    }
}

/// Returns the files with generated tests, by their paths relative to the project. Fails if there
/// are none.
pub(super) fn generated_tests(
    project: &PythonProject,
) -> Result<Vec<(String, Vec<MarkedTest>)>, Error> {
    let mut files = Vec::new();
    for module in &project.modules {
        let bytes = fs::read(project.root.join(&module.path)).unwrap_or_default();
        // A file that is not valid Python is skipped: its author will notice that anyway.
        let found = find_marked_tests(&bytes).unwrap_or_default();
        if !found.is_empty() {
            files.push((module.path.to_string_lossy().into_owned(), found));
        }
    }
    if files.is_empty() {
        let error = Error::new("there are no generated tests in this folder");
        let help =
            "write some first: `testwright capture -- python app.py`, then `testwright generate`";
        return Err(error.with_help(help));
    }
    Ok(files)
}
