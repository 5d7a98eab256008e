//! Tree of what an action does: events in order, and the points where its path splits.
//!
//! A branch that leaves the action (it returns, or fails) splits the path for good: the rest of the
//! body belongs to the branches that stay (Y5). A branch that comes back is one event among others
//! (Y4), so that there are as few paths as a reader would count.

use testwright_source::Range;

use crate::term::{EffectTerm, NameReference, Term};

/// Events and their end.
#[derive(Debug, Clone)]
pub(crate) struct ExecutionFlow {
    pub(crate) events: Vec<Event>,
    pub(crate) end: End,
}

/// End of a flow.
#[derive(Debug, Clone)]
pub(crate) enum End {
    /// Nothing more is done.
    Open,
    /// A value is returned.
    Return { value: Term, range: Range },
    /// The last event was a failure.
    Failed,
    /// The next round of the enclosing loop begins.
    Continue,
    /// The enclosing loop, which is of this kind, ends.
    Break(Round),
    /// The path splits.
    Split {
        condition: Term,
        then: Box<ExecutionFlow>,
        otherwise: Box<ExecutionFlow>,
        range: Range,
    },
    /// A limit was reached before this part was executed.
    Unexplored,
}

impl End {
    /// Returns true if no path continues after the flow.
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

/// Kind of loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Round {
    /// A round of `for`.
    Each,
    /// A round of `while`.
    While,
}

/// An event: something that happens.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) kind: EventKind,
    pub(crate) range: Range,
}

/// Kind of event.
#[derive(Debug, Clone)]
pub(crate) enum EventKind {
    /// Something changes, or is called for its effect.
    Change {
        change: EffectTerm,
        /// True if an entry is set that is known to be absent (E10), or a local gets its first
        /// value.
        is_new: bool,
        /// Names of the call's results from now on (Y3).
        giving: Vec<NameReference>,
    },
    /// Two variables swap their values (E22).
    Swap(Term, Term),
    /// Conditions are checked.
    Check(Vec<Term>),
    /// Assumptions: the following events happen only if these conditions hold.
    Assume(Vec<Term>),
    /// The action fails with this error, or with the current one if there is no name.
    Fail(Option<String>),
    /// A path that splits and joins again (Y4).
    Choice {
        condition: Term,
        then: Vec<Event>,
        otherwise: Vec<Event>,
    },
    /// A `for` loop (Y9).
    Each {
        targets: Vec<String>,
        iterable: Term,
        body: Vec<Event>,
    },
    /// A `while` loop (Y9).
    AsLongAs { condition: Term, body: Vec<Event> },
    /// Handler of a failure of the events before it (Y10).
    IfFails {
        errors: Vec<String>,
        body: Vec<Event>,
        /// True if the handler continues with what is described next.
        goes_on: bool,
    },
    /// Events that happen if the events before do not fail, where failed paths continue with what
    /// follows as well.
    IfDone(Vec<Event>),
    /// Events that happen if no round of the loop before it broke: because no element was left, or
    /// because the condition became false.
    IfCompleted {
        unless: Option<Term>,
        body: Vec<Event>,
    },
    /// The events before must fail with one of these errors.
    MustFail(Vec<String>),
    /// A value is returned, inside of a loop or a handler.
    Returns(Term),
    /// The enclosing loop ends.
    Ends(Round),
    /// After a failure, what follows is not done, in a loop for this round.
    Stops(Option<Round>),
    /// The events before, or the next ones, may also change these variables.
    Touch { targets: Vec<Term>, is_ahead: bool },
    /// Source text that cannot be read.
    Python(String),
}

impl ExecutionFlow {
    /// Returns the events of a flow whose branches all come back. Splits become choices.
    pub(crate) fn settled(self) -> Vec<Event> {
        let ExecutionFlow { mut events, end } = self;
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

    /// Returns true if the path does not split and no event leaves it, so that the flow can stand
    /// in the middle of another one.
    pub(crate) fn is_straight(&self) -> bool {
        !self.is_split() && !self.events.iter().any(Event::returns)
    }

    /// Returns true if every path ends with a return, a failure or the end of the statements, and
    /// none leaves in the middle of an event.
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

    /// Returns true if the path splits somewhere.
    pub(crate) fn is_split(&self) -> bool {
        matches!(self.end, End::Split { .. } | End::Unexplored)
    }
}

impl Event {
    /// Returns true if a path leaves in the middle of it.
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

    /// Returns all terms, with those of the events inside.
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

    /// Collects the names of state variables that are passed to unknown calls, which may change
    /// them.
    pub(crate) fn handed_over(&self, names: &mut Vec<String>) {
        match &self.kind {
            EventKind::Change {
                change: EffectTerm::Call(term @ Term::Call(call)),
                ..
            } if term.is_unknown_call() => {
                let object = match &call.callee {
                    crate::term::CallTarget::Method { object, .. } => Some(object),
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

    /// Collects the names of state variables that it changes, with those of the events inside.
    pub(crate) fn changed(&self, names: &mut Vec<String>) {
        match &self.kind {
            EventKind::Change { change, .. } => {
                let target = match change {
                    EffectTerm::Assign { target, .. }
                    | EffectTerm::Augment { target, .. }
                    | EffectTerm::Delete(target) => Some(target),
                    EffectTerm::Call(call) => changed_by_call(call),
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

/// Returns the terms of a change.
pub(crate) fn change_terms(change: &EffectTerm) -> Vec<&Term> {
    match change {
        EffectTerm::Assign { target, value } | EffectTerm::Augment { target, value, .. } => {
            vec![target, value]
        }
        EffectTerm::Delete(term) | EffectTerm::Call(term) => vec![term],
    }
}

/// Returns the object that a call changes: the object of a changing method, if its type is known.
pub(crate) fn changed_by_call(call: &Term) -> Option<&Term> {
    let Term::Call(call) = call else { return None };
    match &call.callee {
        crate::term::CallTarget::Method { object, name }
            if crate::term::MUTATING_METHODS.contains(&name.as_str())
                && object.type_of().is_built_in() =>
        {
            Some(object)
        }
        _ => None,
    }
}

/// Returns the state variable that contains a target.
pub(crate) fn root(target: &Term) -> Option<&NameReference> {
    match target {
        Term::Reference(reference) => {
            let is_state = matches!(reference.role, crate::term::NameRole::State { .. });
            is_state.then_some(reference)
        }
        Term::Item { object, .. } | Term::Slice { object, .. } | Term::Attribute { object, .. } => {
            root(object)
        }
        Term::Call(call) => match &call.callee {
            // `d.setdefault(k, []).append(x)` changes a part of `d`.
            crate::term::CallTarget::Method { object, name }
                if matches!(name.as_str(), "setdefault" | "get" | "values") =>
            {
                root(object)
            }
            _ => None,
        },
        _ => None,
    }
}
