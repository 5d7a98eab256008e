//! Beginnings that were run before: a candidate may go on from a snapshot instead of from a reset.
//!
//! Candidates are alike. Leaving out the ninth step of ten, or trying forty other actions in its place, begins with the
//! same eight steps each time. Where the system can be copied, a few of its states are kept, with what happened on the
//! way, and a run starts at the longest beginning that is known.
//!
//! Nobody should have to believe in a copy. Before the first one is used, a test is run from copies of its states 32, 16,
//! 8, 4, 2 and 1 steps before its end, and what happens is compared with the run from the reset. If anything differs there
//! are no copies, and everything is as it would be without them, only slower. The same happens later if a run from a copy
//! achieves the goal and the run from the reset, by which it is confirmed, does not.

use crate::replay::{ReplayOptions, go_on};
use crate::{Error, Event, Snapshot, Step, System, Trace};

/// How far ahead a copy must bring a run to be worth taking: it may cost as much as a few steps.
const WORTH: usize = 3;

/// From how many steps before the end of a test copies are put to the proof, at most.
const LAST_STEPS: usize = 32;

/// States to start from.
pub(super) trait Prefixes<S: ?Sized> {
    /// Brings the system to the state after a beginning of `steps`, and tells what happened on the way.
    fn start(&mut self, system: &mut S, steps: &[Step]) -> Result<Vec<Event>, Error>;

    /// The length of the beginning that a copy is wanted of while `steps` run, if any.
    fn wanted(&mut self, steps: &[Step], started_at: usize) -> Option<usize>;

    /// Keeps the state after `steps`.
    fn keep(&mut self, system: &mut S, steps: &[Step], events: &[Event]);

    /// Puts copies to the proof, once, if one might be of use for `steps`: with a test that achieved the goal and what
    /// happened in it. The number of steps that took.
    fn prove(
        &mut self,
        system: &mut S,
        steps: &[Step],
        example: &(Vec<Step>, Trace),
        options: &ReplayOptions,
    ) -> Result<u64, Error>;

    /// Told that a copy was wrong after all.
    fn distrust(&mut self);
}

/// Every run starts at a reset.
pub(super) struct FromReset;

impl<S: System + ?Sized> Prefixes<S> for FromReset {
    fn start(&mut self, system: &mut S, _steps: &[Step]) -> Result<Vec<Event>, Error> {
        system.begin()?;
        Ok(Vec::new())
    }

    fn wanted(&mut self, _steps: &[Step], _started_at: usize) -> Option<usize> {
        None
    }

    fn keep(&mut self, _system: &mut S, _steps: &[Step], _events: &[Event]) {}

    fn prove(
        &mut self,
        _system: &mut S,
        _steps: &[Step],
        _example: &(Vec<Step>, Trace),
        _options: &ReplayOptions,
    ) -> Result<u64, Error> {
        Ok(0)
    }

    fn distrust(&mut self) {}
}

/// Runs start at the longest beginning of which there is a copy.
pub(super) struct FromSnapshots<S: Snapshot + ?Sized> {
    /// How many copies may be kept.
    limit: usize,
    trust: Trust,
    /// The one used last is at the end.
    kept: Vec<Kept<S::State>>,
    /// What was run last: the next candidates begin like it.
    last: Vec<Step>,
}

struct Kept<T> {
    steps: Vec<Step>,
    events: Vec<Event>,
    state: T,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// No copy was put to the proof yet.
    Unknown,
    Proven,
    Lost,
}

impl<S: Snapshot + ?Sized> FromSnapshots<S> {
    /// At most `limit` copies at a time.
    pub(super) fn new(limit: usize) -> FromSnapshots<S> {
        FromSnapshots {
            limit,
            trust: Trust::Unknown,
            kept: Vec::new(),
            last: Vec::new(),
        }
    }

    /// How many steps are those of the last run.
    fn alike(&self, steps: &[Step]) -> usize {
        let pairs = self.last.iter().zip(steps);
        pairs.take_while(|(one, other)| one == other).count()
    }

    /// Whether copies of states near the end of a test lead to the end that a run from the reset led to.
    fn is_proven(
        system: &mut S,
        steps: &[Step],
        trace: &Trace,
        options: &ReplayOptions,
        taken: &mut u64,
    ) -> Result<bool, Error> {
        let length = trace.events.len();
        let mut copies = Vec::new();
        let mut now = Trace::default();
        let mut rest = (length / 2).min(LAST_STEPS);
        system.begin()?;
        while rest > 0 {
            now = go_on(system, &steps[..length - rest], now, options, &mut ())?;
            let Ok(state) = system.snapshot() else {
                return Ok(false);
            };
            copies.push((now.clone(), state));
            rest /= 2;
        }
        // Taking copies must not change anything either.
        let mut ends = vec![go_on(system, steps, now, options, &mut ())?];
        *taken += length as u64;
        // The last of them twice: a copy may be used any number of times.
        for (start, state) in copies.iter().chain(copies.last()) {
            if system.restore(state).is_err() {
                return Ok(false);
            }
            ends.push(go_on(system, steps, start.clone(), options, &mut ())?);
            *taken += (length - start.events.len()) as u64;
        }
        let is_same = |end: &Trace| {
            let mut events = end.events.iter().zip(&trace.events);
            end.events.len() == length && events.all(|(one, other)| one.is_same_as(other))
        };
        Ok(ends.iter().all(is_same))
    }
}

impl<S: Snapshot + ?Sized> Prefixes<S> for FromSnapshots<S> {
    fn start(&mut self, system: &mut S, steps: &[Step]) -> Result<Vec<Event>, Error> {
        let fitting =
            (0..self.kept.len()).filter(|place| steps.starts_with(&self.kept[*place].steps));
        if let Some(place) = fitting.max_by_key(|place| self.kept[*place].steps.len()) {
            let kept = self.kept.remove(place);
            if system.restore(&kept.state).is_ok() {
                let events = kept.events.clone();
                self.kept.push(kept);
                return Ok(events);
            }
            // It went well when it was put to the proof, so this is a state of its own kind. Without copies, then.
            self.distrust();
        }
        system.begin()?;
        Ok(Vec::new())
    }

    fn wanted(&mut self, steps: &[Step], started_at: usize) -> Option<usize> {
        let alike = self.alike(steps);
        self.last.clear();
        self.last.extend_from_slice(steps);
        let is_wanted =
            self.trust == Trust::Proven && self.limit > 0 && alike >= started_at + WORTH;
        is_wanted.then_some(alike)
    }

    fn keep(&mut self, system: &mut S, steps: &[Step], events: &[Event]) {
        // A state that cannot be copied is no reason to give up: others can.
        let Ok(state) = system.snapshot() else { return };
        if self.kept.len() >= self.limit {
            self.kept.remove(0);
        }
        self.kept.push(Kept {
            steps: steps.to_vec(),
            events: events.to_vec(),
            state,
        });
    }

    fn prove(
        &mut self,
        system: &mut S,
        steps: &[Step],
        (example, trace): &(Vec<Step>, Trace),
        options: &ReplayOptions,
    ) -> Result<u64, Error> {
        let mut taken = 0;
        let is_wanted = self.limit > 0 && self.alike(steps) >= WORTH;
        if self.trust == Trust::Unknown && is_wanted && trace.events.len() > WORTH {
            let proven = Self::is_proven(system, example, trace, options, &mut taken)?;
            self.trust = if proven { Trust::Proven } else { Trust::Lost };
        }
        Ok(taken)
    }

    fn distrust(&mut self) {
        self.trust = Trust::Lost;
        self.kept.clear();
    }
}
