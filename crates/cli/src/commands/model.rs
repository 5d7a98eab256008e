//! `testwright model`: testing with models.

use clap::Subcommand;
use testwright_model::Filter;

use crate::console::Console;
use crate::{ExitStatus, Trouble};

mod check;
mod covering;
mod failing;
mod last_run;
mod lint;
mod telling;
mod test;

/// Test with models: model programs, finite state machines, lists of runs
///
/// A model is a Python module in PyModel's form. Several models are composed: what several of them know by name they do
/// together. `testwright explore MODEL...` visits all their states.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Model {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(check::Check),
    Lint(lint::Lint),
    Test(test::Test),
}

impl Model {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        match self.command {
            Command::Check(check) => check.run(console),
            Command::Lint(lint) => lint.run(console),
            Command::Test(test) => test.run(console),
        }
    }
}

/// Models, and which of their actions to speak of.
#[derive(clap::Args)]
struct ModelArguments {
    /// Models, scenarios, suites and configurations: names of modules, or files
    #[arg(value_name = "MODEL", required = true)]
    models: Vec<String>,

    /// Include only actions of this name; can be given several times
    #[arg(long, value_name = "NAME")]
    action: Vec<String>,

    /// Leave out actions of this name; can be given several times
    #[arg(long, value_name = "NAME")]
    exclude: Vec<String>,
}

impl ModelArguments {
    fn filter(&self) -> Filter {
        Filter {
            include: self.action.clone(),
            exclude: self.exclude.clone(),
        }
    }
}
