//! Supervision of one worker until its task is done or the worker is lost.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use testwright_core::ActionId;

use crate::report_sender::WorkerMessage;
use crate::stopwatch::Stopwatch;
use crate::wire::{receive, send};
use crate::{
    Activity, Connection, Deadline, Exceeded, ForkServer, LoggedTest, SlowActivity, StepLog,
    Timeouts, WorkerEnd, WorkerProcess,
};

/// The receiver of a worker's reports while [`supervise`] runs.
pub trait Supervisor<R> {
    /// The answer to a report for which the worker waits.
    type Answer: Serialize;

    /// Handles a report that needs no answer.
    fn handle_report(&mut self, report: R, log: &StepLog);

    /// Handles a report and returns the answer that the worker waits for.
    fn answer_report(&mut self, report: R, log: &StepLog) -> Self::Answer;

    /// Handles a step that has exceeded its limit, and gets more time before it is called a hang.
    fn handle_late_step(&mut self, _limit: Duration, _confirmation: Duration, _log: &StepLog) {}

    /// Handles the end of such a step: it was slow, but it is no hang.
    fn handle_slow_step(&mut self, _action: Option<ActionId>, _slow: SlowActivity) {}

    /// Called several times a second. Returning `false` kills the worker at once.
    fn poll(&mut self, log: &StepLog) -> bool;
}

/// A worker that ended before its task was done.
#[derive(Clone, Debug)]
pub struct WorkerLoss {
    /// The end of its process.
    pub ending: WorkerEnd,
    /// The time limit that it exceeded, or zero if it ended by itself.
    pub waited: Duration,
    /// Its last activity.
    pub activity: Activity,
    /// Its last test.
    pub current_test: LoggedTest,
    /// All steps since it was started.
    pub history: LoggedTest,
}

/// The outcome of supervising a worker.
#[derive(Debug)]
pub enum WorkerOutcome {
    /// The task is done.
    Finished,
    /// [`Supervisor::poll`] returned `false`, so the worker was killed.
    Dismissed,
    /// The worker crashed, exited or exceeded a time limit.
    Lost(Box<WorkerLoss>),
}

/// Time between two polls.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Forks a worker for a task and follows it to its end: passes on its reports, and kills it if it
/// exceeds a time limit.
pub fn supervise<R: DeserializeOwned, O: Supervisor<R>>(
    server: &mut ForkServer,
    task: &impl Serialize,
    timeouts: &Timeouts,
    supervisor: &mut O,
) -> io::Result<WorkerOutcome> {
    let mut process = server.spawn(task)?;
    let mut detector = HangDetector::new(&process, timeouts);
    let end = loop {
        if !supervisor.poll(process.log()) {
            break LoopExit::Dismissed;
        }
        match receive_message(&mut process) {
            // A child of the worker may keep the connection open.
            PollResult::Nothing if process.is_dead() => break LoopExit::Disconnected,
            PollResult::Nothing => {}
            PollResult::Message(WorkerMessage::Report(report)) => {
                supervisor.handle_report(report, process.log())
            }
            PollResult::Message(WorkerMessage::Query(report)) => {
                let answer = supervisor.answer_report(report, process.log());
                if send(process.connection(), &answer).is_err() {
                    break LoopExit::Disconnected;
                }
                detector.restart(&process);
            }
            PollResult::Message(WorkerMessage::Finished) => break LoopExit::Finished,
            PollResult::Closed => break LoopExit::Disconnected,
        }
        match detector.observe(&process, timeouts) {
            Some(StepEvent::Slow(action, slow)) => supervisor.handle_slow_step(action, slow),
            Some(StepEvent::Exceeded(Exceeded::Late {
                limit,
                confirmation,
            })) => supervisor.handle_late_step(limit, confirmation, process.log()),
            Some(StepEvent::Exceeded(Exceeded::Hang(limit))) => {
                break LoopExit::TimedOut(limit, false);
            }
            Some(StepEvent::TestTimeout(limit)) => break LoopExit::TimedOut(limit, true),
            None => {}
        }
    };
    let (hangs, waited, of_test) = match end {
        LoopExit::TimedOut(waited, of_test) => (true, waited, of_test),
        _ => (false, Duration::ZERO, false),
    };
    if let LoopExit::Dismissed = end {
        process.kill();
    }
    let ending = WorkerEnd {
        is_test_timeout: of_test,
        ..process.end(server, hangs)
    };
    // One last look at the log, after the worker has ended.
    supervisor.poll(process.log());
    Ok(match end {
        LoopExit::Finished => WorkerOutcome::Finished,
        LoopExit::Dismissed => WorkerOutcome::Dismissed,
        LoopExit::Disconnected | LoopExit::TimedOut(..) => {
            WorkerOutcome::Lost(Box::new(WorkerLoss {
                ending,
                waited,
                activity: process.log().activity(),
                current_test: process.log().current_test(),
                history: process.log().history(),
            }))
        }
    })
}

/// The reason to stop supervising a worker.
enum LoopExit {
    Finished,
    Dismissed,
    Disconnected,
    /// The time limit that was exceeded, and whether it is the one of the whole test.
    TimedOut(Duration, bool),
}

/// The result of waiting briefly for a message.
enum PollResult<R> {
    Nothing,
    Message(WorkerMessage<R>),
    /// The connection is closed, or code under test has written garbage into it.
    Closed,
}

/// Waits briefly for a message of the worker.
fn receive_message<R: DeserializeOwned>(process: &mut WorkerProcess) -> PollResult<R> {
    let connection = process.connection();
    // The first byte may take a while. The rest was sent together with it, unless the worker dies
    // in between.
    let mut first = [0];
    let first_read = connection
        .set_timeout(POLL_INTERVAL)
        .and_then(|()| connection.read(&mut first));
    match first_read {
        Ok(0) => return PollResult::Closed,
        Ok(_) => {}
        Err(error) => {
            return match error.kind() {
                io::ErrorKind::TimedOut
                | io::ErrorKind::WouldBlock
                | io::ErrorKind::Interrupted => PollResult::Nothing,
                _ => PollResult::Closed,
            };
        }
    }
    let rest = connection
        .set_timeout(Duration::from_secs(10))
        .and_then(|()| receive(&mut first.as_slice().chain(connection)));
    rest.map_or(PollResult::Closed, PollResult::Message)
}

/// An observation about the time that a step takes.
enum StepEvent {
    /// The step has exceeded a limit.
    Exceeded(Exceeded),
    /// A step has ended after its limit.
    Slow(Option<ActionId>, SlowActivity),
    /// The whole test has exceeded this limit.
    TestTimeout(Duration),
}

/// Detects workers that make no progress.
struct HangDetector {
    deadline: Deadline,
    /// The action of the step that has exceeded its limit.
    late_action: Option<ActionId>,
    /// The time of the last progress.
    last_progress: Instant,

    /// The log's heartbeat at the last progress.
    heartbeat: u64,
    /// Time since the last progress.
    step_watch: Stopwatch,
    /// The number of finished tests when the current one began.
    tests: u64,
    /// Time since the current test began.
    test_watch: Stopwatch,
}

impl HangDetector {
    /// Starts measuring now.
    fn new(process: &WorkerProcess, timeouts: &Timeouts) -> HangDetector {
        let now = Stopwatch::start(process.cpu_wait());
        let deadline = Deadline::new(timeouts.step);
        HangDetector {
            deadline: if timeouts.confirm {
                deadline
            } else {
                deadline.without_confirmation()
            },
            late_action: None,
            last_progress: Instant::now(),
            heartbeat: process.log().heartbeat(),
            step_watch: now,
            tests: process.log().tests(),
            test_watch: now,
        }
    }

    /// Starts measuring again, after the worker has waited for this process.
    fn restart(&mut self, process: &WorkerProcess) {
        let now = Stopwatch::start(process.cpu_wait());
        self.last_progress = Instant::now();
        self.heartbeat = process.log().heartbeat();
        self.tests = process.log().tests();
        (self.step_watch, self.test_watch) = (now, now);
    }

    /// Returns what there is to say about the current step.
    fn observe(&mut self, process: &WorkerProcess, timeouts: &Timeouts) -> Option<StepEvent> {
        let log = process.log();
        let (heartbeat, tests, activity) = (log.heartbeat(), log.tests(), log.activity());
        let has_progressed = heartbeat != self.heartbeat;
        let is_between_tests = tests != self.tests || activity == Activity::OwnWork;
        if has_progressed || is_between_tests {
            let now = Stopwatch::start(process.cpu_wait());
            if has_progressed {
                (self.heartbeat, self.step_watch) = (heartbeat, now);
                let began = std::mem::replace(&mut self.last_progress, Instant::now());
                if let Some(slow) = self.deadline.note_progress(began.elapsed()) {
                    return Some(StepEvent::Slow(self.late_action.take(), slow));
                }
            }
            if is_between_tests {
                (self.tests, self.test_watch) = (tests, now);
            }
        }
        let cpu_wait = || process.cpu_wait();
        let step_watch = self.step_watch;
        let exceeded = self
            .deadline
            .observe(activity, |limit| step_watch.has_exceeded(limit, cpu_wait));
        if let Some(exceeded) = exceeded {
            self.late_action = log.last_action();
            return Some(StepEvent::Exceeded(exceeded));
        }
        let test_limit = timeouts.test;
        let test_limit = test_limit.filter(|limit| self.test_watch.has_exceeded(*limit, cpu_wait));
        test_limit.map(StepEvent::TestTimeout)
    }
}
