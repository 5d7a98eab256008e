//! Steps that may hang: their tests are reduced while the hang is confirmed.
//!
//! A hang is claimed only after a long time, which would leave none of `--time` for its reduction.
//! So the reduction begins as soon as a step takes much longer than others. If the step ends after
//! all, the result is dropped, and the search has not been influenced.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use testwright_core::{Error, Failure, Test};

use super::super::failures::{ReductionResult, UnreducedFailure};
use super::super::reductions::{ReductionId, ReductionJob};
use super::Campaign;

/// The steps that may hang.
#[derive(Default)]
pub(super) struct Suspicions {
    /// Those whose result may still be needed.
    open: Vec<Suspicion>,
    /// The number of suspicions so far.
    count: usize,
}

/// A step that may hang.
pub(super) struct Suspicion {
    id: usize,
    worker: usize,
    failure: Failure,
    /// The failure, once the hang is confirmed.
    confirmed: Option<FoundFailure>,
    /// The result of the reduction, once it has ended.
    result: Option<Result<ReductionResult, Error>>,
    /// Tells the reducer that its result is not needed any more.
    is_cancelled: Arc<AtomicBool>,
}

/// A failure that was found and recorded, but is not reduced yet.
pub(super) struct FoundFailure {
    pub(super) number: usize,
    pub(super) unreduced: UnreducedFailure,
    /// All steps of the worker, in case the test alone does not hang.
    pub(super) history: Option<Test>,
}

impl Suspicions {
    /// Drops the suspicion about a worker whose step has ended.
    pub(super) fn refute(&mut self, worker: usize) {
        self.open.retain(|one| {
            let is_refuted = one.worker == worker && one.confirmed.is_none();
            if is_refuted {
                one.is_cancelled.store(true, Ordering::Relaxed);
            }
            !is_refuted
        });
    }

    /// Takes the suspicion that a failure of a worker confirms. Drops any other about this worker.
    pub(super) fn confirm(&mut self, worker: usize, failure: &Failure) -> Option<Suspicion> {
        let is_meant = |one: &Suspicion| one.worker == worker && one.failure.is_same_as(failure);
        let found = self.open.iter().position(is_meant);
        let found = found.map(|index| self.open.remove(index));
        self.refute(worker);
        found
    }
}

impl Campaign<'_, '_> {
    /// Begins to reduce the test of a step that may hang.
    pub(super) fn suspect_hang(&mut self, worker: usize, unreduced: UnreducedFailure) {
        self.suspicions.refute(worker);
        if self.run.no_reduce {
            return;
        }
        self.suspicions.count += 1;
        let id = self.suspicions.count;
        let suspicion = Suspicion {
            id,
            worker,
            failure: unreduced.failure.clone(),
            confirmed: None,
            result: None,
            is_cancelled: Arc::default(),
        };
        let job = ReductionJob {
            id: ReductionId::Suspicion(id),
            is_cancelled: suspicion.is_cancelled.clone(),
            test: unreduced.test,
            failure: unreduced.failure,
            culprit: None,
            history: None,
            pytest: self.writer.pytest_target(self.findings.len() + 1),
        };
        if let Some(jobs) = &self.jobs
            && jobs.send(job).is_ok()
        {
            self.suspicions.open.push(suspicion);
        }
    }

    /// Uses the reduction of a suspicion for the failure that has confirmed it.
    pub(super) fn adopt(&mut self, mut suspicion: Suspicion, hang: FoundFailure) {
        match suspicion.result.take() {
            Some(result) => self.finish_confirmed(hang, result),
            None => {
                self.display.reducing.push(hang.number);
                suspicion.confirmed = Some(hang);
                self.suspicions.open.push(suspicion);
            }
        }
    }

    /// Handles the result of the reduction of a confirmed hang. If the test alone did not hang, it
    /// is tried again after the tests before it.
    fn finish_confirmed(&mut self, hang: FoundFailure, result: Result<ReductionResult, Error>) {
        let is_flaky = matches!(result, Ok(ReductionResult::Flaky { .. }));
        if is_flaky && hang.history.is_some() {
            self.display.reducing.retain(|other| *other != hang.number);
            self.reduce_later(hang);
        } else {
            self.finish_reduction(hang.number, result);
        }
    }

    /// Handles the result of a reduction that began with a suspicion.
    pub(super) fn finish_suspicion(&mut self, id: usize, result: Result<ReductionResult, Error>) {
        let open = &mut self.suspicions.open;
        let Some(index) = open.iter().position(|one| one.id == id) else {
            return;
        };
        match open[index].confirmed.take() {
            Some(hang) => {
                open.remove(index);
                self.finish_confirmed(hang, result);
            }
            None => open[index].result = Some(result),
        }
    }
}
