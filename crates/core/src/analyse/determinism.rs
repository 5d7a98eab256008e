//! Determinism: does the same test do the same thing twice?
//!
//! All that is done with a failing test relies on it. A system that depends on time, chance, addresses or an earlier test is
//! found out here as far as one process can tell; hash seeds and the like take a second process.

use crate::replay::{ReplayOptions, Watcher, replay};
use crate::{ActionId, Error, Event, Step, System, Test};

/// Up to how many actions all enabled ones are compared; above, those that occur in the test.
const FEW_ACTIONS: u64 = 5_000;

/// Where two runs of a test differ first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The index of the step.
    pub step: usize,
    /// In which run, from 1, it was other than in the first run, which is number 0.
    pub run: usize,
    /// What differs.
    pub what: What,
}

/// What differs between two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The step had another outcome; `None` if it was not reached.
    Outcome(Option<Event>, Option<Event>),
    /// An action was enabled after the step in one run and not in the other.
    Enabled(ActionId),
}

/// Runs a test some times more and says where a run differs from the first one, if any does. Stopped runs are compared as
/// far as they came.
pub fn check_determinism<S: System + ?Sized>(
    system: &mut S,
    test: &Test,
    more_runs: usize,
    options: &ReplayOptions,
    proceed: &mut dyn FnMut() -> bool,
) -> Result<Option<Difference>, Error> {
    let first = run(system, test, options, proceed)?;
    for number in 1..=more_runs {
        let next = run(system, test, options, proceed)?;
        if let Some((step, what)) = difference(&first, &next) {
            return Ok(Some(Difference {
                step,
                run: number,
                what,
            }));
        }
    }
    Ok(None)
}

/// What was seen in a run.
#[derive(Default)]
struct Seen {
    events: Vec<Event>,
    enabled: Vec<Vec<ActionId>>,
    stopped: bool,
}

struct Looking<'a> {
    proceed: &'a mut dyn FnMut() -> bool,
    /// Which actions to ask for; all if there is no list.
    some: Option<Vec<ActionId>>,
    enabled: Vec<Vec<ActionId>>,
}

impl<S: System + ?Sized> Watcher<S> for Looking<'_> {
    fn proceed(&mut self) -> bool {
        (self.proceed)()
    }

    fn after(&mut self, system: &mut S, event: &Event) {
        if matches!(event, Event::Failed(..)) {
            return;
        }
        let enabled = match &self.some {
            None => system.enabled(),
            Some(some) => some
                .iter()
                .copied()
                .filter(|action| system.is_enabled(*action))
                .collect(),
        };
        self.enabled.push(enabled);
    }
}

fn run<S: System + ?Sized>(
    system: &mut S,
    test: &Test,
    options: &ReplayOptions,
    proceed: &mut dyn FnMut() -> bool,
) -> Result<Seen, Error> {
    let some = (system.actions().len() > FEW_ACTIONS).then(|| {
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
    let mut looking = Looking {
        proceed,
        some,
        enabled: Vec::new(),
    };
    let trace = replay(system, test, options, &mut looking)?;
    Ok(Seen {
        events: trace.events,
        enabled: looking.enabled,
        stopped: trace.interrupted,
    })
}

fn difference(one: &Seen, other: &Seen) -> Option<(usize, What)> {
    let length = one.events.len().max(other.events.len());
    for step in 0..length {
        match (one.events.get(step), other.events.get(step)) {
            (Some(event), Some(other_event)) if event.is_same_as(other_event) => {}
            (None, _) if one.stopped => return None,
            (_, None) if other.stopped => return None,
            (event, other_event) => {
                return Some((step, What::Outcome(event.cloned(), other_event.cloned())));
            }
        }
        let (Some(enabled), Some(other_enabled)) = (one.enabled.get(step), other.enabled.get(step))
        else {
            continue;
        };
        let alone = enabled
            .iter()
            .find(|action| !other_enabled.contains(action));
        let alone = alone.or_else(|| {
            other_enabled
                .iter()
                .find(|action| !enabled.contains(action))
        });
        if let Some(action) = alone {
            return Some((step, What::Enabled(*action)));
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
        let test = Test::of([ActionId(0); 4]);
        let options = ReplayOptions::default();
        let difference = check_determinism(&mut Flaky::default(), &test, 3, &options, &mut || true);
        let difference = difference.unwrap().unwrap();
        assert_eq!((difference.step, difference.run), (2, 1));
        assert!(matches!(
            difference.what,
            What::Outcome(Some(Event::Failed(..)), Some(Event::Passed(_)))
        ));
    }

    #[test]
    fn others_are_not() {
        let test = Test::of([0, 1, 2, 3, 3, 3, 3, 3].map(ActionId));
        let options = ReplayOptions::default();
        let difference = check_determinism(&mut Stack::default(), &test, 2, &options, &mut || true);
        assert_eq!(difference, Ok(None));
    }
}
