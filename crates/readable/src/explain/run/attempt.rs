//! `try`: what is tried, what is done if it fails, and what only if it does not (Y10).

use testwright_source::tree::{Expression, ExpressionKind, Handler, Statement, StatementKind};

use super::choose::leaves;
use super::cycle::given_names;
use super::{Execution, Frame, Path, Work, error_name, event, push};
use crate::explain::flow::{End, Event, EventKind, Flow};
use crate::term::{Change, Term};
use crate::value::Value;

/// The parts of a `try`, but for its `finally`, which is work like any other.
pub(super) struct Attempt<'w> {
    pub(super) body: &'w [Statement],
    pub(super) handlers: &'w [Handler],
    pub(super) otherwise: &'w [Statement],
}

/// Who comes to what follows a `try`, which decides where that, and the `else`, is told.
#[derive(Clone, Copy, PartialEq)]
enum Following {
    /// Only who has not failed: the `else` is the beginning of what follows.
    Done,
    /// Who has failed and who has not: the `else` is told apart, and what follows of all of them.
    All,
    /// Who has failed, and perhaps some of those who have not, as the `else` may leave: it is told of each by itself.
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
    /// `work` is what follows if nothing leaves.
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
        // How much was done before it failed is not known.
        let failed = Path {
            facts: Default::default(),
            versions: path.versions.clone(),
            same_since: path.same_since.clone(),
            ..before
        };
        let done = path.clone();
        // Whether those who have failed are told what follows by themselves.
        let is_apart = end.is_some() || following == Following::Each;
        for handler in attempt.handlers {
            let caught = self.if_fails(handler, (work, is_apart), failed.clone(), frame, events);
            path.meet(&caught);
        }
        if let Some(end) = end {
            // Who has failed and goes on would seem to leave as well.
            let is_clear = events[first..].iter().all(ends_for_all_to_see);
            if following == Following::Done || is_clear || matches!(end, End::Failed) {
                return Some(end);
            }
            let range = attempt.body.last().map_or(0..0, |last| last.range.clone());
            let body = Flow {
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

    /// What a local is afterwards depends on whether this fails.
    fn loosen_what_depends(
        &self,
        attempt: &Attempt<'w>,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) {
        // What failing leaves as it was is told only where it was something.
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
            // What is known where the ways have parted is not known behind them.
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
        // How each of the ways ends is told with it, so that it can be said what is done if this fails.
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
        // Whoever leaves without a word would seem to go on with what is told next.
        let stops = match &caught.flow.end {
            _ if rest.is_empty() || is_apart => None,
            End::Continue => Some(frame.round),
            End::Return { value, .. } if value.as_value() == Some(&Value::Nothing) => Some(None),
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

    /// What may fail although nothing happens: what is only looked up has to be told, or nobody knows what "this" is.
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
                    change: Change::Call(term),
                    is_new: false,
                    giving: vec![],
                };
                events.push(event(kind, &statement.range));
                return;
            }
        }
    }
}

/// Whether this is no failure, or one that is seen to be the end of everything.
fn ends_for_all_to_see(event: &Event) -> bool {
    let EventKind::IfFails { body, .. } = &event.kind else {
        return true;
    };
    match body.last().map(|last| &last.kind) {
        Some(EventKind::Returns(value)) => value.as_value() != Some(&Value::Nothing),
        Some(EventKind::Fail(_)) => true,
        _ => false,
    }
}

/// Whether whoever has done this comes to what follows it.
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

/// The classes that a handler catches.
fn error_names(exception: &Expression) -> Vec<String> {
    match &exception.kind {
        ExpressionKind::Tuple(all) => all.iter().filter_map(error_name).collect(),
        _ => error_name(exception).into_iter().collect(),
    }
}
