//! What has to be so after the call, and what has to be pinned before it.

use std::collections::BTreeSet;

use super::access::{self, Access, Root};
use super::build::{Builder, HELPERS, Missing};
use super::code::Code;
use super::exercise::Exercised;
use super::plan::{Actual, Check, Exercise, How, Setup, StepCheck};
use super::{Completeness, Strength, name};
use crate::effects::Effect;
use crate::recording::{Outcome, Place, PlaceState, Step, StepAction, StepOutcome, Unit, UnitKind};
use crate::value::{Exception, NodeId, Object, ObjectId, Reference, Value};

/// Up to so many attributes are checked one by one.
const FEW: usize = 3;

/// More steps of a generator than this are not followed.
const STEPS: usize = 8;

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
    let is_creation = name::last(unit) == "__init__";
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
}

/// Globals and class attributes get the values that they had, unless a fresh import gives these anyway.
pub(super) fn pin_places(builder: &mut Builder<'_>) -> Result<(), Missing> {
    let call = builder.call;
    let effects = call.effects();
    for state in &call.places {
        let changes = changes(builder, state, &effects);
        if state.is_as_imported && !changes {
            continue;
        }
        let Some((owner, name)) = owner(builder, &state.place)? else {
            if changes {
                let what = "a variable of an enclosing function, or a default, that is changed";
                return Err(Missing(what.to_owned()));
            }
            continue;
        };
        match state.before {
            None => builder.setup.push(Setup::PinAbsent { owner, name }),
            Some(before) => match builder.value(before, &name) {
                Ok(value) => builder.setup.push(Setup::Pin { owner, name, value }),
                // Perhaps it is not needed; running the test tells.
                Err(_) if !changes => {}
                Err(missing) => return Err(Missing(format!("{name} is {}", missing.0))),
            },
        }
    }
    Ok(())
}

/// Whether a call changes what a place holds, or anything inside of it.
fn changes(builder: &Builder<'_>, state: &PlaceState, effects: &[Effect]) -> bool {
    let graph = &builder.call.values;
    match (state.before, state.after) {
        (Some(before), Some(after)) => {
            let rebound = effects.iter().any(
                |effect| matches!(effect, Effect::Rebound { place, .. } if *place == state.place),
            );
            rebound || !graph.is_alike(before, graph, after)
        }
        (None, None) => false,
        _ => true,
    }
}

/// The module or class that a place belongs to, and the name of the place in it.
fn owner(builder: &mut Builder<'_>, place: &Place) -> Result<Option<(Code, String)>, Missing> {
    Ok(match place {
        Place::Global { module, name } => Some((builder.scope.module(module), name.clone())),
        Place::ClassAttribute { class, name } => Some((builder.reference(class)?, name.clone())),
        Place::Cell { .. } | Place::Default { .. } => None,
    })
}

pub(super) fn verify(
    builder: &mut Builder<'_>,
    unit: &Unit,
    exercised: Exercised,
) -> Result<Verified, Missing> {
    let mut verifier = Verifier {
        builder,
        checks: Vec::new(),
        covered: BTreeSet::new(),
        unknown: None,
    };
    let exercise = verifier.outcome(unit, exercised)?;
    verifier.effects(unit)?;
    Ok(Verified {
        exercise,
        completeness: match verifier.unknown {
            Some(reason) => Completeness::Partial(reason),
            None => Completeness::Full,
        },
        checks: verifier.checks,
    })
}

struct Verifier<'b, 'a> {
    builder: &'b mut Builder<'a>,
    checks: Vec<Check>,
    /// Nodes that a check has compared completely.
    covered: BTreeSet<NodeId>,
    /// The first thing that could not be checked.
    unknown: Option<String>,
}

impl Verifier<'_, '_> {
    fn outcome(&mut self, unit: &Unit, exercised: Exercised) -> Result<Exercise, Missing> {
        let call = self.builder.call;
        let (code, is_creation) = match exercised {
            Exercised::Statement(code) => {
                return match call.outcome {
                    Outcome::Raised { .. } => Err(Missing("a statement that raises".to_owned())),
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
                self.result(*result);
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
            self.value(Actual::OfResult(String::new(), format!(".{name}")), *value);
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

    fn result(&mut self, result: NodeId) {
        let call = self.builder.call;
        let value = call.values.value(result);
        let has_other_results = self.builder.evidence.returns_values(call.unit);
        if *value == Value::None && !has_other_results {
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
    fn said(&self, object: ObjectId) -> Option<String> {
        if let Some(name) = self.builder.live.get(&object) {
            return Some(name.clone());
        }
        let call = self.builder.call;
        access::before(call).get(&object)?;
        let access = access::after(call).get(&object)?.clone();
        self.path(&access)
    }

    fn path(&self, access: &Access) -> Option<String> {
        let call = self.builder.call;
        let root = match access.root {
            Root::Argument(index) => {
                let argument = call.arguments.get(index)?;
                let object = call.values.object(argument.before)?;
                self.builder.live.get(&object)?.clone()
            }
            Root::Place(index) => match &call.places.get(index)?.place {
                Place::Global { module, name } => {
                    format!("{}.{name}", self.builder.scope.module_name(module))
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
        if !found.arguments.is_empty() && !has_address {
            if let Ok(items) = self.items(&found.arguments) {
                let actual = Actual::Caught("args".to_owned());
                let how = self.how_all(&found.arguments);
                self.checks
                    .push(Check::new(actual, how, Code::tuple(items)));
            }
        }
        let is_builtin = found.class.module == "builtins";
        for (name, value) in &found.attributes {
            if !is_builtin && !name.starts_with('_') {
                self.value(Actual::Caught(name.clone()), *value);
            }
        }
    }

    fn generator(&mut self, code: Code) -> Result<Exercise, Missing> {
        let call = self.builder.call;
        let steps = &call.steps;
        if steps.is_empty() {
            return Err(Missing("a generator that was never used".to_owned()));
        }
        let yielded: Option<Vec<NodeId>> = all_yielded(steps);
        let returns_nothing = steps.last().is_some_and(|step| {
            matches!(step.outcome, StepOutcome::Returned(value)
                if *call.values.value(value) == Value::None)
        });
        if let (Some(yielded), true) = (yielded, returns_nothing) {
            let items = self.items(&yielded)?;
            let how = self.how_all(&yielded);
            let check = Check::new(Actual::Result, how, Code::list(items));
            self.checks.push(check);
            return Ok(Exercise::Value(Code::call("list", vec![code])));
        }
        let mut checks = Vec::new();
        for step in steps.iter().take(STEPS) {
            checks.push(self.step(step)?);
        }
        Ok(Exercise::Steps(code, checks))
    }

    fn step(&mut self, step: &Step) -> Result<StepCheck, Missing> {
        let resumed = match &step.action {
            StepAction::Next => Code::text("next(generator)"),
            StepAction::Send(value) => {
                let value = self.builder.expected(*value)?;
                Code::call("generator.send", vec![value])
            }
            StepAction::Throw(error) => {
                let error = self.builder.expected(*error)?;
                Code::call("generator.throw", vec![error])
            }
            StepAction::Close => return Ok(StepCheck::Runs(Code::text("generator.close()"))),
        };
        Ok(match step.outcome {
            StepOutcome::Yielded(value) => {
                let expected = self.builder.expected(value)?;
                StepCheck::Gives(resumed, self.how(value), expected)
            }
            StepOutcome::Returned(value) => {
                let is_none = *self.builder.call.values.value(value) == Value::None;
                let expected = match is_none {
                    true => None,
                    false => Some(self.builder.expected(value)?),
                };
                StepCheck::Ends(resumed, expected)
            }
            StepOutcome::Raised(error) => {
                let Value::Exception(found) = self.builder.call.values.value(error) else {
                    return Err(Missing("an exception that is not known".to_owned()));
                };
                let class = self.builder.reference(&found.class)?;
                StepCheck::Raises(resumed, class)
            }
        })
    }

    fn async_generator(&mut self, code: Code) -> Result<Exercise, Missing> {
        let Some(yielded) = all_yielded(&self.builder.call.steps) else {
            return Err(Missing(
                "an asynchronous generator that was not used up".to_owned(),
            ));
        };
        let items = self.items(&yielded)?;
        self.builder.scope.module("asyncio");
        Ok(Exercise::Collected(code, Code::list(items)))
    }

    /// Everything that the call changed.
    fn effects(&mut self, unit: &Unit) -> Result<(), Missing> {
        let call = self.builder.call;
        let ways = access::after(call);
        let is_creation = name::last(unit) == "__init__";
        let created = is_creation
            .then(|| call.arguments.first())
            .flatten()
            .and_then(|own| call.values.object(own.before));
        let (places, objects): (Vec<Effect>, Vec<Effect>) = call
            .effects()
            .into_iter()
            .partition(|effect| matches!(effect, Effect::Rebound { .. }));
        for effect in objects {
            let Effect::Changed {
                object,
                before,
                after,
            } = effect
            else {
                continue;
            };
            if Some(object) == created || self.covered.contains(&after) {
                continue;
            }
            let named = self.builder.live.get(&object).cloned();
            let path = named.or_else(|| ways.get(&object).and_then(|way| self.path(way)));
            match path {
                Some(path) => self.changed(&path, before, after),
                None if is_creation => {}
                None => {
                    let what = "a change of an object that the test cannot reach";
                    self.unknown.get_or_insert_with(|| what.to_owned());
                }
            }
        }
        for effect in places {
            let Effect::Rebound { place, after, .. } = effect else {
                continue;
            };
            let Some((owner, name)) = owner(self.builder, &place)? else {
                continue;
            };
            match after {
                Some(after) => {
                    let actual = Actual::Code(Code::Text(format!("{}.{name}", owner.flat())));
                    let returned = matches!(call.outcome, Outcome::Returned(result)
                        if call.values.object(result).is_some()
                            && call.values.object(result) == call.values.object(after));
                    if returned || (is_creation && call.values.object(after) == created) {
                        let actual = Actual::OfResult(String::new(), String::new());
                        let place = Code::Text(format!("{}.{name}", owner.flat()));
                        self.checks.push(Check::new(actual, How::Is, place));
                    } else {
                        self.value(actual, after);
                    }
                }
                None => {
                    let asked = format!("hasattr({}, \"{name}\")", owner.flat());
                    self.is_false(asked);
                }
            }
        }
        Ok(())
    }

    fn is_false(&mut self, asked: String) {
        let actual = Actual::Code(Code::Text(asked));
        self.checks
            .push(Check::new(actual, How::False, Code::text("")));
    }

    /// An object that holds something else now.
    fn changed(&mut self, path: &str, before: NodeId, after: NodeId) {
        let graph = &self.builder.call.values;
        let (Value::Object(old), Value::Object(new)) = (graph.value(before), graph.value(after))
        else {
            self.value(Actual::Code(Code::text(path)), after);
            return;
        };
        let different = self.different(old, new);
        let gone: Vec<&String> = old
            .attributes
            .iter()
            .map(|(name, _)| name)
            .filter(|name| !new.attributes.iter().any(|(known, _)| known == *name))
            .collect();
        let is_same_content = match (old.content, new.content) {
            (Some(old), Some(new)) => graph.is_alike(old, graph, new),
            (None, None) => true,
            _ => false,
        };
        if different.len() > FEW || !is_same_content {
            self.value(Actual::Code(Code::text(path)), after);
            return;
        }
        self.covered.insert(after);
        for name in gone {
            self.is_false(format!("hasattr({path}, \"{name}\")"));
        }
        for (name, value) in different {
            self.value(Actual::Code(Code::Text(format!("{path}.{name}"))), value);
        }
    }

    /// The attributes that are new or hold something else.
    fn different(&self, old: &Object, new: &Object) -> Vec<(String, NodeId)> {
        let graph = &self.builder.call.values;
        let is_different = |(name, value): &&(String, NodeId)| {
            let before = old.attributes.iter().find(|(known, _)| known == name);
            !before.is_some_and(|(_, before)| {
                graph.object(*before) == graph.object(*value)
                    && (graph.object(*value).is_some() || graph.is_alike(*before, graph, *value))
            })
        };
        new.attributes
            .iter()
            .filter(is_different)
            .cloned()
            .collect()
    }

    /// Checks that `actual` is what is at a node, as well as that can be told.
    fn value(&mut self, actual: Actual, node: NodeId) {
        let graph = &self.builder.call.values;
        let by_identity = |code: &str| (How::Is, Code::text(code));
        let (actual, (how, expected)) = match graph.value(node) {
            Value::None => (actual, by_identity("None")),
            Value::Boolean(true) => (actual, by_identity("True")),
            Value::Boolean(false) => (actual, by_identity("False")),
            Value::NotImplemented => (actual, by_identity("NotImplemented")),
            Value::Iterator { remaining, .. } => {
                let how = self.how_all(&remaining.clone());
                match self.items(&remaining.clone()) {
                    Ok(items) => (wrapped("list", &actual), (how, Code::list(items))),
                    Err(missing) => return self.type_of(&actual, node, &missing.0),
                }
            }
            Value::Stream { content, .. } => {
                let content = *content;
                let actual = attribute(&actual, "getvalue()");
                return self.value(actual, content);
            }
            Value::Text(text) if has_address(text) => {
                let masked = super::literal::text(&without_addresses(text));
                self.builder.scope.from(HELPERS, "without_addresses");
                (wrapped("without_addresses", &actual), (How::Equal, masked))
            }
            Value::Generator { .. } => {
                return self.type_of(&actual, node, "what it gives is a generator");
            }
            _ => {
                let existing = graph
                    .object(node)
                    .filter(|object| self.is_other(*object, &actual));
                let name = existing.and_then(|object| self.builder.live.get(&object).cloned());
                if let Some(name) = name {
                    (actual, (How::Is, Code::Text(name)))
                } else {
                    match self.builder.expected(node) {
                        Ok(expected) => {
                            let how = self.how(node);
                            self.cover(node);
                            (actual, (how, expected))
                        }
                        Err(missing) => return self.type_of(&actual, node, &missing.0),
                    }
                }
            }
        };
        if how == How::Same {
            self.builder.scope.from(HELPERS, "assert_same");
        }
        self.checks.push(Check::new(actual, how, expected));
    }

    /// Whether an object is another one than the one that is looked at.
    fn is_other(&self, object: ObjectId, actual: &Actual) -> bool {
        let name = self.builder.live.get(&object);
        !matches!((name, actual), (Some(name), Actual::Code(Code::Text(text))) if name == text)
    }

    fn items(&mut self, nodes: &[NodeId]) -> Result<Vec<Code>, Missing> {
        let items = nodes.iter().map(|node| self.builder.expected(*node));
        items.collect()
    }

    fn cover(&mut self, node: NodeId) {
        let mut pending = vec![node];
        while let Some(node) = pending.pop() {
            if self.covered.insert(node) {
                pending.extend(self.builder.call.values.children(node));
            }
        }
    }

    /// The least that can be checked of a value that cannot be built.
    fn type_of(&mut self, actual: &Actual, node: NodeId, why: &str) {
        self.unknown.get_or_insert_with(|| why.to_owned());
        let graph = &self.builder.call.values;
        let (class, length) = match graph.value(node) {
            Value::List(items) => (Reference::new("builtins", "list"), Some(items.len())),
            Value::Tuple(items) => (Reference::new("builtins", "tuple"), Some(items.len())),
            Value::Set(items) => (Reference::new("builtins", "set"), Some(items.len())),
            Value::FrozenSet(items) => (Reference::new("builtins", "frozenset"), Some(items.len())),
            Value::Dictionary(items) => (Reference::new("builtins", "dict"), Some(items.len())),
            Value::Text(_) | Value::BrokenText(_) => (Reference::new("builtins", "str"), None),
            Value::Bytes(_) => (Reference::new("builtins", "bytes"), None),
            Value::Integer(_) | Value::LargeInteger(_) => (Reference::new("builtins", "int"), None),
            Value::Float(_) => (Reference::new("builtins", "float"), None),
            Value::Boolean(_) => (Reference::new("builtins", "bool"), None),
            Value::Generator { .. } => (Reference::new("types", "GeneratorType"), None),
            Value::Function(_) | Value::Method { .. } => {
                let asked = wrapped("callable", actual);
                self.checks
                    .push(Check::new(asked, How::True, Code::text("")));
                return;
            }
            Value::Omitted { class, length } => {
                let length = length.and_then(|length| usize::try_from(length).ok());
                (class.clone(), length)
            }
            Value::Object(Object { class, .. })
            | Value::Exception(Exception { class, .. })
            | Value::Unknown { class, .. }
            | Value::Made { callee: class, .. } => (class.clone(), None),
            _ => return,
        };
        self.of_type(actual, &class);
        if let Some(length) = length.filter(|_| self.builder.form.strength != Strength::Type) {
            let expected = Code::text(length.to_string());
            let check = Check::new(wrapped("len", actual), How::Equal, expected);
            self.checks.push(check);
        }
    }

    fn of_type(&mut self, actual: &Actual, class: &Reference) {
        if let Ok(class) = self.builder.reference(class) {
            let check = Check::new(actual.clone(), How::Instance, class);
            self.checks.push(check);
        }
    }

    fn how(&self, node: NodeId) -> How {
        self.how_all(&[node])
    }

    /// By `==` if that says what is meant for everything in these values.
    fn how_all(&self, nodes: &[NodeId]) -> How {
        let graph = &self.builder.call.values;
        if let [only] = nodes
            && matches!(
                graph.value(*only),
                Value::Reference(_) | Value::Member { .. }
            )
        {
            return How::Is;
        }
        let mut seen = BTreeSet::new();
        let mut pending = nodes.to_vec();
        while let Some(node) = pending.pop() {
            if !seen.insert(node) {
                continue;
            }
            // What is compared does not stand for itself.
            let is_named = !nodes.contains(&node)
                && graph
                    .object(node)
                    .is_some_and(|object| self.builder.live.contains_key(&object));
            let differs = match graph.value(node) {
                Value::Float(number) => number.0.is_nan(),
                Value::Object(object) => {
                    use crate::value::ObjectKind;
                    let has_equality = object.kind != ObjectKind::Plain
                        || (object.content.is_some() && object.attributes.is_empty())
                        || self.builder.knowledge.has_equality(&object.class);
                    !is_named && !(has_equality && self.builder.form.natural)
                }
                Value::Exception(_) | Value::Iterator { .. } | Value::Stream { .. } => !is_named,
                _ => false,
            };
            if differs {
                return How::Same;
            }
            if !is_named {
                pending.extend(graph.children(node));
            }
        }
        How::Equal
    }
}

/// What a generator gave from its beginning to its end, if it was only asked for the next value.
fn all_yielded(steps: &[Step]) -> Option<Vec<NodeId>> {
    let (last, rest) = steps.split_last()?;
    let is_next = |step: &Step| step.action == StepAction::Next;
    if !steps.iter().all(is_next) || !matches!(last.outcome, StepOutcome::Returned(_)) {
        return None;
    }
    rest.iter()
        .map(|step| match step.outcome {
            StepOutcome::Yielded(value) => Some(value),
            _ => None,
        })
        .collect()
}

/// `function(actual)`.
fn wrapped(function: &str, actual: &Actual) -> Actual {
    match actual {
        Actual::Result => Actual::OfResult(format!("{function}("), ")".to_owned()),
        Actual::OfResult(before, behind) => {
            Actual::OfResult(format!("{function}({before}"), format!("{behind})"))
        }
        Actual::Code(code) => Actual::Code(Code::call(function, vec![code.clone()])),
        Actual::Caught(name) => Actual::Caught(name.clone()),
    }
}

/// `actual.name`.
fn attribute(actual: &Actual, name: &str) -> Actual {
    match actual {
        Actual::Result => Actual::OfResult(String::new(), format!(".{name}")),
        Actual::OfResult(before, behind) => {
            Actual::OfResult(before.clone(), format!("{behind}.{name}"))
        }
        Actual::Code(code) => Actual::Code(Code::Text(format!("{}.{name}", code.flat()))),
        Actual::Caught(known) => Actual::Caught(format!("{known}.{name}")),
    }
}

/// Whether a text has the address of an object in it, as `<app.Cart object at 0x7f…>` does.
fn has_address(text: &str) -> bool {
    without_addresses(text) != text
}

/// The same text with `0x...` in the place of each address, as the helper does it.
fn without_addresses(text: &str) -> String {
    let mut pieces = text.split(" at 0x");
    let mut masked = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.trim_start_matches(|letter: char| letter.is_ascii_hexdigit());
        masked.push_str(if rest.len() == piece.len() {
            " at 0x"
        } else {
            " at 0x..."
        });
        masked.push_str(rest);
    }
    masked
}
