//! Copies of the process: those that a system makes are the system's, and must never run the tool; those that the tool
//! makes are its workers.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};
use testwright_core::Error;

use crate::Interpreter;
use crate::failures::Raised;

/// This process is a child of the one that runs the tests.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// To be called by the interpreter in a child, right after a fork.
pub(crate) fn in_child(python: Python<'_>) -> PyResult<Bound<'_, PyCFunction>> {
    let remember = |_: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| {
        IS_CHILD.store(true, Ordering::Relaxed);
    };
    PyCFunction::new_closure(python, None, None, remember)
}

/// From now on, copies are recognised that code under test makes behind the interpreter's back, too.
pub(crate) fn recognise_all() {
    extern "C" fn remember() {
        IS_CHILD.store(true, Ordering::Relaxed);
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the function does nothing but store a number, which is all right in a copy of any process. That it
        // cannot be registered, for want of memory, changes nothing.
        unsafe { libc::pthread_atfork(None, None, Some(remember)) };
    });
}

/// Ends the process if it is a child that has come out of the system's code: a second tester that writes the same
/// files is the last thing anybody wants.
#[inline]
pub(crate) fn leave_if_child() {
    if IS_CHILD.load(Ordering::Relaxed) {
        // SAFETY: the process has nothing to clean up: all it has is the parent's.
        unsafe { libc::_exit(0) };
    }
}

/// Copies the process, with the system as it is. Gives the number of the copy, and none in the copy itself.
pub fn fork(interpreter: Interpreter<'_>) -> Result<Option<i32>, Error> {
    let copied = copy(interpreter.0).map_err(|error| {
        let raised = Raised::new(interpreter.0, &error);
        Error::new(format!("cannot copy the process: {}", raised.summary()))
    })?;
    if copied == 0 {
        IS_CHILD.store(false, Ordering::Relaxed);
    }
    Ok((copied != 0).then_some(copied))
}

fn copy(python: Python<'_>) -> PyResult<i32> {
    let warnings = python.import("warnings")?;
    // The interpreter warns of threads that the copy does not have. A system that starts some when it is imported has
    // to do without them, or with one process for all tests (`--jobs 0`).
    let filter = warnings.call_method0("catch_warnings")?;
    filter.call_method0("__enter__")?;
    let copied = warnings
        .call_method1("simplefilter", ("ignore",))
        .and_then(|_| python.import("os")?.call_method0("fork")?.extract());
    let none = python.None();
    filter.call_method1("__exit__", (&none, &none, &none))?;
    copied
}

/// Ends the process at once. Whatever the system has left in it does not matter.
pub fn leave(status: i32) -> ! {
    // SAFETY: ending a process without cleaning up is what is wanted, and cannot be done wrong.
    unsafe { libc::_exit(status) }
}

/// Lets the interpreter write to a file where it is when it crashes.
pub fn tell_of_crashes(interpreter: Interpreter<'_>, file: &File) -> Result<(), Error> {
    let enable = || -> PyResult<()> {
        let options = PyDict::new(interpreter.0);
        options.set_item("file", file.as_raw_fd())?;
        let module = interpreter.0.import("faulthandler")?;
        module.call_method("enable", (), Some(&options))?;
        Ok(())
    };
    enable().map_err(|error| {
        let raised = Raised::new(interpreter.0, &error);
        let message = format!("crashes could not be told of: {}", raised.summary());
        Error::new(message)
    })
}
