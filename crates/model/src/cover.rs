//! Suites that are made before testing, from an explored graph.
//!
//! A lamp that can be switched on, made brighter, and switched off again in both ways, is covered by a run of five steps:
//! it has to be switched on twice.
//!
//! ```
//! use testwright_core::product::Product;
//! use testwright_core::toys::Machine;
//! use testwright_model::{CoverPlan, Goal, Limits, cover, explore};
//!
//! let mut words = Machine::words();
//! let lines = ["off on lit", "lit up bright", "bright out off", "lit out off"];
//! let lamp = Machine::program(&mut words, "lamp", &lines);
//! let mut lamp = Product::new(words, vec![Box::new(lamp)]);
//! let graph = explore(&mut lamp, &Limits::default(), &mut |_| true).graph;
//! let suite = cover(&graph, &CoverPlan::new(Goal::Transitions));
//! assert_eq!((suite.runs.len(), suite.runs[0].len()), (1, 5));
//! assert_eq!((suite.covered, suite.all), (4, 4));
//! ```
//!
//! How: [`Goal::Transitions`] and [`Goal::Pairs`] are tours (`tour`) of a `network`, whose cost is the least because that
//! of a `flow` is. [`Goal::Actions`], [`Goal::Labels`] and [`Goal::States`] go to what is nearest (`nearest`). All goals
//! work on the part of the graph that runs can use (`ground`), and know what is to be covered as numbers (`targets`).
//! Tours that are too long are cut (`cut`).

mod chance;
mod cut;
mod flow;
mod ground;
mod lists;
mod nearest;
mod network;
mod shortest;
mod targets;
mod tour;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod sample;

use testwright_core::product::NameId;

use crate::Graph;
use ground::Ground;
use targets::{Tally, Targets};

/// What it costs to begin a run, in the unit of [`CoverPlan::costs`]: as much as a step by default. So a suite has
/// fewer runs where they do not need more steps.
pub const RUN_COST: u64 = 1;

/// What a suite should cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Every name of an action.
    Actions,
    /// Every name with arguments and result.
    Labels,
    /// Every state.
    States,
    /// Every transition, at the least cost.
    Transitions,
    /// Every two transitions that can follow each other, and those that nothing follows or precedes, at the least cost.
    /// At a state, these are as many as the transitions that enter it times those that leave it.
    Pairs,
    /// Every state by a shortest way. A way on which another one begins is left out.
    Shortest,
    /// As chance has it.
    Random {
        /// How many runs there are. They begin at the starts in turn.
        runs: usize,
        /// How many steps chance takes in each, unless nothing is possible before.
        steps: usize,
    },
}

/// What suite to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverPlan {
    /// What to cover.
    pub goal: Goal,
    /// How many steps a run should have at most. It has more only if it comes to something that no shorter run can
    /// cover. Runs are ended where they may end, and what is left is covered by others, at a cost that is no longer the
    /// least. For [`Goal::Shortest`] ways with fewer steps are then shorter, whatever they cost.
    pub longest: Option<usize>,
    /// Every run ends in an accepting state. What leads to none is not covered. Otherwise runs end anywhere.
    pub end_accepting: bool,
    /// What each transition costs: 1 by default and where the list is too short. More than 2⁴⁰ counts as that.
    pub costs: Option<Vec<u64>>,
    /// For [`Goal::Random`], how likely each transition is compared with the others that leave the same state: 1 by
    /// default and where the list is too short. With 0 it is never taken.
    pub weights: Option<Vec<u64>>,
    /// Where chance begins.
    pub seed: u64,
}

impl CoverPlan {
    /// Runs of any length that end in accepting states.
    pub fn new(goal: Goal) -> CoverPlan {
        CoverPlan {
            goal,
            longest: None,
            end_accepting: true,
            costs: None,
            weights: None,
            seed: 0,
        }
    }

    fn cost_of(&self, transition: usize) -> u64 {
        one_of(&self.costs, transition)
    }

    fn weight_of(&self, transition: usize) -> u64 {
        one_of(&self.weights, transition)
    }
}

fn one_of(list: &Option<Vec<u64>>, transition: usize) -> u64 {
    let given = list.as_ref().and_then(|list| list.get(transition));
    given.copied().unwrap_or(1)
}

/// Something to be covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// A name of an action.
    Action(NameId),
    /// A place in [`Graph::labels`].
    Label(u32),
    /// A state.
    State(u32),
    /// A place in [`Graph::transitions`].
    Transition(u32),
    /// Two transitions, one right after the other.
    Pair(u32, u32),
}

/// Why no run covers something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// No run comes there, or chance never takes it since it has no weight.
    NoWay,
    /// A run that comes there does not come to an accepting state any more.
    NoEnd,
}

/// Something that no run can cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unreachable {
    /// What it is.
    pub target: Target,
    /// Why.
    pub reason: Reason,
}

/// A suite.
///
/// # Laws
/// - Each run is a path from one of [`Graph::starts`].
/// - To cover states there may be runs without steps: one for each start that no other run comes by, in their order.
/// - But for [`Goal::Random`], what is not covered is unreachable.
/// - The same graph and plan give the same suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover {
    /// The runs, as places in [`Graph::transitions`].
    pub runs: Vec<Vec<u32>>,
    /// How many of the targets the runs cover. Those of [`Goal::Shortest`] are the states, and those of
    /// [`Goal::Random`] the transitions.
    pub covered: usize,
    /// How many targets there are.
    pub all: usize,
    /// What all steps cost, and [`RUN_COST`] for each run.
    pub cost: u64,
    /// What no run can cover, in the order of its numbers.
    pub unreachable: Vec<Unreachable>,
    /// Whether certainly no suite with the same goal costs less: for [`Goal::Transitions`] and [`Goal::Pairs`] where
    /// no run had to be cut, and the graph was small enough to be exact.
    pub is_least: bool,
}

/// How many pairs of transitions [`Goal::Pairs`] would have to cover, before asking for them: a dense graph has so many
/// that there is no memory for the suite.
pub fn pairs(graph: &Graph) -> u64 {
    let mut leaving = vec![0u64; graph.states()];
    for transition in &graph.transitions {
        leaving[transition.from as usize] += 1;
    }
    let after = graph.transitions.iter();
    after.map(|one| leaving[one.to as usize]).sum()
}

/// Makes a suite that covers as much as possible of what the plan asks for.
///
/// Tours cost the least. They take less than a second for most graphs of some ten thousand transitions, and some seconds
/// for hundreds of thousands. There, finding the very least would take much longer than finding nearly as little: after
/// a certain amount of work the rest is covered by a new run for each way that is missing, and [`Cover::is_least`] is
/// false. The amount is counted and not timed, so that a suite does not depend on the machine. The steps of a tour can
/// be many more than there are transitions, if most ways lead back to where runs begin.
pub fn cover(graph: &Graph, plan: &CoverPlan) -> Cover {
    let ground = Ground::new(graph, plan);
    let targets = Targets::new(&ground, plan.goal);
    let (runs, is_least) = match plan.goal {
        Goal::Actions | Goal::Labels | Goal::States => {
            (nearest::runs(&ground, &targets, plan.longest), false)
        }
        Goal::Transitions | Goal::Pairs => {
            let tour = tour::runs(&ground, &targets, flow::WORK);
            cut::runs(&ground, &targets, tour, plan.longest)
        }
        Goal::Shortest => (shortest::runs(&ground), false),
        Goal::Random { runs, steps } => (chance::runs(&ground, plan, runs, steps), false),
    };
    let mut tally = Tally::new(&targets);
    for run in &runs {
        tally.run(&ground, &targets, run);
    }
    let empty = runs.iter().filter(|run| run.is_empty()).count();
    tally.empty_runs(&ground, &targets, empty);
    let cost = runs.iter().fold(0u64, |cost, run| {
        let steps = run.iter().map(|step| plan.cost_of(*step as usize));
        steps.fold(cost.saturating_add(RUN_COST), u64::saturating_add)
    });
    Cover {
        covered: tally.covered(),
        all: targets.all(),
        cost,
        unreachable: targets.unreachable(&ground),
        runs,
        is_least,
    }
}
