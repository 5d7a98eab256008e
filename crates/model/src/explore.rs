//! Visiting all states of a product, breadth first.

use std::collections::VecDeque;

use testwright_core::Error;
use testwright_core::product::{Joint, Phase, Place, Product, Trouble};

use crate::{Graph, Transition};

/// How far to go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// How many transitions to record.
    pub transitions: Option<usize>,
    /// How many states to number.
    pub states: Option<usize>,
}

/// How far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// States met.
    pub states: usize,
    /// Transitions recorded.
    pub transitions: usize,
    /// States of which not all steps are known.
    pub waiting: usize,
}

/// What came of an exploration.
#[derive(Debug)]
pub struct Exploration {
    /// What was found, also if it had to end early.
    pub graph: Graph,
    /// Why it could not go on.
    pub trouble: Option<Trouble>,
    /// It was told to stop.
    pub stopped: bool,
}

/// Finds out what is possible in states.
pub trait Expander {
    /// A state that will be asked for, after those that were announced before.
    fn announce(&mut self, _product: &Product<'_>, _state: &[Place]) {}

    /// What is possible in a state, each once: the first that was announced and not asked for.
    fn moves(&mut self, product: &mut Product<'_>, state: &[Place]) -> Result<Vec<Joint>, Trouble>;
}

/// Asks the product itself.
struct Here;

impl Expander for Here {
    fn moves(&mut self, product: &mut Product<'_>, state: &[Place]) -> Result<Vec<Joint>, Trouble> {
        product.moves(state, Phase::Usual)
    }
}

/// Visits the states of a product, those that take fewer steps first. `proceed` is asked before each state.
pub fn explore(
    product: &mut Product<'_>,
    limits: &Limits,
    proceed: &mut dyn FnMut(&Progress) -> bool,
) -> Exploration {
    explore_with(product, &mut Here, limits, proceed)
}

/// The same, with somebody else to find out what is possible in states.
pub fn explore_with(
    product: &mut Product<'_>,
    expander: &mut dyn Expander,
    limits: &Limits,
    proceed: &mut dyn FnMut(&Progress) -> bool,
) -> Exploration {
    let mut explorer = Explorer::new(product, expander, limits, proceed);
    let trouble = explorer.all_runs().err();
    explorer.into_exploration(trouble)
}

/// The same for those states only that can be reached from one.
pub fn explore_from(
    product: &mut Product<'_>,
    start: &[Place],
    limits: &Limits,
    proceed: &mut dyn FnMut(&Progress) -> bool,
) -> Exploration {
    let mut here = Here;
    let mut explorer = Explorer::new(product, &mut here, limits, proceed);
    let trouble = explorer.run_from(start).err();
    explorer.into_exploration(trouble)
}

struct Explorer<'e, 'm> {
    product: &'e mut Product<'m>,
    expander: &'e mut dyn Expander,
    limits: &'e Limits,
    proceed: &'e mut dyn FnMut(&Progress) -> bool,
    graph: Graph,
    /// A state waits from when it is met until all its steps are known.
    waiting: VecDeque<u32>,
    stopped: bool,
}

impl<'e, 'm> Explorer<'e, 'm> {
    fn new(
        product: &'e mut Product<'m>,
        expander: &'e mut dyn Expander,
        limits: &'e Limits,
        proceed: &'e mut dyn FnMut(&Progress) -> bool,
    ) -> Explorer<'e, 'm> {
        Explorer {
            graph: Graph::new(product.models().len()),
            product,
            expander,
            limits,
            proceed,
            waiting: VecDeque::new(),
            stopped: false,
        }
    }

    fn into_exploration(self, trouble: Option<Trouble>) -> Exploration {
        let mut graph = self.graph;
        graph.frontier = self.waiting.into();
        Exploration {
            graph,
            trouble,
            stopped: self.stopped,
        }
    }

    fn run_from(&mut self, start: &[Place]) -> Result<(), Trouble> {
        let start = self.meet(start)?;
        self.graph.starts.push(start);
        self.run()
    }

    fn all_runs(&mut self) -> Result<(), Trouble> {
        for run in 0.. {
            let Some(start) = self.product.start(run)? else {
                break;
            };
            self.run_from(&start)?;
            if !self.product.has_suite() || self.stopped {
                break;
            }
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), Trouble> {
        while !self.is_full()
            && let Some(state) = self.waiting.front().copied()
        {
            let progress = Progress {
                states: self.graph.states(),
                transitions: self.graph.transitions.len(),
                waiting: self.waiting.len(),
            };
            if !(self.proceed)(&progress) {
                self.stopped = true;
                break;
            }
            self.product.leave();
            if self.expand(state)? {
                // New states came in behind it.
                self.waiting.pop_front();
            }
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        let Limits {
            transitions,
            states,
        } = self.limits;
        transitions.is_some_and(|most| self.graph.transitions.len() >= most)
            || states.is_some_and(|most| self.graph.states() >= most)
    }

    /// The number of a state. A new one is looked at, and waits.
    fn meet(&mut self, state: &[Place]) -> Result<u32, Trouble> {
        let too_many = || Error::new("there are more states than can be numbered");
        let (number, is_new) = self.graph.number(state).ok_or_else(too_many)?;
        if is_new {
            self.waiting.push_back(number);
            self.expander.announce(self.product, state);
            if self.product.is_accepting(state) {
                self.graph.accepting.push(number);
            }
            if !self.product.is_safe(state) {
                self.graph.not_safe.push(number);
            }
        }
        Ok(number)
    }

    /// Records what is possible in a state; false if there was no room for all of it.
    fn expand(&mut self, state: u32) -> Result<bool, Trouble> {
        let places = self.graph.state(state).to_vec();
        let moves = self.expander.moves(self.product, &places)?;
        if moves.is_empty() {
            if self.product.is_accepting(&places) {
                self.graph.finished.push(state)
            } else {
                self.graph.dead_ends.push(state)
            }
        }
        for one in moves {
            if self.is_full() {
                return Ok(false);
            }
            let to = self.meet(&one.to)?;
            let label = self.graph.number_of_label(one.label);
            self.graph.transitions.push(Transition {
                from: state,
                label,
                to,
            });
        }
        Ok(true)
    }
}
