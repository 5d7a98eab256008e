//! The product of the explored graph and the automaton, searched for accepted runs.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::automaton::{Automaton, Letter};
use super::graph::{GraphEdge, TemporalGraph};

/// An accepted run: a prefix and a cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AcceptedRun {
    pub(super) prefix: Vec<GraphEdge>,
    /// Empty if the automaton accepts every continuation.
    pub(super) cycle: Vec<GraphEdge>,
}

/// A state of the graph with a node of the automaton: `state * nodes + node`.
type ProductState = usize;

/// The product of a graph and an automaton.
pub(super) struct AutomatonProduct<'a> {
    pub(super) graph: &'a TemporalGraph,
    pub(super) automaton: &'a Automaton,
}

/// Mark of the nested search: not visited yet.
const NEW: u8 = 0;
/// Mark: on the path of the outer search.
const ON_PATH: u8 = 1;
/// Mark: the outer search is done with it.
const EXPLORED: u8 = 2;
/// Mark: the inner search is done with it too; no accepted run goes through it.
const USELESS: u8 = 3;

/// The maximum number of product states visited to shorten cycles, so that it takes no longer than
/// the search.
const MAX_VISITS: usize = 2_000_000;

impl AutomatonProduct<'_> {
    /// Combines a state and a node.
    fn combine(&self, state: u32, node: u32) -> ProductState {
        state as usize * self.automaton.nodes.len() + node as usize
    }

    /// Returns the graph state of a product state.
    fn state(&self, product_state: ProductState) -> u32 {
        (product_state / self.automaton.nodes.len()) as u32
    }

    /// Returns the automaton node of a product state.
    fn node(&self, product_state: ProductState) -> u32 {
        (product_state % self.automaton.nodes.len()) as u32
    }

    /// Returns true if the node is accepting.
    fn is_accepting(&self, product_state: ProductState) -> bool {
        self.automaton.nodes[self.node(product_state) as usize].accepting
    }

    /// Returns true if the node has no obligations left.
    fn accepts_everything(&self, product_state: ProductState) -> bool {
        self.automaton.nodes[self.node(product_state) as usize].accepts_everything
    }

    /// Returns the nodes that agree with a letter.
    fn agreeing_nodes<'s>(
        &'s self,
        nodes: &'s [u32],
        letter: Letter,
    ) -> impl Iterator<Item = u32> + 's {
        let agrees = move |node: &u32| self.automaton.nodes[*node as usize].agrees(letter);
        nodes.iter().copied().filter(agrees)
    }

    /// Returns the initial product states.
    fn initial(&self) -> Vec<ProductState> {
        let Some(letter) = self.graph.letters.first() else {
            return Vec::new();
        };
        let nodes = self.agreeing_nodes(&self.automaton.initial, *letter);
        nodes.map(|node| self.combine(0, node)).collect()
    }

    /// Returns the successors of a product state and the edges that lead to them.
    fn successors(&self, product_state: ProductState) -> Vec<(GraphEdge, ProductState)> {
        let next = &self.automaton.nodes[self.node(product_state) as usize].next;
        let edges = self.graph.edges(self.state(product_state)).iter();
        edges
            .flat_map(|edge| {
                let nodes = self.agreeing_nodes(next, edge.letter);
                nodes.map(|node| (*edge, self.combine(edge.to, node)))
            })
            .collect()
    }

    /// Returns true if there is an accepted run. The outer search visits all product states. When
    /// it leaves an accepting one, the inner search looks for a path back to the path of the outer
    /// one (Schwoon and Esparza's form of nested search: each product state is visited at most
    /// twice).
    pub(super) fn has_accepted_run(&self) -> bool {
        let mut marks = vec![NEW; self.graph.len() * self.automaton.nodes.len()];
        for initial in self.initial() {
            if marks[initial] != NEW {
                continue;
            }
            marks[initial] = ON_PATH;
            let mut path = vec![(initial, self.successors(initial))];
            if self.accepts_everything(initial) {
                return true;
            }
            while let Some((product_state, waiting)) = path.last_mut() {
                let product_state = *product_state;
                if let Some((_, next)) = waiting.pop() {
                    if self.accepts_everything(next) {
                        return true;
                    }
                    if marks[next] == NEW {
                        marks[next] = ON_PATH;
                        path.push((next, self.successors(next)));
                    }
                    continue;
                }
                if self.is_accepting(product_state) && self.leads_to_path(product_state, &mut marks)
                {
                    return true;
                }
                path.pop();
                if marks[product_state] == ON_PATH {
                    marks[product_state] = EXPLORED;
                }
            }
        }
        false
    }

    /// Runs the inner search: returns true if `seed`, which is still on the path, leads back to the
    /// path.
    fn leads_to_path(&self, seed: ProductState, marks: &mut [u8]) -> bool {
        let mut waiting = vec![seed];
        while let Some(product_state) = waiting.pop() {
            for (_, next) in self.successors(product_state) {
                match marks[next] {
                    ON_PATH => return true,
                    EXPLORED => {
                        marks[next] = USELESS;
                        waiting.push(next);
                    }
                    _ => {}
                }
            }
        }
        marks[seed] = USELESS;
        false
    }

    /// Returns a shortest accepted run, or nearly so where there are very many.
    pub(super) fn shortest_run(&self) -> Option<AcceptedRun> {
        let mut best: Option<(usize, AcceptedRun)> = None;
        let mut visits_left = MAX_VISITS;
        let mut paths_from_start = ProductPaths::start_from(self.initial());
        while let Some(product_state) = paths_from_start.queue.pop_front() {
            let distance = paths_from_start.paths[&product_state].2;
            if best.as_ref().is_some_and(|(length, _)| distance >= *length) {
                break;
            }
            if self.accepts_everything(product_state) {
                let prefix = paths_from_start.path(product_state);
                best = Some((
                    distance,
                    AcceptedRun {
                        prefix,
                        cycle: Vec::new(),
                    },
                ));
                break;
            }
            // The first run is searched for at any cost.
            if self.is_accepting(product_state) && (visits_left > 0 || best.is_none()) {
                let max_length = best.as_ref().map(|(length, _)| length - distance);
                if let Some(cycle) =
                    self.shortest_cycle(product_state, max_length, &mut visits_left)
                {
                    let prefix = paths_from_start.path(product_state);
                    best = Some((distance + cycle.len(), AcceptedRun { prefix, cycle }));
                }
            }
            for (edge, next) in self.successors(product_state) {
                paths_from_start.add(next, product_state, edge, distance + 1);
            }
        }
        best.map(|(_, run)| run)
    }

    /// Returns the shortest path from a product state back to itself, if it is shorter than
    /// `max_length`.
    fn shortest_cycle(
        &self,
        from: ProductState,
        max_length: Option<usize>,
        visits_left: &mut usize,
    ) -> Option<Vec<GraphEdge>> {
        let mut paths_from_cycle = ProductPaths::start_from(vec![from]);
        while let Some(product_state) = paths_from_cycle.queue.pop_front() {
            let distance = paths_from_cycle.paths[&product_state].2;
            *visits_left = visits_left.saturating_sub(1);
            if max_length.is_some_and(|max_length| distance + 1 >= max_length) {
                return None;
            }
            for (edge, next) in self.successors(product_state) {
                if next == from {
                    let mut cycle = paths_from_cycle.path(product_state);
                    cycle.push(edge);
                    return Some(cycle);
                }
                paths_from_cycle.add(next, product_state, edge, distance + 1);
            }
        }
        None
    }
}

/// Shortest paths from some product states, found breadth first.
struct ProductPaths {
    /// By product state: the one before, the edge between them, and the length of the path.
    paths: FxHashMap<ProductState, (ProductState, Option<GraphEdge>, usize)>,
    queue: VecDeque<ProductState>,
}

impl ProductPaths {
    /// Starts a search from these product states.
    fn start_from(starts: Vec<ProductState>) -> ProductPaths {
        let paths = starts.iter().map(|start| (*start, (*start, None, 0)));
        ProductPaths {
            paths: paths.collect(),
            queue: starts.into(),
        }
    }

    /// Records a path to a product state, unless a shorter one is known.
    fn add(
        &mut self,
        product_state: ProductState,
        before: ProductState,
        edge: GraphEdge,
        length: usize,
    ) {
        if let std::collections::hash_map::Entry::Vacant(entry) = self.paths.entry(product_state) {
            entry.insert((before, Some(edge), length));
            self.queue.push_back(product_state);
        }
    }

    /// Returns the edges of the path to a product state.
    fn path(&self, product_state: ProductState) -> Vec<GraphEdge> {
        let mut path = Vec::new();
        let mut at = product_state;
        while let Some((before, Some(edge), _)) = self.paths.get(&at) {
            path.push(*edge);
            at = *before;
        }
        path.reverse();
        path
    }
}
