//! The report of `testwright generate`.

use serde_json::json;
use testwright_capture::generate::{GeneratedTests, TestOutcome};
use testwright_capture::merge::SkipReason;
use testwright_capture::write::Completeness;

use super::files::PlannedFiles;
use crate::quantity;

/// Maximum number of units that are named.
const MAX_NAMED: usize = 8;

/// Returns the report for people.
pub(super) fn lines(
    generated: &GeneratedTests,
    planned: &PlannedFiles,
    is_dry_run: bool,
) -> Vec<String> {
    let mut lines = Vec::new();
    for (path, ids) in &planned.added {
        let tests = quantity::format_count(ids.len() as u64, "test");
        lines.push(format!("{}: {tests}", path.display()));
    }
    let counts = generated.counts();
    let verb = if is_dry_run {
        "would be written"
    } else {
        "written"
    };
    let added: usize = planned.added.iter().map(|(_, ids)| ids.len()).sum();
    lines.push(format!(
        "{} {verb}",
        quantity::format_count(added as u64, "new test")
    ));
    lines.push(format!(
        "all tests: {} full, {} partial, {} smoke, {}, {} dropped",
        counts.full,
        counts.partial,
        counts.smoke,
        quantity::format_count(counts.stubs as u64, "stub"),
        counts.dropped
    ));
    for tested in &generated.tests {
        let (kind, reason) = match &tested.outcome {
            TestOutcome::Written(Completeness::Partial(reason)) => ("partial", reason.as_str()),
            TestOutcome::Written(Completeness::Smoke) => {
                ("smoke", "it checks only that the call ends")
            }
            TestOutcome::Written(Completeness::Stub(reason)) => ("stub", reason.as_str()),
            TestOutcome::Dropped(reason) => ("dropped", reason.as_str()),
            TestOutcome::Written(Completeness::Full) => continue,
        };
        lines.push(format!("  {kind}: {}: {reason}", tested.unit));
    }
    for (unit, reason) in &generated.untestable {
        lines.push(format!("  not tested: {unit}: {reason}"));
    }
    lines.extend(left_alone_lines(planned));
    lines.extend(uncalled_line(&generated.uncalled));
    lines
}

/// Returns a line for each reason why tests were not written.
fn left_alone_lines(planned: &PlannedFiles) -> Vec<String> {
    let count = |reason_kind: SkipReason| {
        let found = planned
            .left_alone
            .iter()
            .filter(|(_, why)| *why == reason_kind);
        found.count() as u64
    };
    let reasons = [
        (SkipReason::Present, "there already"),
        (SkipReason::Edited, "edited by hand, so left alone"),
        (SkipReason::Deleted, "deleted by hand, so not written again"),
        (
            SkipReason::NameTaken,
            "not written, because another test has the name",
        ),
        (
            SkipReason::NoRoom,
            "not written, because the class is on one line",
        ),
    ];
    reasons
        .into_iter()
        .map(|(reason_kind, text)| (count(reason_kind), text))
        .filter(|(number, _)| *number > 0)
        .map(|(number, text)| format!("{} {text}", quantity::format_count(number, "test")))
        .collect()
}

/// Returns the line about units that were never called.
fn uncalled_line(units: &[String]) -> Option<String> {
    if units.is_empty() {
        return None;
    }
    let named: Vec<&str> = units.iter().take(MAX_NAMED).map(String::as_str).collect();
    let more = match units.len().checked_sub(MAX_NAMED) {
        Some(more) if more > 0 => format!(" and {more} more"),
        _ => String::new(),
    };
    let number = quantity::format_count(units.len() as u64, "unit");
    Some(format!("{number} never called: {}{more}", named.join(", ")))
}

/// Returns the report for tools. Its keys must not change.
pub(super) fn json(generated: &GeneratedTests, planned: &PlannedFiles) -> String {
    let counts = generated.counts();
    let tests: Vec<serde_json::Value> = generated
        .tests
        .iter()
        .map(|tested| {
            let (outcome, reason) = match &tested.outcome {
                TestOutcome::Written(Completeness::Full) => ("full", None),
                TestOutcome::Written(Completeness::Partial(reason)) => ("partial", Some(reason)),
                TestOutcome::Written(Completeness::Smoke) => ("smoke", None),
                TestOutcome::Written(Completeness::Stub(reason)) => ("stub", Some(reason)),
                TestOutcome::Dropped(reason) => ("dropped", Some(reason)),
            };
            json!({
                "unit": tested.unit,
                "test": tested.test,
                "id": tested.id,
                "outcome": outcome,
                "reason": reason,
            })
        })
        .collect();
    let files: Vec<serde_json::Value> = planned
        .added
        .iter()
        .map(|(path, ids)| json!({"path": path, "tests": ids}))
        .collect();
    json!({
        "full": counts.full,
        "partial": counts.partial,
        "smoke": counts.smoke,
        "stubs": counts.stubs,
        "dropped": counts.dropped,
        "not_written": generated.superseded,
        "tests": tests,
        "files": files,
        "uncalled": generated.uncalled,
    })
    .to_string()
}
