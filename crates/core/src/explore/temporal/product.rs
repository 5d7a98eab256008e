//! System and automaton together: is there a run of both that is accepted?

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::automaton::{Automaton, Letter};
use super::graph::{Edge, Graph};

/// A run: there and round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) prefix: Vec<Edge>,
    /// Empty if the automaton accepts whatever follows.
    pub(super) lap: Vec<Edge>,
}

/// A state of the graph with a node of the automaton: `state * nodes + node`.
type Place = usize;

pub(super) struct Product<'a> {
    pub(super) graph: &'a Graph,
    pub(super) automaton: &'a Automaton,
}

/// What the nested search knows of a place.
const NEW: u8 = 0;
/// On the path of the outer search.
const ON_PATH: u8 = 1;
/// The outer search is done with it.
const LEFT: u8 = 2;
/// So is the inner search: no accepted run goes through it.
const USELESS: u8 = 3;

/// How many places shortening looks at, at most, so that it takes no longer than the search.
const EFFORT: usize = 2_000_000;

impl Product<'_> {
    fn place(&self, state: u32, node: u32) -> Place {
        state as usize * self.automaton.nodes.len() + node as usize
    }

    fn state(&self, place: Place) -> u32 {
        (place / self.automaton.nodes.len()) as u32
    }

    fn node(&self, place: Place) -> u32 {
        (place % self.automaton.nodes.len()) as u32
    }

    fn is_accepting(&self, place: Place) -> bool {
        self.automaton.nodes[self.node(place) as usize].accepting
    }

    fn is_done(&self, place: Place) -> bool {
        self.automaton.nodes[self.node(place) as usize].done
    }

    fn agreeing<'s>(&'s self, nodes: &'s [u32], letter: Letter) -> impl Iterator<Item = u32> + 's {
        let agrees = move |node: &u32| self.automaton.nodes[*node as usize].agrees(letter);
        nodes.iter().copied().filter(agrees)
    }

    fn initial(&self) -> Vec<Place> {
        let Some(letter) = self.graph.letters.first() else {
            return Vec::new();
        };
        let nodes = self.agreeing(&self.automaton.initial, *letter);
        nodes.map(|node| self.place(0, node)).collect()
    }

    fn after(&self, place: Place) -> Vec<(Edge, Place)> {
        let next = &self.automaton.nodes[self.node(place) as usize].next;
        let edges = self.graph.edges(self.state(place)).iter();
        edges
            .flat_map(|edge| {
                let nodes = self.agreeing(next, edge.letter);
                nodes.map(|node| (*edge, self.place(edge.to, node)))
            })
            .collect()
    }

    /// Whether there is an accepted run. The outer search visits all places; when it leaves one that is accepting, the
    /// inner search looks whether there is a way back to the path (Schwoon and Esparza's form of nested search: each
    /// place is visited twice at most).
    pub(super) fn has_run(&self) -> bool {
        let mut marks = vec![NEW; self.graph.len() * self.automaton.nodes.len()];
        for initial in self.initial() {
            if marks[initial] != NEW {
                continue;
            }
            marks[initial] = ON_PATH;
            let mut path = vec![(initial, self.after(initial))];
            if self.is_done(initial) {
                return true;
            }
            while let Some((place, waiting)) = path.last_mut() {
                let place = *place;
                if let Some((_, next)) = waiting.pop() {
                    if self.is_done(next) {
                        return true;
                    }
                    if marks[next] == NEW {
                        marks[next] = ON_PATH;
                        path.push((next, self.after(next)));
                    }
                    continue;
                }
                if self.is_accepting(place) && self.leads_to_path(place, &mut marks) {
                    return true;
                }
                path.pop();
                if marks[place] == ON_PATH {
                    marks[place] = LEFT;
                }
            }
        }
        false
    }

    /// The inner search. The place itself is on the path still.
    fn leads_to_path(&self, seed: Place, marks: &mut [u8]) -> bool {
        let mut waiting = vec![seed];
        while let Some(place) = waiting.pop() {
            for (_, next) in self.after(place) {
                match marks[next] {
                    ON_PATH => return true,
                    LEFT => {
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

    /// A shortest run, or nearly so where there are very many.
    pub(super) fn shortest_run(&self) -> Option<Run> {
        let mut best: Option<(usize, Run)> = None;
        let mut effort = EFFORT;
        let mut there = Ways::from(self.initial());
        while let Some(place) = there.queue.pop_front() {
            let distance = there.ways[&place].2;
            if best.as_ref().is_some_and(|(length, _)| distance >= *length) {
                break;
            }
            if self.is_done(place) {
                let prefix = there.path(place);
                best = Some((
                    distance,
                    Run {
                        prefix,
                        lap: Vec::new(),
                    },
                ));
                break;
            }
            // The first run counts whatever it costs.
            if self.is_accepting(place) && (effort > 0 || best.is_none()) {
                let most = best.as_ref().map(|(length, _)| length - distance);
                if let Some(lap) = self.shortest_lap(place, most, &mut effort) {
                    let prefix = there.path(place);
                    best = Some((distance + lap.len(), Run { prefix, lap }));
                }
            }
            for (edge, next) in self.after(place) {
                there.add(next, place, edge, distance + 1);
            }
        }
        best.map(|(_, run)| run)
    }

    /// The shortest way from a place back to it, if it is shorter than `most`.
    fn shortest_lap(
        &self,
        from: Place,
        most: Option<usize>,
        effort: &mut usize,
    ) -> Option<Vec<Edge>> {
        let mut round = Ways::from(vec![from]);
        while let Some(place) = round.queue.pop_front() {
            let distance = round.ways[&place].2;
            *effort = effort.saturating_sub(1);
            if most.is_some_and(|most| distance + 1 >= most) {
                return None;
            }
            for (edge, next) in self.after(place) {
                if next == from {
                    let mut lap = round.path(place);
                    lap.push(edge);
                    return Some(lap);
                }
                round.add(next, place, edge, distance + 1);
            }
        }
        None
    }
}

/// Shortest ways from some places: the place before, the edge in between, and how long the way is.
struct Ways {
    ways: FxHashMap<Place, (Place, Option<Edge>, usize)>,
    queue: VecDeque<Place>,
}

impl Ways {
    fn from(starts: Vec<Place>) -> Ways {
        let ways = starts.iter().map(|start| (*start, (*start, None, 0)));
        Ways {
            ways: ways.collect(),
            queue: starts.into(),
        }
    }

    fn add(&mut self, place: Place, before: Place, edge: Edge, length: usize) {
        if let std::collections::hash_map::Entry::Vacant(entry) = self.ways.entry(place) {
            entry.insert((before, Some(edge), length));
            self.queue.push_back(place);
        }
    }

    fn path(&self, place: Place) -> Vec<Edge> {
        let mut path = Vec::new();
        let mut at = place;
        while let Some((before, Some(edge), _)) = self.ways.get(&at) {
            path.push(*edge);
            at = *before;
        }
        path.reverse();
        path
    }
}
