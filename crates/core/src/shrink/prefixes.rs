//! Snapshots of prefixes: a candidate may start from a snapshot instead of a reset.
//!
//! Candidates are similar. Leaving out the ninth step of ten, or trying forty other actions
//! instead, begins with the same eight steps each time. If the system has snapshots, a few of its
//! states are kept, with the events that led there, and a run starts at the longest known prefix.
//!
//! Snapshots are not trusted blindly. Before the first one is used, a test is run from snapshots of
//! its states 32, 16, 8, 4, 2 and 1 steps before its end, and the events are compared with the run
//! from the reset. If anything differs, snapshots are disabled, and shrinking is only slower. The
//! same happens later if a run from a snapshot achieves the goal and the confirming run from the
//! reset does not.

use crate::replay::{ReplayOptions, continue_replay};
use crate::{Error, Snapshot, Step, System, Trace, TraceEvent};

/// The minimum number of steps a snapshot must save: taking it may cost as much as a few steps.
const MIN_SAVED_STEPS: usize = 3;

/// The maximum distance from the end of a test at which snapshots are verified.
const MAX_VERIFIED_STEPS: usize = 32;

/// A source of states from which runs start.
pub(super) trait Prefixes<S: ?Sized> {
    /// Brings the system to the state after a prefix of `steps`, and returns the events of that
    /// prefix.
    fn start(&mut self, system: &mut S, steps: &[Step]) -> Result<Vec<TraceEvent>, Error>;

    /// Returns the length of the prefix after which to take a snapshot while `steps` run, if any.
    fn snapshot_point(&mut self, steps: &[Step], started_at: usize) -> Option<usize>;

    /// Takes a snapshot of the state after `steps`.
    fn take_snapshot(&mut self, system: &mut S, steps: &[Step], events: &[TraceEvent]);

    /// Verifies snapshots, once, if one might be useful for `steps`. `example` is a test that
    /// achieved the goal, with its trace. Returns the number of steps taken.
    fn verify(
        &mut self,
        system: &mut S,
        steps: &[Step],
        example: &(Vec<Step>, Trace),
        options: &ReplayOptions,
    ) -> Result<u64, Error>;

    /// Disables snapshots after one was wrong.
    fn disable(&mut self);
}

/// Starts every run at a reset.
pub(super) struct FromReset;

impl<S: System + ?Sized> Prefixes<S> for FromReset {
    fn start(&mut self, system: &mut S, _steps: &[Step]) -> Result<Vec<TraceEvent>, Error> {
        system.begin()?;
        Ok(Vec::new())
    }

    fn snapshot_point(&mut self, _steps: &[Step], _started_at: usize) -> Option<usize> {
        None
    }

    fn take_snapshot(&mut self, _system: &mut S, _steps: &[Step], _events: &[TraceEvent]) {}

    fn verify(
        &mut self,
        _system: &mut S,
        _steps: &[Step],
        _example: &(Vec<Step>, Trace),
        _options: &ReplayOptions,
    ) -> Result<u64, Error> {
        Ok(0)
    }

    fn disable(&mut self) {}
}

/// Starts runs at the longest prefix with a snapshot.
pub(super) struct FromSnapshots<S: Snapshot + ?Sized> {
    /// The maximum number of snapshots.
    limit: usize,
    trust: Trust,
    /// The snapshots; the one used last is at the end.
    snapshots: Vec<PrefixSnapshot<S::State>>,
    /// The steps of the last run; the next candidates begin like it.
    last: Vec<Step>,
}

/// A snapshot of the state after some steps.
struct PrefixSnapshot<T> {
    steps: Vec<Step>,
    events: Vec<TraceEvent>,
    state: T,
}

/// The result of the verification of snapshots.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Snapshots were not verified yet.
    Unknown,
    /// Snapshots work.
    Verified,
    /// Snapshots do not work, and are not used.
    Disabled,
}

impl<S: Snapshot + ?Sized> FromSnapshots<S> {
    /// Creates a source that keeps at most `limit` snapshots at a time.
    pub(super) fn new(limit: usize) -> FromSnapshots<S> {
        FromSnapshots {
            limit,
            trust: Trust::Unknown,
            snapshots: Vec::new(),
            last: Vec::new(),
        }
    }

    /// Returns the length of the common prefix with the last run.
    fn common_prefix(&self, steps: &[Step]) -> usize {
        let pairs = self.last.iter().zip(steps);
        pairs.take_while(|(one, other)| one == other).count()
    }

    /// Returns true if snapshots of states near the end of a test lead to the same end as a run
    /// from the reset.
    fn are_snapshots_valid(
        system: &mut S,
        steps: &[Step],
        trace: &Trace,
        options: &ReplayOptions,
        taken: &mut u64,
    ) -> Result<bool, Error> {
        let length = trace.events.len();
        let mut snapshots = Vec::new();
        let mut now = Trace::default();
        let mut rest = (length / 2).min(MAX_VERIFIED_STEPS);
        system.begin()?;
        while rest > 0 {
            now = continue_replay(system, &steps[..length - rest], now, options, &mut ())?;
            let Ok(state) = system.snapshot() else {
                return Ok(false);
            };
            snapshots.push((now.clone(), state));
            rest /= 2;
        }
        // Taking snapshots must not change anything either.
        let mut ends = vec![continue_replay(system, steps, now, options, &mut ())?];
        *taken += length as u64;
        // Use the last one twice: a snapshot may be restored any number of times.
        for (start, state) in snapshots.iter().chain(snapshots.last()) {
            if system.restore(state).is_err() {
                return Ok(false);
            }
            ends.push(continue_replay(
                system,
                steps,
                start.clone(),
                options,
                &mut (),
            )?);
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
    fn start(&mut self, system: &mut S, steps: &[Step]) -> Result<Vec<TraceEvent>, Error> {
        let fitting = (0..self.snapshots.len())
            .filter(|index| steps.starts_with(&self.snapshots[*index].steps));
        if let Some(index) = fitting.max_by_key(|index| self.snapshots[*index].steps.len()) {
            let snapshot = self.snapshots.remove(index);
            if system.restore(&snapshot.state).is_ok() {
                let events = snapshot.events.clone();
                self.snapshots.push(snapshot);
                return Ok(events);
            }
            // Verification succeeded, so this state is special. Continue without snapshots.
            self.disable();
        }
        system.begin()?;
        Ok(Vec::new())
    }

    fn snapshot_point(&mut self, steps: &[Step], started_at: usize) -> Option<usize> {
        let common_prefix = self.common_prefix(steps);
        self.last.clear();
        self.last.extend_from_slice(steps);
        let is_wanted = self.trust == Trust::Verified
            && self.limit > 0
            && common_prefix >= started_at + MIN_SAVED_STEPS;
        is_wanted.then_some(common_prefix)
    }

    fn take_snapshot(&mut self, system: &mut S, steps: &[Step], events: &[TraceEvent]) {
        // A state without a snapshot is no reason to give up: others may have one.
        let Ok(state) = system.snapshot() else { return };
        if self.snapshots.len() >= self.limit {
            self.snapshots.remove(0);
        }
        self.snapshots.push(PrefixSnapshot {
            steps: steps.to_vec(),
            events: events.to_vec(),
            state,
        });
    }

    fn verify(
        &mut self,
        system: &mut S,
        steps: &[Step],
        (example, trace): &(Vec<Step>, Trace),
        options: &ReplayOptions,
    ) -> Result<u64, Error> {
        let mut taken = 0;
        let is_wanted = self.limit > 0 && self.common_prefix(steps) >= MIN_SAVED_STEPS;
        if self.trust == Trust::Unknown && is_wanted && trace.events.len() > MIN_SAVED_STEPS {
            let proven = Self::are_snapshots_valid(system, example, trace, options, &mut taken)?;
            self.trust = if proven {
                Trust::Verified
            } else {
                Trust::Disabled
            };
        }
        Ok(taken)
    }

    fn disable(&mut self) {
        self.trust = Trust::Disabled;
        self.snapshots.clear();
    }
}
