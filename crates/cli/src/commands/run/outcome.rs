//! The outcome of a search: what it says to people and to scripts, and its exit status.

use std::time::Duration;

use testwright_core::generate::{SearchProgress, UntakenTemplates};
use testwright_core::verdict::{Caveat, ReachedLimit, Verdict, VerdictExtent};
use testwright_core::{Catalog, Error};
use testwright_report::CoverageReport;

use super::RunCommand;
use super::failures::{ReportedFailure, count_bugs};
use super::json::{FailureReport, RunReport};
use crate::console::{Console, TextStyle};
use crate::coverage::{CoverageOutputs, TestCoverage};
use crate::verdict_text::{self, Claim};
use crate::{CommandError, ExitStatus, duration, events, quantity};

/// The help for a harness in which no action can be taken at the start.
pub(crate) const NO_FIRST_ACTION_HELP: &str = "at least one action must need no pool value, such as \
    `<x> := 1`, and have no guard that is false";

/// Result of a whole search.
pub(super) struct RunOutcome {
    pub(super) seed: u64,
    /// Totals of the search.
    pub(super) progress: SearchProgress,
    /// True if Ctrl-C ended the search.
    pub(super) interrupted: bool,
    /// Search time.
    pub(super) time: Duration,
    /// Failures, in the order in which they were found.
    pub(super) findings: Vec<ReportedFailure>,
    /// True if a file could not be written, which has been reported.
    pub(super) has_unwritten: bool,
    /// Reason why the search had to end early.
    pub(super) error: Option<CommandError>,
    /// Coverage by test, if it was measured in this process.
    pub(super) reached: Option<TestCoverage>,
    /// Lines of the harness from which no test took an action; `None` if that is not known.
    pub(super) untaken: Option<UntakenTemplates>,
}

impl RunOutcome {
    /// Number of steps for each line from which on a line that was never taken is worth a word.
    const STEPS_PER_LINE: u64 = 20;

    /// Returns what the search is evidence for. Random tests never cover everything.
    fn verdict(&self, run: &RunCommand, catalog: &Catalog) -> Verdict {
        let progress = &self.progress;
        let is_reached = |done: u64, limit: Option<u64>| limit.filter(|limit| done >= *limit);
        let mut verdict = if self.interrupted {
            Verdict::new(VerdictExtent::Interrupted)
        } else {
            let limit = if self.error.is_some() {
                ReachedLimit::Error
            } else if progress.steps == 0 && progress.tests > 0 {
                ReachedLimit::NoFirstAction
            } else if !run.keep_going && !self.findings.is_empty() {
                ReachedLimit::Failure
            } else if let Some(tests) = is_reached(progress.tests, run.tests) {
                ReachedLimit::Tests(tests)
            } else if let Some(steps) = is_reached(progress.steps, run.steps) {
                ReachedLimit::Steps(steps)
            } else {
                ReachedLimit::Time
            };
            Verdict::bounded_by(vec![limit])
        };
        if !verdict.limits().contains(&ReachedLimit::Failure) {
            verdict.add_caveats(self.untaken_lines(catalog));
        }
        if run.system.no_check {
            verdict.add_caveats([Caveat::UncheckedProperties { properties: 0 }]);
        }
        verdict
    }

    /// Names the lines from which no test took an action, unless there were too few steps to expect
    /// it.
    fn untaken_lines(&self, catalog: &Catalog) -> Vec<Caveat> {
        let lines = catalog.templates().len() as u64;
        let Some(untaken) = &self.untaken else {
            return Vec::new();
        };
        let has_few_steps = self.progress.steps < lines * RunOutcome::STEPS_PER_LINE;
        // Tests that end since nothing is enabled would not take more lines with more steps.
        if has_few_steps && self.progress.deadlocks < self.progress.tests.max(1) {
            return Vec::new();
        }
        verdict_text::never_taken(catalog, untaken)
    }

    /// Returns the reason why nothing was tested, if no test took a step and nothing was found.
    fn nothing_tested(&self, has_harness: bool) -> Option<Error> {
        let progress = &self.progress;
        if progress.steps > 0 || !self.findings.is_empty() {
            return None;
        }
        Some(if self.interrupted {
            Error::new("interrupted before the first step, so nothing was tested")
        } else if progress.tests > 0 {
            let help = if has_harness {
                NO_FIRST_ACTION_HELP
            } else {
                "at least one action must be enabled in the initial state of the models"
            };
            Error::new("no action is enabled at the start, so nothing was tested").with_help(help)
        } else {
            Error::new("the search ended before the first step, so nothing was tested")
                .with_help("allow more time with `--time`")
        })
    }

    /// Prints how much was searched and found.
    fn print(&self, console: &mut Console<'_>, run: &RunCommand, verdict: &Verdict) {
        let progress = &self.progress;
        let found = match count_bugs(&self.findings) as u64 {
            0 => console.paint(TextStyle::Success, Claim::NoFailure.text(verdict)),
            number => console.paint(
                TextStyle::Failure,
                format_args!("{} found", quantity::format_count(number, "failure")),
            ),
        };
        let prefix = if self.interrupted {
            "Interrupted after"
        } else {
            "Ran"
        };
        console.out(format_args!(
            "{prefix} {}, {} in {} (seed {}): {found}",
            quantity::format_count(progress.tests, "test"),
            quantity::format_count(progress.steps, "step"),
            duration::show(self.time),
            self.seed,
        ));
        print_repeats(console, &self.findings);
        if progress.tests == 0 && !self.findings.is_empty() && !run.keep_going {
            console.out("  nothing else was searched for; `--keep-going` does so, and `--no-replay` does not look at known failures");
        }
        if progress.deadlocks > 0 && progress.steps > 0 {
            console.out(format_args!(
                "  {} ended early: no action was enabled any more",
                quantity::format_count(progress.deadlocks, "test")
            ));
        }
        verdict_text::print_caveats(console, verdict);
    }
}

impl RunCommand {
    /// Prints the result of a search, and returns the exit status.
    pub(super) fn report_outcome(
        &self,
        console: &mut Console<'_>,
        catalog: &Catalog,
        result: RunOutcome,
        coverage: Option<CoverageReport>,
        reports: &CoverageOutputs,
    ) -> Result<ExitStatus, CommandError> {
        let verdict = result.verdict(self, catalog);
        result.print(console, self, &verdict);
        if let Some(coverage) = &coverage {
            reports.write(console, coverage, |console, table| console.out(table))?;
        }
        console.set_quiet(false);
        if self.json || self.json_lines {
            let mut report = RunReport::new(result.seed, catalog);
            report.coverage = coverage.map(|coverage| coverage.counts().into());
            report.update(&result.progress, result.time, result.interrupted);
            report.set_verdict(&verdict);
            report.failures = FailureReport::of_bugs(&result.findings, catalog);
            if self.json_lines {
                events::emit(console, result.time, &events::EndEvent { report: &report })
            } else {
                console.out(report.to_json())
            }
        }
        let has_harness = !self.source()?.is_models();
        let nothing_tested = result.nothing_tested(has_harness);
        match (result.error, nothing_tested) {
            (Some(error), _) => Err(error),
            (None, Some(error)) => Err(error.into()),
            (None, None) if result.has_unwritten => Ok(ExitStatus::Error),
            (None, None) if result.findings.is_empty() => Ok(ExitStatus::NothingFound),
            (None, None) => Ok(ExitStatus::FailureFound),
        }
    }
}

/// Prints how many tests found each failure that came up more than once, and which failures are one
/// bug.
fn print_repeats(console: &mut Console<'_>, findings: &[ReportedFailure]) {
    for bug in findings.iter().filter(|bug| bug.same_bug_as.is_none()) {
        let ways = findings
            .iter()
            .filter(|other| other.same_bug_as == Some(bug.number));
        let mut numbers = Vec::new();
        let mut times = bug.times;
        for other in ways {
            numbers.push(other.number.to_string());
            times += other.times;
        }
        if times > 1 {
            let times = quantity::format_count(times, "test");
            console.out(format_args!("  failure {} came up in {times}", bug.number));
        }
        if !numbers.is_empty() {
            let cause = bug.earlier_culprit().map_or_else(String::new, |culprit| {
                format!("goes wrong in `{}`, ", culprit.text)
            });
            console.out(format_args!(
                "    {cause}also seen as: failure {}",
                numbers.join(", ")
            ));
        }
    }
}
