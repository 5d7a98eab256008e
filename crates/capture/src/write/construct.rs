//! How objects of the program's own classes are made again: by their constructor if that is known to lead to the very state
//! that was recorded, else by their state.

use std::collections::{BTreeMap, BTreeSet};

use super::Knowledge;
use super::build::{Builder, HELPERS, Missing};
use super::code::Code;
use super::exercise::is_for_new_object;
use super::life::Lives;
use super::paths;
use super::plan::Setup;
use crate::Graph;
use crate::recording::{
    Call, CallId, Execution, Outcome, ParameterKind, Receiver, Recording, Unit, UnitId, UnitKind,
};
use crate::value::{Function, NodeId, Object, ObjectKind, Reference, Value};

/// What the recording as a whole tells about single calls.
#[derive(Default)]
pub(crate) struct Evidence<'a> {
    /// The recorded runs of constructors.
    by_class: BTreeMap<&'a Reference, Vec<Creation<'a>>>,
    /// The calls of functions that returned another function, by its module and qualified name.
    functions: BTreeMap<(&'a str, &'a str), Vec<Making<'a>>>,
    /// The calls of generators, by the call that made them.
    generators: BTreeMap<(u32, CallId), Vec<(&'a Call, &'a Unit)>>,
    /// The units that returned something in some call.
    returning: BTreeSet<UnitId>,
    /// What was done to each object.
    pub(super) lives: Lives<'a>,
    /// The script of each execution, as the command named it, and the folder it was run in.
    scripts: Vec<Option<(&'a str, &'a str)>>,
    temporary_folders: BTreeSet<String>,
}

/// A call, its unit, and what it returned.
pub(super) type Making<'a> = (&'a Call, &'a Unit, NodeId);

/// One run of `__init__` that did nothing but set up its object.
#[derive(Clone, Copy)]
struct Creation<'a> {
    call: &'a Call,
    unit: &'a Unit,
    /// The object afterwards.
    made: NodeId,
}

impl<'a> Evidence<'a> {
    pub(crate) fn of(recording: &'a Recording) -> Evidence<'a> {
        let mut by_class: BTreeMap<&Reference, Vec<Creation<'_>>> = BTreeMap::new();
        let mut returning = BTreeSet::new();
        let mut functions: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let mut generators: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let mut temporary_folders = BTreeSet::new();
        for call in &recording.calls {
            temporary_folders.extend(paths::temporary_folders(call));
            if let Outcome::Returned(result) = call.outcome
                && *call.values.value(result) != Value::None
            {
                returning.insert(call.unit);
            }
            let Some(unit) = recording.unit(call.unit) else {
                continue;
            };
            if let (UnitKind::Generator, Some(caller)) = (unit.kind, call.caller) {
                let key = (call.execution, caller);
                generators.entry(key).or_default().push((call, unit));
            }
            let is_quiet = call.events.is_empty() && call.uncaptured.is_empty();
            if let (Receiver::None, Outcome::Returned(result)) = (&call.receiver, &call.outcome)
                && let Value::Function(function) = call.values.value(*result)
                && is_quiet
            {
                let key = (function.module.as_str(), function.qualified_name.as_str());
                functions
                    .entry(key)
                    .or_default()
                    .push((call, unit, *result));
            }
            let (Receiver::Instance(class), Outcome::Returned(_)) = (&call.receiver, &call.outcome)
            else {
                continue;
            };
            let is_constructor =
                unit.qualified_name.ends_with(".__init__") && is_for_new_object(call);
            // A constructor called by that of a derived class has not made the whole object.
            let made = call.arguments.first().and_then(|own| own.after);
            if let (true, true, false, Some(made)) =
                (is_constructor, is_quiet, call.is_from_own_method, made)
            {
                by_class
                    .entry(class)
                    .or_default()
                    .push(Creation { call, unit, made });
            }
        }
        Evidence {
            by_class,
            functions,
            generators,
            returning,
            lives: Lives::of(recording),
            scripts: recording.executions.iter().map(script).collect(),
            temporary_folders,
        }
    }

    /// The file that was run as the program, and in which folder.
    pub(super) fn script(&self, execution: u32) -> Option<(&'a str, &'a str)> {
        *self.scripts.get(usize::try_from(execution).ok()?)?
    }

    /// The calls that returned a function like this one, and it.
    pub(super) fn made(&self, function: &Function) -> &[Making<'a>] {
        let wanted = (function.module.as_str(), function.qualified_name.as_str());
        let mut known = self.functions.iter();
        let found = known.find(|(name, _)| **name == wanted);
        found.map_or(&[], |(_, calls)| calls.as_slice())
    }

    /// The generators of a function that a call has made.
    pub(super) fn generators(&self, call: &Call, function: &Reference) -> Vec<&'a Call> {
        let made = self.generators.get(&(call.execution, call.id));
        let made = made.into_iter().flatten();
        let of_function = made.filter(|(_, unit)| unit.qualified_name == function.path);
        of_function.map(|(call, _)| *call).collect()
    }

    /// Whether `None` from a call says something, because its unit gives something else as well.
    pub(super) fn none_says_something(
        &self,
        knowledge: &Knowledge<'_>,
        unit: &Unit,
        call: &Call,
    ) -> bool {
        self.returning.contains(&call.unit) || knowledge.gives_values(unit)
    }

    /// Folders for a while, in which the program had files.
    pub(super) fn temporary_folders(&self) -> &BTreeSet<String> {
        &self.temporary_folders
    }

    /// The run that leads closest to an object, and the attributes that it leaves different.
    fn closest(
        &self,
        graph: &Graph,
        object: &Object,
    ) -> Option<(Creation<'a>, Vec<(String, NodeId)>)> {
        let creations = self.by_class.get(&object.class)?;
        let mut best: Option<(Creation<'a>, Vec<(String, NodeId)>)> = None;
        for creation in creations {
            let Some(different) = creation.different(graph, object) else {
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

fn script(execution: &Execution) -> Option<(&str, &str)> {
    let mut words = execution.command.iter().map(String::as_str);
    let script = words.find(|word| word.ends_with(".py"))?;
    Some((script, &execution.folder))
}

impl Creation<'_> {
    /// The attributes that an object has otherwise; nothing if it lacks one, since deleting is no way to make something.
    fn different(&self, graph: &Graph, object: &Object) -> Option<Vec<(String, NodeId)>> {
        let values = &self.call.values;
        let Value::Object(made) = values.value(self.made) else {
            return None;
        };
        let has = |name: &String| object.attributes.iter().any(|(known, _)| known == name);
        if !made.attributes.iter().all(|(name, _)| has(name)) {
            return None;
        }
        let is_different = |(name, node): &&(String, NodeId)| {
            let before = made.attributes.iter().find(|(known, _)| known == name);
            !before.is_some_and(|(_, before)| values.is_alike(*before, graph, *node))
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

impl<'a> Builder<'a> {
    /// Whether an object is made by its constructor and then changed, which needs a name for it.
    pub(super) fn is_made_in_steps(&self, graph: &Graph, node: NodeId) -> bool {
        let Value::Object(object) = graph.value(node) else {
            return false;
        };
        let closest = || self.evidence.closest(graph, object);
        self.form.constructors
            && object.content.is_none()
            && closest().is_some_and(|(_, different)| !different.is_empty())
    }

    /// An object: as its constructor made it, or from its state, or else by what was done to it.
    pub(super) fn object(
        &mut self,
        graph: &'a Graph,
        node: NodeId,
        object: &Object,
        name: Option<&str>,
    ) -> Result<Code, Missing> {
        let stand = self.stand();
        let missing = match self.by_state(graph, object, name) {
            Ok(code) => return Ok(code),
            Err(missing) => missing,
        };
        // Something around it that is being made right now has to come first.
        if self.is_open() {
            return Err(missing);
        }
        self.restore(stand);
        self.lived(graph, node, &object.class, name).ok_or(missing)
    }

    fn by_state(
        &mut self,
        graph: &'a Graph,
        object: &Object,
        name: Option<&str>,
    ) -> Result<Code, Missing> {
        if !object.is_importable {
            let class = &object.class;
            return Err(Missing(format!(
                "an object of {class}, which cannot be imported"
            )));
        }
        let class = self.reference(&object.class)?.flat();
        if let (ObjectKind::NamedTuple, Some(content)) = (object.kind, object.content)
            && let Value::Tuple(items) = graph.value(content)
        {
            let items = items.iter().map(|item| self.code(graph, *item, ""));
            let items = items.collect::<Result<Vec<Code>, Missing>>()?;
            return Ok(Code::call(&class, items));
        }
        if self.form.constructors && object.content.is_none() {
            if let Some((creation, different)) = self.evidence.closest(graph, object)
                && (different.is_empty() || name.is_some())
            {
                let stand = self.stand();
                match self.constructed(&class, creation, graph, &different, name) {
                    Ok(code) => return Ok(code),
                    Err(_) => self.restore(stand),
                }
            }
            let is_empty = object.kind == ObjectKind::Plain && object.attributes.is_empty();
            if is_empty && self.knowledge.is_made_of_nothing(&object.class) {
                return Ok(Code::call(&class, Vec::new()));
            }
            if object.kind != ObjectKind::Plain {
                return self.record(&class, graph, object);
            }
        }
        self.rebuilt(&class, graph, object, name)
    }

    /// `Class(arguments)` as recorded, then the attributes that are different.
    fn constructed(
        &mut self,
        class: &str,
        creation: Creation<'a>,
        graph: &'a Graph,
        different: &[(String, NodeId)],
        name: Option<&str>,
    ) -> Result<Code, Missing> {
        let code = self.arguments(creation.call, creation.unit, 1)?;
        let code = Code::call(class, code);
        let Some(name) = name.filter(|_| !different.is_empty()) else {
            return Ok(code);
        };
        let mut later = Vec::new();
        for (attribute, value) in different {
            let target = format!("{name}.{attribute}");
            if let Some(value) = self.part(graph, *value, Some(name), || format!(".{attribute}"))? {
                later.push((target, value));
            }
        }
        // The object has to exist before its attributes are set.
        self.setup.push(Setup::Assign {
            target: name.to_owned(),
            code,
        });
        for (target, code) in later {
            self.setup.push(Setup::Assign { target, code });
        }
        Ok(Code::text(name))
    }

    /// A class whose constructor takes its fields.
    fn record(&mut self, class: &str, graph: &'a Graph, object: &Object) -> Result<Code, Missing> {
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
            let value = self.code(graph, *value, attribute)?;
            items.push(Code::keyword(name, value));
        }
        Ok(Code::call(class, items))
    }

    /// By state alone: without its constructor, attribute by attribute.
    fn rebuilt(
        &mut self,
        class: &str,
        graph: &'a Graph,
        object: &Object,
        name: Option<&str>,
    ) -> Result<Code, Missing> {
        let mut items = vec![Code::text(class)];
        if let Some(content) = object.content {
            items.push(self.code(graph, content, "")?);
        }
        for (attribute, value) in &object.attributes {
            let value = self.part(graph, *value, name, || format!(".{attribute}"))?;
            items.extend(value.map(|value| Code::keyword(attribute, value)));
        }
        let rebuilt = self.scope.from(HELPERS, "rebuilt").flat();
        Ok(Code::call(&rebuilt, items))
    }

    /// The arguments of a recorded call from the `skipped`th on, as they are written in a call.
    pub(super) fn arguments(
        &mut self,
        call: &'a Call,
        unit: &Unit,
        skipped: usize,
    ) -> Result<Vec<Code>, Missing> {
        let mut items = Vec::new();
        for given in given(call, unit, skipped, Bare::ByName)? {
            let parameter = given.parameter;
            let code = match self.code(&call.values, given.node, given.hint()) {
                Err(_) if self.is_lenient && !given.is_one_of_many => self.placeholder(parameter),
                code => code.map_err(|missing| {
                    Missing(format!("argument '{parameter}' is {}", missing.0))
                })?,
            };
            items.push(match given.keyword {
                Some(name) => Code::keyword(name, code),
                None => code,
            });
        }
        Ok(items)
    }
}

/// What becomes of numbers, booleans and `None` behind the second argument, of which nobody can tell what they mean.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bare {
    /// They go by name.
    ByName,
    /// They go by position like all others.
    ByPosition,
}

/// An argument that has to be written in a call.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    /// The parameter that it is bound to.
    pub(crate) parameter: &'a str,
    /// The name by which it is given.
    pub(crate) keyword: Option<&'a str>,
    /// Its value at entry.
    pub(crate) node: NodeId,
    /// Whether it is one of those that `*` or `**` collects.
    pub(crate) is_one_of_many: bool,
}

impl<'a> Given<'a> {
    /// What its value may be called.
    fn hint(&self) -> &'a str {
        if self.is_one_of_many {
            self.keyword.unwrap_or("")
        } else {
            self.parameter
        }
    }
}

/// The arguments of a recorded call from the `skipped`th on that have to be written, and how: those that are the default are
/// not, and behind one that is left out all go by name.
pub(crate) fn given<'a>(
    call: &'a Call,
    unit: &Unit,
    skipped: usize,
    bare: Bare,
) -> Result<Vec<Given<'a>>, Missing> {
    let mut items = Vec::new();
    let graph = &call.values;
    let pairs = call.arguments.iter().zip(&unit.parameters).skip(skipped);
    // What goes to `*args` needs everything before it by position.
    let by_position = pairs.clone().any(|(argument, parameter)| {
        parameter.kind == ParameterKind::Positionals
            && matches!(graph.value(argument.before), Value::Tuple(rest) if !rest.is_empty())
    });
    let mut by_name = false;
    for (position, (argument, parameter)) in pairs.enumerate() {
        let is_placed = by_position
            && matches!(
                parameter.kind,
                ParameterKind::PositionalOnly | ParameterKind::Normal
            );
        if argument.is_default && !is_placed {
            by_name = true;
            continue;
        }
        let one = Given {
            parameter: &argument.name,
            keyword: None,
            node: argument.before,
            is_one_of_many: false,
        };
        match (parameter.kind, graph.value(argument.before)) {
            (ParameterKind::Positionals, Value::Tuple(rest)) => {
                items.extend(rest.iter().map(|item| Given {
                    node: *item,
                    is_one_of_many: true,
                    ..one
                }));
            }
            (ParameterKind::Keywords, Value::Dictionary(rest)) => {
                for (key, value) in rest {
                    let Value::Text(key) = graph.value(*key) else {
                        return Err(Missing("a keyword that is no text".to_owned()));
                    };
                    items.push(Given {
                        keyword: Some(key),
                        node: *value,
                        is_one_of_many: true,
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
                    ParameterKind::PositionalOnly => false,
                    ParameterKind::KeywordOnly => true,
                    _ if is_placed => false,
                    _ => by_name || (is_bare && position >= 2 && bare == Bare::ByName),
                };
                items.push(Given {
                    keyword: named.then_some(argument.name.as_str()),
                    ..one
                });
                // Nothing by position may follow what goes by name.
                by_name |= named;
            }
        }
    }
    Ok(items)
}
