//! Explanations of small models, for tests of single rules.

#![allow(dead_code, reason = "each file of tests uses some of this")]

use testwright_readable::block::NORMAL;
use testwright_readable::explain::{self, Explanation, Limits, Options};
use testwright_readable::idiom::Vocabulary;
use testwright_readable::render;

/// Explains a source text, and fails if it is no model.
pub(crate) fn explained(file: &str, text: &str) -> Explanation {
    explain::explain(file, text, &Options::default())
        .unwrap_or_else(|error| panic!("{error:?} in\n{text}"))
}

/// Returns the whole text of an explanation.
pub(crate) fn text(file: &str, text: &str) -> String {
    render::text(&explained(file, text).document.at_verbosity(NORMAL))
}

/// Returns the whole text of an explanation with names, idioms and limits.
pub(crate) fn text_with(file: &str, text: &str, idioms: &str, limits: Limits) -> String {
    let mut vocabulary = Vocabulary::default();
    vocabulary.add(idioms).expect("idioms");
    let options = Options {
        vocabulary,
        limits,
        machine: None,
    };
    let rendered = explain::explain(file, text, &options).expect("a model");
    render::text(&rendered.document.at_verbosity(NORMAL))
}

/// Returns the lines below "What happens:" in the action `act` of a model, with their indentation.
pub(crate) fn happens(model: &str) -> String {
    let listed = format!("{model}\nactions = (act,)\n");
    let rendered = text("model.py", &listed);
    let (_, rest) = rendered.split_once("  What happens:\n").expect(&rendered);
    let lines = rest.lines().take_while(|line| !line.is_empty());
    let lines: Vec<&str> = lines
        .map(|line| line.strip_prefix("    ").unwrap_or(line))
        .collect();
    lines.join("\n")
}

/// Returns the explanation of one statement. `t` is a list, `d` a dictionary, `s` a set, `n` and
/// `m` numbers, `w` a text, `f` a flag.
pub(crate) fn change(statement: &str) -> String {
    let body = statement.replace('\n', "\n    ");
    happens(&format!(
        "t, d, s, n, m, w, f, o = [], {{}}, set(), 0, 5, '', False, None\n\
         def act(x, i):\n    global t, d, s, n, m, w, f, o\n    {body}\n\
         state = ('t', 'd', 's', 'n', 'm', 'w', 'f', 'o')\n"
    ))
}

/// Asserts the explanation of one statement.
#[track_caller]
pub(crate) fn changes(statement: &str, sentence: &str) {
    assert_eq!(change(statement), format!("- {sentence}"), "{statement}");
}

/// Returns the lines of a section by its heading.
pub(crate) fn section(rendered: &str, heading: &str) -> String {
    let found = rendered
        .split("\n\n")
        .find(|section| section.starts_with(heading));
    found
        .unwrap_or_else(|| panic!("no {heading} in\n{rendered}"))
        .trim_end()
        .to_owned()
}
