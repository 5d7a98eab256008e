//! What an exploration came to, and how much it covers.

use std::fmt;

use super::links::Links;
use super::visited::Visited;
use super::{Choice, StateId};
use crate::{Failure, Likeness, Test};

/// What an exploration came to.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// How many states were visited, the initial one included. Without matching every test leads to a state of its
    /// own, and after [`forgot`](Exploration::forgot) some count more than once.
    pub states: u64,
    /// How many transitions were taken between them, those that failed included. A transition that had to be taken
    /// again, to go back to a state, counts once.
    pub transitions: u64,
    /// How many steps were taken in all.
    pub steps: u64,
    /// The most steps from the initial state to a state, on the way on which it was reached.
    pub depth: usize,
    /// How much of the system this covers.
    pub reach: Reach,
    /// Tests that fail, in the order in which they were found.
    pub failures: Vec<(Test, Failure)>,
    /// How many transitions failed: usually more than are kept in `failures`.
    pub failing: u64,
    /// Tests that lead to states in which no action is enabled, in the order in which they were found.
    pub deadlocks: Vec<Test>,
    /// How many such states there are: more than `deadlocks` if only some tests were to be kept.
    pub deadlocked: u64,
    /// Tests that lead to states the watcher looked for, in the order in which they were found.
    pub goals: Vec<Test>,
    /// How many such states there are.
    pub reached: u64,
    /// Which states counted as one; `None` if none did.
    pub matching: Option<Likeness>,
    /// Memory was full and states were no longer remembered, so that some were visited more than once.
    pub forgot: bool,
    /// How the exploration got back to states, and why in this way.
    pub going_back: Choice,
    /// The memory that remembering the states took, the ways to them and what the watcher kept, but not the copies of
    /// states.
    pub bytes: usize,
    pub(super) paths: Paths,
}

/// How much of a system an exploration covers.
///
/// All of this is about steps that pass. Nothing is known of what would follow a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Every state that can be reached at all. So what was not found does not exist.
    Everything,
    /// Every test up to this length; there are longer ones.
    Length(usize),
    /// Not all, since the exploration ended early.
    Partial {
        /// Why it ended.
        because: Reason,
        /// Every test up to this length is covered all the same.
        length: usize,
    },
}

/// Why an exploration ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The watcher said so.
    Stopped,
    /// The person at the keyboard said so while the system was at work.
    Interrupted,
    /// A failure was found, and one is enough.
    FailureFound,
    /// What was looked for was found, and once is enough.
    GoalFound,
    /// No more states could be remembered.
    MemoryFull,
}

impl Exploration {
    /// Whether every state that can be reached was visited.
    pub fn is_complete(&self) -> bool {
        self.reach == Reach::Everything
    }

    /// How many tests were run, the empty one not included, if each was run for itself: without matching.
    pub fn tests(&self) -> Option<u64> {
        match self.matching {
            None => Some(self.transitions),
            Some(_) => None,
        }
    }

    /// The test that leads to a state, if the exploration remembers it. It is a shortest one if the order was breadth
    /// first.
    pub fn test_to(&self, state: StateId) -> Option<Test> {
        self.paths.test_to(state)
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reach::Everything => out.write_str("every state that can be reached"),
            Reach::Length(length) => write!(out, "every test of up to {length} steps"),
            Reach::Partial { because, length: 0 } => write!(out, "not all: {because}"),
            Reach::Partial { because, length } => {
                write!(
                    out,
                    "every test of up to {length} steps, then not all: {because}"
                )
            }
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Reason::Stopped => "it was stopped",
            Reason::Interrupted => "it was interrupted",
            Reason::FailureFound => "a failure was found",
            Reason::GoalFound => "what was looked for was found",
            Reason::MemoryFull => "there was no room to remember more states",
        })
    }
}

/// The ways to the states.
#[derive(Clone, Default)]
pub(super) struct Paths {
    pub(super) links: Option<Links>,
    pub(super) visited: Option<Visited>,
}

impl fmt::Debug for Paths {
    /// How many there are; nobody wants to read them all.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.links.as_ref().map_or(0, Links::len);
        out.debug_tuple("Paths").field(&count).finish()
    }
}

impl Paths {
    fn test_to(&self, state: StateId) -> Option<Test> {
        let links = self.links.as_ref()?;
        let number = u32::try_from(state.0).ok()?;
        let visit = match &self.visited {
            Some(visited) if (number as usize) < visited.len() => visited.visit(number),
            Some(_) => return None,
            None => number,
        };
        ((visit as usize) < links.len()).then(|| links.test(visit, &[]))
    }
}
