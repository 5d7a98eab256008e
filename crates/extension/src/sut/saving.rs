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
    /// Saves a test: text, an action a line; or with `afl` bytes, as `test_to_bytes` makes them. The text notes the
    /// options that the harness was loaded with.
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

    /// Loads a test. A line that the harness does not know is a `KeyError`. A test that was made with other options, or
    /// with models, is a `ValueError` that names them. With `afl` it is bytes, which `bytes_to_test` reads.
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
        Sut::borrow(slf)?.expect_setup(&filename, &text)?;
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
            let mut notes = vec![(String::from("harness"), harness.into_owned())];
            notes.extend(sut.setup_notes());
            saved::write(&sut.catalog, test, &notes)
        };
        std::fs::write(filename, text).map_err(|error| io_error("write", filename, &error))
    }

    /// Returns the notes from which the options of this harness can be restored, as commands write
    /// them.
    fn setup_notes(&self) -> Vec<(String, String)> {
        let note = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let scenarios = self.scenarios.iter();
        let mut notes: Vec<_> = scenarios.map(|name| note("scenario", name)).collect();
        let mut options = Vec::new();
        if self.reference_exceptions != "both" {
            options.extend(["--reference-exceptions", &self.reference_exceptions]);
        }
        if self.checks != "all" {
            options.extend(["--checks", &self.checks]);
        }
        options.extend((!self.resets_modules).then_some("--no-reset"));
        if !options.is_empty() {
            notes.push(note("options", &options.join(" ")));
        }
        notes
    }

    /// Fails if a test was made with other options than this harness was loaded with, or with
    /// something that only commands have.
    fn expect_setup(&self, file: &Path, text: &str) -> PyResult<()> {
        let is_setup = |(name, _): &(String, String)| {
            ["scenario", "options", "stepper", "limits", "env"].contains(&name.as_str())
        };
        let mut noted: Vec<(String, String)> = saved::notes(text);
        noted.retain(is_setup);
        // Scripts decide themselves whether properties are checked, and how long they wait.
        for (name, value) in &mut noted {
            let rest = match name.as_str() {
                "limits" => value
                    .split("--step-timeout")
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
                "options" => value.replace("--no-check", ""),
                "env" if is_set(value) => String::new(),
                _ => continue,
            };
            *value = rest.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        noted.retain(|(_, value)| !value.is_empty());
        let own = self.setup_notes();
        if noted == own {
            return Ok(());
        }
        let words = |notes: &[(String, String)]| match notes {
            [] => "no options".to_owned(),
            notes => {
                let each = notes
                    .iter()
                    .map(|(name, value)| format!("{name} `{value}`"));
                each.collect::<Vec<_>>().join(", ")
            }
        };
        Err(PyValueError::new_err(format!(
            "{} was made with {}, but this harness was loaded with {}: load it with the same ones \
             (`reset_modules`, `reference_exceptions`, `checks`, `scenarios`), or use `testwright replay`",
            file.display(),
            words(&noted),
            words(&own)
        )))
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

/// Returns true if a variable `NAME=VALUE` has this value.
fn is_set(variable: &str) -> bool {
    let pair = variable.split_once('=');
    pair.is_some_and(|(name, value)| std::env::var(name).is_ok_and(|here| here == value))
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
