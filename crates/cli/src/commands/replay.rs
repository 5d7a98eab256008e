//! `testwright replay`: run saved tests again.

use std::path::PathBuf;

use testwright_core::replay::{ReplayOptions, Watcher, replay};
use testwright_core::{ActionId, Error, Event, System, Test, Trace};
use testwright_python::{Options, Output, SlotValue};
use testwright_report::Attribution;

use super::{StepperArgument, SystemArguments};
use crate::belonging::HarnessArgument;
use crate::console::{Console, Look};
use crate::coverage::{CoverageArguments, Reached, Reports};
use crate::explaining::Explaining;
use crate::files::TextFile;
use crate::guard::{Note, guarded, tell_crash};
use crate::source::{Read, Source};
use crate::subject::Subject;
use crate::{ExitStatus, Trouble, load, quantity, report};

/// Run saved tests again, and tell whether they pass
///
/// A step that is not possible in the state the test has come to is skipped, and listed.
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
pub(crate) struct Replay {
    /// The tests
    #[arg(required = true, value_name = "TEST")]
    tests: Vec<PathBuf>,

    #[command(flatten)]
    harness: HarnessArgument,

    /// Show each step, the values it uses and what became of them, and what the system prints
    #[arg(long, short)]
    verbose: bool,

    /// Tell each test that fails in English, too
    #[arg(long)]
    explain: bool,

    /// Show what the `log:` lines of the harness up to this level say
    #[arg(long, value_name = "LEVEL", allow_negative_numbers = true)]
    log: Option<i64>,

    #[command(flatten)]
    stepper: StepperArgument,

    #[command(flatten)]
    coverage: CoverageArguments,

    #[command(flatten)]
    system: SystemArguments,
}

impl Replay {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        let source = self.harness.of(&self.tests)?;
        let options = self.options(&source)?;
        let is_models = source.is_models();
        let ready = source.read(console)?;
        let read = |_: &mut Console<'_>, path: &PathBuf| Ok(TextFile::read(path)?);
        let tests = load::all(console, &self.tests, read)?;
        let reports = self.coverage.prepare()?;
        let patience = is_models.then_some(self.system.step_timeout);
        let explaining = self.explain.then(|| Explaining::of(&ready));
        let telling = (&reports, explaining.as_ref());
        // The tests may have been saved because they crash.
        guarded(console, patience, tell_crash, |console, note| {
            self.replay_all(console, ready, tests, &options, telling, note)
        })
    }

    fn options(&self, source: &Source) -> Result<Options, Error> {
        let output = if self.verbose {
            Output::Capture
        } else {
            Output::Drop
        };
        let options = Options {
            log_level: self.log,
            measured: self.coverage.measured_for(source)?,
            ..self.system.options_for(source, output)?
        };
        self.stepper
            .put_into(options, source, self.system.step_timeout)
    }

    fn replay_all(
        &self,
        console: &mut Console<'_>,
        ready: Read,
        tests: Vec<TextFile>,
        options: &Options,
        (reports, explaining): (&Reports, Option<&Explaining>),
        note: &Note,
    ) -> Result<ExitStatus, Trouble> {
        let work = |console: &mut Console<'_>, system: &mut dyn Subject, tests: Vec<_>| {
            let mut status = ExitStatus::NothingFound;
            let mut reached = Reached::since_loading(Attribution::Every, system.collector());
            for (file, test) in tests {
                if let Some(collector) = system.collector() {
                    collector.begin_anew()?;
                }
                let replayed = (&file, &test);
                status = status.max(self.replay(console, system, replayed, explaining, note)?);
                if let Some(collector) = system.collector() {
                    let name = || file.name.clone();
                    reached.note(name, collector.current().iter().collect());
                }
            }
            if let Some(collector) = system.collector() {
                let report = reached.into_report(collector, reports);
                reports.write(console, &report, |console, table| console.say(table))?;
            }
            Ok(status)
        };
        ready.with_tests(console, tests, options, note, work)
    }

    fn replay(
        &self,
        console: &mut Console<'_>,
        system: &mut dyn Subject,
        (file, test): (&TextFile, &Test),
        explaining: Option<&Explaining>,
        note: &Note,
    ) -> Result<ExitStatus, Trouble> {
        let options = ReplayOptions {
            check: !self.system.no_check,
        };
        let trace = if self.verbose {
            let mut narrator = Narrator {
                console,
                noting: Noting {
                    file,
                    note,
                    steps: 0,
                },
                number: 0,
                before: Vec::new(),
            };
            replay(system, test, &options, &mut narrator)?
        } else {
            let mut noting = Noting {
                file,
                note,
                steps: 0,
            };
            replay(system, test, &options, &mut noting)?
        };
        say_log(console, system);
        let status = say_verdict(console, system, file, test, &trace);
        if let (Some(explaining), Some(failure)) = (explaining, trace.failure()) {
            let until_then = Test::of_steps(
                test.steps
                    .iter()
                    .take(trace.events.len())
                    .cloned()
                    .collect(),
            );
            let explained = explaining.explain(system.actions(), &until_then, failure);
            if let Some(explained) = explained {
                explained.say(console);
            }
        }
        Ok(status)
    }
}

/// Says what the `log:` lines of the harness have to say.
fn say_log(console: &mut Console<'_>, system: &mut dyn Subject) {
    for line in system.take_log() {
        console.say(format_args!("    {line}"));
    }
}

fn say_verdict(
    console: &mut Console<'_>,
    system: &dyn Subject,
    file: &TextFile,
    test: &Test,
    trace: &Trace,
) -> ExitStatus {
    let steps = quantity::of(test.len() as u64, "step");
    let (verdict, status) = match trace.failure() {
        Some(_) => {
            let words = format!("fails at step {} of {}", trace.events.len(), test.len());
            (console.paint(Look::Bad, words), ExitStatus::FailureFound)
        }
        None if trace.interrupted => ("interrupted".to_owned(), ExitStatus::CouldNot),
        None => (
            console.paint(Look::Good, format_args!("passes ({steps})")),
            ExitStatus::NothingFound,
        ),
    };
    console.say(format_args!("{}: {verdict}", file.name));
    if let Some(failure) = trace.failure() {
        report::say_failure(console, failure, 4);
    }
    for (index, event) in trace.events.iter().enumerate() {
        if let Event::Skipped(action) = event {
            let text = system.actions().text(*action);
            console.say(format_args!(
                "    step {} skipped, not enabled: {text}",
                index + 1
            ));
        }
    }
    console.flush();
    status
}

/// Lets a test run, but not past Ctrl-C.
pub(super) struct UntilInterrupted;

impl<S: ?Sized> Watcher<S> for UntilInterrupted {
    fn proceed(&mut self) -> bool {
        !testwright_python::interrupted()
    }
}

/// Notes which step is next, for the case that it is the last.
struct Noting<'n> {
    file: &'n TextFile,
    note: &'n Note,
    /// How many steps are over.
    steps: usize,
}

impl<S: System + ?Sized> Watcher<S> for Noting<'_> {
    fn proceed(&mut self) -> bool {
        !testwright_python::interrupted()
    }

    fn before(&mut self, system: &mut S, action: ActionId) {
        let text = system.actions().text(action);
        let step = self.steps + 1;
        self.note
            .write(&format!("{}: fails at step {step}, {text}", self.file.name));
    }

    fn after(&mut self, _system: &mut S, _event: &Event) {
        self.steps += 1;
    }
}

/// Tells what happens, step by step.
struct Narrator<'n, 'c> {
    console: &'n mut Console<'c>,
    noting: Noting<'n>,
    number: usize,
    /// The values that the step uses, before it.
    before: Vec<SlotValue>,
}

impl Narrator<'_, '_> {
    fn step(&mut self, text: &str) {
        self.number += 1;
        let line = self
            .console
            .paint(Look::Strong, format_args!("step {}: {text}", self.number));
        self.console.say(line);
    }

    fn value(&mut self, sign: &str, value: &SlotValue) {
        let note = self
            .console
            .paint(Look::Quiet, format_args!("  ({})", value.type_name));
        self.console.say(format_args!(
            "    {sign} {} = {}{note}",
            value.name, value.text
        ));
    }

    /// Values that the step gave or changed.
    fn changes(&mut self, system: &dyn Subject, action: ActionId) {
        for value in system.shown(action) {
            if !self.before.contains(&value) {
                self.value("→", &value);
            }
        }
    }

    fn printed(&mut self, system: &mut dyn Subject) {
        for line in system.take_output().lines() {
            self.console.say(format_args!("    | {line}"));
        }
    }
}

impl<'s> Watcher<dyn Subject + 's> for Narrator<'_, '_> {
    fn proceed(&mut self) -> bool {
        !testwright_python::interrupted()
    }

    fn before(&mut self, system: &mut (dyn Subject + 's), action: ActionId) {
        self.noting.before(system, action);
        self.step(&system.actions().text(action));
        if let Some(reference) = system.reference_text(action) {
            self.console.say(format_args!("    reference: {reference}"));
        }
        self.before = system.shown(action);
        // That a slot is empty goes without saying.
        for value in self
            .before
            .clone()
            .iter()
            .filter(|value| value.text != "None")
        {
            self.value(" ", value);
        }
        self.console.flush();
    }

    fn after(&mut self, system: &mut (dyn Subject + 's), event: &Event) {
        self.noting.after(system, event);
        match event {
            Event::Restarted => self.step("<<RESTART>>"),
            Event::Skipped(action) => {
                self.step(&format!("{}  (skipped)", system.actions().text(*action)))
            }
            Event::Passed(action) | Event::Failed(action, _) => self.changes(system, *action),
            Event::Expected(action, exception) => {
                self.changes(system, *action);
                self.console
                    .say(format_args!("    raised {exception}, as expected"));
            }
        }
        self.printed(system);
        say_log(self.console, system);
    }
}
