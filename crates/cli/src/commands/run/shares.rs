//! How the work is divided.

use testwright_core::generate::Progress;

use super::Run;

/// Which worker does how much.
pub(super) struct Shares {
    tests: Option<u64>,
    steps: Option<u64>,
    /// How many workers are needed for it.
    pub(super) jobs: usize,
}

impl Shares {
    /// Of what is left to do.
    pub(super) fn new(run: &Run, done: &Progress, jobs: usize) -> Shares {
        let tests = run.tests.map(|tests| tests.saturating_sub(done.tests));
        let steps = run.steps.map(|steps| steps.saturating_sub(done.steps));
        let most = tests.unwrap_or(u64::MAX).min(steps.unwrap_or(u64::MAX));
        Shares {
            tests,
            steps,
            jobs: jobs.min(usize::try_from(most).unwrap_or(usize::MAX)),
        }
    }

    pub(super) fn of(&self, worker: usize) -> (Option<u64>, Option<u64>) {
        let jobs = self.jobs as u64;
        let share = |all: u64| all / jobs + u64::from((worker as u64) < all % jobs);
        (self.tests.map(share), self.steps.map(share))
    }
}
