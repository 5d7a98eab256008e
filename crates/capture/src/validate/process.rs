//! The process in which tests run.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::{Error, PythonRunner, ValidationRound};

/// Runs the runner script in its folder with a time limit in seconds, and returns the last line of
/// its output.
pub(super) fn run(
    python: &PythonRunner,
    folder: &Path,
    round: ValidationRound,
    seconds: u64,
) -> Result<String, Error> {
    let path_to = |name: &str| folder.join(name);
    let output_path = path_to("output");
    let run_error = |error: std::io::Error| {
        Error(format!(
            "cannot run {}: {error}",
            python.executable.display()
        ))
    };
    let output = fs::File::create(&output_path).map_err(run_error)?;
    let errors = output.try_clone().map_err(run_error)?;
    let mut command = command(&python.executable, &python.path, folder)?;
    command
        .arg(path_to("runner.py"))
        .arg(path_to("options.json"))
        .arg(path_to("report"))
        .env("PYTHONHASHSEED", round.hash_seed.to_string())
        .env("TZ", round.time_zone)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors);
    let mut child = command.spawn().map_err(run_error)?;
    let end = Instant::now() + Duration::from_secs(seconds);
    loop {
        match child.try_wait().map_err(run_error)? {
            Some(_) => break,
            None if Instant::now() > end => {
                // The process may have ended just now, so an error does not matter.
                drop(child.kill());
                child.wait().map_err(run_error)?;
                break;
            }
            None => thread::sleep(Duration::from_millis(10)),
        }
    }
    let text = fs::read(&output_path).map_err(run_error)?;
    Ok(last_line(&String::from_utf8_lossy(&text)))
}

/// Creates a command for the user's Python in a temporary folder, with a module search path and
/// without the user's own settings.
pub(crate) fn command(
    executable: &Path,
    path: &[PathBuf],
    folder: &Path,
) -> Result<Command, Error> {
    // The user's search path applies to the tests as well.
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
        // Tests must not depend on the user's plugins and settings.
        .env("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        .env_remove("PYTEST_ADDOPTS")
        .env_remove("PYTHONSTARTUP");
    Ok(command)
}

/// Returns the last line of an output that is not blank.
pub(crate) fn last_line(text: &str) -> String {
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    last.unwrap_or("the tests said nothing").trim().to_owned()
}
