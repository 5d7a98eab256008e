//! Exit handlers of steppers, which Python would run at the end of an ordinary process.
//!
//! Processes of the tool end without an ordinary exit, because code under test must not be able to
//! hold them up. A stepper may have a server to stop, so its handlers run before that.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

/// True if a stepper was imported in this process.
static HAS_STEPPER: AtomicBool = AtomicBool::new(false);

/// True if this process was forked by the tool, so that all its handlers belong to code under test.
static IS_OWN_PROCESS: AtomicBool = AtomicBool::new(false);

/// The time that all handlers have together.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Notes that a stepper was imported, whose handlers have to run.
pub(crate) fn expect() {
    HAS_STEPPER.store(true, Ordering::Relaxed);
}

/// Forgets the handlers of the process that this one was forked from.
pub(crate) fn forget_inherited(python: Python<'_>) -> PyResult<()> {
    HAS_STEPPER.store(false, Ordering::Relaxed);
    IS_OWN_PROCESS.store(true, Ordering::Relaxed);
    python.import("atexit")?.call_method0("_clear")?;
    Ok(())
}

/// Runs the handlers now, and returns true. Does nothing if they may belong to others.
pub(crate) fn run(python: Python<'_>) -> bool {
    if !IS_OWN_PROCESS.load(Ordering::Relaxed) {
        return false;
    }
    let handlers = python.import("atexit");
    // Python prints what they raise.
    let _as_far_as_possible = handlers.and_then(|handlers| handlers.call_method0("_run_exitfuncs"));
    true
}

/// Runs the exit handlers of steppers, if one was imported in this process. The process, which has
/// no other work left, ends with this status if they do not end in time.
pub fn run_exit_handlers(status: i32) {
    if !HAS_STEPPER.swap(false, Ordering::Relaxed) {
        return;
    }
    thread::spawn(move || {
        thread::sleep(TIME_LIMIT);
        crate::exit_now(status);
    });
    Python::attach(|python| {
        run(python);
        crate::flush();
    });
}
