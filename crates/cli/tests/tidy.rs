//! The map agrees with the territory: what ARCHITECTURE.md and CONTRIBUTING.md name is there, and what is there
//! is named.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The names of the folders in a folder, in order.
fn folders(path: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(root().join(path))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Every page for people: those at the top, and those below `docs/`.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let mut waiting = vec![root().join("docs")];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                pages.push(path);
            }
        }
    }
    pages.extend(
        [
            "README.md",
            "ARCHITECTURE.md",
            "CONTRIBUTING.md",
            "CHANGELOG.md",
        ]
        .map(|page| root().join(page)),
    );
    pages
}

/// What stands between backquotes outside of fenced blocks.
fn code_spans(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    prose
        .flat_map(|part| part.split('`').skip(1).step_by(2))
        .collect()
}

/// Whether something of this name is below a folder.
fn is_below(folder: &Path, name: &str) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let entry = entry.unwrap();
        let is_folder = entry.file_type().unwrap().is_dir();
        entry.file_name() == name || is_folder && is_below(&entry.path(), name)
    })
}

/// Whether a path exists; a name alone may be anywhere among the sources.
fn exists(path: &str) -> bool {
    let root = root();
    root.join(path).exists()
        || !path.contains('/')
            && ["crates", "docs", "examples", "python"]
                .iter()
                .any(|top| is_below(&root.join(top), path))
}

/// Whether a code span names a file or folder of this repository: it has a slash or a known ending, and nothing
/// that stands for something else (`NAME`, `*`, `<x>`).
fn is_path(span: &str) -> bool {
    let endings = [".rs", ".md", ".py", ".pyi", ".toml", ".tstl"];
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
    let is_word =
        span.chars().all(plain) && !span.contains("NAME") && !span.starts_with(['-', '.']);
    let is_output = span.starts_with("testwright-out");
    is_word && !is_output && (span.contains('/') || endings.iter().any(|end| span.ends_with(end)))
}

#[test]
fn what_the_map_names_exists() {
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = read(page);
        let missing: Vec<&str> = code_spans(&text)
            .into_iter()
            .filter(|span| is_path(span) && !exists(span))
            .collect();
        assert!(
            missing.is_empty(),
            "{page} names what is not there: {missing:?}"
        );
    }
}

#[test]
fn what_exists_is_named_on_the_map() {
    let map = read("ARCHITECTURE.md");
    for parent in ["crates", "examples"] {
        for name in folders(parent) {
            let span = format!("`{parent}/{name}`");
            assert!(map.contains(&span), "ARCHITECTURE.md does not name {span}");
        }
    }
}

#[test]
fn no_page_speaks_of_one_machine() {
    let markers = ["/home/", "/root/", "/Users/", "/tmp/", "/work/", "C:\\"];
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let found: Vec<&&str> = markers
            .iter()
            .filter(|marker| text.contains(**marker))
            .collect();
        assert!(found.is_empty(), "{} has {found:?}", page.display());
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
