//! What one statement of a loop adds to a local: `t += e`, `r.append(e)`, `s.add(e)`, `d[k] = v`. Loops that do nothing
//! else are sums and comprehensions to a reader, in properties as in models.

use testwright_source::tree::{Expression, ExpressionKind, Operator, Statement, StatementKind};

/// What is added.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Added<'a> {
    /// `t += e`, `t = t + e`.
    Sum(&'a Expression),
    /// `r.append(e)`.
    Element(&'a Expression),
    /// `s.add(e)`.
    Member(&'a Expression),
    /// `d[k] = v`.
    Entry(&'a Expression, &'a Expression),
    /// `found = v`.
    Mark(&'a Expression),
}

/// The name that a statement adds to, and what.
pub(crate) fn addition(statement: &Statement) -> Option<(&str, Added<'_>)> {
    match &statement.kind {
        StatementKind::Augmented {
            target,
            operator: Operator::Add,
            value,
        } => Some((target.as_name()?, Added::Sum(value))),
        StatementKind::Assign { targets, value } => {
            let [target] = targets.as_slice() else {
                return None;
            };
            assigned(target, value)
        }
        StatementKind::Expression(expression) => called(expression),
        _ => None,
    }
}

fn assigned<'a>(target: &'a Expression, value: &'a Expression) -> Option<(&'a str, Added<'a>)> {
    match (&target.kind, &value.kind) {
        (
            ExpressionKind::Name(name),
            ExpressionKind::Binary {
                left,
                operator: Operator::Add,
                right,
            },
        ) if left.as_name() == Some(name) => Some((name, Added::Sum(right))),
        (ExpressionKind::Name(name), _) => Some((name, Added::Mark(value))),
        (ExpressionKind::Subscript { object, index }, _) => {
            Some((object.as_name()?, Added::Entry(index, value)))
        }
        _ => None,
    }
}

fn called(expression: &Expression) -> Option<(&str, Added<'_>)> {
    let ExpressionKind::Call {
        function,
        arguments,
        keywords,
    } = &expression.kind
    else {
        return None;
    };
    let ExpressionKind::Attribute { object, name } = &function.kind else {
        return None;
    };
    let ([element], []) = (arguments.as_slice(), keywords.as_slice()) else {
        return None;
    };
    let added = match name.as_str() {
        "append" => Added::Element(element),
        "add" => Added::Member(element),
        _ => return None,
    };
    Some((object.as_name()?, added))
}
