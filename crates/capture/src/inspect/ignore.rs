//! Ignore files, as git reads them: patterns with stars, `!` for exceptions, a slash at the end for folders only.

use std::fs;
use std::path::Path;

/// The patterns of one ignore file; paths are relative to its folder.
#[derive(Debug, Clone, Default)]
pub(super) struct Ignore {
    patterns: Vec<Pattern>,
}

#[derive(Debug, Clone)]
struct Pattern {
    words: Vec<String>,
    keeps: bool,
    only_folders: bool,
}

impl Ignore {
    /// Those of `.gitignore` in a folder; none if there is no such file.
    pub(super) fn of(folder: &Path) -> Ignore {
        // Not being allowed to read it is no reason to stop: then nothing is left out.
        let text = fs::read(folder.join(".gitignore")).unwrap_or_default();
        Ignore::parse(&String::from_utf8_lossy(&text))
    }

    pub(super) fn parse(text: &str) -> Ignore {
        let patterns = text.lines().filter_map(Pattern::parse).collect();
        Ignore { patterns }
    }

    /// Whether a path is left out, if any pattern says something about it. The last one that does is right.
    pub(super) fn verdict(&self, path: &[&str], is_folder: bool) -> Option<bool> {
        self.patterns
            .iter()
            .rev()
            .filter(|pattern| is_folder || !pattern.only_folders)
            .find(|pattern| path_matches(&pattern.words, path))
            .map(|pattern| !pattern.keeps)
    }
}

impl Pattern {
    fn parse(line: &str) -> Option<Pattern> {
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
        // Without a slash a pattern is about names at any depth.
        let anchored = line.contains('/');
        let line = line.strip_prefix('/').unwrap_or(line);
        let mut words: Vec<String> = line.split('/').map(str::to_owned).collect();
        if !anchored {
            words.insert(0, "**".to_owned());
        }
        Some(Pattern {
            words,
            keeps,
            only_folders,
        })
    }
}

/// Whether the parts of a path match those of a pattern, where `**` is any number of parts.
pub(super) fn path_matches(pattern: &[impl AsRef<str>], path: &[&str]) -> bool {
    let Some((word, rest)) = pattern.split_first() else {
        return path.is_empty();
    };
    if word.as_ref() == "**" {
        return (0..=path.len()).any(|skipped| {
            path.get(skipped..)
                .is_some_and(|remaining| path_matches(rest, remaining))
        });
    }
    path.split_first()
        .is_some_and(|(name, below)| matches(word.as_ref(), name) && path_matches(rest, below))
}

/// Whether a name matches a pattern with `*`, `?` and `[abc]`.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    matches_from(&pattern, &name)
}

fn matches_from(pattern: &[char], name: &[char]) -> bool {
    // Going back only to the last star is enough, and keeps this from taking exponential time.
    let (mut at, mut read) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while read < name.len() {
        match one(pattern.get(at..).unwrap_or_default(), name[read]) {
            Step::Star => {
                star = Some((at + 1, read));
                at += 1;
            }
            Step::Fits(length) => {
                at += length;
                read += 1;
            }
            Step::Differs => match star {
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

enum Step {
    Star,
    Fits(usize),
    Differs,
}

fn one(pattern: &[char], letter: char) -> Step {
    match pattern {
        ['*', ..] => Step::Star,
        ['?', ..] => Step::Fits(1),
        ['[', rest @ ..] => match rest.iter().skip(1).position(|end| *end == ']') {
            Some(end) => {
                let members = rest.get(..=end).unwrap_or_default();
                if in_set(members, letter) {
                    Step::Fits(end + 3)
                } else {
                    Step::Differs
                }
            }
            None if letter == '[' => Step::Fits(1),
            None => Step::Differs,
        },
        ['\\', escaped, ..] if *escaped == letter => Step::Fits(2),
        [same, ..] if *same == letter => Step::Fits(1),
        _ => Step::Differs,
    }
}

fn in_set(members: &[char], letter: char) -> bool {
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
