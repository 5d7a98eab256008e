//! What is done at last, however a `try` is left: who returns, or fails with what nobody catches, comes past it.

use testwright_source::Range;
use testwright_source::tree::{Statement, StatementKind};

use super::{Execution, Frame, Path};
use crate::explain::flow::Event;

/// The last part of a `try`, and the places from which it is come to.
#[derive(Debug, Clone)]
pub(super) struct Finally<'w> {
    body: &'w [Statement],
    /// Where someone may return.
    returns: Range,
    /// Where someone may fail without being caught here.
    fails: Range,
}

impl<'w> Frame<'w> {
    /// The same frame inside of a `try`.
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
    /// Does what is still to be done when a statement leaves, innermost first.
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
