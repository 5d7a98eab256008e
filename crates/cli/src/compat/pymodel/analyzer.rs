//! `pma`: all states of a model, as a machine.

use super::super::{Calling, Ended, Tool};
use super::{Exploring, help};
use crate::Trouble;
use crate::console::Console;

/// Explore models, and write what was found as an FSM module
#[derive(clap::Parser)]
#[command(name = "pma")]
pub(in crate::compat) struct Analyzer {
    #[command(flatten)]
    exploring: Exploring,
}

impl Tool for Analyzer {
    fn run(self, console: &mut Console<'_>, calling: &Calling) -> Result<Ended, Trouble> {
        if self.exploring.models.is_empty() {
            return Ok(help::<Analyzer>(console));
        }
        self.exploring.run(console, calling, |_, _, _| Ok(()))
    }
}
