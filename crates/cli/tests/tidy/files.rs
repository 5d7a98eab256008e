//! The files of the repository, for the tidy tests.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold what was built or written by a run, never sources.
const BUILT: [&str; 8] = [
    "target",
    ".git",
    ".venv",
    "testwright-out",
    "__pycache__",
    ".pytest_cache",
    ".ruff_cache",
    ".hypothesis",
];

/// Returns the root of the repository.
pub(super) fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// Reads a file by its path from the root.
pub(super) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the names of the folders in a folder, in order.
pub(super) fn folders(path: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(root().join(path))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Collects the text files below a folder, each as its path from the root and its text, in order.
///
/// Files that are not UTF-8 (pictures, hostile inputs) are left out.
pub(super) fn texts_below(folder: &str) -> Vec<(String, String)> {
    let root = root();
    let mut waiting = vec![root.join(folder)];
    let mut texts = Vec::new();
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if !BUILT.contains(&name.as_str()) {
                    waiting.push(path);
                }
            } else if let Ok(text) = fs::read_to_string(&path) {
                let path = path.strip_prefix(&root).unwrap();
                texts.push((path.to_string_lossy().into_owned(), text));
            }
        }
    }
    texts.sort();
    texts
}
