//! Quick tests: a short test for all that is covered, saved as soon as it is.

use std::time::Instant;

use testwright_core::analyse::quick::Quick;
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::ReduceError;
use testwright_core::{Coverage, Error, System, Test};
use testwright_python::Output;

use super::RandomTester;
use super::observed::Observed;
use super::session::Places;
use crate::Trouble;
use crate::compat::tally::Names;
use crate::compat::test_file::{self, TestFile};
use crate::compat::words;

/// More runs than this make a test shorter only by little.
const RUNS: u64 = 2_000;

/// The quick tests.
pub(super) struct QuickTests<'t> {
    tool: &'t RandomTester,
    places: &'t Places,
    /// The number of the next one.
    next: u64,
}

impl<'t> QuickTests<'t> {
    pub(super) fn new(tool: &'t RandomTester, places: &'t Places) -> QuickTests<'t> {
        QuickTests {
            tool,
            places,
            next: 0,
        }
    }

    /// Replays the tests of earlier searches that are to be read: quick tests, and those to go on from.
    pub(super) fn read(
        &mut self,
        observed: &mut Observed<'_, '_, '_>,
    ) -> Result<Vec<Test>, Trouble> {
        let mut tests = Vec::new();
        if let Some(prefix) = &self.tool.read_pool {
            let started = Instant::now();
            for path in test_file::matching(&format!("{prefix}.*.test")) {
                let file = TestFile::read(&path, false)?;
                tests.push(self.replay(observed, &file)?);
            }
            let (number, time) = (tests.len(), words::seconds(started.elapsed()));
            observed
                .console
                .say(format_args!("READ {number} POOL TESTS IN {time} SECONDS"));
        }
        if self.tool.read_quick {
            let started = Instant::now();
            observed.console.say("REPLAYING QUICK TESTS");
            let prefix = format!("{}.", self.tool.quick_prefix);
            for path in test_file::matching(&format!("{prefix}*.test")) {
                let name = path.display().to_string();
                let number = name
                    .strip_prefix(&prefix)
                    .and_then(|rest| rest.split('.').next());
                if let Some(number) = number.and_then(|number| number.parse::<u64>().ok()) {
                    self.next = self.next.max(number + 1);
                }
                let file = TestFile::read(&path, false)?;
                tests.push(self.replay(observed, &file)?);
            }
            let console = &mut observed.console;
            console.say(format_args!(
                "EXECUTION TIME: {}",
                words::seconds(started.elapsed())
            ));
            console.say(format_args!(
                "BRANCH COVERAGE: {}",
                observed.tally.branches()
            ));
            console.say(format_args!(
                "STATEMENT COVERAGE: {}",
                observed.tally.statements()
            ));
        }
        Ok(tests)
    }

    /// Runs a test, so that what it covers is not new any more.
    fn replay(
        &self,
        observed: &mut Observed<'_, '_, '_>,
        file: &TestFile,
    ) -> Result<Test, Trouble> {
        let test = file.test(observed.console, observed.system)?;
        let options = ReplayOptions {
            check: !self.tool.no_check,
        };
        replay(observed, &test, &options, &mut ())?;
        observed.end_test();
        observed.forget_steps();
        Ok(test)
    }

    /// Makes the current test short for what it was the first to cover, and saves it.
    pub(super) fn save(
        &mut self,
        observed: &mut Observed<'_, '_, '_>,
        test: &Test,
    ) -> Result<(), Trouble> {
        let Some(collector) = observed.system.coverage() else {
            return Ok(());
        };
        let console = &mut observed.console;
        console.say("Handling new coverage for quick testing");
        let names = Names::new(collector);
        for statement in &observed.new.statements {
            console.say(format_args!(
                "NEW STATEMENT {}",
                names.statement(*statement)
            ));
        }
        for branch in &observed.new.branches {
            console.say(format_args!(
                "NEW BRANCH {}",
                names.branch(collector, *branch)
            ));
        }
        console.say(format_args!("Original test has {} steps", test.len()));
        let targets: Coverage = observed.new.branches.iter().copied().collect();
        let started = Instant::now();
        let reduced = if self.tool.full {
            Some(test.clone())
        } else {
            console.say("REDUCING...");
            console.flush();
            self.reduced(observed, test, &targets)?
        };
        observed.times.reducing += started.elapsed();
        let Some(reduced) = reduced else {
            return Ok(());
        };
        words::say_test(observed.console, observed.system.actions(), &reduced);
        let console = &mut observed.console;
        console.say(format_args!("Reduced test has {} steps", reduced.len()));
        console.say(format_args!(
            "REDUCED IN {} SECONDS",
            words::seconds(started.elapsed())
        ));
        let name = format!("{}.{}.test", self.tool.quick_prefix, self.next);
        self.next += 1;
        console.say("");
        console.say(format_args!("SAVING TEST AS {name}"));
        test_file::save(observed.system, &reduced, &self.places.in_folder(&name))?;
        Ok(())
    }

    fn reduced(
        &self,
        observed: &mut Observed<'_, '_, '_>,
        test: &Test,
        targets: &Coverage,
    ) -> Result<Option<Test>, Trouble> {
        let mut proceed = || !testwright_python::interrupted();
        let mut quick = Quick {
            options: self.tool.reduce_options(),
            budget: RUNS,
            loaded: Coverage::default(),
            proceed: &mut proceed,
        };
        observed.is_observed = false;
        observed.system.set_output(Output::Drop)?;
        let reduced = quick.reduce(observed, test, targets);
        observed.system.set_output(self.tool.shown_output())?;
        observed.is_observed = true;
        if let Some(collector) = observed.system.coverage() {
            // What candidates covered is for later tests to find.
            collector.take_new();
        }
        match reduced {
            Ok(quick) => Ok(quick.map(|quick| quick.test)),
            Err(ReduceError::NotReproduced(_)) => Ok(None),
            Err(ReduceError::Error(error)) => Err(Error::into(error)),
        }
    }
}
