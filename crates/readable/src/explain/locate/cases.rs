//! Rewrites `match`, and expressions that choose between calls, as `if` statements. A `match` is
//! rewritten if its patterns can be expressed by comparisons.

use testwright_source::Range;
use testwright_source::tree::{
    Comparison, Expression, ExpressionKind, Handler, MatchCase, Pattern, Statement, StatementKind,
    UnaryOperator,
};

/// Replaces each `match` of the statements by `if`, where possible.
pub(super) fn without_cases(body: &[Statement]) -> Vec<Statement> {
    let mut all = Vec::new();
    for one in body {
        let chain = match &one.kind {
            StatementKind::Match { subject, cases } => lines(subject, cases, &one.range),
            StatementKind::Expression(chosen) => chosen_calls(chosen).map(|one| vec![one]),
            _ => None,
        };
        match chain {
            Some(statements) => all.extend(statements),
            None => all.push(statement(one)),
        }
    }
    all
}

fn statement(statement: &Statement) -> Statement {
    let kind = match &statement.kind {
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
        StatementKind::Try {
            body,
            handlers,
            otherwise,
            finally,
        } => StatementKind::Try {
            body: without_cases(body),
            handlers: handlers
                .iter()
                .map(|handler| Handler {
                    body: without_cases(&handler.body),
                    ..handler.clone()
                })
                .collect(),
            otherwise: without_cases(otherwise),
            finally: without_cases(finally),
        },
        other => other.clone(),
    };
    Statement {
        range: statement.range.clone(),
        kind,
    }
}

/// Rewrites `a() if c else b()`, `c and a()` and `c or a()` as an `if` statement.
fn chosen_calls(chosen: &Expression) -> Option<Statement> {
    let range = &chosen.range;
    let alone = |one: &Expression| {
        let statement = Statement {
            range: one.range.clone(),
            kind: StatementKind::Expression(one.clone()),
        };
        chosen_calls(one).unwrap_or(statement)
    };
    let all_but_last = |operands: &[Expression], joined: fn(Vec<Expression>) -> ExpressionKind| {
        let (last, first) = operands.split_last()?;
        let condition = match first {
            [only] => only.clone(),
            _ => expression(joined(first.to_vec()), range),
        };
        Some((condition, alone(last)))
    };
    let (condition, body, otherwise) = match &chosen.kind {
        ExpressionKind::Conditional {
            condition,
            then,
            otherwise,
        } => (
            (**condition).clone(),
            vec![alone(then)],
            vec![alone(otherwise)],
        ),
        ExpressionKind::And(operands) => {
            let (condition, done) = all_but_last(operands, ExpressionKind::And)?;
            (condition, vec![done], vec![])
        }
        ExpressionKind::Or(operands) => {
            let (condition, done) = all_but_last(operands, ExpressionKind::Or)?;
            let kind = ExpressionKind::Unary {
                operator: UnaryOperator::Not,
                operand: Box::new(condition),
            };
            (expression(kind, range), vec![done], vec![])
        }
        _ => return None,
    };
    Some(Statement {
        range: range.clone(),
        kind: StatementKind::If {
            condition,
            body,
            otherwise,
        },
    })
}

/// Rewrites a `match`. A call as its subject gets a name, since it is made once.
fn lines(subject: &Expression, cases: &[MatchCase], range: &Range) -> Option<Vec<Statement>> {
    if !matches!(subject.kind, ExpressionKind::Call { .. }) {
        return chain(subject, cases, range);
    }
    let name = "answer";
    let mut lines = vec![given(name, subject, range)];
    let answer = expression(ExpressionKind::Name(name.to_owned()), &subject.range);
    lines.extend(chain(&answer, cases, range)?);
    Some(lines)
}

/// Rewrites the first case as an `if`, and the others as its `else`. Names that a guard refers to
/// are assigned before the guard.
fn chain(subject: &Expression, cases: &[MatchCase], range: &Range) -> Option<Vec<Statement>> {
    let (first, rest) = cases.split_first()?;
    let otherwise = if rest.is_empty() {
        vec![]
    } else {
        chain(subject, rest, range)?
    };
    let mut question = Question::default();
    question.ask(subject, &first.pattern)?;
    let Question {
        mut conditions,
        names,
    } = question;
    let given = |(name, value): &(String, Expression)| given(name, value, range);
    let names: Vec<Statement> = names.iter().map(given).collect();
    let (before, mut body) = match &first.guard {
        Some(guard) => {
            conditions.push(guard.clone());
            (names, vec![])
        }
        None => (vec![], names),
    };
    body.extend(without_cases(&first.body));
    let condition = match conditions.as_slice() {
        [] => expression(ExpressionKind::Boolean(true), range),
        [only] => only.clone(),
        _ => expression(ExpressionKind::And(conditions), range),
    };
    let mut statements = before;
    statements.push(Statement {
        range: range.clone(),
        kind: StatementKind::If {
            condition,
            body,
            otherwise,
        },
    });
    Some(statements)
}

fn given(name: &str, value: &Expression, range: &Range) -> Statement {
    let target = expression(ExpressionKind::Name(name.to_owned()), range);
    Statement {
        range: range.clone(),
        kind: StatementKind::Assign {
            targets: vec![target],
            value: value.clone(),
        },
    }
}

/// Comparisons for a pattern, and the names that it binds.
#[derive(Default)]
struct Question {
    conditions: Vec<Expression>,
    names: Vec<(String, Expression)>,
}

impl Question {
    /// Adds the comparisons for a pattern. Returns `None` if they cannot be expressed: the
    /// positional attributes of an object are not known.
    fn ask(&mut self, subject: &Expression, pattern: &Pattern) -> Option<()> {
        match pattern {
            Pattern::Value(value) => {
                let comparison = match value.kind {
                    ExpressionKind::None | ExpressionKind::Boolean(_) => Comparison::Is,
                    _ => Comparison::Equal,
                };
                self.conditions
                    .push(compared(subject, comparison, value.clone()));
            }
            Pattern::Or(all) => self.any(subject, all)?,
            Pattern::As { pattern, name } => {
                if let Some(pattern) = pattern {
                    self.ask(subject, pattern)?;
                }
                if let Some(name) = name {
                    self.names.push((name.clone(), subject.clone()));
                }
            }
            Pattern::Sequence(parts) => self.parts(subject, parts)?,
            Pattern::Mapping {
                entries,
                rest: None,
            } => {
                for (key, pattern) in entries {
                    let range = &key.range;
                    let entry = subscript(subject, key.clone(), range);
                    let is_there = compared(key, Comparison::In, subject.clone());
                    self.conditions.push(is_there);
                    self.ask(&entry, pattern)?;
                }
            }
            Pattern::Class {
                class,
                positions,
                keywords,
            } => {
                let range = &class.range;
                let arguments = vec![subject.clone(), class.clone()];
                self.conditions.push(called("isinstance", arguments, range));
                match positions.as_slice() {
                    [] => {}
                    // `int(n)` matches the number itself.
                    [only] if class.as_name().is_some_and(is_its_own_position) => {
                        self.ask(subject, only)?;
                    }
                    _ => return None,
                }
                for (name, pattern) in keywords {
                    let kind = ExpressionKind::Attribute {
                        object: Box::new(subject.clone()),
                        name: name.clone(),
                    };
                    self.ask(&expression(kind, range), pattern)?;
                }
            }
            Pattern::Mapping { rest: Some(_), .. } | Pattern::Star(_) => return None,
        }
        Some(())
    }

    /// Adds `a | b`. Values become one comparison, other alternatives are joined by `or` and bind
    /// no names.
    fn any(&mut self, subject: &Expression, all: &[Pattern]) -> Option<()> {
        let values: Option<Vec<Expression>> = all
            .iter()
            .map(|one| match one {
                Pattern::Value(value) => Some(value.clone()),
                _ => None,
            })
            .collect();
        if let Some(values) = values {
            let range = values.first()?.range.clone();
            let display = expression(ExpressionKind::Tuple(values), &range);
            self.conditions
                .push(compared(subject, Comparison::In, display));
            return Some(());
        }
        let mut alternatives = Vec::new();
        for pattern in all {
            let mut question = Question::default();
            question.ask(subject, pattern)?;
            if !question.names.is_empty() {
                return None;
            }
            match question.conditions.as_slice() {
                // A wildcard always matches.
                [] => return Some(()),
                [only] => alternatives.push(only.clone()),
                [first, ..] => {
                    let range = first.range.clone();
                    let kind = ExpressionKind::And(question.conditions);
                    alternatives.push(expression(kind, &range));
                }
            }
        }
        let range = alternatives.first()?.range.clone();
        self.conditions
            .push(expression(ExpressionKind::Or(alternatives), &range));
        Some(())
    }

    /// Adds `[a, b, *rest]`: a comparison of the length, and the comparisons for each part.
    fn parts(&mut self, subject: &Expression, parts: &[Pattern]) -> Option<()> {
        let range = &subject.range;
        let star = parts.iter().position(|one| matches!(one, Pattern::Star(_)));
        if let (ExpressionKind::Tuple(subjects) | ExpressionKind::List(subjects), None) =
            (&subject.kind, star)
        {
            // `match a, b:` has one comparison for each.
            if subjects.len() != parts.len() {
                return None;
            }
            for (subject, part) in subjects.iter().zip(parts) {
                self.ask(subject, part)?;
            }
            return Some(());
        }
        let (comparison, needed) = match star {
            None => (Comparison::Equal, parts.len()),
            Some(_) => (Comparison::GreaterOrEqual, parts.len() - 1),
        };
        if star.is_none() || needed > 0 {
            let length = called("len", vec![subject.clone()], range);
            self.conditions
                .push(compared(&length, comparison, number(needed, range)));
        }
        for (at, part) in parts.iter().enumerate() {
            let behind = parts.len() - at;
            match part {
                Pattern::Star(None) => {}
                Pattern::Star(Some(name)) => {
                    let kind = ExpressionKind::Slice {
                        start: (at > 0).then(|| Box::new(number(at, range))),
                        stop: (behind > 1).then(|| Box::new(from_end(behind - 1, range))),
                        step: None,
                    };
                    let rest = subscript(subject, expression(kind, range), range);
                    self.names.push((name.clone(), rest));
                }
                part => {
                    let index = if star.is_some_and(|star| at > star) {
                        from_end(behind, range)
                    } else {
                        number(at, range)
                    };
                    self.ask(&subscript(subject, index, range), part)?;
                }
            }
        }
        Some(())
    }
}

/// Returns true for Python's own classes whose only position is the value itself.
fn is_its_own_position(class: &str) -> bool {
    matches!(
        class,
        "bool"
            | "bytearray"
            | "bytes"
            | "dict"
            | "float"
            | "frozenset"
            | "int"
            | "list"
            | "set"
            | "str"
            | "tuple"
    )
}

fn compared(first: &Expression, comparison: Comparison, second: Expression) -> Expression {
    let range = second.range.clone();
    let kind = ExpressionKind::Compare {
        first: Box::new(first.clone()),
        rest: vec![(comparison, second)],
    };
    expression(kind, &range)
}

fn called(function: &str, arguments: Vec<Expression>, range: &Range) -> Expression {
    let function = expression(ExpressionKind::Name(function.to_owned()), range);
    let kind = ExpressionKind::Call {
        function: Box::new(function),
        arguments,
        keywords: vec![],
    };
    expression(kind, range)
}

fn subscript(object: &Expression, index: Expression, range: &Range) -> Expression {
    let kind = ExpressionKind::Subscript {
        object: Box::new(object.clone()),
        index: Box::new(index),
    };
    expression(kind, range)
}

fn number(value: usize, range: &Range) -> Expression {
    expression(ExpressionKind::Integer(value.to_string()), range)
}

fn from_end(back: usize, range: &Range) -> Expression {
    let kind = ExpressionKind::Unary {
        operator: UnaryOperator::Minus,
        operand: Box::new(number(back, range)),
    };
    expression(kind, range)
}

fn expression(kind: ExpressionKind, range: &Range) -> Expression {
    Expression {
        range: range.clone(),
        kind,
    }
}
