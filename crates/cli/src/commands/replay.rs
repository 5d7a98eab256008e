//! `testwright replay`: run saved tests again.

use std::path::PathBuf;

use testwright_core::replay::{ReplayOptions, ReplayWatcher, replay};
use testwright_core::{ActionId, Error, System, Test, Trace, TraceEvent};
use testwright_python::{MeasuredCode, Options, OutputMode, SlotValue};
use testwright_report::Attribution;

use crate::console::{Console, TextStyle};
use crate::coverage::{CoverageArguments, CoverageOutputs, TestCoverage};
use crate::explanation::TestExplainer;
use crate::files::TextFile;
use crate::guard::{ProgressNote, report_crash, run_guarded};
use crate::source::{LoadedSource, SystemSource};
use crate::target::Target;
use crate::test_source::TestSetup;
use crate::{CommandError, ExitStatus, load, quantity, report};

/// Run saved tests again, and show whether they pass
///
/// A step that is not possible in the current state is skipped, and listed.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright replay testwright-out/stack/failure-1.test
  testwright replay failure-1.test --verbose   each step with the values before and after
  testwright replay saved/*.test               did the fix help?
  testwright replay failure-1.test --explain   what fails, in English

Exit status: 0 all tests pass, 1 a test fails, 2 could not do what was asked."
)]
pub(crate) struct ReplayCommand {
    /// Saved tests
    #[arg(required = true, value_name = "TEST")]
    tests: Vec<PathBuf>,

    /// Show each step, its values before and after, and the output of the system
    #[arg(long, short)]
    verbose: bool,

    /// Also explain each failing test in English
    #[arg(long)]
    explain: bool,

    /// Show the output of the `log:` lines of the harness up to this level
    #[arg(long, value_name = "LEVEL", allow_negative_numbers = true)]
    log: Option<i64>,

    #[command(flatten)]
    coverage: CoverageArguments,

    #[command(flatten)]
    setup: TestSetup,
}

impl ReplayCommand {
    /// Runs the command.
    pub(crate) fn run(mut self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let source = self.setup.restore(&self.tests)?;
        let options = self.options(&source)?;
        let ready = source.clone().read(console)?;
        let read = |_: &mut Console<'_>, path: &PathBuf| Ok(TextFile::read(path)?);
        let tests = load::try_each(console, &self.tests, read)?;
        let reports = self.coverage.prepare()?;
        let timeout = Some(self.setup.system.step_timeout);
        let explaining = self.explain.then(|| TestExplainer::new(&ready));
        let output = (&reports, explaining.as_ref());
        // Without a reset, what a test does would change the next one.
        let is_separate = !options.reset_modules && options.measured == MeasuredCode::Nothing;
        let groups: Vec<Vec<TextFile>> = if is_separate {
            tests.into_iter().map(|test| vec![test]).collect()
        } else {
            vec![tests]
        };
        let mut ready = Some(ready);
        let mut status = ExitStatus::NothingFound;
        for tests in groups {
            let ready = match ready.take() {
                Some(ready) => ready,
                None => source.clone().read(console)?,
            };
            // The tests may crash the process: some were saved for that reason.
            let replayed = run_guarded(console, timeout, report_crash, |console, note| {
                self.replay_all(console, ready, tests, &options, output, note)
            });
            status = status.max(replayed?);
        }
        Ok(status)
    }

    /// Returns the options for loading the harness or the models.
    fn options(&self, source: &SystemSource) -> Result<Options, Error> {
        let output = if self.verbose {
            OutputMode::Capture
        } else {
            OutputMode::Drop
        };
        Ok(Options {
            log_level: self.log,
            measured: self.coverage.measured_for(source)?,
            ..self.setup.options(source, output)?
        })
    }

    /// Replays all tests, and reports their coverage.
    fn replay_all(
        &self,
        console: &mut Console<'_>,
        ready: LoadedSource,
        tests: Vec<TextFile>,
        options: &Options,
        (reports, explaining): (&CoverageOutputs, Option<&TestExplainer>),
        note: &ProgressNote,
    ) -> Result<ExitStatus, CommandError> {
        let work = |console: &mut Console<'_>, system: &mut dyn Target, tests: Vec<_>| {
            let mut status = ExitStatus::NothingFound;
            let mut reached = TestCoverage::with_loading(Attribution::Every, system.collector());
            for (file, test) in tests {
                if let Some(collector) = system.collector() {
                    collector.reset_current()?;
                }
                let replayed = (&file, &test);
                status = status.max(self.replay(console, system, replayed, explaining, note)?);
                if let Some(collector) = system.collector() {
                    let name = || file.name.clone();
                    reached.add_test(name, collector.current().iter().collect());
                }
            }
            note.write_own_work();
            if let Some(collector) = system.collector() {
                let report = reached.into_report(collector, reports);
                reports.write(console, &report, |console, table| console.out(table))?;
            }
            Ok(status)
        };
        ready.with_tests(console, tests, options, note, work)
    }

    /// Replays one test and prints the result.
    fn replay(
        &self,
        console: &mut Console<'_>,
        system: &mut dyn Target,
        (file, test): (&TextFile, &Test),
        explaining: Option<&TestExplainer>,
        note: &ProgressNote,
    ) -> Result<ExitStatus, CommandError> {
        let options = ReplayOptions {
            check: self.setup.check(),
        };
        note.write(&format!("{}: fails before step 1", file.name));
        let trace = if self.verbose {
            let mut watcher = VerboseWatcher {
                console,
                step_note: StepNote {
                    file,
                    note,
                    steps: 0,
                },
                number: 0,
                before: Vec::new(),
            };
            replay(system, test, &options, &mut watcher)?
        } else {
            let mut step_note = StepNote {
                file,
                note,
                steps: 0,
            };
            replay(system, test, &options, &mut step_note)?
        };
        print_log(console, system);
        let status = print_verdict(console, system, file, test, &trace);
        if let (Some(explaining), Some(failure)) = (explaining, trace.failure()) {
            let executed = Test::from_steps(
                test.steps
                    .iter()
                    .take(trace.events.len())
                    .cloned()
                    .collect(),
            );
            let explained = explaining.explain(system.actions(), &executed, failure);
            if let Some(explained) = explained {
                explained.print(console);
            }
        }
        Ok(status)
    }
}

/// Prints the output of the `log:` lines of the harness.
fn print_log(console: &mut Console<'_>, system: &mut dyn Target) {
    for line in system.take_log() {
        console.out(format_args!("    {line}"));
    }
}

/// The verdict on a test that neither passes nor fails.
pub(super) const NOTHING_TAKEN: &str = "no step could be taken, so nothing was tested";

/// Prints whether a test passes, and which steps were skipped.
fn print_verdict(
    console: &mut Console<'_>,
    system: &dyn Target,
    file: &TextFile,
    test: &Test,
    trace: &Trace,
) -> ExitStatus {
    let steps = quantity::format_count(test.len() as u64, "step");
    let (verdict, status) = match trace.failure() {
        Some(_) => {
            let text = format!("fails at step {} of {}", trace.events.len(), test.len());
            (
                console.paint(TextStyle::Failure, text),
                ExitStatus::FailureFound,
            )
        }
        None if trace.interrupted => ("interrupted".to_owned(), ExitStatus::Error),
        None if !trace.has_taken_step() => (
            console.paint(TextStyle::Failure, NOTHING_TAKEN),
            ExitStatus::Error,
        ),
        None => {
            let text = format!("passes ({steps}{})", skipped_text(trace));
            let text = console.paint(TextStyle::Success, text);
            (text, ExitStatus::NothingFound)
        }
    };
    console.out(format_args!("{}: {verdict}", file.name));
    if let Some(failure) = trace.failure() {
        report::print_failure(console, failure, 4);
    }
    for (index, event) in trace.events.iter().enumerate() {
        if let TraceEvent::Skipped(action) = event {
            let text = system.actions().text(*action);
            console.out(format_args!(
                "    step {} skipped, not enabled: {text}",
                index + 1
            ));
        }
    }
    console.flush();
    status
}

/// Returns the number of skipped steps as a clause: `, 2 of them skipped`. Empty if there are none.
pub(super) fn skipped_text(trace: &Trace) -> String {
    match trace.skipped_steps() {
        0 => String::new(),
        skipped => format!(", {skipped} of them skipped"),
    }
}

/// Watcher that stops a replay on Ctrl-C.
pub(super) struct UntilInterrupted;

impl<S: ?Sized> ReplayWatcher<S> for UntilInterrupted {
    fn proceed(&mut self) -> bool {
        !testwright_python::is_interrupted()
    }
}

/// Watcher that notes the next step for the parent process, in case the step crashes.
struct StepNote<'n> {
    /// File of the test.
    file: &'n TextFile,
    /// Memory shared with the parent process.
    note: &'n ProgressNote,
    /// Number of steps taken so far.
    steps: usize,
}

impl<S: System + ?Sized> ReplayWatcher<S> for StepNote<'_> {
    fn proceed(&mut self) -> bool {
        !testwright_python::is_interrupted()
    }

    fn before_step(&mut self, system: &mut S, action: ActionId) {
        let text = system.actions().text(action);
        let step = self.steps + 1;
        self.note
            .write(&format!("{}: fails at step {step}, {text}", self.file.name));
    }

    fn after_step(&mut self, _system: &mut S, _event: &TraceEvent) {
        self.steps += 1;
    }
}

/// Watcher that prints each step and its values.
struct VerboseWatcher<'n, 'c> {
    console: &'n mut Console<'c>,
    step_note: StepNote<'n>,
    /// Number of the current step, counted from 1.
    number: usize,
    /// Values that the step uses, before it is taken.
    before: Vec<SlotValue>,
}

impl VerboseWatcher<'_, '_> {
    /// Prints the text of a step.
    fn print_step(&mut self, text: &str) {
        self.number += 1;
        let line = self.console.paint(
            TextStyle::Bold,
            format_args!("step {}: {text}", self.number),
        );
        self.console.out(line);
    }

    /// Prints a value.
    fn print_value(&mut self, sign: &str, value: &SlotValue) {
        let note = self
            .console
            .paint(TextStyle::Dim, format_args!("  ({})", value.type_name));
        self.console.out(format_args!(
            "    {sign} {} = {}{note}",
            value.name, value.text
        ));
    }

    /// Prints the values that the step created or changed.
    fn print_changes(&mut self, system: &dyn Target, action: ActionId) {
        for value in system.slot_values(action) {
            if !self.before.contains(&value) {
                self.print_value("→", &value);
            }
        }
    }

    /// Prints the output of the system.
    fn print_output(&mut self, system: &mut dyn Target) {
        for line in system.take_output().lines() {
            self.console.out(format_args!("    | {line}"));
        }
    }
}

impl<'s> ReplayWatcher<dyn Target + 's> for VerboseWatcher<'_, '_> {
    fn proceed(&mut self) -> bool {
        !testwright_python::is_interrupted()
    }

    fn before_step(&mut self, system: &mut (dyn Target + 's), action: ActionId) {
        self.step_note.before_step(system, action);
        self.print_step(&system.actions().text(action));
        if let Some(reference) = system.reference_text(action) {
            self.console.out(format_args!("    reference: {reference}"));
        }
        self.before = system.slot_values(action);
        // Empty slots are not printed.
        for value in self
            .before
            .clone()
            .iter()
            .filter(|value| value.text != "None")
        {
            self.print_value(" ", value);
        }
        self.console.flush();
    }

    fn after_step(&mut self, system: &mut (dyn Target + 's), event: &TraceEvent) {
        self.step_note.after_step(system, event);
        match event {
            TraceEvent::Restarted => self.print_step("<<RESTART>>"),
            TraceEvent::Skipped(action) => {
                self.print_step(&format!("{}  (skipped)", system.actions().text(*action)))
            }
            TraceEvent::Passed(action) | TraceEvent::Failed(action, _) => {
                self.print_changes(system, *action)
            }
            TraceEvent::Expected(action, exception) => {
                self.print_changes(system, *action);
                self.console
                    .out(format_args!("    raised {exception}, as expected"));
            }
        }
        self.print_output(system);
        print_log(self.console, system);
    }
}
