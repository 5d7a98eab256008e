//! Lists of commands, as samples of models have them to try everything at once.

use pyo3::prelude::*;
use testwright_core::Error;
use testwright_core::product::Trouble;

use super::modules;
use crate::Interpreter;

/// What the list is called.
const LIST: &str = "cases";

/// Imports a module with a list `cases`, and gives that: what each case is about, and its command.
pub fn cases(interpreter: Interpreter<'_>, name: &str) -> Result<Vec<(String, String)>, Trouble> {
    let python = interpreter.0;
    let (folder, name) = modules::place(name);
    let module = modules::import(python, &folder, &name)?;
    let list = module.getattr(LIST).and_then(|list| list.extract());
    list.map_err(|_| {
        let message = format!("`{name}` has no list `{LIST}` of pairs of texts");
        let help =
            "each case is what it is about, and a command: `('Push, then Pop', 'pmt Stack')`";
        Error::new(message).with_help(help).into()
    })
}
