//! One value against what it should be, as well as that can be told.

use std::collections::BTreeSet;

use super::super::Strength;
use super::super::build::{HELPERS, Missing};
use super::super::code::Code;
use super::super::literal;
use super::super::plan::{Actual, Check, How};
use super::super::scope::is_builtin;
use super::Verifier;
use crate::value::{Exception, NodeId, Object, ObjectId, ObjectKind, Reference, Value};

impl Verifier<'_, '_> {
    /// Checks that `actual` is what is at a node, as well as that can be told.
    pub(super) fn value(&mut self, actual: Actual, node: NodeId) {
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
                let masked = literal::text(&without_addresses(text));
                self.builder.scope.from(HELPERS, "without_addresses");
                (wrapped("without_addresses", &actual), (How::Equal, masked))
            }
            // There is nothing to compare but its type.
            Value::Object(object)
                if object.is_importable
                    && object.content.is_none()
                    && object.attributes.is_empty()
                    && object.kind == ObjectKind::Plain
                    && matches!(actual, Actual::Result) =>
            {
                let class = object.class.clone();
                return self.of_type(&actual, &class);
            }
            Value::Generator { function, .. } => {
                let function = function.clone();
                if actual == Actual::Result && self.given_by_generator(&function).is_some() {
                    return;
                }
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
        let how = self.helped(how);
        self.checks.push(Check::new(actual, how, expected));
    }

    /// A way to compare, with the helper that it needs.
    pub(super) fn helped(&mut self, how: How) -> How {
        if how == How::Same {
            self.builder.scope.from(HELPERS, "assert_same");
        }
        how
    }

    /// Whether an object is another one than the one that is looked at.
    fn is_other(&self, object: ObjectId, actual: &Actual) -> bool {
        let name = self.builder.live.get(&object);
        !matches!((name, actual), (Some(name), Actual::Code(Code::Text(text))) if name == text)
    }

    pub(super) fn items(&mut self, nodes: &[NodeId]) -> Result<Vec<Code>, Missing> {
        let items = nodes.iter().map(|node| self.builder.expected(*node));
        items.collect()
    }

    fn cover(&mut self, node: NodeId) {
        let graph = &self.builder.call.values;
        let mut pending = vec![node];
        while let Some(node) = pending.pop() {
            if self.covered.insert(node) {
                // What has a name was compared by being the same, which says nothing about what it holds.
                let is_named = |child: &NodeId| {
                    let object = graph.object(*child);
                    object.is_some_and(|object| self.builder.live.contains_key(&object))
                };
                let children = graph.children(node).into_iter();
                pending.extend(children.filter(|child| !is_named(child)));
            }
        }
    }

    /// The least that can be checked of a value that cannot be built.
    pub(super) fn type_of(&mut self, actual: &Actual, node: NodeId, why: &str) {
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

    pub(super) fn of_type(&mut self, actual: &Actual, class: &Reference) {
        // Some types have a name and no place: views of dictionaries, iterators.
        if class.module == "builtins" && !is_builtin(&class.path) {
            let name = attribute(&wrapped("type", actual), "__name__");
            let expected = Code::Text(literal::quoted(&class.path));
            self.checks.push(Check::new(name, How::Equal, expected));
            return;
        }
        if let Ok(class) = self.builder.reference(class) {
            let check = Check::new(actual.clone(), How::Instance, class);
            self.checks.push(check);
        }
    }

    pub(super) fn how(&self, node: NodeId) -> How {
        self.how_all(&[node])
    }

    /// By `==` if that says what is meant for everything in these values.
    pub(super) fn how_all(&self, nodes: &[NodeId]) -> How {
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
                    let has_equality = object.kind != ObjectKind::Plain
                        || (object.content.is_some() && object.attributes.is_empty())
                        || self.builder.knowledge.has_equality(&object.class);
                    !(is_named || has_equality && self.builder.form.natural)
                }
                Value::Exception(_)
                | Value::Function(_)
                | Value::Iterator { .. }
                | Value::Stream { .. }
                | Value::Method { .. } => !is_named,
                Value::Made { callee, .. } => {
                    is_equal_to_itself_alone(callee)
                        || callee.module == HELPERS
                        || callee.module == "contextvars"
                }
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

/// Whether two things that are made in the same way are not equal, as two matches or two partial functions are not.
fn is_equal_to_itself_alone(callee: &Reference) -> bool {
    match callee.module.as_str() {
        "re" => callee.path != "compile",
        "functools" => callee.path == "partial",
        _ => false,
    }
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

/// Whether an attribute keeps a hash, which is another number in each process.
pub(super) fn is_hash(name: &str, value: &Value) -> bool {
    let is_large =
        matches!(value, Value::Integer(number) if number.unsigned_abs() > u64::from(u32::MAX));
    name.contains("hash") && is_large
}

/// Whether a text has the address of an object in it, as `<app.Cart object at 0x7f…>` does.
pub(super) fn has_address(text: &str) -> bool {
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
