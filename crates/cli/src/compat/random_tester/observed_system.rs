//! The system under test with instruments: a clock, logs, the covered code, and messages about each
//! step.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use testwright_core::{
    ActionClasses, ActionId, Catalog, Coverage, Covered, Error, Outcome, Random, Step, System,
    TargetId, TemplateId, TemplateSet, Test, TraceEvent, describe_os_error,
};
use testwright_python::PythonSystem;

use super::super::covered_code::{CodeNames, CoveredCode, NewlyCovered};
use super::super::test_file;
use super::super::tstl_text::{self, StepPrinter};
use super::RandomTester;
use super::session::SessionFiles;
use crate::console::Console;
use crate::files::{UserPath, unwritable};
use crate::throttle::Throttle;

/// The time spent on each kind of work.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimeSpent {
    /// Running steps.
    pub(super) operations: Duration,
    /// Evaluating guards and choosing actions.
    pub(super) choosing: Duration,
    /// Checking properties.
    pub(super) checks: Duration,
    /// Resetting the system.
    pub(super) restarts: Duration,
    /// Reducing tests.
    pub(super) reducing: Duration,
}

/// The use of a line of the harness.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClassUsage {
    /// The number of steps.
    pub(super) count: u64,
    /// The time that they took.
    pub(super) time: Duration,
}

/// The number of first tests whose whole coverage is recorded, not only the coverage that is new to
/// the process: code that loading the modules runs counts once a test runs it, too.
const MEASURED_TESTS: u64 = 32;

/// A system with its instruments.
pub(super) struct ObservedSystem<'s, 'py, 'c> {
    pub(super) system: &'s mut PythonSystem<'py>,
    pub(super) console: &'s mut Console<'c>,
    tool: &'s RandomTester,
    files: &'s SessionFiles,
    /// Count code that runs while modules are loaded as covered.
    cover_resets: bool,
    /// False while a test is reduced: then nothing is recorded.
    pub(super) is_observed: bool,
    /// The time spent so far.
    pub(super) times: TimeSpent,
    /// The time when the search began.
    pub(super) started: Instant,
    /// The number of tests that were begun.
    pub(super) tests: u64,
    /// The number of steps that were taken.
    pub(super) operations: u64,
    /// The steps of the current test.
    pub(super) steps: Vec<Step>,
    /// The code that all tests covered.
    pub(super) covered_code: CoveredCode,
    /// The code that the current test was the first to cover.
    pub(super) new: NewlyCovered,
    /// True if the last step was the first to cover something.
    pub(super) was_new: bool,
    /// The new targets that the strategy has not been given yet.
    unreported: Vec<TargetId>,
    /// True if the coverage of the current test is measured separately.
    is_measuring: bool,
    classes: Arc<ActionClasses>,
    /// The use of each line of the harness.
    pub(super) class_usage: Vec<ClassUsage>,
    step_printer: StepPrinter,
    /// The file with the current test, in case of a crash.
    current_log: Option<File>,
    /// The file with all tests, in case of a crash.
    total_log: Option<File>,
    /// The number of tests that were saved for the pool.
    pooled: usize,
    /// The first error of a step that has not been returned yet.
    pub(super) error: Option<Error>,
    /// The name of the harness.
    name: &'s str,
    /// The number of tests that covered something new.
    with_new: u64,
    /// The number of tests since then that did not.
    pub(super) without_new: u64,
    throttle: Throttle,
    /// The time of the last status line, in intervals since the beginning.
    last_status: u64,
}

impl<'s, 'py, 'c> ObservedSystem<'s, 'py, 'c> {
    /// Creates an observed system, and takes the coverage of the loading.
    pub(super) fn new(
        tool: &'s RandomTester,
        files: &'s SessionFiles,
        name: &'s str,
        console: &'s mut Console<'c>,
        system: &'s mut PythonSystem<'py>,
        cover_resets: bool,
    ) -> Result<ObservedSystem<'s, 'py, 'c>, Error> {
        let classes = Arc::new(ActionClasses::new(system.actions()));
        system.set_relaxed(tool.relax);
        let mut covered_code = CoveredCode::default();
        if let Some(collector) = system.coverage() {
            let loaded = collector.take_new();
            if cover_resets {
                covered_code.add(collector, loaded);
            }
        }
        Ok(ObservedSystem {
            class_usage: vec![ClassUsage::default(); classes.len()],
            classes,
            system,
            console,
            tool,
            files,
            cover_resets,
            is_observed: true,
            times: TimeSpent::default(),
            started: Instant::now(),
            tests: 0,
            operations: 0,
            steps: Vec::new(),
            covered_code,
            new: NewlyCovered::default(),
            was_new: false,
            unreported: Vec::new(),
            is_measuring: false,
            step_printer: StepPrinter::new(tool.hide_opaque),
            current_log: None,
            total_log: if tool.total {
                Some(create_log(&files.total)?)
            } else {
                None
            },
            pooled: 0,
            error: None,
            name,
            with_new: 0,
            without_new: 0,
            throttle: Throttle::new(),
            last_status: 0,
        })
    }

    /// Returns the lines of the harness.
    pub(super) fn classes(&self) -> &Arc<ActionClasses> {
        &self.classes
    }

    /// Returns the current test so far.
    pub(super) fn test(&self) -> Test {
        Test::from_steps(self.steps.clone())
    }

    /// Records the coverage of the last step, and prints it if requested.
    fn record_coverage(&mut self) {
        let Some(collector) = self.system.coverage() else {
            return;
        };
        let targets = collector.take_new();
        if targets.is_empty() {
            return;
        }
        self.unreported.extend(&targets);
        let new = self.covered_code.add(collector, targets);
        self.was_new |= !new.is_empty();
        if self.tool.running {
            let names = CodeNames::new(collector);
            let elapsed = tstl_text::seconds(self.started.elapsed());
            if let Some(Step::Act(action)) = self.steps.last() {
                let text = self.system.actions().text(*action);
                self.console.out(format_args!("ACTION: {text}"));
            }
            for branch in &new.branches {
                let (all, name) = (
                    self.covered_code.branches(),
                    names.branch(collector, *branch),
                );
                self.console
                    .out(format_args!("{elapsed} {all} New branch {name}"));
            }
            for statement in &new.statements {
                let (all, name) = (self.covered_code.statements(), names.statement(*statement));
                self.console
                    .out(format_args!("{elapsed} {all} New statement {name}"));
            }
        }
        self.new.add(new);
    }

    /// Completes the record of new code. Returns the coverage of the current test, if it was
    /// measured.
    pub(super) fn end_test(&mut self) -> Option<Coverage> {
        self.record_coverage();
        let collector = self.system.coverage()?;
        if !self.is_measuring {
            return None;
        }
        let covered = collector.current();
        let new = self.covered_code.add(collector, covered.iter());
        self.new.add(new);
        Some(covered)
    }

    /// Prints the numbers so far in one line.
    pub(super) fn print_status(&mut self, with_step: bool) {
        let elapsed = self.started.elapsed();
        let mut words = format!("{}: TEST #{} ", self.name, self.tests);
        if with_step {
            words += &format!("STEP #{} ", self.steps.len());
        }
        words += &format!("({}) ", tstl_text::clock(elapsed));
        if self.system.coverage().is_some() {
            let (statements, branches) =
                (self.covered_code.statements(), self.covered_code.branches());
            words += &format!("[ {statements} stmts {branches} branches ] ");
            if self.without_new > 0 {
                words += &format!("(no cov+ for {} tests) ", self.without_new);
            }
        }
        let rate = self.operations as f64 / elapsed.as_secs_f64().max(1e-9);
        words += &format!("{} TOTAL ACTIONS ({rate:.2}/s)", self.operations);
        if self.system.coverage().is_some() {
            words += &format!(" {} cov+ tests", self.with_new);
        }
        self.console.out(words);
        self.console.flush();
    }

    /// Prints the status line if an interval has passed.
    fn print_status_if_due(&mut self) {
        let (Some(now), Ok(interval @ 1..)) = (
            self.throttle.poll(),
            u64::try_from(self.tool.timed_progress),
        ) else {
            return;
        };
        let intervals = (now - self.started).as_secs() / interval;
        if intervals > self.last_status {
            self.last_status = intervals;
            self.print_status(true);
        }
    }

    /// Counts a test by whether it was the first to cover something.
    pub(super) fn count_new(&mut self, is_new: bool) {
        if is_new {
            self.with_new += 1;
            self.without_new = 0;
        } else {
            self.without_new += 1
        }
    }

    /// Resets the counts, because the steps so far are no part of the search.
    pub(super) fn reset_counts(&mut self) {
        self.operations = 0;
        self.times = TimeSpent::default();
        self.class_usage.fill(ClassUsage::default());
    }

    /// Writes a line to the logs; a test's first line begins the log of the current test anew.
    fn log(&mut self, line: &str, is_start: bool) -> Result<(), Error> {
        if is_start && self.tool.replayable {
            self.current_log = Some(create_log(&self.files.current)?);
        }
        let current = if is_start {
            None
        } else {
            self.current_log.as_mut()
        };
        for file in current.into_iter().chain(self.total_log.as_mut()) {
            let written = writeln!(file, "{line}");
            written.map_err(|error| {
                Error::new(format!(
                    "cannot write the log: {}",
                    describe_os_error(&error)
                ))
            })?;
        }
        Ok(())
    }

    /// Logs and prints a step that is about to be taken.
    fn begin_step(&mut self, action: ActionId) -> Result<(), Error> {
        let tool = self.tool;
        if tool.replayable || tool.total {
            let test = Test::from_actions([action]);
            let line = test_file::lines(self.system, &test).pop();
            self.log(&line.unwrap_or_default(), false)?;
        }
        let index = self.steps.len() - 1;
        if tool.verbose {
            let text = self.system.actions().text(action);
            self.console
                .out(format_args!("GENERATING STEP {index} ACTION: {text}"));
            self.console.flush();
        }
        if tool.show_actions {
            let text = self.system.actions().text(action);
            self.console.out(format_args!("STEP #{index} {text}"));
        }
        if tool.verbose_actions {
            self.step_printer.begin(self.console, self.system, action);
        }
        Ok(())
    }

    /// Prints the result of a step, and saves the test for the pool if it covered something new.
    fn end_step(&mut self, action: ActionId, outcome: &Outcome) -> Result<(), Error> {
        if self.tool.verbose_actions {
            let event = match outcome {
                Outcome::Passed => TraceEvent::Passed(action),
                Outcome::Expected => TraceEvent::Expected(action, self.system.expected_exception()),
                Outcome::Failed(failure) => TraceEvent::Failed(action, failure.clone()),
                Outcome::Interrupted => return Ok(()),
            };
            self.step_printer.end(self.console, self.system, &event);
        }
        for line in self.system.take_log() {
            self.console.out(line);
        }
        if let Some(warning) = self.system.take_warning() {
            self.console.out(format_args!("SUT WARNING: {warning}"));
        }
        let prefix = self.tool.save_pool.as_ref().filter(|_| self.was_new);
        if let Some(prefix) = prefix {
            let name = format!("{prefix}.{}.test", self.pooled);
            self.pooled += 1;
            self.console.out(format_args!("SAVING POOL TEST AS {name}"));
            let path = self.files.in_folder(&name);
            test_file::save(self.system, &self.test(), &path)?;
        }
        Ok(())
    }
}

/// Creates a log file.
fn create_log(path: &UserPath) -> Result<File, Error> {
    File::create(path.absolute()).map_err(|error| unwritable(path.shown(), &error))
}

impl System for ObservedSystem<'_, '_, '_> {
    fn actions(&self) -> &Catalog {
        self.system.actions()
    }

    fn reset(&mut self) -> Result<(), Error> {
        if !self.is_observed {
            return self.system.reset();
        }
        let begun = Instant::now();
        self.system.reset()?;
        self.times.restarts += begun.elapsed();
        self.steps.clear();
        self.unreported.clear();
        self.new = NewlyCovered::default();
        if let Some(collector) = self.system.coverage() {
            let new = collector.take_new();
            if self.cover_resets {
                self.covered_code.add(collector, new);
            }
            self.is_measuring = self.tool.measures_each_test() || self.tests < MEASURED_TESTS;
            if self.is_measuring {
                collector.reset_current()?;
            }
        }
        self.log("<<RESTART>>", true)
    }

    fn enabling_group(&self, template: TemplateId) -> Option<u64> {
        self.system.enabling_group(template)
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        self.system.is_enabled(action)
    }

    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        let begun = Instant::now();
        let picked = self.system.pick(random);
        self.times.choosing += begun.elapsed();
        picked
    }

    fn pick_among(&mut self, templates: &TemplateSet, random: &mut Random) -> Option<ActionId> {
        let begun = Instant::now();
        let picked = self.system.pick_among(templates, random);
        self.times.choosing += begun.elapsed();
        picked
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        if !self.is_observed {
            return self.take_step(action);
        }
        self.print_status_if_due();
        self.steps.push(Step::Act(action));
        self.operations += 1;
        self.was_new = false;
        self.error = self.begin_step(action).err().or(self.error.take());
        let begun = Instant::now();
        let outcome = self.take_step(action);
        let time = begun.elapsed();
        self.times.operations += time;
        let class = self.classes.class_of_action(self.system.actions(), action);
        if let Some(taken) = self.class_usage.get_mut(class.0) {
            taken.count += 1;
            taken.time += time;
        }
        self.record_coverage();
        self.error = self.end_step(action, &outcome).err().or(self.error.take());
        outcome
    }

    fn expected_exception(&mut self) -> String {
        self.system.expected_exception()
    }

    fn check(&mut self) -> Outcome {
        let begun = Instant::now();
        let outcome = self.system.check();
        if self.is_observed {
            self.times.checks += begun.elapsed();
            self.record_coverage();
        }
        outcome
    }

    fn enabled(&mut self) -> Vec<ActionId> {
        self.system.enabled()
    }
}

impl ObservedSystem<'_, '_, '_> {
    /// Takes an action. If exceptions are no failures, it passes whatever it raises.
    fn take_step(&mut self, action: ActionId) -> Outcome {
        match self.system.step(action) {
            Outcome::Failed(_) if self.tool.uncaught => Outcome::Passed,
            outcome => outcome,
        }
    }
}

impl Covered for ObservedSystem<'_, '_, '_> {
    fn all_touched(&self) -> Coverage {
        self.system.all_touched()
    }

    fn take_new(&mut self) -> Vec<TargetId> {
        if self.is_observed {
            std::mem::take(&mut self.unreported)
        } else {
            self.system.take_new()
        }
    }

    fn reset_touched(&mut self) -> Result<(), Error> {
        self.system.reset_touched()
    }

    fn touched(&self) -> Coverage {
        self.system.touched()
    }
}
