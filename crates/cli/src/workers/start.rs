//! Starting nurseries.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use testwright_campaign::{Limits, ForkServer, Stillborn};
use testwright_core::Error;

use super::{Greeting, HarnessFile, Refusal, Setup};
use crate::console::Console;
use crate::files::TextFile;

/// Knows how to start a nursery for a harness or models.
#[derive(Debug)]
pub(crate) struct Starter {
    python: PathBuf,
    /// The folder that the command was called in.
    here: PathBuf,
    /// What was typed after `testwright run`.
    words: Vec<OsString>,
    setup: Setup,
    /// Where nurseries have their folders, if they do not run in the current one.
    scratch: Option<Scratch>,
    shows_output: bool,
    environment: Vec<(OsString, OsString)>,
    started: AtomicUsize,
    /// What the first nursery had to tell.
    greeting: OnceLock<Greeting>,
}

/// A folder for all that code under test writes, which is gone in the end.
#[derive(Debug)]
struct Scratch {
    root: PathBuf,
    /// Tells others that somebody uses the folder.
    _lock: fs::File,
}

impl Scratch {
    const PREFIX: &str = "testwright-workers-";

    fn new() -> Result<Scratch, Error> {
        let parent = std::env::temp_dir();
        let failed = |error: std::io::Error| {
            Error::new(format!(
                "cannot make a folder for the workers in `{}`: {error}",
                parent.display()
            ))
            .with_help("name another place with the variable TMPDIR, or run in the current folder with `--in-place`")
        };
        remove_left_behind(&parent);
        // Code under test may print its path. Without chance in it, the same test prints the same.
        for number in 0..1_000 {
            let name = format!("{}{}-{number}", Scratch::PREFIX, std::process::id());
            let root = parent.join(name);
            match fs::create_dir(&root) {
                Ok(()) => {
                    let lock = fs::File::open(&root).map_err(failed)?;
                    let _not_everywhere = lock.try_lock();
                    return Ok(Scratch { root, _lock: lock });
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Err(failed(std::io::ErrorKind::AlreadyExists.into()))
    }
}

/// Removes the folders of campaigns that were killed together with all their processes.
fn remove_left_behind(parent: &Path) {
    /// Whoever has just made a folder may not have locked it yet.
    const AGE: Duration = Duration::from_secs(60);
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_scratch = entry
            .file_name()
            .to_string_lossy()
            .starts_with(Scratch::PREFIX);
        let is_old = entry.metadata().is_ok_and(|data| {
            let age = data.modified().ok().and_then(|then| then.elapsed().ok());
            data.is_dir() && age.is_some_and(|age| age > AGE)
        });
        // Whoever uses it has locked it, on this machine or another that shares the folder.
        let is_free = || fs::File::open(entry.path()).is_ok_and(|folder| folder.try_lock().is_ok());
        if is_scratch && is_old && is_free() {
            testwright_campaign::remove_folder(&entry.path());
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        testwright_campaign::remove_folder(&self.root);
    }
}

/// How workers are kept apart from the rest of the machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Isolation {
    /// Run in the current folder.
    pub(crate) in_place: bool,
    pub(crate) limits: Limits,
    pub(crate) shows_output: bool,
    pub(crate) environment: Vec<(OsString, OsString)>,
}

/// Why there is no nursery.
pub(crate) enum NoNursery {
    /// The reason is in these words already.
    Told(String),
    Error(Error),
    Abandoned,
}

impl Starter {
    pub(crate) fn new(
        console: &Console<'_>,
        harness: Option<&TextFile>,
        words: &[OsString],
        isolation: Isolation,
    ) -> Result<Starter, Error> {
        let python = testwright_python::attach(testwright_python::executable);
        let python = python.ok_or_else(|| {
            Error::new("there is no Python program to start workers with")
                .with_help("`--jobs 0` does all the work in this process")
        })?;
        let harness = harness.map(|file| {
            let path = whole_path(&file.path)
                .map_err(|error| Error::new(format!("cannot find `{}`: {error}", file.name)))?;
            Ok::<_, Error>(HarnessFile {
                path,
                name: file.name.clone(),
                text: file.text.clone(),
            })
        });
        let scratch = if isolation.in_place {
            None
        } else {
            Some(Scratch::new()?)
        };
        Ok(Starter {
            python,
            here: std::env::current_dir().unwrap_or_default(),
            words: words.to_vec(),
            setup: Setup {
                harness: harness.transpose()?,
                folder: None,
                limits: isolation.limits,
                width: console.width(),
                colour: console.colour_err(),
            },
            scratch,
            shows_output: isolation.shows_output,
            environment: isolation.environment,
            started: AtomicUsize::new(0),
            greeting: OnceLock::new(),
        })
    }

    /// What is to be known of models, once a nursery has loaded them.
    pub(crate) fn greeting(&self) -> Option<&Greeting> {
        self.greeting.get()
    }

    /// Starts a nursery and waits until it has loaded the system, as long as `wait` says so.
    pub(crate) fn start(&self, wait: &mut dyn FnMut() -> bool) -> Result<ForkServer, NoNursery> {
        let mut setup = self.setup.clone();
        let mut command = Command::new(&self.python);
        command
            .args(["-m", "testwright", "worker"])
            .args(&self.words);
        if !self.shows_output {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        if let Some(scratch) = &self.scratch {
            let folder = self.new_folder(&scratch.root).map_err(|error| {
                NoNursery::Error(Error::new(format!(
                    "cannot make a folder for a worker: {error}"
                )))
            })?;
            command.env("TMPDIR", &folder);
            setup.folder = Some(folder);
        }
        command.envs(self.environment.iter().cloned());
        // By its name: code under test may have made it anew.
        command.current_dir(&self.here);
        let mut started = ForkServer::start(&mut command, &setup, wait);
        let is_gone = match &started {
            Err(Stillborn::Unstarted(error)) => error.kind() == std::io::ErrorKind::NotFound,
            Err(Stillborn::Ended { .. }) => !self.here.is_dir(),
            _ => false,
        };
        if is_gone {
            // Or removed it, and may do so again.
            command.current_dir(std::env::temp_dir());
            started = ForkServer::start(&mut command, &setup, wait);
        }
        let started = started.map(|(nursery, greeting)| {
            let _first_counts = self.greeting.set(greeting);
            nursery
        });
        started.map_err(|why| match why {
            Stillborn::Refused(Refusal::Told(words)) => NoNursery::Told(words),
            Stillborn::Refused(Refusal::Error(error)) => NoNursery::Error(error.into()),
            Stillborn::Abandoned => NoNursery::Abandoned,
            Stillborn::Unstarted(error) => NoNursery::Error(Error::new(format!(
                "cannot start a process of `{}`: {error}",
                self.python.display()
            ))),
            Stillborn::Ended { how, stack } => {
                NoNursery::Error(crashed(&how, &stack, self.setup.harness.is_none()))
            }
        })
    }

    fn new_folder(&self, root: &Path) -> std::io::Result<PathBuf> {
        let number = self.started.fetch_add(1, Ordering::Relaxed) + 1;
        let folder = root.join(format!("worker-{number}"));
        fs::create_dir_all(&folder)?;
        // Where the current folder cannot be read, there is nothing to find in it.
        let _empty_then = look_like(&self.here, &folder);
        Ok(folder)
    }
}

/// A path that does not lead through folders that may be gone later, as `work/..` does.
fn whole_path(path: &Path) -> std::io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    match (absolute.parent(), absolute.file_name()) {
        (Some(folder), Some(name)) => Ok(folder.canonicalize()?.join(name)),
        _ => Ok(absolute),
    }
}

/// Lets a folder look like another, for code that reads files beside it. What is created, overwritten or deleted in it
/// leaves the other as it is, but for large files and for what is in folders: those are links.
fn look_like(other: &Path, folder: &Path) -> std::io::Result<()> {
    const LARGE: u64 = 1 << 20;
    for entry in fs::read_dir(other)? {
        let entry = entry?;
        let copy = folder.join(entry.file_name());
        let data = fs::metadata(entry.path());
        let is_small = data.is_ok_and(|data| data.is_file() && data.len() <= LARGE);
        let copied = is_small && fs::copy(entry.path(), &copy).is_ok();
        if !copied {
            // What can be neither copied nor linked is missed by who needs it.
            let _missing_then = std::os::unix::fs::symlink(entry.path(), &copy);
        }
    }
    Ok(())
}

/// The harness, or models, crashed the interpreter before there was any test.
fn crashed(how: &str, stack: &str, is_models: bool) -> Error {
    let what = if is_models { "models" } else { "harness" };
    let mut message = format!("the process that loads the {what} {how}");
    for line in stack.lines() {
        message.push_str("\n  ");
        message.push_str(line);
    }
    Error::new(message).with_help(if is_models { "this happens before the first test: while the modules are imported" } else { "this happens before the first test: while the modules under test are imported, or in the harness's own code" })
}
