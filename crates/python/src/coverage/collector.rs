//! Collection of coverage, from the first import to the report.

use std::collections::BTreeSet;
use std::ffi::{CString, OsString};
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyModule;
use testwright_core::{Coverage, Error, TargetId};

use super::flow::Arc;
use super::observer::Observer;
use crate::Interpreter;
use crate::failures::RaisedException;

/// The modules to observe.
#[derive(Clone, Debug, Default)]
pub struct SourceSelection {
    /// Files, folders or modules, as given by the user. If empty, everything is observed that is
    /// neither installed nor part of the standard library.
    pub names: Vec<String>,
    /// Modules to observe in that case even if they are installed.
    pub imports: Vec<String>,
    /// The folder that names are relative to.
    pub folder: PathBuf,
    /// The folder in which modules are found first, if it is not on the interpreter's path yet.
    pub first_on_path: Option<PathBuf>,
}

/// Observes modules under test, from the time they are imported.
pub struct Collector<'py> {
    python: Python<'py>,
    /// Observes the code.
    observer: Observer,
    /// The module made from `observe.py`.
    support: Bound<'py, PyModule>,
    /// The import hook.
    finder: Bound<'py, PyAny>,
}

/// A file under observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredFile {
    /// Its absolute path.
    pub path: PathBuf,
    /// The lines that have code.
    pub lines: BTreeSet<u32>,
}

/// The end of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramExit {
    /// Its exit status.
    pub status: u8,
}

impl<'py> Collector<'py> {
    /// Starts to observe: selected modules are measured when they are imported.
    pub fn start(
        interpreter: Interpreter<'py>,
        selection: &SourceSelection,
    ) -> Result<Collector<'py>, Error> {
        let python = interpreter.0;
        Collector::new(python, selection).map_err(|error| {
            let cause = RaisedException::new(python, &error).summary();
            Error::new(format!("coverage cannot be measured: {cause}"))
        })
    }

    fn new(python: Python<'py>, selection: &SourceSelection) -> PyResult<Collector<'py>> {
        let code = CString::new(include_str!("observe.py"))?;
        let support = PyModule::from_code(
            python,
            &code,
            c"testwright/observe.py",
            c"testwright_observe",
        )?;
        let arguments = (
            &selection.names,
            &selection.imports,
            &selection.folder,
            &selection.first_on_path,
        );
        let sources = support.call_method1("Sources", arguments)?;
        let observer = Observer::start(python)?;
        let observe = observer.observe_module(python)?;
        let finder = support.call_method1("install", (&sources, observe))?;
        sources.call_method0("forget_loaded")?;
        Ok(Collector {
            python,
            observer,
            support,
            finder,
        })
    }

    /// Returns the names in the selection that are no file, folder or module.
    pub fn unknown_names(&self) -> Vec<String> {
        let sources = self.finder.getattr("sources");
        sources
            .and_then(|sources| sources.getattr("unknown")?.extract())
            .unwrap_or_default()
    }

    /// Returns the Python function that makes code observed which is not imported, such as the raw
    /// code of a harness.
    pub(crate) fn observer(&self) -> PyResult<Bound<'py, PyAny>> {
        self.finder.getattr("observed")
    }

    /// Returns the files under observation.
    pub fn files(&self) -> Vec<MeasuredFile> {
        self.observer.with_record(|record| {
            let files = record.files().iter().zip(record.lines());
            files
                .map(|(path, lines)| MeasuredFile {
                    path: path.clone(),
                    lines: lines.clone(),
                })
                .collect()
        })
    }

    /// Returns everything reached since the start.
    pub fn all(&self) -> Coverage {
        self.observer.with_record(|record| record.all.clone())
    }

    /// Returns everything reached since [`Collector::reset_current`].
    pub fn current(&self) -> Coverage {
        self.observer.with_record(|record| record.current.clone())
    }

    /// Takes the targets reached for the first time since the last call of this method.
    pub fn take_new(&self) -> Vec<TargetId> {
        self.observer
            .with_record(|record| std::mem::take(&mut record.fresh))
    }

    /// Resets the current coverage, so that points reached before are observed again.
    pub fn reset_current(&self) -> Result<(), Error> {
        self.observer
            .reset(self.python)
            .map_err(|error| Error::new(error.to_string()))
    }

    /// Stops counting what is reached.
    pub fn pause(&self) {
        self.observer.with_record(|record| record.is_paused = true);
    }

    /// Counts again what is reached.
    pub fn resume(&self) -> Result<(), Error> {
        let current = self.observer.with_record(|record| {
            record.is_paused = false;
            record.current.clone()
        });
        // Points reached in the meantime are no longer observed, so all of them are reset.
        self.reset_current()?;
        self.observer.with_record(|record| record.current = current);
        Ok(())
    }

    /// Forgets everything that was reached.
    pub fn forget_all(&self) -> Result<(), Error> {
        self.observer.with_record(|record| {
            record.all.clear();
            record.fresh.clear();
        });
        self.reset_current()
    }

    /// Returns the index in [`Collector::files`] of the file of a target, and its arc.
    pub fn file_and_arc(&self, target: TargetId) -> (usize, Arc) {
        self.observer.with_record(|record| {
            let (file, arc) = record.file_and_arc(target);
            (file as usize, arc)
        })
    }

    /// Runs a program to its end as the interpreter would: a file or a module, with arguments.
    pub fn run_program(&self, words: &[OsString], is_module: bool) -> Result<ProgramExit, Error> {
        let run = || -> PyResult<ProgramExit> {
            let arguments = (&self.finder, words, is_module);
            let status = self.support.call_method1("run_program", arguments)?;
            let status: i64 = status.extract()?;
            // Truncated to a byte, as by the operating system.
            let status = status as u8;
            Ok(ProgramExit { status })
        };
        run().map_err(|error| Error::new(RaisedException::new(self.python, &error).summary()))
    }
}

impl Drop for Collector<'_> {
    fn drop(&mut self) {
        // A failure here has no consequences.
        let _uninstalled = self.support.call_method1("uninstall", (&self.finder,));
        let _stopped = self.observer.stop(self.python);
    }
}
