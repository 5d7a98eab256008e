//! A worker that searches.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::{Reached, Report, SearchTask, SentProblem, NextStep};
use crate::Terminal;
use crate::commands::{Pace, Run};
use crate::console::Console;
use crate::subject::{PlacesReached, Subject};
use testwright_campaign::{Doing, Log, Logged, SentFailure, SentTest, Voice};
use testwright_core::generate::{Found, Made, Progress, Search, SearchWatcher};
use testwright_core::{Error, System, TargetId, Test};

/// The voice is used by who looks after the search, by who asks for tests of others, and by who tells what actions are
/// called.
pub(super) type SharedVoice = Rc<RefCell<Voice<UnixStream>>>;

/// Searches as the task says, and tells what comes up.
pub(super) fn search<S: Subject>(
    run: &Run,
    system: &mut S,
    log: &Log,
    voice: &SharedVoice,
    task: SearchTask,
) {
    let plan = Search {
        seed: task.seed,
        tests: task.tests,
        ..run.plan()
    };
    let mut watch = Watch {
        log,
        voice: voice.clone(),
        steps: task.steps,
        length: plan.length as u64,
        keep: task.keep,
        files: 0,
        tests: 0,
        pace: Pace::begin(&Progress::default()),
    };
    let (mut nowhere, mut nobody) = (io::sink(), io::sink());
    let console = &mut Console::new(&mut nowhere, &mut nobody, Terminal::plain());
    let strategy = run.chosen(console, system);
    let mut system = Logged::new(system, log);
    watch.note(&system, &[], || "loading the harness".to_owned());
    let mut others = Others {
        voice: voice.clone(),
        has_company: task.has_company,
        asked: Instant::now(),
        waiting: task.corpus.into(),
    };
    let searched = match strategy {
        Ok(strategy) => {
            let others = |system: &mut Logged<'_, S>| others.next(system);
            strategy.search(&mut system, &plan, &mut watch, Some(others))
        }
        // It was all right when the nursery tried.
        Err(_) => Err(Error::new("a file that the strategy needs has changed")),
    };
    log.does(Doing::OwnWork);
    let problem = |problem: testwright_python::Problem| SentProblem {
        line: problem.line,
        message: problem.message,
        times: problem.times,
    };
    let summary = searched.as_ref().copied().unwrap_or_default();
    watch.tell(&Report::Searched {
        deadlocks: summary.progress.deadlocks,
        is_idle: summary.progress.tests > 0 && summary.progress.steps == 0,
        problems: system.inner().problems().into_iter().map(problem).collect(),
        trouble: searched.err().map(Into::into),
    });
}

/// Looks after the search.
struct Watch<'a> {
    log: &'a Log,
    voice: SharedVoice,
    steps: Option<u64>,
    length: u64,
    keep: bool,
    /// How many measured files were mentioned.
    files: usize,
    tests: u64,
    pace: Pace,
}

impl Watch<'_> {
    /// A supervisor that does not listen any more ends this process soon.
    fn tell(&self, report: &Report) {
        let _nobody_listens = self.voice.borrow_mut().tell(report);
    }

    /// Tells what was reached for the first time, by the strategy's account and since this was last done. Whether there
    /// was anything.
    fn note<S: Subject>(
        &mut self,
        system: &Logged<'_, S>,
        told: &[TargetId],
        name: impl FnOnce() -> String,
    ) -> bool {
        if !system.inner().is_measured() {
            return false;
        }
        let mut targets = told.to_vec();
        targets.extend(system.inner().news());
        if targets.is_empty() {
            return false;
        }
        let PlacesReached { files, arcs } = system.inner().places(&targets, self.files);
        self.files += files.len();
        self.tell(&Report::Reached(Reached {
            test: name(),
            files,
            arcs,
        }));
        true
    }
}

impl<S: Subject> SearchWatcher<Logged<'_, S>> for Watch<'_> {
    #[inline]
    fn proceed(&mut self, progress: &Progress) -> bool {
        if progress.tests != self.tests {
            self.tests = progress.tests;
            self.pace = Pace::begin(progress);
        }
        !self.log.is_to_stop() && self.steps.is_none_or(|steps| progress.steps < steps)
    }

    fn unfinished(&mut self, system: &Logged<'_, S>, new: &[TargetId]) {
        let number = self.tests + 1;
        self.note(system, new, || format!("test {number}"));
    }

    #[inline]
    fn is_enough(&mut self, progress: &Progress) -> bool {
        self.pace.is_too_slow(progress, self.length)
    }

    fn made(&mut self, system: &Logged<'_, S>, made: Made<'_>) -> ControlFlow<()> {
        self.log.does(Doing::OwnWork);
        let is_new = self.note(system, made.new, || format!("test {}", made.number + 1));
        if self.keep || is_new {
            let test = Test {
                steps: made.steps.to_vec(),
                remarks: made.remarks.to_vec(),
            };
            self.tell(&Report::Made {
                number: made.number,
                test: SentTest::of(&test, system.actions()),
                failure: made.failure.map(SentFailure::from),
                is_new,
            });
        }
        // The supervisor wants to see a failing test in the log.
        if made.failure.is_none() {
            self.log.finish_test();
        }
        if self.voice.borrow().is_heard() {
            ControlFlow::Continue(())
        } else {
            // Code under test has closed the connection, so nobody would hear of what comes now.
            ControlFlow::Break(())
        }
    }

    fn found(&mut self, system: &mut Logged<'_, S>, found: Found) -> ControlFlow<()> {
        self.log.does(Doing::OwnWork);
        let report = Report::Found {
            number: found.number,
            test: SentTest::of(&found.test, system.actions()),
            failure: SentFailure::from(&found.failure),
        };
        let wish = self.voice.borrow_mut().ask(&report);
        self.log.finish_test();
        match wish {
            Ok(NextStep::GoOn) => ControlFlow::Continue(()),
            Ok(NextStep::Stop) | Err(_) => ControlFlow::Break(()),
        }
    }
}

/// Tests of other workers.
struct Others {
    voice: SharedVoice,
    has_company: bool,
    asked: Instant,
    waiting: VecDeque<SentTest>,
}

impl Others {
    /// What is worth a look is rare after the first seconds.
    const PAUSE: Duration = Duration::from_millis(200);

    fn next<S: System>(&mut self, system: &mut S) -> Option<Test> {
        if self.has_company && self.waiting.is_empty() && self.asked.elapsed() >= Others::PAUSE {
            self.asked = Instant::now();
            let news = self.voice.borrow_mut().ask(&Report::WhatIsNew);
            self.waiting = news.unwrap_or_default();
        }
        Some(self.waiting.pop_front()?.for_system(system))
    }
}
