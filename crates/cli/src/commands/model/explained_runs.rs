//! Failed runs in English: as features with step files, as diagrams and as pages.

use testwright_core::Failure;
use testwright_readable::counterexample::RunStep;
use testwright_readable::explain::Actor;
use testwright_readable::idiom::Vocabulary;
use testwright_readable::phrase::Phraser;
use testwright_readable::steps::{self, ExecutableScenario, FeatureRunner, ModelRunSetup};

use crate::CommandError;
use crate::console::Console;
use crate::explanation::ExplainedTest;
use crate::files::UserPath;
use crate::models::RunExplainer;

/// Explains failed runs in English, and writes them as files.
pub(super) struct ExplanationWriter<'t> {
    pub(super) explainer: RunExplainer,
    /// Settings for step files, if they are requested.
    pub(super) step_files: Option<StepFileSettings>,
    /// Folder for the files.
    pub(super) folder: &'t UserPath,
}

/// Settings for step files.
pub(super) struct StepFileSettings {
    pub(super) runner: FeatureRunner,
    pub(super) setup: ModelRunSetup,
}

/// A run in English.
pub(super) struct ExplainedRun {
    pub(super) explained: ExplainedTest,
    /// Code of the steps; empty if a step cannot be written as code.
    scenarios: Vec<ExecutableScenario>,
}

impl ExplanationWriter<'_> {
    /// Explains a run; `None` if Gherkin parsers would read the text differently.
    pub(super) fn explain(&self, steps: &[RunStep], failure: &Failure) -> Option<ExplainedRun> {
        let actor = self
            .step_files
            .as_ref()
            .map(|step_files| match step_files.setup.stepper {
                Some(_) => Actor::Compared,
                None => Actor::Models,
            });
        let vocabulary = Vocabulary::default();
        let phraser = Phraser::new(&vocabulary);
        let found = self
            .explainer
            .counterexample(steps, failure, actor.as_ref(), &phraser);
        Some(ExplainedRun {
            explained: ExplainedTest::new(&found)?,
            scenarios: found.rendered.scenarios,
        })
    }

    /// Writes the feature, the diagram, the page and the step files of a run.
    pub(super) fn write(
        &self,
        console: &mut Console<'_>,
        name: &str,
        run: &ExplainedRun,
    ) -> Result<(), CommandError> {
        let feature = format!("{name}.feature");
        let explained = &run.explained;
        self.write_file(console, &feature, &explained.feature)?;
        self.write_file(console, &format!("{name}.mmd"), &explained.diagram)?;
        self.write_file(console, &format!("{name}.html"), &explained.page)?;
        let Some(StepFileSettings { runner, setup }) = &self.step_files else {
            return Ok(());
        };
        if run.scenarios.is_empty() {
            let message = "there are no step definitions for this: \
                           a step is done with something that has no notation";
            console.warning(message, None);
            return Ok(());
        }
        for file in steps::write_model_scenarios(*runner, &feature, setup, &run.scenarios) {
            self.write_file(console, &file.path, &file.text)?;
        }
        Ok(())
    }

    /// Writes a file and prints its name.
    fn write_file(
        &self,
        console: &mut Console<'_>,
        name: &str,
        text: &str,
    ) -> Result<(), CommandError> {
        let path = self.folder.join(name);
        path.write(text)?;
        console.out(format_args!("Written: {}", path.shown().display()));
        Ok(())
    }
}
