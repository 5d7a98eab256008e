//! A worker that searches.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::time::{Duration, Instant};

use testwright_campaign::{Doing, Log, Logged, SentFailure, SentTest, Voice};
use testwright_core::generate::{Found, Made, Progress, Search, SearchWatcher};
use testwright_core::{Catalog, Error, System, TargetId, Test};
use testwright_python::PythonSystem;

use super::{Reached, Report, SearchTask, SentProblem, Wish};
use crate::Terminal;
use crate::commands::{Pace, Run};
use crate::console::Console;

/// The voice is used by who looks after the search and by who asks for tests of others.
type SharedVoice = Rc<RefCell<Voice<UnixStream>>>;

/// Searches as the task says, tells what comes up, and gives the voice back.
pub(super) fn search(
    run: &Run,
    system: &mut PythonSystem<'_>,
    log: &Log,
    voice: Voice<UnixStream>,
    task: SearchTask,
) -> Voice<UnixStream> {
    let voice: SharedVoice = Rc::new(RefCell::new(voice));
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
        catalog: system.actions().clone(),
    };
    let searched = match strategy {
        Ok(strategy) => strategy.search(&mut system, &plan, &mut watch, Some(|| others.next())),
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
        problems: system
            .system()
            .problems()
            .into_iter()
            .map(problem)
            .collect(),
        trouble: searched.err().map(Into::into),
    });
    drop((watch, others));
    match Rc::try_unwrap(voice) {
        Ok(voice) => voice.into_inner(),
        Err(_) => unreachable!("both others are gone"),
    }
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
    fn note(
        &mut self,
        system: &Logged<'_, PythonSystem<'_>>,
        told: &[TargetId],
        name: impl FnOnce() -> String,
    ) -> bool {
        let Some(collector) = system.inner().coverage() else {
            return false;
        };
        let mut targets = told.to_vec();
        targets.extend(collector.take_new());
        if targets.is_empty() {
            return false;
        }
        let arc = |target: &TargetId| {
            let (file, (from, to)) = collector.meaning(*target);
            (file, from, to)
        };
        let arcs: Vec<_> = targets.iter().map(arc).collect();
        let mut files = Vec::new();
        if arcs.iter().any(|(file, _, _)| *file >= self.files) {
            let measured = collector.files();
            let new = measured.get(self.files..).unwrap_or_default();
            files.extend(
                new.iter()
                    .map(|file| (file.path.clone(), file.lines.iter().copied().collect())),
            );
            self.files = measured.len();
        }
        self.tell(&Report::Reached(Reached {
            test: name(),
            files,
            arcs,
        }));
        true
    }
}

impl<'py> SearchWatcher<Logged<'_, PythonSystem<'py>>> for Watch<'_> {
    #[inline]
    fn proceed(&mut self, progress: &Progress) -> bool {
        if progress.tests != self.tests {
            self.tests = progress.tests;
            self.pace = Pace::begin(progress);
        }
        !self.log.is_to_stop() && self.steps.is_none_or(|steps| progress.steps < steps)
    }

    fn unfinished(&mut self, system: &Logged<'_, PythonSystem<'py>>, new: &[TargetId]) {
        let number = self.tests + 1;
        self.note(system, new, || format!("test {number}"));
    }

    #[inline]
    fn is_enough(&mut self, progress: &Progress) -> bool {
        self.pace.is_too_slow(progress, self.length)
    }

    fn made(&mut self, system: &Logged<'_, PythonSystem<'py>>, made: Made<'_>) -> ControlFlow<()> {
        self.log.does(Doing::OwnWork);
        let is_new = self.note(system, made.new, || format!("test {}", made.number + 1));
        if self.keep || is_new {
            let test = Test {
                steps: made.steps.to_vec(),
                remarks: made.remarks.to_vec(),
            };
            self.tell(&Report::Made {
                number: made.number,
                test: SentTest::from(&test),
                failure: made.failure.map(SentFailure::from),
                is_new,
            });
        }
        // The supervisor wants to see a failing test in the log.
        if made.failure.is_none() {
            self.log.finish_test();
        }
        match self.voice.borrow().is_heard() {
            true => ControlFlow::Continue(()),
            // Code under test has closed the connection, so nobody would hear of what comes now.
            false => ControlFlow::Break(()),
        }
    }

    fn found(
        &mut self,
        _system: &mut Logged<'_, PythonSystem<'py>>,
        found: Found,
    ) -> ControlFlow<()> {
        self.log.does(Doing::OwnWork);
        let report = Report::Found {
            number: found.number,
            test: SentTest::from(&found.test),
            failure: SentFailure::from(&found.failure),
        };
        let wish = self.voice.borrow_mut().ask(&report);
        self.log.finish_test();
        match wish {
            Ok(Wish::GoOn) => ControlFlow::Continue(()),
            Ok(Wish::Stop) | Err(_) => ControlFlow::Break(()),
        }
    }
}

/// Tests of other workers.
struct Others {
    voice: SharedVoice,
    has_company: bool,
    asked: Instant,
    waiting: VecDeque<SentTest>,
    catalog: Catalog,
}

impl Others {
    /// What is worth a look is rare after the first seconds.
    const PAUSE: Duration = Duration::from_millis(200);

    fn next(&mut self) -> Option<Test> {
        if self.has_company && self.waiting.is_empty() && self.asked.elapsed() >= Others::PAUSE {
            self.asked = Instant::now();
            let news = self.voice.borrow_mut().ask(&Report::WhatIsNew);
            self.waiting = news.unwrap_or_default();
        }
        let test = self.waiting.pop_front()?;
        Some(test.into_test(&self.catalog))
    }
}
