//! The goal that a test must reach throughout its reduction.

use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::{ShrinkGoal, Touches, TouchesMore};
use testwright_core::{Coverage, Covered, Error, Failure, Test};
use testwright_python::PythonSystem;

use super::ReducerTool;
use crate::CommandError;
use crate::compat::covered_code::statement_lines;
use crate::compat::goals::{self, FailureRateGoal, NondeterminismGoal, Sandbox, SandboxGoal};
use crate::compat::tstl_text;
use crate::console::Console;
use crate::coverage::FirstStepWatcher;

impl ReducerTool {
    /// Returns the goal that the options describe.
    pub(super) fn goal<'py>(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'py>,
        test: &Test,
    ) -> Result<Box<dyn ShrinkGoal<PythonSystem<'py>>>, CommandError> {
        let check = !self.no_check;
        if self.coverage || self.cover_more || self.decompose {
            let covered = self.covered(console, system, test)?;
            return Ok(if self.cover_more {
                Box::new(TouchesMore(covered))
            } else {
                Box::new(Touches(covered))
            });
        }
        if self.check_process_determinism {
            return Ok(Box::new(Sandbox::new(
                SandboxGoal::Differ,
                check,
                self.timeout,
            )?));
        }
        if self.check_determinism || self.check_step_determinism {
            let first = self.determinism_delay0.unwrap_or_default();
            return Ok(Box::new(NondeterminismGoal {
                compares_each_step: self.check_step_determinism,
                tries: self.determinism_tries,
                delays: [first, self.determinism_delay],
                check,
            }));
        }
        if self.sandbox {
            return Ok(Box::new(Sandbox::new(
                SandboxGoal::Fail,
                check,
                self.timeout,
            )?));
        }
        let like = if self.match_exception {
            Some(self.failure(console, system, test)?)
        } else {
            None
        };
        Ok(match self.probability {
            None => goals::failure_goal(like.as_ref()),
            Some(probability) => Box::new(FailureRateGoal {
                expected: like,
                probability,
                samples: self.samples,
                replications: self.replications,
                check,
            }),
        })
    }

    /// Runs the test and returns its failure.
    fn failure(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        test: &Test,
    ) -> Result<Failure, CommandError> {
        console.out("EXECUTING TEST TO OBTAIN FAILURE FOR EXCEPTION MATCHING...");
        let options = ReplayOptions {
            check: !self.no_check,
        };
        let trace = replay(system, test, &options, &mut ())?;
        let Some(failure) = trace.failure() else {
            let error = Error::new("the test does not fail, so there is no exception to match")
                .with_help("`tstl_replay TEST --verbose` shows what it does");
            return Err(error.into());
        };
        tstl_text::print_error(console, &system.exception_tuple(&failure.message), failure);
        Ok(failure.clone())
    }

    /// Runs the test and returns its coverage.
    fn covered(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        test: &Test,
    ) -> Result<Coverage, CommandError> {
        if system.coverage().is_none() {
            let error = Error::new("the harness was compiled without coverage")
                .with_help("compile it again, without --noCover");
            return Err(error.into());
        }
        console.out("EXECUTING TEST TO OBTAIN COVERAGE FOR CAUSE REDUCTION...");
        let options = ReplayOptions {
            check: !self.no_check,
        };
        let mut watcher = FirstStepWatcher::default();
        replay(system, test, &options, &mut watcher)?;
        if let Some(error) = watcher.error {
            return Err(error.into());
        }
        let covered = system.touched();
        if let Some(collector) = system.coverage() {
            let statements = statement_lines(collector, covered.iter());
            console.out(format_args!(
                "PRESERVING {} BRANCHES AND {} STATEMENTS",
                covered.len(),
                statements.len()
            ));
        }
        Ok(covered)
    }
}
