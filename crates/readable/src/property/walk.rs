//! From the body of a property to the lines of a scenario (F7).

mod acts;
mod checks;

pub(crate) use acts::raised;

use testwright_source::tree::{Expression, ExpressionKind, Statement, StatementKind};

use super::code::{self, quoted};
use super::find::Property;
use super::gathering::{Gathering, gatherings};
use super::loops;
use super::scope::Here;
use super::script::{Code, Line, Saying, Script};
use super::unittest;
use crate::gherkin::Keyword;
use crate::quotation;
use crate::sample::{Case, Decision};
use crate::term::{Role, Term, Type};
use crate::value::Value;

/// Larger expressions get a name: nobody could read what they are part of.
const LONGEST: usize = 100;

/// Reads the body of a property.
pub(super) struct Walk<'a> {
    pub(super) here: Here<'a>,
    property: &'a Property,
    decisions: Vec<Decision>,
    case: Option<&'a Case>,
    hoists: bool,
    has_acted: bool,
    has_checked: bool,
    script: Script,
}

impl<'a> Walk<'a> {
    /// The lines of the property for a case. Without hoisting, calls stay where they are written (4.7).
    pub(super) fn script(
        here: Here<'a>,
        property: &'a Property,
        types: &[Type],
        case: Option<&'a Case>,
        hoists: bool,
    ) -> Script {
        let mut walk = Walk {
            here,
            property,
            decisions: case.map(|case| case.decisions.clone()).unwrap_or_default(),
            case,
            hoists,
            has_acted: false,
            has_checked: false,
            script: Script::default(),
        };
        for (input, type_) in property.inputs.iter().zip(types) {
            walk.here.variable(&input.name, type_.clone());
            let saying = Saying::Input {
                name: input.name.clone(),
            };
            walk.line(Keyword::Given, saying, Code::default(), property.start);
        }
        for parameter in &property.function.parameters {
            let is_input = property.inputs.iter().any(|one| one.name == parameter.name);
            if let Some(default) = parameter.default.as_ref().filter(|_| !is_input) {
                walk.here.write(&parameter.name, default);
            }
        }
        if let (Some(class), Some(first)) = (&property.class, property.function.parameters.first())
        {
            let owner = format!("owner({}, {}.{class})", walk.here.store, walk.here.alias);
            walk.here.hide(&first.name, owner);
        }
        walk.statements(&property.function.body);
        walk.script
    }

    /// Reads statements; whether the property ends with them.
    fn statements(&mut self, body: &[Statement]) -> bool {
        let gatherings: Vec<Gathering<'_>> = gatherings(body)
            .into_iter()
            .filter(|one| !self.is_changed_after(one.name, one.range.end))
            .collect();
        body.iter().any(|statement| {
            let start = statement.range.start;
            if let Some(gathering) = gatherings.iter().find(|one| one.range.start == start) {
                self.gather(gathering);
                return false;
            }
            let is_filled_later = gatherings.iter().any(|one| one.start == start);
            !is_filled_later && self.statement(statement)
        })
    }

    /// A local that a loop has filled stands for what is in it, or is given it once if the system has to be asked.
    fn gather(&mut self, gathering: &Gathering<'_>) {
        let term = self.here.term(&gathering.as_expression());
        let code = gathering.code(&mut self.here);
        let name = gathering.name;
        if !term.any(&Term::is_unknown_call) && term.size() <= LONGEST {
            self.here.write_term(name, term, code);
            return;
        }
        let code = Code {
            body: vec![format!("{} = {code}", self.here.place(name))],
            ..Code::default()
        };
        let type_ = term.type_of();
        let saying = Saying::Have {
            term,
            name: name.to_owned(),
        };
        self.line(Keyword::Given, saying, code, gathering.range.start);
        self.here.variable(name, type_);
    }

    fn statement(&mut self, statement: &Statement) -> bool {
        let start = statement.range.start;
        match &statement.kind {
            StatementKind::Pass | StatementKind::Global(_) | StatementKind::Nonlocal(_) => {}
            StatementKind::Return(None) => return true,
            StatementKind::Return(Some(value)) => {
                if value.kind != ExpressionKind::None {
                    self.checks(value, start);
                }
                return true;
            }
            StatementKind::Assert { condition, .. } => self.checks(condition, start),
            StatementKind::Assign { targets, value } => match targets.as_slice() {
                [target] => self.assign(target, value, statement),
                _ => self.leak(statement),
            },
            StatementKind::Annotated {
                target,
                value: Some(value),
                ..
            } => self.assign(target, value, statement),
            StatementKind::Annotated { value: None, .. } => {}
            StatementKind::Augmented {
                target,
                operator,
                value,
            } => match target.as_name() {
                Some(name)
                    if !self.is_changed_after(name, statement.range.end)
                        && self.here.term(target).size() < LONGEST =>
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
                        .here
                        .text
                        .get(target.range.end..value.range.start)
                        .unwrap_or_default();
                    let sign = sign.trim().trim_end_matches('=');
                    let code = format!(
                        "{} {sign} {}",
                        code::grouped(&self.here.code(target)),
                        code::grouped(&self.here.code(value))
                    );
                    let term = self.here.term(&sum);
                    self.here.write_term(name, term, code);
                }
                _ => self.leak(statement),
            },
            StatementKind::Expression(expression) => self.expression(expression, statement),
            StatementKind::With {
                items,
                body,
                is_async: false,
            } => match items.as_slice() {
                [(manager, name)] if acts::raised(manager).is_some() => {
                    self.raises(manager, name.as_ref(), body, statement);
                }
                _ => self.leak(statement),
            },
            StatementKind::For {
                target,
                iterable,
                body,
                otherwise,
                is_async: false,
            } if otherwise.is_empty() => match loops::checks(target, iterable, body) {
                Some(_) => self.check_each(target, iterable, body, start),
                None => self.call_each(target, iterable, body, statement),
            },
            StatementKind::If {
                condition,
                body,
                otherwise,
            } => match self.decide(condition) {
                Some(holds) => {
                    self.given(condition, holds, start);
                    return self.statements(if holds { body } else { otherwise });
                }
                None => self.leak(statement),
            },
            StatementKind::Import(_) | StatementKind::ImportFrom { .. } => self.import(statement),
            _ => self.leak(statement),
        }
        false
    }

    fn expression(&mut self, expression: &Expression, statement: &Statement) {
        let start = statement.range.start;
        match &expression.kind {
            ExpressionKind::Text(_) | ExpressionKind::Ellipsis => {}
            ExpressionKind::Call {
                function,
                arguments,
                ..
            } => {
                let name = function.dotted().and_then(|words| words.last().copied());
                match (name, arguments.as_slice()) {
                    (Some("assume"), [condition]) => {
                        self.script.assumptions.push(self.here.term(condition));
                        self.given(condition, true, start);
                    }
                    // They tell whoever runs the test something, and change nothing.
                    (Some("note" | "event" | "target" | "print"), _) => {}
                    (Some("assertTrue"), [condition, ..]) if unittest::is_check(function) => {
                        self.checks(condition, start)
                    }
                    (Some(name), _) if unittest::is_check(function) => {
                        match unittest::check(name, expression) {
                            Some(check) => self.check_by_call(&check, expression, start),
                            None => self.leak(statement),
                        }
                    }
                    _ => self.act(expression, None, statement),
                }
            }
            ExpressionKind::Await(inner) => self.expression(inner, statement),
            _ => self.leak(statement),
        }
    }

    fn assign(&mut self, target: &Expression, value: &Expression, statement: &Statement) {
        match (&target.kind, &value.kind) {
            (ExpressionKind::Name(name), _) => self.assign_name(name, value, statement),
            (ExpressionKind::Tuple(targets), ExpressionKind::Tuple(values))
                if targets.len() == values.len() =>
            {
                let names: Option<Vec<&str>> = targets.iter().map(Expression::as_name).collect();
                // `a, b = b, a` means all of the right side before any of the left.
                let are_apart = names.as_ref().is_some_and(|names| {
                    let mut read = Vec::new();
                    values
                        .iter()
                        .for_each(|value| code::free_names(value, &mut Vec::new(), &mut read));
                    !names
                        .iter()
                        .any(|name| read.iter().any(|read| read == name))
                });
                match names.filter(|_| are_apart) {
                    Some(names) => {
                        for (name, value) in names.into_iter().zip(values) {
                            self.assign_name(name, value, statement);
                        }
                    }
                    None => self.leak(statement),
                }
            }
            (ExpressionKind::Tuple(targets), _) => {
                let names: Option<Vec<String>> = targets
                    .iter()
                    .map(|target| target.as_name().map(str::to_owned))
                    .collect();
                match names {
                    Some(names) if self.here.term(value).is_unknown_call() => {
                        self.act(value, Some(names), statement)
                    }
                    Some(names) if self.can_be_parted(value) => {
                        self.unpack(&names, value, statement);
                    }
                    _ => self.leak(statement),
                }
            }
            _ => self.leak(statement),
        }
    }

    /// Whether the elements of something can be spoken of: it has a name already, or is a sequence that is just written out.
    fn can_be_parted(&self, value: &Expression) -> bool {
        let term = self.here.term(value);
        let is_sequence = matches!(term.type_of(), Type::List(_) | Type::Tuple(_) | Type::Text);
        let is_short = term.size() <= LONGEST && !term.any(&Term::is_unknown_call);
        value.as_name().is_some() || (is_sequence && is_short)
    }

    /// `a, b = pair`: each name is an element of it.
    fn unpack(&mut self, names: &[String], value: &Expression, statement: &Statement) {
        let end = statement.range.end;
        if names.iter().any(|name| self.is_changed_after(name, end)) {
            return self.leak(statement);
        }
        let object = self.here.term(value);
        let code = match value.as_name() {
            Some(_) => code::grouped(&self.here.code(value)),
            // It may be a row that has no places, such as `reversed(…)`.
            None => format!("list({})", self.here.code(value)),
        };
        for (at, name) in names.iter().enumerate() {
            let element = Term::Item {
                object: Box::new(object.clone()),
                index: Box::new(Value::integer(at as i64).into()),
            };
            let code = format!("{code}[{at}]");
            self.here.write_term(name, element.folded(), code);
        }
    }

    /// Whether an expression asks the system for something, and would have to ask again wherever it is written out.
    fn asks_again(&self, name: &str, term: &Term, end: usize) -> bool {
        let last = self.property.function.body.last();
        let rest = last.and_then(|last| self.here.text.get(end..last.range.end));
        let rest = rest.unwrap_or_default();
        let tokens = testwright_source::tokens(rest);
        let uses = tokens.iter().filter(|token| {
            token.kind == testwright_source::TokenKind::Name
                && rest.get(token.range.clone()) == Some(name)
        });
        uses.count() > 1 && term.any(&Term::is_unknown_call)
    }

    fn assign_name(&mut self, name: &str, value: &Expression, statement: &Statement) {
        let term = self.here.term(value);
        let place = self.here.place(name);
        if is_constructor(&term) {
            let code = Code {
                body: vec![format!("{place} = {}", self.here.code(value))],
                ..Code::default()
            };
            let name = name.to_owned();
            let type_ = term.type_of();
            let (keyword, saying) = if self.has_acted {
                (
                    Keyword::When,
                    Saying::Make {
                        term,
                        name: name.clone(),
                    },
                )
            } else {
                (
                    Keyword::Given,
                    Saying::Have {
                        term,
                        name: name.clone(),
                    },
                )
            };
            self.line(keyword, saying, code, statement.range.start);
            self.here.variable(&name, type_);
        } else if term.is_unknown_call() {
            self.act(value, Some(vec![name.to_owned()]), statement);
        } else if self.is_changed_after(name, statement.range.end)
            || term.size() > LONGEST
            || self.asks_again(name, &term, statement.range.end)
        {
            let code = Code {
                body: vec![format!("{place} = {}", self.here.code(value))],
                ..Code::default()
            };
            let type_ = term.type_of();
            self.line(
                Keyword::Given,
                Saying::Have {
                    term,
                    name: name.to_owned(),
                },
                code,
                statement.range.start,
            );
            self.here.variable(name, type_);
        } else {
            self.here.write(name, value);
        }
    }

    /// What a local import brings is found there again.
    fn import(&mut self, statement: &Statement) {
        let source = self
            .here
            .text
            .get(statement.range.clone())
            .unwrap_or_default();
        let Ok(names) = testwright_source::names(source) else {
            return self.leak(statement);
        };
        for name in names.binds {
            let source = crate::gherkin::one_line(source);
            self.here.hide(
                &name,
                format!("imported({}, {})", quoted(&source), quoted(&name)),
            );
        }
    }

    /// How the sample decides a condition: as was observed, or as its values tell.
    fn decide(&mut self, condition: &Expression) -> Option<bool> {
        let (line, column) = place_of(self.here.text, condition.range.start);
        let index = self
            .decisions
            .iter()
            .position(|decision| (decision.line, decision.column) == (line, column));
        if let Some(index) = index {
            return Some(self.decisions.remove(index).holds);
        }
        let case = self.case?;
        let term = self.here.term(condition).replaced(&mut |term| match term {
            Term::Reference(reference) if reference.role == Role::Variable => {
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

    /// A statement that only Python can say (F7, last line).
    fn leak(&mut self, statement: &Statement) {
        let source = self
            .here
            .text
            .get(statement.range.clone())
            .unwrap_or_default();
        let indent = place_of(self.here.text, statement.range.start).1;
        let lines = dedented(source, indent);
        let names = testwright_source::names(&lines.join("\n")).unwrap_or_default();
        let changed = match changed_by(statement) {
            Some(roots) => roots,
            // Whatever it looks at may be another thing afterwards.
            None => names.reads.clone(),
        };
        let end = statement.range.end;
        let earlier = changed
            .iter()
            .flat_map(|name| self.keep_earlier_of(name, end))
            .collect();
        let mut body = Vec::new();
        for name in &names.reads {
            if let Some(code) = super::code::Stored::name(&self.here, name) {
                body.push(format!("{name} = {code}"));
            }
        }
        body.extend(lines);
        for name in &names.binds {
            body.push(format!("if {} in locals():", quoted(name)));
            body.push(format!("    {} = {name}", self.here.place(name)));
            self.here.variable(name, Type::Unknown);
        }
        let saying = Saying::Statement(quotation::on_one_line(source));
        self.has_acted = true;
        self.line(
            Keyword::Then,
            saying,
            Code {
                earlier,
                body,
                ..Code::default()
            },
            statement.range.start,
        );
    }

    /// Whether something is done to a local later that its expression would not show.
    fn is_changed_after(&self, name: &str, end: usize) -> bool {
        loops::is_changed(name, &self.property.function.body, end, 0)
    }

    fn line(&mut self, keyword: Keyword, saying: Saying, code: Code, start: usize) {
        let line = place_of(self.here.text, start).0;
        self.script.lines.push(Line {
            keyword,
            saying,
            code,
            line,
        });
    }
}

/// The lines of a statement that stands so far to the right, moved to the left. The first begins with the statement.
fn dedented(source: &str, indent: usize) -> Vec<String> {
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

/// The names of what a simple statement changes inside; nothing if there is no telling.
fn changed_by(statement: &Statement) -> Option<Vec<String>> {
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

/// Whether a term makes a new object (P36).
fn is_constructor(term: &Term) -> bool {
    matches!(term, Term::Call(_))
        && matches!(term.type_of(), Type::Object(_))
        && !term.is_unknown_call()
}

/// Line from 1 and column in bytes from 0.
pub(super) fn place_of(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.len() - before.rfind('\n').map_or(0, |position| position + 1);
    (line, column)
}
