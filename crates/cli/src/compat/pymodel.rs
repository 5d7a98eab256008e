//! The command lines of PyModel. Its tools end with 0 even if runs fail, and with 1 if they could
//! not do their work.

use std::path::{Path, PathBuf};

use testwright_core::Error;
use testwright_core::product::ModelError;
use testwright_model::{Filter, GraphLimits, ProductGraph, explore, fsm_file};
use testwright_python::Models;

use super::{Invocation, ToolOutcome};
use crate::console::Console;
use crate::files::UserPath;
use crate::throttle::Throttle;
use crate::{CommandError, models};

mod analyzer;
mod cases;
mod graph;
mod tester;

pub(super) use analyzer::Analyzer;
pub(super) use cases::{CaseRunner, Comparer};
pub(super) use graph::{Grapher, Viewer};
pub(super) use tester::Tester;

/// The options that include or exclude actions.
#[derive(clap::Args)]
struct ActionFilterArguments {
    /// Include only this action; can be given several times
    #[arg(short = 'a', long = "action", value_name = "NAME")]
    include: Vec<String>,

    /// Leave out this action; can be given several times
    #[arg(short = 'e', long = "exclude", value_name = "NAME")]
    exclude: Vec<String>,
}

/// The options of an exploration.
#[derive(clap::Args)]
struct ExplorationArguments {
    /// Models, scenarios, suites and configurations: names of modules
    #[arg(value_name = "MODULE")]
    models: Vec<String>,

    #[command(flatten)]
    actions: ActionFilterArguments,

    /// Maximum number of transitions to record
    #[arg(
        short,
        long = "maxTransitions",
        value_name = "N",
        default_value_t = 100,
        allow_negative_numbers = true
    )]
    max_transitions: usize,

    /// Base name of the module and the pictures to write, without ending [default: the first module's name and FSM]
    #[arg(short, long, value_name = "NAME")]
    output: Option<String>,
}

impl ExplorationArguments {
    /// Returns the name of the output files, without their endings.
    fn base_name(&self) -> String {
        let usual = || format!("{}FSM", first_name(&self.models));
        self.output.clone().unwrap_or_else(usual)
    }

    /// Returns the `pma` command line for this exploration.
    fn as_command(&self) -> String {
        let mut words = vec!["pma".to_owned()];
        let ActionFilterArguments { include, exclude } = &self.actions;
        words.extend(include.iter().map(|name| format!("--action {name}")));
        words.extend(exclude.iter().map(|name| format!("--exclude {name}")));
        words.push(format!("--maxTransitions {}", self.max_transitions));
        words.extend(self.output.iter().map(|name| format!("--output {name}")));
        words.extend(self.models.iter().cloned());
        words.join(" ")
    }

    /// Explores the models and writes the FSM module in any case. Calls `work` with the graph if
    /// the exploration succeeded.
    fn run(
        &self,
        console: &mut Console<'_>,
        invocation: &Invocation,
        work: impl FnOnce(&mut Console<'_>, &Models<'_>, &ProductGraph) -> Result<(), CommandError>,
    ) -> Result<ToolOutcome, CommandError> {
        let base = self.base_name();
        let read: Vec<&str> = self.models.iter().map(String::as_str).collect();
        let path = output_path(&base, &read)?;
        let limits = GraphLimits {
            transitions: Some(self.max_transitions),
            ..GraphLimits::default()
        };
        let filter = self.actions.filter();
        models::with_models(console, &self.models, &filter, |console, models| {
            refuse_imported(&path, &base, models)?;
            let mut throttle = Throttle::new();
            let explored = explore(&mut models.product, &limits, &mut |_| {
                throttle.poll().is_none() || !testwright_python::is_stop_requested()
            });
            testwright_python::flush();
            let text = fsm_file::write(&models.product, &explored.graph, invocation.line());
            path.write(&text)?;
            if let Some(error) = &explored.error {
                return outcome_of_error(console, error);
            }
            if explored.stopped {
                return Err(CommandError::Interrupted);
            }
            console.out(fsm_file::summary(&explored.graph));
            work(console, models, &explored.graph)?;
            Ok(ToolOutcome::Passed)
        })
    }
}

impl ActionFilterArguments {
    /// Converts the options to a filter.
    fn filter(&self) -> Filter {
        Filter {
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            follows_pymodel: true,
        }
    }
}

/// Prints an error of models. A missing `Reset` counts as success, as it always did in PyModel.
fn outcome_of_error(
    console: &mut Console<'_>,
    error: &ModelError,
) -> Result<ToolOutcome, CommandError> {
    match error {
        ModelError::NoReset { model } => {
            console.out(format_args!("No Reset function for model program {model}"));
            Ok(ToolOutcome::Passed)
        }
        other => Err(models::model_error(console, other)),
    }
}

/// Returns the path of the module to write, and refuses to overwrite a module that is read.
fn output_path(name: &str, read: &[&str]) -> Result<UserPath, Error> {
    let path = UserPath::new(&PathBuf::from(format!("{name}.py")))?;
    for module in read {
        let file = PathBuf::from(format!(
            "{}.py",
            module.strip_suffix(".py").unwrap_or(module)
        ));
        refuse_if_same(&path, name, &file)?;
    }
    Ok(path)
}

/// Refuses to overwrite a module that the models have imported.
fn refuse_imported(path: &UserPath, name: &str, models: &Models<'_>) -> Result<(), Error> {
    let own = path.absolute().file_name();
    let files = models.imported_files().into_iter();
    let mut files = files.filter(|file| file.file_name() == own);
    files.try_for_each(|file| refuse_if_same(path, name, &file))
}

/// Returns an error if the output would overwrite this file.
fn refuse_if_same(path: &UserPath, name: &str, file: &Path) -> Result<(), Error> {
    if path.is_same_file(file) {
        let message = format!("`{name}.py` is among the modules that are used, and would be lost");
        Err(Error::new(message).with_help("choose another name with `-o NAME`"))
    } else {
        Ok(())
    }
}

/// Prints the help, as the tools do without arguments. That is no error.
fn print_help<T: clap::CommandFactory>(console: &mut Console<'_>) -> ToolOutcome {
    let help = T::command().render_help().to_string();
    console.out(help.trim_end());
    ToolOutcome::Passed
}

/// Returns the name of the first module for output files, without its package.
fn first_name(names: &[String]) -> String {
    let first = names.first().map_or("", String::as_str);
    let first = first.strip_suffix(".py").unwrap_or(first);
    let is_path = first.contains(['/', std::path::MAIN_SEPARATOR]);
    let last = first.rsplit('.').next().filter(|_| !is_path);
    last.unwrap_or(first).to_owned()
}
