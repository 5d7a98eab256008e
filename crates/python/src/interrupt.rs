//! Interrupts by the user (Ctrl-C), told apart from a `KeyboardInterrupt` that the system itself
//! raises.
//!
//! The signal raises an exception in the running code of the system. A system may swallow it, or be
//! stuck in C code that never checks. Nothing in this process can stop it then, so after a moment
//! the process writes its final report and exits.

use std::fs::File;
use std::io::{self, PipeWriter, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};

use crate::ProcessOwner;
use crate::output::Redirection;

/// An interrupt was requested by a signal.
static REQUESTED: AtomicBool = AtomicBool::new(false);
/// A flag by which another part of the program can request an interrupt.
static EXTERNAL_REQUEST: OnceLock<Arc<AtomicBool>> = OnceLock::new();
/// Signals are not handled here because the process belongs to the caller, so any
/// `KeyboardInterrupt` may be one.
static UNANNOUNCED: AtomicBool = AtomicBool::new(false);
/// Incremented whenever the system under test has returned control.
static PROGRESS: AtomicU64 = AtomicU64::new(0);
/// A counter in memory that another process reads, used instead of [`PROGRESS`] once it is set.
static SHARED_PROGRESS: OnceLock<&'static AtomicU64> = OnceLock::new();

/// The final report if the system does not react; returns the exit status.
static EXIT_REPORT: Mutex<Option<ExitReport>> = Mutex::new(None);

type ExitReport = Box<dyn FnOnce(&mut dyn Write, &mut dyn Write) -> i32 + Send>;

/// The time that a system has to react to an interrupt.
const REACTION_TIME: Duration = Duration::from_millis(600);

/// Sets the final report to write before the process exits, if the user presses Ctrl-C and the
/// system does not react.
///
/// Another thread calls it while the system still runs, so it must not use the interpreter. It gets
/// the standard output and error that the process was started with, and returns the exit status.
pub fn set_exit_report(
    exit_report: impl FnOnce(&mut dyn Write, &mut dyn Write) -> i32 + Send + 'static,
) {
    *EXIT_REPORT.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(exit_report));
}

/// Returns true if the user pressed Ctrl-C, or the process was asked to end, since the last load.
pub fn is_interrupted() -> bool {
    REQUESTED.load(Ordering::Relaxed)
        || EXTERNAL_REQUEST
            .get()
            .is_some_and(|request| request.load(Ordering::Relaxed))
}

/// Sets a flag that also requests an interrupt, for processes that handle no signals here. Only the
/// first call has an effect.
pub fn set_external_request(request: Arc<AtomicBool>) {
    let _first_counts = EXTERNAL_REQUEST.set(request);
}

/// Removes the final report: there is no more code that could get stuck.
pub fn clear_interrupt() {
    *EXIT_REPORT.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Records that the system under test has returned control, so that it does not count as stuck.
#[inline]
pub fn mark_progress() {
    // Only the thread that holds the interpreter writes, so no increment is lost, and an atomic
    // addition would take longer.
    let progress = progress();
    progress.store(
        progress.load(Ordering::Relaxed).wrapping_add(1),
        Ordering::Relaxed,
    );
}

/// Returns the counter of progress.
#[inline]
fn progress() -> &'static AtomicU64 {
    SHARED_PROGRESS.get().copied().unwrap_or(&PROGRESS)
}

/// Counts progress in memory that another process reads, which can then tell that the system under
/// test is stuck. Only the first call has an effect.
pub fn share_progress(counter: &'static AtomicU64) {
    let _first_counts = SHARED_PROGRESS.set(counter);
}

/// Resets earlier interrupts and the final report, for a newly loaded system.
pub(crate) fn reset(process: ProcessOwner) {
    REQUESTED.store(false, Ordering::Relaxed);
    UNANNOUNCED.store(process == ProcessOwner::Caller, Ordering::Relaxed);
    clear_interrupt();
}

/// Returns true if an exception is the user's interrupt, as opposed to a `KeyboardInterrupt` raised
/// by the system.
pub(crate) fn is_interrupt(python: Python<'_>, error: &PyErr) -> bool {
    (is_interrupted() || UNANNOUNCED.load(Ordering::Relaxed))
        && error.is_instance_of::<PyKeyboardInterrupt>(python)
}

/// Returns the signal handler: it records the interrupt and raises, to leave long loops.
pub(crate) fn handler(python: Python<'_>) -> PyResult<Bound<'_, PyCFunction>> {
    let handle = |_: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| -> PyResult<()> {
        REQUESTED.store(true, Ordering::Relaxed);
        Err(PyKeyboardInterrupt::new_err("stopped by the user"))
    };
    PyCFunction::new_closure(python, None, None, handle)
}

/// Starts a thread that learns of signals at once, even while the main thread is in C code. Returns
/// the pipe on which the interpreter announces them; closing it ends the thread.
pub(crate) fn start_listener(redirection: &Redirection) -> io::Result<PipeWriter> {
    let (out, err) = redirection.originals()?;
    let (mut signals, announce) = io::pipe()?;
    thread::spawn(move || {
        let mut signal = [0];
        while let Ok(1) = signals.read(&mut signal) {
            if [libc::SIGINT, libc::SIGTERM].contains(&signal[0].into()) {
                REQUESTED.store(true, Ordering::Relaxed);
                let Ok(out) = out.try_clone() else { return };
                let Ok(err) = err.try_clone() else { return };
                wait_or_exit((out, err));
            }
        }
    });
    Ok(announce)
}

/// Waits while the system makes progress. If it makes none, writes the final report and ends the
/// process.
fn wait_or_exit(originals: (File, File)) {
    let mut seen_before = progress().load(Ordering::Relaxed);
    loop {
        thread::sleep(REACTION_TIME);
        let seen = progress().load(Ordering::Relaxed);
        let has_progressed = std::mem::replace(&mut seen_before, seen) != seen;
        let mut exit_report = EXIT_REPORT.lock().unwrap_or_else(PoisonError::into_inner);
        if exit_report.is_some() && has_progressed {
            continue;
        }
        let Some(exit_report) = exit_report.take() else {
            return;
        };
        let (mut out, mut err) = originals;
        let status = exit_report(&mut out, &mut err);
        // SAFETY: ending the process without any clean-up is the point: the interpreter is held by
        // code that does not let go of it, so nothing that an ordinary exit would run can run.
        unsafe { libc::_exit(status) };
    }
}
