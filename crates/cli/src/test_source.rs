//! The setup of saved tests: the harness or the models, the stepper, the scenarios and the options
//! that tests were made with.
//!
//! [`TestSetup::notes`] writes it into tests, and [`TestSetup::restore`] reads it from them. What
//! the user names on the command line wins. A test may come from a stranger, so a note can only
//! name files beside the test or above it, and options from a fixed list.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use testwright_core::{Error, saved};
use testwright_python::{Options, OutputMode};

use crate::commands::{ProcessArguments, StepperArgument, SystemArguments};
use crate::files::TextFile;
use crate::load;
use crate::source::{SystemSource, is_model};

/// The advice if there is no harness, or more than one.
const NAME_ONE: &str = "name the harness, or the model, with `--harness FILE`";

/// The options of all commands that work with saved tests.
#[derive(Clone, clap::Args)]
pub(crate) struct TestSetup {
    /// Harness or model of the tests; repeatable for models [default: as noted in the tests]
    #[arg(long, value_name = "FILE")]
    harness: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) stepper: StepperArgument,

    #[command(flatten)]
    pub(crate) system: SystemArguments,

    #[command(flatten)]
    process: ProcessArguments,
}

impl TestSetup {
    /// Returns true if a harness or model was named.
    pub(crate) fn names_harness(&self) -> bool {
        !self.harness.is_empty()
    }

    /// Returns the harness or the models of these tests, and adopts the options that they note. A
    /// folder stands for the tests in it and below.
    pub(crate) fn restore(&mut self, tests: &[PathBuf]) -> Result<SystemSource, Error> {
        let mut given = None;
        if self.names_harness() {
            given = Some(SystemSource::from_names(&self.harness)?);
        }
        if tests.is_empty()
            && let Some(source) = given
        {
            self.process.put_in_force()?;
            return Ok(source);
        }
        let files = load::test_files(tests)?;
        restore(
            given,
            &mut self.stepper,
            &mut self.system,
            &mut self.process,
            &files,
        )
    }

    /// Returns the options for starting the system.
    pub(crate) fn options(
        &self,
        source: &SystemSource,
        output: OutputMode,
    ) -> Result<Options, Error> {
        let options = self.system.options_for(source, output)?;
        self.stepper
            .apply_to(options, source, self.system.step_timeout)
    }

    /// Returns true if properties are checked.
    pub(crate) fn check(&self) -> bool {
        self.system.check()
    }

    /// Returns the notes for tests that are written.
    pub(crate) fn notes(&self, source: &SystemSource) -> Vec<(String, String)> {
        notes(source, &self.stepper, &self.system, &self.process)
    }
}

/// Returns the notes of a saved test from which its setup can be restored.
pub(crate) fn notes(
    source: &SystemSource,
    stepper: &StepperArgument,
    system: &SystemArguments,
    process: &ProcessArguments,
) -> Vec<(String, String)> {
    let note = |name: &str, value: String| (name.to_owned(), value);
    let mut notes = source.notes();
    notes.extend(stepper.name().map(|name| note("stepper", name)));
    let scenarios = system.scenario.iter().cloned();
    notes.extend(scenarios.map(|name| note("scenario", name)));
    let options = system.noted_options().join(" ");
    notes.extend((!options.is_empty()).then(|| note("options", options)));
    let limits = process.noted_limits(system.step_timeout).join(" ");
    notes.extend((!limits.is_empty()).then(|| note("limits", limits)));
    let variables = process.env.iter();
    notes.extend(variables.map(|(name, value)| note("env", format!("{name}={value}"))));
    notes
}

/// Restores the setup of tests, puts its limits and variables in force, and returns their source.
/// Parts of the setup that are `given`, or in `stepper`, `system` and `process` already, are not looked
/// for in the tests.
///
/// Fails if two tests have different setups: one call runs one system.
pub(crate) fn restore(
    given: Option<SystemSource>,
    stepper: &mut StepperArgument,
    system: &mut SystemArguments,
    process: &mut ProcessArguments,
    files: &[TextFile],
) -> Result<SystemSource, Error> {
    let mut first: Option<(&TextFile, NotedSetup)> = None;
    let mut longest = Duration::ZERO;
    for file in files {
        let noted = NotedSetup::read(file, given.as_ref(), (stepper, system, process))?;
        longest = longest.max(noted.system.step_timeout);
        match &first {
            None => first = Some((file, noted)),
            Some((before, setup)) => setup.expect_same(before, file, &noted)?,
        }
    }
    if let Some((_, setup)) = &mut first {
        setup.system.step_timeout = setup.system.step_timeout.max(longest);
    }
    let Some((file, noted)) = first else {
        return Err(Error::new("there are no tests").with_help(NAME_ONE));
    };
    if noted.stepper.name().is_some() && stepper.name().is_none() && !noted.source.is_models() {
        let message = format!(
            "the test `{}` notes a stepper, but `{}` is a harness",
            file.name,
            noted.source.display_name()
        );
        let help = "only models have steppers: name the models with `--harness FILE`";
        return Err(Error::new(message).with_help(help));
    }
    *stepper = noted.stepper;
    *system = noted.system;
    *process = noted.process;
    process.put_in_force()?;
    Ok(noted.source)
}

/// The setup of one test: what the user has given, completed by the notes of the test.
struct NotedSetup {
    source: SystemSource,
    stepper: StepperArgument,
    system: SystemArguments,
    process: ProcessArguments,
}

impl NotedSetup {
    /// Reads the notes of a test.
    fn read(
        file: &TextFile,
        given: Option<&SystemSource>,
        (stepper, system, process): (&StepperArgument, &SystemArguments, &ProcessArguments),
    ) -> Result<NotedSetup, Error> {
        let notes = saved::notes(&file.text);
        let noted = |wanted: &str| -> Vec<&str> {
            let found = notes.iter().filter(|(name, _)| name == wanted);
            found.map(|(_, value)| value.as_str()).collect()
        };
        let source = match given {
            Some(source) => source.clone(),
            None => noted_source(file, &noted("harness"))?,
        };
        let mut setup = NotedSetup {
            source,
            stepper: stepper.clone(),
            system: system.clone(),
            process: process.clone(),
        };
        if let (None, Some(name)) = (stepper.name(), noted("stepper").first()) {
            let found = noted_module(file, "stepper", name)?;
            setup.stepper.set(found);
        }
        if system.scenario.is_empty() {
            for name in noted("scenario") {
                let found = noted_module(file, "scenario", name)?;
                setup.system.scenario.push(found);
            }
        }
        let unknown = |note: &str, word: String| {
            let message = format!("the test `{}` notes an unknown option `{word}`", file.name);
            let help = format!("correct the line that begins with `# {note}:` in the test");
            Error::new(message).with_help(help)
        };
        for options in noted("options") {
            let adopted = setup.system.adopt(options);
            adopted.map_err(|word| unknown("options", word))?;
        }
        for limits in noted("limits") {
            let step_timeout = &mut setup.system.step_timeout;
            let adopted = setup.process.adopt_limits(limits, step_timeout);
            adopted.map_err(|word| unknown("limits", word))?;
        }
        for variable in noted("env") {
            setup.process.adopt_variable(variable)?;
        }
        Ok(setup)
    }

    /// Fails if another test has a different setup.
    fn expect_same(
        &self,
        file: &TextFile,
        other_file: &TextFile,
        other: &NotedSetup,
    ) -> Result<(), Error> {
        if self.source != other.source {
            let (one, other) = (self.source.display_name(), other.source.display_name());
            let message = format!("the tests belong to different harnesses, `{one}` and `{other}`");
            return Err(Error::new(message).with_help(NAME_ONE));
        }
        let refuse = |what: &str, [one, other]: [String; 2], help: &str| {
            let text = |words: String| match words.trim() {
                "" => "none".to_owned(),
                words => format!("`{words}`"),
            };
            let message = format!(
                "the tests were made with different {what}: {} in `{}`, {} in `{}`",
                text(one),
                file.name,
                text(other),
                other_file.name
            );
            Err(Error::new(message).with_help(help))
        };
        let steppers = [&self.stepper, &other.stepper].map(|one| one.name().unwrap_or_default());
        if steppers[0] != steppers[1] {
            let help = "run them in separate calls, or name one with `--stepper MODULE`";
            return refuse("steppers", steppers, help);
        }
        let options = [&self.system, &other.system].map(|one| one.to_args().join(" "));
        if options[0] != options[1] {
            return refuse("options", options, "run them in separate calls");
        }
        let processes = [&self.process, &other.process].map(|one| {
            // Time limits may differ: the longest one serves all tests.
            let limits = one.noted_limits(self.system.step_timeout);
            let variables = one
                .env
                .iter()
                .map(|(name, value)| format!("--env {name}={value}"));
            let words: Vec<String> = limits.into_iter().chain(variables).collect();
            words.join(" ")
        });
        if processes[0] != processes[1] {
            return refuse(
                "limits or variables",
                processes,
                "run them in separate calls",
            );
        }
        Ok(())
    }
}

/// Returns the source that a test notes. A test without a note belongs to the only harness in the
/// nearest folder.
fn noted_source(file: &TextFile, noted: &[&str]) -> Result<SystemSource, Error> {
    let name = &file.name;
    let mut found = Vec::new();
    for noted in noted {
        let path = find_upwards(&file.path, |folder| find_noted(folder, Path::new(noted)));
        found.push(path.ok_or_else(|| {
            let kind = if is_model(Path::new(noted)) {
                "model"
            } else {
                "harness"
            };
            let message =
                format!("there is no {kind} `{noted}` beside the test `{name}` or above it");
            Error::new(message).with_help(NAME_ONE)
        })?);
    }
    if noted.is_empty() {
        found.extend(find_upwards(&file.path, only_harness_in));
    }
    if found.is_empty() {
        let message = format!("the test `{name}` does not say which harness it belongs to");
        return Err(Error::new(message).with_help(NAME_ONE));
    }
    SystemSource::from_names(&found)
}

/// Finds the file of a stepper or scenario that a test notes, and returns its path.
fn noted_module(file: &TextFile, kind: &str, noted: &str) -> Result<String, Error> {
    let in_package = PathBuf::from(format!("{}.py", noted.replace('.', "/")));
    let wanted = if noted.ends_with(".py") {
        PathBuf::from(noted)
    } else {
        in_package
    };
    let found = find_upwards(&file.path, |folder| find_noted(folder, &wanted));
    let found = found.ok_or_else(|| {
        let name = &file.name;
        let message = format!("there is no {kind} `{noted}` beside the test `{name}` or above it");
        Error::new(message).with_help(format!("name the {kind} with `--{kind} MODULE`"))
    })?;
    Ok(found.display().to_string())
}

/// Searches the folder of a file, then the folder above it, and so on.
fn find_upwards(file: &Path, find: impl Fn(&Path) -> Option<PathBuf>) -> Option<PathBuf> {
    // Relative paths first, because they are shown to the user.
    let below = file.ancestors().skip(1).find_map(&find);
    below.or_else(|| {
        let absolute = std::path::absolute(file).ok()?;
        absolute.ancestors().skip(1).find_map(&find)
    })
}

/// Finds a noted harness in a folder, by its path when the test was made or just by its name. A
/// test may come from someone else, so no other folder is searched.
fn find_noted(folder: &Path, noted: &Path) -> Option<PathBuf> {
    let is_below = noted
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let whole = is_below.then(|| folder.join(noted));
    let name = noted.file_name().map(|name| folder.join(name));
    whole.into_iter().chain(name).find(|path| path.is_file())
}

/// Returns the harness in a folder, if there is exactly one.
fn only_harness_in(folder: &Path) -> Option<PathBuf> {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let entries = std::fs::read_dir(folder).ok()?;
    let mut harnesses = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "tstl"));
    match (harnesses.next(), harnesses.next()) {
        (Some(harness), None) => Some(harness),
        _ => None,
    }
}
