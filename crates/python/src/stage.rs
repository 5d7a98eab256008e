//! The process as a system under test finds it, and as it is put back: directory, streams, signals, chance.

use std::io::{self, PipeWriter};
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyModule;

use crate::forked;
use crate::interrupt;
use crate::output::{Output, Redirection};

/// What a system under test may change in its process. Dropping it gives everything back to the tool.
pub(crate) struct Stage<'py> {
    surroundings: Bound<'py, PyAny>,
    redirection: Redirection,
    /// Where the interpreter announces signals, as long as the stage stands.
    _signals: PipeWriter,
}

impl<'py> Stage<'py> {
    pub(crate) fn start(support: &Bound<'py, PyModule>, output: Output) -> PyResult<Stage<'py>> {
        let redirection = Redirection::start(output)?;
        let handler = interrupt::handler(support.py())?;
        let signals = interrupt::listen(&redirection)?;
        let surroundings = support.getattr("Surroundings")?.call1((
            handler,
            signals.as_raw_fd(),
            forked::in_child(support.py())?,
        ))?;
        let stage = Stage {
            surroundings,
            redirection,
            _signals: signals,
        };
        stage.restore()?;
        Ok(stage)
    }

    /// Puts everything back to how it was at the start.
    pub(crate) fn restore(&self) -> PyResult<()> {
        self.redirection.renew();
        self.surroundings.call_method0("restore").map(|_| ())
    }

    /// The folder that was the current one at the start.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        self.surroundings.getattr("directory").ok()?.extract().ok()
    }

    /// Writes out what the system has printed so far.
    pub(crate) fn flush(&self) {
        let _streams_may_be_broken = self.surroundings.call_method0("flush");
    }

    /// What was captured since the last call.
    pub(crate) fn take_output(&mut self) -> String {
        self.flush();
        self.redirection.take()
    }

    pub(crate) fn set_output(&mut self, output: Output) -> io::Result<()> {
        self.flush();
        self.redirection.set(output)
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        let _nobody_left_to_tell = self.surroundings.call_method0("end");
    }
}
