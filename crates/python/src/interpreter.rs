//! Access to the interpreter.

use std::path::PathBuf;

use pyo3::Python;
use pyo3::prelude::*;
use testwright_core::Error;

/// Proof that this thread holds the interpreter.
#[derive(Clone, Copy)]
pub struct Interpreter<'py>(pub(crate) Python<'py>);

impl<'py> From<Python<'py>> for Interpreter<'py> {
    fn from(python: Python<'py>) -> Interpreter<'py> {
        Interpreter(python)
    }
}

/// Runs `work` while this thread holds the interpreter. Starts one where there is none, as in Rust
/// tests.
pub fn attach<R>(work: impl FnOnce(Interpreter<'_>) -> R) -> R {
    Python::initialize();
    Python::attach(|python| work(Interpreter(python)))
}

/// Returns the interpreter's executable, if it has one.
pub fn executable(interpreter: Interpreter<'_>) -> Option<PathBuf> {
    let system = interpreter.0.import("sys").ok()?;
    let path: PathBuf = system.getattr("executable").ok()?.extract().ok()?;
    Some(path).filter(|path| !path.as_os_str().is_empty())
}

/// Sets environment variables, for Python and for the programs that it starts.
pub fn set_environment(variables: &[(String, String)]) -> Result<(), Error> {
    let set = |python: Python<'_>| {
        let environment = python.import("os")?.getattr("environ")?;
        variables
            .iter()
            .try_for_each(|(name, value)| environment.set_item(name, value))
    };
    if variables.is_empty() {
        return Ok(());
    }
    Python::attach(set).map_err(|error| Error::new(format!("cannot set a variable: {error}")))
}

/// Returns the folders in which the interpreter looks for modules.
pub fn search_path(interpreter: Interpreter<'_>) -> Vec<PathBuf> {
    let path = || {
        let system = interpreter.0.import("sys").ok()?;
        let path: Vec<String> = system.getattr("path").ok()?.extract().ok()?;
        Some(path.into_iter().map(PathBuf::from).collect())
    };
    path().unwrap_or_default()
}

/// Returns the version of the interpreter: `3.12.1`.
pub fn version(_interpreter: Interpreter<'_>) -> String {
    let version = Python::version_str();
    version.split(' ').next().unwrap_or(version).to_owned()
}
