//! Balances the nodes of a network at the least cost: a flow from nodes with a surplus to nodes
//! with a deficit.
//!
//! The flow grows in rounds. Each round finds the shortest paths from nodes with a surplus to nodes
//! with a deficit (Dijkstra), and fills them as far as possible (Dinic). A path may also take back
//! some of the flow, so that earlier rounds do not block a better solution. Every node has a
//! potential: its distance from a surplus so far. The differences of potentials are added to the
//! costs of arcs so that no arc is negative, and arcs on shortest paths are 0. A flow that only
//! uses such arcs costs the least, whichever path is filled first. This is the primal-dual method
//! of Ford and Fulkerson.
//!
//! So a round does not stop at the nearest deficit, but when it could fill half of what is missing.
//! Few rounds are enough then, even if all paths have different lengths.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::lists::Lists;
use super::network::Arc;

/// Number of arcs to visit before the rest is routed by the hub: some seconds. No graph with 20,000
/// transitions that was tried came near it, and about half of those with 200,000 did.
pub(super) const MAX_WORK: u64 = 300_000_000;

/// Computes how often to take each arc so that all nodes are balanced. Also returns whether this
/// costs the least.
///
/// The hubs are nodes that every surplus can reach, and from which every deficit can be reached.
/// After `work` visited arcs, the rest is balanced by way of them: at a higher cost, but at once.
pub(super) fn balance(
    arcs: &[Arc],
    surplus: Vec<i64>,
    hubs: &[u32],
    work: u64,
) -> (Vec<u64>, bool) {
    let mut flow = MinCostFlow::new(arcs, surplus);
    while flow.visited < work && flow.find_paths() {
        while flow.visited < work && flow.find_levels() {
            flow.fill_level_paths();
        }
    }
    let is_optimal = flow.surplus.iter().all(|surplus| *surplus == 0);
    if !is_optimal {
        flow.route_by_hubs(hubs);
    }
    (flow.arc_counts, is_optimal)
}

/// One of the two directions of an arc: taking it once more, or taking it back. Its number is the
/// arc's number doubled, plus one for taking back.
type HalfArc = u32;

/// A flow of minimal cost in progress.
struct MinCostFlow<'a> {
    arcs: &'a [Arc],
    /// Number of times that each arc is taken.
    arc_counts: Vec<u64>,
    /// For each node, how many more arcs enter than leave it. A deficit is negative.
    surplus: Vec<i64>,
    /// Potential of each node.
    potential: Vec<i64>,
    /// For each node, the half arcs that leave it.
    leaving: Lists,
    /// Nodes with a surplus at the beginning.
    sources: Vec<u32>,
    /// For each node, its distance from a surplus in this round.
    distance: Vec<i64>,
    /// For each node, its number of steps from a surplus along arcs of length 0.
    level: Vec<u32>,
    /// For each node, the number of its half arcs that are known to lead nowhere.
    exhausted: Vec<u32>,
    /// Nodes whose `distance` or `level` has to be reset.
    touched: Vec<u32>,
    /// Number of arcs visited so far.
    visited: u64,
}

/// Level of a node that was not reached.
const UNKNOWN: u32 = u32::MAX;

impl<'a> MinCostFlow<'a> {
    /// Creates an empty flow.
    fn new(arcs: &'a [Arc], surplus: Vec<i64>) -> MinCostFlow<'a> {
        let nodes = surplus.len();
        let halves = (0..).zip(arcs);
        let halves =
            halves.flat_map(|(number, arc)| [(arc.from, 2 * number), (arc.to, 2 * number + 1)]);
        let numbers = 0..nodes as u32;
        MinCostFlow {
            arcs,
            arc_counts: vec![0; arcs.len()],
            potential: vec![0; nodes],
            leaving: Lists::new(nodes, halves),
            sources: numbers.filter(|node| surplus[*node as usize] > 0).collect(),
            surplus,
            distance: vec![i64::MAX; nodes],
            level: vec![UNKNOWN; nodes],
            exhausted: vec![0; nodes],
            touched: Vec::new(),
            visited: 0,
        }
    }

    /// Returns the nodes before and after a half arc.
    fn nodes(&self, half: HalfArc) -> (u32, u32) {
        let arc = &self.arcs[half as usize / 2];
        match half % 2 {
            0 => (arc.from, arc.to),
            _ => (arc.to, arc.from),
        }
    }

    /// Returns true if a half arc can be used: an arc can be taken back only if it was taken.
    fn is_open(&self, half: HalfArc) -> bool {
        half.is_multiple_of(2) || self.arc_counts[half as usize / 2] > 0
    }

    /// Returns the length of a half arc: its cost plus the difference of potentials. It is never
    /// negative while the half arc is open.
    fn length(&self, half: HalfArc) -> i64 {
        let (from, to) = self.nodes(half);
        let cost = self.arcs[half as usize / 2].cost as i64;
        let cost = if half.is_multiple_of(2) { cost } else { -cost };
        cost + self.potential[from as usize] - self.potential[to as usize]
    }

    /// Changes the potentials so that paths of length 0 lead from a surplus to the nearest
    /// deficits. Returns false if there is no such path.
    fn find_paths(&mut self) -> bool {
        let surplus = &self.surplus;
        self.sources.retain(|node| surplus[*node as usize] > 0);
        let mut waiting = BinaryHeap::new();
        for node in &self.sources {
            self.distance[*node as usize] = 0;
            self.touched.push(*node);
            waiting.push(Reverse((0, *node)));
        }
        let mut found = None;
        let left = self.sources.iter().map(|node| self.surplus[*node as usize]);
        let enough = (left.sum::<i64>() + 1) / 2;
        let mut filled = 0;
        while let Some(Reverse((distance, node))) = waiting.pop() {
            if distance > self.distance[node as usize] {
                continue; // A shorter way was found meanwhile.
            }
            if self.surplus[node as usize] < 0 {
                found = Some(distance);
                filled -= self.surplus[node as usize];
                if filled >= enough {
                    break;
                }
            }
            let leaving = self.leaving.items(node);
            self.visited += leaving.len() as u64;
            for half in leaving {
                let to = self.nodes(*half).1;
                let length = distance + self.length(*half);
                let known = self.distance[to as usize];
                if length < known && self.is_open(*half) {
                    if known == i64::MAX {
                        self.touched.push(to);
                    }
                    self.distance[to as usize] = length;
                    waiting.push(Reverse((length, to)));
                }
            }
        }
        // Farther nodes keep their potentials; only differences count, and there may be many such
        // nodes.
        for node in self.touched.drain(..) {
            let distance = std::mem::replace(&mut self.distance[node as usize], i64::MAX);
            if let Some(found) = found {
                self.potential[node as usize] += (distance - found).min(0);
            }
        }
        found.is_some()
    }

    /// Counts the steps to each node along paths of length 0, up to the first deficit. Returns
    /// false if none is reached.
    fn find_levels(&mut self) -> bool {
        for node in self.touched.drain(..) {
            self.level[node as usize] = UNKNOWN;
        }
        for node in &self.sources {
            if self.surplus[*node as usize] > 0 {
                self.level[*node as usize] = 0;
                self.exhausted[*node as usize] = 0;
                self.touched.push(*node);
            }
        }
        let mut next = 0;
        let mut last = UNKNOWN;
        while let Some(node) = self.touched.get(next).copied() {
            next += 1;
            let level = self.level[node as usize];
            if level >= last {
                break;
            }
            let leaving = self.leaving.items(node);
            self.visited += leaving.len() as u64;
            for half in leaving {
                let to = self.nodes(*half).1;
                let is_new = self.level[to as usize] == UNKNOWN;
                if is_new && self.is_open(*half) && self.length(*half) == 0 {
                    self.level[to as usize] = level + 1;
                    self.exhausted[to as usize] = 0;
                    self.touched.push(to);
                    if self.surplus[to as usize] < 0 {
                        last = level + 1;
                    }
                }
            }
        }
        if last == UNKNOWN {
            // The next round expects that nothing is touched.
            for node in self.touched.drain(..) {
                self.level[node as usize] = UNKNOWN;
            }
        }
        last != UNKNOWN
    }

    /// Fills paths that go up level by level, until none is left.
    fn fill_level_paths(&mut self) {
        for index in 0..self.sources.len() {
            let source = self.sources[index];
            let mut path: Vec<HalfArc> = Vec::new();
            while self.surplus[source as usize] > 0 {
                let at = path.last().map_or(source, |half| self.nodes(*half).1);
                if self.surplus[at as usize] < 0 {
                    self.fill_path(source, at, &path);
                    path.clear();
                } else if let Some(half) = self.next_half(at) {
                    path.push(half);
                } else if let Some(half) = path.pop() {
                    let before = self.nodes(half).0;
                    self.exhausted[before as usize] += 1;
                } else {
                    break;
                }
            }
        }
    }

    /// Returns an open half arc of length 0 to the next level.
    fn next_half(&mut self, node: u32) -> Option<HalfArc> {
        let level = self.level[node as usize].checked_add(1)?;
        loop {
            let used = self.exhausted[node as usize];
            let half = *self.leaving.items(node).get(used as usize)?;
            self.visited += 1;
            let to = self.nodes(half).1;
            let goes_up = self.level[to as usize] == level;
            if goes_up && self.is_open(half) && self.length(half) == 0 {
                return Some(half);
            }
            self.exhausted[node as usize] += 1;
        }
    }

    /// Sends as much as possible along a path from a surplus to a deficit.
    fn fill_path(&mut self, source: u32, sink: u32, path: &[HalfArc]) {
        let wanted = self.surplus[source as usize].min(-self.surplus[sink as usize]);
        let backward = path.iter().filter(|half| !half.is_multiple_of(2));
        let open = backward.map(|half| self.arc_counts[*half as usize / 2]);
        let amount = open.fold(wanted as u64, u64::min);
        for half in path {
            let times = &mut self.arc_counts[*half as usize / 2];
            match half % 2 {
                0 => *times += amount,
                _ => *times -= amount,
            }
        }
        self.surplus[source as usize] -= amount as i64;
        self.surplus[sink as usize] += amount as i64;
    }

    /// Sends each remaining surplus to its hub, and fills each deficit from there.
    fn route_by_hubs(&mut self, hubs: &[u32]) {
        let to_hubs = self.shortest_path_tree(hubs, 1);
        let from_hubs = self.shortest_path_tree(hubs, 0);
        for node in 0..self.surplus.len() {
            let left = std::mem::take(&mut self.surplus[node]);
            let tree = if left > 0 { &to_hubs } else { &from_hubs };
            let mut at = node as u32;
            while left != 0
                && let Some(half) = tree[at as usize]
            {
                self.arc_counts[half as usize / 2] += left.unsigned_abs();
                at = self.nodes(half).0;
            }
        }
    }

    /// Returns for each node the last half arc on a shortest path from the roots: along arcs if
    /// `kind` is 0, against them if it is 1.
    fn shortest_path_tree(&self, roots: &[u32], kind: u32) -> Vec<Option<HalfArc>> {
        let mut tree = vec![None; self.surplus.len()];
        let mut distance = vec![u64::MAX; self.surplus.len()];
        let mut waiting = BinaryHeap::new();
        for root in roots {
            distance[*root as usize] = 0;
            waiting.push(Reverse((0, *root)));
        }
        while let Some(Reverse((length, node))) = waiting.pop() {
            if length > distance[node as usize] {
                continue;
            }
            let leaving = self.leaving.items(node).iter();
            for half in leaving.filter(|half| **half % 2 == kind) {
                let to = self.nodes(*half).1;
                let length = length + self.arcs[*half as usize / 2].cost;
                if length < distance[to as usize] {
                    distance[to as usize] = length;
                    tree[to as usize] = Some(*half);
                    waiting.push(Reverse((length, to)));
                }
            }
        }
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::{Arc, balance};

    fn arc(from: u32, to: u32, cost: u64) -> Arc {
        Arc {
            cost,
            ..Arc::free(from, to)
        }
    }

    #[test]
    fn flow_is_rerouted_where_that_costs_less() {
        // Node 0 is nearest to 2, but 1 can reach nothing else.
        let arcs = [arc(0, 2, 1), arc(0, 3, 3), arc(1, 2, 2), arc(3, 0, 9)];
        let (times, is_optimal) = balance(&arcs, vec![1, 1, -1, -1], &[], u64::MAX);
        assert_eq!((times, is_optimal), (vec![0, 1, 1, 0], true));
    }

    #[test]
    fn amounts_go_the_cheapest_way_even_if_it_has_more_steps() {
        let arcs = [arc(0, 2, 10), arc(0, 1, 2), arc(1, 2, 3), arc(2, 0, 0)];
        let (times, _) = balance(&arcs, vec![7, -2, -5], &[], u64::MAX);
        assert_eq!(times, [0, 7, 5, 0]);
    }

    #[test]
    fn without_work_all_goes_by_the_hub() {
        let arcs = [arc(0, 1, 1), arc(0, 2, 1), arc(2, 1, 1)];
        let (times, is_optimal) = balance(&arcs, vec![3, -3, 0], &[2], 0);
        assert_eq!((times, is_optimal), (vec![0, 3, 3], false));
    }
}
