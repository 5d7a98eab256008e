//! The explanations that stand beside the examples say what the examples say now.
//!
//! `UPDATE_EXPECT=1 cargo test -p testwright-readable --test examples` writes them anew, for you to read in the diff.

use std::path::{Path, PathBuf};

use expect_test::expect_file;
use testwright_readable::block::NORMAL;
use testwright_readable::explain::{Explanation, Options, Unreadable, explain};
use testwright_readable::measure;
use testwright_readable::render;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Every file of the examples that is a harness, a model or a machine, with its explanation.
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
    let told = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        match explain(&file, &text, &Options::default()) {
            Ok(told) => Some((path, told)),
            // The systems under test, and what connects them with their models.
            Err(Unreadable::NoModel) => None,
            Err(problem) => panic!("{}: {problem:?}", path.display()),
        }
    };
    paths.into_iter().filter_map(told).collect()
}

#[test]
fn explanations_of_examples_are_up_to_date() {
    let all = explained();
    for (path, told) in &all {
        let page = render::markdown(&told.document.shown_at(NORMAL));
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
    for (path, told) in explained() {
        // What the author of the example wrote is not ours.
        let mut document = told.document.shown_at(NORMAL);
        document.intro = None;
        for (sentence, _) in document.sentences() {
            assert_eq!(
                measure::leaks(&sentence),
                0,
                "{}: {sentence}",
                path.display()
            );
        }
    }
}
