//! `testwright compat`: the command lines of TSTL and of PyModel.
//!
//! Each tool is a file in `compat/`: its options, spelled as its ancestor spells them, and how they are said in the words
//! of the crates below. The tools print the lines and write the files that scripts for the ancestors read, and end with
//! their exit statuses. No algorithm lives here.

use std::ffi::OsString;
use std::time::Duration;

use clap::{ArgMatches, CommandFactory};
use testwright_core::Failure;

use crate::commands::probability;
use crate::console::Console;
use crate::guard::{guarded, tell_crash};
use crate::{ExitStatus, Trouble};

mod calling;
mod compiler;
mod generalizer;
mod goals;
mod markov;
mod pymodel;
mod random_tester;
mod reducer;
mod regression;
mod replayer;
mod smallcheck;
mod standalone;
mod tally;
mod test_file;
mod triage;
mod words;

use calling::Calling;

/// Run a tool of TSTL or PyModel by its own name and options, for scripts written for them
///
/// The tools of TSTL are tstl, tstl_rt, tstl_replay, tstl_reduce, tstl_regress, tstl_standalone,
/// tstl_smallcheck, tstl_generalize, tstl_markov and tstl_triage. All but the first look for `sut.py`, which
/// the first writes, in the current folder. Those of PyModel are pma, pmt, pmg, pmv, trun and tdiff; they take
/// names of modules in the current folder. An alias for each, and scripts go on working.
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
    words: Words,
}

/// The tool and its arguments, as they were typed.
#[derive(clap::Subcommand)]
enum Words {
    #[command(external_subcommand)]
    All(Vec<OsString>),
}

/// A tool of TSTL. Its options are those that TSTL has.
trait Tool: clap::Parser {
    /// Options, by the names of their fields, that are accepted and change nothing, and why.
    const WITHOUT_EFFECT: &'static [(&'static str, &'static str)] = &[];

    fn run(self, console: &mut Console<'_>, calling: &Calling) -> Result<Ended, Trouble>;
}

/// What a tool came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Well,
    /// With a failure of the system under test.
    Failure,
}

/// A tool: what can be typed, and what is done then.
type Entry = (
    fn() -> clap::Command,
    fn(&mut Console<'_>, &ArgMatches, String) -> Result<Ended, Trouble>,
);

const TOOLS: [Entry; 16] = [
    entry::<compiler::Compiler>(),
    entry::<random_tester::RandomTester>(),
    entry::<replayer::Replayer>(),
    entry::<reducer::Reducer>(),
    entry::<regression::Regression>(),
    entry::<standalone::Standalone>(),
    entry::<smallcheck::Smallcheck>(),
    entry::<generalizer::Generalizer>(),
    entry::<markov::Markov>(),
    entry::<triage::Triage>(),
    entry::<pymodel::Analyzer>(),
    entry::<pymodel::Tester>(),
    entry::<pymodel::Grapher>(),
    entry::<pymodel::Viewer>(),
    entry::<pymodel::CaseRunner>(),
    entry::<pymodel::Comparer>(),
];

const fn entry<T: Tool + CommandFactory>() -> Entry {
    (T::command, play::<T>)
}

impl Compat {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        let Words::All(words) = self.words;
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
        let words = std::iter::once(OsString::from("testwright compat")).chain(words);
        let matches = match command.try_get_matches_from(words) {
            Ok(matches) => matches,
            Err(answer) => return Ok(crate::tell(&answer, console)),
        };
        let Some((name, matches)) = matches.subcommand() else {
            return Ok(ExitStatus::CouldNot);
        };
        let crashed = |console: &mut Console<'_>, note: &str, failure: &Failure| {
            tell_crash(console, note, failure)?;
            Ok(ExitStatus::OfProgram(1))
        };
        guarded(console, None, crashed, |console, note| {
            note.write(&format!("While `{name}` ran"));
            let played = TOOLS
                .iter()
                .find(|(tool, _)| tool().get_name() == name)
                .map_or(Ok(Ended::Well), |(_, play)| {
                    play(console, matches, typed.join(" "))
                });
            Ok(ExitStatus::OfProgram(match played {
                Ok(Ended::Well) => 0,
                Ok(Ended::Failure) => 255,
                Err(trouble) => {
                    trouble.tell(console);
                    1
                }
            }))
        })
    }
}

/// With the habits of the library that reads the arguments of TSTL's tools: long options may be cut short, and of options
/// that are given twice the last counts.
fn as_argparse(tool: clap::Command) -> clap::Command {
    tool.infer_long_args(true)
        .args_override_self(true)
        .disable_version_flag(true)
}

fn play<T: Tool>(
    console: &mut Console<'_>,
    matches: &ArgMatches,
    line: String,
) -> Result<Ended, Trouble> {
    let calling = Calling::new(&T::command(), matches, line);
    match T::from_arg_matches(matches) {
        Ok(tool) => {
            calling.explain(console, T::WITHOUT_EFFECT);
            tool.run(console, &calling)
        }
        // Whatever is wrong with the arguments has been noticed before.
        Err(answer) => {
            crate::tell(&answer, console);
            Err(Trouble::Told)
        }
    }
}

/// A number of seconds that was typed.
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
        check::<reducer::Reducer>();
        check::<regression::Regression>();
        check::<standalone::Standalone>();
        check::<smallcheck::Smallcheck>();
        check::<generalizer::Generalizer>();
        check::<markov::Markov>();
        check::<triage::Triage>();
        check::<pymodel::Analyzer>();
        check::<pymodel::Tester>();
        check::<pymodel::Grapher>();
        check::<pymodel::Viewer>();
    }
}
