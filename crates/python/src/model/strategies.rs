//! The built-in strategies, as modules that the user's own strategies may import and extend.

use std::ffi::CString;
use std::path::Path;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule};

use super::modules::{add_to_pymodel, first_on_path};

/// The names of the modules, and their source.
const MODULES: [(&str, &str); 2] = [
    (
        "ActionNameCoverage",
        include_str!("strategies/ActionNameCoverage.py"),
    ),
    ("StateCoverage", include_str!("strategies/StateCoverage.py")),
];

/// The attribute that marks a module as built in.
const MARK: &str = "__testwright__";

/// Makes the strategies importable by name, unless the user has modules with these names. Returns
/// true for each that is the built-in one.
pub(super) fn provide(python: Python<'_>) -> PyResult<[bool; 2]> {
    first_on_path(python, Path::new(""))?;
    let modules = python.import("sys")?.getattr("modules")?;
    let modules = modules.cast_into::<PyDict>().map_err(PyErr::from)?;
    let find = python.import("importlib.util")?.getattr("find_spec")?;
    let mut own = [false; 2];
    for (index, (name, text)) in MODULES.into_iter().enumerate() {
        if let Some(module) = modules.get_item(name)? {
            own[index] = module.hasattr(MARK)?;
            continue;
        }
        if !find.call1((name,))?.is_none() {
            continue;
        }
        let (text, name_for_python) = (CString::new(text)?, CString::new(name)?);
        let module = PyModule::from_code(python, &text, &name_for_python, &name_for_python)?;
        module.setattr(MARK, true)?;
        modules.set_item(name, &module)?;
        add_to_pymodel(python, name, &module)?;
        own[index] = true;
    }
    Ok(own)
}
