//! Builds the lines of a scenario from the body of a property (F7).

mod calls;
mod checks;

pub(crate) use calls::expected_errors;

use testwright_source::tree::{Expression, ExpressionKind, Statement, StatementKind};

use super::accumulating_loops::{AccumulatingLoop, find_accumulating_loops};
use super::code::{self, python_string};
use super::find::PropertyFunction;
use super::loops;
use super::scope::PropertyScope;
use super::script::{PropertyScript, ScriptLine, StepCode, StepSentence};
use super::unittest;
use crate::gherkin::StepKeyword;
use crate::quotation;
use crate::sample::{Decision, SampleCase};
use crate::term::{NameRole, Term, Type};
use crate::value::PythonValue;

/// The largest expression that is written out. Larger ones get a name, because a phrase around them
/// would be unreadable.
const MAX_TERM_SIZE: usize = 100;

/// The state of reading a property's body.
pub(super) struct ScriptBuilder<'a> {
    /// The names known at this point.
    pub(super) scope: PropertyScope<'a>,
    property: &'a PropertyFunction,
    /// The observed decisions of conditions that have not been used yet.
    decisions: Vec<Decision>,
    /// The sample, if there is one.
    case: Option<&'a SampleCase>,
    /// True if calls may become steps of their own (F8).
    hoists: bool,
    /// True after the first `When` step.
    has_acted: bool,
    /// True after the first assertion; only that one is hoisted.
    has_checked: bool,
    script: PropertyScript,
}

impl<'a> ScriptBuilder<'a> {
    /// Builds the script of a property for a case. Without hoisting, calls stay where they are
    /// written.
    pub(super) fn script(
        scope: PropertyScope<'a>,
        property: &'a PropertyFunction,
        types: &[Type],
        case: Option<&'a SampleCase>,
        hoists: bool,
    ) -> PropertyScript {
        let mut builder = ScriptBuilder {
            scope,
            property,
            decisions: case.map(|case| case.decisions.clone()).unwrap_or_default(),
            case,
            hoists,
            has_acted: false,
            has_checked: false,
            script: PropertyScript::default(),
        };
        for (input, type_) in property.inputs.iter().zip(types) {
            builder.scope.define_variable(&input.name, type_.clone());
            let sentence = StepSentence::Input {
                name: input.name.clone(),
            };
            builder.push_line(
                StepKeyword::Given,
                sentence,
                StepCode::default(),
                property.start,
            );
        }
        for parameter in &property.function.parameters {
            let is_input = property.inputs.iter().any(|one| one.name == parameter.name);
            if let Some(default) = parameter.default.as_ref().filter(|_| !is_input) {
                builder.scope.define_expression(&parameter.name, default);
            }
        }
        if let (Some(class), Some(first)) = (&property.class, property.function.parameters.first())
        {
            let owner = format!(
                "owner({}, {}.{class})",
                builder.scope.store, builder.scope.alias
            );
            builder.scope.define_code(&first.name, owner);
        }
        builder.read_statements(&property.function.body);
        builder.script
    }

    /// Reads statements. Returns true if the property ends with them.
    fn read_statements(&mut self, body: &[Statement]) -> bool {
        let gatherings: Vec<AccumulatingLoop<'_>> = find_accumulating_loops(body)
            .into_iter()
            .filter(|one| !self.is_changed_after(one.name, one.range.end))
            .collect();
        body.iter().any(|statement| {
            let start = statement.range.start;
            if let Some(gathering) = gatherings.iter().find(|one| one.range.start == start) {
                self.read_accumulating_loop(gathering);
                return false;
            }
            let is_filled_later = gatherings.iter().any(|one| one.start == start);
            !is_filled_later && self.read_statement(statement)
        })
    }

    /// Reads a loop that fills a local. The local is written out, or stored once if the loop calls
    /// the system.
    fn read_accumulating_loop(&mut self, gathering: &AccumulatingLoop<'_>) {
        let term = self.scope.term(&gathering.as_expression());
        let code = gathering.code(&mut self.scope);
        let name = gathering.name;
        if !term.any(&Term::is_unknown_call) && term.size() <= MAX_TERM_SIZE {
            self.scope.define_term(name, term, code);
            return;
        }
        let code = StepCode {
            body: vec![format!("{} = {code}", self.scope.store_entry(name))],
            ..StepCode::default()
        };
        let type_ = term.type_of();
        let sentence = StepSentence::Have {
            term,
            name: name.to_owned(),
        };
        self.push_line(StepKeyword::Given, sentence, code, gathering.range.start);
        self.scope.define_variable(name, type_);
    }

    /// Reads one statement. Returns true if the property ends with it.
    fn read_statement(&mut self, statement: &Statement) -> bool {
        let start = statement.range.start;
        match &statement.kind {
            StatementKind::Pass | StatementKind::Global(_) | StatementKind::Nonlocal(_) => {}
            StatementKind::Return(None) => return true,
            StatementKind::Return(Some(value)) => {
                if value.kind != ExpressionKind::None {
                    self.add_checks(value, start);
                }
                return true;
            }
            StatementKind::Assert { condition, .. } => self.add_checks(condition, start),
            StatementKind::Assign { targets, value } => match targets.as_slice() {
                [target] => self.read_assignment(target, value, statement),
                _ => self.add_source_statement(statement),
            },
            StatementKind::Annotated {
                target,
                value: Some(value),
                ..
            } => self.read_assignment(target, value, statement),
            StatementKind::Annotated { value: None, .. } => {}
            StatementKind::Augmented {
                target,
                operator,
                value,
            } => match target.as_name() {
                Some(name)
                    if !self.is_changed_after(name, statement.range.end)
                        && self.scope.term(target).size() < MAX_TERM_SIZE =>
                {
                    let sum = Expression {
                        range: statement.range.clone(),
                        kind: ExpressionKind::Binary {
                            left: Box::new(target.clone()),
                            operator: *operator,
                            right: Box::new(value.clone()),
                        },
                    };
                    let sign = self
                        .scope
                        .text
                        .get(target.range.end..value.range.start)
                        .unwrap_or_default();
                    let sign = sign.trim().trim_end_matches('=');
                    let code = format!(
                        "{} {sign} {}",
                        code::parenthesise_code(&self.scope.code(target)),
                        code::parenthesise_code(&self.scope.code(value))
                    );
                    let term = self.scope.term(&sum);
                    self.scope.define_term(name, term, code);
                }
                _ => self.add_source_statement(statement),
            },
            StatementKind::Expression(expression) => self.read_expression(expression, statement),
            StatementKind::With {
                items,
                body,
                is_async: false,
            } => match items.as_slice() {
                [(manager, name)] if calls::expected_errors(manager).is_some() => {
                    self.add_expected_failure(manager, name.as_ref(), body, statement);
                }
                _ => self.add_source_statement(statement),
            },
            StatementKind::For {
                target,
                iterable,
                body,
                otherwise,
                is_async: false,
            } if otherwise.is_empty() => match loops::loop_checks(target, iterable, body) {
                Some(_) => self.add_loop_checks(target, iterable, body, start),
                None => self.add_call_for_each(target, iterable, body, statement),
            },
            StatementKind::If {
                condition,
                body,
                otherwise,
            } => match self.decide(condition) {
                Some(holds) => {
                    self.add_condition(condition, holds, start);
                    return self.read_statements(if holds { body } else { otherwise });
                }
                None => self.add_source_statement(statement),
            },
            StatementKind::Import(_) | StatementKind::ImportFrom { .. } => {
                self.read_import(statement)
            }
            _ => self.add_source_statement(statement),
        }
        false
    }

    /// Reads an expression statement: an assumption, an assertion method or a call.
    fn read_expression(&mut self, expression: &Expression, statement: &Statement) {
        let start = statement.range.start;
        match &expression.kind {
            ExpressionKind::Text(_) | ExpressionKind::Ellipsis => {}
            ExpressionKind::Call {
                function,
                arguments,
                ..
            } => {
                let name = function
                    .dotted_parts()
                    .and_then(|words| words.last().copied());
                match (name, arguments.as_slice()) {
                    (Some("assume"), [condition]) => {
                        self.script.assumptions.push(self.scope.term(condition));
                        self.add_condition(condition, true, start);
                    }
                    // They report something to the user and change nothing.
                    (Some("note" | "event" | "target" | "print"), _) => {}
                    (Some("assertTrue"), [condition, ..]) if unittest::is_check(function) => {
                        self.add_checks(condition, start)
                    }
                    (Some(name), _) if unittest::is_check(function) => {
                        match unittest::checked_condition(name, expression) {
                            Some(check) => self.add_check_call(&check, expression, start),
                            None => self.add_source_statement(statement),
                        }
                    }
                    _ => self.add_call(expression, None, statement),
                }
            }
            ExpressionKind::Await(inner) => self.read_expression(inner, statement),
            _ => self.add_source_statement(statement),
        }
    }

    /// Reads an assignment to a name or to several.
    fn read_assignment(&mut self, target: &Expression, value: &Expression, statement: &Statement) {
        match (&target.kind, &value.kind) {
            (ExpressionKind::Name(name), _) => self.assign_local(name, value, statement),
            (ExpressionKind::Tuple(targets), ExpressionKind::Tuple(values))
                if targets.len() == values.len() =>
            {
                let names: Option<Vec<&str>> = targets.iter().map(Expression::as_name).collect();
                // In `a, b = b, a` the right side is evaluated before any assignment.
                let are_apart = names.as_ref().is_some_and(|names| {
                    let mut read = Vec::new();
                    values.iter().for_each(|value| {
                        code::collect_free_names(value, &mut Vec::new(), &mut read)
                    });
                    !names
                        .iter()
                        .any(|name| read.iter().any(|read| read == name))
                });
                match names.filter(|_| are_apart) {
                    Some(names) => {
                        for (name, value) in names.into_iter().zip(values) {
                            self.assign_local(name, value, statement);
                        }
                    }
                    None => self.add_source_statement(statement),
                }
            }
            (ExpressionKind::Tuple(targets), _) => {
                let names: Option<Vec<String>> = targets
                    .iter()
                    .map(|target| target.as_name().map(str::to_owned))
                    .collect();
                match names {
                    Some(names) if self.scope.term(value).is_unknown_call() => {
                        self.add_call(value, Some(names), statement)
                    }
                    Some(names) if self.can_be_unpacked(value) => {
                        self.unpack(&names, value, statement);
                    }
                    _ => self.add_source_statement(statement),
                }
            }
            _ => self.add_source_statement(statement),
        }
    }

    /// Returns true if the elements of a value can be named: it is a local, or a short sequence
    /// that is written out.
    fn can_be_unpacked(&self, value: &Expression) -> bool {
        let term = self.scope.term(value);
        let is_sequence = matches!(term.type_of(), Type::List(_) | Type::Tuple(_) | Type::Text);
        let is_short = term.size() <= MAX_TERM_SIZE && !term.any(&Term::is_unknown_call);
        value.as_name().is_some() || (is_sequence && is_short)
    }

    /// Reads `a, b = pair`: each name is an element of it.
    fn unpack(&mut self, names: &[String], value: &Expression, statement: &Statement) {
        let end = statement.range.end;
        if names.iter().any(|name| self.is_changed_after(name, end)) {
            return self.add_source_statement(statement);
        }
        let object = self.scope.term(value);
        let code = match value.as_name() {
            Some(_) => code::parenthesise_code(&self.scope.code(value)),
            // It may be an iterator without positions, such as `reversed(…)`.
            None => format!("list({})", self.scope.code(value)),
        };
        for (at, name) in names.iter().enumerate() {
            let element = Term::Item {
                object: Box::new(object.clone()),
                index: Box::new(PythonValue::integer(at as i64).into()),
            };
            let code = format!("{code}[{at}]");
            self.scope.define_term(name, element.fold_constants(), code);
        }
    }

    /// Returns true if writing out an expression would call the system several times.
    fn would_repeat_call(&self, name: &str, term: &Term, end: usize) -> bool {
        let last = self.property.function.body.last();
        let rest = last.and_then(|last| self.scope.text.get(end..last.range.end));
        let rest = rest.unwrap_or_default();
        let tokens = testwright_source::tokenize(rest);
        let uses = tokens.iter().filter(|token| {
            token.kind == testwright_source::TokenKind::Name
                && rest.get(token.range.clone()) == Some(name)
        });
        uses.count() > 1 && term.any(&Term::is_unknown_call)
    }

    /// Reads an assignment to a local: a constructor or an unknown call is a step, a value that
    /// changes later is stored, and anything else is written out.
    fn assign_local(&mut self, name: &str, value: &Expression, statement: &Statement) {
        let term = self.scope.term(value);
        let entry = self.scope.store_entry(name);
        if is_constructor(&term) {
            let code = StepCode {
                body: vec![format!("{entry} = {}", self.scope.code(value))],
                ..StepCode::default()
            };
            let name = name.to_owned();
            let type_ = term.type_of();
            let (keyword, sentence) = if self.has_acted {
                (
                    StepKeyword::When,
                    StepSentence::Make {
                        term,
                        name: name.clone(),
                    },
                )
            } else {
                (
                    StepKeyword::Given,
                    StepSentence::Have {
                        term,
                        name: name.clone(),
                    },
                )
            };
            self.push_line(keyword, sentence, code, statement.range.start);
            self.scope.define_variable(&name, type_);
        } else if term.is_unknown_call() {
            self.add_call(value, Some(vec![name.to_owned()]), statement);
        } else if self.is_changed_after(name, statement.range.end)
            || term.size() > MAX_TERM_SIZE
            || self.would_repeat_call(name, &term, statement.range.end)
        {
            let code = StepCode {
                body: vec![format!("{entry} = {}", self.scope.code(value))],
                ..StepCode::default()
            };
            let type_ = term.type_of();
            self.push_line(
                StepKeyword::Given,
                StepSentence::Have {
                    term,
                    name: name.to_owned(),
                },
                code,
                statement.range.start,
            );
            self.scope.define_variable(name, type_);
        } else {
            self.scope.define_expression(name, value);
        }
    }

    /// Reads a local import. Step files import the names again.
    fn read_import(&mut self, statement: &Statement) {
        let source = self
            .scope
            .text
            .get(statement.range.clone())
            .unwrap_or_default();
        let Ok(names) = testwright_source::names(source) else {
            return self.add_source_statement(statement);
        };
        for name in names.binds {
            let source = crate::gherkin::collapse_whitespace(source);
            self.scope.define_code(
                &name,
                format!(
                    "imported({}, {})",
                    python_string(&source),
                    python_string(&name)
                ),
            );
        }
    }

    /// Returns the truth value of a condition for the sample: as observed, or as its values imply.
    fn decide(&mut self, condition: &Expression) -> Option<bool> {
        let (line, column) = line_and_column(self.scope.text, condition.range.start);
        let index = self
            .decisions
            .iter()
            .position(|decision| (decision.line, decision.column) == (line, column));
        if let Some(index) = index {
            return Some(self.decisions.remove(index).holds);
        }
        let case = self.case?;
        let term = self
            .scope
            .term(condition)
            .map_parts(&mut |term| match term {
                Term::Reference(reference) if reference.role == NameRole::Variable => {
                    let argument = case
                        .arguments
                        .iter()
                        .find(|argument| argument.name == reference.name)?;
                    Some(Term::Value(argument.value.clone()))
                }
                _ => None,
            });
        term.as_value()?.truth()
    }

    /// Adds a statement that has no phrase, as quoted code (F7: a leak).
    fn add_source_statement(&mut self, statement: &Statement) {
        let source = self
            .scope
            .text
            .get(statement.range.clone())
            .unwrap_or_default();
        let indent = line_and_column(self.scope.text, statement.range.start).1;
        let lines = dedent(source, indent);
        let names = testwright_source::names(&lines.join("\n")).unwrap_or_default();
        let changed = match changed_names(statement) {
            Some(roots) => roots,
            // Everything that it reads may have changed afterwards.
            None => names.reads.clone(),
        };
        let end = statement.range.end;
        let earlier = changed
            .iter()
            .flat_map(|name| self.keep_earlier_of(name, end))
            .collect();
        let mut body = Vec::new();
        for name in &names.reads {
            if let Some(code) = super::code::NameReplacements::name(&self.scope, name) {
                body.push(format!("{name} = {code}"));
            }
        }
        body.extend(lines);
        for name in &names.binds {
            body.push(format!("if {} in locals():", python_string(name)));
            body.push(format!("    {} = {name}", self.scope.store_entry(name)));
            self.scope.define_variable(name, Type::Unknown);
        }
        let sentence = StepSentence::Statement(quotation::on_one_line(source));
        self.has_acted = true;
        self.push_line(
            StepKeyword::Then,
            sentence,
            StepCode {
                earlier,
                body,
                ..StepCode::default()
            },
            statement.range.start,
        );
    }

    /// Returns true if a local changes after `end` in a way that its expression would not show.
    fn is_changed_after(&self, name: &str, end: usize) -> bool {
        loops::is_changed_later(name, &self.property.function.body, end, 0)
    }

    /// Appends a line to the script.
    fn push_line(
        &mut self,
        keyword: StepKeyword,
        sentence: StepSentence,
        code: StepCode,
        start: usize,
    ) {
        let line = line_and_column(self.scope.text, start).0;
        self.script.lines.push(ScriptLine {
            keyword,
            sentence,
            code,
            line,
        });
    }
}

/// Removes the indentation of a statement from its lines. The first line begins with the statement
/// itself.
fn dedent(source: &str, indent: usize) -> Vec<String> {
    let lines = source.lines().enumerate().map(|(index, line)| {
        let blank = line.get(..indent).filter(|_| index > 0);
        if blank.is_some_and(|blank| blank.trim().is_empty()) {
            line[indent..].to_owned()
        } else {
            line.to_owned()
        }
    });
    lines.collect()
}

/// Returns the objects that a simple statement changes inside, or nothing if that is unclear.
fn changed_names(statement: &Statement) -> Option<Vec<String>> {
    let targets = match &statement.kind {
        StatementKind::Assign { targets, .. } | StatementKind::Delete(targets) => {
            targets.as_slice()
        }
        StatementKind::Augmented { target, .. } => std::slice::from_ref(target),
        _ => return None,
    };
    let root = |mut target: &Expression| {
        let is_whole = target.as_name().is_some();
        while let ExpressionKind::Subscript { object, .. }
        | ExpressionKind::Attribute { object, .. } = &target.kind
        {
            target = object;
        }
        target.as_name().filter(|_| !is_whole).map(str::to_owned)
    };
    Some(targets.iter().filter_map(root).collect())
}

/// Returns true if a term makes a new object (P36).
fn is_constructor(term: &Term) -> bool {
    matches!(term, Term::Call(_))
        && matches!(term.type_of(), Type::Object(_))
        && !term.is_unknown_call()
}

/// Returns the line of a position, counted from 1, and its column in bytes, counted from 0.
pub(super) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.len() - before.rfind('\n').map_or(0, |position| position + 1);
    (line, column)
}
