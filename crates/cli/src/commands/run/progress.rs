//! The progress line of a search without workers.

use std::time::Duration;

use testwright_core::generate::SearchProgress;

use super::RunCommand;
use crate::{duration, quantity};

/// Formats the progress: `1,204 tests, 120,400 steps, 61,200 steps/s, no failures, 12s left`.
pub(super) fn progress_text(
    run: &RunCommand,
    progress: &SearchProgress,
    failures: u64,
    elapsed: Duration,
) -> String {
    let tests = match run.tests {
        Some(all) => format!(
            "{} of {}",
            quantity::grouped(progress.tests),
            quantity::format_count(all, "test")
        ),
        None => quantity::format_count(progress.tests, "test"),
    };
    let rate = progress.steps as f64 / elapsed.as_secs_f64().max(0.001);
    let mut parts = vec![
        tests,
        quantity::format_count(progress.steps, "step"),
        format!("{} steps/s", quantity::grouped(rate as u64)),
        quantity::format_count(failures, "failure"),
    ];
    if let Some(time) = run.time_limit() {
        let left = time.saturating_sub(elapsed).as_secs_f64().ceil().max(1.0);
        let left = duration::show(Duration::from_secs(left as u64));
        parts.push(format!("{left} left"));
    }
    parts.join(", ")
}
