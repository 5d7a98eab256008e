//! What is said and written in the end.

use std::cell::RefCell;
use std::collections::BTreeSet;

use testwright_core::Error;
use testwright_readable::counterexample::{Machine, Trace};
use testwright_readable::explain::Actor;
use testwright_readable::gherkin::{self, Page};
use testwright_readable::mermaid::Diagram;
use testwright_readable::phrase::Speaker;
use testwright_readable::property::{Property, Sampled, Subject, Told};
use testwright_readable::steps::{self, Company, File, Home, Runner};

use super::company::company;
use super::examples::Examined;
use super::module::ModulePlace;
use super::{DocumentName, Feature};
use crate::console::Console;
use crate::files::Place;
use crate::{ExitStatus, Trouble, quantity};

/// The folder that files are written to, and which are wanted.
pub(super) struct Sheets<'a> {
    pub(super) feature: &'a Feature,
    pub(super) folder: &'a Place,
    /// The files that were named. Several features may share one.
    pub(super) named: RefCell<BTreeSet<String>>,
}

/// What there is to write besides a feature.
#[derive(Default)]
pub(super) struct Beside<'a> {
    pub(super) remarks: &'a [String],
    pub(super) diagram: Option<&'a Diagram>,
    /// The text that the feature was made from.
    pub(super) source: &'a str,
}

/// What is needed to write the files of one module.
pub(super) struct Output<'a> {
    pub(super) feature: &'a Feature,
    pub(super) subject: &'a Subject,
    pub(super) sheets: Sheets<'a>,
    pub(super) place: &'a ModulePlace,
    pub(super) speaker: &'a Speaker<'a>,
}

/// What does the steps of a suite.
enum Doing {
    /// Its own functions: this imports them.
    Suite(String),
    /// Models, or an implementation.
    Company(Company),
}

impl Output<'_> {
    /// Says what became of a property.
    pub(super) fn say(
        &self,
        console: &mut Console<'_>,
        property: &Property,
        examined: &Examined,
    ) -> ExitStatus {
        let name = property.path();
        let examples = quantity::of(examined.cases.len() as u64, "example");
        match (&examined.failing, examined.cases.is_empty()) {
            (Some(_), true) => console.say(format_args!("{name}: fails")),
            (Some(_), false) => {
                console.say(format_args!("{name}: fails; {examples} of what works"))
            }
            (None, true) => console.say(format_args!("{name}: no example, {}", examined.why_none)),
            (None, false) => match examined.branches {
                Some((reached, all)) => console.say(format_args!(
                    "{name}: {examples}, exercising {reached} of {}",
                    quantity::of(all as u64, "branch")
                )),
                None => console.say(format_args!("{name}: {examples}")),
            },
        }
        if !examined.hoists {
            console.say("  its calls stay inside of its checks: as steps of their own they would do something else");
        }
        let is_unverified = examined.verified.contains(&false);
        if is_unverified {
            console.warning(
                &format!("the steps of {name} do not agree with the property itself"),
                Some("its scenarios are marked `# not verified`; look at what they say before you rely on them"),
            );
        }
        match (
            &examined.failing,
            is_unverified || (examined.cases.is_empty() && examined.failing.is_none()),
        ) {
            (_, true) => ExitStatus::CouldNot,
            (Some(_), false) => ExitStatus::FailureFound,
            (None, false) => ExitStatus::NothingFound,
        }
    }

    pub(super) fn write(
        &self,
        console: &mut Console<'_>,
        properties: &[Property],
        examined: &[Examined],
        written: &mut Vec<gherkin::Feature>,
    ) -> Result<(), Trouble> {
        let sampled: Vec<Sampled<'_>> = (properties.iter().zip(examined))
            .filter(|(_, examined)| !examined.cases.is_empty())
            .map(|(property, examined)| Sampled {
                property,
                cases: examined.cases.clone(),
                hoists: examined.hoists,
                verified: examined.verified.clone(),
            })
            .collect();
        let (values, layout) = (self.feature.values.into(), self.feature.layout.into());
        let groups: Vec<(String, &[Sampled<'_>])> = if self.feature.per_property {
            let each = sampled
                .iter()
                .map(|one| (file_name(one.property), std::slice::from_ref(one)));
            each.collect()
        } else if sampled.is_empty() {
            Vec::new()
        } else {
            vec![(self.subject.short_name().to_owned(), sampled.as_slice())]
        };
        let remarks = self.remarks(properties, examined);
        for (name, group) in groups {
            let told = self.subject.tell(group, values, layout, self.speaker);
            let of_group = |sampled: &Sampled<'_>| {
                let remark = remarks
                    .iter()
                    .find(|(path, _)| *path == sampled.property.path());
                remark.map(|(_, remark)| remark.clone()).unwrap_or_default()
            };
            let remarks: Vec<String> = group.iter().map(of_group).collect();
            self.put(console, &name, told, &remarks, None, written)?;
        }
        for (property, examined) in properties.iter().zip(examined) {
            let Some((case, observation)) = &examined.failing else {
                continue;
            };
            let style = self.feature.style.into();
            let found = self.subject.counterexample(
                property,
                case,
                observation,
                style,
                values,
                self.speaker,
            );
            let name = format!("{}.counterexample", file_name(property));
            let diagram = Some(&found.diagram).filter(|_| !self.feature.no_diagram);
            self.put(console, &name, found.told, &[], diagram, written)?;
        }
        Ok(())
    }

    /// Writes a failed run of a state machine.
    pub(super) fn machine(
        &self,
        console: &mut Console<'_>,
        machine: &Machine,
        trace: &Trace,
        written: &mut Vec<gherkin::Feature>,
    ) -> Result<(), Trouble> {
        let home = self.home("");
        let found = machine.tell(trace, home.alias(), self.speaker);
        let name = format!("{}.counterexample", machine.name);
        let diagram = Some(&found.diagram).filter(|_| !self.feature.no_diagram);
        self.put(console, &name, found.told, &[], diagram, written)
    }

    /// Writes the runs of a test suite.
    pub(super) fn suite(
        &self,
        console: &mut Console<'_>,
        told: Told,
        actor: &Actor,
        written: &mut Vec<gherkin::Feature>,
    ) -> Result<(), Trouble> {
        let doing = match self.feature.steps {
            Some(runner) => Some(self.doing(actor, runner.into())?),
            None => None,
        };
        let beside = Beside {
            source: &self.subject.text,
            ..Beside::default()
        };
        let steps = |runner: Runner, feature: &str, told: &Told| match &doing {
            Some(Doing::Suite(imports)) => {
                steps::write_suite_plays(runner, feature, imports, &told.plays)
            }
            Some(Doing::Company(company)) => {
                steps::write_model_plays(runner, feature, company, &told.plays)
            }
            None => Vec::new(),
        };
        let name = self.subject.short_name();
        self.sheets
            .put(console, name, told, &beside, steps, written)
    }

    /// Who does the steps of a suite, as its step file has to know it.
    fn doing(&self, actor: &Actor, runner: Runner) -> Result<Doing, Error> {
        let models = match actor {
            Actor::Suite(_) if self.subject.has_only_names() => {
                let message = format!(
                    "the actions of `{}` are nothing but names",
                    self.subject.file
                );
                let help = "say what does them: a model with `--harness MODEL`, an implementation with `--stepper MODULE`";
                return Err(Error::new(message).with_help(help));
            }
            Actor::Suite(_) => return Ok(Doing::Suite(self.home("").import(levels(runner)))),
            Actor::Models | Actor::Compared => self.feature.harness.of(&[])?.files(),
            Actor::Stepper => Vec::new(),
        };
        let stepper = self.feature.stepper.name();
        let patience = self.feature.system.step_timeout / 2;
        let folder = self.sheets.folder;
        company(&models, stepper.as_deref(), patience, folder, runner).map(Doing::Company)
    }

    /// Where the code is that steps of a feature use.
    fn home(&self, feature: &str) -> Home {
        let folder = self.sheets.folder.absolute();
        Home {
            feature: feature.to_owned(),
            ..self.place.home(folder, self.subject.store())
        }
    }

    /// How much the examples of each property show.
    fn remarks(&self, properties: &[Property], examined: &[Examined]) -> Vec<(String, String)> {
        let remark = |(property, examined): (&Property, &Examined)| {
            let (reached, all) = examined.branches?;
            let examples = match examined.cases.len() {
                1 => "This example exercises".to_owned(),
                count => format!("These {count} examples exercise"),
            };
            let module = self.subject.module_name();
            let all = quantity::of(all as u64, "branch");
            Some((
                property.path(),
                format!("{examples} {reached} of {all} of {module}."),
            ))
        };
        properties.iter().zip(examined).filter_map(remark).collect()
    }

    fn put(
        &self,
        console: &mut Console<'_>,
        name: &str,
        told: Told,
        remarks: &[String],
        diagram: Option<&Diagram>,
        written: &mut Vec<gherkin::Feature>,
    ) -> Result<(), Trouble> {
        let beside = Beside {
            remarks,
            diagram,
            source: &self.subject.text,
        };
        let steps = |runner: Runner, feature: &str, told: &Told| {
            let home = self.home(feature);
            if told.plays.is_empty() {
                steps::write(runner, told, &home)
            } else {
                let setup = home.import(levels(runner));
                steps::write_plays(runner, feature, &setup, &told.plays)
            }
        };
        self.sheets
            .put(console, name, told, &beside, steps, written)
    }
}

impl Sheets<'_> {
    /// Writes a feature, its steps, its diagram and its documents. `steps` makes the step files of the feature with this
    /// file name.
    pub(super) fn put(
        &self,
        console: &mut Console<'_>,
        name: &str,
        told: Told,
        beside: &Beside<'_>,
        steps: impl Fn(Runner, &str, &Told) -> Vec<File>,
        written: &mut Vec<gherkin::Feature>,
    ) -> Result<(), Trouble> {
        let file = format!("{name}.feature");
        let text = gherkin::write(&told.feature).map_err(|problem| {
            Error::new(format!(
                "`{file}` is not written: not every parser would read it alike ({problem})"
            ))
            .with_help(
                "a docstring or a name says something that Gherkin takes for its own; change it",
            )
        })?;
        self.file(console, &file, &text)?;
        if let Some(diagram) = beside.diagram {
            self.file(console, &format!("{name}.mmd"), &diagram.write())?;
        }
        let page = Page {
            feature: &told.feature,
            remarks: beside.remarks,
            diagram: beside.diagram,
            source: beside.source,
        };
        for format in &self.feature.document {
            let (ending, text) = match format {
                DocumentName::Markdown => ("md", page.markdown()),
                DocumentName::Html => ("html", page.html()),
            };
            self.file(console, &format!("{name}.{ending}"), &text)?;
        }
        if let Some(runner) = self.feature.steps {
            for file in steps(runner.into(), &file, &told) {
                self.file(console, &file.path, &file.text)?;
            }
        }
        written.push(told.feature);
        Ok(())
    }

    fn file(&self, console: &mut Console<'_>, name: &str, text: &str) -> Result<(), Trouble> {
        let place = self.folder.inside(name);
        place.write(text)?;
        if self.named.borrow_mut().insert(name.to_owned()) {
            let shown = place.shown();
            let shown = shown.strip_prefix(".").unwrap_or(shown);
            console.say(format_args!("  {}", shown.display()));
        }
        Ok(())
    }
}

/// The way up from a step file to the folder of its feature.
pub(super) fn levels(runner: Runner) -> &'static str {
    match runner {
        Runner::Behave => "..",
        Runner::PytestBdd => "",
    }
}

/// `delete` for `test_delete`; the class goes before it.
fn file_name(property: &Property) -> String {
    match &property.class {
        Some(class) => format!("{class}.{}", property.short_name()),
        None => property.short_name().to_owned(),
    }
}
