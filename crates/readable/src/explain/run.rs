//! Symbolic execution (6.3): what an action does, for all its inputs at once, without running anything.
//!
//! Expressions are substituted, never evaluated: a local is what it was given, a state variable is its name and how often it
//! has changed. Only a branch that leaves the action parts its ways. Everything has a limit, so that every text ends.

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
use super::flow::{End, Event, EventKind, Flow, Round};
use super::locate::Callable;
use crate::property::raised;
use crate::term::Term;
use attempt::Attempt;
use choose::leaves;
use finally::Finally;
use onward::Onward;
use scope::View;

/// What is known at a point of a way through an action.
#[derive(Debug, Clone, Default)]
pub(crate) struct Path {
    pub(crate) locals: BTreeMap<String, Term>,
    /// How often each state variable has changed.
    pub(crate) versions: BTreeMap<String, u32>,
    pub(crate) facts: Facts,
    /// What state variables were made of, by name and by how often they had changed then.
    between: BTreeMap<(String, u32), Term>,
    /// Since which change each state variable is the object that it is: what changed it later changed that object.
    same_since: BTreeMap<String, u32>,
    /// Locals that change in ways for which there is no expression: they are told of like state variables.
    loose: BTreeSet<String>,
    /// What the statement at hand has taken out of collections, and the place where it stands for itself.
    taken: Vec<(Range, Term)>,
    /// What the next statement has taken already.
    given: Vec<(Range, Term)>,
}

impl Path {
    /// Takes up how often variables have changed on another way that leads to the same place.
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

/// In which function statements stand.
#[derive(Debug, Clone)]
pub(crate) struct Frame<'w> {
    /// The text in which they stand.
    pub(crate) text: &'w str,
    /// Names that it declares to be global.
    globals: BTreeSet<String>,
    /// What it calls the object whose method it is.
    receiver: Option<String>,
    /// The helpers that are being looked into, outermost first.
    helpers: Vec<String>,
    /// Whether what ends here is an outcome of the action.
    counts: bool,
    /// In which kind of loop they stand, if they do, so that nothing can be called old or new (R10).
    round: Option<Round>,
    /// What is done at last, however it is left, outermost first.
    finally: Vec<Finally<'w>>,
    /// Where it goes on with what is returned here, if that is in the middle of a statement.
    onward: Option<Rc<Onward<'w>>>,
}

impl<'w> Frame<'w> {
    /// The frame of an action, guard or invariant; the first parameter of a method is what it calls its object.
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

    /// The same frame, in which these names are places that last: what they are given is told.
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

/// The names that a function declares to be global, wherever it does.
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

/// A flow, and what is known at its end if its ways do not part.
pub(crate) struct Ended {
    pub(crate) flow: Flow,
    pub(crate) path: Path,
}

/// The execution of one action, with its guards.
pub(crate) struct Execution<'w> {
    pub(crate) world: &'w World<'w>,
    definitions: RefCell<Vec<Definition>>,
    /// Outcomes that are complete.
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

    /// Whether something was left out because of a limit.
    pub(crate) fn limit_reached(&self) -> bool {
        self.limit_reached.get()
    }

    /// The meaning of an expression at a point of a way.
    pub(crate) fn term(&self, expression: &Expression, path: &Path, frame: &Frame<'w>) -> Term {
        let view = View {
            execution: self,
            path,
            frame,
        };
        Term::read(expression, frame.text, &view)
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
            flow: Flow {
                events,
                end: End::Unexplored,
            },
            path,
        }
    }

    fn is_full(&self, frame: &Frame<'w>) -> bool {
        frame.counts && self.completed.get() >= self.world.limits.outcomes
    }

    /// Executes one statement; the end of the flow, if it is one.
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

    /// Executes one statement, in which what is taken out first is known.
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
                    && let Some((errors, _)) = raised(manager)
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
            // Declarations, and what has no effect that anyone could see.
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

    /// What cannot be read is told as it is written (6.6).
    fn unread(&self, range: &Range, frame: &Frame<'w>, events: &mut Vec<Event>) {
        let text = frame.text.get(range.clone()).unwrap_or_default();
        let words: Vec<&str> = text.split_whitespace().collect();
        events.push(event(EventKind::Python(words.join(" ")), range));
    }

    /// Whether the facts decide a condition.
    fn decide(&self, condition: &Term, path: &Path) -> Option<bool> {
        path.facts.decide(&self.expanded(condition))
    }

    /// A condition as the facts of a path have it.
    fn with_fact(&self, path: &Path, condition: &Term, holds: bool) -> Path {
        let mut path = path.clone();
        path.facts.add(&self.expanded(condition), holds);
        path
    }
}

/// What a statement evaluates once, before it does anything.
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

/// An event at a place.
fn event(kind: EventKind, range: &Range) -> Event {
    Event {
        kind,
        range: range.clone(),
    }
}

/// The parts of a conjunction, in order.
pub(crate) fn conjuncts(condition: Term) -> Vec<Term> {
    match condition {
        Term::And(parts) => parts.into_iter().flat_map(conjuncts).collect(),
        other => vec![other],
    }
}

/// The class of what is raised, or the name of it.
pub(crate) fn error_name(exception: &Expression) -> Option<String> {
    use testwright_source::tree::ExpressionKind;
    let named = match &exception.kind {
        ExpressionKind::Call { function, .. } => function,
        _ => exception,
    };
    let words = named.dotted()?;
    words.last().map(|word| (*word).to_owned())
}
