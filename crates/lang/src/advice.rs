//! Advice on common mistakes in host code: habits from other languages, and lines that should be
//! blocks.

use crate::host::{self, HostProblem};

/// Returns advice if a problem is a common mistake. `what` names the part of the line that the text
/// is.
pub(crate) fn advice(part_name: &str, text: &str, problem: &HostProblem) -> Option<String> {
    let location = &problem.range;
    let mistake = Mistake {
        part_name,
        text,
        text_before: text.get(..location.start)?,
        text_at: text.get(location.clone())?,
        text_from: text.get(location.start..)?,
        message: &problem.message,
    };
    mistake
        .operator()
        .or_else(|| mistake.separator())
        .or_else(|| mistake.block())
        .or_else(|| mistake.condition())
        .or_else(|| mistake.second_statement())
        .or_else(|| mistake.end())
}

/// Place where the text cannot be continued as it is.
struct Mistake<'a> {
    /// Name of the part of the line.
    part_name: &'a str,
    /// Whole text.
    text: &'a str,
    /// Text before the place.
    text_before: &'a str,
    /// Text at the place.
    text_at: &'a str,
    /// Text from the place to the end.
    text_from: &'a str,
    /// Message of the host's parser.
    message: &'a str,
}

impl Mistake<'_> {
    /// Recognizes operators of other languages.
    fn operator(&self) -> Option<String> {
        let ends = |operator: &str| self.text_before.trim_end().ends_with(operator);
        let starts = |operator: &str| self.text_from.starts_with(operator);
        let word = if starts("&") && self.text_before.ends_with('&') {
            "`and`"
        } else if starts("|") && self.text_before.ends_with('|') {
            "`or`"
        } else if starts("!") && !starts("!=") {
            "`not`"
        } else if self.is_end() && ends("++") {
            "`x += 1` to count up; `++` is no operator of Python"
        } else if self.is_end() && ends("--") {
            "`x -= 1` to count down; `--` is no operator of Python"
        } else {
            return None;
        };
        Some(format!("write {word}"))
    }

    /// Recognizes separators that are not in one piece.
    fn separator(&self) -> Option<String> {
        let before = self.text_before.trim_end();
        let (found, other) = (self.text_from.chars().next()?, before.chars().next_back());
        match (other, found) {
            (Some(':'), '=') => Some("write `:=` in one piece".to_owned()),
            (Some('='), ':') => Some("write `:=`".to_owned()),
            (Some('-'), '>') => Some("write `->` in one piece".to_owned()),
            (Some('='), '>') => Some("write `=>` in one piece".to_owned()),
            (Some('f' | 'F'), ':') if last_word(before).eq_ignore_ascii_case("ref") => {
                Some("write `REF:` in capitals".to_owned())
            }
            _ => None,
        }
    }

    /// Recognizes statements that need more than a line.
    fn block(&self) -> Option<String> {
        let needs_block = self.message.contains("expected an indented block")
            || self.message.contains("must start on a new line");
        let is_rest = matches!(self.text_at, "else" | "elif" | "except" | "finally");
        let first = first_word(self.text);
        if !matches!(
            self.part_name,
            "statement" | "`init:` line" | "`finally:` line"
        ) {
            return None;
        }
        if first == "try" {
            return Some(
                "name the exceptions that may be raised in front: `{ValueError} statement`"
                    .to_owned(),
            );
        }
        if needs_block && matches!(first, "def" | "class" | "async") {
            return Some(
                "functions and classes are raw code: put them between a line `<@` and a line `@>`"
                    .to_owned(),
            );
        }
        if self.text_at == "{" && self.message.starts_with("expected `:`") {
            return Some("write `if condition: statement`, without braces".to_owned());
        }
        (needs_block || is_rest).then(|| {
            "an action is one line, such as `if condition: statement`; what needs more is a function in raw code"
                .to_owned()
        })
    }

    /// Recognizes statements in the place of a condition.
    fn condition(&self) -> Option<String> {
        let is_condition = matches!(
            self.part_name,
            "guard" | "post-condition" | "property" | "assumption" | "hint"
        );
        let is_word = matches!(self.text_at, "if" | "assert" | "return" | "while" | "when");
        (is_condition && is_word)
            .then(|| format!("write the condition alone, without `{}`", self.text_at))
    }

    /// Recognizes something else where a statement should end.
    fn second_statement(&self) -> Option<String> {
        if self.part_name == "`log:` line" && !self.text_before.trim().is_empty() {
            return Some("a level is a number: `log: 1 expression`".to_owned());
        }
        if !self
            .message
            .starts_with("expected the end of the statement")
        {
            return None;
        }
        let before = self.text_before.trim();
        let inner = |open: char, close: char| {
            before
                .strip_prefix(open)
                .and_then(|rest| rest.strip_suffix(close))
                .filter(|inner| {
                    inner
                        .split(',')
                        .all(|name| host::is_dotted_name(name.trim()))
                })
        };
        if let Some(names) = inner('{', '}') {
            return Some(format!(
                "the exceptions come first on the line: `{{{names}}} guard -> statement`"
            ));
        }
        if let Some(names) = inner('(', ')') {
            return Some(format!(
                "exceptions that may be raised stand in braces: `{{{names}}}`"
            ));
        }
        before
            .contains("//")
            .then(|| "a comment starts with `#`".to_owned())
    }

    /// Recognizes a line that ends too early.
    fn end(&self) -> Option<String> {
        const BACKSLASH: &str = "a line that continues below ends with a backslash";
        if self.message.ends_with("is never closed") {
            let closer = match self.text_at {
                "(" => ")",
                "[" => "]",
                "{" => "}",
                _ => return None,
            };
            return Some(format!("add the closing `{closer}`; {BACKSLASH}"));
        }
        if self.message.starts_with("expected `else`") {
            return Some("a condition stands in front: `condition -> statement`".to_owned());
        }
        if !self.is_end() || !self.message.starts_with("expected an expression") {
            return None;
        }
        let ends_in_assignment = self.text_before.trim_end().ends_with('=');
        Some(if ends_in_assignment {
            "a value must follow".to_owned()
        } else {
            BACKSLASH.to_owned()
        })
    }

    /// Returns true if the place is the end of the text.
    fn is_end(&self) -> bool {
        self.text_from.trim_start().is_empty()
    }
}

/// Returns the first word of a text.
fn first_word(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|letter| !host::continues_name(letter));
    &text[..end.unwrap_or(text.len())]
}

/// Returns the last word of a text.
fn last_word(text: &str) -> &str {
    let start = text.trim_end_matches(host::continues_name).len();
    &text[start..]
}
