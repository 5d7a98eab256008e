//! The explanations beside the examples are up to date.
//!
//! `UPDATE_EXPECT=1 cargo test -p testwright-readable --test integration examples` rewrites them;
//! read the diff.

use std::path::{Path, PathBuf};

use expect_test::expect_file;
use testwright_readable::block::NORMAL;
use testwright_readable::explain::{Explanation, Options, Unreadable, explain};
use testwright_readable::measure;
use testwright_readable::render;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Returns every harness, model and machine of the examples, with its explanation.
fn explained() -> Vec<(PathBuf, Explanation)> {
    let folders = std::fs::read_dir(folder()).expect("examples");
    let folders = folders.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<PathBuf> = folders
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|ending| ending == "py" || ending == "tstl")
        })
        .collect();
    paths.sort();
    let rendered = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        match explain(&file, &text, &Options::default()) {
            Ok(rendered) => Some((path, rendered)),
            // The systems under test, and the steppers that connect them with their models, have no
            // explanation.
            Err(Unreadable::NoModel) => None,
            Err(problem) => panic!("{}: {problem:?}", path.display()),
        }
    };
    paths.into_iter().filter_map(rendered).collect()
}

#[test]
fn explanations_of_examples_are_up_to_date() {
    let all = explained();
    for (path, rendered) in &all {
        let page = render::markdown(&rendered.document.at_verbosity(NORMAL));
        expect_file![path.with_extension("explanation.md")].assert_eq(&page);
    }
    let harnesses = all
        .iter()
        .filter(|(path, _)| path.extension().is_some_and(|ending| ending == "tstl"));
    assert!(
        harnesses.count() >= 6 && all.len() >= 16,
        "only {} are explained",
        all.len()
    );
}

#[test]
fn every_explanation_is_of_something() {
    let known: Vec<PathBuf> = explained()
        .into_iter()
        .map(|(path, _)| path.with_extension("explanation.md"))
        .collect();
    let folders = std::fs::read_dir(folder()).expect("examples").flatten();
    for folder in folders.filter(|entry| entry.path().is_dir()) {
        for entry in std::fs::read_dir(folder.path())
            .expect("a folder")
            .flatten()
        {
            let is_explanation = entry
                .file_name()
                .to_string_lossy()
                .ends_with(".explanation.md");
            assert!(
                !is_explanation || known.contains(&entry.path()),
                "{}",
                entry.path().display()
            );
        }
    }
}

#[test]
fn explanations_of_examples_have_no_code_in_them() {
    for (path, rendered) in explained() {
        // Docstrings are the author's words, so they are not checked.
        let mut document = rendered.document.at_verbosity(NORMAL);
        document.intro = None;
        for (sentence, _) in document.sentences() {
            assert_eq!(
                measure::count_leaks(&sentence),
                0,
                "{}: {sentence}",
                path.display()
            );
        }
    }
}
