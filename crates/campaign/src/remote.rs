//! A system that lives in another process, and may die there.
//!
//! Whatever kills the process is a [`Failure`] of the step that did, and the next reset starts another process. So all
//! that can be done with a system, reduction above all, can be done with one that crashes the interpreter.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use testwright_core::{ActionId, Catalog, Error, Failure, FailureKind, Outcome, System};

use crate::Ending;
use crate::sent::SentName;
use crate::stopwatch::Stopwatch;
use crate::wire::{Answer, Request, receive, send};

/// Starts processes.
pub trait Launcher {
    /// What a process looks like from here.
    type Worker: Worker;

    /// A process in which the system is loaded, and which [serves](crate::serve) it.
    fn launch(&mut self) -> Result<Self::Worker, Error>;
}

/// A process in which a system lives. It does not outlive this.
pub trait Worker {
    /// The way to talk to it.
    fn connection(&mut self) -> &mut dyn Connection;

    /// Whether those that the process needs are well, too. What it did to them before this is asked has had its effect.
    fn is_well(&mut self) -> bool {
        true
    }

    /// How long the process has waited for a processor in all its life, as far as that is known. This does not count
    /// as time that it took.
    fn starved(&self) -> Duration {
        Duration::ZERO
    }

    /// Ends the process, and tells how it ended. One that does not hang is about to end by itself; one that does is
    /// asked for its stack first.
    fn end(&mut self, hangs: bool) -> Ending;
}

/// A way to talk to a worker that does not wait for ever.
pub trait Connection: io::Read + io::Write {
    /// From now on a read that takes longer fails with [`io::ErrorKind::TimedOut`] or [`io::ErrorKind::WouldBlock`].
    fn set_patience(&mut self, patience: Duration) -> io::Result<()>;
}

/// How long to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For a step, a check, or an answer about what is enabled.
    pub step: Duration,
    /// For a reset, which may execute modules again.
    pub reset: Duration,
    /// For a whole test, if there is a limit to that.
    pub test: Option<Duration>,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            step: Duration::from_secs(5),
            reset: Duration::from_secs(60),
            test: None,
        }
    }
}

/// A system that lives in another process.
#[derive(Debug)]
pub struct Remote<L: Launcher> {
    catalog: Catalog,
    launcher: L,
    patience: Patience,
    worker: Option<L::Worker>,
    /// Why there is no worker, if it was lost where nobody could be told.
    lost: Option<Failure>,
    /// The action that was asked about or taken last.
    action: Option<ActionId>,
    /// Each test takes a new process.
    is_fresh: bool,
    /// When the test began.
    began: Stopwatch,
    /// What the process calls our actions, if it may number them otherwise.
    numbers: Option<Numbers>,
}

/// Two ways to number the same actions.
#[derive(Debug, Default)]
struct Numbers {
    theirs: BTreeMap<u64, u64>,
    ours: BTreeMap<u64, u64>,
}

/// Why there is no answer.
enum Silence {
    /// The process has ended.
    Ended,
    /// It takes too long.
    Hangs,
    /// It says what is no answer.
    Babbles,
}

impl<L: Launcher> Remote<L> {
    /// A system with these actions. No process is started before the first reset.
    pub fn new(catalog: Catalog, launcher: L, patience: Patience) -> Remote<L> {
        Remote {
            catalog,
            launcher,
            patience,
            worker: None,
            lost: None,
            action: None,
            is_fresh: false,
            began: Stopwatch::start(Duration::ZERO),
            numbers: None,
        }
    }

    /// Starts a process, and agrees with it on what actions are called.
    fn launch(&mut self) -> Result<(), Error> {
        self.worker = Some(self.launcher.launch()?);
        let names = self.catalog.ids();
        let names: Vec<SentName> = names
            .filter_map(|action| SentName::of(action, &self.catalog))
            .collect();
        if names.is_empty() {
            return Ok(());
        }
        let ours: Vec<u64> = names.iter().map(|name| name.number).collect();
        let mut numbers = Numbers::default();
        if let Ok(Answer::Numbers(theirs)) = self.ask(&Request::Number(names)) {
            for (ours, theirs) in ours.into_iter().zip(theirs) {
                let Some(theirs) = theirs else { continue };
                numbers.theirs.insert(ours, theirs);
                numbers.ours.insert(theirs, ours);
            }
        }
        self.numbers = Some(numbers);
        Ok(())
    }

    /// The number that the process has for an action.
    fn their(&self, action: ActionId) -> Option<u64> {
        match &self.numbers {
            None => Some(action.0),
            Some(numbers) => numbers.theirs.get(&action.0).copied(),
        }
    }

    /// With a new process for each test: where a reset does not undo what a test has done to its process.
    pub fn with_fresh_processes(mut self) -> Remote<L> {
        self.is_fresh = true;
        self
    }

    /// Asks, and makes a failure of it if there is no answer.
    fn ask(&mut self, request: &Request) -> Result<Answer, Failure> {
        if let Some(failure) = &self.lost {
            return Err(failure.clone());
        }
        let limit = match request {
            Request::Reset => self.patience.reset,
            _ => self.patience.step,
        };
        let Some(worker) = &mut self.worker else {
            return Err(self.failure(&Silence::Ended, &Ending::default()));
        };
        // A reset is no part of the test.
        let of_test = self.patience.test.filter(|_| *request != Request::Reset);
        let left = of_test.map(|test| {
            let left = self.began.left_of(test, worker.starved());
            left.max(A_MOMENT)
        });
        let patience = left.map_or(limit, |left| left.min(limit));
        let silence = match talk(worker, request, patience) {
            // A step may kill the process's parent, and pass.
            Ok(answer) if !matches!(request, Request::Step(_)) || worker.is_well() => {
                return Ok(answer);
            }
            Ok(_) => Silence::Ended,
            Err(silence) => silence,
        };
        let ending = Ending {
            of_test: patience < limit,
            ..worker.end(matches!(silence, Silence::Hangs))
        };
        self.worker = None;
        let failure = self.failure(&silence, &ending);
        self.lost = Some(failure.clone());
        Err(failure)
    }

    fn failure(&self, silence: &Silence, ending: &Ending) -> Failure {
        let place = match self.action {
            Some(action) => self.catalog.origin(action),
            None => "reset".to_owned(),
        };
        match silence {
            Silence::Ended | Silence::Hangs => {
                let waited = self.patience.test.filter(|_| ending.of_test);
                ending.failure(&place, waited.unwrap_or(self.patience.step))
            }
            Silence::Babbles => Failure {
                kind: FailureKind::Crash,
                message: "the process wrote into the connection to the tool".to_owned(),
                signature: place,
                details: ending.stack.clone(),
            },
        }
    }

    fn outcome(&mut self, request: &Request) -> Outcome {
        match self.ask(request).map(Answer::outcome) {
            Ok(Some(outcome)) => outcome,
            Ok(None) => Outcome::Failed(Box::new(
                self.failure(&Silence::Babbles, &Ending::default()),
            )),
            Err(failure) => Outcome::Failed(Box::new(failure)),
        }
    }
}

/// Nobody can wait for a shorter time.
const A_MOMENT: Duration = Duration::from_millis(1);

/// Sends a request and waits for the answer.
fn talk(
    worker: &mut impl Worker,
    request: &Request,
    patience: Duration,
) -> Result<Answer, Silence> {
    let watch = Stopwatch::start(worker.starved());
    let is_late = |error: &io::Error| {
        matches!(
            error.kind(),
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock
        )
    };
    let mut exchange = || {
        send(&mut &mut *worker.connection(), request)?;
        // The first byte may take its time. The rest was sent together with it, unless the worker dies in between.
        let mut first = [0];
        loop {
            let left = watch.left_of(patience, worker.starved());
            let connection = worker.connection();
            connection.set_patience(left.max(A_MOMENT))?;
            match connection.read(&mut first) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_late(&error) && !left.is_zero() => {}
                Err(error) => return Err(error),
            }
        }
        let connection = worker.connection();
        connection.set_patience(patience)?;
        receive(&mut io::Read::chain(first.as_slice(), connection))
    };
    exchange().map_err(|error: io::Error| match error.kind() {
        _ if is_late(&error) => Silence::Hangs,
        io::ErrorKind::InvalidData => Silence::Babbles,
        _ => Silence::Ended,
    })
}

impl<L: Launcher> System for Remote<L> {
    fn actions(&self) -> &Catalog {
        &self.catalog
    }

    fn reset(&mut self) -> Result<(), Error> {
        self.lost = None;
        self.action = None;
        if self.worker.is_none() {
            self.launch()?;
        }
        let mut answer = self.ask(&Request::Reset);
        if matches!(answer, Err(_) | Ok(Answer::Impossible { .. })) {
            // The last test may have spoiled the process, or what it has left behind may take its time to end it.
            self.lost = None;
            self.worker = None;
            self.launch()?;
            answer = self.ask(&Request::Reset);
        }
        match answer {
            Ok(Answer::Impossible { message, help }) => Err(Error { message, help }),
            Ok(_) => Ok(()),
            Err(failure) => {
                let message = format!("the system cannot be reset: {}", failure.message);
                Err(Error::new(message))
            }
        }
    }

    fn begin(&mut self) -> Result<(), Error> {
        if self.is_fresh {
            self.worker = None;
        }
        self.reset()?;
        let starved = self.worker.as_ref().map(Worker::starved);
        self.began = Stopwatch::start(starved.unwrap_or_default());
        Ok(())
    }

    /// A guard that kills the process is a failure of its action, which therefore has to be taken to be enabled.
    fn is_enabled(&mut self, action: ActionId) -> bool {
        self.action = Some(action);
        let Some(number) = self.their(action) else {
            return false;
        };
        match self.ask(&Request::IsEnabled(number)) {
            Ok(answer) => answer == Answer::Truth(true),
            Err(_) => true,
        }
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        self.action = Some(action);
        // Who asks whether it is enabled does not take one that the process does not know.
        let number = self.their(action).unwrap_or(u64::MAX);
        self.outcome(&Request::Step(number))
    }

    fn expected(&mut self) -> String {
        match self.ask(&Request::Expected) {
            Ok(Answer::Text(text)) => text,
            _ => String::new(),
        }
    }

    fn check(&mut self) -> Outcome {
        self.outcome(&Request::Check)
    }

    fn enabled(&mut self) -> Vec<ActionId> {
        match self.ask(&Request::Enabled) {
            Ok(answer) => {
                let theirs = answer.actions().unwrap_or_default();
                match &self.numbers {
                    None => theirs,
                    Some(numbers) => {
                        let ours = theirs
                            .iter()
                            .filter_map(|action| numbers.ours.get(&action.0));
                        let mut ours: Vec<ActionId> = ours.copied().map(ActionId).collect();
                        ours.sort_unstable();
                        ours
                    }
                }
            }
            Err(_) => self.catalog.ids().collect(),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream;
    use std::thread::JoinHandle;

    use testwright_core::laws::check_laws;
    use testwright_core::shrink::{AnyFailure, ReduceOptions, Shrinker};
    use testwright_core::{Test, toys};

    use super::*;
    use crate::serve;

    const PUSH: ActionId = ActionId(0);
    const POP: ActionId = ActionId(1);
    const WAIT: ActionId = ActionId(2);

    /// Kills its process when something is popped after three pushes, and hangs when it waits after two.
    struct Fatal {
        actions: Catalog,
        pushes: usize,
        process: UnixStream,
    }

    fn catalog() -> Catalog {
        toys::catalog(&[], &["push()", "pop()", "wait()"])
    }

    impl System for Fatal {
        fn actions(&self) -> &Catalog {
            &self.actions
        }
        fn reset(&mut self) -> Result<(), Error> {
            self.pushes = 0;
            Ok(())
        }
        fn is_enabled(&mut self, action: ActionId) -> bool {
            action != POP || self.pushes > 0
        }
        fn step(&mut self, action: ActionId) -> Outcome {
            match action {
                PUSH => self.pushes += 1,
                POP if self.pushes >= 3 => drop(self.process.shutdown(Shutdown::Both)),
                WAIT if self.pushes == 2 => {
                    let mut until_the_end = Vec::new();
                    drop(io::Read::read_to_end(
                        &mut &self.process,
                        &mut until_the_end,
                    ));
                }
                _ => {}
            }
            Outcome::Passed
        }
        fn check(&mut self) -> Outcome {
            Outcome::Passed
        }
    }

    /// Workers that are threads: they hang up where a process would die.
    #[derive(Default)]
    struct Threads {
        launched: u64,
    }

    struct Thread {
        stream: UnixStream,
        handle: Option<JoinHandle<()>>,
    }

    impl Launcher for Threads {
        type Worker = Thread;

        fn launch(&mut self) -> Result<Thread, Error> {
            self.launched += 1;
            let (stream, mut process) = UnixStream::pair().unwrap();
            let handle = std::thread::spawn(move || {
                let mut system = Fatal {
                    actions: catalog(),
                    pushes: 0,
                    process: process.try_clone().unwrap(),
                };
                drop(serve(&mut system, &mut process));
            });
            let handle = Some(handle);
            Ok(Thread { stream, handle })
        }
    }

    impl Worker for Thread {
        fn connection(&mut self) -> &mut dyn Connection {
            &mut self.stream
        }

        fn end(&mut self, hangs: bool) -> Ending {
            drop(self.stream.shutdown(Shutdown::Both));
            drop(self.handle.take().map(JoinHandle::join));
            Ending {
                hangs,
                is_late: false,
                of_test: false,
                how: "the process was killed by SIGTEST".to_owned(),
                stack:
                    "Thread 0x1:\n  File \"x.py\", line 3 in pop\n  File \"x.py\", line 9 in f\n"
                        .to_owned(),
            }
        }
    }

    fn remote() -> Remote<Threads> {
        let patience = Patience {
            step: Duration::from_millis(100),
            ..Patience::default()
        };
        Remote::new(catalog(), Threads::default(), patience)
    }

    fn reduced(test: &Test) -> (Test, Failure, u64) {
        let mut remote = remote();
        let (mut goal, mut proceed) = (AnyFailure, || true);
        let options = ReduceOptions::default();
        let mut shrinker = Shrinker::new(&mut remote, &mut goal, &options, &mut proceed);
        let shrunk = shrinker.reduce(test).unwrap();
        drop(shrinker);
        (
            shrunk.test,
            shrunk.failure.unwrap(),
            remote.launcher.launched,
        )
    }

    #[test]
    fn a_crash_is_a_failure_that_can_be_reduced() {
        let test = Test::of([WAIT, PUSH, POP, PUSH, POP, POP, PUSH, POP, PUSH]);
        let (test, failure, launched) = reduced(&test);
        assert_eq!(test, Test::of([PUSH, PUSH, PUSH, POP]));
        assert_eq!(failure.kind, FailureKind::Crash);
        assert_eq!(failure.message, "the process was killed by SIGTEST");
        assert_eq!(failure.signature, "the process was killed by SIGTEST: pop");
        assert!(launched > 1, "each crash takes a process");
    }

    #[test]
    fn a_hang_is_a_failure_that_can_be_reduced() {
        let (test, failure, _) = reduced(&Test::of([PUSH, POP, WAIT, PUSH, POP, WAIT, PUSH]));
        assert_eq!(test, Test::of([PUSH, PUSH, WAIT]));
        assert_eq!(failure.kind, FailureKind::Hang);
        assert_eq!(failure.message, "no end after 100ms");
        assert_eq!(failure.signature, "template 2");
    }

    #[test]
    fn as_long_as_it_lives_it_is_a_system_like_any_other() {
        let mut remote = remote();
        check_laws(&mut remote, 1, 60).unwrap();
        remote.reset().unwrap();
        assert_eq!(remote.enabled(), [PUSH, WAIT]);
    }
}
