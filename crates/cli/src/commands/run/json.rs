//! The result of `testwright run` for scripts.
//!
//! Field names are the keys of the JSON output: scripts rely on them, so they must not change.

use std::time::Duration;

use serde::Serialize;
use testwright_core::Catalog;
use testwright_core::generate::SearchProgress;
use testwright_report::CoverageSummary;

use super::failures::ReportedFailure;
use crate::report;

/// Result of a run. Serialised as the output of `--json` and in the last event of `--json-lines`.
#[derive(Clone, Serialize)]
pub(super) struct RunReport {
    seed: u64,
    tests: u64,
    steps: u64,
    /// Search time, rounded to milliseconds.
    seconds: f64,
    actions: u64,
    /// Number of templates of the harness.
    templates: usize,
    pub(super) failures: Vec<FailureReport>,
    /// Coverage, if a report was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) coverage: Option<CoverageJson>,
    /// True if Ctrl-C ended the search.
    interrupted: bool,
}

/// A failure of the run.
#[derive(Clone, Serialize)]
pub(super) struct FailureReport {
    /// Name of the kind of failure.
    kind: &'static str,
    message: String,
    /// Number of steps of the reduced test.
    steps: usize,
    /// Number of steps of the test as it was found.
    full_steps: usize,
    /// Steps of the reduced test, as in its file.
    test: Vec<String>,
    /// Path of the test, even if it could not be written.
    file: String,
    /// Number of tests that failed in this way.
    times: u64,
    /// True if the test failed in the same way when it was run again.
    reproduced: bool,
}

/// Coverage in numbers.
#[derive(Clone, Serialize)]
pub(super) struct CoverageJson {
    /// Share of statements and branches that were reached, rounded to two digits.
    percentage: f64,
    statements: usize,
    missed_statements: usize,
    branches: usize,
    missed_branches: usize,
}

impl From<CoverageSummary> for CoverageJson {
    fn from(counts: CoverageSummary) -> CoverageJson {
        CoverageJson {
            percentage: (counts.percentage() * 100.0).round() / 100.0,
            statements: counts.statements,
            missed_statements: counts.missed_statements,
            branches: counts.branches,
            missed_branches: counts.missed_branches,
        }
    }
}

impl RunReport {
    /// Returns a report without any tests.
    pub(super) fn new(seed: u64, catalog: &Catalog) -> RunReport {
        RunReport {
            seed,
            tests: 0,
            steps: 0,
            seconds: 0.0,
            actions: catalog.len(),
            templates: catalog.templates().len(),
            failures: Vec::new(),
            coverage: None,
            interrupted: false,
        }
    }

    /// Sets the totals.
    pub(super) fn update(&mut self, progress: &SearchProgress, time: Duration, interrupted: bool) {
        self.tests = progress.tests;
        self.steps = progress.steps;
        self.seconds = (time.as_secs_f64() * 1000.0).round() / 1000.0;
        self.interrupted = interrupted;
    }

    /// Marks the run as interrupted before it found anything.
    pub(super) fn into_interrupted(self) -> RunReport {
        RunReport {
            interrupted: true,
            ..self
        }
    }

    /// Formats the report as one JSON object.
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and strings are always JSON")
    }
}

impl FailureReport {
    /// Converts a failure.
    pub(super) fn new(finding: &ReportedFailure, catalog: &Catalog) -> FailureReport {
        FailureReport {
            kind: finding.failure.kind.name(),
            message: finding.failure.message.clone(),
            steps: finding.test.len(),
            full_steps: finding.full_length,
            test: report::step_labels(catalog, &finding.test),
            file: finding.file.display().to_string(),
            times: finding.times,
            reproduced: finding.is_reproduced,
        }
    }
}
