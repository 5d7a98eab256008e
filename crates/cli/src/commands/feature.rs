//! `testwright feature`: properties as Gherkin features that people read and runners run.
//!
//! A Python process runs the properties ([`runner`]), [`example_finder`] chooses a few small
//! examples, and [`output`] writes the features. Saved tests and test suites become features, too
//! ([`saved`]).

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use testwright_core::Error;
use testwright_readable::counterexample::{self, CounterexampleStyle, MachineTrace, StateMachine};
use testwright_readable::explain::Actor;
use testwright_readable::gherkin;
use testwright_readable::idiom::Vocabulary;
use testwright_readable::phrase::Phraser;
use testwright_readable::property::{
    ExampleLayout, PropertyFunction, PropertyModule, ValuePlacement,
};
use testwright_readable::steps::{self, FeatureRunner};

use super::run::{parse_at_least_one, parse_seed};
use crate::console::Console;
use crate::files::{TextFile, UserPath};
use crate::test_source::TestSetup;
use crate::{CommandError, ExitStatus, duration, explanation};

mod example_finder;
mod module_location;
mod output;
mod run_setup;
mod runner;
mod saved;
mod values;

use example_finder::{ExampleBudget, ExampleFinder};
use module_location::ModuleLocation;
use output::{FeatureFolder, FeatureOutput};
pub(super) use run_setup::model_run_setup;
use runner::PropertyRunner;

/// Write properties as features: rules in English, with examples that run
///
/// A property is a function with Hypothesis's `@given`, or one whose name starts with `prop_`. Each becomes
/// a rule of a feature file (`lists.feature` for `test_lists.py`) with a few small examples that cover the
/// same code as a hundred random ones. The properties are run to find them, in a separate process. A property
/// that fails gets its own file, `NAME.counterexample.feature`, with a diagram in `NAME.counterexample.mmd`.
///
/// A saved test that fails becomes a counterexample, too. A test suite of a model becomes a feature with a
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
pub(crate) struct FeatureCommand {
    /// Modules, or with `::NAME` one of their functions; or saved tests
    #[arg(required = true, value_name = "FILE[::NAME]")]
    properties: Vec<String>,

    /// Folder to write to [default: beside each module]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,

    /// Also write step definitions
    #[arg(long, value_name = "RUNNER", value_enum)]
    steps: Option<RunnerName>,

    /// Write one feature file for each module (this is the default)
    #[arg(long, conflicts_with = "per_property")]
    single_file: bool,

    /// Write one feature file for each property
    #[arg(long)]
    per_property: bool,

    /// Position of the values of an example
    #[arg(long, value_name = "WHERE", value_enum, default_value = "named")]
    values: ValuesName,

    /// Layout of the examples of a property
    #[arg(long, value_name = "HOW", value_enum, default_value = "scenarios")]
    layout: LayoutName,

    /// Wording of the failed check of a counterexample
    #[arg(long, value_name = "HOW", value_enum, default_value = "expected")]
    style: StyleName,

    /// Also write a document; repeatable
    #[arg(long, value_name = "FORMAT", value_enum)]
    document: Vec<DocumentName>,

    /// Write no diagrams
    #[arg(long)]
    no_diagram: bool,

    /// File with words for names, and idioms; repeatable, the first one wins
    #[arg(long, value_name = "FILE")]
    names: Vec<PathBuf>,

    /// Number of cases to try for each property
    #[arg(long, value_name = "N", default_value = "100", allow_negative_numbers = true, value_parser = parse_at_least_one::<u32>)]
    tries: u32,

    /// Maximum number of examples for each property
    #[arg(long, value_name = "N", default_value = "5", allow_negative_numbers = true, value_parser = parse_at_least_one::<u32>)]
    max: u32,

    /// Seed of the examples: the same seed makes the same examples
    #[arg(long, value_name = "N", default_value = "0", allow_negative_numbers = true, value_parser = parse_seed)]
    seed: u64,

    /// Time limit for all runs of a property
    #[arg(long, value_name = "DURATION", default_value = "1m", allow_hyphen_values = true, value_parser = duration::parse)]
    time: Duration,

    /// Values to use instead of random ones, such as `n=7, xs=[7, 7]`; repeatable
    #[arg(long, value_name = "VALUES", conflicts_with = "case_from")]
    case: Vec<String>,

    /// File with the output of Hypothesis, to use the failing values in it
    #[arg(long, value_name = "FILE")]
    case_from: Option<PathBuf>,

    #[command(flatten)]
    setup: TestSetup,
}

/// Values of `--steps`: runners of features.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum RunnerName {
    /// steps/NAME_steps.py and environment.py
    Behave,
    /// test_NAME_feature.py
    PytestBdd,
}

/// Values of `--document`.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum DocumentName {
    /// NAME.md
    Markdown,
    /// NAME.html, one file that needs nothing else
    Html,
}

/// Values of `--values`.
#[derive(Clone, Copy, ValueEnum)]
enum ValuesName {
    /// in `Given`; other lines have names
    Named,
    /// in every line
    Inline,
}

/// Values of `--layout`.
#[derive(Clone, Copy, ValueEnum)]
enum LayoutName {
    /// a scenario for each example
    Scenarios,
    /// one outline with a table, where possible
    Outline,
    /// an outline for three examples or more
    Auto,
}

/// Values of `--style`.
#[derive(Clone, Copy, ValueEnum)]
enum StyleName {
    /// as it should be: the scenario fails until the bug is fixed
    Expected,
    /// as it is: the scenario passes as long as the bug is there
    Observed,
}

/// A file named on the command line, with the functions named in it.
struct RequestedModule {
    /// Path of the file.
    path: PathBuf,
    /// Names after `::`; all functions if empty.
    names: Vec<String>,
}

impl FeatureCommand {
    /// Runs the command.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let vocabulary = explanation::vocabulary(console, &self.names)?;
        let mut status = ExitStatus::NothingFound;
        let mut written = Vec::new();
        for requested in parse_requests(&self.properties)? {
            let is_test = requested
                .path
                .extension()
                .is_some_and(|ending| ending == "test");
            let module_status = if is_test {
                self.saved_test(console, &requested.path, &vocabulary, &mut written)?
            } else {
                self.write_module(console, &requested, &vocabulary, &mut written)?
            };
            status = status.max(module_status);
        }
        if let (Some(RunnerName::PytestBdd), false) = (self.steps, written.is_empty()) {
            console.out("");
            console.out("pytest knows the tags when pytest.ini has:");
            console.out("");
            console.out(steps::pytest_ini(&written).trim_end());
        }
        Ok(status)
    }

    /// Writes the features of one Python module: a failed state machine, a test suite, or
    /// properties.
    fn write_module(
        &self,
        console: &mut Console<'_>,
        requested: &RequestedModule,
        vocabulary: &Vocabulary,
        written: &mut Vec<gherkin::Feature>,
    ) -> Result<ExitStatus, CommandError> {
        let file = TextFile::read(&requested.path)?;
        let module = PropertyModule::parse(&file.name, &file.text)
            .map_err(|problems| explanation::print_syntax_errors(console, &file, problems))?;
        let phraser = Phraser::new(vocabulary);
        let location = ModuleLocation::locate(&requested.path)?;
        let folder = UserPath::new(
            self.out
                .as_deref()
                .unwrap_or_else(|| module_location::folder_of(&requested.path)),
        )?;
        let output = FeatureOutput {
            feature: self,
            module: &module,
            folder: FeatureFolder {
                feature: self,
                folder: &folder,
                listed: RefCell::default(),
            },
            location: &location,
            phraser: &phraser,
        };
        if let Some((machine, trace)) = self.failed_machine(&module, requested)? {
            output.write_machine(console, &machine, &trace, written)?;
            return Ok(ExitStatus::FailureFound);
        }
        let actor = self.actor(&module, &location);
        if requested.names.is_empty()
            && let Some(suite) = module.suite(&phraser, &actor)
        {
            output.write_suite(console, suite, &actor, written)?;
            return Ok(ExitStatus::NothingFound);
        }
        let properties = select_properties(&module, requested)?;
        let given = self.given_cases(&properties)?;
        let budget = ExampleBudget {
            tries: self.tries,
            max_examples: self.max as usize,
            seed: self.seed,
            time: self.time,
        };
        let mut runner = PropertyRunner::start(&location, budget.time)?;
        let mut results = Vec::new();
        for property in &properties {
            console.status(|| format!("{}: running", property.path()));
            let examples = ExampleFinder::new(&module, property, &location, budget, &phraser);
            results.push(examples.examine(&mut runner, given.as_deref())?);
            console.clear_status();
        }
        let mut status = ExitStatus::NothingFound;
        for (property, result) in properties.iter().zip(&results) {
            status = status.max(output.print_result(console, property, result));
        }
        output.write(console, &properties, &results, written)?;
        Ok(status)
    }

    /// Returns what performs the steps of a suite.
    fn actor(&self, module: &PropertyModule, location: &ModuleLocation) -> Actor {
        match (self.setup.stepper.name(), self.setup.names_harness()) {
            (Some(_), true) => Actor::Compared,
            (Some(_), false) => Actor::Stepper,
            (None, true) => Actor::Models,
            (None, false) => Actor::Suite(
                location
                    .step_module(Path::new("."), module.store_name())
                    .alias()
                    .to_owned(),
            ),
        }
    }

    /// Returns the requested state machine, with the failed run in the output of Hypothesis.
    fn failed_machine(
        &self,
        module: &PropertyModule,
        requested: &RequestedModule,
    ) -> Result<Option<(StateMachine, MachineTrace)>, Error> {
        let Some(path) = &self.case_from else {
            return Ok(None);
        };
        let printed = TextFile::read(path)?;
        let name = match requested.names.as_slice() {
            [] => counterexample::machine_name(&printed.text),
            [name] => Some(name.as_str()),
            _ => None,
        };
        let Some(machine) = name.and_then(|name| module.machine(name)) else {
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

    /// Returns the values given by `--case` or `--case-from`, which need exactly one property.
    fn given_cases(
        &self,
        properties: &[PropertyFunction],
    ) -> Result<Option<Vec<testwright_readable::sample::SampleCase>>, Error> {
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
            let arguments = counterexample::parse_values(text).map_err(|why| {
                Error::new(format!("`{text}` cannot be understood")).with_help(why)
            })?;
            cases.push(module_location::match_arguments(property, arguments)?);
        }
        if let Some(file) = &from {
            let (_, arguments) =
                counterexample::find_reported_values(&file.text, &[&property.function.name])
                    .ok_or_else(|| {
                        Error::new(format!(
                            "`{}` has no failing case of `{}`",
                            file.name, property.function.name
                        ))
                        .with_help("it is to contain what Hypothesis prints about it")
                    })?;
            cases.push(module_location::match_arguments(property, arguments)?);
        }
        Ok(Some(cases))
    }
}

/// Parses `FILE` and `FILE::NAME` arguments, grouped by file in the order in which files are first
/// named.
fn parse_requests(texts: &[String]) -> Result<Vec<RequestedModule>, Error> {
    let mut all: Vec<RequestedModule> = Vec::new();
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
        match all.iter_mut().find(|requested| requested.path == path) {
            Some(requested) => requested.names.extend(name),
            None => all.push(RequestedModule {
                path,
                names: name.into_iter().collect(),
            }),
        }
    }
    Ok(all)
}

/// Returns the requested properties of a module, or all of them.
fn select_properties(
    module: &PropertyModule,
    requested: &RequestedModule,
) -> Result<Vec<PropertyFunction>, Error> {
    let all = module.properties();
    if requested.names.is_empty() {
        return if all.is_empty() {
            Err(
                Error::new(format!("`{}` has no properties", requested.path.display())).with_help(
                    "a property has `@given(…)` of Hypothesis, or a name that starts with `prop_`; \
                 any other function can be named, as in `FILE::NAME`",
                ),
            )
        } else {
            Ok(all)
        };
    }
    let find = |name: &String| {
        module.property(name).ok_or_else(|| {
            let known: Vec<String> = all
                .iter()
                .map(|property| format!("`{}`", property.path()))
                .collect();
            let error = Error::new(format!(
                "`{}` has no function `{name}`",
                requested.path.display()
            ));
            if known.is_empty() {
                error
            } else {
                error.with_help(format!("its properties are {}", known.join(", ")))
            }
        })
    };
    requested.names.iter().map(find).collect()
}

impl From<RunnerName> for FeatureRunner {
    fn from(name: RunnerName) -> FeatureRunner {
        match name {
            RunnerName::Behave => FeatureRunner::Behave,
            RunnerName::PytestBdd => FeatureRunner::PytestBdd,
        }
    }
}

impl From<ValuesName> for ValuePlacement {
    fn from(name: ValuesName) -> ValuePlacement {
        match name {
            ValuesName::Named => ValuePlacement::Named,
            ValuesName::Inline => ValuePlacement::Inline,
        }
    }
}

impl From<LayoutName> for ExampleLayout {
    fn from(name: LayoutName) -> ExampleLayout {
        match name {
            LayoutName::Scenarios => ExampleLayout::Scenarios,
            LayoutName::Outline => ExampleLayout::Outline,
            LayoutName::Auto => ExampleLayout::Auto,
        }
    }
}

impl From<StyleName> for CounterexampleStyle {
    fn from(name: StyleName) -> CounterexampleStyle {
        match name {
            StyleName::Expected => CounterexampleStyle::Expected,
            StyleName::Observed => CounterexampleStyle::Observed,
        }
    }
}
