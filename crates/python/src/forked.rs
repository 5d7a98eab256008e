//! Child processes that a system forks: they are the system's, and must never run the tool.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};

/// This process is a child of the one that runs the tests.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// To be called by the interpreter in a child, right after a fork.
pub(crate) fn in_child(python: Python<'_>) -> PyResult<Bound<'_, PyCFunction>> {
    let remember = |_: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| {
        IS_CHILD.store(true, Ordering::Relaxed);
    };
    PyCFunction::new_closure(python, None, None, remember)
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
