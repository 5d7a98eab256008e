//! The command lines of PyModel. Its tools end with 0 even if runs fail, and with 1 if they could not do their work.

use std::path::{Path, PathBuf};

use testwright_core::Error;
use testwright_core::product::Trouble as ModelTrouble;
use testwright_model::Filter;
use testwright_python::Models;

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
    match place.is(file) {
        false => Ok(()),
        true => {
            let message =
                format!("`{name}.py` is among the modules that are used, and would be lost");
            Err(Error::new(message).with_help("choose another name with `-o NAME`"))
        }
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
