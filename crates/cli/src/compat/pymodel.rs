//! The command lines of PyModel. Its tools end with 0 even if runs fail, and with 1 if they could not do their work.

use std::path::PathBuf;

use testwright_core::Error;
use testwright_core::product::Trouble as ModelTrouble;
use testwright_model::Filter;

use super::Ended;
use crate::console::Console;
use crate::files::Place;
use crate::{Trouble, models};

mod analyzer;
mod graph;
mod tester;

pub(super) use analyzer::Analyzer;
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

/// The name of the first module, as it is used for files.
fn first_name(names: &[String]) -> String {
    let first = names.first().map_or("", String::as_str);
    first.strip_suffix(".py").unwrap_or(first).to_owned()
}

/// A model must not be lost because a machine is called like it.
fn refuse_own_model(place: &Place, names: &[String]) -> Result<(), Error> {
    let is_it = |name: &String| {
        let module = name.strip_suffix(".py").unwrap_or(name);
        place.is(&PathBuf::from(format!("{module}.py")))
    };
    if names.iter().any(is_it) {
        let shown = place.shown().display();
        let message = format!("`{shown}` is the model itself, and would be lost");
        return Err(Error::new(message).with_help("choose another name with `-o NAME`"));
    }
    Ok(())
}
