//! Reduces failing tests in processes of their own, even tests that kill them.
//!
//! A test that fails in the ordinary way is simplified by a worker, at full speed. If the test or a
//! shorter one kills the worker, the work is done from here, step by step, with a new worker after
//! each crash.
//!
//! Each worker begins with a system that has run no test. So a test that fails only because of
//! effects of earlier tests does not fail here; then those tests are put in front of it, as few as
//! suffice.

mod bounds;
mod remotely;
mod task;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use testwright_campaign::{Activity, ForkServer, SentFailure, Timeouts, WorkerLoss};
use testwright_core::analyse::culprit::{BugIdentity, Culprit};
use testwright_core::shrink::ReduceOptions;
use testwright_core::{Catalog, Error, Failure, FailureKind, Step, Test, saved};
use testwright_python::StandaloneStyle;

use super::actions::ActionRegistry;
use super::start::{ForkServerError, Starter};
use super::{WorkerReport, WorkerTask};
use crate::files::UserPath;
use crate::{duration, reduction, unit_test};
use bounds::ReductionBounds;
use task::WorkerAnswer;

pub(crate) use bounds::TIME_IS_UP;
pub(crate) use remotely::fatal_guard;
pub(crate) use task::start;

/// Reduces one test after the other in worker processes.
pub(crate) struct WorkerReducer<'a> {
    /// The starter of fork servers.
    pub(crate) starter: &'a Starter,
    /// The actions of the campaign.
    pub(crate) actions: &'a ActionRegistry,
    /// The options of the reduction.
    pub(crate) options: ReduceOptions,
    /// The time limits of steps and tests.
    pub(crate) timeouts: Timeouts,
    /// True if the user wants to stop.
    pub(crate) stop: &'a AtomicBool,
    /// The time at which reductions end, once it is known.
    pub(crate) deadline: &'a OnceLock<Instant>,
    /// Set when the result of the current reduction is not needed any more.
    pub(crate) is_cancelled: Arc<AtomicBool>,
    /// Receives remarks for the user about what takes long.
    pub(crate) remarks: Option<Sender<String>>,
    /// The fork server, once it is started.
    fork_server: Option<ForkServer>,
}

/// The result of the reduction of a failing test.
pub(crate) enum ReductionOutcome {
    /// The test fails in a process of its own, and so does a simpler one.
    Reduced {
        test: Test,
        failure: Failure,
        /// A summary of the reduction, for people.
        summary: String,
    },
    /// The test does not fail again.
    Flaky {
        /// The failure that it has instead, if any.
        other_failure: Option<Failure>,
    },
}

/// The result of a saved test that is run again.
pub(crate) enum ReplayResult {
    Passes,
    Fails {
        test: Test,
        failure: Failure,
    },
    /// The harness does not know its steps any more.
    Unknown,
}

/// The result of an attempt to simplify a test.
enum SimplifyResult {
    Simpler {
        test: Test,
        failure: Failure,
        runs: u64,
        complete: bool,
    },
    NotReproduced(Option<Failure>),
}

impl<'a> WorkerReducer<'a> {
    /// Creates a reducer without a fork server.
    pub(crate) fn new(
        starter: &'a Starter,
        actions: &'a ActionRegistry,
        options: ReduceOptions,
        timeouts: Timeouts,
        stop: &'a AtomicBool,
        deadline: &'a OnceLock<Instant>,
    ) -> WorkerReducer<'a> {
        WorkerReducer {
            starter,
            actions,
            options,
            timeouts,
            stop,
            deadline,
            is_cancelled: Arc::default(),
            remarks: None,
            fork_server: None,
        }
    }

    /// Creates a second reducer with the same settings, to be used in parallel.
    pub(crate) fn duplicate(&self) -> WorkerReducer<'a> {
        WorkerReducer {
            remarks: self.remarks.clone(),
            ..WorkerReducer::new(
                self.starter,
                self.actions,
                self.options,
                self.timeouts,
                self.stop,
                self.deadline,
            )
        }
    }

    /// Returns true if the time for reductions is up.
    pub(crate) fn is_time_up(&self) -> bool {
        self.bounds().is_over()
    }

    /// Returns the bounds of the current reduction.
    fn bounds(&self) -> ReductionBounds<'a> {
        ReductionBounds {
            deadline: Some(self.deadline),
            grace: Duration::ZERO,
            is_cancelled: self.is_cancelled.clone(),
        }
    }

    /// Reduces a test. `history` contains all steps of the worker that found it, up to this
    /// failure.
    pub(crate) fn reduce(
        &mut self,
        test: &Test,
        (failure, culprit): (&Failure, Option<&Culprit>),
        history: Option<&Test>,
    ) -> Result<ReductionOutcome, Error> {
        let started = Instant::now();
        if failure.kind == FailureKind::Hang && failure.signature == RESET {
            return self.confirm_reset_hang(test, failure);
        }
        let mut other_failure = None;
        let with_others = history.map(|history| growing_suffixes(history, test.len()));
        let candidates = std::iter::once(test.clone()).chain(with_others.into_iter().flatten());
        for (number, candidate) in candidates.enumerate() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Error::new("interrupted"));
            }
            if self.is_time_up() {
                return Err(Error::new(TIME_IS_UP));
            }
            // Running many earlier tests takes as long as it took the first time.
            if number > 0
                && (candidate.len() > WorkerReducer::MAX_HISTORY_STEPS
                    || started.elapsed() > WorkerReducer::MAX_HISTORY_TIME)
            {
                break;
            }
            // Most processes that are killed from outside were not killed by their test; a replay
            // at full speed shows that. A short test is tried step by step at once: a crash that
            // does not repeat says little on a busy machine.
            let takes_long =
                failure.kind == FailureKind::Crash && candidate.len() > WorkerReducer::QUICK_STEPS;
            let attempt = if number > 0 || takes_long {
                match self.replay_test(&candidate)? {
                    ReplayResult::Fails { failure: other, .. } if !other.is_same_as(failure) => {
                        SimplifyResult::NotReproduced(Some(other))
                    }
                    ReplayResult::Passes => SimplifyResult::NotReproduced(None),
                    ReplayResult::Fails { .. } | ReplayResult::Unknown => {
                        self.simplify(&candidate, failure, culprit)?
                    }
                }
            } else {
                self.simplify(&candidate, failure, culprit)?
            };
            match attempt {
                SimplifyResult::NotReproduced(other) if number == 0 => other_failure = other,
                SimplifyResult::NotReproduced(_) => {}
                SimplifyResult::Simpler {
                    test: simpler,
                    failure,
                    runs,
                    complete,
                } => {
                    let time = started.elapsed();
                    let mut summary =
                        reduction::summary(&candidate, &simpler, runs, time, complete);
                    if number > 0 {
                        summary = format!(
                            "It fails only after other tests: a reset does not undo all that they did.\n{summary}"
                        );
                    }
                    return Ok(ReductionOutcome::Reduced {
                        test: simpler,
                        failure,
                        summary,
                    });
                }
            }
        }
        Ok(ReductionOutcome::Flaky { other_failure })
    }

    /// The maximum time to search for the influence of earlier tests.
    const MAX_HISTORY_TIME: Duration = Duration::from_secs(20);
    /// The maximum number of steps of earlier tests.
    const MAX_HISTORY_STEPS: usize = 100_000;

    /// The number of steps that can be tried one by one quickly.
    const QUICK_STEPS: usize = 1_000;

    /// Simplifies a test in one process for all attempts. If the result does not fail in a new
    /// process, attempts have influenced each other, and each gets a process of its own.
    fn simplify(
        &mut self,
        test: &Test,
        failure: &Failure,
        culprit: Option<&Culprit>,
    ) -> Result<SimplifyResult, Error> {
        let attempt = if is_fatal(failure.kind) {
            self.simplify_remotely(test, failure, false)?
        } else {
            self.simplify_in_worker(test, failure, culprit)?
        };
        // The reduced test of a hang was confirmed in a new process.
        let is_stopping = self.stop.load(Ordering::Relaxed) || failure.kind == FailureKind::Hang;
        match &attempt {
            SimplifyResult::Simpler { test: short, .. }
                if !is_stopping && !self.fails_same_way(short, failure)? =>
            {
                if self.is_time_up() {
                    return Err(Error::new(TIME_IS_UP));
                }
                self.simplify_remotely(test, failure, true)
            }
            _ => Ok(attempt),
        }
    }

    /// Returns true if a test fails in the same way in a new process.
    fn fails_same_way(&mut self, test: &Test, failure: &Failure) -> Result<bool, Error> {
        Ok(match self.replay_test(test)? {
            ReplayResult::Fails { failure: other, .. } => other.is_same_as(failure),
            ReplayResult::Passes | ReplayResult::Unknown => false,
        })
    }

    /// Runs a test in a new process.
    fn replay_test(&mut self, test: &Test) -> Result<ReplayResult, Error> {
        let text = saved::write(&self.actions.catalog(), test, &[]);
        self.replay(&text)
    }

    /// Simplifies a test in a worker, at full speed.
    fn simplify_in_worker(
        &mut self,
        test: &Test,
        failure: &Failure,
        culprit: Option<&Culprit>,
    ) -> Result<SimplifyResult, Error> {
        let task = WorkerTask::Simplify {
            test: self.actions.encode_test(test),
            failure: failure.into(),
            culprit: culprit.cloned().map(Into::into),
        };
        match self.run_task(&task, self.stop, self.bounds())? {
            WorkerAnswer::Report(WorkerReport::Simplified {
                test,
                failure: sent,
                runs,
                complete,
            }) => Ok(SimplifyResult::Simpler {
                test: self.actions.decode_test(test),
                failure: sent.into_failure().unwrap_or_else(|| failure.clone()),
                runs,
                complete,
            }),
            WorkerAnswer::Report(WorkerReport::NotReproduced(other)) => {
                let other = other.and_then(SentFailure::into_failure);
                Ok(SimplifyResult::NotReproduced(other))
            }
            // Earlier attempts may have damaged the process.
            WorkerAnswer::Report(WorkerReport::Impossible(_)) => {
                self.simplify_remotely(test, failure, true)
            }
            // A shorter test ends the process, although this one does not.
            WorkerAnswer::Report(_) | WorkerAnswer::Lost(..) | WorkerAnswer::Nothing => {
                self.simplify_remotely(test, failure, false)
            }
        }
    }

    /// Finds the identity of the bug that a reduced test shows.
    ///
    /// That is done in a worker at full speed; if the test or an observation ends the worker, it is
    /// done from here. If it cannot be found, the failure's own signature is the identity.
    pub(crate) fn identify(&mut self, test: &Test, failure: &Failure) -> BugIdentity {
        let mut identity = BugIdentity::of_failure(&self.actions.catalog(), test, failure);
        let task = WorkerTask::Identify {
            test: self.actions.encode_test(test),
            failure: failure.into(),
        };
        match self.run_task(&task, self.stop, self.bounds()) {
            Ok(WorkerAnswer::Report(WorkerReport::Identified(culprit))) => {
                identity.culprit = culprit.map(Into::into);
                identity
            }
            Ok(WorkerAnswer::Lost(..)) => self.identify_remotely(test, failure).unwrap_or(identity),
            _ => identity,
        }
    }

    /// Starts the fork server, which loads the harness, unless that was done already.
    pub(crate) fn prepare(&mut self) -> Result<(), ForkServerError> {
        if self.fork_server.is_none() {
            let stop = self.stop;
            let mut wait = |_| !stop.load(Ordering::Relaxed);
            self.fork_server = Some(self.starter.start(&mut wait)?);
        }
        Ok(())
    }

    /// Runs a saved test in a new worker.
    pub(crate) fn replay(&mut self, text: &str) -> Result<ReplayResult, Error> {
        let task = WorkerTask::Replay {
            text: text.to_owned(),
        };
        // A result that is not checked is worth less, so the time may be exceeded a little.
        let bounds = self.bounds().with_grace(ReductionBounds::CHECK);
        Ok(match self.run_task(&task, self.stop, bounds)? {
            WorkerAnswer::Report(WorkerReport::Replayed { failure: None, .. }) => {
                ReplayResult::Passes
            }
            WorkerAnswer::Report(WorkerReport::Replayed {
                test,
                failure: Some(failure),
            }) => ReplayResult::Fails {
                test: self.actions.decode_test(test),
                failure: failure
                    .into_failure()
                    .ok_or_else(|| Error::new("there is no such kind of failure"))?,
            },
            WorkerAnswer::Lost(loss, test) => ReplayResult::Fails {
                failure: loss_failure(&loss, &test, &self.actions.catalog()),
                test,
            },
            WorkerAnswer::Report(_) | WorkerAnswer::Nothing => ReplayResult::Unknown,
        })
    }

    /// Renders a test as a file for pytest that was run and fails. Returns `None` if this kind of
    /// system has no such files.
    pub(crate) fn render_unit_test(
        &mut self,
        test: &Test,
        failure: &Failure,
        title: String,
        file: &UserPath,
    ) -> Option<Result<String, Error>> {
        let limit = unit_test::limit_in_file(self.timeouts.step);
        if let (FailureKind::Hang, Some(remarks)) = (failure.kind, &self.remarks) {
            let limit = duration::show(limit);
            let text = format!("checking the pytest file of the hang, which ends after {limit}");
            let _campaign_is_over = remarks.send(text);
        }
        let task = WorkerTask::WriteUnitTest {
            test: self.actions.encode_test(test),
            failure: failure.into(),
            title,
            file: file.absolute().to_owned(),
            limit,
        };
        // Writing one test is quick, so it is done even if the user wants to stop.
        let bounds = ReductionBounds {
            is_cancelled: self.is_cancelled.clone(),
            ..ReductionBounds::default()
        };
        Some(
            match self.run_task(&task, &AtomicBool::new(false), bounds) {
                Ok(WorkerAnswer::Report(WorkerReport::UnitTest(draft))) => {
                    draft.confirmed(StandaloneStyle::Pytest, Some(failure), file.absolute())
                }
                Ok(WorkerAnswer::Report(WorkerReport::NoUnitTest)) => return None,
                Ok(WorkerAnswer::Report(WorkerReport::Impossible(error))) => Err(error.into()),
                Ok(_) => Err(Error::new("the process that was to write it has ended")),
                Err(error) => Err(error),
            },
        )
    }
}

/// The signature of a hang in a reset.
const RESET: &str = "reset";

/// Returns true if a failure ends the process.
pub(crate) fn is_fatal(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::Crash | FailureKind::Hang)
}

/// Returns the last tests of a history: the last two, then more and more of them, and at last all.
fn growing_suffixes(history: &Test, last: usize) -> Vec<Test> {
    let steps = &history.steps;
    let end = steps.len().saturating_sub(last);
    let mut begins: Vec<usize> = (0..end)
        .filter(|index| *index == 0 || steps[index - 1] == Step::Restart)
        .collect();
    begins.reverse();
    let mut chosen = Vec::new();
    let mut number = 1;
    while let Some(begin) = begins.get(number - 1) {
        chosen.push(*begin);
        number *= 2;
    }
    chosen.extend(begins.last().filter(|first| chosen.last() != Some(first)));
    let test = |begin: usize| Test::from_steps(steps[begin..].to_vec());
    chosen.into_iter().map(test).collect()
}

/// Returns the loss of a worker as a failure of the test that it was running.
pub(crate) fn loss_failure(loss: &WorkerLoss, test: &Test, catalog: &Catalog) -> Failure {
    let last = test.steps.iter().rev().find_map(|step| match step {
        Step::Act(action) => Some(*action),
        Step::Restart => None,
    });
    let is_reset = loss.activity == Activity::Resetting;
    let last = last.filter(|_| !is_reset);
    let location = last.map_or_else(|| RESET.to_owned(), |action| catalog.template_key(action));
    loss.ending.failure(&location, loss.waited)
}

#[cfg(test)]
mod tests {
    use testwright_core::ActionId;

    use super::*;

    #[test]
    fn a_history_is_tried_from_its_end() {
        let act = |action| Step::Act(ActionId(action));
        let mut steps = Vec::new();
        for number in 0..5 {
            steps.extend([act(number), act(number), Step::Restart]);
        }
        steps.extend([act(9), act(8)]);
        let tests = growing_suffixes(&Test::from_steps(steps.clone()), 2);
        let lengths: Vec<usize> = tests.iter().map(Test::len).collect();
        assert_eq!(lengths, [5, 8, 14, 17]);
        assert_eq!(tests[3].steps, steps);
        assert!(growing_suffixes(&Test::from_steps(vec![act(1)]), 1).is_empty());
    }
}
