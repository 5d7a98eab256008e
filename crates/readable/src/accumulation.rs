//! Statements of a loop that add to a local: `t += e`, `r.append(e)`, `s.add(e)`, `d[k] = v`.
//!
//! A loop that does nothing else reads like a sum or a comprehension, in properties as in models
//! (Y9: loops that only accumulate become expressions).

use testwright_source::tree::{Expression, ExpressionKind, Operator, Statement, StatementKind};

/// The value that one statement adds to a local.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Accumulation<'a> {
    /// `t += e`, `t = t + e`.
    Sum(&'a Expression),
    /// `r.append(e)`.
    Element(&'a Expression),
    /// `s.add(e)`.
    Member(&'a Expression),
    /// `d[k] = v`.
    Entry(&'a Expression, &'a Expression),
    /// `found = v`: a plain assignment, such as a flag that is set once.
    Assigned(&'a Expression),
}

/// Returns the local that a statement adds to, and the value that it adds.
pub(crate) fn parse_accumulation(statement: &Statement) -> Option<(&str, Accumulation<'_>)> {
    match &statement.kind {
        StatementKind::Augmented {
            target,
            operator: Operator::Add,
            value,
        } => Some((target.as_name()?, Accumulation::Sum(value))),
        StatementKind::Assign { targets, value } => {
            let [target] = targets.as_slice() else {
                return None;
            };
            accumulating_assignment(target, value)
        }
        StatementKind::Expression(expression) => accumulating_call(expression),
        _ => None,
    }
}

/// Reads `t = t + e`, `found = v` or `d[k] = v`.
fn accumulating_assignment<'a>(
    target: &'a Expression,
    value: &'a Expression,
) -> Option<(&'a str, Accumulation<'a>)> {
    match (&target.kind, &value.kind) {
        (
            ExpressionKind::Name(name),
            ExpressionKind::Binary {
                left,
                operator: Operator::Add,
                right,
            },
        ) if left.as_name() == Some(name) => Some((name, Accumulation::Sum(right))),
        (ExpressionKind::Name(name), _) => Some((name, Accumulation::Assigned(value))),
        (ExpressionKind::Subscript { object, index }, _) => {
            Some((object.as_name()?, Accumulation::Entry(index, value)))
        }
        _ => None,
    }
}

/// Reads `r.append(e)` or `s.add(e)`.
fn accumulating_call(expression: &Expression) -> Option<(&str, Accumulation<'_>)> {
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
        "append" => Accumulation::Element(element),
        "add" => Accumulation::Member(element),
        _ => return None,
    };
    Some((object.as_name()?, added))
}
