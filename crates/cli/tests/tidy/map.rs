//! The map agrees with the territory: ARCHITECTURE.md and CONTRIBUTING.md name only what exists,
//! and ARCHITECTURE.md names every crate and every example.

use std::fs;
use std::path::Path;

use super::files::{folders, read, root};

/// Returns the code spans of a page, outside of fenced blocks.
fn code_spans(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    prose
        .flat_map(|part| part.split('`').skip(1).step_by(2))
        .collect()
}

/// Returns true if a file or folder of this name is somewhere below a folder.
fn is_below(folder: &Path, name: &str) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let entry = entry.unwrap();
        let is_folder = entry.file_type().unwrap().is_dir();
        entry.file_name() == name || is_folder && is_below(&entry.path(), name)
    })
}

/// Returns true if a path exists; a name alone may be anywhere among the sources.
fn exists(path: &str) -> bool {
    let root = root();
    root.join(path).exists()
        || !path.contains('/')
            && ["crates", "docs", "examples", "python"]
                .iter()
                .any(|top| is_below(&root.join(top), path))
}

/// Returns true if a code span names a file or folder of this repository: it has a slash or a known
/// ending, and nothing that stands for something else (`NAME`, `*`, `<x>`).
fn is_path(span: &str) -> bool {
    let endings = [".rs", ".md", ".py", ".pyi", ".toml", ".tstl"];
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
    let is_word =
        span.chars().all(plain) && !span.contains("NAME") && !span.starts_with(['-', '.']);
    let is_output = span.starts_with("testwright-out");
    is_word && !is_output && (span.contains('/') || endings.iter().any(|end| span.ends_with(end)))
}

/// Finds the paths that a page names and that do not exist.
fn missing_paths(page: &str) -> Vec<&str> {
    code_spans(page)
        .into_iter()
        .filter(|span| is_path(span) && !exists(span))
        .collect()
}

/// Finds the links of a page to files that do not exist, seen from the folder that the page is in.
fn broken_links<'p>(folder: &Path, page: &'p str) -> Vec<&'p str> {
    page.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|link| !link.contains("://") && !link.starts_with('#') && !link.contains(' '))
        .filter(|link| !folder.join(link.split('#').next().unwrap()).exists())
        .collect()
}

#[test]
fn paths_named_on_the_map_exist() {
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = read(page);
        let missing = missing_paths(&text);
        assert!(
            missing.is_empty(),
            "{page} names what is not there: {missing:?}"
        );
    }
}

#[test]
fn crates_and_examples_are_named_on_the_map() {
    let map = read("ARCHITECTURE.md");
    for parent in ["crates", "examples"] {
        for name in folders(parent) {
            let span = format!("`{parent}/{name}`");
            assert!(map.contains(&span), "ARCHITECTURE.md does not name {span}");
        }
    }
}

#[test]
fn links_between_pages_lead_somewhere() {
    for (path, text) in super::files::texts_below("") {
        let is_page = path.ends_with(".md") && !path.starts_with("python/tests");
        if is_page {
            let folder = root().join(&path);
            let broken = broken_links(folder.parent().unwrap(), &text);
            assert!(
                broken.is_empty(),
                "{path} links to what is not there: {broken:?}"
            );
        }
    }
}

#[test]
fn spans_and_paths() {
    let text = "See `crates/core`, `a b`.\n```\n`x/y`\n```\nand `NAME/x.py`, `lib.rs`.";
    let spans = code_spans(text);
    assert_eq!(spans, ["crates/core", "a b", "NAME/x.py", "lib.rs"]);
    let paths: Vec<&str> = spans.into_iter().filter(|span| is_path(span)).collect();
    assert_eq!(paths, ["crates/core", "lib.rs"]);
}

#[test]
fn paths_and_links_to_nothing_are_noticed() {
    let page = "`crates/core`, `crates/gone`, `gone.rs`; [a](README.md), [b](docs/gone.md#x)";
    assert_eq!(missing_paths(page), ["crates/gone", "gone.rs"]);
    assert_eq!(broken_links(&root(), page), ["docs/gone.md#x"]);
}
