//! `testwright capture`: run a program and record its calls.
//!
//! The program runs in a child process. A bootstrap module on its `PYTHONPATH` starts the recorder,
//! which reads its settings from the variable `TESTWRIGHT_CAPTURE`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use testwright_capture::store;
use testwright_core::{Error, describe_os_error};

use crate::console::Console;
use crate::project::current_folder;
use crate::{CommandError, ExitStatus, quantity};

/// Folder of recordings, relative to the folder of a project.
pub(super) const STORE: &str = ".testwright/capture";

/// Run a program, and record the calls of its functions
///
/// Arguments, results and changes of each call are recorded. The program runs as it does without this command,
/// in its own process, with the same output and exit status. Recordings are kept in `.testwright/capture`; a new
/// recording replaces the one of the same command.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright capture -- python app.py --port 80          a script
  testwright capture -- python -m app                    a module
  testwright capture -m app                              the same, by the Python of this command
  testwright capture --scope app -- pytest -q            what the tests call in the package `app`
  testwright show app.Stack.push                         what was recorded

Exit status: that of the program; 2 could not do what was asked."
)]
pub(crate) struct CaptureCommand {
    /// Module or package to record, with everything in it; repeatable [default: the code below this folder]
    #[arg(long, value_name = "NAME")]
    scope: Vec<String>,

    /// Do not print what was recorded
    #[arg(long, short)]
    quiet: bool,

    /// Program, and its arguments; `-m MODULE` runs a module by the Python of this command
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    words: Vec<OsString>,
}

impl CaptureCommand {
    /// Runs the command.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let folder = current_folder()?;
        let store = folder.join(STORE);
        std::fs::create_dir_all(&store).map_err(|error| {
            let reason = describe_os_error(&error);
            let message = format!("cannot make the folder `{}`: {reason}", store.display());
            Error::new(message).with_help("record in a folder that you may write to")
        })?;
        let name = recording_name();
        let args = self.with_interpreter();
        let command: Vec<String> = args
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let python_path = std::env::var_os("PYTHONPATH");
        let request = json!({
            "store": store,
            "name": name,
            "modules": self.scope,
            "folders": [folder],
            "command": command,
            "python_path": python_path.as_ref().map(|path| path.to_string_lossy()),
        });
        let bootstrap = testwright_python::attach(testwright_python::recorder::bootstrap_folder)
            .ok_or_else(|| {
                Error::new("cannot find the files of this installation of Testwright")
            })?;
        let paths =
            std::iter::once(bootstrap).chain(python_path.iter().flat_map(std::env::split_paths));
        let paths = std::env::join_paths(paths)
            .map_err(|error| Error::new(format!("cannot extend PYTHONPATH: {error}")))?;
        // Ctrl-C is handled by the program; this command ends when the program does.
        let _ = signal_hook::flag::register(
            signal_hook::consts::SIGINT,
            Arc::new(AtomicBool::new(false)),
        );
        let ended = Command::new(&args[0])
            .args(&args[1..])
            .env("PYTHONPATH", paths)
            .env("TESTWRIGHT_CAPTURE", request.to_string())
            .status()
            .map_err(|error| {
                let reason = describe_os_error(&error);
                Error::new(format!("cannot run `{}`: {reason}", command[0]))
                    .with_help("name the program as you would without this command: `testwright capture -- python app.py`")
            })?;
        self.report(console, &store, &name, &command)?;
        Ok(ExitStatus::Program(exit_code(ended)))
    }

    /// Returns the program and its arguments. A script or `-m` without an interpreter is run by the
    /// interpreter of this command.
    fn with_interpreter(&self) -> Vec<OsString> {
        let first = self.words.first().map(|word| word.to_string_lossy());
        let needs_interpreter = first.is_some_and(|word| word == "-m" || word.ends_with(".py"));
        let interpreter =
            needs_interpreter.then(|| super::generate::executable(None).into_os_string());
        interpreter.into_iter().chain(self.words.clone()).collect()
    }

    /// Prints what was recorded, and removes earlier recordings of the same command.
    fn report(
        &self,
        console: &mut Console<'_>,
        store: &Path,
        name: &str,
        command: &[String],
    ) -> Result<(), CommandError> {
        let problem = store.join(format!("{name}.problem"));
        if let Ok(reason) = std::fs::read_to_string(&problem) {
            let _ = std::fs::remove_file(&problem);
            let message = format!("nothing was recorded: {reason}");
            let help = "install Testwright for the interpreter that runs the program";
            console.warning(&message, Some(help));
            return Ok(());
        }
        let loaded = store::load(store).map_err(|error| {
            Error::new(format!(
                "cannot read `{}`: {}",
                store.display(),
                describe_os_error(&error)
            ))
        })?;
        let mut calls = 0;
        let mut is_new = false;
        for (number, path) in loaded.files.iter().enumerate() {
            let is_this_run = path
                .file_name()
                .is_some_and(|file| file.to_string_lossy().starts_with(name));
            let execution = &loaded.recording.executions[number];
            if is_this_run {
                is_new = true;
                calls += (loaded.recording.calls.iter())
                    .filter(|call| call.execution as usize == number)
                    .count();
                for problem in &execution.problems {
                    console.warning(
                        &format!("the recording may lack something: {problem}"),
                        None,
                    );
                }
            } else if execution.command == command {
                let _ = std::fs::remove_file(path);
            }
        }
        if !is_new {
            let message = "nothing was recorded: the program is not a Python program, or runs isolated from its environment";
            console.warning(message, Some("name a Python program, without `-I` or `-E`"));
        } else if calls == 0 && !self.quiet {
            let scope = match self.scope.as_slice() {
                [] => "the code below this folder".to_owned(),
                names => format!("`{}`", names.join("`, `")),
            };
            let message = format!("nothing was recorded: no function of {scope} was called");
            let help = "only functions written in Python are recorded, not compiled ones; `--scope NAME` records a module from elsewhere";
            console.warning(&message, Some(help));
        } else if !self.quiet {
            let words = format!("recorded {}", quantity::format_count(calls as u64, "call"));
            console.err(format!("{words}; `testwright show` lists them"));
        }
        Ok(())
    }
}

/// Returns a name for the recording. Names sort by time, and are unique among running processes.
fn recording_name() -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    format!("{}-{}", now.as_millis(), std::process::id())
}

/// Returns the exit status of the program; 128 plus the signal if it was killed.
fn exit_code(ended: std::process::ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    let code = ended.code().or_else(|| Some(128 + ended.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// Returns the folder of recordings in the current folder.
pub(super) fn store_folder() -> PathBuf {
    PathBuf::from(STORE)
}
