//! What a command works on: a harness, or models that move together.

mod guarded;

use std::path::{Path, PathBuf};

use testwright_core::{Error, Failure, Test};
use testwright_lang::Harness;
use testwright_model::Filter;
use testwright_python::{Options, Process, PythonSystem};

use crate::commands::SystemArguments;
use crate::console::Console;
use crate::files::TextFile;
use crate::guard::{self, Note};
use crate::models::log::is_log;
use crate::models::{self, At, ModelSystem};
use crate::project::Project;
use crate::report::shell_word;
use crate::subject::Subject;
use crate::{ExitStatus, Trouble, load};

/// What a command works on, by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// A harness file.
    Harness(PathBuf),
    /// Modules, or their files.
    Models(Vec<String>),
}

/// Whether a name on the command line is that of a model: a module, one in a package, or its file.
pub(crate) fn is_model(name: &Path) -> bool {
    match name.extension() {
        Some(ending) => ending == "py" || in_package(name).is_some(),
        // A folder is one only as a package, or beside a file of its name.
        None if name.is_dir() => {
            name.with_extension("py").is_file() || name.join("__init__.py").is_file()
        }
        None => !name.is_file(),
    }
}

/// The file of a module in a package, if there is one.
fn in_package(name: &Path) -> Option<PathBuf> {
    let file = name.to_string_lossy().replace('.', "/");
    let file = PathBuf::from(format!("{file}.py"));
    (!name.exists() && file.is_file()).then_some(file)
}

impl Source {
    /// What is meant by names: one harness, or one model and more.
    pub(crate) fn of(names: &[PathBuf]) -> Result<Source, Error> {
        let Some((first, more)) = names.split_first() else {
            return Err(Error::new("there is no harness and no model")
                .with_help("name a harness, or models to compose"));
        };
        if is_model(first) {
            let is_known = |name: &&PathBuf| is_model(name) || is_log(&name.to_string_lossy());
            if let Some(other) = more.iter().find(|other| !is_known(other)) {
                let message = format!("`{}` is no model", other.display());
                let help = "models are named like modules, or by the paths of their `.py` files";
                return Err(Error::new(message).with_help(help));
            }
            let text = |name: &PathBuf| name.to_string_lossy().into_owned();
            return Ok(Source::Models(names.iter().map(text).collect()));
        }
        match more.first() {
            None => Ok(Source::Harness(first.clone())),
            Some(other) => {
                let (first, other) = (first.display(), other.display());
                let message =
                    format!("`{first}` is a harness, so `{other}` has no place beside it");
                let help = "models are composed; a harness is led by `--scenario MODULE`";
                Err(Error::new(message).with_help(help))
            }
        }
    }

    /// The harness file, for commands that make no sense for models.
    pub(crate) fn harness(self, command: &str, instead: &str) -> Result<PathBuf, Error> {
        match self {
            Source::Harness(path) => Ok(path),
            Source::Models(_) => {
                let message = format!("`testwright {command}` is for harnesses, not for models");
                Err(Error::new(message).with_help(instead))
            }
        }
    }

    pub(crate) fn is_models(&self) -> bool {
        matches!(self, Source::Models(_))
    }

    /// What it is called in the store of a project.
    pub(crate) fn stored_name(&self, project: &Project) -> Result<String, Error> {
        let names = self.files().into_iter().map(|file| project.name_of(&file));
        Ok(names.collect::<Result<Vec<_>, Error>>()?.join(" "))
    }

    /// The first of its files or modules, which output is called after.
    pub(crate) fn stem(&self) -> PathBuf {
        let first = match self {
            Source::Harness(path) => path.clone(),
            Source::Models(names) => names.first().map(PathBuf::from).unwrap_or_default(),
        };
        PathBuf::from(first.file_stem().unwrap_or_default())
    }

    /// For people.
    pub(crate) fn shown(&self) -> String {
        match self {
            Source::Harness(path) => path.display().to_string(),
            Source::Models(names) => names.join(" "),
        }
    }

    /// Its files, as far as they are known without importing anything.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        match self {
            Source::Harness(path) => vec![path.clone()],
            Source::Models(names) => names.iter().map(|name| file_of(name)).collect(),
        }
    }

    /// What is noted in saved tests, so that they find it again.
    pub(crate) fn notes(&self) -> Vec<(String, String)> {
        let note = |file: PathBuf| ("harness".to_owned(), file.display().to_string());
        self.files().into_iter().map(note).collect()
    }

    /// The option by which it is named, as it is typed.
    pub(crate) fn as_option(&self) -> String {
        let words = match self {
            Source::Harness(path) => vec![shell_word(path)],
            Source::Models(names) => names
                .iter()
                .map(|name| shell_word(Path::new(name)))
                .collect(),
        };
        format!("--harness {}", words.join(" --harness "))
    }

    /// Reads what there is to read before code runs that may change the current folder.
    pub(crate) fn read(self, console: &mut Console<'_>) -> Result<Read, Trouble> {
        Ok(match self {
            Source::Harness(path) => {
                let (file, harness) = load::harness(console, &path)?;
                Read::Harness(Box::new((file, harness)))
            }
            Source::Models(names) => Read::Models(names),
        })
    }
}

/// The file of a module, where it would be if it is in the current folder.
fn file_of(name: &str) -> PathBuf {
    if name.ends_with(".py") || is_log(name) {
        PathBuf::from(name)
    } else {
        in_package(Path::new(name)).unwrap_or_else(|| PathBuf::from(format!("{name}.py")))
    }
}

/// A source that is ready to be brought to life.
pub(crate) enum Read {
    Harness(Box<(TextFile, Harness)>),
    Models(Vec<String>),
}

impl Read {
    /// Brings it to life and hands it to `work`. Code under test may end its process or not come back from a step, so
    /// that is done in a copy of this one, which is watched.
    pub(crate) fn with_subject(
        self,
        console: &mut Console<'_>,
        options: &Options,
        arguments: &SystemArguments,
        work: impl FnOnce(&mut Console<'_>, &mut dyn Subject) -> Result<ExitStatus, Trouble>,
    ) -> Result<ExitStatus, Trouble> {
        if let Read::Harness(read) = self {
            return guarded::with_harness(console, *read, options, arguments, work);
        }
        let ended = |console: &mut Console<'_>, note: &str, failure: &Failure| {
            models::say_end(console, note, failure);
            Ok(ExitStatus::CouldNot)
        };
        self.guarded(console, options, arguments, ended, work)
    }

    /// The same in a copy of this process; `ended` is told what it had noted if that does not survive.
    fn guarded(
        self,
        console: &mut Console<'_>,
        options: &Options,
        arguments: &SystemArguments,
        ended: impl FnOnce(&mut Console<'_>, &str, &Failure) -> Result<ExitStatus, Trouble>,
        work: impl FnOnce(&mut Console<'_>, &mut dyn Subject) -> Result<ExitStatus, Trouble>,
    ) -> Result<ExitStatus, Trouble> {
        let patience = Some(arguments.step_timeout);
        guard::guarded(console, patience, ended, |console, note| {
            self.live(console, options, At::Test(note), work)
        })
    }

    fn live<R>(
        self,
        console: &mut Console<'_>,
        options: &Options,
        at: At<'_>,
        work: impl FnOnce(&mut Console<'_>, &mut dyn Subject) -> Result<R, Trouble>,
    ) -> Result<R, Trouble> {
        match self {
            Read::Harness(read) => {
                let (file, harness) = *read;
                let work = |console: &mut Console<'_>, system: &mut PythonSystem<'_>| {
                    work(console, system)
                };
                load::with_system(console, &file, harness, options, work)
            }
            Read::Models(names) => {
                let work = |console: &mut Console<'_>, system: &mut ModelSystem<'_, '_, '_>| {
                    work(console, system)
                };
                with_model_system(console, &names, options, at, work)
            }
        }
    }

    /// The same with a saved test.
    pub(crate) fn with_test(
        self,
        console: &mut Console<'_>,
        test: TextFile,
        options: &Options,
        arguments: &SystemArguments,
        work: impl FnOnce(&mut Console<'_>, &mut dyn Subject, Test) -> Result<ExitStatus, Trouble>,
    ) -> Result<ExitStatus, Trouble> {
        self.with_subject(console, options, arguments, |console, system| {
            let (_, test) = load::test(console, system, test)?;
            work(console, system, test)
        })
    }

    /// The same for models whose code may end the process: `ended` gets the steps that were taken until then, a line each.
    pub(crate) fn with_test_to_its_end(
        self,
        console: &mut Console<'_>,
        test: TextFile,
        options: &Options,
        arguments: &SystemArguments,
        ended: impl FnOnce(&mut Console<'_>, &str, &Failure) -> Result<ExitStatus, Trouble>,
        work: impl FnOnce(&mut Console<'_>, &mut dyn Subject, Test) -> Result<ExitStatus, Trouble>,
    ) -> Result<ExitStatus, Trouble> {
        self.guarded(console, options, arguments, ended, |console, system| {
            let (_, test) = load::test(console, system, test)?;
            work(console, system, test)
        })
    }

    /// The same with several; each of their steps that is not known is told. Somebody else can see in the note which
    /// step this is at, until `work` begins.
    pub(crate) fn with_tests<R>(
        self,
        console: &mut Console<'_>,
        tests: Vec<TextFile>,
        options: &Options,
        note: &Note,
        work: impl FnOnce(
            &mut Console<'_>,
            &mut dyn Subject,
            Vec<(TextFile, Test)>,
        ) -> Result<R, Trouble>,
    ) -> Result<R, Trouble> {
        self.live(console, options, At::Meeting(note), |console, system| {
            let tests = load::all(console, tests, |console, file| {
                load::test(console, &mut *system, file)
            })?;
            work(console, system, tests)
        })
    }
}

/// Brings models to life as one system.
pub(crate) fn with_model_system<R>(
    console: &mut Console<'_>,
    names: &[String],
    options: &Options,
    at: At<'_>,
    work: impl FnOnce(&mut Console<'_>, &mut ModelSystem<'_, '_, '_>) -> Result<R, Trouble>,
) -> Result<R, Trouble> {
    let mut printed = models::Curtain::new(options.output)?;
    let filter = Filter::default();
    models::with_models_in(
        console,
        names,
        &filter,
        options.process,
        |console, models| {
            let stepping = options.stepper.clone();
            let mut system = ModelSystem::new(models, &mut printed, at, stepping)
                .map_err(|trouble| models::tell(console, &trouble))?;
            // What a stepper opens or starts when it is imported is not for a process that is copied.
            if options.process != Process::OfAWorker {
                system.come_to_life()?;
            }
            if system.begins_wrong() {
                let message = "an invariant of the models is false where runs begin";
                console.warning(message, Some("`testwright explore` tells more"));
            }
            work(console, &mut system)
        },
    )
}
