//! Assertions about single values.

use std::collections::BTreeSet;

use super::super::Strength;
use super::super::build::{BuildError, HELPERS};
use super::super::code::PythonCode;
use super::super::literal;
use super::super::plan::{ActualValue, Assertion, ComparisonKind};
use super::super::scope::is_builtin;
use super::Verifier;
use crate::value::{Exception, ImportPath, InstanceValue, NodeId, ObjectId, ObjectKind, Value};

impl Verifier<'_, '_> {
    /// Adds an assertion that `actual` is the value at a node, as strong as possible.
    pub(super) fn check_value(&mut self, actual: ActualValue, node: NodeId) {
        let graph = &self.builder.call.values;
        let by_identity = |code: &str| (ComparisonKind::Is, PythonCode::text(code));
        let (actual, (comparison, expected)) = match graph.value(node) {
            Value::None => (actual, by_identity("None")),
            Value::Boolean(true) => (actual, by_identity("True")),
            Value::Boolean(false) => (actual, by_identity("False")),
            Value::NotImplemented => (actual, by_identity("NotImplemented")),
            Value::Iterator { remaining, .. } => {
                let comparison = self.comparison_for_all(&remaining.clone());
                match self.expected_values(&remaining.clone()) {
                    Ok(items) => (
                        wrap_in_call("list", &actual),
                        (comparison, PythonCode::list(items)),
                    ),
                    Err(missing) => return self.check_type_and_length(&actual, node, &missing.0),
                }
            }
            Value::Stream { content, .. } => {
                let content = *content;
                let actual = attribute_of(&actual, "getvalue()");
                return self.check_value(actual, content);
            }
            Value::Text(text) if has_address(text) => {
                let masked = literal::text_literal(&without_addresses(text));
                self.builder.scope.import_name(HELPERS, "without_addresses");
                (
                    wrap_in_call("without_addresses", &actual),
                    (ComparisonKind::Equal, masked),
                )
            }
            // There is nothing to compare but the type.
            Value::Object(object)
                if object.is_importable
                    && object.content.is_none()
                    && object.attributes.is_empty()
                    && object.kind == ObjectKind::Plain
                    && matches!(actual, ActualValue::Result) =>
            {
                let class = object.class.clone();
                return self.check_type(&actual, &class);
            }
            Value::Generator { function, .. } => {
                let function = function.clone();
                if actual == ActualValue::Result && self.check_generator_items(&function).is_some()
                {
                    return;
                }
                return self.check_type_and_length(&actual, node, "what it gives is a generator");
            }
            _ => {
                let existing = graph
                    .object(node)
                    .filter(|object| self.is_another_object(*object, &actual));
                let name = existing.and_then(|object| self.builder.existing.get(&object).cloned());
                if let Some(name) = name {
                    (actual, (ComparisonKind::Is, PythonCode::Text(name)))
                } else {
                    match self.builder.expected_value(node) {
                        Ok(expected) => {
                            let comparison = self.choose_comparison(node);
                            self.mark_compared(node);
                            (actual, (comparison, expected))
                        }
                        Err(missing) => {
                            return self.check_type_and_length(&actual, node, &missing.0);
                        }
                    }
                }
            }
        };
        let comparison = self.with_helper(comparison);
        self.checks
            .push(Assertion::new(actual, comparison, expected));
    }

    /// Imports the helper that a comparison needs.
    pub(super) fn with_helper(&mut self, comparison: ComparisonKind) -> ComparisonKind {
        if comparison == ComparisonKind::SameTypeAndAttributes {
            self.builder.scope.import_name(HELPERS, "assert_same");
        }
        comparison
    }

    /// Returns true if an object is not the one that the assertion looks at.
    fn is_another_object(&self, object: ObjectId, actual: &ActualValue) -> bool {
        let name = self.builder.existing.get(&object);
        !matches!((name, actual), (Some(name), ActualValue::Code(PythonCode::Text(text))) if name == text)
    }

    /// Builds expected values.
    pub(super) fn expected_values(
        &mut self,
        nodes: &[NodeId],
    ) -> Result<Vec<PythonCode>, BuildError> {
        let items = nodes.iter().map(|node| self.builder.expected_value(*node));
        items.collect()
    }

    /// Marks a value and its parts as compared.
    fn mark_compared(&mut self, node: NodeId) {
        let graph = &self.builder.call.values;
        let mut pending = vec![node];
        while let Some(node) = pending.pop() {
            if self.compared.insert(node) {
                // A named part is compared by identity, which says nothing about its content.
                let is_named = |child: &NodeId| {
                    let object = graph.object(*child);
                    object.is_some_and(|object| self.builder.existing.contains_key(&object))
                };
                let children = graph.children(node).into_iter();
                pending.extend(children.filter(|child| !is_named(child)));
            }
        }
    }

    /// Adds the weakest assertion, for a value that cannot be built: its type and length.
    pub(super) fn check_type_and_length(&mut self, actual: &ActualValue, node: NodeId, why: &str) {
        self.unchecked_reason.get_or_insert_with(|| why.to_owned());
        let graph = &self.builder.call.values;
        let (class, length) = match graph.value(node) {
            Value::List(items) => (ImportPath::new("builtins", "list"), Some(items.len())),
            Value::Tuple(items) => (ImportPath::new("builtins", "tuple"), Some(items.len())),
            Value::Set(items) => (ImportPath::new("builtins", "set"), Some(items.len())),
            Value::FrozenSet(items) => {
                (ImportPath::new("builtins", "frozenset"), Some(items.len()))
            }
            Value::Dictionary(items) => (ImportPath::new("builtins", "dict"), Some(items.len())),
            Value::Text(_) | Value::SurrogateText(_) => (ImportPath::new("builtins", "str"), None),
            Value::Bytes(_) => (ImportPath::new("builtins", "bytes"), None),
            Value::Integer(_) | Value::LargeInteger(_) => {
                (ImportPath::new("builtins", "int"), None)
            }
            Value::Float(_) => (ImportPath::new("builtins", "float"), None),
            Value::Boolean(_) => (ImportPath::new("builtins", "bool"), None),
            Value::Generator { .. } => (ImportPath::new("types", "GeneratorType"), None),
            Value::Function(_) | Value::Method { .. } => {
                let expression = wrap_in_call("callable", actual);
                self.checks.push(Assertion::new(
                    expression,
                    ComparisonKind::True,
                    PythonCode::text(""),
                ));
                return;
            }
            Value::Omitted { class, length } => {
                let length = length.and_then(|length| usize::try_from(length).ok());
                (class.clone(), length)
            }
            Value::Object(InstanceValue { class, .. })
            | Value::Exception(Exception { class, .. })
            | Value::Unknown { class, .. }
            | Value::Constructed { callee: class, .. } => (class.clone(), None),
            _ => return,
        };
        self.check_type(actual, &class);
        if let Some(length) = length.filter(|_| self.builder.form.strength != Strength::Type) {
            let expected = PythonCode::text(length.to_string());
            let check =
                Assertion::new(wrap_in_call("len", actual), ComparisonKind::Equal, expected);
            self.checks.push(check);
        }
    }

    /// Adds an assertion about the type of a value.
    pub(super) fn check_type(&mut self, actual: &ActualValue, class: &ImportPath) {
        // Some types have a name but cannot be imported: views of dictionaries, iterators.
        if class.module == "builtins" && !is_builtin(&class.path) {
            let name = attribute_of(&wrap_in_call("type", actual), "__name__");
            let expected = PythonCode::Text(literal::quoted(&class.path));
            self.checks
                .push(Assertion::new(name, ComparisonKind::Equal, expected));
            return;
        }
        if let Ok(class) = self.builder.reference_code(class) {
            let check = Assertion::new(actual.clone(), ComparisonKind::Instance, class);
            self.checks.push(check);
        }
    }

    /// Chooses the comparison for a value.
    pub(super) fn choose_comparison(&self, node: NodeId) -> ComparisonKind {
        self.comparison_for_all(&[node])
    }

    /// Chooses `==` if it is meaningful for everything in these values, otherwise the helper that
    /// compares attributes.
    pub(super) fn comparison_for_all(&self, nodes: &[NodeId]) -> ComparisonKind {
        let graph = &self.builder.call.values;
        if let [only] = nodes
            && matches!(
                graph.value(*only),
                Value::Reference(_) | Value::EnumMember { .. }
            )
        {
            return ComparisonKind::Is;
        }
        let mut seen = BTreeSet::new();
        let mut pending = nodes.to_vec();
        while let Some(node) = pending.pop() {
            if !seen.insert(node) {
                continue;
            }
            // The compared object itself is not referred to by name.
            let is_named = !nodes.contains(&node)
                && graph
                    .object(node)
                    .is_some_and(|object| self.builder.existing.contains_key(&object));
            let differs = match graph.value(node) {
                Value::Float(number) => number.0.is_nan(),
                Value::Object(object) => {
                    let has_equality = object.kind != ObjectKind::Plain
                        || (object.content.is_some() && object.attributes.is_empty())
                        || self.builder.knowledge.has_equality(&object.class);
                    !(is_named || has_equality && self.builder.form.use_equality)
                }
                Value::Exception(_)
                | Value::Function(_)
                | Value::Iterator { .. }
                | Value::Stream { .. }
                | Value::Method { .. } => !is_named,
                Value::Constructed { callee, .. } => {
                    has_identity_equality(callee)
                        || callee.module == HELPERS
                        || callee.module == "contextvars"
                }
                _ => false,
            };
            if differs {
                return ComparisonKind::SameTypeAndAttributes;
            }
            if !is_named {
                pending.extend(graph.children(node));
            }
        }
        ComparisonKind::Equal
    }
}

/// Returns true if a callee's results are equal only to themselves, as matches and partial
/// functions are.
fn has_identity_equality(callee: &ImportPath) -> bool {
    match callee.module.as_str() {
        "re" => callee.path != "compile",
        "functools" => callee.path == "partial",
        _ => false,
    }
}

/// Wraps a value: `function(actual)`.
fn wrap_in_call(function: &str, actual: &ActualValue) -> ActualValue {
    match actual {
        ActualValue::Result => ActualValue::AroundResult(format!("{function}("), ")".to_owned()),
        ActualValue::AroundResult(before, behind) => {
            ActualValue::AroundResult(format!("{function}({before}"), format!("{behind})"))
        }
        ActualValue::Code(code) => {
            ActualValue::Code(PythonCode::call(function, vec![code.clone()]))
        }
        ActualValue::ExceptionAttribute(name) => ActualValue::ExceptionAttribute(name.clone()),
    }
}

/// Reads an attribute of a value: `actual.name`.
fn attribute_of(actual: &ActualValue, name: &str) -> ActualValue {
    match actual {
        ActualValue::Result => ActualValue::AroundResult(String::new(), format!(".{name}")),
        ActualValue::AroundResult(before, behind) => {
            ActualValue::AroundResult(before.clone(), format!("{behind}.{name}"))
        }
        ActualValue::Code(code) => {
            ActualValue::Code(PythonCode::Text(format!("{}.{name}", code.one_line())))
        }
        ActualValue::ExceptionAttribute(known) => {
            ActualValue::ExceptionAttribute(format!("{known}.{name}"))
        }
    }
}

/// Returns true if an attribute holds a hash, which differs in each process.
pub(super) fn is_hash(name: &str, value: &Value) -> bool {
    let is_large =
        matches!(value, Value::Integer(number) if number.unsigned_abs() > u64::from(u32::MAX));
    name.contains("hash") && is_large
}

/// Returns true if a text contains the address of an object, as `<app.Cart object at 0x7f…>` does.
pub(super) fn has_address(text: &str) -> bool {
    without_addresses(text) != text
}

/// Replaces each address by `0x...`, as the helper of the tests does.
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
