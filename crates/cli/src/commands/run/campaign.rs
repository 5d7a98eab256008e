//! A search by worker processes.
//!
//! Each worker process is supervised by a thread ([`super::worker_thread`]), which sends events.
//! [`Campaign`] handles them: it collects coverage, saves tests, queues failing tests for
//! reduction, shares tests between workers, updates the display and the store, and decides when the
//! search ends.

mod corpus;
mod known_failures;
mod suspicions;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use testwright_campaign::SentTest;
use testwright_campaign::store::CampaignEnding;
use testwright_core::generate::{SearchProgress, UntakenTemplates};
use testwright_core::saved;
use testwright_core::{Error, Failure, Test};
use testwright_lang::Harness;
use testwright_python::{HarnessProblem, MeasuredCode};

use super::RunCommand;
use super::display::{CampaignView, ProgressDisplay};
use super::failures::{
    FailureWriter, ReductionResult, ReportedFailure, TestOrigin, UnreducedFailure, count_bugs,
    find_known, group_by_bug, known_bugs,
};
use super::interrupt::Interrupt;
use super::outcome::RunOutcome;
use super::reductions::{MAX_REDUCERS, ReductionId, ReductionJob, run_reducer};
use super::resume_point::ResumePoint;
use super::store_writer::{CampaignStart, Location, StoppedCampaign, StoreWriter, progress_record};
use super::work_shares::WorkShares;
use super::worker_thread::{self, SharedContext, WorkerEvent, WorkerStats};
use crate::console::Console;
use crate::coverage::{CoverageOutputs, MergedCoverage};
use crate::events::{self, WorkerFate};
use crate::files::{OutputFolder, TextFile};
use crate::source::SystemSource;
use crate::workers::NextStep;
use crate::workers::reduce::WorkerReducer;
use crate::workers::start::{ForkServerError, Starter};
use crate::{CommandError, ExitStatus, load, quantity, report};
use suspicions::{FoundFailure, Suspicions};

/// Input of a campaign: what is tested, and how its workers are started.
pub(super) struct CampaignInputs<'a> {
    /// The harness or the models.
    pub(super) source: &'a SystemSource,
    /// The harness file and the parsed harness; `None` for models.
    pub(super) harness: Option<(&'a TextFile, &'a Harness)>,
    /// Text of the harness or of the models, to notice later that it has changed.
    pub(super) text: &'a str,
    /// Starter of worker processes.
    pub(super) starter: &'a Starter,
    /// Arguments after `testwright run`.
    pub(super) args: &'a [OsString],
    /// Number of worker processes.
    pub(super) jobs: usize,
}

/// Searches with worker processes until a limit is reached, a failure is found or the user
/// interrupts, and reports the outcome.
///
/// Continues a stopped campaign if there is one. One thread supervises each worker, up to
/// [`MAX_REDUCERS`] threads reduce failing tests, and this thread handles their events.
pub(super) fn run(
    console: &mut Console<'_>,
    writer: FailureWriter<'_>,
    test_folder: Option<OutputFolder>,
    reports: &CoverageOutputs,
    inputs: &CampaignInputs<'_>,
    stopped: Option<StoppedCampaign>,
) -> Result<ExitStatus, CommandError> {
    let run = writer.run;
    let actions = &*writer.actions.clone();
    console.set_quiet(run.json || run.json_lines);
    let mut store = open_store(console, run, inputs, writer.plan.seed, stopped.as_ref())?;
    let resumed = stopped.map_or_else(ResumePoint::default, ResumePoint::new);
    let corpus = corpus::load(run, &mut store, console, actions);
    let interrupt = Interrupt::listen();
    let shares = WorkShares::new(run, &resumed.progress, inputs.jobs);
    let (stop, streams) = (AtomicBool::new(false), AtomicU64::new(resumed.streams));
    let stats: Vec<WorkerStats> = (0..shares.jobs).map(|_| WorkerStats::default()).collect();
    let found_failures = Mutex::new(Vec::new());
    let context = SharedContext {
        starter: inputs.starter,
        actions,
        seed: writer.plan.seed,
        timeouts: run.workers.timeouts(run.system.step_timeout),
        keep_tests: test_folder.is_some(),
        jobs: shares.jobs,
        stop: &stop,
        is_interrupted: &interrupt.is_requested,
        streams: &streams,
        corpus: &corpus,
        found_failures: &found_failures,
    };
    let deadline = OnceLock::new();
    let mut reducer = WorkerReducer::new(
        inputs.starter,
        actions,
        run.reduce_options(),
        run.workers.timeouts(run.system.step_timeout),
        &interrupt.is_requested,
        &deadline,
    );
    let (remark_sender, remarks) = channel();
    reducer.remarks = Some(remark_sender);
    let reducers = shares.jobs.clamp(1, MAX_REDUCERS);
    let (events, received) = channel();
    let (job_sender, job_receiver) = channel();
    let (result_sender, results) = channel();
    let mut campaign = Campaign {
        run,
        console,
        inputs,
        writer,
        test_folder,
        store,
        stats: &stats,
        streams: &streams,
        stop: &stop,
        interrupt: &interrupt,
        interrupted: None,
        found_failures: &found_failures,
        started: Instant::now(),
        deadline: &deadline,
        is_running: false,
        display: ProgressDisplay::new(shares.jobs, reducers),
        workers_left: shares.jobs,
        jobs: Some(job_sender),
        results,
        remarks,
        suspicions: Suspicions::default(),
        findings: Vec::new(),
        saved_tests: 0,
        deadlocks: 0,
        problems: BTreeMap::new(),
        merged: resumed.merged,
        untaken: UntakenTemplates::default(),
        resumed: (resumed.progress, resumed.time),
        saved: resumed.progress,
        is_measured: inputs.source.is_models() || run.options().measured != MeasuredCode::Nothing,
        reached_new: vec![false; shares.jobs],
        pending_tests: vec![Vec::new(); shares.jobs],
        error: None,
    };
    if !run.no_replay && run.seed.is_none() {
        campaign.replay_known(&mut reducer);
    }
    let job_receiver = &Mutex::new(job_receiver);
    thread::scope(|scope| {
        for (worker, stats_of_worker) in stats.iter().enumerate() {
            let (context, events, share) = (&context, events.clone(), shares.share(worker));
            scope.spawn(move || {
                worker_thread::run(context, worker, stats_of_worker, share, &events)
            });
        }
        drop(events);
        for _ in 1..reducers {
            let (reducer, result_sender) = (reducer.duplicate(), result_sender.clone());
            scope.spawn(move || run_reducer(run, reducer, job_receiver, &result_sender));
        }
        scope.spawn(move || run_reducer(run, reducer, job_receiver, &result_sender));
        campaign.process_events(&received);
    });
    if !campaign.is_running {
        // No worker was ever ready, so there is no outcome to report.
        campaign.record_end();
        campaign.console.set_quiet(false);
        return Err(campaign.error.unwrap_or(CommandError::Interrupted));
    }
    let (console, result, merged, problems) = campaign.into_result();
    let coverage = run
        .coverage
        .is_requested()
        .then(|| merged.into_report(reports));
    let catalog = actions.catalog().clone();
    let status = run.report_outcome(console, &catalog, result, coverage, reports);
    match inputs.harness {
        Some((file, _)) => load::print_runtime_problems(console, file, &problems),
        None => load::print_unlocated_problems(console, &problems),
    }
    status
}

/// Opens the store and begins a campaign in it, or continues the stopped one.
fn open_store(
    console: &mut Console<'_>,
    run: &RunCommand,
    inputs: &CampaignInputs<'_>,
    seed: u64,
    stopped: Option<&StoppedCampaign>,
) -> Result<StoreWriter, CommandError> {
    if run.no_store {
        return Ok(StoreWriter::default());
    }
    let location = Location::new(run.store.as_deref(), run)?;
    let args = inputs.args.iter();
    let args = args.map(|arg| arg.to_string_lossy().into_owned());
    let campaign_start = CampaignStart {
        text: inputs.text,
        seed,
        args: std::iter::once("run".to_owned()).chain(args).collect(),
        python: testwright_python::attach(testwright_python::version),
        jobs: inputs.jobs,
    };
    Ok(StoreWriter::open(
        console,
        &location,
        campaign_start,
        stopped,
    ))
}

/// State of a running campaign, owned by the thread that handles events.
struct Campaign<'a, 'c> {
    run: &'a RunCommand,
    console: &'a mut Console<'c>,
    inputs: &'a CampaignInputs<'a>,
    /// Writer of failing tests.
    writer: FailureWriter<'a>,
    /// Folder for every test, with `--keep-tests`.
    test_folder: Option<OutputFolder>,
    /// Writer to the store.
    store: StoreWriter,
    /// Statistics of the workers, written by their threads.
    stats: &'a [WorkerStats],
    /// Number of random streams handed out so far.
    streams: &'a AtomicU64,
    /// Set once no further test is needed.
    stop: &'a AtomicBool,
    interrupt: &'a Interrupt,
    /// Time at which the interrupt was noticed.
    interrupted: Option<Instant>,
    /// Failures found so far, shared with the worker threads.
    found_failures: &'a Mutex<Vec<Failure>>,
    /// Time at which the first worker was ready.
    started: Instant,
    /// Time at which reductions end, with `--time`.
    deadline: &'a OnceLock<Instant>,
    /// True once the first worker was ready.
    is_running: bool,
    display: ProgressDisplay,
    /// Number of worker threads that have not ended yet.
    workers_left: usize,
    /// Channel to the reducers; closed when no more failures can come.
    jobs: Option<Sender<ReductionJob>>,
    /// Results of the reducers, each with the number of its failure.
    results: Receiver<(ReductionId, Result<ReductionResult, Error>)>,
    /// Remarks of the reducers for the user.
    remarks: Receiver<String>,
    /// Steps that may hang, and the reductions of their tests.
    suspicions: Suspicions,
    /// Failures found so far; failure `n` has index `n - 1`.
    findings: Vec<ReportedFailure>,
    /// Number of tests written to `test_folder`.
    saved_tests: u64,
    /// Number of tests of this run that ended because no action was enabled.
    deadlocks: u64,
    /// Problems of the harness by line and message, with the number of times they came up.
    problems: BTreeMap<(usize, String), u64>,
    /// Coverage of all workers together.
    merged: MergedCoverage,
    /// Lines of the harness from which no test has taken an action.
    untaken: UntakenTemplates,
    /// Progress and search time of the campaign when it was stopped; zero for a new one.
    resumed: (SearchProgress, Duration),
    /// Progress at the last save.
    saved: SearchProgress,
    /// True if coverage is measured.
    is_measured: bool,
    /// For each worker: true if its last reported test reached something new to the campaign.
    reached_new: Vec<bool>,
    /// For each worker: tests of other workers that it has not been sent yet.
    pending_tests: Vec<Vec<SentTest>>,
    /// Reason to end with an error.
    error: Option<CommandError>,
}

impl<'a, 'c> Campaign<'a, 'c> {
    /// Time between two checks of limits, interrupts and results.
    const POLL_INTERVAL: Duration = Duration::from_millis(20);

    /// Handles events until all workers have ended and all failures are reduced.
    fn process_events(&mut self, received: &Receiver<WorkerEvent>) {
        while self.workers_left > 0 || !self.display.reducing.is_empty() {
            match received.recv_timeout(Campaign::POLL_INTERVAL) {
                Ok(event) => self.handle(event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => thread::sleep(Campaign::POLL_INTERVAL),
            }
            while let Ok(text) = self.remarks.try_recv() {
                self.console.err(text);
            }
            while let Ok((id, result)) = self.results.try_recv() {
                match id {
                    ReductionId::Failure(number) => self.finish_reduction(number, result),
                    ReductionId::Suspicion(number) => self.finish_suspicion(number, result),
                }
            }
            let is_time_up = self.is_running
                && self
                    .run
                    .time_limit()
                    .is_some_and(|time| self.elapsed() >= time);
            if is_time_up || self.is_interrupted() {
                self.stop();
            }
            if self.is_interrupted() {
                let since = self.interrupted.get_or_insert_with(Instant::now).elapsed();
                self.interrupt.arm_second_signal(since);
            }
            // What an event announces must be in the store already.
            if self.store.is_due() || self.run.json_lines && self.display.is_line_due() {
                self.save_progress();
            }
            self.update_display();
        }
        self.jobs = None;
    }

    /// Returns how long the campaign has searched, without the pauses between resumed runs.
    fn elapsed(&self) -> Duration {
        self.resumed.1 + self.started.elapsed()
    }

    /// Saves the progress in the store. Returns false if something could not be written.
    fn save_progress(&mut self) -> bool {
        let progress = self.progress();
        let streams = self.streams.load(Ordering::Relaxed);
        let record = progress_record(&progress, self.elapsed(), self.merged.size(), streams);
        let findings = &self.findings;
        self.saved = progress;
        self.store.save(self.console, record, |number| {
            let finding = findings.iter().find(|finding| finding.number == number);
            finding.map_or(0, |finding| finding.times)
        })
    }

    /// Adds a failure, and makes it known to the worker threads.
    fn add_failure(&mut self, finding: ReportedFailure) {
        self.found_failures
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(finding.failure.clone());
        self.findings.push(finding);
    }

    /// Ends the campaign because the harness cannot be loaded.
    fn handle_load_error(&mut self, why: ForkServerError) {
        match why {
            ForkServerError::Reported(text) => {
                if self.error.is_none() {
                    self.console.err(text.trim_end());
                }
                self.abort(CommandError::Reported);
            }
            ForkServerError::Error(error) => self.abort(error.into()),
            ForkServerError::Abandoned => {}
        }
    }

    /// Starts the clock and prints the plan, when the first worker is ready.
    fn start(&mut self) {
        self.is_running = true;
        self.started = Instant::now();
        if let Some(time) = self.run.time {
            let left = time.saturating_sub(self.resumed.1);
            let _first_counts = self.deadline.set(self.started + left);
        }
        let jobs = self.stats.len();
        let plan = &self.writer.plan;
        if let Some(load_report) = self.inputs.starter.load_report() {
            self.writer.actions.register_classes(&load_report.classes);
            if !load_report.messages.is_empty() {
                self.console.err(load_report.messages.trim_end());
            }
        }
        let (actions, templates) = {
            let catalog = self.writer.actions.catalog();
            self.untaken = UntakenTemplates::new(&catalog);
            (catalog.len(), catalog.templates().len())
        };
        let action_summary = match self.inputs.harness {
            Some((_, harness)) => report::actions_from_lines(harness),
            None => quantity::format_count(templates as u64, "action name"),
        };
        self.run
            .print_plan(self.console, &action_summary, plan, jobs);
        let start = events::StartEvent {
            harness: &self.run.joined_names(),
            seed: plan.seed,
            jobs,
            actions,
            templates,
            version: crate::VERSION,
        };
        self.emit(&start);
    }

    /// Tells the worker threads to stop.
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Handles an event of a worker thread.
    fn handle(&mut self, event: WorkerEvent) {
        match event {
            WorkerEvent::Ready(worker) => {
                if !self.is_running {
                    self.start();
                }
                self.emit(&events::WorkerChangeEvent {
                    number: worker + 1,
                    what: WorkerFate::Started,
                    reason: None,
                });
            }
            WorkerEvent::Lost {
                worker,
                hangs,
                reason,
            } => self.emit(&events::WorkerChangeEvent {
                number: worker + 1,
                what: if hangs {
                    WorkerFate::Hung
                } else {
                    WorkerFate::Crashed
                },
                reason: Some(&reason),
            }),
            WorkerEvent::HangSuspected { worker, unreduced } => {
                self.suspect_hang(worker, unreduced);
            }
            WorkerEvent::SuspicionRefuted { worker } => self.suspicions.refute(worker),
            WorkerEvent::Remark(text) => self.console.err(text),
            WorkerEvent::CoverageReached {
                worker,
                test,
                files,
                arcs,
            } => {
                let new = self.merged.add(test.clone(), files, arcs);
                self.reached_new[worker] = !new.is_empty();
                if !new.is_empty() {
                    self.store.add_coverage(&test, &new);
                    self.emit(&events::CoverageEvent {
                        covered: self.merged.size(),
                        new: new.len() as u64,
                    });
                }
            }
            WorkerEvent::LinesTaken(steps) => {
                self.untaken.take_all(&steps.steps);
            }
            WorkerEvent::TestFinished {
                worker,
                origin,
                test,
                failure,
                is_new,
            } => {
                // Coverage that is new to a worker need not be new to the campaign: a worker that was
                // restarted after a crash knows of none.
                let reached_new = std::mem::take(&mut self.reached_new[worker]);
                if is_new && reached_new && failure.is_none() {
                    self.share_test(worker, &test);
                    let notes = self.writer.notes(origin, None);
                    self.store.add_test(saved::write(
                        &self.writer.actions.catalog(),
                        &test,
                        &notes,
                    ));
                }
                self.save_test(origin, &test, failure.as_ref());
            }
            WorkerEvent::TestsRequested { worker, reply } => {
                let news = std::mem::take(&mut self.pending_tests[worker]);
                let _worker_is_gone = reply.send(news);
            }
            WorkerEvent::FailureFound {
                worker,
                unreduced,
                history,
                reply,
            } => {
                let next_step = self.handle_failure(worker, unreduced, history);
                let _worker_is_gone = reply.send(next_step);
            }
            WorkerEvent::SearchEnded {
                deadlocks,
                is_idle,
                problems,
                error,
            } => {
                self.deadlocks += deadlocks;
                for problem in problems {
                    let key = (problem.line, problem.message);
                    *self.problems.entry(key).or_default() += problem.times;
                }
                if let Some(error) = error {
                    self.abort(error.into());
                }
                if is_idle {
                    self.stop();
                }
            }
            WorkerEvent::LoadFailed(why) => self.handle_load_error(why),
            WorkerEvent::ThreadEnded => self.workers_left -= 1,
        }
    }

    /// Ends the campaign with an error. The first error counts.
    fn abort(&mut self, error: CommandError) {
        self.error.get_or_insert(error);
        self.stop();
    }

    /// Saves a test, if `--keep-tests` is given.
    fn save_test(&mut self, origin: TestOrigin, test: &Test, failure: Option<&Failure>) {
        let Some(test_folder) = &mut self.test_folder else {
            return;
        };
        self.saved_tests += 1;
        let notes = self.writer.notes(origin, failure);
        let text = saved::write(&self.writer.actions.catalog(), test, &notes);
        if let Err(error) = test_folder.write(&format!("test-{}.test", self.saved_tests), &text) {
            self.abort(error.into());
        }
    }

    /// Handles a failing test: counts a known failure, or queues a new one for reduction. Returns
    /// whether the worker goes on.
    fn handle_failure(
        &mut self,
        worker: usize,
        unreduced: UnreducedFailure,
        history: Option<Test>,
    ) -> NextStep {
        // The report of a worker that dies is lost.
        self.untaken.take_all(&unreduced.test.steps);
        let reduction = self.suspicions.confirm(worker, &unreduced.failure);
        let culprit = unreduced.culprit.as_ref();
        if let Some(known) = find_known(&mut self.findings, &unreduced.failure, culprit) {
            known.times += 1;
        } else if !self.findings.is_empty() && !self.run.keep_going {
            // Another worker has found a failure already, and one is enough.
            return NextStep::Stop;
        } else {
            let number = self.record_failure(&unreduced);
            let found = FoundFailure {
                number,
                unreduced,
                history,
            };
            match reduction {
                Some(reduction) => self.adopt(reduction, found),
                None => self.reduce_later(found),
            }
        }
        if self.run.keep_going && !self.stop.load(Ordering::Relaxed) {
            NextStep::Continue
        } else {
            self.stop();
            NextStep::Stop
        }
    }

    /// Stores, prints and saves a new failure, and returns its number.
    fn record_failure(&mut self, unreduced: &UnreducedFailure) -> usize {
        let number = self.findings.len() + 1;
        let full = self.writer.full_text(unreduced);
        let is_alike = |known: &&ReportedFailure| known.failure.is_same_as(&unreduced.failure);
        let alike = self.findings.iter().filter(is_alike).count();
        self.store
            .add_failure(self.console, number, (&unreduced.failure, alike), &full);
        let finding = self.writer.record(self.console, unreduced, number);
        self.emit(&events::FailureEvent {
            number,
            kind: finding.failure.kind.name(),
            message: &finding.failure.message,
            signature: &finding.failure.signature,
            steps: finding.test.len(),
            file: &finding.file.display().to_string(),
            times: 1,
            state: events::FailureState::Found,
        });
        self.add_failure(finding);
        number
    }

    /// Hands a failure to the reducers.
    fn reduce_later(&mut self, found: FoundFailure) {
        let FoundFailure {
            number,
            unreduced,
            history,
        } = found;
        let job = ReductionJob {
            id: ReductionId::Failure(number),
            is_cancelled: Arc::default(),
            test: unreduced.test,
            failure: unreduced.failure,
            culprit: unreduced.culprit,
            history,
            pytest: self.writer.pytest_target(number),
        };
        if let Some(jobs) = &self.jobs
            && jobs.send(job).is_ok()
        {
            self.display.reducing.push(number);
        }
    }

    /// Stores and prints the result of a reduction. If the reduction itself failed, the test is
    /// kept as it was found.
    fn finish_reduction(&mut self, number: usize, result: Result<ReductionResult, Error>) {
        self.display.reducing.retain(|other| *other != number);
        let bugs = known_bugs(&self.findings);
        let Some(finding) = self.findings.get_mut(number - 1) else {
            return;
        };
        let result = result.unwrap_or_else(|error| {
            let reason = if self.interrupt.is_requested.load(Ordering::Relaxed) {
                "since you interrupted it".to_owned()
            } else {
                format!("since {}", error.message)
            };
            ReductionResult::Reproduced {
                test: finding.test.clone(),
                failure: finding.failure.clone(),
                summary: format!("Not reduced, {reason}:"),
                pytest: None,
                identity: None,
            }
        });
        if let ReductionResult::Reproduced { test, failure, .. } = &result {
            let text = self.writer.reduced_text(finding, test, failure);
            self.store.set_reduced(self.console, number, &text, failure);
        }
        self.writer.finish(self.console, finding, result, &bugs);
        let event = events::ReducedEvent {
            number,
            steps: finding.test.len(),
            test: &report::step_labels(&self.writer.actions.catalog(), &finding.test),
            file: &finding.file.display().to_string(),
            reproduced: finding.is_reproduced,
            same_bug_as: finding.same_bug_as,
        };
        if self.run.json_lines {
            events::emit(self.console, self.started.elapsed(), &event);
        }
    }

    /// Prints an event, with `--json-lines`.
    fn emit<E: events::JsonEvent>(&mut self, event: &E) {
        if self.run.json_lines {
            events::emit(self.console, self.started.elapsed(), event);
        }
    }

    /// Returns the totals since the campaign was begun.
    fn progress(&self) -> SearchProgress {
        let sum = |of: fn(&WorkerStats) -> u64| self.stats.iter().map(of).sum::<u64>();
        let before = &self.resumed.0;
        SearchProgress {
            tests: before.tests + sum(WorkerStats::tests),
            steps: before.steps + sum(WorkerStats::steps),
            deadlocks: before.deadlocks + self.deadlocks,
            failures: count_bugs(&self.findings) as u64,
        }
    }

    /// Updates the progress display.
    fn update_display(&mut self) {
        let view = CampaignView {
            run: self.run,
            actions: &self.writer.actions,
            seed: self.writer.plan.seed,
            elapsed: self.elapsed(),
            before: self.resumed.0,
            saved: self.saved,
            stats: self.stats,
            findings: &self.findings,
            covered: self.is_measured.then(|| self.merged.size()),
            unit: if self.inputs.source.is_models() {
                "transition"
            } else {
                "branch"
            },
        };
        self.display.show(self.console, &view);
    }

    /// Records in the store how the campaign ended.
    fn record_end(&mut self) {
        let is_saved = self.save_progress();
        let is_written = self.findings.iter().all(ReportedFailure::is_written_out);
        let ending = match &self.error {
            Some(CommandError::Error(error)) => CampaignEnding::Failed(error.message.clone()),
            Some(CommandError::Reported) => {
                let reason = if self.inputs.source.is_models() {
                    "the models have errors"
                } else {
                    "the harness has errors"
                };
                CampaignEnding::Failed(reason.to_owned())
            }
            _ if self.is_interrupted() => CampaignEnding::Interrupted,
            _ if !is_saved => CampaignEnding::Failed("the store could not be written".to_owned()),
            _ if !is_written => {
                CampaignEnding::Failed("a failing test could not be written".to_owned())
            }
            _ if self.progress().steps == 0 && self.findings.is_empty() => {
                CampaignEnding::Failed("nothing was tested".to_owned())
            }
            _ => CampaignEnding::Complete,
        };
        self.store.finish(self.console, &ending);
    }

    /// Returns true if the user asked to stop.
    fn is_interrupted(&self) -> bool {
        self.interrupt.is_requested.load(Ordering::Relaxed)
    }

    /// Ends the campaign: writes missing files, closes the store record, and returns the outcome
    /// with the merged coverage and the problems of the harness.
    fn into_result(
        mut self,
    ) -> (
        &'a mut Console<'c>,
        RunOutcome,
        MergedCoverage,
        Vec<HarnessProblem>,
    ) {
        self.console.clear_status();
        for finding in self
            .findings
            .iter_mut()
            .filter(|known| known.is_written_out())
        {
            self.writer.write_missing(self.console, finding);
        }
        group_by_bug(&mut self.findings);
        let bugs = self.findings.iter();
        self.store.set_bugs(
            self.console,
            bugs.map(|finding| (finding.number, finding.same_bug_as)),
        );
        self.record_end();
        let problem = |((line, message), times)| HarnessProblem {
            line,
            message,
            times,
            is_mistake: false,
        };
        let outcome = RunOutcome {
            seed: self.writer.plan.seed,
            // The lines that earlier runs of the campaign took are not known.
            untaken: Some(self.untaken.clone()).filter(|_| self.resumed.0.steps == 0),
            progress: self.progress(),
            interrupted: self.is_interrupted(),
            time: self.elapsed(),
            has_unwritten: !self.findings.iter().all(ReportedFailure::is_written_out),
            findings: self.findings,
            error: self.error,
            reached: None,
        };
        let problems = self.problems.into_iter().map(problem).collect();
        (self.console, outcome, self.merged, problems)
    }
}
