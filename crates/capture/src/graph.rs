//! Values that refer to each other: what is shared is there once, and what is cyclic stays cyclic.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::value::{NodeId, ObjectId, Value};

/// A node: what it is, and which object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub value: Value,
    /// Which object of the program, for those whose identity can be told: all that can change or have attributes.
    /// Numbers, texts and the like have none.
    pub object: Option<ObjectId>,
}

impl Node {
    /// A value without identity.
    pub fn plain(value: Value) -> Node {
        Node {
            value,
            object: None,
        }
    }
}

/// Values that refer to each other.
///
/// **Law:** every [`NodeId`] in a graph is one of its own nodes. Cycles are allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    nodes: Vec<Node>,
}

impl Graph {
    /// Adds a node.
    pub fn add(&mut self, node: Node) -> NodeId {
        let place = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        place
    }

    /// Replaces a node, which closes cycles: add a placeholder, add what refers to it, then set it.
    pub fn set(&mut self, place: NodeId, node: Node) {
        if let Some(old) = self.nodes.get_mut(place.0 as usize) {
            *old = node;
        }
    }

    /// The node at a place.
    pub fn get(&self, place: NodeId) -> Option<&Node> {
        self.nodes.get(place.0 as usize)
    }

    /// What the node at a place is; `None` (the value) for a place that does not exist.
    pub fn value(&self, place: NodeId) -> &Value {
        self.get(place).map_or(&Value::None, |node| &node.value)
    }

    /// Which object the node is.
    pub fn object(&self, place: NodeId) -> Option<ObjectId> {
        self.get(place)?.object
    }

    /// What a node refers to.
    pub fn children(&self, place: NodeId) -> Vec<NodeId> {
        self.value(place).children().into_iter().copied().collect()
    }

    /// All nodes with their places, in order.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        (0..).map(NodeId).zip(&self.nodes)
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A graph of its own for what can be reached from a place, which is its first node.
    pub fn part(&self, place: NodeId) -> Graph {
        let mut numbers = BTreeMap::new();
        let mut order = vec![place];
        numbers.insert(place, NodeId(0));
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
        let mut part = Graph::default();
        for place in order {
            let number = |child| numbers.get(&child).copied().unwrap_or(NodeId(0));
            let value = self.value(place).clone().map(number);
            let object = self.object(place);
            part.add(Node { value, object });
        }
        part
    }

    /// Whether two places hold equal values of the same shape: what is shared or cyclic on one side is shared or
    /// cyclic on the other. Identities are not compared.
    pub fn is_alike(&self, one: NodeId, other_graph: &Graph, other: NodeId) -> bool {
        let mut pairs = BTreeMap::new();
        let mut back = BTreeMap::new();
        let mut pending = vec![(one, other)];
        while let Some((one, other)) = pending.pop() {
            let (Some(left), Some(right)) = (self.get(one), other_graph.get(other)) else {
                return false;
            };
            // Only what has an identity can be told apart from an equal value.
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
    use crate::value::Float;

    fn ring(length: u32) -> (Graph, NodeId) {
        let mut graph = Graph::default();
        for place in 0..length {
            let next = NodeId((place + 1) % length);
            let object = Some(ObjectId(u64::from(place)));
            graph.add(Node {
                value: Value::List(vec![next]),
                object,
            });
        }
        (graph, NodeId(0))
    }

    #[test]
    fn rings_are_alike_if_they_are_equally_long() {
        let (three, start) = ring(3);
        let (four, other) = ring(4);
        assert!(three.is_alike(start, &three, NodeId(1)));
        assert!(!three.is_alike(start, &four, other));
    }

    #[test]
    fn sharing_is_told_from_equality() {
        let mut graph = Graph::default();
        let inner = |object| Node {
            value: Value::List(vec![]),
            object: Some(ObjectId(object)),
        };
        let (a, b) = (graph.add(inner(1)), graph.add(inner(2)));
        let shared = graph.add(Node::plain(Value::Tuple(vec![a, a])));
        let separate = graph.add(Node::plain(Value::Tuple(vec![a, b])));
        assert!(!graph.is_alike(shared, &graph, separate));
        assert!(graph.is_alike(separate, &graph, separate));
    }

    #[test]
    fn numbers_are_compared_bit_by_bit() {
        let mut graph = Graph::default();
        let nan = graph.add(Node::plain(Value::Float(Float(f64::NAN))));
        let zero = graph.add(Node::plain(Value::Float(Float(0.0))));
        let minus = graph.add(Node::plain(Value::Float(Float(-0.0))));
        assert!(graph.is_alike(nan, &graph, nan));
        assert!(!graph.is_alike(zero, &graph, minus));
    }
}
