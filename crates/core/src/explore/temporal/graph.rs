//! The states and transitions explored so far, with the atoms that hold in them.

use super::automaton::Letter;
use crate::ActionId;

/// A step between two states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GraphEdge {
    /// The action; `None` in a deadlock, where the state stays as it is.
    pub(super) action: Option<ActionId>,
    pub(super) to: u32,
    /// The atoms that hold after the step.
    pub(super) letter: Letter,
}

/// Marks the range of a deadlocked state, which stays as it is.
const DEADLOCKED: usize = usize::MAX;

/// The transitions of an exploration. Those of one state are stored consecutively.
#[derive(Clone, Debug, Default)]
pub(super) struct TemporalGraph {
    /// By state: the atoms that hold in it, apart from those about the last step.
    pub(super) letters: Vec<Letter>,
    edges: Vec<GraphEdge>,
    /// By state: the range of its edges. An empty range means that nothing is known of what
    /// follows.
    ranges: Vec<(usize, usize)>,
    /// The edges of deadlocked states. They are reported between the edges of other states, so they
    /// are stored separately.
    deadlock_edges: Vec<GraphEdge>,
}

impl TemporalGraph {
    /// Returns the number of states.
    pub(super) fn len(&self) -> usize {
        self.letters.len()
    }

    /// Returns the memory used, in bytes, unused capacity included.
    pub(super) fn bytes(&self) -> usize {
        self.letters.capacity() * size_of::<Letter>()
            + self.ranges.capacity() * size_of::<(usize, usize)>()
            + (self.edges.capacity() + self.deadlock_edges.capacity()) * size_of::<GraphEdge>()
    }

    /// Adds a state in which these atoms hold.
    pub(super) fn add_state(&mut self, letter: Letter) {
        self.letters.push(letter);
        self.ranges.push((0, 0));
    }

    /// Adds a transition of a state. All transitions of a state must be added in a row.
    pub(super) fn add_edge(&mut self, from: u32, edge: GraphEdge) {
        let at = self.edges.len();
        let range = &mut self.ranges[from as usize];
        if range.1 == 0 {
            *range = (at, at);
        }
        self.edges.push(edge);
        range.1 = self.edges.len();
    }

    /// Records a deadlock: the state stays as it is, and no step is taken.
    pub(super) fn add_deadlock(&mut self, state: u32) {
        self.ranges[state as usize] = (DEADLOCKED, self.deadlock_edges.len());
        self.deadlock_edges.push(GraphEdge {
            action: None,
            to: state,
            letter: self.letters[state as usize],
        });
    }

    /// Returns the transitions of a state.
    pub(super) fn edges(&self, state: u32) -> &[GraphEdge] {
        match self.ranges[state as usize] {
            (DEADLOCKED, index) => &self.deadlock_edges[index..=index],
            (start, end) => &self.edges[start..end],
        }
    }
}
