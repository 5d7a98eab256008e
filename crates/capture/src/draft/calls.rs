//! The recorded calls of some modules, by definition.

use std::collections::{BTreeMap, BTreeSet};

use super::action::ArgumentSource;
use super::files::RecordedFiles;
use super::public_api::{Key, PublicApi};
use super::sample::{Sample, SampleKind};
use crate::recording::{Call, CallId, Interaction, Receiver, Recording};
use crate::value::{ImportPath, NodeId, Value};
use crate::write::{
    BareArguments, BuildError, ExpressionWriter, ImportScope, Knowledge, PythonCode, ValueCode,
    call_arguments,
};

/// The maximum length of a value; longer ones are left out.
const MAX_LENGTH: usize = 4000;

/// The form of a call: the keyword and the origin of each argument.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CallShape {
    /// The arguments, in order.
    pub(super) arguments: Vec<(Option<String>, ArgumentSource)>,
}

/// A call whose arguments can be written.
pub(super) struct ShapedCall<'a> {
    /// The arguments, in order.
    pub(super) arguments: Vec<ShapedArgument<'a>>,
}

/// An argument of such a call.
pub(super) struct ShapedArgument<'a> {
    /// The parameter, or the keyword of a collected argument.
    pub(super) parameter: &'a str,
    /// The keyword by which it is passed.
    pub(super) keyword: Option<&'a str>,
    /// The origin of its value, unless it has a sample.
    pub(super) source: ArgumentSource,
    /// The value as an expression.
    pub(super) sample: Option<Sample>,
    /// The recorded value.
    pub(super) node: NodeId,
}

/// The recorded calls of some modules.
pub(super) struct RecordedCalls<'a> {
    /// The recording.
    recording: &'a Recording,
    /// The writer of values.
    expressions: ExpressionWriter<'a>,
    /// The calls, by definition.
    by_definition: BTreeMap<Key, Vec<&'a Call>>,
    /// The numbers of calls, by definition.
    counts: BTreeMap<Key, u64>,
    /// The calls made by code outside of the modules.
    from_outside: BTreeSet<(u32, CallId)>,
    /// The module that ran as the main program.
    main_module: Option<String>,
    /// The working folders of the recorded processes.
    folders: Vec<String>,
    /// The files that the calls read.
    files: RecordedFiles,
    /// The modules that define what packages export, by package and name.
    defining_modules: BTreeMap<(String, String), String>,
}

impl<'a> RecordedCalls<'a> {
    /// Collects the calls of the modules of a public API.
    pub(super) fn collect(
        api: &PublicApi<'a>,
        recording: &'a Recording,
        knowledge: &'a Knowledge<'a>,
    ) -> RecordedCalls<'a> {
        let mut calls = RecordedCalls {
            recording,
            expressions: ExpressionWriter::new(recording, knowledge),
            by_definition: BTreeMap::new(),
            counts: BTreeMap::new(),
            from_outside: BTreeSet::new(),
            main_module: None,
            folders: Vec::new(),
            files: RecordedFiles::collect(recording),
            defining_modules: api.defining_modules(),
        };
        let mut keys: Vec<Option<Key>> = Vec::new();
        for unit in &recording.units {
            let found = knowledge.definition(unit);
            let found = found.filter(|(module, _)| api.module(&module.name).is_some());
            let key = found.map(|(module, found)| (module.name.clone(), found.first_line));
            if let Some(key) = &key {
                *calls.counts.entry(key.clone()).or_default() += unit.calls;
            }
            if let (Some((module, _)), "__main__") = (&key, unit.module.as_str()) {
                calls.main_module = Some(module.clone());
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
        let kept = kept_call_ids(recording);
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

    /// Returns the files that the calls read.
    pub(super) fn files(&self) -> &RecordedFiles {
        &self.files
    }

    /// Returns the importable names of modules that ran as the main program.
    pub(super) fn aliases(&self) -> BTreeMap<String, String> {
        let main = self.main_module.clone();
        // Values of the main program's own classes can be imported from it.
        let main = main.or_else(|| self.expressions.importable_program(self.recording));
        main.map(|name| ("__main__".to_owned(), name))
            .into_iter()
            .collect()
    }

    /// Returns the calls of a definition that satisfy a condition.
    pub(super) fn calls_of(&self, key: &Key, is_included: impl Fn(&Call) -> bool) -> Vec<&'a Call> {
        let calls = self.by_definition.get(key).into_iter().flatten();
        calls.copied().filter(|call| is_included(call)).collect()
    }

    /// Returns the number of calls of a definition, including those that were not kept.
    pub(super) fn count(&self, key: &Key) -> u64 {
        self.counts.get(key).copied().unwrap_or(0)
    }

    /// Returns the number of kept calls.
    pub(super) fn len(&self) -> usize {
        self.by_definition.values().map(Vec::len).sum()
    }

    /// Returns all calls made by code outside of the modules, in order.
    pub(super) fn calls_from_outside(&self) -> Vec<&'a Call> {
        let calls = self.recording.calls.iter();
        calls
            .filter(|call| self.from_outside.contains(&(call.execution, call.id)))
            .collect()
    }

    /// Returns true if a recorded class is a class of the modules.
    pub(super) fn is_same_class(&self, recorded: &ImportPath, class: &ImportPath) -> bool {
        self.defining_path(recorded) == *class
    }

    /// Returns true if code outside of the modules called a method on an object of a class.
    pub(super) fn is_receiver(&self, class: &ImportPath) -> bool {
        let is_on = |call: &&Call| matches!(&call.receiver, Receiver::Instance(found) if self.is_same_class(found, class));
        self.calls_from_outside().iter().any(is_on)
    }

    /// Returns the calls on objects of a class.
    pub(super) fn calls_on(&self, class: Option<&ImportPath>) -> Vec<&'a Call> {
        let Some(class) = class else {
            return Vec::new();
        };
        let is_on = |call: &&&Call| matches!(&call.receiver, Receiver::Instance(found) if self.is_same_class(found, class));
        let all = self.by_definition.values().flatten();
        all.filter(is_on).copied().collect()
    }

    /// Writes the arguments of a call, or returns the reason why one cannot be written.
    pub(super) fn shape_call(
        &self,
        call: &'a Call,
        skipped: usize,
        scope: &mut ImportScope,
        class_of: impl Fn(&ImportPath) -> Option<usize>,
    ) -> Result<ShapedCall<'a>, BuildError> {
        let unit = self.recording.unit(call.unit);
        let unit = unit.ok_or_else(|| BuildError("a call of nothing".to_owned()))?;
        let mut arguments = Vec::new();
        for argument in call_arguments(call, unit, skipped, BareArguments::ByPosition)? {
            let parameter = if argument.is_variadic {
                argument.keyword.unwrap_or(argument.parameter)
            } else {
                argument.parameter
            };
            let value = call.values.value(argument.node);
            let (source, sample) = match value {
                Value::None => (ArgumentSource::Text("None".to_owned()), None),
                Value::Object(object) if class_of(&self.defining_path(&object.class)).is_some() => {
                    let class = class_of(&self.defining_path(&object.class)).unwrap_or(0);
                    (ArgumentSource::Object(class), None)
                }
                _ => {
                    let sample = self.sample(call, argument.node, scope);
                    let sample = sample.map_err(|BuildError(reason)| {
                        BuildError(format!("`{}` is {reason}", argument.parameter))
                    })?;
                    (ArgumentSource::Text(String::new()), Some(sample))
                }
            };
            arguments.push(ShapedArgument {
                parameter,
                keyword: argument.keyword,
                source,
                sample,
                node: argument.node,
            });
        }
        Ok(ShapedCall { arguments })
    }

    /// Returns the values that a field had in recorded objects of a class.
    pub(super) fn field_samples(
        &self,
        class: &ImportPath,
        field: &str,
        scope: &mut ImportScope,
    ) -> Vec<Sample> {
        let mut samples = Vec::new();
        for call in self.by_definition.values().flatten() {
            for (_, node) in call.values.iter() {
                if let Value::Object(object) = &node.value
                    && self.is_same_class(&object.class, class)
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

    /// Returns the path of a class in the module that defines it. Packages may re-export classes
    /// under their own name.
    fn defining_path(&self, class: &ImportPath) -> ImportPath {
        let first = class.path.split('.').next().unwrap_or(&class.path);
        let offered = (class.module.clone(), first.to_owned());
        let module = match (&self.main_module, self.defining_modules.get(&offered)) {
            (Some(main), _) if class.module == "__main__" => main,
            (_, Some(definer)) => definer,
            _ => return class.clone(),
        };
        ImportPath::new(module.clone(), class.path.clone())
    }

    /// Writes a value for a harness.
    pub(super) fn sample(
        &self,
        call: &'a Call,
        node: NodeId,
        scope: &mut ImportScope,
    ) -> Result<Sample, BuildError> {
        let mut tried = scope.clone();
        let ValueCode {
            setup_lines: before,
            code,
        } = self.expressions.write_value(call, node, &mut tried)?;
        let imports = tried.imports();
        // Importing the program would run it.
        if imports.iter().any(|import| import.module == "__main__") {
            return Err(BuildError(
                "a part of the program that was recorded".to_owned(),
            ));
        }
        let kind = SampleKind::of_value(call.values.value(node));
        let before: Vec<String> = before
            .iter()
            .map(|line| self.files.with_variables(line))
            .collect();
        let whole = code.one_line();
        let replaced = self.files.with_variables(&whole);
        let code = if replaced == whole {
            code
        } else {
            PythonCode::text(replaced)
        };
        let sample = Sample {
            setup_lines: before,
            code,
            kind,
        };
        let flat = sample.full_text();
        if flat.chars().count() > MAX_LENGTH {
            return Err(BuildError("too long to be written".to_owned()));
        }
        if self
            .folders
            .iter()
            .any(|folder| flat.contains(folder.as_str()))
            || mentions_file(call, &flat)
        {
            return Err(BuildError("a path of one machine".to_owned()));
        }
        *scope = tried;
        Ok(sample)
    }
}

/// Returns true if a text contains the absolute path of a file that a call used.
fn mentions_file(call: &Call, text: &str) -> bool {
    call.events.iter().any(|event| match &event.external {
        Interaction::File { path, .. } => path.starts_with('/') && text.contains(path.as_str()),
        _ => false,
    })
}

/// Returns all calls that were kept.
fn kept_call_ids(recording: &Recording) -> BTreeSet<(u32, CallId)> {
    let calls = recording.calls.iter();
    calls.map(|call| (call.execution, call.id)).collect()
}

/// Returns true if a call has no recorded caller, or one that is outside of the modules. A caller
/// that was not kept may be inside, so it does not count.
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

/// Finds the definitions that code outside of these modules has called, by module and first name.
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
    let kept = kept_call_ids(recording);
    // Callers come before their callees in a recording.
    for call in &recording.calls {
        let Some(module) = module_of(call).filter(|module| is_inside(module)) else {
            continue;
        };
        inside.insert((call.execution, call.id));
        let name = recording
            .unit(call.unit)
            .map(|unit| unit.qualified_name.as_str());
        let first = name.and_then(|name| name.split('.').next());
        // Decorators are called while a module is imported, without a recorded caller.
        let is_decorator = |first: &str| decorators.contains(first);
        let first = first.filter(|first| !is_decorator(first));
        if let (true, Some(first)) = (is_from_outside(call, &kept, &inside), first) {
            used.insert((module, first.to_owned()));
        }
    }
    used
}
