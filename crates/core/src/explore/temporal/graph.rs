//! The states and transitions seen so far, with the atoms that hold in them.

use super::automaton::Letter;
use crate::ActionId;

/// A step between two states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    /// `None` where nothing can be done: the state stays as it is.
    pub(super) action: Option<ActionId>,
    pub(super) to: u32,
    /// What holds after it.
    pub(super) letter: Letter,
}

/// Stands for a beginning where a state stays as it is.
const STAYS: usize = usize::MAX;

/// The transitions of an exploration. Those of a state come one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    /// What holds in each state, apart from how it was reached.
    pub(super) letters: Vec<Letter>,
    edges: Vec<Edge>,
    /// By state: where its edges begin and end; nothing is known of what follows a state without.
    ranges: Vec<(usize, usize)>,
    /// Edges of states in which nothing can be done. They are told of in between the edges of others.
    stays: Vec<Edge>,
}

impl Graph {
    pub(super) fn len(&self) -> usize {
        self.letters.len()
    }

    /// What it takes in memory, empty places included.
    pub(super) fn bytes(&self) -> usize {
        self.letters.capacity() * size_of::<Letter>()
            + self.ranges.capacity() * size_of::<(usize, usize)>()
            + (self.edges.capacity() + self.stays.capacity()) * size_of::<Edge>()
    }

    pub(super) fn add_state(&mut self, letter: Letter) {
        self.letters.push(letter);
        self.ranges.push((0, 0));
    }

    pub(super) fn add_edge(&mut self, from: u32, edge: Edge) {
        let at = self.edges.len();
        let range = &mut self.ranges[from as usize];
        if range.1 == 0 {
            *range = (at, at);
        }
        self.edges.push(edge);
        range.1 = self.edges.len();
    }

    /// Nothing can be done in this state, so it stays as it is, and no step was taken.
    pub(super) fn stay(&mut self, state: u32) {
        self.ranges[state as usize] = (STAYS, self.stays.len());
        self.stays.push(Edge {
            action: None,
            to: state,
            letter: self.letters[state as usize],
        });
    }

    pub(super) fn edges(&self, state: u32) -> &[Edge] {
        match self.ranges[state as usize] {
            (STAYS, place) => &self.stays[place..=place],
            (start, end) => &self.edges[start..end],
        }
    }
}
