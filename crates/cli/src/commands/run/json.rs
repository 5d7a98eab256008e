//! The result of a run for scripts. The names in here are a promise.

use std::time::Duration;

use serde::Serialize;
use testwright_core::Catalog;
use testwright_core::generate::Progress;
use testwright_report::Counts;

use super::finding::Finding;
use crate::report;

/// What a run came to.
#[derive(Clone, Serialize)]
pub(super) struct Report {
    seed: u64,
    tests: u64,
    steps: u64,
    seconds: f64,
    actions: u64,
    templates: usize,
    pub(super) failures: Vec<FailureReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) coverage: Option<CoverageCounts>,
    interrupted: bool,
}

#[derive(Clone, Serialize)]
pub(super) struct FailureReport {
    kind: &'static str,
    message: String,
    /// Of the reduced test.
    steps: usize,
    /// Of the test as it was found.
    full_steps: usize,
    /// The steps of the reduced test, as they stand in the file.
    test: Vec<String>,
    /// Where the test is, or was to be.
    file: String,
    /// In how many tests it came up.
    times: u64,
    /// Whether the test failed the same way when it was run again.
    reproduced: bool,
}

/// What was reached, in numbers.
#[derive(Clone, Serialize)]
pub(super) struct CoverageCounts {
    percentage: f64,
    statements: usize,
    missed_statements: usize,
    branches: usize,
    missed_branches: usize,
}

impl From<Counts> for CoverageCounts {
    fn from(counts: Counts) -> CoverageCounts {
        CoverageCounts {
            percentage: (counts.percentage() * 100.0).round() / 100.0,
            statements: counts.statements,
            missed_statements: counts.missed_statements,
            branches: counts.branches,
            missed_branches: counts.missed_branches,
        }
    }
}

impl Report {
    /// A run that has come to nothing yet.
    pub(super) fn new(seed: u64, catalog: &Catalog) -> Report {
        Report {
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

    /// How far it has come.
    pub(super) fn update(&mut self, progress: &Progress, time: Duration, interrupted: bool) {
        self.tests = progress.tests;
        self.steps = progress.steps;
        self.seconds = (time.as_secs_f64() * 1000.0).round() / 1000.0;
        self.interrupted = interrupted;
    }

    /// A run that was ended before it had come to anything.
    pub(super) fn interrupted(self) -> Report {
        Report {
            interrupted: true,
            ..self
        }
    }

    /// One JSON object.
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and strings are always JSON")
    }
}

impl FailureReport {
    pub(super) fn new(finding: &Finding, catalog: &Catalog) -> FailureReport {
        FailureReport {
            kind: finding.failure.kind.name(),
            message: finding.failure.message.clone(),
            steps: finding.test.len(),
            full_steps: finding.full_steps,
            test: report::step_labels(catalog, &finding.test),
            file: finding.file.display().to_string(),
            times: finding.times,
            reproduced: finding.reproduced,
        }
    }
}
