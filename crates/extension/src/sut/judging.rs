//! Running tests again, and what they come to.

use std::time::Duration;

use pyo3::exceptions::{PyAssertionError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PySet, PyTuple};
use testwright_core::Step;

use super::Sut;
use crate::action::Action;

/// How a test is run again.
#[derive(Clone, Copy, Default)]
struct Manner {
    check: bool,
    stop_at_failure: bool,
    /// Seconds to sleep after each step.
    delay: f64,
}

#[pymethods]
impl Sut {
    /// Runs a test again from a restart; steps that are not enabled are skipped. Whether nothing failed.
    ///
    /// An exception that the harness does not expect is raised, unless `catch_uncaught`. With `return_cov` the
    /// answer is a pair, whose second part lists the new statements and branches of each step that has any.
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
        verbose: bool,
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
                return Err(Sut::look_at(slf)?.error(slf.py()));
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
            pause(slf.py(), delay)?;
        }
        let good = good.into_pyobject(slf.py())?.to_owned().into_any();
        match return_cov {
            true => Ok(PyTuple::new(slf.py(), [good, covered.into_any()])?.into_any()),
            false => Ok(good),
        }
    }

    /// The shortest beginning of a test after which a predicate of no arguments holds; `False` if the test fails
    /// before, `None` if it never holds.
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
                return Err(Sut::look_at(slf)?.error(slf.py()));
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

    /// Whether a test fails without its properties; with a failure, whether it fails like that.
    #[pyo3(signature = (test, verbose = false, failure = None))]
    fn fails(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        verbose: bool,
        failure: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        Sut::fails_like(slf, test, false, verbose, failure)
    }

    /// Whether a test fails, properties included; with a failure, whether it fails like that.
    #[pyo3(signature = (test, verbose = false, failure = None))]
    fn fails_check(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        verbose: bool,
        failure: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        Sut::fails_like(slf, test, true, verbose, failure)
    }

    /// Whether two failures are the same: exceptions of one type with the same text.
    #[staticmethod]
    fn eq_fail(f1: &Bound<'_, PyAny>, f2: &Bound<'_, PyAny>) -> PyResult<bool> {
        if f1.is_none() || f2.is_none() {
            return Ok(f1.is_none() && f2.is_none());
        }
        let same_type = f1.get_item(0)?.is(&f2.get_item(0)?);
        let text = |failure: &Bound<'_, PyAny>| failure.get_item(1)?.repr()?.extract::<String>();
        Ok(same_type && text(f1)? == text(f2)?)
    }

    /// How often, of some runs, a predicate holds for a test: from 0 to 1.
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

    /// The values of all pools that are worth showing, copied; with names, of those pools only.
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
                .map_err(|error| super::trouble(&error))
        })??;
        Ok(values.cast_into::<PyList>()?)
    }

    /// Whether the values at the end of a test differ between runs with and without a delay after each step.
    #[pyo3(signature = (test, delay = 1.0, delay0 = None, tries = 1, pools = None))]
    fn nondeterministic(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        delay: f64,
        delay0: Option<f64>,
        tries: u32,
        pools: Option<Vec<String>>,
    ) -> PyResult<bool> {
        let last = |values: Vec<Py<PyList>>| values.into_iter().next_back();
        Sut::runs_differ(slf, test, (delay0, delay), tries, &pools, last)
    }

    /// Whether the values after any step of a test differ between runs with and without a delay after each step.
    #[pyo3(signature = (test, delay = 1.0, delay0 = None, tries = 1, pools = None))]
    fn step_nondeterministic(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        delay: f64,
        delay0: Option<f64>,
        tries: u32,
        pools: Option<Vec<String>>,
    ) -> PyResult<bool> {
        Sut::runs_differ(slf, test, (delay0, delay), tries, &pools, |values| values)
    }

    /// A predicate: does a test still touch these branches?
    fn covers_branches<'py>(
        slf: &Bound<'py, Sut>,
        branches: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let none = PySet::empty(slf.py())?;
        Sut::covers(slf, none.as_any(), branches)
    }

    /// A predicate: does a test still touch these statements?
    fn covers_statements<'py>(
        slf: &Bound<'py, Sut>,
        statements: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let none = PySet::empty(slf.py())?;
        Sut::covers(slf, statements, none.as_any())
    }

    /// A predicate: does a test still touch these statements and branches?
    fn covers_all<'py>(
        slf: &Bound<'py, Sut>,
        statements: &Bound<'py, PyAny>,
        branches: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Sut::covers(slf, statements, branches)
    }

    /// A predicate: does a test touch all that this test touches?
    fn covers_same<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Sut::run(slf, test, Manner::default())?;
        let (statements, branches) = (Sut::curr_statements(slf)?, Sut::curr_branches(slf)?);
        Sut::covers(slf, statements.as_any(), branches.as_any())
    }
}

/// Does a test still touch what it is to touch? Made by `covers_branches` and its like.
#[pyclass(frozen, module = "testwright")]
pub(crate) struct Covers {
    sut: Py<Sut>,
    statements: Py<PyAny>,
    branches: Py<PyAny>,
}

#[pymethods]
impl Covers {
    #[pyo3(signature = (test, check_prop = false))]
    fn __call__(
        &self,
        python: Python<'_>,
        test: &Bound<'_, PyAny>,
        check_prop: bool,
    ) -> PyResult<bool> {
        let sut = self.sut.bind(python);
        let manner = Manner {
            check: check_prop,
            ..Manner::default()
        };
        Sut::run(sut, test, manner)?;
        let within = |wanted: &Py<PyAny>, found: Bound<'_, PySet>| -> PyResult<bool> {
            let wanted = PySet::new(
                python,
                wanted
                    .bind(python)
                    .try_iter()?
                    .collect::<PyResult<Vec<_>>>()?,
            )?;
            wanted.call_method1("issubset", (found,))?.is_truthy()
        };
        Ok(within(&self.statements, Sut::curr_statements(sut)?)?
            && within(&self.branches, Sut::curr_branches(sut)?)?)
    }
}

impl Sut {
    fn covers<'py>(
        slf: &Bound<'py, Sut>,
        statements: &Bound<'py, PyAny>,
        branches: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if !Sut::look_at(slf)?.measures() {
            return Err(PyTypeError::new_err(
                "coverage is not measured; load the harness with `coverage=True`",
            ));
        }
        let covers = Covers {
            sut: slf.clone().unbind(),
            statements: statements.clone().unbind(),
            branches: branches.clone().unbind(),
        };
        Ok(Bound::new(slf.py(), covers)?.into_any())
    }

    fn is_step_enabled(slf: &Bound<'_, Sut>, step: &Bound<'_, PyAny>) -> PyResult<bool> {
        match Action::step_for(step, slf)? {
            Step::Act(action) => Sut::is_enabled(slf, action),
            Step::Restart => Ok(true),
        }
    }

    /// Runs a test from a restart; whether it passes.
    fn run(slf: &Bound<'_, Sut>, test: &Bound<'_, PyAny>, manner: Manner) -> PyResult<bool> {
        Sut::run_with(slf, test, manner, |_| Ok(()))
    }

    fn run_with<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        manner: Manner,
        mut after_step: impl FnMut(&Bound<'py, Sut>) -> PyResult<()>,
    ) -> PyResult<bool> {
        Sut::restart(slf)?;
        for step in test.try_iter()? {
            let step = step?;
            if !Sut::is_step_enabled(slf, &step)? {
                continue;
            }
            let passed = Sut::take(slf, &step)? && (!manner.check || Sut::check(slf)?);
            after_step(slf)?;
            if !passed && manner.stop_at_failure {
                return Ok(false);
            }
            pause(slf.py(), (manner.delay > 0.0).then_some(manner.delay))?;
        }
        Ok(true)
    }

    fn fails_like(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        check: bool,
        verbose: bool,
        failure: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let manner = Manner {
            check,
            stop_at_failure: true,
            delay: 0.0,
        };
        let passed = Sut::run_with(slf, test, manner, |slf| {
            if verbose && let Some(last) = Sut::look_at(slf)?.test(slf.py())?.iter().last() {
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

    fn runs_differ<V>(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        (first, others): (Option<f64>, f64),
        tries: u32,
        pools: &Option<Vec<String>>,
        interesting: impl Fn(Vec<Py<PyList>>) -> V,
    ) -> PyResult<bool>
    where
        V: IntoIterator<Item = Py<PyList>>,
    {
        let run = |delay: f64| -> PyResult<Vec<Py<PyList>>> {
            let manner = Manner {
                delay,
                ..Manner::default()
            };
            let mut values = Vec::new();
            Sut::run_with(slf, test, manner, |slf| {
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
                if !one.bind(slf.py()).eq(other.bind(slf.py()))? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

fn pause(python: Python<'_>, seconds: Option<f64>) -> PyResult<()> {
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
