//! Determinism: does the same test do the same thing twice?
//!
//! Everything done with a failing test relies on it. This check finds systems that depend on time,
//! chance, addresses or an earlier test, as far as one process can show. Differences in hash seeds
//! and the like need a second process.

use crate::replay::{ReplayOptions, ReplayWatcher, replay};
use crate::{ActionId, Error, Step, System, Test, TraceEvent};

/// The largest catalog for which all enabled actions are compared. In larger ones, only the
/// actions that occur in the test are compared.
const MAX_COMPARED_ACTIONS: u64 = 5_000;

/// The first difference between two runs of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The index of the step.
    pub step: usize,
    /// The number of the run, from 1, that differs from the first run, which is number 0.
    pub run: usize,
    /// The kind of difference.
    pub kind: DifferenceKind,
}

/// The kind of difference between two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DifferenceKind {
    /// The step had another outcome; `None` if it was not reached.
    Outcome(Option<TraceEvent>, Option<TraceEvent>),
    /// An action was enabled after the step in one run and not in the other.
    Enabled(ActionId),
}

/// Runs a test several times and returns the first difference from the first run, if there is one.
/// Runs that were stopped early are compared as far as they got.
pub fn check_determinism<S: System + ?Sized>(
    system: &mut S,
    test: &Test,
    more_runs: usize,
    options: &ReplayOptions,
    proceed: &mut dyn FnMut() -> bool,
) -> Result<Option<Difference>, Error> {
    let first = record_run(system, test, options, proceed)?;
    for number in 1..=more_runs {
        let next = record_run(system, test, options, proceed)?;
        if let Some((step, what)) = first_difference(&first, &next) {
            return Ok(Some(Difference {
                step,
                run: number,
                kind: what,
            }));
        }
    }
    Ok(None)
}

/// Everything recorded about one run.
#[derive(Default)]
struct RunRecord {
    events: Vec<TraceEvent>,
    enabled: Vec<Vec<ActionId>>,
    stopped: bool,
}

/// Records which actions are enabled after each step of a replay.
struct EnabledRecorder<'a> {
    proceed: &'a mut dyn FnMut() -> bool,
    /// The actions to query; `None` queries all of them.
    selected: Option<Vec<ActionId>>,
    enabled: Vec<Vec<ActionId>>,
}

impl<S: System + ?Sized> ReplayWatcher<S> for EnabledRecorder<'_> {
    fn proceed(&mut self) -> bool {
        (self.proceed)()
    }

    fn after_step(&mut self, system: &mut S, event: &TraceEvent) {
        if matches!(event, TraceEvent::Failed(..)) {
            return;
        }
        let enabled = match &self.selected {
            None => system.enabled(),
            Some(selected) => selected
                .iter()
                .copied()
                .filter(|action| system.is_enabled(*action))
                .collect(),
        };
        self.enabled.push(enabled);
    }
}

/// Runs a test once and records its events and the actions enabled after each step.
fn record_run<S: System + ?Sized>(
    system: &mut S,
    test: &Test,
    options: &ReplayOptions,
    proceed: &mut dyn FnMut() -> bool,
) -> Result<RunRecord, Error> {
    let selected = (system.actions().len() > MAX_COMPARED_ACTIONS).then(|| {
        let mut actions: Vec<ActionId> = test
            .steps
            .iter()
            .filter_map(|step| match step {
                Step::Act(action) => Some(*action),
                Step::Restart => None,
            })
            .collect();
        actions.sort_unstable();
        actions.dedup();
        actions
    });
    let mut recorder = EnabledRecorder {
        proceed,
        selected,
        enabled: Vec::new(),
    };
    let trace = replay(system, test, options, &mut recorder)?;
    Ok(RunRecord {
        events: trace.events,
        enabled: recorder.enabled,
        stopped: trace.interrupted,
    })
}

/// Returns the first step at which two runs differ, and the kind of difference.
fn first_difference(one: &RunRecord, other: &RunRecord) -> Option<(usize, DifferenceKind)> {
    let length = one.events.len().max(other.events.len());
    for step in 0..length {
        match (one.events.get(step), other.events.get(step)) {
            (Some(event), Some(other_event)) if event.is_same_as(other_event) => {}
            (None, _) if one.stopped => return None,
            (_, None) if other.stopped => return None,
            (event, other_event) => {
                return Some((
                    step,
                    DifferenceKind::Outcome(event.cloned(), other_event.cloned()),
                ));
            }
        }
        let (Some(enabled), Some(other_enabled)) = (one.enabled.get(step), other.enabled.get(step))
        else {
            continue;
        };
        let only_in_one = enabled
            .iter()
            .find(|action| !other_enabled.contains(action));
        let only_in_one = only_in_one.or_else(|| {
            other_enabled
                .iter()
                .find(|action| !enabled.contains(action))
        });
        if let Some(action) = only_in_one {
            return Some((step, DifferenceKind::Enabled(*action)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toys::{Flaky, Stack};

    #[test]
    fn a_flaky_system_is_found_out() {
        let test = Test::from_actions([ActionId(0); 4]);
        let options = ReplayOptions::default();
        let difference = check_determinism(&mut Flaky::default(), &test, 3, &options, &mut || true);
        let difference = difference.unwrap().unwrap();
        assert_eq!((difference.step, difference.run), (2, 1));
        assert!(matches!(
            difference.kind,
            DifferenceKind::Outcome(Some(TraceEvent::Failed(..)), Some(TraceEvent::Passed(_)))
        ));
    }

    #[test]
    fn others_are_not() {
        let test = Test::from_actions([0, 1, 2, 3, 3, 3, 3, 3].map(ActionId));
        let options = ReplayOptions::default();
        let difference = check_determinism(&mut Stack::default(), &test, 2, &options, &mut || true);
        assert_eq!(difference, Ok(None));
    }
}
