//! Graphs of values, in which shared values are one node and cycles stay cycles.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::value::{NodeId, ObjectId, Value};

/// A node of a graph: a value, and the identity of the object it was taken from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueNode {
    /// The value.
    pub value: Value,
    /// The identity of the object. All objects that can change or have attributes have one.
    /// Numbers, texts and the like have none.
    pub object: Option<ObjectId>,
}

impl ValueNode {
    /// Creates a node for a value without identity.
    pub fn plain(value: Value) -> ValueNode {
        ValueNode {
            value,
            object: None,
        }
    }
}

/// A graph of values that refer to each other.
///
/// **Law:** every [`NodeId`] in a graph is one of its own nodes. Cycles are allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueGraph {
    /// The nodes; a [`NodeId`] is an index into them.
    nodes: Vec<ValueNode>,
}

impl ValueGraph {
    /// Adds a node and returns its number.
    pub fn add(&mut self, node: ValueNode) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        id
    }

    /// Replaces a node. This closes cycles: add a placeholder, add the nodes that refer to it, then
    /// set it.
    pub fn set(&mut self, id: NodeId, node: ValueNode) {
        if let Some(old) = self.nodes.get_mut(id.0 as usize) {
            *old = node;
        }
    }

    /// Returns the node with a number.
    pub fn get(&self, id: NodeId) -> Option<&ValueNode> {
        self.nodes.get(id.0 as usize)
    }

    /// Returns the value of a node; [`Value::None`] for a number that does not exist.
    pub fn value(&self, id: NodeId) -> &Value {
        self.get(id).map_or(&Value::None, |node| &node.value)
    }

    /// Returns the identity of a node's object.
    pub fn object(&self, id: NodeId) -> Option<ObjectId> {
        self.get(id)?.object
    }

    /// Returns the nodes that a node refers to.
    pub fn children(&self, id: NodeId) -> Vec<NodeId> {
        self.value(id).children().into_iter().copied().collect()
    }

    /// Iterates over all nodes with their numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &ValueNode)> {
        (0..).map(NodeId).zip(&self.nodes)
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Copies the nodes that can be reached from `root` into a new graph, in which `root` is the
    /// first node.
    pub fn subgraph(&self, root: NodeId) -> ValueGraph {
        let mut numbers = BTreeMap::new();
        let mut order = vec![root];
        numbers.insert(root, NodeId(0));
        let mut next = 0;
        while let Some(current) = order.get(next).copied() {
            next += 1;
            for child in self.children(current) {
                let number = NodeId(u32::try_from(order.len()).unwrap_or(u32::MAX));
                if let Entry::Vacant(vacant) = numbers.entry(child) {
                    vacant.insert(number);
                    order.push(child);
                }
            }
        }
        let mut part = ValueGraph::default();
        for old in order {
            let number = |child| numbers.get(&child).copied().unwrap_or(NodeId(0));
            let value = self.value(old).clone().map(number);
            let object = self.object(old);
            part.add(ValueNode { value, object });
        }
        part
    }

    /// Returns true if two nodes represent equal values with the same sharing and cycles. The
    /// identities themselves are not compared.
    pub fn is_isomorphic(&self, one: NodeId, other_graph: &ValueGraph, other: NodeId) -> bool {
        let mut pairs = BTreeMap::new();
        let mut back = BTreeMap::new();
        let mut pending = vec![(one, other)];
        while let Some((one, other)) = pending.pop() {
            let (Some(left), Some(right)) = (self.get(one), other_graph.get(other)) else {
                return false;
            };
            // Only nodes with an identity can be distinguished from an equal value.
            if left.object.is_some() && right.object.is_some() {
                match (pairs.insert(one, other), back.insert(other, one)) {
                    (None, None) => {}
                    (Some(before), Some(_)) if before == other => continue,
                    _ => return false,
                }
            }
            let (ours, theirs) = (left.value.children(), right.value.children());
            let same_kind = left.value.clone().map(|_| ()) == right.value.clone().map(|_| ());
            if !same_kind || ours.len() != theirs.len() {
                return false;
            }
            pending.extend(ours.into_iter().copied().zip(theirs.into_iter().copied()));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::ExactFloat;

    fn ring(length: u32) -> (ValueGraph, NodeId) {
        let mut graph = ValueGraph::default();
        for place in 0..length {
            let next = NodeId((place + 1) % length);
            let object = Some(ObjectId(u64::from(place)));
            graph.add(ValueNode {
                value: Value::List(vec![next]),
                object,
            });
        }
        (graph, NodeId(0))
    }

    #[test]
    fn rings_are_isomorphic_if_they_are_equally_long() {
        let (three, start) = ring(3);
        let (four, other) = ring(4);
        assert!(three.is_isomorphic(start, &three, NodeId(1)));
        assert!(!three.is_isomorphic(start, &four, other));
    }

    #[test]
    fn sharing_differs_from_equality() {
        let mut graph = ValueGraph::default();
        let inner = |object| ValueNode {
            value: Value::List(vec![]),
            object: Some(ObjectId(object)),
        };
        let (a, b) = (graph.add(inner(1)), graph.add(inner(2)));
        let shared = graph.add(ValueNode::plain(Value::Tuple(vec![a, a])));
        let separate = graph.add(ValueNode::plain(Value::Tuple(vec![a, b])));
        assert!(!graph.is_isomorphic(shared, &graph, separate));
        assert!(graph.is_isomorphic(separate, &graph, separate));
    }

    #[test]
    fn numbers_are_compared_bit_by_bit() {
        let mut graph = ValueGraph::default();
        let nan = graph.add(ValueNode::plain(Value::Float(ExactFloat(f64::NAN))));
        let zero = graph.add(ValueNode::plain(Value::Float(ExactFloat(0.0))));
        let minus = graph.add(ValueNode::plain(Value::Float(ExactFloat(-0.0))));
        assert!(graph.is_isomorphic(nan, &graph, nan));
        assert!(!graph.is_isomorphic(zero, &graph, minus));
    }
}
