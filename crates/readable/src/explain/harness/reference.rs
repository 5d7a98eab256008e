//! The reference of a harness: the corresponding names, and the compared results.

use testwright_lang::harness::Harness;

use crate::block::DocumentItem;
use crate::phrase::Phraser;

/// Writes one line for each rule: `"insert" corresponds to "add".`
pub(super) fn items(harness: &Harness, phraser: Phraser<'_>) -> Vec<DocumentItem> {
    let told = harness.references.iter().map(|reference| {
        let own = words(&reference.pattern, phraser);
        let other = words(&reference.replacement, phraser);
        let told = format!("\"{own}\" corresponds to \"{other}\".");
        DocumentItem::sentence(told, reference.line..=reference.line)
    });
    told.collect()
}

/// Returns the words of the last name in a pattern or replacement. The text before it only says
/// where the name occurs.
fn words(pattern: &str, phraser: Phraser<'_>) -> String {
    match last_name(pattern) {
        Some(name) => phraser.words(name),
        None => pattern.replace('\\', ""),
    }
}

fn last_name(pattern: &str) -> Option<&str> {
    let is_part = |one: char| one.is_alphanumeric() || one == '_';
    let mut last = None;
    let mut at = 0;
    while let Some(start) = pattern[at..].find(is_part).map(|found| at + found) {
        let rest = &pattern[start..];
        let end = rest.find(|one| !is_part(one)).unwrap_or(rest.len());
        // `\S` and `\1` are regular expression syntax, and so is a letter in a character class.
        let is_sign = pattern[..start].ends_with(['\\', '['])
            || rest.starts_with(|one: char| one.is_ascii_digit());
        if !is_sign {
            last = Some(&rest[..end]);
        }
        at = start + end;
    }
    last
}

/// Returns true if the result of an action is compared with that of the reference.
pub(super) fn is_compared(harness: &Harness, statement: &str) -> bool {
    harness
        .compares
        .iter()
        .any(|compare| matches(&compare.text, statement))
}

/// Returns true if a pattern occurs in a text. Patterns are mostly names. Of the syntax of regular
/// expressions, only parts that match anything are supported.
fn matches(pattern: &str, text: &str) -> bool {
    let plain = pattern.replace(".*", "\u{0}").replace(".+", "\u{0}");
    let plain = plain.replace('\\', "");
    let mut rest = text;
    for piece in plain.trim_matches(['^', '$']).split('\u{0}') {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{last_name, matches};

    #[test]
    fn the_last_name_is_what_is_meant() {
        for (pattern, name) in [
            ("avl.AVLTree", Some("AVLTree")),
            ("__contains__", Some("__contains__")),
            (r"(\S+)\.inorder\(\)", Some("inorder")),
            (r"sorted(\1)", Some("sorted")),
            (r"shelve\.Shelf\(.*\)", Some("Shelf")),
            ("{}", None),
            ("é\\", Some("é")),
        ] {
            assert_eq!(last_name(pattern), name, "{pattern}");
        }
    }

    #[test]
    fn answers_are_compared_by_pattern() {
        assert!(matches("find", "__hole_0.find(__hole_1)"));
        assert!(!matches("find", "__hole_0.insert(__hole_1)"));
        assert!(matches(r"a.*\.find", "ab.find()"));
        assert!(!matches(r"b.*\.find", "a.find(b)"));
    }
}
