//! Display of a running campaign.

use std::time::{Duration, Instant};

use testwright_core::generate::SearchProgress;

use super::RunCommand;
use super::failures::{ReportedFailure, count_bugs};
use super::worker_thread::{WorkerState, WorkerStats};
use crate::console::Console;
use crate::view::{
    self, CampaignStatus, Curve, FailureLine, FailureProgress, WorkerActivity, WorkerLine,
};
use crate::workers::actions::ActionRegistry;
use crate::{events, report};

/// Progress display of a campaign: a live panel, or plain lines now and then.
pub(super) struct ProgressDisplay {
    /// Growth of the coverage.
    curve: Curve,
    /// Size of the coverage, and the time at which it last grew.
    covered: (u64, Option<Instant>),
    /// Speed of each worker.
    rates: Vec<StepRate>,
    /// Time of the last plain line.
    last_line: Instant,
    /// Numbers of the failures that are not reduced yet; the first ones are being worked on.
    pub(super) reducing: Vec<usize>,
    /// Number of failures that can be reduced at the same time.
    reducers: usize,
}

/// Recent speed of a worker.
#[derive(Clone, Copy)]
struct StepRate {
    /// Time of the last measurement.
    measured_at: Instant,
    /// Total number of steps at that time.
    steps: u64,
    /// Steps per second in the last window.
    per_second: f64,
}

impl StepRate {
    /// Time over which the speed is measured: short enough to follow, long enough to read.
    const WINDOW: Duration = Duration::from_secs(1);

    /// Updates the speed from the total number of steps.
    fn update(&mut self, now: Instant, steps: u64) {
        let since = now - self.measured_at;
        if since >= StepRate::WINDOW {
            self.per_second = steps.saturating_sub(self.steps) as f64 / since.as_secs_f64();
            (self.measured_at, self.steps) = (now, steps);
        } else if self.steps == 0 {
            // The first second.
            self.per_second = steps as f64 / since.as_secs_f64().max(0.01);
        }
    }
}

/// Everything about a campaign that is displayed.
pub(super) struct CampaignView<'a> {
    pub(super) run: &'a RunCommand,
    pub(super) actions: &'a ActionRegistry,
    pub(super) seed: u64,
    /// Search time so far.
    pub(super) elapsed: Duration,
    /// Progress of the campaign when it was stopped; zero for a new one.
    pub(super) before: SearchProgress,
    /// Progress of the campaign at the last save.
    pub(super) saved: SearchProgress,
    /// Statistics of the workers.
    pub(super) stats: &'a [WorkerStats],
    pub(super) findings: &'a [ReportedFailure],
    /// Number of branches or transitions that were reached, if measured.
    pub(super) covered: Option<u64>,
    /// `branch` or `transition`.
    pub(super) unit: &'static str,
}

impl CampaignView<'_> {
    /// Returns the number of tests.
    fn tests(&self) -> u64 {
        self.before.tests + self.stats.iter().map(WorkerStats::tests).sum::<u64>()
    }

    /// Returns the number of steps.
    fn steps(&self) -> u64 {
        self.before.steps + self.stats.iter().map(WorkerStats::steps).sum::<u64>()
    }
}

impl ProgressDisplay {
    /// Time between two plain lines.
    const LINE_INTERVAL: Duration = Duration::from_secs(5);

    /// Duration from which a step is displayed as slow.
    const SLOW_STEP: Duration = Duration::from_secs(1);

    /// Creates a display for a number of workers and reducers.
    pub(super) fn new(workers: usize, reducers: usize) -> ProgressDisplay {
        let now = Instant::now();
        let rate = StepRate {
            measured_at: now,
            steps: 0,
            per_second: 0.0,
        };
        ProgressDisplay {
            curve: Curve::new(),
            covered: (0, None),
            rates: vec![rate; workers],
            last_line: now,
            reducing: Vec::new(),
            reducers,
        }
    }

    /// Returns true if it is time for another plain line or event.
    pub(super) fn is_line_due(&self) -> bool {
        self.last_line.elapsed() >= ProgressDisplay::LINE_INTERVAL
    }

    /// Shows the current state in the form that fits the output: JSON lines, panel or plain line.
    pub(super) fn show(&mut self, console: &mut Console<'_>, view: &CampaignView<'_>) {
        let now = Instant::now();
        let elapsed = view.elapsed;
        if let Some(covered) = view.covered {
            if covered > self.covered.0 {
                self.covered = (covered, Some(now));
            }
            self.curve.record(elapsed, covered);
        }
        for (rate, worker) in self.rates.iter_mut().zip(view.stats) {
            rate.update(now, worker.steps());
        }
        let is_time = self.is_line_due();
        let run = view.run;
        if run.json_lines {
            if is_time {
                self.last_line = now;
                let progress = events::ProgressEvent {
                    tests: view.saved.tests,
                    steps: view.saved.steps,
                    covered: view.covered,
                    failures: count_bugs(view.findings),
                };
                events::emit(console, elapsed, &progress);
            }
        } else if console.is_live() && !run.show_output {
            let colour = console.colour_err();
            let this = &*self;
            console.panel(|room| {
                this.with_status(view, now, |standing| {
                    view::lines(standing, room.columns, room.rows, colour)
                })
            });
        } else if !run.json && is_time {
            self.last_line = now;
            console.err(self.with_status(view, now, view::line));
        }
    }

    /// Collects everything to draw, and calls `draw` with it.
    fn with_status<R>(
        &self,
        view: &CampaignView<'_>,
        now: Instant,
        draw: impl FnOnce(&CampaignStatus<'_>) -> R,
    ) -> R {
        let failures: Vec<FailureLine<'_>> = view
            .findings
            .iter()
            .filter(|finding| finding.same_bug_as.is_none())
            .map(|finding| self.failure(finding))
            .collect();
        let slow_steps: Vec<Option<String>> = view
            .stats
            .iter()
            .map(|worker| {
                let action = worker
                    .action()
                    .filter(|_| worker.step_time() >= ProgressDisplay::SLOW_STEP)?;
                let catalog = view.actions.catalog();
                catalog.contains(action).then(|| catalog.text(action))
            })
            .collect();
        let mut workers: Vec<WorkerLine<'_>> = Vec::new();
        for (index, worker) in view.stats.iter().enumerate() {
            let doing = match (worker.state(), &slow_steps[index]) {
                (WorkerState::Loading, _) if worker.crashes() > 0 => WorkerActivity::Restarting,
                (WorkerState::Loading, _) => WorkerActivity::Loading,
                (WorkerState::Testing, Some(text)) => WorkerActivity::SlowStep {
                    elapsed: worker.step_time(),
                    text,
                },
                (WorkerState::Testing, None) => WorkerActivity::Testing,
                (WorkerState::Over, _) => continue,
            };
            workers.push(WorkerLine {
                number: index + 1,
                activity: doing,
                steps_per_second: self.rates[index].per_second,
                crashes: worker.crashes(),
            });
        }
        let reducing = self.reducing.iter().take(self.reducers).enumerate();
        workers.extend(reducing.map(|(index, failure)| WorkerLine {
            number: view.stats.len() + 1 + index,
            activity: WorkerActivity::Reducing(*failure),
            steps_per_second: 0.0,
            crashes: 0,
        }));
        draw(&CampaignStatus {
            harness: &view.run.joined_names(),
            seed: view.seed,
            elapsed: view.elapsed,
            time: view.run.time_limit(),
            tests_wanted: view.run.tests,
            tests: view.tests(),
            steps: view.steps(),
            steps_per_second: self.rates.iter().map(|rate| rate.per_second).sum(),
            covered: view.covered,
            unit: view.unit,
            since_new: self.covered.1.map(|since| now - since),
            failures: &failures,
            workers: &workers,
            curve: &self.curve,
            notice: None,
        })
    }

    /// Returns the line for a failure.
    fn failure<'f>(&self, finding: &'f ReportedFailure) -> FailureLine<'f> {
        FailureLine {
            number: finding.number,
            kind: report::kind_text(finding.failure.kind),
            message: &finding.failure.message,
            times: finding.times,
            state: match self
                .reducing
                .iter()
                .position(|number| *number == finding.number)
            {
                Some(position) if position < self.reducers => FailureProgress::Reducing,
                Some(_) => FailureProgress::Found,
                None => FailureProgress::Reduced(finding.test.len()),
            },
        }
    }
}
