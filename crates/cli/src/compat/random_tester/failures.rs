//! A failing test: told, reduced, saved, and shown once more.

use std::time::Instant;

use testwright_core::generate::Found;
use testwright_core::replay::{ReplayOptions, Watcher, replay};
use testwright_core::shrink::{Goal, NormalizeOptions, ReduceError, Shrinker, Touches};
use testwright_core::{ActionId, Coverage, Covered, Error, Event, Failure, System, TargetId, Test};
use testwright_python::{Hook, Output};

use super::RandomTester;
use super::observed::Observed;
use super::session::Places;
use crate::Trouble;
use crate::compat::generalizer::generalization;
use crate::compat::reducer::speed;
use crate::compat::words::{self, Narration};
use crate::compat::{goals, test_file};
use crate::files::Place;

/// All failing tests.
pub(super) struct Failures<'t> {
    tool: &'t RandomTester,
    places: &'t Places,
    /// How many tests failed.
    pub(super) count: u64,
    /// How many of them became one that was known.
    pub(super) repeats: u64,
    pub(super) distinct: Vec<Known>,
}

/// A failing test that is like no other.
pub(super) struct Known {
    pub(super) test: Test,
    pub(super) tuple: String,
    pub(super) failure: Failure,
}

/// A place in the code that somebody waits for, and that a test covered.
pub(super) struct Hit {
    /// `BRANCH` or `STATEMENT`.
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) target: TargetId,
}

impl<'t> Failures<'t> {
    pub(super) fn new(tool: &'t RandomTester, places: &'t Places) -> Failures<'t> {
        Failures {
            tool,
            places,
            count: 0,
            repeats: 0,
            distinct: Vec::new(),
        }
    }

    /// Takes in a failing test; what its final form covers, if that is measured.
    pub(super) fn take_in(
        &mut self,
        observed: &mut Observed<'_, '_, '_>,
        found: Found,
        tuple: String,
    ) -> Result<Option<Coverage>, Trouble> {
        self.count += 1;
        observed.system.flush();
        let of_check = words::is_of_check(&found.failure);
        observed.console.say(if of_check {
            "PROPERLY VIOLATION"
        } else {
            "UNCAUGHT EXCEPTION"
        });
        words::say_error(observed.console, &tuple, &found.failure);
        self.save(observed, &found.test, "full")?;
        let like = (!self.tool.no_exception_match).then_some(&found.failure);
        let test = self.simplified(observed, &found.test, goals::fail(like))?;
        let is_known = self.distinct.iter().any(|known| known.test == test);
        if !is_known {
            let place = self.final_place();
            self.save_as(observed, &test, &place)?;
        }
        let (failure, tuple, covered) = self.show(observed, &test)?;
        let Some(failure) = failure else {
            observed.console.say("NO FAILURE!");
            observed
                .console
                .say("THE SYSTEM DEPENDS ON SOMETHING BESIDES THE TEST");
            return Ok(covered);
        };
        words::say_error(observed.console, &tuple, &failure);
        if is_known {
            self.repeats += 1;
            let message = "NEW FAILURE IS IDENTICAL TO PREVIOUSLY FOUND FAILURE, NOT STORING";
            observed.console.say(message);
        } else {
            self.distinct.push(Known {
                test,
                tuple,
                failure,
            });
            if self.tool.multiple {
                let number = self.distinct.len();
                observed.console.say(format_args!(
                    "FAILURE IS NEW, STORING; NOW {number} DISTINCT FAILURES"
                ));
            }
        }
        observed.console.flush();
        Ok(covered)
    }

    /// Takes in a test that covered what somebody waits for.
    pub(super) fn take_in_hit(
        &mut self,
        observed: &mut Observed<'_, '_, '_>,
        test: &Test,
        hit: Hit,
    ) -> Result<(), Trouble> {
        self.count += 1;
        let Hit { kind, name, target } = hit;
        observed.console.say(format_args!("HIT {kind}: {name}"));
        self.save(observed, test, "full")?;
        let wanted: Coverage = [target].into_iter().collect();
        let test = self.simplified(observed, test, Box::new(Touches(wanted)))?;
        let place = self.final_place();
        self.save_as(observed, &test, &place)?;
        self.show(observed, &test)?;
        observed.console.say(format_args!(
            "STOPPING TESTING DUE TO HITTING {kind} TARGET"
        ));
        Ok(())
    }

    /// `X.full.test`, say, for `X.test`.
    fn save(&self, observed: &Observed<'_, '_, '_>, test: &Test, word: &str) -> Result<(), Error> {
        let place = self
            .places
            .output
            .renamed(|name| name.replace(".test", &format!(".{word}.test")));
        test_file::save(observed.system, test, &place)
    }

    fn save_as(
        &self,
        observed: &mut Observed<'_, '_, '_>,
        test: &Test,
        place: &Place,
    ) -> Result<(), Error> {
        let shown = place.shown().display();
        observed.console.say("");
        observed.console.say(format_args!("SAVING TEST AS {shown}"));
        test_file::save(observed.system, test, place)
    }

    /// Where the final form of a test goes: `X.test`, or `X.0.test`, `X.1.test` and so on if there may be several.
    fn final_place(&self) -> Place {
        if !self.tool.multiple {
            return self.places.output.clone();
        }
        let number = self.distinct.len();
        self.places.output.renamed(|name| {
            let (stem, ending) = match name.split_once(".test") {
                Some((stem, _)) => (stem, ".test"),
                None => (name, ""),
            };
            format!("{stem}.{number}{ending}")
        })
    }

    /// The test as short and simple as is wanted.
    fn simplified<'s, 'py, 'c>(
        &self,
        observed: &mut Observed<'s, 'py, 'c>,
        test: &Test,
        mut goal: Box<dyn Goal<Observed<'s, 'py, 'c>>>,
    ) -> Result<Test, Trouble> {
        observed
            .console
            .say(format_args!("Original test has {} steps", test.len()));
        if self.tool.full {
            return Ok(test.clone());
        }
        observed.console.say("REDUCING...");
        observed.console.flush();
        let started = Instant::now();
        observed.is_observed = false;
        observed.system.set_output(Output::Drop)?;
        observed.system.call_hook(Hook::BeforeReduce);
        let simplified = self.reduce(observed, test, &mut *goal);
        observed.system.call_hook(Hook::AfterReduce);
        observed.system.set_output(self.tool.shown_output())?;
        observed.is_observed = true;
        if let Some(collector) = observed.system.coverage() {
            // What candidates covered is for later tests to find.
            collector.take_new();
        }
        observed.times.reducing += started.elapsed();
        match simplified {
            Ok(test) => Ok(test),
            Err(ReduceError::NotReproduced(_)) => {
                let message =
                    "THE TEST DOES NOT DO THE SAME WHEN IT IS RUN AGAIN, SO IT STAYS AS IT IS";
                observed.console.say(message);
                Ok(test.clone())
            }
            Err(ReduceError::Error(error)) => Err(error.into()),
        }
    }

    fn reduce<'s, 'py, 'c>(
        &self,
        observed: &mut Observed<'s, 'py, 'c>,
        test: &Test,
        goal: &mut dyn Goal<Observed<'s, 'py, 'c>>,
    ) -> Result<Test, ReduceError> {
        let options = self.tool.reduce_options();
        let catalog = observed.actions().clone();
        let started = Instant::now();
        let shrink = |observed: &mut Observed<'s, 'py, 'c>,
                      goal: &mut dyn Goal<Observed<'s, 'py, 'c>>,
                      test: &Test,
                      normalize: bool| {
            let mut proceed = || !testwright_python::interrupted();
            let mut shrinker = Shrinker::new(observed, goal, &options, &mut proceed);
            let shrunk = if normalize {
                shrinker.normalize(
                    test,
                    &NormalizeOptions {
                        speed: speed(&self.tool.speed),
                        no_reassigns: self.tool.no_reassign,
                        furthest: None,
                    },
                )
            } else {
                shrinker.reduce(test)
            };
            shrunk.map(|shrunk| shrunk.test)
        };
        let mut test = shrink(observed, goal, test, false)?;
        words::say_test(observed.console, &catalog, &test);
        observed
            .console
            .say(format_args!("Reduced test has {} steps", test.len()));
        let time = words::seconds(started.elapsed());
        observed
            .console
            .say(format_args!("REDUCED IN {time} SECONDS"));
        self.save(observed, &test, "reduced")?;
        if self.tool.normalize {
            let started = Instant::now();
            observed.console.say("NORMALIZING...");
            observed.console.flush();
            test = shrink(observed, goal, &test, true)?;
            observed
                .console
                .say(format_args!("Normalized test has {} steps", test.len()));
            let time = words::seconds(started.elapsed());
            observed
                .console
                .say(format_args!("NORMALIZED IN {time} SECONDS"));
            self.save(observed, &test, "normalized")?;
        }
        if self.tool.generalize && self.distinct.iter().all(|known| known.test != test) {
            let started = Instant::now();
            observed.console.say("GENERALIZING...");
            observed.console.flush();
            let text = generalization(observed, goal, &test, &options, true)?;
            observed.console.say(text.trim_end());
            let time = words::seconds(started.elapsed());
            observed
                .console
                .say(format_args!("GENERALIZED IN {time} SECONDS"));
        }
        Ok(test)
    }

    /// Runs a test once more for everybody to see: how it fails, its exception, and what it covers.
    fn show(
        &self,
        observed: &mut Observed<'_, '_, '_>,
        test: &Test,
    ) -> Result<(Option<Failure>, String, Option<Coverage>), Trouble> {
        observed
            .console
            .say("FINAL VERSION OF TEST, WITH LOGGED REPLAY:");
        if self.tool.failed_logging.is_some() {
            observed.system.set_log(self.tool.failed_logging);
        }
        let mut viewer = Viewer {
            narration: (!self.tool.silent_fail).then(|| Narration::new(self.tool.hide_opaque)),
            index: 0,
            trouble: None,
        };
        let options = ReplayOptions {
            check: !self.tool.no_check,
        };
        observed.is_observed = false;
        let trace = replay(observed, test, &options, &mut viewer)?;
        observed.is_observed = true;
        if let Some(error) = viewer.trouble {
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

/// Shows a test while it runs.
struct Viewer {
    narration: Option<Narration>,
    index: usize,
    trouble: Option<Error>,
}

impl<'s, 'py, 'c> Watcher<Observed<'s, 'py, 'c>> for Viewer {
    fn proceed(&mut self) -> bool {
        self.trouble.is_none() && !testwright_python::interrupted()
    }

    fn before(&mut self, observed: &mut Observed<'s, 'py, 'c>, action: ActionId) {
        if self.index == 0 && observed.system.coverage().is_some() {
            self.trouble = observed.system.begin_anew().err();
        }
        let line = words::step(&observed.actions().text(action), self.index);
        self.index += 1;
        observed.console.say(line);
        observed.console.flush();
        if let Some(narration) = &mut self.narration {
            narration.begin(observed.console, observed.system, action);
        }
    }

    fn after(&mut self, observed: &mut Observed<'s, 'py, 'c>, event: &Event) {
        if let Some(narration) = &mut self.narration {
            narration.end(observed.console, observed.system, event);
        }
        for line in observed.system.take_log() {
            observed.console.say(line);
        }
    }
}
