//! A system that runs in another process and may die there.
//!
//! Whatever kills the process is a [`Failure`] of the step that did it, and the next reset starts
//! another process. So every algorithm for systems, reduction above all, works with systems that
//! crash the interpreter.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use testwright_core::{
    ActionId, Catalog, Error, Examination, Failure, FailureKind, Outcome, System,
};

use crate::deadline::confirmation_limit;
use crate::sent::SentName;
use crate::stopwatch::{self, Stopwatch};
use crate::wire::{SystemReply, SystemRequest, receive, send};
use crate::{Activity, WorkerEnd};

/// A source of worker processes.
pub trait Launcher {
    /// The handle of a worker process.
    type Worker: Worker;

    /// Starts a process that has the system loaded and [serves](crate::serve()) it.
    fn launch(&mut self) -> Result<Self::Worker, Error>;
}

/// A process that runs a system. Dropping the handle ends it.
pub trait Worker {
    /// Returns the connection to the process.
    fn connection(&mut self) -> &mut dyn Connection;

    /// Returns true if the processes that the worker depends on are alive, too. Signals it has sent
    /// to them before this call have taken effect by then.
    fn is_healthy(&mut self) -> bool {
        true
    }

    /// Returns the total time the process has waited for a processor, if known. It does not count
    /// towards time limits.
    fn cpu_wait(&self) -> Duration {
        Duration::ZERO
    }

    /// Ends the process and returns how it ended. A process that does not hang is expected to end
    /// by itself. One that hangs is asked for its stack first.
    fn end(&mut self, hangs: bool) -> WorkerEnd;
}

/// A connection to a worker whose reads time out.
pub trait Connection: io::Read + io::Write {
    /// Sets the time limit of reads. A read that takes longer fails with
    /// [`io::ErrorKind::TimedOut`] or [`io::ErrorKind::WouldBlock`].
    fn set_timeout(&mut self, timeout: Duration) -> io::Result<()>;
}

/// Time limits for code under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Limit of a step, a check, an answer about enabled actions, or a reset.
    pub step: Duration,
    /// Limit of a whole test, if any.
    pub test: Option<Duration>,
    /// A step or reset that exceeds its limit gets much more time, once, before it is a hang.
    pub confirm: bool,
}

/// A limit for steps that is learned from the steps that end.
#[derive(Clone, Debug)]
struct LearnedLimit {
    /// The least limit.
    floor: Duration,
    /// The template of the actions that it is for; `None` for all.
    template: Option<String>,
    /// The longest time that an answer about a step took.
    slowest: Duration,
    /// False while steps are only measured.
    is_applied: bool,
}

impl LearnedLimit {
    /// The factor between the slowest step that ended and the limit.
    const FACTOR: u32 = 100;

    /// Returns the limit, given the one for steps of which nothing is known.
    fn limit(&self, step: Duration) -> Duration {
        let usual = self.floor.max(LearnedLimit::FACTOR * self.slowest);
        usual.min(step.max(2 * self.slowest))
    }
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            step: Duration::from_secs(5),
            test: None,
            confirm: false,
        }
    }
}

/// A system that runs in another process.
#[derive(Debug)]
pub struct RemoteSystem<L: Launcher> {
    /// The actions, known before a process is started.
    catalog: Catalog,
    /// Starts a process when one is needed.
    launcher: L,
    /// Time limits for answers of the process.
    timeouts: Timeouts,
    /// The shorter limit for steps, if one is learned.
    learned: Option<LearnedLimit>,
    /// The current process, if one is running.
    worker: Option<L::Worker>,
    /// The failure that ended the last process. Requests return it until the next reset.
    worker_failure: Option<Failure>,
    /// The last action that was queried or taken.
    action: Option<ActionId>,
    /// The steps since the last reset.
    trail: Vec<ActionId>,
    /// Steps whose last one is confirmed to hang.
    confirmed_hang: Option<Vec<String>>,
    /// Set when no answer is needed any more.
    is_cancelled: Arc<AtomicBool>,
    /// Each test gets a new process.
    process_per_test: bool,
    /// Time since the test began.
    test_watch: Stopwatch,
    /// The process's numbers of our actions, if it may number them differently.
    numbering: Option<ActionNumbers>,
}

/// Two numberings of the same actions.
#[derive(Debug, Default)]
struct ActionNumbers {
    /// From our numbers to those of the process.
    remote_by_local: BTreeMap<u64, u64>,
    /// From the process's numbers to ours.
    local_by_remote: BTreeMap<u64, u64>,
}

/// The reason why a request got no answer.
enum RequestError {
    /// The process has ended.
    Ended,
    /// The time limit was exceeded.
    TimedOut,
    /// The data received is no answer: code under test wrote into the connection.
    Garbled,
}

impl<L: Launcher> RemoteSystem<L> {
    /// Creates a system with these actions. No process is started before the first reset.
    pub fn new(catalog: Catalog, launcher: L, timeouts: Timeouts) -> RemoteSystem<L> {
        RemoteSystem {
            catalog,
            launcher,
            timeouts,
            learned: None,
            worker: None,
            worker_failure: None,
            action: None,
            trail: Vec::new(),
            confirmed_hang: None,
            is_cancelled: Arc::default(),
            process_per_test: false,
            test_watch: Stopwatch::start(Duration::ZERO),
            numbering: None,
        }
    }

    /// Starts a process. If actions have names, asks it for its numbers of them.
    fn launch(&mut self) -> Result<(), Error> {
        self.worker = Some(self.launcher.launch()?);
        let names = self.catalog.ids();
        let names: Vec<SentName> = names
            .filter_map(|action| SentName::from_action(action, &self.catalog))
            .collect();
        if names.is_empty() {
            return Ok(());
        }
        let ours: Vec<u64> = names.iter().map(|name| name.number).collect();
        let mut numbers = ActionNumbers::default();
        if let Ok(SystemReply::Numbers(theirs)) = self.request(&SystemRequest::FindNumbers(names)) {
            for (ours, theirs) in ours.into_iter().zip(theirs) {
                let Some(theirs) = theirs else { continue };
                numbers.remote_by_local.insert(ours, theirs);
                numbers.local_by_remote.insert(theirs, ours);
            }
        }
        self.numbering = Some(numbers);
        Ok(())
    }

    /// Returns the process's number of an action, or `None` if it does not have that action.
    fn remote_number(&self, action: ActionId) -> Option<u64> {
        match &self.numbering {
            None => Some(action.0),
            Some(numbers) => numbers.remote_by_local.get(&action.0).copied(),
        }
    }

    /// Uses a new process for each test, for systems whose reset does not undo everything.
    pub fn with_process_per_test(mut self) -> RemoteSystem<L> {
        self.process_per_test = true;
        self
    }

    /// Learns a shorter limit from the steps that end, for a system that is known to hang: otherwise
    /// each trial would wait for the full limit. A step that exceeds it need not be a hang.
    /// `template` restricts it to the actions of one template.
    pub fn with_learned_limit(
        mut self,
        floor: Duration,
        template: Option<String>,
    ) -> RemoteSystem<L> {
        self.learned = Some(LearnedLimit {
            floor,
            template,
            slowest: Duration::ZERO,
            is_applied: true,
        });
        self
    }

    /// Measures steps first. The limit that is learned from them applies from
    /// [`apply_learned_limit`](RemoteSystem::apply_learned_limit) on.
    pub fn measuring_first(mut self) -> RemoteSystem<L> {
        if let Some(learned) = &mut self.learned {
            learned.is_applied = false;
        }
        self
    }

    /// Applies the limit that was learned.
    pub fn apply_learned_limit(&mut self) {
        if let Some(learned) = &mut self.learned {
            learned.is_applied = true;
        }
    }

    /// Gives all steps the full limit, to confirm that one hangs.
    pub fn use_full_limits(&mut self) {
        self.learned = None;
    }

    /// Takes steps, the last of which hung when it had much time, as a confirmed hang.
    pub fn with_confirmed_hang(mut self, steps: Vec<String>) -> RemoteSystem<L> {
        self.confirmed_hang = Some(steps);
        self
    }

    /// Replaces the actions. The next reset starts a process that has not seen others.
    pub fn set_catalog(&mut self, catalog: Catalog) {
        self.catalog = catalog;
        self.worker = None;
        self.numbering = None;
    }

    /// Resets the system, without another process if that ends the current one.
    pub fn reset_once(&mut self) -> Result<(), Failure> {
        self.action = None;
        self.trail.clear();
        self.request(&SystemRequest::Reset).map(drop)
    }

    /// Stops waiting for answers once this is set.
    pub fn with_cancellation(mut self, is_cancelled: Arc<AtomicBool>) -> RemoteSystem<L> {
        self.is_cancelled = is_cancelled;
        self
    }

    /// Returns the failure that ended the process in this test, if it has ended.
    pub fn process_failure(&self) -> Option<&Failure> {
        self.worker_failure.as_ref()
    }

    /// Returns the time limit of a request.
    fn limit(&self, request: &SystemRequest) -> Duration {
        let limit = self.timeouts.step;
        let confirmed = match request {
            // The step that exceeds the limit of a trial is told apart from others, a reset is not.
            SystemRequest::Reset => confirmation_limit(limit, Activity::Resetting),
            _ => self.confirmation(),
        };
        match &self.learned {
            Some(learned) if learned.is_applied && *request != SystemRequest::Reset => {
                let is_meant = learned.template.as_ref().is_none_or(|template| {
                    self.action
                        .is_some_and(|action| self.catalog.template_key(action) == *template)
                });
                if is_meant {
                    learned.limit(limit)
                } else {
                    confirmed
                }
            }
            _ => confirmed,
        }
    }

    /// Sends a request and waits for the answer. If there is none, ends the process and returns
    /// that as a failure.
    fn request(&mut self, request: &SystemRequest) -> Result<SystemReply, Failure> {
        if let Some(failure) = &self.worker_failure {
            return Err(failure.clone());
        }
        let limit = self.limit(request);
        let Some(worker) = &mut self.worker else {
            return Err(self.failure(&RequestError::Ended, &WorkerEnd::default()));
        };
        // A reset does not count towards the limit of the test.
        let of_test = self
            .timeouts
            .test
            .filter(|_| *request != SystemRequest::Reset);
        let left = of_test.map(|test| {
            let left = self.test_watch.remaining(test, worker.cpu_wait());
            left.max(MIN_TIMEOUT)
        });
        let timeout = left.map_or(limit, |left| left.min(limit));
        let is_step = matches!(request, SystemRequest::Step(_) | SystemRequest::Check);
        // Neither this thread's nor the process's wait for a processor says anything about the step.
        let cpu_wait = |worker: &L::Worker| worker.cpu_wait() + stopwatch::own_cpu_wait();
        let asked = (self.learned.is_some() && is_step).then(|| Stopwatch::start(cpu_wait(worker)));
        let answered = exchange_messages(worker, request, timeout, &self.is_cancelled);
        if let (Some(learned), Some(asked), Ok(_)) = (&mut self.learned, asked, &answered) {
            learned.slowest = learned.slowest.max(asked.charged(cpu_wait(worker)));
        }
        let error = match answered {
            // A step may pass and still have killed the process's parent.
            Ok(answer) if !matches!(request, SystemRequest::Step(_)) || worker.is_healthy() => {
                return Ok(answer);
            }
            Ok(_) => RequestError::Ended,
            Err(error) => error,
        };
        let ending = WorkerEnd {
            is_test_timeout: timeout < limit,
            ..worker.end(matches!(error, RequestError::TimedOut))
        };
        self.worker = None;
        let mut failure = self.failure(&error, &ending);
        let is_confirmed = self.confirmed_hang.as_ref().is_some_and(|steps| {
            let trail = self.trail.iter().map(|action| self.catalog.text(*action));
            trail.eq(steps.iter().cloned())
        });
        if ending.is_hang && !ending.is_test_timeout && limit < self.confirmation() && !is_confirmed
        {
            failure.message = format!("did not end within {limit:?}, unconfirmed");
        }
        self.worker_failure = Some(failure.clone());
        Err(failure)
    }

    /// Returns the time after which a step hangs for certain.
    fn confirmation(&self) -> Duration {
        let limit = self.timeouts.step;
        if self.timeouts.confirm {
            confirmation_limit(limit, Activity::Stepping)
        } else {
            limit
        }
    }

    /// Returns the failure that a missing answer amounts to.
    fn failure(&self, error: &RequestError, ending: &WorkerEnd) -> Failure {
        let origin = match self.action {
            Some(action) => self.catalog.template_key(action),
            None => "reset".to_owned(),
        };
        match error {
            RequestError::Ended | RequestError::TimedOut => {
                let waited = self.timeouts.test.filter(|_| ending.is_test_timeout);
                ending.failure(&origin, waited.unwrap_or(self.timeouts.step))
            }
            RequestError::Garbled => Failure {
                kind: FailureKind::Crash,
                message: "the process wrote into the connection to the tool".to_owned(),
                signature: origin,
                details: ending.stack.clone(),
            },
        }
    }

    /// Sends a request whose answer is an outcome.
    fn outcome(&mut self, request: &SystemRequest) -> Outcome {
        match self.request(request).map(SystemReply::outcome) {
            Ok(Some(outcome)) => outcome,
            Ok(None) => Outcome::Failed(Box::new(
                self.failure(&RequestError::Garbled, &WorkerEnd::default()),
            )),
            Err(failure) => Outcome::Failed(Box::new(failure)),
        }
    }
}

/// The shortest time limit that a connection accepts.
const MIN_TIMEOUT: Duration = Duration::from_millis(1);

/// The longest time between two looks at whether an answer is still needed.
const MAX_READ: Duration = Duration::from_millis(100);

/// Sends a request and waits for the answer. Time spent waiting for a processor does not count.
fn exchange_messages(
    worker: &mut impl Worker,
    request: &SystemRequest,
    timeout: Duration,
    is_cancelled: &AtomicBool,
) -> Result<SystemReply, RequestError> {
    let watch = Stopwatch::start(worker.cpu_wait());
    let is_timeout = |error: &io::Error| {
        matches!(
            error.kind(),
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock
        )
    };
    let mut exchange = || {
        send(&mut &mut *worker.connection(), request)?;
        // The first byte may take a while. The rest was sent together with it, unless the worker
        // dies in between.
        let mut first = [0];
        loop {
            let left = watch.remaining(timeout, worker.cpu_wait());
            let connection = worker.connection();
            connection.set_timeout(left.clamp(MIN_TIMEOUT, MAX_READ))?;
            match connection.read(&mut first) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error)
                    if is_timeout(&error)
                        && !left.is_zero()
                        && !is_cancelled.load(Ordering::Relaxed) => {}
                Err(error) => return Err(error),
            }
        }
        let connection = worker.connection();
        connection.set_timeout(timeout)?;
        receive(&mut io::Read::chain(first.as_slice(), connection))
    };
    exchange().map_err(|error: io::Error| match error.kind() {
        _ if is_timeout(&error) => RequestError::TimedOut,
        io::ErrorKind::InvalidData => RequestError::Garbled,
        _ => RequestError::Ended,
    })
}

impl<L: Launcher> System for RemoteSystem<L> {
    fn actions(&self) -> &Catalog {
        &self.catalog
    }

    fn reset(&mut self) -> Result<(), Error> {
        self.worker_failure = None;
        self.action = None;
        self.trail.clear();
        if self.worker.is_none() {
            self.launch()?;
        }
        let mut answer = self.request(&SystemRequest::Reset);
        if matches!(answer, Err(_) | Ok(SystemReply::Impossible { .. })) {
            // The last test may have damaged the process, or its consequences may end the process
            // only now.
            self.worker_failure = None;
            self.worker = None;
            self.launch()?;
            answer = self.request(&SystemRequest::Reset);
        }
        match answer {
            Ok(SystemReply::Impossible { message, help }) => Err(Error { message, help }),
            Ok(_) => Ok(()),
            Err(failure) => {
                let message = format!("the system cannot be reset: {}", failure.message);
                Err(Error::new(message))
            }
        }
    }

    fn begin(&mut self) -> Result<(), Error> {
        if self.process_per_test {
            self.worker = None;
        }
        self.reset()?;
        let cpu_wait = self.worker.as_ref().map(Worker::cpu_wait);
        self.test_watch = Stopwatch::start(cpu_wait.unwrap_or_default());
        Ok(())
    }

    /// A guard that kills the process is a failure of its action. Such an action counts as enabled,
    /// so that the failure is reported.
    fn is_enabled(&mut self, action: ActionId) -> bool {
        self.action = Some(action);
        let Some(number) = self.remote_number(action) else {
            return false;
        };
        match self.request(&SystemRequest::IsEnabled(number)) {
            Ok(answer) => answer == SystemReply::Bool(true),
            Err(_) => true,
        }
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        self.action = Some(action);
        self.trail.push(action);
        // Callers check `is_enabled` first, which is false for actions that the process does not
        // have.
        let number = self.remote_number(action).unwrap_or(u64::MAX);
        self.outcome(&SystemRequest::Step(number))
    }

    fn expected_exception(&mut self) -> String {
        match self.request(&SystemRequest::Expected) {
            Ok(SystemReply::Text(text)) => text,
            _ => String::new(),
        }
    }

    fn check(&mut self) -> Outcome {
        self.outcome(&SystemRequest::Check)
    }

    /// Systems whose actions have other numbers here than in the process are not examined.
    fn examine(&mut self) -> Option<Examination> {
        if self.numbering.is_some() {
            return None;
        }
        match self.request(&SystemRequest::Examine) {
            Ok(SystemReply::Examined(state)) => state.map(Into::into),
            _ => None,
        }
    }

    fn step_with_lines(&mut self, action: ActionId, lines: &mut Vec<String>) -> Outcome {
        self.action = Some(action);
        let number = self.remote_number(action).unwrap_or(u64::MAX);
        match self.request(&SystemRequest::StepWithLines(number)) {
            Ok(SystemReply::Lines(executed, reply)) => {
                lines.extend(executed);
                reply.outcome().unwrap_or(Outcome::Interrupted)
            }
            Ok(_) => Outcome::Interrupted,
            Err(failure) => Outcome::Failed(Box::new(failure)),
        }
    }

    fn enabled(&mut self) -> Vec<ActionId> {
        match self.request(&SystemRequest::Enabled) {
            Ok(answer) => {
                let theirs = answer.actions().unwrap_or_default();
                match &self.numbering {
                    None => theirs,
                    Some(numbers) => {
                        let ours = theirs
                            .iter()
                            .filter_map(|action| numbers.local_by_remote.get(&action.0));
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

    /// A system that kills its process at a pop after three pushes, and hangs at a wait after two.
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

    /// Workers that are threads: they close the connection where a process would die.
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
                let Ok((log, _memory)) = crate::StepLog::in_memory(8) else {
                    return;
                };
                let mut logged = crate::LoggedSystem::new(&mut system, &log);
                drop(serve(&mut logged, &mut process));
            });
            let handle = Some(handle);
            Ok(Thread { stream, handle })
        }
    }

    impl Worker for Thread {
        fn connection(&mut self) -> &mut dyn Connection {
            &mut self.stream
        }

        fn end(&mut self, hangs: bool) -> WorkerEnd {
            drop(self.stream.shutdown(Shutdown::Both));
            drop(self.handle.take().map(JoinHandle::join));
            WorkerEnd {
                is_hang: hangs,
                is_delayed: false,
                is_test_timeout: false,
                description: "the process was killed by SIGTEST".to_owned(),
                stack:
                    "Thread 0x1:\n  File \"x.py\", line 3 in pop\n  File \"x.py\", line 9 in f\n"
                        .to_owned(),
            }
        }
    }

    fn remote_system() -> RemoteSystem<Threads> {
        let timeouts = Timeouts {
            step: Duration::from_millis(100),
            ..Timeouts::default()
        };
        RemoteSystem::new(catalog(), Threads::default(), timeouts)
    }

    fn reduce_remotely(test: &Test) -> (Test, Failure, u64) {
        let mut remote = remote_system();
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
        let test = Test::from_actions([WAIT, PUSH, POP, PUSH, POP, POP, PUSH, POP, PUSH]);
        let (test, failure, launched) = reduce_remotely(&test);
        assert_eq!(test, Test::from_actions([PUSH, PUSH, PUSH, POP]));
        assert_eq!(failure.kind, FailureKind::Crash);
        assert_eq!(failure.message, "the process was killed by SIGTEST");
        assert_eq!(failure.signature, "the process was killed by SIGTEST: pop");
        assert!(launched > 1, "each crash takes a process");
    }

    #[test]
    fn a_hang_is_a_failure_that_can_be_reduced() {
        let (test, failure, _) = reduce_remotely(&Test::from_actions([
            PUSH, POP, WAIT, PUSH, POP, WAIT, PUSH,
        ]));
        assert_eq!(test, Test::from_actions([PUSH, PUSH, WAIT]));
        assert_eq!(failure.kind, FailureKind::Hang);
        assert_eq!(failure.message, "no end after 100ms");
        assert_eq!(failure.signature, "template 2");
    }

    /// Returns the failure of a step that hangs. The limit of a step is an hour, so nothing waits for
    /// it.
    fn hang(prepare: impl FnOnce(RemoteSystem<Threads>) -> RemoteSystem<Threads>) -> Failure {
        let timeouts = Timeouts {
            step: Duration::from_secs(3600),
            confirm: true,
            ..Timeouts::default()
        };
        let remote = RemoteSystem::new(catalog(), Threads::default(), timeouts);
        let mut remote = prepare(remote);
        remote.begin().unwrap();
        assert_eq!(remote.step(PUSH), Outcome::Passed);
        assert_eq!(remote.step(PUSH), Outcome::Passed);
        let Outcome::Failed(failure) = remote.step(WAIT) else {
            panic!("it hangs");
        };
        *failure
    }

    #[test]
    fn a_hang_in_a_trial_is_not_confirmed() {
        let floor = Duration::from_millis(50);
        let trial = hang(|remote| remote.with_learned_limit(floor, None));
        assert_eq!(trial.kind, FailureKind::Hang);
        assert!(
            trial.message.ends_with(", unconfirmed"),
            "{}",
            trial.message
        );
        let known = hang(|remote| {
            let remote = remote.with_learned_limit(floor, None);
            let steps = ["push()", "push()", "wait()"].map(str::to_owned);
            remote.with_confirmed_hang(steps.to_vec())
        });
        assert_eq!(known.message, "no end after 3600s");
        assert!(trial.is_same_as(&known));
    }

    #[test]
    fn nothing_waits_for_an_answer_that_is_not_needed() {
        let is_cancelled = Arc::new(AtomicBool::new(true));
        hang(|remote| remote.with_cancellation(is_cancelled));
    }

    #[test]
    fn a_limit_is_learned_from_the_steps_that_end() {
        let (floor, step) = (Duration::from_millis(50), Duration::from_secs(5));
        let limit = |millis: u64| {
            let learned = LearnedLimit {
                floor,
                template: None,
                slowest: Duration::from_millis(millis),
                is_applied: true,
            };
            learned.limit(step).as_millis()
        };
        assert_eq!([0, 1, 20].map(limit), [50, 100, 2_000]);
        // A step that is known to be slow is not a hang.
        assert_eq!([60, 4_000].map(limit), [5_000, 8_000]);
    }

    #[test]
    fn a_living_worker_keeps_the_laws_of_a_system() {
        let mut remote = remote_system();
        check_laws(&mut remote, 1, 60).unwrap();
        remote.reset().unwrap();
        assert_eq!(remote.enabled(), [PUSH, WAIT]);
    }
}
