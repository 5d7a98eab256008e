//! Recognition of Python 2, for better messages than "syntax error".
//!
//! Much teaching material and many old test harnesses are written in Python 2. Its constructs are
//! searched for in the [tokens](crate::tokenize), so nothing inside a string or a comment counts, and one broken
//! line does not hide the next.

use crate::Range;
use crate::tokens::{Token, TokenKind, tokenize};

/// A construct that only Python 2 understands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Python2Hint {
    /// The construct.
    pub range: Range,
    /// The description: a lower-case phrase without a full stop.
    pub message: String,
    /// Advice on what to write instead.
    pub help: String,
}

/// Finds the Python 2 construct that caused the syntax error at `range`: one that touches the
/// range, else one on the line where it starts.
///
/// ```
/// use testwright_source::{check_module, python2_hint};
///
/// let text = "print 'hello'";
/// let problem = &check_module(text)[0];
/// let help = python2_hint(text, &problem.range).map(|hint| hint.help);
/// assert_eq!(help.as_deref(), Some("write `print('hello')`"));
/// ```
pub fn python2_hint(text: &str, range: &Range) -> Option<Python2Hint> {
    let constructs = python2_constructs(text);
    let line = line_around(text, range.start);
    let touching = |hint: &&Python2Hint, range: &Range| {
        hint.range.start <= range.end && range.start <= hint.range.end
    };
    constructs
        .iter()
        .find(|hint| touching(hint, range))
        .or_else(|| constructs.iter().find(|hint| touching(hint, &line)))
        .cloned()
        .or_else(|| mixed_indentation(text, range, line))
}

/// Finds every Python 2 construct in `text`, in order.
///
/// `except A, b:` counts although Python 3.14 accepts it as two classes: a second one in lower case
/// is a variable.
pub fn python2_constructs(text: &str) -> Vec<Python2Hint> {
    let tokens = tokenize(text);
    let mut scanner = Python2Scanner {
        text,
        tokens: &tokens,
        closing_backticks: Vec::new(),
    };
    scanner.pair_backticks();
    (0..tokens.len())
        .filter_map(|position| scanner.construct_at(position))
        .collect()
}

/// The tokens of a text, searched for constructs.
struct Python2Scanner<'a> {
    text: &'a str,
    tokens: &'a [Token],
    /// The positions of backticks that close another one, in order.
    closing_backticks: Vec<usize>,
}

impl<'a> Python2Scanner<'a> {
    /// Finds the backticks that close another one on the same line.
    fn pair_backticks(&mut self) {
        let mut open = false;
        for position in 0..self.tokens.len() {
            if self.kind(position) == Some(TokenKind::Newline) {
                open = false;
            } else if self.text(position) == "`" {
                if open {
                    self.closing_backticks.push(position);
                }
                open = !open;
            }
        }
    }

    /// Returns the construct that begins at a token, if there is one.
    fn construct_at(&self, position: usize) -> Option<Python2Hint> {
        let token = self.tokens.get(position)?;
        let word = self.text(position);
        match (token.kind, word) {
            (TokenKind::Name, "print") if self.starts_statement(position) => {
                self.print_hint(position)
            }
            (TokenKind::Name, "exec") if self.starts_statement(position) => {
                self.exec_hint(position)
            }
            (TokenKind::Keyword, "except") => self.except_hint(position),
            (TokenKind::Keyword, "raise") => self.raise_hint(position),
            (TokenKind::Operator, "<>") => Some(hint(
                &token.range,
                "`<>` is an operator only in Python 2",
                "write `!=`".to_owned(),
            )),
            (TokenKind::Unknown, "`") => self.backticks_hint(position),
            (TokenKind::Number, _) => number_hint(&token.range, word),
            (TokenKind::String, _) => string(&token.range, word),
            _ => None,
        }
    }

    /// Returns the kind of a token.
    fn kind(&self, position: usize) -> Option<TokenKind> {
        self.tokens.get(position).map(|token| token.kind)
    }

    /// Returns the text of a token; empty after the last one.
    fn text(&self, position: usize) -> &'a str {
        let range = self.tokens.get(position).map(|token| token.range.clone());
        range.and_then(|range| self.text.get(range)).unwrap_or("")
    }

    /// Returns the text from one token up to, not including, another.
    fn text_between(&self, from: usize, to: usize) -> &'a str {
        self.range(from, to)
            .and_then(|range| self.text.get(range))
            .unwrap_or("")
    }

    /// Returns the range from one token up to, not including, another.
    fn range(&self, from: usize, to: usize) -> Option<Range> {
        let last = to.checked_sub(1).filter(|last| *last >= from)?;
        Some(self.tokens.get(from)?.range.start..self.tokens.get(last)?.range.end)
    }

    /// Returns true if a token is the first of a statement.
    fn starts_statement(&self, position: usize) -> bool {
        match position.checked_sub(1) {
            None => true,
            Some(before) => {
                self.kind(before) == Some(TokenKind::Newline)
                    || matches!(self.text(before), ";" | ":")
            }
        }
    }

    /// Visits the rest of a statement: calls `at` for every token outside brackets, and returns the
    /// end of the statement.
    fn statement_end(&self, from: usize, mut at: impl FnMut(usize)) -> usize {
        let mut depth = 0_usize;
        for position in from..self.tokens.len() {
            match self.kind(position) {
                Some(TokenKind::OpenBracket) => depth += 1,
                Some(TokenKind::CloseBracket) => depth = depth.saturating_sub(1),
                Some(TokenKind::Comment) if depth == 0 => return position,
                Some(TokenKind::Newline) if depth == 0 => return position,
                _ if depth == 0 && self.text(position) == ";" => return position,
                _ if depth == 0 => at(position),
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// Returns the positions of all `word`s outside brackets, and the end of the statement.
    fn find_words(&self, from: usize, word: &str) -> (Vec<usize>, usize) {
        let mut found = Vec::new();
        let end = self.statement_end(from, |position| {
            if self.text(position) == word {
                found.push(position);
            }
        });
        (found, end)
    }

    /// Returns true if the token after a word shows that it was meant as a statement. Brackets and
    /// signs do not: `print (x)` and `print -x` are Python 3 as well.
    fn has_operand(&self, position: usize) -> bool {
        let word = self.text(position);
        match self.kind(position) {
            Some(TokenKind::Name | TokenKind::Number | TokenKind::String) => true,
            Some(TokenKind::Keyword) => {
                matches!(word, "not" | "lambda" | "None" | "True" | "False")
            }
            _ => matches!(word, "{" | "`"),
        }
    }

    /// Recognizes a `print` statement.
    fn print_hint(&self, position: usize) -> Option<Python2Hint> {
        let message = "`print` is a statement only in Python 2";
        let (commas, end) = self.find_words(position + 1, ",");
        let range = self.range(position, end)?;
        if self.text(position + 1) == ">>" {
            let file_end = commas.first().copied().unwrap_or(end);
            let file = self.text_between(position + 2, file_end);
            let values = self.text_between(file_end + 1, end);
            let separator = if values.is_empty() { "" } else { ", " };
            let help = write_instead(&format!("print({values}{separator}file={file})"));
            return Some(hint(&range, message, help));
        }
        if self.has_operand(position + 1) {
            let help = match commas.last() {
                Some(last) if *last + 1 == end => {
                    format!("print({}, end=' ')", self.text_between(position + 1, *last))
                }
                _ => format!("print({})", self.text_between(position + 1, end)),
            };
            return Some(hint(&range, message, write_instead(&help)));
        }
        // Alone it is valid Python 3, but has no effect there.
        let alone = end == position + 1 && (position == 0 || self.text(position - 1) != ":");
        alone.then(|| hint(&range, message, "write `print()`".to_owned()))
    }

    /// Recognizes an `exec` statement.
    fn exec_hint(&self, position: usize) -> Option<Python2Hint> {
        if !self.has_operand(position + 1) {
            return None;
        }
        let (keywords, end) = self.find_words(position + 1, "in");
        let help = match keywords.first() {
            Some(keyword) => {
                let code = self.text_between(position + 1, *keyword);
                format!("exec({code}, {})", self.text_between(keyword + 1, end))
            }
            None => format!("exec({})", self.text_between(position + 1, end)),
        };
        let message = "`exec` is a statement only in Python 2";
        Some(hint(
            &self.range(position, end)?,
            message,
            write_instead(&help),
        ))
    }

    /// Recognizes `except E, e:`.
    fn except_hint(&self, position: usize) -> Option<Python2Hint> {
        let (colons, _) = self.find_words(position + 1, ":");
        let colon = *colons.first()?;
        let (comma, name) = (colon.checked_sub(2)?, colon.checked_sub(1)?);
        let is_variable = self.kind(name) == Some(TokenKind::Name)
            && !self.text(name).starts_with(char::is_uppercase);
        if comma <= position || self.text(comma) != "," || !is_variable {
            return None;
        }
        let help = format!(
            "{} as {}",
            self.text_between(position, comma),
            self.text(name)
        );
        Some(hint(
            &self.range(position, colon)?,
            "only Python 2 names an exception with a comma",
            write_instead(&help),
        ))
    }

    /// Recognizes `raise E, "x"`.
    fn raise_hint(&self, position: usize) -> Option<Python2Hint> {
        let (commas, end) = self.find_words(position + 1, ",");
        let first = *commas.first()?;
        let value = self.text_between(first + 1, commas.get(1).copied().unwrap_or(end));
        let help = format!("{}({value})", self.text_between(position, first));
        Some(hint(
            &self.range(position, end)?,
            "only Python 2 gives an exception its value with a comma",
            write_instead(&help),
        ))
    }

    /// Recognizes backticks. A backtick that closes another belongs to that one's hint.
    fn backticks_hint(&self, position: usize) -> Option<Python2Hint> {
        let is_backtick = |position: &usize| self.text(*position) == "`";
        let on_line = |position: &usize| self.kind(*position) != Some(TokenKind::Newline);
        if self.closing_backticks.binary_search(&position).is_ok() {
            return None;
        }
        let mut behind = (position + 1..self.tokens.len()).take_while(on_line);
        let closing = behind.find(is_backtick);
        let end = closing.map_or(position + 1, |closing| closing + 1);
        let help = match closing {
            Some(closing) => write_instead(&format!(
                "repr({})",
                self.text_between(position + 1, closing)
            )),
            None => "write `repr(...)`".to_owned(),
        };
        let message = "backticks make a text of a value only in Python 2";
        Some(hint(&self.range(position, end)?, message, help))
    }
}

/// Recognizes `0777` and `1L`.
fn number_hint(range: &Range, word: &str) -> Option<Python2Hint> {
    let digits = word.trim_end_matches(['l', 'L']);
    let octal = digits
        .strip_prefix('0')
        .filter(|rest| rest.bytes().all(|byte| matches!(byte, b'0'..=b'7' | b'_')))
        .filter(|rest| rest.bytes().any(|byte| byte != b'0' && byte != b'_'));
    match octal {
        Some(rest) => Some(hint(
            range,
            "a number that starts with `0` is octal only in Python 2",
            write_instead(&format!("0o{rest}")),
        )),
        None if digits.len() < word.len() => Some(hint(
            range,
            "only Python 2 marks long numbers with `L`",
            write_instead(digits),
        )),
        None => None,
    }
}

/// Recognizes `ur"..."`.
fn string(range: &Range, word: &str) -> Option<Python2Hint> {
    let is_python2 = word
        .get(..2)
        .is_some_and(|prefix| prefix.eq_ignore_ascii_case("ur"));
    is_python2.then(|| {
        let help = write_instead(word.get(1..).unwrap_or(""));
        hint(range, "the prefix `ur` exists only in Python 2", help)
    })
}

/// Recognizes an indentation error in a text that indents some lines with tabs and others with
/// blanks.
fn mixed_indentation(text: &str, range: &Range, line: Range) -> Option<Python2Hint> {
    let content = text.get(line.clone())?;
    let indentation = content.len() - content.trim_start_matches([' ', '\t']).len();
    let tabs = text.lines().any(|line| line.starts_with('\t'));
    let blanks = text.lines().any(|line| line.starts_with(' '));
    let in_indentation = indentation > 0 && range.start <= line.start + indentation;
    (in_indentation && tabs && blanks).then(|| {
        hint(
            &(line.start..line.start + indentation),
            "only Python 2 lets tabs and blanks mix in the indentation",
            "indent every line with blanks".to_owned(),
        )
    })
}

/// Creates a hint.
fn hint(range: &Range, message: &str, help: String) -> Python2Hint {
    Python2Hint {
        range: range.clone(),
        message: message.to_owned(),
        help,
    }
}

/// Returns the advice to write this code.
fn write_instead(code: &str) -> String {
    format!("write `{code}`")
}

/// Returns the line that contains `at`, without its end.
fn line_around(text: &str, at: usize) -> Range {
    let at = text.floor_char_boundary(at);
    let (before, behind) = text.split_at(at);
    let start = before.rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let end = behind.find(['\n', '\r']).map_or(text.len(), |end| at + end);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check_module;

    /// Checks every construct, written as its text and what to write instead.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let shown: Vec<String> = python2_constructs(text)
            .into_iter()
            .map(|hint| format!("{} => {}", &text[hint.range], hint.help))
            .collect();
        assert_eq!(shown, expected, "{text:?}");
    }

    #[test]
    fn print_and_exec() {
        check(
            "print 'a', b  # c",
            &["print 'a', b => write `print('a', b)`"],
        );
        check(
            "if x: print x,; y",
            &["print x, => write `print(x, end=' ')`"],
        );
        check(
            "print >>f, x",
            &["print >>f, x => write `print(x, file=f)`"],
        );
        check("print >>f", &["print >>f => write `print(file=f)`"]);
        check(
            "print\r\nprint not x",
            &[
                "print => write `print()`",
                "print not x => write `print(not x)`",
            ],
        );
        check(
            "print 'ä %s' % (\n1)",
            &["print 'ä %s' % (\n1) => write `print('ä %s' % (\n1))`"],
        );
        check(
            "exec code in d",
            &["exec code in d => write `exec(code, d)`"],
        );
        check("exec 'x'", &["exec 'x' => write `exec('x')`"]);
    }

    #[test]
    fn exceptions() {
        check(
            "except E, e: pass",
            &["except E, e => write `except E as e`"],
        );
        check(
            "except (A, B), e:",
            &["except (A, B), e => write `except (A, B) as e`"],
        );
        check("raise E, 'x'", &["raise E, 'x' => write `raise E('x')`"]);
        check(
            "raise E, 'x', t",
            &["raise E, 'x', t => write `raise E('x')`"],
        );
    }

    #[test]
    fn operators_and_literals() {
        check(
            "a <> `b + c`",
            &["<> => write `!=`", "`b + c` => write `repr(b + c)`"],
        );
        check("`a", &["` => write `repr(...)`"]);
        check(
            "0777 + 10L + 0x1fL",
            &[
                "0777 => write `0o777`",
                "10L => write `10`",
                "0x1fL => write `0x1f`",
            ],
        );
        check("x = Ur'é'", &["Ur'é' => write `r'é'`"]);
    }

    #[test]
    fn python_3_is_left_alone() {
        for text in [
            "",
            "print(x); print (x), y; print -x; f = print",
            "'''\nprint x\n''' # print x",
            "except (A, b): pass",
            "except A as b: pass",
            "except A, B: pass",
            "except: x, y",
            "raise E('a', b)",
            "00 + 0.5 + 0e1 + 0o7 + 07.5 + 1j",
            "exec(code)",
            "x = {1: print, 2: exec}",
            "rb'x' u'x'",
        ] {
            check(text, &[]);
        }
    }

    #[track_caller]
    fn check_hint(text: &str, expected: Option<&str>) {
        let problems = check_module(text);
        let hint = problems
            .iter()
            .find_map(|problem| python2_hint(text, &problem.range));
        assert_eq!(
            hint.map(|hint| hint.message).as_deref(),
            expected,
            "{text:?} {problems:?}"
        );
    }

    #[test]
    fn hints_for_errors() {
        let print = Some("`print` is a statement only in Python 2");
        check_hint("x = 1\nprint x\n", print);
        check_hint("if x:\n  print 'é', x\n", print);
        check_hint("a <> b", Some("`<>` is an operator only in Python 2"));
        check_hint(
            "raise E, 'x'",
            Some("only Python 2 gives an exception its value with a comma"),
        );
        check_hint(
            "x = 0777",
            Some("a number that starts with `0` is octal only in Python 2"),
        );
        check_hint("x = 1L", Some("only Python 2 marks long numbers with `L`"));
        check_hint("x = ur'x'", Some("the prefix `ur` exists only in Python 2"));
        check_hint(
            "x = `y`",
            Some("backticks make a text of a value only in Python 2"),
        );
        check_hint("exec 'x'", Some("`exec` is a statement only in Python 2"));
        check_hint(
            "if x:\n\ty\n        z\n",
            Some("only Python 2 lets tabs and blanks mix in the indentation"),
        );
        check_hint("x = = 1", None);
        check_hint("if x:\n  y\n z\n", None);
    }
}
