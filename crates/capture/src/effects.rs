//! The changes made by a call, computed by comparing its snapshots of entry and exit.
//!
//! An object has changed if its own content differs: it has other parts, or other objects in the
//! position of the old ones. A difference inside a part is a change of that part only. So each
//! change is reported once, where it happened, however many references lead there.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::ValueGraph;
use crate::recording::{Call, ProgramVariable};
use crate::value::{NodeId, ObjectId, Value};

/// A change that a call made inside the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallEffect {
    /// A variable is bound to another object, or to a different value without identity. (If it is
    /// bound to the same object and that has changed, there is a [`CallEffect::Changed`] for the
    /// object.)
    Rebound {
        /// The variable.
        variable: ProgramVariable,
        /// Its value at entry; `None` if it had none.
        before: Option<NodeId>,
        /// Its value at exit; `None` if it has none.
        after: Option<NodeId>,
    },
    /// An object that existed at entry has other content: a container other items, an instance
    /// other attributes.
    Changed {
        /// The object.
        object: ObjectId,
        /// Its node at entry.
        before: NodeId,
        /// Its node at exit.
        after: NodeId,
    },
}

impl Call {
    /// Returns the changes: variables first, in their order, then objects in the order in which
    /// they are reached.
    ///
    /// A call that has not ended has no known changes.
    pub fn effects(&self) -> Vec<CallEffect> {
        let mut effects = Vec::new();
        for state in &self.variables {
            let is_import = self.is_import(&state.variable, state.after);
            if !is_import && !self.is_same_binding(state.before, state.after) {
                effects.push(CallEffect::Rebound {
                    variable: state.variable.clone(),
                    before: state.before,
                    after: state.after,
                });
            }
        }
        let before = reachable_objects(&self.values, self.roots_before());
        let after: BTreeMap<ObjectId, NodeId> = reachable_objects(&self.values, self.roots_after())
            .into_iter()
            .collect();
        for (object, old) in before {
            if let Some(new) = after.get(&object)
                && !is_same_shallow(&self.values, old, *new)
            {
                effects.push(CallEffect::Changed {
                    object,
                    before: old,
                    after: *new,
                });
            }
        }
        effects
    }

    /// Returns true if a variable is a package's attribute for one of its submodules. The first
    /// import of the submodule sets it, and which call imports it first is no behavior worth
    /// testing.
    pub(crate) fn is_import(&self, variable: &ProgramVariable, held: Option<NodeId>) -> bool {
        let ProgramVariable::Global { module, name } = variable else {
            return false;
        };
        let value = held.map(|node| self.values.value(node));
        matches!(value, Some(Value::Reference(found))
            if found.path.is_empty() && found.module == format!("{module}.{name}"))
    }

    /// Returns the node of an object at entry, if it was reachable then. So a result with such a
    /// node existed before the call.
    pub fn node_at_entry(&self, object: ObjectId) -> Option<NodeId> {
        let found = reachable_objects(&self.values, self.roots_before());
        found
            .into_iter()
            .find(|(known, _)| *known == object)
            .map(|(_, node)| node)
    }

    /// Returns all nodes that were captured at entry.
    pub fn roots_before(&self) -> Vec<NodeId> {
        let arguments = self.arguments.iter().map(|argument| argument.before);
        arguments
            .chain(self.variables.iter().filter_map(|state| state.before))
            .collect()
    }

    /// Returns all nodes that were captured at exit, except for the outcome.
    pub fn roots_after(&self) -> Vec<NodeId> {
        let arguments = self.arguments.iter().filter_map(|argument| argument.after);
        arguments
            .chain(self.variables.iter().filter_map(|state| state.after))
            .collect()
    }

    /// Returns true if a variable kept its value: the same object, or an equal value without
    /// identity.
    fn is_same_binding(&self, before: Option<NodeId>, after: Option<NodeId>) -> bool {
        match (before, after) {
            (None, None) => true,
            (Some(before), Some(after)) => is_same_reference(&self.values, before, after),
            _ => false,
        }
    }
}

/// Finds all objects that can be reached from `roots`, each once, in depth-first order.
fn reachable_objects(graph: &ValueGraph, roots: Vec<NodeId>) -> Vec<(ObjectId, NodeId)> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut pending: Vec<NodeId> = roots.into_iter().rev().collect();
    while let Some(node) = pending.pop() {
        if !seen.insert(node) {
            continue;
        }
        found.extend(graph.object(node).map(|object| (object, node)));
        pending.extend(graph.children(node).into_iter().rev());
    }
    found
}

/// Returns true if two nodes are the same object, or equal values without identity.
fn is_same_reference(graph: &ValueGraph, one: NodeId, other: NodeId) -> bool {
    let mut pending = vec![(one, other)];
    while let Some((one, other)) = pending.pop() {
        match (graph.object(one), graph.object(other)) {
            (Some(one), Some(other)) if one == other => {}
            (None, None) => {
                let (old, new) = (graph.value(one), graph.value(other));
                if !has_same_shape(old, new) {
                    return false;
                }
                pending.extend(graph.children(one).into_iter().zip(graph.children(other)));
            }
            _ => return false,
        }
    }
    true
}

/// Returns true if an object has the same content at two nodes, without looking into its parts.
fn is_same_shallow(graph: &ValueGraph, one: NodeId, other: NodeId) -> bool {
    let same_form = has_same_shape(graph.value(one), graph.value(other));
    let mut pairs = graph.children(one).into_iter().zip(graph.children(other));
    same_form && pairs.all(|(one, other)| is_same_reference(graph, one, other))
}

/// Returns true if two values differ at most in the nodes that they refer to.
fn has_same_shape(one: &Value, other: &Value) -> bool {
    one.children().len() == other.children().len()
        && one.clone().map(|_| ()) == other.clone().map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ValueNode;
    use crate::recording::{BoundArgument, CallId, UnitId, VariableState};

    fn call() -> Call {
        Call {
            end: Some(1),
            ..Call::unfinished(CallId(0), 0, UnitId(0), None)
        }
    }

    impl Call {
        fn number(&mut self, number: i64) -> NodeId {
            self.values.add(ValueNode::plain(Value::Integer(number)))
        }

        fn list(&mut self, object: u64, items: Vec<NodeId>) -> NodeId {
            let object = Some(ObjectId(object));
            let value = Value::List(items);
            self.values.add(ValueNode { value, object })
        }

        fn argument(&mut self, before: NodeId, after: NodeId) {
            self.arguments.push(BoundArgument {
                name: "items".to_owned(),
                before,
                after: Some(after),
                is_default: false,
            });
        }
    }

    #[test]
    fn an_inner_change_is_reported_once_and_where_it_happened() {
        let mut call = call();
        let (one, two) = (call.number(1), call.number(2));
        let inner = call.list(1, vec![one]);
        let outer = call.list(2, vec![inner, inner]);
        let new_inner = call.list(1, vec![one, two]);
        let new_outer = call.list(2, vec![new_inner, new_inner]);
        call.argument(outer, new_outer);
        let object = ObjectId(1);
        let expected = CallEffect::Changed {
            object,
            before: inner,
            after: new_inner,
        };
        assert_eq!(call.effects(), [expected]);
    }

    #[test]
    fn another_object_with_the_same_content_is_a_change() {
        let mut call = call();
        let (old, new) = (call.list(1, vec![]), call.list(3, vec![]));
        let before = call.list(2, vec![old]);
        let after = call.list(2, vec![new]);
        call.argument(before, after);
        assert_eq!(call.effects().len(), 1);
    }

    #[test]
    fn a_variable_is_rebound_only_if_its_value_differs() {
        let mut call = call();
        let nodes = [1, 1, 2].map(|number| call.number(number));
        let variable = ProgramVariable::Global {
            module: "app".to_owned(),
            name: "count".to_owned(),
        };
        let state = |after| VariableState {
            variable: variable.clone(),
            before: Some(nodes[0]),
            after,
            is_as_imported: true,
        };
        call.variables = vec![state(Some(nodes[1]))];
        assert_eq!(call.effects(), []);
        call.variables = vec![state(Some(nodes[2])), state(None)];
        assert_eq!(call.effects().len(), 2);
    }
}
