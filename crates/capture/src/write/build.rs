//! Turns recorded values into Python expressions that make them.

use std::collections::{BTreeMap, BTreeSet};

use super::code::PythonCode;
use super::construct::RecordingIndex;
use super::imported_objects::ImportedObjects;
use super::literal;
use super::paths::PathRewriter;
use super::plan::SetupStep;
use super::scope::{ImportScope, snake_case};
use super::test_doubles::{self, TestDouble};
use super::{Knowledge, TestForm};
use crate::ValueGraph;
use crate::recording::{Call, CallId};
use crate::value::{ImportPath, NodeId, ObjectId, Value};

/// The name of the helper module, as tests import it.
pub(crate) const HELPERS: &str = "testwright_helpers";

/// The reason why a value cannot be built, as the end of "it is …".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BuildError(pub(crate) String);

/// The maximum nesting of values in a test; deeper ones are unreadable.
const MAX_DEPTH: usize = 60;

/// A builder of expressions for the values of one call, and of the statements that have to come
/// before them.
pub(crate) struct ValueBuilder<'a> {
    /// The call that is tested.
    pub(super) call: &'a Call,
    /// The project's source.
    pub(super) knowledge: &'a Knowledge<'a>,
    /// The index of the recording.
    pub(super) index: &'a RecordingIndex<'a>,
    /// The form of the test.
    pub(super) form: TestForm,
    /// The rewriter of paths.
    pub(super) paths: &'a PathRewriter,
    /// The names and imports of the test.
    pub(super) scope: &'a mut ImportScope,
    /// The setup statements so far, in order.
    pub(super) setup: Vec<SetupStep>,
    /// Objects that exist in the test already, with the expressions for them.
    pub(super) existing: BTreeMap<ObjectId, String>,
    /// Objects that an import provides.
    pub(super) imported: ImportedObjects,
    /// Objects that need a variable.
    needs_variable: BTreeSet<ObjectId>,
    /// The nodes of objects at entry.
    at_entry: BTreeMap<ObjectId, NodeId>,
    /// Objects under construction, outermost first.
    under_construction: Vec<ObjectId>,
    /// Parts that are assigned as soon as an object has a name. This closes cycles.
    deferred: Vec<DeferredPart<'a>>,
    /// The object under construction that the last failed part needs.
    blocked_on: Option<ObjectId>,
    /// The variable that records for how long the unit sleeps, and the recorded durations.
    pub(super) sleeps: Option<(String, Vec<NodeId>)>,
    /// Mocks whose calls are checked.
    pub(super) doubles: Vec<TestDouble<'a>>,
    /// The time of the state that is being built, if it is not that of the call itself.
    pub(super) state_time: CallId,
    /// True if values that cannot be built become placeholders, as in stubs.
    pub(super) is_lenient: bool,
    /// True while building a value that the call should lead to, false for one that it starts from.
    is_expecting: bool,
}

/// A part that needs an object under construction.
#[derive(Clone)]
struct DeferredPart<'a> {
    /// The object that it needs.
    object: ObjectId,
    /// The expression to assign to: `cart.owner`, `items[2]`.
    target: String,
    /// The value.
    part: (&'a ValueGraph, NodeId),
}

/// A state of the builder, to return to if an attempt fails.
pub(super) struct Checkpoint<'a> {
    setup: usize,
    existing: BTreeMap<ObjectId, String>,
    deferred: Vec<DeferredPart<'a>>,
    scope: ImportScope,
}

impl<'a> ValueBuilder<'a> {
    /// Creates a builder for the values of a call.
    pub(super) fn new(
        call: &'a Call,
        knowledge: &'a Knowledge<'a>,
        index: &'a RecordingIndex<'a>,
        form: TestForm,
        paths: &'a PathRewriter,
        scope: &'a mut ImportScope,
    ) -> ValueBuilder<'a> {
        let mut builder = ValueBuilder {
            call,
            knowledge,
            index,
            form,
            paths,
            scope,
            setup: Vec::new(),
            existing: BTreeMap::new(),
            imported: ImportedObjects::find(call),
            needs_variable: BTreeSet::new(),
            at_entry: BTreeMap::new(),
            under_construction: Vec::new(),
            deferred: Vec::new(),
            blocked_on: None,
            sleeps: None,
            doubles: Vec::new(),
            state_time: call.id,
            is_lenient: false,
            is_expecting: false,
        };
        builder.name_shared_objects(&call.roots_before());
        builder
    }

    /// Marks objects that are reached twice, or from themselves, as needing a name, so that they
    /// are made only once.
    pub(super) fn name_shared_objects(&mut self, roots: &[NodeId]) {
        let mut seen: BTreeSet<NodeId> = BTreeSet::new();
        let mut open: Vec<NodeId> = Vec::new();
        // Each node is pushed twice: to be opened, and to be closed after everything that it leads
        // to.
        let mut pending: Vec<(NodeId, Option<NodeId>, bool)> = roots
            .iter()
            .rev()
            .map(|root| (*root, None, false))
            .collect();
        let graph = &self.call.values;
        while let Some((node, from, closes)) = pending.pop() {
            if closes {
                open.pop();
                continue;
            }
            let object = graph.object(node);
            if !seen.insert(node) {
                self.needs_variable.extend(object);
                if open.contains(&node) {
                    self.needs_variable
                        .extend(from.and_then(|from| graph.object(from)));
                }
                continue;
            }
            if let Some(object) = object.filter(|_| !self.is_expecting) {
                self.at_entry.entry(object).or_insert(node);
            }
            open.push(node);
            pending.push((node, from, true));
            for child in graph.children(node).into_iter().rev() {
                pending.push((child, Some(node), false));
            }
        }
    }

    /// Marks an object as needing a variable wherever it is built.
    pub(super) fn require_name(&mut self, object: ObjectId) {
        self.needs_variable.insert(object);
    }

    /// Builds a value of the call as it should be afterwards. Objects that exist in the test are
    /// referred to by name, except for the one at `node`, which is compared.
    pub(super) fn expected_value(&mut self, node: NodeId) -> Result<PythonCode, BuildError> {
        self.expected_value_of_call(self.call, node)
    }

    /// Builds an expected value of another call, which this one has made.
    pub(super) fn expected_value_of_call(
        &mut self,
        call: &'a Call,
        node: NodeId,
    ) -> Result<PythonCode, BuildError> {
        let checkpoint = self.checkpoint();
        let (live, named) = (
            self.existing.clone(),
            std::mem::take(&mut self.needs_variable),
        );
        self.is_expecting = true;
        let graph = &call.values;
        if std::ptr::eq(call, self.call) {
            self.name_shared_objects(&[node]);
        }
        if let Some(own) = graph.object(node) {
            self.existing.remove(&own);
        }
        let code = self.value_code(graph, node, "expected");
        self.is_expecting = false;
        if code.is_err() {
            self.restore(checkpoint);
        }
        // The expected value is equal to the program's objects, but consists of other objects.
        self.existing = live;
        self.needs_variable = named;
        code
    }

    /// Builds a value of the call at entry by itself, without regard to the rest of the call.
    pub(super) fn standalone_value(&mut self, node: NodeId) -> Result<PythonCode, BuildError> {
        self.needs_variable.clear();
        self.name_shared_objects(&[node]);
        self.call_value(node, "")
    }

    /// Adds a variable without a value, to be completed by hand, in the place of a value that
    /// cannot be built.
    pub(super) fn placeholder(&mut self, hint: &str) -> PythonCode {
        let target = self.scope.variable(hint);
        self.setup.push(SetupStep::Assign {
            target: target.clone(),
            code: PythonCode::text("...  # TODO: rebuild"),
        });
        PythonCode::Text(target)
    }

    /// Returns true while building an expected value.
    pub(super) fn is_expecting(&self) -> bool {
        self.is_expecting
    }

    /// Returns true if the last failure was due to an object under construction.
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked_on.is_some()
    }

    /// Saves the state of the builder.
    pub(super) fn checkpoint(&self) -> Checkpoint<'a> {
        Checkpoint {
            setup: self.setup.len(),
            existing: self.existing.clone(),
            deferred: self.deferred.clone(),
            scope: self.scope.clone(),
        }
    }

    /// Returns to a saved state.
    pub(super) fn restore(&mut self, checkpoint: Checkpoint<'a>) {
        self.setup.truncate(checkpoint.setup);
        self.existing = checkpoint.existing;
        self.deferred = checkpoint.deferred;
        *self.scope = checkpoint.scope;
    }

    /// Builds a value of the call itself; `hint` is a name for it.
    pub(super) fn call_value(
        &mut self,
        node: NodeId,
        hint: &str,
    ) -> Result<PythonCode, BuildError> {
        let graph = &self.call.values;
        self.value_code(graph, node, hint)
    }

    /// Builds a value of a graph. An object that cannot be built is referred to by its import, if
    /// it has one.
    pub(super) fn value_code(
        &mut self,
        graph: &'a ValueGraph,
        node: NodeId,
        hint: &str,
    ) -> Result<PythonCode, BuildError> {
        let Some(object) = graph.object(node) else {
            return self.build_new(graph, node, hint, None);
        };
        if !self.is_imported(object) {
            return self.object_code(graph, node, object, hint);
        }
        let checkpoint = self.checkpoint();
        let code = self.object_code(graph, node, object, hint);
        // An object that cannot be built exists already.
        if code.is_err() && !self.is_blocked() {
            self.restore(checkpoint);
            return self.import_path_code(object).map_or(code, Ok);
        }
        code
    }

    /// Builds an object, or refers to it if it exists.
    fn object_code(
        &mut self,
        graph: &'a ValueGraph,
        node: NodeId,
        object: ObjectId,
        hint: &str,
    ) -> Result<PythonCode, BuildError> {
        if let Some(name) = self.existing.get(&object) {
            return Ok(PythonCode::text(name));
        }
        // Building by state needs a fresh object, because the imported one may differ from the
        // recorded one.
        if self.form.constructors
            && let Some(code) = self.imported_code(object)
        {
            return Ok(code);
        }
        if self.under_construction.contains(&object) {
            self.blocked_on = Some(object);
            return Err(BuildError(
                "part of a cycle that cannot be closed".to_owned(),
            ));
        }
        if self.under_construction.len() > MAX_DEPTH {
            return Err(BuildError("nested too deeply to be written".to_owned()));
        }
        // A value from another time may be part of this call too. Then its state at entry counts.
        let now = self.at_entry.get(&object).filter(|_| !self.is_expecting);
        let (graph, node) = match now {
            Some(now) => (&self.call.values, *now),
            None => (graph, node),
        };
        // Constants exist already and have names of their own.
        let is_constant = matches!(
            graph.value(node),
            Value::EnumMember { .. } | Value::Reference(_)
        );
        let is_moved = matches!(graph.value(node), Value::Stream { position, .. } if *position > 0);
        let require_name = self.needs_variable.contains(&object)
            || is_moved
            || self.needs_attribute_changes(graph, node);
        if is_constant || !require_name {
            self.under_construction.push(object);
            let code = self.build_new(graph, node, hint, None);
            self.under_construction.pop();
            return code;
        }
        let wanted = if hint.is_empty() {
            type_name(graph.value(node))
        } else {
            hint.to_owned()
        };
        let name = self.scope.variable(&wanted);
        self.under_construction.push(object);
        let code = self.build_new(graph, node, &wanted, Some(&name));
        self.under_construction.pop();
        let code = code?;
        // A function defined in the test has a name of its own.
        if let Some(own) = self.existing.get(&object) {
            return Ok(PythonCode::text(own));
        }
        self.bind(&name, code, graph, node)?;
        Ok(PythonCode::text(name))
    }

    /// Binds an object to its name, and assigns the parts that waited for it.
    fn bind(
        &mut self,
        name: &str,
        code: PythonCode,
        graph: &'a ValueGraph,
        node: NodeId,
    ) -> Result<(), BuildError> {
        if code != PythonCode::text(name) {
            self.setup.push(SetupStep::Assign {
                target: name.to_owned(),
                code,
            });
        }
        if let Value::Stream { position, .. } = graph.value(node)
            && *position > 0
        {
            let seek = format!("{name}.seek({position})");
            self.setup.push(SetupStep::Evaluate(PythonCode::Text(seek)));
        }
        let Some(object) = graph.object(node) else {
            return Ok(());
        };
        self.existing.insert(object, name.to_owned());
        let (now, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.deferred)
            .into_iter()
            .partition(|part| part.object == object);
        self.deferred = later;
        for DeferredPart { target, part, .. } in now {
            if let Some(code) = self.build_or_defer(part.0, part.1, &target)? {
                self.setup.push(SetupStep::Assign { target, code });
            }
        }
        Ok(())
    }

    /// Builds a part of the object called `name`. Returns `None` for a part that needs an object
    /// under construction: it is assigned later, at `step` in it.
    pub(super) fn build_part(
        &mut self,
        graph: &'a ValueGraph,
        node: NodeId,
        name: Option<&str>,
        step: impl Fn() -> String,
    ) -> Result<Option<PythonCode>, BuildError> {
        match name {
            Some(name) => self.build_or_defer(graph, node, &format!("{name}{}", step())),
            None => self.value_code(graph, node, "").map(Some),
        }
    }

    /// Builds a value, or defers it if it needs an object under construction.
    fn build_or_defer(
        &mut self,
        graph: &'a ValueGraph,
        node: NodeId,
        target: &str,
    ) -> Result<Option<PythonCode>, BuildError> {
        let checkpoint = self.checkpoint();
        let code = self.value_code(graph, node, "");
        match (&code, self.blocked_on.take()) {
            (Err(_), Some(object)) => {
                self.restore(checkpoint);
                self.deferred.push(DeferredPart {
                    object,
                    target: target.to_owned(),
                    part: (graph, node),
                });
                Ok(None)
            }
            _ => code.map(Some),
        }
    }

    /// Builds the items of a list or tuple.
    fn build_parts(
        &mut self,
        graph: &'a ValueGraph,
        nodes: &[NodeId],
        name: Option<&str>,
    ) -> Result<Vec<PythonCode>, BuildError> {
        let indexed = nodes.iter().enumerate();
        indexed
            .map(|(index, node)| {
                let part = self.build_part(graph, *node, name, || format!("[{index}]"))?;
                Ok(part.unwrap_or_else(|| PythonCode::text("None")))
            })
            .collect()
    }

    /// Builds a value that does not exist yet. `name` is the variable that it will be bound to, if
    /// any.
    fn build_new(
        &mut self,
        graph: &'a ValueGraph,
        node: NodeId,
        hint: &str,
        name: Option<&str>,
    ) -> Result<PythonCode, BuildError> {
        Ok(match graph.value(node) {
            Value::None => PythonCode::text("None"),
            Value::Ellipsis => PythonCode::text("..."),
            Value::NotImplemented => PythonCode::text("NotImplemented"),
            Value::Boolean(value) => PythonCode::text(if *value { "True" } else { "False" }),
            Value::Integer(value) => PythonCode::text(value.to_string()),
            Value::LargeInteger(digits) => PythonCode::Text(literal::integer_literal(digits)),
            Value::Float(number) => self.float_code(number.0),
            Value::Complex(real, imaginary) => {
                let parts = vec![self.float_code(real.0), self.float_code(imaginary.0)];
                PythonCode::call("complex", parts)
            }
            Value::Text(text) => match self.paths.text_code(text) {
                Some(code) => code,
                None => literal::text_literal(text),
            },
            Value::SurrogateText(points) => PythonCode::Text(literal::surrogate_text(points)),
            Value::Bytes(bytes) => literal::bytes_literal(bytes),
            Value::ByteArray(bytes) => {
                PythonCode::call("bytearray", vec![literal::bytes_literal(bytes)])
            }
            Value::List(items) => PythonCode::list(self.build_parts(graph, items, name)?),
            Value::Tuple(items) => PythonCode::tuple(self.build_parts(graph, items, None)?),
            Value::Set(items) if items.is_empty() => PythonCode::text("set()"),
            Value::Set(items) => PythonCode::group("{", self.build_parts(graph, items, None)?, "}"),
            Value::FrozenSet(items) if items.is_empty() => PythonCode::text("frozenset()"),
            Value::FrozenSet(items) => {
                let inner = PythonCode::group("{", self.build_parts(graph, items, None)?, "}");
                PythonCode::call("frozenset", vec![inner])
            }
            Value::Dictionary(entries) => self.dictionary_code(graph, entries, name)?,
            Value::Reference(reference) => match self.reference_code(reference) {
                Ok(code) => code,
                Err(missing) => self.program_function(reference).ok_or(missing)?,
            },
            Value::EnumMember { class, names } => self.member_code(class, names)?,
            Value::Constructed {
                callee,
                arguments,
                keywords,
            } => self.well_known_value(graph, callee, arguments, keywords)?,
            Value::Object(object) => self.instance_code(graph, node, object, name)?,
            Value::Method { receiver, name } => {
                let receiver = self.value_code(graph, *receiver, "")?;
                PythonCode::Text(format!("{}.{name}", receiver.one_line()))
            }
            Value::Function(function) => self.function_code(graph, node, function)?,
            Value::Generator { function, .. } => {
                return Err(BuildError(format!("a generator by {function}")));
            }
            Value::Iterator { remaining, .. } => {
                let items = PythonCode::list(self.build_parts(graph, remaining, None)?);
                PythonCode::call("iter", vec![items])
            }
            Value::Stream { class, content, .. } => {
                let content = self.value_code(graph, *content, hint)?;
                let class = self.reference_code(class)?.one_line();
                PythonCode::call(&class, vec![content])
            }
            Value::Exception(exception) => {
                if !exception.is_importable || !exception.members.is_empty() {
                    return Err(BuildError(format!("an exception of {}", exception.class)));
                }
                let arguments = self.build_parts(graph, &exception.arguments, None)?;
                let class = self.reference_code(&exception.class)?.one_line();
                PythonCode::call(&class, arguments)
            }
            Value::Omitted { class, length } => {
                let length = length.map_or_else(String::new, |length| format!(" of {length}"));
                return Err(BuildError(format!("too large to be kept: {class}{length}")));
            }
            Value::Unknown { class, reason } => {
                if let Some(code) = test_doubles::peer_double(self, class, graph.object(node)) {
                    return code;
                }
                return Err(BuildError(format!("an object of {class}: {reason}")));
            }
        })
    }

    /// Writes a float. Infinities and `nan` come from `math`.
    fn float_code(&mut self, number: f64) -> PythonCode {
        if number.is_finite() {
            return PythonCode::Text(literal::float_literal(number));
        }
        let math = self.scope.module("math").one_line();
        PythonCode::Text(match (number.is_nan(), number > 0.0) {
            (true, _) => format!("{math}.nan"),
            (false, true) => format!("{math}.inf"),
            (false, false) => format!("-{math}.inf"),
        })
    }

    /// Writes a dictionary.
    fn dictionary_code(
        &mut self,
        graph: &'a ValueGraph,
        entries: &[(NodeId, NodeId)],
        name: Option<&str>,
    ) -> Result<PythonCode, BuildError> {
        let mut items = Vec::new();
        for (key, value) in entries {
            let key = self.value_code(graph, *key, "")?;
            let value = self.build_part(graph, *value, name, || format!("[{}]", key.one_line()))?;
            let value = value.unwrap_or_else(|| PythonCode::text("None"));
            items.push(PythonCode::pair(key, ": ", value));
        }
        Ok(PythonCode::group("{", items, "}"))
    }

    /// Refers to something importable. Definitions inside of functions are not, nor is a main
    /// program without a module name.
    pub(super) fn reference_code(
        &mut self,
        reference: &ImportPath,
    ) -> Result<PythonCode, BuildError> {
        if self.scope.module_name(&reference.module) == "__main__" {
            let name = reference.name();
            return Err(BuildError(format!(
                "{name}, which belongs to the program that was run"
            )));
        }
        if reference.path.contains('<') {
            return Err(BuildError(format!("{reference}, which cannot be imported")));
        }
        Ok(self.scope.reference(reference))
    }

    /// Writes a member of an enumeration, or a combination of flags.
    fn member_code(
        &mut self,
        class: &ImportPath,
        names: &[String],
    ) -> Result<PythonCode, BuildError> {
        let class = self.reference_code(class)?.one_line();
        if names.is_empty() {
            return Ok(PythonCode::call(&class, vec![PythonCode::text("0")]));
        }
        let members: Vec<String> = names.iter().map(|name| format!("{class}.{name}")).collect();
        Ok(PythonCode::Text(members.join(" | ")))
    }
}

/// Returns a variable name for a value, by its type.
pub(super) fn type_name(value: &Value) -> String {
    let name = match value {
        Value::List(_) => "items",
        Value::Dictionary(_) => "mapping",
        Value::Set(_) | Value::FrozenSet(_) => "members",
        Value::Tuple(_) => "parts",
        Value::Text(_) | Value::SurrogateText(_) => "text",
        Value::Bytes(_) | Value::ByteArray(_) => "data",
        Value::Integer(_) | Value::LargeInteger(_) | Value::Float(_) => "number",
        Value::Stream { .. } => "stream",
        Value::Object(object) => return snake_case(object.class.name()),
        Value::Constructed { callee, .. } => return snake_case(callee.name()),
        Value::Exception(_) => "error",
        _ => "value",
    };
    name.to_owned()
}
