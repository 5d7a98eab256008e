//! Every rule of `docs/readable-rules.md`, and every trap on it, is cited by the name of a test;
//! and every rule that the source cites stands on that page.
//!
//! A test cites rules at the beginning of its name, or after "and": `c12_length_against_a_literal`,
//! `f8_and_trap_4_what_may_not_be_evaluated`. A source comment cites them by number, as in `(C12)`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The page that says what each rule means.
const PAGE: &str = include_str!("../../../docs/readable-rules.md");

/// The letter of each family of rules, and the number of rules in it.
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

/// Rules without a test: S8 allows something that is not done, and Q8 is a time, which is measured
/// instead.
const EXCEPT: [&str; 2] = ["s8", "q8"];

/// Collects the files below a folder that have one of these extensions.
fn collect_files(folder: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() {
            collect_files(&path, extensions, found);
        } else if extension.is_some_and(|extension| extensions.contains(&extension)) {
            found.push(path);
        }
    }
}

/// Returns the names of the tests in a text.
fn test_names(text: &str) -> Vec<&str> {
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

/// Returns the rules that the name of a test cites: `r1` and `r5` for `r1_r5_variables`, `trap_4`
/// for `f8_and_trap_4_what_may`.
fn rules_in_name(name: &str) -> Vec<String> {
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

/// Returns true if a word is a letter and a number, as in `c12` and `c7b`.
fn is_rule(word: &str) -> bool {
    let mut letters = word.chars();
    let family = letters
        .next()
        .is_some_and(|letter| letter.is_ascii_lowercase());
    let number = letters.as_str().trim_end_matches('b');
    family && !number.is_empty() && number.chars().all(|digit| digit.is_ascii_digit())
}

/// Returns the rules that the comments of a source text cite: `C12`, `C7b`, `trap 4`.
fn rules_in_comments(text: &str) -> BTreeSet<String> {
    let is_mark = |letter: char| !letter.is_alphanumeric() && letter != '_';
    let mut found = BTreeSet::new();
    for line in text.lines().map(str::trim) {
        if !line.starts_with("//") && !line.starts_with('#') {
            continue;
        }
        let mut before = "";
        for word in line.split(is_mark).filter(|word| !word.is_empty()) {
            let small = word.to_lowercase();
            let is_cited = word.starts_with(|first: char| first.is_ascii_uppercase())
                && is_rule(&small)
                && FAMILIES.iter().any(|(family, _)| small.starts_with(family));
            let is_number = word.chars().all(|digit| digit.is_ascii_digit());
            if is_cited {
                found.insert(small);
            } else if before.eq_ignore_ascii_case("trap") && is_number {
                found.insert(format!("trap_{word}"));
            }
            before = word;
        }
    }
    found
}

/// Returns the rules that have a section on the page.
fn rules_on_page() -> BTreeSet<String> {
    let headings = PAGE.lines().filter_map(|line| line.strip_prefix("### "));
    headings
        .map(|heading| heading.to_lowercase().replace(' ', "_"))
        .collect()
}

/// Returns all rules and traps.
fn all_rules() -> BTreeSet<String> {
    let rules = FAMILIES
        .iter()
        .flat_map(|(family, count)| (1..=*count).map(move |number| format!("{family}{number}")));
    let traps = (1..=TRAPS).map(|number| format!("trap_{number}"));
    rules.chain(["c7b".to_owned()]).chain(traps).collect()
}

#[test]
fn every_rule_is_cited_by_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for folder in ["src", "tests", "../../python/tests"] {
        collect_files(&root.join(folder), &["rs", "py"], &mut paths);
    }
    let mut cited = BTreeSet::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        cited.extend(test_names(&text).into_iter().flat_map(rules_in_name));
    }
    let missing: Vec<String> = all_rules()
        .into_iter()
        .filter(|rule| !cited.contains(rule) && !EXCEPT.contains(&rule.as_str()))
        .collect();
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn the_page_has_every_rule_and_no_other() {
    assert_eq!(rules_on_page(), all_rules());
}

#[test]
fn every_rule_that_the_source_cites_is_on_the_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    collect_files(&root.join("src"), &["rs", "py", "idioms"], &mut paths);
    let known = rules_on_page();
    let mut unknown = Vec::new();
    let mut citations = 0;
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for rule in rules_in_comments(&text) {
            citations += 1;
            if !known.contains(&rule) {
                unknown.push(format!("{}: {rule}", path.display()));
            }
        }
    }
    assert_eq!(unknown, Vec::<String>::new());
    assert!(citations > 100, "only {citations} citations were found");
}
