//! Reduction with feedback for the user: progress, Ctrl-C, and a summary in one sentence.

use std::time::{Duration, Instant};

use testwright_core::analyse::culprit::{Culprit, SameBug};
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::{
    Effort, NormalizeOptions, ReduceError, ReduceOptions, Shrinker, Shrunk, Speed,
};
use testwright_core::{Failure, FailureKind, System, Test};
use testwright_python::Hook;

use crate::console::Console;
use crate::target::Target;
use crate::throttle::Throttle;
use crate::{duration, quantity};

/// A reduced test.
pub(crate) struct ReducedTest {
    pub(crate) test: Test,
    /// The failure of the reduced test: the same one, maybe with other values.
    pub(crate) failure: Failure,
    /// A summary of the reduction in one sentence.
    pub(crate) summary: String,
    /// The number of runs and steps that it took.
    pub(crate) effort: Effort,
    /// True if nothing stopped it early.
    pub(crate) complete: bool,
}

impl ReducedTest {
    /// Returns the test as it was, with the reason.
    pub(crate) fn unchanged(test: &Test, failure: &Failure, reason: &str) -> ReducedTest {
        ReducedTest {
            test: test.clone(),
            failure: failure.clone(),
            summary: format!("Not reduced, {reason}:"),
            effort: Effort::default(),
            complete: false,
        }
    }
}

/// The extent of the reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReductionGoal {
    /// As few steps as possible.
    Short,
    /// As few steps as possible, and then simpler ones, with no more runs than the first part took.
    Simple,
    /// As few steps as possible, and then the simplest ones, with any number of runs.
    Normal(Speed),
}

/// The number of runs that simplification may use even if the reduction took fewer.
const MIN_SIMPLIFY_RUNS: u64 = 60;

/// Reduces a test. Ctrl-C ends it with the best test so far. If the culprit is given, it stays the same.
pub(crate) fn reduce(
    console: &mut Console<'_>,
    system: &mut (impl Target + ?Sized),
    test: &Test,
    (failure, culprit): (&Failure, Option<&Culprit>),
    options: &ReduceOptions,
    aim: ReductionGoal,
) -> Result<ReducedTest, ReduceError> {
    let started = Instant::now();
    let mut throttle = Throttle::new();
    let mut proceed = || {
        let Some(now) = throttle.poll() else {
            return true;
        };
        console.status(|| {
            let steps = quantity::format_count(test.len() as u64, "step");
            format!("reducing {steps}, {}", duration::show(now - started))
        });
        !testwright_python::is_interrupted()
    };
    system.call_hook(Hook::BeforeReduce);
    let shrunk = shrink(system, test, (failure, culprit), options, aim, &mut proceed);
    system.call_hook(Hook::AfterReduce);
    console.clear_status();
    let (shrunk, effort) = match shrunk {
        Err(ReduceError::Error(_)) if testwright_python::is_interrupted() => {
            return Ok(ReducedTest::unchanged(
                test,
                failure,
                "since you interrupted it",
            ));
        }
        shrunk => shrunk?,
    };
    let mut reduced_failure = shrunk.failure.unwrap_or_else(|| failure.clone());
    if failure.kind == FailureKind::Hang {
        // Trials do not wait as long as a hang takes to be sure of.
        console.err("confirming that the reduced test hangs, too");
        system.use_full_limits();
        let options = ReplayOptions {
            check: options.check,
        };
        let confirmed = replay(system, &shrunk.test, &options, &mut ())?;
        match confirmed.failure() {
            Some(confirmed) if confirmed.is_same_as(failure) => {
                reduced_failure = confirmed.clone();
            }
            _ => {
                let reason = "since shorter tests only take long";
                return Ok(ReducedTest::unchanged(test, failure, reason));
            }
        }
    }
    let time = started.elapsed();
    let summary = summary(test, &shrunk.test, effort.runs, time, shrunk.complete);
    Ok(ReducedTest {
        failure: reduced_failure,
        test: shrunk.test,
        summary,
        effort,
        complete: shrunk.complete,
    })
}

/// Shrinks a test, and returns it with the effort that it took.
pub(crate) fn shrink<S: System + ?Sized>(
    system: &mut S,
    test: &Test,
    (failure, culprit): (&Failure, Option<&Culprit>),
    options: &ReduceOptions,
    aim: ReductionGoal,
    proceed: &mut dyn FnMut() -> bool,
) -> Result<(Shrunk, Effort), ReduceError> {
    let mut goal = SameBug {
        failure: failure.clone(),
        culprit: culprit.cloned(),
        options: ReplayOptions {
            check: options.check,
        },
    };
    let mut is_stopped = false;
    let mut proceed = || {
        is_stopped |= !proceed();
        !is_stopped
    };
    let mut shrinker = Shrinker::new(system, &mut goal, options, &mut proceed);
    let mut shrunk = shrinker.reduce(test)?;
    let runs = shrinker.effort().runs;
    let speed = match aim {
        ReductionGoal::Short => None,
        ReductionGoal::Simple => {
            // A number of runs and not a time, so that the same seed gives the same test.
            shrinker = shrinker.with_budget(runs + runs.max(MIN_SIMPLIFY_RUNS));
            Some(Speed::Fast)
        }
        ReductionGoal::Normal(speed) => Some(speed),
    };
    if let (Some(speed), true) = (speed, shrunk.complete) {
        let options = NormalizeOptions {
            speed,
            ..NormalizeOptions::default()
        };
        shrunk = shrinker.normalize(&shrunk.test, &options)?;
    }
    let effort = shrinker.effort();
    drop(shrinker);
    // Running out of budget is no interruption: the test was reduced completely before.
    shrunk.complete |= aim == ReductionGoal::Simple && !is_stopped;
    Ok((shrunk, effort))
}

/// Summarizes a reduction in one sentence, which ends with a colon.
pub(crate) fn summary(
    before: &Test,
    after: &Test,
    runs: u64,
    time: Duration,
    complete: bool,
) -> String {
    let steps = quantity::format_count(after.len() as u64, "step");
    let effort = format!(
        "{} ({})",
        quantity::format_count(runs, "run"),
        duration::show(time)
    );
    if !complete {
        let before = quantity::grouped(before.len() as u64);
        return format!(
            "Reduced from {before} to {steps} in {effort}; interrupted, so it may not be the shortest:"
        );
    }
    match (after.len() == before.len(), after == before) {
        (true, true) if after.len() == 1 => format!("The only step is needed, found in {effort}:"),
        (true, true) => format!("All {steps} are needed, found in {effort}:"),
        (true, false) => format!("Simplified, still {steps}, in {effort}:"),
        (false, _) => {
            let before = quantity::grouped(before.len() as u64);
            format!("Reduced from {before} to {steps} in {effort}:")
        }
    }
}
