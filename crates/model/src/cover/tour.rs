//! Tours that take each required arc at the least cost: the Chinese postman problem.
//!
//! A hub closes runs into a circuit: an arc leads from each end of runs to the hub, and from there
//! to each start, at the cost of a run. Each required arc is taken once. Where more of them enter a
//! node than leave it, optional arcs must be taken too, until as many enter each node as leave it.
//! `flow` computes the cheapest choice of optional arcs exactly. Then one circuit takes all arcs
//! (Hierholzer's algorithm), and is cut at the hub.
//!
//! One circuit is enough, because each connected part has a hub of its own, which must be passed at
//! least once.

use super::RUN_COST;
use super::flow::balance;
use super::lists::Lists;
use super::network::{Arc, Network};
use super::targets::Targets;
use super::usable_graph::UsableGraph;

/// Makes the runs of a tour. Also returns whether they cost the least. `work` limits the search for
/// the minimum.
pub(super) fn runs(
    usable: &UsableGraph<'_>,
    targets: &Targets,
    work: u64,
) -> (Vec<Vec<u32>>, bool) {
    match targets {
        Targets::Pairs(pairs) => {
            let (mut runs, is_optimal) = tour(&Network::for_pairs(usable), work);
            runs.extend(pairs.isolated.iter().map(|number| vec![*number]));
            (runs, is_optimal)
        }
        _ => tour(&Network::for_transitions(usable), work),
    }
}

/// Computes a tour of a network.
fn tour(network: &Network, work: u64) -> (Vec<Vec<u32>>, bool) {
    let (part_of, parts) = network.components();
    // A hub is two nodes, so that passing it can be counted.
    let hub_end = |part: u32| network.nodes as u32 + 2 * part;
    let hub_begin = |part: u32| hub_end(part) + 1;
    let part_at = |node: u32| part_of[node as usize];
    let ends = network.ends.iter();
    let ends = ends.filter_map(|node| Some(Arc::free(*node, hub_end(part_at(*node)?))));
    let begins = network.starting.iter().filter_map(|arc| {
        let from = hub_begin(part_at(arc.to)?);
        Some(Arc { from, ..*arc })
    });
    let passes = (0..parts as u32).map(|part| Arc {
        cost: RUN_COST,
        ..Arc::free(hub_end(part), hub_begin(part))
    });
    let mut arcs = network.optional.clone();
    arcs.extend(ends.chain(begins));
    let first_pass = arcs.len();
    arcs.extend(passes);

    let nodes = network.nodes + 2 * parts;
    let mut surplus = vec![0i64; nodes];
    for arc in network.required.iter().chain(&arcs[first_pass..]) {
        surplus[arc.from as usize] -= 1;
        surplus[arc.to as usize] += 1;
    }
    let hubs: Vec<u32> = (0..parts as u32).map(hub_begin).collect();
    let (mut times, is_optimal) = balance(&arcs, surplus, &hubs, work);
    for times in &mut times[first_pass..] {
        *times += 1;
    }
    arcs.extend(&network.required);
    times.resize(arcs.len(), 1);

    let mut circuits = EulerCircuits::new(nodes, &arcs, times);
    let mut runs = Vec::new();
    for part in 0..parts as u32 {
        let mut run = Vec::new();
        for arc in circuits.circuit_from(hub_begin(part)) {
            let arc = arc as usize;
            let is_pass = (first_pass..first_pass + parts).contains(&arc);
            if is_pass {
                runs.push(std::mem::take(&mut run));
            } else {
                run.extend(arcs[arc].step);
            }
        }
    }
    // Superfluous passes of the hub occur only if the minimum was not searched for to the end.
    runs.retain(|run| !run.is_empty());
    (runs, is_optimal)
}

/// Arcs with the number of times that each is to be taken.
struct EulerCircuits<'a> {
    arcs: &'a [Arc],
    /// Remaining number of times to take each arc.
    remaining_counts: Vec<u64>,
    /// For each node, the arcs that leave it.
    leaving: Lists,
    /// For each node, the number of its arcs that are used up.
    exhausted: Vec<u32>,
}

impl<'a> EulerCircuits<'a> {
    fn new(nodes: usize, arcs: &'a [Arc], remaining_counts: Vec<u64>) -> EulerCircuits<'a> {
        let from = (0..).zip(arcs).map(|(number, arc)| (arc.from, number));
        EulerCircuits {
            arcs,
            remaining_counts,
            leaving: Lists::new(nodes, from),
            exhausted: vec![0; nodes],
        }
    }

    /// Returns a circuit through all remaining arcs that can be reached from a node.
    fn circuit_from(&mut self, node: u32) -> Vec<u32> {
        let mut circuit = Vec::new();
        let mut path = Vec::new();
        loop {
            let last = path.last().copied();
            let at = last.map_or(node, |arc: u32| self.arcs[arc as usize].to);
            if let Some(arc) = self.take_arc(at) {
                path.push(arc);
                continue;
            }
            // No arc is left at the node where a circuit began. The arcs that remain were found
            // earlier, and continue from here.
            let Some(arc) = path.pop() else {
                break;
            };
            circuit.push(arc);
        }
        circuit.reverse();
        circuit
    }

    /// Takes an arc that leaves a node and is not used up.
    fn take_arc(&mut self, node: u32) -> Option<u32> {
        let leaving = self.leaving.items(node);
        let used = &mut self.exhausted[node as usize];
        while let Some(arc) = leaving.get(*used as usize) {
            let times = &mut self.remaining_counts[*arc as usize];
            if *times > 0 {
                *times -= 1;
                return Some(*arc);
            }
            *used += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use testwright_core::Random;

    use super::runs;
    use crate::cover::sample::{covered_by, graph, random_graph};
    use crate::cover::targets::Targets;
    use crate::cover::usable_graph::UsableGraph;
    use crate::cover::{CoverGoal, CoverPlan};

    #[test]
    fn with_little_work_as_much_is_covered() {
        for seed in 0..300 {
            let graph = random_graph(&mut Random::new(seed), 6, 20);
            for goal in [CoverGoal::Transitions, CoverGoal::Pairs] {
                let plan = CoverPlan::new(goal);
                let usable = UsableGraph::new(&graph, &plan);
                let targets = Targets::new(&usable, goal);
                let (least, is_optimal) = runs(&usable, &targets, u64::MAX);
                assert!(is_optimal);
                let least_steps = least.concat().len() + least.len();
                for work in [0, 10, 40] {
                    let (quick, _) = runs(&usable, &targets, work);
                    assert!(quick.concat().len() + quick.len() >= least_steps);
                    let covered = covered_by(&graph, goal, &quick);
                    assert_eq!(covered, covered_by(&graph, goal, &least), "seed {seed}");
                    for run in &quick {
                        let paths = run.windows(2);
                        let mut paths = paths
                            .map(|pair| [pair[0], pair[1]].map(|step| usable.transition(step)));
                        assert!(paths.all(|[before, after]| before.to == after.from));
                        assert!(graph.starts.contains(&usable.transition(run[0]).from));
                        assert!(
                            usable
                                .state_after(run)
                                .is_some_and(|end| usable.is_end(end))
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_balanced_graph_is_walked_once() {
        // Two rings through 0, and a loop at 2.
        let edges = [
            (0, 0, 0, 1),
            (1, 0, 0, 0),
            (0, 1, 0, 2),
            (2, 1, 0, 2),
            (2, 2, 0, 0),
        ];
        let graph = graph(3, &[0], &[0], &edges);
        let plan = CoverPlan::new(CoverGoal::Transitions);
        let usable = UsableGraph::new(&graph, &plan);
        let targets = Targets::new(&usable, plan.goal);
        let (runs, is_optimal) = runs(&usable, &targets, u64::MAX);
        assert_eq!((runs.len(), runs[0].len(), is_optimal), (1, 5, true));
    }
}
