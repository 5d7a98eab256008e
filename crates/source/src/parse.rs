//! The wrapper around the parser. Apart from the visitors of its tree, only this module uses it.
//!
//! Its interface changes with every release, so none of its types leaves this crate.

use ruff_python_ast::token::Tokens;
use ruff_python_ast::{Expr, Mod, ModModule, Stmt};
use ruff_python_parser::{
    LexicalErrorType, Mode, ParseError, ParseErrorType, ParseOptions, Parsed, parse_unchecked,
};
use ruff_text_size::{Ranged, TextRange};

use crate::Range;
use crate::check::SyntaxProblem;
use crate::depth::find_excessive_depth;
use crate::tokens::{TokenKind, tokenize};
use crate::wording::message;

/// The parsed statements of a text, and their offset in it.
pub(crate) struct Tree {
    parsed: Parsed<ModModule>,
    offset: usize,
}

impl Tree {
    /// Returns the statements.
    pub(crate) fn body(&self) -> &[Stmt] {
        self.parsed.suite()
    }

    /// Returns the tokens.
    pub(crate) fn tokens(&self) -> &Tokens {
        self.parsed.tokens()
    }

    /// Returns the offset of the parsed part in the caller's text.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the range of `node` in the caller's text.
    pub(crate) fn range(&self, node: &impl Ranged) -> Range {
        shift_range(node.range(), self.offset)
    }
}

/// Parses a whole file.
pub(crate) fn parse_module(text: &str) -> Result<Tree, Vec<SyntaxProblem>> {
    parse_module_at(text, 0)
}

/// Parses statements that may be indented, as they are inside another notation.
pub(crate) fn parse_fragment(text: &str) -> Result<Tree, Vec<SyntaxProblem>> {
    parse_module_at(text, leading_blanks(text))
}

/// Parses the statements of a text from an offset on.
fn parse_module_at(text: &str, offset: usize) -> Result<Tree, Vec<SyntaxProblem>> {
    let parsed = parse_checked(text, offset, Mode::Module)?;
    match parsed.try_into_module() {
        Some(parsed) => Ok(Tree { parsed, offset }),
        // Cannot happen, since this mode was requested.
        None => Err(Vec::new()),
    }
}

/// Returns the problems that keep `text` from being a single expression.
pub(crate) fn expression_problems(text: &str) -> Vec<SyntaxProblem> {
    parse_expression(text).err().unwrap_or_default()
}

/// Parses a single expression, and returns it with the offset of the parsed part.
pub(crate) fn parse_expression(text: &str) -> Result<(Box<Expr>, usize), Vec<SyntaxProblem>> {
    let offset = leading_blanks(text);
    match parse_checked(text, offset, Mode::Expression)?.into_syntax() {
        Mod::Expression(module) => Ok((module.body, offset)),
        // Cannot happen, since this mode was requested.
        Mod::Module(_) => Err(Vec::new()),
    }
}

/// Parses a text from an offset on, after checking its nesting.
fn parse_checked(text: &str, offset: usize, mode: Mode) -> Result<Parsed<Mod>, Vec<SyntaxProblem>> {
    let part = text.get(offset..).unwrap_or("");
    if let Some(mut problem) = find_excessive_depth(part) {
        problem.range = problem.range.start + offset..problem.range.end + offset;
        return Err(vec![problem]);
    }
    let parsed = parse_unchecked(part, ParseOptions::from(mode));
    if parsed.errors().is_empty() {
        return Ok(parsed);
    }
    Err(convert_errors(text, offset, parsed.errors()))
}

/// Converts the parser's errors to problems, without those that only follow from others.
fn convert_errors(text: &str, offset: usize, errors: &[ParseError]) -> Vec<SyntaxProblem> {
    let part = text.get(offset..).unwrap_or("");
    let is_end = |error: &ParseError| error.error == ParseErrorType::Lexical(LexicalErrorType::Eof);
    let mut unclosed = errors
        .iter()
        .any(is_end)
        .then(|| unclosed_bracket(text))
        .flatten();
    // After a bracket that is never closed nothing can be trusted.
    let mut trusted = unclosed
        .as_ref()
        .map_or(text.len() + 1, |bracket| bracket.start);
    let strings = errors
        .iter()
        .filter(|error| is_unclosed_string(error))
        .map(|error| to_char_boundaries(shift_range(error.location, offset), text).start);
    if let (Some(bracket), Some(string)) = (&unclosed, strings.min()) {
        let between = text.get(bracket.start..string);
        if between.is_some_and(|between| !between.contains('\n')) {
            // The string has swallowed the closing bracket.
            trusted = string + 1;
            unclosed = None;
        }
    }
    let mismatched_bracket = mismatched_bracket(text);
    let mut problems: Vec<SyntaxProblem> = Vec::new();
    let mut line_end = None;
    let mut errors: Vec<&ParseError> = errors.iter().collect();
    errors.sort_by_key(|error| error.location.start());
    for error in errors {
        let range = to_char_boundaries(shift_range(error.location, offset), text);
        // During recovery the parser may report several errors on one line; the first is the most
        // useful.
        let same_line = line_end.is_some_and(|line_end| range.start <= line_end);
        if range.start < trusted && !same_line {
            let length = text.get(range.start..).unwrap_or("").find(['\n', '\r']);
            line_end = Some(length.map_or(text.len(), |length| range.start + length));
            let fits = mismatched_bracket
                .as_ref()
                .filter(|mismatched_bracket| mismatched_bracket.range == range);
            problems.push(match fits {
                Some(mismatched_bracket) => mismatched_bracket.clone(),
                None => unclosed_field(text, &range, error).unwrap_or_else(|| {
                    SyntaxProblem::new(without_line_end(range, text), message(error, part))
                }),
            });
        }
    }
    if let Some(bracket) = unclosed {
        let words = format!(
            "this `{}` is never closed",
            text.get(bracket.clone()).unwrap_or("(")
        );
        problems.push(SyntaxProblem::new(bracket, words));
    }
    problems
}

/// Returns true if an error is about a string without its closing quote.
fn is_unclosed_string(error: &ParseError) -> bool {
    matches!(
        error.error,
        ParseErrorType::Lexical(LexicalErrorType::UnclosedStringError)
    )
}

/// Shortens a range that is only a line end to its start, since it would be shown across two lines.
fn without_line_end(range: Range, text: &str) -> Range {
    let is_line_end = text
        .get(range.clone())
        .is_some_and(|found| !found.is_empty() && found.trim_matches(['\n', '\r']).is_empty());
    if is_line_end {
        range.start..range.start
    } else {
        range
    }
}

/// Detects `f'{x'`: the quote that should end the string seems to start another one in its field.
fn unclosed_field(text: &str, range: &Range, error: &ParseError) -> Option<SyntaxProblem> {
    if !is_unclosed_string(error) {
        return None;
    }
    let quote = text.get(range.start..)?.chars().next()?;
    let before = text.get(..range.start)?;
    let line = before.rfind('\n').map_or(0, |newline| newline + 1);
    let brace = line + before.get(line..)?.rfind('{')?;
    let opening = before.get(line..brace)?.rfind(quote)?;
    let prefix = before.get(line..line + opening)?;
    let is_open = !before.get(brace..)?.contains('}') && prefix.ends_with(['f', 'F', 'r', 'R']);
    is_open.then(|| {
        SyntaxProblem::new(
            brace..brace + 1,
            "this `{` of a formatted string is never closed; for a brace itself write `{{`",
        )
    })
}

/// Finds the first closing bracket that closes nothing, or not what is open.
fn mismatched_bracket(text: &str) -> Option<SyntaxProblem> {
    let mut open = Vec::new();
    for token in tokenize(text) {
        let found = text.get(token.range.clone()).unwrap_or("");
        match token.kind {
            TokenKind::OpenBracket => open.push(found),
            TokenKind::CloseBracket => match (open.pop(), found) {
                (Some("("), ")") | (Some("["), "]") | (Some("{"), "}") => {}
                (Some(opener), _) => {
                    let words = format!("this `{found}` does not match the `{opener}` before it");
                    return Some(SyntaxProblem::new(token.range, words));
                }
                (None, _) => {
                    let words = format!("this `{found}` closes nothing");
                    return Some(SyntaxProblem::new(token.range, words));
                }
            },
            _ => {}
        }
    }
    None
}

/// Finds the innermost bracket that is still open at the end of the text.
fn unclosed_bracket(text: &str) -> Option<Range> {
    let mut open = Vec::new();
    for token in tokenize(text) {
        match token.kind {
            TokenKind::OpenBracket => open.push(token.range),
            TokenKind::CloseBracket => drop(open.pop()),
            _ => {}
        }
    }
    open.pop()
}

/// Returns the length of the blanks at the beginning of a text.
fn leading_blanks(text: &str) -> usize {
    text.len()
        - text
            .trim_start_matches([' ', '\t', '\x0c', '\r', '\n'])
            .len()
}

/// Converts a range of the parser to a range of the caller's text.
pub(crate) fn shift_range(range: TextRange, offset: usize) -> Range {
    range.start().to_usize() + offset..range.end().to_usize() + offset
}

/// Moves `range` to the nearest character boundaries inside `text`.
///
/// The parser should guarantee that, but an error there would cause a panic where the problem is
/// shown.
fn to_char_boundaries(range: Range, text: &str) -> Range {
    let start = text.floor_char_boundary(range.start);
    let end = text.ceil_char_boundary(range.end.max(start));
    start..end.min(text.len())
}
