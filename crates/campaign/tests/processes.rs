//! Workers that die in every way, with real processes.
#![cfg(unix)]
#![allow(unsafe_code, reason = "a process is copied")]

use std::io;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use testwright_campaign::{
    ForkServer, LoggedSystem, ProcessLauncher, RemoteSystem, SpawnError, Timeouts, connect, serve,
};
use testwright_core::shrink::{AnyFailure, ReduceOptions, Shrinker};
use testwright_core::{
    ActionId, Catalog, Error, Failure, FailureKind, Outcome, System, Test, toys,
};

/// The time after which loading is late.
const LIMIT: Duration = Duration::from_secs(5);

const ROLE_VARIABLE: &str = "TESTWRIGHT_TEST_ROLE";

const ACTION_NAMES: [&str; 8] = [
    "abort()",
    "exit(3)",
    "leave_a_child()",
    "hang()",
    "nothing()",
    "kill_the_parent()",
    "leave_a_child_in_its_own_session()",
    "let_a_child_hold_the_connection_and_exit()",
];

fn action(line: &str) -> ActionId {
    let position = ACTION_NAMES
        .iter()
        .position(|known| known.starts_with(line));
    ActionId(position.unwrap() as u64)
}

fn catalog() -> Catalog {
    toys::catalog(&[], &ACTION_NAMES)
}

/// A system that does to its process the worst that code under test may do.
struct HostileSystem(Catalog);

impl System for HostileSystem {
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
            2 => failed_outcome(
                &Command::new("sleep")
                    .arg("1000")
                    .spawn()
                    .unwrap()
                    .id()
                    .to_string(),
            ),
            3 => loop {
                std::thread::park();
            },
            5 => {
                let parent = rustix::process::getppid().unwrap();
                rustix::process::kill_process(parent, rustix::process::Signal::TERM).unwrap();
                Outcome::Passed
            }
            6 => {
                let mut shell = Command::new("sh");
                shell.args(["-c", "setsid sleep 1000 > /dev/null 2>&1 & echo $!"]);
                let output = shell.output().unwrap();
                failed_outcome(String::from_utf8(output.stdout).unwrap().trim())
            }
            7 => {
                if fork() == Some(0) {
                    std::thread::sleep(Duration::from_secs(1000));
                }
                std::process::exit(4)
            }
            _ => Outcome::Passed,
        }
    }
    fn check(&mut self) -> Outcome {
        Outcome::Passed
    }
}

fn failed_outcome(message: &str) -> Outcome {
    Outcome::Failed(Box::new(Failure {
        kind: FailureKind::Property,
        message: message.to_owned(),
        signature: String::new(),
        details: String::new(),
    }))
}

/// Forks this process. Returns the process id of the copy, or 0 in the copy.
fn fork() -> Option<i32> {
    // SAFETY: the copy goes on in the one thread that has called this, and locks nothing that
    // others could hold.
    let number = unsafe { libc::fork() };
    (number >= 0).then_some(number)
}

/// Not a test: the code of the processes that the tests start, which are this program with another
/// role.
#[test]
#[allow(clippy::exit, reason = "a worker must not go on with the tests")]
fn fork_server() {
    let Some(role) = std::env::var_os(ROLE_VARIABLE) else {
        return;
    };
    let (mut spawner, _, greeting) = connect::<String>().unwrap();
    if role == "crash" {
        std::process::abort();
    }
    if role == "refuse" {
        spawner.report_loaded(Err::<(), _>(greeting)).unwrap();
        return;
    }
    spawner.report_loaded(Ok::<(), ()>(())).unwrap();
    let mut copy = || match fork() {
        Some(0) => Ok(None),
        Some(number) => Ok(Some(number)),
        None => Err(io::Error::last_os_error()),
    };
    if let Some(mut worker) = spawner.spawn_workers::<String>(&mut copy).unwrap() {
        let mut nothing = String::new();
        io::stdin().read_line(&mut nothing).unwrap();
        assert_eq!((nothing.as_str(), worker.task.as_str()), ("", "serve"));
        let mut torture = HostileSystem(catalog());
        let mut logged = LoggedSystem::new(&mut torture, &worker.log);
        serve(&mut logged, &mut worker.connection).unwrap();
        std::process::exit(0);
    }
}

fn start_fork_server(role: &'static str) -> Result<ForkServer, SpawnError<String>> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "processes::fork_server", "--nocapture"]);
    command
        .env(ROLE_VARIABLE, role)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let started = ForkServer::start(&mut command, &"hello", LIMIT, &mut |_| true);
    started.map(|(server, ())| server)
}

fn remote() -> RemoteSystem<ProcessLauncher<impl FnMut() -> Result<ForkServer, Error>, &'static str>>
{
    let start = || start_fork_server("spawn").map_err(|reason| Error::new(format!("{reason:?}")));
    let timeouts = Timeouts {
        step: Duration::from_millis(300),
        ..Timeouts::default()
    };
    RemoteSystem::new(catalog(), ProcessLauncher::new(start, "serve"), timeouts)
}

fn failure_of_action(line: &str) -> Failure {
    let mut remote = remote();
    remote.reset().unwrap();
    assert_eq!(remote.step(action("nothing")), Outcome::Passed);
    match remote.step(action(line)) {
        Outcome::Failed(failure) => *failure,
        outcome => panic!("{outcome:?}"),
    }
}

#[test]
fn whatever_ends_a_process_is_named() {
    let abort = failure_of_action("abort");
    assert_eq!(abort.kind, FailureKind::Crash);
    assert!(
        abort.message.contains("was killed by SIGABRT"),
        "{}",
        abort.message
    );
    let exit = failure_of_action("exit");
    assert_eq!(exit.message, "the process exited with status 3");
    let hang = failure_of_action("hang");
    assert_eq!(hang.kind, FailureKind::Hang);
    assert_eq!(hang.message, "no end after 300ms");
    let parent = failure_of_action("kill_the_parent");
    assert_eq!(parent.kind, FailureKind::Crash);
    let message = "the parent of the process was killed by SIGTERM";
    assert!(parent.message.starts_with(message), "{}", parent.message);
}

#[test]
fn a_process_that_ended_unseen_does_not_hang() {
    let exit = failure_of_action("let_a_child_hold");
    assert_eq!(exit.kind, FailureKind::Crash);
    assert_eq!(exit.message, "the process exited with status 4");
}

#[test]
fn a_crash_is_followed_by_another_process() {
    let mut remote = remote();
    for fatal in ["abort", "kill_the_parent", "exit"] {
        remote.reset().unwrap();
        assert!(matches!(remote.step(action(fatal)), Outcome::Failed(_)));
        assert!(matches!(remote.check(), Outcome::Failed(_)), "it is gone");
    }
    remote.reset().unwrap();
    assert_eq!(remote.step(action("nothing")), Outcome::Passed);
}

#[test]
fn a_crash_is_reduced() {
    let mut remote = remote();
    let steps = ["nothing", "nothing", "abort", "nothing"].map(action);
    let (mut goal, mut proceed) = (AnyFailure, || true);
    let options = ReduceOptions::default();
    let mut shrinker = Shrinker::new(&mut remote, &mut goal, &options, &mut proceed);
    let shrunk = shrinker.reduce(&Test::from_actions(steps)).unwrap();
    assert_eq!(shrunk.test, Test::from_actions([action("abort")]));
}

#[test]
fn child_processes_end_with_their_parent() {
    for line in ["leave_a_child()", "leave_a_child_in_its_own_session"] {
        let child = failure_of_action(line).message;
        assert!(child.parse::<u32>().is_ok(), "{child}");
        // It is an orphan, and its new parent may take a moment to reap it.
        let start = Instant::now();
        while is_running(&child) && start.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!is_running(&child), "{line}");
    }
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
fn a_fork_server_that_cannot_start_says_why() {
    assert!(
        matches!(start_fork_server("refuse"), Err(SpawnError::LoadFailed(reason)) if reason == "hello")
    );
    match start_fork_server("crash") {
        Err(SpawnError::ProcessEnded { description, .. }) => {
            assert!(
                description.starts_with("was killed by SIGABRT"),
                "{description}"
            )
        }
        other => panic!("{other:?}"),
    }
    let none = ForkServer::start::<(), String>(
        &mut Command::new("/no/such/program"),
        &"",
        LIMIT,
        &mut |_| true,
    );
    assert!(matches!(none, Err(SpawnError::NotStarted(_))));
    let mut sleep = Command::new("sleep");
    let abandoned = ForkServer::start::<(), String>(sleep.arg("1000"), &"", LIMIT, &mut |_| false);
    assert!(matches!(abandoned, Err(SpawnError::Cancelled)));
}
