//! The part of a graph that runs can use, and the shortest ways in it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::lists::Lists;
use super::{CoverPlan, Goal, Reason};
use crate::{Graph, Transition};

/// Sums of costs along a way must fit into 64 bits; dearer transitions count as this.
const DEAREST: u64 = 1 << 40;

/// What is compared first comes first: the cost and then the steps, or the other way round.
pub(super) type Length = (u64, u64);

/// A graph without what no run can pass on its way from a start to an end.
pub(super) struct Ground<'g> {
    pub(super) graph: &'g Graph,
    /// Where runs can begin, each state once.
    pub(super) starts: Vec<u32>,
    /// By state: the transitions that leave it and can be part of a run.
    pub(super) leaving: Lists,
    /// By state: the transitions that enter it and can be part of a run.
    pub(super) entering: Lists,
    costs: Vec<u64>,
    may_end: Vec<bool>,
    reached: Vec<bool>,
    alive: Vec<bool>,
    allowed: Vec<bool>,
    steps_first: bool,
}

impl<'g> Ground<'g> {
    pub(super) fn new(graph: &'g Graph, plan: &CoverPlan) -> Ground<'g> {
        let states = graph.states();
        let transitions = &graph.transitions;
        let costs = (0..transitions.len()).map(|number| plan.cost_of(number).min(DEAREST));
        // Chance never takes what has no weight.
        let by_chance = matches!(plan.goal, Goal::Random { .. });
        let allowed: Vec<bool> = (0..transitions.len())
            .map(|number| !by_chance || plan.weight_of(number) > 0)
            .collect();
        let mut may_end = vec![!plan.end_accepting; states];
        for state in &graph.accepting {
            may_end[*state as usize] = true;
        }
        let all = numbered(transitions).filter(|(number, _)| allowed[*number as usize]);
        let after = Lists::new(states, all.clone().map(|(_, each)| (each.from, each.to)));
        let before = Lists::new(states, all.clone().map(|(_, each)| (each.to, each.from)));
        let reached = flood(graph.starts.iter().copied(), &after, states);
        let ends = (0..states as u32).filter(|state| may_end[*state as usize]);
        let alive = flood(ends, &before, states);
        let useful = all.filter(|(_, each)| reached[each.from as usize] && alive[each.to as usize]);
        let leaving = Lists::new(
            states,
            useful.clone().map(|(number, each)| (each.from, number)),
        );
        let entering = Lists::new(states, useful.map(|(number, each)| (each.to, number)));
        let mut starts = Vec::new();
        let mut is_start = vec![false; states];
        for start in &graph.starts {
            let seen = std::mem::replace(&mut is_start[*start as usize], true);
            if alive[*start as usize] && !seen {
                starts.push(*start);
            }
        }
        Ground {
            graph,
            starts,
            leaving,
            entering,
            costs: costs.collect(),
            may_end,
            reached,
            alive,
            allowed,
            steps_first: plan.longest.is_some(),
        }
    }

    pub(super) fn states(&self) -> u32 {
        self.graph.states() as u32
    }

    pub(super) fn transition(&self, number: u32) -> Transition {
        self.graph.transitions[number as usize]
    }

    pub(super) fn cost(&self, transition: u32) -> u64 {
        self.costs[transition as usize]
    }

    pub(super) fn may_end(&self, state: u32) -> bool {
        self.may_end[state as usize]
    }

    /// Why no run comes by `first` and then `last`, if none does and a way leads from one to the other.
    pub(super) fn reason(&self, first: u32, last: u32) -> Option<Reason> {
        match (self.reached[first as usize], self.alive[last as usize]) {
            (false, _) => Some(Reason::NoWay),
            (true, false) => Some(Reason::NoEnd),
            (true, true) => None,
        }
    }

    /// Why no run takes a transition, if none does.
    pub(super) fn reason_of(&self, transition: u32) -> Option<Reason> {
        let Transition { from, to, .. } = self.transition(transition);
        if self.allowed[transition as usize] {
            self.reason(from, to)
        } else {
            Some(Reason::NoWay)
        }
    }

    /// The transitions that can be part of a run.
    pub(super) fn useful(&self) -> impl Iterator<Item = (u32, Transition)> + Clone {
        numbered(&self.graph.transitions).filter(|(number, _)| self.reason_of(*number).is_none())
    }

    /// The state after these steps of a run, if there are any.
    pub(super) fn state_after(&self, run: &[u32]) -> Option<u32> {
        run.last().map(|last| self.transition(*last).to)
    }

    /// How much longer a way gets by a transition. Where runs have a greatest length, steps count more than costs.
    pub(super) fn length(&self, transition: u32) -> Length {
        if self.steps_first {
            (1, self.cost(transition))
        } else {
            (self.cost(transition), 1)
        }
    }

    pub(super) fn steps(&self, length: Length) -> u64 {
        if self.steps_first { length.0 } else { length.1 }
    }

    /// The shortest ways from starts to states.
    pub(super) fn ways_from_starts(&self) -> Ways {
        let mut ways = Ways::new(self, Direction::Forward);
        ways.spread(self, self.starts.iter().copied(), |_, _| true);
        ways
    }

    /// The shortest ways from states to where a run may end.
    pub(super) fn ways_to_ends(&self) -> Ways {
        let mut ways = Ways::new(self, Direction::Backward);
        let ends = (0..self.states())
            .filter(|state| self.may_end(*state) && self.reason(*state, *state).is_none());
        ways.spread(self, ends, |_, _| true);
        ways
    }
}

pub(super) fn plus(one: Length, other: Length) -> Length {
    (one.0.saturating_add(other.0), one.1.saturating_add(other.1))
}

fn numbered(transitions: &[Transition]) -> impl Iterator<Item = (u32, Transition)> + Clone {
    let numbers = 0..transitions.len() as u32;
    numbers.zip(transitions.iter().copied())
}

/// Which states can be reached from some.
fn flood(from: impl Iterator<Item = u32>, next: &Lists, states: usize) -> Vec<bool> {
    let mut reached = vec![false; states];
    let mut waiting: Vec<u32> = Vec::new();
    for state in from {
        if !std::mem::replace(&mut reached[state as usize], true) {
            waiting.push(state);
        }
    }
    while let Some(state) = waiting.pop() {
        for to in next.of(state) {
            if !std::mem::replace(&mut reached[*to as usize], true) {
                waiting.push(*to);
            }
        }
    }
    reached
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

/// Shortest ways between some states and all others. Of ways of the same length the first that is found stands.
pub(super) struct Ways {
    direction: Direction,
    far: Vec<Option<Length>>,
    by: Vec<Option<u32>>,
    touched: Vec<u32>,
}

impl Ways {
    fn new(ground: &Ground<'_>, direction: Direction) -> Ways {
        let states = ground.states() as usize;
        Ways {
            direction,
            far: vec![None; states],
            by: vec![None; states],
            touched: Vec::new(),
        }
    }

    /// To look around from different states, one after the other.
    pub(super) fn nowhere(ground: &Ground<'_>) -> Ways {
        Ways::new(ground, Direction::Forward)
    }

    /// How far a state is, if there is a way.
    pub(super) fn far(&self, state: u32) -> Option<Length> {
        self.far[state as usize]
    }

    /// The last transition on the way to a state, or the first on the way from it to an end.
    pub(super) fn by(&self, state: u32) -> Option<u32> {
        self.by[state as usize]
    }

    /// The way to a state, or from it to an end.
    pub(super) fn way(&self, ground: &Ground<'_>, state: u32) -> Vec<u32> {
        let mut way = Vec::new();
        let mut at = state;
        while let Some(number) = self.by(at) {
            way.push(number);
            let transition = ground.transition(number);
            at = match self.direction {
                Direction::Forward => transition.from,
                Direction::Backward => transition.to,
            };
        }
        if self.direction == Direction::Forward {
            way.reverse();
        }
        way
    }

    /// The wanted transition that is nearest to a state, and how far it is to behind it; none that is farther than
    /// this. The ways are from that state then.
    pub(super) fn nearest(
        &mut self,
        ground: &Ground<'_>,
        from: u32,
        farthest: Length,
        wanted: impl Fn(u32) -> bool,
    ) -> Option<(u32, Length)> {
        let mut best: Option<(Length, u32)> = None;
        self.spread(ground, std::iter::once(from), |state, far| {
            if far > farthest || best.is_some_and(|(least, _)| far >= least) {
                return false;
            }
            for number in ground.leaving.of(state) {
                let behind = plus(far, ground.length(*number));
                let is_better = best.is_none_or(|(least, _)| behind < least);
                if behind <= farthest && is_better && wanted(*number) {
                    best = Some((behind, *number));
                }
            }
            true
        });
        best.map(|(far, number)| (number, far))
    }

    /// Finds the shortest ways from these states, until told to stop by who sees each state when its way is known.
    fn spread(
        &mut self,
        ground: &Ground<'_>,
        from: impl Iterator<Item = u32>,
        mut goes_on: impl FnMut(u32, Length) -> bool,
    ) {
        for state in self.touched.drain(..) {
            self.far[state as usize] = None;
            self.by[state as usize] = None;
        }
        let mut waiting = BinaryHeap::new();
        for state in from {
            self.far[state as usize] = Some((0, 0));
            self.touched.push(state);
            waiting.push(Reverse(((0, 0), state)));
        }
        while let Some(Reverse((far, state))) = waiting.pop() {
            if self.far(state) != Some(far) {
                continue; // A shorter way was found meanwhile.
            }
            if !goes_on(state, far) {
                break;
            }
            let next = match self.direction {
                Direction::Forward => ground.leaving.of(state),
                Direction::Backward => ground.entering.of(state),
            };
            for number in next {
                let transition = ground.transition(*number);
                let to = match self.direction {
                    Direction::Forward => transition.to,
                    Direction::Backward => transition.from,
                };
                let length = plus(far, ground.length(*number));
                let known = self.far(to);
                if known.is_none_or(|known| length < known) {
                    if known.is_none() {
                        self.touched.push(to);
                    }
                    self.far[to as usize] = Some(length);
                    self.by[to as usize] = Some(*number);
                    waiting.push(Reverse((length, to)));
                }
            }
        }
    }
}
