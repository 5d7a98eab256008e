//! `testwright normalize`: rewrite a failing test into the simplest of its kind.

use std::path::PathBuf;

use testwright_core::shrink::Speed;

use super::SystemArguments;
use super::reduce::ReduceCommand;
use crate::console::Console;
use crate::test_source::HarnessArgument;
use crate::{CommandError, ExitStatus};

/// Rewrite a failing test into the simplest of its kind
///
/// The test is reduced first. Then its steps are replaced by simpler ones (lower slots, smaller values,
/// lines further up in the harness) and put in order, as long as it fails in the same way. Different tests
/// for one bug mostly end as the same test. It is written beside the test, as NAME.normal.test for
/// NAME.test, unless `-o` says otherwise. Ctrl-C ends the work with the best test so far.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright normalize failure-1.test
  testwright normalize failure-1.test --thorough -o simple.test

Exit status: 1 the normalised test fails (as it should), 2 could not do what was asked."
)]
pub(crate) struct NormalizeCommand {
    /// The test, which must fail
    test: PathBuf,

    #[command(flatten)]
    harness: HarnessArgument,

    /// Try much more
    #[arg(long)]
    thorough: bool,

    /// Where to write the test, `-` for standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print the result as one JSON object, and nothing else on standard output
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    system: SystemArguments,
}

impl NormalizeCommand {
    /// Runs the command: a reduction with another goal.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let speed = if self.thorough {
            Speed::Thorough
        } else {
            Speed::Fast
        };
        let NormalizeCommand {
            test,
            harness,
            output,
            json,
            system,
            ..
        } = self;
        ReduceCommand::normalizing(test, harness, output, json, speed, system).run(console)
    }
}
