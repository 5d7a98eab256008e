//! Returning to earlier states, and a probe that finds out which way works.

use std::ops::ControlFlow;

use super::Explorer;
use crate::{ActionId, Equivalence, Error, Outcome, System};

/// The way in which an exploration returns to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backtracking {
    /// Restore a snapshot of the state ([`Snapshot`](crate::Snapshot)). Where none is kept, replay
    /// the actions from the nearest snapshot.
    BySnapshot,
    /// Reset the system and replay the actions.
    ByReplay,
}

/// A choice of [`Backtracking`] and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BacktrackChoice {
    /// The chosen way.
    pub method: Backtracking,
    /// The reason, for a person: a phrase such as `the system cannot copy its state`.
    pub reason: String,
}

/// The number of steps that the probe takes.
const PROBE_STEPS: usize = 6;

/// The observable part of a state.
#[derive(PartialEq)]
struct StateView {
    fingerprint: Option<u128>,
    enabled: Vec<ActionId>,
}

/// The observable part of a step: its outcome, without the message, and the state it leads to.
#[derive(PartialEq)]
struct StepView {
    outcome: std::mem::Discriminant<Outcome>,
    after: Option<StateView>,
}

impl<S: System + ?Sized, K> Explorer<'_, S, K> {
    /// Finds out which way of backtracking works. Takes a few steps, and at each compares what
    /// happens after restoring a snapshot, and after a reset and the same actions, with what
    /// happened before.
    ///
    /// Returns an error if neither works, since nothing can be explored then.
    pub fn probe(&mut self) -> Result<BacktrackChoice, Error> {
        if self.snapshots.is_none() {
            return Ok(by_replay("the system cannot copy its state"));
        }
        self.system.reset()?;
        let mut path = Vec::new();
        let mut problem = None;
        while path.len() < PROBE_STEPS {
            let before = self.observe_state();
            // Not always the first action, which is often the least interesting.
            let turn = path.len() * 7 % before.enabled.len().max(1);
            let Some(action) = before.enabled.get(turn).copied() else {
                break;
            };
            if let ControlFlow::Break(found) = self.probe_step(&path, action, &before)? {
                problem = found;
                break;
            }
            path.push(action);
        }
        match problem {
            None => Ok(BacktrackChoice {
                method: Backtracking::BySnapshot,
                reason: "a copy leads to the same state as a replay".to_owned(),
            }),
            Some(BacktrackProblem::Snapshot(reason)) => Ok(by_replay(reason)),
            Some(BacktrackProblem::Replay) => Ok(BacktrackChoice {
                method: Backtracking::BySnapshot,
                reason:
                    "after a reset, the same actions lead to another state, but a copy leads back"
                        .to_owned(),
            }),
            Some(BacktrackProblem::Both) => {
                let message =
                    "neither a copy nor the same actions after a reset lead back to a state";
                let help = "a system must do the same after each reset, or it cannot be explored";
                Err(Error::new(message).with_help(help))
            }
        }
    }

    /// Takes a step, repeats it after restoring a snapshot, and repeats it after a replay. Ends the
    /// probe at a problem, and where the step fails.
    fn probe_step(
        &mut self,
        path: &[ActionId],
        action: ActionId,
        before: &StateView,
    ) -> Result<ControlFlow<Option<BacktrackProblem>>, Error> {
        let Some(snapshots) = &self.snapshots else {
            return Ok(ControlFlow::Break(None));
        };
        let (snapshot, restore) = (snapshots.snapshot, snapshots.restore);
        let copy = match snapshot(self.system) {
            Ok(copy) => copy,
            Err(error) => {
                return Ok(ControlFlow::Break(Some(BacktrackProblem::Snapshot(
                    error.message,
                ))));
            }
        };
        let seen = self.observe_step(action);
        let mut back_by_copy = Ok(());
        // Twice, since the first restore may have changed the state in the snapshot itself.
        for _ in 0..2 {
            back_by_copy = match restore(self.system, &copy) {
                Err(error) => Err(error.message),
                Ok(()) if self.observe_state() != *before => {
                    Err("after restoring a copy, the state is different".to_owned())
                }
                Ok(()) if self.observe_step(action) != seen => {
                    Err("after restoring a copy, a step has another result".to_owned())
                }
                Ok(()) => continue,
            };
            break;
        }
        self.system.reset()?;
        let mut back_by_replay = true;
        for action in path {
            if back_by_replay && self.system.is_enabled(*action) {
                self.system.step(*action);
            } else {
                back_by_replay = false;
            }
        }
        back_by_replay =
            back_by_replay && self.observe_state() == *before && self.observe_step(action) == seen;
        Ok(match (back_by_copy, back_by_replay) {
            (Ok(()), true) if seen.after.is_none() => ControlFlow::Break(None),
            (Ok(()), true) => ControlFlow::Continue(()),
            (Ok(()), false) => ControlFlow::Break(Some(BacktrackProblem::Replay)),
            (Err(reason), true) => ControlFlow::Break(Some(BacktrackProblem::Snapshot(reason))),
            (Err(_), false) => ControlFlow::Break(Some(BacktrackProblem::Both)),
        })
    }

    /// Returns the observable part of the current state.
    fn observe_state(&mut self) -> StateView {
        StateView {
            // Without fingerprints, the enabled actions have to suffice.
            fingerprint: self
                .fingerprint
                .and_then(|fingerprint| fingerprint(self.system, Equivalence::Equal).ok()),
            enabled: self.system.enabled(),
        }
    }

    /// Takes a step and returns its observable part. After a failure or an interruption the state
    /// does not matter.
    fn observe_step(&mut self, action: ActionId) -> StepView {
        let outcome = self.system.step(action);
        let passed = matches!(outcome, Outcome::Passed | Outcome::Expected);
        StepView {
            outcome: std::mem::discriminant(&outcome),
            after: passed.then(|| self.observe_state()),
        }
    }
}

/// The ways of backtracking that do not work.
enum BacktrackProblem {
    /// Snapshots do not work, for this reason.
    Snapshot(String),
    /// Replay does not work: the same actions after a reset lead to another state.
    Replay,
    /// Neither works.
    Both,
}

/// Chooses replay, for this reason.
fn by_replay(reason: impl Into<String>) -> BacktrackChoice {
    BacktrackChoice {
        method: Backtracking::ByReplay,
        reason: reason.into(),
    }
}
