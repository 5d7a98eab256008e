//! Tests as text or bytes, and back.

use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyFileNotFoundError, PyKeyError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList};
use testwright_core::{ActionId, Step, bytes, saved};
use testwright_core::{describe_os_error, generate::SwarmOptions};

use super::choosing::random_stream;
use super::{Sut, to_py_error};
use crate::action::PyAction;

/// The separator that TSTL puts between the steps of a test in one line.
const SEPARATOR: &str = "#!#!";

#[pymethods]
impl Sut {
    /// Saves a test: text, an action a line; or with `afl` bytes, as `test_to_bytes` makes them.
    ///
    ///     >>> sut.save_test(test[:3], "failure.test")
    ///     >>> print(Path("failure.test").read_text(), end="")
    ///     # testwright test 1
    ///     # harness: stack.tstl
    ///     stack0 = stack.Stack()
    ///     int0 = 3
    ///     stack0.push(int0)
    #[pyo3(signature = (test, filename, afl = false))]
    fn save_test(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        filename: PathBuf,
        afl: bool,
    ) -> PyResult<()> {
        if !afl {
            return Sut::write_test(slf, &Sut::core_test(slf, test)?, &filename);
        }
        let data = Sut::test_bytes(slf, test)?;
        std::fs::write(&filename, data).map_err(|error| io_error("write", &filename, &error))
    }

    /// Loads a test. A line that the harness does not know is a `KeyError`. With `afl` it is bytes, which
    /// `bytes_to_test` reads.
    ///
    ///     >>> sut.save_test(test, "failure.test")
    ///     >>> sut.load_test("failure.test") == test
    ///     True
    #[pyo3(signature = (filename, afl = false, swarm = false))]
    fn load_test<'py>(
        slf: &Bound<'py, Sut>,
        filename: PathBuf,
        afl: bool,
        swarm: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        if afl {
            let data =
                std::fs::read(&filename).map_err(|error| io_error("read", &filename, &error))?;
            return Sut::test_from_bytes(slf, &data, swarm);
        }
        let text = std::fs::read_to_string(&filename)
            .map_err(|error| io_error("read", &filename, &error))?;
        let read = saved::read(&Sut::borrow(slf)?.catalog, &text);
        let saved = read.map_err(|problems| {
            let first = problems.first();
            let message = first.map_or_else(String::new, |problem| {
                let help = problem.help.as_ref().map(|help| format!(" ({help})"));
                format!(
                    "{}, line {}: {}: `{}`{}",
                    filename.display(),
                    problem.line,
                    problem.message,
                    problem.text,
                    help.unwrap_or_default()
                )
            });
            PyKeyError::new_err(message)
        })?;
        let resolved = Sut::with(slf, |system| saved.resolve(system))?;
        Sut::restart(slf)?;
        Sut::python_test(slf, &resolved.map_err(|error| to_py_error(&error))?)
    }

    /// The line of a saved test for a step.
    ///
    ///     >>> sut.serializable(test[2])
    ///     'self.p_stack[0].push(self.p_int[0]) '
    fn serializable(slf: &Bound<'_, Sut>, step: &Bound<'_, PyAny>) -> PyResult<String> {
        let action = Sut::python_action(slf, step)?;
        let action = action.get();
        let name = action.name(slf.py())?;
        Ok(match &action.note {
            Some(note) => format!("{name};;;{note}"),
            None => name,
        })
    }

    /// The step for a line of a saved test; a `KeyError` if the harness does not know it.
    ///
    ///     >>> sut.playable("stack0.push(int0)")
    ///     <stack0.push(int0)>
    ///     >>> sut.playable("self.p_stack[0].push(self.p_int[0])")
    ///     <stack0.push(int0)>
    ///     >>> sut.playable("stack0.peek()")
    ///     Traceback (most recent call last):
    ///         ...
    ///     KeyError: 'stack0.peek()'
    fn playable<'py>(slf: &Bound<'py, Sut>, text: &str) -> PyResult<Bound<'py, PyAction>> {
        let step = Sut::borrow(slf)?.playable_step(text)?;
        let note = text
            .split_once(";;;")
            .map(|(_, note)| note.trim().to_owned());
        Sut::action(slf, step, note.filter(|note| !note.is_empty()))
    }

    /// A whole test as one line of text.
    ///
    ///     >>> sut.capture_replay(test[:3])
    ///     'self.p_stack[0] = stack.Stack() #!#!self.p_int[0] = 3 #!#!self.p_stack[0].push(self.p_int[0]) '
    fn capture_replay(slf: &Bound<'_, Sut>, test: &Bound<'_, PyAny>) -> PyResult<String> {
        let steps = test.try_iter()?;
        let lines = steps.map(|step| Sut::serializable(slf, &step?));
        Ok(lines.collect::<PyResult<Vec<_>>>()?.join(SEPARATOR))
    }

    /// The test that `capture_replay` made a text of.
    ///
    ///     >>> sut.replayable(sut.capture_replay(test)) == test
    ///     True
    fn replayable<'py>(slf: &Bound<'py, Sut>, text: &str) -> PyResult<Bound<'py, PyList>> {
        let lines = text.split(SEPARATOR).filter(|line| !line.is_empty());
        let steps: Vec<Step> = lines
            .map(|line| Sut::borrow(slf)?.playable_step(line))
            .collect::<PyResult<_>>()?;
        Sut::python_test(slf, &testwright_core::Test::from_steps(steps))
    }

    /// A test as bytes for a fuzzer: for each step its place in `actions()`, in one, two or four bytes.
    ///
    ///     >>> sut.test_to_bytes(test)
    ///     b'\x06\x02\x07\x04\t\x0c'
    fn test_to_bytes<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(slf.py(), &Sut::test_bytes(slf, test)?))
    }

    /// The test that bytes stand for. With `swarm`, the first four are the seed of a `standard_swarm`, which is made
    /// before the places are looked up.
    ///
    ///     >>> sut.bytes_to_test(b"\x06\x0c")
    ///     Test([<stack0 = stack.Stack()>, <stack0.top()>])
    #[pyo3(signature = (data, swarm = false))]
    fn bytes_to_test<'py>(
        slf: &Bound<'py, Sut>,
        data: PyBackedBytes,
        swarm: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        Sut::test_from_bytes(slf, &data, swarm)
    }
}

impl Sut {
    /// Decodes a test.
    fn test_from_bytes<'py>(
        slf: &Bound<'py, Sut>,
        mut data: &[u8],
        swarm: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        if swarm {
            let Some((seed, rest)) = data.split_first_chunk::<4>() else {
                return Err(PyValueError::new_err(
                    "with a swarm, the first four bytes are its seed, but there are fewer",
                ));
            };
            // A script would make the same swarm in this way.
            let module = slf.py().import("random")?;
            let rgen = module.call_method1("Random", (u32::from_le_bytes(*seed),))?;
            let mut random = random_stream(slf.py(), Some(&rgen))?;
            Sut::draw_swarm(slf, &SwarmOptions::default(), &mut random)?;
            data = rest;
        }
        let on: Vec<ActionId> = Sut::borrow(slf)?.switched_on_actions().collect();
        let width = bytes::width(on.len() as u64);
        let indices = bytes::read(data, width, on.len() as u64);
        let steps = indices.filter_map(|index| on.get(index as usize));
        let steps = steps.copied().map(Step::Act).collect();
        Sut::python_test(slf, &testwright_core::Test::from_steps(steps))
    }

    /// Saves a test as text.
    pub(super) fn write_test(
        slf: &Bound<'_, Sut>,
        test: &testwright_core::Test,
        filename: &Path,
    ) -> PyResult<()> {
        let text = {
            let sut = Sut::borrow(slf)?;
            let harness = sut.path.file_name().unwrap_or_default().to_string_lossy();
            let notes = [(String::from("harness"), harness.into_owned())];
            saved::write(&sut.catalog, test, &notes)
        };
        std::fs::write(filename, text).map_err(|error| io_error("write", filename, &error))
    }

    /// Encodes a test.
    fn test_bytes(slf: &Bound<'_, Sut>, test: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        let test = Sut::core_test(slf, test)?;
        let sut = Sut::borrow(slf)?;
        let on: Vec<ActionId> = sut.switched_on_actions().collect();
        let index = |step: &Step| {
            let index = match step {
                Step::Act(action) => on.binary_search(action).ok(),
                Step::Restart => None,
            };
            index.map(|index| index as u64).ok_or_else(|| {
                PyValueError::new_err(
                    "only steps that are in `actions()` can be bytes, and restarts cannot (`enable_all()` switches all actions on)",
                )
            })
        };
        let indices: Vec<u64> = test.steps.iter().map(index).collect::<PyResult<_>>()?;
        Ok(bytes::write(indices, bytes::width(on.len() as u64)))
    }
}

/// Converts an error of the file system to an exception.
fn io_error(operation: &str, file: &Path, error: &std::io::Error) -> PyErr {
    let message = format!(
        "cannot {operation} `{}`: {}",
        file.display(),
        describe_os_error(&error)
    );
    match error.kind() {
        std::io::ErrorKind::NotFound => PyFileNotFoundError::new_err(message),
        _ => PyOSError::new_err(message),
    }
}
