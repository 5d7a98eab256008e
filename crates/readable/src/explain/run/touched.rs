//! Changes in places that cannot be described step by step, as in
//! `sum(items.pop() for _ in range(n))`. The possible change is still mentioned, so that a reader
//! does not take the variable as unchanged.

use std::collections::BTreeSet;

use testwright_source::Range;
use testwright_source::tree::{Expression, ExpressionKind, Statement, StatementKind};

use super::{Execution, Frame, Path, event};
use crate::explain::flow::{End, Event, EventKind, ExecutionFlow, changed_by_call, root};
use crate::property::child_expressions;
use crate::term::Term;

/// Variables that the calls of a statement change, with their versions before the statement.
pub(super) struct Touched {
    names: BTreeSet<String>,
    events: usize,
    versions: Vec<Option<u32>>,
}

impl<'w> Execution<'w> {
    /// Returns the variables that the calls in a statement change, except those already described.
    /// Changes of a statement with a body are mentioned at once, before the body.
    pub(super) fn touched(
        &self,
        statement: &Statement,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) -> Touched {
        let mut names = BTreeSet::new();
        for expression in read_by(statement) {
            self.touches(expression, path, frame, &mut names);
        }
        let has_body = !super::bodies(statement).is_empty();
        if has_body {
            let names = std::mem::take(&mut names);
            let told = self.touch(&names, true, &statement.range, path);
            events.extend(told);
        }
        Touched {
            versions: versions(&names, path),
            events: events.len(),
            names,
        }
    }

    /// Mentions the changes of a statement that were not described.
    pub(super) fn tell_touched(
        &self,
        touched: &Touched,
        end: Option<&End>,
        range: &Range,
        path: &mut Path,
        events: &mut Vec<Event>,
    ) {
        if touched.names.is_empty() {
            return;
        }
        let told = ExecutionFlow {
            events: events.get(touched.events..).unwrap_or_default().to_vec(),
            end: end.cloned().unwrap_or(End::Open),
        };
        let mut changed = Vec::new();
        for event in told.settled() {
            event.changed(&mut changed);
        }
        let now = versions(&touched.names, path);
        let unchanged = touched.versions.iter().zip(&now);
        let names = touched.names.iter().zip(unchanged);
        let silent = names
            .filter(|(name, (before, now))| before == now && !changed.contains(name))
            .map(|(name, _)| name.clone())
            .collect();
        let told = self.touch(&silent, end.is_some(), range, path);
        events.extend(told);
    }

    fn touch(
        &self,
        names: &BTreeSet<String>,
        is_ahead: bool,
        range: &Range,
        path: &mut Path,
    ) -> Option<Event> {
        let variable = |name| self.world.global(name, &path.versions);
        let targets: Vec<Term> = names.iter().filter_map(|name| variable(name)).collect();
        for target in &targets {
            self.changed(target, None, range, path);
        }
        let kind = EventKind::Touch {
            targets: targets.clone(),
            is_ahead,
        };
        (!targets.is_empty()).then(|| event(kind, range))
    }

    /// Collects the variables that the calls in an expression change.
    fn touches(
        &self,
        expression: &Expression,
        path: &Path,
        frame: &Frame<'w>,
        names: &mut BTreeSet<String>,
    ) {
        if path.taken(&expression.range).is_some() {
            return;
        }
        match &expression.kind {
            // A lambda acts only when it is called.
            ExpressionKind::Lambda { .. } => return,
            ExpressionKind::Call { .. } => {
                if let Some(ended) = self.helper_with_events(expression, path, frame) {
                    let mut changed = Vec::new();
                    for event in ended.flow.settled() {
                        event.changed(&mut changed);
                    }
                    names.extend(changed);
                } else {
                    let call = self.expanded(&self.term(expression, path, frame));
                    let changed = changed_by_call(&call).filter(|one| !path.is_left_alone(one));
                    let variable = changed.and_then(root);
                    names.extend(variable.map(|variable| variable.name.clone()));
                }
            }
            _ => {}
        }
        for child in child_expressions(expression) {
            self.touches(child, path, frame, names);
        }
    }
}

/// Returns the expressions that a statement reads itself, without the statements inside of it.
pub(in crate::explain) fn read_by(statement: &Statement) -> Vec<&Expression> {
    match &statement.kind {
        StatementKind::While { condition, .. } => vec![condition],
        StatementKind::Annotated { value, .. } => value.iter().collect(),
        StatementKind::With { items, .. } => items.iter().map(|(manager, _)| manager).collect(),
        StatementKind::Raise { exception, .. } => exception.iter().collect(),
        StatementKind::Match { subject, .. } => vec![subject],
        _ => super::evaluated(statement).into_iter().collect(),
    }
}

fn versions(names: &BTreeSet<String>, path: &Path) -> Vec<Option<u32>> {
    let known = names.iter().map(|name| path.versions.get(name).copied());
    known.collect()
}
