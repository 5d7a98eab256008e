//! Code for instances of the program's own classes.
//!
//! An object is built by its constructor if a recorded call of it led to the recorded state,
//! otherwise from its state, attribute by attribute.

use std::collections::{BTreeMap, BTreeSet};

use super::Knowledge;
use super::build::{BuildError, HELPERS, ValueBuilder};
use super::code::PythonCode;
use super::exercise::is_for_new_object;
use super::history::ObjectHistories;
use super::paths;
use super::plan::SetupStep;
use crate::ValueGraph;
use crate::recording::{
    BindingKind, Call, CallId, CallOutcome, CodeUnit, ProgramRun, Receiver, Recording, UnitId,
    UnitKind,
};
use crate::value::{ImportPath, InstanceValue, LocalFunction, NodeId, ObjectKind, Value};

/// An index of a recording, for questions that a single call does not answer.
#[derive(Default)]
pub(crate) struct RecordingIndex<'a> {
    /// The recorded calls of constructors, by class.
    by_class: BTreeMap<&'a ImportPath, Vec<Creation<'a>>>,
    /// The calls of functions that returned another function, by its module and qualified name.
    functions: BTreeMap<(&'a str, &'a str), Vec<ReturningCall<'a>>>,
    /// The calls of generators, by the call that made them.
    generators: BTreeMap<(u32, CallId), Vec<(&'a Call, &'a CodeUnit)>>,
    /// The units that returned a value other than `None` in some call.
    units_returning_values: BTreeSet<UnitId>,
    /// The calls that created and changed each object.
    pub(super) histories: ObjectHistories<'a>,
    /// The script of each execution, as the command named it, and the folder it ran in.
    scripts: Vec<Option<(&'a str, &'a str)>>,
    /// The temporary folders in which the program used files.
    temporary_folders: BTreeSet<String>,
}

/// A call, its unit, and its result.
pub(super) type ReturningCall<'a> = (&'a Call, &'a CodeUnit, NodeId);

/// A call of `__init__` that did nothing but set up its object.
#[derive(Clone, Copy)]
struct Creation<'a> {
    call: &'a Call,
    unit: &'a CodeUnit,
    /// The object afterwards.
    object_after: NodeId,
}

impl<'a> RecordingIndex<'a> {
    /// Indexes a recording.
    pub(crate) fn new(recording: &'a Recording) -> RecordingIndex<'a> {
        let mut by_class: BTreeMap<&ImportPath, Vec<Creation<'_>>> = BTreeMap::new();
        let mut units_returning_values = BTreeSet::new();
        let mut functions: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let mut generators: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let mut temporary_folders = BTreeSet::new();
        for call in &recording.calls {
            temporary_folders.extend(paths::temporary_folders(call));
            if let CallOutcome::Returned(result) = call.outcome
                && *call.values.value(result) != Value::None
            {
                units_returning_values.insert(call.unit);
            }
            let Some(unit) = recording.unit(call.unit) else {
                continue;
            };
            if let (UnitKind::Generator, Some(caller)) = (unit.kind, call.caller) {
                let key = (call.execution, caller);
                generators.entry(key).or_default().push((call, unit));
            }
            let is_quiet = call.events.is_empty() && call.uncaptured.is_empty();
            if let (Receiver::None, CallOutcome::Returned(result)) = (&call.receiver, &call.outcome)
                && let Value::Function(function) = call.values.value(*result)
                && is_quiet
            {
                let key = (function.module.as_str(), function.qualified_name.as_str());
                functions
                    .entry(key)
                    .or_default()
                    .push((call, unit, *result));
            }
            let (Receiver::Instance(class), CallOutcome::Returned(_)) =
                (&call.receiver, &call.outcome)
            else {
                continue;
            };
            let is_constructor =
                unit.qualified_name.ends_with(".__init__") && is_for_new_object(call);
            // The constructor of a base has not made the whole object.
            let made = call.arguments.first().and_then(|own| own.after);
            if let (true, true, false, Some(made)) =
                (is_constructor, is_quiet, call.is_from_own_method, made)
            {
                by_class.entry(class).or_default().push(Creation {
                    call,
                    unit,
                    object_after: made,
                });
            }
        }
        RecordingIndex {
            by_class,
            functions,
            generators,
            units_returning_values,
            histories: ObjectHistories::collect(recording),
            scripts: recording.executions.iter().map(script_of_run).collect(),
            temporary_folders,
        }
    }

    /// Returns the file that was run as the main program, and the working folder.
    pub(super) fn script(&self, execution: u32) -> Option<(&'a str, &'a str)> {
        *self.scripts.get(usize::try_from(execution).ok()?)?
    }

    /// Returns the calls that returned a function with the same definition, with their results.
    pub(super) fn calls_returning(&self, function: &LocalFunction) -> &[ReturningCall<'a>] {
        let wanted = (function.module.as_str(), function.qualified_name.as_str());
        let mut known = self.functions.iter();
        let found = known.find(|(name, _)| **name == wanted);
        found.map_or(&[], |(_, calls)| calls.as_slice())
    }

    /// Returns the generators of a function that a call has made.
    pub(super) fn generators(&self, call: &Call, function: &ImportPath) -> Vec<&'a Call> {
        let made = self.generators.get(&(call.execution, call.id));
        let made = made.into_iter().flatten();
        let of_function = made.filter(|(_, unit)| unit.qualified_name == function.path);
        of_function.map(|(call, _)| *call).collect()
    }

    /// Returns true if `None` from a call is worth a check, because its unit also returns other
    /// values.
    pub(super) fn is_none_meaningful(
        &self,
        knowledge: &Knowledge<'_>,
        unit: &CodeUnit,
        call: &Call,
    ) -> bool {
        self.units_returning_values.contains(&call.unit) || knowledge.returns_values(unit)
    }

    /// Returns the temporary folders in which the program used files.
    pub(super) fn temporary_folders(&self) -> &BTreeSet<String> {
        &self.temporary_folders
    }

    /// Finds the constructor call whose object comes closest to an object, and the attributes that
    /// differ.
    fn closest_creation(
        &self,
        graph: &ValueGraph,
        object: &InstanceValue,
    ) -> Option<(Creation<'a>, Vec<(String, NodeId)>)> {
        let creations = self.by_class.get(&object.class)?;
        let mut best: Option<(Creation<'a>, Vec<(String, NodeId)>)> = None;
        for creation in creations {
            let Some(different) = creation.differing_attributes(graph, object) else {
                continue;
            };
            let is_better = best
                .as_ref()
                .is_none_or(|(_, known)| different.len() < known.len());
            if is_better {
                best = Some((*creation, different));
            }
        }
        best.filter(|(_, different)| different.len() * 2 <= object.attributes.len())
    }
}

/// Returns the script that an execution ran, and its working folder.
fn script_of_run(execution: &ProgramRun) -> Option<(&str, &str)> {
    let mut words = execution.command.iter().map(String::as_str);
    let script = words.find(|word| word.ends_with(".py"))?;
    Some((script, &execution.folder))
}

impl Creation<'_> {
    /// Returns the attributes of `object` that differ; `None` if it lacks one, because tests do not
    /// delete attributes.
    fn differing_attributes(
        &self,
        graph: &ValueGraph,
        object: &InstanceValue,
    ) -> Option<Vec<(String, NodeId)>> {
        let values = &self.call.values;
        let Value::Object(made) = values.value(self.object_after) else {
            return None;
        };
        let has = |name: &String| object.attributes.iter().any(|(known, _)| known == name);
        if !made.attributes.iter().all(|(name, _)| has(name)) {
            return None;
        }
        let is_different = |(name, node): &&(String, NodeId)| {
            let before = made.attributes.iter().find(|(known, _)| known == name);
            !before.is_some_and(|(_, before)| values.is_isomorphic(*before, graph, *node))
        };
        Some(
            object
                .attributes
                .iter()
                .filter(is_different)
                .cloned()
                .collect(),
        )
    }
}

impl<'a> ValueBuilder<'a> {
    /// Returns true if an object is made by its constructor and then changed. That needs a name for
    /// it.
    pub(super) fn needs_attribute_changes(&self, graph: &ValueGraph, node: NodeId) -> bool {
        let Value::Object(object) = graph.value(node) else {
            return false;
        };
        let closest_creation = || self.index.closest_creation(graph, object);
        self.form.constructors
            && object.content.is_none()
            && closest_creation().is_some_and(|(_, different)| !different.is_empty())
    }

    /// Writes code for an object: by its constructor, from its state, or by repeating the calls
    /// that made it.
    pub(super) fn instance_code(
        &mut self,
        graph: &'a ValueGraph,
        node: NodeId,
        object: &InstanceValue,
        name: Option<&str>,
    ) -> Result<PythonCode, BuildError> {
        let checkpoint = self.checkpoint();
        let missing = match self.instance_code_without_history(graph, object, name) {
            Ok(code) => return Ok(code),
            Err(missing) => missing,
        };
        // An object around it that is being made has to come first.
        if self.is_blocked() {
            return Err(missing);
        }
        self.restore(checkpoint);
        self.repeat_history(graph, node, &object.class, name)
            .ok_or(missing)
    }

    /// Writes code for an object by its constructor or from its state.
    fn instance_code_without_history(
        &mut self,
        graph: &'a ValueGraph,
        object: &InstanceValue,
        name: Option<&str>,
    ) -> Result<PythonCode, BuildError> {
        if !object.is_importable {
            let class = &object.class;
            return Err(BuildError(format!(
                "an object of {class}, which cannot be imported"
            )));
        }
        let class = self.reference_code(&object.class)?.one_line();
        if let (ObjectKind::NamedTuple, Some(content)) = (object.kind, object.content)
            && let Value::Tuple(items) = graph.value(content)
        {
            let items = items.iter().map(|item| self.value_code(graph, *item, ""));
            let items = items.collect::<Result<Vec<PythonCode>, BuildError>>()?;
            return Ok(PythonCode::call(&class, items));
        }
        if self.form.constructors && object.content.is_none() {
            if let Some((creation, different)) = self.index.closest_creation(graph, object)
                && (different.is_empty() || name.is_some())
            {
                let checkpoint = self.checkpoint();
                match self.constructor_code(&class, creation, graph, &different, name) {
                    Ok(code) => return Ok(code),
                    Err(_) => self.restore(checkpoint),
                }
            }
            let is_empty = object.kind == ObjectKind::Plain && object.attributes.is_empty();
            if is_empty && self.knowledge.has_default_constructor(&object.class) {
                return Ok(PythonCode::call(&class, Vec::new()));
            }
            if object.kind != ObjectKind::Plain {
                return self.record_code(&class, graph, object);
            }
        }
        self.state_code(&class, graph, object, name)
    }

    /// Writes `Class(arguments)` as recorded, then assigns the attributes that differ.
    fn constructor_code(
        &mut self,
        class: &str,
        creation: Creation<'a>,
        graph: &'a ValueGraph,
        different: &[(String, NodeId)],
        name: Option<&str>,
    ) -> Result<PythonCode, BuildError> {
        let code = self.argument_codes(creation.call, creation.unit, 1)?;
        let code = PythonCode::call(class, code);
        let Some(name) = name.filter(|_| !different.is_empty()) else {
            return Ok(code);
        };
        let mut later = Vec::new();
        for (attribute, value) in different {
            let target = format!("{name}.{attribute}");
            if let Some(value) =
                self.build_part(graph, *value, Some(name), || format!(".{attribute}"))?
            {
                later.push((target, value));
            }
        }
        // The object has to exist before its attributes are set.
        self.setup.push(SetupStep::Assign {
            target: name.to_owned(),
            code,
        });
        for (target, code) in later {
            self.setup.push(SetupStep::Assign { target, code });
        }
        Ok(PythonCode::text(name))
    }

    /// Writes a constructor call with the fields of a record class.
    fn record_code(
        &mut self,
        class: &str,
        graph: &'a ValueGraph,
        object: &InstanceValue,
    ) -> Result<PythonCode, BuildError> {
        let mut items = Vec::new();
        let fields = self.knowledge.fields(&object.class);
        for (attribute, value) in &object.attributes {
            let skipped = fields
                .as_ref()
                .is_some_and(|fields| !fields.contains(attribute));
            if skipped || attribute.starts_with("__") {
                continue;
            }
            let name = match object.kind {
                ObjectKind::Attrs => attribute.trim_start_matches('_'),
                _ => attribute,
            };
            let value = self.value_code(graph, *value, attribute)?;
            items.push(PythonCode::keyword(name, value));
        }
        Ok(PythonCode::call(class, items))
    }

    /// Writes a call of the helper that sets the attributes without running the constructor.
    fn state_code(
        &mut self,
        class: &str,
        graph: &'a ValueGraph,
        object: &InstanceValue,
        name: Option<&str>,
    ) -> Result<PythonCode, BuildError> {
        let mut items = vec![PythonCode::text(class)];
        if let Some(content) = object.content {
            items.push(self.value_code(graph, content, "")?);
        }
        for (attribute, value) in &object.attributes {
            let value = self.build_part(graph, *value, name, || format!(".{attribute}"))?;
            items.extend(value.map(|value| PythonCode::keyword(attribute, value)));
        }
        let rebuilt = self.scope.import_name(HELPERS, "rebuilt").one_line();
        Ok(PythonCode::call(&rebuilt, items))
    }

    /// Writes the arguments of a recorded call from the `skipped`th on.
    pub(super) fn argument_codes(
        &mut self,
        call: &'a Call,
        unit: &CodeUnit,
        skipped: usize,
    ) -> Result<Vec<PythonCode>, BuildError> {
        let mut items = Vec::new();
        for argument in call_arguments(call, unit, skipped, BareArguments::ByName)? {
            let parameter = argument.parameter;
            let code = match self.value_code(&call.values, argument.node, argument.variable_hint())
            {
                Err(_) if self.is_lenient && !argument.is_variadic => self.placeholder(parameter),
                code => code.map_err(|missing| {
                    BuildError(format!("argument '{parameter}' is {}", missing.0))
                })?,
            };
            items.push(match argument.keyword {
                Some(name) => PythonCode::keyword(name, code),
                None => code,
            });
        }
        Ok(items)
    }
}

/// The treatment of numbers, booleans and `None` from the third argument on. Without a name,
/// readers cannot tell what they mean.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BareArguments {
    /// Pass them by name.
    ByName,
    /// Pass them by position like all others.
    ByPosition,
}

/// An argument as it has to be written in a call.
#[derive(Clone, Copy)]
pub(crate) struct CallArgument<'a> {
    /// The parameter that it is bound to.
    pub(crate) parameter: &'a str,
    /// The keyword by which it is passed, if any.
    pub(crate) keyword: Option<&'a str>,
    /// Its value at entry.
    pub(crate) node: NodeId,
    /// True if it is one of those that `*` or `**` collects.
    pub(crate) is_variadic: bool,
}

impl<'a> CallArgument<'a> {
    /// Returns a name for a variable that holds its value.
    fn variable_hint(&self) -> &'a str {
        if self.is_variadic {
            self.keyword.unwrap_or("")
        } else {
            self.parameter
        }
    }
}

/// Returns the arguments of a recorded call from the `skipped`th on that have to be written.
/// Defaults are left out, and after one that is left out all arguments are passed by name.
pub(crate) fn call_arguments<'a>(
    call: &'a Call,
    unit: &CodeUnit,
    skipped: usize,
    bare: BareArguments,
) -> Result<Vec<CallArgument<'a>>, BuildError> {
    let mut items = Vec::new();
    let graph = &call.values;
    let pairs = call.arguments.iter().zip(&unit.parameters).skip(skipped);
    // Arguments for `*args` require all arguments before them by position.
    let by_position = pairs.clone().any(|(argument, parameter)| {
        parameter.kind == BindingKind::Positionals
            && matches!(graph.value(argument.before), Value::Tuple(rest) if !rest.is_empty())
    });
    let mut by_name = false;
    for (position, (argument, parameter)) in pairs.enumerate() {
        let is_placed = by_position
            && matches!(
                parameter.kind,
                BindingKind::PositionalOnly | BindingKind::Normal
            );
        if argument.is_default && !is_placed {
            by_name = true;
            continue;
        }
        let one = CallArgument {
            parameter: &argument.name,
            keyword: None,
            node: argument.before,
            is_variadic: false,
        };
        match (parameter.kind, graph.value(argument.before)) {
            (BindingKind::Positionals, Value::Tuple(rest)) => {
                items.extend(rest.iter().map(|item| CallArgument {
                    node: *item,
                    is_variadic: true,
                    ..one
                }));
            }
            (BindingKind::Keywords, Value::Dictionary(rest)) => {
                for (key, value) in rest {
                    let Value::Text(key) = graph.value(*key) else {
                        return Err(BuildError("a keyword that is no text".to_owned()));
                    };
                    items.push(CallArgument {
                        keyword: Some(key),
                        node: *value,
                        is_variadic: true,
                        ..one
                    });
                }
            }
            (kind, value) => {
                let is_bare = matches!(
                    value,
                    Value::None
                        | Value::Boolean(_)
                        | Value::Integer(_)
                        | Value::LargeInteger(_)
                        | Value::Float(_)
                );
                let named = match kind {
                    BindingKind::PositionalOnly => false,
                    BindingKind::KeywordOnly => true,
                    _ if is_placed => false,
                    _ => by_name || (is_bare && position >= 2 && bare == BareArguments::ByName),
                };
                items.push(CallArgument {
                    keyword: named.then_some(argument.name.as_str()),
                    ..one
                });
                // No positional argument may follow a keyword argument.
                by_name |= named;
            }
        }
    }
    Ok(items)
}
