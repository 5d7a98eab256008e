//! How a tool was called.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};

use crate::console::Console;

/// The arguments of a tool as text.
pub(super) struct Calling {
    /// For each argument its name in the program, its name for people, and what Python would say that it is.
    arguments: Vec<Argument>,
}

struct Argument {
    id: String,
    name: String,
    value: String,
    is_option: bool,
    is_given: bool,
}

impl Calling {
    pub(super) fn new(command: &clap::Command, matches: &ArgMatches) -> Calling {
        let own = command
            .get_arguments()
            .filter(|argument| !matches!(argument.get_action(), ArgAction::Help));
        Calling {
            arguments: own
                .map(|argument| Argument::new(argument, matches))
                .collect(),
        }
    }

    /// `Config(seed=None, timeout=30, …)`, as TSTL's tools begin.
    pub(super) fn config(&self) -> String {
        let parts = self.arguments.iter();
        let parts: Vec<String> = parts
            .map(|argument| format!("{}={}", argument.name, argument.value))
            .collect();
        format!("Config({})", parts.join(", "))
    }

    /// The same with another value for one argument.
    pub(super) fn config_with(&self, name: &str, value: impl ToString) -> String {
        let argument = |argument: &Argument| Argument {
            id: argument.id.clone(),
            name: argument.name.clone(),
            value: match argument.name == name {
                true => value.to_string(),
                false => argument.value.clone(),
            },
            ..*argument
        };
        let arguments = self.arguments.iter().map(argument).collect();
        Calling { arguments }.config()
    }

    /// Tells which of the options that were typed change nothing, and why.
    pub(super) fn explain(&self, console: &mut Console<'_>, without_effect: &[(&str, &str)]) {
        for argument in self.arguments.iter().filter(|argument| argument.is_given) {
            let why = without_effect.iter().find(|(id, _)| *id == argument.id);
            if let Some((_, why)) = why {
                let dashes = if argument.is_option { "--" } else { "" };
                let name = &argument.name;
                console.tell(format_args!(
                    "{dashes}{name} is accepted and has no effect: {why}"
                ));
            }
        }
    }
}

impl Argument {
    fn new(argument: &Arg, matches: &ArgMatches) -> Argument {
        let id = argument.get_id().as_str();
        let values = matches.get_raw(id).into_iter().flatten();
        let values: Vec<String> = values
            .map(|value| as_python(&value.to_string_lossy()))
            .collect();
        let value = match (argument.get_action(), values.as_slice()) {
            (ArgAction::SetTrue, _) => match matches.get_flag(id) {
                true => String::from("True"),
                false => String::from("False"),
            },
            (_, []) => String::from("None"),
            (ArgAction::Append, values) => format!("[{}]", values.join(", ")),
            (_, [value, ..]) => value.clone(),
        };
        Argument {
            id: id.to_owned(),
            name: argument.get_long().unwrap_or(id).to_owned(),
            value,
            is_option: argument.get_long().is_some(),
            is_given: matches.value_source(id) == Some(ValueSource::CommandLine),
        }
    }
}

/// A number as it is, anything else in quotes.
fn as_python(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(_) => text.to_owned(),
        Err(_) => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
    }
}
