//! The command line: arguments to library calls to text and exit status.
//!
//! [`run`] is the whole program. It serves the `testwright` command, `python -m testwright` and the tests alike,
//! for it is given everything it needs from the world. Only this crate prints or reads the environment, and each
//! command is a short file in `commands/`: its arguments with their help, and what it does with them.
//!
//! Results go to standard output; progress, problems and errors to standard error.

use std::ffi::OsString;
use std::io::Write;
use std::panic::AssertUnwindSafe;
use std::path::Path;

use clap::{CommandFactory, FromArgMatches};
use testwright_lang::Diagnostic;

mod alone;
mod belonging;
mod catch;
mod columns;
mod commands;
mod compat;
mod compiled;
mod console;
mod coverage;
mod duration;
mod events;
mod explaining;
mod files;
mod guard;
mod load;
mod models;
mod pictures;
mod project;
mod pulse;
mod quantity;
mod reducing;
mod render;
mod report;
mod size;
mod view;
mod workers;

pub use console::{Screen, Size, Terminal};
pub use coverage::{coverage_report, now};

use commands::Arguments;
use console::Console;

/// The version of Testwright.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Problems with a harness as the command shows them, for those who have no terminal to show them in.
pub fn rendered(path: &Path, text: &str, problems: &[Diagnostic]) -> String {
    let file = files::TextFile {
        path: path.to_path_buf(),
        name: path.display().to_string(),
        text: text.to_owned(),
    };
    let renderer = render::Renderer::new(100, false);
    let mut words = render::tally(problems);
    for problem in problems {
        words = format!("{words}\n\n{}", renderer.diagnostic(&file, problem));
    }
    words
}

/// What the whole command came to. Scripts rely on these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitStatus {
    /// 0: the command did what was asked, and no test failed.
    NothingFound,
    /// 1: a test failed.
    FailureFound,
    /// 2: the command could not do what was asked: bad arguments, a harness with errors, an unwritable folder.
    CouldNot,
    /// The exit status of the program that the command ran for somebody.
    OfProgram(u8),
}

impl ExitStatus {
    /// The number for the operating system.
    pub fn code(self) -> u8 {
        match self {
            ExitStatus::NothingFound => 0,
            ExitStatus::FailureFound => 1,
            ExitStatus::CouldNot => 2,
            ExitStatus::OfProgram(status) => status,
        }
    }
}

/// Why a command ends before its work is done.
enum Trouble {
    /// The reason has been told already, for instance as diagnostics.
    Told,
    /// Ctrl-C was pressed before the work began.
    Interrupted,
    /// The reason is still to be told.
    Error(testwright_core::Error),
}

impl Trouble {
    /// Tells the reason, if that is still to be done.
    fn tell(&self, console: &mut Console<'_>) {
        match self {
            Trouble::Told => {}
            Trouble::Interrupted => console.tell("interrupted"),
            Trouble::Error(error) => console.error(error),
        }
    }
}

impl From<testwright_core::Error> for Trouble {
    fn from(error: testwright_core::Error) -> Trouble {
        Trouble::Error(error)
    }
}

/// Runs the program with these arguments (its own name not among them).
///
/// `out` and `err` must not be affected by what the system under test does to descriptors 1 and 2: pass
/// duplicates of them.
pub fn run(
    arguments: Vec<OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
    terminal: Terminal<'_>,
) -> ExitStatus {
    let mut console = Console::new(out, err, terminal);
    let ran = catch::panics(AssertUnwindSafe(|| obey(arguments, &mut console)));
    let status = match ran {
        Ok(Ok(status)) => status,
        Ok(Err(trouble)) => {
            trouble.tell(&mut console);
            ExitStatus::CouldNot
        }
        Err(error) => {
            console.error(&error);
            ExitStatus::CouldNot
        }
    };
    console.finish(status)
}

fn obey(arguments: Vec<OsString>, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
    let command = Arguments::command().color(console.colour_choice());
    let words = std::iter::once(OsString::from("testwright")).chain(arguments.iter().cloned());
    let parsed = command
        .try_get_matches_from(words)
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    match parsed {
        Ok(parsed) => parsed.command.run(console, &arguments),
        Err(answer) => Ok(tell(&answer, console)),
    }
}

/// Tells what clap has to say: help and version are results, anything else is an error.
fn tell(answer: &clap::Error, console: &mut Console<'_>) -> ExitStatus {
    if answer.use_stderr() {
        let text = answer.render();
        let text = if console.colour_err() {
            text.ansi().to_string()
        } else {
            text.to_string()
        };
        console.tell(text.trim_end());
        ExitStatus::CouldNot
    } else {
        let text = answer.render();
        let text = if console.colour_out() {
            text.ansi().to_string()
        } else {
            text.to_string()
        };
        console.say(text.trim_end());
        ExitStatus::NothingFound
    }
}
