//! Loops of a property, and what happens to its locals later.

use testwright_source::tree::{
    Clause, ComprehensionKind, Expression, ExpressionKind, Statement, StatementKind,
};

use super::code::bind;
use super::scope::Here;
use crate::term::{CHANGING, Term, Type};

/// `for v in X: [if d:] assert c`, with one loop around the other.
#[derive(Debug, Clone)]
pub(super) struct CheckOfEach<'a> {
    loops: Vec<(&'a Expression, &'a Expression)>,
    condition: Option<&'a Expression>,
    check: &'a Expression,
}

/// The checks of a loop, if it has nothing else.
pub(super) fn checks<'a>(
    target: &'a Expression,
    iterable: &'a Expression,
    body: &'a [Statement],
) -> Option<Vec<CheckOfEach<'a>>> {
    let mut checks = Vec::new();
    for statement in body {
        let inner = match &statement.kind {
            StatementKind::Assert { condition, .. } => vec![CheckOfEach {
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
                ] => vec![CheckOfEach {
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
            } if otherwise.is_empty() => self::checks(target, iterable, body)?,
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

impl CheckOfEach<'_> {
    /// The same as `all(c for v in X if d)`, which is how it reads (C25).
    pub(super) fn as_quantifier(&self) -> Expression {
        let mut element = self.check.clone();
        let mut condition = self.condition.cloned();
        for (target, iterable) in self.loops.iter().rev() {
            let clause = Clause {
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

    /// The loop as it is.
    pub(super) fn code(&self, here: &mut Here<'_>) -> Vec<String> {
        let Some(((target, iterable), rest)) = self.loops.split_first() else {
            let check = here.code(self.check);
            return match self.condition {
                Some(condition) => vec![
                    format!("if {}:", here.code(condition)),
                    format!("    assert {check}"),
                ],
                None => vec![format!("assert {check}")],
            };
        };
        let mut lines = vec![format!(
            "for {} in {}:",
            here.source(target),
            here.code(iterable)
        )];
        let bound = bound(target, &here.term(iterable));
        let inner = CheckOfEach {
            loops: rest.to_vec(),
            ..self.clone()
        };
        let inside = here.binding(&bound, |here| inner.code(here));
        lines.extend(inside.into_iter().map(|line| format!("    {line}")));
        lines
    }
}

/// The names that a loop binds, with what is known of their types.
pub(super) fn bound(target: &Expression, iterable: &Term) -> Vec<(String, Type)> {
    let mut names = Vec::new();
    bind_types(target, &iterable.type_of().element(), &mut names);
    names
}

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

/// Whether statements after `end` do something to a local that an expression in its place would not show.
pub(super) fn is_changed(name: &str, body: &[Statement], end: usize, depth: usize) -> bool {
    body.iter().any(|statement| {
        let is_later = statement.range.start >= end;
        match &statement.kind {
            StatementKind::Expression(expression) if is_later => changes(name, expression),
            StatementKind::Assign { targets, value } if is_later => {
                let is_target = |target: &Expression| {
                    let mut names = Vec::new();
                    bind(target, &mut names);
                    is_part_of(name, target)
                        || (depth > 0 && names.iter().any(|other| other == name))
                };
                targets.iter().any(is_target) || pops(name, value)
            }
            StatementKind::Augmented { target, value, .. } if is_later => {
                is_part_of(name, target)
                    || (depth > 0 && target.as_name() == Some(name))
                    || pops(name, value)
            }
            StatementKind::Delete(targets) if is_later => {
                targets.iter().any(|target| is_part_of(name, target))
            }
            StatementKind::Assert { condition, .. } if is_later => pops(name, condition),
            StatementKind::For {
                body, otherwise, ..
            }
            | StatementKind::While {
                body, otherwise, ..
            } => {
                is_changed(name, body, end, depth + 1)
                    || is_changed(name, otherwise, end, depth + 1)
            }
            StatementKind::With { body, .. } => is_changed(name, body, end, depth),
            StatementKind::If {
                body, otherwise, ..
            } => is_changed(name, body, end, depth) || is_changed(name, otherwise, end, depth),
            StatementKind::Try {
                body,
                handlers,
                otherwise,
                finally,
            } => {
                let handlers = handlers.iter().map(|handler| &handler.body);
                let mut blocks = [body, otherwise, finally].into_iter().chain(handlers);
                blocks.any(|block| is_changed(name, block, end, depth + 1))
            }
            _ => false,
        }
    })
}

/// A call for its effect may change what it is a method of, and what it is given.
fn changes(name: &str, expression: &Expression) -> bool {
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
        function.dotted().as_deref(),
        Some([.., "assume" | "note" | "event" | "print"])
    );
    is_method_of || (is_given && !is_known && !super::unittest::is_check(function))
}

/// `x.pop()` somewhere in an expression.
fn pops(name: &str, expression: &Expression) -> bool {
    let is_such = match &expression.kind {
        ExpressionKind::Call { function, .. } => match &function.kind {
            ExpressionKind::Attribute {
                object,
                name: method,
            } => object.as_name() == Some(name) && CHANGING.contains(&method.as_str()),
            _ => false,
        },
        _ => false,
    };
    is_such
        || super::code::children(expression)
            .into_iter()
            .any(|child| pops(name, child))
}

/// `x.a` and `x[i]` are parts of `x`.
fn is_part_of(name: &str, target: &Expression) -> bool {
    match &target.kind {
        ExpressionKind::Attribute { object, .. } | ExpressionKind::Subscript { object, .. } => {
            object.as_name() == Some(name) || is_part_of(name, object)
        }
        ExpressionKind::Tuple(targets) => targets.iter().any(|target| is_part_of(name, target)),
        _ => false,
    }
}
