//! Ctrl-C: the person's wish to stop, told apart from a `KeyboardInterrupt` that the system itself raises.
//!
//! The signal raises an exception in whatever the system is doing. A system may swallow it, or be stuck in C code
//! that never looks. Nothing in this process can stop it then, so after a moment the process says its last words
//! and ends.

use std::io::{self, PipeWriter, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};

/// The person wants to stop.
static REQUESTED: AtomicBool = AtomicBool::new(false);
/// Nobody has taken notice yet.
static UNHEARD: AtomicBool = AtomicBool::new(false);

/// What is to be said if the system does not react; returns the exit status.
static LAST_WORDS: Mutex<Option<LastWords>> = Mutex::new(None);

type LastWords = Box<dyn FnOnce() -> i32 + Send>;

/// How long a system may take to notice that it is to stop.
const PATIENCE: Duration = Duration::from_millis(600);
const GLANCE: Duration = Duration::from_millis(20);

/// Sets what is to be done before the process ends, if Ctrl-C is pressed and the system does not react to it.
///
/// The words are spoken by another thread while the system still runs, so they must not need the interpreter.
/// They return the exit status.
pub fn when_stuck(last_words: impl FnOnce() -> i32 + Send + 'static) {
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(last_words));
}

/// True once the person at the keyboard pressed Ctrl-C, or the process was asked to end, since the last load.
pub fn interrupted() -> bool {
    let requested = REQUESTED.load(Ordering::Relaxed);
    if requested {
        UNHEARD.store(false, Ordering::Relaxed);
    }
    requested
}

/// Forgets earlier wishes, and what was to be said about them.
pub(crate) fn forget() {
    REQUESTED.store(false, Ordering::Relaxed);
    UNHEARD.store(false, Ordering::Relaxed);
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = None;
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
pub(crate) fn listen() -> io::Result<PipeWriter> {
    let (mut signals, announce) = io::pipe()?;
    thread::spawn(move || {
        let mut signal = [0];
        while let Ok(1) = signals.read(&mut signal) {
            if [libc::SIGINT, libc::SIGTERM].contains(&signal[0].into()) {
                REQUESTED.store(true, Ordering::Relaxed);
                UNHEARD.store(true, Ordering::Relaxed);
                insist();
            }
        }
    });
    Ok(announce)
}

/// Waits until somebody has heard; ends the process if nobody does.
fn insist() {
    let started = Instant::now();
    while UNHEARD.load(Ordering::Relaxed) {
        thread::sleep(GLANCE);
        if started.elapsed() < PATIENCE {
            continue;
        }
        let last_words = LAST_WORDS
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(last_words) = last_words {
            let status = last_words();
            // SAFETY: ending the process without any clean-up is the point: the interpreter is held by code
            // that does not let go of it, so nothing that an ordinary exit would run can run.
            unsafe { libc::_exit(status) };
        }
        return;
    }
}
