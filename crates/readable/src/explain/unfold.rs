//! Rewrites `and` and `or` with an effect in a part that is not always reached, as in
//! `while queue and queue.pop() != x:`. They become `if` statements, so that the effect is
//! described where it happens, on the path that reaches it (Y5).

use std::collections::BTreeSet;

use testwright_source::Range;
use testwright_source::tree::{
    Expression, ExpressionKind, Statement, StatementKind, UnaryOperator,
};

use super::locate::{Callable, Parts};
use super::run::{self, given_names, globals, read_by};
use crate::property::child_expressions;
use crate::term::MUTATING_METHODS;

/// Maximum number of statements that depend on an unfolded condition. Some of them are duplicated,
/// and nested ones would double each time.
const LARGEST: usize = 100;

impl Parts {
    /// Returns the model with each effect in a part of a statement that is always reached.
    pub(crate) fn unfolded(mut self) -> Parts {
        let unfolding = Unfolding::of(&self);
        for action in &mut self.actions {
            unfolding.body(&mut action.does.body);
        }
        for helper in self.helpers.values_mut() {
            unfolding.body(&mut helper.body);
        }
        self
    }
}

/// Knowledge about the helpers of a model while its statements are unfolded.
struct Unfolding {
    /// Helpers that change something beyond their own locals, by the name by which they are called.
    acting: BTreeSet<String>,
}

impl Unfolding {
    fn of(parts: &Parts) -> Unfolding {
        let mut unfolding = Unfolding {
            acting: BTreeSet::new(),
        };
        // A helper also acts if it calls one that does.
        loop {
            let more: Vec<String> = (parts.helpers.iter())
                .filter(|(name, helper)| {
                    !unfolding.acting.contains(*name) && unfolding.changes(helper)
                })
                .map(|(name, _)| name.clone())
                .collect();
            if more.is_empty() {
                return unfolding;
            }
            unfolding.acting.extend(more);
        }
    }

    /// Returns true if a helper changes something that is not its own.
    fn changes(&self, helper: &Callable) -> bool {
        let shared = globals(&helper.body);
        let mut own = Vec::new();
        given_names(&helper.body, &mut own);
        own.retain(|name| !shared.contains(name));
        self.any_changes(&helper.body, &|place| {
            root(place).is_some_and(|name| own.iter().any(|one| one == name))
        })
    }

    fn any_changes(&self, body: &[Statement], is_own: &dyn Fn(&Expression) -> bool) -> bool {
        body.iter().any(|statement| {
            targets(statement).into_iter().any(|place| !is_own(place))
                || (read_by(statement).into_iter()).any(|one| self.acts_on(one, is_own))
                || run::bodies(statement)
                    .into_iter()
                    .any(|inner| self.any_changes(inner, is_own))
        })
    }

    /// Returns true if an expression calls something that changes more than the places that
    /// `is_own` accepts.
    fn acts_on(&self, expression: &Expression, is_own: &dyn Fn(&Expression) -> bool) -> bool {
        let acts = match &expression.kind {
            // A lambda acts only when it is called.
            ExpressionKind::Lambda { .. } => return false,
            ExpressionKind::Call { function, .. } => match &function.kind {
                ExpressionKind::Attribute { object, name } => {
                    MUTATING_METHODS.contains(&name.as_str()) && !is_own(object)
                        || object.as_name() == Some("self")
                            && self.acting.contains(&format!("self.{name}"))
                }
                ExpressionKind::Name(name) => self.acting.contains(name),
                _ => false,
            },
            _ => false,
        };
        acts || child_expressions(expression)
            .into_iter()
            .any(|child| self.acts_on(child, is_own))
    }

    fn acts(&self, expression: &Expression) -> bool {
        self.acts_on(expression, &|_| false)
    }

    /// Splits `and` or `or` before the first operand whose effect depends on the operands before
    /// it.
    fn parted(&self, expression: &Expression) -> Option<Parted> {
        let (ExpressionKind::And(operands) | ExpressionKind::Or(operands)) = &expression.kind
        else {
            return None;
        };
        let (first, later) = operands.split_first()?;
        let before = if self.acts_later(first) {
            0
        } else {
            later.iter().position(|one| self.acts(one))?
        };
        let (first, rest) = operands.split_at(before + 1);
        let is_and = matches!(expression.kind, ExpressionKind::And(_));
        let joined = |operands: &[Expression]| match operands {
            [only] => only.clone(),
            several => Expression {
                range: expression.range.clone(),
                kind: if is_and {
                    ExpressionKind::And(several.to_vec())
                } else {
                    ExpressionKind::Or(several.to_vec())
                },
            },
        };
        Some(Parted {
            first: joined(first),
            is_and,
            rest: joined(rest),
        })
    }

    fn acts_later(&self, expression: &Expression) -> bool {
        let inner = negated(expression);
        self.parted(expression).is_some() || inner.is_some_and(|inner| self.acts_later(inner))
    }

    fn body(&self, body: &mut Vec<Statement>) {
        for Statement { range, mut kind } in std::mem::take(body) {
            for inner in bodies(&mut kind) {
                self.body(inner);
            }
            let kinds = self.statement(kind, &range);
            body.extend(kinds.into_iter().map(|kind| at(&range, kind)));
        }
    }

    /// Rewrites a statement.
    fn statement(&self, kind: StatementKind, range: &Range) -> Vec<StatementKind> {
        let kind = match kind {
            StatementKind::If {
                condition,
                body,
                otherwise,
            } => self.choice(condition, body, otherwise, range),
            StatementKind::While {
                condition,
                body,
                otherwise,
            } if otherwise.is_empty() && self.acts(&condition) => {
                self.repetition(condition, body, range)
            }
            StatementKind::Expression(value) => match self.parted(&value) {
                Some(Parted {
                    first,
                    is_and,
                    rest,
                }) => {
                    let rest = vec![at(range, StatementKind::Expression(rest))];
                    let (body, otherwise) = if is_and {
                        (rest, vec![])
                    } else {
                        (vec![], rest)
                    };
                    self.choice(first, body, otherwise, range)
                }
                None => StatementKind::Expression(value),
            },
            StatementKind::Return(Some(value)) => StatementKind::Return(Some(self.value(value))),
            StatementKind::Assign { targets, value } => StatementKind::Assign {
                targets,
                value: self.value(value),
            },
            StatementKind::Assert { condition, message } => match self.parted(&condition) {
                Some(Parted {
                    first,
                    is_and: true,
                    rest,
                }) => {
                    let assert = |condition| {
                        let message = message.clone();
                        self.statement(StatementKind::Assert { condition, message }, range)
                    };
                    return [assert(first), assert(rest)].concat();
                }
                _ => StatementKind::Assert { condition, message },
            },
            other => other,
        };
        vec![kind]
    }

    fn choice(
        &self,
        condition: Expression,
        body: Vec<Statement>,
        otherwise: Vec<Statement>,
        range: &Range,
    ) -> StatementKind {
        let has_room = size(&body) + size(&otherwise) <= LARGEST;
        if let Some(parted) = self.parted(&condition).filter(|_| has_room) {
            let inner = self.choice(parted.rest, body.clone(), otherwise.clone(), range);
            let inner = vec![at(range, inner)];
            return if parted.is_and {
                self.choice(parted.first, inner, otherwise, range)
            } else {
                self.choice(parted.first, body, inner, range)
            };
        }
        match negated(&condition) {
            Some(inner) if has_room && self.acts_later(inner) => {
                self.choice(inner.clone(), otherwise, body, range)
            }
            _ => StatementKind::If {
                condition,
                body,
                otherwise,
            },
        }
    }

    /// Rewrites a `while` whose condition has an effect in each round.
    fn repetition(
        &self,
        condition: Expression,
        body: Vec<Statement>,
        range: &Range,
    ) -> StatementKind {
        let (first, rest) = match self.parted(&condition) {
            Some(parted) if parted.is_and && !self.acts(&parted.first) => {
                (parted.first, parted.rest)
            }
            _ => (truth(true, &condition.range), condition),
        };
        let stop = vec![at(range, StatementKind::Break)];
        let inner = self.choice(rest, body, stop, range);
        StatementKind::While {
            condition: first,
            body: vec![at(range, inner)],
            otherwise: vec![],
        }
    }

    /// Rewrites the value `a and f()` as `f() if a else a`.
    fn value(&self, value: Expression) -> Expression {
        // An operand with an effect would be executed twice.
        let parted = self
            .parted(&value)
            .filter(|parted| !self.acts(&parted.first));
        let Some(Parted {
            first,
            is_and,
            rest,
        }) = parted
        else {
            return value;
        };
        let given = if is_truth(&first) {
            truth(!is_and, &first.range)
        } else {
            first.clone()
        };
        let rest = self.value(rest);
        let (then, otherwise) = if is_and { (rest, given) } else { (given, rest) };
        let kind = ExpressionKind::Conditional {
            condition: Box::new(first),
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        };
        Expression {
            range: value.range,
            kind,
        }
    }
}

/// `and` or `or` in two parts. The second is evaluated only if the first allows it.
struct Parted {
    first: Expression,
    is_and: bool,
    rest: Expression,
}

/// Counts statements, with those inside of others.
fn size(body: &[Statement]) -> usize {
    let inside = body.iter().flat_map(run::bodies).map(size);
    body.len() + inside.sum::<usize>()
}

fn at(range: &Range, kind: StatementKind) -> Statement {
    Statement {
        range: range.clone(),
        kind,
    }
}

fn truth(value: bool, range: &Range) -> Expression {
    Expression {
        range: range.clone(),
        kind: ExpressionKind::Boolean(value),
    }
}

fn is_truth(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Compare { .. } | ExpressionKind::Boolean(_) => true,
        ExpressionKind::And(operands) | ExpressionKind::Or(operands) => {
            operands.iter().all(is_truth)
        }
        _ => negated(expression).is_some(),
    }
}

fn negated(expression: &Expression) -> Option<&Expression> {
    match &expression.kind {
        ExpressionKind::Unary {
            operator: UnaryOperator::Not,
            operand,
        } => Some(operand),
        _ => None,
    }
}

fn bodies(kind: &mut StatementKind) -> Vec<&mut Vec<Statement>> {
    match kind {
        StatementKind::If {
            body, otherwise, ..
        }
        | StatementKind::For {
            body, otherwise, ..
        }
        | StatementKind::While {
            body, otherwise, ..
        } => vec![body, otherwise],
        StatementKind::With { body, .. } => vec![body],
        StatementKind::Try {
            body,
            handlers,
            otherwise,
            finally,
        } => {
            let handlers = handlers.iter_mut().map(|one| &mut one.body);
            let all = [body, otherwise, finally].into_iter();
            all.chain(handlers).collect()
        }
        _ => vec![],
    }
}

/// Returns the targets that a statement assigns, in whole or in part.
fn targets(statement: &Statement) -> Vec<&Expression> {
    match &statement.kind {
        StatementKind::Assign { targets, .. } | StatementKind::Delete(targets) => {
            targets.iter().flat_map(places).collect()
        }
        StatementKind::Augmented { target, .. }
        | StatementKind::Annotated {
            target,
            value: Some(_),
            ..
        } => places(target),
        _ => vec![],
    }
}

fn places(target: &Expression) -> Vec<&Expression> {
    match &target.kind {
        ExpressionKind::Tuple(parts) | ExpressionKind::List(parts) => {
            parts.iter().flat_map(places).collect()
        }
        ExpressionKind::Starred(inner) => places(inner),
        _ => vec![target],
    }
}

/// Returns the name of the variable that a place is part of.
fn root(place: &Expression) -> Option<&str> {
    match &place.kind {
        ExpressionKind::Subscript { object, .. } | ExpressionKind::Attribute { object, .. } => {
            root(object)
        }
        _ => place.as_name(),
    }
}
