//! The recorded calls of some modules, by what they called.

use std::collections::{BTreeMap, BTreeSet};

use super::action::What;
use super::files::Files;
use super::sample::{Kind, Sample};
use super::surface::{Key, Surface};
use crate::recording::{Call, CallId, External, Receiver, Recording};
use crate::value::{NodeId, Reference, Value};
use crate::write::{Bare, Code, Expressed, Expressions, Knowledge, Missing, Scope, given};

/// Values that are longer than this are not written at all.
const LONGEST: usize = 4000;

/// How something is called: each argument's name, if it is given by name, and what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape {
    pub(super) arguments: Vec<(Option<String>, What)>,
}

/// A call with its arguments as they can be written.
pub(super) struct Shaped<'a> {
    pub(super) arguments: Vec<ShapedArgument<'a>>,
}

/// An argument of it.
pub(super) struct ShapedArgument<'a> {
    /// The parameter, or the name by which it is given.
    pub(super) parameter: &'a str,
    pub(super) keyword: Option<&'a str>,
    /// What it is, unless it is a value.
    pub(super) what: What,
    /// The value.
    pub(super) sample: Option<Sample>,
    pub(super) node: NodeId,
}

/// The calls of a recording.
pub(super) struct Calls<'a> {
    recording: &'a Recording,
    expressions: Expressions<'a>,
    by_definition: BTreeMap<Key, Vec<&'a Call>>,
    counts: BTreeMap<Key, u64>,
    /// The calls that code outside of the modules made.
    from_outside: BTreeSet<(u32, CallId)>,
    /// The module that ran as the program.
    main: Option<String>,
    /// Folders of the machine on which the program ran.
    folders: Vec<String>,
    files: Files,
    /// Which module defines what a package offers, by package and name.
    definers: BTreeMap<(String, String), String>,
}

impl<'a> Calls<'a> {
    pub(super) fn of_surface(
        surface: &Surface<'a>,
        recording: &'a Recording,
        knowledge: &'a Knowledge<'a>,
    ) -> Calls<'a> {
        let mut calls = Calls {
            recording,
            expressions: Expressions::of(recording, knowledge),
            by_definition: BTreeMap::new(),
            counts: BTreeMap::new(),
            from_outside: BTreeSet::new(),
            main: None,
            folders: Vec::new(),
            files: Files::of(recording),
            definers: surface.definers(),
        };
        let mut keys: Vec<Option<Key>> = Vec::new();
        for unit in &recording.units {
            let found = knowledge.definition(unit);
            let found = found.filter(|(module, _)| surface.module(&module.name).is_some());
            let key = found.map(|(module, found)| (module.name.clone(), found.first_line));
            if let Some(key) = &key {
                *calls.counts.entry(key.clone()).or_default() += unit.calls;
            }
            if let (Some((module, _)), "__main__") = (&key, unit.module.as_str()) {
                calls.main = Some(module.clone());
            }
            keys.push(key);
        }
        let of_unit = |call: &Call| keys.get(call.unit.0 as usize).and_then(Option::as_ref);
        let inside: BTreeSet<(u32, CallId)> = recording
            .calls
            .iter()
            .filter(|call| of_unit(call).is_some())
            .map(|call| (call.execution, call.id))
            .collect();
        let kept = kept(recording);
        for call in &recording.calls {
            let Some(key) = of_unit(call) else {
                continue;
            };
            calls
                .by_definition
                .entry(key.clone())
                .or_default()
                .push(call);
            if is_from_outside(call, &kept, &inside) {
                calls.from_outside.insert((call.execution, call.id));
            }
        }
        let folders = recording
            .executions
            .iter()
            .map(|execution| execution.folder.clone());
        calls.folders = folders.filter(|folder| folder.len() > 1).collect();
        calls
    }

    /// The files that the calls read.
    pub(super) fn files(&self) -> &Files {
        &self.files
    }

    /// The names of modules that ran as the program, for a scope.
    pub(super) fn aliases(&self) -> BTreeMap<String, String> {
        let main = self.main.clone();
        // What a program gave to these modules is its own, and can be had from it.
        let main = main.or_else(|| self.expressions.program(self.recording));
        main.map(|name| ("__main__".to_owned(), name))
            .into_iter()
            .collect()
    }

    /// The calls of a definition that are meant.
    pub(super) fn of(&self, key: &Key, is_meant: impl Fn(&Call) -> bool) -> Vec<&'a Call> {
        let calls = self.by_definition.get(key).into_iter().flatten();
        calls.copied().filter(|call| is_meant(call)).collect()
    }

    /// How often a definition was called, calls that were not kept included.
    pub(super) fn count(&self, key: &Key) -> u64 {
        self.counts.get(key).copied().unwrap_or(0)
    }

    /// How many calls there are.
    pub(super) fn len(&self) -> usize {
        self.by_definition.values().map(Vec::len).sum()
    }

    /// All calls that code outside of the modules made, in order.
    pub(super) fn made_outside(&self) -> Vec<&'a Call> {
        let calls = self.recording.calls.iter();
        calls
            .filter(|call| self.from_outside.contains(&(call.execution, call.id)))
            .collect()
    }

    /// Whether a recorded class is a class of the modules.
    pub(super) fn is(&self, recorded: &Reference, class: &Reference) -> bool {
        self.plain(recorded) == *class
    }

    /// Whether code outside of the modules called something on an object of a class.
    pub(super) fn is_receiver(&self, class: &Reference) -> bool {
        let is_on = |call: &&Call| matches!(&call.receiver, Receiver::Instance(found) if self.is(found, class));
        self.made_outside().iter().any(is_on)
    }

    /// The calls on objects of a class.
    pub(super) fn on(&self, class: Option<&Reference>) -> Vec<&'a Call> {
        let Some(class) = class else {
            return Vec::new();
        };
        let is_on = |call: &&&Call| matches!(&call.receiver, Receiver::Instance(found) if self.is(found, class));
        let all = self.by_definition.values().flatten();
        all.filter(is_on).copied().collect()
    }

    /// A call with its arguments as they can be written.
    pub(super) fn shaped(
        &self,
        call: &'a Call,
        skipped: usize,
        scope: &mut Scope,
        class_of: impl Fn(&Reference) -> Option<usize>,
    ) -> Result<Shaped<'a>, Missing> {
        let unit = self.recording.unit(call.unit);
        let unit = unit.ok_or_else(|| Missing("a call of nothing".to_owned()))?;
        let mut arguments = Vec::new();
        for given in given(call, unit, skipped, Bare::ByPosition)? {
            let parameter = if given.is_one_of_many {
                given.keyword.unwrap_or(given.parameter)
            } else {
                given.parameter
            };
            let value = call.values.value(given.node);
            let (what, sample) = match value {
                Value::None => (What::Text("None".to_owned()), None),
                Value::Object(object) if class_of(&self.plain(&object.class)).is_some() => {
                    let class = class_of(&self.plain(&object.class)).unwrap_or(0);
                    (What::Object(class), None)
                }
                _ => {
                    let sample = self.sample(call, given.node, scope);
                    let sample = sample.map_err(|Missing(reason)| {
                        Missing(format!("`{}` is {reason}", given.parameter))
                    })?;
                    (What::Text(String::new()), Some(sample))
                }
            };
            arguments.push(ShapedArgument {
                parameter,
                keyword: given.keyword,
                what,
                sample,
                node: given.node,
            });
        }
        Ok(Shaped { arguments })
    }

    /// The values that a field had in the records of a class that were seen.
    pub(super) fn field_samples(
        &self,
        class: &Reference,
        field: &str,
        scope: &mut Scope,
    ) -> Vec<Sample> {
        let mut samples = Vec::new();
        for call in self.by_definition.values().flatten() {
            for (_, node) in call.values.iter() {
                if let Value::Object(object) = &node.value
                    && self.is(&object.class, class)
                    && let Some((_, value)) =
                        object.attributes.iter().find(|(name, _)| name == field)
                    && let Ok(sample) = self.sample(call, *value, scope)
                    && !samples.contains(&sample)
                {
                    samples.push(sample);
                }
            }
        }
        samples
    }

    /// A class by the module that defines it. Packages let classes say that they are from where they are offered.
    fn plain(&self, class: &Reference) -> Reference {
        let first = class.path.split('.').next().unwrap_or(&class.path);
        let offered = (class.module.clone(), first.to_owned());
        let module = match (&self.main, self.definers.get(&offered)) {
            (Some(main), _) if class.module == "__main__" => main,
            (_, Some(definer)) => definer,
            _ => return class.clone(),
        };
        Reference::new(module.clone(), class.path.clone())
    }

    /// A value as something that a harness can write.
    pub(super) fn sample(
        &self,
        call: &'a Call,
        node: NodeId,
        scope: &mut Scope,
    ) -> Result<Sample, Missing> {
        let mut tried = scope.clone();
        let Expressed { before, code } = self.expressions.value(call, node, &mut tried)?;
        let imports = tried.imports();
        // Importing the program would run it.
        if imports.iter().any(|import| import.module == "__main__") {
            return Err(Missing(
                "a part of the program that was recorded".to_owned(),
            ));
        }
        let kind = Kind::of(call.values.value(node));
        let before: Vec<String> = before.iter().map(|line| self.files.said(line)).collect();
        let whole = code.flat();
        let said = self.files.said(&whole);
        let code = if said == whole {
            code
        } else {
            Code::text(said)
        };
        let sample = Sample { before, code, kind };
        let flat = sample.flat();
        if flat.chars().count() > LONGEST {
            return Err(Missing("too long to be written".to_owned()));
        }
        if self
            .folders
            .iter()
            .any(|folder| flat.contains(folder.as_str()))
            || names_file(call, &flat)
        {
            return Err(Missing("a path of one machine".to_owned()));
        }
        *scope = tried;
        Ok(sample)
    }
}

/// Whether a text names a file that a call used, by its whole path.
fn names_file(call: &Call, text: &str) -> bool {
    call.events.iter().any(|event| match &event.external {
        External::File { path, .. } => path.starts_with('/') && text.contains(path.as_str()),
        _ => false,
    })
}

/// All calls that were kept.
fn kept(recording: &Recording) -> BTreeSet<(u32, CallId)> {
    let calls = recording.calls.iter();
    calls.map(|call| (call.execution, call.id)).collect()
}

/// Whether nobody called it, or somebody who is known not to be inside. A caller that was not kept may be anybody.
fn is_from_outside(
    call: &Call,
    kept: &BTreeSet<(u32, CallId)>,
    inside: &BTreeSet<(u32, CallId)>,
) -> bool {
    call.caller.is_none_or(|caller| {
        let caller = (call.execution, caller);
        kept.contains(&caller) && !inside.contains(&caller)
    })
}

/// What code outside of these modules and those inside of them has called, by module and first name.
pub(super) fn used_from_outside(
    recording: &Recording,
    knowledge: &Knowledge<'_>,
    roots: &[String],
) -> BTreeSet<(String, String)> {
    let is_inside = |module: &str| {
        let rests = roots
            .iter()
            .filter_map(|root| module.strip_prefix(root.as_str()));
        rests
            .into_iter()
            .any(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let module_of = |call: &Call| {
        let unit = recording.unit(call.unit)?;
        knowledge
            .definition(unit)
            .map(|(module, _)| module.name.clone())
    };
    let modules = knowledge.project.modules.iter();
    let modules = modules.filter(|module| is_inside(&module.name));
    let decorators: BTreeSet<&str> = modules
        .flat_map(|module| &module.definitions)
        .flat_map(|definition| &definition.decorators)
        .filter_map(|text| text.split(['(', '.']).next())
        .collect();
    let mut inside: BTreeSet<(u32, CallId)> = BTreeSet::new();
    let mut used = BTreeSet::new();
    let kept = kept(recording);
    // A caller is entered before what it calls.
    for call in &recording.calls {
        let Some(module) = module_of(call).filter(|module| is_inside(module)) else {
            continue;
        };
        inside.insert((call.execution, call.id));
        let name = recording
            .unit(call.unit)
            .map(|unit| unit.qualified_name.as_str());
        let first = name.and_then(|name| name.split('.').next());
        // Decorators are called while a module is imported, by nobody who is recorded.
        let is_decorator = |first: &str| decorators.contains(first);
        let first = first.filter(|first| !is_decorator(first));
        if let (true, Some(first)) = (is_from_outside(call, &kept, &inside), first) {
            used.insert((module, first.to_owned()));
        }
    }
    used
}
