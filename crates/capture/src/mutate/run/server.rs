//! A process that runs tests with one mutant after the other.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::measurements::InjectionMode;
use super::{MutatedFile, MutationSetup};
use crate::validate::process::{command, last_line};
use crate::validate::{Error, SandboxFolder, prepare_error};
use crate::write::TestFramework;

/// The runner script and the module that it imports.
const FILES: [(&str, &str); 2] = [
    ("runner.py", include_str!("runner.py")),
    ("testwright_lines.py", include_str!("lines.py")),
];

/// The interval at which the stop flag is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A mutant, and the tests to run with it.
#[derive(Serialize)]
pub(super) struct MutantRequest<'a> {
    pub(super) file: &'a Path,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) replacement: &'a str,
    pub(super) tests: Vec<&'a str>,
    pub(super) files: Vec<PathBuf>,
    /// The time limit in seconds.
    pub(super) seconds: f64,
    /// The limit of processor time in seconds.
    pub(super) processor: u64,
}

/// The reply to a request.
pub(super) enum MutantReply {
    Survived,
    Noticed {
        by: Option<String>,
        message: String,
    },
    Hung,
    Crashed(String),
    /// The mutant could not be injected in this mode.
    NotInjected,
    /// The run was stopped.
    Stopped,
}

/// A line of the runner script's output.
#[derive(Deserialize)]
struct ReplyLine {
    noticed: Option<String>,
    by: Option<String>,
    #[serde(default)]
    message: String,
    #[serde(default)]
    last: bool,
}

/// A running process of the runner script.
pub(super) struct MutantServer {
    /// The process.
    child: Child,
    /// Its standard input, for requests.
    requests: Option<ChildStdin>,
    /// The lines of its standard output.
    lines: Receiver<String>,
    /// Its temporary folder.
    sandbox: SandboxFolder,
}

impl MutantServer {
    /// Starts a process for one injection mode. `outside` are modules to import in advance.
    pub(super) fn start(
        setting: &MutationSetup,
        files: &[MutatedFile],
        mode: InjectionMode,
        outside: &[String],
    ) -> Result<MutantServer, Error> {
        let sandbox = SandboxFolder::new()?;
        let sources: Vec<(&Path, &str)> = files
            .iter()
            .map(|file| (file.path.as_path(), file.text.as_str()))
            .collect();
        let options = json!({
            "way": match mode {
                InjectionMode::Measure => "measure",
                InjectionMode::Swap => "swap",
                InjectionMode::Load => "load",
            },
            "style": match setting.style {
                TestFramework::Pytest => "pytest",
                TestFramework::Unittest => "unittest",
            },
            "inside": sandbox.path,
            "root": setting.root,
            "temporary": sandbox.path_to("temporary"),
            "settings": sandbox.path_to("pytest.ini"),
            "start": setting.start.clone().unwrap_or_else(|| sandbox.path_to("start")),
            "files": setting.tests,
            "wanted": setting.selected_tests,
            "outside": outside,
            "sources": sources,
        });
        fs::write(sandbox.path_to("options.json"), options.to_string()).map_err(prepare_error)?;
        for (name, text) in FILES {
            fs::write(sandbox.path_to(name), text).map_err(prepare_error)?;
        }
        let error_file = fs::File::create(sandbox.path_to("output")).map_err(prepare_error)?;
        let mut command = command(&setting.python, &setting.path, &sandbox.path)?;
        command
            .arg(sandbox.path_to("runner.py"))
            .arg(sandbox.path_to("options.json"))
            .env("PYTHONHASHSEED", "0")
            .env("TZ", "UTC")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(error_file);
        // Ctrl-C is handled by the command, which ends this process and its forks.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command
            .spawn()
            .map_err(|error| Error(format!("cannot run {}: {error}", setting.python.display())))?;
        let requests = child.stdin.take();
        let (sender, lines) = channel();
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        Ok(MutantServer {
            child,
            requests,
            lines,
            sandbox,
        })
    }

    /// Sends a request. Returns the reply, and true if the process can take another request.
    pub(super) fn request(
        &mut self,
        request: &MutantRequest<'_>,
        late: Duration,
        is_stopped: &AtomicBool,
    ) -> Result<(MutantReply, bool), Error> {
        let text = serde_json::to_string(request).map_err(|error| Error(error.to_string()))?;
        let sent = self
            .requests
            .as_mut()
            .map(|requests| writeln!(requests, "{text}").and_then(|()| requests.flush()));
        if !matches!(sent, Some(Ok(()))) {
            return Err(Error(self.last_error()));
        }
        let deadline = Instant::now() + late;
        loop {
            match self.lines.recv_timeout(POLL_INTERVAL) {
                Ok(line) => {
                    let reply: ReplyLine = serde_json::from_str(&line)
                        .map_err(|_| Error(format!("the tests answered `{line}`")))?;
                    let is_reusable = !reply.last;
                    return Ok((parse_reply(reply), is_reusable));
                }
                Err(RecvTimeoutError::Timeout) if is_stopped.load(Ordering::Relaxed) => {
                    return Ok((MutantReply::Stopped, false));
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() > deadline => {
                    return Ok((MutantReply::Hung, false));
                }
                Err(RecvTimeoutError::Timeout) => {}
                // Without forks, a mutant may end the process itself.
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok((MutantReply::Crashed("the process ended".to_owned()), false));
                }
            }
        }
    }

    /// Returns the next line of output; `None` at its end, or if the run is stopped.
    pub(super) fn next_line(&mut self, is_stopped: &AtomicBool) -> Option<String> {
        loop {
            match self.lines.recv_timeout(POLL_INTERVAL) {
                Ok(line) => return Some(line),
                Err(RecvTimeoutError::Timeout) if !is_stopped.load(Ordering::Relaxed) => {}
                Err(_) => return None,
            }
        }
    }

    /// Returns the last line of standard error.
    pub(super) fn last_error(&self) -> String {
        let error_file = fs::read(self.sandbox.path_to("output")).unwrap_or_default();
        last_line(&String::from_utf8_lossy(&error_file))
    }
}

/// Converts a line of output to a reply.
fn parse_reply(line: ReplyLine) -> MutantReply {
    match line.noticed.as_deref() {
        None => MutantReply::Survived,
        Some("hang") => MutantReply::Hung,
        Some("crash") => MutantReply::Crashed(line.message),
        Some("not here") => MutantReply::NotInjected,
        Some(_) => MutantReply::Noticed {
            by: line.by,
            message: line.message,
        },
    }
}

impl Drop for MutantServer {
    fn drop(&mut self) {
        // Its forks are in its process group. Errors do not matter, because the processes may have
        // ended.
        #[cfg(unix)]
        if let Ok(number) = i32::try_from(self.child.id())
            && let Some(group) = rustix::process::Pid::from_raw(number)
        {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
