//! Two ways to observe code, and which of them an interpreter has.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

#[cfg(Py_3_11)]
use super::monitoring::Monitor;
use super::probes::Prober;
use super::record::Record;

/// The observer that was started last.
static LATEST: Mutex<Option<Observer>> = Mutex::new(None);

/// What observes code objects.
pub(crate) enum Observer {
    /// Since 3.12. (It needs a function that is there since 3.11.)
    #[cfg(Py_3_11)]
    Monitor(Py<Monitor>),
    /// Before.
    Prober(Py<Prober>),
}

impl Observer {
    /// Starts to observe. Whoever observed before has seen enough: two that change the same code would get into each
    /// other's way, and there are few places for tools.
    pub(crate) fn start(python: Python<'_>) -> PyResult<Observer> {
        let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = latest.take() {
            before.stop(python)?;
        }
        let observer = Observer::new(python)?;
        *latest = Some(observer.another_handle(python));
        Ok(observer)
    }

    fn another_handle(&self, python: Python<'_>) -> Observer {
        match self {
            #[cfg(Py_3_11)]
            Observer::Monitor(monitor) => Observer::Monitor(monitor.clone_ref(python)),
            Observer::Prober(prober) => Observer::Prober(prober.clone_ref(python)),
        }
    }

    fn new(python: Python<'_>) -> PyResult<Observer> {
        match python.version_info().minor {
            // Its instructions, and its rules for telling of lines, have yet to be learnt.
            14.. => Err(PyRuntimeError::new_err(
                "this version of Python is too new, use 3.9 to 3.13",
            )),
            #[cfg(Py_3_11)]
            12.. => Monitor::install(python).map(Observer::Monitor),
            _ => Prober::start(python).map(Observer::Prober),
        }
    }

    /// The Python function that takes a module's code and returns it under observation.
    pub(crate) fn observe_module<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            #[cfg(Py_3_11)]
            Observer::Monitor(monitor) => monitor.bind(python).getattr("observe_module"),
            Observer::Prober(prober) => prober.bind(python).getattr("observe_module"),
        }
    }

    pub(crate) fn with_record<R>(&self, use_it: impl FnOnce(&mut Record) -> R) -> R {
        match self {
            #[cfg(Py_3_11)]
            Observer::Monitor(monitor) => monitor.get().with_record(use_it),
            Observer::Prober(prober) => prober.get().with_record(use_it),
        }
    }

    /// Sees everything again that was seen before.
    pub(crate) fn begin_anew(&self, python: Python<'_>) -> PyResult<()> {
        match self {
            #[cfg(Py_3_11)]
            Observer::Monitor(monitor) => monitor.get().begin_anew(python),
            Observer::Prober(prober) => {
                prober.get().begin_anew(python);
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
