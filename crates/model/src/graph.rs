//! The states of a product, and the steps between them.

use std::hash::{DefaultHasher, Hasher};

use rustc_hash::FxHashMap;
use testwright_core::numbering::Numbering;
use testwright_core::product::{Label, Place, Product};

use crate::module_text::quoted;

/// The numbers of states.
#[derive(Clone, Debug)]
enum Numbers {
    /// A single model has numbered its states itself, and others as well: by place, the number or [`NONE`].
    OfPlaces { numbers: Vec<u32>, next: u32 },
    /// By what tells the states of several models apart.
    OfKeys(Numbering),
}

/// Not numbered.
const NONE: u32 = u32::MAX;

impl Numbers {
    fn new(models: usize) -> Numbers {
        match models {
            1 => Numbers::OfPlaces {
                numbers: Vec::new(),
                next: 0,
            },
            _ => Numbers::OfKeys(Numbering::default()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Numbers::OfPlaces { next, .. } => *next as usize,
            Numbers::OfKeys(numbering) => numbering.len(),
        }
    }

    /// The number of a state, and whether it is new.
    fn of(&mut self, state: &[Place]) -> Option<(u32, bool)> {
        match self {
            Numbers::OfPlaces { numbers, next } => {
                let place = state[0].0 as usize;
                if place >= numbers.len() {
                    numbers.resize(place + 1, NONE);
                }
                let number = &mut numbers[place];
                let is_new = *number == NONE;
                if is_new {
                    *number = *next;
                    *next = next.checked_add(1).filter(|next| *next != NONE)?;
                }
                Some((*number, is_new))
            }
            Numbers::OfKeys(numbering) => {
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
            Numbers::OfPlaces { numbers, .. } => numbers.capacity() * size_of::<u32>(),
            Numbers::OfKeys(numbering) => numbering.bytes(),
        }
    }
}

/// A step between two states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Transition {
    /// The state before.
    pub from: u32,
    /// The step: a place in [`Graph::labels`].
    pub label: u32,
    /// The state after.
    pub to: u32,
}

/// What an exploration has found. States are numbered in the order in which they were met.
#[derive(Clone, Debug)]
pub struct Graph {
    /// How many models there are: so many places make a state.
    models: usize,
    places: Vec<Place>,
    numbers: Numbers,
    by_label: FxHashMap<Label, u32>,
    /// The steps that occur.
    pub labels: Vec<Label>,
    /// The transitions, in the order in which they were met.
    pub transitions: Vec<Transition>,
    /// The states in which runs begin.
    pub starts: Vec<u32>,
    /// The states in which a run may end, in the order in which they were met.
    pub accepting: Vec<u32>,
    /// The states in which an invariant does not hold.
    pub not_safe: Vec<u32>,
    /// The states of which not all steps are known.
    pub frontier: Vec<u32>,
    /// The states in which nothing is possible and a run may end.
    pub finished: Vec<u32>,
    /// The states in which nothing is possible and no run may end.
    pub dead_ends: Vec<u32>,
}

impl Graph {
    pub(crate) fn new(models: usize) -> Graph {
        Graph {
            models,
            places: Vec::new(),
            numbers: Numbers::new(models),
            by_label: FxHashMap::default(),
            labels: Vec::new(),
            transitions: Vec::new(),
            starts: Vec::new(),
            accepting: Vec::new(),
            not_safe: Vec::new(),
            frontier: Vec::new(),
            finished: Vec::new(),
            dead_ends: Vec::new(),
        }
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        self.numbers.len()
    }

    /// A state, as one of each model.
    pub fn state(&self, number: u32) -> &[Place] {
        let first = number as usize * self.models;
        &self.places[first..first + self.models]
    }

    /// The number of a state, and whether it is new. `None` if no more can be numbered.
    pub(crate) fn number(&mut self, state: &[Place]) -> Option<(u32, bool)> {
        let number = self.numbers.of(state)?;
        if number.1 {
            self.places.extend_from_slice(state);
        }
        Some(number)
    }

    pub(crate) fn number_of_label(&mut self, label: Label) -> u32 {
        let next = self.labels.len() as u32;
        let number = *self.by_label.entry(label).or_insert(next);
        if number == next {
            self.labels.push(label);
        }
        number
    }

    /// Whether all states that can be reached are known, with all their steps.
    pub fn is_complete(&self) -> bool {
        self.frontier.is_empty()
    }

    /// A state as source text: of each model by name.
    pub fn text(&self, product: &Product<'_>, state: u32) -> String {
        state_text(product, self.state(state))
    }

    /// The states from which no accepting state can be reached, however one goes on. In a graph that is not complete,
    /// nothing is said of states from which something unknown can be reached.
    pub fn dead(&self) -> Vec<u32> {
        let mut alive = vec![false; self.states()];
        let mut waiting: Vec<u32> = Vec::new();
        for state in self.accepting.iter().chain(&self.frontier) {
            if !std::mem::replace(&mut alive[*state as usize], true) {
                waiting.push(*state);
            }
        }
        let entering = self.entering();
        while let Some(state) = waiting.pop() {
            for from in entering.of(state) {
                if !std::mem::replace(&mut alive[*from as usize], true) {
                    waiting.push(*from);
                }
            }
        }
        let dead = (0..self.states() as u32).filter(|state| !alive[*state as usize]);
        dead.collect()
    }

    /// For each state, the states before it.
    fn entering(&self) -> Entering {
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
            let place = &mut next[transition.to as usize];
            from[*place as usize] = transition.from;
            *place += 1;
        }
        Entering { ends, from }
    }

    /// A shortest way to each state. Made once for many questions: it takes as long as there are transitions.
    pub fn ways(&self) -> Ways<'_> {
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
        Ways { graph: self, last }
    }

    /// A shortest way from where a run begins to a state, as transitions.
    pub fn way_to(&self, state: u32) -> Vec<u32> {
        self.ways().to(state)
    }

    /// What it takes in memory, the states of the models not included.
    pub fn bytes(&self) -> usize {
        self.numbers.bytes()
            + self.places.capacity() * size_of::<Place>()
            + self.transitions.capacity() * size_of::<Transition>()
            + self.labels.capacity() * size_of::<(Label, Label, u32)>()
    }
}

/// Shortest ways from where runs begin.
pub struct Ways<'g> {
    graph: &'g Graph,
    /// By state: the transition by which it was met first, the last of a shortest way there.
    last: Vec<Option<u32>>,
}

impl Ways<'_> {
    /// The way to a state, as transitions.
    pub fn to(&self, state: u32) -> Vec<u32> {
        let mut way = Vec::new();
        let mut at = state;
        while let Some(number) = self.last.get(at as usize).copied().flatten() {
            way.push(number);
            at = self.graph.transitions[number as usize].from;
        }
        way.reverse();
        way
    }
}

/// A state of a product as source text: of each model by name.
pub fn state_text(product: &Product<'_>, state: &[Place]) -> String {
    let each = product.models().iter().zip(state);
    let parts: Vec<String> = each
        .map(|(model, place)| format!("{}: {}", quoted(model.name()), model.text(*place)))
        .collect();
    format!("{{{}}}", parts.join(", "))
}

/// The states before each state, one list after the other.
struct Entering {
    ends: Vec<u32>,
    from: Vec<u32>,
}

impl Entering {
    fn of(&self, state: u32) -> &[u32] {
        let state = state as usize;
        &self.from[self.ends[state] as usize..self.ends[state + 1] as usize]
    }
}

/// Tells states apart: exactly for up to four models, and by a hash for more.
fn key(state: &[Place]) -> u128 {
    if state.len() <= 4 {
        let joined = state.iter().rev();
        return joined.fold(0, |key, place| key << 32 | u128::from(place.0));
    }
    hash(state.iter())
}

/// Tells sets of states apart.
pub(crate) fn key_of_set(states: &[Vec<Place>]) -> u128 {
    match states {
        [only] => key(only),
        several => hash(several.iter().flatten()),
    }
}

fn hash<'p>(places: impl Iterator<Item = &'p Place> + Clone) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(salt);
        places.clone().for_each(|place| hasher.write_u32(place.0));
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}
