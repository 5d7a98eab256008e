//! The object that harness code sees as `self` and that hooks receive.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use testwright_core::PoolId;
use testwright_lang::Harness;

use crate::slot_layout::SlotLayout;

/// The log level, shared with hooks that change it.
#[derive(Clone)]
pub(crate) struct LogLevel(Arc<AtomicI64>);

/// The value for no logging: below every level of a `log:` line.
const OFF: i64 = i64::MIN;

impl LogLevel {
    /// Creates a level; `None` turns logging off.
    pub(crate) fn new(level: Option<i64>) -> LogLevel {
        LogLevel(Arc::new(AtomicI64::new(level.unwrap_or(OFF))))
    }

    /// Changes the level for all holders.
    pub(crate) fn set(&self, level: Option<i64>) {
        self.0.store(level.unwrap_or(OFF), Ordering::Relaxed);
    }

    /// Returns true if lines of this level are shown.
    pub(crate) fn is_shown(&self, level: i64) -> bool {
        let current = self.0.load(Ordering::Relaxed);
        current != OFF && current >= level
    }
}

/// The harness from inside: `self` in actions, the argument of hooks. Any other attribute may be
/// set on it.
#[pyclass(dict, name = "sut", module = "testwright")]
pub(crate) struct HarnessObject {
    /// The log level that `setLog` and the like change.
    log_level: LogLevel,
}

#[pymethods]
impl HarnessObject {
    /// Sets the log level: a number, `"All"`, or `None` for off.
    #[pyo3(name = "setLog")]
    fn set_log(&self, level: &Bound<'_, PyAny>) {
        let all = level.extract::<String>().is_ok().then_some(i64::MAX);
        self.log_level.set(level.extract().ok().or(all));
    }

    #[pyo3(name = "logAll")]
    fn log_all(&self) {
        self.log_level.set(Some(i64::MAX));
    }

    #[pyo3(name = "logOff")]
    fn log_off(&self) {
        self.log_level.set(None);
    }
}

impl HarnessObject {
    /// Creates an object with an attribute `p_NAME` per pool, and `p_NAME_REF` for reference twins.
    pub(crate) fn new<'py>(
        python: Python<'py>,
        harness: &Harness,
        layout: &SlotLayout,
        slots: &Bound<'py, PyList>,
        log_level: LogLevel,
    ) -> PyResult<Bound<'py, HarnessObject>> {
        let object = Bound::new(python, HarnessObject { log_level })?;
        for (number, pool) in harness.pools.iter().enumerate() {
            let start = layout.position(PoolId(number), 0);
            let view = |start| PoolView {
                slots: slots.clone().unbind(),
                start,
                size: pool.size as usize,
            };
            object.setattr(format!("p_{}", pool.name), Bound::new(python, view(start))?)?;
            if pool.reference {
                let twin = start + layout.twin_distance(PoolId(number));
                object.setattr(
                    format!("p_{}_REF", pool.name),
                    Bound::new(python, view(twin))?,
                )?;
            }
        }
        Ok(object)
    }
}

/// The slots of one pool as harness code sees them: like a dictionary from index to value.
#[pyclass(mapping, module = "testwright")]
struct PoolView {
    slots: Py<PyList>,
    start: usize,
    size: usize,
}

impl PoolView {
    /// Returns the position of a slot in the list, or raises `KeyError`.
    fn position(&self, index: isize) -> PyResult<usize> {
        usize::try_from(index)
            .ok()
            .filter(|index| *index < self.size)
            .map(|index| self.start + index)
            .ok_or_else(|| PyKeyError::new_err(index))
    }
}

#[pymethods]
impl PoolView {
    fn __getitem__<'py>(&self, python: Python<'py>, index: isize) -> PyResult<Bound<'py, PyAny>> {
        self.slots.bind(python).get_item(self.position(index)?)
    }

    fn __setitem__(
        &self,
        python: Python<'_>,
        index: isize,
        value: Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.slots
            .bind(python)
            .set_item(self.position(index)?, value)
    }

    fn __len__(&self) -> usize {
        self.size
    }

    fn __contains__(&self, index: &Bound<'_, PyAny>) -> bool {
        index
            .extract()
            .is_ok_and(|index| self.position(index).is_ok())
    }

    fn __iter__<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.keys(python)?.try_iter()?.into_any())
    }

    fn __repr__(&self, python: Python<'_>) -> PyResult<String> {
        let items: Vec<String> = self
            .items(python)?
            .into_iter()
            .map(|(index, value)| Ok(format!("{index}: {}", value.repr()?)))
            .collect::<PyResult<_>>()?;
        Ok(format!("{{{}}}", items.join(", ")))
    }

    fn keys<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(python, 0..self.size)
    }

    fn values<'py>(&self, python: Python<'py>) -> Bound<'py, PyList> {
        self.slots
            .bind(python)
            .get_slice(self.start, self.start + self.size)
    }

    fn items<'py>(&self, python: Python<'py>) -> PyResult<Vec<(usize, Bound<'py, PyAny>)>> {
        Ok(self.values(python).iter().enumerate().collect())
    }

    #[pyo3(signature = (index, default = None))]
    fn get<'py>(
        &self,
        python: Python<'py>,
        index: isize,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.position(index) {
            Ok(position) => self.slots.bind(python).get_item(position).map(Some),
            Err(_) => Ok(default),
        }
    }
}
