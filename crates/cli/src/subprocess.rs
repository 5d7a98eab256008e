//! Runs a `testwright` command in a process of its own, which has run no test before and may crash
//! or hang.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use testwright_campaign::ProcessMark;

use crate::target::Target;

/// The environment that this process began with.
static ENVIRONMENT: OnceLock<Vec<(OsString, OsString)>> = OnceLock::new();

/// Remembers the environment for processes to start, since code under test may change it. Only the
/// first call has an effect.
pub(crate) fn remember_environment() {
    ENVIRONMENT.get_or_init(|| std::env::vars_os().collect());
}

/// The time between two looks at the process.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// The way in which such a process ended.
pub(crate) enum ProcessEnd {
    /// It ended by itself, with this status.
    Status(i32),
    /// A signal ended it.
    Crashed,
    /// It was killed since it took too long.
    TimedOut,
}

/// The variables that a test sets here, with their values before: a file has to do without them.
static HIDDEN: Mutex<Vec<(String, Option<OsString>)>> = Mutex::new(Vec::new());

/// Runs files from now on with the values that these variables have now.
pub(crate) fn keep_from_files(variables: &[(String, String)]) {
    let before = |(name, _): &(String, String)| (name.clone(), std::env::var_os(name));
    let mut hidden = HIDDEN.lock().unwrap_or_else(PoisonError::into_inner);
    *hidden = variables.iter().map(before).collect();
}

/// Runs `testwright` with these arguments in the interpreter and the folder of the system. Returns
/// `None` if that is not possible, or on Ctrl-C.
pub(crate) fn run(
    system: &(impl Target + ?Sized),
    arguments: &[&OsStr],
    timeout: Option<Duration>,
) -> Option<ProcessEnd> {
    let command = command(system, arguments)?;
    wait(command, timeout)
}

/// Runs `testwright` in an interpreter with a random hash seed, and writes its output to a file.
pub(crate) fn run_with_random_hashes(
    system: &(impl Target + ?Sized),
    arguments: &[&OsStr],
    output: File,
) -> Option<ProcessEnd> {
    let mut command = command(system, arguments)?;
    command.env("PYTHONHASHSEED", "random").stdout(output);
    wait(command, None)
}

/// Runs a Python program in a folder, with a random hash seed and without output. Returns `None` if
/// that is not possible, or on Ctrl-C.
pub(crate) fn run_python(
    program: &Path,
    folder: &Path,
    arguments: &[&OsStr],
    timeout: Duration,
) -> Option<ProcessEnd> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    command.env("PYTHONHASHSEED", "random");
    for (name, before) in HIDDEN.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        match before {
            Some(before) => command.env(name, before),
            None => command.env_remove(name),
        };
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    wait(command, Some(timeout))
}

/// Returns the command, without input or output; `None` if the system has no interpreter to start.
fn command(system: &(impl Target + ?Sized), arguments: &[&OsStr]) -> Option<Command> {
    let (program, folder) = system.process_context()?;
    let mut command = Command::new(program);
    command.args(["-m", "testwright"]).args(arguments);
    command.current_dir(folder);
    if let Some(environment) = ENVIRONMENT.get() {
        command.env_clear().envs(environment.iter().cloned());
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Some(command)
}

/// Runs a command, kills it after the timeout or on Ctrl-C, and then ends all processes that it has
/// left behind.
fn wait(mut command: Command, timeout: Option<Duration>) -> Option<ProcessEnd> {
    let mark = ProcessMark::put_on(&mut command);
    let end = wait_for(&mut command.spawn().ok()?, timeout);
    mark.kill_all();
    end
}

/// Waits for a process, and kills it after the timeout or on Ctrl-C.
fn wait_for(child: &mut Child, timeout: Option<Duration>) -> Option<ProcessEnd> {
    let started = Instant::now();
    loop {
        let is_late = timeout.is_some_and(|timeout| started.elapsed() >= timeout);
        let end = match child.try_wait() {
            Ok(Some(status)) => {
                return Some(
                    status
                        .code()
                        .map_or(ProcessEnd::Crashed, ProcessEnd::Status),
                );
            }
            Ok(None) if is_late => Some(ProcessEnd::TimedOut),
            Ok(None) if !testwright_python::is_interrupted() => {
                // This process waits for another, which has a limit of its own.
                testwright_python::mark_progress();
                thread::sleep(POLL_INTERVAL);
                continue;
            }
            _ => None,
        };
        // Errors do not matter: it may have ended by now.
        let _ = child.kill();
        let _ = child.wait();
        return end;
    }
}
