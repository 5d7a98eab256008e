//! `testwright compile`: write the module that scripts for TSTL import.

use std::path::{Path, PathBuf};

use testwright_core::Error;

use crate::console::Console;
use crate::files::{Destination, Place};
use crate::{ExitStatus, Trouble, load};

/// Write a Python module with the harness as a class, for scripts written for TSTL
///
/// Such scripts begin with `import sut` and go on with `sut.sut()`. In code of your own,
/// `testwright.load("stack.tstl")` does the same without a file.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright compile stack.tstl                   writes sut.py
  testwright compile stack.tstl -o stack_sut.py"
)]
pub(crate) struct Compile {
    /// The harness
    harness: PathBuf,

    /// Where to write the module
    #[arg(long, short, value_name = "FILE", default_value = "sut.py")]
    output: PathBuf,

    /// The name of the class
    #[arg(long, short, value_name = "NAME", default_value = "sut")]
    class: String,

    /// Do not measure coverage
    #[arg(long)]
    no_coverage: bool,

    /// Do not execute the imported modules again for each test
    #[arg(long)]
    no_reset: bool,

    /// Go back to a state by running the test that led there
    #[arg(long)]
    replay: bool,
}

impl Compile {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        let to_keep = [(self.harness.as_path(), "the harness")];
        let destination = Destination::prepare(&self.output, &to_keep)?;
        if !is_name(&self.class) {
            let message = format!("`{}` is no name for a class", self.class);
            return Err(Error::new(message).into());
        }
        let (file, _) = load::harness(console, &self.harness)?;
        let text = |path: &str| self.module(path);
        match destination {
            Destination::File(place) => {
                place.write(&text(&path_from(&place, &file.path)?))?;
                console.say(format_args!("Written to {}", place.shown().display()));
            }
            Destination::StandardOutput => {
                let place = Place::new(Path::new("sut.py"))?;
                console.say(text(&path_from(&place, &file.path)?).trim_end());
            }
        }
        Ok(ExitStatus::NothingFound)
    }

    fn module(&self, path: &str) -> String {
        let truth = |is_true: bool| if is_true { "True" } else { "False" };
        let class = &self.class;
        format!(
            r#""""The harness as a class, for scripts that import it. Written by `testwright compile`."""

import os

import testwright

HARNESS = os.path.join(os.path.dirname(os.path.abspath(__file__)), {path})


class {class}(testwright.Sut):
    def __new__(cls):
        return super().__new__(
            cls,
            HARNESS,
            coverage={coverage},
            reset_modules={reset},
            replay={replay},
        )
"#,
            path = python_text(path),
            coverage = truth(!self.no_coverage),
            reset = truth(!self.no_reset),
            replay = truth(self.replay),
        )
    }
}

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters
        .next()
        .is_some_and(|first| first.is_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// The way from the folder of one file to another one.
fn path_from(place: &Place, file: &Path) -> Result<String, Error> {
    let file = Place::new(file)?;
    let folder = place.absolute().parent().unwrap_or(Path::new("/"));
    let mut from: Vec<_> = folder.components().collect();
    let mut to: Vec<_> = file.absolute().components().collect();
    let common = from.iter().zip(&to).take_while(|(one, other)| one == other);
    let common = common.count();
    from.drain(..common);
    to.drain(..common);
    let up = from.iter().map(|_| "..".to_owned());
    let down = to
        .iter()
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    Ok(up.chain(down).collect::<Vec<_>>().join("/"))
}

/// A text as Python writes it.
fn python_text(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}
