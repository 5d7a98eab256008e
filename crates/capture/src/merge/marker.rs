//! The comment that identifies a written test.

use std::collections::BTreeSet;

use crate::digest::digest;

/// The beginning of the comment.
const START: &str = "# tw:";

/// The content of a marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marker {
    /// The id of the test.
    pub(super) id: String,
    /// The digest of the test as it was written.
    pub(super) digest: String,
}

/// Inserts a marker below the `def` line of a test.
pub(super) fn add_marker(id: &str, lines: &[String]) -> Vec<String> {
    let mut marked = lines.to_vec();
    let digest = text_digest(lines.iter().map(String::as_str));
    let body = body_start(lines);
    let indent: String = lines
        .get(body)
        .map(|line| {
            line.chars()
                .take_while(|letter| letter.is_whitespace())
                .collect()
        })
        .unwrap_or_default();
    marked.insert(
        body.min(marked.len()),
        format!("{indent}{START}{id}-{digest}"),
    );
    marked
}

/// Returns the index of the first line after the `def` and its parameters, which may span several
/// lines.
fn body_start(lines: &[String]) -> usize {
    let is_def = |line: &String| {
        let text = line.trim_start();
        text.starts_with("def ") || text.starts_with("async def ")
    };
    let start = lines.iter().position(is_def).unwrap_or(0);
    let end = lines
        .iter()
        .skip(start)
        .position(|line| line.trim_end().ends_with(':'));
    start + end.unwrap_or(0) + 1
}

/// Finds the marker in the text of a function, and computes the digest of the text without it.
pub(super) fn find_marker(text: &str) -> Option<(Marker, String)> {
    let mut found = None;
    let mut rest = Vec::new();
    for line in text.lines() {
        match parse(line) {
            Some(marker) if found.is_none() => found = Some(marker),
            _ => rest.push(line),
        }
    }
    Some((found?, text_digest(rest.into_iter())))
}

/// Parses a marker.
fn parse(line: &str) -> Option<Marker> {
    let (id, digest) = line.trim().strip_prefix(START)?.split_once('-')?;
    let is_word =
        |word: &str| !word.is_empty() && word.chars().all(|letter| letter.is_ascii_hexdigit());
    (is_word(id) && is_word(digest)).then(|| Marker {
        id: id.to_owned(),
        digest: digest.to_owned(),
    })
}

/// Computes the digest of lines. The indentation of the first line does not count, because the text
/// of a function begins after it.
fn text_digest<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for line in lines {
        let line = if text.is_empty() {
            line.trim_start()
        } else {
            line
        };
        text.push_str(line);
        text.push('\n');
    }
    digest(text.as_bytes())
}

/// Finds the ids of all markers in a text, even if it is not valid Python.
#[must_use]
pub fn marker_ids(text: &str) -> BTreeSet<String> {
    let markers = text.lines().filter_map(parse);
    markers.map(|marker| marker.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_and_edited_tests_are_recognised() {
        let lines = ["@skip", "def test_a(self):", "    assert a == 1"].map(str::to_owned);
        let text = add_marker("0a1b", &lines).join("\n");
        assert!(text.contains("\n    # tw:0a1b-"));
        let (marker, now) = find_marker(&text).expect("a marker");
        assert_eq!((marker.id.as_str(), &marker.digest), ("0a1b", &now));
        let (marker, now) = find_marker(&text.replace("== 1", "== 2")).expect("a marker");
        assert_ne!(marker.digest, now);
        assert_eq!(find_marker("def test_a(): pass"), None);
    }
}
