//! Every file of integration tests belongs to a test program: the one of its crate, or one of its own.
//!
//! The crates switch off cargo's search for test files, so a file that `tests/main.rs` does not list
//! would never run.

use super::files::texts_below;

/// Finds the test files of one crate that neither its `main.rs` nor its manifest lists. `files` are
/// paths from `tests/`.
fn unlisted<'f>(main: &str, manifest: &str, files: &[&'f str]) -> Vec<&'f str> {
    let is_listed = |file: &str| {
        let module = file.trim_end_matches("/mod.rs").trim_end_matches(".rs");
        let declaration = format!("mod {module};");
        let program = format!("path = \"tests/{file}\"");
        main.lines().any(|line| line == declaration) || manifest.contains(&program)
    };
    let is_own_module = |file: &str| !file.contains('/') || file.ends_with("/mod.rs");
    files
        .iter()
        .copied()
        .filter(|file| *file != "main.rs" && is_own_module(file) && !is_listed(file))
        .collect()
}

#[test]
fn every_test_file_is_run() {
    for name in super::files::folders("crates") {
        let folder = format!("crates/{name}/tests/");
        let texts: Vec<(String, String)> = texts_below(&format!("crates/{name}"))
            .into_iter()
            .filter(|(path, _)| path.starts_with(&folder) && path.ends_with(".rs"))
            .collect();
        let files: Vec<&str> = texts
            .iter()
            .map(|(path, _)| &path[folder.len()..])
            .collect();
        let main = texts
            .iter()
            .find(|(path, _)| path.ends_with("tests/main.rs"));
        let main = main.map_or("", |(_, text)| text);
        let manifest = super::files::read(&format!("crates/{name}/Cargo.toml"));
        let unlisted = unlisted(main, &manifest, &files);
        assert!(
            unlisted.is_empty(),
            "{folder}main.rs does not list {unlisted:?}"
        );
    }
}

#[test]
fn a_test_file_that_is_not_listed_is_noticed() {
    let files = [
        "main.rs",
        "a.rs",
        "b.rs",
        "c.rs",
        "shared/mod.rs",
        "shared/part.rs",
    ];
    let manifest = "[[test]]\npath = \"tests/c.rs\"\n";
    assert_eq!(
        unlisted("mod a;\n", manifest, &files),
        ["b.rs", "shared/mod.rs"]
    );
}
