//! `testwright normalize`: rewrite a failing test into the simplest of its kind.

use std::path::PathBuf;

use testwright_core::shrink::Speed;

use super::reduce::ReduceCommand;
use crate::console::Console;
use crate::test_source::TestSetup;
use crate::{CommandError, ExitStatus};

/// Rewrite a failing test with simpler steps and values
///
/// The test is reduced first. Then its steps are replaced by simpler ones (lower slots, smaller values,
/// lines further up in the harness) and put in order, as long as it fails in the same way. Different tests
/// for one bug mostly become the same test. The result is written beside the test, as NAME.normal.test for
/// NAME.test, or to the file named by `--out`. Ctrl-C ends the work with the best test so far.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright normalize failure-1.test
  testwright normalize failure-1.test --thorough --out simple.test

Exit status: 1 the normalised test fails (as it should), 2 could not do what was asked."
)]
pub(crate) struct NormalizeCommand {
    /// Saved test that fails
    test: PathBuf,

    /// Spend more time to find a simpler test
    #[arg(long)]
    thorough: bool,

    /// File to write the test to, `-` for standard output [default: NAME.normal.test]
    #[arg(long, alias = "output", short_alias = 'o', value_name = "FILE")]
    out: Option<PathBuf>,

    /// Print the result as one JSON object, and nothing else on standard output
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    setup: TestSetup,
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
            out,
            json,
            setup,
            ..
        } = self;
        ReduceCommand::normalizing(test, out, json, speed, setup).run(console)
    }
}
