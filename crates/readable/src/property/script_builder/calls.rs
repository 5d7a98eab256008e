//! Calls of a property: plain ones, ones that are expected to fail, and ones for every element.

use testwright_source::tokenize;
use testwright_source::tree::{
    Expression, ExpressionKind, Keyword as Named, Statement, StatementKind,
};

use super::ScriptBuilder;
use crate::gherkin::StepKeyword;
use crate::property::code::{bound_names, python_string};
use crate::property::loops;
use crate::property::script::{ResultName, StepCode, StepSentence};
use crate::term::{CallTarget, CallTerm, NameReference, NameRole, Term, Type};

/// The purpose of a call, which decides what it may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallPurpose {
    /// The call is made for its effect: it may change its object and its arguments.
    Effect,
    /// The call is made for its result: it may change its object.
    Answer,
    /// The call is part of a check: its object may change, but results within the same check stay
    /// valid.
    Question,
}

impl ScriptBuilder<'_> {
    /// Adds a call as a `When` step.
    pub(super) fn add_call(
        &mut self,
        expression: &Expression,
        giving: Option<Vec<String>>,
        statement: &Statement,
    ) {
        let Term::Call(call) = self.scope.term(expression) else {
            return self.add_source_statement(statement);
        };
        let code = self.scope.code(expression);
        let entries = giving
            .iter()
            .flatten()
            .map(|name| self.scope.store_entry(name));
        let entries: Vec<String> = entries.collect();
        let body = if entries.is_empty() {
            code
        } else {
            format!("{} = {code}", entries.join(", "))
        };
        let purpose = match giving {
            None => CallPurpose::Effect,
            Some(_) => CallPurpose::Answer,
        };
        let earlier = self.keep_earlier(&call, purpose, statement.range.end);
        let code = StepCode {
            earlier,
            body: vec![body],
            ..StepCode::default()
        };
        for name in giving.iter().flatten() {
            self.scope.define_variable(name, Type::Unknown);
        }
        let sentence = StepSentence::Call {
            call,
            giving: giving.map(ResultName::Names),
            tries: false,
        };
        self.has_acted = true;
        self.push_line(StepKeyword::When, sentence, code, statement.range.start);
    }

    /// Keeps earlier values of the objects that a call may change: the object of the method and,
    /// for an effect, the arguments.
    pub(super) fn keep_earlier(
        &mut self,
        call: &CallTerm,
        purpose: CallPurpose,
        end: usize,
    ) -> Vec<(String, String)> {
        let mut objects = Vec::new();
        if let CallTarget::Method { object, .. } = &call.callee {
            objects.extend(root_variable(object));
        }
        if purpose == CallPurpose::Effect {
            objects.extend(call.arguments.iter().filter_map(root_variable));
        }
        let mut kept = Vec::new();
        for object in objects {
            if purpose != CallPurpose::Question {
                self.scope.forget_results(&object);
            }
            kept.extend(self.keep_earlier_of(&object, end));
        }
        kept
    }

    /// Keeps earlier values of locals that mention an object, if they are used after `end`.
    pub(super) fn keep_earlier_of(&mut self, object: &str, end: usize) -> Vec<(String, String)> {
        let text = self.scope.text;
        let last = self.property.function.body.last();
        let last = last.map_or(end, |last| last.range.end);
        let is_used = |name: &str| is_mentioned(name, text, end, last);
        self.scope.keep_earlier(object, is_used)
    }

    /// Adds a call that is expected to fail, and the check of its error (S4).
    pub(super) fn add_expected_failure(
        &mut self,
        manager: &Expression,
        name: Option<&Expression>,
        body: &[Statement],
        statement: &Statement,
    ) {
        let Some((errors, keywords)) = expected_errors(manager) else {
            return self.add_source_statement(statement);
        };
        let Some((last, before)) = body.split_last() else {
            return self.add_source_statement(statement);
        };
        let (expression, giving) = match &last.kind {
            StatementKind::Expression(expression) => (expression, None),
            StatementKind::Assign { targets, value } => match targets.as_slice() {
                [target] if target.as_name().is_some() => (value, target.as_name()),
                _ => return self.add_source_statement(statement),
            },
            _ => return self.add_source_statement(statement),
        };
        let Term::Call(call) = self.scope.term(expression) else {
            return self.add_source_statement(statement);
        };
        let names: Option<Vec<String>> = errors
            .iter()
            .map(|error| {
                error
                    .dotted_parts()
                    .and_then(|words| words.last().map(|word| (*word).to_owned()))
            })
            .collect();
        let Some(names) = names else {
            return self.add_source_statement(statement);
        };
        if self.read_statements(before) {
            return;
        }
        let store = self.scope.store;
        let giving = giving
            .map(|name| format!(", {}", python_string(&(self.scope.words)(name))))
            .unwrap_or_default();
        let body = format!(
            "attempt({store}, lambda: {}{giving})",
            self.scope.code(expression)
        );
        let earlier = self.keep_earlier(&call, CallPurpose::Effect, statement.range.end);
        let code = StepCode {
            earlier,
            body: vec![body],
            ..StepCode::default()
        };
        self.has_acted = true;
        self.push_line(
            StepKeyword::When,
            StepSentence::Call {
                call,
                giving: None,
                tries: true,
            },
            code,
            last.range.start,
        );
        let classes: Vec<String> = errors.iter().map(|error| self.scope.code(error)).collect();
        let classes = match classes.as_slice() {
            [only] => only.clone(),
            several => format!("({})", several.join(", ")),
        };
        let pattern = keywords
            .iter()
            .find(|keyword| keyword.name.as_deref() == Some("match"));
        let pattern = pattern
            .map(|keyword| format!(", {}", self.scope.code(&keyword.value)))
            .unwrap_or_default();
        if let Some(name) = name.and_then(Expression::as_name) {
            self.scope.define_code(name, format!("raised({store})"));
        }
        let code = StepCode {
            body: vec![format!("fails({store}, {classes}{pattern})")],
            ..StepCode::default()
        };
        self.push_line(
            StepKeyword::Then,
            StepSentence::Fails { errors: names },
            code,
            statement.range.start,
        );
    }

    /// Adds the calls of `for v in X: call(v)`.
    pub(super) fn add_call_for_each(
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
                _ => return self.add_source_statement(statement),
            }
        }
        let mut names = Vec::new();
        bound_names(target, &mut names);
        let iterable_term = self.scope.term(iterable);
        let iterable_code = self.scope.code(iterable);
        let target_code = self.scope.source(target);
        let bound = loops::loop_variables(target, &iterable_term);
        for call in calls {
            let (term, code) = self
                .scope
                .binding(&bound, |scope| (scope.term(call), scope.code(call)));
            let Term::Call(term) = term else {
                return self.add_source_statement(statement);
            };
            let earlier = self.keep_earlier(&term, CallPurpose::Effect, statement.range.end);
            let inner = Box::new(StepSentence::Call {
                call: term,
                giving: None,
                tries: false,
            });
            let sentence = StepSentence::Each {
                names: names.clone(),
                iterable: iterable_term.clone(),
                inner,
            };
            let body = vec![
                format!("for {target_code} in {iterable_code}:"),
                format!("    {code}"),
            ];
            self.has_acted = true;
            self.push_line(
                StepKeyword::When,
                sentence,
                StepCode {
                    earlier,
                    body,
                    ..StepCode::default()
                },
                statement.range.start,
            );
        }
    }
}

/// Returns the errors that a context manager such as `pytest.raises` expects, and its keyword
/// arguments.
pub(crate) fn expected_errors(manager: &Expression) -> Option<(&[Expression], &[Named])> {
    let ExpressionKind::Call {
        function,
        arguments,
        keywords,
    } = &manager.kind
    else {
        return None;
    };
    let name = *function.dotted_parts()?.last()?;
    match (name, arguments.as_slice()) {
        ("raises" | "assertRaises" | "assertRaisesRegex", [error, ..]) => match &error.kind {
            ExpressionKind::Tuple(errors) => Some((errors, keywords)),
            _ => Some((std::slice::from_ref(error), keywords)),
        },
        _ => None,
    }
}

/// Returns the variable that a term belongs to: `account` for `account.owner.name`.
fn root_variable(term: &Term) -> Option<String> {
    match term {
        Term::Reference(NameReference {
            name,
            role: NameRole::Variable,
            ..
        }) => Some(name.clone()),
        Term::Attribute { object, .. } | Term::Item { object, .. } => root_variable(object),
        _ => None,
    }
}

/// Returns true if a range of the source mentions a name.
fn is_mentioned(name: &str, text: &str, start: usize, end: usize) -> bool {
    let rest = text.get(start..end).unwrap_or_default();
    tokenize(rest)
        .iter()
        .any(|token| rest.get(token.range.clone()) == Some(name))
}
