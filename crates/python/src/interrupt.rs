//! Ctrl-C: the person's wish to stop, told apart from a `KeyboardInterrupt` that the system itself raises.
//!
//! The signal raises an exception in whatever the system is doing. A system may swallow it, or be stuck in C code
//! that never looks. Nothing in this process can stop it then, so after a moment the process says its last words
//! and ends.

use std::fs::File;
use std::io::{self, PipeWriter, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};

use crate::Process;
use crate::output::Redirection;

/// The person wants to stop.
static REQUESTED: AtomicBool = AtomicBool::new(false);
/// Where the wish may come from besides.
static ELSEWHERE: OnceLock<Arc<AtomicBool>> = OnceLock::new();
/// Ctrl-C is not announced: the process is not the tool's, and any `KeyboardInterrupt` may be one.
static UNANNOUNCED: AtomicBool = AtomicBool::new(false);
/// Counts up whenever the system under test has given control back.
static SIGNS_OF_LIFE: AtomicU64 = AtomicU64::new(0);

/// What is to be said if the system does not react; returns the exit status.
static LAST_WORDS: Mutex<Option<LastWords>> = Mutex::new(None);

type LastWords = Box<dyn FnOnce(&mut dyn Write, &mut dyn Write) -> i32 + Send>;

/// How long a system may take to notice that it is to stop.
const PATIENCE: Duration = Duration::from_millis(600);

/// Sets what is to be done before the process ends, if Ctrl-C is pressed and the system does not react to it.
///
/// The words are spoken by another thread while the system still runs, so they must not need the interpreter.
/// They are given the standard output and error that the process was started with, and return the exit status.
pub fn when_stuck(last_words: impl FnOnce(&mut dyn Write, &mut dyn Write) -> i32 + Send + 'static) {
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(last_words));
}

/// True once the person at the keyboard pressed Ctrl-C, or the process was asked to end, since the last load.
pub fn interrupted() -> bool {
    REQUESTED.load(Ordering::Relaxed)
        || ELSEWHERE
            .get()
            .is_some_and(|wish| wish.load(Ordering::Relaxed))
}

/// From now on the wish to stop may also come from somebody else: in a process without a system nobody listens here. The
/// first one counts.
pub fn listen_to(wish: Arc<AtomicBool>) {
    let _first_counts = ELSEWHERE.set(wish);
}

/// There is nothing left that could get stuck.
pub fn never_mind() {
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Tells that the system under test has given control back, so that nobody takes it for stuck.
#[inline]
pub(crate) fn sign_of_life() {
    // Only the thread that holds the interpreter counts, so nothing is lost, and adding in one go would take longer.
    let signs = SIGNS_OF_LIFE.load(Ordering::Relaxed);
    SIGNS_OF_LIFE.store(signs.wrapping_add(1), Ordering::Relaxed);
}

/// Forgets earlier wishes, and what was to be said about them.
pub(crate) fn forget(process: Process) {
    REQUESTED.store(false, Ordering::Relaxed);
    UNANNOUNCED.store(process == Process::OfTheCaller, Ordering::Relaxed);
    never_mind();
}

/// Whether this is how Ctrl-C arrives, as opposed to a system that raises `KeyboardInterrupt` by itself.
pub(crate) fn is_interrupt(python: Python<'_>, error: &PyErr) -> bool {
    (interrupted() || UNANNOUNCED.load(Ordering::Relaxed))
        && error.is_instance_of::<PyKeyboardInterrupt>(python)
}

/// The signal handler: remembers the wish, and raises, so that code in a long loop is left.
pub(crate) fn handler(python: Python<'_>) -> PyResult<Bound<'_, PyCFunction>> {
    let handle = |_: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| -> PyResult<()> {
        REQUESTED.store(true, Ordering::Relaxed);
        Err(PyKeyboardInterrupt::new_err("stopped by the user"))
    };
    PyCFunction::new_closure(python, None, None, handle)
}

/// Starts a thread that is told of signals at once, even while the main thread is in C code. Returns where the
/// interpreter is to announce them; closing it ends the thread.
pub(crate) fn listen(redirection: &Redirection) -> io::Result<PipeWriter> {
    let (out, err) = redirection.originals()?;
    let (mut signals, announce) = io::pipe()?;
    thread::spawn(move || {
        let mut signal = [0];
        while let Ok(1) = signals.read(&mut signal) {
            if [libc::SIGINT, libc::SIGTERM].contains(&signal[0].into()) {
                REQUESTED.store(true, Ordering::Relaxed);
                let Ok(out) = out.try_clone() else { return };
                let Ok(err) = err.try_clone() else { return };
                insist((out, err));
            }
        }
    });
    Ok(announce)
}

/// Waits for as long as the system gives signs of life; if it gives none, speaks the last words and ends the process.
fn insist(originals: (File, File)) {
    let mut signs = SIGNS_OF_LIFE.load(Ordering::Relaxed);
    loop {
        thread::sleep(PATIENCE);
        let seen = std::mem::replace(&mut signs, SIGNS_OF_LIFE.load(Ordering::Relaxed));
        let mut last_words = LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner);
        if last_words.is_some() && signs != seen {
            continue;
        }
        let Some(last_words) = last_words.take() else {
            return;
        };
        let (mut out, mut err) = originals;
        let status = last_words(&mut out, &mut err);
        // SAFETY: ending the process without any clean-up is the point: the interpreter is held by code that does
        // not let go of it, so nothing that an ordinary exit would run can run.
        unsafe { libc::_exit(status) };
    }
}
