//! The process as a system under test finds it, and as it is put back: directory, streams, signals, chance.

use std::io::{self, PipeWriter};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyModule;

use crate::Process;
use crate::chance::Chance;
use crate::forked;
use crate::interrupt;
use crate::output::{Output, Redirection};
use crate::surroundings::Surroundings;

/// What a system under test may change in its process. Dropping it gives everything back to the tool.
pub(crate) struct Stage<'py> {
    /// Its Python half, which puts things back.
    keeper: Bound<'py, PyAny>,
    /// What there is to look at before anything is put back.
    surroundings: Surroundings<'py>,
    chance: Chance<'py>,
    redirection: Redirection,
    /// Where the interpreter announces signals, as long as the stage stands; nowhere in a worker.
    _signals: Option<PipeWriter>,
}

impl<'py> Stage<'py> {
    pub(crate) fn start(
        support: &Bound<'py, PyModule>,
        output: Output,
        whose: Process,
    ) -> PyResult<Stage<'py>> {
        let redirection = Redirection::start(output)?;
        let handler = interrupt::handler(support.py())?;
        let signals = match whose {
            Process::OfAWorker => {
                forked::recognise_all();
                None
            }
            _ => Some(interrupt::listen(&redirection)?),
        };
        let announced_on = signals.as_ref().map(AsRawFd::as_raw_fd);
        let keeper = support.getattr("Surroundings")?.call1((
            handler,
            announced_on,
            forked::in_child(support.py())?,
        ))?;
        keeper.call_method0("restore")?;
        let has_signals = keeper.getattr("own_handlers")?.is_truthy()?;
        let surroundings = Surroundings::new(
            support.py(),
            &keeper.getattr("directory")?.extract::<PathBuf>()?,
            has_signals.then_some(announced_on),
        )?;
        Ok(Stage {
            keeper,
            surroundings,
            chance: Chance::new(support.py())?,
            redirection,
            _signals: signals,
        })
    }

    /// Puts everything back to how it was at the start.
    pub(crate) fn restore(&mut self) -> PyResult<()> {
        self.redirection.renew();
        if !self.surroundings.are_unchanged() {
            self.keeper.call_method0("restore")?;
            self.surroundings.renew_streams()?;
        }
        self.chance.put_back()
    }

    /// Lets the system run in another folder from now on. What it was told to look for relative to the current one is
    /// found there still.
    pub(crate) fn move_to(&mut self, folder: &Path) -> PyResult<()> {
        self.keeper.call_method1("move_to", (folder,))?;
        self.surroundings.set_directory(folder)
    }

    /// The folder that was the current one at the start.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        self.keeper.getattr("directory").ok()?.extract().ok()
    }

    /// Writes out what the system has printed so far.
    pub(crate) fn flush(&self) {
        let _streams_may_be_broken = self.keeper.call_method0("flush");
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
        let _nobody_left_to_tell = self.keeper.call_method0("end");
    }
}
