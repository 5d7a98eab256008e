//! Symbolic execution: what an action does, for all its inputs at once, without running anything.
//!
//! Expressions are substituted, never evaluated. A local stands for its value, and a state variable
//! for its name with a version, the number of its changes. Only a branch that leaves the action
//! splits the path (Y5). Everything has a limit, so that every text terminates.

mod alias;
mod assign;
mod attempt;
mod between;
mod call;
mod choose;
mod cycle;
mod finally;
mod gather;
mod later;
mod local;
mod loose;
mod onward;
mod scope;
mod side;
mod taken;
mod touched;
mod world;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use testwright_source::Range;
use testwright_source::tree::{Expression, Statement, StatementKind};

pub(super) use cycle::{bodies, given_names};
pub(crate) use local::{Definition, name_of, number_of};
pub(super) use touched::read_by;
pub use world::Limits;
pub(crate) use world::{EARLIER, FIRST, World};

use super::facts::Facts;
use super::flow::{End, Event, EventKind, ExecutionFlow, Round};
use super::locate::Callable;
use crate::property::expected_errors;
use crate::term::Term;
use attempt::Attempt;
use choose::leaves;
use finally::Finally;
use onward::Onward;
use scope::View;

/// Knowledge at a point of a path through an action.
#[derive(Debug, Clone, Default)]
pub(crate) struct Path {
    pub(crate) locals: BTreeMap<String, Term>,
    /// Version of each state variable: the number of its changes.
    pub(crate) versions: BTreeMap<String, u32>,
    pub(crate) facts: Facts,
    /// Values of earlier versions of state variables, by name and version.
    between: BTreeMap<(String, u32), Term>,
    /// Version since which each state variable is the same object. Later changes changed that
    /// object.
    same_since: BTreeMap<String, u32>,
    /// Locals whose changes have no expression. They are described like state variables.
    loose: BTreeSet<String>,
    /// Values that the current statement has taken out of collections, with the place of the
    /// expression.
    taken: Vec<(Range, Term)>,
    /// Values that the next statement has already taken.
    given: Vec<(Range, Term)>,
}

impl Path {
    /// Merges the versions of another path that leads to the same point.
    fn meet(&mut self, other: &Path) {
        for (name, version) in &other.versions {
            let known = self.versions.entry(name.clone()).or_default();
            *known = (*known).max(*version);
        }
        for (name, version) in &other.same_since {
            let known = self.same_since.entry(name.clone()).or_default();
            *known = (*known).max(*version);
        }
    }
}

/// Function that statements stand in.
#[derive(Debug, Clone)]
pub(crate) struct Frame<'w> {
    /// Text of the function.
    pub(crate) text: &'w str,
    /// Names that it declares as global.
    globals: BTreeSet<String>,
    /// Name of the object whose method it is.
    receiver: Option<String>,
    /// Helpers that are being inlined, outermost first.
    helpers: Vec<String>,
    /// True if an end here is an outcome of the action.
    counts: bool,
    /// Kind of the enclosing loop, inside which nothing is marked old or new (R10).
    round: Option<Round>,
    /// `finally` parts of the enclosing `try` statements, outermost first.
    finally: Vec<Finally<'w>>,
    /// Continuation for a returned value, if the call stands in the middle of a statement.
    onward: Option<Rc<Onward<'w>>>,
}

impl<'w> Frame<'w> {
    /// Creates the frame of an action, guard or invariant. The first parameter of a method is the
    /// name of its object.
    pub(crate) fn new(text: &'w str, callable: &Callable, is_method: bool) -> Frame<'w> {
        let first = callable.parameters.first();
        Frame {
            text,
            globals: globals(&callable.body),
            receiver: first.filter(|_| is_method).map(|one| one.name.clone()),
            helpers: vec![callable.name.clone()],
            counts: true,
            round: None,
            finally: vec![],
            onward: None,
        }
    }

    /// Returns the frame with these names as lasting places, whose assignments are described.
    pub(crate) fn with_places(self, names: impl IntoIterator<Item = String>) -> Frame<'w> {
        Frame {
            globals: names.into_iter().collect(),
            ..self
        }
    }

    fn repeated(&self, round: Round) -> Frame<'w> {
        Frame {
            round: Some(round),
            ..self.uncounted()
        }
    }

    fn uncounted(&self) -> Frame<'w> {
        Frame {
            counts: false,
            onward: None,
            ..self.clone()
        }
    }
}

/// Returns the names that a function declares as global, anywhere.
pub(super) fn globals(body: &[Statement]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for statement in body {
        match &statement.kind {
            StatementKind::Global(declared) => names.extend(declared.iter().cloned()),
            StatementKind::If {
                body, otherwise, ..
            }
            | StatementKind::For {
                body, otherwise, ..
            }
            | StatementKind::While {
                body, otherwise, ..
            } => {
                names.extend(globals(body));
                names.extend(globals(otherwise));
            }
            StatementKind::With { body, .. } => names.extend(globals(body)),
            StatementKind::Try {
                body,
                handlers,
                otherwise,
                finally,
            } => {
                names.extend(
                    [body, otherwise, finally]
                        .into_iter()
                        .flat_map(|part| globals(part)),
                );
                names.extend(handlers.iter().flat_map(|handler| globals(&handler.body)));
            }
            _ => {}
        }
    }
    names
}

/// A flow, with the knowledge at its end if its path does not split.
pub(crate) struct Ended {
    pub(crate) flow: ExecutionFlow,
    pub(crate) path: Path,
}

/// Execution of one action, with its guards.
pub(crate) struct Execution<'w> {
    pub(crate) world: &'w World<'w>,
    definitions: RefCell<Vec<Definition>>,
    /// Number of complete outcomes.
    completed: Cell<usize>,
    limit_reached: Cell<bool>,
}

/// Statements that are still to be executed, the next one last.
type Work<'w> = Vec<&'w Statement>;

fn push<'w>(work: &mut Work<'w>, statements: &'w [Statement]) {
    work.extend(statements.iter().rev());
}

impl<'w> Execution<'w> {
    pub(crate) fn new(world: &'w World<'w>) -> Execution<'w> {
        Execution {
            world,
            definitions: RefCell::default(),
            completed: Cell::new(0),
            limit_reached: Cell::new(false),
        }
    }

    /// Returns true if something was left out because of a limit.
    pub(crate) fn limit_reached(&self) -> bool {
        self.limit_reached.get()
    }

    /// Returns the meaning of an expression at a point of a path.
    pub(crate) fn term(&self, expression: &Expression, path: &Path, frame: &Frame<'w>) -> Term {
        let view = View {
            execution: self,
            path,
            frame,
        };
        Term::from_expression(expression, frame.text, &view)
    }

    /// Executes a whole body.
    pub(crate) fn body(&self, body: &'w [Statement], path: Path, frame: &Frame<'w>) -> Ended {
        let mut work = Work::new();
        push(&mut work, body);
        self.run(work, path, frame)
    }

    fn run(&self, mut work: Work<'w>, mut path: Path, frame: &Frame<'w>) -> Ended {
        let mut events = Vec::new();
        while let Some(statement) = work.pop() {
            if !self.world.take_step() {
                return self.unexplored(events, path);
            }
            let ended = self.statement(statement, &mut work, &mut path, frame, &mut events);
            if let Some(end) = ended {
                return self.finish(events, end, path, frame);
            }
        }
        self.finish(events, End::Open, path, frame)
    }

    fn count(&self, end: &End, frame: &Frame<'w>) {
        let is_outcome = matches!(end, End::Open | End::Return { .. } | End::Failed);
        if is_outcome && frame.counts {
            self.completed.set(self.completed.get() + 1);
        }
    }

    fn unexplored(&self, events: Vec<Event>, path: Path) -> Ended {
        self.limit_reached.set(true);
        Ended {
            flow: ExecutionFlow {
                events,
                end: End::Unexplored,
            },
            path,
        }
    }

    fn is_full(&self, frame: &Frame<'w>) -> bool {
        frame.counts && self.completed.get() >= self.world.limits.outcomes
    }

    /// Executes one statement. Returns the end of the flow, if it is one.
    fn statement(
        &self,
        statement: &'w Statement,
        work: &mut Work<'w>,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) -> Option<End> {
        if let Some(end) = self.part(statement, work, path, frame, events) {
            return Some(end);
        }
        self.name_shared(statement, work, path, frame, events);
        self.take_out(statement, path, frame, events);
        if let Some(expression) = evaluated(statement) {
            self.name_inside(expression, path, frame);
        }
        let touched = self.touched(statement, path, frame, events);
        let end = self.carried_out(statement, work, path, frame, events);
        self.tell_touched(&touched, end.as_ref(), &statement.range, path, events);
        end
    }

    /// Executes one statement, after the values that it takes out of collections are known.
    fn carried_out(
        &self,
        statement: &'w Statement,
        work: &mut Work<'w>,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) -> Option<End> {
        let range = &statement.range;
        match &statement.kind {
            StatementKind::If {
                condition,
                body,
                otherwise,
            } => {
                let condition = self.term(condition, path, frame);
                return self.branch(
                    &condition,
                    [body, otherwise],
                    range,
                    work,
                    path,
                    frame,
                    events,
                );
            }
            StatementKind::Return(value) => {
                let end = self.returned(value.as_ref(), range, path, frame, events);
                self.at_last(statement, path, frame, events);
                return Some(end);
            }
            StatementKind::Raise { exception, .. } => {
                let error = exception.as_ref().and_then(error_name);
                self.at_last(statement, path, frame, events);
                events.push(event(EventKind::Fail(error), range));
                return Some(End::Failed);
            }
            StatementKind::Break => return Some(End::Break(frame.round.unwrap_or(Round::Each))),
            StatementKind::Continue => return Some(End::Continue),
            StatementKind::Assign { targets, value } => {
                self.assign_all(targets, value, range, path, frame, events);
            }
            StatementKind::Annotated {
                target,
                value: Some(value),
                ..
            } => {
                let targets = std::slice::from_ref(target);
                self.assign_all(targets, value, range, path, frame, events);
            }
            StatementKind::Augmented {
                target,
                operator,
                value,
            } => self.augment(target, (*operator, value), range, path, frame, events),
            StatementKind::Delete(targets) => {
                for target in targets {
                    self.delete(target, range, path, frame, events);
                }
            }
            StatementKind::Expression(expression) => {
                self.alone(expression, range, path, frame, events);
            }
            StatementKind::Assert { condition, .. } => {
                let condition = self.term(condition, path, frame);
                path.facts.add(&self.expanded(&condition), true);
                let checked = conjuncts(condition);
                events.push(event(EventKind::Check(checked), range));
            }
            StatementKind::For {
                target,
                iterable,
                body,
                otherwise,
                ..
            } => {
                let cycle = cycle::Cycle {
                    target,
                    iterable,
                    body,
                    otherwise,
                    range,
                };
                return self.each(&cycle, work, path, frame, events);
            }
            StatementKind::While {
                condition,
                body,
                otherwise,
            } => {
                self.hold_for_later(body, work, path, frame);
                let condition = self.as_long_as(condition, body, range, path, frame, events);
                if cycle::breaks(body) {
                    self.if_completed(Some(condition), otherwise, range, path, frame, events);
                } else {
                    push(work, otherwise)
                }
            }
            StatementKind::With { items, body, .. } => {
                if let [(manager, _)] = items.as_slice()
                    && let Some((errors, _)) = expected_errors(manager)
                {
                    let tried = self.body(body, path.clone(), &frame.uncounted());
                    *path = tried.path;
                    events.extend(tried.flow.settled());
                    let errors = errors.iter().filter_map(error_name).collect();
                    events.push(event(EventKind::MustFail(errors), range));
                    return None;
                }
                for (manager, name) in items {
                    if let Some(name) = name {
                        let value = self.term(manager, path, frame);
                        self.assign(name, value, range, path, frame, events);
                    }
                }
                push(work, body);
            }
            StatementKind::Try {
                body,
                handlers,
                otherwise,
                finally,
            } => {
                push(work, finally);
                let attempt = Attempt {
                    body,
                    handlers,
                    otherwise,
                };
                let frame = frame.finally(statement);
                return self.attempt(&attempt, work, path, &frame, events);
            }
            StatementKind::Match { .. } => self.unread(range, frame, events),
            // Declarations, and statements without a visible effect.
            StatementKind::Annotated { value: None, .. }
            | StatementKind::Function(_)
            | StatementKind::Class(_)
            | StatementKind::Import(_)
            | StatementKind::ImportFrom { .. }
            | StatementKind::Global(_)
            | StatementKind::Nonlocal(_)
            | StatementKind::TypeAlias { .. }
            | StatementKind::Pass => {}
        }
        None
    }

    /// Adds a statement that cannot be read as an event with its source text.
    fn unread(&self, range: &Range, frame: &Frame<'w>, events: &mut Vec<Event>) {
        let text = frame.text.get(range.clone()).unwrap_or_default();
        let words: Vec<&str> = text.split_whitespace().collect();
        events.push(event(EventKind::Python(words.join(" ")), range));
    }

    /// Returns the truth value of a condition, if the facts decide it.
    fn decide(&self, condition: &Term, path: &Path) -> Option<bool> {
        path.facts.decide(&self.expanded(condition))
    }

    /// Returns the path with one more fact.
    fn with_fact(&self, path: &Path, condition: &Term, holds: bool) -> Path {
        let mut path = path.clone();
        path.facts.add(&self.expanded(condition), holds);
        path
    }
}

/// Returns the expression that a statement evaluates once, before it does anything.
fn evaluated(statement: &Statement) -> Option<&Expression> {
    match &statement.kind {
        StatementKind::If { condition, .. } | StatementKind::Assert { condition, .. } => {
            Some(condition)
        }
        StatementKind::Return(value) => value.as_ref(),
        StatementKind::Assign { value, .. } | StatementKind::Augmented { value, .. } => Some(value),
        StatementKind::Expression(value) => Some(value),
        StatementKind::For { iterable, .. } => Some(iterable),
        _ => None,
    }
}

/// Creates an event at a place.
fn event(kind: EventKind, range: &Range) -> Event {
    Event {
        kind,
        range: range.clone(),
    }
}

/// Returns the parts of a conjunction, in order.
pub(crate) fn conjuncts(condition: Term) -> Vec<Term> {
    match condition {
        Term::And(parts) => parts.into_iter().flat_map(conjuncts).collect(),
        other => vec![other],
    }
}

/// Returns the class of a raised exception, or its name.
pub(crate) fn error_name(exception: &Expression) -> Option<String> {
    use testwright_source::tree::ExpressionKind;
    let named = match &exception.kind {
        ExpressionKind::Call { function, .. } => function,
        _ => exception,
    };
    let words = named.dotted_parts()?;
    words.last().map(|word| (*word).to_owned())
}
