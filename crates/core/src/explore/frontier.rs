//! Which state is next. This is all that the orders of an exploration differ in.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::links::Visit;
use super::{Order, StateId};
use crate::ActionId;

/// A state whose actions are not all taken.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub(super) state: StateId,
    pub(super) visit: Visit,
    pub(super) depth: u32,
    /// Those still to take, last one first; `None` before anybody asked the system.
    pub(super) actions: Option<Vec<ActionId>>,
    /// How many there were.
    pub(super) count: usize,
    /// They were all taken before, on a longer way to this state.
    pub(super) again: bool,
    /// The state's number in the set of those visited, if it is there.
    pub(super) number: Option<u32>,
}

/// States whose actions are not all taken, in some order.
pub(super) trait Frontier {
    /// Adds a state, and how far it is from what is looked for.
    fn push(&mut self, open: Open, distance: i64);

    /// The state to go on with. It stays the same until it is closed, or, if the newest come first, until one is added.
    fn current(&mut self) -> Option<&mut Open>;

    /// Takes the current state away.
    fn close(&mut self) -> Option<Open>;

    fn len(&self) -> usize;

    /// Whether a state that was just added is the next.
    fn newest_first(&self) -> bool {
        false
    }
}

/// The frontier of an order.
pub(super) fn frontier(order: Order) -> Box<dyn Frontier> {
    match order {
        Order::BreadthFirst => Box::new(Queue::default()),
        Order::DepthFirst | Order::IterativeDeepening => Box::new(Stack::default()),
        Order::BestFirst => Box::new(Best::default()),
    }
}

/// Oldest first: all states that take n steps come before those that take n + 1.
#[derive(Default)]
struct Queue(VecDeque<Open>);

impl Frontier for Queue {
    fn push(&mut self, open: Open, _distance: i64) {
        self.0.push_back(open);
    }
    fn current(&mut self) -> Option<&mut Open> {
        self.0.front_mut()
    }
    fn close(&mut self) -> Option<Open> {
        self.0.pop_front()
    }
    fn len(&self) -> usize {
        self.0.len()
    }
}

/// Newest first: always onwards, and back only where there is nothing new.
#[derive(Default)]
struct Stack(Vec<Open>);

impl Frontier for Stack {
    fn push(&mut self, open: Open, _distance: i64) {
        self.0.push(open);
    }
    fn current(&mut self) -> Option<&mut Open> {
        self.0.last_mut()
    }
    fn close(&mut self) -> Option<Open> {
        self.0.pop()
    }
    fn len(&self) -> usize {
        self.0.len()
    }
    fn newest_first(&self) -> bool {
        true
    }
}

/// Nearest first, and among those that are equally near the oldest.
#[derive(Default)]
struct Best {
    /// Distance and place of those that wait.
    heap: BinaryHeap<Reverse<(i64, u64, usize)>>,
    /// Those that wait, by place; the heap moves its elements often, so they are kept out of it.
    waiting: Vec<Option<Open>>,
    free: Vec<usize>,
    added: u64,
    current: Option<Open>,
}

impl Frontier for Best {
    fn push(&mut self, open: Open, distance: i64) {
        let place = match self.free.pop() {
            Some(place) => {
                self.waiting[place] = Some(open);
                place
            }
            None => {
                self.waiting.push(Some(open));
                self.waiting.len() - 1
            }
        };
        self.heap.push(Reverse((distance, self.added, place)));
        self.added += 1;
    }
    fn current(&mut self) -> Option<&mut Open> {
        if self.current.is_none() {
            let Reverse((_, _, place)) = self.heap.pop()?;
            self.current = self.waiting[place].take();
            self.free.push(place);
        }
        self.current.as_mut()
    }
    fn close(&mut self) -> Option<Open> {
        self.current.take()
    }
    fn len(&self) -> usize {
        self.heap.len() + usize::from(self.current.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order_of(order: Order, distances: &[i64]) -> Vec<u64> {
        let mut frontier = frontier(order);
        for (number, distance) in distances.iter().enumerate() {
            let open = Open {
                state: StateId(number as u64),
                visit: 0,
                depth: 0,
                actions: None,
                count: 0,
                again: false,
                number: None,
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
        assert_eq!(order_of(Order::BreadthFirst, &distances), [0, 1, 2, 3]);
        assert_eq!(order_of(Order::DepthFirst, &distances), [3, 2, 1, 0]);
        assert_eq!(order_of(Order::BestFirst, &distances), [1, 3, 2, 0]);
    }
}
