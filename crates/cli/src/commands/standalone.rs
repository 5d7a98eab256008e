//! `testwright standalone`: write a saved test as a Python file.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use testwright_core::{Error, Failure};
use testwright_python::{Output, PythonSystem, Style};

use super::SystemArguments;
use crate::belonging::HarnessArgument;
use crate::console::Console;
use crate::files::{Destination, Place};
use crate::guard::{guarded, tell_crash};
use crate::{ExitStatus, Trouble, load};

/// Write a test as a Python file that needs neither Testwright nor the harness
///
/// The file has real variable names, and only the imports and helper functions that the test needs. It
/// fails for the same reason as the test. Without `-o` it goes to standard output.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright standalone failure-1.test
  testwright standalone failure-1.test -o tests/test_pop_on_empty.py
  testwright standalone failure-1.test --style script | python3 -"
)]
pub(crate) struct Standalone {
    /// The test
    test: PathBuf,

    #[command(flatten)]
    harness: HarnessArgument,

    /// What kind of file
    #[arg(long, value_enum, default_value = "pytest")]
    style: Kind,

    /// Where to write it, `-` for standard output [default: -]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    system: SystemArguments,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// a function `test_NAME` with plain asserts
    Pytest,
    /// a `unittest.TestCase`
    Unittest,
    /// a script that ends with an exception if the test fails
    Script,
}

impl From<Kind> for Style {
    fn from(kind: Kind) -> Style {
        match kind {
            Kind::Pytest => Style::Pytest,
            Kind::Unittest => Style::Unittest,
            Kind::Script => Style::Script,
        }
    }
}

impl Standalone {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        let options = self.system.options(Output::Drop);
        let source = self.harness.of(std::slice::from_ref(&self.test))?;
        let harness = source.harness(
            "standalone",
            "`testwright model test` writes runs of models as pytest files",
        )?;
        let destination = self.destination(&harness)?;
        let place = destination.file();
        let name = test_name(place.map_or(&self.test, Place::shown));
        let file = place.map(Place::absolute);
        let say = |console: &mut Console<'_>, text: String| {
            match place {
                Some(place) => {
                    place.write(&text)?;
                    console.say(format_args!("Written to {}", place.shown().display()));
                }
                None => console.say(text.trim_end()),
            }
            Ok(ExitStatus::NothingFound)
        };
        // The test is run to see what is to be asserted, and may end the process.
        let fatal = RefCell::new(None);
        let ended = |console: &mut Console<'_>, note: &str, failure: &Failure| {
            if note.is_empty() {
                tell_crash(console, note, failure)?;
            } else {
                fatal.replace(Some(failure.clone()));
            }
            Ok(ExitStatus::CouldNot)
        };
        let status = guarded(console, None, ended, |console, note| {
            let work = |console: &mut Console<'_>, system: &mut PythonSystem<'_>, test| {
                note.write("while the test ran");
                let text = system.standalone(&test, self.style.into(), &name, file)?;
                say(console, text)
            };
            load::with_test(console, &harness, &self.test, &options, work)
        })?;
        let Some(failure) = fatal.into_inner() else {
            return Ok(status);
        };
        let work = |console: &mut Console<'_>, system: &mut PythonSystem<'_>, test| {
            let style = self.style.into();
            let text = system.standalone_of_crash(&test, &failure, style, &name, file)?;
            say(console, text)
        };
        load::with_test(console, &harness, &self.test, &options, work)
    }

    fn destination(&self, harness: &Path) -> Result<Destination, Error> {
        match &self.output {
            None => Ok(Destination::StandardOutput),
            Some(path) => {
                Destination::prepare(path, &[(harness, "the harness"), (&self.test, "the test")])
            }
        }
    }
}

/// The name of the test in the file: `failure_1` for `failure-1.test`, and for `test_failure_1.py`.
fn test_name(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    let stem = stem.strip_prefix("test_").unwrap_or(stem);
    let word: String = stem
        .chars()
        .map(|letter| {
            if letter.is_alphanumeric() {
                letter
            } else {
                '_'
            }
        })
        .collect();
    if word.is_empty() {
        "saved_test".to_owned()
    } else {
        word
    }
}
