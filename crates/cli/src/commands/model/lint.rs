//! `testwright model lint`: problems with the state of a model that go unnoticed otherwise.

use std::time::Duration;

use testwright_model::{GraphLimits, explore};

use super::ModelArguments;
use crate::commands::STEP_TIMEOUT;
use crate::console::{Console, TextStyle};
use crate::guard::{ProgressNote, run_guarded};
use crate::quantity::parse_from_zero;
use crate::{CommandError, ExitStatus, duration, models, quantity};

/// Look for variables that are not put back, and for objects that variables share
///
/// The state of a model is the values of the variables that it lists in `state`. Each is copied separately.
/// Changes to other variables of the module are not undone, and leak from one run into the next. An object that
/// two variables of the state share becomes two objects with the first step. This command explores a part of the
/// model, and reports both. It also repeats the warnings that other commands show.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright model lint Stack

Exit status: 0 no problems, 1 problems found, 2 could not do what was asked."
)]
pub(super) struct ModelLintCommand {
    #[command(flatten)]
    model: ModelArguments,

    /// Maximum number of transitions to look at
    #[arg(long, value_name = "N", default_value_t = 1_000, allow_negative_numbers = true, value_parser = parse_from_zero::<usize>)]
    max: usize,

    /// Time limit of a model in a state; a model that takes longer counts as a hang
    #[arg(long, value_name = "DURATION", default_value = STEP_TIMEOUT, value_parser = duration::parse)]
    step_timeout: Duration,
}

impl ModelLintCommand {
    /// Runs the command.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        // The code of a model may end its process, or hang.
        run_guarded(
            console,
            Some(self.step_timeout),
            models::report_crash,
            |console, note| self.lint(console, note),
        )
    }

    /// Explores a part of the model, and prints what is wrong with its state.
    fn lint(
        &self,
        console: &mut Console<'_>,
        note: &ProgressNote,
    ) -> Result<ExitStatus, CommandError> {
        let names = &self.model.models;
        models::with_models(console, names, &self.model.filter(), |console, models| {
            let report = |console: &mut Console<'_>, error| models::model_error(console, &error);
            let lint = models.lint();
            let lint = lint.map_err(|error| report(console, error))?;
            let limits = GraphLimits {
                transitions: Some(self.max),
                ..GraphLimits::default()
            };
            let explored = explore(&mut models.product, &limits, &mut |progress| {
                note.write(&format!("state {}\n", progress.expanded()));
                !testwright_python::is_stop_requested()
            });
            testwright_python::flush();
            note.mark_own_work();
            if let Some(error) = explored.error {
                return Err(report(console, error));
            }
            let findings = lint.findings();
            for finding in &findings {
                console.out(finding);
            }
            let problems = findings.len() + models.warnings.len();
            let transitions = explored.graph.transitions.len() as u64;
            let transitions = quantity::format_count(transitions, "transition");
            let verdict = match problems {
                0 => console.paint(TextStyle::Success, "no problems"),
                problems => console.paint(
                    TextStyle::Failure,
                    quantity::format_count(problems as u64, "problem"),
                ),
            };
            console.out(format_args!(
                "{}: {transitions}, {verdict}",
                names.join(" ")
            ));
            Ok(match problems {
                0 => ExitStatus::NothingFound,
                _ => ExitStatus::FailureFound,
            })
        })
    }
}
