//! The statements of one line, and their shape.

use ruff_python_ast::Stmt;
use ruff_python_ast::token::TokenKind;
use ruff_text_size::Ranged;

use crate::Range;
use crate::check::{Problem, second_line};
use crate::parse::{self, Tree};

/// One statement of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The statement, without the `;` behind it.
    pub range: Range,
    /// What it is.
    pub shape: Shape,
}

/// What a [`Statement`] is, as far as it matters to someone who wants to see its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// A value that is thrown away, most often a call.
    Expression,
    /// `target = value`, also with an annotation.
    Assignment {
        /// The text of the first target: `a` of `a = b = 1`, all of `x, y` in `x, y = 1, 2`. Parentheses belong to it.
        target: Range,
    },
    /// Anything else: `del`, `return`, `x += 1`, a statement with a block.
    Other,
}

/// The statements of one logical line, in order.
///
/// The text is judged as by [`check_statements`](crate::check_statements), except that a text without any statement is fine
/// and has none. A statement with a block counts as one.
///
/// ```
/// use testwright_source::{Shape, statements};
///
/// let text = "x = f(1); x.clear()";
/// let found = statements(text).unwrap_or_default();
/// assert_eq!(found[0].shape, Shape::Assignment { target: 0..1 });
/// assert_eq!(&text[found[1].range.clone()], "x.clear()");
/// ```
pub fn statements(text: &str) -> Result<Vec<Statement>, Vec<Problem>> {
    let tree = parse::fragment(text)?;
    if let Some(problem) = second_line(&tree) {
        return Err(vec![problem]);
    }
    let statements = tree.body().iter().map(|statement| Statement {
        range: tree.range(statement),
        shape: shape(text, &tree, statement),
    });
    Ok(statements.collect())
}

fn shape(text: &str, tree: &Tree, statement: &Stmt) -> Shape {
    let (target, end) = match statement {
        Stmt::Expr(_) => return Shape::Expression,
        Stmt::Assign(assign) => match assign.targets.first() {
            Some(target) => (target, TokenKind::Equal),
            None => return Shape::Other,
        },
        Stmt::AnnAssign(assign) if assign.value.is_some() => (&*assign.target, TokenKind::Colon),
        _ => return Shape::Other,
    };
    // The tree forgets parentheses around a name, so the text up to the `=` is the target.
    let start = tree.range(statement).start;
    let end = tree
        .tokens()
        .after(target.end())
        .iter()
        .find(|token| token.kind() == end)
        .map_or(tree.range(target).end, |token| tree.range(token).start);
    let length = text
        .get(start..end)
        .map_or(0, |target| target.trim_end().len());
    Shape::Assignment {
        target: start..start + length,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of every statement, with the target of an assignment in front.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let shown: Vec<String> = match statements(text) {
            Ok(statements) => statements
                .into_iter()
                .map(|statement| {
                    let code = &text[statement.range];
                    match statement.shape {
                        Shape::Expression => format!("value: {code}"),
                        Shape::Assignment { target } => format!("{}: {code}", &text[target]),
                        Shape::Other => format!("other: {code}"),
                    }
                })
                .collect(),
            Err(problems) => problems
                .into_iter()
                .map(|problem| format!("{:?}: {}", problem.range, problem.message))
                .collect(),
        };
        assert_eq!(shown, expected, "{text:?}");
    }

    #[test]
    fn shapes() {
        check("", &[]);
        check("  # nothing", &[]);
        check(" x = f(1) ; x.g() ;", &["x: x = f(1)", "value: x.g()"]);
        check("a = b = c", &["a: a = b = c"]);
        check("x, y = 1, 2", &["x, y: x, y = 1, 2"]);
        check("(x) = 1", &["(x): (x) = 1"]);
        check("x[f(a=1)].y = 1", &["x[f(a=1)].y: x[f(a=1)].y = 1"]);
        check("x: int = 1", &["x: x: int = 1"]);
        check("x: int", &["other: x: int"]);
        check("x += 1; return x", &["other: x += 1", "other: return x"]);
        check("(x := 1)", &["value: (x := 1)"]);
        check("for i in a: f(i); g(i)", &["other: for i in a: f(i); g(i)"]);
        check("\tgröße = 'ä'\r\n", &["größe: größe = 'ä'"]);
        check("x = (1,\n  2)", &["x: x = (1,\n  2)"]);
    }

    #[test]
    fn problems() {
        check("x = = 1", &["4..5: expected an expression, found `=`"]);
        check(" f(", &["2..3: this `(` is never closed"]);
        check(
            "x = 1\ny = 2",
            &["6..7: expected the end of the text: only one line of statements is allowed here"],
        );
    }
}
