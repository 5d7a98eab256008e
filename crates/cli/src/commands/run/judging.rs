//! Failing tests are reduced beside the search, several at the same time.

use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Mutex, PoisonError};

use testwright_core::{Error, Failure, Test};

use super::Run;
use super::finding::{Verdict, instead};
use crate::files::Place;
use crate::workers::reduce::{Reducer, Settled};

/// A failing test to be reduced.
pub(super) struct Job {
    pub(super) number: usize,
    pub(super) test: Test,
    pub(super) failure: Failure,
    pub(super) history: Option<Test>,
    /// Where the test for pytest is to be, and its name.
    pub(super) pytest: (Place, String),
}

/// At most so many failing tests are reduced at the same time.
pub(super) const MOST_REDUCERS: usize = 4;

/// Reduces one failing test after the other.
pub(super) fn reduce(
    run: &Run,
    mut reducer: Reducer<'_>,
    jobs: &Mutex<Receiver<Job>>,
    verdicts: &Sender<(usize, Result<Verdict, Error>)>,
) {
    let next = || {
        let jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.recv().ok()
    };
    while let Some(job) = next() {
        let verdict = judge(run, &mut reducer, &job);
        if verdicts.send((job.number, verdict)).is_err() {
            return;
        }
    }
}

fn judge(run: &Run, reducer: &mut Reducer<'_>, job: &Job) -> Result<Verdict, Error> {
    let settled = if run.no_reduce {
        Settled::Reduced {
            test: job.test.clone(),
            failure: job.failure.clone(),
            story: "Not reduced, as you wished:".to_owned(),
        }
    } else {
        reducer.settle(&job.test, &job.failure, job.history.as_ref())?
    };
    Ok(match settled {
        Settled::Flaky { instead: other } => Verdict::Flaky {
            instead: instead(&job.failure, other.as_ref()),
        },
        Settled::Reduced {
            test,
            failure,
            story,
        } => {
            let (file, title) = &job.pytest;
            let pytest = reducer.write(&test, &failure, title.clone(), file);
            Verdict::Fails {
                test,
                failure,
                story,
                pytest,
            }
        }
    })
}
