//! `tstl_replay`: replays a saved test.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use testwright_core::replay::{ReplayOptions, ReplayWatcher, replay};
use testwright_core::{ActionId, Covered, Error, System, Test, TraceEvent};
use testwright_python::{MeasuredCode, Options, OutputMode, PythonSystem};

use super::covered_code::CoveredCode;
use super::test_file::{self, TestFile};
use super::tstl_text::{self, StepPrinter};
use super::{Invocation, Tool, ToolOutcome, seconds};
use crate::CommandError;
use crate::compiled::CompiledModule;
use crate::console::Console;
use crate::files::{UserPath, unwritable};

/// Run a saved test again
#[derive(clap::Parser)]
#[command(name = "tstl_replay", rename_all = "camelCase")]
pub(super) struct Replayer {
    /// The test
    #[arg(value_name = "TEST")]
    test: PathBuf,

    /// Do not check properties
    #[arg(long)]
    no_check: bool,

    /// Show `log:` lines up to this level
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    logging: Option<i64>,

    /// Show all values that a step uses
    #[arg(long)]
    verbose: bool,

    /// Do not show values of opaque pools
    #[arg(long)]
    hide_opaque: bool,

    /// Show each step
    #[arg(long)]
    show_actions: bool,

    /// Wait after each step
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    delay: Option<Duration>,

    /// Write coverage to `coverage.out`
    #[arg(long)]
    coverage: bool,

    /// Show all covered code
    #[arg(long)]
    internal: bool,

    /// Write pages of what is covered to this folder
    #[arg(long, value_name = "DIR")]
    html: Option<PathBuf>,

    /// Show each line that runs
    #[arg(long)]
    trace: bool,

    /// The test is in AFL's form
    #[arg(long)]
    afl: bool,

    /// The test is in AFL's swarm form
    #[arg(long)]
    aflswarm: bool,
}

/// The output files.
struct ReplayFiles {
    log: UserPath,
    table: UserPath,
    pages: Option<UserPath>,
}

impl Tool for Replayer {
    const WITHOUT_EFFECT: &'static [(&'static str, &'static str)] = &[(
        "trace",
        "lines are not shown one by one; --coverage shows which of them run",
    )];

    fn run(self, console: &mut Console<'_>, _: &Invocation) -> Result<ToolOutcome, CommandError> {
        test_file::reject_swarm(self.aflswarm)?;
        let compiled = CompiledModule::read(Path::new("sut.py"))?;
        let files = ReplayFiles {
            log: UserPath::new(Path::new("replay.out"))?,
            table: UserPath::new(Path::new("coverage.out"))?,
            pages: self.html.as_deref().map(UserPath::new).transpose()?,
        };
        let file = TestFile::read(&self.test, self.afl)?;
        let measured = MeasuredCode::modules_if(self.measures());
        let options = Options {
            log_level: self.logging,
            ..compiled.options(OutputMode::Show, measured)
        };
        compiled.with_system(console, &options, |console, system| {
            let test = file.test(console, system)?;
            self.replay(console, system, &test, &files)
        })
    }
}

impl Replayer {
    /// Returns true if coverage is needed.
    fn measures(&self) -> bool {
        self.coverage || self.internal || self.html.is_some()
    }

    /// Replays the test and writes all reports.
    fn replay(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        test: &Test,
        files: &ReplayFiles,
    ) -> Result<ToolOutcome, CommandError> {
        let options = ReplayOptions {
            check: !self.no_check,
        };
        let unwritten = |error| unwritable(files.log.shown(), &error);
        let log = File::create(files.log.absolute()).map_err(unwritten)?;
        let mut watcher = LoggingWatcher {
            tool: self,
            console,
            step_printer: StepPrinter::new(self.hide_opaque),
            lines: test_file::lines(system, test),
            log,
            index: 0,
            error: None,
        };
        let trace = replay(system, test, &options, &mut watcher)?;
        let LoggingWatcher {
            console,
            mut log,
            error,
            ..
        } = watcher;
        if let Some(error) = error {
            return Err(error.into());
        }
        if trace.interrupted {
            return Err(CommandError::Interrupted);
        }
        system.flush();
        if let Some(failure) = trace.failure() {
            let title = if tstl_text::is_check_failure(failure) {
                "FAILED PROPERTY"
            } else {
                "FAILED STEP"
            };
            console.out(title);
            console.out(system.exception_tuple(&failure.message));
            tstl_text::print_details(console, failure);
        } else {
            writeln!(log, "TEST REPLAYED SUCCESSFULLY").map_err(unwritten)?;
        }
        self.report(console, system, files)?;
        Ok(match trace.failure() {
            Some(_) => ToolOutcome::Failure,
            None => ToolOutcome::Passed,
        })
    }

    /// Writes and prints coverage, as requested.
    fn report(
        &self,
        console: &mut Console<'_>,
        system: &PythonSystem<'_>,
        files: &ReplayFiles,
    ) -> Result<(), Error> {
        let Some(collector) = system.coverage() else {
            return Ok(());
        };
        let mut covered_code = CoveredCode::default();
        covered_code.add(collector, collector.current().iter());
        if self.internal {
            covered_code.print_all(console, collector);
        }
        if self.coverage {
            let percentage = covered_code.write_table(collector, &files.table)?;
            console.out(format_args!("{percentage:?} PERCENT COVERED"));
        }
        match &files.pages {
            Some(folder) => covered_code.write_pages(collector, folder),
            None => Ok(()),
        }
    }
}

/// Prints a test while it runs, and keeps a log that survives a crash.
struct LoggingWatcher<'p, 'c> {
    tool: &'p Replayer,
    console: &'p mut Console<'c>,
    step_printer: StepPrinter,
    /// The steps as they are written to the log.
    lines: Vec<String>,
    /// The log.
    log: File,
    /// The number of steps so far.
    index: usize,
    error: Option<Error>,
}

impl LoggingWatcher<'_, '_> {
    /// Logs and prints the beginning of a step.
    fn begin(&mut self, text: &str) {
        let line = self.lines.get(self.index).map_or("", String::as_str);
        if let Err(error) = writeln!(self.log, "{line}") {
            self.error = Some(unwritable(Path::new("replay.out"), &error));
        }
        if self.tool.verbose {
            self.console.out(format_args!("STEP #{}:", self.index));
        }
        if self.tool.show_actions {
            self.console.out(text);
        }
        self.console.flush();
        self.index += 1;
    }
}

impl<'py> ReplayWatcher<PythonSystem<'py>> for LoggingWatcher<'_, '_> {
    fn proceed(&mut self) -> bool {
        self.error.is_none() && !testwright_python::is_interrupted()
    }

    fn before_step(&mut self, system: &mut PythonSystem<'py>, action: ActionId) {
        if self.index == 0 && system.coverage().is_some() {
            self.error = system.reset_touched().err();
        }
        self.begin(&system.actions().text(action));
        if self.tool.verbose {
            self.step_printer.begin(self.console, system, action);
        }
    }

    fn after_step(&mut self, system: &mut PythonSystem<'py>, event: &TraceEvent) {
        match event {
            TraceEvent::Restarted => self.begin("<<RESTART>>"),
            TraceEvent::Skipped(action) => self.begin(&system.actions().text(*action)),
            event if self.tool.verbose => self.step_printer.end(self.console, system, event),
            _ => {}
        }
        for line in system.take_log() {
            self.console.out(line);
        }
        thread::sleep(self.tool.delay.unwrap_or_default());
    }
}
