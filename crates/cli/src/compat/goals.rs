//! What a test must still do after it was made simpler, besides failing and covering.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::thread;
use std::time::Duration;

use testwright_core::analyse::determinism::check_determinism;
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::{AnyFailure, Basis, Goal, SameFailure};
use testwright_core::{Error, Event, Failure, Fingerprint, Likeness, System, Test, Trace};
use testwright_python::PythonSystem;

use super::test_file;
use crate::alone::{self, Ended};
use crate::files::Place;

/// To fail like this, or in any way.
pub(super) fn fail<S: System + ?Sized>(like: Option<&Failure>) -> Box<dyn Goal<S>> {
    match like {
        Some(failure) => Box::new(SameFailure(failure.clone())),
        None => Box::new(AnyFailure),
    }
}

/// To do something else when it is run again.
pub(super) struct Differs {
    /// Compare what can be done after each step, too, not only the states at the end.
    pub(super) each_step: bool,
    pub(super) tries: usize,
    /// Before the first run, and before each other one.
    pub(super) delays: [Duration; 2],
    pub(super) check: bool,
}

impl Differs {
    /// Whether two runs of a test differ.
    pub(super) fn is_seen<S: Fingerprint + ?Sized>(
        &self,
        system: &mut S,
        test: &Test,
    ) -> Result<bool, Error> {
        let options = ReplayOptions { check: self.check };
        if self.each_step {
            let mut proceed = || !testwright_python::interrupted();
            let difference = check_determinism(system, test, self.tries, &options, &mut proceed)?;
            if difference.is_some() {
                return Ok(true);
            }
        }
        let mut run = |delay: Duration| -> Result<(Vec<Event>, Option<u128>), Error> {
            thread::sleep(delay);
            let trace = replay(system, test, &options, &mut ())?;
            // What cannot be told apart is not compared.
            let state = system.fingerprint(Likeness::Equal).ok();
            Ok((trace.events, state))
        };
        let [first, other] = self.delays;
        let (events, state) = run(first)?;
        for _ in 0..self.tries {
            let (other_events, other_state) = run(other)?;
            let is_same = |(one, other): (&Event, &Event)| one.is_same_as(other);
            let same_events =
                events.len() == other_events.len() && events.iter().zip(&other_events).all(is_same);
            if !same_events || state != other_state {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl<S: Fingerprint + ?Sized> Goal<S> for Differs {
    fn basis(&self) -> Basis {
        Basis::Test
    }

    fn is_achieved(&mut self, system: &mut S, test: &Test, _: &Trace) -> Result<bool, Error> {
        self.is_seen(system, test)
    }
}

/// To fail often enough.
pub(super) struct FailsOften {
    pub(super) like: Option<Failure>,
    pub(super) probability: f64,
    pub(super) samples: usize,
    pub(super) replications: usize,
    pub(super) check: bool,
}

impl<S: System + ?Sized> Goal<S> for FailsOften {
    fn basis(&self) -> Basis {
        Basis::Test
    }

    fn is_achieved(&mut self, system: &mut S, test: &Test, _: &Trace) -> Result<bool, Error> {
        let options = ReplayOptions { check: self.check };
        for _ in 0..self.replications.max(1) {
            let mut failed = 0;
            for _ in 0..self.samples {
                let trace = replay(system, test, &options, &mut ())?;
                let is_meant = |failure: &Failure| {
                    let like = self.like.as_ref();
                    like.is_none_or(|like| failure.is_same_as(like))
                };
                failed += usize::from(trace.failure().is_some_and(is_meant));
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
    test: Place,
    output: Place,
    check: bool,
    patience: Option<Duration>,
    what: What,
}

/// What a test is to do in a process of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// To fail, crash, or take too long.
    Fail,
    /// To show other values in another process.
    Differ,
}

impl Sandbox {
    pub(super) fn new(
        what: What,
        check: bool,
        patience: Option<Duration>,
    ) -> Result<Sandbox, Error> {
        let place = |ending: &str| {
            let name = format!("testwright-{}.{ending}", std::process::id());
            Place::new(&std::env::temp_dir().join(name))
        };
        Ok(Sandbox {
            test: place("test")?,
            output: place("out")?,
            check,
            patience,
            what,
        })
    }

    /// Whether a test does what it is to do.
    pub(super) fn is_achieved_by(
        &self,
        system: &PythonSystem<'_>,
        test: &Test,
    ) -> Result<bool, Error> {
        if test.is_empty() {
            return Ok(false);
        }
        test_file::save(system, test, &self.test)?;
        let achieved = match self.what {
            What::Fail => {
                let mut words = self.words(system);
                words.extend((!self.check).then_some(OsStr::new("--no-check")));
                match alone::run(system, &words, self.patience) {
                    Some(Ended::Status(status)) => Ok(status != 0),
                    Some(Ended::Crashed | Ended::Late) => Ok(true),
                    None => Err(Error::new(
                        "the test could not be run in a process of its own",
                    )),
                }
            }
            What::Differ => {
                let one = self.printed(system)?;
                let other = self.printed(system)?;
                Ok(one != other)
            }
        };
        // They are in nobody's way.
        let _ = fs::remove_file(self.test.absolute());
        let _ = fs::remove_file(self.output.absolute());
        achieved
    }

    fn words<'a>(&'a self, system: &'a PythonSystem<'_>) -> Vec<&'a OsStr> {
        vec![
            OsStr::new("replay"),
            self.test.absolute().as_os_str(),
            OsStr::new("--harness"),
            system.file().as_os_str(),
        ]
    }

    /// All that a replay shows, without addresses.
    fn printed(&self, system: &PythonSystem<'_>) -> Result<String, Error> {
        let path = self.output.absolute();
        let unusable = |error| Error::new(format!("cannot use `{}`: {error}", path.display()));
        let file = File::create(path).map_err(unusable)?;
        let mut words = self.words(system);
        words.push(OsStr::new("--verbose"));
        match alone::run_with_other_hashes(system, &words, file) {
            Some(_) => fs::read_to_string(path).map_err(unusable),
            None => Err(Error::new(
                "the test could not be run in a process of its own",
            )),
        }
    }
}

impl<'py> Goal<PythonSystem<'py>> for Sandbox {
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
