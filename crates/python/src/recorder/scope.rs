//! The scope of a recording: the code that belongs to the project.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rustc_hash::FxHashMap;
use testwright_capture::ImportPath;

use super::names;

/// Folders that hold no code of the project.
const FOREIGN_FOLDERS: [&str; 5] = [
    "site-packages",
    "dist-packages",
    "node_modules",
    "__pycache__",
    "__pypackages__",
];

/// The code to record.
#[derive(Clone, Debug, Default)]
pub struct ProjectScope {
    /// Modules and packages by name, including their submodules. If empty, the folders decide.
    pub modules: Vec<String>,
    /// Folders whose files belong to the project, except for environments and tests.
    pub folders: Vec<PathBuf>,
}

/// Decides whether files are in scope, and remembers the decisions.
pub(super) struct ScopeCache {
    scope: ProjectScope,
    /// Decisions by the address of the file name in code objects. The names are kept alive, so that
    /// addresses stay unique.
    decisions: FxHashMap<usize, (bool, Py<PyAny>)>,
    /// The folders of the standard library, of installed packages and of Testwright itself.
    foreign_folders: Vec<PathBuf>,
}

impl ScopeCache {
    /// Finds the folders that are out of scope.
    pub(super) fn new(python: Python<'_>, scope: ProjectScope) -> PyResult<ScopeCache> {
        let paths = python.import("sysconfig")?.call_method0("get_paths")?;
        let mut foreign = Vec::new();
        for name in ["stdlib", "platstdlib", "purelib", "platlib"] {
            foreign.extend(paths.get_item(name)?.extract::<PathBuf>());
        }
        // Looked up without importing it: the package around the extension may be missing.
        let ours = names::resolve(python, &ImportPath::new("testwright._native", ""));
        let ours: Option<PathBuf> =
            ours.and_then(|ours| ours.getattr("__file__").ok()?.extract().ok());
        foreign.extend(ours.and_then(|file| Some(file.parent()?.to_path_buf())));
        Ok(ScopeCache {
            scope,
            decisions: FxHashMap::default(),
            foreign_folders: foreign,
        })
    }

    /// Returns true if code of a file is in scope. `globals` is the namespace that it runs in.
    pub(super) fn contains(
        &mut self,
        file: &Bound<'_, PyAny>,
        globals: &Bound<'_, PyDict>,
    ) -> bool {
        let address = file.as_ptr() as usize;
        if let Some((is_ours, _)) = self.decisions.get(&address) {
            return *is_ours;
        }
        let is_ours = self.is_in_scope(file, globals);
        self.decisions
            .insert(address, (is_ours, file.clone().unbind()));
        is_ours
    }

    /// Decides for a file seen for the first time.
    fn is_in_scope(&self, file: &Bound<'_, PyAny>, globals: &Bound<'_, PyDict>) -> bool {
        // SAFETY: the name is alive.
        let Some(file) = (unsafe { names::read_text(file.py(), file.as_ptr()) }) else {
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
        let name = name.and_then(|name| unsafe { names::read_text(name.py(), name.as_ptr()) });
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

    /// Returns true if a file lies in the project's folders, and is no test and not installed.
    fn is_own_file(&self, path: &Path) -> bool {
        let Some(inner) = self
            .scope
            .folders
            .iter()
            .find_map(|one| path.strip_prefix(one).ok())
        else {
            return false;
        };
        // A project may lie inside an environment's folder, but installed packages inside a project
        // do not belong to it.
        let folders = self.scope.folders.iter();
        let is_foreign = |other: &PathBuf| {
            path.starts_with(other) && !folders.clone().any(|own| own.starts_with(other))
        };
        let is_hidden = |name: &str| name.starts_with('.') || FOREIGN_FOLDERS.contains(&name);
        let mut parts = inner.iter().map(|part| part.to_string_lossy());
        !self.foreign_folders.iter().any(is_foreign)
            && !parts.any(|part| is_hidden(&part))
            && !is_test_file(inner)
    }
}

/// Returns true if a file holds tests, judged by the naming rules of pytest and unittest.
fn is_test_file(path: &Path) -> bool {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let stem = name.strip_suffix(".py").unwrap_or(&name);
    stem.starts_with("test_") || stem.ends_with("_test") || stem == "conftest" || stem == "tests"
}

/// Returns the name of the loaded module that comes from a file.
pub(super) fn module_of_file(python: Python<'_>, file: &str) -> Option<String> {
    let modules = python.import("sys").ok()?.getattr("modules").ok()?;
    for (name, module) in modules.cast::<PyDict>().ok()?.iter() {
        let namespace = names::module_namespace(&module);
        let found = namespace.and_then(|namespace| names::entry(&namespace, "__file__"));
        // SAFETY: the entries are alive.
        unsafe {
            let path = found.and_then(|found| names::read_text(python, found.as_ptr()));
            if path.as_deref() == Some(file) {
                return names::read_text(python, name.as_ptr());
            }
        }
    }
    None
}
