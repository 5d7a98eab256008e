//! Lists of commands, which samples of PyModel contain to run everything at once.

use pyo3::prelude::*;
use testwright_core::Error;
use testwright_core::product::ModelError;

use super::modules;
use crate::Interpreter;

/// The name of the list.
const LIST: &str = "cases";

/// Imports a module and returns its list `cases`: a description and a command for each case.
pub fn load_cases(
    interpreter: Interpreter<'_>,
    name: &str,
) -> Result<Vec<(String, String)>, ModelError> {
    let python = interpreter.0;
    let (folder, name) = modules::split_module_path(name);
    let module = modules::import(python, &folder, &name)?;
    let list = module.getattr(LIST).and_then(|list| list.extract());
    list.map_err(|_| {
        let message = format!("`{name}` has no list `{LIST}` of pairs of texts");
        let help =
            "each case is what it is about, and a command: `('Push, then Pop', 'pmt Stack')`";
        Error::new(message).with_help(help).into()
    })
}
