//! A search under way: its clock, its progress line, its findings.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use testwright_core::generate::{Found, Made, Progress, Search, SearchWatcher, Summary};
use testwright_core::{Error, System, TargetId, Test, saved};
use testwright_python::PythonSystem;
use testwright_report::Attribution;

use super::finding::{Desk, Finding};
use super::json::FailureReport;
use super::last_words::LastWords;
use super::pace::Pace;
use super::{Outcome, Run};
use crate::console::Console;
use crate::coverage::Reached;
use crate::files::OutputFolder;
use crate::pulse::Pulse;
use crate::{duration, quantity};

/// Looks after a search until it ends.
pub(super) struct Campaign<'s, 'c> {
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

impl<'s, 'c> Campaign<'s, 'c> {
    /// Between two plain lines of progress.
    const PAUSE: Duration = Duration::from_secs(5);

    pub(super) fn new(
        run: &'s Run,
        console: &'s mut Console<'c>,
        folder: OutputFolder,
        kept: Option<OutputFolder>,
        started: Instant,
        plan: Search,
        last_words: LastWords,
    ) -> Campaign<'s, 'c> {
        Campaign {
            run,
            console,
            desk: Desk {
                run,
                folder,
                plan,
                last_words: last_words.clone(),
            },
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
            trouble: self.trouble.or(error.filter(|_| !asked_to_stop)),
            reached: Some(self.reached),
        }
    }

    /// Notes what was reached for the first time since this was last done.
    pub(super) fn note_coverage(
        &mut self,
        system: &PythonSystem<'_>,
        name: impl FnOnce() -> String,
    ) {
        self.note(system, &[], name);
    }

    /// The same, together with what the strategy was told of.
    fn note(
        &mut self,
        system: &PythonSystem<'_>,
        told: &[TargetId],
        name: impl FnOnce() -> String,
    ) {
        if let Some(collector) = system.coverage() {
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
        } else if !self.run.json && now - self.last_line >= Campaign::PAUSE {
            self.last_line = now;
            let words = words();
            self.console.tell(words);
        }
    }
}

impl<'py> SearchWatcher<PythonSystem<'py>> for Campaign<'_, '_> {
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

    fn unfinished(&mut self, system: &PythonSystem<'py>, new: &[TargetId]) {
        let number = self.progress.tests + 1;
        self.note(system, new, || format!("test {number}"));
    }

    fn is_enough(&mut self, progress: &Progress) -> bool {
        self.pace
            .is_too_slow(progress, self.desk.plan.length as u64)
    }

    fn made(&mut self, system: &PythonSystem<'py>, made: Made<'_>) -> ControlFlow<()> {
        self.note(system, made.new, || format!("test {}", made.number + 1));
        let Some(kept) = &mut self.kept else {
            return ControlFlow::Continue(());
        };
        let test = Test {
            steps: made.steps.to_vec(),
            remarks: made.remarks.to_vec(),
        };
        let notes = self.desk.notes(made.number, made.failure);
        let text = saved::write(system.actions(), &test, &notes);
        match kept.write(&format!("test-{}.test", made.number + 1), &text) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.trouble = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn found(&mut self, system: &mut PythonSystem<'py>, found: Found) -> ControlFlow<()> {
        let known = self
            .findings
            .iter_mut()
            .find(|known| known.failure.is_same_as(&found.failure));
        if let Some(known) = known {
            known.times += 1;
            return ControlFlow::Continue(());
        }
        let number = self.findings.len() + 1;
        let mut finding = self.desk.take_in(self.console, system, found, number);
        self.trouble = finding.trouble.take().or(self.trouble.take());
        self.last_words
            .reduced(FailureReport::new(&finding, system.actions()));
        self.findings.push(finding);
        if let Some(collector) = system.coverage() {
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

/// `1,204 tests, 120,400 steps, 61,200 steps/s, no failures, 12s left`.
fn progress_text(run: &Run, progress: &Progress, failures: u64, elapsed: Duration) -> String {
    let tests = match run.tests {
        Some(all) => format!(
            "{} of {}",
            quantity::grouped(progress.tests),
            quantity::of(all, "test")
        ),
        None => quantity::of(progress.tests, "test"),
    };
    let rate = progress.steps as f64 / elapsed.as_secs_f64().max(0.001);
    let mut words = vec![
        tests,
        quantity::of(progress.steps, "step"),
        format!("{} steps/s", quantity::grouped(rate as u64)),
        if failures == 0 {
            "no failures".to_owned()
        } else {
            quantity::of(failures, "failure")
        },
    ];
    if let Some(time) = run.time() {
        let left = time.saturating_sub(elapsed).as_secs_f64().ceil().max(1.0);
        let left = duration::show(Duration::from_secs(left as u64));
        words.push(format!("{left} left"));
    }
    words.join(", ")
}
