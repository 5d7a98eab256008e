//! Work in a forked copy of this process, so that the original can report when the code under test
//! ends the copy.
//!
//! The copy writes its progress to a [`ProgressNote`], which both processes see. The original waits
//! in [`run_guarded`]: it forwards signals, kills a copy that makes no progress ([`Watchdog`]), and
//! turns the end of a copy that crashed into a failure.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use testwright_campaign::{
    Activity, Deadline, Exceeded, LeftoverProcesses, ProgressCounters, ResourceLimits,
    SlowActivity, StepLog, WorkerEnd, describe_end,
};
use testwright_core::{Catalog, Error, Failure, FailureKind, describe_os_error};

use crate::console::Console;
use crate::{CommandError, ExitStatus, duration};

/// The limits of copies, if there are any.
static LIMITS: Mutex<Option<ResourceLimits>> = Mutex::new(None);

/// Limits the resources of all copies from now on.
pub(crate) fn limit_copies(limits: ResourceLimits) {
    let given = limits != ResourceLimits::default();
    *LIMITS.lock().unwrap_or_else(PoisonError::into_inner) = given.then_some(limits);
}

/// Returns the limits of copies.
pub(crate) fn limits_of_copies() -> ResourceLimits {
    let limits = LIMITS.lock().unwrap_or_else(PoisonError::into_inner);
    limits.unwrap_or_default()
}

/// The text of the note when the work is done, and the exit status is the command's own.
const DONE: &str = "over";

/// The progress of the copy, visible to both processes: text, or numbers where text would take too
/// long.
pub(crate) struct ProgressNote {
    /// The text, in a temporary file without a name.
    text: File,
    counters: ProgressCounters,
    /// The progress that the interpreter counts while it runs a harness.
    interpreter: &'static ProgressCounters,
}

impl ProgressNote {
    /// Creates an empty note.
    fn new() -> io::Result<ProgressNote> {
        Ok(ProgressNote {
            text: tempfile::tempfile()?,
            counters: ProgressCounters::new()?,
            interpreter: Box::leak(Box::new(ProgressCounters::new()?)),
        })
    }

    /// Replaces the text.
    pub(crate) fn write(&self, words: &str) {
        self.counters.clear();
        let mut file = &self.text;
        let _crash_reports_less = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(words.as_bytes()));
    }

    /// Appends to the text. The cost does not depend on the length of the text before.
    pub(crate) fn add(&self, words: &str) {
        let _crash_reports_less = (&self.text).write_all(words.as_bytes());
    }

    /// Replaces the numbers.
    pub(crate) fn set_counters(&self, numbers: [usize; 3]) {
        self.counters.set(numbers);
    }

    /// Marks the beginning of Testwright's own work, which has no time limit.
    pub(crate) fn mark_own_work(&self) {
        self.add("\n\n");
    }

    /// Removes the text, and marks the beginning of Testwright's own work.
    pub(crate) fn write_own_work(&self) {
        self.write("\n\n");
    }

    /// Returns true if nothing is noted: the system is being loaded or reset.
    fn is_empty(&self) -> bool {
        self.counters.heartbeat().is_none()
            && self.text.metadata().is_ok_and(|facts| facts.len() == 0)
    }

    /// Returns true during Testwright's own work: the last line is empty.
    fn is_own_work(&self) -> bool {
        let mut end = [0; 2];
        let length = self.text.metadata().map_or(0, |facts| facts.len());
        length >= 2 && self.text.read_exact_at(&mut end, length - 2).is_ok() && end == *b"\n\n"
    }

    /// Returns a mark that changes with every note.
    fn mark(&self) -> Option<ProgressMark> {
        let beats = self.interpreter.heartbeat().unwrap_or(0);
        if let Some(counted) = self.counters.heartbeat() {
            return Some(ProgressMark::Heartbeats(counted, beats));
        }
        let facts = self.text.metadata().ok()?;
        let noted = (facts.len(), facts.modified().ok()?);
        Some(ProgressMark::Text(noted, beats))
    }

    /// Returns the numbers, or the text if there are none.
    fn read(mut self) -> String {
        if let Some(numbers) = self.counters.counts() {
            return numbers.map(|number| number.to_string()).join(" ");
        }
        let mut words = String::new();
        let _crash_reports_less = self
            .text
            .rewind()
            .and_then(|()| self.text.read_to_string(&mut words));
        words
    }
}

/// Reports that a copy crashed: its progress by the note, and the way it ended.
pub(crate) fn report_crash(
    console: &mut Console<'_>,
    note: &str,
    failure: &Failure,
) -> Result<ExitStatus, CommandError> {
    let note = note.trim_end();
    let progress = if note.is_empty() {
        "while the harness was loaded"
    } else {
        note
    };
    console.out(format_args!("{progress}: {}", failure.message));
    for line in failure.details.lines() {
        console.out(format_args!("    {line}"));
    }
    if note.is_empty() && failure.kind == FailureKind::Hang {
        // No test has begun, so there is no answer.
        return Ok(ExitStatus::Error);
    }
    Ok(ExitStatus::FailureFound)
}

/// The settings of a [`Watchdog`].
#[derive(Clone, Copy, Default)]
pub(crate) struct WatchdogOptions<'a> {
    /// The time limit for a step, if there is one.
    pub(crate) timeout: Option<Duration>,
    /// The log with the steps and the catalog with their names, if the steps are not in the note.
    pub(crate) log: Option<(&'a StepLog, &'a Catalog)>,
}

/// Settings for a copy that notes every step.
impl From<Option<Duration>> for WatchdogOptions<'_> {
    fn from(timeout: Option<Duration>) -> Self {
        WatchdogOptions { timeout, log: None }
    }
}

impl WatchdogOptions<'_> {
    /// Returns a mark that changes with every step; `None` while no step is under way.
    fn mark(&self, note: &ProgressNote) -> Option<ProgressMark> {
        match self.log {
            Some((log, _)) => Some(ProgressMark::Heartbeats(
                log.heartbeat(),
                note.interpreter.heartbeat().unwrap_or(0),
            ))
            .filter(|_| log.activity() != Activity::OwnWork),
            // Without a step, it is not a test that takes so long.
            None => note.mark(),
        }
    }

    /// Returns the current activity, as far as it is known.
    fn activity(&self, note: &ProgressNote) -> Activity {
        match self.log {
            Some((log, _)) => log.activity(),
            None if note.is_empty() => Activity::Loading,
            None => Activity::Stepping,
        }
    }

    /// Returns the last step in words that distinguish it from others.
    fn last_step(&self, note: &str) -> String {
        match self.log {
            Some((log, catalog)) => log
                .last_action()
                .map_or_else(|| "reset".to_owned(), |action| catalog.template_key(action)),
            None => {
                let mut lines = note.lines().rev();
                let last = lines.find(|line| !line.is_empty());
                last.unwrap_or_default().to_owned()
            }
        }
    }
}

/// A mark of progress. If two marks differ, the copy has made progress in between.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProgressMark {
    /// The counter of the command, and that of the interpreter.
    Heartbeats(u64, u64),
    /// The length of the text and the time of its last change, and the counter of the interpreter.
    Text((u64, SystemTime), u64),
}

/// Watches a copy, and ends it when it stays at one step for too long.
struct Watchdog<'a> {
    /// The settings.
    options: WatchdogOptions<'a>,
    /// The deadline, if there is a time limit.
    deadline: Option<Deadline>,
    /// The last mark of progress.
    last_mark: Option<ProgressMark>,
    /// The time of the last progress.
    last_progress: Instant,
    /// The last signal that was sent because of the time limit.
    last_signal: Option<i32>,
    /// True if the user or another program asked the process to stop.
    is_stopped: bool,
    /// The time of the first SIGTERM, after which the copy must end without finishing its work.
    terminated_at: Option<Instant>,
}

impl Watchdog<'_> {
    /// The time that a copy has to report its position before it is killed.
    const REPORT_TIME: Duration = Duration::from_secs(1);
    /// The time that a copy has to clean up after SIGTERM.
    const GRACE: Duration = Duration::from_secs(3);

    /// Creates a watchdog that has seen no progress yet.
    fn new(options: WatchdogOptions<'_>) -> Watchdog<'_> {
        Watchdog {
            deadline: options.timeout.map(Deadline::new),
            options,
            last_mark: None,
            last_progress: Instant::now(),
            last_signal: None,
            is_stopped: false,
            terminated_at: None,
        }
    }

    /// Notes that this process received a signal, and returns it for the copy.
    fn forward(&mut self, signal: i32) -> i32 {
        self.is_stopped = true;
        if signal == signal_hook::consts::SIGTERM {
            self.terminated_at.get_or_insert_with(Instant::now);
        }
        signal
    }

    /// Returns the signal that is due for the copy, if one is. Tells the user that a step takes long.
    fn signal(&mut self, note: &ProgressNote, console: &mut Console<'_>) -> Option<i32> {
        if self
            .terminated_at
            .is_some_and(|since| since.elapsed() >= Self::GRACE)
        {
            return Some(signal_hook::consts::SIGKILL);
        }
        let deadline = self.deadline.as_mut()?;
        let mark = self.options.mark(note);
        if mark != self.last_mark || mark.is_none() {
            if let Some(slow) = deadline.note_progress(self.last_progress.elapsed()) {
                console.err(slow_text(&slow, None));
            }
            (self.last_mark, self.last_progress) = (mark, Instant::now());
        }
        let elapsed = self.last_progress.elapsed();
        let signal = if self.last_signal.is_some() {
            // Nothing can ignore SIGKILL.
            (elapsed >= Self::REPORT_TIME).then_some(signal_hook::consts::SIGKILL)?
        } else {
            let activity = self.options.activity(note);
            match deadline.observe(activity, |limit| elapsed >= limit)? {
                _ if self.options.log.is_none() && note.is_own_work() => {
                    self.last_progress = Instant::now();
                    deadline.note_progress(Duration::ZERO);
                    return None;
                }
                Exceeded::Late {
                    limit,
                    confirmation,
                } => {
                    console.err(confirmation_text(activity, limit, confirmation));
                    return None;
                }
                // It makes the copy report its position.
                Exceeded::Hang(_) => signal_hook::consts::SIGABRT,
            }
        };
        self.last_progress = Instant::now();
        self.last_signal = Some(signal);
        self.last_signal
    }
}

/// Returns the announcement that an activity gets more time before it is called a hang.
pub(crate) fn confirmation_text(
    activity: Activity,
    limit: Duration,
    confirmation: Duration,
) -> String {
    let what = match activity {
        Activity::Loading => ", before the first step",
        Activity::Resetting => ", in a reset",
        _ => "",
    };
    format!(
        "no end after {}{what}; confirming the hang with a limit of {} (`--step-timeout` allows more)",
        duration::show(limit),
        duration::show(confirmation)
    )
}

/// Returns the remark about an activity that has ended after its limit, which is no failure. `step` is
/// the last step, if it is known.
pub(crate) fn slow_text(slow: &SlowActivity, step: Option<&str>) -> String {
    let what = match (slow.activity, step) {
        (Activity::Loading, _) => "what comes before the first step".to_owned(),
        (Activity::Resetting, _) => "a reset".to_owned(),
        (Activity::Stepping, Some(step)) => format!("`{step}`"),
        (Activity::Checking, Some(step)) => format!("the check after `{step}`"),
        (Activity::Choosing, Some(step)) => format!("choosing a step after `{step}`"),
        _ => "a step".to_owned(),
    };
    format!(
        "slow: {what} took {}, longer than {}; allow more with `--step-timeout`",
        duration::show(slow.took),
        duration::show(slow.limit)
    )
}

/// Does some work in a copy of this process. If the copy crashes, `crashed` gets its last note and
/// the failure. With a timeout, the copy must begin a step every so often.
pub(crate) fn run_guarded<'v>(
    console: &mut Console<'_>,
    options: impl Into<WatchdogOptions<'v>>,
    crashed: impl FnOnce(&mut Console<'_>, &str, &Failure) -> Result<ExitStatus, CommandError>,
    work: impl FnOnce(&mut Console<'_>, &ProgressNote) -> Result<ExitStatus, CommandError>,
) -> Result<ExitStatus, CommandError> {
    let options = options.into();
    let failed =
        |error: io::Error| Error::new(format!("cannot make a file: {}", describe_os_error(&error)));
    let note = ProgressNote::new().map_err(failed)?;
    let crash_report = tempfile::tempfile().map_err(failed)?;
    console.flush();
    // A signal to this process is meant for the copy.
    let signals = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];
    let received = signals.map(|signal| (signal, Arc::new(AtomicBool::new(false))));
    let handlers = received
        .clone()
        .map(|(signal, is_set)| signal_hook::flag::register(signal, is_set));
    // They would keep the output open, and ports.
    let leftovers = LeftoverProcesses::watch();
    let copied = testwright_python::attach(|interpreter| {
        let copied = testwright_python::fork(interpreter)?;
        if copied.is_none() {
            let _no_stack = testwright_python::enable_crash_reports(interpreter, &crash_report);
        }
        Ok::<_, Error>(copied)
    });
    let Some(copy) = copied? else {
        limits_of_copies().apply();
        testwright_python::share_progress(note.interpreter.shared_heartbeat());
        let status = work(console, &note).unwrap_or_else(|error| {
            error.report(console);
            ExitStatus::Error
        });
        // The original process does not see errors of this process's output.
        let status = console.check_output(status);
        note.write(DONE);
        let status = status.code().into();
        testwright_python::run_exit_handlers(status);
        testwright_python::exit_now(status);
    };
    let mut watch = Watchdog::new(options);
    let ended = testwright_campaign::wait_for_child(copy, || {
        let signal = received
            .iter()
            .find(|(_, is_set)| is_set.swap(false, Ordering::Relaxed));
        match signal {
            Some((signal, _)) => Some(watch.forward(*signal)),
            None => watch.signal(&note, console),
        }
    });
    leftovers.end();
    for handler in handlers.into_iter().flatten() {
        signal_hook::low_level::unregister(handler);
    }
    let status = ended.map_err(|error| {
        Error::new(format!(
            "the process is lost: {}",
            describe_os_error(&error)
        ))
    })?;
    let words = note.read();
    match status.code() {
        // A copy that is stopped while code under test is stuck may not be able to write that it is
        // done.
        Some(code) if words == DONE || watch.is_stopped => {
            Ok(ExitStatus::Program(u8::try_from(code).unwrap_or(2)))
        }
        None if watch.is_stopped => Err(CommandError::Interrupted),
        _ => {
            let is_overwritten = options.log.is_some_and(|(log, _)| log.is_overwritten());
            let mut ending = if is_overwritten {
                WorkerEnd::of_overwritten_log()
            } else {
                describe_end(status, crash_report)
            };
            ending.is_hang = watch.last_signal.is_some();
            let last = options.last_step(&words);
            let failure = ending.failure(&last, options.timeout.unwrap_or_default());
            crashed(console, &words, &failure)
        }
    }
}
