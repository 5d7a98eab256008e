//! A search in the process of the command itself (`--jobs 0`): for debuggers, and where processes cannot be copied.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use testwright_core::generate::{Found, Made, Progress, SearchWatcher, Summary};
use testwright_core::shrink::ReduceError;
use testwright_core::{Error, TargetId, Test, saved};
use testwright_python::Output;
use testwright_report::Attribution;

use super::finding::{Desk, Discovery, Finding, Origin, Verdict, instead};
use super::json::FailureReport;
use super::last_words::LastWords;
use super::pace::Pace;
use super::progress::progress_text;
use super::{Outcome, Run, confirm};
use crate::console::Console;
use crate::coverage::Reached;
use crate::files::OutputFolder;
use crate::pulse::Pulse;
use crate::reducing::{self, Aim, Reduced};
use crate::subject::Subject;
use crate::workers::actions::Actions;

/// Looks after a search until it ends.
pub(super) struct InProcess<'s, 'c> {
    run: &'s Run,
    console: &'s mut Console<'c>,
    desk: Desk<'s>,
    /// Where every test is kept, if that is wanted.
    kept: Option<OutputFolder>,
    /// How far the search has come.
    progress: Progress,
    findings: Vec<Finding>,
    /// Why the search cannot go on.
    trouble: Option<Error>,
    started: Instant,
    pulse: Pulse,
    /// When the last plain line of progress was written.
    last_line: Instant,
    pace: Pace,
    last_words: LastWords,
    reached: Reached,
}

impl<'s, 'c> InProcess<'s, 'c> {
    /// Between two plain lines of progress.
    const PAUSE: Duration = Duration::from_secs(5);

    pub(super) fn new(
        run: &'s Run,
        console: &'s mut Console<'c>,
        desk: Desk<'s>,
        kept: Option<OutputFolder>,
        started: Instant,
        last_words: LastWords,
    ) -> InProcess<'s, 'c> {
        InProcess {
            run,
            console,
            desk,
            kept,
            progress: Progress::default(),
            findings: Vec::new(),
            trouble: None,
            started,
            pulse: Pulse::new(),
            last_line: started,
            pace: Pace::begin(&Progress::default()),
            last_words,
            reached: Reached::new(Attribution::First),
        }
    }

    /// What the search came to. What was found counts, however it ended.
    pub(super) fn into_outcome(mut self, searched: Result<Summary, Error>) -> Outcome {
        self.console.clear_status();
        for finding in self.findings.iter_mut().filter(|known| known.is_kept()) {
            self.desk.restore(self.console, finding);
        }
        let asked_to_stop = testwright_python::interrupted();
        let (progress, stopped, error) = match searched {
            Ok(summary) => (summary.progress, summary.stopped, None),
            Err(error) => (self.progress, true, Some(error)),
        };
        Outcome {
            seed: self.desk.plan.seed,
            progress,
            interrupted: stopped && asked_to_stop,
            time: self.started.elapsed(),
            unwritten: !self.findings.iter().all(Finding::is_kept),
            findings: self.findings,
            // Ctrl-C may have struck where the system was being set up; that is no trouble of its own.
            trouble: self
                .trouble
                .or(error.filter(|_| !asked_to_stop))
                .map(Into::into),
            reached: Some(self.reached),
        }
    }

    /// Notes what was reached for the first time since this was last done.
    pub(super) fn note_coverage(&mut self, system: &impl Subject, name: impl FnOnce() -> String) {
        self.note(system, &[], name);
    }

    /// The same, together with what the strategy was told of.
    fn note(&mut self, system: &impl Subject, told: &[TargetId], name: impl FnOnce() -> String) {
        if let Some(collector) = system.collector() {
            let mut targets = told.to_vec();
            targets.extend(collector.take_new());
            self.reached.note(name, targets);
        }
    }

    fn show(&mut self, progress: &Progress, now: Instant) {
        let elapsed = now - self.started;
        let failures = self.findings.len() as u64;
        let words = || progress_text(self.run, progress, failures, elapsed);
        if self.console.is_live() && !self.run.show_output {
            self.console.status(words);
        } else if !self.run.json && now - self.last_line >= InProcess::PAUSE {
            self.last_line = now;
            let words = words();
            self.console.tell(words);
        }
    }
}

impl<S: Subject> SearchWatcher<S> for InProcess<'_, '_> {
    fn proceed(&mut self, progress: &Progress) -> bool {
        if progress.tests != self.progress.tests {
            self.pace = Pace::begin(progress);
        }
        self.progress = *progress;
        // Not only at a beat, so that the same number of steps makes the same tests.
        if self.run.steps.is_some_and(|steps| progress.steps >= steps) {
            return false;
        }
        let Some(now) = self.pulse.beat() else {
            return true;
        };
        if testwright_python::interrupted() {
            return false;
        }
        self.last_words.progress(progress);
        self.show(progress, now);
        self.run.time().is_none_or(|time| now - self.started < time)
    }

    fn unfinished(&mut self, system: &S, new: &[TargetId]) {
        let number = self.progress.tests + 1;
        self.note(system, new, || format!("test {number}"));
    }

    fn is_enough(&mut self, progress: &Progress) -> bool {
        self.pace
            .is_too_slow(progress, self.desk.plan.length as u64)
    }

    fn made(&mut self, system: &S, made: Made<'_>) -> ControlFlow<()> {
        self.note(system, made.new, || format!("test {}", made.number + 1));
        let Some(kept) = &mut self.kept else {
            return ControlFlow::Continue(());
        };
        let test = Test {
            steps: made.steps.to_vec(),
            remarks: made.remarks.to_vec(),
        };
        let origin = Origin {
            stream: 0,
            number: made.number,
        };
        let notes = self.desk.notes(origin, made.failure);
        let text = saved::write(system.actions(), &test, &notes);
        match kept.write(&format!("test-{}.test", made.number + 1), &text) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.trouble = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn found(&mut self, system: &mut S, found: Found) -> ControlFlow<()> {
        let known = self
            .findings
            .iter_mut()
            .find(|known| known.is(&found.failure));
        if let Some(known) = known {
            known.times += 1;
            return ControlFlow::Continue(());
        }
        let finding = self.take_in(system, found);
        self.last_words
            .reduced(FailureReport::new(&finding, system.actions()));
        self.findings.push(finding);
        if let Some(collector) = system.collector() {
            // While it was reduced.
            self.reached.add_to_last(collector.take_new());
        }
        let may_go_on = self.trouble.is_none() && !testwright_python::interrupted();
        if self.run.keep_going && may_go_on {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

impl InProcess<'_, '_> {
    fn take_in(&mut self, system: &mut impl Subject, found: Found) -> Finding {
        system.flush();
        let origin = Origin {
            stream: 0,
            number: found.number,
        };
        let discovery = Discovery {
            test: found.test,
            failure: found.failure,
            origin,
        };
        let number = self.findings.len() + 1;
        // Models may have more actions by now.
        self.desk.actions = Arc::new(Actions::all(system.actions().clone()));
        let mut finding = self.desk.open(self.console, &discovery, number);
        // Known already if the system gets stuck while the test is reduced.
        self.last_words
            .found(FailureReport::new(&finding, system.actions()));
        let verdict = self.judge(system, &discovery, number);
        self.desk.actions = Arc::new(Actions::all(system.actions().clone()));
        self.desk.close(self.console, &mut finding, verdict);
        finding
    }

    /// Reduces a failing test, and makes sure that the result fails in a process of its own.
    fn judge(
        &mut self,
        system: &mut impl Subject,
        discovery: &Discovery,
        number: usize,
    ) -> Verdict {
        let reduced = match self.reduce(system, discovery) {
            Ok(reduced) => reduced,
            Err(ReduceError::NotReproduced(other)) => {
                return Verdict::Flaky {
                    instead: instead(&discovery.failure, other.as_ref()),
                };
            }
            Err(ReduceError::Error(error)) => {
                self.trouble = Some(error);
                let reason = "since the system cannot be run any more";
                let reduced = Reduced::unchanged(&discovery.test, &discovery.failure, reason);
                return Verdict::Fails {
                    test: reduced.test,
                    failure: reduced.failure,
                    story: reduced.story,
                    pytest: None,
                };
            }
        };
        let (mut test, mut failure, mut story) = (reduced.test, reduced.failure, reduced.story);
        if self.fails_alone(system, &test) == Some(false) {
            if self.fails_alone(system, &discovery.test) != Some(true) {
                return Verdict::Flaky {
                    instead: "in a process of its own it passes".to_owned(),
                };
            }
            story = String::from(
                "Not reduced, since the system carries something over from one test to the next: in a process of its\n\
                 own the shorter test passes, and only this one fails:",
            );
            test = discovery.test.clone();
            failure = discovery.failure.clone();
        }
        let (file, title) = self.desk.pytest_names(number);
        let pytest = system.unit_test(&test, &title, file.absolute());
        Verdict::Fails {
            test,
            failure,
            story,
            pytest,
        }
    }

    /// Whether a test fails in a process of its own, if that can be found out.
    fn fails_alone(&self, system: &impl Subject, test: &Test) -> Option<bool> {
        let text = saved::write(system.actions(), test, &[]);
        confirm::fails_alone(self.run, self.desk.source(), system, &text)
    }

    /// Reduces a test, if that is wanted. What the system prints meanwhile helps nobody.
    fn reduce(
        &mut self,
        system: &mut impl Subject,
        discovery: &Discovery,
    ) -> Result<Reduced, ReduceError> {
        let (test, failure) = (&discovery.test, &discovery.failure);
        if self.run.no_reduce {
            return Ok(Reduced::unchanged(test, failure, "as you wished"));
        }
        let options = self.run.reduce_options();
        system.set_output(Output::Drop)?;
        let reduced = reducing::reduce(self.console, system, test, failure, &options, Aim::Simple);
        system.set_output(self.run.output())?;
        reduced
    }
}
