//! From the body of a property to the lines of a scenario (F7).

use testwright_source::tokens;
use testwright_source::tree::{
    Expression, ExpressionKind, Keyword as Named, Statement, StatementKind,
};

use super::code::{self, bind, quoted};
use super::find::Property;
use super::hoist;
use super::loops;
use super::scope::Here;
use super::script::{Code, Given, Line, Saying, Script};
use super::unittest;
use crate::gherkin::Keyword;
use crate::phrase::Polarity;
use crate::sample::{Case, Decision};
use crate::term::{Callee, Reference, Role, Term, Type};

/// At most so many calls of a check are made steps of their own (F8).
const MOST_HOISTED: usize = 6;

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
        body.iter().any(|statement| self.statement(statement))
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
                Some(name) if !self.is_changed_after(name, statement.range.end) => {
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
                [(manager, None)] if raised(manager).is_some() => {
                    self.raises(manager, body, statement)
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
                    _ => self.leak(statement),
                }
            }
            _ => self.leak(statement),
        }
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
            let (keyword, saying) = match self.has_acted {
                false => (
                    Keyword::Given,
                    Saying::Have {
                        term,
                        name: name.clone(),
                    },
                ),
                true => (
                    Keyword::When,
                    Saying::Make {
                        term,
                        name: name.clone(),
                    },
                ),
            };
            self.line(keyword, saying, code, statement.range.start);
            self.here.variable(&name, type_);
        } else if term.is_unknown_call() {
            self.act(value, Some(vec![name.to_owned()]), statement);
        } else if self.is_changed_after(name, statement.range.end) {
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

    /// A call for what it does, or for its answer.
    fn act(&mut self, expression: &Expression, giving: Option<Vec<String>>, statement: &Statement) {
        let Term::Call(call) = self.here.term(expression) else {
            return self.leak(statement);
        };
        let code = self.here.code(expression);
        let places = giving.iter().flatten().map(|name| self.here.place(name));
        let places: Vec<String> = places.collect();
        let body = match places.is_empty() {
            true => code,
            false => format!("{} = {code}", places.join(", ")),
        };
        let earlier = self.keep_earlier(&call, giving.is_none(), statement.range.end);
        let code = Code {
            earlier,
            body: vec![body],
            ..Code::default()
        };
        for name in giving.iter().flatten() {
            self.here.variable(name, Type::Unknown);
        }
        let saying = Saying::Call {
            call,
            giving: giving.map(Given::Names),
            tries: false,
        };
        self.has_acted = true;
        self.line(Keyword::When, saying, code, statement.range.start);
    }

    /// What a call may change: the object that it is a method of and, if it is only called for what it does, whatever it
    /// is given.
    fn keep_earlier(
        &mut self,
        call: &crate::term::Call,
        is_for_effect: bool,
        end: usize,
    ) -> Vec<(String, String)> {
        let mut objects = Vec::new();
        if let Callee::Method { object, .. } = &call.callee {
            objects.extend(root(object));
        }
        if is_for_effect {
            objects.extend(call.arguments.iter().filter_map(root));
        }
        let text = self.here.text;
        let last = self
            .property
            .function
            .body
            .last()
            .map_or(end, |last| last.range.end);
        let mut kept = Vec::new();
        for object in objects {
            kept.extend(
                self.here
                    .keep_earlier(&object, |name| is_mentioned(name, text, end, last)),
            );
        }
        kept
    }

    fn raises(&mut self, manager: &Expression, body: &[Statement], statement: &Statement) {
        let Some((errors, keywords)) = raised(manager) else {
            return self.leak(statement);
        };
        let Some((last, before)) = body.split_last() else {
            return self.leak(statement);
        };
        let (expression, giving) = match &last.kind {
            StatementKind::Expression(expression) => (expression, None),
            StatementKind::Assign { targets, value } => match targets.as_slice() {
                [target] if target.as_name().is_some() => (value, target.as_name()),
                _ => return self.leak(statement),
            },
            _ => return self.leak(statement),
        };
        let Term::Call(call) = self.here.term(expression) else {
            return self.leak(statement);
        };
        let names: Option<Vec<String>> = errors
            .iter()
            .map(|error| {
                error
                    .dotted()
                    .and_then(|words| words.last().map(|word| (*word).to_owned()))
            })
            .collect();
        let Some(names) = names else {
            return self.leak(statement);
        };
        if self.statements(before) {
            return;
        }
        let store = self.here.store;
        let giving = giving
            .map(|name| format!(", {}", quoted(&(self.here.words)(name))))
            .unwrap_or_default();
        let body = format!(
            "attempt({store}, lambda: {}{giving})",
            self.here.code(expression)
        );
        let earlier = self.keep_earlier(&call, true, statement.range.end);
        let code = Code {
            earlier,
            body: vec![body],
            ..Code::default()
        };
        self.has_acted = true;
        self.line(
            Keyword::When,
            Saying::Call {
                call,
                giving: None,
                tries: true,
            },
            code,
            last.range.start,
        );
        let classes: Vec<String> = errors.iter().map(|error| self.here.code(error)).collect();
        let classes = match classes.as_slice() {
            [only] => only.clone(),
            several => format!("({})", several.join(", ")),
        };
        let pattern = keywords
            .iter()
            .find(|keyword| keyword.name.as_deref() == Some("match"));
        let pattern = pattern
            .map(|keyword| format!(", {}", self.here.code(&keyword.value)))
            .unwrap_or_default();
        let code = Code {
            body: vec![format!("fails({store}, {classes}{pattern})")],
            ..Code::default()
        };
        self.line(
            Keyword::Then,
            Saying::Fails { errors: names },
            code,
            statement.range.start,
        );
    }

    /// One check for each conjunct.
    fn checks(&mut self, condition: &Expression, start: usize) {
        for conjunct in conjuncts(condition) {
            if !self.has_checked {
                self.has_checked = true;
                self.hoist(conjunct, true, start);
            }
            let saying = Saying::Clause {
                term: self.here.term(conjunct),
                polarity: Polarity::Positive,
            };
            let code = self.check(conjunct, true);
            self.line(Keyword::Then, saying, code, start);
        }
    }

    /// A check that a method of the test class makes.
    fn check_by_call(&mut self, check: &Expression, call: &Expression, start: usize) {
        if !self.has_checked {
            self.has_checked = true;
            self.hoist(check, true, start);
        }
        let saying = Saying::Clause {
            term: self.here.term(check),
            polarity: Polarity::Positive,
        };
        let code = Code {
            body: vec![self.here.code(call)],
            seen: self.here.kept_names(check),
            ..Code::default()
        };
        self.line(Keyword::Then, saying, code, start);
    }

    fn check(&self, condition: &Expression, holds: bool) -> Code {
        let code = self.here.code(condition);
        Code {
            check: Some(match holds {
                true => code,
                false => format!("not {}", code::grouped(&code)),
            }),
            seen: self.here.kept_names(condition),
            ..Code::default()
        }
    }

    /// Makes steps of the calls that the first check needs in any case (F8).
    fn hoist(&mut self, check: &Expression, is_asked: bool, start: usize) {
        if !self.hoists {
            return;
        }
        let here = self.here.clone();
        let calls = hoist::unconditional(check, is_asked, &|name| here.definition(name));
        let mut terms = Vec::new();
        let mut wanted = Vec::new();
        for call in calls {
            let term = here.term(call);
            if term.is_unknown_call() && !terms.contains(&term) {
                terms.push(term);
                wanted.push(call);
            }
        }
        if wanted.len() > MOST_HOISTED {
            return;
        }
        let is_only = wanted.len() == 1;
        for (index, expression) in wanted.into_iter().enumerate() {
            let Term::Call(call) = self.here.term(expression) else {
                continue;
            };
            let (result, giving) = match is_only {
                true => ("the result".to_owned(), None),
                false => (
                    format!("result {}", index + 1),
                    Some(Given::Number(index + 1)),
                ),
            };
            let place = format!("{}[{}]", self.here.store, quoted(&result));
            let body = format!("{place} = {}", self.here.code(expression));
            let earlier = self.keep_earlier(&call, false, start);
            self.here.hear((*call).clone(), &result);
            let code = Code {
                earlier,
                body: vec![body],
                ..Code::default()
            };
            self.has_acted = true;
            self.line(
                Keyword::When,
                Saying::Call {
                    call,
                    giving,
                    tries: false,
                },
                code,
                start,
            );
        }
    }

    fn given(&mut self, condition: &Expression, holds: bool, start: usize) {
        let polarity = match holds {
            true => Polarity::Positive,
            false => Polarity::Negative,
        };
        let saying = Saying::Clause {
            term: self.here.term(condition),
            polarity,
        };
        let code = self.check(condition, holds);
        self.line(Keyword::Given, saying, code, start);
    }

    /// `for v in X: assert c`.
    fn check_each(
        &mut self,
        target: &Expression,
        iterable: &Expression,
        body: &[Statement],
        start: usize,
    ) {
        if !self.has_checked {
            self.has_checked = true;
            self.hoist(iterable, false, start);
        }
        for check in loops::checks(target, iterable, body).unwrap_or_default() {
            let saying = Saying::Clause {
                term: self.here.term(&check.as_quantifier()),
                polarity: Polarity::Positive,
            };
            let body = check.code(&mut self.here);
            let seen = self.here.kept_names(iterable);
            self.line(
                Keyword::Then,
                saying,
                Code {
                    body,
                    seen,
                    ..Code::default()
                },
                start,
            );
        }
    }

    /// `for v in X: call(v)`.
    fn call_each(
        &mut self,
        target: &Expression,
        iterable: &Expression,
        body: &[Statement],
        statement: &Statement,
    ) {
        let mut calls = Vec::new();
        for inner in body {
            match &inner.kind {
                StatementKind::Expression(call)
                    if matches!(call.kind, ExpressionKind::Call { .. }) =>
                {
                    calls.push(call)
                }
                StatementKind::Pass => {}
                _ => return self.leak(statement),
            }
        }
        let mut names = Vec::new();
        bind(target, &mut names);
        let iterable_term = self.here.term(iterable);
        let iterable_code = self.here.code(iterable);
        let target_code = self.here.source(target);
        let bound = loops::bound(target, &iterable_term);
        for call in calls {
            let (term, code) = self
                .here
                .binding(&bound, |here| (here.term(call), here.code(call)));
            let Term::Call(term) = term else {
                return self.leak(statement);
            };
            let earlier = self.keep_earlier(&term, true, statement.range.end);
            let inner = Box::new(Saying::Call {
                call: term,
                giving: None,
                tries: false,
            });
            let saying = Saying::Each {
                names: names.clone(),
                iterable: iterable_term.clone(),
                inner,
            };
            let body = vec![
                format!("for {target_code} in {iterable_code}:"),
                format!("    {code}"),
            ];
            self.has_acted = true;
            self.line(
                Keyword::When,
                saying,
                Code {
                    earlier,
                    body,
                    ..Code::default()
                },
                statement.range.start,
            );
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
        let names = testwright_source::names(source).unwrap_or_default();
        let mut body = Vec::new();
        for name in &names.reads {
            if let Some(code) = super::code::Stored::name(&self.here, name) {
                body.push(format!("{name} = {code}"));
            }
        }
        let indent = place_of(self.here.text, statement.range.start).1;
        body.extend(source.lines().enumerate().map(|(index, line)| {
            let is_indented = index > 0
                && line
                    .get(..indent)
                    .is_some_and(|blank| blank.trim().is_empty());
            line.get(if is_indented { indent } else { 0 }..)
                .unwrap_or(line)
                .to_owned()
        }));
        for name in &names.binds {
            body.push(format!("if {} in locals():", quoted(name)));
            body.push(format!("    {} = {name}", self.here.place(name)));
            self.here.variable(name, Type::Unknown);
        }
        let saying = Saying::Statement(crate::gherkin::one_line(source));
        self.has_acted = true;
        self.line(
            Keyword::Then,
            saying,
            Code {
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

/// The errors that a context manager expects, and how else it is asked.
fn raised(manager: &Expression) -> Option<(&[Expression], &[Named])> {
    let ExpressionKind::Call {
        function,
        arguments,
        keywords,
    } = &manager.kind
    else {
        return None;
    };
    let name = *function.dotted()?.last()?;
    match (name, arguments.as_slice()) {
        ("raises" | "assertRaises" | "assertRaisesRegex", [error, ..]) => match &error.kind {
            ExpressionKind::Tuple(errors) => Some((errors, keywords)),
            _ => Some((std::slice::from_ref(error), keywords)),
        },
        _ => None,
    }
}

/// `a and b and c`, one by one.
pub(super) fn conjuncts(condition: &Expression) -> Vec<&Expression> {
    match &condition.kind {
        ExpressionKind::And(operands) => operands.iter().flat_map(conjuncts).collect(),
        _ => vec![condition],
    }
}

/// Whether a term makes a new object (P36).
fn is_constructor(term: &Term) -> bool {
    matches!(term, Term::Call(_))
        && matches!(term.type_of(), Type::Object(_))
        && !term.is_unknown_call()
}

/// The variable that something belongs to: `account` for `account.owner.name`.
fn root(term: &Term) -> Option<String> {
    match term {
        Term::Reference(Reference {
            name,
            role: Role::Variable,
            ..
        }) => Some(name.clone()),
        Term::Attribute { object, .. } | Term::Item { object, .. } => root(object),
        _ => None,
    }
}

fn is_mentioned(name: &str, text: &str, start: usize, end: usize) -> bool {
    let rest = text.get(start..end).unwrap_or_default();
    tokens(rest)
        .iter()
        .any(|token| rest.get(token.range.clone()) == Some(name))
}

/// Line from 1 and column in bytes from 0.
pub(super) fn place_of(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.len() - before.rfind('\n').map_or(0, |position| position + 1);
    (line, column)
}
