//! Looks after an exploration: its clock, its progress line, what it looks for.

use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use testwright_core::explore::temporal::Atoms;
use testwright_core::explore::{ExploreWatcher, Progress};
use testwright_core::{ActionId, Error, Failure, System, Test};
use testwright_python::PythonSystem;

use super::Explore;
use super::findings::Desk;
use super::last_words::LastWords;
use super::questions::Questions;
use crate::console::Console;
use crate::pulse::Pulse;
use crate::{duration, quantity};

/// Why the person's own limits end an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    TimeIsUp,
    Interrupted,
}

pub(super) struct Guide<'g, 'c, 'e, 'py> {
    explore: &'g Explore,
    console: &'g mut Console<'c>,
    questions: &'g Questions<'py>,
    desk: &'g mut Desk<'e>,
    /// Whether an action may be taken, as far as was asked.
    allowed: FxHashMap<ActionId, bool>,
    pub(super) progress: Progress,
    pub(super) failures: Vec<(Test, Failure)>,
    pub(super) stop: Option<Stop>,
    /// What is wrong with a question.
    pub(super) trouble: Option<Error>,
    started: Instant,
    pulse: Pulse,
    /// When the last plain line of progress was written.
    last_line: Instant,
    last_words: LastWords,
}

impl<'g, 'c, 'e, 'py> Guide<'g, 'c, 'e, 'py> {
    /// Between two plain lines of progress.
    const PAUSE: Duration = Duration::from_secs(5);

    pub(super) fn new(
        explore: &'g Explore,
        console: &'g mut Console<'c>,
        questions: &'g Questions<'py>,
        desk: &'g mut Desk<'e>,
        last_words: LastWords,
    ) -> Guide<'g, 'c, 'e, 'py> {
        let started = Instant::now();
        Guide {
            explore,
            console,
            questions,
            desk,
            allowed: FxHashMap::default(),
            progress: Progress::default(),
            failures: Vec::new(),
            stop: None,
            trouble: None,
            started,
            pulse: Pulse::new(),
            last_line: started,
            last_words,
        }
    }

    fn may_proceed(&mut self, progress: &Progress) -> bool {
        self.progress = *progress;
        if self.trouble.is_some() || self.stop.is_some() {
            return false;
        }
        let Some(now) = self.pulse.beat() else {
            return true;
        };
        let elapsed = now - self.started;
        if testwright_python::interrupted() {
            self.stop = Some(Stop::Interrupted);
        } else if self.explore.time.is_some_and(|time| elapsed >= time) {
            self.stop = Some(Stop::TimeIsUp);
        }
        self.last_words.note(progress);
        self.show(now);
        self.stop.is_none()
    }

    fn show(&mut self, now: Instant) {
        let (progress, failures) = (self.progress, self.failures.len() as u64);
        let elapsed = now - self.started;
        let words = || progress_text(&progress, failures, elapsed);
        if self.console.is_live() {
            self.console.status(words);
        } else if !self.explore.json && now - self.last_line >= Guide::PAUSE {
            self.last_line = now;
            let words = words();
            self.console.tell(words);
        }
    }

    fn may_take(&mut self, system: &PythonSystem<'py>, action: ActionId) -> bool {
        let Some(without) = &self.questions.without else {
            return true;
        };
        *self
            .allowed
            .entry(action)
            .or_insert_with(|| !without.is_in(&system.actions().text(action)))
    }

    /// The answer to a question, unless there is something wrong with it, which ends the exploration.
    fn answer<R>(&mut self, answer: Result<R, Error>, otherwise: R) -> R {
        answer.unwrap_or_else(|error| {
            self.trouble.get_or_insert(error);
            otherwise
        })
    }
}

impl<'py> ExploreWatcher<PythonSystem<'py>> for Guide<'_, '_, '_, 'py> {
    fn proceed(&mut self, progress: &Progress) -> bool {
        self.may_proceed(progress)
    }

    fn allows(&mut self, system: &mut PythonSystem<'py>, action: ActionId) -> bool {
        self.may_take(system, action)
    }

    fn is_goal(&mut self, system: &mut PythonSystem<'py>) -> bool {
        let Some(goal) = &self.questions.goal else {
            return false;
        };
        self.answer(goal.is_true(system), false)
    }

    fn distance(&mut self, system: &mut PythonSystem<'py>) -> i64 {
        let Some(heuristic) = &self.questions.heuristic else {
            return 0;
        };
        let number = self.answer(heuristic.number(system), None);
        number.map_or(i64::MAX, in_order)
    }

    fn failed(&mut self, system: &mut PythonSystem<'py>, test: &Test, failure: &Failure) {
        self.failures.push((test.clone(), failure.clone()));
        let number = self.failures.len();
        let report = self.desk.keep_at_once(system, test, failure, number);
        self.last_words.note_failure(report);
    }
}

impl<'py> Atoms<PythonSystem<'py>> for Guide<'_, '_, '_, 'py> {
    fn holds(&mut self, system: &mut PythonSystem<'py>, predicate: &str) -> Result<bool, Error> {
        self.questions.holds(system, predicate)
    }

    fn proceed(&mut self, progress: &Progress) -> bool {
        self.may_proceed(progress)
    }

    fn allows(&mut self, system: &mut PythonSystem<'py>, action: ActionId) -> bool {
        self.may_take(system, action)
    }
}

/// A whole number for every number, in the same order. What is no number comes last.
fn in_order(number: f64) -> i64 {
    if number.is_nan() {
        return i64::MAX;
    }
    // Zero has two signs, but is one number.
    let bits = (number + 0.0).to_bits() as i64;
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

/// `1,204 states, 61,200 transitions, 12 steps deep, 310 open, 1,020 states/s, no failures`.
fn progress_text(progress: &Progress, failures: u64, elapsed: Duration) -> String {
    let rate = progress.states as f64 / elapsed.as_secs_f64().max(0.001);
    let failures = match failures {
        0 => "no failures".to_owned(),
        number => quantity::of(number, "failure"),
    };
    [
        quantity::of(progress.states, "state"),
        quantity::of(progress.transitions, "transition"),
        format!("{} deep", quantity::of(progress.depth as u64, "step")),
        format!("{} open", quantity::grouped(progress.open as u64)),
        format!("{} states/s", quantity::grouped(rate as u64)),
        failures,
        duration::show(elapsed),
    ]
    .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_order() {
        let numbers = [
            f64::NEG_INFINITY,
            -2.5,
            -2.0,
            0.0,
            0.5,
            1.0,
            1e300,
            f64::NAN,
        ];
        let keys = numbers.map(in_order);
        assert!(keys.is_sorted_by(|one, other| one < other), "{keys:?}");
        assert_eq!(in_order(-0.0), in_order(0.0));
    }
}
