//! Workers that are processes forked by a [`ForkServer`].

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::rc::Rc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use testwright_core::{Error, describe_os_error};

use crate::remote_system::{Connection, Launcher, Worker};
use crate::step_log::OVERWRITTEN_LOG;
use crate::{ForkServer, StepLog, WorkerEnd, stopwatch};

/// The maximum number of bytes read from a crash output file.
const MAX_CRASH_OUTPUT: u64 = 64 << 10;

/// The time in milliseconds that a process has to end by itself.
const EXIT_GRACE_MS: u64 = 1_000;

/// The exit status of a worker that has lost the connection to its supervisor.
pub const LOST_CONNECTION: i32 = 77;

impl Connection for UnixStream {
    fn set_timeout(&mut self, timeout: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(timeout))
    }
}

/// The supervisor's handle of a worker process.
#[derive(Debug)]
pub struct WorkerProcess {
    /// The process id.
    pid: Pid,
    /// The supervisor's end of the connection.
    connection: UnixStream,
    /// The log that the worker writes.
    log: StepLog,
    /// The file for the worker's stack if it crashes.
    crash_output: File,
}

impl WorkerProcess {
    /// Wraps a freshly forked process. Fails if the process id is not positive.
    pub(crate) fn new(
        pid: i32,
        connection: UnixStream,
        log: StepLog,
        crash_output: File,
    ) -> io::Result<WorkerProcess> {
        Ok(WorkerProcess {
            pid: Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidData)?,
            connection,
            log,
            crash_output,
        })
    }

    /// Returns the connection to the worker.
    pub fn connection(&mut self) -> &mut UnixStream {
        &mut self.connection
    }

    /// Returns the worker's log.
    pub fn log(&self) -> &StepLog {
        &self.log
    }

    /// Returns the total time the process has waited for a processor since it started.
    pub(crate) fn cpu_wait(&self) -> Duration {
        stopwatch::cpu_wait(self.pid.as_raw_nonzero().get())
    }

    /// Kills the process.
    pub(crate) fn kill(&self) {
        let _it_may_be_gone = kill_process(self.pid, Signal::KILL);
    }

    /// Ends the process and returns how it ended. A process that does not hang is expected to end
    /// by itself within a grace period. One that hangs is asked for its stack and then killed.
    pub fn end(&mut self, server: &mut ForkServer, hangs: bool) -> WorkerEnd {
        // The process may have ended unnoticed, while a child kept the connection open.
        let hangs = hangs && !self.is_dead();
        if hangs {
            // Python's `faulthandler` reacts to this signal with the stacks of all threads, even
            // from within C code.
            let _it_may_be_gone = kill_process(self.pid, Signal::ABORT);
        }
        match server.reap(EXIT_GRACE_MS) {
            Ok(status) if status.code() == Some(OVERWRITTEN_LOG) && self.log.is_overwritten() => {
                WorkerEnd::of_overwritten_log()
            }
            Ok(status) if status.code() == Some(LOST_CONNECTION) => WorkerEnd {
                description:
                    "the process was cut off: the code under test closed or changed its open files"
                        .to_owned(),
                is_delayed: true,
                ..WorkerEnd::default()
            },
            Ok(status) if self.log.is_damaged() => WorkerEnd {
                description: format!(
                    "the process {}, after the code under test overwrote the log of its steps",
                    describe_status(status)
                ),
                is_delayed: true,
                ..WorkerEnd::default()
            },
            Ok(status) => WorkerEnd {
                description: format!("the process {}", describe_status(status)),
                stack: read_crash_output(&mut self.crash_output).unwrap_or_default(),
                is_hang: hangs,
                ..WorkerEnd::default()
            },
            Err(_) => {
                let status = server.stop();
                let _it_may_be_gone = kill_process_group(self.pid, Signal::KILL);
                WorkerEnd {
                    description: format!("the parent of the process {status}"),
                    is_delayed: true,
                    ..WorkerEnd::default()
                }
            }
        }
    }

    /// Returns true if the process has ended and waits to be reaped.
    pub(crate) fn is_dead(&self) -> bool {
        let pid = self.pid.as_raw_nonzero();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        // The program name in parentheses may contain anything.
        stat.is_ok_and(|stat| {
            stat.rsplit(") ")
                .next()
                .is_some_and(|rest| rest.starts_with('Z'))
        })
    }
}

/// A launcher that starts fork servers, and in them workers that [serve](crate::serve()) their
/// system.
pub struct ProcessLauncher<F, T> {
    /// Starts a fork server.
    start: F,
    /// The task of each worker.
    task: T,
    /// The fork server of the last worker, used again as long as it lives.
    server: Option<Rc<RefCell<ForkServer>>>,
}

impl<F: FnMut() -> Result<ForkServer, Error>, T> ProcessLauncher<F, T> {
    /// Creates a launcher that starts fork servers with `start` and gives each worker this task.
    pub fn new(start: F, task: T) -> ProcessLauncher<F, T> {
        ProcessLauncher {
            start,
            task,
            server: None,
        }
    }
}

/// A worker together with the fork server it comes from. Dropping it closes the connection.
#[derive(Debug)]
pub struct ForkedWorker {
    /// The worker itself.
    process: WorkerProcess,
    /// Its parent, shared with the launcher.
    server: Rc<RefCell<ForkServer>>,
    /// The end of the process, once it has ended.
    end: Option<WorkerEnd>,
}

impl<F: FnMut() -> Result<ForkServer, Error>, T: serde::Serialize> Launcher
    for ProcessLauncher<F, T>
{
    type Worker = ForkedWorker;

    fn launch(&mut self) -> Result<ForkedWorker, Error> {
        // The last worker may have killed the fork server.
        let reused = self.server.take();
        let reused = reused.and_then(|server| ForkedWorker::new(server, &self.task).ok());
        let worker = match reused {
            Some(worker) => worker,
            None => {
                let server = Rc::new(RefCell::new((self.start)()?));
                ForkedWorker::new(server, &self.task).map_err(|error| {
                    Error::new(format!(
                        "cannot start another process: {}",
                        describe_os_error(&error)
                    ))
                })?
            }
        };
        self.server = Some(worker.server.clone());
        Ok(worker)
    }
}

impl ForkedWorker {
    /// Forks a worker for a task.
    fn new(
        server: Rc<RefCell<ForkServer>>,
        task: &impl serde::Serialize,
    ) -> io::Result<ForkedWorker> {
        let process = server.borrow_mut().spawn(task)?;
        Ok(ForkedWorker {
            process,
            server,
            end: None,
        })
    }
}

impl Worker for ForkedWorker {
    fn connection(&mut self) -> &mut dyn Connection {
        self.process.connection()
    }

    fn is_healthy(&mut self) -> bool {
        self.server.borrow_mut().is_alive()
    }

    fn cpu_wait(&self) -> Duration {
        self.process.cpu_wait()
    }

    fn end(&mut self, hangs: bool) -> WorkerEnd {
        if let Some(ending) = &self.end {
            return ending.clone();
        }
        let ending = self.process.end(&mut self.server.borrow_mut(), hangs);
        self.end = Some(ending.clone());
        ending
    }
}

impl Drop for ForkedWorker {
    fn drop(&mut self) {
        if self.end.is_none() {
            // The fork server kills it if it does not exit by itself.
            let _hanging_up = self.process.connection.shutdown(std::net::Shutdown::Both);
        }
    }
}

/// Reads the crash output of a process, truncated to [`MAX_CRASH_OUTPUT`] bytes.
pub(crate) fn read_crash_output(file: &mut File) -> io::Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(MAX_CRASH_OUTPUT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Waits for a child to end. Signals that `signal` returns meanwhile are passed on to it.
pub fn wait_for_child(
    child: i32,
    mut signal: impl FnMut() -> Option<i32>,
) -> io::Result<ExitStatus> {
    use rustix::process::{WaitOptions, waitpid};
    const POLL_INTERVAL: Duration = Duration::from_millis(2);
    let child = Pid::from_raw(child).ok_or(io::ErrorKind::NotFound)?;
    loop {
        if let Some(signal) = signal().and_then(Signal::from_named_raw) {
            let _it_may_be_gone = kill_process(child, signal);
        }
        match waitpid(Some(child), WaitOptions::NOHANG) {
            Ok(Some((_, status))) => return Ok(ExitStatus::from_raw(status.as_raw())),
            Ok(None) | Err(rustix::io::Errno::INTR) => std::thread::sleep(POLL_INTERVAL),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Describes the end of a process that wrote its stack to a file.
pub fn describe_end(status: ExitStatus, mut crash_output: File) -> WorkerEnd {
    WorkerEnd {
        description: format!("the process {}", describe_status(status)),
        stack: read_crash_output(&mut crash_output).unwrap_or_default(),
        ..WorkerEnd::default()
    }
}

/// Describes an exit status: `was killed by SIGSEGV`, `exited with status 3`.
pub(crate) fn describe_status(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => match signal_name(signal) {
            Some(name) => format!("was killed by {name}"),
            None => format!("was killed by signal {signal}"),
        },
        (None, Some(code)) => format!("exited with status {code}"),
        (None, None) => "ended".to_owned(),
    }
}

/// Returns the name of a signal with its usual cause.
fn signal_name(signal: i32) -> Option<&'static str> {
    let signal = Signal::from_named_raw(signal)?;
    let names = [
        (
            Signal::SEGV,
            "SIGSEGV (a wild pointer, or the stack is full)",
        ),
        (Signal::ABORT, "SIGABRT (the process aborted itself)"),
        (Signal::BUS, "SIGBUS (memory that is not there)"),
        (Signal::FPE, "SIGFPE (impossible arithmetic)"),
        (Signal::ILL, "SIGILL (an instruction that does not exist)"),
        (Signal::KILL, "SIGKILL (from outside, or out of memory)"),
        (Signal::TERM, "SIGTERM (from outside)"),
        (Signal::INT, "SIGINT"),
        (Signal::HUP, "SIGHUP"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::SYS, "SIGSYS (a call that is forbidden)"),
        (Signal::XCPU, "SIGXCPU (too much time)"),
        (Signal::XFSZ, "SIGXFSZ (too large a file)"),
    ];
    let name = names.into_iter().find(|(known, _)| *known == signal);
    name.map(|(_, name)| name)
}
