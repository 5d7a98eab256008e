//! The process state that a system under test sees, and its restoration: directory, streams,
//! signals, random numbers.

use std::io::{self, PipeWriter};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyModule;

use crate::ProcessOwner;
use crate::forking;
use crate::interrupt;
use crate::output::{OutputMode, Redirection};
use crate::process_snapshot::ProcessSnapshot;
use crate::random_module::RandomModule;

/// The process state that a system under test may change. Dropping it returns everything to the
/// tool.
pub(crate) struct ProcessState<'py> {
    /// The Python object that restores things.
    restorer: Bound<'py, PyAny>,
    /// The snapshot that shows whether anything has to be restored.
    snapshot: ProcessSnapshot<'py>,
    /// The generator of the `random` module.
    random: RandomModule<'py>,
    /// The redirected standard descriptors.
    redirection: Redirection,
    /// The pipe on which the interpreter announces signals; `None` in a worker.
    _signals: Option<PipeWriter>,
}

impl<'py> ProcessState<'py> {
    /// Takes over the process for a system under test.
    pub(crate) fn start(
        support: &Bound<'py, PyModule>,
        output: OutputMode,
        owner: ProcessOwner,
    ) -> PyResult<ProcessState<'py>> {
        let redirection = Redirection::start(output)?;
        let handler = interrupt::handler(support.py())?;
        let signals = match owner {
            ProcessOwner::Worker => {
                forking::detect_all_forks();
                None
            }
            _ => Some(interrupt::start_listener(&redirection)?),
        };
        let descriptor = signals.as_ref().map(AsRawFd::as_raw_fd);
        let restorer = support.getattr("ProcessRestorer")?.call1((
            handler,
            descriptor,
            forking::child_hook(support.py())?,
        ))?;
        restorer.call_method0("restore")?;
        let has_signals = restorer.getattr("own_handlers")?.is_truthy()?;
        let snapshot = ProcessSnapshot::new(
            support.py(),
            &restorer.getattr("directory")?.extract::<PathBuf>()?,
            has_signals.then_some(descriptor),
        )?;
        Ok(ProcessState {
            restorer,
            snapshot,
            random: RandomModule::new(support.py())?,
            redirection,
            _signals: signals,
        })
    }

    /// Restores everything to the state at the start.
    pub(crate) fn restore(&mut self) -> PyResult<()> {
        self.redirection.reapply();
        if !self.snapshot.is_unchanged() {
            self.restorer.call_method0("restore")?;
            self.snapshot.renew_streams()?;
        }
        self.random.restore()
    }

    /// Returns the generator of the `random` module.
    pub(crate) fn random(&self) -> &RandomModule<'py> {
        &self.random
    }

    /// Makes another folder the current one from now on. Relative search paths keep their meaning.
    pub(crate) fn move_to(&mut self, folder: &Path) -> PyResult<()> {
        self.restorer.call_method1("move_to", (folder,))?;
        self.snapshot.set_directory(folder)
    }

    /// Returns the folder that was the current one at the start.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        self.restorer.getattr("directory").ok()?.extract().ok()
    }

    /// Writes out the system's buffered output.
    pub(crate) fn flush(&self) {
        let _streams_may_be_broken = self.restorer.call_method0("flush");
    }

    /// Takes the output captured since the last call.
    pub(crate) fn take_output(&mut self) -> String {
        self.flush();
        self.redirection.take()
    }

    /// Changes the handling of output.
    pub(crate) fn set_output(&mut self, output: OutputMode) -> io::Result<()> {
        self.flush();
        self.redirection.set(output)
    }
}

impl Drop for ProcessState<'_> {
    fn drop(&mut self) {
        let _error_is_ignored = self.restorer.call_method0("end");
    }
}
