//! Reduction with somebody looking on: progress, Ctrl-C, and how it went in one sentence.

use std::time::{Duration, Instant};

use testwright_core::shrink::{
    Effort, NormalizeOptions, ReduceError, ReduceOptions, SameFailure, Shrinker, Shrunk, Speed,
};
use testwright_core::{Failure, System, Test};
use testwright_python::Hook;

use crate::console::Console;
use crate::pulse::Pulse;
use crate::subject::Subject;
use crate::{duration, quantity};

/// A reduced test.
pub(crate) struct Reduced {
    pub(crate) test: Test,
    /// How it fails now: the same way, maybe with other values.
    pub(crate) failure: Failure,
    /// How it went, in one sentence.
    pub(crate) story: String,
    /// What it has cost.
    pub(crate) effort: Effort,
    /// Nothing stopped it early.
    pub(crate) complete: bool,
}

impl Reduced {
    /// The test as it was, with the reason.
    pub(crate) fn unchanged(test: &Test, failure: &Failure, reason: &str) -> Reduced {
        Reduced {
            test: test.clone(),
            failure: failure.clone(),
            story: format!("Not reduced, {reason}:"),
            effort: Effort::default(),
            complete: false,
        }
    }
}

/// How far to go in making a test simpler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// As few steps as possible.
    Short,
    /// Then simple ones, as far as that takes no more work than was done for the first.
    Simple,
    /// Then the simplest ones, whatever work that takes.
    Normal(Speed),
}

/// To simplify, so many runs are worth it even if reducing took fewer.
const FEW_RUNS: u64 = 60;

/// Reduces a test. Ctrl-C ends it with the best test so far.
pub(crate) fn reduce(
    console: &mut Console<'_>,
    system: &mut (impl Subject + ?Sized),
    test: &Test,
    failure: &Failure,
    options: &ReduceOptions,
    aim: Aim,
) -> Result<Reduced, ReduceError> {
    let started = Instant::now();
    let mut pulse = Pulse::new();
    let mut proceed = || {
        let Some(now) = pulse.beat() else {
            return true;
        };
        console.status(|| {
            let steps = quantity::of(test.len() as u64, "step");
            format!("reducing {steps}, {}", duration::show(now - started))
        });
        !testwright_python::interrupted()
    };
    system.call_hook(Hook::BeforeReduce);
    let shrunk = shrink(system, test, failure, options, aim, &mut proceed);
    system.call_hook(Hook::AfterReduce);
    console.clear_status();
    let (shrunk, effort) = match shrunk {
        Err(ReduceError::Error(_)) if testwright_python::interrupted() => {
            return Ok(Reduced::unchanged(
                test,
                failure,
                "since you interrupted it",
            ));
        }
        shrunk => shrunk?,
    };
    let time = started.elapsed();
    let story = story(test, &shrunk.test, effort.runs, time, shrunk.complete);
    Ok(Reduced {
        failure: shrunk.failure.unwrap_or_else(|| failure.clone()),
        test: shrunk.test,
        story,
        effort,
        complete: shrunk.complete,
    })
}

/// The simpler test, and what that has cost.
pub(crate) fn shrink<S: System + ?Sized>(
    system: &mut S,
    test: &Test,
    failure: &Failure,
    options: &ReduceOptions,
    aim: Aim,
    proceed: &mut dyn FnMut() -> bool,
) -> Result<(Shrunk, Effort), ReduceError> {
    let mut goal = SameFailure(failure.clone());
    let mut is_stopped = false;
    let mut proceed = || {
        is_stopped |= !proceed();
        !is_stopped
    };
    let mut shrinker = Shrinker::new(system, &mut goal, options, &mut proceed);
    let mut shrunk = shrinker.reduce(test)?;
    let runs = shrinker.effort().runs;
    let speed = match aim {
        Aim::Short => None,
        Aim::Simple => {
            // By number and not by time, so that the same seed gives the same test.
            shrinker = shrinker.with_budget(runs + runs.max(FEW_RUNS));
            Some(Speed::Fast)
        }
        Aim::Normal(speed) => Some(speed),
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
    // Out of budget is not interrupted: what was reduced before is as short as can be.
    shrunk.complete |= aim == Aim::Simple && !is_stopped;
    Ok((shrunk, effort))
}

/// How it went, in one sentence.
pub(crate) fn story(
    before: &Test,
    after: &Test,
    runs: u64,
    time: Duration,
    complete: bool,
) -> String {
    let steps = quantity::of(after.len() as u64, "step");
    let what = match (after.len() == before.len(), after == before) {
        (true, true) => format!("Nothing to reduce in {steps}, tried"),
        (true, false) => format!("Simplified, still {steps},"),
        (false, _) => {
            let before = quantity::grouped(before.len() as u64);
            format!("Reduced from {before} to {steps}")
        }
    };
    format!(
        "{what} in {} ({}){}:",
        quantity::of(runs, "run"),
        duration::show(time),
        if complete {
            ""
        } else {
            "; interrupted, so it may not be the shortest"
        },
    )
}
