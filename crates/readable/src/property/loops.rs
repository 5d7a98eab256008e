//! Loops of a property that check or call, and later changes of its locals.

use testwright_source::tree::{
    ComprehensionClause, ComprehensionKind, Expression, ExpressionKind, Statement, StatementKind,
};

use super::code::bound_names;
use super::scope::PropertyScope;
use crate::term::{MUTATING_METHODS, Term, Type};

/// A check inside loops: `for v in X: [if d:] assert c`.
#[derive(Debug, Clone)]
pub(super) struct LoopCheck<'a> {
    /// The targets and iterables, outermost first.
    loops: Vec<(&'a Expression, &'a Expression)>,
    /// The condition around the check.
    condition: Option<&'a Expression>,
    /// The checked condition.
    check: &'a Expression,
}

/// Returns the checks of a loop that does nothing else.
pub(super) fn loop_checks<'a>(
    target: &'a Expression,
    iterable: &'a Expression,
    body: &'a [Statement],
) -> Option<Vec<LoopCheck<'a>>> {
    let mut checks = Vec::new();
    for statement in body {
        let inner = match &statement.kind {
            StatementKind::Assert { condition, .. } => vec![LoopCheck {
                loops: Vec::new(),
                condition: None,
                check: condition,
            }],
            StatementKind::If {
                condition,
                body,
                otherwise,
            } if otherwise.is_empty() => match body.as_slice() {
                [
                    Statement {
                        kind:
                            StatementKind::Assert {
                                condition: check, ..
                            },
                        ..
                    },
                ] => vec![LoopCheck {
                    loops: Vec::new(),
                    condition: Some(condition),
                    check,
                }],
                _ => return None,
            },
            StatementKind::For {
                target,
                iterable,
                body,
                otherwise,
                is_async: false,
            } if otherwise.is_empty() => self::loop_checks(target, iterable, body)?,
            StatementKind::Pass => Vec::new(),
            _ => return None,
        };
        checks.extend(inner.into_iter().map(|mut check| {
            check.loops.insert(0, (target, iterable));
            check
        }));
    }
    (!checks.is_empty()).then_some(checks)
}

impl LoopCheck<'_> {
    /// Returns the check as `all(c for v in X if d)`, which is how it reads (C25).
    pub(super) fn as_quantifier(&self) -> Expression {
        let mut element = self.check.clone();
        let mut condition = self.condition.cloned();
        for (target, iterable) in self.loops.iter().rev() {
            let clause = ComprehensionClause {
                is_async: false,
                target: (*target).clone(),
                iterable: (*iterable).clone(),
                conditions: condition.take().into_iter().collect(),
            };
            let range = element.range.clone();
            let generator = ExpressionKind::Comprehension {
                kind: ComprehensionKind::Generator,
                element: Box::new(element),
                clauses: vec![clause],
            };
            let all = ExpressionKind::Name("all".to_owned());
            element = Expression {
                range: range.clone(),
                kind: ExpressionKind::Call {
                    function: Box::new(Expression {
                        range: range.clone(),
                        kind: all,
                    }),
                    arguments: vec![Expression {
                        range,
                        kind: generator,
                    }],
                    keywords: Vec::new(),
                },
            };
        }
        element
    }

    /// Returns the loop as Python code.
    pub(super) fn code(&self, scope: &mut PropertyScope<'_>) -> Vec<String> {
        let Some(((target, iterable), rest)) = self.loops.split_first() else {
            let check = scope.code(self.check);
            return match self.condition {
                Some(condition) => vec![
                    format!("if {}:", scope.code(condition)),
                    format!("    assert {check}"),
                ],
                None => vec![format!("assert {check}")],
            };
        };
        let mut lines = vec![format!(
            "for {} in {}:",
            scope.source(target),
            scope.code(iterable)
        )];
        let bound = loop_variables(target, &scope.term(iterable));
        let inner = LoopCheck {
            loops: rest.to_vec(),
            ..self.clone()
        };
        let inside = scope.binding(&bound, |scope| inner.code(scope));
        lines.extend(inside.into_iter().map(|line| format!("    {line}")));
        lines
    }
}

/// Returns the names that a loop binds, with their types.
pub(super) fn loop_variables(target: &Expression, iterable: &Term) -> Vec<(String, Type)> {
    let mut names = Vec::new();
    bind_types(target, &iterable.type_of().element(), &mut names);
    names
}

/// Appends the names of a target, with their types.
fn bind_types(target: &Expression, type_: &Type, names: &mut Vec<(String, Type)>) {
    match &target.kind {
        ExpressionKind::Name(name) => names.push((name.clone(), type_.clone())),
        ExpressionKind::Tuple(parts) | ExpressionKind::List(parts) => {
            for (index, part) in parts.iter().enumerate() {
                bind_types(part, &type_.item(index), names);
            }
        }
        ExpressionKind::Starred(rest) => bind_types(rest, &Type::list(), names),
        _ => {}
    }
}

/// Returns true if a statement after `end` changes a local in a way that its expression would not
/// show.
pub(super) fn is_changed_later(name: &str, body: &[Statement], end: usize, depth: usize) -> bool {
    body.iter().any(|statement| {
        let is_later = statement.range.start >= end;
        match &statement.kind {
            StatementKind::Expression(expression) if is_later => may_change(name, expression),
            StatementKind::Assign { targets, value } if is_later => {
                let is_target = |target: &Expression| {
                    let mut names = Vec::new();
                    bound_names(target, &mut names);
                    is_part_of(name, target)
                        || (depth > 0 && names.iter().any(|other| other == name))
                };
                targets.iter().any(is_target) || calls_mutating_method(name, value)
            }
            StatementKind::Augmented { target, value, .. } if is_later => {
                is_part_of(name, target)
                    || (depth > 0 && target.as_name() == Some(name))
                    || calls_mutating_method(name, value)
            }
            StatementKind::Delete(targets) if is_later => {
                targets.iter().any(|target| is_part_of(name, target))
            }
            StatementKind::Assert { condition, .. } if is_later => {
                calls_mutating_method(name, condition)
            }
            StatementKind::For {
                body, otherwise, ..
            }
            | StatementKind::While {
                body, otherwise, ..
            } => {
                is_changed_later(name, body, end, depth + 1)
                    || is_changed_later(name, otherwise, end, depth + 1)
            }
            StatementKind::With { body, .. } => is_changed_later(name, body, end, depth),
            StatementKind::If {
                body, otherwise, ..
            } => {
                is_changed_later(name, body, end, depth)
                    || is_changed_later(name, otherwise, end, depth)
            }
            StatementKind::Try {
                body,
                handlers,
                otherwise,
                finally,
            } => {
                let handlers = handlers.iter().map(|handler| &handler.body);
                let mut blocks = [body, otherwise, finally].into_iter().chain(handlers);
                blocks.any(|block| is_changed_later(name, block, end, depth + 1))
            }
            _ => false,
        }
    })
}

/// Returns true if a call for its effect may change a local: as the object of the method, or as an
/// argument.
fn may_change(name: &str, expression: &Expression) -> bool {
    let ExpressionKind::Call {
        function,
        arguments,
        ..
    } = &expression.kind
    else {
        return false;
    };
    let is_method_of = match &function.kind {
        ExpressionKind::Attribute { object, .. } => object.as_name() == Some(name),
        _ => false,
    };
    let is_given = arguments
        .iter()
        .any(|argument| argument.as_name() == Some(name));
    let is_known = matches!(
        function.dotted_parts().as_deref(),
        Some([.., "assume" | "note" | "event" | "print"])
    );
    is_method_of || (is_given && !is_known && !super::unittest::is_check(function))
}

/// Returns true if an expression contains a call such as `x.pop()`.
fn calls_mutating_method(name: &str, expression: &Expression) -> bool {
    let is_such = match &expression.kind {
        ExpressionKind::Call { function, .. } => match &function.kind {
            ExpressionKind::Attribute {
                object,
                name: method,
            } => object.as_name() == Some(name) && MUTATING_METHODS.contains(&method.as_str()),
            _ => false,
        },
        _ => false,
    };
    is_such
        || super::code::child_expressions(expression)
            .into_iter()
            .any(|child| calls_mutating_method(name, child))
}

/// Returns true if a target is a part of a local, such as `x.a` or `x[i]`.
fn is_part_of(name: &str, target: &Expression) -> bool {
    match &target.kind {
        ExpressionKind::Attribute { object, .. } | ExpressionKind::Subscript { object, .. } => {
            object.as_name() == Some(name) || is_part_of(name, object)
        }
        ExpressionKind::Tuple(targets) => targets.iter().any(|target| is_part_of(name, target)),
        _ => false,
    }
}
