//! Saved tests that fail, as features that run.

use std::cell::RefCell;
use std::path::Path;

use testwright_core::replay::{ReplayOptions, Watcher, replay};
use testwright_core::{ActionId, Error, Event, Failure, Test};
use testwright_python::{Output, Pieces, PythonSystem};
use testwright_readable::counterexample::{Acts, Counterexample, Taken};
use testwright_readable::explain::Actor;
use testwright_readable::gherkin;
use testwright_readable::idiom::Vocabulary;
use testwright_readable::phrase::Speaker;
use testwright_readable::property::Told;
use testwright_readable::steps::{self, File, Runner};

use super::Feature;
use super::company::company;
use super::module::folder_of;
use super::output::{Beside, Sheets};
use crate::console::Console;
use crate::explaining::HarnessExplaining;
use crate::files::{Place, TextFile};
use crate::guard::{guarded, tell_crash};
use crate::models::RunExplaining;
use crate::source::Source;
use crate::subject::Subject;
use crate::{ExitStatus, Trouble, load};

impl Feature {
    /// Writes a saved test that fails.
    pub(super) fn saved_test(
        &self,
        console: &mut Console<'_>,
        path: &Path,
        vocabulary: &Vocabulary,
        written: &mut Vec<gherkin::Feature>,
    ) -> Result<ExitStatus, Trouble> {
        let file = TextFile::read(path)?;
        let source = self.harness.of(&[path.to_owned()])?;
        let folder = Place::new(self.out.as_deref().unwrap_or_else(|| folder_of(path)))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let saved = Saved {
            feature: self,
            file,
            name: name.into_owned(),
            folder: &folder,
            speaker: Speaker::new(vocabulary),
            runner: self.steps.map_or(Runner::PytestBdd, Runner::from),
        };
        let status = match source {
            Source::Harness(harness) => saved.of_harness(console, &harness)?,
            Source::Models(_) => saved.of_models(console, source)?,
        };
        if status.code() == ExitStatus::FailureFound.code() {
            // It was written by another process. All that has to be known of it here are its tags.
            written.push(gherkin::Feature {
                tags: vec!["counterexample".to_owned()],
                ..gherkin::Feature::default()
            });
        }
        Ok(status)
    }
}

/// The steps of a test as they are taken, with what the implementation does by itself in between.
#[derive(Default)]
struct AsTaken(Vec<Taken>);

impl Watcher<dyn Subject + '_> for AsTaken {
    fn before(&mut self, system: &mut (dyn Subject + '_), action: ActionId) {
        let text = system.actions().text(action);
        self.0.push(Taken::chosen(text));
    }

    fn after(&mut self, system: &mut (dyn Subject + '_), event: &Event) {
        if *event == Event::Restarted {
            self.0.clear();
        }
        let observed = system.take_observed().into_iter();
        self.0.extend(observed.map(Taken::observed));
    }
}

/// A saved test, and where its feature goes.
struct Saved<'a> {
    feature: &'a Feature,
    file: TextFile,
    name: String,
    folder: &'a Place,
    speaker: Speaker<'a>,
    runner: Runner,
}

impl Saved<'_> {
    fn of_harness(&self, console: &mut Console<'_>, harness: &Path) -> Result<ExitStatus, Trouble> {
        let feature = format!("{}.feature", self.name);
        let step_file = steps::step_file(self.runner, &feature);
        let step_file = self.folder.absolute().join(step_file);
        let options = self.feature.system.options(Output::Drop);
        let (file, harness) = load::harness(console, harness)?;
        let explaining = HarnessExplaining::new(&file, &harness);
        // The test is run to see what its steps do, and may end the process.
        guarded(console, None, tell_crash, |console, note| {
            let work = |console: &mut Console<'_>, system: &mut PythonSystem<'_>| {
                let (_, test) = load::test(console, system, self.file.clone())?;
                note.write("while the test ran");
                let pieces = system.pieces(&test, &step_file)?;
                let Some(failure) = &pieces.failure else {
                    return Ok(self.passes(console));
                };
                if self.feature.steps.is_some() {
                    refuse_names(&pieces.preamble)?;
                }
                let found = told(&explaining, &pieces, failure, &self.speaker);
                self.write(console, &found, |runner, feature, told| {
                    steps::write_plays(runner, feature, &pieces.preamble, &told.plays)
                })
            };
            load::with_system(console, &file, harness, &options, work)
        })
    }

    fn of_models(&self, console: &mut Console<'_>, source: Source) -> Result<ExitStatus, Trouble> {
        let arguments = &self.feature.system;
        let options = arguments.options_for(&source, Output::Drop)?;
        let stepper = &self.feature.stepper;
        let options = stepper.put_into(options, &source, arguments.step_timeout)?;
        let stepper = stepper.name();
        let files = source.files();
        let patience = arguments.step_timeout / 2;
        let company = company(
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
        let explaining = RunExplaining::new(&names);
        let actor = match stepper {
            Some(_) => Actor::Compared,
            None => Actor::Models,
        };
        let tell = |console: &mut Console<'_>, steps: &[Taken], failure: &Failure| {
            let found = explaining.tell(steps, failure, Some(&actor), &self.speaker);
            if self.feature.steps.is_some() && found.told.plays.is_empty() {
                let message = "there are no step definitions for this: \
                               a step is done with something that has no notation";
                let help = "leave out `--steps`; `testwright replay` runs the test";
                return Err(Error::new(message).with_help(help).into());
            }
            self.write(console, &found, |runner, feature, told| {
                steps::write_model_plays(runner, feature, &company, &told.plays)
            })
        };
        let work = |console: &mut Console<'_>, system: &mut dyn Subject, test: Test| {
            let mut steps = AsTaken::default();
            let trace = replay(system, &test, &ReplayOptions { check: true }, &mut steps)?;
            match trace.failure() {
                Some(failure) => tell(console, &steps.0, failure),
                None => Ok(self.passes(console)),
            }
        };
        // What was done until the process ended, or did not come back, stands in the note.
        let ended = |console: &mut Console<'_>, note: &str, failure: &Failure| {
            let lines = note.lines().filter(|line| !line.is_empty());
            let steps: Vec<Taken> = lines.map(|line| Taken::chosen(line.to_owned())).collect();
            if steps.is_empty() {
                tell_crash(console, "where runs begin", failure)
            } else {
                tell(console, &steps, failure)
            }
        };
        let ready = source.read(console)?;
        let file = self.file.clone();
        ready.with_test_to_its_end(console, file, &options, arguments, ended, work)
    }

    fn passes(&self, console: &mut Console<'_>) -> ExitStatus {
        let name = &self.file.name;
        console.say(format_args!("{name}: passes, so there is nothing to tell"));
        ExitStatus::NothingFound
    }

    fn write(
        &self,
        console: &mut Console<'_>,
        found: &Counterexample,
        steps: impl Fn(Runner, &str, &Told) -> Vec<File>,
    ) -> Result<ExitStatus, Trouble> {
        console.say(format_args!("{}: fails", self.file.name));
        let sheets = Sheets {
            feature: self.feature,
            folder: self.folder,
            named: RefCell::default(),
        };
        let beside = Beside {
            diagram: Some(&found.diagram).filter(|_| !self.feature.no_diagram),
            source: &self.file.text,
            ..Beside::default()
        };
        let told = found.told.clone();
        sheets.put(console, &self.name, told, &beside, steps, &mut Vec::new())?;
        Ok(ExitStatus::FailureFound)
    }
}

fn told(
    explaining: &HarnessExplaining,
    pieces: &Pieces,
    failure: &Failure,
    speaker: &Speaker<'_>,
) -> Counterexample {
    let (texts, steps): (Vec<String>, Vec<Vec<String>>) = pieces.steps.iter().cloned().unzip();
    let acts = Acts {
        before: pieces.before.clone(),
        steps,
        check: pieces.check.clone(),
        last: pieces.last.clone(),
    };
    explaining.tell(&texts, failure, Some(&acts), speaker)
}

/// A step file has names of its own, and the harness must not have them, too.
fn refuse_names(code: &str) -> Result<(), Error> {
    let own = steps::own_names();
    let defined = testwright_source::definitions(code).unwrap_or_default();
    let mut both = defined
        .into_iter()
        .filter(|definition| !definition.import)
        .flat_map(|definition| definition.defines)
        .filter(|name| own.contains(name));
    match both.next() {
        None => Ok(()),
        Some(name) => Err(Error::new(format!(
            "the harness and the steps would both have something called `{name}`"
        ))
        .with_help("call that of the harness something else")),
    }
}
