//! What has to be so after the call.

mod effects;
mod generators;
mod values;

use std::collections::BTreeSet;

use super::access::{self, Access, Root};
use super::build::{Builder, Missing};
use super::code::Code;
use super::exercise::{Exercised, is_creation};
use super::plan::{Actual, Check, Exercise, How};
use super::{Completeness, Strength};
use crate::effects::Effect;
use crate::recording::{Call, Outcome, Place, Receiver, Unit, UnitKind};
use crate::value::{Exception, NodeId, Object, ObjectId, Reference, Value};
use values::{has_address, is_hash};

/// What is called and what is checked.
pub(super) struct Verified {
    pub(super) exercise: Exercise,
    pub(super) checks: Vec<Check>,
    pub(super) completeness: Completeness,
}

/// Objects that checks will look at, and arguments that lead to them, need names.
pub(super) fn name_what_is_asserted(builder: &mut Builder<'_>, unit: &Unit) {
    let call = builder.call;
    let (before, after) = (access::before(call), access::after(call));
    let mut asserted: Vec<ObjectId> = Vec::new();
    for effect in call.effects() {
        if let Effect::Changed { object, .. } = effect {
            asserted.push(object);
        }
    }
    if let Outcome::Returned(result) = call.outcome {
        let is_constant = matches!(
            call.values.value(result),
            Value::Member { .. } | Value::Reference(_)
        );
        let object = call.values.object(result).filter(|_| !is_constant);
        asserted.extend(object.filter(|object| before.contains_key(object)));
    }
    let is_creation = is_creation(builder, unit);
    for object in asserted {
        let lead = after.get(&object).or_else(|| before.get(&object));
        let through = lead.and_then(|access| match access.root {
            Root::Argument(0) if is_creation => None,
            Root::Argument(index) => {
                let argument = call.arguments.get(index)?;
                call.values.object(argument.before)
            }
            Root::Place(_) => None,
        });
        let is_pinned = lead.is_some_and(|access| matches!(access.root, Root::Place(_)));
        match through {
            Some(root) if after.contains_key(&object) => builder.needs_name(root),
            None if is_pinned && after.contains_key(&object) => {}
            _ => builder.needs_name(object),
        }
    }
    for object in kept_arguments(call) {
        builder.needs_name(object);
    }
}

/// Objects that were given, and stand in what the call gives or changes afterwards: there they are said by their names.
fn kept_arguments(call: &Call) -> Vec<ObjectId> {
    let graph = &call.values;
    let changed = call
        .effects()
        .into_iter()
        .filter_map(|effect| match effect {
            Effect::Changed { after, .. } => Some(after),
            Effect::Rebound { after, .. } => after,
        });
    let returned = match call.outcome {
        Outcome::Returned(result) => Some(result),
        _ => None,
    };
    let mut pending: Vec<NodeId> = changed.chain(returned).collect();
    let mut seen: BTreeSet<NodeId> = BTreeSet::new();
    while let Some(node) = pending.pop() {
        if seen.insert(node) {
            pending.extend(graph.children(node));
        }
    }
    let kept: BTreeSet<ObjectId> = seen
        .into_iter()
        .filter_map(|node| graph.object(node))
        .collect();
    let given = call.arguments.iter().map(|argument| argument.before);
    given
        .filter(|node| matches!(graph.value(*node), Value::Object(_)))
        .filter_map(|node| graph.object(node))
        .filter(|object| kept.contains(object))
        .collect()
}

pub(super) fn verify(
    builder: &mut Builder<'_>,
    unit: &Unit,
    exercised: Exercised,
) -> Result<Verified, Missing> {
    let mut verifier = Verifier::new(builder);
    let exercise = verifier.outcome(unit, exercised)?;
    verifier.effects(unit)?;
    Ok(Verified {
        exercise,
        completeness: verifier.completeness(),
        checks: verifier.checks,
    })
}

/// That a method leaves its object as it was, which is something to check where there is nothing else; nothing if it is no
/// method, or its object has no state.
pub(super) fn unchanged(builder: &mut Builder<'_>) -> Option<(Vec<Check>, Completeness)> {
    if builder.form.strength != Strength::All {
        return None;
    }
    let call = builder.call;
    let own = match call.receiver {
        Receiver::Instance(_) => call.arguments.first(),
        Receiver::Class(_) | Receiver::None => None,
    };
    let (object, after) = (call.values.object(own?.before)?, own?.after?);
    let name = builder.live.get(&object)?.clone();
    let has_state = matches!(call.values.value(after), Value::Object(object)
        if object.content.is_some() || !object.attributes.is_empty());
    let mut verifier = Verifier::new(builder);
    if has_state {
        verifier.value(Actual::Code(Code::Text(name)), after);
    }
    let completeness = verifier.completeness();
    Some((verifier.checks, completeness))
}

struct Verifier<'b, 'a> {
    builder: &'b mut Builder<'a>,
    checks: Vec<Check>,
    /// Nodes that a check has compared completely.
    covered: BTreeSet<NodeId>,
    /// The first thing that could not be checked.
    unknown: Option<String>,
}

/// How a method is said that belongs to a new object or to one of its attributes.
fn method_of_part(made: NodeId, object: &Object, value: &Value) -> Option<String> {
    let Value::Method { receiver, name } = value else {
        return None;
    };
    if *receiver == made {
        return Some(format!("result.{name}"));
    }
    let mut attributes = object.attributes.iter();
    let (attribute, _) = attributes.find(|(_, part)| part == receiver)?;
    Some(format!("result.{attribute}.{name}"))
}

impl<'b, 'a> Verifier<'b, 'a> {
    fn new(builder: &'b mut Builder<'a>) -> Verifier<'b, 'a> {
        Verifier {
            builder,
            checks: Vec::new(),
            covered: BTreeSet::new(),
            unknown: None,
        }
    }

    fn completeness(&mut self) -> Completeness {
        match self.unknown.take() {
            Some(reason) => Completeness::Partial(reason),
            None => Completeness::Full,
        }
    }

    fn outcome(&mut self, unit: &Unit, exercised: Exercised) -> Result<Exercise, Missing> {
        let call = self.builder.call;
        let (code, is_creation) = match exercised {
            Exercised::Statement(code) => {
                return match call.outcome {
                    Outcome::Raised { exception, .. } => self.raised(code, exception),
                    _ => Ok(Exercise::Statement(code)),
                };
            }
            Exercised::Value(code) => (code, false),
            Exercised::Creation(code) => (code, true),
        };
        match unit.kind {
            UnitKind::Generator => return self.generator(code),
            UnitKind::AsyncGenerator => return self.async_generator(code),
            UnitKind::Function | UnitKind::Coroutine => {}
        }
        let code = match unit.kind {
            UnitKind::Coroutine => {
                let asyncio = self.builder.scope.module("asyncio").flat();
                Code::call(&format!("{asyncio}.run"), vec![code])
            }
            _ => code,
        };
        match &call.outcome {
            Outcome::Returned(_) if is_creation => {
                self.creation();
                Ok(Exercise::Value(code))
            }
            Outcome::Returned(result) => {
                self.result(unit, *result);
                Ok(Exercise::Value(code))
            }
            Outcome::Raised { exception, .. } => self.raised(code, *exception),
            Outcome::Unfinished => Err(Missing("a call that did not end".to_owned())),
        }
    }

    /// The attributes of a new object, one by one: comparing with another new one would say nothing.
    fn creation(&mut self) {
        let call = self.builder.call;
        let Some(made) = call.arguments.first().and_then(|own| own.after) else {
            return;
        };
        self.covered.insert(made);
        let object = match call.values.value(made) {
            Value::Object(object) => object,
            Value::Exception(exception) => {
                self.new_exception(exception);
                return;
            }
            _ => return,
        };
        if let Some(content) = object.content {
            let kind = match call.values.value(content) {
                Value::List(_) => "list",
                Value::Dictionary(_) => "dict",
                Value::Set(_) => "set",
                Value::Tuple(_) => "tuple",
                Value::Text(_) => "str",
                _ => "",
            };
            if !kind.is_empty() {
                let actual = Actual::OfResult(format!("{kind}("), ")".to_owned());
                self.value(actual, content);
            }
        }
        for (name, value) in &object.attributes {
            let actual = Actual::OfResult(String::new(), format!(".{name}"));
            match call.values.value(*value) {
                known if is_hash(name, known) => {}
                known => match method_of_part(made, object, known) {
                    Some(method) => {
                        let check = Check::new(actual, How::Equal, Code::Text(method));
                        self.checks.push(check);
                    }
                    None => self.value(actual, *value),
                },
            }
        }
        if object.attributes.is_empty() && object.content.is_none() {
            self.of_type(&Actual::Result, &object.class);
        }
    }

    fn new_exception(&mut self, exception: &Exception) {
        let arguments = exception.arguments.clone();
        if let Ok(items) = self.items(&arguments) {
            let actual = Actual::OfResult(String::new(), ".args".to_owned());
            let how = self.how_all(&arguments);
            self.checks
                .push(Check::new(actual, how, Code::tuple(items)));
        }
        for (name, value) in &exception.attributes {
            if !name.starts_with('_') {
                self.value(Actual::OfResult(String::new(), format!(".{name}")), *value);
            }
        }
    }

    fn result(&mut self, unit: &Unit, result: NodeId) {
        let call = self.builder.call;
        let value = call.values.value(result);
        let says_something =
            (self.builder.evidence).none_says_something(self.builder.knowledge, unit, call);
        if *value == Value::None && !says_something {
            return;
        }
        if self.builder.form.strength == Strength::Type {
            self.type_of(&Actual::Result, result, "what it returns varies");
            return;
        }
        let is_constant = matches!(value, Value::Member { .. } | Value::Reference(_));
        let existing = call
            .values
            .object(result)
            .filter(|_| !is_constant)
            .and_then(|object| self.said(object));
        match existing {
            Some(code) => {
                let check = Check::new(Actual::Result, How::Is, Code::Text(code));
                self.checks.push(check);
            }
            None => self.value(Actual::Result, result),
        }
    }

    /// How an object is said that existed before the call: by its name, or by a way from one.
    fn said(&mut self, object: ObjectId) -> Option<String> {
        if let Some(name) = self.builder.live.get(&object) {
            return Some(name.clone());
        }
        let call = self.builder.call;
        access::before(call).get(&object)?;
        let access = access::after(call).get(&object)?.clone();
        self.path(&access)
    }

    fn path(&mut self, access: &Access) -> Option<String> {
        let call = self.builder.call;
        let root = match access.root {
            Root::Argument(index) => {
                let argument = call.arguments.get(index)?;
                let object = call.values.object(argument.before)?;
                self.builder.live.get(&object)?.clone()
            }
            Root::Place(index) => match &call.places.get(index)?.place {
                // Not by a name of its own, as it may be replaced in its module for the time of the test.
                Place::Global { module, name } => {
                    let module = Reference::new(module.clone(), "");
                    format!("{}.{name}", self.builder.reference(&module).ok()?.flat())
                }
                Place::ClassAttribute { class, name } => format!("{}.{name}", class.path),
                Place::Cell { .. } | Place::Default { .. } => return None,
            },
        };
        Some(format!("{root}{}", access.steps))
    }

    fn raised(&mut self, code: Code, exception: NodeId) -> Result<Exercise, Missing> {
        let call = self.builder.call;
        let Value::Exception(found) = call.values.value(exception) else {
            return Err(Missing("an exception that is not known".to_owned()));
        };
        if !found.is_importable {
            return Err(Missing(format!(
                "{}, which cannot be imported",
                found.class
            )));
        }
        let class = self.builder.reference(&found.class)?;
        if self.builder.form.strength == Strength::All {
            self.exception_parts(found);
        }
        Ok(Exercise::Raises { call: code, class })
    }

    fn exception_parts(&mut self, found: &Exception) {
        let graph = &self.builder.call.values;
        let has_address = found
            .arguments
            .iter()
            .any(|node| matches!(graph.value(*node), Value::Text(text) if has_address(text)));
        if !found.arguments.is_empty()
            && !has_address
            && let Ok(items) = self.items(&found.arguments)
        {
            let actual = Actual::Caught("args".to_owned());
            let how = self.how_all(&found.arguments);
            self.checks
                .push(Check::new(actual, how, Code::tuple(items)));
        }
        let is_builtin = found.class.module == "builtins";
        for (name, value) in &found.attributes {
            if !is_builtin && !name.starts_with('_') {
                self.value(Actual::Caught(name.clone()), *value);
            }
        }
    }
}
