//! Control flow between lines.
//!
//! This is one pass over the statements. Every block of statements returns the ways in which it can
//! be left ([`Exits`]): by its end, or by a jump. The enclosing statement knows where these exits
//! lead, adds an arc for each, and returns its own exits. As in coverage.py, exceptions are only
//! followed from a `raise`, and a jump out of a `try` goes straight to its target, whatever
//! `finally` does on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;

use ruff_python_ast::statement_visitor::{StatementVisitor, walk_stmt};
use ruff_python_ast::{
    BoolOp, Decorator, ExceptHandler, Expr, MatchCase, Number, Pattern, Stmt, StmtIf, StmtMatch,
    StmtTry, UnaryOp,
};

use super::lines::StatementLines;

/// An arc from one line to the next; negative is the exit of the code object that starts in that
/// line.
type Arc = (i32, i32);

/// All arcs of a file, between the first lines of statements.
#[derive(Default)]
pub(super) struct LineFlow {
    /// The arcs as a reader sees them.
    pub(super) arcs: BTreeSet<Arc>,
    /// From an arc of the interpreter to its meaning, where they differ.
    pub(super) detours: BTreeMap<Arc, Arc>,
}

/// Computes the flow through the statements in `running`, which are first lines. All others are not
/// in the compiled code.
pub(super) fn flow(body: &[Stmt], lines: &StatementLines, running: &BTreeSet<u32>) -> LineFlow {
    let mut visitor = FlowVisitor {
        lines,
        running,
        arcs: BTreeSet::new(),
    };
    let module = visitor.block_exits(FlowPoints::new(), body);
    visitor.connect(&module.next, FlowPoint::Exit(1));
    visitor.visit_body(body);
    without_with_ends(&visitor.arcs)
}

/// An end point of an arc.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FlowPoint {
    /// The statement with this first line.
    Line(u32),
    /// The end of the `with` block that starts in this line. The interpreter gets there through the
    /// line of the `with`, where the context managers are exited.
    WithEnd(u32),
    /// The exit of the code object that starts in this line.
    Exit(u32),
}

type FlowPoints = BTreeSet<FlowPoint>;

/// The exits of a block, by kind: the last points before it is left.
#[derive(Default)]
struct Exits {
    next: FlowPoints,
    breaks: FlowPoints,
    continues: FlowPoints,
    returns: FlowPoints,
    raises: FlowPoints,
}

impl Exits {
    /// Creates the exits of a block that is only left by its end, at this point.
    fn only_next(point: FlowPoint) -> Self {
        Exits {
            next: FlowPoints::from([point]),
            ..Exits::default()
        }
    }

    /// Adds other exits.
    fn merge(&mut self, other: Exits) {
        self.next.extend(other.next);
        self.breaks.extend(other.breaks);
        self.continues.extend(other.continues);
        self.returns.extend(other.returns);
        self.raises.extend(other.raises);
    }
}

/// Collects arcs from statements.
struct FlowVisitor<'a> {
    lines: &'a StatementLines<'a>,
    running: &'a BTreeSet<u32>,
    arcs: BTreeSet<(FlowPoint, FlowPoint)>,
}

/// Every function and class has a flow of its own, wherever it is defined.
impl<'a> StatementVisitor<'a> for FlowVisitor<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        let exit = FlowPoint::Exit(self.lines.statement_line(statement));
        match statement {
            Stmt::FunctionDef(function) => {
                let exits = self.block_exits(FlowPoints::new(), &function.body);
                for points in [exits.next, exits.returns, exits.raises] {
                    self.connect(&points, exit);
                }
            }
            Stmt::ClassDef(class) => {
                let exits = self.block_exits(FlowPoints::new(), &class.body);
                self.connect(&exits.next, exit);
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }
}

impl FlowVisitor<'_> {
    /// Adds arcs from several points to one.
    fn connect(&mut self, from: &FlowPoints, to: FlowPoint) {
        self.arcs.extend(from.iter().map(|from| (*from, to)));
    }

    /// Returns the exits of a block that is entered from `before`.
    fn block_exits(&mut self, before: FlowPoints, body: &[Stmt]) -> Exits {
        let mut exits = Exits::default();
        let mut next = before;
        for statement in body {
            let line = self.lines.statement_line(statement);
            if self.running.contains(&line) {
                self.connect(&next, FlowPoint::Line(line));
                let mut own = self.statement_exits(statement, line);
                next = take(&mut own.next);
                exits.merge(own);
            }
        }
        exits.next = next;
        exits
    }

    /// Returns the exits of a block that is entered from a line.
    fn block_exits_after(&mut self, line: u32, body: &[Stmt]) -> Exits {
        self.block_exits(FlowPoints::from([FlowPoint::Line(line)]), body)
    }

    /// Returns the exits of one statement, whose first line is `line`.
    fn statement_exits(&mut self, statement: &Stmt, line: u32) -> Exits {
        let current_line = FlowPoints::from([FlowPoint::Line(line)]);
        let mut exits = Exits::default();
        match statement {
            Stmt::FunctionDef(it) => exits = self.definition_exits(statement, &it.decorator_list),
            Stmt::ClassDef(it) => exits = self.definition_exits(statement, &it.decorator_list),
            Stmt::If(it) => exits = self.if_exits(it, line),
            Stmt::While(it) => {
                let ends = constant_truth(&it.test).is_none();
                exits = self.loop_exits(line, &it.body, &it.orelse, ends);
            }
            Stmt::For(it) => exits = self.loop_exits(line, &it.body, &it.orelse, true),
            Stmt::With(it) => exits = self.with_exits(line, &it.body),
            Stmt::Try(it) => exits = self.try_exits(it, line),
            Stmt::Match(it) => exits = self.match_exits(it, line),
            Stmt::Break(_) => exits.breaks = current_line,
            Stmt::Continue(_) => exits.continues = current_line,
            Stmt::Return(_) => exits.returns = current_line,
            Stmt::Raise(_) => exits.raises = current_line,
            _ => exits.next = current_line,
        }
        exits
    }

    /// Returns the exits of a definition. Decorators run first, one after the other.
    fn definition_exits(&mut self, definition: &Stmt, decorators: &[Decorator]) -> Exits {
        let keyword = FlowPoint::Line(self.lines.keyword_line(definition, decorators));
        let points = decorators.iter();
        let points = points.map(|decorator| FlowPoint::Line(self.lines.statement_line(decorator)));
        let points: Vec<FlowPoint> = points.chain([keyword]).collect();
        self.arcs
            .extend(points.windows(2).map(|pair| (pair[0], pair[1])));
        Exits::only_next(keyword)
    }

    /// Returns the exits of an `if` statement.
    fn if_exits(&mut self, choice: &StmtIf, line: u32) -> Exits {
        let mut exits = Exits::default();
        let (mut line, mut test, mut body) = (line, &*choice.test, &choice.body);
        let mut clauses = choice.elif_else_clauses.iter();
        loop {
            let truth = constant_truth(test);
            if truth != Some(false) {
                exits.merge(self.block_exits_after(line, body));
            }
            if truth == Some(true) {
                return exits;
            }
            let clause = clauses.next().filter(|clause| {
                clause.test.is_none() || self.running.contains(&self.lines.statement_line(*clause))
            });
            let Some(clause) = clause else {
                // There is no `else`, or the compiler has dropped the rest.
                exits.next.insert(FlowPoint::Line(line));
                return exits;
            };
            body = &clause.body;
            match &clause.test {
                Some(next) => {
                    let from = FlowPoint::Line(line);
                    line = self.lines.statement_line(clause);
                    self.arcs.insert((from, FlowPoint::Line(line)));
                    test = next;
                }
                None => {
                    exits.merge(self.block_exits_after(line, body));
                    return exits;
                }
            }
        }
    }

    /// Returns the exits of a loop; `ends` if it can be left other than by a jump.
    fn loop_exits(&mut self, line: u32, body: &[Stmt], orelse: &[Stmt], ends: bool) -> Exits {
        let mut exits = self.block_exits_after(line, body);
        for points in [take(&mut exits.next), take(&mut exits.continues)] {
            self.connect(&points, FlowPoint::Line(line));
        }
        exits.next = take(&mut exits.breaks);
        if !orelse.is_empty() {
            exits.merge(self.block_exits_after(line, orelse));
        } else if ends {
            exits.next.insert(FlowPoint::Line(line));
        }
        exits
    }

    /// Returns the exits of a `with` statement.
    fn with_exits(&mut self, line: u32, body: &[Stmt]) -> Exits {
        let mut exits = self.block_exits_after(line, body);
        if !exits.next.is_empty() {
            let end = FlowPoint::WithEnd(line);
            self.connect(&take(&mut exits.next), end);
            exits.next.insert(end);
        }
        exits
    }

    /// Returns the exits of a `try` statement.
    fn try_exits(&mut self, attempt: &StmtTry, line: u32) -> Exits {
        let mut exits = self.block_exits_after(line, &attempt.body);
        let raises = take(&mut exits.raises);
        if let Some(first) = attempt.handlers.first() {
            self.connect(&raises, FlowPoint::Line(self.lines.statement_line(first)));
        }
        let next = take(&mut exits.next);
        exits.merge(self.block_exits(next, &attempt.orelse));
        for handler in &attempt.handlers {
            let line = self.lines.statement_line(handler);
            let ExceptHandler::ExceptHandler(handler) = handler;
            exits.merge(self.block_exits_after(line, &handler.body));
        }
        if !attempt.finalbody.is_empty() {
            // The target of an exception after `finally` is unknown.
            exits.raises.clear();
            let next = take(&mut exits.next);
            let completes = !next.is_empty();
            let mut last = self.block_exits(next, &attempt.finalbody);
            if !completes {
                last.next.clear();
            }
            exits.merge(last);
        }
        exits
    }

    /// Returns the exits of a `match` statement.
    fn match_exits(&mut self, matching: &StmtMatch, line: u32) -> Exits {
        let mut exits = Exits::default();
        let mut line = line;
        for case in &matching.cases {
            let from = FlowPoint::Line(line);
            line = self.lines.statement_line(&case.pattern);
            self.arcs.insert((from, FlowPoint::Line(line)));
            exits.merge(self.block_exits_after(line, &case.body));
        }
        if !matching.cases.last().is_some_and(is_irrefutable) {
            exits.next.insert(FlowPoint::Line(line));
        }
        exits
    }
}

/// Returns true if a `case` matches everything, as an `else` does.
pub(super) fn is_irrefutable(case: &MatchCase) -> bool {
    let mut pattern = &case.pattern;
    while let Pattern::MatchOr(choice) = pattern
        && let Some(last) = choice.patterns.last()
    {
        pattern = last;
    }
    while let Pattern::MatchAs(named) = pattern
        && let Some(inner) = &named.pattern
    {
        pattern = inner;
    }
    case.guard.is_none() && matches!(pattern, Pattern::MatchAs(_))
}

/// Returns the constant truth value of a condition, if it can be seen without running it.
fn constant_truth(test: &Expr) -> Option<bool> {
    match test {
        Expr::BooleanLiteral(literal) => Some(literal.value),
        Expr::NoneLiteral(_) => Some(false),
        Expr::EllipsisLiteral(_) => Some(true),
        Expr::StringLiteral(literal) => Some(!literal.value.is_empty()),
        Expr::BytesLiteral(literal) => Some(!literal.value.is_empty()),
        Expr::NumberLiteral(literal) => Some(match &literal.value {
            Number::Int(value) => *value != 0,
            Number::Float(value) => *value != 0.0,
            Number::Complex { real, imag } => *real != 0.0 || *imag != 0.0,
        }),
        Expr::Name(name) => (name.id.as_str() == "__debug__").then_some(true),
        Expr::UnaryOp(operation) if operation.op == UnaryOp::Not => {
            constant_truth(&operation.operand).map(|truth| !truth)
        }
        Expr::BoolOp(operation) => {
            let truths = operation.values.iter().map(constant_truth);
            let truths = truths.collect::<Option<Vec<bool>>>()?;
            Some(match operation.op {
                BoolOp::And => truths.iter().all(|truth| *truth),
                BoolOp::Or => truths.iter().any(|truth| *truth),
            })
        }
        _ => None,
    }
}

/// Removes the ends of `with` blocks: whatever follows such an end follows the points that lead
/// there.
fn without_with_ends(arcs: &BTreeSet<(FlowPoint, FlowPoint)>) -> LineFlow {
    let after_with: BTreeMap<u32, FlowPoint> = (arcs.iter())
        .filter_map(|(from, to)| match from {
            FlowPoint::WithEnd(with) => Some((*with, *to)),
            _ => None,
        })
        .collect();
    let resolve = |mut point: FlowPoint| {
        while let FlowPoint::WithEnd(with) = point {
            // Nothing may follow: at the end of a `finally` that is only reached by jumps.
            point = *after_with.get(&with).unwrap_or(&FlowPoint::Line(with));
        }
        line_number(point)
    };
    let mut flow = LineFlow::default();
    for (from, to) in arcs {
        let start = match from {
            FlowPoint::Line(_) => line_number(*from),
            // The interpreter is back in the line of the `with`, which is not a statement of its
            // own then. But if the block is in that line as well, it has not been left before.
            FlowPoint::WithEnd(with) if arcs.contains(&(FlowPoint::Line(*with), *from)) => {
                line_number(*from)
            }
            FlowPoint::WithEnd(_) | FlowPoint::Exit(_) => continue,
        };
        let arc = (start, resolve(*to));
        if let FlowPoint::WithEnd(with) = to
            && after_with.contains_key(with)
        {
            flow.detours.insert((start, line_number(*to)), arc);
        }
        if arc.0 != arc.1 {
            flow.arcs.insert(arc);
        }
    }
    flow
}

/// Returns the line number of a point; negative for an exit.
fn line_number(point: FlowPoint) -> i32 {
    let (line, sign) = match point {
        FlowPoint::Line(line) | FlowPoint::WithEnd(line) => (line, 1),
        FlowPoint::Exit(line) => (line, -1),
    };
    sign * i32::try_from(line).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    /// Computes the flow if every line has code, except those in `dropped`.
    #[track_caller]
    fn flow_of(text: &str, dropped: &[u32]) -> LineFlow {
        let tree = parse::parse_module(text).unwrap_or_else(|problems| panic!("{problems:?}"));
        let lines = StatementLines::new(text, tree.tokens());
        let code = (1..=100).filter(|line| !dropped.contains(line)).collect();
        flow(tree.body(), &lines, &lines.first_lines_of(&code))
    }

    /// Checks the lines with more than one successor, as `line: target target`.
    #[track_caller]
    fn check_compiled(text: &str, dropped: &[u32], expected: &[&str]) {
        let mut points: BTreeMap<i32, Vec<String>> = BTreeMap::new();
        for (from, to) in flow_of(text, dropped).arcs {
            points.entry(from).or_default().push(to.to_string());
        }
        let branches = points.iter().filter(|(_, points)| points.len() > 1);
        let shown: Vec<String> = branches
            .map(|(line, points)| format!("{line}: {}", points.join(" ")))
            .collect();
        assert_eq!(shown, expected, "{text}");
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        check_compiled(text, &[], expected);
    }

    #[test]
    fn conditions() {
        check("if a:\n    b\nc\n", &["1: 2 3"]);
        check("if a:\n    b\n", &["1: -1 2"]);
        check("if a:\n    b\nelse:\n    c\nd\n", &["1: 2 4"]);
        check(
            "if a:\n    b\nelif c:\n    d\nelif e:\n    f\ng\n",
            &["1: 2 3", "3: 4 5", "5: 6 7"],
        );
        // Both branches lead to the same line, or the branch is inside it.
        check("if a: b\nc\n", &[]);
        check("if (a and\n    b):\n    c(\n    )\nd\n", &["1: 3 5"]);
        check(
            "a = b if c else d\nassert a\ne = [f for f in g if f]\nh = lambda: i\n",
            &[],
        );
    }

    #[test]
    fn constant_conditions_decide_nothing() {
        check("if 1:\n    a\nelse:\n    b\nc\n", &[]);
        check("if not __debug__:\n    a\nelif b:\n    c\nd\n", &["3: 4 5"]);
        check(
            "if '' or 0.0 or None or b'' or 0j:\n    a\nelse:\n    if b:\n        c\nd\n",
            &["4: 5 6"],
        );
        check("if a or 1:\n    b\nc\n", &["1: 2 3"]);
        check("if -1:\n    b\nc\n", &["1: 2 3"]);
        check_compiled("if a:\n    b\nelif 0:\n    c\nd\n", &[4], &["1: 2 3"]);
        // The compiler drops what is never reached.
        check_compiled(
            "if a or 1:\n    b\nelif c:\n    d\ne\n",
            &[3, 4],
            &["1: 2 5"],
        );
    }

    #[test]
    fn statements_without_code_are_skipped() {
        check_compiled("if a:\n    global b\nc\n", &[2], &[]);
        check_compiled(
            "def f():\n    'doc'\n    if a:\n        b\n",
            &[2],
            &["3: -1 4"],
        );
    }

    #[test]
    fn loops() {
        check("for a in b:\n    c\nd\n", &["1: 2 3"]);
        check(
            "for a in b:\n    if c:\n        continue\n    if d:\n        break\nelse:\n    e\nf\n",
            &["1: 2 7", "2: 3 4", "4: 1 5"],
        );
        check(
            "while a:\n    if b:\n        break\n    c\nd\n",
            &["1: 2 5", "2: 3 4"],
        );
        check(
            "while True:\n    if a:\n        break\n    b\nc\n",
            &["2: 3 4"],
        );
        check_compiled("while 1:\n    a\nelse:\n    b\nc\n", &[4, 5], &["1: -1 2"]);
    }

    #[test]
    fn jumps_out_of_functions() {
        check(
            "@d\ndef f():\n    for a in b:\n        if c:\n            return\n        if d:\n            raise e\n",
            &["3: -1 4", "4: 5 6", "6: 3 7"],
        );
        check(
            "if a:\n    def f():\n        if b:\n            c\n",
            &["1: -1 2", "3: -2 4"],
        );
        check(
            "@a(\n)\n@b\nclass A:\n    if c:\n        d = 1\n",
            &["5: -1 6"],
        );
        check(
            "async def f():\n    async for a in b:\n        await c\n",
            &["2: -1 3"],
        );
    }

    #[test]
    fn exceptions() {
        // The arc from a `try` to its `except` is not counted.
        check(
            "def f():\n    try:\n        if a:\n            raise b\n    except C:\n        d\n    except E:\n        raise\n    else:\n        g\n    h\n",
            &["3: 4 10"],
        );
        // A `raise` on the same line as an `if` shows its target.
        check(
            "def f():\n    try:\n        if a: raise b\n        c\n    except D:\n        if e: raise\n    g\n",
            &["3: 4 5", "6: -1 7"],
        );
        check(
            "def f():\n    try:\n        if a: raise b\n    except C:\n        if d: raise\n    finally:\n        e\n    if g: raise\n    h\n",
            &["3: 4 7", "8: -1 9"],
        );
        check("try:\n    a\nfinally:\n    if b: raise c\nd\n", &[]);
        check(
            "for x in y:\n    try:\n        if a: break\n        b\n    except C:\n        if d: continue\n        e\ng\n",
            &["1: 2 8", "3: 4 8", "6: 1 7"],
        );
    }

    #[test]
    fn finally() {
        check(
            "def f():\n    for x in y:\n        try:\n            if a:\n                return\n            if b:\n                break\n        finally:\n            if c:\n                d\n    e\n",
            &["2: 3 11", "4: 5 6", "6: 7 9", "9: 2 10"],
        );
        check(
            "def f():\n    try:\n        if a: return\n        b\n    finally:\n        c\n    d\n",
            &["3: -1 4"],
        );
        // Only jumps lead through it, so nothing follows.
        check(
            "def f():\n    try:\n        return a\n    finally:\n        if b:\n            c\n",
            &[],
        );
    }

    #[test]
    fn matching() {
        check(
            "match a:\n    case 1:\n        b\n    case [c, *_] if c:\n        d\ne\n",
            &["2: 3 4", "4: 5 6"],
        );
        for last in ["_", "b", "c as d", "(_)", "1 | _"] {
            let text =
                format!("match a:\n    case 1:\n        b\n    case {last}:\n        c\nd\n");
            check(&text, &["2: 3 4"]);
        }
        for last in ["_ if b", "1 as d", "[_]", "{**b}"] {
            let text = format!("match a:\n    case {last}:\n        c\nd\n");
            check(&text, &["2: 3 4"]);
        }
    }

    /// Checks branches as `line: target target` and then detours as `from to -> from to`.
    #[track_caller]
    fn check_with(text: &str, branches: &[&str], detours: &[&str]) {
        check(text, branches);
        let shown: Vec<String> = (flow_of(text, &[]).detours.iter())
            .map(|((from, by), (start, to))| format!("{from} {by} -> {start} {to}"))
            .collect();
        assert_eq!(shown, detours, "{text}");
    }

    #[test]
    fn with_blocks() {
        check_with(
            "with a:\n    if b:\n        c\nd\n",
            &["2: 3 4"],
            &["2 1 -> 2 4", "3 1 -> 3 4"],
        );
        check_with(
            "def f():\n    with a:\n        with b:\n            if c:\n                d\n",
            &["4: -1 5"],
            &["4 3 -> 4 -1", "5 3 -> 5 -1"],
        );
        check_with(
            "for x in y:\n    with (a as b,\n          c):\n        if x:\n            continue\n        d\n",
            &["1: -1 2", "4: 5 6"],
            &["6 2 -> 6 1"],
        );
        check_with("def f():\n    with a:\n        return b\n    c\n", &[], &[]);
        check_with("with a: b\nc\n", &[], &["1 1 -> 1 2"]);
        check_with(
            "with a:\n    with b: c\nd\n",
            &[],
            &["2 1 -> 2 3", "2 2 -> 2 3"],
        );
        // The block is empty; coverage.py itself gives up on such a file if that is not compiled.
        assert_eq!(
            flow_of("def f():\n    with a:\n        b: int\n    c\n", &[3]).detours,
            BTreeMap::from([((2, 2), (2, 4))])
        );
        // Nothing follows.
        check_with(
            "def f():\n    try:\n        return\n    finally:\n        with a:\n            b\n",
            &[],
            &[],
        );
    }
}
