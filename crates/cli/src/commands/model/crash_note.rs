//! A note about the current run of a model, for the case that it ends the process.
//!
//! The process that plays runs writes the note; after a crash or a hang, its parent prints the
//! steps and saves them as a suite.

use testwright_core::product::{Interner, NameId, StepLabel};
use testwright_core::{Failure, FailureKind};
use testwright_model::{step_text, suite_file};
use testwright_readable::counterexample::RunStep;

use super::explained_runs::ExplanationWriter;
use crate::console::{Console, TextStyle};
use crate::files::UserPath;
use crate::guard::ProgressNote;
use crate::{CommandError, ExitStatus, quantity, report};

/// Note about the current run, which the parent process reads after a crash.
///
/// It has the number of the run and a line for each step. Lines that begin with [`MODULE_MARK`]
/// form a suite module.
pub(super) struct CrashNote<'n> {
    /// Memory shared with the parent process.
    note: &'n ProgressNote,
    /// Names of all actions, for the header of the module.
    vocabulary: Vec<NameId>,
    /// Command for the header of the module.
    command_line: String,
    /// True if the beginning of the module is in the note.
    has_header: bool,
}

/// First character of the lines that belong to the module.
const MODULE_MARK: char = '\t';

/// End of a line for a step that the implementation took by itself.
const OBSERVED: &str = "  (observed)";

/// Name of the suite module, without its ending.
const SUITE: &str = "crash_suite";

impl<'n> CrashNote<'n> {
    pub(super) fn new(
        note: &'n ProgressNote,
        vocabulary: Vec<NameId>,
        command_line: String,
    ) -> CrashNote<'n> {
        CrashNote {
            note,
            vocabulary,
            command_line,
            has_header: false,
        }
    }

    /// Begins the note of a run.
    pub(super) fn start_run(&mut self, run: usize) {
        self.has_header = false;
        self.note.write(&format!("{run}\n"));
    }

    /// Adds a step.
    pub(super) fn add_step(&mut self, interner: &Interner, label: StepLabel, is_observed: bool) {
        let mut lines = String::new();
        if !std::mem::replace(&mut self.has_header, true) {
            let head = suite_file::write_header(interner, &self.vocabulary, &self.command_line);
            push_module(&mut lines, &head);
        }
        push_module(&mut lines, &suite_file::write_step(interner, label));
        lines.push_str(&step_text(interner, label).replace(['\n', '\r', MODULE_MARK], " "));
        lines.push_str(if is_observed { OBSERVED } else { "" });
        lines.push('\n');
        self.note.add(&lines);
    }

    /// Notes that no run is going on.
    pub(super) fn end_run(&mut self) {
        self.note.mark_own_work();
    }
}

/// Adds lines of the module.
fn push_module(lines: &mut String, text: &str) {
    for line in text.lines() {
        lines.push(MODULE_MARK);
        lines.push_str(line);
        lines.push('\n');
    }
}

/// Reports that a run crashed or hung, and saves it as a suite.
pub(super) fn report(
    console: &mut Console<'_>,
    folder: &UserPath,
    source: &RunSource<'_>,
    note: &str,
    failure: &Failure,
) -> Result<ExitStatus, CommandError> {
    let title = match failure.kind {
        FailureKind::Hang => "Hang",
        _ => "Crash",
    };
    let title = console.paint(TextStyle::Failure, title);
    let (run, rest) = note.split_once('\n').unwrap_or(("", ""));
    let lines = rest.lines().filter(|line| !line.is_empty());
    let (module, steps): (Vec<&str>, Vec<&str>) =
        lines.partition(|line| line.starts_with(MODULE_MARK));
    let location = match (run.is_empty(), steps.len() as u64) {
        (true, _) => "outside of runs".to_owned(),
        (false, 0) => format!("where run {run} begins"),
        (false, many) => format!(
            "in run {run}, after {}",
            quantity::format_count(many, "step")
        ),
    };
    console.out(format_args!("{title} {location}: {}", failure.message));
    for line in failure.details.lines() {
        console.out(format_args!("    {line}"));
    }
    for step in &steps {
        console.out(format_args!("    {step}"));
    }
    if steps.is_empty() {
        return Ok(ExitStatus::FailureFound);
    }
    let taken: Vec<RunStep> = steps.iter().map(|step| parse_step(step)).collect();
    let explained = source
        .explanations
        .and_then(|writer| Some((writer, writer.explain(&taken, failure)?)));
    if let Some((_, explained)) = &explained {
        explained.explained.print(console);
    }
    // Steps are indented, and the lines before them are not.
    let (steps, head): (Vec<&str>, Vec<&str>) = module
        .iter()
        .map(|line| line.trim_start_matches(MODULE_MARK))
        .partition(|line| line.starts_with("    ("));
    let text = format!(
        "{}\n  [\n{}\n  ],\n{}\n",
        head.join("\n"),
        steps.join("\n"),
        suite_file::END
    );
    let location = folder.join(&format!("{SUITE}.py"));
    location.write(&text)?;
    console.out(format_args!("Written: {}", location.shown().display()));
    if let Some((writer, explained)) = explained {
        writer.write(console, SUITE, &explained)?;
    }
    let stepper = source.stepper.map(|name| format!(" --stepper {name}"));
    console.out(format_args!(
        "To see it again: testwright model test {} {}{}",
        report::shell_word(location.shown()),
        source.models.join(" "),
        stepper.unwrap_or_default()
    ));
    Ok(ExitStatus::FailureFound)
}

/// Parses the line of a step.
fn parse_step(line: &str) -> RunStep {
    match line.strip_suffix(OBSERVED) {
        Some(text) => RunStep::observed(text.to_owned()),
        None => RunStep::chosen(line.to_owned()),
    }
}

/// Origin of the run: the arguments of the command that played it.
pub(super) struct RunSource<'a> {
    pub(super) models: &'a [String],
    pub(super) stepper: Option<&'a str>,
    /// Writer of explanations, if they are requested.
    pub(super) explanations: Option<&'a ExplanationWriter<'a>>,
}
