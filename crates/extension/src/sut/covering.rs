//! Predicates on the coverage of tests, and tests made for their coverage.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySet};
use testwright_core::analyse::quick::QuickReducer;
use testwright_core::shrink::ReduceOptions;
use testwright_core::{Covered, System};

use super::Sut;
use super::replaying::ReplaySettings;
use super::settings::{print, truthy};
use crate::borrowed_sut::CallerException;

#[pymethods]
impl Sut {
    /// A predicate: does a test still touch these branches?
    ///
    ///     >>> sut.replay(test[:3])
    ///     True
    ///     >>> pushes = sut.covers_branches(sut.curr_branches())
    ///     >>> print(sut.reduce(test, pushes))
    ///     stack0 = stack.Stack()
    ///     int0 = 3
    ///     stack0.push(int0)
    #[pyo3(signature = (branches, catch_uncaught = false, check_prop = false))]
    fn covers_branches<'py>(
        slf: &Bound<'py, Sut>,
        branches: &Bound<'py, PyAny>,
        catch_uncaught: bool,
        check_prop: bool,
    ) -> PyResult<Bound<'py, Covers>> {
        let none = PySet::empty(slf.py())?;
        let wanted = (none.as_any(), branches);
        Sut::covers(
            slf,
            wanted,
            CoverageExtent::All,
            (catch_uncaught, check_prop),
        )
    }

    /// A predicate: does a test still touch these statements?
    ///
    ///     >>> sut.replay(test[:3])
    ///     True
    ///     >>> pushes = sut.covers_statements(sut.curr_statements())
    ///     >>> pushes(test), pushes(test[:1])
    ///     (True, False)
    #[pyo3(signature = (statements, catch_uncaught = false, check_prop = false))]
    fn covers_statements<'py>(
        slf: &Bound<'py, Sut>,
        statements: &Bound<'py, PyAny>,
        catch_uncaught: bool,
        check_prop: bool,
    ) -> PyResult<Bound<'py, Covers>> {
        let none = PySet::empty(slf.py())?;
        let wanted = (statements, none.as_any());
        Sut::covers(
            slf,
            wanted,
            CoverageExtent::All,
            (catch_uncaught, check_prop),
        )
    }

    /// A predicate: does a test still touch these statements and branches?
    ///
    ///     >>> sut.replay(test[:3])
    ///     True
    ///     >>> pushes = sut.covers_all(sut.curr_statements(), sut.curr_branches())
    ///     >>> pushes(test), pushes(test[:1])
    ///     (True, False)
    #[pyo3(signature = (statements, branches, catch_uncaught = false, check_prop = false))]
    fn covers_all<'py>(
        slf: &Bound<'py, Sut>,
        statements: &Bound<'py, PyAny>,
        branches: &Bound<'py, PyAny>,
        catch_uncaught: bool,
        check_prop: bool,
    ) -> PyResult<Bound<'py, Covers>> {
        let wanted = (statements, branches);
        Sut::covers(
            slf,
            wanted,
            CoverageExtent::All,
            (catch_uncaught, check_prop),
        )
    }

    /// A predicate: does a test touch these statements and branches, and at least one more?
    ///
    ///     >>> sut.replay(test[:3])
    ///     True
    ///     >>> does_more = sut.covers_more(sut.curr_statements(), sut.curr_branches())
    ///     >>> does_more(test), does_more(test[:3])
    ///     (True, False)
    #[pyo3(signature = (statements, branches, catch_uncaught = false, check_prop = false))]
    fn covers_more<'py>(
        slf: &Bound<'py, Sut>,
        statements: &Bound<'py, PyAny>,
        branches: &Bound<'py, PyAny>,
        catch_uncaught: bool,
        check_prop: bool,
    ) -> PyResult<Bound<'py, Covers>> {
        let wanted = (statements, branches);
        Sut::covers(
            slf,
            wanted,
            CoverageExtent::More,
            (catch_uncaught, check_prop),
        )
    }

    /// A predicate: does a test touch all that this test touches?
    ///
    ///     >>> print(sut.reduce(test, sut.covers_same(test[:3])))
    ///     stack0 = stack.Stack()
    ///     int0 = 3
    ///     stack0.push(int0)
    #[pyo3(signature = (test, catch_uncaught = false, check_prop = false))]
    fn covers_same<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        catch_uncaught: bool,
        check_prop: bool,
    ) -> PyResult<Bound<'py, Covers>> {
        let (statements, branches) = Sut::run_and_collect(slf, test, check_prop)?;
        let wanted = (statements.as_any(), branches.as_any());
        Sut::covers(
            slf,
            wanted,
            CoverageExtent::All,
            (catch_uncaught, check_prop),
        )
    }

    /// A predicate: does a test touch all that this test touches, and more?
    ///
    ///     >>> does_more = sut.covers_more_than(test[:3])
    ///     >>> does_more(test), does_more(test[:3])
    ///     (True, False)
    #[pyo3(signature = (test, catch_uncaught = false, check_prop = false))]
    fn covers_more_than<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        catch_uncaught: bool,
        check_prop: bool,
    ) -> PyResult<Bound<'py, Covers>> {
        let (statements, branches) = Sut::run_and_collect(slf, test, check_prop)?;
        let wanted = (statements.as_any(), branches.as_any());
        Sut::covers(
            slf,
            wanted,
            CoverageExtent::More,
            (catch_uncaught, check_prop),
        )
    }

    /// A predicate: is this one of the values, as `unique_vals` lists them, that a test ends with?
    ///
    ///     >>> ends_with_3 = sut.covers_unique(("self.p_stack", "Stack([3])"))
    ///     >>> ends_with_3(test[:3]), ends_with_3(test)
    ///     (True, False)
    ///     >>> print(sut.reduce(test[:4], ends_with_3))
    ///     stack0 = stack.Stack()
    ///     int0 = 3
    ///     stack0.push(int0)
    #[pyo3(signature = (val, catch_uncaught = false, check_prop = false))]
    fn covers_unique<'py>(
        slf: &Bound<'py, Sut>,
        val: &Bound<'py, PyAny>,
        catch_uncaught: bool,
        check_prop: bool,
    ) -> PyResult<Bound<'py, EndsWith>> {
        let _always_continues = catch_uncaught;
        let ends_with = EndsWith {
            sut: slf.clone().unbind(),
            value: val.clone().unbind(),
            check: check_prop,
        };
        Bound::new(slf.py(), ends_with)
    }

    /// Returns short tests that together touch the same code as one test.
    ///
    ///     >>> for part in sut.cover_decompose(test):
    ///     ...     print([step.text for step in part])
    ///     ['stack0 = stack.Stack()', 'int0 = 3', 'stack0.push(int0)']
    ///     ['stack0 = stack.Stack()', 'stack0.pop()']
    ///     ['stack0 = stack.Stack()', 'stack0.top()']
    #[pyo3(signature = (test, verbose = false, catch_uncaught = false, check_prop = false))]
    fn cover_decompose<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = truthy)] verbose: bool,
        catch_uncaught: bool,
        check_prop: bool,
    ) -> PyResult<Vec<Bound<'py, PyList>>> {
        let _always_continues = catch_uncaught;
        Sut::require_coverage(slf)?;
        let test = Sut::core_test(slf, test)?;
        let mut raised = CallerException::default();
        let mut proceed = || match slf.py().check_signals() {
            Ok(()) => true,
            Err(error) => {
                let _ends_the_work = raised.store_exception(error);
                false
            }
        };
        let found = Sut::with(slf, |system| {
            // The coverage of a restart belongs to no test.
            system.reset_touched()?;
            system.reset()?;
            let mut quick = QuickReducer {
                options: ReduceOptions {
                    check: check_prop,
                    ..ReduceOptions::default()
                },
                budget: u64::MAX,
                touched_by_loading: system.touched(),
                proceed: &mut proceed,
            };
            quick.decompose(system, &test)
        })?;
        Sut::restart(slf)?;
        if raised.0.is_some() {
            return Err(raised.into_py_error(&"interrupted"));
        }
        let found = found.map_err(|error| raised.into_py_error(&error))?;
        let mut tests = Vec::new();
        for quick in found {
            if verbose {
                let (steps, touches) = (quick.test.len(), quick.touches.len());
                print(slf.py(), &format!("{steps} steps touch {touches} branches"))?;
            }
            tests.push(Sut::python_test(slf, &quick.test)?);
        }
        Ok(tests)
    }
}

/// The coverage that a test must have, relative to the given targets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CoverageExtent {
    /// All targets.
    All,
    /// All targets, and at least one more.
    More,
}

/// The predicate of tests that touch given code. Created by `covers_branches` and similar methods.
#[pyclass(frozen, module = "testwright")]
pub(crate) struct Covers {
    sut: Py<Sut>,
    statements: Py<PySet>,
    branches: Py<PySet>,
    extent: CoverageExtent,
    check: bool,
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
        let (statements, branches) = Sut::run_and_collect(sut, test, self.check || check_prop)?;
        let (wanted_statements, wanted_branches) =
            (self.statements.bind(python), self.branches.bind(python));
        let all = wanted_statements.as_any().le(&statements)?
            && wanted_branches.as_any().le(&branches)?;
        let wanted = wanted_statements.len() + wanted_branches.len();
        Ok(all
            && (self.extent == CoverageExtent::All || statements.len() + branches.len() > wanted))
    }
}

/// The predicate of tests that end with a given value in some slot. Created by `covers_unique`.
#[pyclass(frozen, module = "testwright")]
pub(crate) struct EndsWith {
    sut: Py<Sut>,
    value: Py<PyAny>,
    check: bool,
}

#[pymethods]
impl EndsWith {
    fn __call__(&self, python: Python<'_>, test: &Bound<'_, PyAny>) -> PyResult<bool> {
        let sut = self.sut.bind(python);
        Sut::run(sut, test, ReplaySettings::with_check(self.check))?;
        sut.call_method0("unique_vals")?.contains(&self.value)
    }
}

/// Statements and branches.
type TouchedCode<'py> = (Bound<'py, PySet>, Bound<'py, PySet>);

impl Sut {
    /// Returns an error unless coverage is measured.
    fn require_coverage(slf: &Bound<'_, Sut>) -> PyResult<()> {
        let measures = Sut::borrow(slf)?.measures();
        if measures {
            Ok(())
        } else {
            Err(PyTypeError::new_err(
                "coverage is not measured; load the harness with `coverage=True`",
            ))
        }
    }

    /// Runs a test, and returns the statements and branches that it touches. The run continues
    /// after a failure.
    fn run_and_collect<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        check: bool,
    ) -> PyResult<TouchedCode<'py>> {
        Sut::require_coverage(slf)?;
        Sut::run(slf, test, ReplaySettings::with_check(check))?;
        Ok((Sut::curr_statements(slf)?, Sut::curr_branches(slf)?))
    }

    /// Creates a predicate.
    fn covers<'py>(
        slf: &Bound<'py, Sut>,
        (statements, branches): (&Bound<'py, PyAny>, &Bound<'py, PyAny>),
        extent: CoverageExtent,
        (_always_continues, check): (bool, bool),
    ) -> PyResult<Bound<'py, Covers>> {
        Sut::require_coverage(slf)?;
        let set = |targets: &Bound<'py, PyAny>| {
            let targets = targets.try_iter()?.collect::<PyResult<Vec<_>>>()?;
            PySet::new(slf.py(), targets).map(Bound::unbind)
        };
        let covers = Covers {
            sut: slf.clone().unbind(),
            statements: set(statements)?,
            branches: set(branches)?,
            extent,
            check,
        };
        Bound::new(slf.py(), covers)
    }
}
