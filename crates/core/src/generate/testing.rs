//! What the unit tests of strategies have in common.

use std::ops::ControlFlow;

use super::{Found, Made, Progress, Search, SearchWatcher, Strategy, search_with};
use crate::{System, Test};

pub(super) const SEARCH: Search = Search {
    seed: 1,
    tests: None,
    length: 100,
    check: true,
};

/// Keeps all tests, failing or not.
struct All(Vec<Test>);

impl<S: ?Sized> SearchWatcher<S> for All {
    fn made(&mut self, _system: &S, made: Made<'_>) -> ControlFlow<()> {
        self.0.push(Test {
            steps: made.steps.to_vec(),
            remarks: made.remarks.to_vec(),
        });
        ControlFlow::Continue(())
    }

    fn found(&mut self, _system: &mut S, _found: Found) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// The first tests that a strategy makes.
pub(super) fn tests_of<S: System + ?Sized, T: Strategy<S> + ?Sized>(
    system: &mut S,
    strategy: &mut T,
    plan: &Search,
    tests: u64,
) -> Vec<Test> {
    let mut all = All(Vec::new());
    let plan = Search {
        tests: Some(tests),
        ..*plan
    };
    search_with(system, strategy, &plan, &mut all).unwrap();
    all.0
}

/// Ends at the first failure.
struct First {
    most: u64,
}

impl<S: ?Sized> SearchWatcher<S> for First {
    fn proceed(&mut self, progress: &Progress) -> bool {
        progress.steps < self.most
    }

    fn found(&mut self, _system: &mut S, _found: Found) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

/// After how many steps a strategy finds the first failure; at most `most` are taken.
pub(super) fn steps_to_failure<S: System + ?Sized, T: Strategy<S> + ?Sized>(
    system: &mut S,
    strategy: &mut T,
    plan: &Search,
    most: u64,
) -> u64 {
    let summary = search_with(system, strategy, plan, &mut First { most }).unwrap();
    summary.progress.steps
}

/// The median of what comes out for twenty seeds.
pub(super) fn median_of_seeds(mut measure: impl FnMut(u64) -> u64) -> u64 {
    let mut all: Vec<u64> = (0..20).map(&mut measure).collect();
    all.sort_unstable();
    all[10]
}
