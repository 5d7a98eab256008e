//! Workers that are processes.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use testwright_core::Error;

use crate::remote::{Connection, Ending, Launcher, Worker};

/// How much of what a process says about its end is kept.
const LONGEST_STACK: u64 = 64 << 10;

/// How many milliseconds a process has to end by itself.
const A_LITTLE: u64 = 1_000;

impl Connection for UnixStream {
    fn set_patience(&mut self, patience: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(patience))
    }
}

/// Starts processes by a command.
///
/// The command finds the connection to the supervisor as its standard input
/// ([`connection_to_supervisor`]), and what it writes to standard error is taken for a stack of calls if it crashes.
/// It is the leader of a process group of its own, which ends with it.
pub struct Processes<F> {
    command: F,
}

impl<F: FnMut() -> Command> Processes<F> {
    /// Starts what `command` makes.
    pub fn new(command: F) -> Processes<F> {
        Processes { command }
    }
}

impl<F: FnMut() -> Command> Launcher for Processes<F> {
    type Worker = Process;

    fn launch(&mut self) -> Result<Process, Error> {
        let mut command = (self.command)();
        Process::start(&mut command).map_err(|error| {
            let program = command.get_program().to_string_lossy().into_owned();
            Error::new(format!("cannot start a process of `{program}`: {error}"))
        })
    }
}

/// A process, which ends with this.
#[derive(Debug)]
pub struct Process {
    child: Child,
    connection: UnixStream,
    last_words: File,
    ended: Option<Ending>,
}

impl Process {
    fn start(command: &mut Command) -> io::Result<Process> {
        let (connection, theirs) = UnixStream::pair()?;
        let last_words = tempfile::tempfile()?;
        command
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(last_words.try_clone()?)
            .process_group(0);
        let child = command.spawn()?;
        // The command keeps the other end of the connection open until it is told something else, and then nobody
        // would notice that the process has ended.
        command.stdin(Stdio::null());
        Ok(Process {
            child,
            connection,
            last_words,
            ended: None,
        })
    }

    fn send(&self, signal: Signal, whom: impl Fn(Pid, Signal) -> rustix::io::Result<()>) {
        let leader = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(leader) = leader {
            let _it_may_be_gone = whom(leader, signal);
        }
    }

    /// How the process ended by itself, if it does so soon.
    fn wait_a_little(&mut self) -> Option<ExitStatus> {
        for _ in 0..A_LITTLE {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        None
    }
}

impl Worker for Process {
    fn connection(&mut self) -> &mut dyn Connection {
        &mut self.connection
    }

    fn end(&mut self, hangs: bool) -> Ending {
        if let Some(ending) = &self.ended {
            return ending.clone();
        }
        if hangs {
            // Python's `faulthandler` answers this one with the stacks of all threads, also from within C code.
            self.send(Signal::ABORT, kill_process);
        }
        let status = self.wait_a_little();
        // A process that has left the group is beyond reach.
        self.send(Signal::KILL, kill_process_group);
        let status = status.or_else(|| self.child.wait().ok());
        let ending = Ending {
            how: status.map_or("the process is gone".to_owned(), in_words),
            stack: words(&mut self.last_words).unwrap_or_default(),
        };
        self.ended = Some(ending.clone());
        ending
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _hanging_up = self.connection.shutdown(std::net::Shutdown::Both);
        self.end(false);
    }
}

/// What a process wrote.
fn words(file: &mut File) -> io::Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(LONGEST_STACK).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn in_words(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => match name_of(signal) {
            Some(name) => format!("the process was killed by {name}"),
            None => format!("the process was killed by signal {signal}"),
        },
        (None, Some(code)) => format!("the process exited with status {code}"),
        (None, None) => "the process ended".to_owned(),
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

/// In a process that [`Processes`] started: the connection to who did so.
///
/// Standard input is of no use for that afterwards, so that code under test that reads from it finds nothing, and code
/// that closes it does no harm.
pub fn connection_to_supervisor() -> io::Result<UnixStream> {
    let connection = io::stdin().as_fd().try_clone_to_owned()?;
    let nothing = File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    Ok(UnixStream::from(connection))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use testwright_core::{ActionId, Catalog, Failure, FailureKind, Outcome, System, toys};

    use super::*;
    use crate::{Patience, Remote, serve};

    const ROLE: &str = "TESTWRIGHT_TEST_ROLE";

    fn catalog() -> Catalog {
        let lines = [
            "abort()",
            "exit(3)",
            "leave_a_child()",
            "hang()",
            "nothing()",
        ];
        toys::catalog(&[], &lines)
    }

    /// A system that does to its process what code under test may do.
    struct Torture(Catalog);

    impl System for Torture {
        fn actions(&self) -> &Catalog {
            &self.0
        }
        fn reset(&mut self) -> Result<(), Error> {
            Ok(())
        }
        fn is_enabled(&mut self, _action: ActionId) -> bool {
            true
        }
        #[allow(
            clippy::exit,
            clippy::zombie_processes,
            reason = "that is what is to be survived"
        )]
        fn step(&mut self, action: ActionId) -> Outcome {
            match action.0 {
                0 => std::process::abort(),
                1 => std::process::exit(3),
                2 => {
                    let child = Command::new("sleep").arg("1000").spawn().unwrap();
                    let failure = Failure {
                        kind: FailureKind::Property,
                        message: child.id().to_string(),
                        signature: String::new(),
                        details: String::new(),
                    };
                    Outcome::Failed(Box::new(failure))
                }
                3 => loop {
                    std::thread::park();
                },
                _ => Outcome::Passed,
            }
        }
        fn check(&mut self) -> Outcome {
            Outcome::Passed
        }
    }

    /// Not a test: what the processes do that the tests start, which are this program with another role.
    #[test]
    fn worker() {
        if std::env::var_os(ROLE).is_some() {
            let mut connection = connection_to_supervisor().unwrap();
            let mut nothing = String::new();
            io::stdin().read_line(&mut nothing).unwrap();
            assert_eq!(nothing, "");
            serve(&mut Torture(catalog()), &mut connection).unwrap();
        }
    }

    fn remote() -> Remote<Processes<impl FnMut() -> Command>> {
        let command = || {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "process::tests::worker", "--nocapture"]);
            command.env(ROLE, "worker");
            command
        };
        let patience = Patience {
            step: Duration::from_millis(300),
            ..Patience::default()
        };
        Remote::new(catalog(), Processes::new(command), patience)
    }

    fn failure(action: u64) -> Failure {
        let mut remote = remote();
        remote.reset().unwrap();
        assert_eq!(remote.step(ActionId(4)), Outcome::Passed);
        match remote.step(ActionId(action)) {
            Outcome::Failed(failure) => *failure,
            outcome => panic!("{outcome:?}"),
        }
    }

    #[test]
    fn whatever_ends_a_process_is_named() {
        let abort = failure(0);
        assert_eq!(abort.kind, FailureKind::Crash);
        assert!(abort.message.contains("SIGABRT"), "{}", abort.message);
        let exit = failure(1);
        assert_eq!(exit.message, "the process exited with status 3");
        let hang = failure(3);
        assert_eq!(hang.kind, FailureKind::Hang);
        assert_eq!(hang.message, "no end after 300ms");
    }

    #[test]
    fn a_crash_is_followed_by_another_process() {
        let mut remote = remote();
        for _ in 0..3 {
            remote.reset().unwrap();
            assert!(matches!(remote.step(ActionId(0)), Outcome::Failed(_)));
            assert!(matches!(remote.check(), Outcome::Failed(_)), "it is gone");
        }
        remote.reset().unwrap();
        assert_eq!(remote.step(ActionId(4)), Outcome::Passed);
    }

    #[test]
    fn children_of_a_process_end_with_it() {
        let child = failure(2).message;
        // It is an orphan, and whoever adopts it may take a moment to bury it.
        let start = Instant::now();
        while is_running(&child) && start.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!is_running(&child));
    }

    fn is_running(process: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let state = stat
            .rsplit(") ")
            .next()
            .and_then(|rest| rest.chars().next());
        state.is_some_and(|state| state != 'Z')
    }

    #[test]
    fn a_command_that_cannot_be_started_is_named() {
        let command = || Command::new("/no/such/program");
        let mut remote = Remote::new(catalog(), Processes::new(command), Patience::default());
        let error = remote.reset().unwrap_err();
        assert!(
            error
                .message
                .contains("cannot start a process of `/no/such/program`")
        );
    }
}
