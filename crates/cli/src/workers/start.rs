//! Starts fork servers.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use testwright_campaign::{Activity, ForkServer, LoadDelay, ResourceLimits, SpawnError};
use testwright_core::{Error, describe_os_error};

use super::{HarnessFile, LoadRefusal, LoadReport, WorkerSetup};
use crate::console::Console;
use crate::files::TextFile;
use crate::guard::{confirmation_text, slow_text};

/// The data to start fork servers for a harness or models.
#[derive(Debug)]
pub(crate) struct Starter {
    /// The Python program.
    python: PathBuf,
    /// The folder that the command was called in.
    working_folder: PathBuf,
    /// The arguments of `testwright run`.
    arguments: Vec<OsString>,
    /// The data that a fork server gets.
    setup: WorkerSetup,
    /// The parent of the fork servers' folders, unless they run in the current one.
    scratch: Option<ScratchFolder>,
    /// True if the output of the code under test is shown.
    shows_output: bool,
    /// Additional environment variables.
    environment: Vec<(OsString, OsString)>,
    /// The number of folders that were created.
    started: AtomicUsize,
    /// The report of the first fork server.
    load_report: OnceLock<LoadReport>,
    /// The time after which loading the system is late.
    limit: Duration,
}

/// A folder for the files that code under test writes. It is removed at the end.
#[derive(Debug)]
struct ScratchFolder {
    /// The path of the folder.
    root: PathBuf,
    /// The lock that shows original campaigns that the folder is in use.
    _lock: fs::File,
}

impl ScratchFolder {
    /// The start of the folder's name.
    const PREFIX: &str = "testwright-workers-";

    /// Creates a folder among the temporary files.
    fn new() -> Result<ScratchFolder, Error> {
        let parent = std::env::temp_dir();
        let failed = |error: std::io::Error| {
            Error::new(format!(
                "cannot make a folder for the workers in `{}`: {}",
                parent.display(), describe_os_error(&error)
            ))
            .with_help("name another place with the variable TMPDIR, or run in the current folder with `--in-place`")
        };
        remove_abandoned(&parent);
        // Code under test may print its path. A name without random parts makes the same test print
        // the same.
        for number in 0..1_000 {
            let name = format!("{}{}-{number}", ScratchFolder::PREFIX, std::process::id());
            let root = parent.join(name);
            match fs::create_dir(&root) {
                Ok(()) => {
                    let lock = fs::File::open(&root).map_err(failed)?;
                    let _not_supported_everywhere = lock.try_lock();
                    return Ok(ScratchFolder { root, _lock: lock });
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Err(failed(std::io::ErrorKind::AlreadyExists.into()))
    }
}

/// Removes the folders of campaigns that were killed together with all their processes.
fn remove_abandoned(parent: &Path) {
    /// The age below which a folder stays, since its owner may not have locked it yet.
    const AGE: Duration = Duration::from_secs(60);
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_scratch = entry
            .file_name()
            .to_string_lossy()
            .starts_with(ScratchFolder::PREFIX);
        let is_old = entry.metadata().is_ok_and(|data| {
            let age = data.modified().ok().and_then(|then| then.elapsed().ok());
            data.is_dir() && age.is_some_and(|age| age > AGE)
        });
        // A folder in use is locked, by this machine or another that shares the folder.
        let is_free = || fs::File::open(entry.path()).is_ok_and(|folder| folder.try_lock().is_ok());
        if is_scratch && is_old && is_free() {
            testwright_campaign::remove_folder(&entry.path());
        }
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        testwright_campaign::remove_folder(&self.root);
    }
}

/// The separation of workers from the rest of the machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Isolation {
    /// True to run in the current folder.
    pub(crate) in_place: bool,
    pub(crate) limits: ResourceLimits,
    /// True to show the output of the code under test.
    pub(crate) shows_output: bool,
    /// Additional environment variables.
    pub(crate) environment: Vec<(OsString, OsString)>,
}

/// The reason why a fork server could not be started.
pub(crate) enum ForkServerError {
    /// The messages that the fork server printed.
    Reported(String),
    /// An error that is still to be printed.
    Error(Error),
    /// The user did not want to wait any longer.
    Abandoned,
}

impl Starter {
    /// Prepares to start fork servers with these arguments.
    pub(crate) fn new(
        console: &Console<'_>,
        harness: Option<&TextFile>,
        arguments: &[OsString],
        isolation: Isolation,
        limit: Duration,
    ) -> Result<Starter, Error> {
        let python = testwright_python::attach(testwright_python::executable);
        let python = python.ok_or_else(|| {
            Error::new("there is no Python program to start workers with")
                .with_help("`--jobs 0` does all the work in this process")
        })?;
        let harness = harness.map(|file| {
            let path = resolved_path(&file.path).map_err(|error| {
                Error::new(format!(
                    "cannot find `{}`: {}",
                    file.name,
                    describe_os_error(&error)
                ))
            })?;
            Ok::<_, Error>(HarnessFile {
                path,
                name: file.name.clone(),
                text: file.text.clone(),
            })
        });
        let scratch = if isolation.in_place {
            None
        } else {
            Some(ScratchFolder::new()?)
        };
        Ok(Starter {
            python,
            working_folder: std::env::current_dir().unwrap_or_default(),
            arguments: arguments.to_vec(),
            setup: WorkerSetup {
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
            load_report: OnceLock::new(),
            limit,
        })
    }

    /// Returns the report of the first fork server, once it has loaded the system.
    pub(crate) fn load_report(&self) -> Option<&LoadReport> {
        self.load_report.get()
    }

    /// Starts a fork server and waits until it has loaded the system, as long as `wait` returns
    /// true. `wait` gets a remark for the user if that takes long.
    pub(crate) fn start(
        &self,
        wait: &mut dyn FnMut(Option<String>) -> bool,
    ) -> Result<ForkServer, ForkServerError> {
        let mut setup = self.setup.clone();
        let mut command = Command::new(&self.python);
        command
            .args(["-m", "testwright", "worker"])
            .args(&self.arguments);
        if !self.shows_output {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        if let Some(scratch) = &self.scratch {
            let folder = self.new_folder(&scratch.root).map_err(|error| {
                ForkServerError::Error(Error::new(format!(
                    "cannot make a folder for a worker: {}",
                    describe_os_error(&error)
                )))
            })?;
            command.env("TMPDIR", &folder);
            setup.folder = Some(folder);
        }
        command.envs(self.environment.iter().cloned());
        // By its path: code under test may have replaced the folder.
        command.current_dir(&self.working_folder);
        let mut wait = |delay: Option<LoadDelay>| {
            wait(delay.map(|delay| match delay {
                LoadDelay::Late {
                    limit,
                    confirmation,
                } => confirmation_text(Activity::Loading, limit, confirmation),
                LoadDelay::Slow(slow) => slow_text(&slow, None),
            }))
        };
        let limit = self.limit;
        let mut started = ForkServer::start(&mut command, &setup, limit, &mut wait);
        let is_gone = match &started {
            Err(SpawnError::NotStarted(error)) => error.kind() == std::io::ErrorKind::NotFound,
            Err(SpawnError::ProcessEnded { .. }) => !self.working_folder.is_dir(),
            _ => false,
        };
        if is_gone {
            // The folder is gone, and code under test may remove it again.
            command.current_dir(std::env::temp_dir());
            started = ForkServer::start(&mut command, &setup, limit, &mut wait);
        }
        let started = started.map(|(server, load_report)| {
            let _first_counts = self.load_report.set(load_report);
            server
        });
        started.map_err(|why| match why {
            SpawnError::LoadFailed(LoadRefusal::Reported(arguments)) => {
                ForkServerError::Reported(arguments)
            }
            SpawnError::LoadFailed(LoadRefusal::Error(error)) => {
                ForkServerError::Error(error.into())
            }
            SpawnError::Cancelled => ForkServerError::Abandoned,
            SpawnError::NotStarted(error) => ForkServerError::Error(Error::new(format!(
                "cannot start a process of `{}`: {}",
                self.python.display(),
                describe_os_error(&error)
            ))),
            SpawnError::ProcessEnded {
                description: ending,
                stack,
            } => ForkServerError::Error(load_crash(&ending, &stack, self.setup.harness.is_none())),
            SpawnError::TimedOut { limit, stack } => {
                let ending = format!("hangs: no end after {limit:?}");
                let error = load_crash(&ending, &stack, self.setup.harness.is_none());
                let help = error.help.clone().unwrap_or_default();
                ForkServerError::Error(
                    error.with_help(format!("{help}; allow more with `--step-timeout`")),
                )
            }
        })
    }

    /// Creates the folder of a fork server, with the files of the current folder.
    fn new_folder(&self, root: &Path) -> std::io::Result<PathBuf> {
        let number = self.started.fetch_add(1, Ordering::Relaxed) + 1;
        let folder = root.join(format!("worker-{number}"));
        fs::create_dir_all(&folder)?;
        // A current folder that cannot be read leaves the new one empty.
        let _stays_empty = mirror_folder(&self.working_folder, &folder);
        Ok(folder)
    }
}

/// Returns a path that does not lead through folders that may be removed later, as `work/..` does.
fn resolved_path(path: &Path) -> std::io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    match (absolute.parent(), absolute.file_name()) {
        (Some(folder), Some(name)) => Ok(folder.canonicalize()?.join(name)),
        _ => Ok(absolute),
    }
}

/// Makes a folder look like another, for code that reads files beside it. Small files are copied;
/// large files and folders are linked, so only changes to those reach the original.
fn mirror_folder(original: &Path, folder: &Path) -> std::io::Result<()> {
    const LARGE: u64 = 1 << 20;
    for entry in fs::read_dir(original)? {
        let entry = entry?;
        let copy = folder.join(entry.file_name());
        let data = fs::metadata(entry.path());
        let is_small = data.is_ok_and(|data| data.is_file() && data.len() <= LARGE);
        let copied = is_small && fs::copy(entry.path(), &copy).is_ok();
        if !copied {
            // A file that can be neither copied nor linked is missing.
            let _stays_missing = std::os::unix::fs::symlink(entry.path(), &copy);
        }
    }
    Ok(())
}

/// Returns the error for a harness or models that crash the interpreter before the first test.
fn load_crash(ending: &str, stack: &str, is_models: bool) -> Error {
    let kind = if is_models { "models" } else { "harness" };
    let mut message = format!("the process that loads the {kind} {ending}");
    for line in stack.lines() {
        message.push_str("\n  ");
        message.push_str(line);
    }
    Error::new(message).with_help(if is_models { "this happens before the first test: while the modules are imported" } else { "this happens before the first test: while the modules under test are imported, or in the harness's own code" })
}
