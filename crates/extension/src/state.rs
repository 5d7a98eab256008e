//! A state to backtrack to, as a Python value.

use std::cmp::Ordering;

use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use testwright_core::Test;
use testwright_python::CopiedState;

/// A state: the values of the slots, which of them were used, and the steps that led there.
///
/// Scripts written for TSTL take it for a list: a dictionary of values for each pool, one of used flags for each, and
/// the test. So it can be indexed and compared like one. Of two states the one with more steps is the greater.
///
///     >>> sut.replay(test[:3])
///     True
///     >>> here = sut.state()
///     >>> here[0]
///     {0: 3, 1: None}
///     >>> sut.replay(test[:4])
///     True
///     >>> here == sut.state(), here < sut.state()
///     (False, True)
#[pyclass(frozen, name = "State", module = "testwright")]
pub(crate) struct PyState {
    /// A snapshot to restore; `None` if only the test leads back.
    pub(crate) snapshot: Option<CopiedState>,
    /// The steps that led to the state.
    pub(crate) test: Test,
    /// The pools and their values, as TSTL lists them.
    pub(crate) tstl_list: Py<PyList>,
    /// The names of the pools, in that order.
    pub(crate) pools: Vec<String>,
}

#[pymethods]
impl PyState {
    fn __len__(&self, python: Python<'_>) -> usize {
        self.tstl_list.bind(python).len()
    }

    fn __getitem__<'py>(
        &self,
        python: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.tstl_list.bind(python).as_any().get_item(index)
    }

    fn __iter__<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.tstl_list.bind(python).try_iter()?.into_any())
    }

    fn __richcmp__(
        &self,
        python: Python<'_>,
        other: &Bound<'_, PyAny>,
        comparison: CompareOp,
    ) -> PyResult<Py<PyAny>> {
        let Ok(other) = other.cast::<PyState>() else {
            return Ok(python.NotImplemented());
        };
        let other = other.get();
        let order = match self.test.len().cmp(&other.test.len()) {
            // States are equal if their values are, whatever their tests.
            _ if matches!(comparison, CompareOp::Eq | CompareOp::Ne) => {
                let values = |state: &PyState| {
                    let listed = state.tstl_list.bind(python);
                    listed.get_slice(0, listed.len().saturating_sub(1))
                };
                if values(self).eq(values(other))? {
                    Ordering::Equal
                } else {
                    Ordering::Less
                }
            }
            order => order,
        };
        let answer = comparison.matches(order);
        Ok(answer.into_pyobject(python)?.to_owned().into_any().unbind())
    }

    fn __repr__(&self, python: Python<'_>) -> PyResult<String> {
        Ok(self.tstl_list.bind(python).repr()?.to_string())
    }
}

/// Returns a dictionary from index to value.
pub(crate) fn by_index<'py>(
    python: Python<'py>,
    values: impl Iterator<Item = Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let dictionary = PyDict::new(python);
    for (index, value) in values.enumerate() {
        dictionary.set_item(index, value)?;
    }
    Ok(dictionary)
}
