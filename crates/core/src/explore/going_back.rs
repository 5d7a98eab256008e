//! How to get back to a state, and how to find out what works.

use std::ops::ControlFlow;

use super::Explorer;
use crate::{ActionId, Error, Likeness, Outcome, System};

/// How an exploration gets back to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GoingBack {
    /// It keeps a copy of the state ([`Snapshot`](crate::Snapshot)). Where none is kept, it takes the actions again
    /// from the nearest copy.
    ByCopy,
    /// It resets the system and takes the actions again.
    ByReplay,
}

/// How to go back, and why in this way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// How to go back.
    pub by: GoingBack,
    /// For a person: a phrase such as `the system cannot copy its state`.
    pub why: String,
}

/// How many steps the probe walks.
const PROBE: usize = 6;

/// What can be seen of a state from outside.
#[derive(PartialEq)]
struct View {
    fingerprint: Option<u128>,
    enabled: Vec<ActionId>,
}

/// What can be seen of a step: its outcome, without the message, and the state it leads to.
#[derive(PartialEq)]
struct Seen {
    outcome: std::mem::Discriminant<Outcome>,
    after: Option<View>,
}

impl<S: System + ?Sized, K> Explorer<'_, S, K> {
    /// Tries which way of going back works: walks a few steps, and at each compares what happens after going back by
    /// a copy, and after a reset and the same actions, with what happened before.
    ///
    /// An error means that neither does, so that nothing can be explored.
    pub fn probe(&mut self) -> Result<Choice, Error> {
        if self.copying.is_none() {
            return Ok(by_replay("the system cannot copy its state"));
        }
        self.system.reset()?;
        let mut path = Vec::new();
        let mut trouble = None;
        while path.len() < PROBE {
            let before = self.view();
            // Not always the first, which is often the dullest.
            let turn = path.len() * 7 % before.enabled.len().max(1);
            let Some(action) = before.enabled.get(turn).copied() else {
                break;
            };
            if let ControlFlow::Break(found) = self.probe_step(&path, action, &before)? {
                trouble = found;
                break;
            }
            path.push(action);
        }
        match trouble {
            None => Ok(Choice {
                by: GoingBack::ByCopy,
                why: "a copy leads back to where the same actions do".to_owned(),
            }),
            Some(Trouble::Copy(why)) => Ok(by_replay(why)),
            Some(Trouble::Replay) => Ok(Choice {
                by: GoingBack::ByCopy,
                why: "after a reset, the same actions lead elsewhere, but a copy leads back"
                    .to_owned(),
            }),
            Some(Trouble::Both) => {
                let message =
                    "neither a copy nor the same actions after a reset lead back to a state";
                let help = "a system must do the same after each reset, or it cannot be explored";
                Err(Error::new(message).with_help(help))
            }
        }
    }

    /// Takes a step again and again: once, after going back by a copy, and after going back by replay. It ends the
    /// probe where there is trouble, and where the step fails.
    fn probe_step(
        &mut self,
        path: &[ActionId],
        action: ActionId,
        before: &View,
    ) -> Result<ControlFlow<Option<Trouble>>, Error> {
        let Some(copying) = &self.copying else {
            return Ok(ControlFlow::Break(None));
        };
        let (snapshot, restore) = (copying.snapshot, copying.restore);
        let copy = match snapshot(self.system) {
            Ok(copy) => copy,
            Err(error) => return Ok(ControlFlow::Break(Some(Trouble::Copy(error.message)))),
        };
        let seen = self.see(action);
        let mut back_by_copy = Ok(());
        // Twice, for the first time the state in the copy itself may have been changed.
        for _ in 0..2 {
            back_by_copy = match restore(self.system, &copy) {
                Err(error) => Err(error.message),
                Ok(()) if self.view() != *before => {
                    Err("after going back by a copy, the state is another".to_owned())
                }
                Ok(()) if self.see(action) != seen => {
                    Err("after going back by a copy, a step does something else".to_owned())
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
        back_by_replay = back_by_replay && self.view() == *before && self.see(action) == seen;
        Ok(match (back_by_copy, back_by_replay) {
            (Ok(()), true) if seen.after.is_none() => ControlFlow::Break(None),
            (Ok(()), true) => ControlFlow::Continue(()),
            (Ok(()), false) => ControlFlow::Break(Some(Trouble::Replay)),
            (Err(why), true) => ControlFlow::Break(Some(Trouble::Copy(why))),
            (Err(_), false) => ControlFlow::Break(Some(Trouble::Both)),
        })
    }

    fn view(&mut self) -> View {
        View {
            // Where fingerprints cannot be had, what is enabled has to do.
            fingerprint: self
                .fingerprint
                .and_then(|fingerprint| fingerprint(self.system, Likeness::Equal).ok()),
            enabled: self.system.enabled(),
        }
    }

    /// After a failure the state is of no interest, nor is it after an interruption.
    fn see(&mut self, action: ActionId) -> Seen {
        let outcome = self.system.step(action);
        let passed = matches!(outcome, Outcome::Passed | Outcome::Expected);
        Seen {
            outcome: std::mem::discriminant(&outcome),
            after: passed.then(|| self.view()),
        }
    }
}

/// Which way of going back does not work.
enum Trouble {
    Copy(String),
    Replay,
    Both,
}

fn by_replay(why: impl Into<String>) -> Choice {
    Choice {
        by: GoingBack::ByReplay,
        why: why.into(),
    }
}
