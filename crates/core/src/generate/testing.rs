//! Helpers for the unit tests of strategies.

use std::ops::ControlFlow;

use super::{
    FailingTest, GeneratedTest, SearchOptions, SearchProgress, SearchWatcher, Strategy, search_with,
};
use crate::{System, Test};

pub(super) const SEARCH: SearchOptions = SearchOptions {
    seed: 1,
    tests: None,
    length: 100,
    check: true,
};

/// Keeps all tests, failing or not.
struct AllTests(Vec<Test>);

impl<S: ?Sized> SearchWatcher<S> for AllTests {
    fn test_generated(&mut self, _system: &S, generated: GeneratedTest<'_>) -> ControlFlow<()> {
        self.0.push(Test {
            steps: generated.steps.to_vec(),
            remarks: generated.remarks.to_vec(),
        });
        ControlFlow::Continue(())
    }

    fn failure_found(&mut self, _system: &mut S, _found: FailingTest) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Returns the first tests that a strategy generates.
pub(super) fn generate_tests<S: System + ?Sized, T: Strategy<S> + ?Sized>(
    system: &mut S,
    strategy: &mut T,
    options: &SearchOptions,
    tests: u64,
) -> Vec<Test> {
    let mut all = AllTests(Vec::new());
    let options = SearchOptions {
        tests: Some(tests),
        ..*options
    };
    search_with(system, strategy, &options, &mut all).unwrap();
    all.0
}

/// Ends the search at the first failure or after a number of steps.
struct StopAtFailure {
    max_steps: u64,
}

impl<S: ?Sized> SearchWatcher<S> for StopAtFailure {
    fn proceed(&mut self, progress: &SearchProgress) -> bool {
        progress.steps < self.max_steps
    }

    fn failure_found(&mut self, _system: &mut S, _found: FailingTest) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

/// Returns the number of steps until a strategy finds the first failure, at most `max_steps`.
pub(super) fn steps_to_failure<S: System + ?Sized, T: Strategy<S> + ?Sized>(
    system: &mut S,
    strategy: &mut T,
    options: &SearchOptions,
    max_steps: u64,
) -> u64 {
    let summary = search_with(system, strategy, options, &mut StopAtFailure { max_steps }).unwrap();
    summary.progress.steps
}

/// Returns the median of a measurement over twenty seeds.
pub(super) fn median_of_seeds(mut measure: impl FnMut(u64) -> u64) -> u64 {
    let mut all: Vec<u64> = (0..20).map(&mut measure).collect();
    all.sort_unstable();
    all[10]
}
