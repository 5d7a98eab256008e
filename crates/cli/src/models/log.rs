//! Logs of real runs: a JSON object on each line.

use testwright_core::Error;
use testwright_core::product::ModelError;
use testwright_lang::{Diagnostic, Severity};
use testwright_model::conform::LoggedAction;
use testwright_model::recorded_suite;
use testwright_python::Models;

use crate::console::Console;
use crate::files::TextFile;
use crate::{CommandError, load};

/// Returns true if a name on the command line is that of a log.
pub(crate) fn is_log(name: &str) -> bool {
    name.ends_with(".jsonl")
}

/// Composes the runs of a log with models, as a scenario.
pub(super) fn add_as_scenario(
    console: &mut Console<'_>,
    models: &mut Models<'_>,
    file: &TextFile,
) -> Result<(), CommandError> {
    let mut runs = vec![Vec::new()];
    for entry in read(console, file)? {
        match (entry.step, runs.last_mut()) {
            (Some(step), Some(run)) => {
                let action = step.to_action(models);
                run.push(action.map_err(|error| super::model_error(console, &error))?);
            }
            _ => runs.push(Vec::new()),
        }
    }
    let name = std::path::Path::new(&file.name)
        .file_stem()
        .unwrap_or_default();
    let suite = recorded_suite(&mut models.product, &name.to_string_lossy(), &runs);
    let suite = suite.map_err(|error| super::model_error(console, &error))?;
    models.add_suite(suite);
    Ok(())
}

impl LoggedStep {
    /// Converts the step to the values of models.
    pub(crate) fn to_action(&self, models: &mut Models<'_>) -> Result<LoggedAction, ModelError> {
        let (name, arguments, result) =
            models.parse_json_step(&self.action, &self.arguments, self.result.as_deref())?;
        Ok(LoggedAction {
            name,
            arguments,
            result,
        })
    }
}

/// A line of a log.
pub(crate) struct LogEntry {
    /// The line number, from 1 on.
    pub(crate) line: usize,
    /// The line without blanks around it.
    pub(crate) text: String,
    /// The step; `None` where a new run begins.
    pub(crate) step: Option<LoggedStep>,
}

/// A step that happened, as JSON.
pub(crate) struct LoggedStep {
    /// The name of the action.
    action: String,
    /// The list of arguments, as JSON.
    arguments: String,
    /// The result, as JSON, if the log has one.
    result: Option<String>,
}

/// Reads a log, or prints the problem of its first bad line.
pub(crate) fn read(
    console: &mut Console<'_>,
    file: &TextFile,
) -> Result<Vec<LogEntry>, CommandError> {
    let mut entries = Vec::new();
    let mut start = 0;
    for (number, text) in file.text.split('\n').enumerate() {
        let line_start = start;
        start += text.len() + 1;
        if text.trim().is_empty() {
            continue;
        }
        let step = parse_entry(text).map_err(|(column, message)| {
            let at = line_start + column.min(text.len());
            let problem = Diagnostic {
                severity: Severity::Error,
                name: "unreadable-log",
                message,
                range: at..(line_start + text.trim_end().len()).max(at),
                label: String::new(),
                related: None,
                help: Some(
                    "a line is like {\"action\": \"Push\", \"arguments\": [1], \"result\": null}"
                        .to_owned(),
                ),
            };
            load::print_problems(console, file, &[problem]);
            CommandError::Reported
        })?;
        entries.push(LogEntry {
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

/// Parses a line. Returns `None` for a restart, or the column and the reason of an error.
fn parse_entry(text: &str) -> Result<Option<LoggedStep>, (usize, String)> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| {
        // The line number in the message counts from this line, which is shown anyway.
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
            return Err(wrong(&format!("unknown field `{name}`")));
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
