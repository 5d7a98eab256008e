//! Physical lines, and the statements they belong to.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::token::{TokenKind, Tokens};
use ruff_python_ast::{Decorator, Stmt};
use ruff_text_size::Ranged;

/// The lines of a text, counted from 1.
pub(super) struct StatementLines<'a> {
    starts: LineStarts,
    tokens: &'a Tokens,
    /// From a line to the first line of its statement, only where they differ.
    first_lines: BTreeMap<u32, u32>,
}

impl<'a> StatementLines<'a> {
    /// Computes the lines of a text.
    pub(super) fn new(text: &str, tokens: &'a Tokens) -> Self {
        let starts = LineStarts::new(text);
        let mut first_lines = BTreeMap::new();
        let mut first = None;
        for token in tokens.iter() {
            let line = starts.line(token.start().to_usize());
            match token.kind() {
                TokenKind::Newline => {
                    if let Some(first) = first.take() {
                        first_lines.extend((first + 1..=line).map(|line| (line, first)));
                    }
                }
                kind if is_blank(kind) => {}
                _ => first = first.or(Some(line)),
            }
        }
        StatementLines {
            starts,
            tokens,
            first_lines,
        }
    }

    /// Returns the tokens of the text.
    pub(super) fn tokens(&self) -> &'a Tokens {
        self.tokens
    }

    /// Returns the map from lines to the first lines of their statements.
    pub(super) fn into_first_lines(self) -> BTreeMap<u32, u32> {
        self.first_lines
    }

    /// Returns the first line of the statement that `line` belongs to.
    pub(super) fn first_line(&self, line: u32) -> u32 {
        self.first_lines.get(&line).copied().unwrap_or(line)
    }

    /// Returns the first lines of the statements that `lines` belong to.
    pub(super) fn first_lines_of(&self, lines: &BTreeSet<u32>) -> BTreeSet<u32> {
        lines.iter().map(|line| self.first_line(*line)).collect()
    }

    /// Returns the line in which `node` starts.
    pub(super) fn start_line(&self, node: &impl Ranged) -> u32 {
        self.starts.line(node.start().to_usize())
    }

    /// Returns the line in which `node` ends.
    pub(super) fn end_line(&self, node: &impl Ranged) -> u32 {
        self.starts.line(node.end().to_usize())
    }

    /// Returns the first line of the statement in which `node` starts. A definition starts with its
    /// decorators.
    pub(super) fn statement_line(&self, node: &impl Ranged) -> u32 {
        self.first_line(self.start_line(node))
    }

    /// Returns the line of the `def`, `async` or `class` of a definition.
    pub(super) fn keyword_line(&self, definition: &Stmt, decorators: &[Decorator]) -> u32 {
        let Some(last) = decorators.last() else {
            return self.start_line(definition);
        };
        let mut following = self.tokens.after(last.end()).iter();
        let keyword =
            following.find(|token| token.kind() != TokenKind::Newline && !is_blank(token.kind()));
        keyword.map_or_else(
            || self.start_line(definition),
            |token| self.start_line(token),
        )
    }
}

/// Returns true if a token is not part of any statement.
pub(super) fn is_blank(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::NonLogicalNewline
            | TokenKind::Comment
            | TokenKind::Indent
            | TokenKind::Dedent
            | TokenKind::EndOfFile
    )
}

/// The start of each line of a text, except the first.
pub(super) struct LineStarts(Vec<usize>);

impl LineStarts {
    /// Finds the line starts of a text.
    pub(super) fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let starts = bytes.iter().enumerate().filter_map(|(at, byte)| {
            let ends = *byte == b'\n' || *byte == b'\r' && bytes.get(at + 1) != Some(&b'\n');
            ends.then_some(at + 1)
        });
        LineStarts(starts.collect())
    }

    /// Returns the line of an offset in the text, counted from 1.
    pub(super) fn line(&self, offset: usize) -> u32 {
        let before = self.0.partition_point(|start| *start <= offset);
        // The parser accepts no text with more lines.
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[track_caller]
    fn check(text: &str, expected: &[(u32, u32)]) {
        let tree = parse::parse_module(text).unwrap_or_else(|problems| panic!("{problems:?}"));
        let lines = StatementLines::new(text, tree.tokens());
        let expected: BTreeMap<u32, u32> = expected.iter().copied().collect();
        assert_eq!(lines.into_first_lines(), expected, "{text:?}");
    }

    #[test]
    fn statements_of_several_lines() {
        check("", &[]);
        check("# a\n\nx = 1\n", &[]);
        check("x = (1,\n\n# a\n2)\ny = 1\n", &[(2, 1), (3, 1), (4, 1)]);
        check("x = 1 + \\\n2; y = [\n]", &[(2, 1), (3, 1)]);
        check("'''a\nb'''", &[(2, 1)]);
        check("if (a and\n    b):\n    f(\n    )\n", &[(2, 1), (4, 3)]);
        check("@d(\n)\ndef f(a,\n    b): pass", &[(2, 1), (4, 3)]);
        check("x = f'''{\na}\n'''\n", &[(2, 1), (3, 1)]);
    }

    #[test]
    fn line_ends_of_all_systems() {
        check("x = [\r\n]\r\ny = [\r\n]\r\n", &[(2, 1), (4, 3)]);
        check("x = [\r]\ry = [\r]\r", &[(2, 1), (4, 3)]);
        check("\u{feff}x = [\n]", &[(2, 1)]);
    }
}
