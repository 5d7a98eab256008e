//! Threads that reduce failing tests while the search goes on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use testwright_core::analyse::culprit::Culprit;
use testwright_core::{Error, Failure, Test};

use super::RunCommand;
use super::failures::{ReductionResult, describe_difference};
use crate::files::UserPath;
use crate::workers::reduce::{ReductionOutcome, TIME_IS_UP, WorkerReducer};

/// A failing test to reduce.
pub(super) struct ReductionJob {
    pub(super) id: ReductionId,
    /// Set when the result is not needed any more.
    pub(super) is_cancelled: Arc<AtomicBool>,
    pub(super) test: Test,
    pub(super) failure: Failure,
    /// The step that is to blame, if it is known already.
    pub(super) culprit: Option<Culprit>,
    /// All steps of the worker process up to the failure, in case the test alone does not fail.
    pub(super) history: Option<Test>,
    /// Path of the pytest file, and the name of the test in it.
    pub(super) pytest: (UserPath, String),
}

/// Identity of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReductionId {
    /// The failure with this number in the run.
    Failure(usize),
    /// The suspected hang with this number.
    Suspicion(usize),
}

/// Maximum number of failing tests that are reduced at the same time.
pub(super) const MAX_REDUCERS: usize = 4;

/// Reduces one failing test after the other, until the channel of jobs is closed.
pub(super) fn run_reducer(
    run: &RunCommand,
    mut reducer: WorkerReducer<'_>,
    jobs: &Mutex<Receiver<ReductionJob>>,
    results: &Sender<(ReductionId, Result<ReductionResult, Error>)>,
) {
    let next = || {
        let jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.recv().ok()
    };
    while let Some(job) = next() {
        if job.is_cancelled.load(Ordering::Relaxed) {
            continue;
        }
        reducer.is_cancelled = job.is_cancelled.clone();
        let result = reduce_job(run, &mut reducer, &job);
        if results.send((job.id, result)).is_err() {
            return;
        }
    }
}

/// Reduces a failing test and writes it for pytest.
fn reduce_job(
    run: &RunCommand,
    reducer: &mut WorkerReducer<'_>,
    job: &ReductionJob,
) -> Result<ReductionResult, Error> {
    let reduced = if run.no_reduce {
        ReductionOutcome::Reduced {
            test: job.test.clone(),
            failure: job.failure.clone(),
            summary: "Not reduced, as requested:".to_owned(),
        }
    } else {
        let reduced = reducer.reduce(
            &job.test,
            (&job.failure, job.culprit.as_ref()),
            job.history.as_ref(),
        );
        if job.is_cancelled.load(Ordering::Relaxed) {
            return Err(Error::new("it is not needed any more"));
        }
        match reduced {
            Err(_) if reducer.is_time_up() => ReductionOutcome::Reduced {
                test: job.test.clone(),
                failure: job.failure.clone(),
                summary: format!("Not reduced, since {TIME_IS_UP}:"),
            },
            reduced => reduced?,
        }
    };
    Ok(match reduced {
        ReductionOutcome::Flaky {
            other_failure: other,
        } => ReductionResult::Flaky {
            observation: describe_difference(&job.failure, other.as_ref()),
        },
        ReductionOutcome::Reduced {
            test,
            failure,
            summary,
        } => {
            let (file, title) = &job.pytest;
            let pytest = reducer.render_unit_test(&test, &failure, title.clone(), file);
            let identity = Some(Box::new(reducer.identify(&test, &failure)));
            ReductionResult::Reproduced {
                test,
                failure,
                summary,
                pytest,
                identity,
            }
        }
    })
}
