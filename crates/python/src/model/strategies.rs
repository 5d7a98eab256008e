//! The strategies that come with the tool, as modules: those of users may import them and add to them.

use std::ffi::CString;
use std::path::Path;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule};

use super::modules::{first_on_path, put_into_ancestor};

/// Their names, and what they do.
const MODULES: [(&str, &str); 2] = [
    (
        "ActionNameCoverage",
        include_str!("strategies/ActionNameCoverage.py"),
    ),
    ("StateCoverage", include_str!("strategies/StateCoverage.py")),
];

/// How a module of ours is known.
const MARK: &str = "__testwright__";

/// Lets modules import the strategies by their names, where nobody has modules of these names himself. Says which of
/// them are ours.
pub(super) fn provide(python: Python<'_>) -> PyResult<[bool; 2]> {
    first_on_path(python, Path::new(""))?;
    let modules = python.import("sys")?.getattr("modules")?;
    let modules = modules.cast_into::<PyDict>().map_err(PyErr::from)?;
    let find = python.import("importlib.util")?.getattr("find_spec")?;
    let mut own = [false; 2];
    for (place, (name, text)) in MODULES.into_iter().enumerate() {
        if let Some(module) = modules.get_item(name)? {
            own[place] = module.hasattr(MARK)?;
            continue;
        }
        if !find.call1((name,))?.is_none() {
            continue;
        }
        let (text, name_for_python) = (CString::new(text)?, CString::new(name)?);
        let module = PyModule::from_code(python, &text, &name_for_python, &name_for_python)?;
        module.setattr(MARK, true)?;
        modules.set_item(name, &module)?;
        put_into_ancestor(python, name, &module)?;
        own[place] = true;
    }
    Ok(own)
}
