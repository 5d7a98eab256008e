//! Coverage from the first import to the report.

use std::collections::BTreeSet;
use std::ffi::{CString, OsString};
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyModule;
use testwright_core::{Coverage, Error, TargetId};

use super::flow::Arc;
use super::observer::Observer;
use crate::Interpreter;
use crate::failures::Raised;

/// Which modules to observe.
#[derive(Clone, Debug, Default)]
pub struct SourceChoice {
    /// Files, folders or modules, as people write them. If empty, everything is observed that is neither part of the
    /// standard library nor installed.
    pub names: Vec<String>,
    /// Modules to observe in that case even if they are installed.
    pub imports: Vec<String>,
    /// What the names are relative to.
    pub folder: PathBuf,
    /// Where modules are found first, if that is not known to the interpreter yet.
    pub first_on_path: Option<PathBuf>,
}

/// Observes modules under test, from the time they are imported.
pub struct Collector<'py> {
    python: Python<'py>,
    observer: Observer,
    support: Bound<'py, PyModule>,
    finder: Bound<'py, PyAny>,
}

/// A file under observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredFile {
    /// Its whole path.
    pub path: PathBuf,
    /// The lines that its code mentions.
    pub lines: BTreeSet<u32>,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its exit status.
    pub status: u8,
}

impl<'py> Collector<'py> {
    /// Starts to observe: from now on, modules that are imported and chosen are measured.
    pub fn start(
        interpreter: Interpreter<'py>,
        choice: &SourceChoice,
    ) -> Result<Collector<'py>, Error> {
        let python = interpreter.0;
        Collector::new(python, choice).map_err(|error| {
            let cause = Raised::new(python, &error).summary();
            Error::new(format!("coverage cannot be measured: {cause}"))
        })
    }

    fn new(python: Python<'py>, choice: &SourceChoice) -> PyResult<Collector<'py>> {
        let code = CString::new(include_str!("observe.py"))?;
        let support = PyModule::from_code(
            python,
            &code,
            c"testwright/observe.py",
            c"testwright_observe",
        )?;
        let arguments = (
            &choice.names,
            &choice.imports,
            &choice.folder,
            &choice.first_on_path,
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

    /// Names in the choice that are no file, folder or module.
    pub fn unknown_names(&self) -> Vec<String> {
        let sources = self.finder.getattr("sources");
        sources
            .and_then(|sources| sources.getattr("unknown")?.extract())
            .unwrap_or_default()
    }

    /// Makes code objects that are observed of code that is not imported, such as the raw code of a harness.
    pub(crate) fn observer(&self) -> PyResult<Bound<'py, PyAny>> {
        self.finder.getattr("observed")
    }

    /// The files under observation, with what is known of them.
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

    /// All that was ever reached.
    pub fn all(&self) -> Coverage {
        self.observer.with_record(|record| record.all.clone())
    }

    /// What was reached since [`Collector::begin_anew`].
    pub fn current(&self) -> Coverage {
        self.observer.with_record(|record| record.current.clone())
    }

    /// What was reached for the first time, since this was last asked.
    pub fn take_new(&self) -> Vec<TargetId> {
        self.observer
            .with_record(|record| std::mem::take(&mut record.fresh))
    }

    /// Begins a new count of what is reached: what was seen before is looked at again.
    pub fn begin_anew(&self) -> Result<(), Error> {
        self.observer
            .begin_anew(self.python)
            .map_err(|error| Error::new(error.to_string()))
    }

    /// From now on, what is reached does not count.
    pub fn pause(&self) {
        self.observer.with_record(|record| record.paused = true);
    }

    /// What is reached counts again.
    pub fn go_on(&self) -> Result<(), Error> {
        let current = self.observer.with_record(|record| {
            record.paused = false;
            record.current.clone()
        });
        // What was reached in the meantime is not looked at any more, so all of it has to be looked at again.
        self.begin_anew()?;
        self.observer.with_record(|record| record.current = current);
        Ok(())
    }

    /// Begins as if nothing had ever been reached.
    pub fn forget_all(&self) -> Result<(), Error> {
        self.observer.with_record(|record| {
            record.all.clear();
            record.fresh.clear();
        });
        self.begin_anew()
    }

    /// What a target stands for: the place of its file in [`Collector::files`], and the arc.
    pub fn meaning(&self, target: TargetId) -> (usize, Arc) {
        self.observer.with_record(|record| {
            let (file, arc) = record.meaning(target);
            (file as usize, arc)
        })
    }

    /// Runs a program, a file or a module with arguments, as the interpreter would, to its very end.
    pub fn run_program(&self, words: &[OsString], is_module: bool) -> Result<Ended, Error> {
        let run = || -> PyResult<Ended> {
            let arguments = (&self.finder, words, is_module);
            let status = self.support.call_method1("run_program", arguments)?;
            let status: i64 = status.extract()?;
            // As the operating system sees it.
            let status = status as u8;
            Ok(Ended { status })
        };
        run().map_err(|error| Error::new(Raised::new(self.python, &error).summary()))
    }
}

impl Drop for Collector<'_> {
    fn drop(&mut self) {
        // Nothing can be done about a failure here, and nothing depends on it.
        let _uninstalled = self.support.call_method1("uninstall", (&self.finder,));
        let _stopped = self.observer.stop(self.python);
    }
}
