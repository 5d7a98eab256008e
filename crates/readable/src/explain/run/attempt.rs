//! Executes `try`: a handler is a block after the part that may fail (Y10).

use testwright_source::tree::{Expression, ExpressionKind, Handler, Statement, StatementKind};

use super::choose::leaves;
use super::cycle::given_names;
use super::{Execution, Frame, Path, Work, error_name, event, push};
use crate::explain::flow::{End, Event, EventKind, ExecutionFlow};
use crate::term::{EffectTerm, Term};
use crate::value::PythonValue;

/// Parts of a `try`, without its `finally`, which is executed like other statements.
pub(super) struct Attempt<'w> {
    pub(super) body: &'w [Statement],
    pub(super) handlers: &'w [Handler],
    pub(super) otherwise: &'w [Statement],
}

/// Paths that reach the statements after a `try`. This decides where those, and the `else`, are
/// described.
#[derive(Clone, Copy, PartialEq)]
enum Following {
    /// Only paths that did not fail: the `else` is the beginning of what follows.
    Done,
    /// All paths: the `else` is described separately, and what follows for all of them.
    All,
    /// Paths that failed, and perhaps some that did not, as the `else` may leave: each is described
    /// on its own.
    Each,
}

impl Attempt<'_> {
    fn following(&self) -> Following {
        if !self.handlers.iter().any(|handler| goes_on(&handler.body)) {
            Following::Done
        } else if leaves(self.otherwise) {
            Following::Each
        } else {
            Following::All
        }
    }
}

impl<'w> Execution<'w> {
    /// Executes a `try`. `work` are the statements that follow if no path leaves.
    pub(super) fn attempt(
        &self,
        attempt: &Attempt<'w>,
        work: &mut Work<'w>,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) -> Option<End> {
        let following = attempt.following();
        if following == Following::All {
            self.loosen_what_depends(attempt, path, frame, events);
        }
        let before = path.clone();
        let first = events.len();
        let end = self.tried(attempt, path, frame, events);
        if events.len() == first && !attempt.handlers.is_empty() {
            self.look_up(attempt.body, &before, frame, events);
        }
        // It is not known how much was done before the failure.
        let failed = Path {
            facts: Default::default(),
            versions: path.versions.clone(),
            same_since: path.same_since.clone(),
            ..before
        };
        let done = path.clone();
        // True if the failed paths describe what follows on their own.
        let is_apart = end.is_some() || following == Following::Each;
        for handler in attempt.handlers {
            let caught = self.if_fails(handler, (work, is_apart), failed.clone(), frame, events);
            path.meet(&caught);
        }
        if let Some(end) = end {
            // Otherwise a failed path that goes on would seem to leave as well.
            let is_clear = events[first..].iter().all(ends_for_all_to_see);
            if following == Following::Done || is_clear || matches!(end, End::Failed) {
                return Some(end);
            }
            let range = attempt.body.last().map_or(0..0, |last| last.range.clone());
            let body = ExecutionFlow {
                events: vec![],
                end,
            }
            .settled();
            events.push(event(EventKind::IfDone(body), &range));
            work.clear();
            return None;
        }
        let rest = match following {
            Following::Done => {
                push(work, attempt.otherwise);
                return None;
            }
            Following::All => Work::new(),
            Following::Each => std::mem::take(work),
        };
        if let Some(ended) = self.if_done(attempt.otherwise, rest, done, frame, events) {
            let caught = std::mem::replace(path, ended);
            path.meet(&caught);
        }
        None
    }

    /// Makes locals loose whose value afterwards depends on whether this fails.
    fn loosen_what_depends(
        &self,
        attempt: &Attempt<'w>,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) {
        // A value that a failure leaves unchanged is described only if there was one.
        let mut given = Vec::new();
        given_names(attempt.body, &mut given);
        given_names(attempt.otherwise, &mut given);
        given.retain(|name| path.locals.contains_key(name));
        for handler in attempt.handlers.iter().filter(|one| goes_on(&one.body)) {
            given_names(&handler.body, &mut given);
        }
        let first = attempt.body.first();
        let range = first.map_or(0..0, |first| first.range.clone());
        for name in given.iter().filter(|name| !frame.globals.contains(*name)) {
            self.loosen(name, &range, path, events);
        }
    }

    fn tried(
        &self,
        attempt: &Attempt<'w>,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) -> Option<End> {
        if leaves(attempt.body) {
            // Facts of the split paths are not known after them.
            let mut given = Vec::new();
            given_names(attempt.body, &mut given);
            given.retain(|name| !frame.globals.contains(name) && !path.locals.contains_key(name));
            for name in given {
                path.hold(&name);
            }
        }
        let tried = self.body(attempt.body, path.clone(), &frame.uncounted());
        *path = tried.path;
        let leaves = tried.flow.end.leaves();
        if leaves && (!tried.flow.is_split() || attempt.handlers.is_empty()) {
            events.extend(tried.flow.events);
            return Some(tried.flow.end);
        }
        let before = tried.flow.events.len();
        let told = tried.flow.settled();
        let mut changed = Vec::new();
        for event in &told[before..] {
            event.changed(&mut changed);
        }
        for name in changed {
            *path.versions.entry(name).or_default() += 1;
        }
        events.extend(told);
        // The end of each path is described with it, so that the handler can follow.
        leaves.then_some(End::Failed)
    }

    fn if_fails(
        &self,
        handler: &'w Handler,
        (rest, is_apart): (&Work<'w>, bool),
        mut path: Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) -> Path {
        if let Some(name) = &handler.name {
            self.result(name, &mut path);
        }
        let mut work = if is_apart { rest.clone() } else { Work::new() };
        push(&mut work, &handler.body);
        let caught = self.run(work, path, &frame.uncounted());
        let first = handler.body.first();
        let range = first.map_or(0..0, |first| first.range.clone());
        // A path that leaves silently would seem to go on with what is described next.
        let stops = match &caught.flow.end {
            _ if rest.is_empty() || is_apart => None,
            End::Continue => Some(frame.round),
            End::Return { value, .. } if value.as_value() == Some(&PythonValue::Nothing) => {
                Some(None)
            }
            _ => None,
        };
        let mut body = caught.flow.settled();
        body.extend(stops.map(|round| event(EventKind::Stops(round), &range)));
        let kind = EventKind::IfFails {
            errors: handler.exception.as_ref().map_or(vec![], error_names),
            body,
            goes_on: !is_apart && !rest.is_empty() && goes_on(&handler.body),
        };
        events.push(event(kind, &range));
        caught.path
    }

    fn if_done(
        &self,
        otherwise: &'w [Statement],
        mut rest: Work<'w>,
        path: Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) -> Option<Path> {
        let first = otherwise.first()?;
        push(&mut rest, otherwise);
        let ended = self.run(rest, path, &frame.uncounted());
        let body = ended.flow.settled();
        if !body.is_empty() {
            events.push(event(EventKind::IfDone(body), &first.range));
        }
        Some(ended.path)
    }

    /// Adds lookups that may fail as events. Otherwise "if this fails" would not refer to anything.
    fn look_up(
        &self,
        body: &'w [Statement],
        path: &Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) {
        for statement in body {
            let looked_up = match &statement.kind {
                StatementKind::Assign { value, .. } | StatementKind::Return(Some(value)) => value,
                _ => continue,
            };
            let term = self.term(looked_up, path, frame);
            if term.as_value().is_none() && !matches!(term, Term::Reference(_)) {
                let kind = EventKind::Change {
                    change: EffectTerm::Call(term),
                    is_new: false,
                    giving: vec![],
                };
                events.push(event(kind, &statement.range));
                return;
            }
        }
    }
}

/// Returns true if an event is not a failure, or a failure that visibly ends everything.
fn ends_for_all_to_see(event: &Event) -> bool {
    let EventKind::IfFails { body, .. } = &event.kind else {
        return true;
    };
    match body.last().map(|last| &last.kind) {
        Some(EventKind::Returns(value)) => value.as_value() != Some(&PythonValue::Nothing),
        Some(EventKind::Fail(_)) => true,
        _ => false,
    }
}

/// Returns true if a path goes on after these statements.
fn goes_on(body: &[Statement]) -> bool {
    let last = body.last().map(|statement| &statement.kind);
    !matches!(
        last,
        Some(
            StatementKind::Return(_)
                | StatementKind::Raise { .. }
                | StatementKind::Break
                | StatementKind::Continue
        )
    )
}

/// Returns the classes that a handler catches.
fn error_names(exception: &Expression) -> Vec<String> {
    match &exception.kind {
        ExpressionKind::Tuple(all) => all.iter().filter_map(error_name).collect(),
        _ => error_name(exception).into_iter().collect(),
    }
}
