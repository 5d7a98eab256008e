//! How a tool was called.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};

use crate::console::Console;

/// The arguments of a tool as text.
pub(super) struct Calling {
    /// For each argument its name in the program, its name for people, and what Python would say that it is.
    arguments: Vec<Argument>,
    /// The tool and its arguments, as they were typed.
    line: String,
}

struct Argument {
    id: String,
    name: String,
    value: String,
    is_option: bool,
    is_given: bool,
}

impl Calling {
    pub(super) fn new(command: &clap::Command, matches: &ArgMatches, line: String) -> Calling {
        let own = command
            .get_arguments()
            .filter(|argument| !matches!(argument.get_action(), ArgAction::Help));
        Calling {
            arguments: own
                .map(|argument| Argument::new(argument, matches))
                .collect(),
            line,
        }
    }

    /// The tool and its arguments, as they were typed.
    pub(super) fn line(&self) -> &str {
        &self.line
    }

    /// `Config(seed=None, timeout=30, …)`, as TSTL's tools begin.
    pub(super) fn config(&self) -> String {
        self.config_with(&[])
    }

    /// The same with what was chosen for arguments that were not given.
    pub(super) fn config_with(&self, chosen: &[(&str, String)]) -> String {
        let part = |argument: &Argument| {
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
