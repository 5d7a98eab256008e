//! The view of a running campaign: a panel on a terminal, a plain line now and then elsewhere.
//!
//! Both are made from a [`CampaignStatus`]. Nothing in here reads a clock or a terminal, so every
//! picture can be tested. The panel keeps its columns and rows in place from one drawing to the
//! next; only the content changes.

mod curve;
mod line;
mod panel;
#[cfg(test)]
mod proptests;
#[cfg(test)]
mod tests;
mod workers;

use std::time::Duration;

pub(crate) use curve::Curve;
pub(crate) use panel::lines;

use crate::{duration, quantity};

/// The status of a campaign at one moment.
pub(crate) struct CampaignStatus<'a> {
    /// The name of the harness file.
    pub(crate) harness: &'a str,
    /// The seed of the campaign's random numbers.
    pub(crate) seed: u64,
    /// The time since the campaign began.
    pub(crate) elapsed: Duration,
    /// The time limit, if there is one.
    pub(crate) time: Option<Duration>,
    /// The number of tests after which the campaign ends, if there is one.
    pub(crate) tests_wanted: Option<u64>,
    /// The number of tests so far.
    pub(crate) tests: u64,
    /// The number of steps so far, in all tests.
    pub(crate) steps: u64,
    /// The rate over the last seconds.
    pub(crate) steps_per_second: f64,
    /// The number of branches that were reached so far, if coverage is measured.
    pub(crate) covered: Option<u64>,
    /// The noun for what is covered: branches, or the parts of a model.
    pub(crate) unit: &'static str,
    /// The time since something new was reached, if anything was.
    pub(crate) since_new: Option<Duration>,
    /// The distinct failures, in the order in which they were found.
    pub(crate) failures: &'a [FailureLine<'a>],
    /// The worker processes, by their numbers; empty if this process runs the tests itself.
    pub(crate) workers: &'a [WorkerLine<'a>],
    /// Coverage over time.
    pub(crate) curve: &'a Curve,
    /// A notice for the user, for instance that the campaign is stopping.
    pub(crate) notice: Option<&'a str>,
}

/// A failure that a campaign has found.
pub(crate) struct FailureLine<'a> {
    /// The number of the failure, from 1 on.
    pub(crate) number: usize,
    /// The kind of failure, in words.
    pub(crate) kind: &'a str,
    /// The failure's message.
    pub(crate) message: &'a str,
    /// The number of tests that failed in this way.
    pub(crate) times: u64,
    /// The progress of its reduction.
    pub(crate) state: FailureProgress,
}

/// The progress of the work on a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureProgress {
    /// The failure was found and waits for its reduction.
    Found,
    /// The test is being reduced.
    Reducing,
    /// The test was reduced to this number of steps.
    Reduced(usize),
}

/// A process that runs tests.
pub(crate) struct WorkerLine<'a> {
    /// The number of the worker, from 1 on.
    pub(crate) number: usize,
    /// The current activity.
    pub(crate) activity: WorkerActivity<'a>,
    /// The rate over the last seconds.
    pub(crate) steps_per_second: f64,
    /// The number of times that the process had to be replaced.
    pub(crate) crashes: u64,
}

/// The activity of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkerActivity<'a> {
    /// Reads the harness and imports the code under test.
    Loading,
    /// Runs tests.
    Testing,
    /// Reduces the test of the failure with this number.
    Reducing(usize),
    /// Starts again after its process has ended.
    Restarting,
    /// Runs a step that takes long.
    SlowStep {
        /// The time since the step began.
        elapsed: Duration,
        /// The step.
        text: &'a str,
    },
}

/// Renders one plain line, for files, pipes and build servers.
pub(crate) fn line(status: &CampaignStatus<'_>) -> String {
    let mut words = vec![
        tests(status),
        quantity::format_count(status.steps, "step"),
        rate(status.steps_per_second),
        quantity::format_count(status.failures.len() as u64, "failure"),
    ];
    words.extend(crashes(status));
    words.extend(
        status
            .covered
            .map(|covered| quantity::format_count(covered, status.unit)),
    );
    words.push(time(status));
    words.join(", ")
}

/// Renders `1,204 tests`, or `1,204 of 2,000 tests`.
fn tests(status: &CampaignStatus<'_>) -> String {
    match status.tests_wanted {
        Some(all) => format!(
            "{} of {}",
            quantity::grouped(status.tests),
            quantity::format_count(all, "test")
        ),
        None => quantity::format_count(status.tests, "test"),
    }
}

/// Renders `61,200 steps/s`.
fn rate(steps_per_second: f64) -> String {
    format!("{} steps/s", quantity::grouped(steps_per_second as u64))
}

/// Renders `12s left`; `48s so far` without a time limit; `2 failures to be reduced` if only that
/// is left to do.
fn time(status: &CampaignStatus<'_>) -> String {
    let is_reduced =
        |failure: &&FailureLine<'_>| matches!(failure.state, FailureProgress::Reduced(_));
    let failures = status.failures.len() as u64;
    let open = failures - status.failures.iter().filter(is_reduced).count() as u64;
    match status.time {
        Some(time) if status.elapsed > time && open > 0 => {
            format!("{} to be reduced", quantity::format_count(open, "failure"))
        }
        Some(time) => {
            let left = time.saturating_sub(status.elapsed);
            // Rounded up, so that the last second does not show `0s left`.
            let left = left.as_secs() + u64::from(left.subsec_nanos() > 0);
            format!("{} left", whole_seconds(Duration::from_secs(left.max(1))))
        }
        None => format!("{} so far", whole_seconds(status.elapsed)),
    }
}

/// Renders the number of crashes of all workers together; `None` if there were none.
fn crashes(status: &CampaignStatus<'_>) -> Option<String> {
    let crashes = status.workers.iter().map(|worker| worker.crashes);
    let crashes = crashes.fold(0, u64::saturating_add);
    (crashes > 0).then(|| quantity::format_count(crashes, "crash"))
}

/// Renders a duration in whole seconds, because changing tenths would distract.
fn whole_seconds(time: Duration) -> String {
    match time.as_secs() {
        0 => "0s".to_owned(),
        seconds => duration::show(Duration::from_secs(seconds)),
    }
}
