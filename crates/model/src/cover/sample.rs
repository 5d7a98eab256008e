//! Small graphs for tests, and the minimal cost of covering them by exhaustive search.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use testwright_core::Random;
use testwright_core::product::{ModelState, NameId, StepLabel, ValueId};

use super::{CoverGoal, CoverPlan, RUN_COST};
use crate::{ProductGraph, ProductTransition};

/// Builds a graph. An edge is a state, the number of an action, its argument, and the state after
/// it.
pub(super) fn graph(
    states: u32,
    starts: &[u32],
    accepting: &[u32],
    edges: &[(u32, u32, u32, u32)],
) -> ProductGraph {
    let mut graph = ProductGraph::new(1);
    for state in 0..states {
        graph.number(&[ModelState(state)]);
    }
    graph.starts = starts.to_vec();
    graph.accepting = accepting.to_vec();
    for (from, name, argument, to) in edges {
        let label = graph.number_label(StepLabel {
            name: NameId(*name),
            arguments: ValueId(*argument + 1),
            result: ValueId::NONE,
        });
        graph.transitions.push(ProductTransition {
            from: *from,
            label,
            to: *to,
        });
    }
    graph
}

/// Generates a graph with so many states and at most `max_transitions` transitions. It may have loops,
/// parallel transitions, unreachable parts and dead ends.
pub(super) fn random_graph(random: &mut Random, states: u32, max_transitions: u64) -> ProductGraph {
    let mut below = |bound: u32| random.below(u64::from(bound)) as u32;
    let count = below(max_transitions as u32 + 1);
    let edges: Vec<_> = (0..count)
        .map(|_| (below(states), below(3), below(2), below(states)))
        .collect();
    let starts: Vec<u32> = (0..=below(2)).map(|_| below(states)).collect();
    let accepting: Vec<u32> = (0..states).filter(|_| below(3) > 0).collect();
    graph(states, &starts, &accepting, &edges)
}

/// Generates a graph in which every state can be reached from every other: a ring with more edges.
pub(super) fn strongly_connected(random: &mut Random, states: u32, more: u32) -> ProductGraph {
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

/// Returns the target that a step covers, computed independently of the code under test.
fn target_of(graph: &ProductGraph, goal: CoverGoal, before: Option<u32>, step: u32) -> Option<u32> {
    let transition = graph.transitions[step as usize];
    match goal {
        CoverGoal::Actions => Some(graph.labels[transition.label as usize].name.0),
        CoverGoal::Labels => Some(transition.label),
        CoverGoal::States | CoverGoal::Shortest => Some(transition.to),
        CoverGoal::Transitions | CoverGoal::Random { .. } => Some(step),
        CoverGoal::Pairs => before.map(|before| before * graph.transitions.len() as u32 + step),
    }
}

/// Returns everything that the runs cover, sorted. Runs without steps are not counted.
pub(super) fn covered_by(graph: &ProductGraph, goal: CoverGoal, runs: &[Vec<u32>]) -> Vec<u32> {
    let mut covered = Vec::new();
    for run in runs {
        if goal == CoverGoal::States || goal == CoverGoal::Shortest {
            covered.extend(
                run.first()
                    .map(|first| graph.transitions[*first as usize].from),
            );
        }
        for (index, step) in run.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| run[before]);
            covered.extend(target_of(graph, goal, before, *step));
        }
    }
    covered.sort_unstable();
    covered.dedup();
    covered
}

/// Returns the minimal cost of covering what these runs cover, by a search through all combinations
/// of a state, the last step and the targets covered so far. Takes at most 16 targets.
pub(super) fn min_cost(graph: &ProductGraph, plan: &CoverPlan, runs: &[Vec<u32>]) -> u64 {
    let wanted = covered_by(graph, plan.goal, runs);
    assert!(wanted.len() <= 16, "too many for trying everything");
    let all = (1u32 << wanted.len()) - 1;
    let mask = |target: Option<u32>| {
        let position = target.and_then(|target| wanted.binary_search(&target).ok());
        position.map_or(0, |position| 1u32 << position)
    };
    let is_end = |state: u32| !plan.end_accepting || graph.accepting.contains(&state);
    // `None` is the time between two runs.
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
                    CoverGoal::States => mask(Some(*start)),
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
                let covered = covered | mask(target_of(graph, plan.goal, before, number));
                let next = (Some((transition.to, Some(number))), covered);
                let cost = cost + plan.transition_cost(number as usize);
                waiting.push(Reverse((cost, next)));
            }
        }
    }
    panic!("what is covered cannot be covered")
}
