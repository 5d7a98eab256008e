//! Missing branches in words: "never jumped to line 22 (the condition was never true)".
//!
//! The reasons are read off the source without parsing it. So they are given only in plain cases:
//! the line begins with one of a few words, and the next statement is indented deeper, so that it
//! is the body.

use std::fmt::Write;

use super::escape::Escaped;
use crate::coverage::FileCoverage;

/// A file and its lines.
pub(super) struct SourceText<'a> {
    /// Coverage of the file.
    pub(super) file: &'a FileCoverage,
    /// Source lines, or nothing if the source cannot be read.
    pub(super) lines: Vec<&'a str>,
}

impl<'a> SourceText<'a> {
    pub(super) fn new(file: &'a FileCoverage) -> SourceText<'a> {
        SourceText {
            file,
            lines: file.text.as_deref().map(lines).unwrap_or_default(),
        }
    }

    /// Returns a line by its number, from 1.
    fn line(&self, number: u32) -> Option<&'a str> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.lines.get(index).copied()
    }

    /// Returns the indentation of a line in bytes.
    fn indentation(&self, number: u32) -> Option<usize> {
        let line = self.line(number)?;
        Some(line.len() - line.trim_start().len())
    }

    /// Returns the visual indentation of a line. A tab reaches to the next multiple of eight.
    pub(super) fn columns(&self, number: u32) -> usize {
        let line = self.line(number).unwrap_or("");
        let blanks = line
            .chars()
            .take_while(|letter| [' ', '\t'].contains(letter));
        blanks.fold(0, |columns, letter| match letter {
            '\t' => (columns / 8 + 1) * 8,
            _ => columns + 1,
        })
    }

    /// Describes the missing branches of a line as markup: one text for each, or one for all if
    /// none was ever taken.
    pub(super) fn describe_missing(
        &self,
        line: u32,
        missing: &[i32],
        is_every_branch: bool,
    ) -> Vec<String> {
        if is_every_branch {
            // An exception left the line each time, or it never came to an end.
            let destinations: Vec<String> = missing
                .iter()
                .map(|destination| self.describe_destination(line, *destination))
                .collect();
            return vec![format!("never got {}", destinations.join(" or "))];
        }
        missing
            .iter()
            .map(|destination| {
                let words = self.describe_destination(line, *destination);
                let mut text = match u32::try_from(*destination) {
                    Ok(destination) if destination <= line => format!("never went back {words}"),
                    Ok(_) => format!("never jumped {words}"),
                    Err(_) => match words.strip_prefix("out of ") {
                        Some(place) => format!("never left {place}"),
                        None => format!("never got {words}"),
                    },
                };
                if let Some(reason) = self.reason(line, *destination) {
                    let _ = write!(text, " ({reason})");
                }
                text
            })
            .collect()
    }

    /// Describes the destination of a branch as markup: `to line 22` with a link,
    /// `out of the function`, `to the end of the module`.
    pub(super) fn describe_destination(&self, line: u32, destination: i32) -> String {
        match u32::try_from(destination) {
            Ok(destination) if self.line(destination).is_some() => {
                format!("to <a href=\"#L{destination}\">line {destination}</a>")
            }
            Ok(destination) => format!("to line {destination}"),
            Err(_) => self.describe_exit(line, destination.unsigned_abs()),
        }
    }

    /// Describes the exit of the code object that begins in the line `first`.
    fn describe_exit(&self, line: u32, first: u32) -> String {
        // The definition stands below its decorators.
        let (number, definition) = (first..first.saturating_add(100))
            .map_while(|number| Some((number, self.line(number)?.trim_start())))
            .find(|(_, text)| !text.starts_with('@'))
            .unwrap_or((first, ""));
        // A module begins in line 1, and so may a function. But a function ends where a statement
        // is not indented.
        let is_outside = |line: &u32| self.indentation(*line) == Some(0);
        if first == 1
            && number < line
            && self
                .file
                .statements
                .range(number + 1..=line)
                .any(is_outside)
        {
            return "to the end of the module".to_owned();
        }
        let name = |after: &str| -> String {
            (after.trim_start().chars())
                .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
                .collect()
        };
        let definition = definition.strip_prefix("async ").unwrap_or(definition);
        let definition = definition.trim_start();
        if let Some(after) = definition.strip_prefix("def ") {
            format!("out of the function <b>{}</b>", Escaped(&name(after)))
        } else if let Some(after) = definition.strip_prefix("class ") {
            format!("out of the class <b>{}</b>", Escaped(&name(after)))
        } else if first == 1 {
            "to the end of the module".to_owned()
        } else {
            "out of the function".to_owned()
        }
    }

    /// Returns the reason for which a branch was not taken, in plain cases.
    fn reason(&self, line: u32, destination: i32) -> Option<&'static str> {
        let word: String = (self.line(line)?.trim_start().chars())
            .take_while(char::is_ascii_alphabetic)
            .collect();
        let next_of = |lines: &std::collections::BTreeSet<u32>| {
            lines.range(line.checked_add(1)?..).next().copied()
        };
        let body = [next_of(&self.file.statements), next_of(&self.file.excluded)]
            .into_iter()
            .flatten()
            .min()?;
        if self.indentation(body)? <= self.indentation(line)? {
            return None;
        }
        let is_body = u32::try_from(destination) == Ok(body);
        match (word.as_str(), is_body) {
            ("if" | "elif" | "while", true) => Some("the condition was never true"),
            ("if" | "elif" | "while", false) => Some("the condition was never false"),
            ("for", true) => Some("there was never anything to loop over"),
            ("for", false) => Some("the loop never ran to its end"),
            ("case", true) => Some("the pattern never matched"),
            ("case", false) => Some("the pattern always matched"),
            _ => None,
        }
    }
}

/// Splits a text into lines as Python counts them: only `\n`, `\r\n` and `\r` end a line.
fn lines(text: &str) -> Vec<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(end) = rest.find(['\n', '\r']) {
        lines.push(&rest[..end]);
        let length = if rest[end..].starts_with("\r\n") {
            2
        } else {
            1
        };
        rest = &rest[end + length..];
    }
    if !rest.is_empty() {
        lines.push(rest);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toys;

    #[test]
    fn lines_end_where_python_says() {
        assert_eq!(lines(""), Vec::<&str>::new());
        assert_eq!(lines("\u{feff}a\n"), ["a"]);
        assert_eq!(
            lines("a\r\nb\rc\n\nd\u{c}\u{2028}e"),
            ["a", "b", "c", "", "d\u{c}\u{2028}e"]
        );
    }

    fn check(text: &str, statements: &[u32], line: u32, destination: i32, expected: &str) {
        let file = FileCoverage {
            text: Some(text.to_owned()),
            statements: statements.iter().copied().collect(),
            ..FileCoverage::default()
        };
        let words = SourceText::new(&file)
            .describe_missing(line, &[destination], false)
            .concat();
        let plain = (words.split('<'))
            .map(|part| part.rsplit('>').next().unwrap_or(part))
            .collect::<String>();
        assert_eq!(plain, expected);
    }

    #[test]
    fn missing_branches_are_described() {
        let cart = toys::cart();
        let source = SourceText::new(&cart);
        assert_eq!(
            source.describe_missing(6, &[7], false),
            ["never jumped to <a href=\"#L7\">line 7</a> (the condition was never true)"]
        );
        assert_eq!(
            source.describe_missing(11, &[-4], false),
            ["never left the function <b>total</b> (the loop never ran to its end)"]
        );
        assert_eq!(
            source.describe_missing(12, &[11, 13], true),
            ["never got to <a href=\"#L11\">line 11</a> or to <a href=\"#L13\">line 13</a>"]
        );
    }

    #[test]
    fn reasons_only_where_they_are_plain() {
        let text = "if a: b()\nc()\n";
        check(text, &[1, 2], 1, 2, "never jumped to line 2");
        let text = "while (a and\n       b):\n    c()\nd()\n";
        check(
            text,
            &[1, 3, 4],
            1,
            3,
            "never jumped to line 3 (the condition was never true)",
        );
        check(
            text,
            &[1, 3, 4],
            1,
            4,
            "never jumped to line 4 (the condition was never false)",
        );
        let text = "match a:\n  case 1:\n    b()\n";
        check(
            text,
            &[1, 2, 3],
            2,
            3,
            "never jumped to line 3 (the pattern never matched)",
        );
        check(
            text,
            &[1, 2, 3],
            2,
            -1,
            "never got to the end of the module (the pattern always matched)",
        );
        check("a\n", &[1, 9], 1, 9, "never jumped to line 9");
    }

    #[test]
    fn exits_have_a_name() {
        let text = "class A:\n  if b:\n    c = 1\n";
        check(
            text,
            &[1, 2, 3],
            2,
            -1,
            "never left the class A (the condition was never false)",
        );
        let text = "def f(): pass\nif f:\n    g()\n";
        check(
            text,
            &[1, 2, 3],
            2,
            -1,
            "never got to the end of the module (the condition was never false)",
        );
        let text = "\n@a\n@b\nasync def f():\n    if c:\n        d()\n";
        check(
            text,
            &[2, 5, 6],
            5,
            -2,
            "never left the function f (the condition was never false)",
        );
        let text = "a = 1\nb = (\n    lambda: 2)\n";
        check(text, &[1, 2], 2, -3, "never left the function");
    }

    #[test]
    fn without_source_there_are_still_numbers() {
        let file = FileCoverage::default();
        let source = SourceText::new(&file);
        assert_eq!(
            source.describe_missing(3, &[7], false),
            ["never jumped to line 7"]
        );
        assert_eq!(
            source.describe_missing(3, &[-2], false),
            ["never left the function"]
        );
    }
}
