//! Checks that prose keeps to American spelling, which the names of the commands have (`normalize`).

use super::files::texts_below;

/// The beginnings of words in British spelling.
const BRITISH: [&str; 16] = [
    "behaviour",
    "capitalis",
    "catalogue",
    "centred",
    "colour",
    "favour",
    "generalis",
    "initialis",
    "neighbour",
    "normalis",
    "optimis",
    "organis",
    "recognis",
    "serialis",
    "summaris",
    "tokenis",
];

/// Returns the prose of a file: the comments of a program or a page, without blocks of code. What stands
/// between backticks is left out.
fn prose<'t>(path: &str, text: &'t str) -> Vec<(usize, Vec<&'t str>)> {
    let is_page = path.ends_with(".md");
    let mut is_block = false;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let start = line.trim_start();
        let is_comment = start.starts_with("//");
        let start = start.trim_start_matches(['/', '!']).trim_start();
        if start.starts_with("```") {
            is_block = !is_block;
        } else if !is_block && (is_page || is_comment) {
            found.push((number + 1, start.split('`').step_by(2).collect()));
        }
    }
    found
}

/// Finds the words in British spelling, as `file:line: word`.
fn british_words(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, parts) in prose(path, text) {
        let words = (parts.into_iter()).flat_map(|part| {
            part.split(|letter: char| !letter.is_alphanumeric() && !"_:./".contains(letter))
        });
        let british = words.filter(|word| {
            let lower = word.to_lowercase();
            BRITISH.iter().any(|start| lower.starts_with(start))
        });
        found.extend(british.map(|word| format!("{path}:{number}: {word}")));
    }
    found
}

#[test]
fn prose_has_american_spelling() {
    // The explanations of models will be designed again.
    let mut found = Vec::new();
    for (path, text) in texts_below(".") {
        let is_prose = path.ends_with(".md") || path.ends_with(".rs");
        if is_prose && !path.contains("readable/src/explain") && !path.ends_with("spelling.rs") {
            found.extend(british_words(&path, &text));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn british_spelling_is_noticed() {
    let text = "// The colour, `colour`\nlet colour = 1;\n/// Recognises it.";
    assert_eq!(
        british_words("a.rs", text),
        ["a.rs:1: colour", "a.rs:3: Recognises"]
    );
    let page = "Behaviour\n```\ncolour\n```\n";
    assert_eq!(british_words("a.md", page), ["a.md:1: Behaviour"]);
}
