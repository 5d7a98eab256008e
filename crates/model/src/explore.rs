//! Breadth-first exploration of all states of a product.
//!
//! Each state is expanded once, in the order of discovery. So the path by which a state was
//! discovered is a shortest one. An [`Expander`] computes the steps that are possible in a state;
//! [`crate::parallel`] has one that asks other processes.

use std::collections::VecDeque;

use testwright_core::Error;
use testwright_core::product::{JointStep, ModelError, ModelState, Phase, Product};
use testwright_core::verdict::ReachedLimit;

use crate::{ProductGraph, ProductTransition};

/// Limits on the size of the graph. An exploration stops at the first that it reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphLimits {
    /// Maximum number of transitions.
    pub transitions: Option<usize>,
    /// Maximum number of states.
    pub states: Option<usize>,
    /// Maximum memory for the graph and the states of the models, in bytes.
    pub bytes: Option<usize>,
    /// True if the first state in which an invariant is false ends the exploration.
    pub stop_at_unsafe: bool,
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

impl GraphProgress {
    /// Returns the number of states that were expanded.
    pub fn expanded(&self) -> usize {
        self.states - self.waiting
    }
}

/// Number of states that are expanded between two measurements of memory.
const MEMORY_INTERVAL: u64 = 256;

/// Result of an exploration.
#[derive(Debug)]
pub struct ExploredGraph {
    /// States and transitions found, even if the exploration ended early.
    pub graph: ProductGraph,
    /// Error that ended the exploration.
    pub error: Option<ModelError>,
    /// True if the watcher stopped the exploration.
    pub stopped: bool,
    /// The limit that ended the exploration.
    pub reached_limit: Option<ReachedLimit>,
}

/// Observes an exploration. A closure that decides whether to go on can implement it.
pub trait GraphWatcher {
    /// Called before each state. Returns false to stop the exploration.
    fn proceed(&mut self, progress: &GraphProgress) -> bool;

    /// Called when a state in which an invariant is false was discovered and recorded.
    fn found_unsafe(&mut self, _product: &Product<'_>, _graph: &ProductGraph, _state: u32) {}
}

impl<F: FnMut(&GraphProgress) -> bool> GraphWatcher for F {
    fn proceed(&mut self, progress: &GraphProgress) -> bool {
        self(progress)
    }
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
pub struct LocalExpander;

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
    explore_with(product, &mut LocalExpander, limits, &mut { proceed })
}

/// Explores with a custom [`Expander`], for example one that asks other processes, and a watcher.
pub fn explore_with(
    product: &mut Product<'_>,
    expander: &mut dyn Expander,
    limits: &GraphLimits,
    watcher: &mut dyn GraphWatcher,
) -> ExploredGraph {
    let mut explorer = GraphBuilder::new(product, expander, limits, watcher);
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
    let mut watcher = proceed;
    let mut explorer = GraphBuilder::new(product, &mut expander, limits, &mut watcher);
    let error = explorer.explore_from_state(start).err();
    explorer.finish(error)
}

/// Exploration in progress.
struct GraphBuilder<'e, 'm> {
    product: &'e mut Product<'m>,
    expander: &'e mut dyn Expander,
    limits: &'e GraphLimits,
    watcher: &'e mut dyn GraphWatcher,
    /// Graph as far as it is known.
    graph: ProductGraph,
    /// Discovered states that are not expanded yet, oldest first.
    waiting: VecDeque<u32>,
    /// True once the watcher has stopped the exploration.
    stopped: bool,
    /// The limit that was reached.
    reached_limit: Option<ReachedLimit>,
}

impl<'e, 'm> GraphBuilder<'e, 'm> {
    fn new(
        product: &'e mut Product<'m>,
        expander: &'e mut dyn Expander,
        limits: &'e GraphLimits,
        watcher: &'e mut dyn GraphWatcher,
    ) -> GraphBuilder<'e, 'm> {
        GraphBuilder {
            graph: ProductGraph::new(product.models().len()),
            product,
            expander,
            limits,
            watcher,
            waiting: VecDeque::new(),
            stopped: false,
            reached_limit: None,
        }
    }

    /// Ends the exploration. States that still wait become the frontier of the graph.
    fn finish(self, error: Option<ModelError>) -> ExploredGraph {
        let mut graph = self.graph;
        graph.frontier = self.waiting.into();
        let is_complete = graph.is_complete();
        ExploredGraph {
            graph,
            error,
            stopped: self.stopped,
            // A limit that cut nothing off was not in the way.
            reached_limit: self.reached_limit.filter(|_| !is_complete),
        }
    }

    /// Explores the states that can be reached from `start`.
    fn explore_from_state(&mut self, start: &[ModelState]) -> Result<(), ModelError> {
        let known = self.graph.unsafe_states.len();
        let start = self.number_state(start)?;
        self.graph.starts.push(start);
        self.report_unsafe(known);
        self.expand_waiting()
    }

    /// Explores from the start of each run. Only a product with a suite has more than one.
    fn explore_all_runs(&mut self) -> Result<(), ModelError> {
        for run in 0.. {
            let Some(start) = self.product.start(run)? else {
                break;
            };
            self.explore_from_state(&start)?;
            let is_cut = self.reached_limit == Some(ReachedLimit::Failure);
            if !self.product.has_suite() || self.stopped || is_cut {
                break;
            }
        }
        Ok(())
    }

    /// Expands waiting states until none is left, a limit is reached or the watcher stops.
    fn expand_waiting(&mut self) -> Result<(), ModelError> {
        for expanded in 0.. {
            let Some(state) = self.waiting.front().copied() else {
                break;
            };
            if self.is_full() || self.is_out_of_memory(expanded) {
                break;
            }
            let progress = GraphProgress {
                states: self.graph.states(),
                transitions: self.graph.transitions.len(),
                waiting: self.waiting.len(),
            };
            if !self.watcher.proceed(&progress) {
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

    /// Returns true if a limit is reached, and notes it.
    fn is_full(&mut self) -> bool {
        let GraphLimits {
            transitions,
            states,
            stop_at_unsafe,
            ..
        } = *self.limits;
        let is_reached = |limit: Option<usize>, size: usize| limit.is_some_and(|max| size >= max);
        if stop_at_unsafe && !self.graph.unsafe_states.is_empty() {
            self.reached_limit = Some(ReachedLimit::Failure);
        } else if is_reached(transitions, self.graph.transitions.len()) {
            let most = transitions.unwrap_or_default() as u64;
            self.reached_limit = Some(ReachedLimit::Transitions(most));
        } else if is_reached(states, self.graph.states()) {
            let most = states.unwrap_or_default() as u64;
            self.reached_limit = Some(ReachedLimit::States(most));
        }
        self.reached_limit.is_some()
    }

    /// Returns true if the memory limit is reached, and notes it. Memory is measured now and then.
    fn is_out_of_memory(&mut self, expanded: u64) -> bool {
        let Some(max) = self
            .limits
            .bytes
            .filter(|_| expanded.is_multiple_of(MEMORY_INTERVAL))
        else {
            return false;
        };
        let models = self.product.models().iter();
        let held: usize = models.map(|model| model.bytes()).sum();
        let is_reached = held + self.graph.bytes() >= max;
        if is_reached {
            self.reached_limit = Some(ReachedLimit::Memory);
        }
        is_reached
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

    /// Reports the unsafe states beyond those that were known already.
    fn report_unsafe(&mut self, known: usize) {
        for state in &self.graph.unsafe_states[known..] {
            self.watcher.found_unsafe(self.product, &self.graph, *state);
        }
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
            let known = self.graph.unsafe_states.len();
            let to = self.number_state(&one.to)?;
            let label = self.graph.number_label(one.label);
            self.graph.transitions.push(ProductTransition {
                from: state,
                label,
                to,
            });
            self.report_unsafe(known);
        }
        Ok(true)
    }
}
