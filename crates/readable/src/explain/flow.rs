//! What an action does, as a tree: events in order, and where its ways part.
//!
//! A branch that leaves the action (it returns, or fails) parts the ways for good: the rest of the body belongs to those who
//! stay. A branch that comes back is one event among others, so that ways are as few as a reader would count.

use testwright_source::Range;

use crate::term::{Change, Reference, Term};

/// Events, and how they end.
#[derive(Debug, Clone)]
pub(crate) struct Flow {
    pub(crate) events: Vec<Event>,
    pub(crate) end: End,
}

/// How a flow ends.
#[derive(Debug, Clone)]
pub(crate) enum End {
    /// Nothing more is done.
    Open,
    /// A value is returned.
    Return { value: Term, range: Range },
    /// The last event was a failure.
    Failed,
    /// The next round of the loop around begins.
    Continue,
    /// The loop around ends, which is of this kind.
    Break(Round),
    /// The ways part.
    Split {
        condition: Term,
        then: Box<Flow>,
        otherwise: Box<Flow>,
        range: Range,
    },
    /// A limit was reached before this could be looked at.
    Unexplored,
}

impl End {
    /// Whether nobody comes to what follows.
    pub(crate) fn leaves(&self) -> bool {
        match self {
            End::Return { .. } | End::Failed | End::Break(_) | End::Continue => true,
            End::Split {
                then, otherwise, ..
            } => then.end.leaves() && otherwise.end.leaves(),
            End::Open | End::Unexplored => false,
        }
    }
}

/// One time that something is done several times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Round {
    /// Of `for`.
    Each,
    /// Of `while`.
    While,
}

/// Something that happens.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) kind: EventKind,
    pub(crate) range: Range,
}

/// What happens.
#[derive(Debug, Clone)]
pub(crate) enum EventKind {
    /// Something changes, or is called for its effect.
    Change {
        change: Change,
        /// An entry is set of which it is known that it is not there yet (E10), or a local gets its first value.
        is_new: bool,
        /// What the result of the call is known as from now on (Y3).
        giving: Vec<Reference>,
    },
    /// Two variables swap their values (E22).
    Swap(Term, Term),
    /// Something is checked.
    Check(Vec<Term>),
    /// What follows is only done if these conditions hold.
    Assume(Vec<Term>),
    /// It fails with this error; without a name with the one at hand.
    Fail(Option<String>),
    /// Ways that part and meet again (Y4).
    Choice {
        condition: Term,
        then: Vec<Event>,
        otherwise: Vec<Event>,
    },
    /// `for` (Y9).
    Each {
        targets: Vec<String>,
        iterable: Term,
        body: Vec<Event>,
    },
    /// `while` (Y9).
    AsLongAs { condition: Term, body: Vec<Event> },
    /// What is done if what came before fails (Y10).
    IfFails {
        errors: Vec<String>,
        body: Vec<Event>,
        /// Whether what is told next is done then, too.
        goes_on: bool,
    },
    /// What is done if what came before does not fail, where those who have failed come to what follows as well.
    IfDone(Vec<Event>),
    /// What is done if no round of the loop before broke off: because nothing was left to look at, or because the condition
    /// no longer held.
    IfCompleted {
        unless: Option<Term>,
        body: Vec<Event>,
    },
    /// What came before must fail with one of these errors.
    MustFail(Vec<String>),
    /// Inside of a loop or of what is done after a failure: a value is returned.
    Returns(Term),
    /// No further round of the loop around.
    Ends(Round),
    /// After a failure: what follows is not done, in a loop for this round.
    Stops(Option<Round>),
    /// What was told before, or is told next, may also change these variables.
    Touch { targets: Vec<Term>, is_ahead: bool },
    /// What cannot be read, as it is written (6.6).
    Python(String),
}

impl Flow {
    /// The events of a flow whose ways all come back: those that part become choices.
    pub(crate) fn settled(self) -> Vec<Event> {
        let Flow { mut events, end } = self;
        match end {
            End::Open | End::Continue | End::Failed => {}
            End::Break(round) => events.push(Event {
                kind: EventKind::Ends(round),
                range: events.last().map_or(0..0, |event| event.range.clone()),
            }),
            End::Return { value, range } => events.push(Event {
                kind: EventKind::Returns(value),
                range,
            }),
            End::Split {
                condition,
                then,
                otherwise,
                range,
            } => {
                let kind = EventKind::Choice {
                    condition,
                    then: then.settled(),
                    otherwise: otherwise.settled(),
                };
                events.push(Event { kind, range });
            }
            End::Unexplored => events.push(Event {
                kind: EventKind::Python("...".to_owned()),
                range: 0..0,
            }),
        }
        events
    }

    /// Whether it comes to its end however it goes, so that what it does can stand in the middle of something else.
    pub(crate) fn is_straight(&self) -> bool {
        !self.is_split() && !self.events.iter().any(Event::returns)
    }

    /// Whether it says of each of its ways how it ends.
    pub(crate) fn parts_cleanly(&self) -> bool {
        let ends = match &self.end {
            End::Open | End::Failed | End::Return { .. } => true,
            End::Split {
                then, otherwise, ..
            } => then.parts_cleanly() && otherwise.parts_cleanly(),
            End::Break(_) | End::Continue | End::Unexplored => false,
        };
        ends && !self.events.iter().any(Event::returns)
    }

    /// Whether the ways part somewhere.
    pub(crate) fn is_split(&self) -> bool {
        matches!(self.end, End::Split { .. } | End::Unexplored)
    }
}

impl Event {
    /// Whether someone leaves in the middle of it.
    fn returns(&self) -> bool {
        let any = |events: &[Event]| events.iter().any(Event::returns);
        match &self.kind {
            EventKind::Returns(_) | EventKind::Stops(None) => true,
            EventKind::Choice {
                then, otherwise, ..
            } => any(then) || any(otherwise),
            EventKind::Each { body, .. }
            | EventKind::AsLongAs { body, .. }
            | EventKind::IfFails { body, .. }
            | EventKind::IfDone(body)
            | EventKind::IfCompleted { body, .. } => any(body),
            _ => false,
        }
    }

    /// The terms that it speaks of, those of the events inside included.
    pub(crate) fn terms(&self) -> Vec<&Term> {
        let mut found = Vec::new();
        self.gather(&mut found);
        found
    }

    fn gather<'e>(&'e self, found: &mut Vec<&'e Term>) {
        let mut inside = |events: &'e [Event]| {
            for event in events {
                event.gather(found);
            }
        };
        match &self.kind {
            EventKind::Change { change, .. } => found.extend(change_terms(change)),
            EventKind::Swap(one, other) => found.extend([one, other]),
            EventKind::Check(conditions) | EventKind::Assume(conditions) => {
                found.extend(conditions);
            }
            EventKind::Choice {
                condition,
                then,
                otherwise,
            } => {
                inside(then);
                inside(otherwise);
                found.push(condition);
            }
            EventKind::Each { iterable, body, .. } => {
                inside(body);
                found.push(iterable);
            }
            EventKind::AsLongAs { condition, body } => {
                inside(body);
                found.push(condition);
            }
            EventKind::IfFails { body, .. } | EventKind::IfDone(body) => inside(body),
            EventKind::IfCompleted { unless, body } => {
                inside(body);
                found.extend(unless);
            }
            EventKind::Returns(value) => found.push(value),
            EventKind::Touch { targets, .. } => found.extend(targets),
            EventKind::Fail(_)
            | EventKind::MustFail(_)
            | EventKind::Ends(_)
            | EventKind::Stops(_)
            | EventKind::Python(_) => {}
        }
    }

    /// The state variables that are given to calls of the system, which may do anything to them, by name.
    pub(crate) fn handed_over(&self, names: &mut Vec<String>) {
        match &self.kind {
            EventKind::Change {
                change: Change::Call(term @ Term::Call(call)),
                ..
            } if term.is_unknown_call() => {
                let object = match &call.callee {
                    crate::term::Callee::Method { object, .. } => Some(object),
                    _ => None,
                };
                let given = call.arguments.iter().chain(object).filter_map(root);
                names.extend(given.map(|variable| variable.name.clone()));
            }
            EventKind::Choice {
                then, otherwise, ..
            } => {
                for event in then.iter().chain(otherwise) {
                    event.handed_over(names);
                }
            }
            EventKind::Each { body, .. }
            | EventKind::AsLongAs { body, .. }
            | EventKind::IfFails { body, .. }
            | EventKind::IfDone(body)
            | EventKind::IfCompleted { body, .. } => {
                for event in body {
                    event.handed_over(names);
                }
            }
            _ => {}
        }
    }

    /// The state variables that it changes, by name, those of the events inside included.
    pub(crate) fn changed(&self, names: &mut Vec<String>) {
        match &self.kind {
            EventKind::Change { change, .. } => {
                let target = match change {
                    Change::Assign { target, .. }
                    | Change::Augment { target, .. }
                    | Change::Delete(target) => Some(target),
                    Change::Call(call) => changed_by_call(call),
                };
                names.extend(target.and_then(root).map(|root| root.name.clone()));
            }
            EventKind::Swap(one, other) => {
                let roots = [one, other].into_iter().filter_map(root);
                names.extend(roots.map(|root| root.name.clone()));
            }
            EventKind::Choice {
                then, otherwise, ..
            } => {
                for event in then.iter().chain(otherwise) {
                    event.changed(names);
                }
            }
            EventKind::Each { body, .. }
            | EventKind::AsLongAs { body, .. }
            | EventKind::IfFails { body, .. }
            | EventKind::IfDone(body)
            | EventKind::IfCompleted { body, .. } => {
                for event in body {
                    event.changed(names);
                }
            }
            EventKind::Touch { targets, .. } => {
                let roots = targets.iter().filter_map(root);
                names.extend(roots.map(|root| root.name.clone()));
            }
            EventKind::Check(_)
            | EventKind::Assume(_)
            | EventKind::Fail(_)
            | EventKind::MustFail(_)
            | EventKind::Returns(_)
            | EventKind::Ends(_)
            | EventKind::Stops(_)
            | EventKind::Python(_) => {}
        }
    }
}

/// The terms of a change.
pub(crate) fn change_terms(change: &Change) -> Vec<&Term> {
    match change {
        Change::Assign { target, value } | Change::Augment { target, value, .. } => {
            vec![target, value]
        }
        Change::Delete(term) | Change::Call(term) => vec![term],
    }
}

/// What a call changes: the object of a changing method, if that is of a known type.
pub(crate) fn changed_by_call(call: &Term) -> Option<&Term> {
    let Term::Call(call) = call else { return None };
    match &call.callee {
        crate::term::Callee::Method { object, name }
            if crate::term::CHANGING.contains(&name.as_str()) && object.type_of().is_built_in() =>
        {
            Some(object)
        }
        _ => None,
    }
}

/// The state variable in which a target lies.
pub(crate) fn root(target: &Term) -> Option<&Reference> {
    match target {
        Term::Reference(reference) => {
            let is_state = matches!(reference.role, crate::term::Role::State { .. });
            is_state.then_some(reference)
        }
        Term::Item { object, .. } | Term::Slice { object, .. } | Term::Attribute { object, .. } => {
            root(object)
        }
        Term::Call(call) => match &call.callee {
            // `d.setdefault(k, []).append(x)` changes what lies in `d`.
            crate::term::Callee::Method { object, name }
                if matches!(name.as_str(), "setdefault" | "get" | "values") =>
            {
                root(object)
            }
            _ => None,
        },
        _ => None,
    }
}
