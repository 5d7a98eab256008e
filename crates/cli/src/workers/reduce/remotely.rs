//! Reduction step by step from here, in processes that may die: for tests that crash or hang.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use testwright_campaign::{
    ForkServer, ProcessLauncher, RemoteSystem, TEST_TIMEOUT_SIGNATURE, Timeouts,
};
use testwright_core::analyse::culprit::{BugIdentity, identify};
use testwright_core::replay::{ReplayOptions, ReplayWatcher, replay};
use testwright_core::shrink::{ReduceError, Shrunk};
use testwright_core::{ActionId, Error, Failure, FailureKind, Step, System, Test};

use super::bounds::{ReductionBounds, TIME_IS_UP};
use super::task::start;
use super::{ReductionOutcome, SimplifyResult, WorkerReducer};
use crate::reduction::{self, ReductionGoal};
use crate::workers::WorkerTask;
use crate::workers::actions::ActionRegistry;
use crate::workers::start::Starter;

impl<'a> WorkerReducer<'a> {
    /// Simplifies a test step by step from here; with a new process for each attempt if `is_fresh`.
    pub(super) fn simplify_remotely(
        &mut self,
        test: &Test,
        failure: &Failure,
        is_fresh: bool,
    ) -> Result<SimplifyResult, Error> {
        if failure.kind == FailureKind::Hang && failure.signature != TEST_TIMEOUT_SIGNATURE {
            return self.simplify_hang(test, failure, is_fresh);
        }
        let aim = if failure.kind == FailureKind::Hang {
            ReductionGoal::Short
        } else {
            ReductionGoal::Simple
        };
        self.shrink(test, failure, aim, (WorkerReducer::FLOOR, is_fresh))
    }

    /// Simplifies a test in which a step hangs.
    ///
    /// A hundred trials that each wait for the limit of a step would take long, so trials have a
    /// limit that is learned from the steps that end. A step that exceeds it need not hang, so the
    /// result is confirmed with the time that a hang takes to be sure of.
    fn simplify_hang(
        &mut self,
        test: &Test,
        failure: &Failure,
        is_fresh: bool,
    ) -> Result<SimplifyResult, Error> {
        for floor in WorkerReducer::HANG_FLOORS {
            let floor = floor.min(self.timeouts.step);
            let goal = ReductionGoal::Short;
            let shrunk = self.shrink(test, failure, goal, (floor, is_fresh))?;
            if let SimplifyResult::Simpler {
                test,
                runs,
                complete,
                ..
            } = shrunk
                && let Some(confirmed) = self.confirm(&test)?
                && confirmed.is_same_as(failure)
            {
                return Ok(SimplifyResult::Simpler {
                    test,
                    failure: confirmed,
                    runs,
                    complete,
                });
            }
            if self.is_time_up() {
                return Err(Error::new(TIME_IS_UP));
            }
        }
        Ok(match self.confirm(test)? {
            Some(confirmed) if confirmed.is_same_as(failure) => SimplifyResult::Simpler {
                test: test.clone(),
                failure: confirmed,
                runs: 1,
                complete: false,
            },
            other => SimplifyResult::NotReproduced(other),
        })
    }

    /// Runs a test whose last step may hang, with the time that a hang takes to be sure of. Only
    /// that step may exceed the time for reductions.
    fn confirm(&self, test: &Test) -> Result<Option<Failure>, Error> {
        let bounds = self.bounds().with_grace(ReductionBounds::CHECK);
        self.run_within(&mut self.remote(), test, &bounds)
    }

    /// Runs a test after which the reset hangs. It is not reduced.
    pub(super) fn confirm_reset_hang(
        &self,
        test: &Test,
        failure: &Failure,
    ) -> Result<ReductionOutcome, Error> {
        let mut remote = self.remote();
        let mut steps = test.clone();
        if steps.steps.last() == Some(&Step::Restart) {
            steps.steps.pop();
        }
        let ended = self.run_within(&mut remote, &steps, &self.bounds())?;
        let other_failure = match ended {
            Some(other) => Some(other),
            None => remote.reset_once().err(),
        };
        Ok(match other_failure {
            Some(found) if found.is_same_as(failure) => ReductionOutcome::Reduced {
                test: test.clone(),
                failure: found,
                summary: "Not reduced, since it is the reset after these steps that hangs:"
                    .to_owned(),
            },
            other_failure => ReductionOutcome::Flaky { other_failure },
        })
    }

    /// Runs a test on a remote system, and returns its failure.
    fn run_within(
        &self,
        remote: &mut impl System,
        test: &Test,
        bounds: &ReductionBounds<'_>,
    ) -> Result<Option<Failure>, Error> {
        let options = ReplayOptions {
            check: self.options.check,
        };
        let is_over = || self.stop.load(Ordering::Relaxed) || bounds.is_over();
        let trace = replay(remote, test, &options, &mut WhileWanted(&is_over))?;
        if trace.interrupted || bounds.is_cancelled.load(Ordering::Relaxed) {
            return Err(self.reason_to_stop());
        }
        Ok(trace.failure().cloned())
    }

    /// Returns the error for a reduction that was stopped.
    fn reason_to_stop(&self) -> Error {
        Error::new(if self.is_time_up() {
            TIME_IS_UP
        } else {
            "interrupted"
        })
    }

    /// The least limits of steps in trials of a test that hangs, tried one after the other.
    const HANG_FLOORS: [Duration; 2] = [Duration::from_millis(50), WorkerReducer::FLOOR];

    /// The least limit of steps in trials of other tests.
    const FLOOR: Duration = Duration::from_millis(500);

    /// Runs the reduction algorithm on a remote system. Steps have a limit that is learned, of at
    /// least `floor`. If the test itself does not hang, its own steps are measured before.
    fn shrink(
        &mut self,
        test: &Test,
        failure: &Failure,
        aim: ReductionGoal,
        (floor, is_fresh): (Duration, bool),
    ) -> Result<SimplifyResult, Error> {
        let (stop, bounds) = (self.stop, self.bounds());
        let mut proceed = || !stop.load(Ordering::Relaxed) && !bounds.is_over();
        let options = self.options;
        let mut remote = self.remote().with_learned_limit(floor, None);
        if is_fresh {
            remote = remote.with_process_per_test();
        }
        if failure.kind != FailureKind::Hang {
            remote = remote.measuring_first();
            match self.run_within(&mut remote, test, &bounds)? {
                Some(found) if found.is_same_as(failure) => {}
                other => return Ok(SimplifyResult::NotReproduced(other)),
            }
            remote.apply_learned_limit();
        } else if failure.signature == TEST_TIMEOUT_SIGNATURE {
            // A test that takes too long as a whole needs all of its time.
            remote.use_full_limits();
        }
        match reduction::shrink(
            &mut remote,
            test,
            (failure, None),
            &options,
            aim,
            &mut proceed,
        ) {
            Ok((
                Shrunk {
                    test,
                    failure: found,
                    complete,
                    ..
                },
                effort,
            )) => Ok(SimplifyResult::Simpler {
                test,
                failure: found.unwrap_or_else(|| failure.clone()),
                runs: effort.runs,
                complete,
            }),
            Err(ReduceError::NotReproduced(other)) => Ok(SimplifyResult::NotReproduced(other)),
            Err(ReduceError::Error(error)) => Err(error),
        }
    }

    /// Finds the identity of a bug step by step from here.
    pub(super) fn identify_remotely(
        &self,
        test: &Test,
        failure: &Failure,
    ) -> Result<BugIdentity, Error> {
        let stop = self.stop;
        let options = ReplayOptions {
            check: self.options.check,
        };
        let bounds = self.bounds();
        let mut proceed = || !stop.load(Ordering::Relaxed) && !bounds.is_over();
        // Many observations may hang, and each would wait for the whole limit.
        let floor = WorkerReducer::FLOOR.min(self.timeouts.step);
        let mut remote = self.remote().with_learned_limit(floor, None);
        identify(&mut remote, test, failure, &options, &mut proceed)
    }

    /// Returns the system in processes that may die.
    fn remote(
        &self,
    ) -> RemoteSystem<
        ProcessLauncher<impl FnMut() -> Result<ForkServer, Error> + use<'a>, WorkerTask>,
    > {
        let (starter, stop) = (self.starter, self.stop);
        let start = move || start(starter, stop);
        RemoteSystem::new(
            self.actions.catalog().clone(),
            ProcessLauncher::new(start, WorkerTask::Serve),
            self.timeouts,
        )
        .with_cancellation(self.is_cancelled.clone())
    }
}

/// Lets a replay go on until it is over.
struct WhileWanted<'f>(&'f dyn Fn() -> bool);

impl<S: ?Sized> ReplayWatcher<S> for WhileWanted<'_> {
    fn proceed(&mut self) -> bool {
        !(self.0)()
    }
}

/// Finds the action whose guard ends the process or hangs after a test. The log of a process does not
/// tell which guard it was in.
pub(crate) fn fatal_guard(
    starter: &Starter,
    actions: &ActionRegistry,
    timeouts: &Timeouts,
    stop: &AtomicBool,
    test: &Test,
) -> Option<ActionId> {
    let catalog = actions.complete_catalog()?;
    let launcher = ProcessLauncher::new(|| start(starter, stop), WorkerTask::Serve);
    let floor = WorkerReducer::FLOOR.min(timeouts.step);
    let remote = RemoteSystem::new(catalog.clone(), launcher, *timeouts);
    let mut remote = remote.with_learned_limit(floor, None).measuring_first();
    remote.begin().ok()?;
    for step in &test.steps {
        match step {
            Step::Restart => remote.reset().ok()?,
            Step::Act(action) => drop(remote.step(*action)),
        }
    }
    remote.apply_learned_limit();
    catalog.ids().find(|action| {
        remote.is_enabled(*action);
        remote.process_failure().is_some() || stop.load(Ordering::Relaxed)
    })
}
