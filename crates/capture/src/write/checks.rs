//! The verify phase of a test: assertions about the state after the call.

mod effects;
mod generators;
mod values;

use std::collections::BTreeSet;

use super::access::{self, AccessPath, Root};
use super::build::{BuildError, ValueBuilder};
use super::code::PythonCode;
use super::exercise::{CallCode, is_creation};
use super::plan::{ActualValue, Assertion, ComparisonKind, Exercise};
use super::{Completeness, Strength};
use crate::effects::CallEffect;
use crate::recording::{Call, CallOutcome, CodeUnit, ProgramVariable, Receiver, UnitKind};
use crate::value::{Exception, ImportPath, InstanceValue, NodeId, ObjectId, Value};
use values::{has_address, is_hash};

/// The exercise phase together with its assertions.
pub(super) struct Verification {
    /// The code that makes the call.
    pub(super) exercise: Exercise,
    /// The assertions, in order.
    pub(super) checks: Vec<Assertion>,
    /// The part of the behavior that they cover.
    pub(super) completeness: Completeness,
}

/// Marks objects that assertions will refer to, and the arguments that lead to them, as needing a
/// name.
pub(super) fn name_asserted_objects(builder: &mut ValueBuilder<'_>, unit: &CodeUnit) {
    let call = builder.call;
    let (before, after) = (access::paths_at_entry(call), access::paths_at_exit(call));
    let mut asserted: Vec<ObjectId> = Vec::new();
    for effect in call.effects() {
        if let CallEffect::Changed { object, .. } = effect {
            asserted.push(object);
        }
    }
    if let CallOutcome::Returned(result) = call.outcome {
        let is_constant = matches!(
            call.values.value(result),
            Value::EnumMember { .. } | Value::Reference(_)
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
            Root::Variable(_) => None,
        });
        let is_pinned = lead.is_some_and(|access| matches!(access.root, Root::Variable(_)));
        match through {
            Some(root) if after.contains_key(&object) => builder.require_name(root),
            None if is_pinned && after.contains_key(&object) => {}
            _ => builder.require_name(object),
        }
    }
    for object in retained_arguments(call) {
        builder.require_name(object);
    }
}

/// Finds arguments that are part of the result or of a changed object afterwards. Assertions refer
/// to them by name.
fn retained_arguments(call: &Call) -> Vec<ObjectId> {
    let graph = &call.values;
    let changed = call
        .effects()
        .into_iter()
        .filter_map(|effect| match effect {
            CallEffect::Changed { after, .. } => Some(after),
            CallEffect::Rebound { after, .. } => after,
        });
    let returned = match call.outcome {
        CallOutcome::Returned(result) => Some(result),
        _ => None,
    };
    let mut pending: Vec<NodeId> = changed.chain(returned).collect();
    let mut seen: BTreeSet<NodeId> = BTreeSet::new();
    while let Some(node) = pending.pop() {
        if seen.insert(node) {
            pending.extend(graph.children(node));
        }
    }
    let retained: BTreeSet<ObjectId> = seen
        .into_iter()
        .filter_map(|node| graph.object(node))
        .collect();
    let given = call.arguments.iter().map(|argument| argument.before);
    given
        .filter(|node| matches!(graph.value(*node), Value::Object(_)))
        .filter_map(|node| graph.object(node))
        .filter(|object| retained.contains(object))
        .collect()
}

/// Plans the exercise and verify phases of a test.
pub(super) fn verify(
    builder: &mut ValueBuilder<'_>,
    unit: &CodeUnit,
    exercised: CallCode,
) -> Result<Verification, BuildError> {
    let mut verifier = Verifier::new(builder);
    let exercise = verifier.plan_outcome(unit, exercised)?;
    verifier.check_effects(unit)?;
    Ok(Verification {
        exercise,
        completeness: verifier.completeness(),
        checks: verifier.checks,
    })
}

/// Plans an assertion that a method leaves its object unchanged, for calls with nothing else to
/// check. Returns `None` if the unit is no method or its object has no state.
pub(super) fn check_unchanged(
    builder: &mut ValueBuilder<'_>,
) -> Option<(Vec<Assertion>, Completeness)> {
    if builder.form.strength != Strength::All {
        return None;
    }
    let call = builder.call;
    let own = match call.receiver {
        Receiver::Instance(_) => call.arguments.first(),
        Receiver::Class(_) | Receiver::None => None,
    };
    let (object, after) = (call.values.object(own?.before)?, own?.after?);
    let name = builder.existing.get(&object)?.clone();
    let has_state = matches!(call.values.value(after), Value::Object(object)
        if object.content.is_some() || !object.attributes.is_empty());
    let mut verifier = Verifier::new(builder);
    if has_state {
        verifier.check_value(ActualValue::Code(PythonCode::Text(name)), after);
    }
    let completeness = verifier.completeness();
    Some((verifier.checks, completeness))
}

/// A builder of the assertions of one test.
struct Verifier<'b, 'a> {
    /// The builder of expected values.
    builder: &'b mut ValueBuilder<'a>,
    /// The assertions so far.
    checks: Vec<Assertion>,
    /// Nodes that an assertion compares completely.
    compared: BTreeSet<NodeId>,
    /// The reason for the first thing that could not be checked.
    unchecked_reason: Option<String>,
}

/// Names a bound method in terms of `result`, if it belongs to the new object or one of its
/// attributes.
fn method_of_part(made: NodeId, object: &InstanceValue, value: &Value) -> Option<String> {
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
    /// Creates a verifier without assertions.
    fn new(builder: &'b mut ValueBuilder<'a>) -> Verifier<'b, 'a> {
        Verifier {
            builder,
            checks: Vec::new(),
            compared: BTreeSet::new(),
            unchecked_reason: None,
        }
    }

    /// Returns the completeness of the assertions so far.
    fn completeness(&mut self) -> Completeness {
        match self.unchecked_reason.take() {
            Some(reason) => Completeness::Partial(reason),
            None => Completeness::Full,
        }
    }

    /// Plans the exercise phase, with assertions about the result or exception.
    fn plan_outcome(
        &mut self,
        unit: &CodeUnit,
        exercised: CallCode,
    ) -> Result<Exercise, BuildError> {
        let call = self.builder.call;
        let (code, is_creation) = match exercised {
            CallCode::Statement(code) => {
                return match call.outcome {
                    CallOutcome::Raised { exception, .. } => {
                        self.plan_raising_call(code, exception)
                    }
                    _ => Ok(Exercise::Statement(code)),
                };
            }
            CallCode::Value(code) => (code, false),
            CallCode::Creation(code) => (code, true),
        };
        match unit.kind {
            UnitKind::Generator => return self.plan_generator(code),
            UnitKind::AsyncGenerator => return self.plan_async_generator(code),
            UnitKind::Function | UnitKind::Coroutine => {}
        }
        let code = match unit.kind {
            UnitKind::Coroutine => {
                let asyncio = self.builder.scope.module("asyncio").one_line();
                PythonCode::call(&format!("{asyncio}.run"), vec![code])
            }
            _ => code,
        };
        match &call.outcome {
            CallOutcome::Returned(_) if is_creation => {
                self.check_creation();
                Ok(Exercise::Value(code))
            }
            CallOutcome::Returned(result) => {
                self.check_result(unit, *result);
                Ok(Exercise::Value(code))
            }
            CallOutcome::Raised { exception, .. } => self.plan_raising_call(code, *exception),
            CallOutcome::Unfinished => Err(BuildError("a call that did not end".to_owned())),
        }
    }

    /// Checks the attributes of a new object one by one. Comparing it with another new one would
    /// show nothing.
    fn check_creation(&mut self) {
        let call = self.builder.call;
        let Some(made) = call.arguments.first().and_then(|own| own.after) else {
            return;
        };
        self.compared.insert(made);
        let object = match call.values.value(made) {
            Value::Object(object) => object,
            Value::Exception(exception) => {
                self.check_new_exception(exception);
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
                let actual = ActualValue::AroundResult(format!("{kind}("), ")".to_owned());
                self.check_value(actual, content);
            }
        }
        for (name, value) in &object.attributes {
            let actual = ActualValue::AroundResult(String::new(), format!(".{name}"));
            match call.values.value(*value) {
                known if is_hash(name, known) => {}
                known => match method_of_part(made, object, known) {
                    Some(method) => {
                        let check =
                            Assertion::new(actual, ComparisonKind::Equal, PythonCode::Text(method));
                        self.checks.push(check);
                    }
                    None => self.check_value(actual, *value),
                },
            }
        }
        if object.attributes.is_empty() && object.content.is_none() {
            self.check_type(&ActualValue::Result, &object.class);
        }
    }

    /// Checks the arguments and attributes of a new exception.
    fn check_new_exception(&mut self, exception: &Exception) {
        let arguments = exception.arguments.clone();
        if let Ok(items) = self.expected_values(&arguments) {
            let actual = ActualValue::AroundResult(String::new(), ".args".to_owned());
            let comparison = self.comparison_for_all(&arguments);
            self.checks
                .push(Assertion::new(actual, comparison, PythonCode::tuple(items)));
        }
        for (name, value) in &exception.attributes {
            if !name.starts_with('_') {
                self.check_value(
                    ActualValue::AroundResult(String::new(), format!(".{name}")),
                    *value,
                );
            }
        }
    }

    /// Checks the result of a call. `None` is checked only if the unit also returns other values.
    fn check_result(&mut self, unit: &CodeUnit, result: NodeId) {
        let call = self.builder.call;
        let value = call.values.value(result);
        let is_none_meaningful =
            (self.builder.index).is_none_meaningful(self.builder.knowledge, unit, call);
        if *value == Value::None && !is_none_meaningful {
            return;
        }
        if self.builder.form.strength == Strength::Type {
            self.check_type_and_length(&ActualValue::Result, result, "what it returns varies");
            return;
        }
        let is_constant = matches!(value, Value::EnumMember { .. } | Value::Reference(_));
        let existing = call
            .values
            .object(result)
            .filter(|_| !is_constant)
            .and_then(|object| self.existing_code(object));
        match existing {
            Some(code) => {
                let check = Assertion::new(
                    ActualValue::Result,
                    ComparisonKind::Is,
                    PythonCode::Text(code),
                );
                self.checks.push(check);
            }
            None => self.check_value(ActualValue::Result, result),
        }
    }

    /// Returns an expression for an object that existed before the call: its name, or a path from a
    /// named one.
    fn existing_code(&mut self, object: ObjectId) -> Option<String> {
        if let Some(name) = self.builder.existing.get(&object) {
            return Some(name.clone());
        }
        let call = self.builder.call;
        access::paths_at_entry(call).get(&object)?;
        let access = access::paths_at_exit(call).get(&object)?.clone();
        self.access_code(&access)
    }

    /// Writes an access path as an expression.
    fn access_code(&mut self, access: &AccessPath) -> Option<String> {
        let call = self.builder.call;
        let root = match access.root {
            Root::Argument(index) => {
                let argument = call.arguments.get(index)?;
                let object = call.values.object(argument.before)?;
                self.builder.existing.get(&object)?.clone()
            }
            Root::Variable(index) => match &call.variables.get(index)?.variable {
                // Through the module, because the variable may be replaced there for the time of
                // the test.
                ProgramVariable::Global { module, name } => {
                    let module = ImportPath::new(module.clone(), "");
                    format!(
                        "{}.{name}",
                        self.builder.reference_code(&module).ok()?.one_line()
                    )
                }
                ProgramVariable::ClassAttribute { class, name } => format!("{}.{name}", class.path),
                ProgramVariable::ClosureVariable { .. } | ProgramVariable::Default { .. } => {
                    return None;
                }
            },
        };
        Some(format!("{root}{}", access.steps))
    }

    /// Plans a call that raises, with assertions about the exception.
    fn plan_raising_call(
        &mut self,
        code: PythonCode,
        exception: NodeId,
    ) -> Result<Exercise, BuildError> {
        let call = self.builder.call;
        let Value::Exception(found) = call.values.value(exception) else {
            return Err(BuildError("an exception that is not known".to_owned()));
        };
        if !found.is_importable {
            return Err(BuildError(format!(
                "{}, which cannot be imported",
                found.class
            )));
        }
        let class = self.builder.reference_code(&found.class)?;
        if self.builder.form.strength == Strength::All {
            self.check_exception_parts(found);
        }
        Ok(Exercise::Raises { call: code, class })
    }

    /// Checks the arguments and attributes of a raised exception.
    fn check_exception_parts(&mut self, found: &Exception) {
        let graph = &self.builder.call.values;
        let has_address = found
            .arguments
            .iter()
            .any(|node| matches!(graph.value(*node), Value::Text(text) if has_address(text)));
        if !found.arguments.is_empty()
            && !has_address
            && let Ok(items) = self.expected_values(&found.arguments)
        {
            let actual = ActualValue::ExceptionAttribute("args".to_owned());
            let comparison = self.comparison_for_all(&found.arguments);
            self.checks
                .push(Assertion::new(actual, comparison, PythonCode::tuple(items)));
        }
        let is_builtin = found.class.module == "builtins";
        for (name, value) in &found.attributes {
            if !is_builtin && !name.starts_with('_') {
                self.check_value(ActualValue::ExceptionAttribute(name.clone()), *value);
            }
        }
    }
}
