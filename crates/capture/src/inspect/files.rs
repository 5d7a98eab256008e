//! Which files belong to a project.

use std::fs;
use std::path::{Path, PathBuf};

use super::ignore::{Ignore, path_matches};

/// Which files to look at besides what is always left out.
#[derive(Debug, Clone, Default)]
pub struct Chosen {
    /// Patterns of paths, such as `shop/**`; if there are any, nothing else is looked at.
    pub include: Vec<String>,
    /// Patterns of paths that are left out.
    pub exclude: Vec<String>,
}

impl Chosen {
    fn takes(&self, path: &[&str]) -> bool {
        let fits = |pattern: &String| {
            let words: Vec<&str> = pattern.split('/').collect();
            path_matches(&words, path)
        };
        (self.include.is_empty() || self.include.iter().any(fits)) && !self.exclude.iter().any(fits)
    }
}

/// The Python files of a project, relative to its folder and in order.
pub(super) fn python_files(root: &Path, chosen: &Chosen) -> Vec<PathBuf> {
    let mut walk = Walk {
        chosen,
        above: Vec::new(),
        found: Vec::new(),
    };
    walk.folder(root, &mut Vec::new());
    walk.found.sort();
    walk.found
}

/// The folder that holds the package or module that a file is in, which an importer knows by this name.
pub(super) fn above_package(name: &str, file: &Path) -> Option<PathBuf> {
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

/// The Python files of a package or module in a folder, relative to that and in order.
pub(super) fn files_of_package(above: &Path, name: &str) -> Vec<PathBuf> {
    let package = above.join(name);
    if !package.is_dir() {
        return vec![PathBuf::from(format!("{name}.py"))];
    }
    let found = python_files(&package, &Chosen::default());
    found
        .into_iter()
        .map(|path| Path::new(name).join(path))
        .collect()
}

struct Walk<'a> {
    chosen: &'a Chosen,
    /// The ignore files on the way down, each with the number of folders above it.
    above: Vec<(usize, Ignore)>,
    found: Vec<PathBuf>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, path: &mut Vec<String>) {
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        self.above.push((path.len(), Ignore::of(folder)));
        for entry in entries.flatten() {
            let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else {
                continue;
            };
            path.push(name);
            // Links are not followed: what they lead to is a part of the project only if it is found without them.
            if kind.is_dir() {
                if !self.leaves_out_folder(&entry.path(), path) {
                    self.folder(&entry.path(), path);
                }
            } else if kind.is_file() && self.takes_file(path) {
                self.found.push(path.iter().collect());
            }
            path.pop();
        }
        self.above.pop();
    }

    fn takes_file(&self, path: &[String]) -> bool {
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        let is_python = words
            .last()
            .is_some_and(|name| name.ends_with(".py") && !name.starts_with('.'));
        is_python && !self.is_ignored(&words, false) && self.chosen.takes(&words)
    }

    fn leaves_out_folder(&self, folder: &Path, path: &[String]) -> bool {
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        let Some(name) = words.last() else {
            return false;
        };
        let never = name.starts_with('.')
            || matches!(
                *name,
                "__pycache__" | "node_modules" | "site-packages" | "testwright-out"
            )
            || name.ends_with(".egg-info");
        // `build` and `dist` may be packages; what a build has made is none.
        let made = matches!(*name, "build" | "dist") && !folder.join("__init__.py").exists();
        let environment = folder.join("pyvenv.cfg").exists();
        never || made || environment || self.is_ignored(&words, true)
    }

    fn is_ignored(&self, path: &[&str], is_folder: bool) -> bool {
        self.above
            .iter()
            .rev()
            .find_map(|(depth, ignore)| ignore.verdict(path.get(*depth..)?, is_folder))
            .unwrap_or(false)
    }
}
