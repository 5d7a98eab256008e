//! Where step files find models and what is tested beside them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use testwright_core::Error;
use testwright_readable::steps::{Company, Home, Runner};

use super::module::ModulePlace;
use super::output::levels;
use crate::files::Place;

/// What a step file in a folder needs to lead these models, and what is tested.
pub(in crate::commands) fn company(
    models: &[PathBuf],
    stepper: Option<&str>,
    patience: Duration,
    folder: &Place,
    runner: Runner,
) -> Result<Company, Error> {
    let home = |file: &Path| Ok(ModulePlace::of(file)?.home(folder.absolute(), "v"));
    let homes: Result<Vec<Home>, Error> = models.iter().map(|file| home(file)).collect();
    let homes = homes?;
    let stepper = match stepper {
        Some(name) => {
            let name = name.strip_suffix(".py").unwrap_or(name);
            Some(home(Path::new(&format!("{}.py", name.replace('.', "/"))))?)
        }
        None => None,
    };
    let import = |home: &Home| home.import(levels(runner));
    Ok(Company {
        imports: homes.iter().chain(&stepper).map(import).collect(),
        models: homes.iter().map(|home| home.alias().to_owned()).collect(),
        stepper: stepper.map(|home| home.alias().to_owned()),
        patience,
    })
}
