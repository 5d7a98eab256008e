//! Logs of real runs: a JSON object on each line.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value};
use testwright_core::product::ModelError;
use testwright_core::{Error, spelling};
use testwright_lang::{Diagnostic, Severity};
use testwright_model::conform::LoggedAction;
use testwright_model::recorded_suite;
use testwright_python::{ActionParameter, Models};

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
    let mut format = LogFormat::default();
    let mut runs = vec![Vec::new()];
    for entry in read(console, &mut format, file)? {
        let Some(step) = entry.step else {
            runs.push(Vec::new());
            continue;
        };
        let name = models.product.interner_mut().intern_name(&step.action);
        if !models.product.has_action(name) {
            let message = format!(
                "{}:{}: no model has the action `{}`",
                file.name, entry.line, step.action
            );
            let advice = spelling::advice(&step.action, "actions", action_names(models));
            return Err(Error::new(message).with_help(advice).into());
        }
        let action = format.resolve_step(models, &step);
        let action = action.map_err(|error| super::model_error(console, &error))?;
        if let Some(run) = runs.last_mut() {
            run.push(action);
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

/// Returns the names of all actions of models.
pub(crate) fn action_names(models: &Models<'_>) -> Vec<String> {
    let product = &models.product;
    let names = product.vocabulary().iter();
    names
        .map(|name| product.interner().name_text(*name).to_owned())
        .collect()
}

/// The format of a log: which field is what, and which names mean which actions.
pub(crate) struct LogFormat {
    /// The fields with the action, its arguments, its result, and the mark of another run.
    fields: [String; 4],
    /// Names of actions in the log, and in the models.
    renamed: Vec<(String, String)>,
    /// The fields that were ignored, with the number of lines.
    pub(crate) ignored: BTreeMap<String, u64>,
    /// The parameters of each action that has been met.
    parameters: BTreeMap<String, Vec<ActionParameter>>,
}

/// The usual names of the fields.
const FIELDS: [&str; 4] = ["action", "arguments", "result", "restart"];

impl Default for LogFormat {
    fn default() -> LogFormat {
        LogFormat {
            fields: FIELDS.map(str::to_owned),
            renamed: Vec::new(),
            ignored: BTreeMap::new(),
            parameters: BTreeMap::new(),
        }
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
    /// The name of the action in the models.
    pub(crate) action: String,
    /// The arguments: a list, or an object with their names. `None` if there is no such field.
    arguments: Option<Value>,
    /// The result, as JSON, if the log has one.
    result: Option<String>,
    /// The other fields.
    others: Map<String, Value>,
}

/// Reads a log, or prints the problem of its first bad line.
fn read(
    console: &mut Console<'_>,
    format: &mut LogFormat,
    file: &TextFile,
) -> Result<Vec<LogEntry>, CommandError> {
    let mut entries = Vec::new();
    for (number, text) in file.text.split('\n').enumerate() {
        entries.extend(format.entry(console, &file.name, number + 1, text)?);
    }
    if entries.is_empty() {
        return Err(empty_log(&file.name).into());
    }
    Ok(entries)
}

/// Returns the error for a log without a line.
pub(crate) fn empty_log(name: &str) -> Error {
    Error::new(format!("the log `{name}` is empty"))
        .with_help("a line is like {\"action\": \"Push\", \"arguments\": [1]}")
}

impl LogFormat {
    /// Creates a format from pairs: fields and their names in the log, and names of actions in the
    /// log and in the models.
    pub(crate) fn new(
        fields: &[(String, String)],
        renamed: &[(String, String)],
    ) -> Result<LogFormat, Error> {
        let mut format = LogFormat {
            renamed: renamed.to_vec(),
            ..LogFormat::default()
        };
        for (field, name) in fields {
            let Some(index) = FIELDS.iter().position(|known| known == field) else {
                let advice = spelling::advice(field, "fields", FIELDS.map(str::to_owned));
                return Err(Error::new(format!(
                    "`--field {field}={name}`: logs have no such field"
                ))
                .with_help(advice));
            };
            format.fields[index] = name.clone();
        }
        Ok(format)
    }

    /// Parses a line. Returns `None` if it is blank, and prints what is wrong with it.
    pub(crate) fn entry(
        &self,
        console: &mut Console<'_>,
        log: &str,
        line: usize,
        text: &str,
    ) -> Result<Option<LogEntry>, CommandError> {
        if text.trim().is_empty() {
            return Ok(None);
        }
        let step = self.parse(text).map_err(|(column, message)| {
            // The text has as many lines as the log so far, for the line number.
            let before = "\n".repeat(line - 1);
            let at = before.len() + column.min(text.len());
            let problem = Diagnostic {
                severity: Severity::Error,
                name: "unreadable-log",
                message,
                range: at..(before.len() + text.trim_end().len()).max(at),
                label: String::new(),
                related: None,
                help: Some(
                    "a line is like {\"action\": \"Push\", \"arguments\": [1], \"result\": null}"
                        .to_owned(),
                ),
            };
            let file = TextFile {
                path: PathBuf::from(log),
                name: log.to_owned(),
                text: before + text,
            };
            load::print_problems(console, &file, &[problem]);
            CommandError::Reported
        })?;
        Ok(Some(LogEntry {
            line,
            text: text.trim().to_owned(),
            step,
        }))
    }

    /// Parses a line. Returns `None` for a restart, or the column and the reason of an error.
    fn parse(&self, text: &str) -> Result<Option<LoggedStep>, (usize, String)> {
        let value: Value = serde_json::from_str(text).map_err(|error| {
            // The line number in the message counts from this line, which is shown anyway.
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            (
                error.column().saturating_sub(1),
                format!("this is not JSON: {message}"),
            )
        })?;
        let wrong = |message: String| (0, message);
        let Value::Object(mut fields) = value else {
            return Err(wrong("a line should be a JSON object".to_owned()));
        };
        let [action, arguments, result, restart] = &self.fields;
        if fields
            .remove(restart)
            .is_some_and(|restart| restart == Value::Bool(true))
        {
            return Ok(None);
        }
        let Some(Value::String(action)) = fields.remove(action) else {
            let known: Vec<&str> = fields.keys().map(String::as_str).take(5).collect();
            let advice = match known.as_slice() {
                [] => String::new(),
                known => format!(
                    "; `--field action=NAME` chooses another field, such as `{}`",
                    known.join("` or `")
                ),
            };
            return Err(wrong(format!(
                "there is no `{action}`, or it is not a text{advice}"
            )));
        };
        let arguments = fields.remove(arguments);
        if arguments
            .as_ref()
            .is_some_and(|given| !given.is_array() && !given.is_object())
        {
            let name = &self.fields[1];
            return Err(wrong(format!(
                "`{name}` should be a list, or an object with names"
            )));
        }
        let mut renamed = self.renamed.iter();
        let renamed = renamed.find(|(log, _)| *log == action);
        Ok(Some(LoggedStep {
            action: renamed.map_or(action, |(_, model)| model.clone()),
            arguments,
            result: fields.remove(result).map(|result| result.to_string()),
            others: fields,
        }))
    }

    /// Converts a step to the values of models. Fields and named arguments without a meaning are
    /// ignored and counted.
    pub(crate) fn resolve_step(
        &mut self,
        models: &mut Models<'_>,
        step: &LoggedStep,
    ) -> Result<LoggedAction, ModelError> {
        if !self.parameters.contains_key(&step.action) {
            let found = models.parameters(&step.action)?;
            self.parameters.insert(step.action.clone(), found);
        }
        let parameters = self.parameters.get(&step.action);
        let parameters = parameters.map_or(&[][..], Vec::as_slice);
        let is_named = |field: &str| parameters.iter().any(|one| one.name == field);
        // In a flat log, the arguments are fields of the line.
        let is_flat = step.arguments.is_none() && step.others.keys().any(|field| is_named(field));
        for field in step
            .others
            .keys()
            .filter(|field| !is_flat || !is_named(field))
        {
            count(&mut self.ignored, field.clone());
        }
        let arguments = match &step.arguments {
            Some(Value::Object(named)) => {
                let place = &self.fields[1];
                for name in named.keys().filter(|name| !is_named(name)) {
                    count(&mut self.ignored, format!("{place}.{name}"));
                }
                arguments_by_name(&step.action, parameters, named)?
            }
            Some(list) => list.to_string(),
            None if is_flat => arguments_by_name(&step.action, parameters, &step.others)?,
            None => "[]".to_owned(),
        };
        let (name, arguments, result) =
            models.parse_json_step(&step.action, &arguments, step.result.as_deref())?;
        Ok(LoggedAction {
            name,
            arguments,
            result,
        })
    }
}

/// Adds one to the number of a name.
fn count(counts: &mut BTreeMap<String, u64>, name: String) {
    *counts.entry(name).or_default() += 1;
}

/// Orders named arguments as the parameters of an action. Trailing ones with a default may be left
/// out.
fn arguments_by_name(
    action: &str,
    parameters: &[ActionParameter],
    named: &Map<String, Value>,
) -> Result<String, Error> {
    let given = parameters
        .iter()
        .rposition(|one| named.contains_key(&one.name));
    let required = parameters.iter().rposition(|one| one.default.is_none());
    let count = given.max(required).map_or(0, |last| last + 1);
    let mut arguments = Vec::new();
    for parameter in &parameters[..count] {
        let value = named.get(&parameter.name).map(Value::to_string);
        arguments.push(value.or_else(|| parameter.default.clone()).ok_or_else(|| {
            Error::new(format!(
                "a line with `{action}` has no argument `{}`",
                parameter.name
            ))
            .with_help("give the arguments as a list, or all of them by their names")
        })?);
    }
    Ok(format!("[{}]", arguments.join(", ")))
}
