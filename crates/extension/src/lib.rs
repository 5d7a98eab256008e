//! `testwright._native`: the module that the wheel ships. `Sut` is a harness as an
//! object for scripts and notebooks; `main` runs the command line.

#![allow(
    rustdoc::invalid_rust_codeblocks,
    reason = "comments of methods are docstrings, with examples in Python"
)]

mod action;
mod borrowed_sut;
mod models;
mod state;
mod sut;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use testwright_cli::Terminal;
use testwright_python::recorder::{self, CaptureOptions, ProjectScope};

create_exception!(
    testwright,
    HarnessError,
    PyException,
    "Something in the text of a harness is wrong; the message shows what, where, and the way out.

    >>> size = Path(\"wrong.tstl\").write_text(\"<x> := 1\")
    >>> testwright.load(\"wrong.tstl\")
    Traceback (most recent call last):
        ...
    testwright.HarnessError: 1 error
    ...
      = help: declare it with `pool: <x> 2`...
"
);

/// The Python module.
#[pymodule(gil_used = true)]
mod _native {
    use super::*;

    #[pymodule_export]
    use crate::action::PyAction;
    #[pymodule_export]
    use crate::state::PyState;
    #[pymodule_export]
    use crate::sut::Sut;

    /// Runs the command line with these arguments (without the program's name) and returns its exit status.
    /// Its output goes to the process's standard output, past `sys.stdout`.
    ///
    ///     >>> testwright.main(["check", "stack.tstl"])
    ///     0
    #[pyfunction]
    fn main(argv: Vec<OsString>) -> u8 {
        // While a system under test runs, descriptors 1 and 2 are its own; our output goes to
        // duplicates of them.
        let out = duplicate(io::stdout());
        let err = duplicate(io::stderr());
        let (out, err) = (out.as_ref(), err.as_ref());
        let terminal = Terminal::detect(out, err);
        let status = testwright_cli::run(argv, &mut *writer(out), &mut *writer(err), terminal);
        status.code()
    }

    /// See `testwright.capture.start`.
    #[pyfunction]
    fn start_capture(
        python: Python<'_>,
        folder: PathBuf,
        name: String,
        modules: Vec<String>,
        folders: Vec<PathBuf>,
        command: Vec<String>,
    ) -> PyResult<()> {
        let scope = ProjectScope { modules, folders };
        let capture = CaptureOptions {
            folder,
            name,
            scope,
            command,
        };
        recorder::start(python, capture)
    }

    /// See `testwright.capture.stop`.
    #[pyfunction]
    fn stop_capture(python: Python<'_>) -> PyResult<Option<String>> {
        let path = recorder::stop(python)?;
        Ok(path.map(|path| path.to_string_lossy().into_owned()))
    }

    /// See `testwright.capture.recorded`: the units as JSON.
    #[pyfunction]
    fn recorded_units(folder: PathBuf, name: Option<&str>, limit: usize) -> PyResult<String> {
        let loaded = testwright_capture::store::load(&folder)?;
        let found = testwright_capture::export::find_units(&loaded.recording, name);
        Ok(testwright_capture::export::export_units(&loaded.recording, &found, limit).to_string())
    }

    /// See `testwright.models.replay`.
    #[pyfunction]
    #[expect(
        clippy::too_many_arguments,
        reason = "these are the arguments of the Python function"
    )]
    fn replay_models<'py>(
        python: Python<'py>,
        models: Vec<String>,
        stepper: &str,
        steps: Vec<(String, Bound<'py, PyTuple>)>,
        timeout: f64,
        run: usize,
        tries: usize,
        check: bool,
    ) -> PyResult<Option<(String, String)>> {
        let settings = crate::models::ModelReplay {
            timeout,
            run,
            tries,
            check,
        };
        crate::models::replay(python, &models, stepper, &steps, &settings)
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("HarnessError", module.py().get_type::<HarnessError>())?;
        module.add("__version__", testwright_cli::VERSION)
    }
}

/// Duplicates the descriptor of a standard stream; `None` if the stream is closed.
fn duplicate(stream: impl AsFd) -> Option<File> {
    let descriptor = stream.as_fd().try_clone_to_owned().ok()?;
    Some(File::from(descriptor))
}

/// Returns a writer for a stream; without a stream, the output is discarded.
fn writer(stream: Option<&File>) -> Box<dyn Write + '_> {
    match stream {
        Some(file) => Box::new(file),
        None => Box::new(io::sink()),
    }
}
