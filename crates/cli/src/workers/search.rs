//! The search of a worker.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::{NextStep, ReachedCode, SearchTask, SentProblem, WorkerReport};
use crate::Terminal;
use crate::commands::{RunCommand, SlowdownGuard};
use crate::console::Console;
use crate::quick_culprits::QuickCulprits;
use crate::target::{ReachedArcs, Target};
use testwright_campaign::{Activity, LoggedSystem, ReportSender, SentFailure, SentTest, StepLog};
use testwright_core::generate::{
    FailingTest, GeneratedTest, SearchOptions, SearchProgress, SearchWatcher, UntakenTemplates,
};
use testwright_core::{Error, Step, System, TargetId, Test};
use testwright_python::HarnessProblem;

/// The sender of reports. The search, the requests for other workers' tests and the announcements
/// of action names share it.
pub(super) type SharedSender = Rc<RefCell<ReportSender<UnixStream>>>;

/// Searches with the settings of the task, and reports the results.
pub(super) fn search<S: Target>(
    run: &RunCommand,
    system: &mut S,
    log: &StepLog,
    sender: &SharedSender,
    task: SearchTask,
) {
    let plan = SearchOptions {
        seed: task.seed,
        tests: task.tests,
        ..run.plan()
    };
    let mut reporter = SearchReporter {
        log,
        sender: sender.clone(),
        steps: task.steps,
        length: plan.length as u64,
        reports_all: task.report_all,
        files: 0,
        tests: 0,
        pace: SlowdownGuard::start(&SearchProgress::default()),
        untaken: UntakenTemplates::new(system.actions()),
        culprits: QuickCulprits::default(),
        check: run.reduce_options().check,
    };
    let (mut nowhere, mut discarded) = (io::sink(), io::sink());
    let console = &mut Console::new(&mut nowhere, &mut discarded, Terminal::plain());
    let strategy = run.build_strategy(console, system);
    let mut system = LoggedSystem::new(system, log);
    reporter.report_reached(&system, &[], || "loading the harness".to_owned());
    let mut others = SharedTests {
        sender: sender.clone(),
        has_other_workers: task.has_other_workers,
        last_request: Instant::now(),
        received: task.corpus.into(),
    };
    let searched = match strategy {
        Ok(strategy) => {
            let others = |system: &mut LoggedSystem<'_, S>| others.next(system);
            strategy.search(&mut system, &plan, &mut reporter, Some(others))
        }
        // The fork server created the same strategy without an error.
        Err(_) => Err(Error::new("a file that the strategy needs has changed")),
    };
    log.set_activity(Activity::OwnWork);
    let (mistakes, problems): (Vec<_>, Vec<_>) = system
        .system()
        .problems()
        .into_iter()
        .partition(|problem| problem.is_mistake);
    let problem = |problem: HarnessProblem| SentProblem {
        line: problem.line,
        message: problem.message,
        times: problem.times,
    };
    let summary = searched.as_ref().copied().unwrap_or_default();
    let mistake = mistakes.first().map(HarnessProblem::to_error);
    let is_mistake = mistake.is_some();
    let error = mistake.or(searched.err());
    reporter.send(&WorkerReport::SearchEnded {
        deadlocks: summary.progress.deadlocks,
        is_idle: summary.progress.tests > 0 && summary.progress.steps == 0,
        problems: problems.into_iter().map(problem).collect(),
        error: error.map(Into::into),
        is_mistake,
    });
}

/// Reports the progress of the search to the supervisor, and stops it when that is due.
struct SearchReporter<'a> {
    log: &'a StepLog,
    sender: SharedSender,
    /// The maximum number of steps, if there is one.
    steps: Option<u64>,
    /// The number of steps of a test.
    length: u64,
    /// True if every test is reported.
    reports_all: bool,
    /// The number of measured files that were mentioned already.
    files: usize,
    /// The number of tests so far.
    tests: u64,
    pace: SlowdownGuard,
    /// The lines of the harness from which no test has taken an action.
    untaken: UntakenTemplates,
    /// The search for the steps that are to blame.
    culprits: QuickCulprits,
    /// True if invariants are checked.
    check: bool,
}

impl SearchReporter<'_> {
    /// Sends a report. Errors are ignored: a supervisor that has closed the connection ends this
    /// process soon.
    fn send(&self, report: &WorkerReport) {
        let _supervisor_gone = self.sender.borrow_mut().report(report);
    }

    /// Reports the lines of the harness from which a test is the first to take an action.
    fn report_lines<S: Target>(&mut self, system: &LoggedSystem<'_, S>, steps: &[Step]) {
        let first = self.untaken.take_all(steps);
        if !first.is_empty() {
            let test = SentTest::from_test(&Test::from_steps(first), system.actions());
            self.send(&WorkerReport::LinesTaken(test));
        }
    }

    /// Reports the code that was reached for the first time since the last call, including
    /// `by_strategy`, which the strategy has taken. Returns true if there was any.
    fn report_reached<S: Target>(
        &mut self,
        system: &LoggedSystem<'_, S>,
        by_strategy: &[TargetId],
        name: impl FnOnce() -> String,
    ) -> bool {
        if !system.system().is_measured() {
            return false;
        }
        let mut targets = by_strategy.to_vec();
        targets.extend(system.system().take_new_targets());
        if targets.is_empty() {
            return false;
        }
        let ReachedArcs { files, arcs } = system.system().reached_arcs(&targets, self.files);
        self.files += files.len();
        self.send(&WorkerReport::CoverageReached(ReachedCode {
            test: name(),
            files,
            arcs,
        }));
        true
    }
}

impl<S: Target> SearchWatcher<LoggedSystem<'_, S>> for SearchReporter<'_> {
    #[inline]
    fn proceed(&mut self, progress: &SearchProgress) -> bool {
        if progress.tests != self.tests {
            self.tests = progress.tests;
            self.pace = SlowdownGuard::start(progress);
        }
        !self.log.is_stop_requested() && self.steps.is_none_or(|steps| progress.steps < steps)
    }

    fn test_interrupted(&mut self, system: &LoggedSystem<'_, S>, steps: &[Step], new: &[TargetId]) {
        self.report_lines(system, steps);
        let number = self.tests + 1;
        self.report_reached(system, new, || format!("test {number}"));
    }

    #[inline]
    fn should_end_test(&mut self, progress: &SearchProgress) -> bool {
        self.pace.is_too_slow(progress, self.length)
    }

    fn test_generated(
        &mut self,
        system: &LoggedSystem<'_, S>,
        made: GeneratedTest<'_>,
    ) -> ControlFlow<()> {
        self.log.set_activity(Activity::OwnWork);
        self.report_lines(system, made.steps);
        let is_new = self.report_reached(system, made.new, || format!("test {}", made.number + 1));
        if self.reports_all || is_new {
            let test = Test {
                steps: made.steps.to_vec(),
                remarks: made.remarks.to_vec(),
            };
            self.send(&WorkerReport::TestFinished {
                number: made.number,
                test: SentTest::from_test(&test, system.actions()),
                failure: made.failure.map(SentFailure::from),
                is_new,
            });
        }
        // The supervisor reads a failing test from the log.
        if made.failure.is_none() {
            self.log.finish_test();
        }
        if self.sender.borrow().is_connected() {
            ControlFlow::Continue(())
        } else {
            // Code under test has closed the connection, so later reports would be lost.
            ControlFlow::Break(())
        }
    }

    fn failure_found(
        &mut self,
        system: &mut LoggedSystem<'_, S>,
        found: FailingTest,
    ) -> ControlFlow<()> {
        let log = self.log;
        let mut proceed = || !log.is_stop_requested();
        // Steps are not logged: if the process ends or hangs here, the log has the failing test.
        log.set_activity(Activity::Stepping);
        let own = system.system_mut();
        let culprit = self.culprits.find(own, &found, self.check, &mut proceed);
        log.set_activity(Activity::OwnWork);
        let report = WorkerReport::FailureFound {
            number: found.number,
            test: SentTest::from_test(&found.test, system.actions()),
            failure: SentFailure::from(&found.failure),
            culprit: culprit.map(|culprit| Box::new(culprit.into())),
        };
        let next_step = self.sender.borrow_mut().query(&report);
        self.log.finish_test();
        match next_step {
            Ok(NextStep::Continue) => ControlFlow::Continue(()),
            Ok(NextStep::Stop) | Err(_) => ControlFlow::Break(()),
        }
    }
}

/// The source of tests of other workers.
struct SharedTests {
    sender: SharedSender,
    /// True if there are other workers.
    has_other_workers: bool,
    /// The time of the last request.
    last_request: Instant,
    /// The tests that were received and not used yet.
    received: VecDeque<SentTest>,
}

impl SharedTests {
    /// The time between two requests. After the first seconds, tests that reach something new are
    /// rare.
    const PAUSE: Duration = Duration::from_millis(200);

    /// Returns the next test of another worker, if there is one.
    fn next<S: System>(&mut self, system: &mut S) -> Option<Test> {
        if self.has_other_workers
            && self.received.is_empty()
            && self.last_request.elapsed() >= SharedTests::PAUSE
        {
            self.last_request = Instant::now();
            let new_tests = self
                .sender
                .borrow_mut()
                .query(&WorkerReport::TestsRequested);
            self.received = new_tests.unwrap_or_default();
        }
        Some(self.received.pop_front()?.for_system(system))
    }
}
