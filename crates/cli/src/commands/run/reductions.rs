//! Threads that reduce failing tests while the search goes on.

use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Mutex, PoisonError};

use testwright_core::{Error, Failure, Test};

use super::RunCommand;
use super::failures::{ReductionResult, describe_difference};
use crate::files::UserPath;
use crate::workers::reduce::{ReductionOutcome, WorkerReducer};

/// A failing test to reduce.
pub(super) struct ReductionJob {
    /// Number of the failure in this run.
    pub(super) number: usize,
    pub(super) test: Test,
    pub(super) failure: Failure,
    /// All steps of the worker process up to the failure, in case the test alone does not fail.
    pub(super) history: Option<Test>,
    /// Path of the pytest file, and the name of the test in it.
    pub(super) pytest: (UserPath, String),
}

/// Maximum number of failing tests that are reduced at the same time.
pub(super) const MAX_REDUCERS: usize = 4;

/// Reduces one failing test after the other, until the channel of jobs is closed.
pub(super) fn run_reducer(
    run: &RunCommand,
    mut reducer: WorkerReducer<'_>,
    jobs: &Mutex<Receiver<ReductionJob>>,
    results: &Sender<(usize, Result<ReductionResult, Error>)>,
) {
    let next = || {
        let jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.recv().ok()
    };
    while let Some(job) = next() {
        let result = reduce_job(run, &mut reducer, &job);
        if results.send((job.number, result)).is_err() {
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
        reducer.reduce(&job.test, &job.failure, job.history.as_ref())?
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
            ReductionResult::Reproduced {
                test,
                failure,
                summary,
                pytest,
            }
        }
    })
}
