//! Checks that a test always behaves in the same way.

use std::process::Command;
use testwright_core::describe_os_error;

use pyo3::exceptions::{PyException, PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::Sut;
use super::replaying::ReplaySettings;
use super::settings::{print, truthy};

/// The script of a new process: it runs a test and prints each step.
const REPLAY_SCRIPT: &str = "\
import json, sys
harness, text, path, references, delay = map(json.loads, sys.argv[1:])
sys.path[:] = path
import testwright
sut = testwright.load(harness, coverage=False, reference_exceptions=references)
sut.verbose_opaque(False)
sut.verbose(True)
sut.replay(sut.replayable(text), catch_uncaught=True, delay=delay)
";

#[pymethods]
impl Sut {
    /// Returns copies of the values of all pools that are not `OPAQUE`, or of the named pools only.
    ///
    ///     >>> sut.replay(test[:3])
    ///     True
    ///     >>> sut.trajectory_item()
    ///     [[3, None], [Stack([3])]]
    ///     >>> sut.trajectory_item(["stack"])
    ///     [[Stack([3])]]
    #[pyo3(signature = (pools = None))]
    fn trajectory_item<'py>(
        slf: &Bound<'py, Sut>,
        pools: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let values = Sut::with(slf, |system| {
            let wanted = |pool: &testwright_python::PoolValues<'py>| match &pools {
                Some(names) => names
                    .iter()
                    .any(|name| name.strip_prefix("self.p_").unwrap_or(name) == pool.name),
                None => !pool.opaque,
            };
            let chosen = system.pools().into_iter().filter(wanted);
            let values: Vec<Bound<'py, PyAny>> =
                chosen.map(|pool| pool.values.into_any()).collect();
            let list = PyList::new(slf.py(), values)?;
            system
                .copy(list.as_any())
                .map_err(|error| super::to_py_error(&error))
        })??;
        Ok(values.cast_into::<PyList>()?)
    }

    /// Returns true if the values at the end of a test differ between runs with and without delays after steps.
    ///
    /// Values that cannot be compared, because that raises, count as equal; with `report_equal_fail` it is raised.
    ///
    ///     >>> sut.nondeterministic(test[:3], delay=0)
    ///     False
    #[pyo3(signature = (test, delay = 1.0, delay0 = None, tries = 1, report_equal_fail = false, pools = None))]
    fn nondeterministic(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        delay: f64,
        delay0: Option<f64>,
        tries: u32,
        report_equal_fail: bool,
        pools: Option<Vec<String>>,
    ) -> PyResult<bool> {
        let last = |values: Vec<Py<PyList>>| values.into_iter().next_back();
        let settings = (tries, report_equal_fail);
        Sut::runs_differ(slf, test, (delay0, delay), settings, &pools, last)
    }

    /// Returns true if the values after any step of a test differ between runs with and without a delay after each step.
    ///
    ///     >>> sut.step_nondeterministic(test[:3], delay=0)
    ///     False
    #[pyo3(signature = (test, delay = 1.0, delay0 = None, tries = 1, report_equal_fail = false, pools = None))]
    fn step_nondeterministic(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        delay: f64,
        delay0: Option<f64>,
        tries: u32,
        report_equal_fail: bool,
        pools: Option<Vec<String>>,
    ) -> PyResult<bool> {
        let settings = (tries, report_equal_fail);
        Sut::runs_differ(slf, test, (delay0, delay), settings, &pools, |values| {
            values
        })
    }

    /// Runs a test in two new processes and compares the values before and after each step; the index of the first step
    /// that differs, or -1.
    ///
    /// Addresses in memory do not count, nor, with `ignore_exceptions`, do the texts of exceptions.
    ///
    ///     >>> sut.find_process_nondeterminism(test)
    ///     -1
    #[pyo3(signature = (test, ignore_exceptions = true, verbose = false, delay = None, tries = 1))]
    fn find_process_nondeterminism(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        ignore_exceptions: bool,
        #[pyo3(from_py_with = truthy)] verbose: bool,
        delay: Option<f64>,
        tries: u32,
    ) -> PyResult<i64> {
        for _ in 0..tries.max(1) {
            let run = || -> PyResult<Vec<String>> {
                let output = Sut::run_in_new_process(slf, test, delay)?;
                let kept = |line: &&str| !(ignore_exceptions && line.contains("RAISED "));
                Ok(output.lines().filter(kept).map(without_addresses).collect())
            };
            let (first, second) = (run()?, run()?);
            let mut step = -1;
            for index in 0..first.len().max(second.len()) {
                let (one, other) = (first.get(index), second.get(index));
                if one.is_some_and(|line| line.starts_with("ACTION: ")) {
                    step += 1;
                }
                if one != other {
                    if verbose {
                        let shown = |line: Option<&String>| line.cloned().unwrap_or_default();
                        let words = format!("step {step}: {}\nor: {}", shown(one), shown(other));
                        print(slf.py(), &words)?;
                    }
                    return Ok(step.max(0));
                }
            }
        }
        Ok(-1)
    }

    /// Does the same for the first step, then for more and more of the test: one more each time, or twice as many. What
    /// shows in a short test is easier to understand.
    ///
    ///     >>> sut.iterate_find_process_nondeterminism(test[:2])
    ///     -1
    #[pyo3(signature = (test, ignore_exceptions = true, verbose = false, double = false, delay = None, tries = 1))]
    fn iterate_find_process_nondeterminism(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        ignore_exceptions: bool,
        #[pyo3(from_py_with = truthy)] verbose: bool,
        double: bool,
        delay: Option<f64>,
        tries: u32,
    ) -> PyResult<i64> {
        let steps: Vec<Bound<'_, PyAny>> = test.try_iter()?.collect::<PyResult<_>>()?;
        let mut length = 1;
        loop {
            length = length.min(steps.len());
            let beginning = PyList::new(slf.py(), &steps[..length])?;
            let found = Sut::find_process_nondeterminism(
                slf,
                beginning.as_any(),
                ignore_exceptions,
                verbose,
                delay,
                tries,
            )?;
            if found >= 0 || length == steps.len() {
                return Ok(found);
            }
            length = if double { 2 * length } else { length + 1 };
        }
    }

    /// Returns true if a test does something else in another process; `iterate` tries beginnings of it first.
    ///
    ///     >>> sut.process_nondeterministic(test[:2])
    ///     False
    #[pyo3(signature = (test, ignore_exceptions = true, verbose = false, iterate = false, double = true, delay = None, tries = 1))]
    #[expect(
        clippy::too_many_arguments,
        reason = "TSTL has them all, most are by name"
    )]
    fn process_nondeterministic(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        ignore_exceptions: bool,
        #[pyo3(from_py_with = truthy)] verbose: bool,
        iterate: bool,
        double: bool,
        delay: Option<f64>,
        tries: u32,
    ) -> PyResult<bool> {
        let ignored = ignore_exceptions;
        let found = if iterate {
            Sut::iterate_find_process_nondeterminism(
                slf, test, ignored, verbose, double, delay, tries,
            )?
        } else {
            Sut::find_process_nondeterminism(slf, test, ignored, verbose, delay, tries)?
        };
        Ok(found >= 0)
    }
}

impl Sut {
    /// Returns true if the interesting values differ between the first run and any repetition.
    fn runs_differ<V>(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        (first, others): (Option<f64>, f64),
        (tries, report_equal_fail): (u32, bool),
        pools: &Option<Vec<String>>,
        interesting: impl Fn(Vec<Py<PyList>>) -> V,
    ) -> PyResult<bool>
    where
        V: IntoIterator<Item = Py<PyList>>,
    {
        let run = |delay: f64| -> PyResult<Vec<Py<PyList>>> {
            let settings = ReplaySettings {
                delay,
                ..ReplaySettings::default()
            };
            let mut values = Vec::new();
            Sut::run_with_callback(slf, test, settings, |slf| {
                values.push(Sut::trajectory_item(slf, pools.clone())?.unbind());
                Ok(())
            })?;
            Ok(interesting(values).into_iter().collect())
        };
        let before = run(first.unwrap_or(0.0))?;
        for _ in 0..tries.max(1) {
            let after = run(others)?;
            if before.len() != after.len() {
                return Ok(true);
            }
            for (one, other) in before.iter().zip(&after) {
                let equal = match one.bind(slf.py()).eq(other.bind(slf.py())) {
                    Err(error)
                        if report_equal_fail || !error.is_instance_of::<PyException>(slf.py()) =>
                    {
                        return Err(error);
                    }
                    answer => answer.unwrap_or(true),
                };
                if !equal {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Runs a test in a new process, and returns its output.
    fn run_in_new_process(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        delay: Option<f64>,
    ) -> PyResult<String> {
        let python = slf.py();
        let text: String = slf.call_method1("capture_replay", (test,))?.extract()?;
        let system = python.import("sys")?;
        let executable: std::path::PathBuf = system.getattr("executable")?.extract()?;
        let dumps = python.import("json")?.getattr("dumps")?;
        let mut command = Command::new(executable);
        command.args(["-c", REPLAY_SCRIPT]);
        let (path, references) = {
            let sut = Sut::borrow(slf)?;
            (sut.path.clone(), sut.reference_exceptions.clone())
        };
        let arguments = [
            path.to_string_lossy().into_pyobject(python)?.into_any(),
            text.into_pyobject(python)?.into_any(),
            system.getattr("path")?,
            references.into_pyobject(python)?.into_any(),
            delay.into_pyobject(python)?.into_any(),
        ];
        for argument in arguments {
            command.arg(dumps.call1((argument,))?.extract::<String>()?);
        }
        let output = python.detach(|| command.output()).map_err(|error| {
            PyOSError::new_err(format!(
                "cannot start a new process: {}",
                describe_os_error(&error)
            ))
        })?;
        python.check_signals()?;
        if !output.status.success() {
            let complaint = String::from_utf8_lossy(&output.stderr);
            let last = complaint.lines().last().unwrap_or("it said nothing");
            return Err(PyRuntimeError::new_err(format!(
                "the test cannot be run in a new process: {last}"
            )));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// Removes all addresses from a text.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split(" at 0x");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(" at 0x");
        plain.push_str(part.trim_start_matches(|digit: char| digit.is_ascii_hexdigit()));
    }
    plain
}
