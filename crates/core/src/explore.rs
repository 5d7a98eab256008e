//! Visiting every state once, instead of trying tests at random.
//!
//! A random test that passes says little about the tests that were not tried. An exploration can say more: that
//! *every* state of a system was visited and none is wrong, or that every test up to a certain length passes, or that
//! there is no test at all that leads to what somebody looks for. [`Exploration::reach`] says which of these it was,
//! and an exploration that did not come to its end never claims more than it saw.
//!
//! Two jugs of three and five litres have sixteen states, and it takes six steps to measure four litres:
//!
//! ```
//! use testwright_core::explore::{Explorer, Goal, Plan, Reach};
//! use testwright_core::toys::Jugs;
//!
//! let mut jugs = Jugs::default();
//! let mut explorer = Explorer::of(&mut jugs).with_copies().with_fingerprints();
//!
//! // The property of this toy says that nobody measures four litres, which is not what we want to know now.
//! let plan = Plan { check: false, ..Plan::default() };
//! let all = explorer.explore(&plan, &mut ()).unwrap();
//! assert_eq!((all.states, all.reach), (16, Reach::Everything));
//!
//! let plan = Plan { stop_at_goal: true, ..plan };
//! let mut four_litres = Goal(|jugs: &mut Jugs| jugs.litres()[1] == 4);
//! let found = explorer.explore(&plan, &mut four_litres).unwrap();
//! assert_eq!(found.goals[0].len(), 6);
//! ```
//!
//! # What a system must be able to do
//!
//! Nothing beyond [`System`]. What it can do in addition makes explorations better, and an [`Explorer`] is told so:
//!
//! - [`with_fingerprints`](Explorer::with_fingerprints): states can be told apart ([`Fingerprint`]), so each is visited
//!   once. Without, there are as many states as tests, and only short tests can all be tried.
//! - [`with_copies`](Explorer::with_copies): states can be gone back to ([`Snapshot`]). Without, the exploration resets
//!   the system and takes the actions again, which is slower the deeper it gets. Whether copies work is
//!   [tried out](Explorer::probe) first.
//!
//! # One loop
//!
//! There is one loop, in `explore/search.rs`. Breadth first, depth first, iterative deepening and best first differ
//! in which state comes next (`explore/frontier.rs`), and in nothing else. So they all check, count and remember alike.
//!
//! [`temporal`] builds on this: it judges formulas such as `always (request implies eventually grant)`.

use std::convert::Infallible;

use crate::{ActionId, Error, Failure, Fingerprint, Likeness, Snapshot, System, Test};

mod exploration;
mod frontier;
mod going_back;
mod links;
mod search;
pub mod temporal;
mod visited;
mod walker;

pub use exploration::{Exploration, Reach, Reason};
pub use going_back::{Choice, GoingBack};

/// In which order to visit states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Those that take fewer steps first: the tests that are found are shortest ones. Needs the most memory.
    #[default]
    BreadthFirst,
    /// Always onwards from the newest. Needs little memory, and finds long tests.
    DepthFirst,
    /// Depth first up to one step, then anew up to two, and so on: shortest tests with little memory, in more time.
    IterativeDeepening,
    /// Those first that are [nearest](ExploreWatcher::distance) to what is looked for.
    BestFirst,
}

/// What to do when no more states can be remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WhenFull {
    /// End the exploration.
    #[default]
    Stop,
    /// Go on without remembering. Depth-first orders with a depth limit follow further states as if each was new, which
    /// covers as much as before but takes longer. The others cannot know when to end, so they look at further states
    /// and do not follow them.
    Forget,
}

/// Which failures to keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Failures {
    /// The first, and then stop.
    #[default]
    First,
    /// One test for each kind of failure, as [`Failure::is_same_as`](crate::Failure::is_same_as) tells them apart.
    Distinct,
    /// Every transition that fails.
    All,
}

/// How to explore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// In which order to visit states.
    pub order: Order,
    /// Which states count as one; `None` visits a state again and again, once for each test that leads there.
    pub matching: Option<Likeness>,
    /// How many steps a test may have. Without a limit, and without matching, nothing but the watcher ends an exploration.
    pub depth: Option<usize>,
    /// Check the invariants after every step. As in a replay, nobody checks the initial state.
    pub check: bool,
    /// Which failures to keep, and whether to go on after one.
    pub failures: Failures,
    /// Stop at the first state that the watcher looks for.
    pub stop_at_goal: bool,
    /// How many tests to keep of each kind: failures, deadlocks, goals. They are counted in any case.
    pub most_tests: usize,
    /// How many states to remember.
    pub most_states: Option<usize>,
    /// How much memory to take for remembering states, those that wait, and what the watcher [keeps of
    /// them](ExploreWatcher::bytes). Copies are not counted, for nobody but the system knows how large they are.
    pub most_bytes: Option<usize>,
    /// What to do when there are no more states or bytes left.
    pub when_full: WhenFull,
    /// How to go back; without a choice, [`Explorer::probe`] tries what works.
    pub going_back: Option<GoingBack>,
    /// How many copies of states to hold at a time. Other states are reached by taking actions again.
    pub most_copies: usize,
}

impl Default for Plan {
    /// Breadth first over all states, until the first failure.
    fn default() -> Plan {
        Plan {
            order: Order::BreadthFirst,
            matching: Some(Likeness::Equal),
            depth: None,
            check: true,
            failures: Failures::First,
            stop_at_goal: false,
            most_tests: 1_000,
            most_states: None,
            most_bytes: None,
            when_full: WhenFull::Stop,
            going_back: None,
            most_copies: 10_000,
        }
    }
}

impl Plan {
    /// Every test up to a length, each run for itself: the *small scope*, in which most bugs show. States are not
    /// matched, so the answer does not depend on fingerprints, and hardly any memory is needed.
    pub fn small_scope(length: usize) -> Plan {
        Plan {
            order: Order::DepthFirst,
            matching: None,
            depth: Some(length),
            ..Plan::default()
        }
    }
}

/// A state of an exploration: dense, numbered in the order of discovery. The initial state is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub u64);

/// A step from a state to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Transition {
    /// The state in which the action was taken.
    pub from: StateId,
    /// The action.
    pub action: ActionId,
    /// The state it led to; `None` if it failed.
    pub to: Option<StateId>,
}

/// How far an exploration has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// States visited.
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    /// Steps taken, those to get back to a state included.
    pub steps: u64,
    /// The most steps to a state.
    pub depth: usize,
    /// States whose actions are not all taken.
    pub open: usize,
}

/// Looks after an exploration: its budget, what it looks for, and what to make of it. `()` just lets it run.
pub trait ExploreWatcher<S: ?Sized> {
    /// Asked before each step; `false` ends the exploration.
    fn proceed(&mut self, _progress: &Progress) -> bool {
        true
    }

    /// Whether to take an action that is enabled in the system as it is now.
    fn allows(&mut self, _system: &mut S, _action: ActionId) -> bool {
        true
    }

    /// Whether the system is now in a state to look for. Asked once for each state.
    fn is_goal(&mut self, _system: &mut S) -> bool {
        false
    }

    /// A guess of how far the system as it is now is from what is looked for: [`Order::BestFirst`] visits those first
    /// that are nearest.
    fn distance(&mut self, _system: &mut S) -> i64 {
        0
    }

    /// Told when an exploration begins, or begins anew as [`Order::IterativeDeepening`] does: what was told before does
    /// not count any more.
    fn started(&mut self) {}

    /// Told of each new state, while the system is in it, before any transition that leads there.
    fn entered(&mut self, _system: &mut S, _state: StateId, _depth: usize) {}

    /// Told of each transition once, while the system is where it led to.
    fn took(&mut self, _system: &mut S, _transition: &Transition) {}

    /// Told of each failing test that is kept, at once: an exploration that ends in an error loses what it found.
    fn failed(&mut self, _system: &mut S, _test: &Test, _failure: &Failure) {}

    /// Told when all actions of a state were taken, and how many there were. Not told of states at the depth limit,
    /// unless no action was enabled.
    fn finished(&mut self, _state: StateId, _actions: usize) {}

    /// The memory that the watcher takes because of what it was told: it counts towards [`Plan::most_bytes`].
    fn bytes(&self) -> usize {
        0
    }
}

impl<S: ?Sized> ExploreWatcher<S> for () {}

/// Looks for states that satisfy a predicate.
pub struct Goal<F>(
    /// Whether the system is in such a state.
    pub F,
);

impl<S: ?Sized, F: FnMut(&mut S) -> bool> ExploreWatcher<S> for Goal<F> {
    fn is_goal(&mut self, system: &mut S) -> bool {
        (self.0)(system)
    }
}

/// A system, and what it can do beyond being one.
///
/// `K` is the type of copies of its states; there are none until [`with_copies`](Explorer::with_copies) says so.
pub struct Explorer<'s, S: ?Sized, K = Infallible> {
    system: &'s mut S,
    copying: Option<Copying<S, K>>,
    fingerprint: Option<TellApart<S>>,
}

/// How to tell states apart.
type TellApart<S> = fn(&mut S, Likeness) -> Result<u128, Error>;

/// How to copy a state and go back to it.
struct Copying<S: ?Sized, K> {
    snapshot: fn(&mut S) -> Result<K, Error>,
    restore: fn(&mut S, &K) -> Result<(), Error>,
}

impl<'s, S: System + ?Sized> Explorer<'s, S> {
    /// A system of which nothing more is known: no state is recognised, and going back is by replay.
    pub fn of(system: &'s mut S) -> Explorer<'s, S> {
        Explorer {
            system,
            copying: None,
            fingerprint: None,
        }
    }

    /// The system can copy its state.
    pub fn with_copies(self) -> Explorer<'s, S, S::State>
    where
        S: Snapshot,
    {
        Explorer {
            system: self.system,
            copying: Some(Copying {
                snapshot: S::snapshot,
                restore: S::restore,
            }),
            fingerprint: self.fingerprint,
        }
    }
}

impl<S: System + ?Sized, K> Explorer<'_, S, K> {
    /// The system can tell its states apart.
    pub fn with_fingerprints(mut self) -> Self
    where
        S: Fingerprint,
    {
        self.fingerprint = Some(S::fingerprint);
        self
    }

    /// The system.
    pub fn system(&mut self) -> &mut S {
        self.system
    }

    /// Visits states, until there are no more or the plan or the watcher says to stop.
    ///
    /// An action that fails is a failure, and so is a check after it; what would follow is not explored. Of the equal
    /// copies of an action (`*N`) one is taken.
    ///
    /// An error means that there is nothing to rely on: the system does something else when the same actions are taken
    /// a second time, or states are to be matched that cannot be told apart.
    pub fn explore(
        &mut self,
        plan: &Plan,
        watcher: &mut dyn ExploreWatcher<S>,
    ) -> Result<Exploration, Error> {
        search::explore(self, plan, watcher)
    }
}

#[cfg(test)]
mod tests;
