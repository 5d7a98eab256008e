//! Movement between states: forward by an action, back by a snapshot or by replay.

use rustc_hash::FxHashMap;

use super::links::{Links, START, Visit};
use super::{Backtracking, ExploreProgress, Explorer, StopReason};
use crate::{ActionId, Error, Outcome, System};

/// The reason why a walk ends.
#[derive(Debug)]
pub(super) enum Halt {
    /// It was stopped; the results so far are valid.
    Stop(StopReason),
    /// It cannot continue.
    Error(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Halt {
        Halt::Error(error)
    }
}

/// A function that is called before each step; returning `false` ends the exploration.
pub(super) type Proceed<'p> = dyn FnMut(&ExploreProgress) -> bool + 'p;

/// A system, its current position, and the paths to all other states.
pub(super) struct StateWalker<'e, 's, S: ?Sized, K> {
    pub(super) explorer: &'e mut Explorer<'s, S, K>,
    pub(super) links: Links,
    pub(super) progress: ExploreProgress,
    backtracking: Backtracking,
    /// Snapshots to restore, by visit. Never iterated over.
    snapshots: FxHashMap<Visit, K>,
    max_snapshots: usize,
    /// Check the invariants after replayed steps as well: a check may change the state.
    check: bool,
    /// The visit that the system is at, if it is at one.
    current_visit: Option<Visit>,
}

impl<'e, 's, S: System + ?Sized, K> StateWalker<'e, 's, S, K> {
    /// Creates a walker whose system is not at any visit yet.
    pub(super) fn new(
        explorer: &'e mut Explorer<'s, S, K>,
        backtracking: Backtracking,
        max_snapshots: usize,
        check: bool,
    ) -> StateWalker<'e, 's, S, K> {
        let links = Links::new(explorer.system.actions());
        StateWalker {
            explorer,
            links,
            progress: ExploreProgress::default(),
            backtracking,
            snapshots: FxHashMap::default(),
            max_snapshots,
            check,
            current_visit: None,
        }
    }

    /// Forgets every visit but the first.
    pub(super) fn forget_visits(&mut self) {
        self.links = Links::new(self.explorer.system.actions());
        self.snapshots.clear();
        self.current_visit = None;
    }

    /// Brings the system to the state of a visit.
    pub(super) fn go_to(&mut self, visit: Visit, proceed: &mut Proceed<'_>) -> Result<(), Halt> {
        // Up to the nearest state that can be reached directly, then down again.
        let mut path = Vec::new();
        let mut at = visit;
        loop {
            if self.current_visit == Some(at) || self.restore(at) {
                break;
            }
            if at == START {
                self.current_visit = None;
                self.explorer.system.reset()?;
                break;
            }
            let (parent, action) = self.links.parent(at);
            path.push(action);
            at = parent;
        }
        for action in path.into_iter().rev() {
            self.current_visit = None;
            self.replay_action(action, proceed)?;
        }
        self.current_visit = Some(visit);
        Ok(())
    }

    /// Resets the system. Afterwards it is at no visit until it is [brought](StateWalker::go_to) to one.
    pub(super) fn restart(&mut self) -> Result<(), Halt> {
        self.current_visit = None;
        Ok(self.explorer.system.reset()?)
    }

    /// Restores the snapshot of a visit. Returns false if there is none, or if it cannot be
    /// restored.
    fn restore(&mut self, visit: Visit) -> bool {
        let (Some(copy), Some(snapshot_fns)) =
            (self.snapshots.get(&visit), &self.explorer.snapshots)
        else {
            return false;
        };
        self.current_visit = None;
        let restored = (snapshot_fns.restore)(self.explorer.system, copy).is_ok();
        if !restored {
            self.snapshots.remove(&visit);
        }
        restored
    }

    /// Replays an action on the path to a visit. Returns an error if it does not pass as before.
    fn replay_action(&mut self, action: ActionId, proceed: &mut Proceed<'_>) -> Result<(), Halt> {
        let system = &mut *self.explorer.system;
        let enabled = system.is_enabled(action);
        let mut outcome = if enabled {
            self.step(action, proceed)?
        } else {
            Outcome::Passed
        };
        if self.check && enabled && matches!(outcome, Outcome::Passed | Outcome::Expected) {
            outcome = self.explorer.system.check();
        }
        let problem = match outcome {
            Outcome::Failed(_) => "fails",
            Outcome::Interrupted => return Err(Halt::Stop(StopReason::Interrupted)),
            _ if !enabled => "is not enabled",
            _ => return Ok(()),
        };
        let text = self.explorer.system.actions().text(action);
        let message = format!("`{text}` {problem} when the same actions are taken a second time");
        let help = "a system must do the same after each reset, or it cannot be explored";
        Err(Error::new(message).with_help(help).into())
    }

    /// Takes an action. Afterwards the system is at no visit until it
    /// [records a visit](StateWalker::record_visit).
    pub(super) fn step(
        &mut self,
        action: ActionId,
        proceed: &mut Proceed<'_>,
    ) -> Result<Outcome, Halt> {
        if !proceed(&self.progress) {
            return Err(Halt::Stop(StopReason::Stopped));
        }
        self.current_visit = None;
        self.progress.steps += 1;
        match self.explorer.system.step(action) {
            Outcome::Interrupted => Err(Halt::Stop(StopReason::Interrupted)),
            outcome => Ok(outcome),
        }
    }

    /// Records that the step just taken led to a new visit.
    pub(super) fn record_visit(&mut self, from: Visit, action: ActionId) -> Visit {
        let visit = self.links.push(from, action);
        self.current_visit = Some(visit);
        visit
    }

    /// Takes a snapshot of the visit the system is at, if snapshots are used and there is room.
    pub(super) fn keep_snapshot(&mut self, visit: Visit) {
        let wanted = self.backtracking == Backtracking::BySnapshot
            && self.current_visit == Some(visit)
            && self.snapshots.len() < self.max_snapshots
            && !self.snapshots.contains_key(&visit);
        if let (true, Some(snapshot_fns)) = (wanted, &self.explorer.snapshots) {
            // A state without a snapshot is reached by replaying the actions.
            if let Ok(copy) = (snapshot_fns.snapshot)(self.explorer.system) {
                self.snapshots.insert(visit, copy);
            }
        }
    }

    /// Frees a visit that is not needed any more, and its link unless it is `needed`.
    pub(super) fn release(&mut self, visit: Visit, needed: bool) {
        self.snapshots.remove(&visit);
        if !needed && self.links.pop(visit) && self.current_visit == Some(visit) {
            // The number may be reused for another visit.
            self.current_visit = None;
        }
    }
}
