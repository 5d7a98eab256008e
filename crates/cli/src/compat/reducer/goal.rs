//! What a test must go on doing while it is reduced.

use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::{Goal, Touches, TouchesMore};
use testwright_core::{Coverage, Covered, Error, Failure, Test};
use testwright_python::PythonSystem;

use super::Reducer;
use crate::Trouble;
use crate::compat::goals::{self, Differs, FailsOften, Sandbox, What};
use crate::compat::tally::statements_of;
use crate::compat::words;
use crate::console::Console;
use crate::coverage::FromFirstStep;

impl Reducer {
    /// What the test must go on doing.
    pub(super) fn goal<'py>(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'py>,
        test: &Test,
    ) -> Result<Box<dyn Goal<PythonSystem<'py>>>, Trouble> {
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
            return Ok(Box::new(Sandbox::new(What::Differ, check, self.timeout)?));
        }
        if self.check_determinism || self.check_step_determinism {
            let first = self.determinism_delay0.unwrap_or_default();
            return Ok(Box::new(Differs {
                each_step: self.check_step_determinism,
                tries: self.determinism_tries,
                delays: [first, self.determinism_delay],
                check,
            }));
        }
        if self.sandbox {
            return Ok(Box::new(Sandbox::new(What::Fail, check, self.timeout)?));
        }
        let like = if self.match_exception {
            Some(self.failure(console, system, test)?)
        } else {
            None
        };
        Ok(match self.probability {
            None => goals::fail(like.as_ref()),
            Some(probability) => Box::new(FailsOften {
                like,
                probability,
                samples: self.samples,
                replications: self.replications,
                check,
            }),
        })
    }

    /// How the test fails now.
    fn failure(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        test: &Test,
    ) -> Result<Failure, Trouble> {
        console.say("EXECUTING TEST TO OBTAIN FAILURE FOR EXCEPTION MATCHING...");
        let options = ReplayOptions {
            check: !self.no_check,
        };
        let trace = replay(system, test, &options, &mut ())?;
        let Some(failure) = trace.failure() else {
            let error = Error::new("the test does not fail, so there is no exception to match")
                .with_help("`tstl_replay TEST --verbose` shows what it does");
            return Err(error.into());
        };
        words::say_error(console, &system.exception_tuple(&failure.message), failure);
        Ok(failure.clone())
    }

    /// What the test covers.
    fn covered(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        test: &Test,
    ) -> Result<Coverage, Trouble> {
        if system.coverage().is_none() {
            let error = Error::new("the harness was compiled without coverage")
                .with_help("compile it again, without --noCover");
            return Err(error.into());
        }
        console.say("EXECUTING TEST TO OBTAIN COVERAGE FOR CAUSE REDUCTION...");
        let options = ReplayOptions {
            check: !self.no_check,
        };
        let mut watcher = FromFirstStep::default();
        replay(system, test, &options, &mut watcher)?;
        if let Some(error) = watcher.trouble {
            return Err(error.into());
        }
        let covered = system.touched();
        if let Some(collector) = system.coverage() {
            let statements = statements_of(collector, covered.iter());
            console.say(format_args!(
                "PRESERVING {} BRANCHES AND {} STATEMENTS",
                covered.len(),
                statements.len()
            ));
        }
        Ok(covered)
    }
}
