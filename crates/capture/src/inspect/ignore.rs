//! Ignore files in git's format: patterns with stars, `!` for exceptions, a trailing slash for
//! folders only.

use std::fs;
use std::path::Path;

/// The patterns of one ignore file. Paths are relative to its folder.
#[derive(Debug, Clone, Default)]
pub(super) struct IgnoreFile {
    patterns: Vec<IgnorePattern>,
}

/// A pattern.
#[derive(Debug, Clone)]
struct IgnorePattern {
    /// The components of the path; `**` matches any number of them.
    components: Vec<String>,
    /// True if it includes paths that earlier patterns exclude.
    is_negated: bool,
    /// True if it matches folders only.
    only_folders: bool,
}

impl IgnoreFile {
    /// Reads `.gitignore` in a folder; a missing file has no patterns.
    pub(super) fn read(folder: &Path) -> IgnoreFile {
        // A file that cannot be read excludes nothing.
        let text = fs::read(folder.join(".gitignore")).unwrap_or_default();
        IgnoreFile::parse(&String::from_utf8_lossy(&text))
    }

    /// Parses the text of an ignore file.
    pub(super) fn parse(text: &str) -> IgnoreFile {
        let patterns = text.lines().filter_map(IgnorePattern::parse).collect();
        IgnoreFile { patterns }
    }

    /// Returns true if a path is excluded, false if it is included again, `None` if no pattern
    /// matches. The last matching pattern counts.
    pub(super) fn is_excluded(&self, path: &[&str], is_folder: bool) -> Option<bool> {
        self.patterns
            .iter()
            .rev()
            .filter(|pattern| is_folder || !pattern.only_folders)
            .find(|pattern| path_matches(&pattern.components, path))
            .map(|pattern| !pattern.is_negated)
    }
}

impl IgnorePattern {
    /// Parses a line; `None` for blank lines and comments.
    fn parse(line: &str) -> Option<IgnorePattern> {
        let line = line.trim_end_matches([' ', '\t', '\r']);
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let (keeps, line) = match line.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, line.strip_prefix('\\').unwrap_or(line)),
        };
        let (only_folders, line) = match line.strip_suffix('/') {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        // A pattern without a slash matches names at any depth.
        let anchored = line.contains('/');
        let line = line.strip_prefix('/').unwrap_or(line);
        let mut components: Vec<String> = line.split('/').map(str::to_owned).collect();
        if !anchored {
            components.insert(0, "**".to_owned());
        }
        Some(IgnorePattern {
            components,
            is_negated: keeps,
            only_folders,
        })
    }
}

/// Returns true if the components of a path match those of a pattern, where `**` is any number of
/// components.
pub(super) fn path_matches(pattern: &[impl AsRef<str>], path: &[&str]) -> bool {
    let Some((component, rest)) = pattern.split_first() else {
        return path.is_empty();
    };
    if component.as_ref() == "**" {
        return (0..=path.len()).any(|skipped| {
            path.get(skipped..)
                .is_some_and(|remaining| path_matches(rest, remaining))
        });
    }
    path.split_first()
        .is_some_and(|(name, below)| matches(component.as_ref(), name) && path_matches(rest, below))
}

/// Returns true if a name matches a pattern with `*`, `?` and `[abc]`.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    matches_from(&pattern, &name)
}

/// Matches a name against a pattern.
fn matches_from(pattern: &[char], name: &[char]) -> bool {
    // Backtracking to the last star only is enough, and avoids exponential time.
    let (mut at, mut read) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while read < name.len() {
        match match_one(pattern.get(at..).unwrap_or_default(), name[read]) {
            GlobStep::Star => {
                star = Some((at + 1, read));
                at += 1;
            }
            GlobStep::Matches(length) => {
                at += length;
                read += 1;
            }
            GlobStep::Differs => match star {
                Some((behind, from)) => {
                    star = Some((behind, from + 1));
                    at = behind;
                    read = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern
        .get(at..)
        .unwrap_or_default()
        .iter()
        .all(|rest| *rest == '*')
}

/// The result of comparing one character with the start of a pattern.
enum GlobStep {
    /// The pattern begins with a star.
    Star,
    /// The character matches this many characters of the pattern.
    Matches(usize),
    /// The character does not match.
    Differs,
}

/// Compares a character with the start of a pattern.
fn match_one(pattern: &[char], letter: char) -> GlobStep {
    match pattern {
        ['*', ..] => GlobStep::Star,
        ['?', ..] => GlobStep::Matches(1),
        ['[', rest @ ..] => match rest.iter().skip(1).position(|end| *end == ']') {
            Some(end) => {
                let members = rest.get(..=end).unwrap_or_default();
                if is_in_set(members, letter) {
                    GlobStep::Matches(end + 3)
                } else {
                    GlobStep::Differs
                }
            }
            None if letter == '[' => GlobStep::Matches(1),
            None => GlobStep::Differs,
        },
        ['\\', escaped, ..] if *escaped == letter => GlobStep::Matches(2),
        [same, ..] if *same == letter => GlobStep::Matches(1),
        _ => GlobStep::Differs,
    }
}

/// Returns true if a character is in a set such as `a-c`, or not in one such as `!a-c`.
fn is_in_set(members: &[char], letter: char) -> bool {
    let (inverted, mut members) = match members {
        ['!' | '^', rest @ ..] => (true, rest),
        _ => (false, members),
    };
    let mut found = false;
    while let [first, rest @ ..] = members {
        members = match rest {
            ['-', last, behind @ ..] => {
                found |= (*first..=*last).contains(&letter);
                behind
            }
            _ => {
                found |= *first == letter;
                rest
            }
        };
    }
    found != inverted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_patterns() {
        for (pattern, name, expected) in [
            ("*.py", "a.py", true),
            ("*.py", "a.pyc", false),
            ("a?c", "abc", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]x]", "]", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXcYb", false),
            ("*", "", true),
            ("[", "[", true),
            ("\\*", "*", true),
            ("\\*", "x", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let pattern = "*a".repeat(40);
        assert!(!matches(&pattern, &"a".repeat(39)));
    }
}
