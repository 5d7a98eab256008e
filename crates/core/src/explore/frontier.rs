//! Frontiers: the choice of the next state. The search orders differ only in this.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::links::Visit;
use super::{SearchOrder, StateId};
use crate::ActionId;

/// A state with actions that were not taken yet.
#[derive(Clone, Debug)]
pub(super) struct OpenState {
    pub(super) state: StateId,
    pub(super) visit: Visit,
    pub(super) depth: u32,
    /// The actions still to take, in reverse order; `None` until the system was queried.
    pub(super) actions: Option<Vec<ActionId>>,
    /// The number of actions at the beginning.
    pub(super) action_count: usize,
    /// True if the actions were all taken before, when the state was reached by a longer path.
    pub(super) is_revisit: bool,
    /// The number of the state in the set of visited states, if it is in the set.
    pub(super) state_number: Option<u32>,
}

/// The open states of a search, in some order.
pub(super) trait Frontier {
    /// Adds a state and its estimated distance from the goal.
    fn push(&mut self, open: OpenState, distance: i64);

    /// Returns the state to continue with. It stays the same until it is closed or, if the newest
    /// come first, until one is added.
    fn current(&mut self) -> Option<&mut OpenState>;

    /// Removes the current state.
    fn close(&mut self) -> Option<OpenState>;

    /// Returns the number of open states.
    fn len(&self) -> usize;

    /// Returns true if the state added last comes next.
    fn is_newest_first(&self) -> bool {
        false
    }
}

/// Creates the frontier for a search order.
pub(super) fn new_frontier(order: SearchOrder) -> Box<dyn Frontier> {
    match order {
        SearchOrder::BreadthFirst => Box::new(BreadthFirstFrontier::default()),
        SearchOrder::DepthFirst | SearchOrder::IterativeDeepening => {
            Box::new(DepthFirstFrontier::default())
        }
        SearchOrder::BestFirst => Box::new(BestFirstFrontier::default()),
    }
}

/// Oldest first: all states that take n steps come before those that take n + 1.
#[derive(Default)]
struct BreadthFirstFrontier(VecDeque<OpenState>);

impl Frontier for BreadthFirstFrontier {
    fn push(&mut self, open: OpenState, _distance: i64) {
        self.0.push_back(open);
    }
    fn current(&mut self) -> Option<&mut OpenState> {
        self.0.front_mut()
    }
    fn close(&mut self) -> Option<OpenState> {
        self.0.pop_front()
    }
    fn len(&self) -> usize {
        self.0.len()
    }
}

/// Newest first: goes deeper as long as there are new states.
#[derive(Default)]
struct DepthFirstFrontier(Vec<OpenState>);

impl Frontier for DepthFirstFrontier {
    fn push(&mut self, open: OpenState, _distance: i64) {
        self.0.push(open);
    }
    fn current(&mut self) -> Option<&mut OpenState> {
        self.0.last_mut()
    }
    fn close(&mut self) -> Option<OpenState> {
        self.0.pop()
    }
    fn len(&self) -> usize {
        self.0.len()
    }
    fn is_newest_first(&self) -> bool {
        true
    }
}

/// Nearest first, and of equally near states the oldest.
#[derive(Default)]
struct BestFirstFrontier {
    /// Distance, order of addition and index of the waiting states.
    heap: BinaryHeap<Reverse<(i64, u64, usize)>>,
    /// The waiting states by index. They are kept out of the heap, which moves its elements often.
    waiting: Vec<Option<OpenState>>,
    free: Vec<usize>,
    added: u64,
    current: Option<OpenState>,
}

impl Frontier for BestFirstFrontier {
    fn push(&mut self, open: OpenState, distance: i64) {
        let index = match self.free.pop() {
            Some(index) => {
                self.waiting[index] = Some(open);
                index
            }
            None => {
                self.waiting.push(Some(open));
                self.waiting.len() - 1
            }
        };
        self.heap.push(Reverse((distance, self.added, index)));
        self.added += 1;
    }
    fn current(&mut self) -> Option<&mut OpenState> {
        if self.current.is_none() {
            let Reverse((_, _, index)) = self.heap.pop()?;
            self.current = self.waiting[index].take();
            self.free.push(index);
        }
        self.current.as_mut()
    }
    fn close(&mut self) -> Option<OpenState> {
        self.current.take()
    }
    fn len(&self) -> usize {
        self.heap.len() + usize::from(self.current.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order_of(order: SearchOrder, distances: &[i64]) -> Vec<u64> {
        let mut frontier = new_frontier(order);
        for (number, distance) in distances.iter().enumerate() {
            let open = OpenState {
                state: StateId(number as u64),
                visit: 0,
                depth: 0,
                actions: None,
                action_count: 0,
                is_revisit: false,
                state_number: None,
            };
            frontier.push(open, *distance);
        }
        assert_eq!(frontier.len(), distances.len());
        let mut states = Vec::new();
        while let Some(open) = frontier.current() {
            states.push(open.state.0);
            assert_eq!(
                frontier.close().map(|open| open.state.0),
                states.last().copied()
            );
        }
        states
    }

    #[test]
    fn frontiers_differ_in_their_order() {
        let distances = [3, 1, 2, 1];
        assert_eq!(
            order_of(SearchOrder::BreadthFirst, &distances),
            [0, 1, 2, 3]
        );
        assert_eq!(order_of(SearchOrder::DepthFirst, &distances), [3, 2, 1, 0]);
        assert_eq!(order_of(SearchOrder::BestFirst, &distances), [1, 3, 2, 0]);
    }
}
