//! Every rule of the specification, and every trap it warns of, is cited by the name of a test.
//!
//! A test cites what it is about at the beginning of its name or behind "and": `c12_length_against_a_literal`,
//! `f8_and_trap_4_what_may_not_be_evaluated`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The letter of each family of rules, and how many there are.
const FAMILIES: [(&str, usize); 13] = [
    ("w", 8),
    ("r", 10),
    ("p", 42),
    ("c", 41),
    ("f", 9),
    ("g", 9),
    ("s", 8),
    ("x", 8),
    ("y", 11),
    ("e", 28),
    ("l", 9),
    ("i", 7),
    ("q", 10),
];
const TRAPS: usize = 14;

/// S8 is something that may be done, and is not. Q8 is a time, and times are measured, not tested.
const EXCEPT: [&str; 2] = ["s8", "q8"];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path
            .extension()
            .is_some_and(|ending| ending == "rs" || ending == "py")
        {
            found.push(path);
        }
    }
}

/// The names of the tests in a text.
fn tests(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        let python = line.strip_prefix("def test_");
        let rust = line.strip_prefix("fn ").filter(|_| is_test);
        if let Some(name) = python.or(rust) {
            names.push(name.split('(').next().unwrap_or_default());
        }
        is_test = line == "#[test]" || (is_test && line.starts_with("#["));
    }
    names
}

/// What the name of a test cites: `r1` and `r5` for `r1_r5_variables`, `trap_4` for `f8_and_trap_4_what_may`.
fn cited(name: &str) -> Vec<String> {
    let words: Vec<&str> = name.split('_').collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match (*word, words.get(at + 1)) {
            ("trap", Some(number)) => {
                found.push(format!("trap_{number}"));
                at += 1;
            }
            ("and", _) => {}
            _ if is_rule(word) => found.push((*word).to_owned()),
            _ => break,
        }
        at += 1;
    }
    found
}

fn is_rule(word: &str) -> bool {
    let mut letters = word.chars();
    let family = letters
        .next()
        .is_some_and(|letter| letter.is_ascii_lowercase());
    let number = letters.as_str().trim_end_matches('b');
    family && !number.is_empty() && number.chars().all(|digit| digit.is_ascii_digit())
}

#[test]
fn every_rule_is_cited_by_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    files(&root.join("src"), &mut paths);
    files(&root.join("tests"), &mut paths);
    files(&root.join("../../python/tests"), &mut paths);
    let mut known = BTreeSet::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        known.extend(tests(&text).into_iter().flat_map(cited));
    }
    let rules = FAMILIES
        .iter()
        .flat_map(|(family, count)| (1..=*count).map(move |number| format!("{family}{number}")));
    let traps = (1..=TRAPS).map(|number| format!("trap_{number}"));
    let missing: Vec<String> = rules
        .chain(["c7b".to_owned()])
        .chain(traps)
        .filter(|one| !known.contains(one) && !EXCEPT.contains(&one.as_str()))
        .collect();
    assert_eq!(missing, Vec::<String>::new());
}
