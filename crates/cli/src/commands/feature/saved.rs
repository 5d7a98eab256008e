//! Saved tests that fail, written as features that run.

use std::cell::RefCell;
use std::path::Path;

use testwright_core::replay::{ReplayOptions, ReplayWatcher, replay};
use testwright_core::{ActionId, Error, Failure, Test, TraceEvent};
use testwright_python::{OutputMode, PythonSystem, TestPieces};
use testwright_readable::counterexample::{RenderedCounterexample, RunStep, TestCode};
use testwright_readable::explain::Actor;
use testwright_readable::gherkin;
use testwright_readable::idiom::Vocabulary;
use testwright_readable::phrase::Phraser;
use testwright_readable::property::RenderedFeature;
use testwright_readable::steps::{self, FeatureRunner, GeneratedFile};

use super::FeatureCommand;
use super::module_location::folder_of;
use super::output::{Attachments, FeatureFolder};
use super::run_setup::model_run_setup;
use crate::console::Console;
use crate::explanation::HarnessExplainer;
use crate::files::{TextFile, UserPath};
use crate::guard::{report_crash, run_guarded};
use crate::models::RunExplainer;
use crate::source::SystemSource;
use crate::target::Target;
use crate::test_source::TestSetup;
use crate::{CommandError, ExitStatus, load};

impl FeatureCommand {
    /// Writes the feature of a saved test that fails.
    pub(super) fn saved_test(
        &self,
        console: &mut Console<'_>,
        path: &Path,
        vocabulary: &Vocabulary,
        written: &mut Vec<gherkin::Feature>,
    ) -> Result<ExitStatus, CommandError> {
        let file = TextFile::read(path)?;
        let mut setup = self.setup.clone();
        let source = setup.restore(&[path.to_owned()])?;
        let folder = UserPath::new(self.out.as_deref().unwrap_or_else(|| folder_of(path)))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let saved = SavedTestFeature {
            feature: self,
            setup,
            file,
            name: name.into_owned(),
            folder: &folder,
            phraser: Phraser::new(vocabulary),
            runner: self
                .steps
                .map_or(FeatureRunner::PytestBdd, FeatureRunner::from),
        };
        let status = match source {
            SystemSource::Harness(harness) => saved.write_for_harness(console, &harness)?,
            SystemSource::Models(_) => saved.write_for_models(console, source)?,
        };
        if status.code() == ExitStatus::FailureFound.code() {
            // A child process has written it. Only the tags are needed here, for `pytest.ini`.
            written.push(gherkin::Feature {
                tags: vec!["counterexample".to_owned()],
                ..gherkin::Feature::default()
            });
        }
        Ok(status)
    }
}

/// Records the steps of a test, including those that the implementation takes by itself.
#[derive(Default)]
struct StepRecorder(Vec<RunStep>);

impl ReplayWatcher<dyn Target + '_> for StepRecorder {
    fn before_step(&mut self, system: &mut (dyn Target + '_), action: ActionId) {
        let text = system.actions().text(action);
        self.0.push(RunStep::chosen(text));
    }

    fn after_step(&mut self, system: &mut (dyn Target + '_), event: &TraceEvent) {
        if *event == TraceEvent::Restarted {
            self.0.clear();
        }
        let observed = system.take_observed().into_iter();
        self.0.extend(observed.map(RunStep::observed));
    }
}

/// A saved test, and the settings of its feature.
struct SavedTestFeature<'a> {
    feature: &'a FeatureCommand,
    /// Options of the command and notes of the test.
    setup: TestSetup,
    file: TextFile,
    /// Name of the feature file, without its ending.
    name: String,
    folder: &'a UserPath,
    phraser: Phraser<'a>,
    runner: FeatureRunner,
}

impl SavedTestFeature<'_> {
    /// Writes the feature of a test of a harness.
    fn write_for_harness(
        &self,
        console: &mut Console<'_>,
        harness: &Path,
    ) -> Result<ExitStatus, CommandError> {
        let feature = format!("{}.feature", self.name);
        let step_file = steps::step_file(self.runner, &feature);
        let step_file = self.folder.absolute().join(step_file);
        let options = self.setup.system.options(OutputMode::Drop);
        let (file, harness) = load::harness(console, harness)?;
        let explaining = HarnessExplainer::new(&file, &harness);
        // The test is run to see what its steps do, and may end the process.
        run_guarded(
            console,
            Some(self.setup.system.step_timeout),
            report_crash,
            |console, note| {
                let work = |console: &mut Console<'_>, system: &mut PythonSystem<'_>| {
                    let (_, test) = load::test(console, system, self.file.clone())?;
                    note.write("while the test ran");
                    let pieces = system.test_pieces(&test, &step_file, self.setup.check())?;
                    let Some(failure) = &pieces.failure else {
                        return Ok(self.report_passing(console));
                    };
                    if self.feature.steps.is_some() {
                        check_name_clashes(&pieces.preamble)?;
                    }
                    let found = render(&explaining, &pieces, failure, &self.phraser);
                    self.write(console, &found, |runner, feature, rendered| {
                        steps::write_scenarios(
                            runner,
                            feature,
                            &pieces.preamble,
                            &rendered.scenarios,
                        )
                    })
                };
                load::with_system(console, &file, harness, &options, work)
            },
        )
    }

    /// Writes the feature of a test of models.
    fn write_for_models(
        &self,
        console: &mut Console<'_>,
        source: SystemSource,
    ) -> Result<ExitStatus, CommandError> {
        let arguments = &self.setup.system;
        let options = self.setup.options(&source, OutputMode::Drop)?;
        let stepper = self.setup.stepper.name();
        let files = source.files();
        let patience = arguments.step_timeout / 2;
        let setup = model_run_setup(
            &files,
            stepper.as_deref(),
            patience,
            self.folder,
            self.runner,
        )?;
        let names: Vec<String> = files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        let explaining = RunExplainer::new(&names);
        let actor = match stepper {
            Some(_) => Actor::Compared,
            None => Actor::Models,
        };
        let write_counterexample =
            |console: &mut Console<'_>, steps: &[RunStep], failure: &Failure| {
                let found = explaining.counterexample(steps, failure, Some(&actor), &self.phraser);
                if self.feature.steps.is_some() && found.rendered.scenarios.is_empty() {
                    let message = "there are no step definitions for this: \
                               a step is done with something that has no notation";
                    let help = "leave out `--steps`; `testwright replay` runs the test";
                    return Err(Error::new(message).with_help(help).into());
                }
                self.write(console, &found, |runner, feature, rendered| {
                    steps::write_model_scenarios(runner, feature, &setup, &rendered.scenarios)
                })
            };
        let work = |console: &mut Console<'_>, system: &mut dyn Target, test: Test| {
            let mut steps = StepRecorder::default();
            let trace = replay(
                system,
                &test,
                &ReplayOptions {
                    check: self.setup.check(),
                },
                &mut steps,
            )?;
            match trace.failure() {
                Some(failure) => write_counterexample(console, &steps.0, failure),
                None => Ok(self.report_passing(console)),
            }
        };
        // After a crash or a hang, the note has the steps up to it.
        let ended = |console: &mut Console<'_>, note: &str, failure: &Failure| {
            let lines = note.lines().filter(|line| !line.is_empty());
            let steps: Vec<RunStep> = lines.map(|line| RunStep::chosen(line.to_owned())).collect();
            if steps.is_empty() {
                report_crash(console, "where runs begin", failure)
            } else {
                write_counterexample(console, &steps, failure)
            }
        };
        let ready = source.read(console)?;
        let file = self.file.clone();
        ready.with_test_guarded(console, file, &options, arguments, ended, work)
    }

    /// Prints that the test passes, so that there is no feature to write.
    fn report_passing(&self, console: &mut Console<'_>) -> ExitStatus {
        let name = &self.file.name;
        console.out(format_args!("{name}: passes, so no feature is written"));
        ExitStatus::NothingFound
    }

    /// Writes the feature files.
    fn write(
        &self,
        console: &mut Console<'_>,
        found: &RenderedCounterexample,
        steps: impl Fn(FeatureRunner, &str, &RenderedFeature) -> Vec<GeneratedFile>,
    ) -> Result<ExitStatus, CommandError> {
        console.out(format_args!("{}: fails", self.file.name));
        let folder = FeatureFolder {
            feature: self.feature,
            folder: self.folder,
            listed: RefCell::default(),
        };
        let attachments = Attachments {
            diagram: Some(&found.diagram).filter(|_| !self.feature.no_diagram),
            source: &self.file.text,
            ..Attachments::default()
        };
        let rendered = found.rendered.clone();
        folder.write_feature(
            console,
            &self.name,
            rendered,
            &attachments,
            steps,
            &mut Vec::new(),
        )?;
        Ok(ExitStatus::FailureFound)
    }
}

/// Renders a failing test of a harness in English, with the code of its steps.
fn render(
    explaining: &HarnessExplainer,
    pieces: &TestPieces,
    failure: &Failure,
    phraser: &Phraser<'_>,
) -> RenderedCounterexample {
    let (texts, steps): (Vec<String>, Vec<Vec<String>>) = pieces.steps.iter().cloned().unzip();
    let acts = TestCode {
        before: pieces.before.clone(),
        steps,
        check: pieces.check.clone(),
        last: pieces.last.clone(),
    };
    explaining.counterexample(&texts, failure, Some(&acts), phraser)
}

/// Fails if the harness defines a name that step files define, too.
fn check_name_clashes(code: &str) -> Result<(), Error> {
    let own = steps::reserved_names();
    let defined = testwright_source::definitions(code).unwrap_or_default();
    let mut clashing = defined
        .into_iter()
        .filter(|definition| !definition.is_import)
        .flat_map(|definition| definition.defines)
        .filter(|name| own.contains(name));
    match clashing.next() {
        None => Ok(()),
        Some(name) => Err(Error::new(format!(
            "the harness and the steps would both have something called `{name}`"
        ))
        .with_help("call that of the harness something else")),
    }
}
