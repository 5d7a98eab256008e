//! A process that has the system loaded, and bears workers.
//!
//! Starting an interpreter and importing a system takes a good part of a second. A system that crashes needs a new
//! process after each crash, and reducing a crash takes hundreds of them. So there is a process that does nothing but
//! load the system once; workers are copies of it, which takes milliseconds. It runs no test itself, so each of its
//! workers begins with a system that has seen none.
//!
//! It is also the parent of what it bears. Code under test that kills its parent kills nobody who matters; processes
//! that code under test leaves behind become children of the nursery, which ends them.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::descriptors::hand_over;
use crate::ending::tidy;
use crate::process::{Process, in_words, words};
use crate::wire::{receive, send};
use crate::{Connection, Log};

mod attend;
mod descendants;

pub use attend::{Newborn, Place, connect};

/// How many steps a log holds: some seconds of the fastest systems, hours of slow ones.
const STEPS_IN_LOG: usize = 1 << 20;

/// What a supervisor asks of a nursery.
#[derive(Debug, Serialize, Deserialize)]
enum Order<T> {
    /// A worker that does this. Its connection, its log and the file for its last words follow.
    Bear(T),
    /// The worker has come to its end, or is to, after so many milliseconds at the latest.
    Bury(u64),
    /// Are you there?
    Ping,
}

/// What a nursery answers.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Reply<G, R> {
    /// The system is loaded, and what is to be known of it; or it cannot be, and why.
    Loaded(Result<G, R>),
    /// The process of the new worker, or why there is none.
    Born(Result<i32, String>),
    /// How it ended, as the operating system tells.
    Buried(i32),
    Here,
}

/// Why there is no nursery.
#[derive(Debug)]
pub enum Stillborn<R> {
    /// The system cannot be loaded, as the nursery says.
    Refused(R),
    /// The process came to its end while it loaded the system; how, and where it was then.
    Ended { how: String, stack: String },
    /// It cannot be started.
    Unstarted(io::Error),
    /// Somebody does not want to wait any longer.
    Abandoned,
}

/// A nursery, seen from the supervisor. The process ends with this.
#[derive(Debug)]
pub struct ForkServer {
    child: Child,
    connection: UnixStream,
    last_words: File,
    /// What stands in the environment of all that it starts.
    mark: String,
}

impl ForkServer {
    /// Between two looks at whether somebody still waits.
    const GLANCE: Duration = Duration::from_millis(50);

    /// Starts a nursery and waits until it has loaded the system, as long as `wait` says so.
    ///
    /// The command finds the connection to the supervisor as its standard input, and calls [`connect`]. It is the
    /// leader of a process group of its own.
    pub fn start<G: DeserializeOwned, R: DeserializeOwned>(
        command: &mut Command,
        setup: &impl Serialize,
        wait: &mut dyn FnMut() -> bool,
    ) -> Result<(ForkServer, G), Stillborn<R>> {
        let mut nursery = ForkServer::spawn(command, setup).map_err(Stillborn::Unstarted)?;
        loop {
            if !wait() {
                return Err(Stillborn::Abandoned);
            }
            return match nursery.listen::<G, R>(ForkServer::GLANCE) {
                Ok(Reply::Loaded(Ok(greeting))) => Ok((nursery, greeting)),
                Ok(Reply::Loaded(Err(why))) => Err(Stillborn::Refused(why)),
                Err(error) if is_late(&error) => continue,
                _ => {
                    let how = nursery.end();
                    let stack = words(&mut nursery.last_words).unwrap_or_default();
                    let stack = tidy(&stack);
                    Err(Stillborn::Ended { how, stack })
                }
            };
        }
    }

    fn spawn(command: &mut Command, setup: &impl Serialize) -> io::Result<ForkServer> {
        let (connection, theirs) = UnixStream::pair()?;
        let last_words = tempfile::tempfile()?;
        let mark = new_mark();
        command.stdin(OwnedFd::from(theirs)).process_group(0);
        command.env(MARK, &mark);
        let child = command.spawn();
        // The command keeps the other end of the connection open until it is told something else, and then nobody
        // would notice that the process has ended.
        command.stdin(Stdio::null());
        let mut nursery = ForkServer {
            child: child?,
            connection,
            last_words,
            mark,
        };
        hand_over(&nursery.connection, &[nursery.last_words.as_fd()])?;
        send(&mut nursery.connection, &(std::process::id(), setup))?;
        Ok(nursery)
    }

    /// Bears a worker that does what `task` says.
    pub fn bear(&mut self, task: &impl Serialize) -> io::Result<Process> {
        let (connection, theirs) = UnixStream::pair()?;
        let last_words = tempfile::tempfile()?;
        let (log, memory) = Log::in_memory(STEPS_IN_LOG)?;
        self.order(&Order::Bear(task))?;
        let descriptors = [theirs.as_fd(), memory.as_fd(), last_words.as_fd()];
        hand_over(&self.connection, &descriptors)?;
        match self.listen::<(), ()>(ForkServer::PATIENCE)? {
            Reply::Born(Ok(number)) => Process::new(number, connection, log, last_words),
            Reply::Born(Err(message)) => Err(io::Error::other(message)),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// For things that take no time.
    const PATIENCE: Duration = Duration::from_secs(20);

    /// How its worker came to its end. It has so many milliseconds left.
    pub(crate) fn bury(&mut self, left: u64) -> io::Result<ExitStatus> {
        self.order(&Order::<()>::Bury(left))?;
        match self.listen::<(), ()>(ForkServer::PATIENCE + Duration::from_millis(left))? {
            Reply::Buried(status) => Ok(ExitStatus::from_raw(status)),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Whether it is alive. A signal that was sent to it before this is asked has struck before it answers.
    pub(crate) fn is_well(&mut self) -> bool {
        self.order(&Order::<()>::Ping).is_ok()
            && matches!(self.listen::<(), ()>(ForkServer::PATIENCE), Ok(Reply::Here))
    }

    fn order(&mut self, order: &impl Serialize) -> io::Result<()> {
        if let Some(number) = self.number() {
            // Code under test may have stopped it.
            let _it_may_be_gone = kill_process(number, Signal::CONT);
        }
        send(&mut self.connection, order)
    }

    fn number(&self) -> Option<Pid> {
        Pid::from_raw(self.child.id() as i32)
    }

    fn listen<G: DeserializeOwned, R: DeserializeOwned>(
        &mut self,
        patience: Duration,
    ) -> io::Result<Reply<G, R>> {
        // A reply is short and comes at once as a whole, so patience can only end before it.
        self.connection.set_patience(patience)?;
        receive(&mut self.connection)
    }

    /// Ends the process, and tells how it ended.
    pub(crate) fn end(&mut self) -> String {
        // With the connection gone it tidies up and ends by itself.
        let _gone = self.connection.shutdown(std::net::Shutdown::Both);
        let status = wait_a_little(&mut self.child);
        let is_well = status.is_some_and(|status| status.success());
        if let Some(leader) = self.number() {
            let _it_may_be_gone = kill_process_group(leader, Signal::KILL);
        }
        let status = status.or_else(|| self.child.wait().ok());
        if !is_well {
            // It could not tidy up.
            end_strays(&self.mark);
        }
        status.map_or("is gone".to_owned(), in_words)
    }
}

impl Drop for ForkServer {
    fn drop(&mut self) {
        self.end();
    }
}

/// The variable by which all processes of a nursery are found, whoever their parent is.
const MARK: &str = "TESTWRIGHT_NURSERY";

fn new_mark() -> String {
    static STARTED: AtomicU64 = AtomicU64::new(0);
    let number = STARTED.fetch_add(1, Ordering::Relaxed);
    format!("{}-{number}", std::process::id())
}

/// Ends all processes that carry a mark: those of a nursery that was killed before it could do so.
pub fn end_strays(mark: &str) {
    let variable = format!("{MARK}={mark}");
    let this = std::process::id();
    // Those that are started meanwhile are found the next time.
    for _ in 0..10 {
        let mut found = false;
        let numbers = descendants::processes().filter(|number| *number != this as i32);
        for number in numbers {
            let environment = std::fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            if variables.any(|other| other == variable.as_bytes())
                && let Some(stray) = Pid::from_raw(number)
            {
                found = true;
                let _it_may_be_gone = kill_process(stray, Signal::KILL);
            }
        }
        if !found {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_late(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock
    )
}

/// How a process ended by itself, if it does so soon.
fn wait_a_little(child: &mut Child) -> Option<ExitStatus> {
    for _ in 0..1_000 {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    None
}
