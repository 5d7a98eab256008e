//! A process that loads the system once and forks workers from it.
//!
//! Starting an interpreter and importing a system takes a good part of a second. A system that
//! crashes needs a new process after each crash, and reducing a crash takes hundreds of them. So
//! one process does nothing but load the system. Workers are forks of it, which takes milliseconds.
//! The fork server runs no test itself, so each worker starts with an untouched system.
//!
//! The fork server is also the parent of its workers. Code under test that kills its parent kills
//! only the fork server, not the supervisor. Processes that code under test leaves behind become
//! children of the fork server, which kills them.
//!
//! This file is the supervisor's side; `spawner.rs` is the side of the fork server's own process.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::descriptors::send_descriptors;
use crate::process::{WorkerProcess, describe_status, read_crash_output};
use crate::stopwatch::{self, Stopwatch};
use crate::wire::{receive, send};
use crate::worker_end::clean_stack;
use crate::{Activity, Connection, Deadline, Exceeded, SlowActivity, StepLog};

mod descendants;
mod marks;
mod spawner;

pub use descendants::{CollectedProcesses, LeftoverProcesses};
pub use marks::ProcessMark;
pub use spawner::{WorkerContext, WorkerSpawner, connect};

/// Capacity of a worker's log in steps: some seconds of the fastest systems, hours of slow ones.
const STEPS_IN_LOG: usize = 1 << 20;

/// A request from the supervisor to its fork server.
#[derive(Debug, Serialize, Deserialize)]
enum ServerRequest<T> {
    /// Fork a worker for this task. Three descriptors follow: its connection, its log and the file
    /// for its crash output.
    Spawn(T),
    /// Wait at most this many milliseconds for the worker to end, then kill and reap it.
    Reap(u64),
    /// Answer with `Pong`, to show that the fork server is alive.
    Ping,
}

/// The fork server's reply to a request.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
enum ServerReply<G, R> {
    /// The system is loaded, with a description of it, or loading failed with this error.
    Loaded(Result<G, R>),
    /// The process id of the new worker, or the reason why the fork failed.
    Spawned(Result<i32, String>),
    /// The worker's raw wait status.
    Reaped(i32),
    /// The reply to `Ping`.
    Pong,
}

/// The reason why a fork server could not be started.
#[derive(Debug)]
pub enum SpawnError<R> {
    /// The fork server could not load the system; the value is its own error.
    LoadFailed(R),
    /// The process ended while it loaded the system: its exit status in words, and its stack.
    ProcessEnded { description: String, stack: String },
    /// The process could not be started.
    NotStarted(io::Error),
    /// The system is not loaded after this limit, and the time that it got after that. The stack
    /// tells where it was.
    TimedOut { limit: Duration, stack: String },
    /// The caller stopped waiting.
    Cancelled,
}

/// Notices about the time that loading a system takes.
#[derive(Clone, Copy, Debug)]
pub enum LoadDelay {
    /// It has exceeded a limit, and gets more time: until the confirmation.
    Late {
        limit: Duration,
        confirmation: Duration,
    },
    /// It has ended after its limit.
    Slow(SlowActivity),
}

/// The supervisor's handle of a fork server. Dropping it ends the process.
#[derive(Debug)]
pub struct ForkServer {
    /// The process.
    child: Child,
    /// The connection for requests and replies.
    connection: UnixStream,
    /// The file that the process writes its stack to when it crashes.
    crash_output: File,
    /// The mark of all processes that it starts.
    mark: ProcessMark,
}

impl ForkServer {
    /// Time between two calls of `keep_waiting` while the system is loaded.
    const POLL_INTERVAL: Duration = Duration::from_millis(50);

    /// Starts a fork server and waits until it has loaded the system, as long as `keep_waiting`
    /// returns true. `limit` is the time after which loading is late.
    ///
    /// The command gets the connection to the supervisor as its standard input and must call
    /// [`connect`]. It becomes the leader of its own process group.
    pub fn start<G: DeserializeOwned, R: DeserializeOwned>(
        command: &mut Command,
        setup: &impl Serialize,
        limit: Duration,
        keep_waiting: &mut dyn FnMut(Option<LoadDelay>) -> bool,
    ) -> Result<(ForkServer, G), SpawnError<R>> {
        let mut server =
            ForkServer::start_process(command, setup).map_err(SpawnError::NotStarted)?;
        let mut deadline = Deadline::new(limit);
        let cpu_wait = || stopwatch::cpu_wait(server.child.id() as i32);
        let (started, watch) = (Instant::now(), Stopwatch::start(cpu_wait()));
        loop {
            let cpu_wait = || stopwatch::cpu_wait(server.child.id() as i32);
            let exceeded = deadline.observe(Activity::Loading, |limit| {
                watch.has_exceeded(limit, cpu_wait)
            });
            let delay = match exceeded {
                Some(Exceeded::Hang(limit)) => {
                    let stack = server.abort();
                    return Err(SpawnError::TimedOut { limit, stack });
                }
                Some(Exceeded::Late {
                    limit,
                    confirmation,
                }) => Some(LoadDelay::Late {
                    limit,
                    confirmation,
                }),
                None => None,
            };
            if !keep_waiting(delay) {
                return Err(SpawnError::Cancelled);
            }
            return match server.receive_reply::<G, R>(ForkServer::POLL_INTERVAL) {
                Ok(ServerReply::Loaded(Ok(greeting))) => {
                    if let Some(slow) = deadline.note_progress(started.elapsed()) {
                        keep_waiting(Some(LoadDelay::Slow(slow)));
                    }
                    Ok((server, greeting))
                }
                Ok(ServerReply::Loaded(Err(reason))) => Err(SpawnError::LoadFailed(reason)),
                Err(error) if is_timeout(&error) => continue,
                _ => Err(SpawnError::ProcessEnded {
                    description: server.stop(),
                    stack: server.read_stack(),
                }),
            };
        }
    }

    /// Returns the stack that the process wrote when it ended.
    fn read_stack(&mut self) -> String {
        clean_stack(&read_crash_output(&mut self.crash_output).unwrap_or_default())
    }

    /// Ends the process while it loads the system, and returns its stack.
    fn abort(&mut self) -> String {
        if let Some(number) = self.pid() {
            // Python's `faulthandler` reacts with the stacks of all threads.
            let _it_may_be_gone = kill_process(number, Signal::ABORT);
            let _killed_below = wait_briefly(&mut self.child);
        }
        self.stop();
        self.read_stack()
    }

    /// Starts the process and sends it the crash output file and the setup.
    fn start_process(command: &mut Command, setup: &impl Serialize) -> io::Result<ForkServer> {
        let (connection, server_end) = UnixStream::pair()?;
        let crash_output = tempfile::tempfile()?;
        command.stdin(OwnedFd::from(server_end)).process_group(0);
        let mark = ProcessMark::put_on(command);
        let child = command.spawn();
        // The command would keep the other end of the connection open, and the end of the process
        // would go unnoticed.
        command.stdin(Stdio::null());
        let mut server = ForkServer {
            child: child?,
            connection,
            crash_output,
            mark,
        };
        send_descriptors(&server.connection, &[server.crash_output.as_fd()])?;
        send(&mut server.connection, &(std::process::id(), setup))?;
        Ok(server)
    }

    /// Forks a worker for a task.
    pub fn spawn(&mut self, task: &impl Serialize) -> io::Result<WorkerProcess> {
        let (connection, server_end) = UnixStream::pair()?;
        let crash_output = tempfile::tempfile()?;
        let (log, memory) = StepLog::in_memory(STEPS_IN_LOG)?;
        self.send_request(&ServerRequest::Spawn(task))?;
        let descriptors = [server_end.as_fd(), memory.as_fd(), crash_output.as_fd()];
        send_descriptors(&self.connection, &descriptors)?;
        match self.receive_reply::<(), ()>(ForkServer::REPLY_TIMEOUT)? {
            ServerReply::Spawned(Ok(number)) => {
                WorkerProcess::new(number, connection, log, crash_output)
            }
            ServerReply::Spawned(Err(message)) => Err(io::Error::other(message)),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Time limit for replies that need no work.
    const REPLY_TIMEOUT: Duration = Duration::from_secs(20);

    /// Waits for the worker to end, kills it after `grace_ms` milliseconds, and returns its exit
    /// status.
    pub(crate) fn reap(&mut self, grace_ms: u64) -> io::Result<ExitStatus> {
        self.send_request(&ServerRequest::<()>::Reap(grace_ms))?;
        match self
            .receive_reply::<(), ()>(ForkServer::REPLY_TIMEOUT + Duration::from_millis(grace_ms))?
        {
            ServerReply::Reaped(status) => Ok(ExitStatus::from_raw(status)),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Returns true if the fork server answers. Signals sent to it before this call have taken
    /// effect by then.
    pub(crate) fn is_alive(&mut self) -> bool {
        self.send_request(&ServerRequest::<()>::Ping).is_ok()
            && matches!(
                self.receive_reply::<(), ()>(ForkServer::REPLY_TIMEOUT),
                Ok(ServerReply::Pong)
            )
    }

    /// Sends a request, after resuming the fork server in case code under test has stopped it.
    fn send_request(&mut self, request: &impl Serialize) -> io::Result<()> {
        if let Some(number) = self.pid() {
            // Code under test may have sent it SIGSTOP.
            let _it_may_be_gone = kill_process(number, Signal::CONT);
        }
        send(&mut self.connection, request)
    }

    fn pid(&self) -> Option<Pid> {
        Pid::from_raw(self.child.id() as i32)
    }

    /// Waits for a reply, at most for `timeout`.
    fn receive_reply<G: DeserializeOwned, R: DeserializeOwned>(
        &mut self,
        timeout: Duration,
    ) -> io::Result<ServerReply<G, R>> {
        // A reply is short and arrives as a whole, so a timeout can only occur before its first
        // byte.
        self.connection.set_timeout(timeout)?;
        receive(&mut self.connection)
    }

    /// Ends the process and returns its exit status in words.
    pub(crate) fn stop(&mut self) -> String {
        // The fork server cleans up and exits when its connection closes.
        let _gone = self.connection.shutdown(std::net::Shutdown::Both);
        let status = wait_briefly(&mut self.child);
        let is_well = status.is_some_and(|status| status.success());
        if let Some(leader) = self.pid() {
            let _it_may_be_gone = kill_process_group(leader, Signal::KILL);
        }
        let status = status.or_else(|| self.child.wait().ok());
        if !is_well {
            // It could not clean up.
            self.mark.kill_all();
        }
        status.map_or("is gone".to_owned(), describe_status)
    }
}

impl Drop for ForkServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Returns true if a read took too long.
fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock
    )
}

/// Returns the exit status of a process that ends within a second.
fn wait_briefly(child: &mut Child) -> Option<ExitStatus> {
    for _ in 0..1_000 {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    None
}
