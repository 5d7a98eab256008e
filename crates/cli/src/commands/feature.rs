//! `testwright feature`: properties as features that people read and runners run.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use testwright_core::Error;
use testwright_readable::counterexample::{self, Machine, Style, Trace};
use testwright_readable::explain::Actor;
use testwright_readable::gherkin;
use testwright_readable::idiom::Vocabulary;
use testwright_readable::phrase::Speaker;
use testwright_readable::property::{Layout, Property, Subject, Values};
use testwright_readable::steps::{self, Runner};

use super::run::{at_least_one, seed};
use super::{StepperArgument, SystemArguments};
use crate::belonging::HarnessArgument;
use crate::console::Console;
use crate::files::{Place, TextFile};
use crate::{ExitStatus, Trouble, duration, explaining};

mod company;
mod examples;
mod module;
mod output;
mod saved;
mod wire;
mod worker;

pub(super) use company::company;
use examples::{Budget, Examples};
use module::ModulePlace;
use output::{Output, Sheets};
use worker::Worker;

/// Write properties as features: what must hold in English, with examples that run
///
/// A property is a function with Hypothesis's `@given`, or one whose name starts with `prop_`. Each becomes
/// a rule of a feature file (`lists.feature` for `test_lists.py`) with a few small examples that exercise
/// all that a hundred random ones do. The properties are run for that, in a process of their own. One that
/// fails gets a file of its own, `NAME.counterexample.feature`, with a diagram in `NAME.counterexample.mmd`.
///
/// A saved test that fails becomes a counterexample, too, and a test suite of a model a feature with a
/// scenario for each run.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright feature test_lists.py                        all properties of a module
  testwright feature test_lists.py::test_delete           one of them
  testwright feature test_lists.py --steps behave --out features
  testwright feature test_lists.py::test_delete --case 'n=7, xs=[7, 7]'
  testwright feature test_lists.py::test_delete --case-from pytest.log
  testwright feature machine.py::Shelf --case-from pytest.log    a failed run of a state machine
  testwright feature failure-1.test --steps pytest-bdd           a failing test of a harness

Exit status: 0 all properties hold, 1 one does not, 2 could not do what was asked, or an example's steps
do not agree with its property."
)]
pub(crate) struct Feature {
    /// Modules, or with `::NAME` one of their functions; or saved tests
    #[arg(required = true, value_name = "FILE[::NAME]")]
    properties: Vec<String>,

    /// Where to write [default: beside each module]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Write step definitions, too
    #[arg(long, value_name = "RUNNER", value_enum)]
    steps: Option<RunnerName>,

    /// Write one feature file for each module; so it is unless --per-property is given
    #[arg(long, conflicts_with = "per_property")]
    single_file: bool,

    /// Write one feature file for each property
    #[arg(long)]
    per_property: bool,

    /// Where the values of an example stand
    #[arg(long, value_name = "WHERE", value_enum, default_value = "named")]
    values: ValuesName,

    /// How the examples of a property are laid out
    #[arg(long, value_name = "HOW", value_enum, default_value = "scenarios")]
    layout: LayoutName,

    /// How the failed check of a counterexample is written
    #[arg(long, value_name = "HOW", value_enum, default_value = "expected")]
    style: StyleName,

    /// Write a document, too; can be given several times
    #[arg(long, value_name = "FORMAT", value_enum)]
    document: Vec<DocumentName>,

    /// Write no diagrams
    #[arg(long)]
    no_diagram: bool,

    /// Words for names, and idioms; can be given several times, the first has the first word
    #[arg(long, value_name = "FILE")]
    names: Vec<PathBuf>,

    /// How many cases to try for each property
    #[arg(long, value_name = "N", default_value = "100", allow_negative_numbers = true, value_parser = at_least_one::<u32>)]
    tries: u32,

    /// How many examples a property gets at most
    #[arg(long, value_name = "N", default_value = "5", allow_negative_numbers = true, value_parser = at_least_one::<u32>)]
    max: u32,

    /// Same seed, same examples
    #[arg(long, value_name = "N", default_value = "0", allow_negative_numbers = true, value_parser = seed)]
    seed: u64,

    /// How long a property may be run in all
    #[arg(long, value_name = "DURATION", default_value = "1m", allow_hyphen_values = true, value_parser = duration::parse)]
    time: Duration,

    /// These values instead of random ones, such as `n=7, xs=[7, 7]`; can be given several times
    #[arg(long, value_name = "VALUES", conflicts_with = "case_from")]
    case: Vec<String>,

    /// The failing values in what Hypothesis printed, in a file
    #[arg(long, value_name = "FILE")]
    case_from: Option<PathBuf>,

    #[command(flatten)]
    harness: HarnessArgument,

    #[command(flatten)]
    stepper: StepperArgument,

    #[command(flatten)]
    system: SystemArguments,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum RunnerName {
    /// steps/NAME_steps.py and environment.py
    Behave,
    /// test_NAME_feature.py
    PytestBdd,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum DocumentName {
    /// NAME.md
    Markdown,
    /// NAME.html, one file that needs nothing else
    Html,
}

#[derive(Clone, Copy, ValueEnum)]
enum ValuesName {
    /// in `Given`; elsewhere there are names
    Named,
    /// in every line
    Inline,
}

#[derive(Clone, Copy, ValueEnum)]
enum LayoutName {
    /// a scenario for each
    Scenarios,
    /// one outline with a table, where a table can hold them
    Outline,
    /// an outline from three examples on
    Auto,
}

#[derive(Clone, Copy, ValueEnum)]
enum StyleName {
    /// as it should be: the scenario fails until the bug is repaired
    Expected,
    /// as it is: the scenario passes as long as the bug is there
    Observed,
}

/// A module and which of its functions are meant.
struct Wanted {
    path: PathBuf,
    names: Vec<String>,
}

impl Feature {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        let vocabulary = explaining::vocabulary(console, &self.names)?;
        let mut status = ExitStatus::NothingFound;
        let mut written = Vec::new();
        for wanted in wanted(&self.properties)? {
            let is_test = wanted
                .path
                .extension()
                .is_some_and(|ending| ending == "test");
            let one = if is_test {
                self.saved_test(console, &wanted.path, &vocabulary, &mut written)?
            } else {
                self.module(console, &wanted, &vocabulary, &mut written)?
            };
            status = status.max(one);
        }
        if let (Some(RunnerName::PytestBdd), false) = (self.steps, written.is_empty()) {
            console.say("");
            console.say("pytest knows the tags when pytest.ini has:");
            console.say("");
            console.say(steps::pytest_ini(&written).trim_end());
        }
        Ok(status)
    }

    fn module(
        &self,
        console: &mut Console<'_>,
        wanted: &Wanted,
        vocabulary: &Vocabulary,
        written: &mut Vec<gherkin::Feature>,
    ) -> Result<ExitStatus, Trouble> {
        let file = TextFile::read(&wanted.path)?;
        if wanted
            .path
            .extension()
            .is_some_and(|ending| ending == "tstl")
        {
            let name = &file.name;
            let help = format!(
                "`testwright explain {name}` tells what it says, and \
                 `testwright run {name} --explain` tells the tests that fail as features; \
                 `testwright feature` makes features of saved tests that run"
            );
            return Err(Error::new(format!(
                "`{name}` is a harness, and features are made of Python modules"
            ))
            .with_help(help)
            .into());
        }
        let subject = Subject::read(&file.name, &file.text)
            .map_err(|problems| explaining::not_python(console, &file, problems))?;
        let speaker = Speaker::new(vocabulary);
        let place = ModulePlace::of(&wanted.path)?;
        let folder = Place::new(
            self.out
                .as_deref()
                .unwrap_or_else(|| module::folder_of(&wanted.path)),
        )?;
        let output = Output {
            feature: self,
            subject: &subject,
            sheets: Sheets {
                feature: self,
                folder: &folder,
                named: RefCell::default(),
            },
            place: &place,
            speaker: &speaker,
        };
        if let Some((machine, trace)) = self.failed_machine(&subject, wanted)? {
            output.machine(console, &machine, &trace, written)?;
            return Ok(ExitStatus::FailureFound);
        }
        let actor = self.actor(&subject, &place);
        if wanted.names.is_empty()
            && let Some(suite) = subject.suite(&speaker, &actor)
        {
            output.suite(console, suite, &actor, written)?;
            return Ok(ExitStatus::NothingFound);
        }
        let properties = chosen(&subject, wanted)?;
        let given = self.given(&properties)?;
        let budget = Budget {
            tries: self.tries,
            most: self.max as usize,
            seed: self.seed,
            time: self.time,
        };
        let mut worker = Worker::start(&place, budget.time)?;
        let mut examined = Vec::new();
        for property in &properties {
            console.status(|| format!("{}: running", property.path()));
            let examples = Examples::new(&subject, property, &place, budget, &speaker);
            examined.push(examples.examine(&mut worker, given.as_deref())?);
            console.clear_status();
        }
        let mut status = ExitStatus::NothingFound;
        for (property, examined) in properties.iter().zip(&examined) {
            status = status.max(output.say(console, property, examined));
        }
        output.write(console, &properties, &examined, written)?;
        Ok(status)
    }

    /// Who does the steps of a suite.
    fn actor(&self, subject: &Subject, place: &ModulePlace) -> Actor {
        match (self.stepper.name(), self.harness.is_given()) {
            (Some(_), true) => Actor::Compared,
            (Some(_), false) => Actor::Stepper,
            (None, true) => Actor::Models,
            (None, false) => Actor::Suite(
                place
                    .home(Path::new("."), subject.store())
                    .alias()
                    .to_owned(),
            ),
        }
    }

    /// The state machine that is asked for, with the run that Hypothesis printed.
    fn failed_machine(
        &self,
        subject: &Subject,
        wanted: &Wanted,
    ) -> Result<Option<(Machine, Trace)>, Error> {
        let Some(path) = &self.case_from else {
            return Ok(None);
        };
        let printed = TextFile::read(path)?;
        let name = match wanted.names.as_slice() {
            [] => counterexample::machine_in(&printed.text),
            [name] => Some(name.as_str()),
            _ => None,
        };
        let Some(machine) = name.and_then(|name| subject.machine(name)) else {
            return Ok(None);
        };
        let trace = machine.trace(&printed.text).ok_or_else(|| {
            let message = format!(
                "`{}` has no failing run of `{}`",
                printed.name, machine.name
            );
            Error::new(message).with_help("it is to contain what Hypothesis prints about it")
        })?;
        Ok(Some((machine, trace)))
    }

    /// Values that were given for the one property that is asked for.
    fn given(
        &self,
        properties: &[Property],
    ) -> Result<Option<Vec<testwright_readable::sample::Case>>, Error> {
        let from = match &self.case_from {
            Some(path) => Some(TextFile::read(path)?),
            None => None,
        };
        if self.case.is_empty() && from.is_none() {
            return Ok(None);
        }
        let [property] = properties else {
            return Err(Error::new("values can be given for one property only")
                .with_help("name it, as in `test_lists.py::test_delete`"));
        };
        let mut cases = Vec::new();
        for text in &self.case {
            let arguments = counterexample::given(text).map_err(|why| {
                Error::new(format!("`{text}` cannot be understood")).with_help(why)
            })?;
            cases.push(module::fitting(property, arguments)?);
        }
        if let Some(file) = &from {
            let (_, arguments) = counterexample::reported(&file.text, &[&property.function.name])
                .ok_or_else(|| {
                Error::new(format!(
                    "`{}` has no failing case of `{}`",
                    file.name, property.function.name
                ))
                .with_help("it is to contain what Hypothesis prints about it")
            })?;
            cases.push(module::fitting(property, arguments)?);
        }
        Ok(Some(cases))
    }
}

/// Modules in the order in which they are first named.
fn wanted(texts: &[String]) -> Result<Vec<Wanted>, Error> {
    let mut all: Vec<Wanted> = Vec::new();
    for text in texts {
        let (path, name) = match text.split_once("::") {
            Some((path, name)) => (path, Some(name.to_owned())),
            None => (text.as_str(), None),
        };
        if path.is_empty() || name.as_ref().is_some_and(String::is_empty) {
            return Err(Error::new(format!("`{text}` names no file or no function"))
                .with_help("write FILE or FILE::NAME, as in `test_lists.py::test_delete`"));
        }
        let path = PathBuf::from(path);
        match all.iter_mut().find(|wanted| wanted.path == path) {
            Some(wanted) => wanted.names.extend(name),
            None => all.push(Wanted {
                path,
                names: name.into_iter().collect(),
            }),
        }
    }
    Ok(all)
}

fn chosen(subject: &Subject, wanted: &Wanted) -> Result<Vec<Property>, Error> {
    let all = subject.properties();
    if wanted.names.is_empty() {
        return if all.is_empty() {
            Err(
                Error::new(format!("`{}` has no properties", wanted.path.display())).with_help(
                    "a property has `@given(…)` of Hypothesis, or a name that starts with `prop_`; \
                 any other function can be named, as in `FILE::NAME`",
                ),
            )
        } else {
            Ok(all)
        };
    }
    let find = |name: &String| {
        subject.property(name).ok_or_else(|| {
            let known: Vec<String> = all
                .iter()
                .map(|property| format!("`{}`", property.path()))
                .collect();
            let error = Error::new(format!(
                "`{}` has no function `{name}`",
                wanted.path.display()
            ));
            if known.is_empty() {
                error
            } else {
                error.with_help(format!("its properties are {}", known.join(", ")))
            }
        })
    };
    wanted.names.iter().map(find).collect()
}

impl From<RunnerName> for Runner {
    fn from(name: RunnerName) -> Runner {
        match name {
            RunnerName::Behave => Runner::Behave,
            RunnerName::PytestBdd => Runner::PytestBdd,
        }
    }
}

impl From<ValuesName> for Values {
    fn from(name: ValuesName) -> Values {
        match name {
            ValuesName::Named => Values::Named,
            ValuesName::Inline => Values::Inline,
        }
    }
}

impl From<LayoutName> for Layout {
    fn from(name: LayoutName) -> Layout {
        match name {
            LayoutName::Scenarios => Layout::Scenarios,
            LayoutName::Outline => Layout::Outline,
            LayoutName::Auto => Layout::Auto,
        }
    }
}

impl From<StyleName> for Style {
    fn from(name: StyleName) -> Style {
        match name {
            StyleName::Expected => Style::Expected,
            StyleName::Observed => Style::Observed,
        }
    }
}
