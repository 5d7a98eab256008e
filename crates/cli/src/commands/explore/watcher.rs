//! The watcher of an exploration: limits, progress, queries and failures.

use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use testwright_core::explore::temporal::AtomEvaluator;
use testwright_core::explore::{ExploreProgress, ExploreWatcher, StateTransition};
use testwright_core::generate::UntakenTemplates;
use testwright_core::{ActionId, Error, Failure, System, Test};
use testwright_python::PythonSystem;

use super::ExploreCommand;
use super::findings::FindingsWriter;
use super::interrupt_report::InterruptReport;
use super::queries::Queries;
use crate::console::Console;
use crate::throttle::Throttle;
use crate::{duration, quantity};

/// A limit of the user that ended the exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EarlyStop {
    /// The time limit of `--time` was reached.
    TimeIsUp,
    /// Ctrl-C was pressed.
    Interrupted,
}

/// Watcher of an exploration: enforces limits, evaluates queries, saves failures and shows
/// progress.
pub(super) struct ExplorationMonitor<'g, 'c, 'e, 'py> {
    explore: &'g ExploreCommand,
    console: &'g mut Console<'c>,
    queries: &'g Queries<'py>,
    writer: &'g mut FindingsWriter<'e>,
    /// Cache: true for actions that `--without` lets through.
    allowed: FxHashMap<ActionId, bool>,
    /// Progress at the last step.
    pub(super) progress: ExploreProgress,
    /// Distinct failures found so far.
    pub(super) failures: Vec<(Test, Failure)>,
    /// Number of tests for each failure that did not fail in a process of their own.
    refuted: FxHashMap<String, u32>,
    /// Limit that was reached.
    pub(super) stop: Option<EarlyStop>,
    /// First error of a query; it ends the exploration.
    pub(super) error: Option<Error>,
    started: Instant,
    throttle: Throttle,
    /// Time of the last plain line of progress.
    last_line: Instant,
    interrupt_report: InterruptReport,
    /// Lines of the harness from which no action was taken.
    pub(super) untaken: UntakenTemplates,
}

impl<'g, 'c, 'e, 'py> ExplorationMonitor<'g, 'c, 'e, 'py> {
    /// Time between two plain lines of progress.
    const LINE_INTERVAL: Duration = Duration::from_secs(5);

    /// Number of such tests after which further tests with the same failure are not tried.
    const MAX_REFUTED: u32 = 3;

    /// Starts the clock.
    pub(super) fn new(
        explore: &'g ExploreCommand,
        console: &'g mut Console<'c>,
        queries: &'g Queries<'py>,
        writer: &'g mut FindingsWriter<'e>,
        (interrupt_report, untaken): (InterruptReport, UntakenTemplates),
    ) -> ExplorationMonitor<'g, 'c, 'e, 'py> {
        let started = Instant::now();
        ExplorationMonitor {
            explore,
            console,
            queries,
            writer,
            allowed: FxHashMap::default(),
            progress: ExploreProgress::default(),
            failures: Vec::new(),
            refuted: FxHashMap::default(),
            stop: None,
            error: None,
            started,
            throttle: Throttle::new(),
            last_line: started,
            interrupt_report,
            untaken,
        }
    }

    /// Returns true if the exploration may go on. Checks the limits from time to time.
    fn may_proceed(&mut self, progress: &ExploreProgress) -> bool {
        self.progress = *progress;
        if self.error.is_some() || self.stop.is_some() {
            return false;
        }
        let Some(now) = self.throttle.poll() else {
            return true;
        };
        let elapsed = now - self.started;
        if testwright_python::is_interrupted() {
            self.stop = Some(EarlyStop::Interrupted);
        } else if self.explore.time.is_some_and(|time| elapsed >= time) {
            self.stop = Some(EarlyStop::TimeIsUp);
        }
        self.interrupt_report.set_progress(progress);
        self.show(now);
        self.stop.is_none()
    }

    /// Shows the progress.
    fn show(&mut self, now: Instant) {
        let (progress, failures) = (self.progress, self.failures.len() as u64);
        let elapsed = now - self.started;
        let text = || progress_text(&progress, failures, elapsed);
        if self.console.is_live() {
            self.console.status(text);
        } else if !self.explore.json && now - self.last_line >= ExplorationMonitor::LINE_INTERVAL {
            self.last_line = now;
            let text = text();
            self.console.err(text);
        }
    }

    /// Returns true if `--without` lets an action through.
    fn may_take(&mut self, system: &PythonSystem<'py>, action: ActionId) -> bool {
        let Some(without) = &self.queries.without else {
            return true;
        };
        *self
            .allowed
            .entry(action)
            .or_insert_with(|| !without.matches(&system.actions().text(action)))
    }

    /// Returns the answer of a query. After an error, returns the fallback and ends the
    /// exploration.
    fn unwrap_answer<R>(&mut self, answer: Result<R, Error>, fallback: R) -> R {
        answer.unwrap_or_else(|error| {
            self.error.get_or_insert(error);
            fallback
        })
    }
}

impl<'py> ExploreWatcher<PythonSystem<'py>> for ExplorationMonitor<'_, '_, '_, 'py> {
    fn proceed(&mut self, progress: &ExploreProgress) -> bool {
        self.may_proceed(progress)
    }

    fn is_allowed(&mut self, system: &mut PythonSystem<'py>, action: ActionId) -> bool {
        self.may_take(system, action)
    }

    fn is_goal(&mut self, system: &mut PythonSystem<'py>) -> bool {
        let Some(goal) = &self.queries.goal else {
            return false;
        };
        self.unwrap_answer(goal.is_true(system), false)
    }

    fn distance(&mut self, system: &mut PythonSystem<'py>) -> i64 {
        let Some(heuristic) = &self.queries.heuristic else {
            return 0;
        };
        let number = self.unwrap_answer(heuristic.number(system), None);
        number.map_or(i64::MAX, order_key)
    }

    fn on_transition(&mut self, _system: &mut PythonSystem<'py>, transition: &StateTransition) {
        self.untaken.take(transition.action);
    }

    fn is_confirmed(
        &mut self,
        system: &mut PythonSystem<'py>,
        test: &Test,
        failure: &Failure,
    ) -> bool {
        let refuted = self.refuted.entry(failure.signature.clone()).or_default();
        if *refuted == ExplorationMonitor::MAX_REFUTED {
            return false;
        }
        let is_confirmed = self.writer.fails_alone(system, test, failure) != Some(false);
        *refuted += u32::from(!is_confirmed);
        is_confirmed
    }

    fn on_failure(&mut self, system: &mut PythonSystem<'py>, test: &Test, failure: &Failure) {
        self.failures.push((test.clone(), failure.clone()));
        let number = self.failures.len();
        let report = self.writer.save_immediately(system, test, failure, number);
        self.interrupt_report.add_failure(report);
    }
}

impl<'py> AtomEvaluator<PythonSystem<'py>> for ExplorationMonitor<'_, '_, '_, 'py> {
    fn holds(&mut self, system: &mut PythonSystem<'py>, predicate: &str) -> Result<bool, Error> {
        self.queries.holds(system, predicate)
    }

    fn proceed(&mut self, progress: &ExploreProgress) -> bool {
        self.may_proceed(progress)
    }

    fn allows(&mut self, system: &mut PythonSystem<'py>, action: ActionId) -> bool {
        self.may_take(system, action)
    }
}

/// Maps numbers to integers with the same order. NaN comes last.
fn order_key(number: f64) -> i64 {
    if number.is_nan() {
        return i64::MAX;
    }
    // Adding 0.0 turns -0.0 into 0.0.
    let bits = (number + 0.0).to_bits() as i64;
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

/// Formats the progress: `1,204 states, 61,200 transitions, 12 steps deep, 310 open, 1,020
/// states/s, 0 failures`.
fn progress_text(progress: &ExploreProgress, failures: u64, elapsed: Duration) -> String {
    let rate = progress.states as f64 / elapsed.as_secs_f64().max(0.001);
    [
        quantity::format_count(progress.states, "state"),
        quantity::format_count(progress.transitions, "transition"),
        format!(
            "{} deep",
            quantity::format_count(progress.depth as u64, "step")
        ),
        format!("{} open", quantity::grouped(progress.open_states as u64)),
        format!("{} states/s", quantity::grouped(rate as u64)),
        quantity::format_count(failures, "failure"),
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
        let keys = numbers.map(order_key);
        assert!(keys.is_sorted_by(|one, other| one < other), "{keys:?}");
        assert_eq!(order_key(-0.0), order_key(0.0));
    }
}
