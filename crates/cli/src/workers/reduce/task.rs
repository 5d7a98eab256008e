//! Running of one task in a worker of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use testwright_campaign::{ForkServer, StepLog, Supervisor, WorkerLoss, WorkerOutcome, supervise};
use testwright_core::{Error, Test};

use super::WorkerReducer;
use super::bounds::{ReductionBounds, TIME_IS_UP};
use crate::workers::actions::WorkerActionIds;
use crate::workers::start::{ForkServerError, Starter};
use crate::workers::{WorkerReport, WorkerTask};

/// The result of a worker's task.
pub(super) enum WorkerAnswer {
    Report(WorkerReport),
    /// The worker died or hung. Contains the test that it was running.
    Lost(Box<WorkerLoss>, Test),
    /// The worker ended without a report, or could not be started.
    Nothing,
}

impl WorkerReducer<'_> {
    /// Runs one task in a new worker, unless the user wants to stop.
    pub(super) fn run_task(
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
