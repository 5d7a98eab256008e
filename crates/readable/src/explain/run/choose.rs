//! Executes branches: those that leave split the path (Y5), those that come back are one event
//! (Y4). Also `return`.

use std::collections::BTreeSet;

use testwright_source::Range;
use testwright_source::tree::{Expression, ExpressionKind, Statement, StatementKind};

use super::{Ended, Execution, Frame, Path, Work, event, push};
use crate::explain::flow::{End, Event, EventKind};
use crate::term::Term;
use crate::value::PythonValue;

/// Returns true if statements may leave the sequence that they stand in.
pub(super) fn leaves(body: &[Statement]) -> bool {
    body.iter().any(|statement| leaves_from(statement, false))
}

fn leaves_from(statement: &Statement, in_loop: bool) -> bool {
    let any = |body: &[Statement], in_loop| body.iter().any(|one| leaves_from(one, in_loop));
    match &statement.kind {
        StatementKind::Return(_) | StatementKind::Raise { .. } => true,
        StatementKind::Break | StatementKind::Continue => !in_loop,
        StatementKind::If {
            body, otherwise, ..
        } => any(body, in_loop) || any(otherwise, in_loop),
        StatementKind::For {
            body, otherwise, ..
        }
        | StatementKind::While {
            body, otherwise, ..
        } => any(body, true) || any(otherwise, in_loop),
        StatementKind::With { body, .. } => any(body, in_loop),
        StatementKind::Try {
            body,
            handlers,
            otherwise,
            finally,
        } => {
            [body, otherwise, finally]
                .iter()
                .any(|part| any(part, in_loop))
                || handlers.iter().any(|one| any(&one.body, in_loop))
        }
        _ => false,
    }
}

impl<'w> Execution<'w> {
    #[allow(
        clippy::too_many_arguments,
        reason = "the place in a flow has many sides"
    )]
    pub(super) fn branch(
        &self,
        condition: &Term,
        [body, otherwise]: [&'w [Statement]; 2],
        range: &Range,
        work: &mut Work<'w>,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) -> Option<End> {
        match self.decide(condition, path) {
            Some(true) => push(work, body),
            Some(false) => push(work, otherwise),
            None if [body, otherwise]
                .iter()
                .any(|side| leaves(side) || self.parts_inside(side, path, frame)) =>
            {
                let ways = [(body, true), (otherwise, false)].map(|(side, holds)| {
                    let mut work = work.clone();
                    push(&mut work, side);
                    (work, self.with_fact(path, condition, holds))
                });
                return Some(self.split(condition.clone(), ways, range, frame));
            }
            None => self.choice(condition, [body, otherwise], range, path, frame, events),
        }
        None
    }

    /// Splits the path, then-side first, while there is room for more outcomes.
    pub(super) fn split(
        &self,
        condition: Term,
        [then, otherwise]: [(Work<'w>, Path); 2],
        range: &Range,
        frame: &Frame<'w>,
    ) -> End {
        if self.is_full(frame) {
            self.limit_reached.set(true);
            return End::Unexplored;
        }
        let then = self.run(then.0, then.1, frame).flow;
        let otherwise = self.run(otherwise.0, otherwise.1, frame).flow;
        End::Split {
            condition,
            then: Box::new(then),
            otherwise: Box::new(otherwise),
            range: range.clone(),
        }
    }

    fn choice(
        &self,
        condition: &Term,
        sides: [&'w [Statement]; 2],
        range: &Range,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) {
        let frame = frame.uncounted();
        let [then, otherwise] = [(sides[0], true), (sides[1], false)].map(|(side, holds)| {
            let path = self.with_fact(path, condition, holds);
            self.body(side, path, &frame)
        });
        self.join(condition, then, otherwise, range, path, events);
    }

    /// Joins two paths (Y4).
    pub(super) fn join(
        &self,
        condition: &Term,
        then: Ended,
        otherwise: Ended,
        range: &Range,
        path: &mut Path,
        events: &mut Vec<Event>,
    ) {
        let (one, other) = (&then.path, &otherwise.path);
        path.meet(one);
        path.meet(other);
        path.loose.extend(one.loose.iter().cloned());
        path.loose.extend(other.loose.iter().cloned());
        let names: BTreeSet<&String> = one.locals.keys().chain(other.locals.keys()).collect();
        for name in names {
            let merged = match (one.locals.get(name), other.locals.get(name)) {
                (Some(one), Some(other)) if one == other => one.clone(),
                // Its assignments are described on each side.
                (Some(one), Some(_)) if path.loose.contains(name) => one.clone(),
                (Some(then), Some(otherwise)) => {
                    let merged = Term::Conditional {
                        condition: Box::new(condition.clone()),
                        then: Box::new(then.clone()),
                        otherwise: Box::new(otherwise.clone()),
                    };
                    self.define(name, merged, range)
                }
                (Some(only), None) | (None, Some(only)) => only.clone(),
                (None, None) => continue,
            };
            path.locals.insert(name.clone(), merged);
        }
        let (then, otherwise) = (then.flow.settled(), otherwise.flow.settled());
        if then.is_empty() && otherwise.is_empty() {
            return;
        }
        let kind = EventKind::Choice {
            condition: condition.clone(),
            then,
            otherwise,
        };
        events.push(event(kind, range));
    }

    /// Executes `return`. A conditional expression splits the path (Y5), and a helper with an
    /// effect is executed here.
    pub(super) fn returned(
        &self,
        value: Option<&Expression>,
        range: &Range,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) -> End {
        let Some(value) = value else {
            return End::Return {
                value: PythonValue::Nothing.into(),
                range: range.clone(),
            };
        };
        if let ExpressionKind::Call { .. } = &value.kind
            && frame.onward.is_none()
            && let Some(ended) = self.helper_with_events(value, path, frame)
        {
            *path = Path {
                locals: std::mem::take(&mut path.locals),
                ..ended.path
            };
            events.extend(ended.flow.events);
            return match ended.flow.end {
                End::Open => End::Return {
                    value: PythonValue::Nothing.into(),
                    range: range.clone(),
                },
                end => end,
            };
        }
        if let Some(end) = self.returned_side(value, range, path, frame, events) {
            return end;
        }
        let value = self.value_of(value, range, path, frame, events);
        self.return_term(value, range, path, frame)
    }

    fn return_term(&self, value: Term, range: &Range, path: &Path, frame: &Frame<'w>) -> End {
        // A condition is returned as true or false (L5). Other alternatives are outcomes.
        let Term::Conditional {
            condition,
            then,
            otherwise,
        } = value
        else {
            return End::Return {
                value,
                range: range.clone(),
            };
        };
        match self.decide(&condition, path) {
            Some(true) => return self.return_term(*then, range, path, frame),
            Some(false) => return self.return_term(*otherwise, range, path, frame),
            None if self.is_full(frame) => {
                self.limit_reached.set(true);
                return End::Unexplored;
            }
            None => {}
        }
        let side = |value: Term, holds| {
            let path = self.with_fact(path, &condition, holds);
            let end = self.return_term(value, range, &path, frame);
            Box::new(self.finish(vec![], end, path, frame).flow)
        };
        let (then, otherwise) = (side(*then, true), side(*otherwise, false));
        End::Split {
            condition: *condition,
            then,
            otherwise,
            range: range.clone(),
        }
    }
}
