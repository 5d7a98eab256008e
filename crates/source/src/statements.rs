//! The statements of one line, and their forms.

use ruff_python_ast::Stmt;
use ruff_python_ast::token::TokenKind;
use ruff_text_size::Ranged;

use crate::Range;
use crate::check::{SyntaxProblem, find_second_line};
use crate::parse::{self, Tree};

/// One statement of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineStatement {
    /// The range of the statement, without the `;` after it.
    pub range: Range,
    /// The form of the statement.
    pub form: StatementForm,
}

/// The form of a [`LineStatement`], as far as it matters for showing its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatementForm {
    /// An expression whose value is discarded, usually a call.
    Expression,
    /// `target = value`, also with an annotation.
    Assignment {
        /// The range of the first target: `a` of `a = b = 1`, all of `x, y` in `x, y = 1, 2`.
        /// Includes parentheses.
        target: Range,
    },
    /// Anything else: `del`, `return`, `x += 1`, a statement with a block.
    Other,
}

/// Returns the statements of one logical line, in order.
///
/// The text is checked as by [`check_statements`](crate::check_statements), except that a text
/// without any statement is accepted. A statement with a block counts as one.
///
/// ```
/// use testwright_source::{StatementForm, statements};
///
/// let text = "x = f(1); x.clear()";
/// let found = statements(text).unwrap_or_default();
/// assert_eq!(found[0].form, StatementForm::Assignment { target: 0..1 });
/// assert_eq!(&text[found[1].range.clone()], "x.clear()");
/// ```
pub fn statements(text: &str) -> Result<Vec<LineStatement>, Vec<SyntaxProblem>> {
    let tree = parse::parse_fragment(text)?;
    if let Some(problem) = find_second_line(&tree) {
        return Err(vec![problem]);
    }
    let statements = tree.body().iter().map(|statement| LineStatement {
        range: tree.range(statement),
        form: statement_form(text, &tree, statement),
    });
    Ok(statements.collect())
}

/// Determines the form of a statement.
fn statement_form(text: &str, tree: &Tree, statement: &Stmt) -> StatementForm {
    let (target, end) = match statement {
        Stmt::Expr(_) => return StatementForm::Expression,
        Stmt::Assign(assign) => match assign.targets.first() {
            Some(target) => (target, TokenKind::Equal),
            None => return StatementForm::Other,
        },
        Stmt::AnnAssign(assign) if assign.value.is_some() => (&*assign.target, TokenKind::Colon),
        _ => return StatementForm::Other,
    };
    // The tree drops parentheses around a name, so the text up to the `=` is the target.
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
    StatementForm::Assignment {
        target: start..start + length,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the text of every statement, with the target of an assignment in front.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let shown: Vec<String> = match statements(text) {
            Ok(statements) => statements
                .into_iter()
                .map(|statement| {
                    let code = &text[statement.range];
                    match statement.form {
                        StatementForm::Expression => format!("value: {code}"),
                        StatementForm::Assignment { target } => {
                            format!("{}: {code}", &text[target])
                        }
                        StatementForm::Other => format!("other: {code}"),
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
