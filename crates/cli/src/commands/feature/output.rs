//! Printing results and writing feature files.

use std::cell::RefCell;
use std::collections::BTreeSet;

use testwright_core::Error;
use testwright_readable::counterexample::{MachineTrace, StateMachine};
use testwright_readable::explain::Actor;
use testwright_readable::gherkin::{self, FeaturePage};
use testwright_readable::mermaid::SequenceDiagram;
use testwright_readable::phrase::Phraser;
use testwright_readable::property::{
    PropertyFunction, PropertyModule, RenderedFeature, SampledProperty,
};
use testwright_readable::steps::{self, FeatureRunner, GeneratedFile, ModelRunSetup, StepModule};

use super::example_finder::PropertyResult;
use super::module_location::ModuleLocation;
use super::run_setup::model_run_setup;
use super::{DocumentName, FeatureCommand};
use crate::console::Console;
use crate::files::UserPath;
use crate::{CommandError, ExitStatus, quantity};

/// Output folder for features.
pub(super) struct FeatureFolder<'a> {
    pub(super) feature: &'a FeatureCommand,
    pub(super) folder: &'a UserPath,
    /// Files that were printed already. Several features may share a step file.
    pub(super) listed: RefCell<BTreeSet<String>>,
}

/// Content that accompanies a feature in documents.
#[derive(Default)]
pub(super) struct Attachments<'a> {
    /// Remarks on the examples, one for each property.
    pub(super) remarks: &'a [String],
    /// Diagram of a counterexample.
    pub(super) diagram: Option<&'a SequenceDiagram>,
    /// Text that the feature was made from.
    pub(super) source: &'a str,
}

/// Writer of the features of one module.
pub(super) struct FeatureOutput<'a> {
    /// Arguments of the command.
    pub(super) feature: &'a FeatureCommand,
    pub(super) module: &'a PropertyModule,
    pub(super) folder: FeatureFolder<'a>,
    /// Import path of the module.
    pub(super) location: &'a ModuleLocation,
    /// Wording of names and idioms.
    pub(super) phraser: &'a Phraser<'a>,
}

/// Code that performs the steps of a suite.
enum SuiteActor {
    /// Functions of the suite itself; this statement imports them.
    Suite(String),
    /// Models, or an implementation.
    Models(ModelRunSetup),
}

impl FeatureOutput<'_> {
    /// Prints the result of a property, and returns its exit status.
    pub(super) fn print_result(
        &self,
        console: &mut Console<'_>,
        property: &PropertyFunction,
        result: &PropertyResult,
    ) -> ExitStatus {
        let name = property.path();
        let examples = quantity::format_count(result.cases.len() as u64, "example");
        match (&result.failing, result.cases.is_empty()) {
            (Some(_), true) => console.out(format_args!("{name}: fails")),
            (Some(_), false) => {
                console.out(format_args!("{name}: fails; {examples} of what works"))
            }
            (None, true) => console.out(format_args!(
                "{name}: no example, {}",
                result.no_case_reason
            )),
            (None, false) => match result.branches {
                Some((reached, all)) => console.out(format_args!(
                    "{name}: {examples}, exercising {reached} of {}",
                    quantity::format_count(all as u64, "branch")
                )),
                None => console.out(format_args!("{name}: {examples}")),
            },
        }
        if !result.hoists {
            console.out("  its calls stay inside of its checks: as steps of their own they would do something else");
        }
        let is_unverified = result.verified.contains(&false);
        if is_unverified {
            console.warning(
                &format!("the steps of {name} do not agree with the property itself"),
                Some("its scenarios are marked `# not verified`; look at what they say before you rely on them"),
            );
        }
        match (
            &result.failing,
            is_unverified || (result.cases.is_empty() && result.failing.is_none()),
        ) {
            (_, true) => ExitStatus::Error,
            (Some(_), false) => ExitStatus::FailureFound,
            (None, false) => ExitStatus::NothingFound,
        }
    }

    /// Writes the features of all properties, and a counterexample for each one that fails.
    pub(super) fn write(
        &self,
        console: &mut Console<'_>,
        properties: &[PropertyFunction],
        results: &[PropertyResult],
        written: &mut Vec<gherkin::Feature>,
    ) -> Result<(), CommandError> {
        let sampled: Vec<SampledProperty<'_>> = (properties.iter().zip(results))
            .filter(|(_, result)| !result.cases.is_empty())
            .map(|(property, result)| SampledProperty {
                property,
                cases: result.cases.clone(),
                hoists: result.hoists,
                verified: result.verified.clone(),
            })
            .collect();
        let (values, layout) = (self.feature.values.into(), self.feature.layout.into());
        let groups: Vec<(String, &[SampledProperty<'_>])> = if self.feature.per_property {
            let each = sampled
                .iter()
                .map(|one| (file_name(one.property), std::slice::from_ref(one)));
            each.collect()
        } else if sampled.is_empty() {
            Vec::new()
        } else {
            vec![(self.module.short_name().to_owned(), sampled.as_slice())]
        };
        let remarks = self.remarks(properties, results);
        for (name, group) in groups {
            let rendered = self
                .module
                .render_feature(group, values, layout, self.phraser);
            let of_group = |sampled: &SampledProperty<'_>| {
                let remark = remarks
                    .iter()
                    .find(|(path, _)| *path == sampled.property.path());
                remark.map(|(_, remark)| remark.clone()).unwrap_or_default()
            };
            let remarks: Vec<String> = group.iter().map(of_group).collect();
            self.write_feature(console, &name, rendered, &remarks, None, written)?;
        }
        for (property, result) in properties.iter().zip(results) {
            let Some((case, observation)) = &result.failing else {
                continue;
            };
            let style = self.feature.style.into();
            let found = self.module.counterexample(
                property,
                case,
                observation,
                style,
                values,
                self.phraser,
            );
            let name = format!("{}.counterexample", file_name(property));
            let diagram = Some(&found.diagram).filter(|_| !self.feature.no_diagram);
            self.write_feature(console, &name, found.rendered, &[], diagram, written)?;
        }
        Ok(())
    }

    /// Writes a failed run of a state machine.
    pub(super) fn write_machine(
        &self,
        console: &mut Console<'_>,
        machine: &StateMachine,
        trace: &MachineTrace,
        written: &mut Vec<gherkin::Feature>,
    ) -> Result<(), CommandError> {
        let step_module = self.step_module("");
        let found = machine.render(trace, step_module.alias(), self.phraser);
        let name = format!("{}.counterexample", machine.name);
        let diagram = Some(&found.diagram).filter(|_| !self.feature.no_diagram);
        self.write_feature(console, &name, found.rendered, &[], diagram, written)
    }

    /// Writes the runs of a test suite.
    pub(super) fn write_suite(
        &self,
        console: &mut Console<'_>,
        rendered: RenderedFeature,
        actor: &Actor,
        written: &mut Vec<gherkin::Feature>,
    ) -> Result<(), CommandError> {
        let suite_actor = match self.feature.steps {
            Some(runner) => Some(self.suite_actor(actor, runner.into())?),
            None => None,
        };
        let attachments = Attachments {
            source: &self.module.text,
            ..Attachments::default()
        };
        let steps =
            |runner: FeatureRunner, feature: &str, rendered: &RenderedFeature| match &suite_actor {
                Some(SuiteActor::Suite(imports)) => {
                    steps::write_suite_scenarios(runner, feature, imports, &rendered.scenarios)
                }
                Some(SuiteActor::Models(setup)) => {
                    steps::write_model_scenarios(runner, feature, setup, &rendered.scenarios)
                }
                None => Vec::new(),
            };
        let name = self.module.short_name();
        self.folder
            .write_feature(console, name, rendered, &attachments, steps, written)
    }

    /// Returns the code that performs the steps of a suite.
    fn suite_actor(&self, actor: &Actor, runner: FeatureRunner) -> Result<SuiteActor, Error> {
        let models = match actor {
            Actor::Suite(_) if self.module.has_only_names() => {
                let message = format!(
                    "the actions of `{}` are nothing but names",
                    self.module.file
                );
                let help = "say what does them: a model with `--harness MODEL`, an implementation with `--stepper MODULE`";
                return Err(Error::new(message).with_help(help));
            }
            Actor::Suite(_) => {
                return Ok(SuiteActor::Suite(
                    self.step_module("").import_lines(parent_path(runner)),
                ));
            }
            Actor::Models | Actor::Compared => self.feature.setup.clone().restore(&[])?.files(),
            Actor::Stepper => Vec::new(),
        };
        let stepper = self.feature.setup.stepper.name();
        let patience = self.feature.setup.system.step_timeout / 2;
        let folder = self.folder.folder;
        model_run_setup(&models, stepper.as_deref(), patience, folder, runner)
            .map(SuiteActor::Models)
    }

    /// Returns the import settings for the steps of a feature.
    fn step_module(&self, feature: &str) -> StepModule {
        let folder = self.folder.folder.absolute();
        StepModule {
            feature: feature.to_owned(),
            ..self.location.step_module(folder, self.module.store_name())
        }
    }

    /// Returns for each property a remark on the branches that its examples reach.
    fn remarks(
        &self,
        properties: &[PropertyFunction],
        results: &[PropertyResult],
    ) -> Vec<(String, String)> {
        let remark = |(property, result): (&PropertyFunction, &PropertyResult)| {
            let (reached, all) = result.branches?;
            let examples = match result.cases.len() {
                1 => "This example exercises".to_owned(),
                count => format!("These {count} examples exercise"),
            };
            let module = self.module.module_name();
            let all = quantity::format_count(all as u64, "branch");
            Some((
                property.path(),
                format!("{examples} {reached} of {all} of {module}."),
            ))
        };
        properties.iter().zip(results).filter_map(remark).collect()
    }

    /// Writes a feature of this module with its steps.
    fn write_feature(
        &self,
        console: &mut Console<'_>,
        name: &str,
        rendered: RenderedFeature,
        remarks: &[String],
        diagram: Option<&SequenceDiagram>,
        written: &mut Vec<gherkin::Feature>,
    ) -> Result<(), CommandError> {
        let attachments = Attachments {
            remarks,
            diagram,
            source: &self.module.text,
        };
        let steps = |runner: FeatureRunner, feature: &str, rendered: &RenderedFeature| {
            let step_module = self.step_module(feature);
            if rendered.scenarios.is_empty() {
                steps::write_step_files(runner, rendered, &step_module)
            } else {
                let setup = step_module.import_lines(parent_path(runner));
                steps::write_scenarios(runner, feature, &setup, &rendered.scenarios)
            }
        };
        self.folder
            .write_feature(console, name, rendered, &attachments, steps, written)
    }
}

impl FeatureFolder<'_> {
    /// Writes a feature, its steps, its diagram and its documents. `steps` returns the step files
    /// for the feature file of the given name.
    pub(super) fn write_feature(
        &self,
        console: &mut Console<'_>,
        name: &str,
        rendered: RenderedFeature,
        attachments: &Attachments<'_>,
        steps: impl Fn(FeatureRunner, &str, &RenderedFeature) -> Vec<GeneratedFile>,
        written: &mut Vec<gherkin::Feature>,
    ) -> Result<(), CommandError> {
        let file = format!("{name}.feature");
        let text = gherkin::write(&rendered.feature).map_err(|problem| {
            Error::new(format!(
                "`{file}` is not written: not every parser would read it alike ({problem})"
            ))
            .with_help(
                "a docstring or a name says something that Gherkin takes for its own; change it",
            )
        })?;
        self.write_file(console, &file, &text)?;
        if let Some(diagram) = attachments.diagram {
            self.write_file(console, &format!("{name}.mmd"), &diagram.write())?;
        }
        let page = FeaturePage {
            feature: &rendered.feature,
            remarks: attachments.remarks,
            diagram: attachments.diagram,
            source: attachments.source,
        };
        for format in &self.feature.document {
            let (ending, text) = match format {
                DocumentName::Markdown => ("md", page.markdown()),
                DocumentName::Html => ("html", page.html()),
            };
            self.write_file(console, &format!("{name}.{ending}"), &text)?;
        }
        if let Some(runner) = self.feature.steps {
            for file in steps(runner.into(), &file, &rendered) {
                self.write_file(console, &file.path, &file.text)?;
            }
        }
        written.push(rendered.feature);
        Ok(())
    }

    /// Writes a file, and prints its name the first time.
    fn write_file(
        &self,
        console: &mut Console<'_>,
        name: &str,
        text: &str,
    ) -> Result<(), CommandError> {
        let path = self.folder.join(name);
        path.write(text)?;
        if self.listed.borrow_mut().insert(name.to_owned()) {
            let shown = path.shown();
            let shown = shown.strip_prefix(".").unwrap_or(shown);
            console.out(format_args!("  {}", shown.display()));
        }
        Ok(())
    }
}

/// Returns the relative path from a step file to the folder of its feature.
pub(super) fn parent_path(runner: FeatureRunner) -> &'static str {
    match runner {
        FeatureRunner::Behave => "..",
        FeatureRunner::PytestBdd => "",
    }
}

/// Returns the name of the feature file: `delete` for `test_delete`, with the class before it.
fn file_name(property: &PropertyFunction) -> String {
    match &property.class {
        Some(class) => format!("{class}.{}", property.short_name()),
        None => property.short_name().to_owned(),
    }
}
