//! Breadth-first exploration of all states of a product.
//!
//! Each state is expanded once, in the order of discovery. So the path by which a state was
//! discovered is a shortest one. An [`Expander`] computes the steps that are possible in a state;
//! [`crate::parallel`] has one that asks other processes.

use std::collections::VecDeque;

use testwright_core::Error;
use testwright_core::product::{JointStep, ModelError, ModelState, Phase, Product};

use crate::{ProductGraph, ProductTransition};

/// Limits on the size of the graph. An exploration stops at the first that it reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphLimits {
    /// Maximum number of transitions.
    pub transitions: Option<usize>,
    /// Maximum number of states.
    pub states: Option<usize>,
}

/// Progress of an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphProgress {
    /// Number of states discovered so far.
    pub states: usize,
    /// Number of transitions recorded so far.
    pub transitions: usize,
    /// Number of states that are not expanded yet.
    pub waiting: usize,
}

/// Result of an exploration.
#[derive(Debug)]
pub struct ExploredGraph {
    /// States and transitions found, even if the exploration ended early.
    pub graph: ProductGraph,
    /// Error that ended the exploration.
    pub error: Option<ModelError>,
    /// True if the `proceed` callback stopped the exploration.
    pub stopped: bool,
}

/// Computes the steps that are possible in states.
pub trait Expander {
    /// Announces a state that [`Expander::possible_steps`] will be called for. Announcements come
    /// in the order of these calls, so that an expander can work ahead.
    fn announce(&mut self, _product: &Product<'_>, _state: &[ModelState]) {}

    /// Returns the distinct steps that are possible in `state`, which is the oldest state that was
    /// announced and not expanded yet.
    fn possible_steps(
        &mut self,
        product: &mut Product<'_>,
        state: &[ModelState],
    ) -> Result<Vec<JointStep>, ModelError>;
}

/// Expander that computes the steps in this process.
struct LocalExpander;

impl Expander for LocalExpander {
    fn possible_steps(
        &mut self,
        product: &mut Product<'_>,
        state: &[ModelState],
    ) -> Result<Vec<JointStep>, ModelError> {
        product.possible_steps(state, Phase::Normal)
    }
}

/// Explores the states of a product, those with shorter paths first. `proceed` is called before
/// each state, and stops the exploration by returning false.
pub fn explore(
    product: &mut Product<'_>,
    limits: &GraphLimits,
    proceed: &mut dyn FnMut(&GraphProgress) -> bool,
) -> ExploredGraph {
    explore_with(product, &mut LocalExpander, limits, proceed)
}

/// Explores with a custom [`Expander`], for example one that asks other processes.
pub fn explore_with(
    product: &mut Product<'_>,
    expander: &mut dyn Expander,
    limits: &GraphLimits,
    proceed: &mut dyn FnMut(&GraphProgress) -> bool,
) -> ExploredGraph {
    let mut explorer = GraphBuilder::new(product, expander, limits, proceed);
    let error = explorer.explore_all_runs().err();
    explorer.finish(error)
}

/// Explores only the states that can be reached from `start`.
pub fn explore_from(
    product: &mut Product<'_>,
    start: &[ModelState],
    limits: &GraphLimits,
    proceed: &mut dyn FnMut(&GraphProgress) -> bool,
) -> ExploredGraph {
    let mut expander = LocalExpander;
    let mut explorer = GraphBuilder::new(product, &mut expander, limits, proceed);
    let error = explorer.explore_from_state(start).err();
    explorer.finish(error)
}

/// Exploration in progress.
struct GraphBuilder<'e, 'm> {
    product: &'e mut Product<'m>,
    expander: &'e mut dyn Expander,
    limits: &'e GraphLimits,
    proceed: &'e mut dyn FnMut(&GraphProgress) -> bool,
    /// Graph as far as it is known.
    graph: ProductGraph,
    /// Discovered states that are not expanded yet, oldest first.
    waiting: VecDeque<u32>,
    /// True once `proceed` has returned false.
    stopped: bool,
}

impl<'e, 'm> GraphBuilder<'e, 'm> {
    fn new(
        product: &'e mut Product<'m>,
        expander: &'e mut dyn Expander,
        limits: &'e GraphLimits,
        proceed: &'e mut dyn FnMut(&GraphProgress) -> bool,
    ) -> GraphBuilder<'e, 'm> {
        GraphBuilder {
            graph: ProductGraph::new(product.models().len()),
            product,
            expander,
            limits,
            proceed,
            waiting: VecDeque::new(),
            stopped: false,
        }
    }

    /// Ends the exploration. States that still wait become the frontier of the graph.
    fn finish(self, error: Option<ModelError>) -> ExploredGraph {
        let mut graph = self.graph;
        graph.frontier = self.waiting.into();
        ExploredGraph {
            graph,
            error,
            stopped: self.stopped,
        }
    }

    /// Explores the states that can be reached from `start`.
    fn explore_from_state(&mut self, start: &[ModelState]) -> Result<(), ModelError> {
        let start = self.number_state(start)?;
        self.graph.starts.push(start);
        self.expand_waiting()
    }

    /// Explores from the start of each run. Only a product with a suite has more than one.
    fn explore_all_runs(&mut self) -> Result<(), ModelError> {
        for run in 0.. {
            let Some(start) = self.product.start(run)? else {
                break;
            };
            self.explore_from_state(&start)?;
            if !self.product.has_suite() || self.stopped {
                break;
            }
        }
        Ok(())
    }

    /// Expands waiting states until none is left, a limit is reached or `proceed` returns false.
    fn expand_waiting(&mut self) -> Result<(), ModelError> {
        while !self.is_full()
            && let Some(state) = self.waiting.front().copied()
        {
            let progress = GraphProgress {
                states: self.graph.states(),
                transitions: self.graph.transitions.len(),
                waiting: self.waiting.len(),
            };
            if !(self.proceed)(&progress) {
                self.stopped = true;
                break;
            }
            self.product.release_states();
            if self.expand(state)? {
                // New states were appended after it.
                self.waiting.pop_front();
            }
        }
        Ok(())
    }

    /// Returns true if a limit is reached.
    fn is_full(&self) -> bool {
        let GraphLimits {
            transitions,
            states,
        } = self.limits;
        transitions.is_some_and(|max| self.graph.transitions.len() >= max)
            || states.is_some_and(|max| self.graph.states() >= max)
    }

    /// Returns the number of a state. A new state is classified, announced and queued.
    fn number_state(&mut self, state: &[ModelState]) -> Result<u32, ModelError> {
        let too_many = || Error::new("there are more states than can be numbered");
        let (number, is_new) = self.graph.number(state).ok_or_else(too_many)?;
        if is_new {
            self.waiting.push_back(number);
            self.expander.announce(self.product, state);
            if self.product.is_accepting(state) {
                self.graph.accepting.push(number);
            }
            if !self.product.is_safe(state) {
                self.graph.unsafe_states.push(number);
            }
        }
        Ok(number)
    }

    /// Records the steps that are possible in a state. Returns false if a limit left out some of
    /// them.
    fn expand(&mut self, state: u32) -> Result<bool, ModelError> {
        let model_states = self.graph.state(state).to_vec();
        let moves = self.expander.possible_steps(self.product, &model_states)?;
        if moves.is_empty() {
            if self.product.is_accepting(&model_states) {
                self.graph.finished.push(state)
            } else {
                self.graph.dead_ends.push(state)
            }
        }
        for one in moves {
            if self.is_full() {
                return Ok(false);
            }
            let to = self.number_state(&one.to)?;
            let label = self.graph.number_label(one.label);
            self.graph.transitions.push(ProductTransition {
                from: state,
                label,
                to,
            });
        }
        Ok(true)
    }
}
