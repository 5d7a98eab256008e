//! What a tour goes through: the arcs it must take, and those it may take.

use super::ground::Ground;
use crate::Transition;

/// A way from one node to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) cost: u64,
    /// The transition that is taken with it, if any.
    pub(super) step: Option<u32>,
}

impl Arc {
    /// A way that costs nothing and takes no step.
    pub(super) fn free(from: u32, to: u32) -> Arc {
        Arc {
            from,
            to,
            cost: 0,
            step: None,
        }
    }
}

/// Nodes that runs go through.
///
/// Each required arc must be taken at least once. Its nodes can be reached from where runs begin, and an end can be
/// reached from them, by helping arcs.
#[derive(Debug)]
pub(super) struct Network {
    pub(super) nodes: usize,
    pub(super) required: Vec<Arc>,
    /// Arcs that may be taken, as often as it helps.
    pub(super) helping: Vec<Arc>,
    /// Arcs with which a run can begin, wherever they come from.
    pub(super) begins: Vec<Arc>,
    pub(super) ends: Vec<u32>,
}

impl Network {
    /// To cover transitions: the nodes are states, and the arcs transitions.
    pub(super) fn of_transitions(ground: &Ground<'_>) -> Network {
        let arc = |(number, transition): (u32, Transition)| Arc {
            from: transition.from,
            to: transition.to,
            cost: ground.cost(number),
            step: Some(number),
        };
        let arcs: Vec<Arc> = ground.useful().map(arc).collect();
        let starts = ground.starts.iter();
        let states = 0..ground.states();
        Network {
            nodes: ground.graph.states(),
            required: arcs.clone(),
            helping: arcs,
            begins: starts.map(|start| Arc::free(*start, *start)).collect(),
            ends: states.filter(|state| ground.may_end(*state)).collect(),
        }
    }

    /// To cover pairs of transitions.
    ///
    /// A run is at a transition after it was taken, so transitions are nodes, and a pair is an arc. Nodes for the states
    /// stand between them: by way of a state every transition that enters it is followed by every one that leaves it,
    /// and so the helping arcs are as few as the transitions and not as many as the pairs. All that a state's node
    /// joins is joined by pairs, too.
    pub(super) fn of_pairs(ground: &Ground<'_>) -> Network {
        let states = ground.graph.states();
        let node = |number: u32| states as u32 + number;
        let take = |from: u32, number: u32| Arc {
            from,
            to: node(number),
            cost: ground.cost(number),
            step: Some(number),
        };
        let mut required = Vec::new();
        let mut helping = Vec::new();
        let mut ends = Vec::new();
        for (number, transition) in ground.useful() {
            let next = ground.leaving.of(transition.to);
            required.extend(next.iter().map(|next| take(node(number), *next)));
            if !next.is_empty() {
                helping.push(Arc::free(node(number), transition.to));
            }
            if !ground.entering.of(transition.from).is_empty() {
                helping.push(take(transition.from, number));
            }
            if ground.may_end(transition.to) {
                ends.push(node(number));
            }
        }
        let starts = ground.starts.iter();
        let first = starts.flat_map(|start| ground.leaving.of(*start));
        Network {
            nodes: states + ground.graph.transitions.len(),
            required,
            helping,
            begins: first.map(|number| take(node(*number), *number)).collect(),
            ends,
        }
    }

    /// By node: the number of the part that it belongs to, where arcs join nodes into parts. Only parts with required
    /// arcs have a number. And how many parts there are.
    pub(super) fn parts(&self) -> (Vec<Option<u32>>, usize) {
        let mut above: Vec<u32> = (0..self.nodes as u32).collect();
        for arc in self.required.iter().chain(&self.helping) {
            let (one, other) = (top(&mut above, arc.from), top(&mut above, arc.to));
            above[one.max(other) as usize] = one.min(other);
        }
        let mut numbers = vec![None; self.nodes];
        let mut count = 0;
        for arc in &self.required {
            let number = &mut numbers[top(&mut above, arc.from) as usize];
            if number.is_none() {
                *number = Some(count);
                count += 1;
            }
        }
        let nodes = 0..self.nodes as u32;
        let parts = nodes.map(|node| numbers[top(&mut above, node) as usize]);
        (parts.collect(), count as usize)
    }
}

/// The node that stands for the part of a node. Ways there get shorter by looking.
fn top(above: &mut [u32], node: u32) -> u32 {
    let mut at = node;
    while above[at as usize] != at {
        let next = above[at as usize];
        above[at as usize] = above[next as usize];
        at = next;
    }
    at
}
