//! Systematic exploration: visits every state once, instead of trying tests at random.
//!
//! A random test that passes says little about the tests that were not tried. An exploration can
//! say more: that *every* state of a system was visited and none is wrong, or that every test up to
//! a certain length passes, or that no test at all leads to a given goal. [`Exploration::extent`]
//! tells which of these applies. An exploration that ended early never claims more than it saw.
//!
//! Two jugs of three and five litres have sixteen states, and it takes six steps to measure four litres:
//!
//! ```
//! use testwright_core::explore::{Explorer, StateGoal, ExploreOptions, ExploredExtent};
//! use testwright_core::toys::Jugs;
//!
//! let mut jugs = Jugs::default();
//! let mut explorer = Explorer::new(&mut jugs).with_snapshots().with_fingerprints();
//!
//! // The property of this toy forbids exactly four litres, which is not what we check here.
//! let options = ExploreOptions { check: false, ..ExploreOptions::default() };
//! let all = explorer.explore(&options, &mut ()).unwrap();
//! assert_eq!((all.states, all.extent), (16, ExploredExtent::Everything));
//!
//! let options = ExploreOptions { stop_at_goal: true, ..options };
//! let mut four_litres = StateGoal(|jugs: &mut Jugs| jugs.litres()[1] == 4);
//! let found = explorer.explore(&options, &mut four_litres).unwrap();
//! assert_eq!(found.goals[0].len(), 6);
//! ```
//!
//! # Requirements
//!
//! A system needs nothing beyond [`System`]. Further capabilities make explorations better, and an
//! [`Explorer`] uses them on request:
//!
//! - [`with_fingerprints`](Explorer::with_fingerprints): states can be compared ([`Fingerprint`]),
//!   so each is visited once. Without fingerprints there are as many states as tests, and only
//!   short tests can all be tried.
//! - [`with_snapshots`](Explorer::with_snapshots): states can be restored ([`Snapshot`]). Without
//!   snapshots the exploration resets the system and replays the actions, which is slower the
//!   deeper it gets. Whether snapshots work is [tested](Explorer::probe) first.
//!
//! # Structure
//!
//! There is one loop, in `explore/search.rs`. Breadth first, depth first, iterative deepening and
//! best first differ only in which state comes next (`explore/frontier.rs`). So they all check,
//! count and remember alike.
//!
//! [`temporal`] builds on this: it checks formulas such as `always (request implies eventually
//! grant)`.

use std::convert::Infallible;

use crate::verdict::Caveat;
use crate::{ActionId, Equivalence, Error, Failure, Fingerprint, Snapshot, System, Test};

mod backtrack;
mod confirmation;
mod exploration;
mod frontier;
mod links;
mod search;
pub mod temporal;
mod visited;
mod walker;

pub use backtrack::{BacktrackChoice, Backtracking};
pub use exploration::{Exploration, ExploredExtent, StopReason};

/// The order in which states are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SearchOrder {
    /// States that take fewer steps first. The tests found are the shortest. Needs the most memory.
    #[default]
    BreadthFirst,
    /// The newest state first. Needs little memory, and finds long tests.
    DepthFirst,
    /// Depth first up to one step, then again up to two, and so on. Finds the shortest tests with
    /// little memory, in more time.
    IterativeDeepening,
    /// The states [nearest](ExploreWatcher::distance) to the goal first.
    BestFirst,
}

/// The behavior when no more states can be remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WhenFull {
    /// End the exploration.
    #[default]
    Stop,
    /// Continue without remembering. Depth-first orders with a depth limit follow further states as
    /// if each was new, which covers as much but takes longer. The other orders could never end, so
    /// they look at further states and do not follow them.
    Forget,
}

/// The failures to keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FailurePolicy {
    /// Keep the first failure and stop.
    #[default]
    First,
    /// Keep one test for each kind of failure, as
    /// [`Failure::is_same_as`](crate::Failure::is_same_as) distinguishes them.
    Distinct,
    /// Keep every failing transition.
    All,
}

/// Options of an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExploreOptions {
    /// The order in which states are visited.
    pub order: SearchOrder,
    /// The states that count as one. `None` visits a state once for each test that leads to it.
    pub matching: Option<Equivalence>,
    /// The maximum number of steps per test. Without a limit and without matching, only the watcher
    /// ends an exploration.
    pub depth: Option<usize>,
    /// Check the invariants after every step. As in a replay, the initial state is not checked.
    pub check: bool,
    /// The failures to keep, and whether to continue after one.
    pub failures: FailurePolicy,
    /// Stop at the first goal state.
    pub stop_at_goal: bool,
    /// The maximum number of tests to keep of each kind: failures, deadlocks, goals. All are
    /// counted in any case.
    pub max_tests: usize,
    /// The maximum number of states to remember.
    pub max_states: Option<usize>,
    /// The maximum memory, in bytes, for remembered states, waiting states and the [data of the
    /// watcher](ExploreWatcher::bytes). Snapshots are not counted, since only the system knows
    /// their size.
    pub max_bytes: Option<usize>,
    /// The behavior when the limit of states or bytes is reached.
    pub when_full: WhenFull,
    /// The way to return to states; `None` lets [`Explorer::probe`] choose.
    pub backtracking: Option<Backtracking>,
    /// The maximum number of snapshots to hold at a time. Other states are reached by replaying
    /// actions.
    pub max_snapshots: usize,
}

impl Default for ExploreOptions {
    /// Explores all states breadth first, until the first failure.
    fn default() -> ExploreOptions {
        ExploreOptions {
            order: SearchOrder::BreadthFirst,
            matching: Some(Equivalence::Equal),
            depth: None,
            check: true,
            failures: FailurePolicy::First,
            stop_at_goal: false,
            max_tests: 1_000,
            max_states: None,
            max_bytes: None,
            when_full: WhenFull::Stop,
            backtracking: None,
            max_snapshots: 10_000,
        }
    }
}

impl ExploreOptions {
    /// Returns options that try every test up to a length separately: the *small scope*, in which
    /// most bugs show. States are not matched, so the result does not depend on fingerprints, and
    /// hardly any memory is needed.
    pub fn small_scope(length: usize) -> ExploreOptions {
        ExploreOptions {
            order: SearchOrder::DepthFirst,
            matching: None,
            depth: Some(length),
            ..ExploreOptions::default()
        }
    }
}

/// A state of an exploration: dense, numbered in the order of discovery. The initial state is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub u64);

/// A step from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StateTransition {
    /// The state in which the action was taken.
    pub from: StateId,
    /// The action.
    pub action: ActionId,
    /// The state it led to; `None` if it failed.
    pub to: Option<StateId>,
}

/// The progress of an exploration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExploreProgress {
    /// States visited.
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    /// Steps taken, including those that return to a state.
    pub steps: u64,
    /// The largest number of steps to a state.
    pub depth: usize,
    /// States with actions that were not taken yet.
    pub open_states: usize,
}

/// Observes and steers an exploration: its budget, its goal, and the use of its results. `()` lets
/// it run.
pub trait ExploreWatcher<S: ?Sized> {
    /// Called before each step. Returning `false` ends the exploration.
    fn proceed(&mut self, _progress: &ExploreProgress) -> bool {
        true
    }

    /// Returns true if an enabled action may be taken in the current state of the system.
    fn is_allowed(&mut self, _system: &mut S, _action: ActionId) -> bool {
        true
    }

    /// Returns true if the current state of the system is a goal. Called once per state.
    fn is_goal(&mut self, _system: &mut S) -> bool {
        false
    }

    /// Estimates how far the current state is from the goal. [`SearchOrder::BestFirst`] visits the
    /// nearest states first.
    fn distance(&mut self, _system: &mut S) -> i64 {
        0
    }

    /// Called when an exploration starts, and when it restarts as
    /// [`SearchOrder::IterativeDeepening`] does. Everything reported before is void then.
    fn on_start(&mut self) {}

    /// Called for each new state while the system is in it, before any transition that leads there.
    fn on_state(&mut self, _system: &mut S, _state: StateId, _depth: usize) {}

    /// Called once for each transition, while the system is in the target state.
    fn on_transition(&mut self, _system: &mut S, _transition: &StateTransition) {}

    /// Returns true if a test also fails elsewhere, for example in another process. Called for a
    /// test that failed again after a reset, which may leave something of earlier tests behind. A
    /// failure that is not confirmed is not kept, but a caveat.
    fn is_confirmed(&mut self, _system: &mut S, _test: &Test, _failure: &Failure) -> bool {
        true
    }

    /// Called at once for each failing test that is kept: an exploration that ends in an error
    /// loses what it found.
    fn on_failure(&mut self, _system: &mut S, _test: &Test, _failure: &Failure) {}

    /// Called when all actions of a state were taken, with their number. Not called for states at
    /// the depth limit, unless no action is enabled there.
    fn on_state_finished(&mut self, _state: StateId, _actions: usize) {}

    /// Returns the memory of the data that the watcher collected. It counts towards
    /// [`ExploreOptions::max_bytes`].
    fn bytes(&self) -> usize {
        0
    }
}

impl<S: ?Sized> ExploreWatcher<S> for () {}

/// A watcher that searches for states with a property.
pub struct StateGoal<F>(
    /// Returns true if the system is in such a state.
    pub F,
);

impl<S: ?Sized, F: FnMut(&mut S) -> bool> ExploreWatcher<S> for StateGoal<F> {
    fn is_goal(&mut self, system: &mut S) -> bool {
        (self.0)(system)
    }
}

/// A system to explore, with its optional capabilities.
///
/// `K` is the type of its snapshots; there are none until
/// [`with_snapshots`](Explorer::with_snapshots) is called.
pub struct Explorer<'s, S: ?Sized, K = Infallible> {
    system: &'s mut S,
    snapshots: Option<SnapshotFns<S, K>>,
    fingerprint: Option<FingerprintFn<S>>,
    caveats: Option<fn(&S) -> Vec<Caveat>>,
}

/// A function that fingerprints the current state.
type FingerprintFn<S> = fn(&mut S, Equivalence) -> Result<u128, Error>;

/// The functions that take and restore snapshots.
struct SnapshotFns<S: ?Sized, K> {
    snapshot: fn(&mut S) -> Result<K, Error>,
    restore: fn(&mut S, &K) -> Result<(), Error>,
}

impl<'s, S: System + ?Sized> Explorer<'s, S> {
    /// Creates an explorer without optional capabilities: no state is recognized, and states are
    /// reached by replay.
    pub fn new(system: &'s mut S) -> Explorer<'s, S> {
        Explorer {
            system,
            snapshots: None,
            fingerprint: None,
            caveats: None,
        }
    }

    /// Enables snapshots.
    pub fn with_snapshots(self) -> Explorer<'s, S, S::State>
    where
        S: Snapshot,
    {
        Explorer {
            system: self.system,
            snapshots: Some(SnapshotFns {
                snapshot: S::snapshot,
                restore: S::restore,
            }),
            fingerprint: self.fingerprint,
            caveats: self.caveats,
        }
    }
}

impl<S: System + ?Sized, K> Explorer<'_, S, K> {
    /// Enables fingerprints, so that states are recognized.
    pub fn with_fingerprints(mut self) -> Self
    where
        S: Fingerprint,
    {
        self.fingerprint = Some(S::fingerprint);
        self.caveats = Some(S::caveats);
        self
    }

    /// Returns the system.
    pub fn system(&mut self) -> &mut S {
        self.system
    }

    /// Visits states until there are no more, or a limit or the watcher ends the exploration.
    ///
    /// A failing action is a failure, and so is a failing check after it. Nothing is explored
    /// beyond a failure. Of the equal copies of an action (`*N`) one is taken.
    ///
    /// Returns an error if the result could not be trusted: the system behaves differently when the
    /// same actions are taken again, or states are to be matched but cannot be compared.
    pub fn explore(
        &mut self,
        options: &ExploreOptions,
        watcher: &mut dyn ExploreWatcher<S>,
    ) -> Result<Exploration, Error> {
        search::explore(self, options, watcher)
    }
}

#[cfg(test)]
mod tests;
