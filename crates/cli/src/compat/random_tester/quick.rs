//! Quick tests: a short test for each newly covered piece of code, saved at once.

use std::time::Instant;

use testwright_core::analyse::quick::QuickReducer;
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::shrink::ReduceError;
use testwright_core::{Coverage, Error, System, Test};
use testwright_python::OutputMode;

use super::RandomTester;
use super::observed_system::ObservedSystem;
use super::session::SessionFiles;
use crate::CommandError;
use crate::compat::covered_code::CodeNames;
use crate::compat::test_file::{self, TestFile};
use crate::compat::tstl_text;

/// The maximum number of runs. More make a test only slightly shorter.
const MAX_RUNS: u64 = 2_000;

/// The quick tests.
pub(super) struct QuickTests<'t> {
    tool: &'t RandomTester,
    files: &'t SessionFiles,
    /// The number of the next test.
    next_number: u64,
}

impl<'t> QuickTests<'t> {
    /// Starts with number 0.
    pub(super) fn new(tool: &'t RandomTester, files: &'t SessionFiles) -> QuickTests<'t> {
        QuickTests {
            tool,
            files,
            next_number: 0,
        }
    }

    /// Replays the tests of earlier searches that were requested: quick tests and pool tests.
    /// Returns them.
    pub(super) fn read(
        &mut self,
        observed: &mut ObservedSystem<'_, '_, '_>,
    ) -> Result<Vec<Test>, CommandError> {
        let mut tests = Vec::new();
        if let Some(prefix) = &self.tool.read_pool {
            let started = Instant::now();
            for path in test_file::glob(&format!("{prefix}.*.test")) {
                let file = TestFile::read(&path, false)?;
                tests.push(self.replay(observed, &file)?);
            }
            let (number, time) = (tests.len(), tstl_text::seconds(started.elapsed()));
            observed
                .console
                .out(format_args!("READ {number} POOL TESTS IN {time} SECONDS"));
        }
        if self.tool.read_quick {
            let started = Instant::now();
            observed.console.out("REPLAYING QUICK TESTS");
            let prefix = format!("{}.", self.tool.quick_prefix);
            for path in test_file::glob(&format!("{prefix}*.test")) {
                let name = path.display().to_string();
                let number = name
                    .strip_prefix(&prefix)
                    .and_then(|rest| rest.split('.').next());
                if let Some(number) = number.and_then(|number| number.parse::<u64>().ok()) {
                    self.next_number = self.next_number.max(number + 1);
                }
                let file = TestFile::read(&path, false)?;
                tests.push(self.replay(observed, &file)?);
            }
            let console = &mut observed.console;
            console.out(format_args!(
                "EXECUTION TIME: {}",
                tstl_text::seconds(started.elapsed())
            ));
            console.out(format_args!(
                "BRANCH COVERAGE: {}",
                observed.covered_code.branches()
            ));
            console.out(format_args!(
                "STATEMENT COVERAGE: {}",
                observed.covered_code.statements()
            ));
        }
        Ok(tests)
    }

    /// Runs a test, so that its coverage is not new any more.
    fn replay(
        &self,
        observed: &mut ObservedSystem<'_, '_, '_>,
        file: &TestFile,
    ) -> Result<Test, CommandError> {
        let test = file.test(observed.console, observed.system)?;
        let options = ReplayOptions {
            check: !self.tool.no_check,
        };
        replay(observed, &test, &options, &mut ())?;
        observed.end_test();
        observed.reset_counts();
        Ok(test)
    }

    /// Reduces the current test to the code that it was the first to cover, and saves it.
    pub(super) fn save(
        &mut self,
        observed: &mut ObservedSystem<'_, '_, '_>,
        test: &Test,
    ) -> Result<(), CommandError> {
        let Some(collector) = observed.system.coverage() else {
            return Ok(());
        };
        let console = &mut observed.console;
        console.out("Handling new coverage for quick testing");
        let names = CodeNames::new(collector);
        for statement in &observed.new.statements {
            console.out(format_args!(
                "NEW STATEMENT {}",
                names.statement(*statement)
            ));
        }
        for branch in &observed.new.branches {
            console.out(format_args!(
                "NEW BRANCH {}",
                names.branch(collector, *branch)
            ));
        }
        console.out(format_args!("Original test has {} steps", test.len()));
        let targets: Coverage = observed.new.branches.iter().copied().collect();
        let started = Instant::now();
        let reduced = if self.tool.full {
            Some(test.clone())
        } else {
            console.out("REDUCING...");
            console.flush();
            self.reduce(observed, test, &targets)?
        };
        observed.times.reducing += started.elapsed();
        let Some(reduced) = reduced else {
            return Ok(());
        };
        tstl_text::print_test(observed.console, observed.system.actions(), &reduced);
        let console = &mut observed.console;
        console.out(format_args!("Reduced test has {} steps", reduced.len()));
        console.out(format_args!(
            "REDUCED IN {} SECONDS",
            tstl_text::seconds(started.elapsed())
        ));
        let name = format!("{}.{}.test", self.tool.quick_prefix, self.next_number);
        self.next_number += 1;
        console.out("");
        console.out(format_args!("SAVING TEST AS {name}"));
        test_file::save(observed.system, &reduced, &self.files.in_folder(&name))?;
        Ok(())
    }

    /// Reduces a test that covers these targets; `None` if it does not cover them again.
    fn reduce(
        &self,
        observed: &mut ObservedSystem<'_, '_, '_>,
        test: &Test,
        targets: &Coverage,
    ) -> Result<Option<Test>, CommandError> {
        let mut proceed = || !testwright_python::is_interrupted();
        let mut quick = QuickReducer {
            options: self.tool.reduce_options(),
            budget: MAX_RUNS,
            touched_by_loading: Coverage::default(),
            proceed: &mut proceed,
        };
        observed.is_observed = false;
        observed.system.set_output(OutputMode::Drop)?;
        let reduced = quick.reduce(observed, test, targets);
        observed.system.set_output(self.tool.shown_output())?;
        observed.is_observed = true;
        if let Some(collector) = observed.system.coverage() {
            // Coverage of candidates is still new for later tests.
            collector.take_new();
        }
        match reduced {
            Ok(quick) => Ok(quick.map(|quick| quick.test)),
            Err(ReduceError::NotReproduced(_)) => Ok(None),
            Err(ReduceError::Error(error)) => Err(Error::into(error)),
        }
    }
}
