//! The part of a graph that runs can use, and shortest paths in it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::lists::Lists;
use super::{CoverGoal, CoverPlan, UnreachableReason};
use crate::{ProductGraph, ProductTransition};

/// Maximum cost of a transition, so that sums along a path fit into 64 bits.
const MAX_COST: u64 = 1 << 40;

/// Length of a path, compared lexicographically: cost and then steps, or steps and then cost.
pub(super) type Length = (u64, u64);

/// A graph without the transitions that no run from a start to an end can take.
pub(super) struct UsableGraph<'g> {
    /// Whole graph.
    pub(super) graph: &'g ProductGraph,
    /// States in which runs can begin, each once.
    pub(super) starts: Vec<u32>,
    /// For each state, the transitions that leave it and can be part of a run.
    pub(super) leaving: Lists,
    /// For each state, the transitions that enter it and can be part of a run.
    pub(super) entering: Lists,
    /// Cost of each transition, at most [`MAX_COST`].
    costs: Vec<u64>,
    /// For each state, whether a run may end there.
    is_end: Vec<bool>,
    /// For each state, whether a start leads there.
    is_reachable: Vec<bool>,
    /// For each state, whether an end can be reached from it.
    can_reach_end: Vec<bool>,
    /// For each transition, whether runs may take it.
    is_allowed: Vec<bool>,
    /// True if the number of steps counts more than the cost.
    steps_before_cost: bool,
}

impl<'g> UsableGraph<'g> {
    /// Computes the usable part of a graph.
    pub(super) fn new(graph: &'g ProductGraph, plan: &CoverPlan) -> UsableGraph<'g> {
        let states = graph.states();
        let transitions = &graph.transitions;
        let costs = (0..transitions.len()).map(|number| plan.transition_cost(number).min(MAX_COST));
        // Random runs never take a transition of weight 0.
        let is_random = matches!(plan.goal, CoverGoal::Random { .. });
        let is_allowed: Vec<bool> = (0..transitions.len())
            .map(|number| !is_random || plan.transition_weight(number) > 0)
            .collect();
        let mut is_end = vec![!plan.end_accepting; states];
        for state in &graph.accepting {
            is_end[*state as usize] = true;
        }
        let all = with_indices(transitions).filter(|(number, _)| is_allowed[*number as usize]);
        let after = Lists::new(states, all.clone().map(|(_, each)| (each.from, each.to)));
        let before = Lists::new(states, all.clone().map(|(_, each)| (each.to, each.from)));
        let is_reachable = reachable_states(graph.starts.iter().copied(), &after, states);
        let ends = (0..states as u32).filter(|state| is_end[*state as usize]);
        let can_reach_end = reachable_states(ends, &before, states);
        let useful = all.filter(|(_, each)| {
            is_reachable[each.from as usize] && can_reach_end[each.to as usize]
        });
        let leaving = Lists::new(
            states,
            useful.clone().map(|(number, each)| (each.from, number)),
        );
        let entering = Lists::new(states, useful.map(|(number, each)| (each.to, number)));
        let mut starts = Vec::new();
        let mut is_start = vec![false; states];
        for start in &graph.starts {
            let seen = std::mem::replace(&mut is_start[*start as usize], true);
            if can_reach_end[*start as usize] && !seen {
                starts.push(*start);
            }
        }
        UsableGraph {
            graph,
            starts,
            leaving,
            entering,
            costs: costs.collect(),
            is_end,
            is_reachable,
            can_reach_end,
            is_allowed,
            steps_before_cost: plan.max_steps.is_some(),
        }
    }

    /// Returns the number of states of the whole graph.
    pub(super) fn states(&self) -> u32 {
        self.graph.states() as u32
    }

    /// Returns a transition by its index.
    pub(super) fn transition(&self, number: u32) -> ProductTransition {
        self.graph.transitions[number as usize]
    }

    /// Returns the cost of a transition.
    pub(super) fn cost(&self, transition: u32) -> u64 {
        self.costs[transition as usize]
    }

    /// Returns true if a run may end in a state.
    pub(super) fn is_end(&self, state: u32) -> bool {
        self.is_end[state as usize]
    }

    /// Returns the reason for which no run visits `first` and later `last`, if none does. A path
    /// must lead from one to the other.
    pub(super) fn unreachable_reason(&self, first: u32, last: u32) -> Option<UnreachableReason> {
        match (
            self.is_reachable[first as usize],
            self.can_reach_end[last as usize],
        ) {
            (false, _) => Some(UnreachableReason::NoPath),
            (true, false) => Some(UnreachableReason::NoEnd),
            (true, true) => None,
        }
    }

    /// Returns the reason for which no run takes a transition, if none does.
    pub(super) fn transition_reason(&self, transition: u32) -> Option<UnreachableReason> {
        let ProductTransition { from, to, .. } = self.transition(transition);
        if self.is_allowed[transition as usize] {
            self.unreachable_reason(from, to)
        } else {
            Some(UnreachableReason::NoPath)
        }
    }

    /// Iterates over the transitions that can be part of a run.
    pub(super) fn usable_transitions(
        &self,
    ) -> impl Iterator<Item = (u32, ProductTransition)> + Clone {
        with_indices(&self.graph.transitions)
            .filter(|(number, _)| self.transition_reason(*number).is_none())
    }

    /// Returns the state after these steps of a run, or `None` if there are no steps.
    pub(super) fn state_after(&self, run: &[u32]) -> Option<u32> {
        run.last().map(|last| self.transition(*last).to)
    }

    /// Returns the length that a transition adds to a path. Steps count more than costs if runs
    /// have a maximum length.
    pub(super) fn length(&self, transition: u32) -> Length {
        if self.steps_before_cost {
            (1, self.cost(transition))
        } else {
            (self.cost(transition), 1)
        }
    }

    /// Returns the number of steps in a length.
    pub(super) fn steps(&self, length: Length) -> u64 {
        if self.steps_before_cost {
            length.0
        } else {
            length.1
        }
    }

    /// Computes shortest paths from the start states to all states.
    pub(super) fn paths_from_starts(&self) -> PathTree {
        let mut paths = PathTree::new(self, SearchDirection::Forward);
        paths.search(self, self.starts.iter().copied(), |_, _| true);
        paths
    }

    /// Computes shortest paths from all states to where a run may end.
    pub(super) fn paths_to_ends(&self) -> PathTree {
        let mut paths = PathTree::new(self, SearchDirection::Backward);
        let ends = (0..self.states()).filter(|state| {
            self.is_end(*state) && self.unreachable_reason(*state, *state).is_none()
        });
        paths.search(self, ends, |_, _| true);
        paths
    }
}

/// Adds two lengths.
pub(super) fn add_lengths(one: Length, other: Length) -> Length {
    (one.0.saturating_add(other.0), one.1.saturating_add(other.1))
}

/// Iterates over transitions with their indices.
fn with_indices(
    transitions: &[ProductTransition],
) -> impl Iterator<Item = (u32, ProductTransition)> + Clone {
    let numbers = 0..transitions.len() as u32;
    numbers.zip(transitions.iter().copied())
}

/// Returns for each state whether it can be reached from the states in `from`.
fn reachable_states(from: impl Iterator<Item = u32>, next: &Lists, states: usize) -> Vec<bool> {
    let mut reached = vec![false; states];
    let mut waiting: Vec<u32> = Vec::new();
    for state in from {
        if !std::mem::replace(&mut reached[state as usize], true) {
            waiting.push(state);
        }
    }
    while let Some(state) = waiting.pop() {
        for to in next.items(state) {
            if !std::mem::replace(&mut reached[*to as usize], true) {
                waiting.push(*to);
            }
        }
    }
    reached
}

/// Direction of a search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SearchDirection {
    /// Along transitions, from start states.
    Forward,
    /// Against transitions, from states where a run may end.
    Backward,
}

/// Shortest paths between some states and all others. Among paths of the same length, the first
/// that is found is kept.
pub(super) struct PathTree {
    direction: SearchDirection,
    /// Length of the path of each state.
    distance: Vec<Option<Length>>,
    /// Transition of the path next to each state.
    adjacent_transitions: Vec<Option<u32>>,
    /// States whose entries have to be reset before another search.
    touched: Vec<u32>,
}

impl PathTree {
    fn new(usable: &UsableGraph<'_>, direction: SearchDirection) -> PathTree {
        let states = usable.states() as usize;
        PathTree {
            direction,
            distance: vec![None; states],
            adjacent_transitions: vec![None; states],
            touched: Vec::new(),
        }
    }

    /// Creates a tree without paths, for searches from different states one after the other.
    pub(super) fn empty(usable: &UsableGraph<'_>) -> PathTree {
        PathTree::new(usable, SearchDirection::Forward)
    }

    /// Returns the length of the path to a state, or `None` if there is no path.
    pub(super) fn distance(&self, state: u32) -> Option<Length> {
        self.distance[state as usize]
    }

    /// Returns the last transition on the path to a state, or the first on the path from it to an
    /// end.
    pub(super) fn adjacent_transition(&self, state: u32) -> Option<u32> {
        self.adjacent_transitions[state as usize]
    }

    /// Returns the path to a state, or the path from it to an end.
    pub(super) fn path(&self, usable: &UsableGraph<'_>, state: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = state;
        while let Some(number) = self.adjacent_transition(at) {
            path.push(number);
            let transition = usable.transition(number);
            at = match self.direction {
                SearchDirection::Forward => transition.from,
                SearchDirection::Backward => transition.to,
            };
        }
        if self.direction == SearchDirection::Forward {
            path.reverse();
        }
        path
    }

    /// Finds the wanted transition that is nearest to a state, no farther than `farthest`. Also
    /// returns the length of the path up to and including it. Afterwards, the tree has the paths
    /// from that state.
    pub(super) fn nearest(
        &mut self,
        usable: &UsableGraph<'_>,
        from: u32,
        farthest: Length,
        wanted: impl Fn(u32) -> bool,
    ) -> Option<(u32, Length)> {
        let mut best: Option<(Length, u32)> = None;
        self.search(usable, std::iter::once(from), |state, distance| {
            if distance > farthest || best.is_some_and(|(least, _)| distance >= least) {
                return false;
            }
            for number in usable.leaving.items(state) {
                let behind = add_lengths(distance, usable.length(*number));
                let is_better = best.is_none_or(|(least, _)| behind < least);
                if behind <= farthest && is_better && wanted(*number) {
                    best = Some((behind, *number));
                }
            }
            true
        });
        best.map(|(distance, number)| (number, distance))
    }

    /// Finds the shortest paths from these states (Dijkstra). `proceed` is called with each state
    /// once its path is final, and stops the search by returning false.
    fn search(
        &mut self,
        usable: &UsableGraph<'_>,
        from: impl Iterator<Item = u32>,
        mut proceed: impl FnMut(u32, Length) -> bool,
    ) {
        for state in self.touched.drain(..) {
            self.distance[state as usize] = None;
            self.adjacent_transitions[state as usize] = None;
        }
        let mut waiting = BinaryHeap::new();
        for state in from {
            self.distance[state as usize] = Some((0, 0));
            self.touched.push(state);
            waiting.push(Reverse(((0, 0), state)));
        }
        while let Some(Reverse((distance, state))) = waiting.pop() {
            if self.distance(state) != Some(distance) {
                continue; // A shorter way was found meanwhile.
            }
            if !proceed(state, distance) {
                break;
            }
            let next = match self.direction {
                SearchDirection::Forward => usable.leaving.items(state),
                SearchDirection::Backward => usable.entering.items(state),
            };
            for number in next {
                let transition = usable.transition(*number);
                let to = match self.direction {
                    SearchDirection::Forward => transition.to,
                    SearchDirection::Backward => transition.from,
                };
                let length = add_lengths(distance, usable.length(*number));
                let known = self.distance(to);
                if known.is_none_or(|known| length < known) {
                    if known.is_none() {
                        self.touched.push(to);
                    }
                    self.distance[to as usize] = Some(length);
                    self.adjacent_transitions[to as usize] = Some(*number);
                    waiting.push(Reverse((length, to)));
                }
            }
        }
    }
}
