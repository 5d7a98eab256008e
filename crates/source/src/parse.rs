//! The fence around the parser: only here and in the walks over its tree is it named.
//!
//! Its interface changes with every release, so no type of it leaves this crate.

use ruff_python_ast::token::Tokens;
use ruff_python_ast::{Expr, Mod, ModModule, Stmt};
use ruff_python_parser::{
    LexicalErrorType, Mode, ParseError, ParseErrorType, ParseOptions, Parsed, parse_unchecked,
};
use ruff_text_size::{Ranged, TextRange};

use crate::Range;
use crate::check::Problem;
use crate::depth::too_deep;
use crate::tokens::{TokenKind, tokens};
use crate::wording::message;

/// The statements of a text, and where in it they start.
pub(crate) struct Tree {
    parsed: Parsed<ModModule>,
    offset: usize,
}

impl Tree {
    pub(crate) fn body(&self) -> &[Stmt] {
        self.parsed.suite()
    }

    pub(crate) fn tokens(&self) -> &Tokens {
        self.parsed.tokens()
    }

    /// Where in the caller's text the parsed part starts.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// Where `node` is in the caller's text.
    pub(crate) fn range(&self, node: &impl Ranged) -> Range {
        shifted(node.range(), self.offset)
    }
}

/// Parses a whole file.
pub(crate) fn module(text: &str) -> Result<Tree, Vec<Problem>> {
    module_at(text, 0)
}

/// Parses statements that may be indented, as they are inside another notation.
pub(crate) fn fragment(text: &str) -> Result<Tree, Vec<Problem>> {
    module_at(text, blanks_before(text))
}

fn module_at(text: &str, offset: usize) -> Result<Tree, Vec<Problem>> {
    let parsed = parsed(text, offset, Mode::Module)?;
    match parsed.try_into_module() {
        Some(parsed) => Ok(Tree { parsed, offset }),
        // Never so: that is what the mode asked for.
        None => Err(Vec::new()),
    }
}

/// Everything that keeps `text` from being a single expression.
pub(crate) fn expression_problems(text: &str) -> Vec<Problem> {
    expression(text).err().unwrap_or_default()
}

/// Parses a single expression, and says where in the text the parsed part starts.
pub(crate) fn expression(text: &str) -> Result<(Box<Expr>, usize), Vec<Problem>> {
    let offset = blanks_before(text);
    match parsed(text, offset, Mode::Expression)?.into_syntax() {
        Mod::Expression(module) => Ok((module.body, offset)),
        // Never so: that is what the mode asked for.
        Mod::Module(_) => Err(Vec::new()),
    }
}

fn parsed(text: &str, offset: usize, mode: Mode) -> Result<Parsed<Mod>, Vec<Problem>> {
    let part = text.get(offset..).unwrap_or("");
    if let Some(mut problem) = too_deep(part) {
        problem.range = problem.range.start + offset..problem.range.end + offset;
        return Err(vec![problem]);
    }
    let parsed = parse_unchecked(part, ParseOptions::from(mode));
    if parsed.errors().is_empty() {
        return Ok(parsed);
    }
    Err(problems(text, offset, parsed.errors()))
}

/// The parser's errors as problems, without those that only follow from others.
fn problems(text: &str, offset: usize, errors: &[ParseError]) -> Vec<Problem> {
    let part = text.get(offset..).unwrap_or("");
    let is_end = |error: &ParseError| error.error == ParseErrorType::Lexical(LexicalErrorType::Eof);
    let mut unclosed = errors
        .iter()
        .any(is_end)
        .then(|| unclosed_bracket(text))
        .flatten();
    // Behind a bracket that is never closed nothing is what it seems.
    let mut trusted = unclosed
        .as_ref()
        .map_or(text.len() + 1, |bracket| bracket.start);
    let strings = errors
        .iter()
        .filter(|error| is_unclosed_string(error))
        .map(|error| inside(shifted(error.location, offset), text).start);
    if let (Some(bracket), Some(string)) = (&unclosed, strings.min()) {
        let between = text.get(bracket.start..string);
        if between.is_some_and(|between| !between.contains('\n')) {
            // The string has swallowed what closes the bracket.
            trusted = string + 1;
            unclosed = None;
        }
    }
    let misfit = misfit(text);
    let mut problems: Vec<Problem> = Vec::new();
    let mut line_end = None;
    let mut errors: Vec<&ParseError> = errors.iter().collect();
    errors.sort_by_key(|error| error.location.start());
    for error in errors {
        let range = inside(shifted(error.location, offset), text);
        // Recovering, the parser may stumble several times over one line; the first time says most.
        let same_line = line_end.is_some_and(|line_end| range.start <= line_end);
        if range.start < trusted && !same_line {
            let length = text.get(range.start..).unwrap_or("").find(['\n', '\r']);
            line_end = Some(length.map_or(text.len(), |length| range.start + length));
            let fits = misfit.as_ref().filter(|misfit| misfit.range == range);
            problems.push(match fits {
                Some(misfit) => misfit.clone(),
                None => unclosed_field(text, &range, error).unwrap_or_else(|| {
                    Problem::new(without_line_end(range, text), message(error, part))
                }),
            });
        }
    }
    if let Some(bracket) = unclosed {
        let words = format!(
            "this `{}` is never closed",
            text.get(bracket.clone()).unwrap_or("(")
        );
        problems.push(Problem::new(bracket, words));
    }
    problems
}

fn is_unclosed_string(error: &ParseError) -> bool {
    matches!(
        error.error,
        ParseErrorType::Lexical(LexicalErrorType::UnclosedStringError)
    )
}

/// The end of a line as a place is drawn over two lines; where it starts is enough.
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

/// `f'{x'`: the quote that is to end the string seems to start another one in its field.
fn unclosed_field(text: &str, range: &Range, error: &ParseError) -> Option<Problem> {
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
        Problem::new(
            brace..brace + 1,
            "this `{` of a formatted string is never closed; for a brace itself write `{{`",
        )
    })
}

/// The first closing bracket that closes nothing, or not what is open.
fn misfit(text: &str) -> Option<Problem> {
    let mut open = Vec::new();
    for token in tokens(text) {
        let found = text.get(token.range.clone()).unwrap_or("");
        match token.kind {
            TokenKind::Open => open.push(found),
            TokenKind::Close => match (open.pop(), found) {
                (Some("("), ")") | (Some("["), "]") | (Some("{"), "}") => {}
                (Some(opener), _) => {
                    let words = format!("this `{found}` does not match the `{opener}` before it");
                    return Some(Problem::new(token.range, words));
                }
                (None, _) => {
                    let words = format!("this `{found}` closes nothing");
                    return Some(Problem::new(token.range, words));
                }
            },
            _ => {}
        }
    }
    None
}

/// The innermost bracket that is still open at the end of the text.
fn unclosed_bracket(text: &str) -> Option<Range> {
    let mut open = Vec::new();
    for token in tokens(text) {
        match token.kind {
            TokenKind::Open => open.push(token.range),
            TokenKind::Close => drop(open.pop()),
            _ => {}
        }
    }
    open.pop()
}

fn blanks_before(text: &str) -> usize {
    text.len()
        - text
            .trim_start_matches([' ', '\t', '\x0c', '\r', '\n'])
            .len()
}

pub(crate) fn shifted(range: TextRange, offset: usize) -> Range {
    range.start().to_usize() + offset..range.end().to_usize() + offset
}

/// `range`, moved to the nearest character boundaries inside `text`.
///
/// The parser should see to that itself, but a slip there would be a panic in whoever shows the problem.
fn inside(range: Range, text: &str) -> Range {
    let start = text.floor_char_boundary(range.start);
    let end = text.ceil_char_boundary(range.end.max(start));
    start..end.min(text.len())
}
