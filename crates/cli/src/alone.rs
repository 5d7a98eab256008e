//! A command of ours in a process of its own, which has seen no test before and may crash or hang.

use std::ffi::OsStr;
use std::fs::File;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::subject::Subject;

const GLANCE: Duration = Duration::from_millis(2);

/// How such a process ended.
pub(crate) enum Ended {
    /// By itself, with this status.
    Status(i32),
    /// By a crash.
    Crashed,
    /// We ended it, since it took too long.
    Late,
}

/// Runs `testwright` with these words where the system lives; `None` if that cannot be done, or somebody presses Ctrl-C.
pub(crate) fn run(
    system: &(impl Subject + ?Sized),
    words: &[&OsStr],
    patience: Option<Duration>,
) -> Option<Ended> {
    let command = command(system, words)?;
    wait(command, patience)
}

/// The same in an interpreter with a hash seed of its own; what it prints goes to a file.
pub(crate) fn run_with_other_hashes(
    system: &(impl Subject + ?Sized),
    words: &[&OsStr],
    output: File,
) -> Option<Ended> {
    let mut command = command(system, words)?;
    command.env("PYTHONHASHSEED", "random").stdout(output);
    wait(command, None)
}

fn command(system: &(impl Subject + ?Sized), words: &[&OsStr]) -> Option<Command> {
    let (program, folder) = system.home()?;
    let mut command = Command::new(program);
    command.args(["-m", "testwright"]).args(words);
    command.current_dir(folder);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Some(command)
}

fn wait(mut command: Command, patience: Option<Duration>) -> Option<Ended> {
    let mut child = command.spawn().ok()?;
    let started = Instant::now();
    loop {
        let is_late = patience.is_some_and(|patience| started.elapsed() >= patience);
        let ended = match child.try_wait() {
            Ok(Some(status)) => return Some(status.code().map_or(Ended::Crashed, Ended::Status)),
            Ok(None) if is_late => Some(Ended::Late),
            Ok(None) if !testwright_python::interrupted() => {
                thread::sleep(GLANCE);
                continue;
            }
            _ => None,
        };
        // Dead or alive, nothing more is wanted of it.
        let _ = child.kill();
        let _ = child.wait();
        return ended;
    }
}
