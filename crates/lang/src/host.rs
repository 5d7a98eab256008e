//! The host language, Python. No other file of this crate knows its lexical rules or calls its
//! parser.

use std::ops::Range;

use testwright_source::SyntaxProblem;
pub(crate) use testwright_source::{Token, TokenKind};

/// A syntax problem in host code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostProblem {
    /// Range in the text that was checked.
    pub(crate) range: Range<usize>,
    /// Message, as a phrase.
    pub(crate) message: String,
    /// Advice for code that was correct in an older version of the language.
    pub(crate) python2_help: Option<String>,
}

/// Grammar for a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SyntaxKind {
    /// One expression.
    Expression,
    /// One line of statements.
    Statements,
    /// A whole file.
    Module,
}

/// Splits a text into tokens. Never fails.
pub(crate) fn tokenize(text: &str) -> Vec<Token> {
    testwright_source::tokenize(text)
}

/// Returns the start of the comment at the end of a line, or the end of the line.
pub(crate) fn end_of_code(line: &str) -> usize {
    if !line.contains('#') {
        return line.len();
    }
    tokenize(line)
        .into_iter()
        .find(|token| token.kind == TokenKind::Comment)
        .map_or(line.len(), |token| token.range.start)
}

/// Returns the length in bytes of the operator at the start of a text, at least one character.
pub(crate) fn operator_length(text: &str) -> usize {
    const LONG_OPERATORS: [&str; 25] = [
        "**=", "//=", ">>=", "<<=", "...", "!=", "==", "<=", ">=", "<<", ">>", "**", "//", "+=",
        "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", ":=", "->", "<>",
    ];
    LONG_OPERATORS
        .iter()
        .find(|operator| text.starts_with(**operator))
        .map_or_else(
            || text.chars().next().map_or(1, char::len_utf8),
            |operator| operator.len(),
        )
}

/// Returns true if a word is a value and not a name (`None`).
pub(crate) fn is_constant(word: &str) -> bool {
    matches!(word, "None" | "True" | "False")
}

/// Returns true if a word can never be a name.
pub(crate) fn is_keyword(word: &str) -> bool {
    testwright_source::is_keyword(word)
}

/// Returns true if a character can be part of a name.
pub(crate) fn continues_name(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

/// Returns true if a text is a name, possibly with dots.
pub(crate) fn is_dotted_name(text: &str) -> bool {
    text.split('.').all(|word| {
        word.starts_with(|first: char| continues_name(first) && !first.is_numeric())
            && word.chars().all(continues_name)
    })
}

/// Returns true if a text is a literal, so that its value can be passed instead of the text.
pub(crate) fn is_literal(text: &str) -> bool {
    let text = text.trim();
    is_plain_number(text) || is_plain_string(text) || testwright_source::is_literal(text)
}

/// Returns true for a decimal integer. This decides the common case without a tokenizer, since
/// lists of literals can be long.
fn is_plain_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    match digits {
        [] => false,
        [b'0'] => true,
        [b'0', ..] => false,
        _ => digits.iter().all(u8::is_ascii_digit),
    }
}

/// Returns true for a string literal without escapes and prefixes, also without a tokenizer.
fn is_plain_string(text: &str) -> bool {
    let bytes = text.as_bytes();
    match bytes {
        [quote @ (b'"' | b'\''), inner @ .., last] if last == quote => !inner
            .iter()
            .any(|byte| byte == quote || matches!(byte, b'\\' | b'\n' | b'\r' | 0)),
        _ => false,
    }
}

/// Returns the ranges inside a string token that hold code: the fields of a formatted string,
/// without braces.
pub(crate) fn code_in_string(string: &str) -> Vec<Range<usize>> {
    let prefix = string.split(['"', '\'']).next().unwrap_or_default();
    if !prefix.contains(['f', 'F', 't', 'T']) {
        return Vec::new();
    }
    let bytes = string.as_bytes();
    let mut found = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut at = prefix.len();
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' if open.is_empty() && bytes.get(at + 1) == Some(&b'{') => at += 1,
            b'{' => open.push(at + 1),
            b'}' => {
                if let (Some(start), true) = (open.pop(), open.is_empty()) {
                    found.push(start..at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Returns the number of brackets that a line opens and does not close. It is negative if the line
/// closes more.
pub(crate) fn open_brackets(line: &str) -> isize {
    tokenize(line)
        .iter()
        .map(|token| match token.kind {
            TokenKind::OpenBracket => 1,
            TokenKind::CloseBracket => -1,
            _ => 0,
        })
        .sum()
}

/// Returns true if a line that starts with `@` looks like a decorator.
pub(crate) fn is_decorator(line: &str) -> bool {
    let name = line.strip_prefix('@').unwrap_or_default();
    let end = name.find(['(', ' ', '#']).unwrap_or(name.len());
    is_dotted_name(&name[..end])
        && !is_keyword(&name[..end])
        && matches!(
            name[end..].trim_start().chars().next(),
            None | Some('(' | '#')
        )
}

/// Returns true if a decorator may stand before this line.
pub(crate) fn can_be_decorated(line: &str) -> bool {
    let word = line.split(|letter| !continues_name(letter)).next();
    line.starts_with('@') || matches!(word, Some("def" | "class" | "async"))
}

/// Returns all problems of a text. An expression or statement has at most one.
pub(crate) fn check(syntax: SyntaxKind, text: &str) -> Vec<HostProblem> {
    let problems = match syntax {
        SyntaxKind::Expression => testwright_source::check_expression(text),
        SyntaxKind::Statements => testwright_source::check_statements(text),
        SyntaxKind::Module => testwright_source::check_module(text),
    };
    // The newest Python reads `except A, b:` as two classes, so a file is searched even if it can
    // be parsed.
    if problems.is_empty() && syntax != SyntaxKind::Module {
        return Vec::new();
    }
    let outdated = find_python2(text, &problems);
    if !outdated.is_empty() {
        return outdated;
    }
    let to_problem = |problem: SyntaxProblem| HostProblem {
        range: problem.range,
        message: problem.message,
        python2_help: None,
    };
    let mut problems: Vec<HostProblem> = problems.into_iter().map(to_problem).collect();
    if syntax != SyntaxKind::Module {
        problems.truncate(1);
    }
    problems
}

/// Code that can be parsed, but is hardly meant.
pub(crate) struct SuspiciousCode {
    /// Range in the text.
    pub(crate) range: Range<usize>,
    /// Message, as a phrase.
    pub(crate) message: String,
    /// Advice on what to write instead.
    pub(crate) help: String,
    /// True if the code could never work.
    pub(crate) is_error: bool,
}

/// Finds a `yield` that turns the line into a generator, and a condition with its message in one
/// pair of parentheses.
pub(crate) fn find_suspicious(text: &str, is_condition: bool) -> Option<SuspiciousCode> {
    let is_pair = is_condition && text.starts_with('(');
    if !is_pair && !text.contains("yield") && !text.contains("assert") {
        return None;
    }
    let tokens = tokenize(text);
    let word = |token: &Token| &text[token.range.clone()];
    for (at, token) in tokens.iter().enumerate() {
        let is_keyword = token.kind == TokenKind::Keyword;
        match word(token) {
            "def" | "lambda" if is_keyword => return None,
            "yield" if is_keyword => {
                return Some(SuspiciousCode {
                    range: token.range.clone(),
                    message: "a line with `yield` is never run: it becomes a generator".to_owned(),
                    help: "put a function with `yield` into raw code and call it here".to_owned(),
                    is_error: true,
                });
            }
            "assert" if is_keyword => {
                if let Some(range) = pair_in_parentheses(text, &tokens[at + 1..]) {
                    return Some(tuple_condition_warning(text, range, "assert "));
                }
            }
            _ => {}
        }
    }
    let pair = is_condition.then(|| pair_in_parentheses(text, &tokens));
    Some(tuple_condition_warning(text, pair??, ""))
}

/// Builds the finding for a tuple in the place of a condition.
fn tuple_condition_warning(text: &str, range: Range<usize>, before: &str) -> SuspiciousCode {
    let inner = &text[range.start + 1..range.end - 1];
    let is_short = inner.len() < 80;
    SuspiciousCode {
        message: "this always holds: values in parentheses with a comma are a tuple, which is true"
            .to_owned(),
        help: if is_short {
            format!("write `{before}{}`", inner.trim())
        } else {
            "remove the parentheses around condition and message".to_owned()
        },
        range,
        is_error: false,
    }
}

/// Returns the range of `(condition, message)`, if nothing else follows in the statement.
fn pair_in_parentheses(text: &str, tokens: &[Token]) -> Option<Range<usize>> {
    let first = tokens.first()?;
    if !text[first.range.clone()].starts_with('(') {
        return None;
    }
    let mut depth = 0_usize;
    let mut has_comma = false;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::OpenBracket => depth += 1,
            TokenKind::CloseBracket if depth == 1 => {
                let behind = tokens.get(at + 1).map(|token| &text[token.range.clone()]);
                let is_all = matches!(behind, None | Some(";"));
                return (has_comma && is_all).then_some(first.range.start..token.range.end);
            }
            TokenKind::CloseBracket => depth -= 1,
            _ => {
                let word = &text[token.range.clone()];
                if matches!(word, "for" | "lambda") && depth == 1 {
                    return None;
                }
                has_comma |= depth == 1 && word == ",";
            }
        }
    }
    None
}

/// Finds constructs of Python 2 that Python 3 does not have. Other problems of such a text are
/// mostly their consequences.
fn find_python2(text: &str, problems: &[SyntaxProblem]) -> Vec<HostProblem> {
    let mut hints = testwright_source::python2_constructs(text);
    for problem in problems.iter().take(MAX_HINTS) {
        let hint = testwright_source::python2_hint(text, &problem.range);
        hints.extend(hint.filter(|hint| !hints.contains(hint)));
    }
    hints.sort_by_key(|hint| (hint.range.start, hint.range.end));
    // If tabs and blanks mix, every line after the first one looks wrong too.
    let mut mixed = false;
    hints.retain(|hint| !hint.message.contains("tabs") || !std::mem::replace(&mut mixed, true));
    hints
        .into_iter()
        .map(|hint| HostProblem {
            range: hint.range,
            message: hint.message,
            python2_help: Some(hint.help),
        })
        .collect()
}

/// Maximum number of problems to search hints for, since each search reads the whole text.
const MAX_HINTS: usize = 20;

/// A module that a program imports as a whole, outside of functions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ImportedModule {
    /// Name that the program binds it to.
    pub(crate) name: String,
    /// Start of the statement.
    pub(crate) start: usize,
}

/// Returns the modules that a program imports as a whole, or nothing if it cannot be parsed.
pub(crate) fn imported_modules(text: &str) -> Vec<ImportedModule> {
    testwright_source::imports(text)
        .unwrap_or_default()
        .into_iter()
        .filter(|import| !import.from && import.top_level)
        .map(|import| ImportedModule {
            name: import.alias.unwrap_or(import.module),
            start: import.range.start,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_end_code() {
        assert_eq!(end_of_code("f('#') # c"), 7);
        assert_eq!(end_of_code("f('#')"), 6);
    }

    #[test]
    fn literals() {
        for text in [
            "1", "-1", " 0 ", "1.5", "'a'", "\"it's\"", "None", "b'x'", "'\\n'",
        ] {
            assert!(is_literal(text), "{text:?}");
        }
        for text in [
            "", "x", "-", "01", "'a", "'a'b'", "f'{x}'", "[]", "1,2", "--1",
        ] {
            assert!(!is_literal(text), "{text:?}");
        }
    }

    #[test]
    fn code_in_formatted_strings() {
        let fields = |string: &str| -> Vec<String> {
            let ranges = code_in_string(string).into_iter();
            ranges.map(|range| string[range].to_owned()).collect()
        };
        assert_eq!(fields("f'{a} {{b}} {c:{d}}'"), ["a", "c:{d}"]);
        assert_eq!(fields("'{a}'"), [""; 0]);
    }

    #[test]
    fn decorators() {
        assert!(is_decorator("@a.b"));
        assert!(is_decorator("@a(1, # x"));
        assert!(!is_decorator("@import a"));
        assert!(!is_decorator("@x = 1"));
        assert!(can_be_decorated("def f():"));
        assert!(!can_be_decorated("define()"));
    }

    #[test]
    fn old_python_is_called_so() {
        let problems = check(SyntaxKind::Statements, "print 'a'");
        assert!(problems.len() == 1 && problems[0].python2_help.is_some());
        let problems = check(SyntaxKind::Expression, "a b");
        assert!(problems.len() == 1 && problems[0].python2_help.is_none());
        assert!(check(SyntaxKind::Module, "x = 1\n").is_empty());
    }
}
