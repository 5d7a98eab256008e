//! Nothing in the repository refers to a folder outside of it.

use std::path::{Component, Path};

use super::files::texts_below;

/// Paths upwards that are data of a test, with the file that has them.
const HOSTILE_INPUTS: [(&str, &str); 1] = [("python/tests/test_store.py", "../../../escape")];

/// Beginnings of paths on one person's machine.
const MACHINE_PATHS: [&str; 4] = ["/home/", "/root/", "/Users/", "/work/"];

/// Finds the relative paths in a text that begin by going up.
fn upward_paths(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("../").filter_map(|(start, _)| {
        let is_first = !text[..start].ends_with(['.', '/']);
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
        let rest = &text[start..];
        let length = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        is_first.then(|| &rest[..length])
    })
}

/// Returns true if a path, taken from the folder of a file, leaves the repository.
fn leaves(file: &str, path: &str) -> bool {
    let mut depth = Path::new(file).components().count() as i64 - 1;
    Path::new(path).components().any(|component| {
        depth += if component == Component::ParentDir {
            -1
        } else {
            1
        };
        depth < 0
    })
}

/// Finds references to folders outside of the repository in one file.
fn references(file: &str, text: &str) -> Vec<String> {
    let upwards = upward_paths(text)
        .filter(|path| leaves(file, path) && !HOSTILE_INPUTS.contains(&(file, path)));
    let machine = MACHINE_PATHS
        .into_iter()
        .filter(|path| text.contains(*path));
    upwards
        .chain(machine)
        .map(|path| format!("{file} refers to {path}"))
        .collect()
}

#[test]
fn no_file_refers_to_a_folder_outside() {
    let found: Vec<String> = texts_below("")
        .iter()
        .filter(|(file, _)| !file.ends_with("tidy/outside.rs"))
        .flat_map(|(file, text)| references(file, text))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn references_outside_are_noticed() {
    let found = |text| references("docs/guide/page.md", text);
    assert!(found("see ../why/why.md and ../../README.md").is_empty());
    assert_eq!(
        found("see [x](../../../other/page.md)."),
        ["docs/guide/page.md refers to ../../../other/page.md"]
    );
    assert_eq!(found("in /root/x"), ["docs/guide/page.md refers to /root/"]);
}
