//! Executes helpers that act on some of their paths, called in the middle of a statement, as in
//! `if withdraw(amount): …`. The path of the action splits as that of the helper does, and each
//! branch continues with the statement, with a known result.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use testwright_source::Range;
use testwright_source::tree::{Statement, StatementKind};

use super::taken::meddles;
use super::{Ended, Execution, Frame, Path, Work, evaluated};
use crate::explain::flow::{End, Event, ExecutionFlow};
use crate::term::Term;
use crate::value::PythonValue;

/// Continuation of a statement with the result of a helper.
#[derive(Debug)]
pub(super) struct Onward<'w> {
    statement: &'w Statement,
    /// Place of the call.
    call: Range,
    work: Work<'w>,
    locals: BTreeMap<String, Term>,
    loose: BTreeSet<String>,
    frame: Frame<'w>,
}

impl<'w> Execution<'w> {
    /// Splits the path at a helper that a statement calls, if it acts on some of its paths only.
    pub(super) fn part(
        &self,
        statement: &'w Statement,
        work: &Work<'w>,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) -> Option<End> {
        // Elsewhere the following statements are not available.
        let is_outermost = frame.counts && frame.onward.is_none() && path.given.is_empty();
        let expression = evaluated(statement).filter(|_| is_outermost)?;
        let found = self.doing(expression, is_whole(statement), path, frame);
        let [call] = found.as_slice() else {
            return None;
        };
        let asked = self.call_of_helper(call, path, frame)?;
        let flow = self.inlined(&asked, path, frame)?.flow;
        if !flow.is_split() || !flow.parts_cleanly() || meddles(expression, &found, &flow) {
            return None;
        }
        let (helper, inside, inner) = self.prepared(&asked, path, frame)?;
        let onward = Onward {
            statement,
            call: call.range.clone(),
            work: work.clone(),
            locals: path.locals.clone(),
            loose: path.loose.clone(),
            frame: frame.clone(),
        };
        let inner = Frame {
            counts: true,
            onward: Some(Rc::new(onward)),
            ..inner
        };
        let ended = self.body(&helper.body, inside, &inner);
        events.extend(ended.flow.events);
        *path = ended.path;
        Some(ended.flow.end)
    }

    /// Returns true if the path splits at a helper that statements call, so that the following
    /// statements are needed.
    pub(super) fn parts_inside(&self, body: &[Statement], path: &Path, frame: &Frame<'w>) -> bool {
        let is_outermost = frame.counts && frame.onward.is_none();
        let asks = |statement: &Statement| {
            let expression = evaluated(statement)?;
            let found = self.doing(expression, is_whole(statement), path, frame);
            let [call] = found.as_slice() else {
                return None;
            };
            let asked = self.call_of_helper(call, path, frame)?;
            Some(self.inlined(&asked, path, frame)?.flow.is_split())
        };
        is_outermost
            && body.iter().any(|statement| match &statement.kind {
                StatementKind::If {
                    body, otherwise, ..
                } => {
                    asks(statement) == Some(true)
                        || self.parts_inside(body, path, frame)
                        || self.parts_inside(otherwise, path, frame)
                }
                _ => asks(statement) == Some(true),
            })
    }

    /// Ends a path, or continues it.
    pub(super) fn finish(
        &self,
        mut events: Vec<Event>,
        end: End,
        path: Path,
        frame: &Frame<'w>,
    ) -> Ended {
        let answer = match &end {
            End::Return { value, .. } => Some(value.clone()),
            End::Open => Some(PythonValue::Nothing.into()),
            _ => None,
        };
        let (Some(onward), Some(answer)) = (&frame.onward, answer) else {
            self.count(&end, frame);
            return Ended {
                flow: ExecutionFlow { events, end },
                path,
            };
        };
        let mut path = Path {
            locals: onward.locals.clone(),
            loose: onward.loose.clone(),
            taken: vec![],
            given: vec![(onward.call.clone(), answer)],
            ..path
        };
        self.keep_as_made(&onward.call, &mut path);
        let mut work = onward.work.clone();
        work.push(onward.statement);
        let next = self.run(work, path, &onward.frame);
        events.extend(next.flow.events);
        Ended {
            flow: ExecutionFlow {
                events,
                end: next.flow.end,
            },
            path: next.path,
        }
    }
}

/// Returns true if a statement is only an expression, which handles the call itself.
fn is_whole(statement: &Statement) -> bool {
    matches!(
        statement.kind,
        StatementKind::Return(_) | StatementKind::Expression(_)
    )
}
