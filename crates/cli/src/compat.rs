//! `testwright compat`: the command lines of TSTL and of PyModel.
//!
//! Each tool is a file in `compat/`: its options, spelled as its ancestor spells them, and their
//! translation to calls of the other crates. The tools print the lines and write the files that
//! scripts for the ancestors read, and end with their exit statuses. No algorithm lives here.

use std::ffi::OsString;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory};
use testwright_core::Failure;

use crate::commands::parse_probability;
use crate::console::Console;
use crate::guard::{report_crash, run_guarded};
use crate::{CommandError, ExitStatus};

mod compiler;
mod covered_code;
mod generalizer;
mod goals;
mod invocation;
mod markov;
mod pymodel;
mod random_tester;
mod reducer;
mod regression;
mod replayer;
mod smallcheck;
mod standalone;
mod test_file;
mod triage;
mod tstl_text;

use invocation::Invocation;

/// Run a tool of TSTL or PyModel by its own name and options, for scripts written for them
///
/// The tools of TSTL are tstl, tstl_rt, tstl_replay, tstl_reduce, tstl_regress, tstl_standalone,
/// tstl_smallcheck, tstl_generalize, tstl_markov and tstl_triage. All but the first look for `sut.py`, which
/// the first writes, in the current folder. Those of PyModel are pma, pmt, pmg, pmv, trun and tdiff; they take
/// names of modules in the current folder. With an alias for each tool, scripts still work.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright compat tstl stack.tstl
  testwright compat tstl_rt --timeout 30 --output failure.test
  testwright compat tstl_rt --help
  alias tstl_rt='testwright compat tstl_rt'
  testwright compat pmt -n 10 -s 1 Stack -i Stepper

Exit status, as with TSTL: 0 no failure, 255 a failure was found, 1 could not do what was asked, 2 wrong arguments;
as with PyModel: 0 also if runs fail."
)]
pub(crate) struct Compat {
    #[command(subcommand)]
    call: ToolCall,
}

/// A tool and its arguments as they were typed.
#[derive(clap::Subcommand)]
enum ToolCall {
    #[command(external_subcommand)]
    All(Vec<OsString>),
}

/// A tool of TSTL or PyModel, with the options that its ancestor has.
trait Tool: clap::Parser {
    /// The options, by the names of their fields, that are accepted and change nothing, with the
    /// reasons.
    const WITHOUT_EFFECT: &'static [(&'static str, &'static str)] = &[];

    /// Runs the tool.
    fn run(
        self,
        console: &mut Console<'_>,
        invocation: &Invocation,
    ) -> Result<ToolOutcome, CommandError>;
}

/// The outcome of a tool, which determines its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToolOutcome {
    /// No failure was found.
    Passed,
    /// A failure of the system under test was found.
    Failure,
}

/// An entry of the list of tools: its command line and its function.
type ToolEntry = (
    fn() -> clap::Command,
    fn(&mut Console<'_>, &ArgMatches, String) -> Result<ToolOutcome, CommandError>,
);

/// All tools.
const TOOLS: [ToolEntry; 16] = [
    entry::<compiler::Compiler>(),
    entry::<random_tester::RandomTester>(),
    entry::<replayer::Replayer>(),
    entry::<reducer::ReducerTool>(),
    entry::<regression::Regression>(),
    entry::<standalone::Standalone>(),
    entry::<smallcheck::Smallcheck>(),
    entry::<generalizer::GeneralizerTool>(),
    entry::<markov::MarkovTool>(),
    entry::<triage::Triage>(),
    entry::<pymodel::Analyzer>(),
    entry::<pymodel::Tester>(),
    entry::<pymodel::Grapher>(),
    entry::<pymodel::Viewer>(),
    entry::<pymodel::CaseRunner>(),
    entry::<pymodel::Comparer>(),
];

/// Returns the entry of a tool.
const fn entry<T: Tool + CommandFactory>() -> ToolEntry {
    (T::command, run_tool::<T>)
}

impl Compat {
    /// Runs the tool that was named, in a copy of this process.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let ToolCall::All(words) = self.call;
        let mut command = clap::Command::new("testwright compat")
            .subcommand_required(true)
            .disable_help_subcommand(true)
            .color(console.colour_choice());
        for (tool, _) in TOOLS {
            command = command.subcommand(as_argparse(tool()));
        }
        let typed: Vec<String> = words
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let words: Vec<OsString> = std::iter::once(OsString::from("testwright compat"))
            .chain(words)
            .collect();
        let matches = match command.try_get_matches_from_mut(&words) {
            Ok(matches) => matches,
            Err(message) if message.kind() == ErrorKind::InvalidSubcommand => {
                return Err(crate::commands::unknown_command(&command, &words[1..]).into());
            }
            Err(message) => return Ok(crate::print_clap_message(&message, console)),
        };
        let Some((name, matches)) = matches.subcommand() else {
            return Ok(ExitStatus::Error);
        };
        let crashed = |console: &mut Console<'_>, note: &str, failure: &Failure| {
            report_crash(console, note, failure)?;
            Ok(ExitStatus::Program(1))
        };
        run_guarded(console, None, crashed, |console, note| {
            note.write(&format!("While `{name}` ran"));
            let outcome = TOOLS
                .iter()
                .find(|(tool, _)| tool().get_name() == name)
                .map_or(Ok(ToolOutcome::Passed), |(_, run_tool)| {
                    run_tool(console, matches, typed.join(" "))
                });
            Ok(ExitStatus::Program(match outcome {
                Ok(ToolOutcome::Passed) => 0,
                Ok(ToolOutcome::Failure) => 255,
                Err(error) => {
                    error.report(console);
                    1
                }
            }))
        })
    }
}

/// Gives a command line the habits of Python's argparse, which reads the arguments of TSTL's tools:
/// long options may be abbreviated, and the last of repeated options counts.
fn as_argparse(tool: clap::Command) -> clap::Command {
    tool.infer_long_args(true)
        .args_override_self(true)
        .disable_version_flag(true)
}

/// Runs a tool with parsed arguments; `line` is the command line as it was typed.
fn run_tool<T: Tool>(
    console: &mut Console<'_>,
    matches: &ArgMatches,
    line: String,
) -> Result<ToolOutcome, CommandError> {
    let invocation = Invocation::new(&T::command(), matches, line);
    match T::from_arg_matches(matches) {
        Ok(tool) => {
            invocation.explain(console, T::WITHOUT_EFFECT);
            tool.run(console, &invocation)
        }
        // Wrong arguments were noticed before.
        Err(message) => {
            crate::print_clap_message(&message, console);
            Err(CommandError::Reported)
        }
    }
}

/// Parses a number of seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let number: Option<f64> = text.parse().ok();
    number
        .and_then(|number| Duration::try_from_secs_f64(number).ok())
        .ok_or_else(|| "must be a number of seconds, from 0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_are_in_order_and_explain_only_options_that_they_have() {
        for (tool, _) in TOOLS {
            as_argparse(tool()).debug_assert();
        }
        fn check<T: Tool>() {
            let command = T::command();
            for (id, _) in T::WITHOUT_EFFECT {
                let found = command.get_arguments().any(|known| known.get_id() == id);
                assert!(found, "{} has no {id}", command.get_name());
            }
        }
        check::<compiler::Compiler>();
        check::<random_tester::RandomTester>();
        check::<replayer::Replayer>();
        check::<reducer::ReducerTool>();
        check::<regression::Regression>();
        check::<standalone::Standalone>();
        check::<smallcheck::Smallcheck>();
        check::<generalizer::GeneralizerTool>();
        check::<markov::MarkovTool>();
        check::<triage::Triage>();
        check::<pymodel::Analyzer>();
        check::<pymodel::Tester>();
        check::<pymodel::Grapher>();
        check::<pymodel::Viewer>();
    }
}
