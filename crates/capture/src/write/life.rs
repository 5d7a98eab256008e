//! Objects that can be made only by what was done to them: made as they were made, then changed as they were changed.
//!
//! Some state cannot be written down, such as a weak reference, or what a type in C keeps to itself. But the recording tells
//! how such an object came to be, and which calls changed it since. If the last of them left it as it is when the test needs
//! it, then making these calls again leads there.

use std::collections::BTreeMap;

use super::build::{Builder, Missing};
use super::code::Code;
use super::exercise::{Exercised, is_for_new_object, on_object};
use super::name;
use super::plan::Setup;
use super::scope::snake_case;
use crate::Graph;
use crate::recording::{Call, CallId, Outcome, Receiver, Recording, Unit};
use crate::value::{NodeId, ObjectId, Reference, Value};

/// Nobody follows a longer story.
const MOST_CHANGES: usize = 12;

/// An object of one execution.
type Individual = (u32, ObjectId);

/// What was done to the objects of a recording.
#[derive(Default)]
pub(super) struct Lives<'a> {
    /// The calls that gave an object which was not there before, the innermost first.
    births: BTreeMap<Individual, Vec<Deed<'a>>>,
    /// The calls of its methods that changed it, in order.
    changes: BTreeMap<Individual, Vec<Deed<'a>>>,
}

/// A call that gave or changed an object.
#[derive(Clone, Copy)]
struct Deed<'a> {
    call: &'a Call,
    unit: &'a Unit,
    /// The object afterwards.
    left: NodeId,
}

impl<'a> Lives<'a> {
    pub(super) fn of(recording: &'a Recording) -> Lives<'a> {
        let mut lives = Lives::default();
        for call in &recording.calls {
            let is_quiet = call.events.is_empty() && call.uncaptured.is_empty();
            let (Some(unit), Outcome::Returned(result), true) =
                (recording.unit(call.unit), &call.outcome, is_quiet)
            else {
                continue;
            };
            let deed = |left: NodeId| Deed { call, unit, left };
            if let Some((object, deed)) = made(call, unit, *result, deed) {
                let births = lives.births.entry((call.execution, object)).or_default();
                births.push(deed);
            } else if let Some((object, deed)) = changed(call, deed) {
                let changes = lives.changes.entry((call.execution, object)).or_default();
                changes.push(deed);
            }
        }
        for births in lives.births.values_mut() {
            births.sort_by_key(|deed| deed.call.end);
        }
        lives
    }

    /// How an object was made and changed before a moment, if it is as these calls left it: the ways to make it, the one that
    /// says most in a word first.
    fn before(
        &self,
        object: Individual,
        moment: CallId,
        (graph, node): (&Graph, NodeId),
    ) -> Vec<(Deed<'a>, Vec<Deed<'a>>)> {
        let is_past = |deed: &&Deed<'a>| deed.call.end.is_some_and(|end| end <= moment.0);
        let births = self.births.get(&object).into_iter().flatten();
        let mut ways = Vec::new();
        for birth in births.filter(is_past) {
            let changes = self.changes.get(&object).into_iter().flatten();
            let changes: Vec<Deed<'a>> = changes
                .filter(is_past)
                .filter(|deed| birth.call.end.is_some_and(|end| deed.call.id.0 >= end))
                .copied()
                .collect();
            let last = changes.last().unwrap_or(birth);
            let is_there = last.call.values.is_alike(last.left, graph, node);
            if is_there && changes.len() <= MOST_CHANGES {
                ways.push((*birth, changes));
            }
        }
        ways.reverse();
        ways
    }
}

/// The object that a call made, if it did.
fn made<'a>(
    call: &'a Call,
    unit: &Unit,
    result: NodeId,
    deed: impl Fn(NodeId) -> Deed<'a>,
) -> Option<(ObjectId, Deed<'a>)> {
    if name::last(unit) == "__init__" {
        let own = call.arguments.first()?;
        let object = call.values.object(own.before)?;
        let is_new = is_for_new_object(call) && !call.is_from_own_method;
        return is_new.then_some((object, deed(own.after?)));
    }
    let Value::Object(_) = call.values.value(result) else {
        return None;
    };
    let object = call.values.object(result)?;
    call.at_entry(object)
        .is_none()
        .then(|| (object, deed(result)))
}

/// The object that a call of its method changed, if it did.
fn changed<'a>(call: &'a Call, deed: impl Fn(NodeId) -> Deed<'a>) -> Option<(ObjectId, Deed<'a>)> {
    let Receiver::Instance(_) = call.receiver else {
        return None;
    };
    let own = call.arguments.first()?;
    let after = own.after?;
    let object = call.values.object(own.before)?;
    let is_same = call.values.is_alike(own.before, &call.values, after);
    (!is_same && !call.is_from_own_method).then(|| (object, deed(after)))
}

impl<'a> Builder<'a> {
    /// An object, by the calls that made it what it is.
    pub(super) fn lived(
        &mut self,
        graph: &'a Graph,
        node: NodeId,
        class: &Reference,
        name: Option<&str>,
    ) -> Option<Code> {
        // What a call should lead to is not found by making the call.
        if self.is_expecting() {
            return None;
        }
        let individual = (self.call.execution, graph.object(node)?);
        let moment = if std::ptr::eq(graph, &self.call.values) {
            self.call.id
        } else {
            self.moment
        };
        let lives = &self.evidence.lives;
        for (birth, changes) in lives.before(individual, moment, (graph, node)) {
            let stand = self.stand();
            let outer = self.moment;
            let told = self.told(birth, &changes, class, name);
            self.moment = outer;
            match told {
                Ok(code) => return Some(code),
                Err(_) => self.restore(stand),
            }
        }
        None
    }

    fn told(
        &mut self,
        birth: Deed<'a>,
        changes: &[Deed<'a>],
        class: &Reference,
        name: Option<&str>,
    ) -> Result<Code, Missing> {
        self.moment = birth.call.id;
        let code = self.repeated(birth, None)?;
        let (Exercised::Value(code) | Exercised::Statement(code) | Exercised::Creation(code)) =
            code;
        if changes.is_empty() {
            return Ok(code);
        }
        let name = match name {
            Some(name) => name.to_owned(),
            None => self.scope.variable(&snake_case(class.name())),
        };
        self.setup.push(Setup::Assign {
            target: name.clone(),
            code,
        });
        for change in changes {
            self.moment = change.call.id;
            let (Exercised::Value(code) | Exercised::Statement(code) | Exercised::Creation(code)) =
                self.repeated(*change, Some(&name))?;
            self.setup.push(Setup::Do(code));
        }
        Ok(Code::Text(name))
    }

    /// The call of a deed; `receiver` is the object that it changes, if it is not for making one.
    fn repeated(&mut self, deed: Deed<'a>, receiver: Option<&str>) -> Result<Exercised, Missing> {
        let Deed { call, unit, .. } = deed;
        let last = name::last(unit);
        Ok(match &call.receiver {
            Receiver::None => {
                let callable = self.reference(&name::importable(unit, call))?.flat();
                Exercised::Value(Code::call(&callable, self.arguments(call, unit, 0)?))
            }
            Receiver::Class(class) => {
                let class = self.reference(class)?.flat();
                let arguments = self.arguments(call, unit, 1)?;
                let callable = match last {
                    "__new__" => class,
                    _ => format!("{class}.{last}"),
                };
                Exercised::Value(Code::call(&callable, arguments))
            }
            Receiver::Instance(class) if receiver.is_none() && last == "__init__" => {
                let class = self.reference(class)?.flat();
                Exercised::Creation(Code::call(&class, self.arguments(call, unit, 1)?))
            }
            Receiver::Instance(_) => {
                let receiver = match receiver {
                    Some(receiver) => receiver.to_owned(),
                    None => {
                        let own = call.arguments.first();
                        let own = own.ok_or_else(|| Missing("not known".to_owned()))?;
                        self.code(&call.values, own.before, "")?.flat()
                    }
                };
                let arguments = self.arguments(call, unit, 1)?;
                on_object(self.knowledge.role(unit), &receiver, last, arguments)
            }
        })
    }
}
