//! The result of `testwright run` for scripts.
//!
//! Field names are the keys of the JSON output: scripts rely on them, so they must not change.

use std::time::Duration;

use serde::Serialize;
use testwright_core::Catalog;
use testwright_core::generate::SearchProgress;
use testwright_core::verdict::{Verdict, VerdictExtent};
use testwright_report::CoverageSummary;

use super::failures::ReportedFailure;
use crate::report;
use crate::verdict_text::VerdictJson;

/// Result of a run. Serialized as the output of `--json` and in the last event of `--json-lines`.
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
    /// The evidence of the result.
    #[serde(flatten)]
    verdict: VerdictJson,
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
    /// The step to blame, if it is not the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    culprit: Option<String>,
    /// Failures that turned out to be the same bug.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also_seen_as: Vec<FailureReport>,
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
            verdict: VerdictJson::default(),
        }
    }

    /// Sets what the result is evidence for.
    pub(super) fn set_verdict(&mut self, verdict: &Verdict) {
        self.verdict = VerdictJson::from(verdict);
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
            verdict: VerdictJson::from(&Verdict::new(VerdictExtent::Interrupted)),
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
            culprit: finding
                .earlier_culprit()
                .map(|culprit| culprit.text.clone()),
            also_seen_as: Vec::new(),
        }
    }

    /// Converts failures: one for each bug, with the other ways in which it was seen.
    pub(super) fn of_bugs(findings: &[ReportedFailure], catalog: &Catalog) -> Vec<FailureReport> {
        let bugs = findings.iter().filter(|bug| bug.same_bug_as.is_none());
        let report = |bug: &ReportedFailure| {
            let others = findings
                .iter()
                .filter(|other| other.same_bug_as == Some(bug.number));
            FailureReport {
                also_seen_as: others
                    .map(|other| FailureReport::new(other, catalog))
                    .collect(),
                ..FailureReport::new(bug, catalog)
            }
        };
        bugs.map(report).collect()
    }
}
