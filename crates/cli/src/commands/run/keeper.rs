//! A thread that keeps one worker busy: it starts a nursery, hands out work, and starts again when the worker dies.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use testwright_campaign::{
    Doing, Log, Loss, Overseen, Overseer, Patience, SentFailure, SentTest, oversee,
};
use testwright_core::{ActionId, Error, Failure, Test};

use super::finding::{Discovery, Origin};
use crate::workers::actions::{Actions, Glossary};
use crate::workers::reduce::failure_of;
use crate::workers::start::{NoNursery, Starter};
use crate::workers::{Reached, Report, SearchTask, SentProblem, Task, NextStep};

/// What all keepers share.
pub(super) struct Orders<'a> {
    pub(super) starter: &'a Starter,
    pub(super) actions: &'a Actions,
    pub(super) seed: u64,
    pub(super) patience: Patience,
    pub(super) keep_tests: bool,
    pub(super) jobs: usize,
    /// No test is wanted any more.
    pub(super) stop: &'a AtomicBool,
    /// Somebody does not want to wait.
    pub(super) hurry: &'a AtomicBool,
    /// How many streams of tests were begun.
    pub(super) streams: &'a AtomicU64,
    pub(super) corpus: &'a [SentTest],
    /// Failures that were found already.
    pub(super) known: &'a Mutex<Vec<Failure>>,
}

impl Orders<'_> {
    fn is_known(&self, failure: &Failure) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().any(|known| known.is_same_as(failure))
    }
}

/// What a keeper tells the campaign.
pub(super) enum Event {
    /// The harness is loaded, and the first test begins.
    Ready(usize),
    /// The worker is lost.
    Lost {
        worker: usize,
        hangs: bool,
        reason: String,
    },
    /// What a test reached: places in files.
    Reached {
        worker: usize,
        test: String,
        files: Vec<(PathBuf, Vec<u32>)>,
        places: Vec<(PathBuf, (i32, i32))>,
    },
    /// A test that came to its end.
    Made {
        worker: usize,
        origin: Origin,
        test: Test,
        failure: Option<Failure>,
        is_new: bool,
    },
    Found {
        discovery: Discovery,
        /// All that the worker had done, with this test at the end.
        history: Option<Test>,
        reply: Sender<NextStep>,
    },
    WhatIsNew {
        worker: usize,
        reply: Sender<Vec<SentTest>>,
    },
    Searched {
        deadlocks: u64,
        is_idle: bool,
        problems: Vec<SentProblem>,
        trouble: Option<Error>,
    },
    /// The harness cannot be loaded.
    NotLoaded(NoNursery),
    /// The keeper has nothing more to do.
    Gone,
}

/// How a worker is getting on, for everybody to see.
#[derive(Debug, Default)]
pub(super) struct Gauge {
    tests: AtomicU64,
    steps: AtomicU64,
    state: AtomicU8,
    crashes: AtomicU64,
    /// For how many milliseconds it has been at the same step.
    at_step: AtomicU64,
    action: AtomicU64,
}

/// What a worker is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Loading,
    Testing,
    Over,
}

impl Gauge {
    pub(super) fn tests(&self) -> u64 {
        self.tests.load(Ordering::Relaxed)
    }

    pub(super) fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// How many processes it has used up.
    pub(super) fn crashes(&self) -> u64 {
        self.crashes.load(Ordering::Relaxed)
    }

    /// The action that it took last, if any.
    pub(super) fn action(&self) -> Option<ActionId> {
        let action = self.action.load(Ordering::Relaxed);
        (action > 0).then(|| ActionId(action - 1))
    }

    /// How long it has been at that.
    pub(super) fn at_step(&self) -> Duration {
        Duration::from_millis(self.at_step.load(Ordering::Relaxed))
    }

    pub(super) fn state(&self) -> State {
        match self.state.load(Ordering::Relaxed) {
            0 => State::Loading,
            1 => State::Testing,
            _ => State::Over,
        }
    }

    fn set(&self, state: State) {
        self.state.store(state as u8, Ordering::Relaxed);
    }
}

/// Keeps a worker busy until nothing is left to do. `tests` and `steps` are its share of the whole.
pub(super) fn keep(
    orders: &Orders<'_>,
    worker: usize,
    gauge: &Gauge,
    (tests, steps): (Option<u64>, Option<u64>),
    events: &Sender<Event>,
) {
    let mut nursery = None;
    let mut failed_starts = 0;
    let is_enough = |done: u64, share: Option<u64>| share.is_some_and(|share| done >= share);
    while !orders.stop.load(Ordering::Relaxed)
        && !is_enough(gauge.tests(), tests)
        && !is_enough(gauge.steps(), steps)
    {
        let mut current = match nursery.take() {
            Some(nursery) => nursery,
            None => {
                gauge.set(State::Loading);
                let mut wait = || !orders.stop.load(Ordering::Relaxed);
                match orders.starter.start(&mut wait) {
                    Ok(nursery) => nursery,
                    Err(NoNursery::Abandoned) => break,
                    Err(why) => {
                        let _campaign_is_over = events.send(Event::NotLoaded(why));
                        break;
                    }
                }
            }
        };
        gauge.set(State::Testing);
        let _campaign_is_over = events.send(Event::Ready(worker));
        let stream = orders.streams.fetch_add(1, Ordering::Relaxed);
        let task = SearchTask {
            seed: seed_of(orders.seed, stream),
            tests: tests.map(|share| share - gauge.tests()),
            steps: steps.map(|share| share - gauge.steps()),
            keep: orders.keep_tests,
            has_company: orders.jobs > 1,
            corpus: orders.corpus.to_vec(),
        };
        let mut ear = Ear {
            orders,
            worker,
            stream,
            gauge,
            events,
            before: (gauge.tests(), gauge.steps()),
            files: Vec::new(),
            beats: (0, Instant::now()),
            asked_to_stop: None,
            is_spoiled: false,
            glossary: Glossary::new(orders.actions),
        };
        let overseen = oversee(
            &mut current,
            &Task::Search(task),
            &orders.patience,
            &mut ear,
        );
        match overseen {
            Ok(Overseen::Over) if ear.is_spoiled => nursery = Some(current),
            Ok(Overseen::Over | Overseen::Dismissed) => break,
            Ok(Overseen::Lost(loss)) => {
                failed_starts = 0;
                gauge.tests.fetch_add(1, Ordering::Relaxed);
                gauge.crashes.fetch_add(1, Ordering::Relaxed);
                if ear.lost(*loss) == NextStep::Stop {
                    break;
                }
                nursery = Some(current);
            }
            // It was killed, perhaps by the last worker.
            Err(_) if failed_starts < 3 => failed_starts += 1,
            Err(error) => {
                let message = format!("workers cannot be started any more: {error}");
                let trouble = NoNursery::Error(Error::new(message));
                let _campaign_is_over = events.send(Event::NotLoaded(trouble));
                break;
            }
        }
    }
    gauge.set(State::Over);
    let _campaign_is_over = events.send(Event::Gone);
}

/// The first stream is that of the seed itself, so that one worker makes the tests that this process would make.
fn seed_of(seed: u64, stream: u64) -> u64 {
    match stream {
        0 => seed,
        stream => testwright_core::Random::for_part(seed, u64::MAX - stream).below(u64::MAX),
    }
}

/// Listens to a worker.
struct Ear<'a> {
    orders: &'a Orders<'a>,
    worker: usize,
    stream: u64,
    gauge: &'a Gauge,
    events: &'a Sender<Event>,
    /// Tests and steps of those before.
    before: (u64, u64),
    /// The measured files by their numbers.
    files: Vec<PathBuf>,
    /// When it was last seen to get on.
    beats: (u64, Instant),
    asked_to_stop: Option<Instant>,
    /// The system cannot be reset in this process any more.
    is_spoiled: bool,
    /// What the worker calls the actions.
    glossary: Glossary<'a>,
}

impl Ear<'_> {
    /// How long a worker may take to notice that it is to stop.
    const GRACE: Duration = Duration::from_millis(500);

    fn origin(&self, number: u64) -> Origin {
        Origin {
            stream: self.stream,
            number,
        }
    }

    fn send(&self, event: Event) {
        let _campaign_is_over = self.events.send(event);
    }

    fn measure(&self, log: &Log) {
        let (tests, steps) = self.before;
        self.gauge
            .tests
            .store(tests + log.tests(), Ordering::Relaxed);
        self.gauge
            .steps
            .store(steps + log.steps(), Ordering::Relaxed);
    }

    fn reached(&mut self, reached: Reached) {
        self.files
            .extend(reached.files.iter().map(|(path, _)| path.clone()));
        let place = |(file, from, to): (usize, i32, i32)| {
            let path = self.files.get(file)?;
            Some((path.clone(), (from, to)))
        };
        let places = reached.arcs.into_iter().filter_map(place).collect();
        let test = match self.stream {
            0 => reached.test,
            stream => format!("{} of stream {}", reached.test, stream + 1),
        };
        self.send(Event::Reached {
            worker: self.worker,
            test,
            files: reached.files,
            places,
        });
    }

    /// Tells of a failure, and asks what to do.
    fn found(&self, discovery: Discovery, history: Option<Test>) -> NextStep {
        let (reply, answer) = channel();
        self.send(Event::Found {
            discovery,
            history,
            reply,
        });
        answer.recv().unwrap_or(NextStep::Stop)
    }

    /// A worker that is lost has found a failure.
    fn lost(&self, loss: Loss) -> NextStep {
        self.send(Event::Lost {
            worker: self.worker,
            hangs: loss.ending.hangs,
            reason: loss.ending.how.clone(),
        });
        // Without what cannot be: code under test may write into the log.
        let test = self.glossary.test(&loss.current);
        let history = self.glossary.test(&loss.history);
        let failure = failure_of(&loss, &test, &self.orders.actions.catalog());
        let discovery = Discovery {
            // In a reset before the first step it must be what was there before.
            test: if test.is_empty() {
                history.clone()
            } else {
                test
            },
            failure,
            origin: self.origin(loss.current.number),
        };
        if self.orders.keep_tests {
            self.send(Event::Made {
                worker: self.worker,
                origin: discovery.origin,
                test: discovery.test.clone(),
                failure: Some(discovery.failure.clone()),
                is_new: false,
            });
        }
        self.found(discovery, Some(history))
    }
}

impl Overseer<Report> for Ear<'_> {
    type Answer = Reply;

    fn hear(&mut self, report: Report, log: &Log) {
        self.measure(log);
        match report {
            Report::Met(name) => self.glossary.hear(&name),
            Report::Reached(reached) => self.reached(reached),
            Report::Made {
                number,
                test,
                failure,
                is_new,
            } => self.send(Event::Made {
                worker: self.worker,
                origin: self.origin(number),
                test: self.orders.actions.received(test),
                failure: failure.and_then(SentFailure::into_failure),
                is_new,
            }),
            Report::Searched {
                deadlocks,
                is_idle,
                mut problems,
                mut trouble,
            } => {
                // A process that has come that far was spoiled by its tests, and another may do better.
                self.is_spoiled = trouble.is_some() && log.tests() > 0;
                if let Some(error) = trouble.take_if(|_| self.is_spoiled) {
                    let error = Error::from(error);
                    problems.push(SentProblem {
                        line: 0,
                        message: format!("a worker had to be replaced: {}", error.message),
                        times: 1,
                    });
                }
                self.send(Event::Searched {
                    deadlocks,
                    is_idle,
                    problems,
                    trouble: trouble.map(Error::from),
                });
            }
            // A worker that searches says nothing else.
            _ => {}
        }
    }

    fn answer(&mut self, report: Report, log: &Log) -> Reply {
        self.measure(log);
        match report {
            Report::Found {
                number,
                test,
                failure,
            } => {
                let Some(failure) = failure.into_failure() else {
                    return Reply::Wish(NextStep::Stop);
                };
                // It is long, and nobody needs it twice.
                let history = if self.orders.is_known(&failure) {
                    None
                } else {
                    Some(self.glossary.test(&log.history()))
                };
                let discovery = Discovery {
                    test: self.orders.actions.received(test),
                    failure,
                    origin: self.origin(number),
                };
                Reply::Wish(self.found(discovery, history))
            }
            _ => {
                let (reply, answer) = channel();
                self.send(Event::WhatIsNew {
                    worker: self.worker,
                    reply,
                });
                Reply::News(answer.recv().unwrap_or_default())
            }
        }
    }

    fn look(&mut self, log: &Log) -> bool {
        self.measure(log);
        let beats = log.beats();
        if beats != self.beats.0 || log.doing() == Doing::OwnWork {
            self.beats = (beats, Instant::now());
        }
        let at_step = self.beats.1.elapsed().as_millis() as u64;
        self.gauge.at_step.store(at_step, Ordering::Relaxed);
        let action = log.last().and_then(|action| self.glossary.action(action));
        let action = action.map_or(0, |action| action.0.saturating_add(1));
        self.gauge.action.store(action, Ordering::Relaxed);
        if !self.orders.stop.load(Ordering::Relaxed) {
            return true;
        }
        log.ask_to_stop();
        if !self.orders.hurry.load(Ordering::Relaxed) {
            // A step that is under way comes to its end, or is a hang.
            return true;
        }
        let asked = self.asked_to_stop.get_or_insert_with(Instant::now);
        asked.elapsed() < Ear::GRACE
    }
}

/// What a worker that asks is told: just that, without saying what it is an answer to.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub(super) enum Reply {
    Wish(NextStep),
    News(Vec<SentTest>),
}
