//! A step of a test, as Python sees it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use testwright_core::{Catalog, Step};

use crate::sut::Sut;

/// One concrete action of a harness, or a restart.
///
/// It can be unpacked and indexed like the tuple that TSTL has in its place: a name, a function that returns true if
/// the action is enabled, and a function that takes the action.
///
///     >>> name, guard, act = test[0]
///     >>> name
///     'self.p_stack[0] = stack.Stack() '
///     >>> guard(), act()
///     (True, None)
///     >>> sut.test()
///     Test([<stack0 = stack.Stack()>])
#[pyclass(frozen, name = "Action", module = "testwright")]
pub(crate) struct PyAction {
    /// The system that the action belongs to.
    pub(crate) sut: Py<Sut>,
    /// The actions of that system.
    pub(crate) catalog: Arc<Catalog>,
    /// The action or restart itself.
    pub(crate) step: Step,
    /// The remark on the step, or `None`.
    ///
    ///     >>> sut.playable("stack0.pop() ;;; nothing in it").note
    ///     'nothing in it'
    #[pyo3(get)]
    pub(crate) note: Option<String>,
}

impl PyAction {
    /// Returns the text as people read it.
    pub(crate) fn display_text(&self) -> String {
        match self.step {
            Step::Act(action) => self.catalog.text(action),
            Step::Restart => String::from("<<RESTART>>"),
        }
    }

    /// Returns true if the action belongs to this system.
    fn belongs_to(&self, sut: &Bound<'_, Sut>) -> bool {
        self.sut.as_ptr() == sut.as_ptr()
    }

    /// Returns the name in a tuple that a script has made of an action's parts.
    fn name_in_tuple(action: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        match action.cast::<PyTuple>() {
            Ok(parts) if (3..=4).contains(&parts.len()) => Ok(parts.get_item(0)?.extract().ok()),
            _ => Ok(None),
        }
    }

    /// Returns the remark on a step: an action, or a tuple of its parts.
    pub(crate) fn step_note(action: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        if let Ok(action) = action.cast::<PyAction>() {
            return Ok(action.get().note.clone());
        }
        match action.cast::<PyTuple>() {
            Ok(parts) if parts.len() == 4 => Ok(Some(parts.get_item(3)?.str()?.to_string())),
            _ => Ok(None),
        }
    }

    /// Returns the step of an action of this system.
    pub(crate) fn step_for(action: &Bound<'_, PyAny>, sut: &Bound<'_, Sut>) -> PyResult<Step> {
        let Ok(action) = action.cast::<PyAction>() else {
            if let Some(name) = PyAction::name_in_tuple(action)? {
                return Sut::borrow(sut)?.playable_step(&name);
            }
            let kind = action.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "a step of a test is an action of the system, such as `sut.enabled()` lists them, not {kind}"
            )));
        };
        let action = action.get();
        if action.belongs_to(sut) {
            return Ok(action.step);
        }
        // If the same harness is loaded twice, actions are found by their texts.
        match action.step {
            Step::Restart => Ok(Step::Restart),
            Step::Act(_) => Sut::borrow(sut)?.playable_step(&action.display_text()),
        }
    }
}

#[pymethods]
impl PyAction {
    /// The action as people read it: `avl0.insert(int1)`.
    ///
    ///     >>> test[2].text
    ///     'stack0.push(int0)'
    #[getter]
    fn text(&self) -> String {
        self.display_text()
    }

    /// The name that TSTL gives the action: `self.p_avl[0].insert(self.p_int[1]) `.
    ///
    ///     >>> test[2].name
    ///     'self.p_stack[0].push(self.p_int[0]) '
    #[getter]
    pub(crate) fn name(&self, python: Python<'_>) -> PyResult<String> {
        match self.step {
            Step::Restart => Ok(self.display_text()),
            Step::Act(action) => Sut::with(self.sut.bind(python), |system| {
                let texts = system.tstl_texts(action);
                texts.map_or_else(
                    |_| self.display_text(),
                    |(statement, _)| format!("{statement} "),
                )
            }),
        }
    }

    /// Returns true if the action is enabled now.
    ///
    ///     >>> test[0].guard(), test[2].guard()
    ///     (True, False)
    fn guard(&self, python: Python<'_>) -> PyResult<bool> {
        match self.step {
            Step::Restart => Ok(true),
            Step::Act(action) => Sut::is_enabled(self.sut.bind(python), action),
        }
    }

    /// Takes the action, enabled or not. What it raises unexpectedly is raised.
    ///
    ///     >>> test[0].act()
    ///     >>> sut.p_stack[0]
    ///     Stack([])
    ///     >>> test[-1].act()
    ///     Traceback (most recent call last):
    ///         ...
    ///     IndexError: list index out of range
    fn act(slf: &Bound<'_, PyAction>) -> PyResult<()> {
        let sut = slf.get().sut.bind(slf.py());
        if Sut::take(sut, slf.as_any())? {
            return Ok(());
        }
        Err(Sut::borrow(sut)?.error(slf.py()))
    }

    fn __len__(&self) -> usize {
        3 + usize::from(self.note.is_some())
    }

    fn __getitem__<'py>(
        slf: &Bound<'py, PyAction>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        PyAction::as_tuple(slf)?
            .as_any()
            .get_item(index)
            .map_err(|error| {
                if error.is_instance_of::<PyIndexError>(slf.py()) {
                    PyIndexError::new_err("an action has a name, a guard and an act")
                } else {
                    error
                }
            })
    }

    fn __iter__<'py>(slf: &Bound<'py, PyAction>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyAction::as_tuple(slf)?.try_iter()?.into_any())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyAction>().is_ok_and(|other| {
            let other = other.get();
            self.sut.as_ptr() == other.sut.as_ptr() && self.step == other.step
        })
    }

    /// Nothing about it can change, so it is its own copy.
    fn __copy__(slf: Py<PyAction>) -> Py<PyAction> {
        slf
    }

    fn __deepcopy__(slf: Py<PyAction>, memo: &Bound<'_, PyAny>) -> Py<PyAction> {
        let _unused = memo;
        slf
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.step.hash(&mut hasher);
        hasher.finish()
    }

    /// Compares by the order of the harness: lines further up are simpler.
    fn __lt__(&self, other: PyRef<'_, PyAction>) -> bool {
        let order = |step: Step| match step {
            Step::Restart => None,
            Step::Act(action) => Some(action),
        };
        order(self.step) < order(other.step)
    }

    fn __repr__(&self) -> String {
        match &self.note {
            Some(note) => format!("<{} ;;; {note}>", self.display_text()),
            None => format!("<{}>", self.display_text()),
        }
    }

    fn __str__(&self) -> String {
        self.display_text()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.sut)
    }
}

impl PyAction {
    /// Returns the action as TSTL has it: `(name, guard, act)`, and the remark if there is one.
    fn as_tuple<'py>(slf: &Bound<'py, PyAction>) -> PyResult<Bound<'py, PyTuple>> {
        let action = slf.get();
        let name = action.name(slf.py())?.into_pyobject(slf.py())?.into_any();
        let mut parts = vec![name, slf.getattr("guard")?, slf.getattr("act")?];
        if let Some(note) = &action.note {
            parts.push(note.into_pyobject(slf.py())?.into_any());
        }
        PyTuple::new(slf.py(), parts)
    }
}
