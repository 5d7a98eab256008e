//! Balancing nodes at the least cost: a flow from those with a surplus to those with a lack.
//!
//! The flow grows in rounds. In each, the shortest ways from nodes with a surplus to nodes with a lack are found
//! (Dijkstra), and filled as far as they can be (Dinic). A way may also take back some of the flow, so that what was
//! filled earlier is not in the way of what is best. Every node has a potential: how far it has been from a surplus so
//! far. By their difference the lengths of arcs are changed so that none is negative, and those on shortest ways are 0.
//! A flow that only uses such arcs costs the least, whatever way is filled first (this is the primal-dual method of Ford
//! and Fulkerson). So a round does not stop at the nearest lack, but when it could fill half of what is missing: then few
//! rounds are enough, even where all ways have different lengths.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::lists::Lists;
use super::network::Arc;

/// How many arcs to look at before what is left goes by the hub: some seconds. No graph with 20,000 transitions that was
/// tried came near it, and of those with 200,000 about half did.
pub(super) const WORK: u64 = 300_000_000;

/// How often to take each arc so that all is balanced, and whether this costs the least.
///
/// The hubs are nodes that every surplus can go to, and every lack can be filled from. This is how what is left is
/// balanced after so much work: worse than at the least cost, but at once.
pub(super) fn balance(
    arcs: &[Arc],
    surplus: Vec<i64>,
    hubs: &[u32],
    work: u64,
) -> (Vec<u64>, bool) {
    let mut flow = Flow::new(arcs, surplus);
    while flow.looked < work && flow.find_ways() {
        while flow.looked < work && flow.find_levels() {
            flow.fill();
        }
    }
    let is_least = flow.surplus.iter().all(|surplus| *surplus == 0);
    if !is_least {
        flow.go_by_hubs(hubs);
    }
    (flow.times, is_least)
}

/// An arc can be taken once more, or taken back if it was taken. Both have the number of the arc, doubled, and the
/// second has one more.
type Half = u32;

struct Flow<'a> {
    arcs: &'a [Arc],
    times: Vec<u64>,
    surplus: Vec<i64>,
    potential: Vec<i64>,
    /// By node: the halves that leave it.
    leaving: Lists,
    /// Nodes that had a surplus at first.
    sources: Vec<u32>,
    far: Vec<i64>,
    level: Vec<u32>,
    /// By node: how many halves are known to lead nowhere.
    used: Vec<u32>,
    touched: Vec<u32>,
    looked: u64,
}

const UNKNOWN: u32 = u32::MAX;

impl<'a> Flow<'a> {
    fn new(arcs: &'a [Arc], surplus: Vec<i64>) -> Flow<'a> {
        let nodes = surplus.len();
        let halves = (0..).zip(arcs);
        let halves =
            halves.flat_map(|(number, arc)| [(arc.from, 2 * number), (arc.to, 2 * number + 1)]);
        let numbers = 0..nodes as u32;
        Flow {
            arcs,
            times: vec![0; arcs.len()],
            potential: vec![0; nodes],
            leaving: Lists::new(nodes, halves),
            sources: numbers.filter(|node| surplus[*node as usize] > 0).collect(),
            surplus,
            far: vec![i64::MAX; nodes],
            level: vec![UNKNOWN; nodes],
            used: vec![0; nodes],
            touched: Vec::new(),
            looked: 0,
        }
    }

    /// The node before and behind a half.
    fn nodes(&self, half: Half) -> (u32, u32) {
        let arc = &self.arcs[half as usize / 2];
        match half % 2 {
            0 => (arc.from, arc.to),
            _ => (arc.to, arc.from),
        }
    }

    fn is_open(&self, half: Half) -> bool {
        half.is_multiple_of(2) || self.times[half as usize / 2] > 0
    }

    /// How long a half is, beyond the difference of potentials: never negative while it is open.
    fn length(&self, half: Half) -> i64 {
        let (from, to) = self.nodes(half);
        let cost = self.arcs[half as usize / 2].cost as i64;
        let cost = if half.is_multiple_of(2) { cost } else { -cost };
        cost + self.potential[from as usize] - self.potential[to as usize]
    }

    /// Changes the potentials so that ways of length 0 lead from a surplus to the nearest lacks. False if there is none.
    fn find_ways(&mut self) -> bool {
        let surplus = &self.surplus;
        self.sources.retain(|node| surplus[*node as usize] > 0);
        let mut waiting = BinaryHeap::new();
        for node in &self.sources {
            self.far[*node as usize] = 0;
            self.touched.push(*node);
            waiting.push(Reverse((0, *node)));
        }
        let mut found = None;
        let left = self.sources.iter().map(|node| self.surplus[*node as usize]);
        let enough = (left.sum::<i64>() + 1) / 2;
        let mut filled = 0;
        while let Some(Reverse((far, node))) = waiting.pop() {
            if far > self.far[node as usize] {
                continue; // A shorter way was found meanwhile.
            }
            if self.surplus[node as usize] < 0 {
                found = Some(far);
                filled -= self.surplus[node as usize];
                if filled >= enough {
                    break;
                }
            }
            let leaving = self.leaving.of(node);
            self.looked += leaving.len() as u64;
            for half in leaving {
                let to = self.nodes(*half).1;
                let length = far + self.length(*half);
                let known = self.far[to as usize];
                if length < known && self.is_open(*half) {
                    if known == i64::MAX {
                        self.touched.push(to);
                    }
                    self.far[to as usize] = length;
                    waiting.push(Reverse((length, to)));
                }
            }
        }
        // Nodes farther than this, of which there may be many, keep theirs; only differences count.
        for node in self.touched.drain(..) {
            let far = std::mem::replace(&mut self.far[node as usize], i64::MAX);
            if let Some(found) = found {
                self.potential[node as usize] += (far - found).min(0);
            }
        }
        found.is_some()
    }

    /// Counts the steps to each node by ways of length 0, up to the first with a lack. False if none is found.
    fn find_levels(&mut self) -> bool {
        for node in self.touched.drain(..) {
            self.level[node as usize] = UNKNOWN;
        }
        for node in &self.sources {
            if self.surplus[*node as usize] > 0 {
                self.level[*node as usize] = 0;
                self.used[*node as usize] = 0;
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
            let leaving = self.leaving.of(node);
            self.looked += leaving.len() as u64;
            for half in leaving {
                let to = self.nodes(*half).1;
                let is_new = self.level[to as usize] == UNKNOWN;
                if is_new && self.is_open(*half) && self.length(*half) == 0 {
                    self.level[to as usize] = level + 1;
                    self.used[to as usize] = 0;
                    self.touched.push(to);
                    if self.surplus[to as usize] < 0 {
                        last = level + 1;
                    }
                }
            }
        }
        if last == UNKNOWN {
            // The next round begins with nothing touched.
            for node in self.touched.drain(..) {
                self.level[node as usize] = UNKNOWN;
            }
        }
        last != UNKNOWN
    }

    /// Fills ways that go up level by level, until none is left.
    fn fill(&mut self) {
        for index in 0..self.sources.len() {
            let source = self.sources[index];
            let mut path: Vec<Half> = Vec::new();
            while self.surplus[source as usize] > 0 {
                let at = path.last().map_or(source, |half| self.nodes(*half).1);
                if self.surplus[at as usize] < 0 {
                    self.fill_way(source, at, &path);
                    path.clear();
                } else if let Some(half) = self.go_up(at) {
                    path.push(half);
                } else if let Some(half) = path.pop() {
                    let before = self.nodes(half).0;
                    self.used[before as usize] += 1;
                } else {
                    break;
                }
            }
        }
    }

    fn go_up(&mut self, node: u32) -> Option<Half> {
        let level = self.level[node as usize].checked_add(1)?;
        loop {
            let used = self.used[node as usize];
            let half = *self.leaving.of(node).get(used as usize)?;
            self.looked += 1;
            let to = self.nodes(half).1;
            let goes_up = self.level[to as usize] == level;
            if goes_up && self.is_open(half) && self.length(half) == 0 {
                return Some(half);
            }
            self.used[node as usize] += 1;
        }
    }

    fn fill_way(&mut self, source: u32, sink: u32, path: &[Half]) {
        let wanted = self.surplus[source as usize].min(-self.surplus[sink as usize]);
        let backward = path.iter().filter(|half| !half.is_multiple_of(2));
        let open = backward.map(|half| self.times[*half as usize / 2]);
        let amount = open.fold(wanted as u64, u64::min);
        for half in path {
            let times = &mut self.times[*half as usize / 2];
            match half % 2 {
                0 => *times += amount,
                _ => *times -= amount,
            }
        }
        self.surplus[source as usize] -= amount as i64;
        self.surplus[sink as usize] += amount as i64;
    }

    /// Sends each surplus that is left to its hub, and fills each lack from there.
    fn go_by_hubs(&mut self, hubs: &[u32]) {
        let to_hubs = self.tree(hubs, 1);
        let from_hubs = self.tree(hubs, 0);
        for node in 0..self.surplus.len() {
            let left = std::mem::take(&mut self.surplus[node]);
            let tree = if left > 0 { &to_hubs } else { &from_hubs };
            let mut at = node as u32;
            while left != 0
                && let Some(half) = tree[at as usize]
            {
                self.times[half as usize / 2] += left.unsigned_abs();
                at = self.nodes(half).0;
            }
        }
    }

    /// By node: the last half on a shortest way from the roots, along arcs or against them.
    fn tree(&self, roots: &[u32], kind: u32) -> Vec<Option<Half>> {
        let mut tree = vec![None; self.surplus.len()];
        let mut far = vec![u64::MAX; self.surplus.len()];
        let mut waiting = BinaryHeap::new();
        for root in roots {
            far[*root as usize] = 0;
            waiting.push(Reverse((0, *root)));
        }
        while let Some(Reverse((length, node))) = waiting.pop() {
            if length > far[node as usize] {
                continue;
            }
            let leaving = self.leaving.of(node).iter();
            for half in leaving.filter(|half| **half % 2 == kind) {
                let to = self.nodes(*half).1;
                let length = length + self.arcs[*half as usize / 2].cost;
                if length < far[to as usize] {
                    far[to as usize] = length;
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
    fn what_was_filled_first_is_taken_back_where_that_costs_less() {
        // Node 0 is nearest to 2, but 1 can go nowhere else.
        let arcs = [arc(0, 2, 1), arc(0, 3, 3), arc(1, 2, 2), arc(3, 0, 9)];
        let (times, is_least) = balance(&arcs, vec![1, 1, -1, -1], &[], u64::MAX);
        assert_eq!((times, is_least), (vec![0, 1, 1, 0], true));
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
        let (times, is_least) = balance(&arcs, vec![3, -3, 0], &[2], 0);
        assert_eq!((times, is_least), (vec![0, 3, 3], false));
    }
}
