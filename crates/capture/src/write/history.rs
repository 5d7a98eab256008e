//! Objects that can be built only by repeating the calls that made and changed them.
//!
//! Some state cannot be written down, such as a weak reference or the private data of a C type. But
//! the recording shows which call created such an object, and which calls changed it since. If the
//! last of them left it in the state that the test needs, repeating these calls leads there.

use std::collections::BTreeMap;

use super::build::{BuildError, ValueBuilder};
use super::code::PythonCode;
use super::exercise::{CallCode, is_for_new_object, method_code};
use super::name;
use super::plan::SetupStep;
use super::scope::snake_case;
use crate::ValueGraph;
use crate::recording::{Call, CallId, CallOutcome, CodeUnit, Receiver, Recording};
use crate::value::{ImportPath, NodeId, ObjectId, Value};

/// The maximum number of changes that are repeated; longer histories are hard to follow.
const MAX_CHANGES: usize = 12;

/// An object of one execution.
type ObjectKey = (u32, ObjectId);

/// The calls that created and changed the objects of a recording.
#[derive(Default)]
pub(super) struct ObjectHistories<'a> {
    /// The calls that returned a new object, the innermost first.
    creations: BTreeMap<ObjectKey, Vec<HistoryCall<'a>>>,
    /// The calls of its methods that changed it, in order.
    changes: BTreeMap<ObjectKey, Vec<HistoryCall<'a>>>,
}

/// A call that created or changed an object.
#[derive(Clone, Copy)]
struct HistoryCall<'a> {
    call: &'a Call,
    unit: &'a CodeUnit,
    /// The object afterwards.
    after_call: NodeId,
}

impl<'a> ObjectHistories<'a> {
    /// Collects the histories of all objects. Calls that interact with the outside are left out.
    pub(super) fn collect(recording: &'a Recording) -> ObjectHistories<'a> {
        let mut histories = ObjectHistories::default();
        for call in &recording.calls {
            let is_quiet = call.events.is_empty() && call.uncaptured.is_empty();
            let (Some(unit), CallOutcome::Returned(result), true) =
                (recording.unit(call.unit), &call.outcome, is_quiet)
            else {
                continue;
            };
            let entry = |after_call: NodeId| HistoryCall {
                call,
                unit,
                after_call,
            };
            if let Some((object, entry)) = created_object(call, unit, *result, entry) {
                let creations = histories
                    .creations
                    .entry((call.execution, object))
                    .or_default();
                creations.push(entry);
            } else if let Some((object, entry)) = changed_object(call, entry) {
                let changes = histories
                    .changes
                    .entry((call.execution, object))
                    .or_default();
                changes.push(entry);
            }
        }
        for creations in histories.creations.values_mut() {
            creations.sort_by_key(|entry| entry.call.end);
        }
        histories
    }

    /// Returns the ways to build an object as it was at a time, if the recorded calls lead to that
    /// state. Each is a creating call with the changes since; the outermost creating call comes
    /// first, because it says most in a word.
    fn histories_until(
        &self,
        object: ObjectKey,
        as_of: CallId,
        (graph, node): (&ValueGraph, NodeId),
    ) -> Vec<(HistoryCall<'a>, Vec<HistoryCall<'a>>)> {
        let is_past = |entry: &&HistoryCall<'a>| entry.call.end.is_some_and(|end| end <= as_of.0);
        let creations = self.creations.get(&object).into_iter().flatten();
        let mut options = Vec::new();
        for creation in creations.filter(is_past) {
            let changes = self.changes.get(&object).into_iter().flatten();
            let changes: Vec<HistoryCall<'a>> = changes
                .filter(is_past)
                .filter(|entry| creation.call.end.is_some_and(|end| entry.call.id.0 >= end))
                .copied()
                .collect();
            let last = changes.last().unwrap_or(creation);
            let is_there = last.call.values.is_isomorphic(last.after_call, graph, node);
            if is_there && changes.len() <= MAX_CHANGES {
                options.push((*creation, changes));
            }
        }
        options.reverse();
        options
    }
}

/// Returns the object that a call created, if it did.
fn created_object<'a>(
    call: &'a Call,
    unit: &CodeUnit,
    result: NodeId,
    entry: impl Fn(NodeId) -> HistoryCall<'a>,
) -> Option<(ObjectId, HistoryCall<'a>)> {
    if name::last_name(unit) == "__init__" {
        let own = call.arguments.first()?;
        let object = call.values.object(own.before)?;
        let is_new = is_for_new_object(call) && !call.is_from_own_method;
        return is_new.then_some((object, entry(own.after?)));
    }
    let Value::Object(_) = call.values.value(result) else {
        return None;
    };
    let object = call.values.object(result)?;
    call.node_at_entry(object)
        .is_none()
        .then(|| (object, entry(result)))
}

/// Returns the object that a call of its method changed, if it did.
fn changed_object<'a>(
    call: &'a Call,
    entry: impl Fn(NodeId) -> HistoryCall<'a>,
) -> Option<(ObjectId, HistoryCall<'a>)> {
    let Receiver::Instance(_) = call.receiver else {
        return None;
    };
    let own = call.arguments.first()?;
    let after = own.after?;
    let object = call.values.object(own.before)?;
    let is_same = call.values.is_isomorphic(own.before, &call.values, after);
    (!is_same && !call.is_from_own_method).then(|| (object, entry(after)))
}

impl<'a> ValueBuilder<'a> {
    /// Builds an object by repeating the calls that led to its state.
    pub(super) fn repeat_history(
        &mut self,
        graph: &'a ValueGraph,
        node: NodeId,
        class: &ImportPath,
        name: Option<&str>,
    ) -> Option<PythonCode> {
        // The expected result of a call must not come from the same call.
        if self.is_expecting() {
            return None;
        }
        let key = (self.call.execution, graph.object(node)?);
        let as_of = if std::ptr::eq(graph, &self.call.values) {
            self.call.id
        } else {
            self.state_time
        };
        let histories = &self.index.histories;
        for (creation, changes) in histories.histories_until(key, as_of, (graph, node)) {
            let checkpoint = self.checkpoint();
            let outer = self.state_time;
            let repeated = self.history_code(creation, &changes, class, name);
            self.state_time = outer;
            match repeated {
                Ok(code) => return Some(code),
                Err(_) => self.restore(checkpoint),
            }
        }
        None
    }

    /// Writes the creating call, followed by the changes.
    fn history_code(
        &mut self,
        creation: HistoryCall<'a>,
        changes: &[HistoryCall<'a>],
        class: &ImportPath,
        name: Option<&str>,
    ) -> Result<PythonCode, BuildError> {
        self.state_time = creation.call.id;
        let code = self.repeat_call(creation, None)?;
        let (CallCode::Value(code) | CallCode::Statement(code) | CallCode::Creation(code)) = code;
        if changes.is_empty() {
            return Ok(code);
        }
        let name = match name {
            Some(name) => name.to_owned(),
            None => self.scope.variable(&snake_case(class.name())),
        };
        self.setup.push(SetupStep::Assign {
            target: name.clone(),
            code,
        });
        for change in changes {
            self.state_time = change.call.id;
            let (CallCode::Value(code) | CallCode::Statement(code) | CallCode::Creation(code)) =
                self.repeat_call(*change, Some(&name))?;
            self.setup.push(SetupStep::Evaluate(code));
        }
        Ok(PythonCode::Text(name))
    }

    /// Writes the call of a history entry. `receiver` is the object that it changes; `None` for a
    /// creating call.
    fn repeat_call(
        &mut self,
        entry: HistoryCall<'a>,
        receiver: Option<&str>,
    ) -> Result<CallCode, BuildError> {
        let HistoryCall { call, unit, .. } = entry;
        let last = name::last_name(unit);
        Ok(match &call.receiver {
            Receiver::None => {
                let callable = self
                    .reference_code(&name::import_path(unit, call))?
                    .one_line();
                CallCode::Value(PythonCode::call(
                    &callable,
                    self.argument_codes(call, unit, 0)?,
                ))
            }
            Receiver::Class(class) => {
                let class = self.reference_code(class)?.one_line();
                let arguments = self.argument_codes(call, unit, 1)?;
                let callable = match last {
                    "__new__" => class,
                    _ => format!("{class}.{last}"),
                };
                CallCode::Value(PythonCode::call(&callable, arguments))
            }
            Receiver::Instance(class) if receiver.is_none() && last == "__init__" => {
                let class = self.reference_code(class)?.one_line();
                CallCode::Creation(PythonCode::call(
                    &class,
                    self.argument_codes(call, unit, 1)?,
                ))
            }
            Receiver::Instance(_) => {
                let receiver = match receiver {
                    Some(receiver) => receiver.to_owned(),
                    None => {
                        let own = call.arguments.first();
                        let own = own.ok_or_else(|| BuildError("not known".to_owned()))?;
                        self.value_code(&call.values, own.before, "")?.one_line()
                    }
                };
                let arguments = self.argument_codes(call, unit, 1)?;
                method_code(self.knowledge.role(unit), &receiver, last, arguments)
            }
        })
    }
}
