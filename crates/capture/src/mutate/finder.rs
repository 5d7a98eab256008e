//! Finds the mutants of a file, statement by statement, with the lines that they belong to.

use std::collections::BTreeSet;
use std::rc::Rc;

use testwright_source::tree::{
    self, Expression, ExpressionKind, Function, MatchCase, Pattern, Statement, StatementKind,
};
use testwright_source::{Range, SyntaxProblem, check_module};

use super::exclusions::{self, ConditionKind};
use super::{LineRange, Mutant, MutantKind, constants, integers, operators};

/// Finds all mutants of a file, sorted by position.
pub(super) fn mutants(text: &str) -> Result<Vec<Mutant>, Vec<SyntaxProblem>> {
    let module = tree::module(text)?;
    let newlines = text.match_indices('\n').map(|(offset, _)| offset + 1);
    let mut finder = MutantFinder {
        text,
        line_starts: std::iter::once(0).chain(newlines).collect(),
        found: Vec::new(),
        context: StatementContext::default(),
        redundant_changes: Vec::new(),
    };
    finder.visit_statements(&module.body);
    let mut found = finder.found;
    found.sort_by(|one, other| {
        let key = |mutant: &Mutant| (mutant.range.start, mutant.range.end);
        key(one)
            .cmp(&key(other))
            .then_with(|| one.replacement.cmp(&other.replacement))
    });
    found.dedup_by(|one, other| one.range == other.range && one.replacement == other.replacement);
    Ok(found)
}

/// The surroundings of the current statement.
#[derive(Clone)]
struct StatementContext {
    /// The lines of the statement.
    statement: LineRange,
    /// The lines that a test has to reach.
    reached_in: LineRange,
    /// True inside of functions.
    in_function: bool,
    /// True in the defaults of parameters.
    is_default: bool,
    /// True inside of generators, whose `return` is hardly ever noticed.
    in_generator: bool,
    /// The integer variables of the function.
    integer_variables: Rc<BTreeSet<String>>,
    /// The range of the innermost statement that begins a line. If it is valid Python with a
    /// change, the file is.
    enclosing_statement: Range,
}

impl Default for StatementContext {
    fn default() -> StatementContext {
        let nowhere = LineRange { first: 1, last: 1 };
        StatementContext {
            statement: nowhere,
            reached_in: nowhere,
            in_function: false,
            is_default: false,
            in_generator: false,
            integer_variables: Rc::default(),
            enclosing_statement: 0..0,
        }
    }
}

/// The state of the search.
pub(super) struct MutantFinder<'a> {
    /// The text of the file.
    text: &'a str,
    /// The offsets of the lines.
    line_starts: Vec<usize>,
    /// The mutants so far.
    found: Vec<Mutant>,
    /// The surroundings of the current statement.
    context: StatementContext,
    /// Numbers by their offset, with a change that equals a change of the comparison around them.
    pub(super) redundant_changes: Vec<(usize, i128)>,
}

impl MutantFinder<'_> {
    /// Finds the mutants of a block.
    fn visit_statements(&mut self, body: &[Statement]) {
        for statement in body {
            if !exclusions::is_excluded(statement) {
                let outside = self.context.clone();
                self.set_context(statement);
                self.visit_statement(statement);
                self.context = outside;
            }
        }
    }

    /// Sets the context of a statement.
    fn set_context(&mut self, statement: &Statement) {
        let lines = self.own_lines(statement);
        self.context.statement = lines;
        self.context.reached_in = lines;
        let line_start = self.line_start(self.line(statement.range.start));
        let before = self.text.get(line_start..statement.range.start);
        let begins_line = before.is_some_and(|before| before.trim().is_empty());
        // An `elif` is not valid Python by itself.
        if begins_line && !self.source(&statement.range).starts_with("elif") {
            let rest = self.text.get(statement.range.end..).unwrap_or_default();
            let line_end = rest.find('\n').unwrap_or(rest.len());
            self.context.enclosing_statement = line_start..statement.range.end + line_end;
        }
    }

    /// Finds the mutants of a statement.
    fn visit_statement(&mut self, statement: &Statement) {
        let whole = &statement.range;
        match &statement.kind {
            StatementKind::Function(function) => self.visit_function(function),
            StatementKind::Class(class) => self.visit_statements(&class.body),
            StatementKind::Return(Some(value)) => {
                // A literal has mutants of its own, which are more specific.
                if !self.context.in_generator && !constants::is_literal(&value.kind) {
                    self.add(MutantKind::Return, value.range.clone(), "None");
                }
                self.visit_expression(value);
            }
            StatementKind::Delete(targets) => {
                if targets.iter().any(is_attribute_or_item) {
                    self.add(MutantKind::Statement, whole.clone(), "pass");
                }
            }
            StatementKind::Assign { targets, value } => {
                if targets.iter().all(is_attribute_or_item) {
                    self.add(MutantKind::Statement, whole.clone(), "pass");
                }
                targets
                    .iter()
                    .for_each(|target| self.visit_expression(target));
                self.visit_expression(value);
            }
            StatementKind::Augmented {
                target,
                operator,
                value,
            } => {
                if is_attribute_or_item(target) {
                    self.add(MutantKind::Statement, whole.clone(), "pass");
                }
                let gap = target.range.end..value.range.start;
                if !constants::is_sequence(&value.kind)
                    && let Some(position) = operators::find_operator(self.text, gap)
                {
                    let other = operators::operator_replacement(*operator);
                    self.add(MutantKind::Arithmetic, position, &format!("{other}="));
                }
                self.visit_expression(target);
                self.visit_expression(value);
            }
            StatementKind::Annotated {
                target,
                value: Some(value),
                ..
            } => {
                if is_attribute_or_item(target) {
                    self.add(MutantKind::Statement, whole.clone(), "pass");
                }
                self.visit_expression(value);
            }
            StatementKind::For {
                iterable,
                body,
                otherwise,
                ..
            } => {
                self.visit_expression(iterable);
                self.visit_statements(body);
                self.visit_statements(otherwise);
            }
            StatementKind::While {
                condition,
                body,
                otherwise,
            } => {
                self.visit_condition(condition);
                self.visit_statements(body);
                self.visit_statements(otherwise);
            }
            StatementKind::If {
                condition,
                body,
                otherwise,
            } => {
                match exclusions::classify_condition(condition) {
                    ConditionKind::BodyNeverRuns => {}
                    ConditionKind::FixedOutcome => self.visit_statements(body),
                    ConditionKind::Normal => {
                        self.visit_condition(condition);
                        self.visit_statements(body);
                    }
                }
                self.visit_statements(otherwise);
            }
            StatementKind::With { items, body, .. } => {
                items
                    .iter()
                    .for_each(|(manager, _)| self.visit_expression(manager));
                self.visit_statements(body);
            }
            StatementKind::Match { subject, cases } => {
                self.visit_expression(subject);
                let mut first = self.line(subject.range.end) + 1;
                for case in cases {
                    first = self.visit_case(case, first);
                }
            }
            StatementKind::Raise { exception, cause } => {
                self.add(MutantKind::Raise, whole.clone(), "pass");
                let parts = exception.iter().chain(cause);
                parts.for_each(|part| self.visit_expression(part));
            }
            StatementKind::Try {
                body,
                handlers,
                otherwise,
                finally,
            } => {
                self.visit_statements(body);
                for handler in handlers {
                    self.visit_statements(&handler.body);
                }
                self.visit_statements(otherwise);
                self.visit_statements(finally);
            }
            StatementKind::Assert { condition, .. } => self.visit_condition(condition),
            StatementKind::Expression(expression) => {
                if is_call(expression) {
                    self.add(MutantKind::Statement, whole.clone(), "pass");
                }
                self.visit_expression(expression);
            }
            StatementKind::Break => self.add(MutantKind::Loop, whole.clone(), "continue"),
            StatementKind::Continue => self.add(MutantKind::Loop, whole.clone(), "break"),
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

    /// Finds the mutants of a function.
    fn visit_function(&mut self, function: &Function) {
        let outside = self.context.clone();
        if let (Some(first), Some(last)) = (function.body.first(), function.body.last()) {
            self.context.reached_in = LineRange {
                first: self.line(first.range.start),
                last: self.line(last.range.end),
            };
        }
        self.context.is_default = true;
        let defaults = function.parameters.iter();
        for default in defaults.filter_map(|parameter| parameter.default.as_ref()) {
            self.visit_expression(default);
        }
        self.context = StatementContext {
            in_function: true,
            in_generator: function.yields,
            integer_variables: Rc::new(integers::integer_variables(&function.body)),
            ..outside
        };
        self.visit_statements(&function.body);
    }

    /// Finds the mutants of a `case`, whose lines are those between the block before it and its
    /// own. Returns the line after its block.
    fn visit_case(&mut self, case: &MatchCase, first: usize) -> usize {
        let (Some(start), Some(end)) = (case.body.first(), case.body.last()) else {
            return first;
        };
        let body = self.line(start.range.start);
        let lines = LineRange {
            first,
            last: body.saturating_sub(1).max(first),
        };
        self.context.statement = lines;
        self.context.reached_in = lines;
        self.visit_pattern(&case.pattern);
        if let Some(guard) = &case.guard {
            self.visit_condition(guard);
        }
        self.visit_statements(&case.body);
        self.line(end.range.end) + 1
    }

    /// Finds the mutants of a pattern.
    fn visit_pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Value(value) => self.visit_expression(value),
            Pattern::Sequence(patterns) | Pattern::Or(patterns) => {
                patterns.iter().for_each(|inner| self.visit_pattern(inner));
            }
            Pattern::Mapping { entries, .. } => {
                for (key, inner) in entries {
                    self.visit_expression(key);
                    self.visit_pattern(inner);
                }
            }
            Pattern::Class {
                positions,
                keywords,
                ..
            } => {
                let named = keywords.iter().map(|(_, inner)| inner);
                let inner = positions.iter().chain(named);
                inner.for_each(|inner| self.visit_pattern(inner));
            }
            Pattern::As { pattern, .. } => {
                pattern.iter().for_each(|inner| self.visit_pattern(inner));
            }
            Pattern::Star(_) => {}
        }
    }

    /// Adds a mutant, if the file is still valid Python with it and differs.
    pub(super) fn add(&mut self, kind: MutantKind, range: Range, replacement: &str) {
        let replaced = self.source(&range);
        let newlines = |text: &str| text.matches('\n').count();
        let missing = newlines(replaced).saturating_sub(newlines(replacement));
        let replacement = format!("{replacement}{}", "\n".repeat(missing));
        if replacement == replaced || !self.is_valid_python(&range, &replacement) {
            return;
        }
        let line = self.line(range.start);
        let before = self.text.get(self.line_start(line)..range.start);
        let context = &self.context;
        self.found.push(Mutant {
            kind: if context.is_default {
                MutantKind::Default
            } else {
                kind
            },
            column: before.map_or(0, |before| before.chars().count()) + 1,
            line,
            range,
            replacement,
            statement: context.statement,
            reached_in: context.reached_in,
            in_function: context.in_function,
        });
    }

    /// Returns true if the statement is valid Python with a change.
    fn is_valid_python(&self, range: &Range, replacement: &str) -> bool {
        let checked = &self.context.enclosing_statement;
        let before = self.text.get(checked.start..range.start);
        let after = self.text.get(range.end..checked.end);
        let (Some(before), Some(after)) = (before, after) else {
            return false;
        };
        // An indented statement needs a block around it.
        let opening = if before.starts_with([' ', '\t', '\x0c']) {
            "if 1:\n"
        } else {
            ""
        };
        check_module(&format!("{opening}{before}{replacement}{after}")).is_empty()
    }

    /// Returns true if a variable is an integer.
    pub(super) fn is_integer(&self, name: &str) -> bool {
        self.context.integer_variables.contains(name)
    }

    /// Returns the text of the file.
    pub(super) fn text(&self) -> &str {
        self.text
    }

    /// Returns the text of a range.
    pub(super) fn source(&self, range: &Range) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// Returns the lines of a statement without its blocks.
    fn own_lines(&self, statement: &Statement) -> LineRange {
        let first = self.line(statement.range.start);
        let last = match first_of_block(statement) {
            Some(block) => self.line(block.range.start).saturating_sub(1).max(first),
            None => self.line(statement.range.end),
        };
        LineRange { first, last }
    }

    /// Returns the line of an offset, from 1.
    fn line(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset)
    }

    /// Returns the offset of a line.
    fn line_start(&self, line: usize) -> usize {
        let index = line.saturating_sub(1);
        self.line_starts.get(index).copied().unwrap_or(0)
    }
}

/// Returns true if an expression is an attribute or an item, so that assignments to it are visible
/// elsewhere.
fn is_attribute_or_item(target: &Expression) -> bool {
    matches!(
        target.kind,
        ExpressionKind::Attribute { .. } | ExpressionKind::Subscript { .. }
    )
}

/// Returns true if an expression is a call.
fn is_call(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Await(awaited) => is_call(awaited),
        kind => matches!(kind, ExpressionKind::Call { .. }),
    }
}

/// Returns the first statement of a statement's block.
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
