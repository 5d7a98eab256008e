//! `match` as the `if`s that it stands for, where its cases only compare.

use testwright_source::Range;
use testwright_source::tree::{
    Case, Comparison, Expression, ExpressionKind, Pattern, Statement, StatementKind,
};

/// The same statements without a `match`, wherever that can be said with `if`.
pub(super) fn without_cases(body: &[Statement]) -> Vec<Statement> {
    body.iter().map(statement).collect()
}

fn statement(statement: &Statement) -> Statement {
    let kind = match &statement.kind {
        StatementKind::Match { subject, cases } => match chain(subject, cases, &statement.range) {
            Some(kind) => kind,
            None => statement.kind.clone(),
        },
        StatementKind::If {
            condition,
            body,
            otherwise,
        } => StatementKind::If {
            condition: condition.clone(),
            body: without_cases(body),
            otherwise: without_cases(otherwise),
        },
        StatementKind::For {
            is_async,
            target,
            iterable,
            body,
            otherwise,
        } => StatementKind::For {
            is_async: *is_async,
            target: target.clone(),
            iterable: iterable.clone(),
            body: without_cases(body),
            otherwise: without_cases(otherwise),
        },
        StatementKind::While {
            condition,
            body,
            otherwise,
        } => StatementKind::While {
            condition: condition.clone(),
            body: without_cases(body),
            otherwise: without_cases(otherwise),
        },
        StatementKind::With {
            is_async,
            items,
            body,
        } => StatementKind::With {
            is_async: *is_async,
            items: items.clone(),
            body: without_cases(body),
        },
        other => other.clone(),
    };
    Statement {
        range: statement.range.clone(),
        kind,
    }
}

/// The first case as an `if`, the others as its `else`.
fn chain(subject: &Expression, cases: &[Case], range: &Range) -> Option<StatementKind> {
    let (first, rest) = cases.split_first()?;
    let otherwise = match rest.is_empty() {
        true => vec![],
        false => vec![Statement {
            range: range.clone(),
            kind: chain(subject, rest, range)?,
        }],
    };
    let mut body = without_cases(&first.body);
    let asked = match &first.pattern {
        Pattern::As {
            pattern: None,
            name,
        } => {
            // A guard may speak of the name before it is given.
            if let Some(name) = name {
                first.guard.is_none().then_some(())?;
                body.insert(0, named(name, subject, range));
            }
            None
        }
        pattern => Some(question(subject, pattern)?),
    };
    let parts: Vec<Expression> = asked.into_iter().chain(first.guard.clone()).collect();
    let condition = match parts.as_slice() {
        [] => expression(ExpressionKind::Boolean(true), range),
        [only] => only.clone(),
        _ => expression(ExpressionKind::And(parts), range),
    };
    Some(StatementKind::If {
        condition,
        body,
        otherwise,
    })
}

fn named(name: &str, subject: &Expression, range: &Range) -> Statement {
    let target = expression(ExpressionKind::Name(name.to_owned()), range);
    Statement {
        range: range.clone(),
        kind: StatementKind::Assign {
            targets: vec![target],
            value: subject.clone(),
        },
    }
}

/// Whether the subject is what a pattern asks for, if that is a value or one of several.
fn question(subject: &Expression, pattern: &Pattern) -> Option<Expression> {
    let compared = |comparison, value: Expression| {
        let range = value.range.clone();
        let kind = ExpressionKind::Compare {
            first: Box::new(subject.clone()),
            rest: vec![(comparison, value)],
        };
        expression(kind, &range)
    };
    match pattern {
        Pattern::Value(value) => Some(compared(Comparison::Equal, value.clone())),
        Pattern::Or(all) => {
            let values: Option<Vec<Expression>> = all
                .iter()
                .map(|one| match one {
                    Pattern::Value(value) => Some(value.clone()),
                    _ => None,
                })
                .collect();
            let values = values?;
            let range = values.first()?.range.clone();
            let display = expression(ExpressionKind::Tuple(values), &range);
            Some(compared(Comparison::In, display))
        }
        _ => None,
    }
}

fn expression(kind: ExpressionKind, range: &Range) -> Expression {
    Expression {
        range: range.clone(),
        kind,
    }
}
