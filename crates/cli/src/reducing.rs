//! Reduction with somebody looking on: progress, Ctrl-C, and how it went in one sentence.

use std::time::Instant;

use testwright_core::shrink::{ReduceError, ReduceOptions, reduce as reduce_test};
use testwright_core::{Failure, Test};
use testwright_python::{Hook, PythonSystem};

use crate::console::Console;
use crate::pulse::Pulse;
use crate::{duration, quantity};

/// A reduced test.
pub(crate) struct Reduced {
    pub(crate) test: Test,
    /// How it fails now: the same way, maybe with other values.
    pub(crate) failure: Failure,
    /// How it went, in one sentence.
    pub(crate) story: String,
}

impl Reduced {
    /// The test as it was, with the reason.
    pub(crate) fn unchanged(test: &Test, failure: &Failure, reason: &str) -> Reduced {
        Reduced {
            test: test.clone(),
            failure: failure.clone(),
            story: format!("Not reduced, {reason}:"),
        }
    }
}

/// Reduces a test. Ctrl-C ends it with the best test so far.
pub(crate) fn reduce(
    console: &mut Console<'_>,
    system: &mut PythonSystem<'_>,
    test: &Test,
    failure: &Failure,
    options: &ReduceOptions,
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
    let reduction = reduce_test(system, test, failure, options, &mut proceed);
    system.call_hook(Hook::AfterReduce);
    console.clear_status();
    let reduction = match reduction {
        Err(ReduceError::Error(_)) if testwright_python::interrupted() => {
            return Ok(Reduced::unchanged(
                test,
                failure,
                "since you interrupted it",
            ));
        }
        reduction => reduction?,
    };
    let story = format!(
        "Reduced from {} to {} in {} ({}){}:",
        quantity::grouped(test.len() as u64),
        quantity::of(reduction.test.len() as u64, "step"),
        quantity::of(reduction.runs, "run"),
        duration::show(started.elapsed()),
        if reduction.minimal {
            ""
        } else {
            "; interrupted, so it may not be the shortest"
        },
    );
    Ok(Reduced {
        test: reduction.test,
        failure: reduction.failure,
        story,
    })
}
