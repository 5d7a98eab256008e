//! `tstl_regress`: replays many saved tests.

use std::path::{Path, PathBuf};
use std::time::Instant;

use testwright_core::replay::{ReplayOptions, ReplayWatcher, replay};
use testwright_core::{ActionId, Error, Failure, TraceEvent};
use testwright_python::{MeasuredCode, OutputMode, PythonSystem};

use super::covered_code::{CodeNames, CoveredCode, NewlyCovered};
use super::test_file::{self, TestFile};
use super::tstl_text::{self, StepPrinter};
use super::{Invocation, Tool, ToolOutcome};
use crate::CommandError;
use crate::compiled::CompiledModule;
use crate::console::Console;
use crate::coverage::FirstStepWatcher;
use crate::files::UserPath;

/// Rerun saved tests, and print which of them add no coverage
#[derive(clap::Parser)]
#[command(name = "tstl_regress", rename_all = "camelCase")]
pub(super) struct Regression {
    /// The tests
    #[arg(value_name = "TESTS")]
    tests: Vec<PathBuf>,

    /// The tests are patterns with `*` and `?`
    #[arg(long)]
    glob: bool,

    /// Do not check properties
    #[arg(long)]
    no_check: bool,

    /// Write pages of what is covered to this folder
    #[arg(long, value_name = "DIR")]
    html: Option<PathBuf>,

    /// Do not measure coverage
    #[arg(long)]
    no_cover: bool,

    /// Show all values that a step uses
    #[arg(long)]
    verbose: bool,

    /// Print the code that each test is the first to cover
    #[arg(long)]
    running: bool,

    /// Do not stop at a failing test, and end with status 0
    #[arg(long)]
    keep_going: bool,

    /// The tests are in AFL's form
    #[arg(long)]
    afl: bool,

    /// The tests are in AFL's swarm form
    #[arg(long)]
    aflswarm: bool,
}

/// The names of the tests, by their results.
#[derive(Default)]
struct RegressionResults {
    /// Tests that failed.
    failed: Vec<String>,
    /// Tests that the harness does not understand.
    invalid: Vec<String>,
    /// Tests that covered something new.
    needed: Vec<String>,
    /// Tests that covered nothing new.
    redundant: Vec<String>,
}

impl Tool for Regression {
    fn run(self, console: &mut Console<'_>, _: &Invocation) -> Result<ToolOutcome, CommandError> {
        test_file::reject_swarm(self.aflswarm)?;
        let compiled = CompiledModule::read(Path::new("sut.py"))?;
        let table = UserPath::new(Path::new("coverage.out"))?;
        let pages = self.html.as_deref().map(UserPath::new).transpose()?;
        let files = self.files()?;
        let measured = MeasuredCode::modules_if(!self.no_cover);
        let options = compiled.options(OutputMode::Show, measured);
        compiled.with_system(console, &options, |console, system| {
            let mut covered_code = CoveredCode::default();
            let mut results = RegressionResults::default();
            let stopped = self.run_all(console, system, &files, &mut covered_code, &mut results)?;
            if stopped {
                return Ok(ToolOutcome::Failure);
            }
            if let Some(collector) = system.coverage() {
                covered_code.print_all(console, collector);
                let percentage = covered_code.write_table(collector, &table)?;
                console.out(format_args!("{percentage:?} PERCENT COVERED"));
                if let Some(folder) = &pages {
                    covered_code.write_pages(collector, folder)?;
                }
            }
            results.print(console, files.len());
            Ok(ToolOutcome::Passed)
        })
    }
}

impl Regression {
    /// Reads the tests.
    fn files(&self) -> Result<Vec<TestFile>, Error> {
        let found = if self.glob {
            let patterns = self.tests.iter().map(|path| path.to_string_lossy());
            patterns
                .flat_map(|pattern| test_file::glob(&pattern))
                .collect()
        } else {
            self.tests.clone()
        };
        let files = found.iter().map(|path| TestFile::read(path, self.afl));
        files.collect()
    }

    /// Runs all tests. Returns true if a failure ended the run early.
    fn run_all(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        files: &[TestFile],
        covered_code: &mut CoveredCode,
        results: &mut RegressionResults,
    ) -> Result<bool, CommandError> {
        let started = Instant::now();
        for file in files {
            let name = file.name().to_owned();
            console.out(format_args!("RUNNING TEST {name}"));
            let test = match file.test(console, system) {
                Ok(test) => test,
                Err(CommandError::Reported) => {
                    console.out("INVALID TEST, SKIPPING...");
                    results.invalid.push(name);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let options = ReplayOptions {
                check: !self.no_check,
            };
            let mut watcher = RegressionWatcher {
                console,
                step_printer: self.verbose.then(|| StepPrinter::new(false)),
                first_step: system.coverage().map(|_| FirstStepWatcher::default()),
            };
            let trace = replay(system, &test, &options, &mut watcher)?;
            let error = watcher.first_step.and_then(|watcher| watcher.error);
            if let Some(error) = error {
                return Err(error.into());
            }
            if trace.interrupted {
                return Err(CommandError::Interrupted);
            }
            system.flush();
            let new = self.measure(console, system, covered_code);
            if let Some(new) = &new {
                if new.is_empty() {
                    results.redundant.push(name.clone())
                } else {
                    results.needed.push(name.clone())
                }
            }
            if let Some(failure) = trace.failure() {
                print_failure(console, system, &name, failure);
                results.failed.push(name);
                if !self.keep_going {
                    return Ok(true);
                }
            }
            console.out(format_args!(
                "{} ELAPSED",
                tstl_text::seconds(started.elapsed())
            ));
            if let Some(new) = new {
                let (statements, branches) = (covered_code.statements(), covered_code.branches());
                console.out(format_args!(
                    "STATEMENTS: {statements} BRANCHES: {branches}"
                ));
                if !new.is_empty() {
                    console.out(format_args!(
                        "NEW STATEMENTS: {} BRANCHES: {}",
                        new.statements.len(),
                        new.branches.len()
                    ));
                }
            }
            console.flush();
        }
        Ok(false)
    }

    /// Records the coverage of the last test, and returns the new part, if coverage is measured.
    fn measure(
        &self,
        console: &mut Console<'_>,
        system: &PythonSystem<'_>,
        covered_code: &mut CoveredCode,
    ) -> Option<NewlyCovered> {
        let collector = system.coverage()?;
        let new = covered_code.add(collector, collector.current().iter());
        if self.running {
            let names = CodeNames::new(collector);
            for branch in &new.branches {
                let name = names.branch(collector, *branch);
                console.out(format_args!("New branch: {name}"));
            }
            for statement in &new.statements {
                let name = names.statement(*statement);
                console.out(format_args!("New statement: {name}"));
            }
        }
        Some(new)
    }
}

/// Prints the failure of a test.
fn print_failure(
    console: &mut Console<'_>,
    system: &PythonSystem<'_>,
    name: &str,
    failure: &Failure,
) {
    console.out(format_args!("TEST {name} FAILED:"));
    console.out(system.exception_tuple(&failure.message));
    if tstl_text::is_check_failure(failure) {
        console.out(&failure.message);
    }
}

impl RegressionResults {
    /// Prints the summary.
    fn print(&self, console: &mut Console<'_>, total: usize) {
        if !self.redundant.is_empty() {
            for name in &self.redundant {
                console.out(format_args!(
                    "TEST {name} REDUNDANT WITH RESPECT TO COVERAGE"
                ));
            }
            console.out("");
            console.out(format_args!(
                "{} TESTS NEEDED FOR FULL COVERAGE: {}",
                self.needed.len(),
                self.needed.join(", ")
            ));
            console.out("");
        }
        console.out(format_args!("EXECUTED {total} TESTS"));
        if !self.invalid.is_empty() {
            console.out(format_args!("{} INVALID TESTS:", self.invalid.len()));
            console.out(self.invalid.join(" "));
        }
        if self.failed.is_empty() {
            console.out("ALL TESTS SUCCESSFUL");
        } else {
            console.out(format_args!("{} FAILED TESTS:", self.failed.len()));
            console.out(self.failed.join(" "));
        }
    }
}

/// Measures and prints a test while it runs.
struct RegressionWatcher<'p, 'c> {
    console: &'p mut Console<'c>,
    step_printer: Option<StepPrinter>,
    first_step: Option<FirstStepWatcher>,
}

impl<'py> ReplayWatcher<PythonSystem<'py>> for RegressionWatcher<'_, '_> {
    fn proceed(&mut self) -> bool {
        match &mut self.first_step {
            Some(watcher) => ReplayWatcher::<PythonSystem<'py>>::proceed(watcher),
            None => !testwright_python::is_interrupted(),
        }
    }

    fn before_step(&mut self, system: &mut PythonSystem<'py>, action: ActionId) {
        if let Some(watcher) = &mut self.first_step {
            watcher.before_step(system, action);
        }
        if let Some(step_printer) = &mut self.step_printer {
            step_printer.begin(self.console, system, action);
        }
    }

    fn after_step(&mut self, system: &mut PythonSystem<'py>, event: &TraceEvent) {
        if let Some(step_printer) = &mut self.step_printer {
            step_printer.end(self.console, system, event);
        }
    }
}
