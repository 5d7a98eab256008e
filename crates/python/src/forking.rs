//! Forks of the process. Forks made by the system under test must never run the tool; forks made by
//! the tool are its workers.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};
use testwright_core::Error;

use crate::Interpreter;
use crate::exit_handlers;
use crate::failures::RaisedException;

/// True in a child of the process that runs the tests.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// Returns a function for the interpreter to call in a child right after a fork.
pub(crate) fn child_hook(python: Python<'_>) -> PyResult<Bound<'_, PyCFunction>> {
    let mark_child = |_: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| {
        IS_CHILD.store(true, Ordering::Relaxed);
    };
    PyCFunction::new_closure(python, None, None, mark_child)
}

/// Starts to detect forks that code under test makes without the interpreter, too.
pub(crate) fn detect_all_forks() {
    extern "C" fn mark_child() {
        IS_CHILD.store(true, Ordering::Relaxed);
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the function does nothing but store a number, which is safe in a fork of any
        // process. If it cannot be registered for lack of memory, nothing changes.
        unsafe { libc::pthread_atfork(None, None, Some(mark_child)) };
    });
}

/// Ends the process if it is a child that returned from the system's code. Otherwise a second
/// tester would write to the same files.
#[inline]
pub(crate) fn exit_if_child() {
    if IS_CHILD.load(Ordering::Relaxed) {
        // SAFETY: the process has nothing to clean up: all it has is the parent's.
        unsafe { libc::_exit(0) };
    }
}

/// Forks the process with the system in its current state. Returns the process id of the child, or
/// `None` in the child.
pub fn fork(interpreter: Interpreter<'_>) -> Result<Option<i32>, Error> {
    let copied = fork_quietly(interpreter.0).map_err(|error| {
        let raised = RaisedException::new(interpreter.0, &error);
        Error::new(format!("cannot copy the process: {}", raised.summary()))
    })?;
    if copied == 0 {
        IS_CHILD.store(false, Ordering::Relaxed);
        // Without the module there are no handlers either.
        let _nothing_to_forget = exit_handlers::forget_inherited(interpreter.0);
    }
    Ok((copied != 0).then_some(copied))
}

/// Calls `os.fork` without warnings.
fn fork_quietly(python: Python<'_>) -> PyResult<i32> {
    let warnings = python.import("warnings")?;
    // The interpreter warns of threads that the child does not have. A system that starts threads
    // when it is imported must do without them, or use one process for all tests (`--jobs 0`).
    let filter = warnings.call_method0("catch_warnings")?;
    filter.call_method0("__enter__")?;
    let copied = warnings
        .call_method1("simplefilter", ("ignore",))
        .and_then(|_| python.import("os")?.call_method0("fork")?.extract());
    let none = python.None();
    filter.call_method1("__exit__", (&none, &none, &none))?;
    copied
}

/// Ends the process at once, without any clean-up of the system.
pub fn exit_now(status: i32) -> ! {
    // SAFETY: ending a process without cleaning up is what is wanted, and cannot be done wrong.
    unsafe { libc::_exit(status) }
}

/// Makes the interpreter write its stacks to a file when it crashes.
pub fn enable_crash_reports(interpreter: Interpreter<'_>, file: &File) -> Result<(), Error> {
    let enable = || -> PyResult<()> {
        let options = PyDict::new(interpreter.0);
        options.set_item("file", file.as_raw_fd())?;
        let module = interpreter.0.import("faulthandler")?;
        module.call_method("enable", (), Some(&options))?;
        Ok(())
    };
    enable().map_err(|error| {
        let raised = RaisedException::new(interpreter.0, &error);
        let message = format!("crash reports could not be enabled: {}", raised.summary());
        Error::new(message)
    })
}
