//! Whole models and their explanations, compared letter by letter. Each model is a file in
//! `models/`, with its text beside it.

use std::path::{Path, PathBuf};

use testwright_readable::block::NORMAL;
use testwright_readable::explain::{self, Explanation, Options};
use testwright_readable::idiom::Vocabulary;
use testwright_readable::render;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models")
}

fn read(name: &str) -> String {
    let path = folder().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn explained(name: &str, idioms: Option<&str>) -> Explanation {
    let mut vocabulary = Vocabulary::default();
    if let Some(idioms) = idioms {
        vocabulary.add(&read(idioms)).expect("idioms");
    }
    let options = Options {
        vocabulary,
        ..Options::default()
    };
    explain::explain(name, &read(name), &options).expect("a model")
}

fn text(name: &str, idioms: Option<&str>) -> String {
    render::text(&explained(name, idioms).document.at_verbosity(NORMAL))
}

#[track_caller]
fn same(expected: &str, rendered: &str) {
    for (number, (expected, rendered)) in expected.lines().zip(rendered.lines()).enumerate() {
        assert_eq!(rendered, expected, "line {}", number + 1);
    }
    assert_eq!(rendered, expected);
}

/// Checks that a text contains the expected sections, which are separated by blank lines.
#[track_caller]
fn has_sections(expected: &str, rendered: &str) {
    for section in expected.trim_end().split("\n\n") {
        let found = rendered.split("\n\n").any(|one| one.trim_end() == section);
        assert!(found, "missing:\n{section}\n\nin:\n{rendered}");
    }
}

#[test]
fn example_2_a_stack() {
    same(&read("plates.txt"), &text("plates.py", None));
}

#[test]
fn example_2_in_markdown() {
    let page = render::markdown(&explained("plates.py", None).document.at_verbosity(NORMAL));
    assert!(
        page.contains(&format!("\n{}\n", read("plates.take.md"))),
        "{page}"
    );
}

#[test]
fn example_2_in_html() {
    let page = render::html(&explained("plates.py", None).document.at_verbosity(NORMAL));
    assert!(page.contains(&read("plates.take.html")), "{page}");
}

#[test]
fn example_5_a_process_registry() {
    same(
        &read("process_registry.txt"),
        &text("process_registry.py", None),
    );
}

#[test]
fn example_5_with_names_and_idioms() {
    let rendered = text("process_registry.py", Some("registry.idioms"));
    has_sections(&read("process_registry.named.txt"), &rendered);
}

#[test]
fn example_6_a_harness() {
    same(&read("avl_tree.txt"), &text("avl_tree.tstl", None));
}

#[test]
fn example_6_with_names_and_idioms() {
    let rendered = text("avl_tree.tstl", Some("avl.idioms"));
    has_sections(&read("avl_tree.named.txt"), &rendered);
}
