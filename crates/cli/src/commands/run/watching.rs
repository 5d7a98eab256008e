//! What somebody sees of a campaign while it runs.

use std::time::{Duration, Instant};

use testwright_core::generate::Progress;

use super::Run;
use super::finding::Finding;
use super::keeper::{Gauge, State};
use crate::console::Console;
use crate::view::{self, Curve, Doing, FailureLine, FailureState, Standing, WorkerLine};
use crate::workers::actions::Actions;
use crate::{events, report};

/// Looks at a campaign from time to time, and shows it.
pub(super) struct Watching {
    curve: Curve,
    /// How much was reached, and since when.
    covered: (u64, Option<Instant>),
    rates: Vec<Rate>,
    last_line: Instant,
    /// The failures that are not reduced yet, the first of them being worked on.
    pub(super) reducing: Vec<usize>,
    /// How many can be worked on at the same time.
    reducers: usize,
}

/// How fast a worker has been lately.
#[derive(Clone, Copy)]
struct Rate {
    at: Instant,
    steps: u64,
    per_second: f64,
}

impl Rate {
    /// Fast enough to follow, slow enough to read.
    const SPAN: Duration = Duration::from_secs(1);

    fn update(&mut self, now: Instant, steps: u64) {
        let since = now - self.at;
        if since >= Rate::SPAN {
            self.per_second = steps.saturating_sub(self.steps) as f64 / since.as_secs_f64();
            (self.at, self.steps) = (now, steps);
        } else if self.steps == 0 {
            // The first second.
            self.per_second = steps as f64 / since.as_secs_f64().max(0.01);
        }
    }
}

/// What there is to see.
pub(super) struct Scene<'a> {
    pub(super) run: &'a Run,
    pub(super) actions: &'a Actions,
    pub(super) seed: u64,
    pub(super) elapsed: Duration,
    /// What the campaign had done when it was stopped, if it is resumed.
    pub(super) before: Progress,
    pub(super) gauges: &'a [Gauge],
    pub(super) findings: &'a [Finding],
    /// How many branches or transitions were reached, if that is measured.
    pub(super) covered: Option<u64>,
    /// Which of the two.
    pub(super) unit: &'static str,
}

impl Scene<'_> {
    fn tests(&self) -> u64 {
        self.before.tests + self.gauges.iter().map(Gauge::tests).sum::<u64>()
    }

    fn steps(&self) -> u64 {
        self.before.steps + self.gauges.iter().map(Gauge::steps).sum::<u64>()
    }
}

impl Watching {
    /// Between two plain lines.
    const PAUSE: Duration = Duration::from_secs(5);

    /// A step that takes longer is shown.
    const SLOW: Duration = Duration::from_secs(1);

    pub(super) fn new(workers: usize, reducers: usize) -> Watching {
        let now = Instant::now();
        let rate = Rate {
            at: now,
            steps: 0,
            per_second: 0.0,
        };
        Watching {
            curve: Curve::new(),
            covered: (0, None),
            rates: vec![rate; workers],
            last_line: now,
            reducing: Vec::new(),
            reducers,
        }
    }

    pub(super) fn show(&mut self, console: &mut Console<'_>, scene: &Scene<'_>) {
        let now = Instant::now();
        let elapsed = scene.elapsed;
        if let Some(covered) = scene.covered {
            if covered > self.covered.0 {
                self.covered = (covered, Some(now));
            }
            self.curve.note(elapsed, covered);
        }
        for (rate, gauge) in self.rates.iter_mut().zip(scene.gauges) {
            rate.update(now, gauge.steps());
        }
        let is_time = now - self.last_line >= Watching::PAUSE;
        let run = scene.run;
        if run.json_lines {
            if is_time {
                self.last_line = now;
                let progress = events::Progress {
                    tests: scene.tests(),
                    steps: scene.steps(),
                    covered: scene.covered,
                    failures: scene.findings.len(),
                };
                events::tell(console, elapsed, &progress);
            }
        } else if console.is_live() && !run.show_output {
            let colour = console.colour_err();
            let this = &*self;
            console.panel(|room| {
                this.with_standing(scene, now, |standing| {
                    view::lines(standing, room.columns, room.rows, colour)
                })
            });
        } else if !run.json && is_time {
            self.last_line = now;
            console.tell(self.with_standing(scene, now, view::line));
        }
    }

    fn with_standing<R>(
        &self,
        scene: &Scene<'_>,
        now: Instant,
        draw: impl FnOnce(&Standing<'_>) -> R,
    ) -> R {
        let failures: Vec<FailureLine<'_>> = scene
            .findings
            .iter()
            .map(|finding| self.failure(finding))
            .collect();
        let slow: Vec<Option<String>> = scene
            .gauges
            .iter()
            .map(|gauge| {
                let action = gauge
                    .action()
                    .filter(|_| gauge.at_step() >= Watching::SLOW)?;
                let catalog = scene.actions.catalog();
                catalog.contains(action).then(|| catalog.text(action))
            })
            .collect();
        let mut workers: Vec<WorkerLine<'_>> = Vec::new();
        for (index, gauge) in scene.gauges.iter().enumerate() {
            let doing = match (gauge.state(), &slow[index]) {
                (State::Loading, _) if gauge.crashes() > 0 => Doing::Restarting,
                (State::Loading, _) => Doing::Loading,
                (State::Testing, Some(text)) => Doing::SlowStep {
                    lasts: gauge.at_step(),
                    text,
                },
                (State::Testing, None) => Doing::Testing,
                (State::Over, _) => continue,
            };
            workers.push(WorkerLine {
                number: index + 1,
                doing,
                steps_per_second: self.rates[index].per_second,
                crashes: gauge.crashes(),
            });
        }
        let reducing = self.reducing.iter().take(self.reducers).enumerate();
        workers.extend(reducing.map(|(index, failure)| WorkerLine {
            number: scene.gauges.len() + 1 + index,
            doing: Doing::Reducing(*failure),
            steps_per_second: 0.0,
            crashes: 0,
        }));
        draw(&Standing {
            harness: &scene.run.names(),
            seed: scene.seed,
            elapsed: scene.elapsed,
            time: scene.run.time(),
            tests_wanted: scene.run.tests,
            tests: scene.tests(),
            steps: scene.steps(),
            steps_per_second: self.rates.iter().map(|rate| rate.per_second).sum(),
            covered: scene.covered,
            unit: scene.unit,
            since_new: self.covered.1.map(|since| now - since),
            failures: &failures,
            workers: &workers,
            curve: &self.curve,
            notice: None,
        })
    }

    fn failure<'f>(&self, finding: &'f Finding) -> FailureLine<'f> {
        FailureLine {
            number: finding.number,
            kind: report::in_words(finding.failure.kind),
            message: &finding.failure.message,
            times: finding.times,
            state: match self
                .reducing
                .iter()
                .position(|number| *number == finding.number)
            {
                Some(place) if place < self.reducers => FailureState::Reducing,
                Some(_) => FailureState::Found,
                None => FailureState::Reduced(finding.test.len()),
            },
        }
    }
}
