//! `testwright conform`: compares a log with a model.

use std::path::PathBuf;
use std::time::Duration;

use testwright_core::Error;
use testwright_core::product::{ModelError, StepLabel};
use testwright_model::conform::{RejectionReason, StateRejection, StateTracker, explain};
use testwright_model::{Filter, step_text};
use testwright_python::Models;

use super::STEP_TIMEOUT;
use crate::console::{Console, TextStyle};
use crate::files::TextFile;
use crate::guard::{ProgressNote, run_guarded};
use crate::models::log::{self, LogEntry};
use crate::{CommandError, ExitStatus, duration, models, quantity};

/// Check whether a model allows what a log says
///
/// If it does not, the first step that is not allowed is shown, and why. A log has one JSON object on each line:
/// `{"action": "Push", "arguments": [1], "result": null}`. Without `arguments`, the action has none. Without
/// `result`, any result is allowed. `{"restart": true}` begins another run. Each run must end in an accepting
/// state.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright conform Stack stack.log
  testwright conform Server Sessions server.jsonl

Exit status: 0 the model allows it, 1 it does not, 2 could not do what was asked."
)]
pub(crate) struct ConformCommand {
    /// Models, scenarios and configurations, and the log last
    #[arg(value_name = "MODEL... LOG", required = true)]
    words: Vec<String>,

    /// Allow runs that end in a state that is not accepting
    #[arg(long)]
    open_end: bool,

    /// Time limit of a model for a line; a model that takes longer counts as a hang
    #[arg(long, value_name = "DURATION", default_value = STEP_TIMEOUT, value_parser = duration::parse)]
    step_timeout: Duration,
}

/// Maximum number of alternatives that are printed.
const MAX_SHOWN: usize = 8;

impl ConformCommand {
    /// Runs the command.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let Some((log, names)) = self
            .words
            .split_last()
            .filter(|(_, names)| !names.is_empty())
        else {
            let error = Error::new("a model and a log are needed")
                .with_help("the log comes last: `testwright conform MODEL LOG`");
            return Err(error.into());
        };
        let file = TextFile::read(&PathBuf::from(log))?;
        let entries = log::read(console, &file)?;
        // The code of a model may end its process, or hang.
        run_guarded(
            console,
            Some(self.step_timeout),
            models::report_crash,
            |console, note| {
                models::with_models(console, names, &Filter::default(), |console, models| {
                    self.follow(console, models, &file, &entries, note)
                })
            },
        )
    }

    /// Follows the log through the states of the model, and prints the first step that is not
    /// allowed.
    fn follow(
        &self,
        console: &mut Console<'_>,
        models: &mut Models<'_>,
        file: &TextFile,
        entries: &[LogEntry],
        note: &ProgressNote,
    ) -> Result<ExitStatus, CommandError> {
        let follower = StateTracker::new(&mut models.product);
        let mut follower = follower.map_err(|error| models::model_error(console, &error))?;
        let [mut steps, mut runs] = [0u64, 1u64];
        for entry in entries {
            let Some(step) = &entry.step else {
                if !self.may_end(console, models, &follower, file, entry.line) {
                    return Ok(ExitStatus::FailureFound);
                }
                let begun = follower.restart(&mut models.product);
                begun.map_err(|error| models::model_error(console, &error))?;
                runs += 1;
                continue;
            };
            note.write(&format!("{}:{}: {}\n", file.name, entry.line, entry.text));
            let action = step.to_action(models);
            let happened = action.map_err(|error| models::model_error(console, &error))?;
            let followed = follower.apply_recorded(&mut models.product, &happened);
            match followed.map_err(|error| report_at(console, file, entry, &error))? {
                Ok(_) => steps += 1,
                Err(refused) => {
                    let title = format!(
                        "{}:{}: not allowed after {}",
                        file.name,
                        entry.line,
                        quantity::format_count(steps, "step")
                    );
                    let title = console.paint(TextStyle::Failure, title);
                    console.out(title);
                    console.out(format_args!("    {}", entry.text));
                    for state in refused.states.iter().take(3) {
                        print_refusal(console, models, state);
                    }
                    return Ok(ExitStatus::FailureFound);
                }
            }
        }
        note.mark_own_work();
        let last = entries.last().map_or(1, |entry| entry.line);
        if !self.may_end(console, models, &follower, file, last) {
            return Ok(ExitStatus::FailureFound);
        }
        let verdict = console.paint(TextStyle::Success, "the model allows all of it");
        console.out(format_args!(
            "{}, {}: {verdict}",
            quantity::format_count(runs, "run"),
            quantity::format_count(steps, "step")
        ));
        Ok(ExitStatus::NothingFound)
    }

    /// Returns true if a run may end here; otherwise prints that it may not.
    fn may_end(
        &self,
        console: &mut Console<'_>,
        models: &Models<'_>,
        follower: &StateTracker,
        file: &TextFile,
        line: usize,
    ) -> bool {
        if self.open_end || follower.is_accepting(&models.product) {
            return true;
        }
        let title = format!("{}:{line}: the run ends here, and may not", file.name);
        let title = console.paint(TextStyle::Failure, title);
        console.out(title);
        for state in follower.states().iter().take(3) {
            console.out(format_args!("  in the state {}", state_text(models, state)));
        }
        false
    }
}

/// Reports an error of a model, with the line of the log that caused it.
fn report_at(
    console: &mut Console<'_>,
    file: &TextFile,
    entry: &LogEntry,
    error: &ModelError,
) -> CommandError {
    if !matches!(error, ModelError::Interrupted) {
        console.err(format_args!("{}:{}: {}", file.name, entry.line, entry.text));
    }
    models::model_error(console, error)
}

/// Formats a state of the model.
fn state_text(models: &Models<'_>, state: &[testwright_core::product::ModelState]) -> String {
    testwright_model::state_text(&models.product, state)
}

/// Prints why a step is not allowed in a state, and which steps are.
fn print_refusal(console: &mut Console<'_>, models: &Models<'_>, refused: &StateRejection) {
    let interner = models.product.interner();
    console.out(format_args!(
        "  in the state {}",
        state_text(models, &refused.state)
    ));
    match &refused.reason {
        RejectionReason::Unknown => console.out("  no model knows an action of that name"),
        RejectionReason::Refused(by) => {
            console.out(format_args!("  {}", explain(&models.product, by)))
        }
        RejectionReason::OtherResults(results) => {
            let each: Vec<&str> = results
                .iter()
                .map(|value| interner.value_text(*value).plain())
                .collect();
            console.out(format_args!(
                "  the model says that the result is {}",
                each.join(" or ")
            ));
        }
    }
    let shown: Vec<String> = refused
        .alternatives
        .iter()
        .take(MAX_SHOWN)
        .map(|label: &StepLabel| step_text(interner, *label))
        .collect();
    let more = match refused.alternatives.len().saturating_sub(MAX_SHOWN) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    if shown.is_empty() {
        console.out("  nothing is possible there")
    } else {
        console.out(format_args!("  possible there: {}{more}", shown.join(", ")))
    }
}
