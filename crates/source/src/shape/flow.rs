//! Which line may come after which.
//!
//! One walk over the statements. Every block of statements is asked how it can be left ([`Exits`]): by its end, or by a
//! jump. The statement around it knows where these ways lead, adds an arc for each, and answers the same question for
//! itself. As coverage.py does, exceptions are only followed from a `raise`, and a jump out of a `try` goes straight to
//! its goal, whatever `finally` does on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;

use ruff_python_ast::statement_visitor::{StatementVisitor, walk_stmt};
use ruff_python_ast::{
    BoolOp, Decorator, ExceptHandler, Expr, MatchCase, Number, Pattern, Stmt, StmtIf, StmtMatch,
    StmtTry, UnaryOp,
};

use super::lines::Lines;

/// From one line to the next; negative is the exit of the code object that starts in that line.
type Arc = (i32, i32);

/// All ways through a file, in the first lines of statements.
#[derive(Default)]
pub(super) struct Flow {
    /// As a reader sees them.
    pub(super) arcs: BTreeSet<Arc>,
    /// From an arc as the interpreter goes to what it means, where these differ.
    pub(super) detours: BTreeMap<Arc, Arc>,
}

/// The flow through the statements in `running`, which are first lines. All others are not in the compiled code.
pub(super) fn flow(body: &[Stmt], lines: &Lines, running: &BTreeSet<u32>) -> Flow {
    let mut walk = Walk {
        lines,
        running,
        arcs: BTreeSet::new(),
    };
    let module = walk.block(Places::new(), body);
    walk.connect(&module.next, Place::Exit(1));
    walk.visit_body(body);
    visible(&walk.arcs)
}

/// Where a way starts or leads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// The statement with this first line.
    Line(u32),
    /// The end of the `with` block that starts in this line. The interpreter goes there by the line of the `with`,
    /// where the context managers are left.
    WithEnd(u32),
    /// The exit of the code object that starts in this line.
    Exit(u32),
}

type Places = BTreeSet<Place>;

/// The ways out of a block, by kind: the last places before it is left.
#[derive(Default)]
struct Exits {
    next: Places,
    breaks: Places,
    continues: Places,
    returns: Places,
    raises: Places,
}

impl Exits {
    fn next(place: Place) -> Self {
        Exits {
            next: Places::from([place]),
            ..Exits::default()
        }
    }

    fn absorb(&mut self, other: Exits) {
        self.next.extend(other.next);
        self.breaks.extend(other.breaks);
        self.continues.extend(other.continues);
        self.returns.extend(other.returns);
        self.raises.extend(other.raises);
    }
}

struct Walk<'a> {
    lines: &'a Lines<'a>,
    running: &'a BTreeSet<u32>,
    arcs: BTreeSet<(Place, Place)>,
}

/// Every function and class is a flow of its own, wherever it is defined.
impl<'a> StatementVisitor<'a> for Walk<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        let exit = Place::Exit(self.lines.statement(statement));
        match statement {
            Stmt::FunctionDef(function) => {
                let exits = self.block(Places::new(), &function.body);
                for ways in [exits.next, exits.returns, exits.raises] {
                    self.connect(&ways, exit);
                }
            }
            Stmt::ClassDef(class) => {
                let exits = self.block(Places::new(), &class.body);
                self.connect(&exits.next, exit);
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }
}

impl Walk<'_> {
    fn connect(&mut self, from: &Places, to: Place) {
        self.arcs.extend(from.iter().map(|from| (*from, to)));
    }

    /// The ways out of a block that is entered from `before`.
    fn block(&mut self, before: Places, body: &[Stmt]) -> Exits {
        let mut exits = Exits::default();
        let mut next = before;
        for statement in body {
            let line = self.lines.statement(statement);
            if self.running.contains(&line) {
                self.connect(&next, Place::Line(line));
                let mut own = self.statement(statement, line);
                next = take(&mut own.next);
                exits.absorb(own);
            }
        }
        exits.next = next;
        exits
    }

    fn block_after(&mut self, line: u32, body: &[Stmt]) -> Exits {
        self.block(Places::from([Place::Line(line)]), body)
    }

    /// The ways out of one statement, whose first line is `line`.
    fn statement(&mut self, statement: &Stmt, line: u32) -> Exits {
        let here = Places::from([Place::Line(line)]);
        let mut exits = Exits::default();
        match statement {
            Stmt::FunctionDef(it) => exits = self.definition(statement, &it.decorator_list),
            Stmt::ClassDef(it) => exits = self.definition(statement, &it.decorator_list),
            Stmt::If(it) => exits = self.choice(it, line),
            Stmt::While(it) => {
                let ends = truth(&it.test).is_none();
                exits = self.repetition(line, &it.body, &it.orelse, ends);
            }
            Stmt::For(it) => exits = self.repetition(line, &it.body, &it.orelse, true),
            Stmt::With(it) => exits = self.with(line, &it.body),
            Stmt::Try(it) => exits = self.attempt(it, line),
            Stmt::Match(it) => exits = self.matching(it, line),
            Stmt::Break(_) => exits.breaks = here,
            Stmt::Continue(_) => exits.continues = here,
            Stmt::Return(_) => exits.returns = here,
            Stmt::Raise(_) => exits.raises = here,
            _ => exits.next = here,
        }
        exits
    }

    /// Decorators run first, one after the other.
    fn definition(&mut self, definition: &Stmt, decorators: &[Decorator]) -> Exits {
        let keyword = Place::Line(self.lines.keyword(definition, decorators));
        let stops = decorators.iter();
        let stops = stops.map(|decorator| Place::Line(self.lines.statement(decorator)));
        let stops: Vec<Place> = stops.chain([keyword]).collect();
        self.arcs
            .extend(stops.windows(2).map(|pair| (pair[0], pair[1])));
        Exits::next(keyword)
    }

    fn choice(&mut self, choice: &StmtIf, line: u32) -> Exits {
        let mut exits = Exits::default();
        let (mut line, mut test, mut body) = (line, &*choice.test, &choice.body);
        let mut clauses = choice.elif_else_clauses.iter();
        loop {
            let truth = truth(test);
            if truth != Some(false) {
                exits.absorb(self.block_after(line, body));
            }
            if truth == Some(true) {
                return exits;
            }
            let clause = clauses.next().filter(|clause| {
                clause.test.is_none() || self.running.contains(&self.lines.statement(*clause))
            });
            let Some(clause) = clause else {
                // There is no `else`, or the compiler has dropped the rest.
                exits.next.insert(Place::Line(line));
                return exits;
            };
            body = &clause.body;
            match &clause.test {
                Some(next) => {
                    let from = Place::Line(line);
                    line = self.lines.statement(clause);
                    self.arcs.insert((from, Place::Line(line)));
                    test = next;
                }
                None => {
                    exits.absorb(self.block_after(line, body));
                    return exits;
                }
            }
        }
    }

    /// A loop; `ends` if it can be left other than by a jump.
    fn repetition(&mut self, line: u32, body: &[Stmt], orelse: &[Stmt], ends: bool) -> Exits {
        let mut exits = self.block_after(line, body);
        for ways in [take(&mut exits.next), take(&mut exits.continues)] {
            self.connect(&ways, Place::Line(line));
        }
        exits.next = take(&mut exits.breaks);
        if !orelse.is_empty() {
            exits.absorb(self.block_after(line, orelse));
        } else if ends {
            exits.next.insert(Place::Line(line));
        }
        exits
    }

    fn with(&mut self, line: u32, body: &[Stmt]) -> Exits {
        let mut exits = self.block_after(line, body);
        if !exits.next.is_empty() {
            let end = Place::WithEnd(line);
            self.connect(&take(&mut exits.next), end);
            exits.next.insert(end);
        }
        exits
    }

    fn attempt(&mut self, attempt: &StmtTry, line: u32) -> Exits {
        let mut exits = self.block_after(line, &attempt.body);
        let raises = take(&mut exits.raises);
        if let Some(first) = attempt.handlers.first() {
            self.connect(&raises, Place::Line(self.lines.statement(first)));
        }
        let next = take(&mut exits.next);
        exits.absorb(self.block(next, &attempt.orelse));
        for handler in &attempt.handlers {
            let line = self.lines.statement(handler);
            let ExceptHandler::ExceptHandler(handler) = handler;
            exits.absorb(self.block_after(line, &handler.body));
        }
        if !attempt.finalbody.is_empty() {
            // Where an exception goes from here, only it knows.
            exits.raises.clear();
            let next = take(&mut exits.next);
            let completes = !next.is_empty();
            let mut last = self.block(next, &attempt.finalbody);
            if !completes {
                last.next.clear();
            }
            exits.absorb(last);
        }
        exits
    }

    fn matching(&mut self, matching: &StmtMatch, line: u32) -> Exits {
        let mut exits = Exits::default();
        let mut line = line;
        for case in &matching.cases {
            let from = Place::Line(line);
            line = self.lines.statement(&case.pattern);
            self.arcs.insert((from, Place::Line(line)));
            exits.absorb(self.block_after(line, &case.body));
        }
        if !matching.cases.last().is_some_and(is_irrefutable) {
            exits.next.insert(Place::Line(line));
        }
        exits
    }
}

/// Whether a `case` matches whatever is left, as an `else` does.
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

/// What a condition always is, if that can be seen without running it.
fn truth(test: &Expr) -> Option<bool> {
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
            truth(&operation.operand).map(|truth| !truth)
        }
        Expr::BoolOp(operation) => {
            let truths = operation.values.iter().map(truth);
            let truths = truths.collect::<Option<Vec<bool>>>()?;
            Some(match operation.op {
                BoolOp::And => truths.iter().all(|truth| *truth),
                BoolOp::Or => truths.iter().any(|truth| *truth),
            })
        }
        _ => None,
    }
}

/// The arcs without the ends of `with` blocks: what comes after such an end comes after whatever leads there.
fn visible(arcs: &BTreeSet<(Place, Place)>) -> Flow {
    let behind: BTreeMap<u32, Place> = (arcs.iter())
        .filter_map(|(from, to)| match from {
            Place::WithEnd(with) => Some((*with, *to)),
            _ => None,
        })
        .collect();
    let landing = |mut place: Place| {
        while let Place::WithEnd(with) = place {
            // Nothing may come after: at the end of a `finally` that is only reached by jumps.
            place = *behind.get(&with).unwrap_or(&Place::Line(with));
        }
        number(place)
    };
    let mut flow = Flow::default();
    for (from, to) in arcs {
        let start = match from {
            Place::Line(_) => number(*from),
            // The interpreter is back in the line of the `with`, which is no statement of its own then; but if the
            // block is in that line as well, then it has not been left before.
            Place::WithEnd(with) if arcs.contains(&(Place::Line(*with), *from)) => number(*from),
            Place::WithEnd(_) | Place::Exit(_) => continue,
        };
        let arc = (start, landing(*to));
        if let Place::WithEnd(with) = to
            && behind.contains_key(with)
        {
            flow.detours.insert((start, number(*to)), arc);
        }
        if arc.0 != arc.1 {
            flow.arcs.insert(arc);
        }
    }
    flow
}

fn number(place: Place) -> i32 {
    let (line, sign) = match place {
        Place::Line(line) | Place::WithEnd(line) => (line, 1),
        Place::Exit(line) => (line, -1),
    };
    sign * i32::try_from(line).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    /// The flow if every line has code, except those in `dropped`.
    #[track_caller]
    fn flow_of(text: &str, dropped: &[u32]) -> Flow {
        let tree = parse::module(text).unwrap_or_else(|problems| panic!("{problems:?}"));
        let lines = Lines::new(text, tree.tokens());
        let code = (1..=100).filter(|line| !dropped.contains(line)).collect();
        flow(tree.body(), &lines, &lines.firsts_of(&code))
    }

    /// Expects lines with more than one way out, as `line: way way`.
    #[track_caller]
    fn check_compiled(text: &str, dropped: &[u32], expected: &[&str]) {
        let mut ways: BTreeMap<i32, Vec<String>> = BTreeMap::new();
        for (from, to) in flow_of(text, dropped).arcs {
            ways.entry(from).or_default().push(to.to_string());
        }
        let branches = ways.iter().filter(|(_, ways)| ways.len() > 1);
        let shown: Vec<String> = branches
            .map(|(line, ways)| format!("{line}: {}", ways.join(" ")))
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
        // Both ways lead to the same line, or the way is inside of it.
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
        // The compiler knows better, and drops what is never reached.
        check_compiled(
            "if a or 1:\n    b\nelif c:\n    d\ne\n",
            &[3, 4],
            &["1: 2 5"],
        );
    }

    #[test]
    fn what_is_not_compiled_is_passed_over() {
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
        // The way from a `try` to its `except` is not counted.
        check(
            "def f():\n    try:\n        if a:\n            raise b\n    except C:\n        d\n    except E:\n        raise\n    else:\n        g\n    h\n",
            &["3: 4 10"],
        );
        // A `raise` in the same line as an `if` shows where it goes to.
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
        // Only jumps lead through it, so nothing comes after.
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

    /// Expects branches as `line: way way` and then detours as `from to -> from to`.
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
        // Nothing is inside; coverage.py itself gives up on such a file if that is not compiled.
        assert_eq!(
            flow_of("def f():\n    with a:\n        b: int\n    c\n", &[3]).detours,
            BTreeMap::from([((2, 2), (2, 4))])
        );
        // Nothing comes after.
        check_with(
            "def f():\n    try:\n        return\n    finally:\n        with a:\n            b\n",
            &[],
            &[],
        );
    }
}
