//! A search in the process of the command itself (`--jobs 0`).
//!
//! It is meant for debuggers, and for systems that cannot be forked.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use testwright_core::analyse::culprit::{Culprit, identify};
use testwright_core::generate::{
    FailingTest, GeneratedTest, SearchProgress, SearchSummary, SearchWatcher, UntakenTemplates,
};
use testwright_core::replay::ReplayOptions;
use testwright_core::shrink::ReduceError;
use testwright_core::{Error, Step, TargetId, Test, saved};
use testwright_python::{OutputMode, StandaloneStyle};
use testwright_report::Attribution;

use super::failures::{
    FailureWriter, ReductionResult, ReportedFailure, TestOrigin, UnreducedFailure, count_bugs,
    describe_difference, find_known, group_by_bug, known_bugs,
};
use super::final_report::FinalReport;
use super::json::FailureReport;
use super::outcome::RunOutcome;
use super::progress::progress_text;
use super::slowdown::SlowdownGuard;
use super::{RunCommand, confirm};
use crate::console::Console;
use crate::coverage::TestCoverage;
use crate::files::OutputFolder;
use crate::quick_culprits::QuickCulprits;
use crate::reduction::{self, ReducedTest, ReductionGoal};
use crate::target::Target;
use crate::throttle::Throttle;
use crate::unit_test::{self, UnitTestDraft, UnitTestRequest};
use crate::workers::actions::ActionRegistry;

/// Watcher of a search in this process: reduces failures, measures coverage and enforces limits.
pub(super) struct InProcessSearch<'s, 'c> {
    run: &'s RunCommand,
    console: &'s mut Console<'c>,
    writer: FailureWriter<'s>,
    /// Folder for every test, with `--keep-tests`.
    test_folder: Option<OutputFolder>,
    /// Progress at the last step.
    progress: SearchProgress,
    /// Failures found so far.
    findings: Vec<ReportedFailure>,
    /// Search for the steps that are to blame.
    culprits: QuickCulprits,
    /// Reason why the search cannot go on.
    error: Option<Error>,
    started: Instant,
    throttle: Throttle,
    /// Time of the last plain line of progress.
    last_line: Instant,
    /// Guard against tests that get slower and slower.
    slowdown: SlowdownGuard,
    /// Report for the case that the system gets stuck.
    final_report: FinalReport,
    /// Coverage by test.
    reached: TestCoverage,
    /// Lines of the harness from which no test has taken an action.
    untaken: UntakenTemplates,
}

impl<'s, 'c> InProcessSearch<'s, 'c> {
    /// Time between two plain lines of progress.
    const LINE_INTERVAL: Duration = Duration::from_secs(5);

    pub(super) fn new(
        run: &'s RunCommand,
        console: &'s mut Console<'c>,
        writer: FailureWriter<'s>,
        test_folder: Option<OutputFolder>,
        started: Instant,
        (final_report, untaken): (FinalReport, UntakenTemplates),
    ) -> InProcessSearch<'s, 'c> {
        InProcessSearch {
            run,
            console,
            writer,
            test_folder,
            progress: SearchProgress::default(),
            findings: Vec::new(),
            culprits: QuickCulprits::default(),
            error: None,
            started,
            throttle: Throttle::new(),
            last_line: started,
            slowdown: SlowdownGuard::start(&SearchProgress::default()),
            final_report,
            reached: TestCoverage::new(Attribution::First),
            untaken,
        }
    }

    /// Returns the outcome. Failures count even if the search ended with an error.
    pub(super) fn into_outcome(mut self, searched: Result<SearchSummary, Error>) -> RunOutcome {
        self.console.clear_status();
        for finding in self
            .findings
            .iter_mut()
            .filter(|known| known.is_written_out())
        {
            self.writer.write_missing(self.console, finding);
        }
        group_by_bug(&mut self.findings);
        let asked_to_stop = testwright_python::is_interrupted();
        let (progress, stopped, error) = match searched {
            Ok(summary) => (summary.progress, summary.stopped, None),
            Err(error) => (self.progress, true, Some(error)),
        };
        RunOutcome {
            seed: self.writer.plan.seed,
            progress,
            interrupted: stopped && asked_to_stop,
            time: self.started.elapsed(),
            has_unwritten: !self.findings.iter().all(ReportedFailure::is_written_out),
            findings: self.findings,
            // Ctrl-C during a reset of the system looks like an error, but is an interrupt.
            error: self
                .error
                .or(error.filter(|_| !asked_to_stop))
                .map(Into::into),
            reached: Some(self.reached),
            untaken: Some(self.untaken),
        }
    }

    /// Attributes everything reached since the last call to the test called `name`.
    pub(super) fn add_new_coverage(&mut self, system: &impl Target, name: impl FnOnce() -> String) {
        self.add_coverage(system, &[], name);
    }

    /// Attributes new coverage, and the targets that the strategy has seen already, to the test
    /// called `name`.
    fn add_coverage(
        &mut self,
        system: &impl Target,
        seen_targets: &[TargetId],
        name: impl FnOnce() -> String,
    ) {
        if let Some(collector) = system.collector() {
            let mut targets = seen_targets.to_vec();
            targets.extend(collector.take_new());
            self.reached.add_test(name, targets);
        }
    }

    /// Shows the progress.
    fn show(&mut self, progress: &SearchProgress, now: Instant) {
        let elapsed = now - self.started;
        let failures = count_bugs(&self.findings) as u64;
        let text = || progress_text(self.run, progress, failures, elapsed);
        if self.console.is_live() && !self.run.show_output {
            self.console.status(text);
        } else if !self.run.json && now - self.last_line >= InProcessSearch::LINE_INTERVAL {
            self.last_line = now;
            let text = text();
            self.console.err(text);
        }
    }
}

impl<S: Target> SearchWatcher<S> for InProcessSearch<'_, '_> {
    fn proceed(&mut self, progress: &SearchProgress) -> bool {
        if progress.tests != self.progress.tests {
            self.slowdown = SlowdownGuard::start(progress);
        }
        self.progress = *progress;
        // Checked at every step, so that the same number of steps makes the same tests.
        if self.run.steps.is_some_and(|steps| progress.steps >= steps) {
            return false;
        }
        let Some(now) = self.throttle.poll() else {
            return true;
        };
        if testwright_python::is_interrupted() {
            return false;
        }
        self.final_report.set_progress(progress);
        self.show(progress, now);
        self.run
            .time_limit()
            .is_none_or(|time| now - self.started < time)
    }

    /// Attributes the coverage of a test that was cut off.
    fn test_interrupted(&mut self, system: &S, steps: &[Step], new: &[TargetId]) {
        self.untaken.take_all(steps);
        let number = self.progress.tests + 1;
        self.add_coverage(system, new, || format!("test {number}"));
    }

    /// Returns true if the test is longer than usual and has become too slow.
    fn should_end_test(&mut self, progress: &SearchProgress) -> bool {
        self.slowdown
            .is_too_slow(progress, self.writer.plan.length as u64)
    }

    /// Records the coverage of a test, and saves it if `--keep-tests` is given.
    fn test_generated(&mut self, system: &S, made: GeneratedTest<'_>) -> ControlFlow<()> {
        self.untaken.take_all(made.steps);
        self.add_coverage(system, made.new, || format!("test {}", made.number + 1));
        let Some(test_folder) = &mut self.test_folder else {
            return ControlFlow::Continue(());
        };
        let test = Test {
            steps: made.steps.to_vec(),
            remarks: made.remarks.to_vec(),
        };
        let origin = TestOrigin {
            stream: 0,
            number: made.number,
        };
        let notes = self.writer.notes(origin, made.failure);
        let text = saved::write(system.actions(), &test, &notes);
        match test_folder.write(&format!("test-{}.test", made.number + 1), &text) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.error = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Counts a known failure, or saves and reduces a new one.
    fn failure_found(&mut self, system: &mut S, found: FailingTest) -> ControlFlow<()> {
        let check = self.run.reduce_options().check;
        let mut proceed = || !testwright_python::is_interrupted();
        // A new failure is saved at once: the system may not end when it runs again.
        let is_known = |known: &ReportedFailure| known.failure.is_same_as(&found.failure);
        let culprit = if self.findings.iter().any(is_known) {
            let culprits = &mut self.culprits;
            culprits.find(system, &found, check, &mut proceed)
        } else {
            None
        };
        if let Some(known) = find_known(&mut self.findings, &found.failure, culprit.as_ref()) {
            known.times += 1;
            return ControlFlow::Continue(());
        }
        let finding = self.add_failure(system, found, culprit);
        self.final_report
            .replace_last_failure(FailureReport::new(&finding, system.actions()));
        self.findings.push(finding);
        if let Some(collector) = system.collector() {
            // Coverage of the reduction belongs to this test, too.
            self.reached.add_to_last(collector.take_new());
        }
        let may_go_on = self.error.is_none() && !testwright_python::is_interrupted();
        if self.run.keep_going && may_go_on {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

impl InProcessSearch<'_, '_> {
    /// Saves and reduces a new failure.
    fn add_failure(
        &mut self,
        system: &mut impl Target,
        found: FailingTest,
        culprit: Option<Culprit>,
    ) -> ReportedFailure {
        system.flush();
        let origin = TestOrigin {
            stream: 0,
            number: found.number,
        };
        let unreduced = UnreducedFailure {
            test: found.test,
            failure: found.failure,
            culprit,
            origin,
        };
        let number = self.findings.len() + 1;
        // Models may have more actions by now.
        self.writer.actions = Arc::new(ActionRegistry::complete(system.actions().clone()));
        let mut finding = self.writer.record(self.console, &unreduced, number);
        // So that the failure is reported even if the system gets stuck during the reduction.
        self.final_report
            .add_failure(FailureReport::new(&finding, system.actions()));
        let result = self.reduce_and_confirm(system, &unreduced, number);
        self.writer.actions = Arc::new(ActionRegistry::complete(system.actions().clone()));
        let bugs = known_bugs(&self.findings);
        self.writer
            .finish(self.console, &mut finding, result, &bugs);
        finding
    }

    /// Reduces a failing test, and makes sure that the result fails in a process of its own.
    fn reduce_and_confirm(
        &mut self,
        system: &mut impl Target,
        unreduced: &UnreducedFailure,
        number: usize,
    ) -> ReductionResult {
        let reduced = match self.reduce(system, unreduced) {
            Ok(reduced) => reduced,
            Err(ReduceError::NotReproduced(other)) => {
                return ReductionResult::Flaky {
                    observation: describe_difference(&unreduced.failure, other.as_ref()),
                };
            }
            Err(ReduceError::Error(error)) => {
                self.error = Some(error);
                let reason = "since the system cannot be run any more";
                let reduced = ReducedTest::unchanged(&unreduced.test, &unreduced.failure, reason);
                return ReductionResult::Reproduced {
                    test: reduced.test,
                    failure: reduced.failure,
                    summary: reduced.summary,
                    pytest: None,
                    identity: None,
                };
            }
        };
        let (mut test, mut failure, mut summary) = (reduced.test, reduced.failure, reduced.summary);
        if self.fails_alone(system, &test) == Some(false) {
            if self.fails_alone(system, &unreduced.test) != Some(true) {
                return ReductionResult::Flaky {
                    observation: "in a process of its own it passes".to_owned(),
                };
            }
            summary = String::from(
                "Not reduced, since the system carries something over from one test to the next: in a process of its\n\
                 own the shorter test passes, and only this one fails:",
            );
            test = unreduced.test.clone();
            failure = unreduced.failure.clone();
        }
        let (file, title) = self.writer.pytest_target(number);
        let options = ReplayOptions {
            check: self.run.reduce_options().check,
        };
        let draft = system.unit_test(&UnitTestRequest {
            test: &test,
            failure: &failure,
            check: options.check,
            limit: unit_test::limit_in_file(self.run.system.step_timeout),
            title: &title,
            file: file.absolute(),
        });
        let confirmed = |draft: UnitTestDraft| {
            draft.confirmed(StandaloneStyle::Pytest, Some(&failure), file.absolute())
        };
        let pytest = draft.map(|draft| draft.and_then(confirmed));
        let mut proceed = || !testwright_python::is_interrupted();
        let identity = identify(system, &test, &failure, &options, &mut proceed);
        let identity = identity.ok().map(Box::new);
        ReductionResult::Reproduced {
            test,
            failure,
            summary,
            pytest,
            identity,
        }
    }

    /// Returns whether a test fails in a process of its own; `None` if that could not be found out.
    fn fails_alone(&self, system: &impl Target, test: &Test) -> Option<bool> {
        let text = saved::write(system.actions(), test, &[]);
        let setup = (&self.run.system, &self.run.stepper);
        confirm::fails_alone(setup, self.writer.source(), system, &text)
    }

    /// Reduces a test unless `--no-reduce` is given. The output of the system is dropped meanwhile.
    fn reduce(
        &mut self,
        system: &mut impl Target,
        unreduced: &UnreducedFailure,
    ) -> Result<ReducedTest, ReduceError> {
        let (test, failure) = (&unreduced.test, &unreduced.failure);
        if self.run.no_reduce {
            return Ok(ReducedTest::unchanged(test, failure, "as requested"));
        }
        let options = self.run.reduce_options();
        system.set_output(OutputMode::Drop)?;
        let reduced = reduction::reduce(
            self.console,
            system,
            test,
            (failure, unreduced.culprit.as_ref()),
            &options,
            ReductionGoal::Simple,
        );
        system.set_output(self.run.output())?;
        reduced
    }
}
