//! Syntax checks: is this text Python, and if not, where and why.

use ruff_python_ast::token::TokenKind;

use crate::Range;
use crate::parse::{self, Tree};

/// A syntax error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxProblem {
    /// The location; may be empty, where something is missing.
    pub range: Range,
    /// The message: a lower-case phrase without a full stop.
    pub message: String,
}

impl SyntaxProblem {
    /// Creates a problem.
    pub(crate) fn new(range: Range, message: impl Into<String>) -> Self {
        SyntaxProblem {
            range,
            message: message.into(),
        }
    }
}

/// Returns all syntax errors of a whole file.
///
/// At most one problem per line is reported, since later ones mostly follow from the first. The
/// newest syntax is accepted, whatever interpreter will run it. Errors that Python reports only at
/// compile time, such as a `return` outside a function, are not found here.
pub fn check_module(text: &str) -> Vec<SyntaxProblem> {
    parse::parse_module(text).err().unwrap_or_default()
}

/// Returns all syntax errors of a function body that is written on one line.
///
/// That is one logical line: simple statements joined by `;`, or one statement with a block after
/// its colon. Inside brackets it may span several lines. Surrounding blanks are ignored.
///
/// ```
/// use testwright_source::check_statements;
///
/// assert!(check_statements("x = f(1); return x").is_empty());
/// assert_eq!(check_statements("x = ")[0].message, "expected an expression");
/// ```
pub fn check_statements(text: &str) -> Vec<SyntaxProblem> {
    match parse::parse_fragment(text) {
        Ok(tree) if tree.body().is_empty() => {
            let position = if text.trim().is_empty() {
                text.len()
            } else {
                0
            };
            vec![SyntaxProblem::new(
                position..position,
                "expected a statement",
            )]
        }
        Ok(tree) => find_second_line(&tree).into_iter().collect(),
        Err(problems) => problems,
    }
}

/// Returns all syntax errors of exactly one expression; a tuple may be without its parentheses.
pub fn check_expression(text: &str) -> Vec<SyntaxProblem> {
    parse::expression_problems(text)
}

/// Returns a problem if a fragment has more than one logical line.
pub(crate) fn find_second_line(tree: &Tree) -> Option<SyntaxProblem> {
    let mut ended = false;
    for token in tree.tokens().iter() {
        match token.kind() {
            TokenKind::Newline => ended = true,
            TokenKind::NonLogicalNewline
            | TokenKind::Comment
            | TokenKind::Indent
            | TokenKind::Dedent
            | TokenKind::EndOfFile => {}
            _ if ended => {
                return Some(SyntaxProblem::new(
                    tree.range(token),
                    "expected the end of the text: only one line of statements is allowed here",
                ));
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renders one line per problem: the text at its range, and the message.
    fn render(text: &str, problems: Vec<SyntaxProblem>) -> String {
        let lines: Vec<String> = problems
            .into_iter()
            .map(|problem| format!("{:?} {}", &text[problem.range], problem.message))
            .collect();
        lines.join("\n")
    }

    #[track_caller]
    fn module(text: &str, expected: &str) {
        assert_eq!(render(text, check_module(text)), expected, "{text:?}");
    }

    #[track_caller]
    fn statements(text: &str, expected: &str) {
        assert_eq!(render(text, check_statements(text)), expected, "{text:?}");
    }

    #[track_caller]
    fn expression(text: &str, expected: &str) {
        assert_eq!(render(text, check_expression(text)), expected, "{text:?}");
    }

    #[test]
    fn right_modules() {
        for text in [
            "",
            "\n\n",
            "# only a comment",
            "\u{feff}x = 1\r\nif x:\r\n\ty = 2\r\n",
            "größe = 'naïve 𝔘𝔫𝔦𝔠𝔬𝔡𝔢'",
            "match x:\n    case [1, *_]: pass\n",
            "type A[T = int] = list[T]",
            "def f(a, /, *, b): return f'{a!r:>{b}}'",
        ] {
            module(text, "");
        }
    }

    #[test]
    fn wrong_modules() {
        module("x = 1 +", "\"\" expected an expression");
        module(
            "def f()\r\n  return 1",
            "\"\" expected `:`, found the end of the line",
        );
        module(
            "if x = 1: pass",
            "\"=\" expected `:`, found `=`; to compare, write `==`",
        );
        module(
            "f() = 3",
            "\"f()\" cannot assign to `f()`; to compare, write `==`",
        );
        module("x = 'ä", "\"'ä\" this string has no closing quote");
        module(
            "if x:\ny",
            "\"y\" expected an indented block after `if` statement",
        );
        module(
            "  x",
            "\"  \" this line is indented, but no block starts before it",
        );
        module(
            "else: x",
            "\"else\" `else` without an `if`, `for`, `while` or `try` before it, equally indented",
        );
        module(
            "f(a=1, 2)",
            "\"2\" an argument without a name cannot follow one with a name",
        );
        module("ü $ 𝔘", "\"$\" the character `$` means nothing here");
        module(
            "“x”",
            "\"“\" a typographic quote starts no string; write `'` or `\"`",
        );
        module("f'{}'", "\"}\" expected an expression, found `}`");
        module("class: pass", "\":\" expected a name");
        module(
            "x y",
            "\"y\" expected the end of the statement; statements on one line are separated by `;`",
        );
    }

    #[test]
    fn every_line_has_its_own_problem() {
        module(
            "1 = x = +\n\ny = )\n",
            "\"1\" cannot assign to `1`; to compare, write `==`\n\")\" this `)` closes nothing",
        );
    }

    #[test]
    fn a_bracket_that_is_never_closed_explains_what_follows() {
        module(
            "a = $\nx = [1,\ny = 2\nz = 3\n",
            "\"$\" the character `$` means nothing here\n\"[\" this `[` is never closed",
        );
    }

    #[test]
    fn brackets_that_do_not_fit() {
        statements("f(x))", "\")\" this `)` closes nothing");
        statements("f(x]", "\"]\" this `]` does not match the `(` before it");
        statements("f('x)", "\"'x)\" this string has no closing quote");
        module(
            "f('x)\ny = 1\nz = 2\n",
            "\"'x)\" this string has no closing quote",
        );
        module(
            "x = \"\"\"a\n",
            "\"\\\"\\\"\\\"a\\n\" this string has no closing triple quote",
        );
        statements(
            "print(f'{x')",
            "\"{\" this `{` of a formatted string is never closed; for a brace itself write `{{`",
        );
    }

    #[test]
    fn keywords_are_no_names() {
        statements(
            "class = 1",
            "\"=\" `class` is a keyword of Python and cannot be a name",
        );
    }

    #[test]
    fn one_line_of_statements() {
        for text in [
            "x",
            " x = 1; return x ",
            "if x: y; z",
            "yield x;",
            "x = (1,\n2) # c\n\n",
            "while x: break",
            "await x",
        ] {
            statements(text, "");
        }
        for text in ["", " \t", "# c"] {
            statements(text, "\"\" expected a statement");
        }
        statements(
            "x = 1 y",
            "\"y\" expected the end of the statement; statements on one line are separated by `;`",
        );
        statements(
            "x; if y: z",
            "\"if\" a statement with a block, such as `if` or `for`, must start on a new line",
        );
        statements(
            "if x:\n  y",
            "\"y\" expected the end of the text: only one line of statements is allowed here",
        );
        statements("  f(\"é\" b)", "\"b\" expected `,`, found `b`");
    }

    #[test]
    fn one_expression() {
        for text in [
            "x",
            " x ",
            "a, b",
            "lambda: 1",
            "(a\n+ b)",
            "x # c",
            "'ä'",
            "[y := 1, y]",
        ] {
            expression(text, "");
        }
        for text in ["", "  ", "# c"] {
            expression(text, "\"\" expected an expression");
        }
        expression(
            "x = 1",
            "\"=\" an assignment has no value; to compare, write `==`",
        );
        expression(
            " x; y",
            "\";\" expected the end of the expression, found `;`",
        );
        expression(
            "return x",
            "\"return\" `return` is a keyword of Python and cannot stand here",
        );
        expression("f(x", "\"(\" this `(` is never closed");
    }

    /// Random concatenations of Python pieces: nothing may panic, and every range must be inside
    /// the text.
    #[test]
    fn nonsense_is_survived() {
        const PIECES: [&str; 40] = [
            "x", "é", "𝔘", " ", "\t", "\n", "\r\n", "\r", "\\", "(", ")", "[", "]", "{", "}", "'",
            "\"", "'''", "f'", "rb\"", "{x!r:", "#", ";", ":", ",", "=", ":=", "**", ".", "`", "$",
            "lambda ", "def f(", "class ", "print ", "except ", "import ", "for ", "0777L",
            "\u{feff}",
        ];
        let mut seed: u64 = 1;
        for _ in 0..2_000 {
            let mut text = String::new();
            for _ in 0..12 {
                seed = seed
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let choice = usize::try_from(seed >> 33).unwrap_or(0) % PIECES.len();
                text.push_str(PIECES[choice]);
            }
            let inside =
                |range: &Range| assert!(text.get(range.clone()).is_some(), "{text:?} {range:?}");
            let problems = [
                check_module(&text),
                check_statements(&text),
                check_expression(&text),
            ];
            for problem in problems.iter().flatten() {
                inside(&problem.range);
                drop(crate::python2_hint(&text, &problem.range));
            }
            crate::python2_constructs(&text)
                .iter()
                .for_each(|hint| inside(&hint.range));
            crate::tokenize(&text)
                .iter()
                .for_each(|token| inside(&token.range));
            crate::statements(&text)
                .iter()
                .flatten()
                .for_each(|statement| inside(&statement.range));
            crate::definitions(&text)
                .iter()
                .flatten()
                .for_each(|definition| inside(&definition.range));
            crate::imports(&text)
                .iter()
                .flatten()
                .for_each(|import| inside(&import.range));
            crate::is_literal(&text);
        }
    }
}
