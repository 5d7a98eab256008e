//! Ctrl-C: the person's wish to stop, told apart from a `KeyboardInterrupt` that the system itself raises.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// True once the person at the keyboard pressed Ctrl-C, or the process was asked to end, since the last load.
pub fn interrupted() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

pub(crate) fn forget() {
    REQUESTED.store(false, Ordering::Relaxed);
}

/// The signal handler: remembers the wish, and raises, so that code in a long loop is left.
pub(crate) fn handler(python: Python<'_>) -> PyResult<Bound<'_, PyCFunction>> {
    let handle = |_: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| -> PyResult<()> {
        REQUESTED.store(true, Ordering::Relaxed);
        Err(PyKeyboardInterrupt::new_err("stopped by the user"))
    };
    PyCFunction::new_closure(python, None, None, handle)
}
