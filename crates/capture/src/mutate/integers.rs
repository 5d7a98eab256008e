//! Finds the variables of a function that hold integers, as far as its source shows.
//!
//! `a[i + 1]` is a good mutant if `i` is an integer. If it is the key of a dictionary, the mutant
//! fails wherever it is reached, which shows nothing.

use std::collections::BTreeSet;

use testwright_source::tree::{Expression, ExpressionKind, Statement, StatementKind};

/// Returns the integer variables of a body, including its blocks, but not functions inside of it.
pub(super) fn integer_variables(body: &[Statement]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    collect(body, &mut names);
    names
}

/// Collects the integer variables of a block and the blocks in it.
fn collect(body: &[Statement], names: &mut BTreeSet<String>) {
    let mut add = |target: &Expression| names.extend(target.as_name().map(str::to_owned));
    for statement in body {
        match &statement.kind {
            StatementKind::Assign { targets, value } if is_integer_value(value) => {
                targets.iter().for_each(&mut add);
            }
            StatementKind::For {
                target, iterable, ..
            } => match called_function(iterable) {
                Some("range") => add(target),
                Some("enumerate") => {
                    if let ExpressionKind::Tuple(parts) = &target.kind {
                        parts.iter().take(1).for_each(&mut add);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
    for statement in body {
        for block in blocks(statement) {
            collect(block, names);
        }
    }
}

/// Returns true if an expression is an integer: a literal, or a call of `len`.
fn is_integer_value(value: &Expression) -> bool {
    matches!(value.kind, ExpressionKind::Integer(_)) || called_function(value) == Some("len")
}

/// Returns the name of the called function.
fn called_function(expression: &Expression) -> Option<&str> {
    match &expression.kind {
        ExpressionKind::Call { function, .. } => function.as_name(),
        _ => None,
    }
}

/// Returns the blocks of a statement.
fn blocks(statement: &Statement) -> Vec<&[Statement]> {
    match &statement.kind {
        StatementKind::For {
            body, otherwise, ..
        }
        | StatementKind::While {
            body, otherwise, ..
        }
        | StatementKind::If {
            body, otherwise, ..
        } => vec![body, otherwise],
        StatementKind::With { body, .. } => vec![body],
        StatementKind::Match { cases, .. } => cases.iter().map(|case| &*case.body).collect(),
        StatementKind::Try {
            body,
            handlers,
            otherwise,
            finally,
        } => {
            let mut blocks: Vec<&[Statement]> = vec![body, otherwise, finally];
            blocks.extend(handlers.iter().map(|handler| &*handler.body));
            blocks
        }
        _ => Vec::new(),
    }
}
