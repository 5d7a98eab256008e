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

use super::measured::Way;
use super::{File, Setting};
use crate::validate::process::{command, last_line};
use crate::validate::{Error, Inside, cannot};
use crate::write::Style;

/// The text of the runner.
const RUNNER: &str = include_str!("runner.py");

/// How often somebody looks whether the work is to be stopped.
const GLANCE: Duration = Duration::from_millis(50);

/// One mutant and the tests to meet it.
#[derive(Serialize)]
pub(super) struct Request<'a> {
    pub(super) file: &'a Path,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) replacement: &'a str,
    pub(super) tests: Vec<&'a str>,
    pub(super) files: Vec<PathBuf>,
    /// How long it may take.
    pub(super) seconds: f64,
    /// How long a processor may work on it.
    pub(super) processor: u64,
}

/// What came of it.
pub(super) enum Answer {
    Survived,
    Noticed {
        by: Option<String>,
        message: String,
    },
    Hung,
    Crashed(String),
    /// The mutant did not get into the program this way.
    NotHere,
    /// Nobody wants to know any more.
    Stopped,
}

#[derive(Deserialize)]
struct Told {
    noticed: Option<String>,
    by: Option<String>,
    #[serde(default)]
    message: String,
    #[serde(default)]
    last: bool,
}

pub(super) struct Server {
    child: Child,
    requests: Option<ChildStdin>,
    lines: Receiver<String>,
    inside: Inside,
}

impl Server {
    pub(super) fn start(
        setting: &Setting,
        files: &[File],
        way: Way,
        outside: &[String],
    ) -> Result<Server, Error> {
        let inside = Inside::new()?;
        let sources: Vec<(&Path, &str)> = files
            .iter()
            .map(|file| (file.path.as_path(), file.text.as_str()))
            .collect();
        let orders = json!({
            "way": match way {
                Way::Measure => "measure",
                Way::Swap => "swap",
                Way::Load => "load",
            },
            "style": match setting.style {
                Style::Pytest => "pytest",
                Style::Unittest => "unittest",
            },
            "inside": inside.path,
            "root": setting.root,
            "temporary": inside.place("temporary"),
            "settings": inside.place("pytest.ini"),
            "start": setting.start.clone().unwrap_or_else(|| inside.place("start")),
            "files": setting.tests,
            "wanted": setting.wanted,
            "outside": outside,
            "sources": sources,
        });
        fs::write(inside.place("orders.json"), orders.to_string()).map_err(cannot)?;
        fs::write(inside.place("runner.py"), RUNNER).map_err(cannot)?;
        let said = fs::File::create(inside.place("said")).map_err(cannot)?;
        let mut command = command(&setting.python, &setting.path, &inside.path)?;
        command
            .arg(inside.place("runner.py"))
            .arg(inside.place("orders.json"))
            .env("PYTHONHASHSEED", "0")
            .env("TZ", "UTC")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(said);
        // Ctrl-C is for the command, which ends this process and all that it has started.
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
        Ok(Server {
            child,
            requests,
            lines,
            inside,
        })
    }

    /// What comes of a request, and whether the process can take another one.
    pub(super) fn ask(
        &mut self,
        request: &Request<'_>,
        late: Duration,
        is_stopped: &AtomicBool,
    ) -> Result<(Answer, bool), Error> {
        let text = serde_json::to_string(request).map_err(|error| Error(error.to_string()))?;
        let asked = self
            .requests
            .as_mut()
            .map(|requests| writeln!(requests, "{text}").and_then(|()| requests.flush()));
        if !matches!(asked, Some(Ok(()))) {
            return Err(Error(self.last_words()));
        }
        let deadline = Instant::now() + late;
        loop {
            match self.lines.recv_timeout(GLANCE) {
                Ok(line) => {
                    let told: Told = serde_json::from_str(&line)
                        .map_err(|_| Error(format!("the tests answered `{line}`")))?;
                    let goes_on = !told.last;
                    return Ok((answer(told), goes_on));
                }
                Err(RecvTimeoutError::Timeout) if is_stopped.load(Ordering::Relaxed) => {
                    return Ok((Answer::Stopped, false));
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() > deadline => {
                    return Ok((Answer::Hung, false));
                }
                Err(RecvTimeoutError::Timeout) => {}
                // Without copies it is the process itself that a mutant may end.
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok((Answer::Crashed("the process ended".to_owned()), false));
                }
            }
        }
    }

    /// The next thing that it says by itself; nothing at its end, or if the work is stopped.
    pub(super) fn line(&mut self, is_stopped: &AtomicBool) -> Option<String> {
        loop {
            match self.lines.recv_timeout(GLANCE) {
                Ok(line) => return Some(line),
                Err(RecvTimeoutError::Timeout) if !is_stopped.load(Ordering::Relaxed) => {}
                Err(_) => return None,
            }
        }
    }

    /// What it complained about last.
    pub(super) fn last_words(&self) -> String {
        let said = fs::read(self.inside.place("said")).unwrap_or_default();
        last_line(&String::from_utf8_lossy(&said))
    }
}

fn answer(told: Told) -> Answer {
    match told.noticed.as_deref() {
        None => Answer::Survived,
        Some("hang") => Answer::Hung,
        Some("crash") => Answer::Crashed(told.message),
        Some("not here") => Answer::NotHere,
        Some(_) => Answer::Noticed {
            by: told.by,
            message: told.message,
        },
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its copies are in its group, and end with it. Dead or alive, nothing more is wanted of any of them.
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
