//! The command line: parses arguments, calls the libraries, prints text and returns an exit status.
//!
//! [`run`] is the whole program. The `testwright` command, `python -m testwright` and the tests all
//! call it and pass in the streams and the terminal. Only this crate prints or reads the
//! environment. Each command is a short file in `commands/` that defines its arguments, its help
//! and its work.
//!
//! Results go to standard output; progress, problems and errors go to standard error.

use std::ffi::OsString;
use std::io::Write;
use std::panic::AssertUnwindSafe;
use std::path::Path;

use clap::FromArgMatches;
use clap::error::{ContextKind, ErrorKind};
use testwright_lang::Diagnostic;

mod columns;
mod commands;
mod compat;
mod compiled;
mod console;
mod coverage;
mod duration;
mod events;
mod explanation;
mod files;
mod guard;
mod load;
mod models;
mod panics;
mod pictures;
mod project;
mod quantity;
mod quick_culprits;
mod reduction;
mod render;
mod report;
mod size;
mod source;
mod subprocess;
mod target;
mod test_source;
mod throttle;
mod unit_test;
mod verdict_text;
mod view;
mod workers;

pub use console::{Screen, Size, Terminal};
pub use coverage::{coverage_report, now};

use commands::Cli;
use console::Console;

/// The version of Testwright.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Renders the problems of a harness as the command shows them, for callers without a terminal.
pub fn render_diagnostics(path: &Path, text: &str, problems: &[Diagnostic]) -> String {
    let file = files::TextFile {
        path: path.to_path_buf(),
        name: path.display().to_string(),
        text: text.to_owned(),
    };
    let renderer = render::Renderer::new(100, false);
    let mut words = render::count_text(problems);
    for problem in problems {
        words = format!("{words}\n\n{}", renderer.diagnostic(&file, problem));
    }
    words
}

/// The result of the whole command. Scripts rely on these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitStatus {
    /// 0: the command did its work, and no test failed.
    NothingFound,
    /// 1: a test failed.
    FailureFound,
    /// 2: the command could not do its work: bad arguments, a harness with errors, an unwritable
    /// folder.
    Error,
    /// The exit status of another program that the command ran.
    Program(u8),
}

impl ExitStatus {
    /// Returns the number for the operating system.
    pub fn code(self) -> u8 {
        match self {
            ExitStatus::NothingFound => 0,
            ExitStatus::FailureFound => 1,
            ExitStatus::Error => 2,
            ExitStatus::Program(status) => status,
        }
    }
}

/// The reason why a command ends before its work is done.
enum CommandError {
    /// The reason was printed already, for instance as diagnostics.
    Reported,
    /// Ctrl-C was pressed before the work began.
    Interrupted,
    /// The reason is still to be printed.
    Error(testwright_core::Error),
}

impl CommandError {
    /// Prints the reason, unless it was printed already.
    fn report(&self, console: &mut Console<'_>) {
        match self {
            CommandError::Reported => {}
            CommandError::Interrupted => console.err("interrupted"),
            CommandError::Error(error) => {
                let better = console.find_better_errors();
                if better.is_empty() {
                    console.error(error);
                }
                better.iter().for_each(|error| console.error(error));
            }
        }
    }
}

impl From<testwright_core::Error> for CommandError {
    fn from(error: testwright_core::Error) -> CommandError {
        CommandError::Error(error)
    }
}

/// Runs the program with these arguments, which do not include the program's own name.
///
/// `out` and `err` must not be affected when the system under test changes descriptors 1 and 2:
/// pass duplicates of them.
pub fn run(
    arguments: Vec<OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
    terminal: Terminal<'_>,
) -> ExitStatus {
    subprocess::remember_environment();
    let mut console = Console::new(out, err, terminal);
    let ran = panics::catch(AssertUnwindSafe(|| dispatch(arguments, &mut console)));
    let status = match ran {
        Ok(Ok(status)) => status,
        Ok(Err(error)) => {
            error.report(&mut console);
            ExitStatus::Error
        }
        Err(error) => {
            console.error(&error);
            ExitStatus::Error
        }
    };
    console.finish(status)
}

/// Parses the arguments and runs the chosen command.
fn dispatch(
    arguments: Vec<OsString>,
    console: &mut Console<'_>,
) -> Result<ExitStatus, CommandError> {
    let arguments = expand_help(arguments);
    let mut command = Cli::grouped_command().color(console.colour_choice());
    let words = std::iter::once(OsString::from("testwright")).chain(arguments.iter().cloned());
    let parsed = command
        .try_get_matches_from_mut(words)
        .and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(message) if message.kind() == ErrorKind::InvalidSubcommand => {
            return Err(commands::unknown_command(&command, &arguments).into());
        }
        Err(mut message) => {
            // Its advice, "to pass '-t' as a value, use '-- -t'", never helps here.
            if message.kind() == ErrorKind::UnknownArgument
                && message.get(ContextKind::SuggestedArg).is_none()
            {
                message.remove(ContextKind::Suggested);
            }
            return Ok(print_clap_message(&message, console));
        }
    };
    let problems = commands::wrong_files(&command, &matches);
    if !problems.is_empty() {
        problems.iter().for_each(|problem| console.error(problem));
        return Err(CommandError::Reported);
    }
    console.set_error_finder(commands::wrong_models(&command, &matches));
    cli.command.run(console, &arguments)
}

/// Converts `help COMMAND` to `COMMAND --help`.
fn expand_help(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let helps = arguments.iter().take_while(|word| *word == "help").count();
    if helps > 0 {
        arguments.drain(..helps);
        arguments.push("--help".into());
    }
    arguments
}

/// Prints a message of clap: help and version are results, anything else is an error.
fn print_clap_message(message: &clap::Error, console: &mut Console<'_>) -> ExitStatus {
    if message.use_stderr() {
        let text = message.render();
        let text = if console.colour_err() {
            text.ansi().to_string()
        } else {
            text.to_string()
        };
        console.err(text.trim_end());
        ExitStatus::Error
    } else {
        let text = message.render();
        let text = if console.colour_out() {
            text.ansi().to_string()
        } else {
            text.to_string()
        };
        console.out(text.trim_end());
        ExitStatus::NothingFound
    }
}
