//! Walking about in a system: onwards by an action, back by a copy or by taking the actions again.

use rustc_hash::FxHashMap;

use super::links::{Links, START, Visit};
use super::{Explorer, GoingBack, Progress, Reason};
use crate::{ActionId, Error, Outcome, System};

/// Why a walk does not go on.
#[derive(Debug)]
pub(super) enum Halt {
    /// It was to end here; what was found so far counts.
    Stop(Reason),
    /// It cannot.
    Error(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Halt {
        Halt::Error(error)
    }
}

/// Asked before each step.
pub(super) type Proceed<'p> = dyn FnMut(&Progress) -> bool + 'p;

/// A system, where it is, and the ways to all other places.
pub(super) struct Walker<'e, 's, S: ?Sized, K> {
    pub(super) explorer: &'e mut Explorer<'s, S, K>,
    pub(super) links: Links,
    pub(super) progress: Progress,
    going_back: GoingBack,
    /// States to restore, by visit. Never iterated over.
    copies: FxHashMap<Visit, K>,
    most_copies: usize,
    /// Where the system is, if that is a visit.
    here: Option<Visit>,
}

impl<'e, 's, S: System + ?Sized, K> Walker<'e, 's, S, K> {
    /// A walker that is nowhere yet.
    pub(super) fn new(
        explorer: &'e mut Explorer<'s, S, K>,
        going_back: GoingBack,
        most_copies: usize,
    ) -> Walker<'e, 's, S, K> {
        let links = Links::new(explorer.system.actions());
        Walker {
            explorer,
            links,
            progress: Progress::default(),
            going_back,
            copies: FxHashMap::default(),
            most_copies,
            here: None,
        }
    }

    /// Forgets every visit but the first.
    pub(super) fn begin_again(&mut self) {
        self.links = Links::new(self.explorer.system.actions());
        self.copies.clear();
        self.here = None;
    }

    /// Makes the system be where a visit was.
    pub(super) fn go_to(&mut self, visit: Visit, proceed: &mut Proceed<'_>) -> Result<(), Halt> {
        // Up to the nearest place from which the way is known, then down again.
        let mut way = Vec::new();
        let mut at = visit;
        loop {
            if self.here == Some(at) || self.restore(at) {
                break;
            }
            if at == START {
                self.here = None;
                self.explorer.system.reset()?;
                break;
            }
            let (parent, action) = self.links.before(at);
            way.push(action);
            at = parent;
        }
        for action in way.into_iter().rev() {
            self.here = None;
            self.take_again(action, proceed)?;
        }
        self.here = Some(visit);
        Ok(())
    }

    /// Goes back to a copy; false if there is none, or if it is of no use.
    fn restore(&mut self, visit: Visit) -> bool {
        let (Some(copy), Some(copying)) = (self.copies.get(&visit), &self.explorer.copying) else {
            return false;
        };
        self.here = None;
        let restored = (copying.restore)(self.explorer.system, copy).is_ok();
        if !restored {
            self.copies.remove(&visit);
        }
        restored
    }

    fn take_again(&mut self, action: ActionId, proceed: &mut Proceed<'_>) -> Result<(), Halt> {
        let system = &mut *self.explorer.system;
        let enabled = system.is_enabled(action);
        let outcome = if enabled {
            self.step(action, proceed)?
        } else {
            Outcome::Passed
        };
        let what = match outcome {
            Outcome::Failed(_) => "fails",
            _ if !enabled => "is not enabled",
            _ => return Ok(()),
        };
        let text = self.explorer.system.actions().text(action);
        let message = format!("`{text}` {what} when the same actions are taken a second time");
        let help = "a system must do the same after each reset, or it cannot be explored";
        Err(Error::new(message).with_help(help).into())
    }

    /// Takes an action from where the system is. Afterwards it is nowhere until it [arrives](Walker::arrive).
    pub(super) fn step(
        &mut self,
        action: ActionId,
        proceed: &mut Proceed<'_>,
    ) -> Result<Outcome, Halt> {
        if !proceed(&self.progress) {
            return Err(Halt::Stop(Reason::Stopped));
        }
        self.here = None;
        self.progress.steps += 1;
        match self.explorer.system.step(action) {
            Outcome::Interrupted => Err(Halt::Stop(Reason::Interrupted)),
            outcome => Ok(outcome),
        }
    }

    /// The step just taken led to a new visit.
    pub(super) fn arrive(&mut self, from: Visit, action: ActionId) -> Visit {
        let visit = self.links.push(from, action);
        self.here = Some(visit);
        visit
    }

    /// Keeps a copy of the visit the system is at, if that is how to go back and there is room.
    pub(super) fn keep(&mut self, visit: Visit) {
        let wanted = self.going_back == GoingBack::ByCopy
            && self.here == Some(visit)
            && self.copies.len() < self.most_copies
            && !self.copies.contains_key(&visit);
        if let (true, Some(copying)) = (wanted, &self.explorer.copying) {
            // A state that cannot be copied is reached by taking the actions again.
            if let Ok(copy) = (copying.snapshot)(self.explorer.system) {
                self.copies.insert(visit, copy);
            }
        }
    }

    /// Nobody comes back to this visit; unless its link is `needed`, that goes, too.
    pub(super) fn release(&mut self, visit: Visit, needed: bool) {
        self.copies.remove(&visit);
        if !needed && self.links.pop(visit) && self.here == Some(visit) {
            // The number may be given to another visit now.
            self.here = None;
        }
    }
}
