//! The command line of a tool, as text.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};

use crate::console::Console;

/// The arguments of a tool as text.
pub(super) struct Invocation {
    /// All arguments of the tool, given or not.
    arguments: Vec<ToolArgument>,
    /// The tool and its arguments as they were typed.
    line: String,
}

/// An argument of a tool.
struct ToolArgument {
    /// The name in the program.
    id: String,
    /// The name for people.
    name: String,
    /// The value as a Python literal.
    value: String,
    /// True for an option, false for a positional argument.
    is_option: bool,
    /// True if it was typed.
    is_given: bool,
}

impl Invocation {
    /// Collects the arguments.
    pub(super) fn new(command: &clap::Command, matches: &ArgMatches, line: String) -> Invocation {
        let own = command
            .get_arguments()
            .filter(|argument| !matches!(argument.get_action(), ArgAction::Help));
        Invocation {
            arguments: own
                .map(|argument| ToolArgument::new(argument, matches))
                .collect(),
            line,
        }
    }

    /// Returns the tool and its arguments as they were typed.
    pub(super) fn line(&self) -> &str {
        &self.line
    }

    /// Renders `Config(seed=None, timeout=30, …)`, the first line of TSTL's tools.
    pub(super) fn config(&self) -> String {
        self.config_with(&[])
    }

    /// Renders the first line with values that were chosen for arguments that were not given.
    pub(super) fn config_with(&self, chosen: &[(&str, String)]) -> String {
        let part = |argument: &ToolArgument| {
            let chosen = chosen.iter().find(|(name, _)| *name == argument.name);
            let value = match chosen {
                Some((_, value)) => as_python(value),
                None => argument.value.clone(),
            };
            format!("{}={value}", argument.name)
        };
        let parts: Vec<String> = self.arguments.iter().map(part).collect();
        format!("Config({})", parts.join(", "))
    }

    /// Prints which of the options that were typed change nothing, and why.
    pub(super) fn explain(&self, console: &mut Console<'_>, without_effect: &[(&str, &str)]) {
        for argument in self.arguments.iter().filter(|argument| argument.is_given) {
            let why = without_effect.iter().find(|(id, _)| *id == argument.id);
            if let Some((_, why)) = why {
                let dashes = if argument.is_option { "--" } else { "" };
                let name = &argument.name;
                console.err(format_args!(
                    "{dashes}{name} is accepted and has no effect: {why}"
                ));
            }
        }
    }
}

impl ToolArgument {
    /// Converts an argument of clap.
    fn new(argument: &Arg, matches: &ArgMatches) -> ToolArgument {
        let id = argument.get_id().as_str();
        let values = matches.get_raw(id).into_iter().flatten();
        let values: Vec<String> = values
            .map(|value| as_python(&value.to_string_lossy()))
            .collect();
        let value = match (argument.get_action(), values.as_slice()) {
            (ArgAction::SetTrue, _) => {
                if matches.get_flag(id) {
                    String::from("True")
                } else {
                    String::from("False")
                }
            }
            (_, []) => String::from("None"),
            (ArgAction::Append, values) => format!("[{}]", values.join(", ")),
            (_, [value, ..]) => value.clone(),
        };
        ToolArgument {
            id: id.to_owned(),
            name: argument.get_long().unwrap_or(id).to_owned(),
            value,
            is_option: argument.get_long().is_some(),
            is_given: matches.value_source(id) == Some(ValueSource::CommandLine),
        }
    }
}

/// Renders a Python literal: a number as it is, anything else in quotes.
fn as_python(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(_) => text.to_owned(),
        Err(_) => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
    }
}
