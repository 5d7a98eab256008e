//! `testwright capture`: a program is watched while it runs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use testwright_capture::store;
use testwright_core::Error;

use crate::console::Console;
use crate::{ExitStatus, Trouble, quantity};

/// Where recordings are kept, seen from the folder of a project.
pub(super) const STORE: &str = ".testwright/capture";

/// Run a program and record what its functions are called with, return and change
///
/// The program runs as it would without this command, in a process of its own: what it prints and its exit
/// status are the same. Recordings are kept in `.testwright/capture`; a new one replaces that of the same
/// command.
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
pub(crate) struct Capture {
    /// A module or package to record, with everything in it; repeatable [default: the code below this folder]
    #[arg(long, value_name = "NAME")]
    scope: Vec<String>,

    /// Say nothing about what was recorded
    #[arg(long, short)]
    quiet: bool,

    /// The program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    words: Vec<OsString>,
}

impl Capture {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        let folder = std::env::current_dir()
            .map_err(|error| Error::new(format!("cannot tell the current folder: {error}")))?;
        let store = folder.join(STORE);
        std::fs::create_dir_all(&store).map_err(|error| {
            let reason = crate::files::reason(&error);
            let message = format!("cannot make the folder `{}`: {reason}", store.display());
            Error::new(message).with_help("record in a folder that you may write to")
        })?;
        let name = name_of_run();
        let words = self.with_interpreter();
        let command: Vec<String> = words
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let python_path = std::env::var_os("PYTHONPATH");
        let wish = json!({
            "store": store,
            "name": name,
            "modules": self.scope,
            "folders": [folder],
            "command": command,
            "python_path": python_path.as_ref().map(|path| path.to_string_lossy()),
        });
        let watched = testwright_python::attach(testwright_python::recorder::bootstrap)
            .ok_or_else(|| {
                Error::new("cannot find the files of this installation of Testwright")
            })?;
        let paths =
            std::iter::once(watched).chain(python_path.iter().flat_map(std::env::split_paths));
        let paths = std::env::join_paths(paths)
            .map_err(|error| Error::new(format!("cannot extend PYTHONPATH: {error}")))?;
        // Ctrl-C is for the program; this command ends when it does.
        let _ = signal_hook::flag::register(
            signal_hook::consts::SIGINT,
            Arc::new(AtomicBool::new(false)),
        );
        let ended = Command::new(&words[0])
            .args(&words[1..])
            .env("PYTHONPATH", paths)
            .env("TESTWRIGHT_CAPTURE", wish.to_string())
            .status()
            .map_err(|error| {
                Error::new(format!("cannot run `{}`: {error}", command[0]))
                    .with_help("name the program as you would without this command: `testwright capture -- python app.py`")
            })?;
        self.tell(console, &store, &name, &command)?;
        Ok(ExitStatus::OfProgram(status(ended)))
    }

    /// The words of the command. A script or `-m` without an interpreter is run by the one that runs this command.
    fn with_interpreter(&self) -> Vec<OsString> {
        let first = self.words.first().map(|word| word.to_string_lossy());
        let is_program = first.is_some_and(|word| word == "-m" || word.ends_with(".py"));
        let interpreter = is_program.then(|| super::generate::executable(None).into_os_string());
        interpreter.into_iter().chain(self.words.clone()).collect()
    }

    /// Says what was recorded, and removes earlier recordings of the same command.
    fn tell(
        &self,
        console: &mut Console<'_>,
        store: &Path,
        name: &str,
        command: &[String],
    ) -> Result<(), Trouble> {
        let problem = store.join(format!("{name}.problem"));
        if let Ok(reason) = std::fs::read_to_string(&problem) {
            let _ = std::fs::remove_file(&problem);
            let message = format!("nothing was recorded: {reason}");
            let help = "install Testwright for the interpreter that runs the program";
            console.warning(&message, Some(help));
            return Ok(());
        }
        let loaded = store::load(store)
            .map_err(|error| Error::new(format!("cannot read `{}`: {error}", store.display())))?;
        let mut calls = 0;
        let mut is_new = false;
        for (number, path) in loaded.files.iter().enumerate() {
            let of_this_run = path
                .file_name()
                .is_some_and(|file| file.to_string_lossy().starts_with(name));
            let execution = &loaded.recording.executions[number];
            if of_this_run {
                is_new = true;
                calls += (loaded.recording.calls.iter())
                    .filter(|call| call.execution as usize == number)
                    .count();
                for trouble in &execution.troubles {
                    console.warning(
                        &format!("the recording may lack something: {trouble}"),
                        None,
                    );
                }
            } else if execution.command == command {
                let _ = std::fs::remove_file(path);
            }
        }
        if !is_new {
            let message = "nothing was recorded: the program is no Python program, or runs isolated from its environment";
            console.warning(message, Some("name a Python program, without `-I` or `-E`"));
        } else if calls == 0 && !self.quiet {
            let looked_at = match self.scope.as_slice() {
                [] => "the code below this folder".to_owned(),
                names => format!("`{}`", names.join("`, `")),
            };
            let message = format!("nothing was recorded: no function of {looked_at} was called");
            let help = "only functions written in Python are recorded, not compiled ones; `--scope NAME` records a module from elsewhere";
            console.warning(&message, Some(help));
        } else if !self.quiet {
            let words = format!("recorded {}", quantity::of(calls as u64, "call"));
            console.tell(format!("{words}; `testwright show` tells which"));
        }
        Ok(())
    }
}

/// Names sort by time, and no two processes have the same at the same time.
fn name_of_run() -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    format!("{}-{}", now.as_millis(), std::process::id())
}

fn status(ended: std::process::ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    let code = ended.code().or_else(|| Some(128 + ended.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// Where the recordings of the current folder are.
pub(super) fn store_folder() -> PathBuf {
    PathBuf::from(STORE)
}
