//! Lines excluded from coverage on request, or because they are not code to be tested.
//!
//! Lines are found by coverage.py's default patterns, which are searched for in the text, not in
//! the tree: a `#` in a string is as good as a comment, and where a pattern allows blanks it also
//! allows line ends. Then a line with a colon excludes its block, and the head of a definition all
//! of it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use ruff_python_ast::statement_visitor::{StatementVisitor, walk_match_case, walk_stmt};
use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{Decorator, MatchCase, Stmt};

use super::flow::is_irrefutable;
use super::lines::{LineStarts, StatementLines, is_blank};

/// Returns the lines that are not counted.
pub(super) fn excluded_lines(
    text: &str,
    body: &[Stmt],
    lines: &StatementLines,
    code_lines: &BTreeSet<u32>,
) -> BTreeSet<u32> {
    let mut marked = ExclusionPattern::Exclude.matched_lines(text);
    add_blocks(&mut marked, lines);
    let mut definitions = DefinitionExcluder {
        lines,
        code_lines,
        excluded: lines.first_lines_of(&marked),
    };
    definitions.visit_body(body);
    definitions.excluded
}

/// Returns the lines whose branches all count as taken.
pub(super) fn waived_lines(text: &str, lines: &StatementLines) -> BTreeSet<u32> {
    lines.first_lines_of(&ExclusionPattern::Waive.matched_lines(text))
}

/// Adds, for every statement with a mark before or at its colon, the first lines of the statements
/// of its block.
fn add_blocks(marked: &mut BTreeSet<u32>, lines: &StatementLines) {
    let (mut depth, mut brackets) = (0_u32, 0_u32);
    let mut first = None;
    // The depth of the statement whose block is being added.
    let mut adding = None;
    for token in lines.tokens().iter() {
        match token.kind() {
            TokenKind::Indent => depth += 1,
            TokenKind::Dedent => depth = depth.saturating_sub(1),
            TokenKind::Newline => first = None,
            kind if is_blank(kind) => {}
            kind => {
                let start = *first.get_or_insert_with(|| {
                    if adding.is_some_and(|outer| depth <= outer) {
                        adding = None;
                    }
                    if adding.is_some() {
                        marked.insert(lines.end_line(token));
                    }
                    lines.start_line(token)
                });
                match kind {
                    TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => brackets += 1,
                    TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => {
                        brackets = brackets.saturating_sub(1);
                    }
                    TokenKind::Colon if brackets == 0 && adding.is_none() => {
                        let line = lines.start_line(token);
                        if marked.range(start..=line).next().is_some() {
                            marked.insert(line);
                            adding = Some(depth);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Adds definitions whose head is excluded, and the last `case` if its whole body is excluded.
struct DefinitionExcluder<'a> {
    lines: &'a StatementLines<'a>,
    code_lines: &'a BTreeSet<u32>,
    excluded: BTreeSet<u32>,
}

impl DefinitionExcluder<'_> {
    /// Excludes a definition if its head is excluded.
    fn visit_definition(&mut self, definition: &Stmt, decorators: &[Decorator]) {
        let keyword = self.lines.keyword_line(definition, decorators);
        let start = decorators.first().map_or(keyword, |decorator| {
            self.lines.start_line(&decorator.expression)
        });
        if self.excluded.range(start..=keyword).next().is_some() {
            self.excluded
                .extend(start..=self.lines.end_line(definition));
        }
    }
}

impl<'a> StatementVisitor<'a> for DefinitionExcluder<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(it) => self.visit_definition(statement, &it.decorator_list),
            Stmt::ClassDef(it) => self.visit_definition(statement, &it.decorator_list),
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_match_case(&mut self, case: &'a MatchCase) {
        if let [first, ..] = &*case.body
            && let Some(last) = case.body.last()
            && is_irrefutable(case)
        {
            let first = match first {
                Stmt::FunctionDef(it) => self.lines.keyword_line(first, &it.decorator_list),
                Stmt::ClassDef(it) => self.lines.keyword_line(first, &it.decorator_list),
                _ => self.lines.start_line(first),
            };
            let mut code = self
                .code_lines
                .range(first..=self.lines.end_line(last))
                .peekable();
            if code.peek().is_some() && code.all(|line| self.excluded.contains(line)) {
                let pattern = &case.pattern;
                self.excluded
                    .extend(self.lines.start_line(pattern)..=self.lines.end_line(pattern));
            }
        }
        walk_match_case(self, case);
    }
}

/// The patterns to search for in the text.
#[derive(Clone, Copy)]
enum ExclusionPattern {
    /// `# pragma: no cover`, `if TYPE_CHECKING:`, and bodies that are only `...`.
    Exclude,
    /// `# pragma: no branch`, and conditions that are a constant.
    Waive,
}

impl ExclusionPattern {
    /// Returns all lines that a match touches.
    fn matched_lines(self, text: &str) -> BTreeSet<u32> {
        let text = normalise(text);
        let starts = LineStarts::new(&text);
        let mut lines = BTreeSet::new();
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let is_line_start = at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n');
            let found = if rest.starts_with('#') {
                self.match_comment(rest)
            } else if is_line_start {
                self.match_code(rest.trim_start_matches(is_space))
            } else {
                None
            };
            at = match found {
                Some(rest_after) => {
                    let end = text.len() - rest_after.len();
                    lines.extend(starts.line(at)..=starts.line(end));
                    end
                }
                // A pattern that does not match after some blanks does not match after fewer of
                // them.
                None if is_line_start && rest.starts_with(is_space) => {
                    text.len() - rest.trim_start_matches(is_space).len()
                }
                None => {
                    let mut rest = rest.char_indices();
                    match rest.find(|(at, char)| *char == '\n' || *char == '#' && *at > 0) {
                        Some((step, '\n')) => at + step + 1,
                        Some((step, _)) => at + step,
                        None => text.len(),
                    }
                }
            };
        }
        lines
    }

    /// Matches a comment, and returns the rest of the text.
    fn match_comment(self, text: &str) -> Option<&str> {
        let (lower, upper) = match self {
            ExclusionPattern::Exclude => ("cover", "COVER"),
            ExclusionPattern::Waive => ("branch", "BRANCH"),
        };
        let rest = text.strip_prefix('#')?.trim_start_matches(is_space);
        let rest = strip_either(rest, "pragma", "PRAGMA")?;
        let rest = rest.strip_prefix(':').unwrap_or(rest);
        let rest = strip_either(rest.trim_start_matches(is_space), "no", "NO")?;
        strip_either(rest.trim_start_matches(is_space), lower, upper)
    }

    /// Matches code at the start of `text`, and returns the rest.
    fn match_code(self, text: &str) -> Option<&str> {
        match self {
            ExclusionPattern::Exclude => match_stub(text).or_else(|| {
                let rest = text.strip_prefix("if ")?;
                let rest = rest.strip_prefix("typing.").unwrap_or(rest);
                rest.strip_prefix("TYPE_CHECKING:")
            }),
            ExclusionPattern::Waive => {
                let rest = strip_either(text, "while ", "if ")?;
                let constants = ["True", "1", "False", "0"];
                let rest = constants.iter().find_map(|it| rest.strip_prefix(it))?;
                rest.strip_prefix(':')
            }
        }
    }
}

/// Strips one of two prefixes.
fn strip_either<'a>(text: &'a str, one: &str, other: &str) -> Option<&'a str> {
    text.strip_prefix(one).or_else(|| text.strip_prefix(other))
}

/// Matches `...`, alone or as the body of a function, and returns the rest. Of a function's head,
/// the last line is enough: `) -> int:`.
fn match_stub(text: &str) -> Option<&str> {
    let is_closing = |char| char == ')' || char == ']';
    if let Some(rest_after) = match_ellipsis(text) {
        return Some(rest_after);
    }
    let head = text.strip_prefix("async ").unwrap_or(text);
    let mut rest = match head.strip_prefix("def ") {
        Some(head) => head,
        None if text.starts_with(is_closing) => {
            return match_stub_body(text.trim_start_matches(is_closing));
        }
        None => return None,
    };
    loop {
        let bracket = rest.find([')', ']', '\n'])?;
        rest = rest.get(bracket..)?;
        if rest.starts_with('\n') {
            return None;
        }
        rest = rest.trim_start_matches(is_closing);
        if let Some(rest_after) = match_stub_body(rest) {
            return Some(rest_after);
        }
    }
}

/// Matches `...` as a body after a colon, or after an arrow and a colon on the same line, and
/// returns the rest.
fn match_stub_body(text: &str) -> Option<&str> {
    if let Some(body) = text.strip_prefix(':') {
        return match_ellipsis(body.trim_start_matches(is_space));
    }
    let mut rest = text.trim_start_matches(is_space).strip_prefix("->")?;
    loop {
        let colon = rest.find([':', '\n'])?;
        rest = rest.get(colon..)?.strip_prefix(':')?;
        if let Some(rest_after) = match_ellipsis(rest.trim_start_matches(is_space)) {
            return Some(rest_after);
        }
    }
}

/// Matches `...` with all empty lines or the `#` after it, and returns the rest.
fn match_ellipsis(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("...")?;
    let rest_after = rest.trim_start_matches(is_space);
    if rest_after.is_empty() {
        return Some(rest_after);
    }
    if let Some(comment) = rest_after.strip_prefix('#') {
        return Some(comment);
    }
    let blanks = rest.get(..rest.len() - rest_after.len())?;
    rest.get(blanks.rfind('\n')?..)
}

/// Normalizes a text for the patterns: without a byte order mark, every line with the same end,
/// also the last.
fn normalise(text: &str) -> Cow<'_, str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut plain = Cow::Borrowed(text);
    if text.contains('\r') {
        plain = Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"));
    }
    if !plain.is_empty() && !plain.ends_with('\n') {
        plain.to_mut().push('\n');
    }
    plain
}

/// Returns true if Python's regular expressions consider a character a blank.
fn is_space(char: char) -> bool {
    char.is_whitespace() || ('\x1c'..='\x1f').contains(&char)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    /// Checks the excluded lines if every line has code.
    #[track_caller]
    fn check(text: &str, expected: impl IntoIterator<Item = u32>) {
        let tree = parse::parse_module(text).unwrap_or_else(|problems| panic!("{problems:?}"));
        let lines = StatementLines::new(text, tree.tokens());
        let found = excluded_lines(text, tree.body(), &lines, &(1..100).collect());
        assert_eq!(found, expected.into_iter().collect(), "{text}");
    }

    #[test]
    fn spellings() {
        check(
            "a #pragma:no cover\nb # PRAGMA NO COVER\nc # pragma: nocover\n",
            1..=3,
        );
        check(
            "a # Pragma: no cover\nb # pragma : no cover\nc # no cover\n",
            [],
        );
        check("a # \u{e4}# pragma: no  cover: because\n", [1]);
        check(
            "a = '# pragma: no cover'\nb = '''\n# pragma: no cover\n'''\n",
            [1, 2],
        );
        check("a  #\nb\n#\npragma\nno\ncover\nc\n", 3..=6);
        check("\u{feff}if TYPE_CHECKING:\n    a\n", [1, 2]);
        check("", []);
    }

    #[test]
    fn blocks_go_with_their_colon() {
        check(
            "if a:  # pragma: no cover\n    b\n    if c:\n        d\nelse:\n    e\n",
            1..=4,
        );
        check(
            "if a:\n    b\nelse:  # pragma: no cover\n    c\nd\n",
            [3, 4],
        );
        check("if a: b  # pragma: no cover\nc\n", [1]);
        check(
            "try:\n    a\nexcept E:  # pragma: no cover\n    b\n\n    '''c\n    '''\nfinally:\n    d\n",
            [3, 4, 6],
        );
        check("x: int = [  # pragma: no cover\n    1]\ny\n", [1]);
        check("x = [\n    1,  # pragma: no cover\n]\ny\n", [1]);
        check("x = lambda: 1  # pragma: no cover\ny\n", [1]);
        check("x = {a: f'{b:c}',  # pragma: no cover\n}\ny\n", [1]);
    }

    #[test]
    fn definitions_go_with_their_head() {
        check(
            "def f(\n    a,\n):  # pragma: no cover\n    b\n\n    c\nd\n",
            1..=6,
        );
        check(
            "@d  # pragma: no cover\n@e\nclass A:\n    x = 1\n\n    # y\n    z = 2\nb\n",
            1..=7,
        );
        check(
            "@d\n# c\nasync def f():  # pragma: no cover\n    a\n",
            1..=4,
        );
        check("@(\n  d)  # pragma: no cover\ndef f():\n    a\n", [1]);
    }

    #[test]
    fn stubs() {
        // Empty lines around them belong to the match, even the one after the end.
        check("a\n\n...\n\nb\n", 2..=4);
        check("a\n...\n", [2, 3]);
        check("a\n...  # why\n", [2]);
        check("def f(): ...\ndef g(a) -> int: ...  # why\n\nb\n", [1, 2]);
        check("async def h(\n    a,\n) -> A[int]:\n    ...\nb\n", 1..=4);
        check("def f(a=b[c](d), e=':') -> A[B]:\n    ...\nb\n", [1, 2]);
        check(
            "def f():\n    'doc'\n    ...\nclass A:\n    ...\nb\n",
            [3, 5],
        );
        check("a = ...\nb[...] = 1\n...; c\ndef f(): ...; c\n", []);
        check("for a in (b): ...\n", []);
        check("a\r\ndef f():\r\n    ...\r\n\r\nb", 2..=4);
        check("a\rdef f():\r    ...\r\rb", 2..=4);
    }

    #[test]
    fn only_for_type_checkers() {
        check(
            "a\n\nif TYPE_CHECKING:\n    import b\nelse:\n    c\n",
            2..=4,
        );
        check("if typing.TYPE_CHECKING:\n    import b\n", [1, 2]);
        check(
            "if  TYPE_CHECKING:\n    a\nif t.TYPE_CHECKING:\n    b\n",
            [],
        );
    }

    #[test]
    fn last_cases_go_with_their_block() {
        check(
            "match a:\n    case 1:\n        b  # pragma: no cover\n    case _:\n        c  # pragma: no cover\n",
            [3, 4, 5],
        );
        check(
            "match a:\n    case _:\n        b  # pragma: no cover\n        c\n",
            [3],
        );
    }

    #[test]
    fn lines_without_branches_are_waived() {
        let text = "
while True:
    if a:  # pragma: no branch
        break
if (a or  # PRAGMA NO BRANCH
    b):
    c
if 0:
    d
if True :
    e
while 10:
    g
";
        let tree = parse::parse_module(text).unwrap_or_else(|problems| panic!("{problems:?}"));
        let found = waived_lines(text, &StatementLines::new(text, tree.tokens()));
        assert_eq!(found, BTreeSet::from([1, 2, 3, 5, 8]));
    }
}
