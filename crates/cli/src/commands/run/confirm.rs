//! Does a test fail on its own?
//!
//! A reset cannot undo everything: a class attribute of an installed package, a global of the harness, a file. Such
//! a remnant of earlier tests can make a test fail that passes by itself, and reduction only makes that worse. So a
//! reduced test is run once more in a process that has seen no other test.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use testwright_python::PythonSystem;

use super::Run;
use crate::ExitStatus;

/// Whoever waits longer than that for one short test wants a result, not certainty.
const PATIENCE: Duration = Duration::from_secs(20);
const GLANCE: Duration = Duration::from_millis(2);

/// Whether a saved test fails in a process of its own; `None` if that could not be found out.
pub(super) fn fails_alone(run: &Run, system: &PythonSystem<'_>, test: &Path) -> Option<bool> {
    let mut command = Command::new(system.executable()?);
    command
        .args(["-m", "testwright", "replay"])
        .arg(test)
        .arg("--harness")
        .arg(system.file());
    command.args(run.system.as_words());
    command.current_dir(system.folder()?);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.code() == Some(ExitStatus::FailureFound.code().into()) => {
                return Some(true);
            }
            Ok(Some(status)) if status.success() => return Some(false),
            Ok(None) if started.elapsed() < PATIENCE && !testwright_python::interrupted() => {
                thread::sleep(GLANCE)
            }
            _ => {
                // Dead or alive, nothing more is wanted of it.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}
