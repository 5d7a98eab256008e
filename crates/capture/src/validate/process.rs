//! The process in which tests run.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::{Error, Python, Round};

/// Runs the runner in its folder, for at most so many seconds, and gives what it had to say.
pub(super) fn run(
    python: &Python,
    folder: &Path,
    round: Round,
    seconds: u64,
) -> Result<String, Error> {
    let place = |name: &str| folder.join(name);
    let said = place("said");
    let cannot = |error: std::io::Error| {
        Error(format!(
            "cannot run {}: {error}",
            python.executable.display()
        ))
    };
    let output = fs::File::create(&said).map_err(cannot)?;
    let errors = output.try_clone().map_err(cannot)?;
    let mut command = command(&python.executable, &python.path, folder)?;
    command
        .arg(place("runner.py"))
        .arg(place("orders.json"))
        .arg(place("report"))
        .env("PYTHONHASHSEED", round.hash_seed.to_string())
        .env("TZ", round.zone)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors);
    let mut child = command.spawn().map_err(cannot)?;
    let end = Instant::now() + Duration::from_secs(seconds);
    loop {
        match child.try_wait().map_err(cannot)? {
            Some(_) => break,
            None if Instant::now() > end => {
                // It may have ended just now, which is as good.
                drop(child.kill());
                child.wait().map_err(cannot)?;
                break;
            }
            None => thread::sleep(Duration::from_millis(10)),
        }
    }
    let text = fs::read(&said).map_err(cannot)?;
    Ok(last_line(&String::from_utf8_lossy(&text)))
}

/// The user's Python in a folder of ours, with modules found on this path and nothing of the user's own settings.
pub(crate) fn command(
    executable: &Path,
    path: &[PathBuf],
    folder: &Path,
) -> Result<Command, Error> {
    // Where the user has Python look, it looks for the tests as well.
    let usual = env::var_os("PYTHONPATH").unwrap_or_default();
    let path = env::join_paths(path.iter().cloned().chain(env::split_paths(&usual)))
        .map_err(|error| Error(format!("a folder cannot be looked in: {error}")))?;
    let mut command = Command::new(executable);
    command
        .current_dir(folder)
        .env("PYTHONPATH", path)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("HOME", folder.join("home"))
        .env("TMPDIR", folder.join("scratch"))
        // What plugins and settings of the user's own say is not what other people's say.
        .env("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        .env_remove("PYTEST_ADDOPTS")
        .env_remove("PYTHONSTARTUP");
    Ok(command)
}

pub(crate) fn last_line(text: &str) -> String {
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    last.unwrap_or("the tests said nothing").trim().to_owned()
}
