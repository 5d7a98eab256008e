//! Models for commands: loading them, and telling what is wrong with them.

mod explaining;
pub(crate) mod log;
mod system;

use std::env;
use std::path::Path;

use testwright_core::product::{Misread, Trouble as ModelTrouble};
use testwright_core::{Error, Failure, FailureKind};
use testwright_lang::{Diagnostic, Severity};
use testwright_model::Filter;
use testwright_python::{Models, Process};

use crate::console::{Console, Look};
use crate::files::TextFile;
use crate::{ExitStatus, Trouble, quantity};

pub(crate) use explaining::RunExplaining;
pub(crate) use system::{At, Curtain, ModelSystem};

/// Imports models, composes them with the logs among them, and hands them to `work`.
pub(crate) fn with_models<R>(
    console: &mut Console<'_>,
    names: &[String],
    filter: &Filter,
    work: impl FnOnce(&mut Console<'_>, &mut Models<'_>) -> Result<R, Trouble>,
) -> Result<R, Trouble> {
    with_models_in(console, names, filter, Process::OfTheTool, work)
}

/// The same in a process that may not be the tool's own.
pub(crate) fn with_models_in<R>(
    console: &mut Console<'_>,
    names: &[String],
    filter: &Filter,
    process: Process,
    work: impl FnOnce(&mut Console<'_>, &mut Models<'_>) -> Result<R, Trouble>,
) -> Result<R, Trouble> {
    // Read before code runs that may change the current folder.
    let (logs, modules): (Vec<&String>, Vec<&String>) =
        names.iter().partition(|name| log::is_log(name));
    let logs = logs.into_iter().map(|log| TextFile::read(Path::new(log)));
    let logs = logs.collect::<Result<Vec<TextFile>, Error>>()?;
    let modules: Vec<String> = modules.into_iter().cloned().collect();
    // What modules print when they are imported comes after what was said before.
    console.flush();
    testwright_python::attach(|interpreter| {
        let loaded = Models::load(interpreter, &modules, filter, process);
        let mut models = loaded.map_err(|trouble| tell(console, &trouble))?;
        for log in &logs {
            log::compose(console, &mut models, log)?;
        }
        for remark in &models.remarks {
            console.warning(remark, None);
        }
        let result = work(console, &mut models);
        testwright_python::flush();
        result
    })
}

/// Tells that the code of models has ended the process, or did not come back, and after which steps: the lines of a note.
/// Gives these.
pub(crate) fn say_end<'n>(
    console: &mut Console<'_>,
    note: &'n str,
    failure: &Failure,
) -> Vec<&'n str> {
    let steps: Vec<&str> = note.lines().filter(|line| !line.is_empty()).collect();
    let title = match failure.kind {
        FailureKind::Hang => "Hang",
        _ => "Crash",
    };
    let title = console.paint(Look::Bad, title);
    let place = match steps.len() as u64 {
        0 => "where runs begin".to_owned(),
        many => format!("after {}", quantity::of(many, "step")),
    };
    console.say(format_args!("{title} {place}: {}", failure.message));
    for line in failure.details.lines() {
        console.say(format_args!("    {line}"));
    }
    for step in &steps {
        console.say(format_args!("    {step}"));
    }
    steps
}

/// Tells how the code of models has ended the process, or that it did not come back.
pub(crate) fn tell_failure(console: &mut Console<'_>, failure: &Failure) {
    let title = match failure.kind {
        FailureKind::Hang => "The code of a model does not come back",
        _ => "The code of a model ended the process",
    };
    let title = console.paint(Look::Bad, title);
    console.say(format_args!("{title}: {}", failure.message));
    for line in failure.details.lines() {
        console.say(format_args!("    {line}"));
    }
}

/// Tells that the code of models has ended the process, or did not come back, and what it was at: the note.
pub(crate) fn tell_end(
    console: &mut Console<'_>,
    note: &str,
    failure: &Failure,
) -> Result<ExitStatus, Trouble> {
    tell_failure(console, failure);
    let note = note.trim_end();
    if note.is_empty() {
        console.say("It happened while the models were imported")
    } else {
        console.say(format_args!("It was at {note}"))
    }
    Ok(ExitStatus::CouldNot)
}

/// Tells why a model does not answer.
pub(crate) fn tell(console: &mut Console<'_>, trouble: &ModelTrouble) -> Trouble {
    match trouble {
        ModelTrouble::Raised { what, traceback } => {
            for line in traceback.lines() {
                console.tell(line);
            }
            Trouble::Error(
                Error::new(format!("the code of a model raised {what}"))
                    .with_help("nothing catches exceptions of models: the traceback above tells where it was raised"),
            )
        }
        ModelTrouble::InStepper { traceback, .. } => {
            for line in traceback.lines() {
                console.tell(line);
            }
            let help = "only what `TestAction` raises is a failure of the run; the traceback above tells where this was raised";
            Trouble::Error(Error::new(trouble.to_string()).with_help(help))
        }
        ModelTrouble::Unusable(error) => Trouble::Error(error.clone()),
        ModelTrouble::Misread(text) => {
            tell_misread(console, text);
            Trouble::Told
        }
        ModelTrouble::NoReset { .. } => Trouble::Error(Error::new(trouble.to_string()).with_help(
            "define a function `Reset` without arguments that restores the initial state",
        )),
        ModelTrouble::Interrupted => Trouble::Interrupted,
    }
}

/// Shows the place in a text that cannot be understood.
fn tell_misread(console: &mut Console<'_>, misread: &Misread) {
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
    console.tell(shown);
}
