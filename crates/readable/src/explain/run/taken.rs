//! Executes removals in the middle of an expression, as in `done.append(waiting.pop())`: the
//! removal is an event of its own (E6, E12), and the removed element is the value.

use testwright_source::Range;
use testwright_source::tree::{Expression, ExpressionKind, Statement, StatementKind};

use super::{Execution, Frame, Path};
use crate::explain::flow::{Event, ExecutionFlow, Round};
use crate::property::child_expressions;
use crate::term::Term;

impl<'w> Execution<'w> {
    /// Executes the removals that a statement makes before anything else. The path knows the value
    /// at each such place until the next statement.
    pub(super) fn take_out(
        &self,
        statement: &Statement,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) {
        path.taken = std::mem::take(&mut path.given);
        let Some(expression) = super::evaluated(statement) else {
            return;
        };
        // A removal that is the whole expression is handled by the statement: it may get a name, or
        // none at all.
        let is_read_there = matches!(
            statement.kind,
            StatementKind::Assign { .. } | StatementKind::Return(_) | StatementKind::Expression(_)
        );
        // The collection of a loop is neither old nor new (R10).
        let repeated = matches!(statement.kind, StatementKind::For { .. })
            .then(|| frame.repeated(Round::Each));
        self.take_out_of(
            expression,
            is_read_there,
            &statement.range,
            path,
            repeated.as_ref().unwrap_or(frame),
            events,
        );
    }

    /// Returns the calls in an expression that certainly change something, in the order of
    /// execution.
    pub(super) fn doing<'e>(
        &self,
        expression: &'e Expression,
        is_read_there: bool,
        path: &Path,
        frame: &Frame<'w>,
    ) -> Vec<&'e Expression> {
        let mut found = Vec::new();
        collect(expression, is_read_there, &mut found);
        let mut asks_others = false;
        found.retain(|call| {
            let acts =
                taken_from(call).is_some() || self.helper_with_events(call, path, frame).is_some();
            asks_others |= !acts && self.call_of_helper(call, path, frame).is_some();
            acts
        });
        // Another helper may read what this one changes.
        if asks_others {
            found.retain(|call| taken_from(call).is_some());
        }
        found
    }

    /// Executes the removals of an expression. A whole expression that `is_read_there` is left to
    /// its statement.
    pub(super) fn take_out_of(
        &self,
        expression: &Expression,
        is_read_there: bool,
        range: &Range,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) {
        let found = self.doing(expression, is_read_there, path, frame);
        for call in &found {
            if path.taken(&call.range).is_some() {
                continue;
            }
            let Some(object) = taken_from(call) else {
                let ended = self.helper_with_events(call, path, frame);
                let ended = ended.filter(|ended| ended.flow.is_straight());
                if let Some(ended) = ended
                    && !meddles(expression, &found, &ended.flow)
                {
                    let value = self.splice(ended, range, path, events);
                    path.taken.push((call.range.clone(), value));
                }
                continue;
            };
            // Another read of the collection would have to say if it comes before or after.
            let asked =
                mentions(expression, object) - usize::from(receiver(expression) == Some(object));
            let others = asked > same(&found, object);
            if others || !self.term(object, path, frame).type_of().is_built_in() {
                continue;
            }
            let before = events.len();
            let value = self.value_of(call, range, path, frame, events);
            let is_local = object
                .as_name()
                .is_some_and(|name| path.locals.contains_key(name));
            if events.len() > before || is_local {
                path.taken.push((call.range.clone(), value));
            }
        }
    }
}

impl Path {
    /// Returns the value that was taken out for the expression at this place.
    pub(super) fn taken(&self, range: &Range) -> Option<Term> {
        let known = self.taken.iter().find(|(place, _)| place == range);
        known.map(|(_, value)| value.clone())
    }
}

/// Returns true if helper calls change something that the rest of an expression reads, so that the
/// description would have to say which comes first.
pub(super) fn meddles(
    expression: &Expression,
    calls: &[&Expression],
    does: &ExecutionFlow,
) -> bool {
    let mut changed = Vec::new();
    for event in does.clone().settled() {
        event.changed(&mut changed);
    }
    asks(expression, calls, &changed)
}

fn asks(expression: &Expression, calls: &[&Expression], names: &[String]) -> bool {
    if calls.contains(&expression) {
        return false;
    }
    let named = expression
        .dotted_parts()
        .and_then(|words| words.last().copied());
    named.is_some_and(|name| names.iter().any(|one| one == name))
        || child_expressions(expression)
            .into_iter()
            .any(|child| asks(child, calls, names))
}

/// Collects the calls that are certainly made, in the order of execution.
fn collect<'e>(expression: &'e Expression, is_read_there: bool, found: &mut Vec<&'e Expression>) {
    match &expression.kind {
        ExpressionKind::And(operands) | ExpressionKind::Or(operands) => {
            if let Some(first) = operands.first() {
                collect(first, false, found);
            }
        }
        ExpressionKind::Conditional { condition, .. } => collect(condition, false, found),
        ExpressionKind::Lambda { .. }
        | ExpressionKind::Comprehension { .. }
        | ExpressionKind::DictionaryComprehension { .. } => {}
        _ => {
            for child in child_expressions(expression) {
                collect(child, false, found);
            }
            if matches!(expression.kind, ExpressionKind::Call { .. }) && !is_read_there {
                found.push(expression);
            }
        }
    }
}

/// Returns the collection that a call removes something from.
pub(super) fn taken_from(call: &Expression) -> Option<&Expression> {
    let ExpressionKind::Call { function, .. } = &call.kind else {
        return None;
    };
    match &function.kind {
        ExpressionKind::Attribute { object, name }
            if matches!(name.as_str(), "pop" | "popitem" | "popleft") =>
        {
            Some(object)
        }
        _ => None,
    }
}

/// Returns the object of a method call. The method sees it after all arguments are evaluated.
fn receiver(expression: &Expression) -> Option<&Expression> {
    let ExpressionKind::Call { function, .. } = &expression.kind else {
        return None;
    };
    match &function.kind {
        ExpressionKind::Attribute { object, .. } => Some(object),
        _ => None,
    }
}

fn same(found: &[&Expression], object: &Expression) -> usize {
    let objects = found.iter().filter_map(|call| taken_from(call));
    objects.filter(|one| *one == object).count()
}

fn mentions(expression: &Expression, object: &Expression) -> usize {
    let inside = child_expressions(expression).into_iter();
    let inside: usize = inside.map(|child| mentions(child, object)).sum();
    inside + usize::from(expression == object)
}
