//! Networks for tours: arcs that must be taken, and arcs that may be taken.

use super::usable_graph::UsableGraph;
use crate::ProductTransition;

/// A connection from one node to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    /// Node that the arc leaves.
    pub(super) from: u32,
    /// Node that the arc enters.
    pub(super) to: u32,
    /// Cost of taking the arc once.
    pub(super) cost: u64,
    /// Transition that is taken with the arc, if any.
    pub(super) step: Option<u32>,
}

impl Arc {
    /// Creates an arc that costs nothing and takes no step.
    pub(super) fn free(from: u32, to: u32) -> Arc {
        Arc {
            from,
            to,
            cost: 0,
            step: None,
        }
    }
}

/// Nodes and arcs for a tour.
///
/// Each required arc must be taken at least once. By helping arcs, its nodes can be reached from
/// the start of a run, and an end can be reached from them.
#[derive(Debug)]
pub(super) struct Network {
    /// Number of nodes.
    pub(super) nodes: usize,
    /// Arcs that must be taken.
    pub(super) required: Vec<Arc>,
    /// Arcs that may be taken, any number of times.
    pub(super) optional: Vec<Arc>,
    /// Arcs with which a run can begin. Their `from` is not used.
    pub(super) starting: Vec<Arc>,
    /// Nodes where a run may end.
    pub(super) ends: Vec<u32>,
}

impl Network {
    /// Builds the network for covering transitions: its nodes are states, and its arcs transitions.
    pub(super) fn for_transitions(usable: &UsableGraph<'_>) -> Network {
        let arc = |(number, transition): (u32, ProductTransition)| Arc {
            from: transition.from,
            to: transition.to,
            cost: usable.cost(number),
            step: Some(number),
        };
        let arcs: Vec<Arc> = usable.usable_transitions().map(arc).collect();
        let starts = usable.starts.iter();
        let states = 0..usable.states();
        Network {
            nodes: usable.graph.states(),
            required: arcs.clone(),
            optional: arcs,
            starting: starts.map(|start| Arc::free(*start, *start)).collect(),
            ends: states.filter(|state| usable.is_end(*state)).collect(),
        }
    }

    /// Builds the network for covering pairs of transitions.
    ///
    /// A run is at a transition after taking it. So transitions are nodes, and pairs are arcs.
    /// There are also nodes for states: by way of a state, every transition that enters it can be
    /// followed by every one that leaves it. So there are only as many helping arcs as transitions,
    /// not as many as pairs. Nodes that a state's node connects are connected by pairs too.
    pub(super) fn for_pairs(usable: &UsableGraph<'_>) -> Network {
        let states = usable.graph.states();
        let node = |number: u32| states as u32 + number;
        let take = |from: u32, number: u32| Arc {
            from,
            to: node(number),
            cost: usable.cost(number),
            step: Some(number),
        };
        let mut required = Vec::new();
        let mut optional = Vec::new();
        let mut ends = Vec::new();
        for (number, transition) in usable.usable_transitions() {
            let next = usable.leaving.items(transition.to);
            required.extend(next.iter().map(|next| take(node(number), *next)));
            if !next.is_empty() {
                optional.push(Arc::free(node(number), transition.to));
            }
            if !usable.entering.items(transition.from).is_empty() {
                optional.push(take(transition.from, number));
            }
            if usable.is_end(transition.to) {
                ends.push(node(number));
            }
        }
        let starts = usable.starts.iter();
        let first = starts.flat_map(|start| usable.leaving.items(*start));
        Network {
            nodes: states + usable.graph.transitions.len(),
            required,
            optional,
            starting: first.map(|number| take(node(*number), *number)).collect(),
            ends,
        }
    }

    /// Finds the connected parts of the network. Returns for each node the number of its part, and
    /// the number of parts. Only parts with required arcs have a number.
    pub(super) fn components(&self) -> (Vec<Option<u32>>, usize) {
        let mut parent: Vec<u32> = (0..self.nodes as u32).collect();
        for arc in self.required.iter().chain(&self.optional) {
            let (one, other) = (
                find_root(&mut parent, arc.from),
                find_root(&mut parent, arc.to),
            );
            parent[one.max(other) as usize] = one.min(other);
        }
        let mut numbers = vec![None; self.nodes];
        let mut count = 0;
        for arc in &self.required {
            let number = &mut numbers[find_root(&mut parent, arc.from) as usize];
            if number.is_none() {
                *number = Some(count);
                count += 1;
            }
        }
        let nodes = 0..self.nodes as u32;
        let parts = nodes.map(|node| numbers[find_root(&mut parent, node) as usize]);
        (parts.collect(), count as usize)
    }
}

/// Returns the node that represents the part of a node. Shortens the chain of parents on the way
/// (union-find with path halving).
fn find_root(parent: &mut [u32], node: u32) -> u32 {
    let mut at = node;
    while parent[at as usize] != at {
        let next = parent[at as usize];
        parent[at as usize] = parent[next as usize];
        at = next;
    }
    at
}
