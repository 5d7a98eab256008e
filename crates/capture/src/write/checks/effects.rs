//! Assertions about the changes that a call made inside of the program.

use super::super::access;
use super::super::build::BuildError;
use super::super::code::PythonCode;
use super::super::exercise::is_creation;
use super::super::literal;
use super::super::pins::owner_and_name;
use super::super::plan::{ActualValue, Assertion, ComparisonKind};
use super::Verifier;
use super::values::is_hash;
use crate::effects::CallEffect;
use crate::recording::{CallOutcome, CodeUnit};
use crate::value::{InstanceValue, LocalFunction, NodeId, Value};

/// The maximum number of changed attributes that are checked one by one.
const MAX_ATTRIBUTES: usize = 3;

impl Verifier<'_, '_> {
    /// Adds assertions for all changes.
    pub(super) fn check_effects(&mut self, unit: &CodeUnit) -> Result<(), BuildError> {
        let call = self.builder.call;
        let paths = access::paths_at_exit(call);
        let is_creation = is_creation(self.builder, unit);
        let created = is_creation
            .then(|| call.arguments.first())
            .flatten()
            .and_then(|own| call.values.object(own.before));
        let (variables, objects): (Vec<CallEffect>, Vec<CallEffect>) = call
            .effects()
            .into_iter()
            .partition(|effect| matches!(effect, CallEffect::Rebound { .. }));
        for effect in objects {
            let CallEffect::Changed {
                object,
                before,
                after,
            } = effect
            else {
                continue;
            };
            if Some(object) == created || self.compared.contains(&after) {
                continue;
            }
            let named = self.builder.existing.get(&object).cloned();
            let path = named.or_else(|| paths.get(&object).and_then(|path| self.access_code(path)));
            match path {
                Some(path) => self.check_changed(&path, before, after),
                None if is_creation => {}
                None => {
                    let reason = "a change of an object that the test cannot reach";
                    self.unchecked_reason
                        .get_or_insert_with(|| reason.to_owned());
                }
            }
        }
        for effect in variables {
            let CallEffect::Rebound {
                variable, after, ..
            } = effect
            else {
                continue;
            };
            let Some((owner, name)) = owner_and_name(self.builder, &variable)? else {
                continue;
            };
            match after {
                Some(after) => {
                    let actual =
                        ActualValue::Code(PythonCode::Text(format!("{}.{name}", owner.one_line())));
                    let returned = matches!(call.outcome, CallOutcome::Returned(result)
                        if call.values.object(result).is_some()
                            && call.values.object(result) == call.values.object(after));
                    if returned || (is_creation && call.values.object(after) == created) {
                        let actual = ActualValue::AroundResult(String::new(), String::new());
                        let owner_code = PythonCode::Text(format!("{}.{name}", owner.one_line()));
                        self.checks
                            .push(Assertion::new(actual, ComparisonKind::Is, owner_code));
                    } else {
                        self.check_value(actual, after);
                    }
                }
                None => {
                    let expression = format!("hasattr({}, \"{name}\")", owner.one_line());
                    self.check_false(expression);
                }
            }
        }
        Ok(())
    }

    /// Adds an assertion that an expression is false.
    fn check_false(&mut self, expression: String) {
        let actual = ActualValue::Code(PythonCode::Text(expression));
        self.checks.push(Assertion::new(
            actual,
            ComparisonKind::False,
            PythonCode::text(""),
        ));
    }

    /// Adds assertions about an object whose content changed.
    fn check_changed(&mut self, path: &str, before: NodeId, after: NodeId) {
        let graph = &self.builder.call.values;
        if let Value::Function(function) = graph.value(after)
            && self.check_closure(path, function).is_some()
        {
            return;
        }
        let (Value::Object(old), Value::Object(new)) = (graph.value(before), graph.value(after))
        else {
            self.check_value(ActualValue::Code(PythonCode::text(path)), after);
            return;
        };
        let different = self.differing_attributes(old, new);
        let removed: Vec<&String> = old
            .attributes
            .iter()
            .map(|(name, _)| name)
            .filter(|name| !new.attributes.iter().any(|(known, _)| known == *name))
            .collect();
        let is_same_content = match (old.content, new.content) {
            (Some(old), Some(new)) => graph.is_isomorphic(old, graph, new),
            (None, None) => true,
            _ => false,
        };
        if different.len() > MAX_ATTRIBUTES || !is_same_content {
            self.check_value(ActualValue::Code(PythonCode::text(path)), after);
            return;
        }
        self.compared.insert(after);
        for name in removed {
            self.check_false(format!("hasattr({path}, \"{name}\")"));
        }
        for (name, value) in different {
            if is_hash(&name, graph.value(value)) {
                continue;
            }
            self.check_value(
                ActualValue::Code(PythonCode::Text(format!("{path}.{name}"))),
                value,
            );
        }
    }

    /// Checks the variables that a function encloses. Returns `None` if one of them cannot be
    /// built.
    fn check_closure(&mut self, path: &str, function: &LocalFunction) -> Option<()> {
        let nodes: Vec<NodeId> = function.closure.iter().map(|(_, node)| *node).collect();
        let values = self.expected_values(&nodes).ok()?;
        let names = function
            .closure
            .iter()
            .map(|(name, _)| literal::quoted(name));
        let entries = names
            .zip(values)
            .map(|(name, value)| PythonCode::pair(PythonCode::Text(name), ": ", value));
        let expected = PythonCode::group("{", entries.collect(), "}");
        let inspect = self.builder.scope.module("inspect").one_line();
        let actual = PythonCode::Text(format!("{inspect}.getclosurevars({path}).nonlocals"));
        let comparison = self.comparison_for_all(&nodes);
        let comparison = self.with_helper(comparison);
        let comparison = if comparison == ComparisonKind::Is {
            ComparisonKind::Equal
        } else {
            comparison
        };
        self.checks.push(Assertion::new(
            ActualValue::Code(actual),
            comparison,
            expected,
        ));
        Some(())
    }

    /// Returns the attributes that are new or have another value.
    fn differing_attributes(
        &self,
        old: &InstanceValue,
        new: &InstanceValue,
    ) -> Vec<(String, NodeId)> {
        let graph = &self.builder.call.values;
        let is_different = |(name, value): &&(String, NodeId)| {
            let before = old.attributes.iter().find(|(known, _)| known == name);
            !before.is_some_and(|(_, before)| {
                graph.object(*before) == graph.object(*value)
                    && (graph.object(*value).is_some()
                        || graph.is_isomorphic(*before, graph, *value))
            })
        };
        new.attributes
            .iter()
            .filter(is_different)
            .cloned()
            .collect()
    }
}
