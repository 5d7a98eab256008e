//! Replays tests and judges their results.

use std::time::Duration;

use pyo3::exceptions::PyAssertionError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use testwright_core::Step;

use super::Sut;
use super::settings::truthy;
use crate::action::PyAction;

/// The settings of a replay.
#[derive(Clone, Copy, Default)]
pub(super) struct ReplaySettings {
    /// Check properties after each step.
    pub(super) check: bool,
    /// Stop at the first failure.
    pub(super) stop_at_failure: bool,
    /// The seconds to sleep after each step.
    pub(super) delay: f64,
}

impl ReplaySettings {
    /// Returns settings that run a test to its end, with or without the properties.
    pub(super) fn with_check(check: bool) -> ReplaySettings {
        ReplaySettings {
            check,
            ..ReplaySettings::default()
        }
    }
}

#[pymethods]
impl Sut {
    /// Runs a test from a restart; steps that are not enabled are skipped. Returns true if nothing failed.
    ///
    /// An exception that the harness does not expect is raised, unless `catch_uncaught`. With `return_cov` the
    /// result is a pair; its second part lists the new statements and branches of each step that has any.
    ///
    ///     >>> sut.replay(test[:5])
    ///     True
    ///     >>> sut.replay(test)
    ///     Traceback (most recent call last):
    ///         ...
    ///     IndexError: list index out of range
    ///     >>> sut.replay(test, catch_uncaught=True)
    ///     False
    #[pyo3(signature = (test, catch_uncaught = false, extend = false, check_prop = false, verbose = false, stop_fail = true, return_cov = false, delay = None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "TSTL has them all, most are by name"
    )]
    fn replay<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        catch_uncaught: bool,
        extend: bool,
        check_prop: bool,
        #[pyo3(from_py_with = truthy)] verbose: bool,
        stop_fail: bool,
        return_cov: bool,
        delay: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let print = slf.py().import("builtins")?.getattr("print")?;
        let covered = PyList::empty(slf.py());
        if !extend {
            Sut::restart(slf)?;
        }
        let mut good = true;
        for step in test.try_iter()? {
            let step = step?;
            if !Sut::is_step_enabled(slf, &step)? {
                continue;
            }
            if verbose {
                print.call1((step.str()?,))?;
            }
            let mut passed = Sut::take(slf, &step)?;
            if !passed && !catch_uncaught {
                return Err(Sut::borrow(slf)?.error(slf.py()));
            }
            passed = passed && (!check_prop || Sut::check(slf)?);
            if return_cov {
                let new = (Sut::new_statements(slf)?, Sut::new_branches(slf)?);
                if new.0.len() + new.1.len() > 0 {
                    covered.append(new)?;
                }
            }
            good &= passed;
            if !passed && stop_fail {
                break;
            }
            sleep(slf.py(), delay)?;
        }
        let good = good.into_pyobject(slf.py())?.to_owned().into_any();
        if return_cov {
            Ok(PyTuple::new(slf.py(), [good, covered.into_any()])?.into_any())
        } else {
            Ok(good)
        }
    }

    /// The shortest beginning of a test after which a predicate of no arguments holds; `False` if the test fails
    /// before, `None` if it never holds.
    ///
    ///     >>> print(sut.replay_until(test, lambda: sut.p_int[0] == 3))
    ///     stack0 = stack.Stack()
    ///     int0 = 3
    #[pyo3(signature = (test, pred, catch_uncaught = false, check_prop = false, stop_fail = true))]
    fn replay_until<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        pred: &Bound<'py, PyAny>,
        catch_uncaught: bool,
        check_prop: bool,
        stop_fail: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        Sut::restart(slf)?;
        let steps: Vec<Bound<'py, PyAny>> = test.try_iter()?.collect::<PyResult<_>>()?;
        for (number, step) in steps.iter().enumerate() {
            if !Sut::is_step_enabled(slf, step)? {
                continue;
            }
            let mut passed = Sut::take(slf, step)?;
            if !passed && !catch_uncaught {
                return Err(Sut::borrow(slf)?.error(slf.py()));
            }
            passed = passed && (!check_prop || Sut::check(slf)?);
            if !passed && stop_fail {
                return Ok(false.into_pyobject(slf.py())?.to_owned().into_any());
            }
            if pred.call0()?.is_truthy()? {
                let beginning = PyList::new(slf.py(), &steps[..=number])?;
                let beginning = Sut::core_test(slf, beginning.as_any())?;
                return Ok(Sut::python_test(slf, &beginning)?.into_any());
            }
        }
        Ok(slf.py().None().into_bound(slf.py()))
    }

    /// Runs a test from the state as it is; false at the first step that is not enabled.
    ///
    ///     >>> sut.all_enabled(test[:3])
    ///     True
    ///     >>> sut.restart()
    ///     >>> sut.all_enabled(test[1:3])
    ///     False
    fn all_enabled(slf: &Bound<'_, Sut>, test: &Bound<'_, PyAny>) -> PyResult<bool> {
        for step in test.try_iter()? {
            let step = step?;
            if !Sut::is_step_enabled(slf, &step)? {
                return Ok(false);
            }
            Sut::take(slf, &step)?;
        }
        Ok(true)
    }

    /// Returns true if a test fails, without checking properties; with a failure, if it fails like that.
    ///
    ///     >>> sut.fails(test)
    ///     True
    ///     >>> sut.fails(test[:1] + test[-1:], failure=sut.failure())
    ///     True
    ///     >>> sut.fails(test[:-1])
    ///     False
    #[pyo3(signature = (test, verbose = false, failure = None))]
    fn fails(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = truthy)] verbose: bool,
        failure: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        Sut::fails_like(slf, test, false, verbose, failure)
    }

    /// Returns true if a test fails, properties included; with a failure, if it fails like that.
    ///
    ///     >>> pushes = test[:1] + 4 * test[1:3]
    ///     >>> sut.fails(pushes), sut.fails_check(pushes)
    ///     (False, True)
    ///     >>> sut.failure_text
    ///     '`len(stack0) < 4` is false'
    #[pyo3(signature = (test, verbose = false, failure = None))]
    fn fails_check(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = truthy)] verbose: bool,
        failure: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        Sut::fails_like(slf, test, true, verbose, failure)
    }

    /// Does the same as `fails_check`: a failure does not depend on the line it is found in.
    ///
    ///     >>> sut.fails_any(test)
    ///     True
    #[pyo3(signature = (test, verbose = false, failure = None))]
    fn fails_any(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = truthy)] verbose: bool,
        failure: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        Sut::fails_like(slf, test, true, verbose, failure)
    }

    /// Returns true if two failures are the same: exceptions of one type with the same text.
    ///
    ///     >>> sut.fails(test)
    ///     True
    ///     >>> first = sut.failure()
    ///     >>> sut.fails(test[:1] + test[-1:])
    ///     True
    ///     >>> sut.eq_fail(first, sut.failure())
    ///     True
    #[staticmethod]
    pub(super) fn eq_fail(f1: &Bound<'_, PyAny>, f2: &Bound<'_, PyAny>) -> PyResult<bool> {
        if f1.is_none() || f2.is_none() {
            return Ok(f1.is_none() && f2.is_none());
        }
        let same_type = f1.get_item(0)?.is(&f2.get_item(0)?);
        let text = |failure: &Bound<'_, PyAny>| failure.get_item(1)?.repr()?.extract::<String>();
        Ok(same_type && text(f1)? == text(f2)?)
    }

    /// Returns the fraction of runs for which a predicate holds for a test: from 0 to 1.
    ///
    ///     >>> sut.probability(test, sut.fails)
    ///     1.0
    ///     >>> sut.probability(test[:-1], sut.fails)
    ///     0.0
    #[staticmethod]
    #[pyo3(signature = (test, pred, samples = 10))]
    fn probability(
        test: &Bound<'_, PyAny>,
        pred: &Bound<'_, PyAny>,
        samples: u32,
    ) -> PyResult<f64> {
        let mut times = 0;
        for _ in 0..samples {
            times += u32::from(pred.call1((test,))?.is_truthy()?);
        }
        Ok(f64::from(times) / f64::from(samples.max(1)))
    }

    /// Returns true if a predicate holds for a test with at least this probability, each time it is measured: a
    /// predicate for reducing tests that do not always fail.
    ///
    ///     >>> mostly = lambda test: sut.force_p(test, sut.fails, p=0.8)
    ///     >>> print(sut.reduce(test, mostly))
    ///     stack0 = stack.Stack()
    ///     stack0.top()
    #[staticmethod]
    #[pyo3(signature = (test, pred, p = 0.5, samples = 10, replications = 1))]
    fn force_p(
        test: &Bound<'_, PyAny>,
        pred: &Bound<'_, PyAny>,
        p: f64,
        samples: u32,
        replications: u32,
    ) -> PyResult<bool> {
        for _ in 0..replications {
            if Sut::probability(test, pred, samples)? < p {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Sut {
    /// Returns true if a step is a restart or an enabled action.
    pub(super) fn is_step_enabled(slf: &Bound<'_, Sut>, step: &Bound<'_, PyAny>) -> PyResult<bool> {
        match PyAction::step_for(step, slf)? {
            Step::Act(action) => Sut::is_enabled(slf, action),
            Step::Restart => Ok(true),
        }
    }

    /// Runs a test from a restart. Returns true if it passes.
    pub(super) fn run(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        settings: ReplaySettings,
    ) -> PyResult<bool> {
        Sut::run_with_callback(slf, test, settings, |_| Ok(()))
    }

    /// Runs a test from a restart, and calls `after_step` after each step.
    pub(super) fn run_with_callback<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        settings: ReplaySettings,
        mut after_step: impl FnMut(&Bound<'py, Sut>) -> PyResult<()>,
    ) -> PyResult<bool> {
        Sut::restart(slf)?;
        for step in test.try_iter()? {
            let step = step?;
            if !Sut::is_step_enabled(slf, &step)? {
                continue;
            }
            let passed = Sut::take(slf, &step)? && (!settings.check || Sut::check(slf)?);
            after_step(slf)?;
            if !passed && settings.stop_at_failure {
                return Ok(false);
            }
            sleep(slf.py(), (settings.delay > 0.0).then_some(settings.delay))?;
        }
        Ok(true)
    }

    /// Returns true if a test fails, and like `failure` if one is given.
    fn fails_like(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        check: bool,
        verbose: bool,
        failure: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let settings = ReplaySettings {
            check,
            stop_at_failure: true,
            delay: 0.0,
        };
        let passed = Sut::run_with_callback(slf, test, settings, |slf| {
            if verbose && let Some(last) = Sut::borrow(slf)?.test(slf.py())?.iter().last() {
                slf.py()
                    .import("builtins")?
                    .call_method1("print", (last.str()?,))?;
            }
            Ok(())
        })?;
        match failure {
            _ if passed => Ok(false),
            None => Ok(true),
            Some(wanted) => {
                let found = slf.call_method0("failure")?;
                Sut::eq_fail(&found, wanted)
            }
        }
    }
}

/// Sleeps for some seconds.
fn sleep(python: Python<'_>, seconds: Option<f64>) -> PyResult<()> {
    let Some(seconds) = seconds.filter(|seconds| *seconds > 0.0) else {
        return Ok(());
    };
    let time = Duration::try_from_secs_f64(seconds)
        .map_err(|error| PyAssertionError::new_err(error.to_string()))?;
    // Through Python, so that Ctrl-C is noticed.
    python
        .import("time")?
        .call_method1("sleep", (time.as_secs_f64(),))
        .map(drop)
}
