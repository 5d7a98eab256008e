//! Recorded values as Python expressions that make them again.

use std::collections::{BTreeMap, BTreeSet};

use super::code::Code;
use super::construct::Evidence;
use super::imported::Imported;
use super::literal;
use super::paths::Paths;
use super::plan::Setup;
use super::scope::{Scope, snake_case};
use super::stand_ins::{self, Double};
use super::{Form, Knowledge};
use crate::Graph;
use crate::recording::{Call, CallId};
use crate::value::{NodeId, ObjectId, Reference, Value};

/// Where the helpers are, from the tests' point of view.
pub(crate) const HELPERS: &str = "testwright_helpers";

/// Why a value cannot be made again, as the end of "it is …".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing(pub(crate) String);

/// Values nested more deeply than this are not written: nobody would read them.
const DEPTH: usize = 60;

/// Makes expressions for the values of one call, and the statements that have to come before them.
pub(crate) struct Builder<'a> {
    pub(super) call: &'a Call,
    pub(super) knowledge: &'a Knowledge<'a>,
    pub(super) evidence: &'a Evidence<'a>,
    pub(super) form: Form,
    pub(super) paths: &'a Paths,
    pub(super) scope: &'a mut Scope,
    /// What has to be done first, in order.
    pub(super) setup: Vec<Setup>,
    /// Objects that exist in the test already, and how to say them.
    pub(super) live: BTreeMap<ObjectId, String>,
    /// Objects that importing a module gives.
    pub(super) imported: Imported,
    /// Objects that need a name.
    named: BTreeSet<ObjectId>,
    /// The nodes of objects at entry.
    at_entry: BTreeMap<ObjectId, NodeId>,
    /// Objects that are being made right now.
    building: Vec<ObjectId>,
    /// Parts that are made as soon as an object has a name, which closes cycles.
    waiting: Vec<Waiting<'a>>,
    /// The object because of which something could not be made.
    open: Option<ObjectId>,
    /// The variable that notes for how long the unit sleeps, and for how long it did.
    pub(super) sleeps: Option<(String, Vec<NodeId>)>,
    /// What stands for functions whose arguments are checked.
    pub(super) doubles: Vec<Double<'a>>,
    /// When that is which is being made, if it is no part of the call itself.
    pub(super) moment: CallId,
    /// Whether what cannot be made is left to the reader of a stub.
    pub(super) is_lenient: bool,
    /// Whether what is made is what the call should lead to, and not what it starts from.
    is_expecting: bool,
}

/// A part that needs an object that is still being made.
#[derive(Clone)]
struct Waiting<'a> {
    object: ObjectId,
    /// Where the part belongs: `cart.owner`, `items[2]`.
    target: String,
    part: (&'a Graph, NodeId),
}

/// Where a builder was, to go back to if a way of making something leads nowhere.
pub(super) struct Stand<'a> {
    setup: usize,
    live: BTreeMap<ObjectId, String>,
    waiting: Vec<Waiting<'a>>,
    scope: Scope,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        call: &'a Call,
        knowledge: &'a Knowledge<'a>,
        evidence: &'a Evidence<'a>,
        form: Form,
        paths: &'a Paths,
        scope: &'a mut Scope,
    ) -> Builder<'a> {
        let mut builder = Builder {
            call,
            knowledge,
            evidence,
            form,
            paths,
            scope,
            setup: Vec::new(),
            live: BTreeMap::new(),
            imported: Imported::of(call),
            named: BTreeSet::new(),
            at_entry: BTreeMap::new(),
            building: Vec::new(),
            waiting: Vec::new(),
            open: None,
            sleeps: None,
            doubles: Vec::new(),
            moment: call.id,
            is_lenient: false,
            is_expecting: false,
        };
        builder.name_what_is_shared(&call.roots_before());
        builder
    }

    /// Objects that are reached in two ways, or from themselves, need a name to be made only once.
    pub(super) fn name_what_is_shared(&mut self, roots: &[NodeId]) {
        let mut seen: BTreeSet<NodeId> = BTreeSet::new();
        let mut open: Vec<NodeId> = Vec::new();
        // A node is pushed twice: to be opened, and to be closed behind everything that it leads to.
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
                self.named.extend(object);
                if open.contains(&node) {
                    self.named.extend(from.and_then(|from| graph.object(from)));
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

    /// From now on this object gets a name wherever it is made.
    pub(super) fn needs_name(&mut self, object: ObjectId) {
        self.named.insert(object);
    }

    /// What a value of the call itself should be afterwards. Objects that exist in the test stand for themselves, but not the
    /// one at `node`, which is to be compared.
    pub(super) fn expected(&mut self, node: NodeId) -> Result<Code, Missing> {
        self.expected_of(self.call, node)
    }

    /// The same for a value of another call, which this one has made.
    pub(super) fn expected_of(&mut self, call: &'a Call, node: NodeId) -> Result<Code, Missing> {
        let stand = self.stand();
        let (live, named) = (self.live.clone(), std::mem::take(&mut self.named));
        self.is_expecting = true;
        let graph = &call.values;
        if std::ptr::eq(call, self.call) {
            self.name_what_is_shared(&[node]);
        }
        if let Some(own) = graph.object(node) {
            self.live.remove(&own);
        }
        let code = self.code(graph, node, "expected");
        self.is_expecting = false;
        if code.is_err() {
            self.restore(stand);
        }
        // What was made is like the objects of the program, but it is not these objects.
        self.live = live;
        self.named = named;
        code
    }

    /// A value of the call as it was at entry, for itself: what else the call has to do with it does not matter.
    pub(super) fn alone(&mut self, node: NodeId) -> Result<Code, Missing> {
        self.named.clear();
        self.name_what_is_shared(&[node]);
        self.value(node, "")
    }

    /// A variable that somebody has to give a value, in the place of something that cannot be made.
    pub(super) fn placeholder(&mut self, hint: &str) -> Code {
        let target = self.scope.variable(hint);
        self.setup.push(Setup::Assign {
            target: target.clone(),
            code: Code::text("...  # TODO: rebuild"),
        });
        Code::Text(target)
    }

    /// Whether what is made is compared with, and not given to the call.
    pub(super) fn is_expecting(&self) -> bool {
        self.is_expecting
    }

    /// Whether something could not be made because what it is a part of is being made.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub(super) fn stand(&self) -> Stand<'a> {
        Stand {
            setup: self.setup.len(),
            live: self.live.clone(),
            waiting: self.waiting.clone(),
            scope: self.scope.clone(),
        }
    }

    pub(super) fn restore(&mut self, stand: Stand<'a>) {
        self.setup.truncate(stand.setup);
        self.live = stand.live;
        self.waiting = stand.waiting;
        *self.scope = stand.scope;
    }

    /// A value of the call itself; `hint` is what it may be called.
    pub(super) fn value(&mut self, node: NodeId, hint: &str) -> Result<Code, Missing> {
        let graph = &self.call.values;
        self.code(graph, node, hint)
    }

    pub(super) fn code(
        &mut self,
        graph: &'a Graph,
        node: NodeId,
        hint: &str,
    ) -> Result<Code, Missing> {
        let Some(object) = graph.object(node) else {
            return self.plain(graph, node, hint, None);
        };
        if !self.is_imported(object) {
            return self.object_code(graph, node, object, hint);
        }
        let stand = self.stand();
        let code = self.object_code(graph, node, object, hint);
        // What cannot be made is there already.
        if code.is_err() && !self.is_open() {
            self.restore(stand);
            return self.said_by_import(object).map_or(code, Ok);
        }
        code
    }

    fn object_code(
        &mut self,
        graph: &'a Graph,
        node: NodeId,
        object: ObjectId,
        hint: &str,
    ) -> Result<Code, Missing> {
        if let Some(name) = self.live.get(&object) {
            return Ok(Code::text(name));
        }
        // Only where objects are made by their state it matters whether an import gives quite the same one.
        if self.form.constructors
            && let Some(code) = self.imported(object)
        {
            return Ok(code);
        }
        if self.building.contains(&object) {
            self.open = Some(object);
            return Err(Missing("part of a cycle that cannot be closed".to_owned()));
        }
        if self.building.len() > DEPTH {
            return Err(Missing("nested too deeply to be written".to_owned()));
        }
        // A value from another moment may be a part of this call too, and then that is how it was.
        let now = self.at_entry.get(&object).filter(|_| !self.is_expecting);
        let (graph, node) = match now {
            Some(now) => (&self.call.values, *now),
            None => (graph, node),
        };
        // They exist already and have names of their own.
        let is_constant = matches!(
            graph.value(node),
            Value::Member { .. } | Value::Reference(_)
        );
        let is_moved = matches!(graph.value(node), Value::Stream { position, .. } if *position > 0);
        let needs_name =
            self.named.contains(&object) || is_moved || self.is_made_in_steps(graph, node);
        if is_constant || !needs_name {
            self.building.push(object);
            let code = self.plain(graph, node, hint, None);
            self.building.pop();
            return code;
        }
        let wanted = if hint.is_empty() {
            type_name(graph.value(node))
        } else {
            hint.to_owned()
        };
        let name = self.scope.variable(&wanted);
        self.building.push(object);
        let code = self.plain(graph, node, &wanted, Some(&name));
        self.building.pop();
        let code = code?;
        // What is defined in the test has a name of its own.
        if let Some(own) = self.live.get(&object) {
            return Ok(Code::text(own));
        }
        self.bind(&name, code, graph, node)?;
        Ok(Code::text(name))
    }

    /// Gives an object its name, and makes what waited for it.
    fn bind(
        &mut self,
        name: &str,
        code: Code,
        graph: &'a Graph,
        node: NodeId,
    ) -> Result<(), Missing> {
        if code != Code::text(name) {
            self.setup.push(Setup::Assign {
                target: name.to_owned(),
                code,
            });
        }
        if let Value::Stream { position, .. } = graph.value(node)
            && *position > 0
        {
            let seek = format!("{name}.seek({position})");
            self.setup.push(Setup::Do(Code::Text(seek)));
        }
        let Some(object) = graph.object(node) else {
            return Ok(());
        };
        self.live.insert(object, name.to_owned());
        let (now, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|part| part.object == object);
        self.waiting = later;
        for Waiting { target, part, .. } in now {
            if let Some(code) = self.unless_open(part.0, part.1, &target)? {
                self.setup.push(Setup::Assign { target, code });
            }
        }
        Ok(())
    }

    /// A part of something called `name`; nothing for a part that cannot be made before something that is being made right
    /// now: that is set later, at `step` in it.
    pub(super) fn part(
        &mut self,
        graph: &'a Graph,
        node: NodeId,
        name: Option<&str>,
        step: impl Fn() -> String,
    ) -> Result<Option<Code>, Missing> {
        match name {
            Some(name) => self.unless_open(graph, node, &format!("{name}{}", step())),
            None => self.code(graph, node, "").map(Some),
        }
    }

    fn unless_open(
        &mut self,
        graph: &'a Graph,
        node: NodeId,
        target: &str,
    ) -> Result<Option<Code>, Missing> {
        let stand = self.stand();
        let code = self.code(graph, node, "");
        match (&code, self.open.take()) {
            (Err(_), Some(object)) => {
                self.restore(stand);
                self.waiting.push(Waiting {
                    object,
                    target: target.to_owned(),
                    part: (graph, node),
                });
                Ok(None)
            }
            _ => code.map(Some),
        }
    }

    fn parts(
        &mut self,
        graph: &'a Graph,
        nodes: &[NodeId],
        name: Option<&str>,
    ) -> Result<Vec<Code>, Missing> {
        let indexed = nodes.iter().enumerate();
        indexed
            .map(|(index, node)| {
                let part = self.part(graph, *node, name, || format!("[{index}]"))?;
                Ok(part.unwrap_or_else(|| Code::text("None")))
            })
            .collect()
    }

    fn plain(
        &mut self,
        graph: &'a Graph,
        node: NodeId,
        hint: &str,
        name: Option<&str>,
    ) -> Result<Code, Missing> {
        Ok(match graph.value(node) {
            Value::None => Code::text("None"),
            Value::Ellipsis => Code::text("..."),
            Value::NotImplemented => Code::text("NotImplemented"),
            Value::Boolean(value) => Code::text(if *value { "True" } else { "False" }),
            Value::Integer(value) => Code::text(value.to_string()),
            Value::LargeInteger(digits) => Code::Text(literal::large_integer(digits)),
            Value::Float(number) => self.float(number.0),
            Value::Complex(real, imaginary) => {
                let parts = vec![self.float(real.0), self.float(imaginary.0)];
                Code::call("complex", parts)
            }
            Value::Text(text) => match self.paths.text(text) {
                Some(code) => code,
                None => literal::text(text),
            },
            Value::BrokenText(points) => Code::Text(literal::broken_text(points)),
            Value::Bytes(bytes) => literal::bytes(bytes),
            Value::ByteArray(bytes) => Code::call("bytearray", vec![literal::bytes(bytes)]),
            Value::List(items) => Code::list(self.parts(graph, items, name)?),
            Value::Tuple(items) => Code::tuple(self.parts(graph, items, None)?),
            Value::Set(items) if items.is_empty() => Code::text("set()"),
            Value::Set(items) => Code::group("{", self.parts(graph, items, None)?, "}"),
            Value::FrozenSet(items) if items.is_empty() => Code::text("frozenset()"),
            Value::FrozenSet(items) => {
                let inner = Code::group("{", self.parts(graph, items, None)?, "}");
                Code::call("frozenset", vec![inner])
            }
            Value::Dictionary(entries) => self.dictionary(graph, entries, name)?,
            Value::Reference(reference) => match self.reference(reference) {
                Ok(code) => code,
                Err(missing) => self.of_program(reference).ok_or(missing)?,
            },
            Value::Member { class, names } => self.member(class, names)?,
            Value::Made {
                callee,
                arguments,
                keywords,
            } => self.made(graph, callee, arguments, keywords)?,
            Value::Object(object) => self.object(graph, node, object, name)?,
            Value::Method { receiver, name } => {
                let receiver = self.code(graph, *receiver, "")?;
                Code::Text(format!("{}.{name}", receiver.flat()))
            }
            Value::Function(function) => self.function(graph, node, function)?,
            Value::Generator { function, .. } => {
                return Err(Missing(format!("a generator by {function}")));
            }
            Value::Iterator { remaining, .. } => {
                let items = Code::list(self.parts(graph, remaining, None)?);
                Code::call("iter", vec![items])
            }
            Value::Stream { class, content, .. } => {
                let content = self.code(graph, *content, hint)?;
                let class = self.reference(class)?.flat();
                Code::call(&class, vec![content])
            }
            Value::Exception(exception) => {
                if !exception.is_importable || !exception.members.is_empty() {
                    return Err(Missing(format!("an exception of {}", exception.class)));
                }
                let arguments = self.parts(graph, &exception.arguments, None)?;
                let class = self.reference(&exception.class)?.flat();
                Code::call(&class, arguments)
            }
            Value::Omitted { class, length } => {
                let length = length.map_or_else(String::new, |length| format!(" of {length}"));
                return Err(Missing(format!("too large to be kept: {class}{length}")));
            }
            Value::Unknown { class, reason } => {
                if let Some(code) = stand_ins::partner(self, class, graph.object(node)) {
                    return code;
                }
                return Err(Missing(format!("an object of {class}: {reason}")));
            }
        })
    }

    fn float(&mut self, number: f64) -> Code {
        if number.is_finite() {
            return Code::Text(literal::float(number));
        }
        let math = self.scope.module("math").flat();
        Code::Text(match (number.is_nan(), number > 0.0) {
            (true, _) => format!("{math}.nan"),
            (false, true) => format!("{math}.inf"),
            (false, false) => format!("-{math}.inf"),
        })
    }

    fn dictionary(
        &mut self,
        graph: &'a Graph,
        entries: &[(NodeId, NodeId)],
        name: Option<&str>,
    ) -> Result<Code, Missing> {
        let mut items = Vec::new();
        for (key, value) in entries {
            let key = self.code(graph, *key, "")?;
            let value = self.part(graph, *value, name, || format!("[{}]", key.flat()))?;
            let value = value.unwrap_or_else(|| Code::text("None"));
            items.push(Code::pair(key, ": ", value));
        }
        Ok(Code::group("{", items, "}"))
    }

    /// Something importable; what is inside of a function is not, nor is a program that has no name as a module.
    pub(super) fn reference(&mut self, reference: &Reference) -> Result<Code, Missing> {
        if self.scope.module_name(&reference.module) == "__main__" {
            let name = reference.name();
            return Err(Missing(format!(
                "{name}, which belongs to the program that was run"
            )));
        }
        if reference.path.contains('<') {
            return Err(Missing(format!("{reference}, which cannot be imported")));
        }
        Ok(self.scope.reference(reference))
    }

    fn member(&mut self, class: &Reference, names: &[String]) -> Result<Code, Missing> {
        let class = self.reference(class)?.flat();
        if names.is_empty() {
            return Ok(Code::call(&class, vec![Code::text("0")]));
        }
        let members: Vec<String> = names.iter().map(|name| format!("{class}.{name}")).collect();
        Ok(Code::Text(members.join(" | ")))
    }
}

/// What something is called if nobody gave it a name.
pub(super) fn type_name(value: &Value) -> String {
    let name = match value {
        Value::List(_) => "items",
        Value::Dictionary(_) => "mapping",
        Value::Set(_) | Value::FrozenSet(_) => "members",
        Value::Tuple(_) => "parts",
        Value::Text(_) | Value::BrokenText(_) => "text",
        Value::Bytes(_) | Value::ByteArray(_) => "data",
        Value::Integer(_) | Value::LargeInteger(_) | Value::Float(_) => "number",
        Value::Stream { .. } => "stream",
        Value::Object(object) => return snake_case(object.class.name()),
        Value::Made { callee, .. } => return snake_case(callee.name()),
        Value::Exception(_) => "error",
        _ => "value",
    };
    name.to_owned()
}
