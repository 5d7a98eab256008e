//! Which code belongs to the project.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rustc_hash::FxHashMap;
use testwright_capture::Reference;

use super::names;

/// Parts of paths below which nothing is the project's own.
const FOREIGN: [&str; 5] = [
    "site-packages",
    "dist-packages",
    "node_modules",
    "__pycache__",
    "__pypackages__",
];

/// What is recorded.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Modules and packages by name, with everything in them. If there are none, what is in the folders counts.
    pub modules: Vec<String>,
    /// Folders whose files are the project's, but for those of environments and of tests.
    pub folders: Vec<PathBuf>,
}

/// Remembers what was found out about files.
pub(super) struct Scoped {
    scope: Scope,
    /// By the address of the file name in code objects; the names are kept, so that addresses stay theirs.
    known: FxHashMap<usize, (bool, Py<PyAny>)>,
    /// Where the interpreter's own library and installed packages are.
    foreign: Vec<PathBuf>,
}

impl Scoped {
    pub(super) fn new(python: Python<'_>, scope: Scope) -> PyResult<Scoped> {
        let paths = python.import("sysconfig")?.call_method0("get_paths")?;
        let mut foreign = Vec::new();
        for name in ["stdlib", "platstdlib", "purelib", "platlib"] {
            foreign.extend(paths.get_item(name)?.extract::<PathBuf>());
        }
        // Not by importing it: the package around it may not be there.
        let ours = names::found(python, &Reference::new("testwright._native", ""));
        let ours: Option<PathBuf> =
            ours.and_then(|ours| ours.getattr("__file__").ok()?.extract().ok());
        foreign.extend(ours.and_then(|file| Some(file.parent()?.to_path_buf())));
        Ok(Scoped {
            scope,
            known: FxHashMap::default(),
            foreign,
        })
    }

    /// Whether code of a file is the project's. `globals` are those it runs in.
    pub(super) fn has(&mut self, file: &Bound<'_, PyAny>, globals: &Bound<'_, PyDict>) -> bool {
        let address = file.as_ptr() as usize;
        if let Some((is_ours, _)) = self.known.get(&address) {
            return *is_ours;
        }
        let is_ours = self.judge(file, globals);
        self.known.insert(address, (is_ours, file.clone().unbind()));
        is_ours
    }

    fn judge(&self, file: &Bound<'_, PyAny>, globals: &Bound<'_, PyDict>) -> bool {
        // SAFETY: the name is alive.
        let Some(file) = (unsafe { names::text(file.py(), file.as_ptr()) }) else {
            return false;
        };
        if file.starts_with('<') {
            return false;
        }
        let path = std::path::absolute(&file).unwrap_or_else(|_| file.into());
        if self.scope.modules.is_empty() {
            return self.is_own_file(&path);
        }
        let name = names::entry(globals, "__name__");
        // SAFETY: the entry is alive.
        let name = name.and_then(|name| unsafe { names::text(name.py(), name.as_ptr()) });
        let Some(mut name) = name else {
            return false;
        };
        if name == "__main__" {
            let spec = names::entry(globals, "__spec__").filter(|spec| !spec.is_none());
            let spec = spec.and_then(|spec| spec.getattr("name").ok()?.extract().ok());
            let stem = path
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned());
            name = spec.or(stem).unwrap_or(name);
        }
        let is_named = |module: &String| {
            name.strip_prefix(module.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.scope.modules.iter().any(is_named)
    }

    fn is_own_file(&self, path: &Path) -> bool {
        let Some(inner) = self
            .scope
            .folders
            .iter()
            .find_map(|one| path.strip_prefix(one).ok())
        else {
            return false;
        };
        // A project may lie inside an environment's folder, but not an environment's packages inside a project's.
        let folders = self.scope.folders.iter();
        let is_foreign = |other: &PathBuf| {
            path.starts_with(other) && !folders.clone().any(|own| own.starts_with(other))
        };
        let is_hidden = |name: &str| name.starts_with('.') || FOREIGN.contains(&name);
        let mut parts = inner.iter().map(|part| part.to_string_lossy());
        !self.foreign.iter().any(is_foreign)
            && !parts.any(|part| is_hidden(&part))
            && !is_test_file(inner)
    }
}

/// Whether a file holds tests by its name, as pytest and unittest name them.
fn is_test_file(path: &Path) -> bool {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let stem = name.strip_suffix(".py").unwrap_or(&name);
    stem.starts_with("test_") || stem.ends_with("_test") || stem == "conftest" || stem == "tests"
}

/// The module that was made from a file, if it is loaded.
pub(super) fn module_of_file(python: Python<'_>, file: &str) -> Option<String> {
    let modules = python.import("sys").ok()?.getattr("modules").ok()?;
    for (name, module) in modules.cast::<PyDict>().ok()?.iter() {
        let namespace = names::module_namespace(&module);
        let found = namespace.and_then(|namespace| names::entry(&namespace, "__file__"));
        // SAFETY: the entries are alive.
        unsafe {
            let path = found.and_then(|found| names::text(python, found.as_ptr()));
            if path.as_deref() == Some(file) {
                return names::text(python, name.as_ptr());
            }
        }
    }
    None
}
