//! The report printed when Ctrl-C is pressed and the system under test does not release the
//! process.
//!
//! The thread that runs the search is stuck then, so another thread prints the report from shared
//! state. All failing tests are in files already.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use testwright_core::Catalog;
use testwright_core::generate::SearchProgress;
use testwright_core::verdict::{Verdict, VerdictExtent};

use super::json::{FailureReport, RunReport};
use crate::verdict_text::Claim;
use crate::{ExitStatus, duration, quantity};

/// Shared state of a run, for the thread that prints the final report.
#[derive(Clone)]
pub(super) struct FinalReport(Arc<Mutex<FinalReportState>>);

/// Everything that the final report contains.
struct FinalReportState {
    /// Report with the failures found so far.
    report: RunReport,
    progress: SearchProgress,
    started: Instant,
    seed: u64,
    /// True if the report is printed as JSON.
    json: bool,
}

impl FinalReport {
    /// Registers the report to be printed if the process has to be ended by force.
    pub(super) fn install(
        seed: u64,
        catalog: &Catalog,
        started: Instant,
        json: bool,
    ) -> FinalReport {
        let state = FinalReportState {
            report: RunReport::new(seed, catalog),
            progress: SearchProgress::default(),
            started,
            seed,
            json,
        };
        let final_report = FinalReport(Arc::new(Mutex::new(state)));
        let printer = final_report.clone();
        testwright_python::set_exit_report(move |out, err| {
            printer.with(|state| state.write(out, err))
        });
        final_report
    }

    /// Updates the progress.
    pub(super) fn set_progress(&self, progress: &SearchProgress) {
        self.with(|state| state.progress = *progress);
    }

    /// Adds a failure that has just been found.
    pub(super) fn add_failure(&self, failure: FailureReport) {
        self.with(|state| state.report.failures.push(failure));
    }

    /// Replaces the last failure by its reduced form.
    pub(super) fn replace_last_failure(&self, failure: FailureReport) {
        self.with(|state| {
            state.report.failures.pop();
            state.report.failures.push(failure);
        });
    }

    /// Locks the state and calls a function with it.
    fn with<R>(&self, work: impl FnOnce(&mut FinalReportState) -> R) -> R {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl FinalReportState {
    /// Prints the report, and returns the exit status.
    fn write(&mut self, out: &mut dyn Write, err: &mut dyn Write) -> i32 {
        let time = self.started.elapsed();
        let found = self.report.failures.len() as u64;
        let interrupted = Verdict::new(VerdictExtent::Interrupted);
        // The process ends now, so errors of writing are ignored.
        let _ = writeln!(
            err,
            "The system under test does not react to Ctrl-C (test {} of seed {}), so the process is ended.",
            self.progress.tests + 1,
            self.seed,
        );
        let _ = if self.json {
            self.report.update(&self.progress, time, true);
            self.report.set_verdict(&interrupted);
            writeln!(out, "{}", self.report.to_json())
        } else {
            let found = match found {
                0 => Claim::NoFailure.text(&interrupted),
                number => format!("{} found", quantity::format_count(number, "failure")),
            };
            writeln!(
                out,
                "Interrupted after {}, {} in {} (seed {}): {found}",
                quantity::format_count(self.progress.tests, "test"),
                quantity::format_count(self.progress.steps, "step"),
                duration::show(time),
                self.seed,
            )
        };
        let status = match found {
            0 if self.progress.steps == 0 => ExitStatus::Error,
            0 => ExitStatus::NothingFound,
            _ => ExitStatus::FailureFound,
        };
        status.code().into()
    }
}
