//! Models for commands: loading them, and telling what is wrong with them.

use std::env;

use testwright_core::Error;
use testwright_core::product::{Misread, Trouble as ModelTrouble};
use testwright_lang::{Diagnostic, Severity};
use testwright_model::Filter;
use testwright_python::{Models, Process};

use crate::Trouble;
use crate::console::Console;
use crate::files::TextFile;

/// Imports models, and hands them to `work`.
pub(crate) fn with_models<R>(
    console: &mut Console<'_>,
    names: &[String],
    filter: &Filter,
    work: impl FnOnce(&mut Console<'_>, &mut Models<'_>) -> Result<R, Trouble>,
) -> Result<R, Trouble> {
    // What modules print when they are imported comes after what was said before.
    console.flush();
    testwright_python::attach(|interpreter| {
        let loaded = Models::load(interpreter, names, filter, Process::OfTheTool);
        let mut models = loaded.map_err(|trouble| tell(console, &trouble))?;
        for remark in &models.remarks {
            console.warning(remark, None);
        }
        let result = work(console, &mut models);
        testwright_python::flush();
        result
    })
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
