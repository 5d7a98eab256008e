//! Setup of step files that run models, with or without an implementation.

use std::path::{Path, PathBuf};
use std::time::Duration;

use testwright_core::Error;
use testwright_readable::steps::{FeatureRunner, ModelRunSetup, StepModule};

use super::module_location::ModuleLocation;
use super::output::parent_path;
use crate::files::UserPath;

/// Returns the imports and names that step files in `folder` need to run models and a stepper.
pub(in crate::commands) fn model_run_setup(
    models: &[PathBuf],
    stepper: Option<&str>,
    patience: Duration,
    folder: &UserPath,
    runner: FeatureRunner,
) -> Result<ModelRunSetup, Error> {
    let locate =
        |file: &Path| Ok(ModuleLocation::locate(file)?.step_module(folder.absolute(), "v"));
    let modules: Result<Vec<StepModule>, Error> = models.iter().map(|file| locate(file)).collect();
    let modules = modules?;
    let stepper = match stepper {
        Some(name) => {
            let name = name.strip_suffix(".py").unwrap_or(name);
            Some(locate(Path::new(&format!(
                "{}.py",
                name.replace('.', "/")
            )))?)
        }
        None => None,
    };
    let import = |module: &StepModule| module.import_lines(parent_path(runner));
    Ok(ModelRunSetup {
        imports: modules.iter().chain(&stepper).map(import).collect(),
        models: modules
            .iter()
            .map(|module| module.alias().to_owned())
            .collect(),
        stepper: stepper.map(|module| module.alias().to_owned()),
        patience,
    })
}
