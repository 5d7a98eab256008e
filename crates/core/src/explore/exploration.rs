//! The result of an exploration.

use std::fmt;

use super::links::Links;
use super::visited::VisitedStates;
use super::{BacktrackChoice, StateId};
use crate::verdict::{Caveat, ReachedLimit, Verdict, VerdictExtent};
use crate::{Equivalence, Failure, Test};

/// The result of an exploration.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// The number of states visited, including the initial one. Without matching, every test leads
    /// to a state of its own. If memory was full ([`forgot_states`](Exploration::forgot_states)),
    /// some states count more than once.
    pub states: u64,
    /// The number of transitions taken, including those that failed. A transition that was replayed
    /// to return to a state counts once.
    pub transitions: u64,
    /// The number of steps taken in all.
    pub steps: u64,
    /// The largest number of steps from the initial state to a state, on the path by which it was
    /// reached.
    pub depth: usize,
    /// The part of the system that was covered.
    pub extent: ExploredExtent,
    /// Tests that fail, in the order in which they were found.
    pub failures: Vec<(Test, Failure)>,
    /// The number of failing transitions: usually more than are kept in `failures`.
    pub failure_count: u64,
    /// Tests that lead to states in which no action is enabled, in the order in which they were found.
    pub deadlocks: Vec<Test>,
    /// The number of such states: more than `deadlocks` if only some tests were kept.
    pub deadlock_count: u64,
    /// Tests that lead to goal states, in the order in which they were found.
    pub goals: Vec<Test>,
    /// The number of such states.
    pub goal_count: u64,
    /// The states that counted as one; `None` if states were not matched.
    pub matching: Option<Equivalence>,
    /// True if memory was full and states were no longer remembered, so that some were visited more
    /// than once.
    pub forgot_states: bool,
    /// The way in which the exploration returned to states, and the reason for it.
    pub backtracking: BacktrackChoice,
    /// The parts that the result leaves open, besides the [caveats of the
    /// system](crate::Fingerprint::caveats).
    pub caveats: Vec<Caveat>,
    /// The memory, in bytes, of the remembered states, the paths to them and the data of the
    /// watcher. Snapshots are not included.
    pub bytes: usize,
    pub(super) paths: StatePaths,
}

/// The part of a system that an exploration covered.
///
/// All of this refers to passing steps. Nothing is known about what would follow a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExploredExtent {
    /// Every reachable state. Anything that was not found does not exist.
    Everything,
    /// Every test up to this length. There are longer ones.
    Length(usize),
    /// Only a part, since the exploration ended early.
    Partial {
        /// The reason for the end.
        reason: StopReason,
        /// Every test up to this length was still covered.
        length: usize,
    },
}

/// The reason why an exploration ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// The watcher stopped it.
    Stopped,
    /// The user interrupted it while the system was running.
    Interrupted,
    /// A failure was found, and one was enough.
    FailureFound,
    /// A goal was found, and one was enough.
    GoalFound,
    /// No more states could be remembered.
    MemoryFull,
}

impl Exploration {
    /// Returns the evidence for "there are no more states, failures and goals than these".
    ///
    /// An exploration that its watcher stopped counts as interrupted: only the watcher knows the
    /// reason.
    pub fn verdict(&self) -> Verdict {
        let mut verdict = Verdict::new(match self.extent {
            ExploredExtent::Partial {
                reason: StopReason::Stopped | StopReason::Interrupted,
                ..
            } => VerdictExtent::Interrupted,
            _ => VerdictExtent::Complete,
        });
        let limit = match self.extent {
            ExploredExtent::Length(length) => Some(ReachedLimit::Depth(length)),
            ExploredExtent::Partial { reason, .. } => reason.limit(),
            ExploredExtent::Everything => None,
        };
        limit.into_iter().for_each(|limit| verdict.add_limit(limit));
        if self.failure_count > 0 && limit != Some(ReachedLimit::Failure) {
            verdict.add_limit(ReachedLimit::AfterFailure);
        }
        verdict.add_caveats(self.caveats.iter().cloned());
        verdict
    }

    /// Returns true if every reachable state was visited.
    pub fn is_complete(&self) -> bool {
        self.extent == ExploredExtent::Everything
    }

    /// Returns the number of tests that were run, without the empty one. `None` if states were
    /// matched, since tests are not run separately then.
    pub fn tests(&self) -> Option<u64> {
        match self.matching {
            None => Some(self.transitions),
            Some(_) => None,
        }
    }

    /// Returns the test that leads to a state, if the exploration remembers it. It is a shortest
    /// one if the order was breadth first.
    pub fn test_to(&self, state: StateId) -> Option<Test> {
        self.paths.test_to(state)
    }
}

impl StopReason {
    /// Returns the limit that was reached, if it was one.
    fn limit(self) -> Option<ReachedLimit> {
        match self {
            StopReason::Stopped | StopReason::Interrupted => None,
            StopReason::FailureFound => Some(ReachedLimit::Failure),
            StopReason::GoalFound => Some(ReachedLimit::Goal),
            StopReason::MemoryFull => Some(ReachedLimit::Memory),
        }
    }
}

impl fmt::Display for ExploredExtent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExploredExtent::Everything => out.write_str("every state that can be reached"),
            ExploredExtent::Length(length) => write!(out, "every test of up to {length} steps"),
            ExploredExtent::Partial { reason, length: 0 } => write!(out, "not all: {reason}"),
            ExploredExtent::Partial { reason, length } => {
                write!(
                    out,
                    "every test of up to {length} steps, then not all: {reason}"
                )
            }
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            StopReason::Stopped => "it was stopped",
            StopReason::Interrupted => "it was interrupted",
            StopReason::FailureFound => "a failure was found",
            StopReason::GoalFound => "a goal was found",
            StopReason::MemoryFull => "there was no room to remember more states",
        })
    }
}

/// The paths to the states.
#[derive(Clone, Default)]
pub(super) struct StatePaths {
    pub(super) links: Option<Links>,
    pub(super) visited: Option<VisitedStates>,
}

impl fmt::Debug for StatePaths {
    /// Writes only the number of paths, since there may be millions.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.links.as_ref().map_or(0, Links::len);
        out.debug_tuple("StatePaths").field(&count).finish()
    }
}

impl StatePaths {
    /// Returns the test that leads to a state, if its path is remembered.
    fn test_to(&self, state: StateId) -> Option<Test> {
        let links = self.links.as_ref()?;
        let number = u32::try_from(state.0).ok()?;
        let visit = match &self.visited {
            Some(visited) if (number as usize) < visited.len() => visited.visit(number),
            Some(_) => return None,
            None => number,
        };
        ((visit as usize) < links.len()).then(|| links.test_to(visit, &[]))
    }
}
