//! Failing tests: printed, reduced, saved, and replayed once more.

use std::time::Instant;

use testwright_core::generate::FailingTest;
use testwright_core::replay::{ReplayOptions, ReplayWatcher, replay};
use testwright_core::shrink::{NormalizeOptions, ReduceError, ShrinkGoal, Shrinker, Touches};
use testwright_core::{
    ActionId, Coverage, Covered, Error, Failure, System, TargetId, Test, TraceEvent,
};
use testwright_python::{Hook, OutputMode};

use super::RandomTester;
use super::observed_system::ObservedSystem;
use super::session::SessionFiles;
use crate::CommandError;
use crate::compat::generalizer::generalization;
use crate::compat::reducer::speed;
use crate::compat::tstl_text::{self, StepPrinter};
use crate::compat::{goals, test_file};
use crate::files::UserPath;

/// Handles all failing tests.
pub(super) struct FailureHandler<'t> {
    tool: &'t RandomTester,
    files: &'t SessionFiles,
    /// The number of failing tests.
    pub(super) count: u64,
    /// The number of failing tests that were reduced to a known one.
    pub(super) repeats: u64,
    /// The failing tests that differ after reduction.
    pub(super) distinct: Vec<DistinctFailure>,
}

/// A reduced failing test that differs from all others.
pub(super) struct DistinctFailure {
    pub(super) test: Test,
    /// The exception as a Python tuple.
    pub(super) tuple: String,
    pub(super) failure: Failure,
}

/// A code location that stops the search once a test covers it.
pub(super) struct StopTarget {
    /// `BRANCH` or `STATEMENT`.
    pub(super) kind: &'static str,
    /// The name as it was typed.
    pub(super) name: String,
    /// The branch that was covered.
    pub(super) target: TargetId,
}

impl<'t> FailureHandler<'t> {
    /// Creates a handler without failures.
    pub(super) fn new(tool: &'t RandomTester, files: &'t SessionFiles) -> FailureHandler<'t> {
        FailureHandler {
            tool,
            files,
            count: 0,
            repeats: 0,
            distinct: Vec::new(),
        }
    }

    /// Handles a failing test: prints, reduces, saves and replays it. Returns the coverage of its
    /// final form, if that is measured.
    pub(super) fn handle(
        &mut self,
        observed: &mut ObservedSystem<'_, '_, '_>,
        found: FailingTest,
        tuple: String,
    ) -> Result<Option<Coverage>, CommandError> {
        self.count += 1;
        observed.system.flush();
        let of_check = tstl_text::is_check_failure(&found.failure);
        observed.console.out(if of_check {
            "PROPERLY VIOLATION"
        } else {
            "UNCAUGHT EXCEPTION"
        });
        tstl_text::print_error(observed.console, &tuple, &found.failure);
        self.save(observed, &found.test, "full")?;
        let like = (!self.tool.no_exception_match).then_some(&found.failure);
        let test = self.simplify(observed, &found.test, goals::failure_goal(like))?;
        let is_known = self.distinct.iter().any(|known| known.test == test);
        if !is_known {
            let path = self.final_path();
            self.save_as(observed, &test, &path)?;
        }
        let (failure, tuple, covered) = self.replay_visibly(observed, &test)?;
        let Some(failure) = failure else {
            observed.console.out("NO FAILURE!");
            observed
                .console
                .out("THE SYSTEM DEPENDS ON SOMETHING BESIDES THE TEST");
            return Ok(covered);
        };
        tstl_text::print_error(observed.console, &tuple, &failure);
        if is_known {
            self.repeats += 1;
            let message = "NEW FAILURE IS IDENTICAL TO PREVIOUSLY FOUND FAILURE, NOT STORING";
            observed.console.out(message);
        } else {
            self.distinct.push(DistinctFailure {
                test,
                tuple,
                failure,
            });
            if self.tool.multiple {
                let number = self.distinct.len();
                observed.console.out(format_args!(
                    "FAILURE IS NEW, STORING; NOW {number} DISTINCT FAILURES"
                ));
            }
        }
        observed.console.flush();
        Ok(covered)
    }

    /// Handles a test that covered the target of the search.
    pub(super) fn handle_stop_target(
        &mut self,
        observed: &mut ObservedSystem<'_, '_, '_>,
        test: &Test,
        hit: StopTarget,
    ) -> Result<(), CommandError> {
        self.count += 1;
        let StopTarget { kind, name, target } = hit;
        observed.console.out(format_args!("HIT {kind}: {name}"));
        self.save(observed, test, "full")?;
        let wanted: Coverage = [target].into_iter().collect();
        let test = self.simplify(observed, test, Box::new(Touches(wanted)))?;
        let path = self.final_path();
        self.save_as(observed, &test, &path)?;
        self.replay_visibly(observed, &test)?;
        observed.console.out(format_args!(
            "STOPPING TESTING DUE TO HITTING {kind} TARGET"
        ));
        Ok(())
    }

    /// Saves a test beside the final one, for instance as `X.full.test` for `X.test`.
    fn save(
        &self,
        observed: &ObservedSystem<'_, '_, '_>,
        test: &Test,
        word: &str,
    ) -> Result<(), Error> {
        let path = self
            .files
            .output
            .renamed(|name| name.replace(".test", &format!(".{word}.test")));
        test_file::save(observed.system, test, &path)
    }

    /// Saves a test and prints its name.
    fn save_as(
        &self,
        observed: &mut ObservedSystem<'_, '_, '_>,
        test: &Test,
        path: &UserPath,
    ) -> Result<(), Error> {
        let shown = path.shown().display();
        observed.console.out("");
        observed.console.out(format_args!("SAVING TEST AS {shown}"));
        test_file::save(observed.system, test, path)
    }

    /// Returns the path of a test's final form: `X.test`, or `X.0.test`, `X.1.test` and so on if
    /// there may be several.
    fn final_path(&self) -> UserPath {
        if !self.tool.multiple {
            return self.files.output.clone();
        }
        let number = self.distinct.len();
        self.files.output.renamed(|name| {
            let (stem, ending) = match name.split_once(".test") {
                Some((stem, _)) => (stem, ".test"),
                None => (name, ""),
            };
            format!("{stem}.{number}{ending}")
        })
    }

    /// Reduces a test, and normalizes and generalizes it if requested.
    fn simplify<'s, 'py, 'c>(
        &self,
        observed: &mut ObservedSystem<'s, 'py, 'c>,
        test: &Test,
        mut goal: Box<dyn ShrinkGoal<ObservedSystem<'s, 'py, 'c>>>,
    ) -> Result<Test, CommandError> {
        observed
            .console
            .out(format_args!("Original test has {} steps", test.len()));
        if self.tool.full {
            return Ok(test.clone());
        }
        observed.console.out("REDUCING...");
        observed.console.flush();
        let started = Instant::now();
        observed.is_observed = false;
        observed.system.set_output(OutputMode::Drop)?;
        observed.system.call_hook(Hook::BeforeReduce);
        let simplified = self.reduce(observed, test, &mut *goal);
        observed.system.call_hook(Hook::AfterReduce);
        observed.system.set_output(self.tool.shown_output())?;
        observed.is_observed = true;
        if let Some(collector) = observed.system.coverage() {
            // Coverage of candidates is still new for later tests.
            collector.take_new();
        }
        observed.times.reducing += started.elapsed();
        match simplified {
            Ok(test) => Ok(test),
            Err(ReduceError::NotReproduced(_)) => {
                let message =
                    "THE TEST DOES NOT DO THE SAME WHEN IT IS RUN AGAIN, SO IT STAYS AS IT IS";
                observed.console.out(message);
                Ok(test.clone())
            }
            Err(ReduceError::Error(error)) => Err(error.into()),
        }
    }

    /// Runs the requested reductions, and prints their results.
    fn reduce<'s, 'py, 'c>(
        &self,
        observed: &mut ObservedSystem<'s, 'py, 'c>,
        test: &Test,
        goal: &mut dyn ShrinkGoal<ObservedSystem<'s, 'py, 'c>>,
    ) -> Result<Test, ReduceError> {
        let options = self.tool.reduce_options();
        let catalog = observed.actions().clone();
        let started = Instant::now();
        let shrink = |observed: &mut ObservedSystem<'s, 'py, 'c>,
                      goal: &mut dyn ShrinkGoal<ObservedSystem<'s, 'py, 'c>>,
                      test: &Test,
                      normalize: bool| {
            let mut proceed = || !testwright_python::is_interrupted();
            let mut shrinker = Shrinker::new(observed, goal, &options, &mut proceed);
            let shrunk = if normalize {
                shrinker.normalize(
                    test,
                    &NormalizeOptions {
                        speed: speed(&self.tool.speed),
                        no_reassigns: self.tool.no_reassign,
                        max_text_distance: None,
                    },
                )
            } else {
                shrinker.reduce(test)
            };
            shrunk.map(|shrunk| shrunk.test)
        };
        let mut test = shrink(observed, goal, test, false)?;
        tstl_text::print_test(observed.console, &catalog, &test);
        observed
            .console
            .out(format_args!("Reduced test has {} steps", test.len()));
        let time = tstl_text::seconds(started.elapsed());
        observed
            .console
            .out(format_args!("REDUCED IN {time} SECONDS"));
        self.save(observed, &test, "reduced")?;
        if self.tool.normalize {
            let started = Instant::now();
            observed.console.out("NORMALIZING...");
            observed.console.flush();
            test = shrink(observed, goal, &test, true)?;
            observed
                .console
                .out(format_args!("Normalized test has {} steps", test.len()));
            let time = tstl_text::seconds(started.elapsed());
            observed
                .console
                .out(format_args!("NORMALIZED IN {time} SECONDS"));
            self.save(observed, &test, "normalized")?;
        }
        if self.tool.generalize && self.distinct.iter().all(|known| known.test != test) {
            let started = Instant::now();
            observed.console.out("GENERALIZING...");
            observed.console.flush();
            let text = generalization(observed, goal, &test, &options, true)?;
            observed.console.out(text.trim_end());
            let time = tstl_text::seconds(started.elapsed());
            observed
                .console
                .out(format_args!("GENERALIZED IN {time} SECONDS"));
        }
        Ok(test)
    }

    /// Replays a test with all its output. Returns its failure, the exception and the coverage.
    fn replay_visibly(
        &self,
        observed: &mut ObservedSystem<'_, '_, '_>,
        test: &Test,
    ) -> Result<(Option<Failure>, String, Option<Coverage>), CommandError> {
        observed
            .console
            .out("FINAL VERSION OF TEST, WITH LOGGED REPLAY:");
        if self.tool.failed_logging.is_some() {
            observed.system.set_log(self.tool.failed_logging);
        }
        let mut printer = ReplayPrinter {
            step_printer: (!self.tool.silent_fail).then(|| StepPrinter::new(self.tool.hide_opaque)),
            index: 0,
            error: None,
        };
        let options = ReplayOptions {
            check: !self.tool.no_check,
        };
        observed.is_observed = false;
        let trace = replay(observed, test, &options, &mut printer)?;
        observed.is_observed = true;
        if let Some(error) = printer.error {
            return Err(error.into());
        }
        if self.tool.failed_logging.is_some() {
            observed.system.set_log(self.tool.logging);
        }
        let failure = trace.failure().cloned();
        let tuple = failure
            .as_ref()
            .map(|failure| observed.system.exception_tuple(&failure.message));
        let covered = observed
            .system
            .coverage()
            .map(|_| observed.system.touched());
        if let Some(collector) = observed.system.coverage() {
            collector.take_new();
        }
        Ok((failure, tuple.unwrap_or_default(), covered))
    }
}

/// Prints a test while it runs.
struct ReplayPrinter {
    step_printer: Option<StepPrinter>,
    index: usize,
    error: Option<Error>,
}

impl<'s, 'py, 'c> ReplayWatcher<ObservedSystem<'s, 'py, 'c>> for ReplayPrinter {
    fn proceed(&mut self) -> bool {
        self.error.is_none() && !testwright_python::is_interrupted()
    }

    fn before_step(&mut self, observed: &mut ObservedSystem<'s, 'py, 'c>, action: ActionId) {
        if self.index == 0 && observed.system.coverage().is_some() {
            self.error = observed.system.reset_touched().err();
        }
        let line = tstl_text::numbered_step(&observed.actions().text(action), self.index);
        self.index += 1;
        observed.console.out(line);
        observed.console.flush();
        if let Some(step_printer) = &mut self.step_printer {
            step_printer.begin(observed.console, observed.system, action);
        }
    }

    fn after_step(&mut self, observed: &mut ObservedSystem<'s, 'py, 'c>, event: &TraceEvent) {
        if let Some(step_printer) = &mut self.step_printer {
            step_printer.end(observed.console, observed.system, event);
        }
        for line in observed.system.take_log() {
            observed.console.out(line);
        }
    }
}
