//! Division of a limited number of tests or steps among workers.

use testwright_core::generate::SearchProgress;

use super::RunCommand;

/// The remaining tests and steps, divided among the workers.
pub(super) struct WorkShares {
    /// Tests left to make, if limited.
    tests: Option<u64>,
    /// Steps left to take, if limited.
    steps: Option<u64>,
    /// Number of workers: never more than there are tests or steps.
    pub(super) jobs: usize,
}

impl WorkShares {
    /// Computes what is left to do after `done`.
    pub(super) fn new(run: &RunCommand, done: &SearchProgress, jobs: usize) -> WorkShares {
        let tests = run.tests.map(|tests| tests.saturating_sub(done.tests));
        let steps = run.steps.map(|steps| steps.saturating_sub(done.steps));
        let limit = tests.unwrap_or(u64::MAX).min(steps.unwrap_or(u64::MAX));
        WorkShares {
            tests,
            steps,
            jobs: jobs.min(usize::try_from(limit).unwrap_or(usize::MAX)),
        }
    }

    /// Returns the number of tests and steps for a worker. Shares differ by one at most.
    pub(super) fn share(&self, worker: usize) -> (Option<u64>, Option<u64>) {
        let jobs = self.jobs as u64;
        let share = |all: u64| all / jobs + u64::from((worker as u64) < all % jobs);
        (self.tests.map(share), self.steps.map(share))
    }
}
