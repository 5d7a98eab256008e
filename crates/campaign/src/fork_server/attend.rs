//! The nursery's own side.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, setpgid, waitpid};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Order, Reply, descendants};
use crate::Log;
use crate::descriptors::take_over;
use crate::folders::{copy_folder, remove_folder};
use crate::stopwatch::{self, Stopwatch};
use crate::wire::{receive, send};

/// In a process that is to be a nursery: the connection to who started it, a file for what it says when it crashes, and
/// what it is to load.
///
/// Standard input is of no use for that afterwards, so that code under test that reads from it finds nothing, and code
/// that closes it does no harm.
pub fn connect<S: DeserializeOwned>() -> io::Result<(Place, File, S)> {
    let connection = io::stdin().as_fd().try_clone_to_owned()?;
    let nothing = File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    let mut connection = UnixStream::from(connection);
    let [last_words] = take_over(&connection)?;
    let (supervisor, setup): (u32, S) = receive(&mut connection)?;
    descendants::adopt();
    // While it loads the system, nobody listens to the connection.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let parent = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get());
    if parent != i32::try_from(supervisor).ok() {
        // It was gone before it could be waited for.
        return Err(io::ErrorKind::NotConnected.into());
    }
    let place = Place {
        connection,
        folder: None,
    };
    Ok((place, File::from(last_words), setup))
}

/// Where workers are born.
#[derive(Debug)]
pub struct Place {
    connection: UnixStream,
    folder: Option<Folder>,
}

/// A worker's first moment: what it is to do, whom it tells, and where it writes down what it does.
#[derive(Debug)]
pub struct Newborn<T> {
    pub task: T,
    pub connection: UnixStream,
    pub log: Log,
    /// For its last words.
    pub last_words: File,
}

impl Place {
    /// Tells the supervisor that the system is loaded, and what is to be known of it, or why not.
    pub fn loaded(&mut self, answer: Result<impl Serialize, impl Serialize>) -> io::Result<()> {
        send(&mut self.connection, &Reply::Loaded(answer))
    }

    /// The folder that workers live in. It is put back to what it is now before each of them is born, and is gone in the
    /// end.
    pub fn keep(&mut self, folder: &Path) -> io::Result<()> {
        self.folder = Some(Folder::remember(folder)?);
        Ok(())
    }

    /// Bears workers until nobody wants any more. It returns twice: with a [`Newborn`] in each worker, and with none in
    /// the nursery when its time is over.
    ///
    /// `fork` copies the process, and gives the number of the copy, or none in the copy itself.
    pub fn attend<T: DeserializeOwned>(
        mut self,
        fork: &mut dyn FnMut() -> io::Result<Option<i32>>,
    ) -> io::Result<Option<Newborn<T>>> {
        // From now on it tidies up by itself.
        #[cfg(target_os = "linux")]
        rustix::process::set_parent_process_death_signal(None)?;
        let mut worker = None;
        loop {
            let Ok(order) = receive(&mut self.connection) else {
                // Whatever happened to the supervisor, nobody is left to work for.
                end(worker.take(), 0);
                return Ok(None);
            };
            let reply: Reply<(), ()> = match order {
                Order::Ping => Reply::Here,
                Order::Bury(patience) => Reply::Buried(end(worker.take(), patience)),
                Order::Bear(task) => {
                    let [connection, log, last_words] = take_over(&self.connection)?;
                    end(worker.take(), 0);
                    if let Some(folder) = &self.folder {
                        folder.put_back();
                    }
                    match fork() {
                        Ok(None) => {
                            // The worker is a guest in it.
                            self.folder = None;
                            let log = File::from(log);
                            return be_born(task, connection, &log, last_words).map(Some);
                        }
                        Ok(Some(number)) => {
                            worker = Pid::from_raw(number);
                            // The worker does the same; whoever comes first.
                            let _second = setpgid(worker, worker);
                            Reply::Born(Ok(number))
                        }
                        Err(error) => Reply::Born(Err(error.to_string())),
                    }
                }
            };
            send(&mut self.connection, &reply)?;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            folder.remove();
        }
    }
}

fn be_born<T>(
    task: T,
    connection: OwnedFd,
    log: &File,
    last_words: OwnedFd,
) -> io::Result<Newborn<T>> {
    let _second = setpgid(None, None);
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    Ok(Newborn {
        task,
        connection: UnixStream::from(connection),
        log: Log::open(log)?,
        last_words: File::from(last_words),
    })
}

/// Ends a worker and all that it has started, and tells how it ended.
fn end(worker: Option<Pid>, patience: u64) -> i32 {
    let Some(worker) = worker else {
        return 0;
    };
    let mut status = None;
    let number = worker.as_raw_nonzero().get();
    let starved = || stopwatch::starved(number);
    let patience = Duration::from_millis(patience);
    let watch = Stopwatch::start(starved());
    while !watch.is_past(patience, starved) {
        match waitpid(Some(worker), WaitOptions::NOHANG) {
            Ok(None) if !patience.is_zero() => std::thread::sleep(Duration::from_millis(1)),
            Ok(ended) => {
                status = ended.map(|(_, status)| status);
                break;
            }
            Err(_) => break,
        }
    }
    // A process that has left the group is found below.
    let _it_may_be_gone = kill_process_group(worker, Signal::KILL);
    if status.is_none() {
        let ended = waitpid(Some(worker), WaitOptions::empty());
        status = ended.ok().flatten().map(|(_, status)| status);
    }
    descendants::end_all();
    status.map_or(0, WaitStatus::as_raw)
}

/// A folder and what was in it.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    /// A copy of it, if there was something in it.
    copy: Option<PathBuf>,
}

impl Folder {
    fn remember(path: &Path) -> io::Result<Folder> {
        let copy = match fs::read_dir(path)?.next() {
            None => None,
            Some(_) => {
                let copy = path.with_extension("copy");
                copy_folder(path, &copy)?;
                Some(copy)
            }
        };
        Ok(Folder {
            path: path.to_owned(),
            copy,
        })
    }

    /// Nothing can be done about what cannot be put back; the test that stumbles over it tells.
    fn put_back(&self) {
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

    fn remove(&self) {
        let _as_far_as_possible = remove_folder(&self.path);
        if let Some(copy) = &self.copy {
            let _as_far_as_possible = remove_folder(copy);
        }
        // The last of several nurseries can remove what they were all in.
        let _others_are_there = self.path.parent().map(fs::remove_dir);
    }
}
