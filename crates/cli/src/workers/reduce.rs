//! Reduces failing tests in processes of their own, even tests that kill them.
//!
//! A test that fails in the ordinary way is simplified by a worker, at full speed. If the test or a
//! shorter one kills the worker, the work is done from here, step by step, with a new worker after
//! each crash.
//!
//! Each worker begins with a system that has run no test. So a test that fails only because of
//! effects of earlier tests does not fail here; then those tests are put in front of it, as few as
//! suffice.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use testwright_campaign::{
    Activity, ForkServer, ProcessLauncher, RemoteSystem, SentFailure, StepLog, Supervisor,
    TEST_TIMEOUT_SIGNATURE, Timeouts, WorkerLoss, WorkerOutcome, supervise,
};
use testwright_core::analyse::culprit::{BugIdentity, identify};
use testwright_core::replay::{ReplayOptions, ReplayWatcher, replay};
use testwright_core::shrink::{ReduceError, ReduceOptions, Shrunk};
use testwright_core::{ActionId, Catalog, Error, Failure, FailureKind, Step, System, Test, saved};
use testwright_python::StandaloneStyle;

use super::actions::{ActionRegistry, WorkerActionIds};
use super::start::{ForkServerError, Starter};
use super::{WorkerReport, WorkerTask};
use crate::files::UserPath;
use crate::reduction::{self, ReductionGoal};
use crate::{duration, unit_test};

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

/// The result of a worker's task.
enum WorkerAnswer {
    Report(WorkerReport),
    /// The worker died or hung. Contains the test that it was running.
    Lost(Box<WorkerLoss>, Test),
    /// The worker ended without a report, or could not be started.
    Nothing,
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
        failure: &Failure,
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
                        self.simplify(&candidate, failure)?
                    }
                }
            } else {
                self.simplify(&candidate, failure)?
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
    fn simplify(&mut self, test: &Test, failure: &Failure) -> Result<SimplifyResult, Error> {
        let attempt = if is_fatal(failure.kind) {
            self.simplify_remotely(test, failure, false)?
        } else {
            self.simplify_in_worker(test, failure)?
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
    ) -> Result<SimplifyResult, Error> {
        let task = WorkerTask::Simplify {
            test: self.actions.encode_test(test),
            failure: failure.into(),
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

    /// Simplifies a test step by step from here; with a new process for each attempt if `is_fresh`.
    fn simplify_remotely(
        &mut self,
        test: &Test,
        failure: &Failure,
        is_fresh: bool,
    ) -> Result<SimplifyResult, Error> {
        if failure.kind == FailureKind::Hang && failure.signature != TEST_TIMEOUT_SIGNATURE {
            return self.simplify_hang(test, failure, is_fresh);
        }
        let aim = if failure.kind == FailureKind::Hang {
            ReductionGoal::Short
        } else {
            ReductionGoal::Simple
        };
        self.shrink(test, failure, aim, (WorkerReducer::FLOOR, is_fresh))
    }

    /// Simplifies a test in which a step hangs.
    ///
    /// A hundred trials that each wait for the limit of a step would take long, so trials have a
    /// limit that is learned from the steps that end. A step that exceeds it need not hang, so the
    /// result is confirmed with the time that a hang takes to be sure of.
    fn simplify_hang(
        &mut self,
        test: &Test,
        failure: &Failure,
        is_fresh: bool,
    ) -> Result<SimplifyResult, Error> {
        for floor in WorkerReducer::HANG_FLOORS {
            let floor = floor.min(self.timeouts.step);
            let goal = ReductionGoal::Short;
            let shrunk = self.shrink(test, failure, goal, (floor, is_fresh))?;
            if let SimplifyResult::Simpler {
                test,
                runs,
                complete,
                ..
            } = shrunk
                && let Some(confirmed) = self.confirm(&test)?
                && confirmed.is_same_as(failure)
            {
                return Ok(SimplifyResult::Simpler {
                    test,
                    failure: confirmed,
                    runs,
                    complete,
                });
            }
            if self.is_time_up() {
                return Err(Error::new(TIME_IS_UP));
            }
        }
        Ok(match self.confirm(test)? {
            Some(confirmed) if confirmed.is_same_as(failure) => SimplifyResult::Simpler {
                test: test.clone(),
                failure: confirmed,
                runs: 1,
                complete: false,
            },
            other => SimplifyResult::NotReproduced(other),
        })
    }

    /// Runs a test whose last step may hang, with the time that a hang takes to be sure of. Only
    /// that step may exceed the time for reductions.
    fn confirm(&self, test: &Test) -> Result<Option<Failure>, Error> {
        let bounds = self.bounds().with_grace(ReductionBounds::CHECK);
        self.run_within(&mut self.remote(), test, &bounds)
    }

    /// Runs a test after which the reset hangs. It is not reduced.
    fn confirm_reset_hang(
        &self,
        test: &Test,
        failure: &Failure,
    ) -> Result<ReductionOutcome, Error> {
        let mut remote = self.remote();
        let mut steps = test.clone();
        if steps.steps.last() == Some(&Step::Restart) {
            steps.steps.pop();
        }
        let ended = self.run_within(&mut remote, &steps, &self.bounds())?;
        let other_failure = match ended {
            Some(other) => Some(other),
            None => remote.reset_once().err(),
        };
        Ok(match other_failure {
            Some(found) if found.is_same_as(failure) => ReductionOutcome::Reduced {
                test: test.clone(),
                failure: found,
                summary: "Not reduced, since it is the reset after these steps that hangs:"
                    .to_owned(),
            },
            other_failure => ReductionOutcome::Flaky { other_failure },
        })
    }

    /// Runs a test on a remote system, and returns its failure.
    fn run_within(
        &self,
        remote: &mut impl System,
        test: &Test,
        bounds: &ReductionBounds<'_>,
    ) -> Result<Option<Failure>, Error> {
        let options = ReplayOptions {
            check: self.options.check,
        };
        let is_over = || self.stop.load(Ordering::Relaxed) || bounds.is_over();
        let trace = replay(remote, test, &options, &mut WhileWanted(&is_over))?;
        if trace.interrupted || bounds.is_cancelled.load(Ordering::Relaxed) {
            return Err(self.reason_to_stop());
        }
        Ok(trace.failure().cloned())
    }

    /// Returns the error for a reduction that was stopped.
    fn reason_to_stop(&self) -> Error {
        Error::new(if self.is_time_up() {
            TIME_IS_UP
        } else {
            "interrupted"
        })
    }

    /// The least limits of steps in trials of a test that hangs, tried one after the other.
    const HANG_FLOORS: [Duration; 2] = [Duration::from_millis(50), WorkerReducer::FLOOR];

    /// The least limit of steps in trials of other tests.
    const FLOOR: Duration = Duration::from_millis(500);

    /// Runs the reduction algorithm on a remote system. Steps have a limit that is learned, of at
    /// least `floor`. If the test itself does not hang, its own steps are measured before.
    fn shrink(
        &mut self,
        test: &Test,
        failure: &Failure,
        aim: ReductionGoal,
        (floor, is_fresh): (Duration, bool),
    ) -> Result<SimplifyResult, Error> {
        let (stop, bounds) = (self.stop, self.bounds());
        let mut proceed = || !stop.load(Ordering::Relaxed) && !bounds.is_over();
        let options = self.options;
        let mut remote = self.remote().with_learned_limit(floor, None);
        if is_fresh {
            remote = remote.with_process_per_test();
        }
        if failure.kind != FailureKind::Hang {
            remote = remote.measuring_first();
            match self.run_within(&mut remote, test, &bounds)? {
                Some(found) if found.is_same_as(failure) => {}
                other => return Ok(SimplifyResult::NotReproduced(other)),
            }
            remote.apply_learned_limit();
        } else if failure.signature == TEST_TIMEOUT_SIGNATURE {
            // A test that takes too long as a whole needs all of its time.
            remote.use_full_limits();
        }
        match reduction::shrink(&mut remote, test, failure, &options, aim, &mut proceed) {
            Ok((
                Shrunk {
                    test,
                    failure: found,
                    complete,
                    ..
                },
                effort,
            )) => Ok(SimplifyResult::Simpler {
                test,
                failure: found.unwrap_or_else(|| failure.clone()),
                runs: effort.runs,
                complete,
            }),
            Err(ReduceError::NotReproduced(other)) => Ok(SimplifyResult::NotReproduced(other)),
            Err(ReduceError::Error(error)) => Err(error),
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

    /// Finds the identity of a bug step by step from here.
    fn identify_remotely(&self, test: &Test, failure: &Failure) -> Result<BugIdentity, Error> {
        let stop = self.stop;
        let options = ReplayOptions {
            check: self.options.check,
        };
        let bounds = self.bounds();
        let mut proceed = || !stop.load(Ordering::Relaxed) && !bounds.is_over();
        // Many observations may hang, and each would wait for the whole limit.
        let floor = WorkerReducer::FLOOR.min(self.timeouts.step);
        let mut remote = self.remote().with_learned_limit(floor, None);
        identify(&mut remote, test, failure, &options, &mut proceed)
    }

    /// Returns the system in processes that may die.
    fn remote(
        &self,
    ) -> RemoteSystem<
        ProcessLauncher<impl FnMut() -> Result<ForkServer, Error> + use<'a>, WorkerTask>,
    > {
        let (starter, stop) = (self.starter, self.stop);
        let start = move || start(starter, stop);
        RemoteSystem::new(
            self.actions.catalog().clone(),
            ProcessLauncher::new(start, WorkerTask::Serve),
            self.timeouts,
        )
        .with_cancellation(self.is_cancelled.clone())
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
            fatal: is_fatal(failure.kind).then(|| failure.into()),
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

    /// Runs one task in a new worker, unless the user wants to stop.
    fn run_task(
        &mut self,
        task: &WorkerTask,
        stop: &AtomicBool,
        bounds: ReductionBounds<'_>,
    ) -> Result<WorkerAnswer, Error> {
        // The fork server may be gone: the last worker may have killed it.
        for _ in 0..2 {
            let mut fork_server = match self.fork_server.take() {
                Some(fork_server) => fork_server,
                None => start(self.starter, stop)?,
            };
            let mut listener = ReportListener {
                action_ids: WorkerActionIds::new(self.actions),
                stop,
                bounds: &bounds,
                report: None,
                stop_requested: None,
            };
            let outcome = supervise(&mut fork_server, task, &self.timeouts, &mut listener);
            let answer = match outcome {
                Ok(WorkerOutcome::Finished) => listener
                    .report
                    .map_or(WorkerAnswer::Nothing, WorkerAnswer::Report),
                Ok(WorkerOutcome::Dismissed) if bounds.is_over() => {
                    return Err(Error::new(TIME_IS_UP));
                }
                Ok(WorkerOutcome::Dismissed) => return Err(Error::new("interrupted")),
                Ok(WorkerOutcome::Lost(loss)) => {
                    let test = listener.action_ids.test(&loss.current_test);
                    WorkerAnswer::Lost(loss, test)
                }
                Err(_) => continue,
            };
            self.fork_server = Some(fork_server);
            return Ok(answer);
        }
        Ok(WorkerAnswer::Nothing)
    }
}

/// Starts a fork server. Converts the reasons for which that can fail to an error.
pub(crate) fn start(starter: &Starter, stop: &AtomicBool) -> Result<ForkServer, Error> {
    let mut wait = |_| !stop.load(Ordering::Relaxed);
    starter.start(&mut wait).map_err(|error| match error {
        ForkServerError::Error(error) => error,
        ForkServerError::Reported(messages) => {
            Error::new(format!("the system cannot be loaded any more:\n{messages}"))
        }
        ForkServerError::Abandoned => Error::new("interrupted"),
    })
}

/// The reason why a reduction was not begun, or not finished.
pub(crate) const TIME_IS_UP: &str = "the time is up (`--time` allows more)";

/// The bounds of a reduction; none by default.
#[derive(Clone, Default)]
struct ReductionBounds<'a> {
    /// The time at which it ends, once that is known.
    deadline: Option<&'a OnceLock<Instant>>,
    /// The time by which it may be exceeded.
    grace: Duration,
    /// Set when its result is not needed any more.
    is_cancelled: Arc<AtomicBool>,
}

impl ReductionBounds<'_> {
    /// The time that the check of a result may take beyond the end.
    const CHECK: Duration = Duration::from_secs(1);

    /// Returns bounds that end later.
    fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Returns true if the reduction has to end.
    fn is_over(&self) -> bool {
        let deadline = self.deadline.and_then(OnceLock::get);
        deadline.is_some_and(|deadline| Instant::now() >= *deadline + self.grace)
            || self.is_cancelled.load(Ordering::Relaxed)
    }
}

/// Lets a replay go on until it is over.
struct WhileWanted<'f>(&'f dyn Fn() -> bool);

impl<S: ?Sized> ReplayWatcher<S> for WhileWanted<'_> {
    fn proceed(&mut self) -> bool {
        !(self.0)()
    }
}

/// Finds the action whose guard ends the process or hangs after a test. The log of a process does not
/// tell which guard it was in.
pub(crate) fn fatal_guard(
    starter: &Starter,
    actions: &ActionRegistry,
    timeouts: &Timeouts,
    stop: &AtomicBool,
    test: &Test,
) -> Option<ActionId> {
    let catalog = actions.complete_catalog()?;
    let launcher = ProcessLauncher::new(|| start(starter, stop), WorkerTask::Serve);
    let floor = WorkerReducer::FLOOR.min(timeouts.step);
    let remote = RemoteSystem::new(catalog.clone(), launcher, *timeouts);
    let mut remote = remote.with_learned_limit(floor, None).measuring_first();
    remote.begin().ok()?;
    for step in &test.steps {
        match step {
            Step::Restart => remote.reset().ok()?,
            Step::Act(action) => drop(remote.step(*action)),
        }
    }
    remote.apply_learned_limit();
    catalog.ids().find(|action| {
        remote.is_enabled(*action);
        remote.process_failure().is_some() || stop.load(Ordering::Relaxed)
    })
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

/// Waits for the one report of a worker.
struct ReportListener<'a> {
    /// The numbers that the worker uses for actions.
    action_ids: WorkerActionIds<'a>,
    stop: &'a AtomicBool,
    bounds: &'a ReductionBounds<'a>,
    /// The report, once it has come.
    report: Option<WorkerReport>,
    /// The time when the worker was requested to stop.
    stop_requested: Option<Instant>,
}

impl ReportListener<'_> {
    /// The time that a worker has to notice that it is to stop.
    const GRACE: Duration = Duration::from_millis(500);
}

impl Supervisor<WorkerReport> for ReportListener<'_> {
    type Answer = ();

    fn handle_report(&mut self, report: WorkerReport, _log: &StepLog) {
        match report {
            WorkerReport::ActionNamed(name) => self.action_ids.add_name(&name),
            report => self.report = Some(report),
        }
    }

    fn answer_report(&mut self, report: WorkerReport, log: &StepLog) {
        self.handle_report(report, log);
    }

    fn poll(&mut self, log: &StepLog) -> bool {
        if !self.stop.load(Ordering::Relaxed) && !self.bounds.is_over() {
            return true;
        }
        log.request_stop();
        let requested = self.stop_requested.get_or_insert_with(Instant::now);
        requested.elapsed() < ReportListener::GRACE
    }
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
