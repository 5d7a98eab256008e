//! The lines and branches of a file that can run, which are the basis of coverage.
//!
//! Everything is counted as coverage.py 7.17 does with its default settings and branch measurement,
//! so that percentages agree. The compiled code says which lines contain code; the text says which
//! of them belong together, where a line may lead, and what was excluded on request.
//!
//! Two things differ on purpose. A `with` whose block has no code at all, such as only `x: int` in
//! a function, makes coverage.py give up on the file. And after a jump in the line of a `with`, as
//! in `with a: break; b`, it treats unreachable code in its own way.
//!
//! - `lines.rs`: the physical lines of each statement.
//! - `exclusion.rs`: `# pragma: no cover` and similar marks.
//! - `flow.rs`: the lines that may follow each line.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::Stmt;
use ruff_python_ast::statement_visitor::{StatementVisitor, walk_stmt};

use crate::check::SyntaxProblem;
use crate::parse;

mod exclusion;
mod flow;
mod lines;

use lines::StatementLines;

/// The code of a file that can run, as coverage.py counts it.
///
/// Lines are counted from 1. Where a line can be negative, it is the exit of the code object that
/// starts in that line: of a function its first line or that of its first decorator, of a module 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoverableCode {
    /// The first lines of the statements that can run.
    pub statements: BTreeSet<u32>,
    /// Lines excluded on request, including lines without code. May go one line beyond the end of
    /// the text.
    pub excluded: BTreeSet<u32>,
    /// From a physical line to the first line of its statement, only where they differ.
    pub first_lines: BTreeMap<u32, u32>,
    /// From each line with more than one successor to all of them. All are first lines; some may be
    /// excluded.
    pub branches: BTreeMap<u32, BTreeSet<i32>>,
    /// Lines whose branches all count as taken (`# pragma: no branch`, `while True:`); not all of
    /// them have branches.
    pub waived: BTreeSet<u32>,
    /// From an arc of the interpreter to the arc that it means to a reader. Before it leaves a
    /// `with` block, the interpreter returns to the line of the `with`, so there (3, 1) may mean
    /// (3, 4).
    pub detours: BTreeMap<(i32, i32), (i32, i32)>,
}

/// Computes the code that can run in the file with this text.
///
/// `code_lines` are all lines that the compiled code of the file mentions: the results of
/// `co_lines()` of the module's code object and of all nested ones, without `None` and 0. Only in
/// that do versions of Python differ.
///
/// ```
/// use std::collections::{BTreeMap, BTreeSet};
/// use testwright_source::coverable::coverable_code;
///
/// let text = "\
/// def pay(amount,
///         limit=10):
///     if amount > limit:
///         raise ValueError(amount)
///     return amount
/// ";
/// let code = coverable_code(text, &BTreeSet::from([1, 2, 3, 4, 5])).unwrap_or_default();
/// assert_eq!(code.statements, BTreeSet::from([1, 3, 4, 5]));
/// assert_eq!(code.branches, BTreeMap::from([(3, BTreeSet::from([4, 5]))]));
/// ```
///
/// # Errors
///
/// Returns the problems that keep the text from being parsed.
pub fn coverable_code(
    text: &str,
    code_lines: &BTreeSet<u32>,
) -> Result<CoverableCode, Vec<SyntaxProblem>> {
    let tree = parse::parse_module(text)?;
    let body = tree.body();
    let lines = StatementLines::new(text, tree.tokens());
    // Even an empty file is compiled to something, but that is not counted.
    let nothing = BTreeSet::new();
    let code_lines = if body.is_empty() {
        &nothing
    } else {
        code_lines
    };
    let running = lines.first_lines_of(code_lines);

    let excluded = exclusion::excluded_lines(text, body, &lines, code_lines);
    let uncounted: BTreeSet<u32> = &excluded | &docstring_lines(body, &lines);
    let counted = lines.first_lines_of(&(code_lines - &uncounted));
    let flow = flow::flow(body, &lines, &running);
    let mut branches: BTreeMap<u32, BTreeSet<i32>> = BTreeMap::new();
    for (from, to) in flow.arcs {
        branches.entry(from.unsigned_abs()).or_default().insert(to);
    }
    branches.retain(|_, targets| targets.len() > 1);
    Ok(CoverableCode {
        statements: &counted - &uncounted,
        excluded,
        branches,
        waived: exclusion::waived_lines(text, &lines),
        detours: flow.detours,
        first_lines: lines.into_first_lines(),
    })
}

/// Returns all lines of docstrings, which are never counted.
fn docstring_lines(body: &[Stmt], lines: &StatementLines) -> BTreeSet<u32> {
    let mut docstrings = Docstrings {
        lines,
        found: BTreeSet::new(),
    };
    docstrings.add_docstring_of(body);
    docstrings.visit_body(body);
    docstrings.found
}

/// Collects the lines of docstrings.
struct Docstrings<'a> {
    lines: &'a StatementLines<'a>,
    found: BTreeSet<u32>,
}

impl Docstrings<'_> {
    /// Adds the docstring of a body, if there is one.
    fn add_docstring_of(&mut self, body: &[Stmt]) {
        if let Some(Stmt::Expr(first)) = body.first()
            && first.value.is_string_literal_expr()
        {
            self.found
                .extend(self.lines.start_line(first)..=self.lines.end_line(first));
        }
    }
}

impl<'a> StatementVisitor<'a> for Docstrings<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(function) => self.add_docstring_of(&function.body),
            Stmt::ClassDef(class) => self.add_docstring_of(&class.body),
            _ => {}
        }
        walk_stmt(self, statement);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn coverable_code_of(text: &str, code_lines: &[u32]) -> CoverableCode {
        coverable_code(text, &code_lines.iter().copied().collect())
            .unwrap_or_else(|problems| panic!("{problems:?}"))
    }

    #[track_caller]
    fn check(text: &str, code_lines: &[u32], statements: &[u32]) {
        let expected = statements.iter().copied().collect();
        assert_eq!(
            coverable_code_of(text, code_lines).statements,
            expected,
            "{text}"
        );
    }

    #[test]
    fn statements() {
        check(
            "a\n# b\nif c:\n    d\nelse:\n    e\n",
            &[1, 3, 4, 6],
            &[1, 3, 4, 6],
        );
        check("x = [\n    1,\n    a]\nb\n", &[1, 2, 3, 4], &[1, 4]);
        check("@a\n@b\ndef f(): pass\n", &[1, 2, 3], &[1, 2, 3]);
        check(
            "a\nb  # pragma: no cover\nc = [  # pragma: no cover\n    d]\n",
            &[1, 2, 3, 4],
            &[1],
        );
    }

    #[test]
    fn docstrings_are_no_statements() {
        check(
            "'''a\nb'''\ndef f():\n    'doc'\n    return 1\nclass A:\n    '''doc\n    '''\n",
            &[1, 3, 5, 6, 7],
            &[3, 5, 6],
        );
        check(
            "f'a'\ndef f():\n    b'doc'\n    'c'\n",
            &[1, 2, 3, 4],
            &[1, 2, 3, 4],
        );
        check("def f(): 'doc'\n", &[1], &[]);
    }

    #[test]
    fn a_file_without_statements() {
        check("", &[1], &[]);
        check("# nothing\n", &[1], &[]);
    }

    #[test]
    fn all_together() {
        let text = "\
with open(name) as file:
    while True:
        if (not
                file):
            break
def f():  # pragma: no cover
    pass
";
        let set = |lines: &[u32]| lines.iter().copied().collect::<BTreeSet<u32>>();
        let expected = CoverableCode {
            statements: set(&[1, 2, 3, 5]),
            excluded: set(&[6, 7]),
            first_lines: BTreeMap::from([(4, 3)]),
            branches: BTreeMap::from([(3, BTreeSet::from([2, 5]))]),
            waived: set(&[2]),
            detours: BTreeMap::from([((5, 1), (5, 6))]),
        };
        assert_eq!(coverable_code_of(text, &[1, 2, 3, 4, 5, 6, 7]), expected);
    }

    #[test]
    fn problems_are_reported() {
        assert!(coverable_code("def", &BTreeSet::new()).is_err());
    }
}
