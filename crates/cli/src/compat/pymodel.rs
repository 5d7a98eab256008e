//! The command lines of PyModel. Its tools end with 0 even if runs fail, and with 1 if they could not do their work.

use std::path::{Path, PathBuf};

use testwright_core::Error;
use testwright_core::product::Trouble as ModelTrouble;
use testwright_model::{Filter, Graph, Limits, explore, fsm_file};
use testwright_python::Models;

use super::{Calling, Ended};
use crate::console::Console;
use crate::files::Place;
use crate::pulse::Pulse;
use crate::{Trouble, models};

mod analyzer;
mod cases;
mod graph;
mod tester;

pub(super) use analyzer::Analyzer;
pub(super) use cases::{CaseRunner, Comparer};
pub(super) use graph::{Grapher, Viewer};
pub(super) use tester::Tester;

/// Which actions to speak of.
#[derive(clap::Args)]
struct Actions {
    /// Include only this action; can be given several times
    #[arg(short = 'a', long = "action", value_name = "NAME")]
    include: Vec<String>,

    /// Leave out this action; can be given several times
    #[arg(short = 'e', long = "exclude", value_name = "NAME")]
    exclude: Vec<String>,
}

/// What to explore, and how far.
#[derive(clap::Args)]
struct Exploring {
    /// Models, scenarios, suites and configurations: names of modules
    #[arg(value_name = "MODULE")]
    models: Vec<String>,

    #[command(flatten)]
    actions: Actions,

    /// How many transitions to record
    #[arg(
        short,
        long = "maxTransitions",
        value_name = "N",
        default_value_t = 100,
        allow_negative_numbers = true
    )]
    max_transitions: usize,

    /// The module to write, and all that is made of it, without its ending [default: the first module's name and FSM]
    #[arg(short, long, value_name = "NAME")]
    output: Option<String>,
}

impl Exploring {
    /// What files are called, without their endings.
    fn base(&self) -> String {
        let usual = || format!("{}FSM", first_name(&self.models));
        self.output.clone().unwrap_or_else(usual)
    }

    /// The command that explores like that.
    fn as_command(&self) -> String {
        let mut words = vec!["pma".to_owned()];
        let Actions { include, exclude } = &self.actions;
        words.extend(include.iter().map(|name| format!("--action {name}")));
        words.extend(exclude.iter().map(|name| format!("--exclude {name}")));
        words.push(format!("--maxTransitions {}", self.max_transitions));
        words.extend(self.output.iter().map(|name| format!("--output {name}")));
        words.extend(self.models.iter().cloned());
        words.join(" ")
    }

    /// Explores, writes what is known in any case, and hands it to `work` if nothing is in the way.
    fn run(
        &self,
        console: &mut Console<'_>,
        calling: &Calling,
        work: impl FnOnce(&mut Console<'_>, &Models<'_>, &Graph) -> Result<(), Trouble>,
    ) -> Result<Ended, Trouble> {
        let base = self.base();
        let read: Vec<&str> = self.models.iter().map(String::as_str).collect();
        let place = output(&base, &read)?;
        let limits = Limits {
            transitions: Some(self.max_transitions),
            ..Limits::default()
        };
        let filter = self.actions.filter();
        models::with_models(console, &self.models, &filter, |console, models| {
            keep_imported(&place, &base, models)?;
            let mut pulse = Pulse::new();
            let explored = explore(&mut models.product, &limits, &mut |_| {
                pulse.beat().is_none() || !testwright_python::asked_to_stop()
            });
            testwright_python::flush();
            let text = fsm_file::write(&models.product, &explored.graph, calling.line());
            place.write(&text)?;
            if let Some(trouble) = &explored.trouble {
                return ended(console, trouble);
            }
            if explored.stopped {
                return Err(Trouble::Interrupted);
            }
            console.say(fsm_file::summary(&explored.graph));
            work(console, models, &explored.graph)?;
            Ok(Ended::Well)
        })
    }
}

impl Actions {
    fn filter(&self) -> Filter {
        Filter {
            include: self.include.clone(),
            exclude: self.exclude.clone(),
        }
    }
}

/// What comes of trouble. One kind of it was never an error.
fn ended(console: &mut Console<'_>, trouble: &ModelTrouble) -> Result<Ended, Trouble> {
    match trouble {
        ModelTrouble::NoReset { model } => {
            console.say(format_args!("No Reset function for model program {model}"));
            Ok(Ended::Well)
        }
        other => Err(models::tell(console, other)),
    }
}

/// Where to write a module. Not over one that was named, for it would be lost.
fn output(name: &str, read: &[&str]) -> Result<Place, Error> {
    let place = Place::new(&PathBuf::from(format!("{name}.py")))?;
    for module in read {
        let file = PathBuf::from(format!(
            "{}.py",
            module.strip_suffix(".py").unwrap_or(module)
        ));
        refuse_if_same(&place, name, &file)?;
    }
    Ok(place)
}

/// Nor over one that those that were named have imported.
fn keep_imported(place: &Place, name: &str, models: &Models<'_>) -> Result<(), Error> {
    let own = place.absolute().file_name();
    let files = models.imported_files().into_iter();
    let mut files = files.filter(|file| file.file_name() == own);
    files.try_for_each(|file| refuse_if_same(place, name, &file))
}

fn refuse_if_same(place: &Place, name: &str, file: &Path) -> Result<(), Error> {
    if place.is(file) {
        let message = format!("`{name}.py` is among the modules that are used, and would be lost");
        Err(Error::new(message).with_help("choose another name with `-o NAME`"))
    } else {
        Ok(())
    }
}

/// Without arguments, the tools tell what they can do, and that is no error.
fn help<T: clap::CommandFactory>(console: &mut Console<'_>) -> Ended {
    let help = T::command().render_help().to_string();
    console.say(help.trim_end());
    Ended::Well
}

/// The name of the first module, as it is used for files. That of one in a package stands for itself.
fn first_name(names: &[String]) -> String {
    let first = names.first().map_or("", String::as_str);
    let first = first.strip_suffix(".py").unwrap_or(first);
    let is_path = first.contains(['/', std::path::MAIN_SEPARATOR]);
    let last = first.rsplit('.').next().filter(|_| !is_path);
    last.unwrap_or(first).to_owned()
}
