//! Finite state machines with explicit states.

use testwright_core::product::{
    BlockReason, Interner, Model, ModelError, ModelState, ModelStep, NameId, Phase, StepLabel,
    ValueId,
};

use crate::Filter;

/// One transition of a finite state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FsmEdge {
    /// State that the edge leaves.
    pub from: ModelState,
    /// Action with its arguments and result. Empty arguments stand for any arguments.
    pub label: StepLabel,
    /// State that the edge enters.
    pub to: ModelState,
}

/// A finite state machine: a scenario, or the result of an exploration.
///
/// Several edges with the same label may leave a state. The machine is nondeterministic then, and
/// an algorithm that follows it has to follow all of them.
#[derive(Clone, Debug)]
pub struct Fsm {
    name: String,
    /// Source text of each state, by its number.
    states: Vec<String>,
    /// State in which every run begins.
    initial: ModelState,
    /// For each state, whether a run may end there.
    accepting: Vec<bool>,
    /// Actions that the machine allows or forbids. It does not constrain others.
    vocabulary: Vec<NameId>,
    /// Actions that stay possible in the cleanup phase at the end of a run.
    cleanup: Vec<NameId>,
    /// Edges in the order of the file, which is the author's.
    edges: Vec<FsmEdge>,
    /// For each state, the indices of the edges that leave it.
    leaving: Vec<Vec<u32>>,
}

impl Fsm {
    /// Creates a machine from its states and edges.
    ///
    /// Its vocabulary is the set of actions that the edges name. [`Fsm::with_vocabulary`] replaces
    /// it, and [`Fsm::filtered`] removes actions from it.
    pub fn new(
        name: impl Into<String>,
        states: Vec<String>,
        initial: ModelState,
        accepting: Vec<bool>,
        edges: Vec<FsmEdge>,
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

    /// Replaces the vocabulary, which is otherwise the set of actions that the edges name. An
    /// action in the vocabulary without an edge is forbidden. Edges whose action is not in the
    /// vocabulary are removed.
    pub fn with_vocabulary(mut self, vocabulary: Vec<NameId>) -> Fsm {
        self.edges
            .retain(|edge| vocabulary.contains(&edge.label.name));
        self.leaving = leaving(self.states.len(), &self.edges);
        self.vocabulary = vocabulary;
        self
    }

    /// Sets the actions that stay possible in the cleanup phase, in which a run is brought to an
    /// accepting state.
    pub fn with_cleanup(mut self, cleanup: Vec<NameId>) -> Fsm {
        self.cleanup = cleanup;
        self
    }

    /// Removes the actions that the filter leaves out, together with their edges.
    pub fn filtered(mut self, interner: &Interner, filter: &Filter) -> Fsm {
        let keeps = |name: &NameId| filter.includes_name(interner, *name);
        self.cleanup.retain(keeps);
        let vocabulary = self.vocabulary.iter().copied().filter(keeps).collect();
        self.with_vocabulary(vocabulary)
    }

    /// Returns the state in which every run begins.
    pub fn initial(&self) -> ModelState {
        self.initial
    }

    /// Returns the edges in the author's order.
    pub fn edges(&self) -> &[FsmEdge] {
        &self.edges
    }

    /// Iterates over the edges that leave a state. A state that does not exist has none.
    fn edges_from(&self, state: ModelState) -> impl Iterator<Item = &FsmEdge> {
        let numbers = self.leaving.get(state.0 as usize);
        let numbers = numbers.map_or(&[][..], Vec::as_slice);
        numbers.iter().map(|number| &self.edges[*number as usize])
    }
}

/// Groups the indices of edges by the state that they leave.
fn leaving(states: usize, edges: &[FsmEdge]) -> Vec<Vec<u32>> {
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

    fn start(&mut self, _run: usize) -> Result<Option<ModelState>, ModelError> {
        Ok(Some(self.initial))
    }

    fn possible_steps(
        &mut self,
        _interner: &mut Interner,
        from: ModelState,
        phase: Phase,
        _offers: &[StepLabel],
    ) -> Result<Vec<ModelStep>, ModelError> {
        let goes =
            |edge: &&FsmEdge| phase == Phase::Normal || self.cleanup.contains(&edge.label.name);
        let edges = self.edges_from(from).filter(goes);
        Ok(edges.map(to_model_step).collect())
    }

    fn block_reason(
        &mut self,
        _interner: &mut Interner,
        from: ModelState,
        name: NameId,
        arguments: ValueId,
    ) -> Result<Option<BlockReason>, ModelError> {
        if self
            .edges_from(from)
            .any(|edge| matches_action(edge, name, arguments))
        {
            return Ok(None);
        }
        Ok(Some(BlockReason::Scenario {
            state: self.text(from),
            allowed_steps: self.edges_from(from).map(|edge| edge.label).collect(),
        }))
    }

    fn block_reasons(
        &mut self,
        _interner: &mut Interner,
        _from: ModelState,
        _offers: &[StepLabel],
    ) -> Result<Vec<(NameId, ValueId, BlockReason)>, ModelError> {
        // A scenario forbids nothing beyond what it does not offer, so there is nothing to list.
        Ok(Vec::new())
    }

    fn perform(
        &mut self,
        _interner: &mut Interner,
        from: ModelState,
        name: NameId,
        arguments: ValueId,
    ) -> Result<Vec<ModelStep>, ModelError> {
        let edges = self
            .edges_from(from)
            .filter(|edge| matches_action(edge, name, arguments));
        Ok(edges.map(to_model_step).collect())
    }

    fn lists_arguments(&self, name: NameId) -> bool {
        let mut edges = self.edges.iter();
        !edges.any(|edge| edge.label.name == name && edge.label.arguments == ValueId::EMPTY)
            && self.vocabulary.contains(&name)
    }

    fn is_accepting(&self, state: ModelState) -> bool {
        self.accepting
            .get(state.0 as usize)
            .copied()
            .unwrap_or(false)
    }

    fn is_safe(&self, _state: ModelState) -> bool {
        true
    }

    fn text(&self, state: ModelState) -> String {
        self.states
            .get(state.0 as usize)
            .cloned()
            .unwrap_or_default()
    }

    fn bytes(&self) -> usize {
        self.states.iter().map(String::len).sum::<usize>() + self.edges.len() * size_of::<FsmEdge>()
    }
}

/// Returns true if an edge has this action with these arguments, or leaves the arguments open.
fn matches_action(edge: &FsmEdge, name: NameId, arguments: ValueId) -> bool {
    let given = edge.label.arguments;
    edge.label.name == name && (given == ValueId::EMPTY || given == arguments)
}

/// Converts an edge to the form in which a model offers its steps.
fn to_model_step(edge: &FsmEdge) -> ModelStep {
    ModelStep {
        label: edge.label,
        to: edge.to,
    }
}
