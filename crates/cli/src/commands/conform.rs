//! `testwright conform`: compares a log with a model.

use std::path::PathBuf;
use std::time::Duration;

use testwright_core::product::{ModelError, NameId, StepLabel};
use testwright_core::{Error, spelling};
use testwright_model::conform::{RejectionReason, StateRejection, StateTracker, explain};
use testwright_model::{Filter, step_text};
use testwright_python::Models;

use super::STEP_TIMEOUT;
use crate::console::{Console, TextStyle};
use crate::files::TextFile;
use crate::guard::{ProgressNote, run_guarded};
use crate::models::log::{self, LogEntry, LogFormat};
use crate::models::log_stream::{LogStream, NextLine};
use crate::{CommandError, ExitStatus, duration, models, quantity};

/// Check whether a model allows what a log says
///
/// The log is read line by line, and the first line that is not allowed is shown at once, with the reason. So a
/// log can still be written while it is checked. A log has one JSON object on each line:
/// `{"action": "Push", "arguments": [1], "result": null}`. The arguments are a list, or an object with their
/// names, or fields of the line. Without `result`, any result is allowed. `{"restart": true}` begins another run.
/// Each run must end in an accepting state. Other fields are ignored and counted.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright conform Stack stack.log
  testwright conform Server Sessions server.jsonl
  tail -f server.jsonl | testwright conform Server -
  testwright conform Server log.jsonl --field action=event --rename request=Request --hidden Timeout

Exit status: 0 the model allows it, 1 it does not, 2 could not do what was asked."
)]
pub(crate) struct ConformCommand {
    /// Models, scenarios and configurations, and the log last; `-` is standard input
    #[arg(value_name = "MODEL... LOG", required = true)]
    words: Vec<String>,

    /// Allow runs that end in a state that is not accepting
    #[arg(long)]
    open_end: bool,

    /// Name of an action in the log, and in the model; repeatable
    #[arg(long, value_name = "LOG=MODEL", value_parser = parse_pair)]
    rename: Vec<(String, String)>,

    /// Field of the log that has the `action`, the `arguments`, the `result` or the `restart`; repeatable
    #[arg(long, value_name = "FIELD=NAME", value_parser = parse_pair)]
    field: Vec<(String, String)>,

    /// Action that happens without being logged, any number of times; repeatable
    #[arg(long, value_name = "NAME")]
    hidden: Vec<String>,

    /// Action of the log that the model is not about: its lines are skipped; repeatable
    #[arg(long, value_name = "NAME")]
    ignore: Vec<String>,

    /// Time limit of a model for a line; a model that takes longer counts as a hang
    #[arg(long, value_name = "DURATION", default_value = STEP_TIMEOUT, value_parser = duration::parse)]
    step_timeout: Duration,
}

/// Maximum number of alternatives that are printed.
const MAX_SHOWN: usize = 8;

/// Maximum number of states that the model may be in because of hidden actions.
const MAX_HIDDEN_STATES: usize = 10_000;

/// Parses `NAME=OTHER`.
fn parse_pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=');
    let pair = pair.filter(|(one, other)| !one.is_empty() && !other.is_empty());
    let (one, other) = pair.ok_or("must be two names, such as `push=Push`")?;
    Ok((one.to_owned(), other.to_owned()))
}

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
        let path = PathBuf::from(log);
        if log != "-" && !path.exists() {
            // Tells which file may be meant.
            TextFile::read(&path)?;
        }
        let format = LogFormat::new(&self.field, &self.rename)?;
        // The code of a model may end its process, or hang.
        run_guarded(
            console,
            Some(self.step_timeout),
            models::report_crash,
            |console, note| {
                // Models may change the current folder.
                let log = LogStream::open(&path)?;
                models::with_models(console, names, &Filter::default(), |console, models| {
                    models.product.try_observables();
                    let hidden = self.check_names(models)?;
                    let follower = StateTracker::new(&mut models.product);
                    let follower =
                        follower.map_err(|error| models::model_error(console, &error))?;
                    let mut reader = LogFollower {
                        command: &self,
                        models,
                        log,
                        format,
                        hidden,
                        follower,
                        is_certain: true,
                        steps: 0,
                        runs: 1,
                        skipped: 0,
                        note,
                    };
                    let status = reader.follow(console)?;
                    reader.print_ignored(console);
                    Ok(status)
                })
            },
        )
    }

    /// Returns the hidden actions. Fails if an option names an action that no model has.
    fn check_names(&self, models: &Models<'_>) -> Result<Vec<NameId>, Error> {
        let product = &models.product;
        let find = |name: &String| {
            let mut known = product.vocabulary().iter();
            known.find(|known| product.interner().name_text(**known) == name)
        };
        let unknown = |option: String, name: &String| {
            let advice = spelling::advice(name, "actions", log::action_names(models));
            Error::new(format!("`{option}`: no model has such an action")).with_help(advice)
        };
        for (log, name) in &self.rename {
            find(name).ok_or_else(|| unknown(format!("--rename {log}={name}"), name))?;
        }
        let hidden = self.hidden.iter().map(|name| {
            let found = find(name).copied();
            found.ok_or_else(|| unknown(format!("--hidden {name}"), name))
        });
        hidden.collect()
    }
}

/// Follows a log through the states of models.
struct LogFollower<'f, 'p, 'py> {
    command: &'f ConformCommand,
    models: &'p mut Models<'py>,
    log: LogStream,
    format: LogFormat,
    /// Actions that happen without being logged.
    hidden: Vec<NameId>,
    follower: StateTracker,
    /// False if there were too many states to follow all of them.
    is_certain: bool,
    steps: u64,
    runs: u64,
    /// Number of lines with an action that is ignored.
    skipped: u64,
    note: &'f ProgressNote,
}

/// The reason for the end of a log.
enum LogEnd {
    /// There are no more lines.
    Closed,
    /// The user does not want to wait for more.
    Stopped,
    /// A line is not allowed.
    Refused,
}

impl LogFollower<'_, '_, '_> {
    /// Reads all lines, and prints the verdict.
    fn follow(&mut self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let mut line = 0;
        let mut is_empty = true;
        let end = loop {
            let text = match self.next_line(console, line + 1)? {
                Ok(text) => text,
                Err(end) => break end,
            };
            line += 1;
            let name = self.log.name.clone();
            let Some(entry) = self.format.entry(console, &name, line, &text)? else {
                continue;
            };
            is_empty = false;
            if !self.follow_entry(console, &entry)? {
                break LogEnd::Refused;
            }
        };
        self.note.mark_own_work();
        match end {
            LogEnd::Refused => Ok(ExitStatus::FailureFound),
            LogEnd::Closed if is_empty => Err(log::empty_log(&self.log.name).into()),
            LogEnd::Closed if !self.may_end(console, line)? => Ok(ExitStatus::FailureFound),
            LogEnd::Closed if self.steps == 0 => {
                let message = format!("`{}` has no steps, so nothing was compared", self.log.name);
                Err(Error::new(message).into())
            }
            LogEnd::Closed => {
                self.print_allowed(console, "the model allows all of it");
                Ok(ExitStatus::NothingFound)
            }
            LogEnd::Stopped => {
                self.print_allowed(console, "all of it is allowed so far; stopped");
                Ok(ExitStatus::NothingFound)
            }
        }
    }

    /// Prints how much was followed.
    fn print_allowed(&self, console: &mut Console<'_>, verdict: &str) {
        let verdict = console.paint(TextStyle::Success, verdict);
        console.out(format_args!(
            "{}, {}: {verdict}",
            quantity::format_count(self.runs, "run"),
            quantity::format_count(self.steps, "step")
        ));
    }

    /// Waits for the next line.
    fn next_line(
        &self,
        console: &mut Console<'_>,
        number: usize,
    ) -> Result<Result<String, LogEnd>, CommandError> {
        let mut next = self.log.try_next()?;
        if matches!(next, NextLine::NotYet) {
            // Waiting for a line is not the model's time.
            self.note.write("waiting for the log");
            self.note.mark_own_work();
            console.flush();
        }
        loop {
            if testwright_python::is_stop_requested() {
                return Ok(Err(LogEnd::Stopped));
            }
            match next {
                NextLine::Line(line) => {
                    let text = String::from_utf8(line);
                    let text = text.map_err(|_| {
                        let name = &self.log.name;
                        Error::new(format!("{name}:{number}: the line is not UTF-8 text"))
                    })?;
                    let text = text.trim_end_matches(['\n', '\r']);
                    return Ok(Ok(text.trim_start_matches('\u{feff}').to_owned()));
                }
                NextLine::End => return Ok(Err(LogEnd::Closed)),
                NextLine::NotYet => next = self.log.wait()?,
            }
        }
    }

    /// Follows one line. Returns false if it is not allowed, after printing the reason.
    fn follow_entry(
        &mut self,
        console: &mut Console<'_>,
        entry: &LogEntry,
    ) -> Result<bool, CommandError> {
        let name = self.log.name.clone();
        self.note
            .write(&format!("{name}:{}: {}\n", entry.line, entry.text));
        let Some(step) = &entry.step else {
            if !self.may_end(console, entry.line)? {
                return Ok(false);
            }
            let begun = self.follower.restart(&mut self.models.product);
            begun.map_err(|error| models::model_error(console, &error))?;
            self.runs += 1;
            return Ok(true);
        };
        if self.command.ignore.contains(&step.action) {
            self.skipped += 1;
            return Ok(true);
        }
        self.take_hidden_steps(console)?;
        let action = self.format.resolve_step(self.models, step);
        let happened = action.map_err(|error| report_at(console, &name, entry, &error))?;
        let followed = self
            .follower
            .apply_recorded(&mut self.models.product, &happened);
        let refused = match followed.map_err(|error| report_at(console, &name, entry, &error))? {
            Ok(_) => {
                self.steps += 1;
                return Ok(true);
            }
            Err(refused) => refused,
        };
        self.fail_if_uncertain()?;
        let title = format!(
            "{name}:{}: not allowed after {}",
            entry.line,
            quantity::format_count(self.steps, "step")
        );
        let title = console.paint(TextStyle::Failure, title);
        console.out(title);
        console.out(format_args!("    {}", entry.text));
        for state in refused.states.iter().take(3) {
            print_refusal(console, self.models, state);
        }
        if refused
            .states
            .iter()
            .any(|state| state.reason == RejectionReason::Unknown)
        {
            let names = log::action_names(self.models);
            let advice = spelling::advice(&step.action, "actions", names);
            console.out(format_args!(
                "  {advice}; `--rename {}=NAME` or `--ignore {}` may be meant",
                step.action, step.action
            ));
        }
        console.flush();
        Ok(false)
    }

    /// Adds the states that hidden actions lead to.
    fn take_hidden_steps(&mut self, console: &mut Console<'_>) -> Result<(), CommandError> {
        if self.hidden.is_empty() {
            return Ok(());
        }
        let product = &mut self.models.product;
        let taken = self
            .follower
            .apply_unrecorded(product, &self.hidden, MAX_HIDDEN_STATES);
        self.is_certain &= taken.map_err(|error| models::model_error(console, &error))?;
        Ok(())
    }

    /// Fails if states were left out, so that a refusal would be no proof.
    fn fail_if_uncertain(&self) -> Result<(), Error> {
        if self.is_certain {
            return Ok(());
        }
        let states = quantity::grouped(MAX_HIDDEN_STATES as u64);
        let message = format!(
            "hidden actions lead to more than {states} states, and not all of them could be followed"
        );
        Err(Error::new(message).with_help("log more of the actions, or hide fewer"))
    }

    /// Returns true if a run may end here; otherwise prints that it may not.
    fn may_end(&mut self, console: &mut Console<'_>, line: usize) -> Result<bool, CommandError> {
        self.take_hidden_steps(console)?;
        if self.command.open_end || self.follower.is_accepting(&self.models.product) {
            return Ok(true);
        }
        self.fail_if_uncertain()?;
        let title = format!("{}:{line}: the run ends here, and may not", self.log.name);
        let title = console.paint(TextStyle::Failure, title);
        console.out(title);
        for state in self.follower.states().iter().take(3) {
            let text = state_text(self.models, state);
            console.out(format_args!("  in the state {text}"));
        }
        Ok(false)
    }

    /// Names the fields and actions that were ignored.
    fn print_ignored(&self, console: &mut Console<'_>) {
        if self.skipped > 0 {
            console.out(format_args!(
                "Skipped {} by `--ignore`",
                quantity::format_count(self.skipped, "line")
            ));
        }
        let ignored = &self.format.ignored;
        if ignored.is_empty() {
            return;
        }
        let shown = ignored.iter().take(MAX_SHOWN);
        let shown = shown
            .map(|(name, lines)| format!("`{name}` ({})", quantity::format_count(*lines, "line")));
        let shown: Vec<String> = shown.collect();
        let more = match ignored.len().saturating_sub(MAX_SHOWN) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        console.out(format_args!(
            "Fields that were not used: {}{more}",
            shown.join(", ")
        ));
    }
}

/// Reports an error of a model, with the line of the log that caused it.
fn report_at(
    console: &mut Console<'_>,
    log: &str,
    entry: &LogEntry,
    error: &ModelError,
) -> CommandError {
    if !matches!(error, ModelError::Interrupted) {
        console.err(format_args!("{log}:{}: {}", entry.line, entry.text));
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
