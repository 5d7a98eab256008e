//! What is taken out of a collection in the middle of an expression, as in `done.append(waiting.pop())`: first it is removed,
//! which is an event of its own, and then it is the value (E6, E12).

use testwright_source::Range;
use testwright_source::tree::{Expression, ExpressionKind, Statement, StatementKind};

use super::{Execution, Frame, Path};
use crate::explain::flow::Event;
use crate::property::children;
use crate::term::Term;

impl<'w> Execution<'w> {
    /// Takes out what a statement takes out before it does anything else. What an expression at such a place stands for
    /// is known to the path until the next statement.
    pub(super) fn take_out(
        &self,
        statement: &Statement,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) {
        path.taken.clear();
        let Some(expression) = super::evaluated(statement) else {
            return;
        };
        // A whole expression that is taken out is read where it stands: it may have a name, or none at all.
        let is_read_there = matches!(
            statement.kind,
            StatementKind::Assign { .. } | StatementKind::Return(_) | StatementKind::Expression(_)
        );
        self.take_out_of(
            expression,
            is_read_there,
            &statement.range,
            path,
            frame,
            events,
        );
    }

    /// Takes out what an expression takes out; a whole that `is_read_there` is left to its reader.
    pub(super) fn take_out_of(
        &self,
        expression: &Expression,
        is_read_there: bool,
        range: &Range,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) {
        let mut found = Vec::new();
        collect(expression, is_read_there, &mut found);
        for call in &found {
            let Some(object) = taken_from(call) else {
                continue;
            };
            // Whoever else asks for the collection would have to be told whether before or after.
            let others = mentions(expression, object) > same(&found, object);
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
    /// What was taken out for the expression at this place.
    pub(super) fn taken(&self, range: &Range) -> Option<Term> {
        let known = self.taken.iter().find(|(place, _)| place == range);
        known.map(|(_, value)| value.clone())
    }
}

/// The calls that take something out whatever happens, in the order in which they are made.
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
            for child in children(expression) {
                collect(child, false, found);
            }
            if taken_from(expression).is_some() && !is_read_there {
                found.push(expression);
            }
        }
    }
}

/// The collection that something is taken out of.
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

fn same(found: &[&Expression], object: &Expression) -> usize {
    let objects = found.iter().filter_map(|call| taken_from(call));
    objects.filter(|one| *one == object).count()
}

fn mentions(expression: &Expression, object: &Expression) -> usize {
    let inside = children(expression).into_iter();
    let inside: usize = inside.map(|child| mentions(child, object)).sum();
    inside + usize::from(expression == object)
}
