//! A search by worker processes: who finds what, what becomes of it, and when it is over.

mod corpus;
mod known;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use testwright_campaign::SentTest;
use testwright_campaign::store::CampaignEnding;
use testwright_core::generate::Progress;
use testwright_core::saved;
use testwright_core::{Error, Failure, Test};
use testwright_lang::Harness;
use testwright_python::{Measured, Problem};

use super::finding::{Desk, Discovery, Finding, Origin, Verdict};
use super::head::Head;
use super::interrupt::Interrupt;
use super::judging::{Job, MOST_REDUCERS, reduce};
use super::keeper::{Event, Gauge, Orders, keep};
use super::memory::{Beginning, Earlier, Memory, Whereabouts, standing};
use super::shares::Shares;
use super::watching::{Scene, Watching};
use super::{Outcome, Run};
use crate::console::Console;
use crate::coverage::{Merged, Reports};
use crate::events::{self, WorkerFate};
use crate::files::{OutputFolder, TextFile};
use crate::source::Source;
use crate::workers::NextStep;
use crate::workers::reduce::Reducer;
use crate::workers::start::{NoNursery, Starter};
use crate::{ExitStatus, Trouble, load, quantity, report};

/// What a campaign works with.
pub(super) struct Means<'a> {
    pub(super) source: &'a Source,
    /// The harness, unless there are models.
    pub(super) harness: Option<(&'a TextFile, &'a Harness)>,
    /// What the harness, or the models, say.
    pub(super) text: &'a str,
    pub(super) starter: &'a Starter,
    /// What was typed after `testwright run`.
    pub(super) words: &'a [OsString],
    pub(super) jobs: usize,
}

/// Searches with workers; goes on where an earlier campaign was stopped, if there is one.
pub(super) fn run(
    console: &mut Console<'_>,
    desk: Desk<'_>,
    kept: Option<OutputFolder>,
    reports: &Reports,
    means: &Means<'_>,
    earlier: Option<Earlier>,
) -> Result<ExitStatus, Trouble> {
    let run = desk.run;
    let actions = &*desk.actions.clone();
    console.keep_quiet(run.json || run.json_lines);
    let mut memory = remember(console, run, means, desk.plan.seed, earlier.as_ref())?;
    let earlier = earlier.map_or_else(Head::default, Head::new);
    let corpus = corpus::of_earlier_campaigns(run, &mut memory, console, actions);
    let interrupt = Interrupt::listen();
    let shares = Shares::new(run, &earlier.progress, means.jobs);
    let (stop, streams) = (AtomicBool::new(false), AtomicU64::new(earlier.streams));
    let gauges: Vec<Gauge> = (0..shares.jobs).map(|_| Gauge::default()).collect();
    let known = Mutex::new(Vec::new());
    let orders = Orders {
        starter: means.starter,
        actions,
        seed: desk.plan.seed,
        patience: run.workers.patience(run.system.step_timeout),
        keep_tests: kept.is_some(),
        jobs: shares.jobs,
        stop: &stop,
        hurry: &interrupt.is_wanted,
        streams: &streams,
        corpus: &corpus,
        known: &known,
    };
    let mut reducer = Reducer::new(
        means.starter,
        actions,
        run.reduce_options(),
        run.workers.patience(run.system.step_timeout),
        &interrupt.is_wanted,
    );
    let reducers = shares.jobs.clamp(1, MOST_REDUCERS);
    let (events, heard) = channel();
    let (jobs_to_do, jobs_waiting) = channel();
    let (sender, verdicts) = channel();
    let mut campaign = Campaign {
        run,
        console,
        means,
        desk,
        kept,
        memory,
        gauges: &gauges,
        streams: &streams,
        stop: &stop,
        interrupt: &interrupt,
        interrupted: None,
        known: &known,
        started: Instant::now(),
        is_running: false,
        watching: Watching::new(shares.jobs, reducers),
        workers_left: shares.jobs,
        jobs: Some(jobs_to_do),
        verdicts,
        findings: Vec::new(),
        tests_kept: 0,
        deadlocks: 0,
        problems: BTreeMap::new(),
        merged: earlier.merged,
        before: (earlier.progress, earlier.time),
        is_measured: means.source.is_models() || run.options().measured != Measured::Nothing,
        is_ahead: vec![false; shares.jobs],
        shared: vec![Vec::new(); shares.jobs],
        trouble: None,
    };
    if !run.no_replay && run.seed.is_none() {
        campaign.try_known(&mut reducer);
    }
    let jobs_waiting = &Mutex::new(jobs_waiting);
    thread::scope(|scope| {
        for (worker, gauge) in gauges.iter().enumerate() {
            let (orders, events, share) = (&orders, events.clone(), shares.of(worker));
            scope.spawn(move || keep(orders, worker, gauge, share, &events));
        }
        drop(events);
        for _ in 1..reducers {
            let (reducer, sender) = (reducer.another(), sender.clone());
            scope.spawn(move || reduce(run, reducer, jobs_waiting, &sender));
        }
        scope.spawn(move || reduce(run, reducer, jobs_waiting, &sender));
        campaign.go_on(&heard);
    });
    if !campaign.is_running {
        // Nothing has been said about it yet, and there is nothing to say.
        campaign.finish();
        campaign.console.keep_quiet(false);
        return Err(campaign.trouble.unwrap_or(Trouble::Interrupted));
    }
    let (console, result, merged, problems) = campaign.into_result();
    let coverage = run
        .coverage
        .is_wanted()
        .then(|| merged.into_report(reports));
    let catalog = actions.catalog().clone();
    let concluded = run.conclude(console, &catalog, result, coverage, reports);
    match means.harness {
        Some((file, _)) => load::tell_afterwards(console, file, &problems),
        None => load::tell_without_place(console, &problems),
    }
    concluded
}

/// Opens the store, and begins a campaign in it.
fn remember(
    console: &mut Console<'_>,
    run: &Run,
    means: &Means<'_>,
    seed: u64,
    earlier: Option<&Earlier>,
) -> Result<Memory, Trouble> {
    if run.no_store {
        return Ok(Memory::default());
    }
    let whereabouts = Whereabouts::new(run.store.as_deref(), run)?;
    let words = means.words.iter();
    let words = words.map(|word| word.to_string_lossy().into_owned());
    let beginning = Beginning {
        text: means.text,
        seed,
        words: std::iter::once("run".to_owned()).chain(words).collect(),
        python: testwright_python::attach(testwright_python::version),
        jobs: means.jobs,
    };
    Ok(Memory::begin(console, &whereabouts, beginning, earlier))
}

/// A campaign under way.
struct Campaign<'a, 'c> {
    run: &'a Run,
    console: &'a mut Console<'c>,
    means: &'a Means<'a>,
    desk: Desk<'a>,
    /// Where every test is kept, if that is wanted.
    kept: Option<OutputFolder>,
    memory: Memory,
    gauges: &'a [Gauge],
    streams: &'a AtomicU64,
    stop: &'a AtomicBool,
    interrupt: &'a Interrupt,
    /// When it was noticed that somebody wants to stop.
    interrupted: Option<Instant>,
    known: &'a Mutex<Vec<Failure>>,
    /// When the first worker was ready.
    started: Instant,
    is_running: bool,
    watching: Watching,
    workers_left: usize,
    /// What is to be reduced; closed when nothing more will come.
    jobs: Option<Sender<Job>>,
    verdicts: Receiver<(usize, Result<Verdict, Error>)>,
    findings: Vec<Finding>,
    tests_kept: u64,
    deadlocks: u64,
    problems: BTreeMap<(usize, String), u64>,
    merged: Merged,
    /// How far the campaign had come when it was stopped, and how long that had taken.
    before: (Progress, Duration),
    /// Somebody wants to know what is reached.
    is_measured: bool,
    /// For each worker, whether the test that it told of last reached what nobody had.
    is_ahead: Vec<bool>,
    /// For each worker, tests of others that it was not told of yet.
    shared: Vec<Vec<SentTest>>,
    trouble: Option<Trouble>,
}

impl<'a, 'c> Campaign<'a, 'c> {
    /// Between two looks at the clock.
    const GLANCE: Duration = Duration::from_millis(20);

    /// Until all workers have come to their end, and all that they found is reduced.
    fn go_on(&mut self, heard: &Receiver<Event>) {
        while self.workers_left > 0 || !self.watching.reducing.is_empty() {
            match heard.recv_timeout(Campaign::GLANCE) {
                Ok(event) => self.take(event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => thread::sleep(Campaign::GLANCE),
            }
            while let Ok((number, verdict)) = self.verdicts.try_recv() {
                self.settled(number, verdict);
            }
            let is_late =
                self.is_running && self.run.time().is_some_and(|time| self.time() >= time);
            if is_late || self.is_interrupted() {
                self.stop();
            }
            if self.is_interrupted() {
                let since = self.interrupted.get_or_insert_with(Instant::now).elapsed();
                self.interrupt.expect_another(since);
            }
            if self.memory.is_due() {
                self.note();
            }
            self.show();
        }
        self.jobs = None;
    }

    /// For how long the campaign has been searching, pauses not counted.
    fn time(&self) -> Duration {
        self.before.1 + self.started.elapsed()
    }

    /// Writes down how far it has come.
    fn note(&mut self) {
        let progress = self.progress();
        let streams = self.streams.load(Ordering::Relaxed);
        let standing = standing(&progress, self.time(), self.merged.size(), streams);
        let findings = &self.findings;
        self.memory.note(self.console, standing, |number| {
            let finding = findings.iter().find(|finding| finding.number == number);
            finding.map_or(0, |finding| finding.times)
        });
    }

    fn push(&mut self, finding: Finding) {
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(finding.failure.clone());
        self.findings.push(finding);
    }

    /// The harness cannot be loaded.
    fn not_loaded(&mut self, why: NoNursery) {
        match why {
            NoNursery::Told(words) => {
                if self.trouble.is_none() {
                    self.console.tell(words.trim_end());
                }
                self.give_up(Trouble::Told);
            }
            NoNursery::Error(error) => self.give_up(error.into()),
            NoNursery::Abandoned => {}
        }
    }

    /// The first worker is ready.
    fn begin(&mut self) {
        self.is_running = true;
        self.started = Instant::now();
        let jobs = self.gauges.len();
        let plan = &self.desk.plan;
        if let Some(greeting) = self.means.starter.greeting() {
            self.desk.actions.learn_classes(&greeting.classes);
            if !greeting.told.is_empty() {
                self.console.tell(greeting.told.trim_end());
            }
        }
        let (actions, templates) = {
            let catalog = self.desk.actions.catalog();
            (catalog.len(), catalog.templates().len())
        };
        let what = match self.means.harness {
            Some((_, harness)) => report::actions_from_lines(harness),
            None => quantity::of(templates as u64, "action name"),
        };
        self.run.say_plan(self.console, &what, plan, jobs);
        let start = events::Start {
            harness: &self.run.names(),
            seed: plan.seed,
            jobs,
            actions,
            templates,
            version: crate::VERSION,
        };
        self.tell(&start);
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Ready(worker) => {
                if !self.is_running {
                    self.begin();
                }
                self.tell(&events::Worker {
                    number: worker + 1,
                    what: WorkerFate::Started,
                    reason: None,
                });
            }
            Event::Lost {
                worker,
                hangs,
                reason,
            } => self.tell(&events::Worker {
                number: worker + 1,
                what: if hangs {
                    WorkerFate::Hung
                } else {
                    WorkerFate::Crashed
                },
                reason: Some(&reason),
            }),
            Event::Reached {
                worker,
                test,
                files,
                places,
            } => {
                let new = self.merged.add(test.clone(), files, places);
                self.is_ahead[worker] = !new.is_empty();
                if !new.is_empty() {
                    self.memory.reached(&test, &new);
                    self.tell(&events::Coverage {
                        covered: self.merged.size(),
                        new: new.len() as u64,
                    });
                }
            }
            Event::Made {
                worker,
                origin,
                test,
                failure,
                is_new,
            } => {
                // What is new to a worker need not be new to others: after a crash, everything is new to it.
                let is_ahead = std::mem::take(&mut self.is_ahead[worker]);
                if is_new && is_ahead && failure.is_none() {
                    self.share(worker, &test);
                    let notes = self.desk.notes(origin, None);
                    self.memory
                        .keep(saved::write(&self.desk.actions.catalog(), &test, &notes));
                }
                self.keep(origin, &test, failure.as_ref());
            }
            Event::WhatIsNew { worker, reply } => {
                let news = std::mem::take(&mut self.shared[worker]);
                let _worker_is_gone = reply.send(news);
            }
            Event::Found {
                discovery,
                history,
                reply,
                ..
            } => {
                let wish = self.found(discovery, history);
                let _worker_is_gone = reply.send(wish);
            }
            Event::Searched {
                deadlocks,
                is_idle,
                problems,
                trouble,
            } => {
                self.deadlocks += deadlocks;
                for problem in problems {
                    let key = (problem.line, problem.message);
                    *self.problems.entry(key).or_default() += problem.times;
                }
                if let Some(error) = trouble {
                    self.give_up(error.into());
                }
                if is_idle {
                    self.stop();
                }
            }
            Event::NotLoaded(why) => self.not_loaded(why),
            Event::Gone => self.workers_left -= 1,
        }
    }

    /// Why the search cannot go on. The first reason counts.
    fn give_up(&mut self, trouble: Trouble) {
        self.trouble.get_or_insert(trouble);
        self.stop();
    }

    /// Saves a test, if all are to be saved.
    fn keep(&mut self, origin: Origin, test: &Test, failure: Option<&Failure>) {
        let Some(kept) = &mut self.kept else {
            return;
        };
        self.tests_kept += 1;
        let notes = self.desk.notes(origin, failure);
        let text = saved::write(&self.desk.actions.catalog(), test, &notes);
        if let Err(error) = kept.write(&format!("test-{}.test", self.tests_kept), &text) {
            self.give_up(error.into());
        }
    }

    fn found(&mut self, discovery: Discovery, history: Option<Test>) -> NextStep {
        let known = self
            .findings
            .iter_mut()
            .find(|known| known.is(&discovery.failure));
        if let Some(known) = known {
            known.times += 1;
        } else if !self.findings.is_empty() && !self.run.keep_going {
            // Another worker was faster.
            return NextStep::Stop;
        } else {
            self.take_in(discovery, history);
        }
        if self.run.keep_going && !self.stop.load(Ordering::Relaxed) {
            NextStep::GoOn
        } else {
            self.stop();
            NextStep::Stop
        }
    }

    fn take_in(&mut self, discovery: Discovery, history: Option<Test>) {
        let number = self.findings.len() + 1;
        let full = self.desk.full_text(&discovery);
        self.memory
            .found(self.console, number, &discovery.failure, &full);
        let finding = self.desk.open(self.console, &discovery, number);
        self.tell(&events::Failure {
            number,
            kind: finding.failure.kind.name(),
            message: &finding.failure.message,
            signature: &finding.failure.signature,
            steps: finding.test.len(),
            file: &finding.file.display().to_string(),
            times: 1,
            state: events::FailureState::Found,
        });
        self.push(finding);
        let job = Job {
            number,
            test: discovery.test,
            failure: discovery.failure,
            history,
            pytest: self.desk.pytest_names(number),
        };
        if let Some(jobs) = &self.jobs
            && jobs.send(job).is_ok()
        {
            self.watching.reducing.push(number);
        }
    }

    fn settled(&mut self, number: usize, verdict: Result<Verdict, Error>) {
        self.watching.reducing.retain(|other| *other != number);
        let Some(finding) = self.findings.get_mut(number - 1) else {
            return;
        };
        let verdict = verdict.unwrap_or_else(|error| {
            let reason = if self.interrupt.is_wanted.load(Ordering::Relaxed) {
                "since you interrupted it".to_owned()
            } else {
                format!("since {}", error.message)
            };
            Verdict::Fails {
                test: finding.test.clone(),
                failure: finding.failure.clone(),
                story: format!("Not reduced, {reason}:"),
                pytest: None,
            }
        });
        if let Verdict::Fails { test, failure, .. } = &verdict {
            let text = self.desk.text_of(finding, test, failure);
            self.memory.reduced(self.console, number, &text, failure);
        }
        self.desk.close(self.console, finding, verdict);
        let event = events::Reduced {
            number,
            steps: finding.test.len(),
            test: &report::step_labels(&self.desk.actions.catalog(), &finding.test),
            file: &finding.file.display().to_string(),
            reproduced: finding.reproduced,
        };
        if self.run.json_lines {
            events::tell(self.console, self.started.elapsed(), &event);
        }
    }

    /// Tells tools what happens.
    fn tell<E: events::Event>(&mut self, event: &E) {
        if self.run.json_lines {
            events::tell(self.console, self.started.elapsed(), event);
        }
    }

    fn progress(&self) -> Progress {
        let sum = |of: fn(&Gauge) -> u64| self.gauges.iter().map(of).sum::<u64>();
        let before = &self.before.0;
        Progress {
            tests: before.tests + sum(Gauge::tests),
            steps: before.steps + sum(Gauge::steps),
            deadlocks: before.deadlocks + self.deadlocks,
            failures: self.findings.len() as u64,
        }
    }

    fn show(&mut self) {
        let scene = Scene {
            run: self.run,
            actions: &self.desk.actions,
            seed: self.desk.plan.seed,
            elapsed: self.time(),
            before: self.before.0,
            gauges: self.gauges,
            findings: &self.findings,
            covered: self.is_measured.then(|| self.merged.size()),
            unit: if self.means.source.is_models() {
                "transition"
            } else {
                "branch"
            },
        };
        self.watching.show(self.console, &scene);
    }

    /// Writes down that it is over.
    fn finish(&mut self) {
        self.note();
        let ending = match &self.trouble {
            Some(Trouble::Error(error)) => CampaignEnding::Failed(error.message.clone()),
            Some(Trouble::Told) => {
                let what = if self.means.source.is_models() {
                    "the models have errors"
                } else {
                    "the harness has errors"
                };
                CampaignEnding::Failed(what.to_owned())
            }
            _ if self.is_interrupted() => CampaignEnding::Interrupted,
            _ => CampaignEnding::Complete,
        };
        self.memory.finish(self.console, &ending);
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.is_wanted.load(Ordering::Relaxed)
    }

    fn into_result(mut self) -> (&'a mut Console<'c>, Outcome, Merged, Vec<Problem>) {
        self.console.clear_status();
        for finding in self.findings.iter_mut().filter(|known| known.is_kept()) {
            self.desk.restore(self.console, finding);
        }
        self.finish();
        let problem = |((line, message), times)| Problem {
            line,
            message,
            times,
        };
        let outcome = Outcome {
            seed: self.desk.plan.seed,
            progress: self.progress(),
            interrupted: self.is_interrupted(),
            time: self.time(),
            unwritten: !self.findings.iter().all(Finding::is_kept),
            findings: self.findings,
            trouble: self.trouble,
            reached: None,
        };
        let problems = self.problems.into_iter().map(problem).collect();
        (self.console, outcome, self.merged, problems)
    }
}
