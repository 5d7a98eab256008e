//! Measures the cost of logging each step: the same search with and without a log, alternately, in
//! one process.
//!
//! `bench/workers.py` runs this and compares it with a step of the interpreter. It prints the
//! nanoseconds of a step in each of the rounds, as JSON.
#![expect(clippy::print_stdout, reason = "a program for developers")]

use std::ops::ControlFlow;
use std::time::Instant;

use testwright_campaign::{LoggedSystem, StepLog};
use testwright_core::System;
use testwright_core::generate::{FailingTest, SearchOptions, SearchWatcher, search};
use testwright_core::toys::Safe;

/// The capacity of a worker's log.
const STEPS_IN_LOG: usize = 1 << 20;

const STEPS_OF_A_TEST: usize = 100;

/// A watcher that does nothing, so that only the log differs.
struct Unwatched;

impl<S> SearchWatcher<S> for Unwatched {
    fn failure_found(&mut self, _system: &mut S, _found: FailingTest) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

/// Returns the nanoseconds per step.
fn pace<S: System>(system: &mut S, tests: u64) -> f64 {
    let plan = SearchOptions {
        seed: 1,
        tests: Some(tests),
        length: STEPS_OF_A_TEST,
        check: true,
    };
    let began = Instant::now();
    let summary = search(system, &plan, &mut Unwatched).expect("a toy can be reset");
    let taken = began.elapsed();
    taken.as_secs_f64() * 1e9 / summary.progress.steps as f64
}

fn main() {
    let mut numbers = std::env::args()
        .skip(1)
        .map(|word| word.parse().expect("a number"));
    let mut number = || numbers.next().expect("how many rounds, how many tests");
    let (rounds, tests): (u64, u64) = (number(), number());
    let file = tempfile::tempfile().expect("a file for the log");
    let log = StepLog::create(&file, STEPS_IN_LOG).expect("a log");
    // It has no code, so it never fails.
    let mut safe = Safe::new(9, &[]);
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        without.push(pace(&mut safe, tests));
        with.push(pace(&mut LoggedSystem::new(&mut safe, &log), tests));
    }
    println!("{{\"without\": {without:?}, \"with\": {with:?}}}");
}
