//! Workers that are processes.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::rc::Rc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use testwright_core::Error;

use crate::remote::{Connection, Launcher, Worker};
use crate::{Ending, Log, ForkServer, stopwatch};

/// How much of what a process says about its end is kept.
const LONGEST_STACK: u64 = 64 << 10;

/// How many milliseconds a process has to end by itself.
const A_LITTLE: u64 = 1_000;

/// The status of a worker that cannot reach its supervisor.
pub const LOST_CONNECTION: i32 = 77;

impl Connection for UnixStream {
    fn set_patience(&mut self, patience: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(patience))
    }
}

/// A worker, seen from the supervisor.
#[derive(Debug)]
pub struct Process {
    number: Pid,
    connection: UnixStream,
    log: Log,
    last_words: File,
}

impl Process {
    pub(crate) fn new(
        number: i32,
        connection: UnixStream,
        log: Log,
        last_words: File,
    ) -> io::Result<Process> {
        Ok(Process {
            number: Pid::from_raw(number).ok_or(io::ErrorKind::InvalidData)?,
            connection,
            log,
            last_words,
        })
    }

    /// The way to talk to it.
    pub fn connection(&mut self) -> &mut UnixStream {
        &mut self.connection
    }

    /// What it does.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// How long it has waited for a processor, in all its life.
    pub(crate) fn starved(&self) -> Duration {
        stopwatch::starved(self.number.as_raw_nonzero().get())
    }

    /// Ends the process, however well it does.
    pub(crate) fn kill(&self) {
        let _it_may_be_gone = kill_process(self.number, Signal::KILL);
    }

    /// Ends the process, and tells how it ended. One that does not hang is about to end by itself; one that does is
    /// asked for its stack first.
    pub fn end(&mut self, nursery: &mut ForkServer, hangs: bool) -> Ending {
        // It may have ended while a child of it kept the connection open, and nobody noticed.
        let hangs = hangs && !self.is_dead();
        if hangs {
            // Python's `faulthandler` answers this one with the stacks of all threads, also from within C code.
            let _it_may_be_gone = kill_process(self.number, Signal::ABORT);
        }
        match nursery.bury(A_LITTLE) {
            Ok(status) if status.code() == Some(LOST_CONNECTION) => Ending {
                how:
                    "the process was cut off: the code under test closed or changed its open files"
                        .to_owned(),
                is_late: true,
                ..Ending::default()
            },
            Ok(status) => Ending {
                how: format!("the process {}", in_words(status)),
                stack: words(&mut self.last_words).unwrap_or_default(),
                hangs,
                ..Ending::default()
            },
            Err(_) => {
                let how = nursery.end();
                let _it_may_be_gone = kill_process_group(self.number, Signal::KILL);
                Ending {
                    how: format!("the parent of the process {how}"),
                    is_late: true,
                    ..Ending::default()
                }
            }
        }
    }

    /// Whether it has ended, and only waits to be buried.
    pub(crate) fn is_dead(&self) -> bool {
        let number = self.number.as_raw_nonzero();
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat"));
        // The name, in brackets, may hold anything.
        stat.is_ok_and(|stat| {
            stat.rsplit(") ")
                .next()
                .is_some_and(|rest| rest.starts_with('Z'))
        })
    }
}

/// Starts nurseries, and workers in them that [serve](crate::serve) their system.
pub struct Processes<F, T> {
    start: F,
    /// What the workers are told to do.
    task: T,
    nursery: Option<Rc<RefCell<ForkServer>>>,
}

impl<F: FnMut() -> Result<ForkServer, Error>, T> Processes<F, T> {
    /// Starts what `start` starts, and tells each worker to do its task.
    pub fn new(start: F, task: T) -> Processes<F, T> {
        Processes {
            start,
            task,
            nursery: None,
        }
    }
}

/// A worker, together with the nursery that it comes from.
#[derive(Debug)]
pub struct Served {
    process: Process,
    nursery: Rc<RefCell<ForkServer>>,
    ended: Option<Ending>,
}

impl<F: FnMut() -> Result<ForkServer, Error>, T: serde::Serialize> Launcher for Processes<F, T> {
    type Worker = Served;

    fn launch(&mut self) -> Result<Served, Error> {
        // The nursery may be what the last worker has killed.
        let again = self.nursery.take();
        let again = again.and_then(|nursery| Served::new(nursery, &self.task).ok());
        let served = match again {
            Some(served) => served,
            None => {
                let nursery = Rc::new(RefCell::new((self.start)()?));
                Served::new(nursery, &self.task)
                    .map_err(|error| Error::new(format!("cannot start another process: {error}")))?
            }
        };
        self.nursery = Some(served.nursery.clone());
        Ok(served)
    }
}

impl Served {
    fn new(nursery: Rc<RefCell<ForkServer>>, task: &impl serde::Serialize) -> io::Result<Served> {
        let process = nursery.borrow_mut().bear(task)?;
        Ok(Served {
            process,
            nursery,
            ended: None,
        })
    }
}

impl Worker for Served {
    fn connection(&mut self) -> &mut dyn Connection {
        self.process.connection()
    }

    fn is_well(&mut self) -> bool {
        self.nursery.borrow_mut().is_well()
    }

    fn starved(&self) -> Duration {
        self.process.starved()
    }

    fn end(&mut self, hangs: bool) -> Ending {
        if let Some(ending) = &self.ended {
            return ending.clone();
        }
        let ending = self.process.end(&mut self.nursery.borrow_mut(), hangs);
        self.ended = Some(ending.clone());
        ending
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if self.ended.is_none() {
            // The nursery ends it, if it does not do so by itself.
            let _hanging_up = self.process.connection.shutdown(std::net::Shutdown::Both);
        }
    }
}

/// What a process wrote.
pub(crate) fn words(file: &mut File) -> io::Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(LONGEST_STACK).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Waits until a child has ended, and passes signals on to it that `signal` says have come.
pub fn wait_for(child: i32, mut signal: impl FnMut() -> Option<i32>) -> io::Result<ExitStatus> {
    use rustix::process::{WaitOptions, waitpid};
    const GLANCE: Duration = Duration::from_millis(2);
    let child = Pid::from_raw(child).ok_or(io::ErrorKind::NotFound)?;
    loop {
        if let Some(signal) = signal().and_then(Signal::from_named_raw) {
            let _it_may_be_gone = kill_process(child, signal);
        }
        match waitpid(Some(child), WaitOptions::NOHANG) {
            Ok(Some((_, status))) => return Ok(ExitStatus::from_raw(status.as_raw())),
            Ok(None) | Err(rustix::io::Errno::INTR) => std::thread::sleep(GLANCE),
            Err(error) => return Err(error.into()),
        }
    }
}

/// How a process ended that wrote its last words to a file.
pub fn how_it_ended(status: ExitStatus, mut last_words: File) -> Ending {
    Ending {
        how: format!("the process {}", in_words(status)),
        stack: words(&mut last_words).unwrap_or_default(),
        ..Ending::default()
    }
}

/// `was killed by SIGSEGV`, `exited with status 3`.
pub(crate) fn in_words(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => match name_of(signal) {
            Some(name) => format!("was killed by {name}"),
            None => format!("was killed by signal {signal}"),
        },
        (None, Some(code)) => format!("exited with status {code}"),
        (None, None) => "ended".to_owned(),
    }
}

fn name_of(signal: i32) -> Option<&'static str> {
    let signal = Signal::from_named_raw(signal)?;
    let names = [
        (
            Signal::SEGV,
            "SIGSEGV (a wild pointer, or the stack is full)",
        ),
        (Signal::ABORT, "SIGABRT (it gave itself up)"),
        (Signal::BUS, "SIGBUS (memory that is not there)"),
        (Signal::FPE, "SIGFPE (impossible arithmetic)"),
        (Signal::ILL, "SIGILL (an instruction that does not exist)"),
        (
            Signal::KILL,
            "SIGKILL (from outside, or for want of memory)",
        ),
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
