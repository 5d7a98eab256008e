//! What is left of a run that ends the process: who watches the process tells its steps, and keeps them as a suite.

use testwright_core::product::{Label, NameId, Words};
use testwright_core::{Failure, FailureKind};
use testwright_model::{step_text, suite_file};
use testwright_readable::counterexample::Taken;

use super::telling::Telling;
use crate::console::{Console, Look};
use crate::files::Place;
use crate::guard::Note;
use crate::{ExitStatus, Trouble, quantity, report};

/// Notes a run: its number, then lines for people, a step each, and among them those of a suite module.
pub(super) struct LastRun<'n> {
    note: &'n Note,
    vocabulary: Vec<NameId>,
    line: String,
    /// The beginning of the module is noted.
    has_head: bool,
}

/// What lines of the module begin with.
const OF_MODULE: char = '\t';

/// What lines for people end with that tell what the implementation did by itself.
const OBSERVED: &str = "  (observed)";

/// The module that is written, without its ending.
const SUITE: &str = "crash_suite";

impl<'n> LastRun<'n> {
    pub(super) fn new(note: &'n Note, vocabulary: Vec<NameId>, line: String) -> LastRun<'n> {
        LastRun {
            note,
            vocabulary,
            line,
            has_head: false,
        }
    }

    pub(super) fn begins(&mut self, run: usize) {
        self.has_head = false;
        self.note.write(&format!("{run}\n"));
    }

    pub(super) fn step(&mut self, words: &Words, label: Label, is_observed: bool) {
        let mut lines = String::new();
        if !std::mem::replace(&mut self.has_head, true) {
            let head = suite_file::begin(words, &self.vocabulary, &self.line);
            push_module(&mut lines, &head);
        }
        push_module(&mut lines, &suite_file::step(words, label));
        lines.push_str(&step_text(words, label).replace(['\n', '\r', OF_MODULE], " "));
        lines.push_str(if is_observed { OBSERVED } else { "" });
        lines.push('\n');
        self.note.add(&lines);
    }

    pub(super) fn ended(&mut self) {
        self.note.rest();
    }
}

fn push_module(lines: &mut String, text: &str) {
    for line in text.lines() {
        lines.push(OF_MODULE);
        lines.push_str(line);
        lines.push('\n');
    }
}

/// Tells that a run ended the process, or did not come back, and keeps it. `again` is the command.
pub(super) fn tell(
    console: &mut Console<'_>,
    folder: &Place,
    again: &Again<'_>,
    note: &str,
    failure: &Failure,
) -> Result<ExitStatus, Trouble> {
    let title = match failure.kind {
        FailureKind::Hang => "Hang",
        _ => "Crash",
    };
    let title = console.paint(Look::Bad, title);
    let (run, rest) = note.split_once('\n').unwrap_or(("", ""));
    let lines = rest.lines().filter(|line| !line.is_empty());
    let (module, steps): (Vec<&str>, Vec<&str>) =
        lines.partition(|line| line.starts_with(OF_MODULE));
    let place = match (run.is_empty(), steps.len() as u64) {
        (true, _) => "outside of runs".to_owned(),
        (false, 0) => format!("where run {run} begins"),
        (false, many) => format!("in run {run}, after {}", quantity::of(many, "step")),
    };
    console.say(format_args!("{title} {place}: {}", failure.message));
    for line in failure.details.lines() {
        console.say(format_args!("    {line}"));
    }
    for step in &steps {
        console.say(format_args!("    {step}"));
    }
    if steps.is_empty() {
        return Ok(ExitStatus::FailureFound);
    }
    let taken: Vec<Taken> = steps.iter().map(|step| taken(step)).collect();
    let told = again
        .telling
        .and_then(|telling| Some((telling, telling.told(&taken, failure)?)));
    if let Some((_, told)) = &told {
        told.explained.say(console);
    }
    // Steps are indented, and what stands before them is not.
    let (steps, head): (Vec<&str>, Vec<&str>) = module
        .iter()
        .map(|line| line.trim_start_matches(OF_MODULE))
        .partition(|line| line.starts_with("    ("));
    let text = format!(
        "{}\n  [\n{}\n  ],\n{}\n",
        head.join("\n"),
        steps.join("\n"),
        suite_file::END
    );
    let place = folder.inside(&format!("{SUITE}.py"));
    place.write(&text)?;
    console.say(format_args!("Written: {}", place.shown().display()));
    if let Some((telling, told)) = told {
        telling.write(console, SUITE, &told)?;
    }
    let stepper = again.stepper.map(|name| format!(" --stepper {name}"));
    console.say(format_args!(
        "To see it again: testwright model test {} {}{}",
        report::shell_word(place.shown()),
        again.models.join(" "),
        stepper.unwrap_or_default()
    ));
    Ok(ExitStatus::FailureFound)
}

/// A step as its line for people tells it.
fn taken(line: &str) -> Taken {
    match line.strip_suffix(OBSERVED) {
        Some(text) => Taken::observed(text.to_owned()),
        None => Taken::chosen(line.to_owned()),
    }
}

/// What the run was a run of.
pub(super) struct Again<'a> {
    pub(super) models: &'a [String],
    pub(super) stepper: Option<&'a str>,
    /// How it is told in English, if that is wanted.
    pub(super) telling: Option<&'a Telling<'a>>,
}
