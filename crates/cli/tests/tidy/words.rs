//! The code keeps to plain words: each type has a name of its own, comments stand alone and say what
//! a thing is, and there are enough of them.
//!
//! The counts may only fall. Where one did, the test asks for the limit to be lowered, so that it
//! cannot rise again.

use std::collections::BTreeMap;

use super::files::texts_below;

/// Type names that several crates may use: each is the crate's own, and read with the crate's name.
const SHARED_NAMES: [&str; 4] = ["Error", "Options", "Report", "State"];

/// Doc comments that open with a question word or with "The same".
const QUESTION_OPENINGS: usize = 0;

/// The least number of doc lines per 100 lines of code, for each crate with a promise of its own.
const DENSITIES: [(&str, usize); 4] = [
    ("core", 17),
    ("model", 17),
    ("campaign", 17),
    ("readable", 8),
];

/// The least number of doc lines per 100 lines of code elsewhere.
const DENSITY: usize = 12;

/// Words that hide who does something.
const OLD_VOICE: [&str; 4] = ["somebody", "nobody", "whoever", "anybody"];

/// A file of Rust code without tests.
struct SourceFile {
    path: String,
    text: String,
}

/// Collects the files of the crates, without those that hold only tests.
fn source_files() -> Vec<SourceFile> {
    let is_source = |path: &str| {
        let is_test = path.ends_with("/tests.rs") || path.ends_with("_tests.rs");
        let is_test = is_test || path.ends_with("_test.rs") || path.contains("/tests/");
        path.ends_with(".rs") && path.split('/').nth(2) == Some("src") && !is_test
    };
    texts_below("crates")
        .into_iter()
        .filter(|(path, _)| is_source(path))
        .map(|(path, text)| SourceFile { path, text })
        .collect()
}

/// Returns the name of the type that a line defines.
fn defined_type(line: &str) -> Option<&str> {
    let mut line = line.trim_start();
    if let Some(rest) = line.strip_prefix("pub") {
        let rest = match rest.strip_prefix('(') {
            Some(scope) => scope.split_once(')')?.1,
            None => rest,
        };
        line = rest.trim_start();
    }
    let (keyword, rest) = line.split_once(' ')?;
    if !["struct", "enum", "trait", "union"].contains(&keyword) {
        return None;
    }
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let name = &rest[..end.unwrap_or(rest.len())];
    name.starts_with(|first: char| first.is_uppercase())
        .then_some(name)
}

/// Finds the type names that occur more than once, each with its files.
fn repeated_types(files: &[SourceFile]) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in files {
        for name in file.text.lines().filter_map(defined_type) {
            places.entry(name).or_default().push(&file.path);
        }
    }
    places
        .into_iter()
        .filter(|(name, files)| files.len() > 1 && !SHARED_NAMES.contains(name))
        .map(|(name, files)| format!("{name}: {}", files.join(", ")))
        .collect()
}

fn is_doc(line: &str) -> bool {
    line.starts_with("///") || line.starts_with("//!")
}

/// Returns true if the first line of a doc comment opens with a question word.
fn opens_with_question(line: &str) -> bool {
    let words = line.get(3..).unwrap_or_default().trim();
    let openings = ["What", "How", "Where", "Who", "Why", "Which", "The same"];
    openings.iter().any(|opening| {
        let rest = words.strip_prefix(opening);
        rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
    })
}

/// Finds the doc comments that open with a question word, as `file:line`.
fn question_openings(files: &[SourceFile]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        let mut previous = "";
        for (number, line) in file.text.lines().enumerate() {
            let line = line.trim();
            if is_doc(line) && !is_doc(previous) && opens_with_question(line) {
                found.push(format!("{}:{}: {line}", file.path, number + 1));
            }
            previous = line;
        }
    }
    found
}

/// Finds the comments in the old voice, as `file:line`.
fn old_voice(files: &[SourceFile]) -> Vec<String> {
    let is_old = |line: &str| {
        let line = line.trim().to_lowercase();
        let mut words = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        line.starts_with("//") && words.any(|word| OLD_VOICE.contains(&word))
    };
    let in_file = |file: &SourceFile| -> Vec<String> {
        let lines = file.text.lines().enumerate();
        lines
            .filter(|(_, line)| is_old(line))
            .map(|(number, line)| format!("{}:{}: {}", file.path, number + 1, line.trim()))
            .collect()
    };
    files.iter().flat_map(in_file).collect()
}

/// Counts doc lines and code lines of a file, up to the tests at its end.
fn doc_and_code_lines(text: &str) -> (usize, usize) {
    let (mut doc, mut code) = (0, 0);
    for line in text.lines().map(str::trim) {
        if line == "#[cfg(test)]" {
            break;
        } else if is_doc(line) {
            doc += 1;
        } else if !line.is_empty() && !line.starts_with("//") {
            code += 1;
        }
    }
    (doc, code)
}

/// Finds the crates with too few doc lines.
fn thin_crates(files: &[SourceFile]) -> Vec<String> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for file in files {
        let name = file.path.split('/').nth(1).unwrap();
        let (doc, code) = doc_and_code_lines(&file.text);
        let count = counts.entry(name).or_default();
        *count = (count.0 + doc, count.1 + code);
    }
    counts
        .into_iter()
        .filter_map(|(name, (doc, code))| {
            let promised = DENSITIES.iter().find(|(other, _)| *other == name);
            let least = promised.map_or(DENSITY, |(_, least)| *least);
            (100 * doc < least * code)
                .then(|| format!("{name}: {doc} doc lines for {code} of code, not {least} per 100"))
        })
        .collect()
}

/// Fails if there are more of something than the limit, and if there are fewer, so that the limit is lowered.
fn assert_limit(what: &str, found: &[String], limit: usize) {
    let list = found.join("\n");
    assert!(
        found.len() <= limit,
        "{what}: {} instead of {limit}:\n{list}",
        found.len()
    );
    assert!(
        found.len() >= limit,
        "{what}: lower the limit to {}",
        found.len()
    );
}

#[test]
fn every_type_has_a_name_of_its_own() {
    assert_limit(
        "type names that occur twice",
        &repeated_types(&source_files()),
        0,
    );
}

#[test]
fn doc_comments_say_what_a_thing_is() {
    let found = question_openings(&source_files());
    assert_limit(
        "doc comments that open with a question",
        &found,
        QUESTION_OPENINGS,
    );
}

#[test]
fn comments_say_who_does_something() {
    assert_limit("comments in the old voice", &old_voice(&source_files()), 0);
}

#[test]
fn crates_are_documented() {
    let thin = thin_crates(&source_files());
    assert!(thin.is_empty(), "{}", thin.join("\n"));
}

#[test]
fn unclear_words_are_noticed() {
    let file = |path: &str, text: &str| SourceFile {
        path: format!("crates/{path}"),
        text: text.to_owned(),
    };
    let files = [
        file(
            "a/src/lib.rs",
            "/// What it is.\npub(crate) struct Twice<T>(T);\nenum Error {}\n",
        ),
        file(
            "b/src/lib.rs",
            "/// Words.\n/// What follows is no opening.\nstruct Twice;\nenum Error {}\n// Nobody knows.\n",
        ),
    ];
    assert_eq!(
        repeated_types(&files),
        ["Twice: crates/a/src/lib.rs, crates/b/src/lib.rs"]
    );
    assert_eq!(
        question_openings(&files),
        ["crates/a/src/lib.rs:1: /// What it is."]
    );
    assert_eq!(
        old_voice(&files),
        ["crates/b/src/lib.rs:5: // Nobody knows."]
    );
    let thin = file("c/src/lib.rs", &"fn f() {}\n".repeat(10));
    assert_eq!(
        thin_crates(&[thin]),
        ["c: 0 doc lines for 10 of code, not 12 per 100"]
    );
    assert!(std::panic::catch_unwind(|| assert_limit("x", &[], 1)).is_err());
    assert!(std::panic::catch_unwind(|| assert_limit("x", &["a".to_owned()], 0)).is_err());
}
