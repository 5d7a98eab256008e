//! Executes `finally`: every path that returns, or fails with an uncaught error, passes it.

use testwright_source::Range;
use testwright_source::tree::{Statement, StatementKind};

use super::{Execution, Frame, Path};
use crate::explain::flow::Event;

/// `finally` part of a `try`, and the places from which it is reached.
#[derive(Debug, Clone)]
pub(super) struct Finally<'w> {
    body: &'w [Statement],
    /// Range in which a return passes it.
    returns: Range,
    /// Range in which an uncaught failure passes it.
    fails: Range,
}

impl<'w> Frame<'w> {
    /// Returns the frame inside of a `try`.
    pub(super) fn finally(&self, statement: &'w Statement) -> Frame<'w> {
        let mut frame = self.clone();
        if let StatementKind::Try {
            body,
            handlers,
            finally,
            ..
        } = &statement.kind
            && let Some(first) = finally.first()
        {
            let end = first.range.start;
            let tried = body.last().map_or(end, |last| last.range.end);
            let caught = if handlers.is_empty() {
                statement.range.start
            } else {
                tried
            };
            frame.finally.push(Finally {
                body: finally,
                returns: statement.range.start..end,
                fails: caught..end,
            });
        }
        frame
    }
}

impl<'w> Execution<'w> {
    /// Executes the pending `finally` parts when a statement leaves, innermost first.
    pub(super) fn at_last(
        &self,
        leaving: &Statement,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) {
        let fails = matches!(leaving.kind, StatementKind::Raise { .. });
        for finally in frame.finally.iter().rev() {
            let places = if fails {
                &finally.fails
            } else {
                &finally.returns
            };
            if places.contains(&leaving.range.start) {
                let ended = self.body(finally.body, path.clone(), &frame.uncounted());
                *path = ended.path;
                events.extend(ended.flow.settled());
            }
        }
    }
}
