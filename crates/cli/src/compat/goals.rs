//! Goals of reduction that the core does not have: nondeterminism, failure rates, and runs in other
//! processes.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::thread;
use std::time::Duration;

use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::{AnyFailure, Basis, SameFailure, ShrinkGoal};
use testwright_core::{Equivalence, Error, Failure, Fingerprint, System, Test, Trace, TraceEvent};
use testwright_core::{analyse::determinism::check_determinism, describe_os_error};
use testwright_python::PythonSystem;

use super::test_file;
use crate::ExitStatus;
use crate::files::UserPath;
use crate::subprocess::{self, ProcessEnd};

/// Returns the goal to fail like a given failure, or in any way.
pub(super) fn failure_goal<S: System + ?Sized>(
    expected: Option<&Failure>,
) -> Box<dyn ShrinkGoal<S>> {
    match expected {
        Some(failure) => Box::new(SameFailure(failure.clone())),
        None => Box::new(AnyFailure),
    }
}

/// The goal that a test behaves differently when it is run again.
pub(super) struct NondeterminismGoal {
    /// Compare the enabled actions after each step, too, not only the states at the end.
    pub(super) compares_each_step: bool,
    /// The number of repetitions.
    pub(super) tries: usize,
    /// The delays before the first run, and before each repetition.
    pub(super) delays: [Duration; 2],
    /// Check properties after each step.
    pub(super) check: bool,
}

impl NondeterminismGoal {
    /// Returns true if two runs of a test differ.
    pub(super) fn is_nondeterministic<S: Fingerprint + ?Sized>(
        &self,
        system: &mut S,
        test: &Test,
    ) -> Result<bool, Error> {
        let options = ReplayOptions { check: self.check };
        if self.compares_each_step {
            let mut proceed = || !testwright_python::is_interrupted();
            let difference = check_determinism(system, test, self.tries, &options, &mut proceed)?;
            if difference.is_some() {
                return Ok(true);
            }
        }
        let mut run = |delay: Duration| -> Result<(Vec<TraceEvent>, Option<u128>), Error> {
            thread::sleep(delay);
            let trace = replay(system, test, &options, &mut ())?;
            // States without a fingerprint are not compared.
            let state = system.fingerprint(Equivalence::Equal).ok();
            Ok((trace.events, state))
        };
        let [first, other] = self.delays;
        let (events, state) = run(first)?;
        for _ in 0..self.tries {
            let (other_events, other_state) = run(other)?;
            let is_same = |(one, other): (&TraceEvent, &TraceEvent)| one.is_same_as(other);
            let same_events =
                events.len() == other_events.len() && events.iter().zip(&other_events).all(is_same);
            if !same_events || state != other_state {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl<S: Fingerprint + ?Sized> ShrinkGoal<S> for NondeterminismGoal {
    fn basis(&self) -> Basis {
        Basis::Test
    }

    fn is_achieved(&mut self, system: &mut S, test: &Test, _: &Trace) -> Result<bool, Error> {
        self.is_nondeterministic(system, test)
    }
}

/// The goal that a test fails with a given probability.
pub(super) struct FailureRateGoal {
    /// The failure to look for; `None` for any.
    pub(super) expected: Option<Failure>,
    /// The minimum fraction of runs that fail.
    pub(super) probability: f64,
    /// The number of runs for one estimate.
    pub(super) samples: usize,
    /// The number of estimates, which must all reach the probability.
    pub(super) replications: usize,
    /// Check properties after each step.
    pub(super) check: bool,
}

impl<S: System + ?Sized> ShrinkGoal<S> for FailureRateGoal {
    fn basis(&self) -> Basis {
        Basis::Test
    }

    fn is_achieved(&mut self, system: &mut S, test: &Test, _: &Trace) -> Result<bool, Error> {
        let options = ReplayOptions { check: self.check };
        for _ in 0..self.replications.max(1) {
            let mut failed = 0;
            for _ in 0..self.samples {
                let trace = replay(system, test, &options, &mut ())?;
                let is_match = |failure: &Failure| {
                    let expected = self.expected.as_ref();
                    expected.is_none_or(|expected| failure.is_same_as(expected))
                };
                failed += usize::from(trace.failure().is_some_and(is_match));
            }
            if (failed as f64) < self.probability * self.samples as f64 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Runs tests in processes of their own.
pub(super) struct Sandbox {
    /// The temporary file for a test.
    test: UserPath,
    /// The temporary file for the output.
    output: UserPath,
    /// Check properties after each step.
    check: bool,
    /// The time limit of a process, if there is one.
    timeout: Option<Duration>,
    /// The goal of a test.
    goal: SandboxGoal,
}

/// The goal of a test in a process of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SandboxGoal {
    /// The test fails, crashes or takes too long.
    Fail,
    /// The test shows other values in another process.
    Differ,
}

impl Sandbox {
    /// Creates a sandbox. Nothing is written until a test runs.
    pub(super) fn new(
        goal: SandboxGoal,
        check: bool,
        timeout: Option<Duration>,
    ) -> Result<Sandbox, Error> {
        let path = |ending: &str| {
            let name = format!("testwright-{}.{ending}", std::process::id());
            UserPath::new(&std::env::temp_dir().join(name))
        };
        Ok(Sandbox {
            test: path("test")?,
            output: path("out")?,
            check,
            timeout,
            goal,
        })
    }

    /// Returns true if a test achieves the goal.
    pub(super) fn is_achieved_by(
        &self,
        system: &PythonSystem<'_>,
        test: &Test,
    ) -> Result<bool, Error> {
        if test.is_empty() {
            return Ok(false);
        }
        test_file::save(system, test, &self.test)?;
        let achieved = match self.goal {
            SandboxGoal::Fail => {
                let mut arguments = self.arguments(system);
                arguments.extend((!self.check).then_some(OsStr::new("--no-check")));
                match subprocess::run(system, &arguments, self.timeout) {
                    // A test without a step that can be taken is an error.
                    Some(ProcessEnd::Status(status)) => {
                        Ok(status == i32::from(ExitStatus::FailureFound.code()))
                    }
                    Some(ProcessEnd::Crashed | ProcessEnd::TimedOut) => Ok(true),
                    None => Err(Error::new(
                        "the test could not be run in a process of its own",
                    )),
                }
            }
            SandboxGoal::Differ => {
                let one = self.replay_output(system)?;
                let other = self.replay_output(system)?;
                Ok(one != other)
            }
        };
        // Errors do not matter: these are temporary files.
        let _ = fs::remove_file(self.test.absolute());
        let _ = fs::remove_file(self.output.absolute());
        achieved
    }

    /// Returns the arguments of `testwright` that replay the test.
    fn arguments<'a>(&'a self, system: &'a PythonSystem<'_>) -> Vec<&'a OsStr> {
        vec![
            OsStr::new("replay"),
            self.test.absolute().as_os_str(),
            OsStr::new("--harness"),
            system.file().as_os_str(),
        ]
    }

    /// Returns the output of a verbose replay, with a random hash seed.
    fn replay_output(&self, system: &PythonSystem<'_>) -> Result<String, Error> {
        let path = self.output.absolute();
        let unusable = |error| {
            Error::new(format!(
                "cannot use `{}`: {}",
                path.display(),
                describe_os_error(&error)
            ))
        };
        let file = File::create(path).map_err(unusable)?;
        let mut arguments = self.arguments(system);
        arguments.push(OsStr::new("--verbose"));
        match subprocess::run_with_random_hashes(system, &arguments, file) {
            Some(_) => fs::read_to_string(path).map_err(unusable),
            None => Err(Error::new(
                "the test could not be run in a process of its own",
            )),
        }
    }
}

impl<'py> ShrinkGoal<PythonSystem<'py>> for Sandbox {
    fn basis(&self) -> Basis {
        Basis::Test
    }

    fn is_achieved(
        &mut self,
        system: &mut PythonSystem<'py>,
        test: &Test,
        _: &Trace,
    ) -> Result<bool, Error> {
        self.is_achieved_by(system, test)
    }
}
