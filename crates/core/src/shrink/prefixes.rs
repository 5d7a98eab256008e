//! Beginnings that were run before: a candidate may go on from a snapshot instead of from a reset.
//!
//! Candidates are alike. Leaving out the ninth step of ten, or trying forty other actions in its place, begins with the
//! same eight steps each time. Where the system can be copied, a few of its states are kept, with what happened on the
//! way, and a run starts at the longest beginning that is known.
//!
//! Nobody should have to believe in a copy. Before the first one is used, a test is run from a copy of its middle, twice,
//! and what happens is compared with the run from the reset. If anything differs there are no copies, and everything is
//! as it would be without them, only slower.

use crate::replay::{ReplayOptions, go_on};
use crate::{Error, Event, Snapshot, Step, System, Trace};

/// How far ahead a copy must bring a run to be worth taking: it may cost as much as a few steps.
const WORTH: usize = 3;

/// States to start from.
pub(super) trait Prefixes<S: ?Sized> {
    /// Brings the system to the state after a beginning of `steps`, and tells what happened on the way.
    fn start(&mut self, system: &mut S, steps: &[Step]) -> Result<Vec<Event>, Error>;

    /// The length of the beginning that a copy is wanted of while `steps` run, if any.
    fn wanted(&mut self, steps: &[Step], started_at: usize) -> Option<usize>;

    /// Keeps the state after `steps`.
    fn keep(&mut self, system: &mut S, steps: &[Step], events: &[Event]);

    /// Told what came of the first run, so that copies can be put to the proof. The number of steps that took.
    fn prove(
        &mut self,
        system: &mut S,
        steps: &[Step],
        trace: &Trace,
        options: &ReplayOptions,
    ) -> Result<u64, Error>;
}

/// Every run starts at a reset.
pub(super) struct FromReset;

impl<S: System + ?Sized> Prefixes<S> for FromReset {
    fn start(&mut self, system: &mut S, _steps: &[Step]) -> Result<Vec<Event>, Error> {
        system.reset()?;
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
        _trace: &Trace,
        _options: &ReplayOptions,
    ) -> Result<u64, Error> {
        Ok(0)
    }
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

    /// Whether a copy of the middle of a test leads to the end that a run from the reset led to.
    fn is_proven(
        system: &mut S,
        steps: &[Step],
        trace: &Trace,
        options: &ReplayOptions,
        taken: &mut u64,
    ) -> Result<bool, Error> {
        let middle = trace.events.len() / 2;
        system.reset()?;
        let half = go_on(system, &steps[..middle], Trace::default(), options, &mut ())?;
        *taken += middle as u64;
        let Ok(state) = system.snapshot() else {
            return Ok(false);
        };
        for _ in 0..3 {
            // The first time without a restore: taking a copy must not change anything either.
            let end = go_on(system, steps, half.clone(), options, &mut ())?;
            *taken += (trace.events.len() - middle) as u64;
            let events = end.events.iter().zip(&trace.events);
            let is_same = end.events.len() == trace.events.len()
                && events.into_iter().all(|(one, other)| one.is_same_as(other));
            if !is_same || system.restore(&state).is_err() {
                return Ok(false);
            }
        }
        Ok(true)
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
            self.trust = Trust::Lost;
            self.kept.clear();
        }
        system.reset()?;
        Ok(Vec::new())
    }

    fn wanted(&mut self, steps: &[Step], started_at: usize) -> Option<usize> {
        let alike = self
            .last
            .iter()
            .zip(steps)
            .take_while(|(one, other)| one == other)
            .count();
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
        trace: &Trace,
        options: &ReplayOptions,
    ) -> Result<u64, Error> {
        let mut taken = 0;
        if self.trust == Trust::Unknown && trace.events.len() > WORTH {
            let proven = Self::is_proven(system, steps, trace, options, &mut taken)?;
            self.trust = if proven { Trust::Proven } else { Trust::Lost };
        }
        Ok(taken)
    }
}
