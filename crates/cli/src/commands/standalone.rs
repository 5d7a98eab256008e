//! `testwright standalone`: write a saved test as a Python file.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use testwright_core::{Error, Failure};
use testwright_python::{
    OutputMode, PythonSystem, StandaloneFile, StandaloneStyle, StandaloneTarget,
};

use crate::console::Console;
use crate::files::{Destination, UserPath};
use crate::guard::{report_crash, run_guarded};
use crate::target::Target;
use crate::test_source::TestSetup;
use crate::unit_test::{self, UnitTestDraft, UnitTestForm};
use crate::{CommandError, ExitStatus, load};

/// Write a test as a Python file that needs neither Testwright nor the harness
///
/// The file has real variable names, and only the imports and helper functions that the test needs. It
/// fails for the same reason as the test. Without `--out`, it goes to standard output.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright standalone failure-1.test
  testwright standalone failure-1.test --out tests/test_pop_on_empty.py
  testwright standalone failure-1.test --style script | python3 -

Exit status: 0 done, 2 could not do what was asked."
)]
pub(crate) struct StandaloneCommand {
    /// Saved test
    test: PathBuf,

    /// Kind of file to write
    #[arg(long, value_enum, default_value = "pytest")]
    style: FileStyle,

    /// File to write to, `-` for standard output [default: -]
    #[arg(long, alias = "output", short_alias = 'o', value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    setup: TestSetup,
}

/// Values of `--style`.
#[derive(Clone, Copy, ValueEnum)]
enum FileStyle {
    /// a function `test_NAME` with plain asserts
    Pytest,
    /// a `unittest.TestCase`
    Unittest,
    /// a script that ends with an exception if the test fails
    Script,
}

impl From<FileStyle> for StandaloneStyle {
    fn from(style: FileStyle) -> StandaloneStyle {
        match style {
            FileStyle::Pytest => StandaloneStyle::Pytest,
            FileStyle::Unittest => StandaloneStyle::Unittest,
            FileStyle::Script => StandaloneStyle::Script,
        }
    }
}

impl StandaloneCommand {
    /// Runs the command. If the test ends the process, the file asserts that crash.
    pub(crate) fn run(mut self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let source = self.setup.restore(std::slice::from_ref(&self.test))?;
        let options = self.setup.system.options(OutputMode::Drop);
        let harness = source.harness(
            "standalone",
            "`testwright model test` writes runs of models as pytest files",
        )?;
        let destination = self.destination(&harness)?;
        let path = destination.file();
        let name = test_name(path.map_or(&self.test, UserPath::shown));
        let file = path.map(UserPath::absolute);
        let print = |console: &mut Console<'_>, text: String| {
            match path {
                Some(path) => {
                    path.write(&text)?;
                    console.out(format_args!("Written to {}", path.shown().display()));
                }
                None => console.out(text.trim_end()),
            }
            Ok(ExitStatus::NothingFound)
        };
        // Without a file of its own, it names all folders by their full path.
        let trial_file = std::env::temp_dir().join("test_saved.py");
        let target = StandaloneTarget {
            style: self.style.into(),
            name: &name,
            file,
            check: self.setup.check(),
        };
        let confirmed = |system: &PythonSystem<'_>,
                         forms: Vec<StandaloneFile>,
                         failure: Option<&Failure>,
                         limit: Option<Duration>| {
            let draft = UnitTestDraft {
                forms: forms.into_iter().map(UnitTestForm::Steps).collect(),
                limit,
                process_context: system.process_context(),
            };
            draft.confirmed(self.style.into(), failure, file.unwrap_or(&trial_file))
        };
        // The test is run to find out what to assert, and may end the process.
        let crash = RefCell::new(None);
        let ended = |console: &mut Console<'_>, note: &str, failure: &Failure| {
            if note.trim().is_empty() {
                report_crash(console, note, failure)?;
            } else {
                crash.replace(Some(failure.clone()));
            }
            Ok(ExitStatus::Error)
        };
        let status = run_guarded(
            console,
            Some(self.setup.system.step_timeout),
            ended,
            |console, note| {
                let work = |console: &mut Console<'_>, system: &mut PythonSystem<'_>, test| {
                    note.write("while the test ran");
                    let (forms, failure) = system.standalone(&test, &target)?;
                    note.write_own_work();
                    print(console, confirmed(system, forms, failure.as_ref(), None)?)
                };
                load::with_test(console, &harness, &self.test, &options, work)
            },
        )?;
        let Some(failure) = crash.into_inner() else {
            return Ok(status);
        };
        let limit = unit_test::limit_in_file(self.setup.system.step_timeout);
        let work = |console: &mut Console<'_>, system: &mut PythonSystem<'_>, test| {
            let forms = system.standalone_of_crash(&test, &failure, &target, limit)?;
            print(
                console,
                confirmed(system, forms, Some(&failure), Some(limit))?,
            )
        };
        load::with_test(console, &harness, &self.test, &options, work)
    }

    /// Returns the output file, which must not be the harness or the test.
    fn destination(&self, harness: &Path) -> Result<Destination, Error> {
        match &self.out {
            None => Ok(Destination::StandardOutput),
            Some(path) => {
                Destination::prepare(path, &[(harness, "the harness"), (&self.test, "the test")])
            }
        }
    }
}

/// Returns the name of the test in the file: `failure_1` for `failure-1.test` and for
/// `test_failure_1.py`.
fn test_name(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    let stem = stem.strip_prefix("test_").unwrap_or(stem);
    let identifier: String = stem
        .chars()
        .map(|letter| {
            if letter.is_alphanumeric() {
                letter
            } else {
                '_'
            }
        })
        .collect();
    if identifier.is_empty() {
        "saved_test".to_owned()
    } else {
        identifier
    }
}
