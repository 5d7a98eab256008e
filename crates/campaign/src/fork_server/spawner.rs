//! The fork server's own process: it receives requests, forks workers and reaps them.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, setpgid, waitpid};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{ServerReply, ServerRequest, descendants};
use crate::StepLog;
use crate::descriptors::receive_descriptors;
use crate::folders::{copy_folder, remove_folder};
use crate::stopwatch::{self, Stopwatch};
use crate::wire::{receive, send};

/// Connects a fork server process to its supervisor. Returns the spawner, the file for crash output
/// and the setup: the system to load.
///
/// Standard input is replaced by an empty file. Code under test that reads from it finds nothing,
/// and code that closes it does no harm.
pub fn connect<S: DeserializeOwned>() -> io::Result<(WorkerSpawner, File, S)> {
    let connection = io::stdin().as_fd().try_clone_to_owned()?;
    let empty = File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&empty)?;
    let mut connection = UnixStream::from(connection);
    let [crash_output] = receive_descriptors(&connection)?;
    let (supervisor, setup): (u32, S) = receive(&mut connection)?;
    descendants::become_subreaper();
    // While it loads the system, it does not read from the connection and would not notice that the
    // supervisor is gone.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let parent = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get());
    if parent != i32::try_from(supervisor).ok() {
        // The supervisor ended before the death signal was set.
        return Err(io::ErrorKind::NotConnected.into());
    }
    let spawner = WorkerSpawner {
        connection,
        folder: None,
    };
    Ok((spawner, File::from(crash_output), setup))
}

/// The loop that forks workers, seen from inside the fork server. Dropping it removes the workers'
/// folder.
#[derive(Debug)]
pub struct WorkerSpawner {
    /// The connection to the supervisor.
    connection: UnixStream,
    /// The folder that workers run in, if any.
    folder: Option<WorkFolder>,
}

/// Everything that a freshly forked worker starts with.
#[derive(Debug)]
pub struct WorkerContext<T> {
    /// The work to do.
    pub task: T,
    /// The connection to the supervisor.
    pub connection: UnixStream,
    /// The shared memory for the worker's steps.
    pub log: StepLog,
    /// The file for the stack if the worker crashes.
    pub crash_output: File,
}

impl WorkerSpawner {
    /// Reports to the supervisor that the system is loaded, with a description of it, or that
    /// loading failed.
    pub fn report_loaded(
        &mut self,
        answer: Result<impl Serialize, impl Serialize>,
    ) -> io::Result<()> {
        send(&mut self.connection, &ServerReply::Loaded(answer))
    }

    /// Sets the folder that workers run in. Its current contents are restored before each fork, and
    /// the folder is removed in the end.
    pub fn manage_folder(&mut self, folder: &Path) -> io::Result<()> {
        self.folder = Some(WorkFolder::record(folder)?);
        Ok(())
    }

    /// Forks workers until the supervisor closes the connection. Returns in each worker with a
    /// [`WorkerContext`], and in the fork server with `None` when it is done.
    ///
    /// `fork` copies the process. It returns the process id of the copy, or `None` in the copy
    /// itself.
    pub fn spawn_workers<T: DeserializeOwned>(
        mut self,
        fork: &mut dyn FnMut() -> io::Result<Option<i32>>,
    ) -> io::Result<Option<WorkerContext<T>>> {
        // From here on, a closed connection makes it clean up and exit.
        #[cfg(target_os = "linux")]
        rustix::process::set_parent_process_death_signal(None)?;
        let mut worker = None;
        loop {
            let Ok(request) = receive(&mut self.connection) else {
                // The supervisor is gone or sends garbage, so there is no more work.
                end_worker(worker.take(), 0);
                return Ok(None);
            };
            let reply: ServerReply<(), ()> = match request {
                ServerRequest::Ping => ServerReply::Pong,
                ServerRequest::Reap(grace_ms) => {
                    ServerReply::Reaped(end_worker(worker.take(), grace_ms))
                }
                ServerRequest::Spawn(task) => {
                    let [connection, log, crash_output] = receive_descriptors(&self.connection)?;
                    end_worker(worker.take(), 0);
                    if let Some(folder) = &self.folder {
                        folder.restore();
                    }
                    match fork() {
                        Ok(None) => {
                            // The folder belongs to the fork server; dropping the worker's copy
                            // must not remove it.
                            self.folder = None;
                            let log = File::from(log);
                            return enter_worker(task, connection, &log, crash_output).map(Some);
                        }
                        Ok(Some(pid)) => {
                            worker = Pid::from_raw(pid);
                            // The worker does the same, since either process may run first.
                            let _may_be_set_already = setpgid(worker, worker);
                            ServerReply::Spawned(Ok(pid))
                        }
                        Err(error) => ServerReply::Spawned(Err(error.to_string())),
                    }
                }
            };
            send(&mut self.connection, &reply)?;
        }
    }
}

impl Drop for WorkerSpawner {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            folder.remove();
        }
    }
}

/// Prepares a forked process to be a worker: it gets its own process group and dies with the fork
/// server.
fn enter_worker<T>(
    task: T,
    connection: OwnedFd,
    log: &File,
    crash_output: OwnedFd,
) -> io::Result<WorkerContext<T>> {
    let _may_be_set_already = setpgid(None, None);
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    Ok(WorkerContext {
        task,
        connection: UnixStream::from(connection),
        log: StepLog::open(log)?,
        crash_output: File::from(crash_output),
    })
}

/// Ends a worker and all processes it has started, and returns its raw wait status. The worker has
/// `grace_ms` milliseconds to end by itself.
fn end_worker(worker: Option<Pid>, grace_ms: u64) -> i32 {
    let Some(worker) = worker else {
        return 0;
    };
    let mut status = None;
    let pid = worker.as_raw_nonzero().get();
    let cpu_wait = || stopwatch::cpu_wait(pid);
    let grace_ms = Duration::from_millis(grace_ms);
    let watch = Stopwatch::start(cpu_wait());
    while !watch.has_exceeded(grace_ms, cpu_wait) {
        match waitpid(Some(worker), WaitOptions::NOHANG) {
            Ok(None) if !grace_ms.is_zero() => std::thread::sleep(Duration::from_millis(1)),
            Ok(ended) => {
                status = ended.map(|(_, status)| status);
                break;
            }
            Err(_) => break,
        }
    }
    // Processes that have left the group are killed below.
    let _it_may_be_gone = kill_process_group(worker, Signal::KILL);
    if status.is_none() {
        let ended = waitpid(Some(worker), WaitOptions::empty());
        status = ended.ok().flatten().map(|(_, status)| status);
    }
    descendants::kill_children();
    status.map_or(0, WaitStatus::as_raw)
}

/// The workers' folder and a copy of its initial contents.
#[derive(Debug)]
struct WorkFolder {
    /// The folder itself.
    path: PathBuf,
    /// The copy, if the folder was not empty.
    copy: Option<PathBuf>,
}

impl WorkFolder {
    /// Copies the current contents of a folder for later restores.
    fn record(path: &Path) -> io::Result<WorkFolder> {
        let copy = match fs::read_dir(path)?.next() {
            None => None,
            Some(_) => {
                let copy = path.with_extension("copy");
                copy_folder(path, &copy)?;
                Some(copy)
            }
        };
        Ok(WorkFolder {
            path: path.to_owned(),
            copy,
        })
    }

    /// Restores the initial contents. Errors are ignored: a test that depends on the missing files
    /// reports them.
    fn restore(&self) {
        let is_untouched = self.copy.is_none()
            && fs::read_dir(&self.path).is_ok_and(|mut entries| entries.next().is_none());
        if is_untouched {
            return;
        }
        if let Ok(entries) = fs::read_dir(&self.path) {
            for entry in entries.flatten() {
                let _may_be_a_file = match entry.file_type() {
                    Ok(kind) if kind.is_dir() => remove_folder(&entry.path()),
                    _ => fs::remove_file(entry.path()).is_ok(),
                };
            }
        }
        let _made_again = fs::create_dir_all(&self.path);
        if let Some(copy) = &self.copy {
            let _as_far_as_possible = copy_folder(copy, &self.path);
        }
    }

    /// Removes the folder and its copy.
    fn remove(&self) {
        let _as_far_as_possible = remove_folder(&self.path);
        if let Some(copy) = &self.copy {
            let _as_far_as_possible = remove_folder(copy);
        }
        // The last of several fork servers can remove the folder that contains all of theirs.
        let _others_may_use_it = self.path.parent().map(fs::remove_dir);
    }
}
