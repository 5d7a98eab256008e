//! What is done: calls, calls that are expected to fail, and calls for every element.

use testwright_source::tokens;
use testwright_source::tree::{
    Expression, ExpressionKind, Keyword as Named, Statement, StatementKind,
};

use super::Walk;
use crate::gherkin::Keyword;
use crate::property::code::{bind, quoted};
use crate::property::loops;
use crate::property::script::{Code, Given, Saying};
use crate::term::{Call, Callee, Reference, Role, Term, Type};

/// What a call is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// For what it does: it may change its object and whatever it is given.
    Effect,
    /// For its answer: it may change its object.
    Answer,
    /// For a check: its object may change, but what other parts of the check have heard stays true.
    Question,
}

impl Walk<'_> {
    /// A call for what it does, or for its answer.
    pub(super) fn act(
        &mut self,
        expression: &Expression,
        giving: Option<Vec<String>>,
        statement: &Statement,
    ) {
        let Term::Call(call) = self.here.term(expression) else {
            return self.leak(statement);
        };
        let code = self.here.code(expression);
        let places = giving.iter().flatten().map(|name| self.here.place(name));
        let places: Vec<String> = places.collect();
        let body = if places.is_empty() {
            code
        } else {
            format!("{} = {code}", places.join(", "))
        };
        let purpose = match giving {
            None => Purpose::Effect,
            Some(_) => Purpose::Answer,
        };
        let earlier = self.keep_earlier(&call, purpose, statement.range.end);
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
    pub(super) fn keep_earlier(
        &mut self,
        call: &Call,
        purpose: Purpose,
        end: usize,
    ) -> Vec<(String, String)> {
        let mut objects = Vec::new();
        if let Callee::Method { object, .. } = &call.callee {
            objects.extend(root(object));
        }
        if purpose == Purpose::Effect {
            objects.extend(call.arguments.iter().filter_map(root));
        }
        let mut kept = Vec::new();
        for object in objects {
            if purpose != Purpose::Question {
                self.here.forget(&object);
            }
            kept.extend(self.keep_earlier_of(&object, end));
        }
        kept
    }

    /// The locals that speak of an object to which something is about to be done, if they are used behind that.
    pub(super) fn keep_earlier_of(&mut self, object: &str, end: usize) -> Vec<(String, String)> {
        let text = self.here.text;
        let last = self.property.function.body.last();
        let last = last.map_or(end, |last| last.range.end);
        let is_used = |name: &str| is_mentioned(name, text, end, last);
        self.here.keep_earlier(object, is_used)
    }

    pub(super) fn raises(
        &mut self,
        manager: &Expression,
        name: Option<&Expression>,
        body: &[Statement],
        statement: &Statement,
    ) {
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
        let earlier = self.keep_earlier(&call, Purpose::Effect, statement.range.end);
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
        if let Some(name) = name.and_then(Expression::as_name) {
            self.here.hide(name, format!("raised({store})"));
        }
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

    /// `for v in X: call(v)`.
    pub(super) fn call_each(
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
            let earlier = self.keep_earlier(&term, Purpose::Effect, statement.range.end);
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
}

/// The errors that a context manager expects, and how else it is asked.
pub(crate) fn raised(manager: &Expression) -> Option<(&[Expression], &[Named])> {
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
