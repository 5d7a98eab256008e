//! A machine with explicit states.

use testwright_core::product::{
    Label, Model, Move, NameId, Phase, Place, Refusal, Trouble, ValueId, Words,
};

use crate::Filter;

/// A step of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The state before.
    pub from: Place,
    /// The step.
    pub label: Label,
    /// The state after.
    pub to: Place,
}

/// A finite state machine: a scenario, or what an exploration has found.
///
/// The same step may lead to several states. Then it is open which, and whoever follows the machine follows them all.
#[derive(Clone, Debug)]
pub struct Fsm {
    name: String,
    /// The states as source text.
    states: Vec<String>,
    initial: Place,
    accepting: Vec<bool>,
    vocabulary: Vec<NameId>,
    cleanup: Vec<NameId>,
    /// In the order of the file, which is that of the author.
    edges: Vec<Edge>,
    /// By state: its edges, as numbers.
    leaving: Vec<Vec<u32>>,
}

impl Fsm {
    /// A machine of these states and edges.
    ///
    /// Edges whose action is not in the vocabulary are left out, and so is everything that the filter does not keep.
    pub fn new(
        name: impl Into<String>,
        states: Vec<String>,
        initial: Place,
        accepting: Vec<bool>,
        edges: Vec<Edge>,
    ) -> Fsm {
        let mut vocabulary: Vec<NameId> = Vec::new();
        for edge in &edges {
            if !vocabulary.contains(&edge.label.name) {
                vocabulary.push(edge.label.name);
            }
        }
        let leaving = leaving(states.len(), &edges);
        Fsm {
            name: name.into(),
            states,
            initial,
            accepting,
            vocabulary,
            cleanup: Vec::new(),
            edges,
            leaving,
        }
    }

    /// The same with these actions instead of those that its edges name. Naming one that no edge has forbids it.
    pub fn with_vocabulary(mut self, vocabulary: Vec<NameId>) -> Fsm {
        self.edges
            .retain(|edge| vocabulary.contains(&edge.label.name));
        self.leaving = leaving(self.states.len(), &self.edges);
        self.vocabulary = vocabulary;
        self
    }

    /// The same with these actions to come to an end.
    pub fn with_cleanup(mut self, cleanup: Vec<NameId>) -> Fsm {
        self.cleanup = cleanup;
        self
    }

    /// The same without what the filter leaves out.
    pub fn filtered(mut self, words: &Words, filter: &Filter) -> Fsm {
        let keeps = |name: &NameId| filter.keeps_name(words, *name);
        self.cleanup.retain(keeps);
        let vocabulary = self.vocabulary.iter().copied().filter(keeps).collect();
        self.with_vocabulary(vocabulary)
    }

    /// Where runs begin.
    pub fn initial(&self) -> Place {
        self.initial
    }

    /// The edges, in the order of the author.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    fn from(&self, place: Place) -> impl Iterator<Item = &Edge> {
        let numbers = self.leaving.get(place.0 as usize);
        let numbers = numbers.map_or(&[][..], Vec::as_slice);
        numbers.iter().map(|number| &self.edges[*number as usize])
    }
}

fn leaving(states: usize, edges: &[Edge]) -> Vec<Vec<u32>> {
    let mut leaving = vec![Vec::new(); states];
    for (number, edge) in edges.iter().enumerate() {
        leaving[edge.from.0 as usize].push(number as u32);
    }
    leaving
}

impl Model for Fsm {
    fn name(&self) -> &str {
        &self.name
    }

    fn vocabulary(&self) -> &[NameId] {
        &self.vocabulary
    }

    fn is_scenario(&self) -> bool {
        true
    }

    fn start(&mut self, _run: usize) -> Result<Option<Place>, Trouble> {
        Ok(Some(self.initial))
    }

    fn moves(
        &mut self,
        _words: &mut Words,
        from: Place,
        phase: Phase,
        _offers: &[Label],
    ) -> Result<Vec<Move>, Trouble> {
        let goes = |edge: &&Edge| phase == Phase::Usual || self.cleanup.contains(&edge.label.name);
        let edges = self.from(from).filter(goes);
        Ok(edges.map(as_move).collect())
    }

    fn refusal(
        &mut self,
        _words: &mut Words,
        from: Place,
        name: NameId,
        arguments: ValueId,
    ) -> Result<Option<Refusal>, Trouble> {
        if self.from(from).any(|edge| fits(edge, name, arguments)) {
            return Ok(None);
        }
        Ok(Some(Refusal::Scenario {
            state: self.text(from),
            instead: self.from(from).map(|edge| edge.label).collect(),
        }))
    }

    fn refusals(
        &mut self,
        _words: &mut Words,
        _from: Place,
        _offers: &[Label],
    ) -> Result<Vec<(NameId, ValueId, Refusal)>, Trouble> {
        // All that it has to say is what it allows.
        Ok(Vec::new())
    }

    fn perform(
        &mut self,
        _words: &mut Words,
        from: Place,
        name: NameId,
        arguments: ValueId,
    ) -> Result<Vec<Move>, Trouble> {
        let edges = self.from(from).filter(|edge| fits(edge, name, arguments));
        Ok(edges.map(as_move).collect())
    }

    fn is_accepting(&self, place: Place) -> bool {
        self.accepting
            .get(place.0 as usize)
            .copied()
            .unwrap_or(false)
    }

    fn is_safe(&self, _place: Place) -> bool {
        true
    }

    fn text(&self, place: Place) -> String {
        self.states
            .get(place.0 as usize)
            .cloned()
            .unwrap_or_default()
    }

    fn bytes(&self) -> usize {
        self.states.iter().map(String::len).sum::<usize>() + self.edges.len() * size_of::<Edge>()
    }
}

/// Whether an edge speaks of an action with these arguments, or with any.
fn fits(edge: &Edge, name: NameId, arguments: ValueId) -> bool {
    let given = edge.label.arguments;
    edge.label.name == name && (given == ValueId::EMPTY || given == arguments)
}

fn as_move(edge: &Edge) -> Move {
    Move {
        label: edge.label,
        to: edge.to,
    }
}
