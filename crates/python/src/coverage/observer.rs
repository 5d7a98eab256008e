//! The choice between the two ways to observe code, by version of the interpreter.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

#[cfg(Py_3_11)]
use super::monitoring::Monitor;
use super::probes::Prober;
use super::record::CoverageRecord;

/// The observer that was started last.
static LATEST: Mutex<Option<Observer>> = Mutex::new(None);

/// An observer of code objects.
pub(crate) enum Observer {
    /// Uses `sys.monitoring`, since 3.12. (Compiled since 3.11, which has a C function that it
    /// needs.)
    #[cfg(Py_3_11)]
    Monitor(Py<Monitor>),
    /// Uses probes, before 3.12.
    Prober(Py<Prober>),
}

impl Observer {
    /// Starts to observe, and stops the previous observer: two of them would change the same code,
    /// and tool ids are scarce.
    pub(crate) fn start(python: Python<'_>) -> PyResult<Observer> {
        let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = latest.take() {
            before.stop(python)?;
        }
        let observer = Observer::new(python)?;
        *latest = Some(observer.clone_handle(python));
        Ok(observer)
    }

    /// Returns another handle to the same observer.
    fn clone_handle(&self, python: Python<'_>) -> Observer {
        match self {
            #[cfg(Py_3_11)]
            Observer::Monitor(monitor) => Observer::Monitor(monitor.clone_ref(python)),
            Observer::Prober(prober) => Observer::Prober(prober.clone_ref(python)),
        }
    }

    /// Creates the observer that suits the interpreter.
    fn new(python: Python<'_>) -> PyResult<Observer> {
        match python.version_info().minor {
            // The instructions and tracing rules of newer versions are not implemented yet.
            14.. => Err(PyRuntimeError::new_err(
                "this version of Python is too new, use 3.9 to 3.13",
            )),
            #[cfg(Py_3_11)]
            12.. => Monitor::install(python).map(Observer::Monitor),
            _ => Prober::start(python).map(Observer::Prober),
        }
    }

    /// Returns the Python function that takes the code of a module and returns it under
    /// observation.
    pub(crate) fn observe_module<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            #[cfg(Py_3_11)]
            Observer::Monitor(monitor) => monitor.bind(python).getattr("observe_module"),
            Observer::Prober(prober) => prober.bind(python).getattr("observe_module"),
        }
    }

    /// Runs `work` with the record.
    pub(crate) fn with_record<R>(&self, work: impl FnOnce(&mut CoverageRecord) -> R) -> R {
        match self {
            #[cfg(Py_3_11)]
            Observer::Monitor(monitor) => monitor.get().with_record(work),
            Observer::Prober(prober) => prober.get().with_record(work),
        }
    }

    /// Clears the current coverage, and observes all points again.
    pub(crate) fn reset(&self, python: Python<'_>) -> PyResult<()> {
        match self {
            #[cfg(Py_3_11)]
            Observer::Monitor(monitor) => monitor.get().reset(python),
            Observer::Prober(prober) => {
                prober.get().reset(python);
                Ok(())
            }
        }
    }

    /// Stops observing.
    pub(crate) fn stop(&self, python: Python<'_>) -> PyResult<()> {
        match self {
            #[cfg(Py_3_11)]
            Observer::Monitor(monitor) => monitor.get().stop(python),
            Observer::Prober(prober) => {
                prober.get().stop(python);
                Ok(())
            }
        }
    }
}
