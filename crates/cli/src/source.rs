//! The source of the system that a command works on: a harness, or models that are composed.

mod guarded_harness;

use std::path::{Path, PathBuf};

use testwright_core::{Error, Failure, Test};
use testwright_lang::Harness;
use testwright_model::Filter;
use testwright_python::{Options, ProcessOwner, PythonSystem};

use crate::commands::SystemArguments;
use crate::console::Console;
use crate::files::TextFile;
use crate::guard::{self, ProgressNote};
use crate::models::log::is_log;
use crate::models::{self, ModelSystem, StepNotes};
use crate::project::ProjectFolder;
use crate::report::shell_word;
use crate::target::Target;
use crate::{CommandError, ExitStatus, load};

/// The source of a system, by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SystemSource {
    /// A harness file.
    Harness(PathBuf),
    /// Modules, or their files.
    Models(Vec<String>),
}

/// Returns true if a name on the command line is that of a model: a module, one in a package, or
/// its file.
pub(crate) fn is_model(name: &Path) -> bool {
    match name.extension() {
        Some(ending) => ending == "py" || package_file(name).is_some(),
        // A folder is a model only as a package, or beside a file of its name.
        None if name.is_dir() => {
            name.with_extension("py").is_file() || name.join("__init__.py").is_file()
        }
        None => !name.is_file(),
    }
}

/// Returns the file of a module in a package, if there is one.
fn package_file(name: &Path) -> Option<PathBuf> {
    let file = name.to_string_lossy().replace('.', "/");
    let file = PathBuf::from(format!("{file}.py"));
    (!name.exists() && file.is_file()).then_some(file)
}

impl SystemSource {
    /// Interprets names: one harness, or one or more models.
    pub(crate) fn from_names(names: &[PathBuf]) -> Result<SystemSource, Error> {
        let Some((first, more)) = names.split_first() else {
            return Err(Error::new("there is no harness and no model")
                .with_help("name a harness, or models to compose"));
        };
        if is_model(first) {
            let is_known = |name: &&PathBuf| is_model(name) || is_log(&name.to_string_lossy());
            if let Some(other) = more.iter().find(|other| !is_known(other)) {
                let message = format!("`{}` is not a model", other.display());
                let help = "models are named like modules, or by the paths of their `.py` files";
                return Err(Error::new(message).with_help(help));
            }
            let text = |name: &PathBuf| name.to_string_lossy().into_owned();
            return Ok(SystemSource::Models(names.iter().map(text).collect()));
        }
        match more.first() {
            None => Ok(SystemSource::Harness(first.clone())),
            Some(other) => {
                let (first, other) = (first.display(), other.display());
                let message =
                    format!("`{first}` is a harness, so it cannot be combined with `{other}`");
                let help =
                    "only models can be combined; to guide a harness use `--scenario MODULE`";
                Err(Error::new(message).with_help(help))
            }
        }
    }

    /// Returns the harness file, for commands that do not support models; `instead` is the advice
    /// for those.
    pub(crate) fn harness(self, command: &str, instead: &str) -> Result<PathBuf, Error> {
        match self {
            SystemSource::Harness(path) => Ok(path),
            SystemSource::Models(_) => {
                let message = format!("`testwright {command}` is for harnesses, not for models");
                Err(Error::new(message).with_help(instead))
            }
        }
    }

    /// Returns true if the source is models.
    pub(crate) fn is_models(&self) -> bool {
        matches!(self, SystemSource::Models(_))
    }

    /// Returns the name in the store of a project.
    pub(crate) fn stored_name(&self, project: &ProjectFolder) -> Result<String, Error> {
        let names = self
            .files()
            .into_iter()
            .map(|file| project.harness_name(&file));
        Ok(names.collect::<Result<Vec<_>, Error>>()?.join(" "))
    }

    /// Returns the name of the first file or module, which output files are named after.
    pub(crate) fn stem(&self) -> PathBuf {
        let first = match self {
            SystemSource::Harness(path) => path.clone(),
            SystemSource::Models(names) => names.first().map(PathBuf::from).unwrap_or_default(),
        };
        PathBuf::from(first.file_stem().unwrap_or_default())
    }

    /// Returns the name for people.
    pub(crate) fn display_name(&self) -> String {
        match self {
            SystemSource::Harness(path) => path.display().to_string(),
            SystemSource::Models(names) => names.join(" "),
        }
    }

    /// Returns the files, as far as they are known without importing anything.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        match self {
            SystemSource::Harness(path) => vec![path.clone()],
            SystemSource::Models(names) => names.iter().map(|name| module_file(name)).collect(),
        }
    }

    /// Returns the notes for saved tests, by which they find their source again.
    pub(crate) fn notes(&self) -> Vec<(String, String)> {
        let note = |file: PathBuf| ("harness".to_owned(), file.display().to_string());
        self.files().into_iter().map(note).collect()
    }

    /// Returns the command-line option that names this source.
    pub(crate) fn as_option(&self) -> String {
        let words = match self {
            SystemSource::Harness(path) => vec![shell_word(path)],
            SystemSource::Models(names) => names
                .iter()
                .map(|name| shell_word(Path::new(name)))
                .collect(),
        };
        format!("--harness {}", words.join(" --harness "))
    }

    /// Reads the files before any code runs that may change the current folder.
    pub(crate) fn read(self, console: &mut Console<'_>) -> Result<LoadedSource, CommandError> {
        Ok(match self {
            SystemSource::Harness(path) => {
                let (file, harness) = load::harness(console, &path)?;
                LoadedSource::Harness(Box::new((file, harness)))
            }
            SystemSource::Models(names) => LoadedSource::Models(names),
        })
    }
}

/// Returns the file of a module, which need not exist, in the current folder.
fn module_file(name: &str) -> PathBuf {
    if name.ends_with(".py") || is_log(name) {
        PathBuf::from(name)
    } else {
        package_file(Path::new(name)).unwrap_or_else(|| PathBuf::from(format!("{name}.py")))
    }
}

/// A source whose files are read, ready to be run.
pub(crate) enum LoadedSource {
    /// A harness file with its parsed content.
    Harness(Box<(TextFile, Harness)>),
    /// Modules, or their files.
    Models(Vec<String>),
}

impl LoadedSource {
    /// Starts the system and passes it to `work`.
    ///
    /// Code under test may end its process or hang in a step, so this happens in a copy of the
    /// process, which is watched.
    pub(crate) fn with_target(
        self,
        console: &mut Console<'_>,
        options: &Options,
        arguments: &SystemArguments,
        work: impl FnOnce(&mut Console<'_>, &mut dyn Target) -> Result<ExitStatus, CommandError>,
    ) -> Result<ExitStatus, CommandError> {
        match self {
            LoadedSource::Harness(read) => {
                guarded_harness::run(console, *read, options, arguments, work)
            }
            LoadedSource::Models(names) => {
                guarded_harness::run_models(console, &names, options, arguments, work)
            }
        }
    }

    /// Starts the system in a copy of this process. `ended` gets the copy's note if the copy
    /// crashes.
    fn run_guarded(
        self,
        console: &mut Console<'_>,
        options: &Options,
        arguments: &SystemArguments,
        ended: impl FnOnce(&mut Console<'_>, &str, &Failure) -> Result<ExitStatus, CommandError>,
        work: impl FnOnce(&mut Console<'_>, &mut dyn Target) -> Result<ExitStatus, CommandError>,
    ) -> Result<ExitStatus, CommandError> {
        let timeout = Some(arguments.step_timeout);
        guard::run_guarded(console, timeout, ended, |console, note| {
            self.run_here(console, options, StepNotes::Test(note), work)
        })
    }

    /// Starts the system in this process. `at` says where its steps are noted.
    fn run_here<R>(
        self,
        console: &mut Console<'_>,
        options: &Options,
        at: StepNotes<'_>,
        work: impl FnOnce(&mut Console<'_>, &mut dyn Target) -> Result<R, CommandError>,
    ) -> Result<R, CommandError> {
        match self {
            LoadedSource::Harness(read) => {
                let (file, harness) = *read;
                let work = |console: &mut Console<'_>, system: &mut PythonSystem<'_>| {
                    work(console, system)
                };
                load::with_system(console, &file, harness, options, work)
            }
            LoadedSource::Models(names) => {
                let work = |console: &mut Console<'_>, system: &mut ModelSystem<'_, '_, '_>| {
                    work(console, system)
                };
                with_model_system(console, &names, options, at, work)
            }
        }
    }

    /// Starts the system in a copy of the process, and passes it to `work` with a saved test.
    pub(crate) fn with_test(
        self,
        console: &mut Console<'_>,
        test: TextFile,
        options: &Options,
        arguments: &SystemArguments,
        work: impl FnOnce(&mut Console<'_>, &mut dyn Target, Test) -> Result<ExitStatus, CommandError>,
    ) -> Result<ExitStatus, CommandError> {
        self.with_target(console, options, arguments, |console, system| {
            let (_, test) = load::test(console, system, test)?;
            work(console, system, test)
        })
    }

    /// Does the same as [`with_test`](LoadedSource::with_test), but runs each test of a harness in a
    /// process of its own.
    pub(crate) fn with_test_in_new_processes(
        self,
        console: &mut Console<'_>,
        test: TextFile,
        options: &Options,
        arguments: &SystemArguments,
        work: impl FnOnce(&mut Console<'_>, &mut dyn Target, Test) -> Result<ExitStatus, CommandError>,
    ) -> Result<ExitStatus, CommandError> {
        let LoadedSource::Harness(read) = self else {
            return self.with_test(console, test, options, arguments, work);
        };
        let (file, harness) = *read;
        guarded_harness::run_in_new_processes(
            console,
            &file,
            harness,
            arguments,
            |console, system| {
                let (_, test) = load::test(console, system, test)?;
                work(console, system, test)
            },
        )
    }

    /// Does the same as [`with_test`](LoadedSource::with_test) for models whose code may end the
    /// process: `ended` gets the steps until then, a line each.
    pub(crate) fn with_test_guarded(
        self,
        console: &mut Console<'_>,
        test: TextFile,
        options: &Options,
        arguments: &SystemArguments,
        ended: impl FnOnce(&mut Console<'_>, &str, &Failure) -> Result<ExitStatus, CommandError>,
        work: impl FnOnce(&mut Console<'_>, &mut dyn Target, Test) -> Result<ExitStatus, CommandError>,
    ) -> Result<ExitStatus, CommandError> {
        self.run_guarded(console, options, arguments, ended, |console, system| {
            let (_, test) = load::test(console, system, test)?;
            work(console, system, test)
        })
    }

    /// Starts the system in this process, and passes it to `work` with saved tests. Prints each of
    /// their steps that is not known.
    ///
    /// Until `work` begins, `note` shows the current step to the process that watches this one.
    pub(crate) fn with_tests<R>(
        self,
        console: &mut Console<'_>,
        tests: Vec<TextFile>,
        options: &Options,
        note: &ProgressNote,
        work: impl FnOnce(
            &mut Console<'_>,
            &mut dyn Target,
            Vec<(TextFile, Test)>,
        ) -> Result<R, CommandError>,
    ) -> Result<R, CommandError> {
        self.run_here(
            console,
            options,
            StepNotes::Lookup(note),
            |console, system| {
                // Reading large files takes a while, and runs no code under test.
                note.write_own_work();
                let tests = load::try_each(console, tests, |console, file| {
                    load::test(console, &mut *system, file)
                })?;
                work(console, system, tests)
            },
        )
    }
}

/// Starts models as one system and passes it to `work`.
pub(crate) fn with_model_system<R>(
    console: &mut Console<'_>,
    names: &[String],
    options: &Options,
    at: StepNotes<'_>,
    work: impl FnOnce(&mut Console<'_>, &mut ModelSystem<'_, '_, '_>) -> Result<R, CommandError>,
) -> Result<R, CommandError> {
    let mut printed = models::OutputGuard::new(options.output)?;
    let filter = Filter::default();
    models::with_models_in(
        console,
        names,
        &filter,
        options.process,
        |console, models| {
            let stepping = options.stepper.clone();
            let mut system = ModelSystem::new(models, names, &mut printed, at, stepping)
                .map_err(|error| models::model_error(console, &error))?;
            // A stepper may open files or start threads when it is imported, which must not happen
            // in a process that is forked.
            if options.process != ProcessOwner::Worker {
                system.start()?;
            }
            if system.starts_invalid() {
                let message = "an invariant of the models is false where runs begin";
                console.warning(message, Some("`testwright explore` tells more"));
            }
            let result = work(console, &mut system)?;
            match system.unusable() {
                Some(error) => Err(error.into()),
                None => Ok(result),
            }
        },
    )
}
