//! Suites that cover a goal, made from an explored graph before testing.
//!
//! This lamp can be switched on, made brighter, and switched off from both states. A run of five
//! steps covers its four transitions: it has to be switched on twice.
//!
//! ```
//! use testwright_core::product::Product;
//! use testwright_core::toys::ToyMachine;
//! use testwright_model::{CoverGoal, CoverPlan, GraphLimits, compute_suite, explore};
//!
//! let mut interner = ToyMachine::interner();
//! let lines = ["off on lit", "lit up bright", "bright out off", "lit out off"];
//! let lamp = ToyMachine::program(&mut interner, "lamp", &lines);
//! let mut lamp = Product::new(interner, vec![Box::new(lamp)]);
//! let graph = explore(&mut lamp, &GraphLimits::default(), &mut |_| true).graph;
//! let suite = compute_suite(&graph, &CoverPlan::new(CoverGoal::Transitions));
//! assert_eq!((suite.runs.len(), suite.runs[0].len()), (1, 5));
//! assert_eq!((suite.covered, suite.total), (4, 4));
//! ```
//!
//! # Algorithms
//!
//! - [`CoverGoal::Transitions`] and [`CoverGoal::Pairs`]: tours (`tour`) of a `network`. Their cost
//!   is minimal because that of a `flow` is. Tours that are too long are cut (`cut`).
//! - [`CoverGoal::Actions`], [`CoverGoal::Labels`] and [`CoverGoal::States`]: greedy search for the
//!   nearest target (`nearest`).
//! - [`CoverGoal::Shortest`]: shortest paths (`shortest`). [`CoverGoal::Random`]: `random_runs`.
//!
//! All of them work on the part of the graph that runs can use (`usable_graph`), and number what
//! has to be covered (`targets`).

mod cut;
mod flow;
mod lists;
mod nearest;
mod network;
mod random_runs;
mod shortest;
mod targets;
mod tour;
mod usable_graph;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod sample;

use testwright_core::product::NameId;

use crate::ProductGraph;
use targets::{CoveredTargets, Targets};
use usable_graph::UsableGraph;

/// Cost of beginning a run, in the unit of [`CoverPlan::costs`]: as much as a step by default. So a
/// suite has few runs unless more runs save steps.
pub const RUN_COST: u64 = 1;

/// Criterion that a suite has to fulfil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoverGoal {
    /// Every action name.
    Actions,
    /// Every step: an action name with arguments and result.
    Labels,
    /// Every state.
    States,
    /// Every transition, at the least cost.
    Transitions,
    /// Every pair of adjacent transitions, and each transition that has no neighbor, at the least
    /// cost. A state has as many pairs as transitions that enter it times transitions that leave
    /// it.
    Pairs,
    /// Every state by a shortest path. A path that is the beginning of another is left out.
    Shortest,
    /// Random runs.
    Random {
        /// Number of runs. They begin at the start states in turn.
        runs: usize,
        /// Number of random steps in each run, unless no step is possible earlier.
        steps: usize,
    },
}

/// Description of the suite to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverPlan {
    /// Criterion that the suite has to fulfil.
    pub goal: CoverGoal,
    /// Maximum number of steps in a run. A run is longer only if it reaches a target that no
    /// shorter run can cover. Longer runs are ended in a state where they may end, and other runs
    /// cover the rest, at a cost that is no longer minimal. For [`CoverGoal::Shortest`], paths with
    /// fewer steps then count as shorter, whatever they cost.
    pub max_steps: Option<usize>,
    /// True if every run must end in an accepting state. Targets from which none can be reached are
    /// not covered then. If false, runs end anywhere.
    pub end_accepting: bool,
    /// Cost of each transition. It is 1 by default and beyond the end of the list, and at most 2⁴⁰.
    pub costs: Option<Vec<u64>>,
    /// For [`CoverGoal::Random`], the probability of each transition relative to the others that
    /// leave the same state. It is 1 by default and beyond the end of the list. A transition with
    /// weight 0 is never taken.
    pub weights: Option<Vec<u64>>,
    /// Seed of the random runs.
    pub seed: u64,
}

impl CoverPlan {
    /// Creates a plan for runs of any length that end in accepting states.
    pub fn new(goal: CoverGoal) -> CoverPlan {
        CoverPlan {
            goal,
            max_steps: None,
            end_accepting: true,
            costs: None,
            weights: None,
            seed: 0,
        }
    }

    /// Returns the cost of a transition.
    fn transition_cost(&self, transition: usize) -> u64 {
        value_or_one(&self.costs, transition)
    }

    /// Returns the weight of a transition.
    fn transition_weight(&self, transition: usize) -> u64 {
        value_or_one(&self.weights, transition)
    }
}

/// Returns a value of a list, or 1 if it is missing.
fn value_or_one(list: &Option<Vec<u64>>, transition: usize) -> u64 {
    let given = list.as_ref().and_then(|list| list.get(transition));
    given.copied().unwrap_or(1)
}

/// Something to be covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoverTarget {
    /// An action name.
    Action(NameId),
    /// A step, as an index into [`ProductGraph::labels`].
    Label(u32),
    /// A state.
    State(u32),
    /// A transition, as an index into [`ProductGraph::transitions`].
    Transition(u32),
    /// Two transitions, one right after the other.
    Pair(u32, u32),
}

/// Reason for which no run covers a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnreachableReason {
    /// No run reaches the target, or its weight is 0 and runs are random.
    NoPath,
    /// No accepting state can be reached after the target.
    NoEnd,
}

/// A target that no run can cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnreachableTarget {
    /// The target.
    pub target: CoverTarget,
    /// The reason.
    pub reason: UnreachableReason,
}

/// A suite made from a graph.
///
/// # Laws
/// - Each run is a path from one of [`ProductGraph::starts`].
/// - To cover states there may be runs without steps: one for each start state that no other run
///   visits, in their order.
/// - Except for [`CoverGoal::Random`], every target that is not covered is unreachable.
/// - The same graph and plan give the same suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveringSuite {
    /// Runs, as indices into [`ProductGraph::transitions`].
    pub runs: Vec<Vec<u32>>,
    /// Number of covered targets. The targets of [`CoverGoal::Shortest`] are the states, and those
    /// of [`CoverGoal::Random`] the transitions.
    pub covered: usize,
    /// Number of targets.
    pub total: usize,
    /// Cost of all steps, plus [`RUN_COST`] for each run.
    pub cost: u64,
    /// Targets that no run can cover, in the order of their numbers.
    pub unreachable: Vec<UnreachableTarget>,
    /// True if certainly no suite with the same goal costs less. This holds for
    /// [`CoverGoal::Transitions`] and [`CoverGoal::Pairs`] if no run had to be cut and the graph
    /// was small enough for an exact solution.
    pub is_optimal: bool,
}

/// Counts the pairs that [`CoverGoal::Pairs`] would have to cover. Call it first: a dense graph has
/// so many pairs that the suite does not fit into memory.
pub fn count_pairs(graph: &ProductGraph) -> u64 {
    let mut leaving = vec![0u64; graph.states()];
    for transition in &graph.transitions {
        leaving[transition.from as usize] += 1;
    }
    let after = graph.transitions.iter();
    after.map(|one| leaving[one.to as usize]).sum()
}

/// Makes a suite that covers as much as possible of the plan's goal.
///
/// Tours cost the least. They take less than a second for most graphs with some ten thousand
/// transitions, and some seconds for hundreds of thousands. For those, the exact minimum would take
/// much longer than a result that is nearly as good. So after a certain amount of work, a new run
/// covers each path that is still missing, and [`CoveringSuite::is_optimal`] is false. The work is
/// counted and not timed, so that a suite does not depend on the machine. A tour can have many more
/// steps than there are transitions, if most paths lead back to the start.
pub fn compute_suite(graph: &ProductGraph, plan: &CoverPlan) -> CoveringSuite {
    let usable = UsableGraph::new(graph, plan);
    let targets = Targets::new(&usable, plan.goal);
    let (runs, is_optimal) = match plan.goal {
        CoverGoal::Actions | CoverGoal::Labels | CoverGoal::States => {
            (nearest::runs(&usable, &targets, plan.max_steps), false)
        }
        CoverGoal::Transitions | CoverGoal::Pairs => {
            let tour = tour::runs(&usable, &targets, flow::MAX_WORK);
            cut::cut_runs(&usable, &targets, tour, plan.max_steps)
        }
        CoverGoal::Shortest => (shortest::runs(&usable), false),
        CoverGoal::Random { runs, steps } => (random_runs::runs(&usable, plan, runs, steps), false),
    };
    let mut coverage = CoveredTargets::new(&targets);
    for run in &runs {
        coverage.mark_run(&usable, &targets, run);
    }
    let empty = runs.iter().filter(|run| run.is_empty()).count();
    coverage.mark_empty_runs(&usable, &targets, empty);
    let cost = runs.iter().fold(0u64, |cost, run| {
        let steps = run.iter().map(|step| plan.transition_cost(*step as usize));
        steps.fold(cost.saturating_add(RUN_COST), u64::saturating_add)
    });
    CoveringSuite {
        covered: coverage.covered(),
        total: targets.count(),
        cost,
        unreachable: targets.find_unreachable(&usable),
        runs,
        is_optimal,
    }
}
