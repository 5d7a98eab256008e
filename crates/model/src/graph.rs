//! The states of a product and the transitions between them, as an exploration finds them.

use std::hash::{DefaultHasher, Hasher};

use rustc_hash::FxHashMap;
use testwright_core::fingerprint_set::FingerprintSet;
use testwright_core::product::{ModelState, Product, StepLabel};

use crate::module_text::quoted;

/// Consecutive numbers for the states of a product, in the order of discovery.
#[derive(Clone, Debug)]
enum StateNumbers {
    /// Numbers of the states of a single model, which numbers its states itself: for each of its
    /// states, the number or [`NONE`].
    ByModelState { numbers: Vec<u32>, next: u32 },
    /// Numbers of the states of several models, by a key that tells the combinations apart.
    ByKey(FingerprintSet),
}

/// Marks a state that has no number yet.
const NONE: u32 = u32::MAX;

impl StateNumbers {
    /// Creates an empty numbering for so many models.
    fn new(models: usize) -> StateNumbers {
        match models {
            1 => StateNumbers::ByModelState {
                numbers: Vec::new(),
                next: 0,
            },
            _ => StateNumbers::ByKey(FingerprintSet::default()),
        }
    }

    /// Returns the number of states that have a number.
    fn len(&self) -> usize {
        match self {
            StateNumbers::ByModelState { next, .. } => *next as usize,
            StateNumbers::ByKey(numbering) => numbering.len(),
        }
    }

    /// Returns the number of a state, and true if it is new. Returns `None` if the numbers are used
    /// up.
    fn number(&mut self, state: &[ModelState]) -> Option<(u32, bool)> {
        match self {
            StateNumbers::ByModelState { numbers, next } => {
                let index = state[0].0 as usize;
                if index >= numbers.len() {
                    numbers.resize(index + 1, NONE);
                }
                let number = &mut numbers[index];
                let is_new = *number == NONE;
                if is_new {
                    *number = *next;
                    *next = next.checked_add(1).filter(|next| *next != NONE)?;
                }
                Some((*number, is_new))
            }
            StateNumbers::ByKey(numbering) => {
                let key = key(state);
                match numbering.find(key) {
                    Some(known) => Some((known, false)),
                    None => Some((numbering.add(key)?, true)),
                }
            }
        }
    }

    fn bytes(&self) -> usize {
        match self {
            StateNumbers::ByModelState { numbers, .. } => numbers.capacity() * size_of::<u32>(),
            StateNumbers::ByKey(numbering) => numbering.bytes(),
        }
    }
}

/// A transition between two states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProductTransition {
    /// State before the step.
    pub from: u32,
    /// Step, as an index into [`ProductGraph::labels`].
    pub label: u32,
    /// State after the step.
    pub to: u32,
}

/// State graph of a product. States are numbered in the order of discovery.
#[derive(Clone, Debug)]
pub struct ProductGraph {
    /// Number of models. A state of the product has one state of each.
    models: usize,
    /// States of the models, `models` of them for each state of the product.
    model_states: Vec<ModelState>,
    numbers: StateNumbers,
    /// Index of each step in `labels`.
    by_label: FxHashMap<StepLabel, u32>,
    /// Distinct steps that occur on transitions.
    pub labels: Vec<StepLabel>,
    /// Transitions in the order of discovery.
    pub transitions: Vec<ProductTransition>,
    /// States in which runs begin.
    pub starts: Vec<u32>,
    /// States in which a run may end, in the order of discovery.
    pub accepting: Vec<u32>,
    /// States in which an invariant is false.
    pub unsafe_states: Vec<u32>,
    /// States that were discovered but not fully expanded.
    pub frontier: Vec<u32>,
    /// Accepting states in which no step is possible.
    pub finished: Vec<u32>,
    /// States that are not accepting and in which no step is possible.
    pub dead_ends: Vec<u32>,
}

impl ProductGraph {
    /// Creates an empty graph for products of so many models.
    pub(crate) fn new(models: usize) -> ProductGraph {
        ProductGraph {
            models,
            model_states: Vec::new(),
            numbers: StateNumbers::new(models),
            by_label: FxHashMap::default(),
            labels: Vec::new(),
            transitions: Vec::new(),
            starts: Vec::new(),
            accepting: Vec::new(),
            unsafe_states: Vec::new(),
            frontier: Vec::new(),
            finished: Vec::new(),
            dead_ends: Vec::new(),
        }
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the states of the models that make up a state of the product.
    pub fn state(&self, number: u32) -> &[ModelState] {
        let first = number as usize * self.models;
        &self.model_states[first..first + self.models]
    }

    /// Returns the number of a state, and true if it is new. Returns `None` if the numbers are used
    /// up.
    pub(crate) fn number(&mut self, state: &[ModelState]) -> Option<(u32, bool)> {
        let number = self.numbers.number(state)?;
        if number.1 {
            self.model_states.extend_from_slice(state);
        }
        Some(number)
    }

    /// Returns the index of a step in `labels`, and adds it if it is new.
    pub(crate) fn number_label(&mut self, label: StepLabel) -> u32 {
        let next = self.labels.len() as u32;
        let number = *self.by_label.entry(label).or_insert(next);
        if number == next {
            self.labels.push(label);
        }
        number
    }

    /// Returns true if every reachable state was expanded.
    pub fn is_complete(&self) -> bool {
        self.frontier.is_empty()
    }

    /// Returns a state as source text: a Python dictionary of each model's state by its name.
    pub fn text(&self, product: &Product<'_>, state: u32) -> String {
        state_text(product, self.state(state))
    }

    /// Returns the states from which no accepting state can be reached. In a graph that is not
    /// complete, states from which the frontier can be reached do not count as dead.
    pub fn dead_states(&self) -> Vec<u32> {
        let mut alive = vec![false; self.states()];
        let mut waiting: Vec<u32> = Vec::new();
        for state in self.accepting.iter().chain(&self.frontier) {
            if !std::mem::replace(&mut alive[*state as usize], true) {
                waiting.push(*state);
            }
        }
        let predecessors = self.predecessors();
        while let Some(state) = waiting.pop() {
            for from in predecessors.predecessors_of(state) {
                if !std::mem::replace(&mut alive[*from as usize], true) {
                    waiting.push(*from);
                }
            }
        }
        let dead = (0..self.states() as u32).filter(|state| !alive[*state as usize]);
        dead.collect()
    }

    /// Collects the predecessors of each state.
    fn predecessors(&self) -> Predecessors {
        let mut ends = vec![0u32; self.states() + 1];
        for transition in &self.transitions {
            ends[transition.to as usize + 1] += 1;
        }
        for state in 1..ends.len() {
            ends[state] += ends[state - 1];
        }
        let mut next = ends.clone();
        let mut from = vec![0u32; self.transitions.len()];
        for transition in &self.transitions {
            let position = &mut next[transition.to as usize];
            from[*position as usize] = transition.from;
            *position += 1;
        }
        Predecessors { ends, from }
    }

    /// Returns shortest paths to all states. This takes time proportional to the number of
    /// transitions, so keep the result for several queries.
    pub fn shortest_paths(&self) -> ShortestPaths<'_> {
        let mut last = vec![None; self.states()];
        let mut is_start = vec![false; self.states()];
        for start in &self.starts {
            is_start[*start as usize] = true;
        }
        for (number, transition) in self.transitions.iter().enumerate() {
            let to = transition.to as usize;
            if last[to].is_none() && !is_start[to] {
                last[to] = Some(number as u32);
            }
        }
        ShortestPaths { graph: self, last }
    }

    /// Returns a shortest path from the start of a run to a state, as indices of transitions.
    pub fn shortest_path_to(&self, state: u32) -> Vec<u32> {
        self.shortest_paths().path_to(state)
    }

    /// Returns the memory that the graph takes, without the models' own states.
    pub fn bytes(&self) -> usize {
        self.numbers.bytes()
            + self.model_states.capacity() * size_of::<ModelState>()
            + self.transitions.capacity() * size_of::<ProductTransition>()
            + self.labels.capacity() * size_of::<(StepLabel, StepLabel, u32)>()
    }
}

/// Shortest paths from the starts of runs to all states.
pub struct ShortestPaths<'g> {
    graph: &'g ProductGraph,
    /// For each state, the transition that discovered it, which is the last of a shortest path
    /// there.
    last: Vec<Option<u32>>,
}

impl ShortestPaths<'_> {
    /// Returns a shortest path to a state, as indices of transitions.
    pub fn path_to(&self, state: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = state;
        while let Some(number) = self.last.get(at as usize).copied().flatten() {
            path.push(number);
            at = self.graph.transitions[number as usize].from;
        }
        path.reverse();
        path
    }
}

/// Returns a state of a product as source text: a Python dictionary of each model's state by its
/// name.
pub fn state_text(product: &Product<'_>, state: &[ModelState]) -> String {
    let each = product.models().iter().zip(state);
    let parts: Vec<String> = each
        .map(|(model, state)| format!("{}: {}", quoted(model.name()), model.text(*state)))
        .collect();
    format!("{{{}}}", parts.join(", "))
}

/// Predecessors of all states, in one list for all.
struct Predecessors {
    /// For each state, the end of its part of `from`, shifted by one.
    ends: Vec<u32>,
    /// Predecessors, grouped by state.
    from: Vec<u32>,
}

impl Predecessors {
    /// Returns the predecessors of a state.
    fn predecessors_of(&self, state: u32) -> &[u32] {
        let state = state as usize;
        &self.from[self.ends[state] as usize..self.ends[state + 1] as usize]
    }
}

/// Returns a key that tells states apart: exactly for up to four models, by a hash for more.
fn key(state: &[ModelState]) -> u128 {
    if state.len() <= 4 {
        let joined = state.iter().rev();
        return joined.fold(0, |key, state| key << 32 | u128::from(state.0));
    }
    hash(state.iter())
}

/// Returns a key that tells sets of states apart.
pub(crate) fn key_of_states(states: &[Vec<ModelState>]) -> u128 {
    match states {
        [only] => key(only),
        several => hash(several.iter().flatten()),
    }
}

/// Hashes states to 128 bits.
fn hash<'p>(model_states: impl Iterator<Item = &'p ModelState> + Clone) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(salt);
        model_states
            .clone()
            .for_each(|state| hasher.write_u32(state.0));
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}
