//! Finds the files of a project.

use std::fs;
use std::path::{Path, PathBuf};

use super::ignore::{IgnoreFile, path_matches};

/// A filter for files, besides those that are always excluded.
#[derive(Debug, Clone, Default)]
pub struct FileFilter {
    /// Patterns of paths to include, such as `shop/**`; all paths if empty.
    pub include: Vec<String>,
    /// Patterns of paths to exclude.
    pub exclude: Vec<String>,
}

impl FileFilter {
    /// Returns true if a path passes the filter.
    fn includes(&self, path: &[&str]) -> bool {
        let fits = |pattern: &String| {
            let components: Vec<&str> = pattern.split('/').collect();
            path_matches(&components, path)
        };
        (self.include.is_empty() || self.include.iter().any(fits)) && !self.exclude.iter().any(fits)
    }
}

/// Finds the Python files of a project, relative to its folder and sorted.
pub(super) fn python_files(root: &Path, chosen: &FileFilter) -> Vec<PathBuf> {
    let mut search = FileSearch {
        filter: chosen,
        ignore_files: Vec::new(),
        found: Vec::new(),
    };
    search.search_folder(root, &mut Vec::new());
    search.found.sort();
    search.found
}

/// Returns the folder that contains the package or module of a file, given the file's dotted name.
pub(super) fn package_parent(name: &str, file: &Path) -> Option<PathBuf> {
    let mut path = file.with_extension("");
    if path.file_name()? == "__init__" {
        path.pop();
    }
    for word in name.rsplit('.') {
        if path.file_name()? != word {
            return None;
        }
        path.pop();
    }
    Some(path)
}

/// Finds the Python files of a package or module in a folder, relative to that and sorted.
pub(super) fn files_of_package(above: &Path, name: &str) -> Vec<PathBuf> {
    let package = above.join(name);
    if !package.is_dir() {
        return vec![PathBuf::from(format!("{name}.py"))];
    }
    let found = python_files(&package, &FileFilter::default());
    found
        .into_iter()
        .map(|path| Path::new(name).join(path))
        .collect()
}

/// The state of the search.
struct FileSearch<'a> {
    /// The filter.
    filter: &'a FileFilter,
    /// The ignore files of the folders above, each with its depth.
    ignore_files: Vec<(usize, IgnoreFile)>,
    /// The files found so far.
    found: Vec<PathBuf>,
}

impl FileSearch<'_> {
    /// Searches a folder.
    fn search_folder(&mut self, folder: &Path, path: &mut Vec<String>) {
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        self.ignore_files
            .push((path.len(), IgnoreFile::read(folder)));
        for entry in entries.flatten() {
            let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else {
                continue;
            };
            path.push(name);
            // Symbolic links are not followed. Their targets belong to the project only if they are
            // found otherwise.
            if kind.is_dir() {
                if !self.excludes_folder(&entry.path(), path) {
                    self.search_folder(&entry.path(), path);
                }
            } else if kind.is_file() && self.includes_file(path) {
                self.found.push(path.iter().collect());
            }
            path.pop();
        }
        self.ignore_files.pop();
    }

    /// Returns true if a file is part of the project.
    fn includes_file(&self, path: &[String]) -> bool {
        let components: Vec<&str> = path.iter().map(String::as_str).collect();
        let is_python = components
            .last()
            .is_some_and(|name| name.ends_with(".py") && !name.starts_with('.'));
        is_python && !self.is_ignored(&components, false) && self.filter.includes(&components)
    }

    /// Returns true if a folder is excluded: hidden, ignored, generated or installed.
    fn excludes_folder(&self, folder: &Path, path: &[String]) -> bool {
        let components: Vec<&str> = path.iter().map(String::as_str).collect();
        let Some(name) = components.last() else {
            return false;
        };
        let is_tool_folder = name.starts_with('.')
            || matches!(
                *name,
                "__pycache__" | "node_modules" | "site-packages" | "testwright-out"
            )
            || name.ends_with(".egg-info");
        // `build` and `dist` may be packages; a build's output is not one.
        let is_build_output =
            matches!(*name, "build" | "dist") && !folder.join("__init__.py").exists();
        let is_environment = folder.join("pyvenv.cfg").exists();
        is_tool_folder || is_build_output || is_environment || self.is_ignored(&components, true)
    }

    /// Returns true if an ignore file excludes a path. Deeper ignore files take precedence.
    fn is_ignored(&self, path: &[&str], is_folder: bool) -> bool {
        self.ignore_files
            .iter()
            .rev()
            .find_map(|(depth, ignore)| ignore.is_excluded(path.get(*depth..)?, is_folder))
            .unwrap_or(false)
    }
}
