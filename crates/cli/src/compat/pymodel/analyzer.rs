//! `pma`: explores the states of a model, and writes them as a state machine.

use super::super::{Invocation, Tool, ToolOutcome};
use super::{ExplorationArguments, print_help};
use crate::CommandError;
use crate::console::Console;

/// Explore models, and write the result as an FSM module
#[derive(clap::Parser)]
#[command(name = "pma")]
pub(in crate::compat) struct Analyzer {
    #[command(flatten)]
    exploration: ExplorationArguments,
}

impl Tool for Analyzer {
    fn run(
        self,
        console: &mut Console<'_>,
        invocation: &Invocation,
    ) -> Result<ToolOutcome, CommandError> {
        if self.exploration.models.is_empty() {
            return Ok(print_help::<Analyzer>(console));
        }
        self.exploration.run(console, invocation, |_, _, _| Ok(()))
    }
}
