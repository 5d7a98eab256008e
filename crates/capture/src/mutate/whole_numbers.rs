//! Which names of a function stand for whole numbers, as far as its text says so.
//!
//! `a[i]` one off is a good mutant if `i` counts something. If it is the key of a dictionary, it is an error wherever it is
//! reached, which tells nothing.

use std::collections::BTreeSet;

use testwright_source::tree::{Expression, ExpressionKind, Statement, StatementKind};

/// The names that a body counts with, also in its blocks, but not in functions inside.
pub(super) fn counted(body: &[Statement]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    collect(body, &mut names);
    names
}

fn collect(body: &[Statement], names: &mut BTreeSet<String>) {
    let mut add = |target: &Expression| names.extend(target.as_name().map(str::to_owned));
    for statement in body {
        match &statement.kind {
            StatementKind::Assign { targets, value } if is_whole(value) => {
                targets.iter().for_each(&mut add);
            }
            StatementKind::For {
                target, iterable, ..
            } => match called(iterable) {
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

fn is_whole(value: &Expression) -> bool {
    matches!(value.kind, ExpressionKind::Integer(_)) || called(value) == Some("len")
}

fn called(expression: &Expression) -> Option<&str> {
    match &expression.kind {
        ExpressionKind::Call { function, .. } => function.as_name(),
        _ => None,
    }
}

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
