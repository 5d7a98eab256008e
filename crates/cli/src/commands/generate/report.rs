//! What came of it, counted honestly.

use serde_json::json;
use testwright_capture::generate::{Generated, Outcome};
use testwright_capture::merge::LeftAlone;
use testwright_capture::write::Completeness;

use super::files::Written;
use crate::quantity;

/// More units than this are not named one by one.
const MOST_NAMED: usize = 8;

/// The report for people.
pub(super) fn lines(generated: &Generated, written: &Written, is_dry: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for (path, ids) in &written.added {
        let tests = quantity::of(ids.len() as u64, "test");
        lines.push(format!("{}: {tests}", path.display()));
    }
    let counts = generated.counts();
    let verb = if is_dry {
        "would be written"
    } else {
        "written"
    };
    let added: usize = written.added.iter().map(|(_, ids)| ids.len()).sum();
    lines.push(format!("{} {verb}", quantity::of(added as u64, "new test")));
    lines.push(format!(
        "of all: {} full, {} partial, {} smoke, {}, {} dropped",
        counts.full,
        counts.partial,
        counts.smoke,
        quantity::of(counts.stubs as u64, "stub"),
        counts.dropped
    ));
    for tested in &generated.tests {
        let (kind, reason) = match &tested.outcome {
            Outcome::Written(Completeness::Partial(reason)) => ("partial", reason.as_str()),
            Outcome::Written(Completeness::Smoke) => ("smoke", "it checks only that the call ends"),
            Outcome::Written(Completeness::Stub(reason)) => ("stub", reason.as_str()),
            Outcome::Dropped(reason) => ("dropped", reason.as_str()),
            Outcome::Written(Completeness::Full) => continue,
        };
        lines.push(format!("  {kind}: {}: {reason}", tested.unit));
    }
    for (unit, reason) in &generated.left_out {
        lines.push(format!("  not tested: {unit}: {reason}"));
    }
    lines.extend(left_alone(written));
    lines.extend(uncalled(&generated.uncalled));
    lines
}

fn left_alone(written: &Written) -> Vec<String> {
    let count = |wanted: LeftAlone| {
        let found = written.left_alone.iter().filter(|(_, why)| *why == wanted);
        found.count() as u64
    };
    let reasons = [
        (LeftAlone::Present, "there already"),
        (LeftAlone::Edited, "changed by somebody, so left alone"),
        (
            LeftAlone::Deleted,
            "deleted by somebody, so not written again",
        ),
        (
            LeftAlone::NameTaken,
            "not written, because another test has the name",
        ),
        (
            LeftAlone::NoRoom,
            "not written, because the class is on one line",
        ),
    ];
    reasons
        .into_iter()
        .map(|(wanted, words)| (count(wanted), words))
        .filter(|(number, _)| *number > 0)
        .map(|(number, words)| format!("{} {words}", quantity::of(number, "test")))
        .collect()
}

fn uncalled(units: &[String]) -> Option<String> {
    if units.is_empty() {
        return None;
    }
    let named: Vec<&str> = units.iter().take(MOST_NAMED).map(String::as_str).collect();
    let more = match units.len().checked_sub(MOST_NAMED) {
        Some(more) if more > 0 => format!(" and {more} more"),
        _ => String::new(),
    };
    let number = quantity::of(units.len() as u64, "unit");
    Some(format!("{number} never called: {}{more}", named.join(", ")))
}

/// The report for tools.
pub(super) fn json(generated: &Generated, written: &Written) -> String {
    let counts = generated.counts();
    let tests: Vec<serde_json::Value> = generated
        .tests
        .iter()
        .map(|tested| {
            let (outcome, reason) = match &tested.outcome {
                Outcome::Written(Completeness::Full) => ("full", None),
                Outcome::Written(Completeness::Partial(reason)) => ("partial", Some(reason)),
                Outcome::Written(Completeness::Smoke) => ("smoke", None),
                Outcome::Written(Completeness::Stub(reason)) => ("stub", Some(reason)),
                Outcome::Dropped(reason) => ("dropped", Some(reason)),
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
    let files: Vec<serde_json::Value> = written
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
        "not_written": generated.outdone,
        "tests": tests,
        "files": files,
        "uncalled": generated.uncalled,
    })
    .to_string()
}
