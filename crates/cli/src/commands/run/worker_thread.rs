//! The thread that supervises one worker process.
//!
//! It starts a fork server for the harness, hands the worker its share of the search, forwards its
//! reports to the campaign as [`WorkerEvent`]s, and replaces the worker when it crashes or hangs.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use testwright_campaign::{
    Activity, SentFailure, SentTest, SlowActivity, StepLog, Supervisor, Timeouts, WorkerEnd,
    WorkerLoss, WorkerOutcome, supervise,
};
use testwright_core::{ActionId, Error, Failure, Step, Test};

use super::failures::{TestOrigin, UnreducedFailure};
use crate::guard::{confirmation_text, slow_text};
use crate::workers::actions::{ActionRegistry, WorkerActionIds};
use crate::workers::reduce::{fatal_guard, loss_failure};
use crate::workers::start::{ForkServerError, Starter};
use crate::workers::{NextStep, ReachedCode, SearchTask, SentProblem, WorkerReport, WorkerTask};

/// Settings and signals that all worker threads share.
pub(super) struct SharedContext<'a> {
    /// Starter of fork servers.
    pub(super) starter: &'a Starter,
    pub(super) actions: &'a ActionRegistry,
    /// Seed of the search; each stream derives its own from it.
    pub(super) seed: u64,
    /// Time limits after which a worker counts as hung.
    pub(super) timeouts: Timeouts,
    /// True if workers report every test they finish, so that it can be saved.
    pub(super) keep_tests: bool,
    /// Number of worker threads.
    pub(super) jobs: usize,
    /// Set by the campaign once no further test is needed.
    pub(super) stop: &'a AtomicBool,
    /// Set when the user interrupts: workers that do not stop in time are killed.
    pub(super) is_interrupted: &'a AtomicBool,
    /// Number of random streams handed out so far.
    pub(super) streams: &'a AtomicU64,
    /// Tests of earlier campaigns that a worker begins with.
    pub(super) corpus: &'a [SentTest],
    /// Failures that the campaign has found already.
    pub(super) found_failures: &'a Mutex<Vec<Failure>>,
}

impl SharedContext<'_> {
    /// Returns true if the campaign has found this failure already.
    fn is_known(&self, failure: &Failure) -> bool {
        let known = self
            .found_failures
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        known.iter().any(|known| known.is_same_as(failure))
    }
}

/// Events that a worker thread sends to the campaign.
pub(super) enum WorkerEvent {
    /// The worker has loaded the harness and begins its first test.
    Ready(usize),
    /// The worker process crashed, or was killed because it hung.
    Lost {
        worker: usize,
        hangs: bool,
        reason: String,
    },
    /// A step takes so long that it may hang. Its test can be reduced while it is confirmed.
    HangSuspected {
        worker: usize,
        unreduced: UnreducedFailure,
    },
    /// The step has ended.
    SuspicionRefuted { worker: usize },
    /// A line for the user about a step that takes long.
    Remark(String),
    /// A test reached branches that were new to its worker.
    CoverageReached {
        worker: usize,
        test: String,
        files: Vec<(PathBuf, Vec<u32>)>,
        arcs: Vec<(PathBuf, (i32, i32))>,
    },
    /// Steps of lines of the harness from which the worker had taken no action before.
    LinesTaken(Test),
    /// A test ended, with or without a failure.
    TestFinished {
        worker: usize,
        origin: TestOrigin,
        test: Test,
        failure: Option<Failure>,
        is_new: bool,
    },
    /// A test failed. The worker waits for the reply.
    FailureFound {
        worker: usize,
        unreduced: UnreducedFailure,
        /// All steps that the worker process had taken, ending with this test; `None` for a known
        /// failure.
        history: Option<Test>,
        reply: Sender<NextStep>,
    },
    /// The worker asks for tests that other workers shared.
    TestsRequested {
        worker: usize,
        reply: Sender<Vec<SentTest>>,
    },
    /// The worker has ended its search.
    SearchEnded {
        deadlocks: u64,
        is_idle: bool,
        problems: Vec<SentProblem>,
        error: Option<Error>,
    },
    /// The harness cannot be loaded.
    LoadFailed(ForkServerError),
    /// The thread has ended; no further event follows.
    ThreadEnded,
}

/// Statistics of a worker, written by its thread and read by the campaign.
#[derive(Debug, Default)]
pub(super) struct WorkerStats {
    /// Number of tests, over all processes of the worker.
    tests: AtomicU64,
    /// Number of steps, over all processes of the worker.
    steps: AtomicU64,
    /// A [`WorkerState`] as a number.
    state: AtomicU8,
    /// Number of processes that crashed or hung.
    crashes: AtomicU64,
    /// Milliseconds since the worker last made progress.
    step_millis: AtomicU64,
    /// Id of the last action plus one; 0 before the first action.
    action: AtomicU64,
}

/// Activity of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorkerState {
    /// The harness is being loaded.
    Loading,
    /// Tests are running.
    Testing,
    /// The worker has ended.
    Over,
}

impl WorkerStats {
    /// Returns the number of tests.
    pub(super) fn tests(&self) -> u64 {
        self.tests.load(Ordering::Relaxed)
    }

    /// Returns the number of steps.
    pub(super) fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Returns the number of worker processes that crashed or hung.
    pub(super) fn crashes(&self) -> u64 {
        self.crashes.load(Ordering::Relaxed)
    }

    /// Returns the last action, if any.
    pub(super) fn action(&self) -> Option<ActionId> {
        let action = self.action.load(Ordering::Relaxed);
        (action > 0).then(|| ActionId(action - 1))
    }

    /// Returns the time since the worker last made progress.
    pub(super) fn step_time(&self) -> Duration {
        Duration::from_millis(self.step_millis.load(Ordering::Relaxed))
    }

    /// Returns the current activity.
    pub(super) fn state(&self) -> WorkerState {
        match self.state.load(Ordering::Relaxed) {
            0 => WorkerState::Loading,
            1 => WorkerState::Testing,
            _ => WorkerState::Over,
        }
    }

    /// Sets the current activity.
    fn set(&self, state: WorkerState) {
        self.state.store(state as u8, Ordering::Relaxed);
    }
}

/// Runs the thread of one worker: starts a fork server, hands out the search, and starts again when
/// the worker process dies.
///
/// Returns when the share of the work is done, the campaign stops, or workers cannot be started.
/// `tests` and `steps` limit the share of this worker.
pub(super) fn run(
    context: &SharedContext<'_>,
    worker: usize,
    stats: &WorkerStats,
    (tests, steps): (Option<u64>, Option<u64>),
    events: &Sender<WorkerEvent>,
) {
    let mut server = None;
    let mut failed_starts = 0;
    let is_enough = |done: u64, share: Option<u64>| share.is_some_and(|share| done >= share);
    while !context.stop.load(Ordering::Relaxed)
        && !is_enough(stats.tests(), tests)
        && !is_enough(stats.steps(), steps)
    {
        let mut current = match server.take() {
            Some(server) => server,
            None => {
                stats.set(WorkerState::Loading);
                let mut wait = |remark: Option<String>| {
                    if let Some(text) = remark {
                        let _campaign_is_over = events.send(WorkerEvent::Remark(text));
                    }
                    !context.stop.load(Ordering::Relaxed)
                };
                match context.starter.start(&mut wait) {
                    Ok(server) => server,
                    Err(ForkServerError::Abandoned) => break,
                    Err(why) => {
                        let _campaign_is_over = events.send(WorkerEvent::LoadFailed(why));
                        break;
                    }
                }
            }
        };
        stats.set(WorkerState::Testing);
        let _campaign_is_over = events.send(WorkerEvent::Ready(worker));
        let stream = context.streams.fetch_add(1, Ordering::Relaxed);
        let task = SearchTask {
            seed: stream_seed(context.seed, stream),
            tests: tests.map(|share| share.saturating_sub(stats.tests())),
            steps: steps.map(|share| share.saturating_sub(stats.steps())),
            report_all: context.keep_tests,
            has_other_workers: context.jobs > 1,
            corpus: context.corpus.to_vec(),
        };
        let mut receiver = ReportReceiver {
            context,
            worker,
            stream,
            stats,
            events,
            before: (stats.tests(), stats.steps()),
            files: Vec::new(),
            progress: (0, Instant::now()),
            slowest: Duration::ZERO,
            is_suspicious: false,
            stop_requested: None,
            is_unusable: false,
            action_ids: WorkerActionIds::new(context.actions),
        };
        let outcome = supervise(
            &mut current,
            &WorkerTask::Search(task),
            &context.timeouts,
            &mut receiver,
        );
        match outcome {
            Ok(WorkerOutcome::Finished) if receiver.is_unusable => server = Some(current),
            Ok(WorkerOutcome::Finished | WorkerOutcome::Dismissed) => break,
            Ok(WorkerOutcome::Lost(loss)) if is_hang_before_steps(&loss) => {
                let error = ForkServerError::Error(early_hang(&loss));
                let _campaign_is_over = events.send(WorkerEvent::LoadFailed(error));
                break;
            }
            Ok(WorkerOutcome::Lost(loss)) => {
                failed_starts = 0;
                stats.tests.fetch_add(1, Ordering::Relaxed);
                stats.crashes.fetch_add(1, Ordering::Relaxed);
                if receiver.report_loss(*loss) == NextStep::Stop {
                    break;
                }
                server = Some(current);
            }
            // The fork server was killed, perhaps by the code under test. A new one is started.
            Err(_) if failed_starts < 3 => failed_starts += 1,
            Err(error) => {
                let message = format!("workers cannot be started any more: {error}");
                let error = ForkServerError::Error(Error::new(message));
                let _campaign_is_over = events.send(WorkerEvent::LoadFailed(error));
                break;
            }
        }
    }
    stats.set(WorkerState::Over);
    let _campaign_is_over = events.send(WorkerEvent::ThreadEnded);
}

/// Returns true if a worker hung before it took a step, so that there is no test to show.
fn is_hang_before_steps(loss: &WorkerLoss) -> bool {
    let is_early = match loss.activity {
        Activity::Loading => true,
        Activity::Resetting => !loss
            .history
            .test
            .steps
            .iter()
            .any(|step| matches!(step, Step::Act(_))),
        _ => false,
    };
    is_early && loss.ending.is_hang
}

/// Returns the error for such a worker.
fn early_hang(loss: &WorkerLoss) -> Error {
    let what = match loss.activity {
        Activity::Loading => "the system cannot be loaded",
        _ => "the system cannot be reset",
    };
    let failure = loss.ending.failure("", loss.waited);
    let mut message = format!("{what}: {}", failure.message);
    for line in failure.details.lines() {
        message.push_str("\n  ");
        message.push_str(line);
    }
    Error::new(message)
        .with_help("this happens before the first step; `--step-timeout` allows more time")
}

/// Returns the seed of a stream.
///
/// The first stream has the seed itself, so that a single worker makes the same tests as a search
/// without workers.
fn stream_seed(seed: u64, stream: u64) -> u64 {
    match stream {
        0 => seed,
        stream => testwright_core::Random::for_part(seed, u64::MAX - stream).below(u64::MAX),
    }
}

/// Receives the reports of a worker process and forwards them to the campaign.
struct ReportReceiver<'a> {
    context: &'a SharedContext<'a>,
    /// Index of the worker.
    worker: usize,
    /// Random stream of the current process.
    stream: u64,
    stats: &'a WorkerStats,
    events: &'a Sender<WorkerEvent>,
    /// Tests and steps of earlier processes of this worker.
    before: (u64, u64),
    /// Measured files; reports refer to them by their index.
    files: Vec<PathBuf>,
    /// Progress counter of the log, and the time at which it last changed.
    progress: (u64, Instant),
    /// Longest time of a step, as far as it can be told from the progress.
    slowest: Duration,
    /// True if the current step may hang.
    is_suspicious: bool,
    /// Time at which the worker was told to stop.
    stop_requested: Option<Instant>,
    /// True if the system cannot be reset in this process any more.
    is_unusable: bool,
    /// Translation of the action ids of the worker to ours.
    action_ids: WorkerActionIds<'a>,
}

impl ReportReceiver<'_> {
    /// Time that an interrupted worker may take to stop.
    const STOP_GRACE: Duration = Duration::from_millis(500);

    /// Returns the origin of a test of this worker.
    fn origin(&self, number: u64) -> TestOrigin {
        TestOrigin {
            stream: self.stream,
            number,
        }
    }

    /// Sends an event. If the campaign is over, the event is dropped.
    fn send(&self, event: WorkerEvent) {
        let _campaign_is_over = self.events.send(event);
    }

    /// Updates the statistics from the log of the worker process.
    fn update_stats(&self, log: &StepLog) {
        let (tests, steps) = self.before;
        self.stats
            .tests
            .store(tests + log.tests(), Ordering::Relaxed);
        self.stats
            .steps
            .store(steps + log.steps(), Ordering::Relaxed);
    }

    /// Reports coverage, with file numbers resolved to paths.
    fn report_coverage(&mut self, reached: ReachedCode) {
        self.files
            .extend(reached.files.iter().map(|(path, _)| path.clone()));
        let arc = |(file, from, to): (usize, i32, i32)| {
            let path = self.files.get(file)?;
            Some((path.clone(), (from, to)))
        };
        let arcs = reached.arcs.into_iter().filter_map(arc).collect();
        let test = match self.stream {
            0 => reached.test,
            stream => format!("{} of worker {}", reached.test, stream + 1),
        };
        self.send(WorkerEvent::CoverageReached {
            worker: self.worker,
            test,
            files: reached.files,
            arcs,
        });
    }

    /// Reports a failing test, and waits for the decision whether to go on.
    fn report_failure(&self, unreduced: UnreducedFailure, history: Option<Test>) -> NextStep {
        let (reply, answer) = channel();
        self.send(WorkerEvent::FailureFound {
            worker: self.worker,
            unreduced,
            history,
            reply,
        });
        answer.recv().unwrap_or(NextStep::Stop)
    }

    /// Notes the time of the steps since the last call, and reports a step that may hang.
    fn watch_steps(&mut self, log: &StepLog) {
        let (seen, since) = self.progress;
        let steps = log.heartbeat().wrapping_sub(seen);
        let activity = log.activity();
        if steps != 0 || activity == Activity::OwnWork {
            let each = since.elapsed() / u32::try_from(steps.max(1)).unwrap_or(u32::MAX);
            if activity != Activity::OwnWork {
                self.slowest = self.slowest.max(each);
            }
            if std::mem::take(&mut self.is_suspicious) {
                self.send(WorkerEvent::SuspicionRefuted {
                    worker: self.worker,
                });
            }
            return;
        }
        let limit = self.context.timeouts.step;
        let usual = ReportReceiver::MIN_SUSPICIOUS_TIME.max(100 * self.slowest);
        if self.is_suspicious
            || !matches!(activity, Activity::Stepping | Activity::Checking)
            || since.elapsed() < usual.min(limit)
        {
            return;
        }
        self.is_suspicious = true;
        let current = log.current_test();
        let test = self.action_ids.test(&current);
        let Some(Step::Act(action)) = test.steps.last() else {
            return;
        };
        let ending = WorkerEnd {
            is_hang: true,
            ..WorkerEnd::default()
        };
        let location = self.context.actions.catalog().template_key(*action);
        let failure = ending.failure(&location, limit);
        if self.context.is_known(&failure) {
            return;
        }
        self.send(WorkerEvent::HangSuspected {
            worker: self.worker,
            unreduced: UnreducedFailure {
                test,
                failure,
                culprit: None,
                origin: self.origin(current.number),
            },
        });
    }

    /// Least time after which a step may hang.
    const MIN_SUSPICIOUS_TIME: Duration = Duration::from_millis(300);

    /// Reports that the worker process died or hung, which is a failure of its last test.
    fn report_loss(&self, loss: WorkerLoss) -> NextStep {
        self.send(WorkerEvent::Lost {
            worker: self.worker,
            hangs: loss.ending.is_hang,
            reason: loss.ending.description.clone(),
        });
        // The code under test may have written into the log, so impossible steps are dropped.
        let test = self.action_ids.test(&loss.current_test);
        let history = self.action_ids.test(&loss.history);
        let (test, failure) = match self.find_fatal_guard(&loss, &test) {
            Some(found) => found,
            None => {
                let failure = loss_failure(&loss, &test, &self.context.actions.catalog());
                // If it died before the first step of a test, earlier tests must have caused it.
                let is_early = test.is_empty();
                (if is_early { history.clone() } else { test }, failure)
            }
        };
        let unreduced = UnreducedFailure {
            test,
            failure,
            culprit: None,
            origin: self.origin(loss.current_test.number),
        };
        if self.context.keep_tests {
            self.send(WorkerEvent::TestFinished {
                worker: self.worker,
                origin: unreduced.origin,
                test: unreduced.test.clone(),
                failure: Some(unreduced.failure.clone()),
                is_new: false,
            });
        }
        self.report_failure(unreduced, Some(history))
    }

    /// If the worker was lost while it chose a step, finds the action whose guard is to blame.
    /// Returns the test that ends with it, and the failure.
    fn find_fatal_guard(&self, loss: &WorkerLoss, test: &Test) -> Option<(Test, Failure)> {
        let SharedContext {
            starter,
            actions,
            timeouts,
            ..
        } = self.context;
        if loss.activity != Activity::Choosing {
            return None;
        }
        let action = fatal_guard(
            starter,
            actions,
            timeouts,
            self.context.is_interrupted,
            test,
        )?;
        let mut test = test.clone();
        test.steps.push(Step::Act(action));
        let location = actions.catalog().template_key(action);
        Some((test, loss.ending.failure(&location, loss.waited)))
    }
}

impl Supervisor<WorkerReport> for ReportReceiver<'_> {
    type Answer = WorkerReply;

    /// Forwards a report that needs no reply.
    fn handle_report(&mut self, report: WorkerReport, log: &StepLog) {
        self.update_stats(log);
        match report {
            WorkerReport::ActionNamed(name) => self.action_ids.add_name(&name),
            WorkerReport::CoverageReached(reached) => self.report_coverage(reached),
            WorkerReport::LinesTaken(steps) => {
                let steps = self.context.actions.decode_test(steps);
                self.send(WorkerEvent::LinesTaken(steps));
            }
            WorkerReport::TestFinished {
                number,
                test,
                failure,
                is_new,
            } => self.send(WorkerEvent::TestFinished {
                worker: self.worker,
                origin: self.origin(number),
                test: self.context.actions.decode_test(test),
                failure: failure.and_then(SentFailure::into_failure),
                is_new,
            }),
            WorkerReport::SearchEnded {
                deadlocks,
                is_idle,
                mut problems,
                mut error,
                is_mistake,
            } => {
                // A process that has run tests was damaged by them; a fresh one may do better.
                self.is_unusable = error.is_some() && !is_mistake && log.tests() > 0;
                if let Some(taken) = error.take_if(|_| self.is_unusable) {
                    let error = Error::from(taken);
                    problems.push(SentProblem {
                        line: 0,
                        message: format!("a worker had to be replaced: {}", error.message),
                        times: 1,
                    });
                }
                self.send(WorkerEvent::SearchEnded {
                    deadlocks,
                    is_idle,
                    problems,
                    error: error.map(Error::from),
                });
            }
            // A searching worker sends no other reports.
            _ => {}
        }
    }

    /// Forwards a failure or a request for tests, and waits for the reply of the campaign.
    fn answer_report(&mut self, report: WorkerReport, log: &StepLog) -> WorkerReply {
        self.update_stats(log);
        match report {
            WorkerReport::FailureFound {
                number,
                test,
                failure,
                culprit,
            } => {
                let Some(failure) = failure.into_failure() else {
                    return WorkerReply::NextStep(NextStep::Stop);
                };
                // The history is long, and a known failure does not need it.
                let history = if self.context.is_known(&failure) {
                    None
                } else {
                    Some(self.action_ids.test(&log.history()))
                };
                let unreduced = UnreducedFailure {
                    test: self.context.actions.decode_test(test),
                    failure,
                    culprit: culprit.map(|culprit| (*culprit).into()),
                    origin: self.origin(number),
                };
                WorkerReply::NextStep(self.report_failure(unreduced, history))
            }
            _ => {
                let (reply, answer) = channel();
                self.send(WorkerEvent::TestsRequested {
                    worker: self.worker,
                    reply,
                });
                WorkerReply::SharedTests(answer.recv().unwrap_or_default())
            }
        }
    }

    /// Tells that a step gets more time before it is called a hang.
    fn handle_late_step(&mut self, limit: Duration, confirmation: Duration, log: &StepLog) {
        let text = confirmation_text(log.activity(), limit, confirmation);
        self.send(WorkerEvent::Remark(text));
    }

    /// Tells that a late step has ended.
    fn handle_slow_step(&mut self, action: Option<ActionId>, slow: SlowActivity) {
        let action = action.and_then(|action| self.action_ids.action(action));
        let catalog = self.context.actions.catalog();
        let step = action.map(|action| catalog.text(action));
        self.send(WorkerEvent::Remark(slow_text(&slow, step.as_deref())));
    }

    /// Updates the statistics, and tells the worker to stop if the campaign does. Returns false if
    /// the worker must be killed.
    fn poll(&mut self, log: &StepLog) -> bool {
        self.update_stats(log);
        self.watch_steps(log);
        let progress = log.heartbeat();
        if progress != self.progress.0 || log.activity() == Activity::OwnWork {
            self.progress = (progress, Instant::now());
        }
        let step_millis = self.progress.1.elapsed().as_millis() as u64;
        self.stats.step_millis.store(step_millis, Ordering::Relaxed);
        let action = log
            .last_action()
            .and_then(|action| self.action_ids.action(action));
        let action = action.map_or(0, |action| action.0.saturating_add(1));
        self.stats.action.store(action, Ordering::Relaxed);
        if !self.context.stop.load(Ordering::Relaxed) {
            return true;
        }
        log.request_stop();
        if !self.context.is_interrupted.load(Ordering::Relaxed) {
            // The current step either ends or is killed as a hang.
            return true;
        }
        let since = self.stop_requested.get_or_insert_with(Instant::now);
        since.elapsed() < ReportReceiver::STOP_GRACE
    }
}

/// Reply to a request of a worker. Untagged: the worker knows which reply it waits for.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub(super) enum WorkerReply {
    /// Decision after a failure: go on or stop.
    NextStep(NextStep),
    /// Tests of other workers.
    SharedTests(Vec<SentTest>),
}
