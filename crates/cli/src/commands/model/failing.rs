//! Runs that failed: made short, told, and written to be run again.

use std::path::{Component, Path};
use std::time::Duration;

use testwright_core::product::{Label, NameId, Product, ValueId};
use testwright_core::{Error, Failure};
use testwright_model::{Implementation, RunEnd, Script, shorten, step_text, suite_file};
use testwright_python::Models;
use testwright_readable::counterexample::Taken;

use super::telling::{Telling, ToldRun};
use crate::console::{Console, Look};
use crate::files::Place;
use crate::{Trouble, quantity};

/// A run that failed.
pub(super) struct FailingRun {
    pub(super) run: usize,
    pub(super) failure: Failure,
    /// Its steps, and whether the implementation took them by itself.
    pub(super) steps: Vec<(Label, bool)>,
}

impl FailingRun {
    /// The steps that somebody chose.
    fn chosen(&self) -> Vec<(NameId, ValueId)> {
        let chosen = self.steps.iter().filter(|(_, is_observed)| !is_observed);
        chosen
            .map(|(label, _)| (label.name, label.arguments))
            .collect()
    }
}

/// How to deal with runs that failed.
pub(super) struct Failing<'f> {
    pub(super) models: &'f [String],
    pub(super) stepper: Option<&'f str>,
    pub(super) patience: Duration,
    pub(super) reduce: bool,
    /// How runs are told in English, if that is wanted.
    pub(super) telling: Option<&'f Telling<'f>>,
    /// Whether a state in which an invariant does not hold is a failure.
    pub(super) check: bool,
    /// Where to write them.
    pub(super) folder: &'f Place,
    /// The folder that names of models refer to.
    pub(super) here: &'f Path,
    pub(super) line: String,
}

/// How long a stepper may take unless somebody says otherwise.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// How many different failures are looked at.
const MOST: usize = 5;

/// How often a pytest file plays a run that does not fail each time.
const TRIES: usize = 20;

/// What is left of a run.
struct Short {
    /// What happened in it.
    steps: Vec<(Label, bool)>,
    /// What of that somebody has to choose.
    chosen: Vec<(NameId, ValueId)>,
    failure: Failure,
    story: String,
    /// Where the stepper raised, if it did.
    traceback: Option<String>,
    /// Whether it fails each time, as far as is known.
    always: bool,
}

impl Failing<'_> {
    /// Tells the different failures, each with a short run, and writes them.
    pub(super) fn tell(
        &self,
        console: &mut Console<'_>,
        models: &mut Models<'_>,
        failing: &[FailingRun],
    ) -> Result<(), Trouble> {
        let mut seen: Vec<&Failure> = Vec::new();
        for run in failing {
            if seen.iter().any(|other| other.is_same_as(&run.failure)) {
                continue;
            }
            if seen.len() == MOST {
                console.say("Further failures are not looked at; mend these first");
                break;
            }
            seen.push(&run.failure);
            let number = seen.len();
            console.flush();
            let short = self.shorten(models, run);
            testwright_python::flush();
            console.say("");
            let title = format!("Failure {number}: {}", short.failure.message);
            let title = console.paint(Look::Bad, title);
            console.say(title);
            console.say(&short.story);
            for (step, is_observed) in &short.steps {
                let text = step_text(models.product.words(), *step);
                let seen = if *is_observed { "  (observed)" } else { "" };
                console.say(format_args!("    {text}{seen}"));
            }
            for line in short.failure.details.lines() {
                console.say(format_args!("  {line}"));
            }
            let traceback = short.traceback.iter();
            for line in traceback.flat_map(|traceback| traceback.lines()) {
                console.say(format_args!("  | {line}"));
            }
            let told = self.told(&models.product, &short);
            if let Some((_, told)) = &told {
                told.explained.say(console);
            }
            self.write(console, &models.product, number, run.run, &short)?;
            if let Some((telling, told)) = told {
                telling.write(console, &format!("failure_{number}"), &told)?;
            }
        }
        Ok(())
    }

    /// The run in English, and who tells it.
    fn told(&self, product: &Product<'_>, short: &Short) -> Option<(&Telling<'_>, ToldRun)> {
        let telling = self.telling?;
        let taken = |(label, is_observed): &(Label, bool)| Taken {
            text: step_text(product.words(), *label),
            is_observed: *is_observed,
        };
        let steps: Vec<Taken> = short.steps.iter().map(taken).collect();
        Some((telling, telling.told(&steps, &short.failure)?))
    }

    /// The fewest steps that fail in the same way, if it fails again at all.
    fn shorten(&self, models: &mut Models<'_>, run: &FailingRun) -> Short {
        let as_it_was = |why: &str| Short {
            steps: run.steps.clone(),
            chosen: run.chosen(),
            failure: run.failure.clone(),
            story: format!(
                "Run {}, {}{why}:",
                run.run,
                quantity::of(run.steps.len() as u64, "step")
            ),
            traceback: None,
            always: true,
        };
        let Some(stepper) = self.stepper.filter(|_| self.reduce) else {
            return as_it_was("");
        };
        if models.product.has_suite() {
            return as_it_was(", not reduced, since a suite has only its own runs");
        }
        if run.failure.message == RunEnd::NOT_ACCEPTING {
            return as_it_was(", not reduced, since a part of it would not come to its end either");
        }
        match self.reduced(models, stepper, run) {
            Ok(Some(short)) => short,
            Ok(None) => Short {
                always: false,
                ..as_it_was(", not reduced, since it did not fail again")
            },
            Err(error) => as_it_was(&format!(", not reduced: {error}")),
        }
    }

    fn reduced(
        &self,
        models: &mut Models<'_>,
        stepper: &str,
        run: &FailingRun,
    ) -> Result<Option<Short>, Error> {
        let stepper = models.stepper(stepper, Some(self.patience));
        let mut stepper = stepper.map_err(|trouble| Error::new(trouble.to_string()))?;
        let script = Script {
            run: run.run,
            steps: run.chosen(),
            check: self.check,
        };
        let proceed = &mut || !testwright_python::asked_to_stop();
        let product = &mut models.product;
        let Some(short) = shorten(product, &mut stepper, &script, &run.failure, proceed)? else {
            return Ok(None);
        };
        let has_raised = short.failure.message.starts_with("stepper raised");
        let odds = match short.odds {
            None => String::new(),
            Some((0, tries)) => format!("; it did not fail again in {tries} tries"),
            Some((failed, tries)) => format!("; it fails in {failed} of {tries} tries"),
        };
        let story = format!(
            "Run {}, reduced from {} to {} in {}{odds}:",
            run.run,
            script.steps.len(),
            quantity::of(short.steps.len() as u64, "step"),
            quantity::of(short.plays, "run"),
        );
        Ok(Some(Short {
            steps: short.replayed.steps,
            chosen: short.steps,
            failure: short.failure,
            story,
            traceback: stepper
                .traceback()
                .filter(|_| has_raised)
                .map(str::to_owned),
            always: short.odds.is_none() && !stepper.is_asynchronous(),
        }))
    }

    fn write(
        &self,
        console: &mut Console<'_>,
        product: &Product<'_>,
        number: usize,
        run: usize,
        short: &Short,
    ) -> Result<(), Trouble> {
        let words = product.words();
        let steps: Vec<Label> = short.steps.iter().map(|(label, _)| *label).collect();
        let suite = suite_file::write(words, product.vocabulary(), &[steps], &self.line);
        let place = self.folder.inside(&format!("failure_{number}.py"));
        place.write(&suite)?;
        console.say(format_args!("Written: {}", place.shown().display()));
        if let Some(stepper) = self.stepper {
            let place = self.folder.inside(&format!("test_failure_{number}.py"));
            let mut more = String::new();
            if product.has_suite() {
                more += &format!("        run={run},\n");
            }
            if self.patience != PATIENCE {
                more += &format!("        timeout={:?},\n", self.patience.as_secs_f64());
            }
            if !short.always {
                more += &format!("        tries={TRIES},\n");
            }
            place.write(&self.unit_test(product, stepper, number, short, &more))?;
            console.say(format_args!("Written: {}", place.shown().display()));
        }
        Ok(())
    }

    /// A pytest file that plays the run again.
    fn unit_test(
        &self,
        product: &Product<'_>,
        stepper: &str,
        number: usize,
        short: &Short,
        more: &str,
    ) -> String {
        let words = product.words();
        let names: Vec<String> = self.models.iter().map(|name| literal(name)).collect();
        let step = |(name, arguments): &(NameId, ValueId)| {
            let name = literal(words.name_text(*name));
            let arguments = &words.value_text(*arguments).literal;
            format!("            ({name}, {arguments}),\n")
        };
        let steps: String = short.chosen.iter().map(step).collect();
        let folder = folder_above(self.here, self.folder.absolute());
        let why = &short.failure.message;
        let why = why.replace('\\', "\\\\").replace('"', "\\\"");
        let why = why.replace(['\n', '\r'], " ");
        format!(
            "# {}\n\nfrom pathlib import Path\n\nfrom testwright import models\n\n\n\
             def test_failure_{number}():\n    \"\"\"{why}\"\"\"\n    models.replay(\n        \
             folder={folder},\n        models=[{}],\n        stepper={},\n        \
             steps=[\n{steps}        ],\n{more}    )\n",
            self.line.replace(['\n', '\r'], " "),
            names.join(", "),
            literal(stepper),
        )
    }
}

/// The folder `here` as a Python expression in a file of another folder: files that are moved together find each other
/// wherever they are.
fn folder_above(here: &Path, other: &Path) -> String {
    let goes_up = other.components().any(|part| part == Component::ParentDir);
    match other.strip_prefix(here) {
        Ok(inside) if !goes_up => format!(
            "Path(__file__).resolve().parents[{}]",
            inside.components().count()
        ),
        _ => format!("Path({})", literal(&here.to_string_lossy())),
    }
}

/// A text as Python writes it.
fn literal(text: &str) -> String {
    // JSON's texts are Python's, too.
    serde_json::Value::from(text).to_string()
}
