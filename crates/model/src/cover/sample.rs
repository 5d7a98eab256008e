//! Small graphs for tests, and the least cost of covering them, found by trying everything.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use testwright_core::Random;
use testwright_core::product::{Label, NameId, Place, ValueId};

use super::{CoverPlan, Goal, RUN_COST};
use crate::{Graph, Transition};

/// A graph. Edges have a state, the number of an action, its argument, and a state.
pub(super) fn graph(
    states: u32,
    starts: &[u32],
    accepting: &[u32],
    edges: &[(u32, u32, u32, u32)],
) -> Graph {
    let mut graph = Graph::new(1);
    for state in 0..states {
        graph.number(&[Place(state)]);
    }
    graph.starts = starts.to_vec();
    graph.accepting = accepting.to_vec();
    for (from, name, argument, to) in edges {
        let label = graph.number_of_label(Label {
            name: NameId(*name),
            arguments: ValueId(*argument + 1),
            result: ValueId::NONE,
        });
        graph.transitions.push(Transition {
            from: *from,
            label,
            to: *to,
        });
    }
    graph
}

/// A graph with so many states and up to so many transitions, with loops, parallel transitions, parts that cannot be
/// reached and states in which nothing is possible.
pub(super) fn any_graph(random: &mut Random, states: u32, most: u64) -> Graph {
    let mut below = |bound: u32| random.below(u64::from(bound)) as u32;
    let count = below(most as u32 + 1);
    let edges: Vec<_> = (0..count)
        .map(|_| (below(states), below(3), below(2), below(states)))
        .collect();
    let starts: Vec<u32> = (0..=below(2)).map(|_| below(states)).collect();
    let accepting: Vec<u32> = (0..states).filter(|_| below(3) > 0).collect();
    graph(states, &starts, &accepting, &edges)
}

/// A graph in which every state can be reached from every other, in a ring to begin with.
pub(super) fn strongly_connected(random: &mut Random, states: u32, more: u32) -> Graph {
    let mut below = |bound: u32| random.below(u64::from(bound)) as u32;
    let mut edges: Vec<_> = (0..states)
        .map(|state| (state, below(4), below(3), (state + 1) % states))
        .collect();
    for _ in 0..more {
        edges.push((below(states), below(4), below(3), below(states)));
    }
    let accepting = [below(states), below(states)];
    graph(states, &[0], &accepting, &edges)
}

/// What is covered by a step after another, or by beginning in a state: written anew, and for few targets only.
fn bit(graph: &Graph, goal: Goal, before: Option<u32>, step: u32) -> Option<u32> {
    let transition = graph.transitions[step as usize];
    match goal {
        Goal::Actions => Some(graph.labels[transition.label as usize].name.0),
        Goal::Labels => Some(transition.label),
        Goal::States | Goal::Shortest => Some(transition.to),
        Goal::Transitions | Goal::Random { .. } => Some(step),
        Goal::Pairs => before.map(|before| before * graph.transitions.len() as u32 + step),
    }
}

/// All that a suite covers, sorted. Runs without steps are not counted.
pub(super) fn covered_by(graph: &Graph, goal: Goal, runs: &[Vec<u32>]) -> Vec<u32> {
    let mut covered = Vec::new();
    for run in runs {
        if goal == Goal::States || goal == Goal::Shortest {
            covered.extend(
                run.first()
                    .map(|first| graph.transitions[*first as usize].from),
            );
        }
        for (index, step) in run.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| run[before]);
            covered.extend(bit(graph, goal, before, *step));
        }
    }
    covered.sort_unstable();
    covered.dedup();
    covered
}

/// The least cost of covering what these runs cover: a search through all that a tester may know, which is the state,
/// the last step, and what is covered so far. At most 16 targets.
pub(super) fn least_cost(graph: &Graph, plan: &CoverPlan, runs: &[Vec<u32>]) -> u64 {
    let wanted = covered_by(graph, plan.goal, runs);
    assert!(wanted.len() <= 16, "too many for trying everything");
    let all = (1u32 << wanted.len()) - 1;
    let mask = |target: Option<u32>| {
        let place = target.and_then(|target| wanted.binary_search(&target).ok());
        place.map_or(0, |place| 1u32 << place)
    };
    let is_end = |state: u32| !plan.end_accepting || graph.accepting.contains(&state);
    // `None` is between two runs.
    type Knowledge = (Option<(u32, Option<u32>)>, u32);
    let mut known: HashMap<Knowledge, u64> = HashMap::new();
    let mut waiting: BinaryHeap<Reverse<(u64, Knowledge)>> = BinaryHeap::new();
    waiting.push(Reverse((0, (None, 0))));
    while let Some(Reverse((cost, knowledge))) = waiting.pop() {
        if known.contains_key(&knowledge) {
            continue;
        }
        known.insert(knowledge, cost);
        let (at, covered) = knowledge;
        let Some((state, before)) = at else {
            if covered == all {
                return cost;
            }
            for start in &graph.starts {
                let begun = match plan.goal {
                    Goal::States => mask(Some(*start)),
                    _ => 0,
                };
                let next = (Some((*start, None)), covered | begun);
                waiting.push(Reverse((cost + RUN_COST, next)));
            }
            continue;
        };
        if is_end(state) {
            waiting.push(Reverse((cost, (None, covered))));
        }
        for (number, transition) in (0..).zip(&graph.transitions) {
            if transition.from == state {
                let covered = covered | mask(bit(graph, plan.goal, before, number));
                let next = (Some((transition.to, Some(number))), covered);
                let cost = cost + plan.cost_of(number as usize);
                waiting.push(Reverse((cost, next)));
            }
        }
    }
    panic!("what is covered cannot be covered")
}
