//! The report printed when Ctrl-C is pressed and the system under test does not release the
//! process.
//!
//! The thread that explores is stuck then, so another thread prints the report from shared state.
//! Failing tests are in files already.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use testwright_core::Catalog;
use testwright_core::explore::ExploreProgress;
use testwright_core::verdict::{Verdict, VerdictExtent};

use super::json::{ExplorationFailure, ExplorationReport};
use crate::verdict_text::{self, Claim};
use crate::{ExitStatus, quantity};

/// Shared progress of an exploration, for the thread that prints the report.
#[derive(Clone)]
pub(super) struct InterruptReport(Arc<Mutex<InterruptReportState>>);

/// Everything that the report contains.
struct InterruptReportState {
    progress: ExploreProgress,
    failures: Vec<ExplorationFailure>,
    /// Number of actions and of templates of the harness.
    size: (u64, usize),
    /// True if the report is printed as JSON.
    json: bool,
}

impl InterruptReport {
    /// Registers the report to be printed if the process has to be ended by force.
    pub(super) fn install(catalog: &Catalog, json: bool) -> InterruptReport {
        let report = InterruptReport(Arc::new(Mutex::new(InterruptReportState {
            progress: ExploreProgress::default(),
            failures: Vec::new(),
            size: (catalog.len(), catalog.templates().len()),
            json,
        })));
        let printer = report.clone();
        testwright_python::set_exit_report(move |out, err| {
            printer.with(|state| state.write(out, err))
        });
        report
    }

    /// Updates the progress.
    pub(super) fn set_progress(&self, progress: &ExploreProgress) {
        self.with(|state| state.progress = *progress);
    }

    /// Adds a failure.
    pub(super) fn add_failure(&self, failure: ExplorationFailure) {
        self.with(|state| state.failures.push(failure));
    }

    /// Returns the report for scripts.
    pub(super) fn report(&self) -> ExplorationReport {
        self.with(|state| state.report())
    }

    /// Locks the state and calls a function with it.
    fn with<R>(&self, work: impl FnOnce(&mut InterruptReportState) -> R) -> R {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl InterruptReportState {
    /// Builds the report for scripts.
    fn report(&self) -> ExplorationReport {
        ExplorationReport::ended(&self.progress, self.size, self.failures.clone())
    }

    /// Prints the report, and returns the exit status.
    fn write(&mut self, out: &mut dyn Write, err: &mut dyn Write) -> i32 {
        let interrupted = Verdict::new(VerdictExtent::Interrupted);
        let (status, found) = match self.failures.len() as u64 {
            0 => (
                ExitStatus::NothingFound,
                Claim::NoFailure.text(&interrupted),
            ),
            number => (
                ExitStatus::FailureFound,
                quantity::format_count(number, "failure"),
            ),
        };
        // The process ends now, so errors of writing are ignored.
        let _ = writeln!(
            err,
            "The system under test does not react to Ctrl-C, so the process is ended."
        );
        let _ = if self.json {
            writeln!(out, "{}", self.report().to_json())
        } else {
            let states = quantity::format_count(self.progress.states, "state");
            let text = format!("{states}: {found}");
            writeln!(out, "{}", verdict_text::with_limits(&text, &interrupted))
        };
        status.code().into()
    }
}
