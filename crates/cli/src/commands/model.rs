//! `testwright model`: checking models and testing with them.

use clap::Subcommand;
use testwright_model::Filter;

use crate::console::Console;
use crate::{CommandError, ExitStatus};

mod check;
mod crash_note;
mod explained_runs;
mod failing_runs;
mod lint;
mod planned_runs;
mod test;

/// Check models, and test implementations against them
///
/// A model is a Python module in PyModel's form: a model program, a finite state machine, or a list of runs.
/// Several models are composed: actions that several of them have happen in all of them together.
/// `testwright explore MODEL...` visits all their states.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Exit status: 0 nothing found, 1 a failure or a problem was found, 2 could not do what was asked."
)]
pub(crate) struct ModelCommand {
    #[command(subcommand)]
    command: ModelSubcommand,
}

/// The subcommands of `testwright model`.
#[derive(Subcommand)]
enum ModelSubcommand {
    Check(check::ModelCheckCommand),
    Lint(lint::ModelLintCommand),
    Test(test::ModelTestCommand),
}

impl ModelCommand {
    /// Runs the subcommand.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        match self.command {
            ModelSubcommand::Check(check) => check.run(console),
            ModelSubcommand::Lint(lint) => lint.run(console),
            ModelSubcommand::Test(test) => test.run(console),
        }
    }
}

/// Models, and a choice of their actions.
#[derive(clap::Args)]
struct ModelArguments {
    /// Models, scenarios, suites and configurations: names of modules, or files
    #[arg(value_name = "MODEL", required = true)]
    models: Vec<String>,

    /// Use only actions of this name; repeatable
    #[arg(long, value_name = "NAME")]
    action: Vec<String>,

    /// Leave out actions of this name; repeatable
    #[arg(long, value_name = "NAME")]
    exclude: Vec<String>,
}

impl ModelArguments {
    /// Returns the options that choose actions, as they were typed.
    fn options_text(&self) -> String {
        let include = self.action.iter().map(|name| format!(" --action {name}"));
        let exclude = self.exclude.iter().map(|name| format!(" --exclude {name}"));
        include.chain(exclude).collect()
    }

    /// Returns the filter for actions.
    fn filter(&self) -> Filter {
        Filter {
            include: self.action.clone(),
            exclude: self.exclude.clone(),
            follows_pymodel: false,
        }
    }
}
