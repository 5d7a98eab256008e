//! Statement by statement through a file: what each can become, and which lines it belongs to.

use std::collections::BTreeSet;
use std::rc::Rc;

use testwright_source::tree::{
    self, Case, Expression, ExpressionKind, Function, Pattern, Statement, StatementKind,
};
use testwright_source::{Problem, Range, check_module};

use super::left_out::{self, Known};
use super::{Kind, Lines, Mutant, constants, operators, whole_numbers};

pub(super) fn mutants(text: &str) -> Result<Vec<Mutant>, Vec<Problem>> {
    let module = tree::module(text)?;
    let newlines = text.match_indices('\n').map(|(place, _)| place + 1);
    let mut walk = Walk {
        text,
        line_starts: std::iter::once(0).chain(newlines).collect(),
        found: Vec::new(),
        place: Place::default(),
        redundant: Vec::new(),
    };
    walk.statements(&module.body);
    let mut found = walk.found;
    found.sort_by(|one, other| {
        let key = |mutant: &Mutant| (mutant.range.start, mutant.range.end);
        key(one)
            .cmp(&key(other))
            .then_with(|| one.replacement.cmp(&other.replacement))
    });
    found.dedup_by(|one, other| one.range == other.range && one.replacement == other.replacement);
    Ok(found)
}

/// Where the walk is.
#[derive(Clone)]
struct Place {
    statement: Lines,
    reached_in: Lines,
    in_function: bool,
    is_default: bool,
    /// Inside of a generator, whose `return` hardly anybody sees.
    in_generator: bool,
    /// Names of the function that stand for whole numbers.
    counted: Rc<BTreeSet<String>>,
    /// The innermost statement that begins a line: if this is Python with a change, the file is.
    checked: Range,
}

impl Default for Place {
    fn default() -> Place {
        let nowhere = Lines { first: 1, last: 1 };
        Place {
            statement: nowhere,
            reached_in: nowhere,
            in_function: false,
            is_default: false,
            in_generator: false,
            counted: Rc::default(),
            checked: 0..0,
        }
    }
}

pub(super) struct Walk<'a> {
    text: &'a str,
    line_starts: Vec<usize>,
    found: Vec<Mutant>,
    place: Place,
    /// Numbers by where they begin, with a change that says the same as a change of the comparison around it.
    pub(super) redundant: Vec<(usize, i128)>,
}

impl Walk<'_> {
    fn statements(&mut self, body: &[Statement]) {
        for statement in body {
            if !left_out::statement(statement) {
                let outside = self.place.clone();
                self.enter(statement);
                self.statement(statement);
                self.place = outside;
            }
        }
    }

    fn enter(&mut self, statement: &Statement) {
        let lines = self.own_lines(statement);
        self.place.statement = lines;
        self.place.reached_in = lines;
        let line_start = self.line_start(self.line(statement.range.start));
        let before = self.text.get(line_start..statement.range.start);
        let begins_line = before.is_some_and(|before| before.trim().is_empty());
        // An `elif` is only a part of what must be Python.
        if begins_line && !self.written(&statement.range).starts_with("elif") {
            let rest = self.text.get(statement.range.end..).unwrap_or_default();
            let line_end = rest.find('\n').unwrap_or(rest.len());
            self.place.checked = line_start..statement.range.end + line_end;
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let whole = &statement.range;
        match &statement.kind {
            StatementKind::Function(function) => self.function(function),
            StatementKind::Class(class) => self.statements(&class.body),
            StatementKind::Return(Some(value)) => {
                // A literal has mutants of its own, which say more.
                if !self.place.in_generator && !constants::is_literal(&value.kind) {
                    self.add(Kind::Return, value.range.clone(), "None");
                }
                self.expression(value);
            }
            StatementKind::Delete(targets) => {
                if targets.iter().any(is_part) {
                    self.add(Kind::Statement, whole.clone(), "pass");
                }
            }
            StatementKind::Assign { targets, value } => {
                if targets.iter().all(is_part) {
                    self.add(Kind::Statement, whole.clone(), "pass");
                }
                targets.iter().for_each(|target| self.expression(target));
                self.expression(value);
            }
            StatementKind::Augmented {
                target,
                operator,
                value,
            } => {
                if is_part(target) {
                    self.add(Kind::Statement, whole.clone(), "pass");
                }
                let gap = target.range.end..value.range.start;
                if !constants::is_sequence(&value.kind)
                    && let Some(place) = operators::between(self.text, gap)
                {
                    let other = operators::operation(*operator);
                    self.add(Kind::Arithmetic, place, &format!("{other}="));
                }
                self.expression(target);
                self.expression(value);
            }
            StatementKind::Annotated {
                target,
                value: Some(value),
                ..
            } => {
                if is_part(target) {
                    self.add(Kind::Statement, whole.clone(), "pass");
                }
                self.expression(value);
            }
            StatementKind::For {
                iterable,
                body,
                otherwise,
                ..
            } => {
                self.expression(iterable);
                self.statements(body);
                self.statements(otherwise);
            }
            StatementKind::While {
                condition,
                body,
                otherwise,
            } => {
                self.condition(condition);
                self.statements(body);
                self.statements(otherwise);
            }
            StatementKind::If {
                condition,
                body,
                otherwise,
            } => {
                match left_out::known(condition) {
                    Known::NoBody => {}
                    Known::Fixed => self.statements(body),
                    Known::Nothing => {
                        self.condition(condition);
                        self.statements(body);
                    }
                }
                self.statements(otherwise);
            }
            StatementKind::With { items, body, .. } => {
                items
                    .iter()
                    .for_each(|(manager, _)| self.expression(manager));
                self.statements(body);
            }
            StatementKind::Match { subject, cases } => {
                self.expression(subject);
                let mut first = self.line(subject.range.end) + 1;
                for case in cases {
                    first = self.case(case, first);
                }
            }
            StatementKind::Raise { exception, cause } => {
                self.add(Kind::Raise, whole.clone(), "pass");
                let parts = exception.iter().chain(cause);
                parts.for_each(|part| self.expression(part));
            }
            StatementKind::Try {
                body,
                handlers,
                otherwise,
                finally,
            } => {
                self.statements(body);
                for handler in handlers {
                    self.statements(&handler.body);
                }
                self.statements(otherwise);
                self.statements(finally);
            }
            StatementKind::Assert { condition, .. } => self.condition(condition),
            StatementKind::Expression(expression) => {
                if is_call(expression) {
                    self.add(Kind::Statement, whole.clone(), "pass");
                }
                self.expression(expression);
            }
            StatementKind::Break => self.add(Kind::Loop, whole.clone(), "continue"),
            StatementKind::Continue => self.add(Kind::Loop, whole.clone(), "break"),
            StatementKind::Return(None)
            | StatementKind::Annotated { value: None, .. }
            | StatementKind::Import(_)
            | StatementKind::ImportFrom { .. }
            | StatementKind::Global(_)
            | StatementKind::Nonlocal(_)
            | StatementKind::TypeAlias { .. }
            | StatementKind::Pass => {}
        }
    }

    fn function(&mut self, function: &Function) {
        let outside = self.place.clone();
        if let (Some(first), Some(last)) = (function.body.first(), function.body.last()) {
            self.place.reached_in = Lines {
                first: self.line(first.range.start),
                last: self.line(last.range.end),
            };
        }
        self.place.is_default = true;
        let defaults = function.parameters.iter();
        for default in defaults.filter_map(|parameter| parameter.default.as_ref()) {
            self.expression(default);
        }
        self.place = Place {
            in_function: true,
            in_generator: function.yields,
            counted: Rc::new(whole_numbers::counted(&function.body)),
            ..outside
        };
        self.statements(&function.body);
    }

    /// A `case` stands in the lines between the block before it and its own; gives the line behind that.
    fn case(&mut self, case: &Case, first: usize) -> usize {
        let (Some(start), Some(end)) = (case.body.first(), case.body.last()) else {
            return first;
        };
        let body = self.line(start.range.start);
        let lines = Lines {
            first,
            last: body.saturating_sub(1).max(first),
        };
        self.place.statement = lines;
        self.place.reached_in = lines;
        self.pattern(&case.pattern);
        if let Some(guard) = &case.guard {
            self.condition(guard);
        }
        self.statements(&case.body);
        self.line(end.range.end) + 1
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Value(value) => self.expression(value),
            Pattern::Sequence(patterns) | Pattern::Or(patterns) => {
                patterns.iter().for_each(|inner| self.pattern(inner));
            }
            Pattern::Mapping { entries, .. } => {
                for (key, inner) in entries {
                    self.expression(key);
                    self.pattern(inner);
                }
            }
            Pattern::Class {
                positions,
                keywords,
                ..
            } => {
                let named = keywords.iter().map(|(_, inner)| inner);
                let inner = positions.iter().chain(named);
                inner.for_each(|inner| self.pattern(inner));
            }
            Pattern::As { pattern, .. } => {
                pattern.iter().for_each(|inner| self.pattern(inner));
            }
            Pattern::Star(_) => {}
        }
    }

    /// Adds a mutant, if the file is still Python with it and says something else.
    pub(super) fn add(&mut self, kind: Kind, range: Range, replacement: &str) {
        let replaced = self.written(&range);
        let newlines = |text: &str| text.matches('\n').count();
        let missing = newlines(replaced).saturating_sub(newlines(replacement));
        let replacement = format!("{replacement}{}", "\n".repeat(missing));
        if replacement == replaced || !self.is_python(&range, &replacement) {
            return;
        }
        let line = self.line(range.start);
        let before = self.text.get(self.line_start(line)..range.start);
        let place = &self.place;
        self.found.push(Mutant {
            kind: if place.is_default {
                Kind::Default
            } else {
                kind
            },
            column: before.map_or(0, |before| before.chars().count()) + 1,
            line,
            range,
            replacement,
            statement: place.statement,
            reached_in: place.reached_in,
            in_function: place.in_function,
        });
    }

    fn is_python(&self, range: &Range, replacement: &str) -> bool {
        let checked = &self.place.checked;
        let before = self.text.get(checked.start..range.start);
        let after = self.text.get(range.end..checked.end);
        let (Some(before), Some(after)) = (before, after) else {
            return false;
        };
        // A statement from inside a block keeps its indentation, which needs a block around it.
        let opening = if before.starts_with([' ', '\t', '\x0c']) {
            "if 1:\n"
        } else {
            ""
        };
        check_module(&format!("{opening}{before}{replacement}{after}")).is_empty()
    }

    pub(super) fn is_counted(&self, name: &str) -> bool {
        self.place.counted.contains(name)
    }

    pub(super) fn text(&self) -> &str {
        self.text
    }

    pub(super) fn written(&self, range: &Range) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// The lines of a statement without its blocks.
    fn own_lines(&self, statement: &Statement) -> Lines {
        let first = self.line(statement.range.start);
        let last = match first_of_block(statement) {
            Some(block) => self.line(block.range.start).saturating_sub(1).max(first),
            None => self.line(statement.range.end),
        };
        Lines { first, last }
    }

    /// The line of a place, from 1.
    fn line(&self, place: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= place)
    }

    fn line_start(&self, line: usize) -> usize {
        let index = line.saturating_sub(1);
        self.line_starts.get(index).copied().unwrap_or(0)
    }
}

/// An attribute or an item of something, so that what is assigned to it can be seen elsewhere.
fn is_part(target: &Expression) -> bool {
    matches!(
        target.kind,
        ExpressionKind::Attribute { .. } | ExpressionKind::Subscript { .. }
    )
}

fn is_call(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Await(awaited) => is_call(awaited),
        kind => matches!(kind, ExpressionKind::Call { .. }),
    }
}

fn first_of_block(statement: &Statement) -> Option<&Statement> {
    match &statement.kind {
        StatementKind::Function(function) => function.body.first(),
        StatementKind::Class(class) => class.body.first(),
        StatementKind::For { body, .. }
        | StatementKind::While { body, .. }
        | StatementKind::If { body, .. }
        | StatementKind::With { body, .. }
        | StatementKind::Try { body, .. } => body.first(),
        StatementKind::Match { cases, .. } => cases.first().and_then(|case| case.body.first()),
        _ => None,
    }
}
