//! Loads models for commands, and prints what is wrong with them.

mod explain;
pub(crate) mod log;
pub(crate) mod log_stream;
mod pytest_file;
mod system;

use std::env;
use std::path::Path;
use std::time::Duration;

use testwright_campaign::{Activity, confirmation_limit};
use testwright_core::product::{ModelError, SourceError};
use testwright_core::{Error, Failure, FailureKind};
use testwright_lang::{Diagnostic, Severity};
use testwright_model::Filter;
use testwright_python::{Models, ProcessOwner, StepperLimits};

use crate::console::{Console, TextStyle};
use crate::files::TextFile;
use crate::{CommandError, ExitStatus, quantity};

pub(crate) use explain::RunExplainer;
pub(crate) use pytest_file::{DEFAULT_TIMEOUT, ModelPytestFile};
pub(crate) use system::{ModelSystem, OutputGuard, StepNotes};

/// The least time by which a stepper is interrupted before its process would be ended.
const MIN_LEAD: Duration = Duration::from_millis(500);

/// Returns the limits of a stepper whose steps have this one. It interrupts a step that hangs a little
/// before the process that watches it would end it.
pub(crate) fn stepper_limits(step: Duration) -> StepperLimits {
    StepperLimits {
        step,
        hang: confirmation_limit(step, Activity::Stepping) - (step / 2).max(MIN_LEAD),
        observation: step / 2,
    }
}

/// Imports models, composes them with the logs among them, and passes them to `work`. SIGTERM is a
/// request to stop from then on, like Ctrl-C.
pub(crate) fn with_models<R>(
    console: &mut Console<'_>,
    names: &[String],
    filter: &Filter,
    work: impl FnOnce(&mut Console<'_>, &mut Models<'_>) -> Result<R, CommandError>,
) -> Result<R, CommandError> {
    with_models_in(
        console,
        names,
        filter,
        ProcessOwner::Tool,
        |console, models| {
            models.stop_on_termination()?;
            work(console, models)
        },
    )
}

/// Does the same as [`with_models`] in a process that may be a worker's.
pub(crate) fn with_models_in<R>(
    console: &mut Console<'_>,
    names: &[String],
    filter: &Filter,
    process: ProcessOwner,
    work: impl FnOnce(&mut Console<'_>, &mut Models<'_>) -> Result<R, CommandError>,
) -> Result<R, CommandError> {
    // Files are read before code runs that may change the current folder.
    let (logs, modules): (Vec<&String>, Vec<&String>) =
        names.iter().partition(|name| log::is_log(name));
    let logs = logs.into_iter().map(|log| TextFile::read(Path::new(log)));
    let logs = logs.collect::<Result<Vec<TextFile>, Error>>()?;
    let modules: Vec<String> = modules.into_iter().cloned().collect();
    // Earlier output must come before the output of the modules that are imported now.
    console.flush();
    testwright_python::attach(|interpreter| {
        let loaded = Models::load(interpreter, &modules, filter, process);
        let mut models = loaded.map_err(|error| model_error(console, &error))?;
        for log in &logs {
            log::add_as_scenario(console, &mut models, log)?;
        }
        for remark in &models.warnings {
            console.warning(remark, None);
        }
        let result = work(console, &mut models);
        testwright_python::flush();
        result
    })
}

/// Prints that the code of models ended the process or hangs, and the steps before that, which are
/// the lines of a note. Returns the steps.
pub(crate) fn report_end<'n>(
    console: &mut Console<'_>,
    note: &'n str,
    failure: &Failure,
) -> Vec<&'n str> {
    let steps: Vec<&str> = note.lines().filter(|line| !line.is_empty()).collect();
    let title = match failure.kind {
        FailureKind::Hang => "Hang",
        _ => "Crash",
    };
    let title = console.paint(TextStyle::Failure, title);
    let position = match steps.len() as u64 {
        0 => "where runs begin".to_owned(),
        many => format!("after {}", quantity::format_count(many, "step")),
    };
    console.out(format_args!("{title} {position}: {}", failure.message));
    for line in failure.details.lines() {
        console.out(format_args!("    {line}"));
    }
    for step in &steps {
        console.out(format_args!("    {step}"));
    }
    steps
}

/// Prints the way in which the code of models ended the process, or that it hangs.
pub(crate) fn report_failure(console: &mut Console<'_>, failure: &Failure) {
    let title = match failure.kind {
        FailureKind::Hang => "The code of a model does not come back",
        _ => "The code of a model ended the process",
    };
    let title = console.paint(TextStyle::Failure, title);
    console.out(format_args!("{title}: {}", failure.message));
    for line in failure.details.lines() {
        console.out(format_args!("    {line}"));
    }
}

/// Prints that the code of models ended the process or hangs, and the position in the note.
pub(crate) fn report_crash(
    console: &mut Console<'_>,
    note: &str,
    failure: &Failure,
) -> Result<ExitStatus, CommandError> {
    report_failure(console, failure);
    let note = note.trim_end();
    if note.is_empty() {
        console.out("It happened while the models were imported")
    } else {
        console.out(format_args!("It was at {note}"))
    }
    Ok(ExitStatus::Error)
}

/// Prints the traceback of a model's error, if it has one, and returns the error that ends the
/// command.
pub(crate) fn model_error(console: &mut Console<'_>, error: &ModelError) -> CommandError {
    match error {
        ModelError::Raised {
            exception: what,
            traceback,
        } => {
            for line in traceback.lines() {
                console.err(line);
            }
            CommandError::Error(
                Error::new(format!("the code of a model raised {what}"))
                    .with_help("nothing catches exceptions of models: the traceback above tells where it was raised"),
            )
        }
        ModelError::InStepper { traceback, .. } => {
            for line in traceback.lines() {
                console.err(line);
            }
            let help = "only what `TestAction` raises is a failure of the run; the traceback above tells where this was raised";
            CommandError::Error(Error::new(error.to_string()).with_help(help))
        }
        ModelError::Unusable(error) => CommandError::Error(error.clone()),
        ModelError::Source(text) => {
            print_misread(console, text);
            CommandError::Reported
        }
        ModelError::NoReset { .. } => CommandError::Error(Error::new(error.to_string()).with_help(
            "define a function `Reset` without arguments that restores the initial state",
        )),
        ModelError::Interrupted => CommandError::Interrupted,
    }
}

/// Shows the position of a syntax error in the text of a model.
fn print_misread(console: &mut Console<'_>, misread: &SourceError) {
    let here = env::current_dir().unwrap_or_default();
    let name = misread.file.strip_prefix(here).unwrap_or(&misread.file);
    let file = TextFile {
        path: misread.file.clone(),
        name: name.display().to_string(),
        text: misread.text.clone(),
    };
    let problem = Diagnostic {
        severity: Severity::Error,
        name: misread.name,
        message: misread.message.clone(),
        range: misread.range.clone(),
        label: String::new(),
        related: None,
        help: Some(misread.help.clone()),
    };
    let shown = console.renderer().diagnostic(&file, &problem);
    console.err(shown);
}
