//! Runs that failed: made short, told, and written to be run again.

use std::time::Duration;

use testwright_core::product::{Label, Product};
use testwright_core::shrink::{ReduceOptions, reduce};
use testwright_core::{Error, Failure, Step, Test};
use testwright_model::{Implementation, Walk, step_text, suite_file};
use testwright_python::Models;

use crate::console::{Console, Look};
use crate::files::Place;
use crate::{Trouble, quantity};

/// A run that failed.
pub(super) struct FailingRun {
    pub(super) run: usize,
    pub(super) why: String,
    /// The steps that somebody chose.
    pub(super) chosen: Vec<Label>,
    /// All steps, those that were observed included.
    pub(super) all: Vec<Label>,
}

/// How to deal with runs that failed.
pub(super) struct Failing<'f> {
    pub(super) models: &'f [String],
    pub(super) stepper: Option<&'f str>,
    pub(super) patience: Duration,
    pub(super) reduce: bool,
    pub(super) folder: &'f Place,
    pub(super) line: String,
}

/// How many different failures are looked at.
const MOST: usize = 5;

/// How often a run is tried again before it counts as one that does not fail again.
const TRIES: usize = 5;

/// What is left of a run.
struct Short {
    steps: Vec<Label>,
    why: String,
    story: String,
    /// Where the stepper raised, if it did.
    traceback: Option<String>,
}

impl Failing<'_> {
    /// Tells the different failures, each with a short run, and writes them.
    pub(super) fn tell(
        &self,
        console: &mut Console<'_>,
        models: &mut Models<'_>,
        failing: &[FailingRun],
    ) -> Result<(), Trouble> {
        let mut seen: Vec<String> = Vec::new();
        for run in failing {
            let kind: String = run
                .why
                .chars()
                .filter(|letter| !letter.is_ascii_digit())
                .collect();
            if seen.contains(&kind) {
                continue;
            }
            seen.push(kind);
            if seen.len() > MOST {
                console.say("Further failures are not looked at; mend these first");
                break;
            }
            let number = seen.len();
            let short = self.shorten(models, run);
            console.say("");
            let title = console.paint(Look::Bad, format!("Failure {number}: {}", short.why));
            console.say(title);
            console.say(&short.story);
            for step in &short.steps {
                let text = step_text(models.product.words(), *step);
                console.say(format_args!("    {text}"));
            }
            for line in short
                .traceback
                .iter()
                .flat_map(|traceback| traceback.lines())
            {
                console.say(format_args!("  | {line}"));
            }
            self.write(console, &models.product, number, &short)?;
        }
        Ok(())
    }

    /// The fewest steps that fail in the same way, if it fails again at all.
    fn shorten(&self, models: &mut Models<'_>, run: &FailingRun) -> Short {
        let steps = quantity::of(run.all.len() as u64, "step");
        let as_it_was = |story: String| Short {
            steps: run.all.clone(),
            why: run.why.clone(),
            story,
            traceback: None,
        };
        let Some(stepper) = self.stepper.filter(|_| self.reduce) else {
            return as_it_was(format!("Run {}, {steps}:", run.run));
        };
        match self.reduced(models, stepper, run) {
            Ok(Some(short)) => short,
            Ok(None) => as_it_was(format!(
                "Run {}, {steps}, not reduced, since it did not fail again in {TRIES} tries:",
                run.run
            )),
            Err(error) => as_it_was(format!("Run {}, {steps}, not reduced: {error}:", run.run)),
        }
    }

    fn reduced(
        &self,
        models: &mut Models<'_>,
        stepper: &str,
        run: &FailingRun,
    ) -> Result<Option<Short>, Error> {
        let trouble = |trouble: testwright_core::product::Trouble| Error::new(trouble.to_string());
        let mut stepper = models
            .stepper(stepper, Some(self.patience))
            .map_err(trouble)?;
        let implementation: &mut dyn Implementation = &mut stepper;
        let mut walk = Walk::new(&mut models.product, Some(implementation)).map_err(trouble)?;
        walk.has_begun();
        let chosen: Vec<_> = run
            .chosen
            .iter()
            .map(|label| (label.name, label.arguments))
            .collect();
        let test = Test::of(
            chosen
                .iter()
                .map(|(name, arguments)| walk.action(*name, *arguments)),
        );
        let mut failure: Option<Failure> = None;
        for _ in 0..TRIES {
            failure = walk.play(&chosen)?;
            if failure.is_some() {
                break;
            }
        }
        let Some(failure) = failure else {
            return Ok(None);
        };
        let proceed = &mut || !testwright_python::asked_to_stop();
        let reduction = reduce(
            &mut walk,
            &test,
            &failure,
            &ReduceOptions::default(),
            proceed,
        );
        let reduction = reduction.map_err(|error| Error::new(error.to_string()))?;
        let actions = reduction.test.steps.iter().filter_map(|step| match step {
            Step::Act(action) => Some(walk.chosen(*action)),
            Step::Restart => None,
        });
        let actions: Vec<_> = actions.collect();
        // What the model expects of each step is worth showing.
        let steps = walk.expected(&actions)?;
        drop(walk);
        let traceback = stepper.traceback().map(str::to_owned);
        Ok(Some(Short {
            steps,
            traceback: traceback
                .filter(|_| reduction.failure.message.starts_with("stepper raised")),
            why: reduction.failure.message,
            story: format!(
                "Run {}, reduced from {} to {} in {}:",
                run.run,
                run.chosen.len(),
                quantity::of(actions.len() as u64, "step"),
                quantity::of(reduction.runs, "run"),
            ),
        }))
    }

    fn write(
        &self,
        console: &mut Console<'_>,
        product: &Product<'_>,
        number: usize,
        short: &Short,
    ) -> Result<(), Trouble> {
        let words = product.words();
        let runs = [short.steps.clone()];
        let suite = suite_file::write(words, product.vocabulary(), &runs, &self.line);
        let place = self.folder.inside(&format!("failure_{number}.py"));
        place.write(&suite)?;
        console.say(format_args!("Written: {}", place.shown().display()));
        if let Some(stepper) = self.stepper {
            let place = self.folder.inside(&format!("test_failure_{number}.py"));
            place.write(&self.unit_test(product, stepper, number, short))?;
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
    ) -> String {
        let words = product.words();
        let names: Vec<String> = self.models.iter().map(|name| literal(name)).collect();
        let steps: Vec<String> = short
            .steps
            .iter()
            .map(|step| {
                let name = literal(words.name_text(step.name));
                format!(
                    "            ({name}, {}),\n",
                    words.value_text(step.arguments).literal
                )
            })
            .collect();
        let why = short
            .why
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace(['\n', '\r'], " ");
        format!(
            "# {}\n\nfrom testwright import models\n\n\ndef test_failure_{number}():\n    \"\"\"{why}\"\"\"\n    \
             models.replay(\n        models=[{}],\n        stepper={},\n        steps=[\n{}        ],\n    )\n",
            self.line.replace(['\n', '\r'], " "),
            names.join(", "),
            literal(stepper),
            steps.concat(),
        )
    }
}

/// A text as Python writes it.
fn literal(text: &str) -> String {
    // JSON's texts are Python's, too.
    serde_json::Value::from(text).to_string()
}
