//! Logs: what really happened, a JSON object on each line.

use testwright_core::Error;
use testwright_core::product::Trouble as ModelTrouble;
use testwright_lang::{Diagnostic, Severity};
use testwright_model::conform::Happened;
use testwright_model::recorded;
use testwright_python::Models;

use crate::console::Console;
use crate::files::TextFile;
use crate::{Trouble, load};

/// Whether a name on the command line is that of a log.
pub(crate) fn is_log(name: &str) -> bool {
    name.ends_with(".jsonl")
}

/// Composes what a log says with models, as a scenario.
pub(super) fn compose(
    console: &mut Console<'_>,
    models: &mut Models<'_>,
    file: &TextFile,
) -> Result<(), Trouble> {
    let mut runs = vec![Vec::new()];
    for entry in read(console, file)? {
        match (entry.step, runs.last_mut()) {
            (Some(step), Some(run)) => {
                let happened = step.happened(models);
                run.push(happened.map_err(|trouble| super::tell(console, &trouble))?);
            }
            _ => runs.push(Vec::new()),
        }
    }
    let name = std::path::Path::new(&file.name)
        .file_stem()
        .unwrap_or_default();
    let suite = recorded(&mut models.product, &name.to_string_lossy(), &runs);
    let suite = suite.map_err(|trouble| super::tell(console, &trouble))?;
    models.add_suite(suite);
    Ok(())
}

impl LoggedStep {
    /// The same in the words of models.
    pub(crate) fn happened(&self, models: &mut Models<'_>) -> Result<Happened, ModelTrouble> {
        let (name, arguments, result) =
            models.from_json(&self.action, &self.arguments, self.result.as_deref())?;
        Ok(Happened {
            name,
            arguments,
            result,
        })
    }
}

/// A line of a log.
pub(crate) struct Entry {
    pub(crate) line: usize,
    pub(crate) text: String,
    /// Nothing where another run begins.
    pub(crate) step: Option<LoggedStep>,
}

/// Something that happened, as JSON has it.
pub(crate) struct LoggedStep {
    action: String,
    /// As JSON.
    arguments: String,
    result: Option<String>,
}

/// Reads a log, or tells what is wrong with its first bad line.
pub(crate) fn read(console: &mut Console<'_>, file: &TextFile) -> Result<Vec<Entry>, Trouble> {
    let mut entries = Vec::new();
    let mut start = 0;
    for (number, text) in file.text.split('\n').enumerate() {
        let place = start;
        start += text.len() + 1;
        if text.trim().is_empty() {
            continue;
        }
        let step = entry(text).map_err(|(column, message)| {
            let at = place + column.min(text.len());
            let problem = Diagnostic {
                severity: Severity::Error,
                name: "unreadable-log",
                message,
                range: at..(place + text.trim_end().len()).max(at),
                label: String::new(),
                related: None,
                help: Some(
                    "a line is like {\"action\": \"Push\", \"arguments\": [1], \"result\": null}"
                        .to_owned(),
                ),
            };
            load::tell_problems(console, file, &[problem]);
            Trouble::Told
        })?;
        entries.push(Entry {
            line: number + 1,
            text: text.trim().to_owned(),
            step,
        });
    }
    if entries.is_empty() {
        let message = format!("the log `{}` is empty", file.name);
        return Err(Error::new(message)
            .with_help("a line is like {\"action\": \"Push\", \"arguments\": [1]}")
            .into());
    }
    Ok(entries)
}

/// What a line says, or where and why it cannot be understood.
fn entry(text: &str) -> Result<Option<LoggedStep>, (usize, String)> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| {
        // It counts lines from this one, which is shown anyway.
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        (
            error.column().saturating_sub(1),
            format!("this is not JSON: {message}"),
        )
    })?;
    let wrong = |message: &str| (0, message.to_owned());
    let fields = value
        .as_object()
        .ok_or_else(|| wrong("a line should be a JSON object"))?;
    if fields
        .get("restart")
        .is_some_and(|restart| restart.as_bool() == Some(true))
    {
        return Ok(None);
    }
    for name in fields.keys() {
        if !["action", "arguments", "result"].contains(&name.as_str()) {
            return Err(wrong(&format!("nobody knows what `{name}` means here")));
        }
    }
    let action = fields.get("action").and_then(|action| action.as_str());
    let action = action.ok_or_else(|| wrong("there is no `action`, or it is not a text"))?;
    let arguments = match fields.get("arguments") {
        None => "[]".to_owned(),
        Some(list) if list.is_array() => list.to_string(),
        Some(_) => return Err(wrong("`arguments` should be a list")),
    };
    Ok(Some(LoggedStep {
        action: action.to_owned(),
        arguments,
        result: fields.get("result").map(ToString::to_string),
    }))
}
