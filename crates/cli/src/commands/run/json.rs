//! The result of a run for scripts. The names in here are a promise.

use serde::Serialize;
use testwright_core::Catalog;

use super::Outcome;
use super::finding::Finding;
use crate::report;

#[derive(Serialize)]
struct Report<'a> {
    seed: u64,
    tests: u64,
    steps: u64,
    seconds: f64,
    actions: u64,
    templates: usize,
    failures: Vec<FailureReport<'a>>,
    interrupted: bool,
}

#[derive(Serialize)]
struct FailureReport<'a> {
    kind: &'static str,
    message: &'a str,
    /// Of the reduced test.
    steps: usize,
    /// Of the test as it was found.
    full_steps: usize,
    /// The steps of the reduced test, as they stand in the file.
    test: Vec<String>,
    file: String,
    /// In how many tests it came up.
    times: u64,
    /// Whether the test failed the same way when it was run again.
    reproduced: bool,
}

/// One JSON object.
pub(super) fn report(result: &Outcome, catalog: &Catalog) -> String {
    let progress = &result.progress;
    let report = Report {
        seed: result.seed,
        tests: progress.tests,
        steps: progress.steps,
        seconds: (result.time.as_secs_f64() * 1000.0).round() / 1000.0,
        actions: catalog.len(),
        templates: catalog.templates().len(),
        failures: result
            .findings
            .iter()
            .map(|finding| failure(finding, catalog))
            .collect(),
        interrupted: result.interrupted,
    };
    serde_json::to_string_pretty(&report).expect("numbers and strings are always JSON")
}

fn failure<'a>(finding: &'a Finding, catalog: &Catalog) -> FailureReport<'a> {
    FailureReport {
        kind: finding.failure.kind.name(),
        message: &finding.failure.message,
        steps: finding.test.len(),
        full_steps: finding.full_steps,
        test: report::step_texts(catalog, &finding.test),
        file: finding.file.display().to_string(),
        times: finding.times,
        reproduced: finding.reproduced,
    }
}
