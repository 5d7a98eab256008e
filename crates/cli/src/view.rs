//! What somebody sees of a campaign while it runs: a panel on a terminal, a plain line now and then elsewhere.
//!
//! Both are made from a [`Standing`], which is all that is known at a moment. Nothing in here looks at a clock or at a
//! terminal, so that every picture can be tested. The panel keeps its columns and rows in place from one moment to the
//! next; what changes is what has changed in the campaign.

mod curve;
#[cfg(test)]
mod laws;
mod line;
mod panel;
#[cfg(test)]
mod tests;
mod workers;

use std::time::Duration;

pub(crate) use curve::Curve;
pub(crate) use panel::lines;

use crate::{duration, quantity};

/// A campaign at a moment.
pub(crate) struct Standing<'a> {
    pub(crate) harness: &'a str,
    pub(crate) seed: u64,
    pub(crate) elapsed: Duration,
    /// After which time the campaign ends, if that was asked for.
    pub(crate) time: Option<Duration>,
    /// After how many tests it ends, if that was asked for.
    pub(crate) tests_wanted: Option<u64>,
    pub(crate) tests: u64,
    pub(crate) steps: u64,
    /// Over the last seconds.
    pub(crate) steps_per_second: f64,
    /// How many branches were reached so far, if that is measured.
    pub(crate) covered: Option<u64>,
    /// What these are: branches, or what models have.
    pub(crate) unit: &'static str,
    /// How long nothing new was reached, if anything was.
    pub(crate) since_new: Option<Duration>,
    /// The different failures, in the order in which they were found.
    pub(crate) failures: &'a [FailureLine<'a>],
    /// The processes that run tests, by their numbers; none if this one does it by itself.
    pub(crate) workers: &'a [WorkerLine<'a>],
    /// Coverage over time.
    pub(crate) curve: &'a Curve,
    /// Something to know at the moment.
    pub(crate) notice: Option<&'a str>,
}

/// A failure that a campaign has found.
pub(crate) struct FailureLine<'a> {
    pub(crate) number: usize,
    /// In words.
    pub(crate) kind: &'a str,
    pub(crate) message: &'a str,
    /// In how many tests it came up.
    pub(crate) times: u64,
    pub(crate) state: FailureState,
}

/// How far the work on a failure has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureState {
    Found,
    Reducing,
    /// To a test of so many steps.
    Reduced(usize),
}

/// A process that runs tests.
pub(crate) struct WorkerLine<'a> {
    pub(crate) number: usize,
    pub(crate) doing: Doing<'a>,
    pub(crate) steps_per_second: f64,
    /// How many times it had to be replaced so far.
    pub(crate) crashes: u64,
}

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing<'a> {
    /// Reading the harness and importing what is under test.
    Loading,
    Testing,
    /// The failure of this number.
    Reducing(usize),
    /// After its process has come to an end.
    Restarting,
    /// One step takes long.
    SlowStep {
        lasts: Duration,
        text: &'a str,
    },
}

/// One plain line, for files, pipes and build servers.
///
/// `1,204 tests, 120,400 steps, 61,200 steps/s, 2 failures, 512 branches, 12s left`
pub(crate) fn line(standing: &Standing<'_>) -> String {
    let mut words = vec![
        tests(standing),
        quantity::of(standing.steps, "step"),
        rate(standing.steps_per_second),
        match standing.failures.len() as u64 {
            0 => "no failures".to_owned(),
            number => quantity::of(number, "failure"),
        },
    ];
    words.extend(crashes(standing));
    words.extend(
        standing
            .covered
            .map(|covered| quantity::of(covered, standing.unit)),
    );
    words.push(time(standing));
    words.join(", ")
}

/// `1,204 tests`, or `1,204 of 2,000 tests`.
fn tests(standing: &Standing<'_>) -> String {
    match standing.tests_wanted {
        Some(all) => format!(
            "{} of {}",
            quantity::grouped(standing.tests),
            quantity::of(all, "test")
        ),
        None => quantity::of(standing.tests, "test"),
    }
}

/// `61,200 steps/s`.
fn rate(steps_per_second: f64) -> String {
    format!("{} steps/s", quantity::grouped(steps_per_second as u64))
}

/// `12s left`, or `48s so far` if nobody has set an end, or `2 failures to be reduced` if nothing else is left to do.
fn time(standing: &Standing<'_>) -> String {
    let is_reduced = |failure: &&FailureLine<'_>| matches!(failure.state, FailureState::Reduced(_));
    let failures = standing.failures.len() as u64;
    let open = failures - standing.failures.iter().filter(is_reduced).count() as u64;
    match standing.time {
        Some(time) if standing.elapsed > time && open > 0 => {
            format!("{} to be reduced", quantity::of(open, "failure"))
        }
        Some(time) => {
            let left = time.saturating_sub(standing.elapsed);
            // Not `0s left` for a whole second.
            let left = left.as_secs() + u64::from(left.subsec_nanos() > 0);
            format!("{} left", whole(Duration::from_secs(left.max(1))))
        }
        None => format!("{} so far", whole(standing.elapsed)),
    }
}

/// How many times a worker has crashed, all of them together; nothing if none has.
fn crashes(standing: &Standing<'_>) -> Option<String> {
    let crashes = standing.workers.iter().map(|worker| worker.crashes);
    let crashes = crashes.fold(0, u64::saturating_add);
    (crashes > 0).then(|| quantity::of(crashes, "crash"))
}

/// A duration in whole seconds, because tenths would only dance.
fn whole(time: Duration) -> String {
    match time.as_secs() {
        0 => "0s".to_owned(),
        seconds => duration::show(Duration::from_secs(seconds)),
    }
}
