//! Failed runs: shrunk, printed, and written as suites and pytest files.

use std::path::Path;
use std::time::Duration;

use testwright_core::product::{ModelError, NameId, Product, StepLabel, ValueId};
use testwright_core::{Error, Failure, FailureKind};
use testwright_model::{Implementation, RecordedRun, prepare_run, shrink, step_text, suite_file};
use testwright_python::{Models, StandaloneStyle};
use testwright_readable::counterexample::RunStep;

use super::explained_runs::{ExplainedRun, ExplanationWriter};
use super::test::stepper_limits;
use crate::console::{Console, TextStyle};
use crate::files::{UserPath, is_file_of_model_test};
use crate::models::ModelPytestFile;
use crate::unit_test::{UnitTestDraft, UnitTestForm};
use crate::{CommandError, quantity};

/// A run that failed.
pub(super) struct FailingRun {
    /// Number of the run.
    pub(super) run: usize,
    pub(super) failure: Failure,
    /// Steps; true for those that the implementation took by itself.
    pub(super) steps: Vec<(StepLabel, bool)>,
}

impl FailingRun {
    /// Returns the steps that the chooser chose: name and arguments.
    fn chosen_steps(&self) -> Vec<(NameId, ValueId)> {
        let chosen = self.steps.iter().filter(|(_, is_observed)| !is_observed);
        chosen
            .map(|(label, _)| (label.name, label.arguments))
            .collect()
    }
}

/// Shrinks, prints and writes runs that failed.
pub(super) struct FailureReporter<'f> {
    /// Names of the models.
    pub(super) models: &'f [String],
    /// Name of the stepper module.
    pub(super) stepper: Option<&'f str>,
    /// Time limit of the stepper.
    pub(super) timeout: Duration,
    /// True if failing runs are shrunk.
    pub(super) reduce: bool,
    /// Writer of explanations, if they are requested.
    pub(super) explanations: Option<&'f ExplanationWriter<'f>>,
    /// True if a state in which an invariant does not hold is a failure.
    pub(super) check: bool,
    /// Folder for the files.
    pub(super) folder: &'f UserPath,
    /// Folder that the names of models are relative to.
    pub(super) model_folder: &'f Path,
    /// Command for the header of the files.
    pub(super) command_line: String,
}

/// Maximum number of different failures that are reported.
const MAX_FAILURES: usize = 5;

/// Number of times that a pytest file plays a run that does not always fail.
const FLAKY_TRIES: usize = 20;

/// A failing run with as few steps as possible.
struct ShrunkRun {
    /// All steps; true for those that the implementation took by itself.
    steps: Vec<(StepLabel, bool)>,
    /// Steps to choose when it is played: name and arguments.
    chosen_steps: Vec<(NameId, ValueId)>,
    failure: Failure,
    /// One line about the reduction.
    summary: String,
    /// Traceback, if the stepper raised an exception.
    traceback: Option<String>,
    /// True if the run fails each time, as far as is known.
    is_reliable: bool,
}

impl FailureReporter<'_> {
    /// Reports each different failure with a short run, and writes its files.
    pub(super) fn report(
        &self,
        console: &mut Console<'_>,
        models: &mut Models<'_>,
        failing: &[FailingRun],
    ) -> Result<(), CommandError> {
        let mut reported: Vec<&Failure> = Vec::new();
        for run in failing {
            if reported.iter().any(|other| other.is_same_as(&run.failure)) {
                continue;
            }
            if reported.len() == MAX_FAILURES {
                console.out("Further failures are not shown; fix these first");
                break;
            }
            reported.push(&run.failure);
            let number = reported.len();
            console.flush();
            let shrunk = self.shrink_run(models, run);
            testwright_python::flush();
            console.out("");
            let title = format!("Failure {number}: {}", shrunk.failure.message);
            let title = console.paint(TextStyle::Failure, title);
            console.out(title);
            console.out(&shrunk.summary);
            for (step, is_observed) in &shrunk.steps {
                let text = step_text(models.product.interner(), *step);
                let mark = if *is_observed { "  (observed)" } else { "" };
                console.out(format_args!("    {text}{mark}"));
            }
            for line in shrunk.failure.details.lines() {
                console.out(format_args!("  {line}"));
            }
            let traceback = shrunk.traceback.iter();
            for line in traceback.flat_map(|traceback| traceback.lines()) {
                console.out(format_args!("  | {line}"));
            }
            let explained = self.explain(&models.product, &shrunk);
            if let Some((_, explained)) = &explained {
                explained.explained.print(console);
            }
            self.write(console, &models.product, number, run.run, &shrunk)?;
            if let Some((writer, explained)) = explained {
                writer.write(console, &format!("failure_{number}"), &explained)?;
            }
        }
        Ok(())
    }

    /// Explains the run in English, if that is requested.
    fn explain(
        &self,
        product: &Product<'_>,
        shrunk: &ShrunkRun,
    ) -> Option<(&ExplanationWriter<'_>, ExplainedRun)> {
        let writer = self.explanations?;
        let taken = |(label, is_observed): &(StepLabel, bool)| RunStep {
            text: step_text(product.interner(), *label),
            is_observed: *is_observed,
        };
        let steps: Vec<RunStep> = shrunk.steps.iter().map(taken).collect();
        Some((writer, writer.explain(&steps, &shrunk.failure)?))
    }

    /// Shrinks a run; returns it unchanged if that is not possible.
    fn shrink_run(&self, models: &mut Models<'_>, run: &FailingRun) -> ShrunkRun {
        let unchanged = |reason: &str| ShrunkRun {
            steps: run.steps.clone(),
            chosen_steps: run.chosen_steps(),
            failure: run.failure.clone(),
            summary: format!(
                "Run {}, {}{reason}:",
                run.run,
                quantity::format_count(run.steps.len() as u64, "step")
            ),
            traceback: None,
            is_reliable: true,
        };
        let Some(stepper) = self.stepper.filter(|_| self.reduce) else {
            return unchanged("");
        };
        // The results in a suite alone are those of its whole runs.
        if models.product.has_action_of_suite_only() && !has_raised(&run.failure) {
            return unchanged(
                ", not reduced, since only a model knows the results of shorter runs: name it, too",
            );
        }
        models.product.allow_gaps();
        match self.try_shrink(models, stepper, run) {
            Ok(Some(shrunk)) => shrunk,
            Ok(None) => ShrunkRun {
                is_reliable: false,
                ..unchanged(", not reduced, since it did not fail again")
            },
            Err(error) => unchanged(&format!(", not reduced: {error}")),
        }
    }

    /// Shrinks a run; `None` if it does not fail again.
    fn try_shrink(
        &self,
        models: &mut Models<'_>,
        stepper: &str,
        run: &FailingRun,
    ) -> Result<Option<ShrunkRun>, Error> {
        let stepper = models.stepper(stepper, Some(stepper_limits(self.timeout)));
        let mut stepper = stepper.map_err(|error| Error::new(error.to_string()))?;
        let recorded = RecordedRun {
            run: run.run,
            steps: run.chosen_steps(),
            check_invariants: self.check,
        };
        let proceed = &mut || !testwright_python::is_stop_requested();
        let product = &mut models.product;
        let Some(mut shrunk) = shrink(product, &mut stepper, &recorded, &run.failure, proceed)?
        else {
            return Ok(None);
        };
        if shrunk.failure.kind == FailureKind::Hang {
            // Trials do not wait as long as a hang takes to be sure of.
            stepper.use_full_limits();
            let recorded = RecordedRun {
                steps: shrunk.steps.clone(),
                ..recorded.clone()
            };
            let to_error = |error: ModelError| Error::new(error.to_string());
            prepare_run(&mut stepper).map_err(to_error)?;
            let replayed = recorded.replay(product, &mut stepper).map_err(to_error)?;
            match replayed.failure {
                Some(failure) if failure.is_same_as(&run.failure) => shrunk.failure = failure,
                _ => return Ok(None),
            }
        }
        let has_raised = has_raised(&shrunk.failure) || shrunk.failure.kind == FailureKind::Hang;
        let odds = match shrunk.failure_rate {
            None => String::new(),
            Some((0, tries)) => format!("; it did not fail again in {tries} tries"),
            Some((failed, tries)) => format!("; it fails in {failed} of {tries} tries"),
        };
        let summary = format!(
            "Run {}, reduced from {} to {} in {}{odds}:",
            run.run,
            recorded.steps.len(),
            quantity::format_count(shrunk.steps.len() as u64, "step"),
            quantity::format_count(shrunk.replays, "run"),
        );
        Ok(Some(ShrunkRun {
            steps: shrunk.replayed.steps,
            chosen_steps: shrunk.steps,
            failure: shrunk.failure,
            summary,
            traceback: stepper
                .traceback()
                .filter(|_| has_raised)
                .map(str::to_owned),
            is_reliable: shrunk.failure_rate.is_none() && !stepper.is_asynchronous(),
        }))
    }

    /// Writes the run as a suite module and, with a stepper, as a pytest file.
    fn write(
        &self,
        console: &mut Console<'_>,
        product: &Product<'_>,
        number: usize,
        run: usize,
        shrunk: &ShrunkRun,
    ) -> Result<(), CommandError> {
        let interner = product.interner();
        let steps: Vec<StepLabel> = shrunk.steps.iter().map(|(label, _)| *label).collect();
        let suite = suite_file::write(interner, product.vocabulary(), &[steps], &self.command_line);
        let file = self.folder.join(&format!("failure_{number}.py"));
        file.write(&suite)?;
        console.out(format_args!("Written: {}", file.shown().display()));
        if let Some(stepper) = self.stepper {
            let file = self.unit_test_file(number);
            let text = self.unit_test(product, stepper, number, run, shrunk);
            match confirmed(text, &shrunk.failure, &file) {
                Ok(text) => {
                    file.write(&text)?;
                    console.out(format_args!("Written: {}", file.shown().display()));
                }
                Err(error) => {
                    let message = format!(
                        "there is no pytest file for this failure: {}",
                        error.message
                    );
                    console.warning(&message, error.help.as_deref());
                }
            }
        }
        Ok(())
    }

    /// Returns the path of a pytest file. A file of `testwright run` is not overwritten.
    fn unit_test_file(&self, number: usize) -> UserPath {
        let file = self.folder.join(&format!("test_failure_{number}.py"));
        if file.absolute().exists() && !is_file_of_model_test(file.absolute()) {
            return self.folder.join(&format!("test_model_failure_{number}.py"));
        }
        file
    }

    /// Returns the text of a pytest file that plays the run.
    fn unit_test(
        &self,
        product: &Product<'_>,
        stepper: &str,
        number: usize,
        run: usize,
        shrunk: &ShrunkRun,
    ) -> String {
        let interner = product.interner();
        let step = |(name, arguments): &(NameId, ValueId)| {
            (
                interner.name_text(*name).to_owned(),
                interner.value_text(*arguments).literal.clone(),
            )
        };
        let file = ModelPytestFile {
            command_line: &self.command_line,
            title: &format!("failure_{number}"),
            models: self.models,
            stepper,
            model_folder: self.model_folder,
            steps: shrunk.chosen_steps.iter().map(step).collect(),
            reason: &shrunk.failure.message,
            timeout: self.timeout,
            check: self.check,
            run: product.has_suite().then_some(run),
            tries: (!shrunk.is_reliable).then_some(FLAKY_TRIES),
        };
        file.write(self.folder.absolute())
    }
}

/// Returns true if the stepper raised an exception.
fn has_raised(failure: &Failure) -> bool {
    failure.message.starts_with("stepper raised")
}

/// Returns the text of a pytest file if it fails when it is run by itself.
fn confirmed(text: String, failure: &Failure, file: &UserPath) -> Result<String, Error> {
    let program = testwright_python::attach(testwright_python::executable);
    let draft = UnitTestDraft {
        forms: vec![UnitTestForm::Replay(text)],
        limit: None,
        process_context: program.zip(std::env::current_dir().ok()),
    };
    draft.confirmed(StandaloneStyle::Pytest, Some(failure), file.absolute())
}
