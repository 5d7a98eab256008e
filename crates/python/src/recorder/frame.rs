//! Frames: what a function was called with, and by whom.

use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict};

/// A frame of the running program.
pub(super) struct Frame<'py>(Bound<'py, PyAny>);

impl<'py> Frame<'py> {
    /// # Safety
    ///
    /// It must be a frame that is alive.
    #[cfg(not(Py_3_12))]
    pub(super) unsafe fn from_pointer(
        python: Python<'py>,
        frame: *mut ffi::PyFrameObject,
    ) -> Frame<'py> {
        // SAFETY: as the caller promises.
        Frame(unsafe { Bound::from_borrowed_ptr(python, frame.cast()) })
    }

    /// The innermost frame of this thread.
    #[cfg(Py_3_12)]
    pub(super) fn current(python: Python<'py>) -> Option<Frame<'py>> {
        // SAFETY: the lock is held; a borrowed reference, or null outside of Python code.
        let frame =
            unsafe { Bound::from_borrowed_ptr_or_opt(python, ffi::PyEval_GetFrame().cast()) };
        frame.map(Frame)
    }

    #[cfg(not(Py_3_12))]
    pub(super) fn as_ptr(&self) -> *mut ffi::PyFrameObject {
        self.0.as_ptr().cast()
    }

    /// Frames are told apart by where they are while they run or wait.
    pub(super) fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }

    pub(super) fn code(&self) -> Option<Bound<'py, PyCode>> {
        // SAFETY: it is a frame; the answer is a new reference.
        let code = unsafe {
            let code = ffi::PyFrame_GetCode(self.0.as_ptr().cast());
            Bound::from_owned_ptr_or_opt(self.0.py(), code.cast())
        };
        code?.cast_into().ok()
    }

    pub(super) fn globals(&self) -> Option<Bound<'py, PyDict>> {
        let globals = self.0.getattr(intern!(self.0.py(), "f_globals"));
        globals.ok()?.cast_into().ok()
    }

    pub(super) fn caller(&self) -> Option<Frame<'py>> {
        let back = self.0.getattr(intern!(self.0.py(), "f_back")).ok()?;
        (!back.is_none()).then_some(Frame(back))
    }

    /// What a variable is bound to, also one that inner functions use.
    #[cfg(Py_3_12)]
    pub(super) fn variable(&self, name: &str) -> Option<Bound<'py, PyAny>> {
        let name = pyo3::types::PyString::new(self.0.py(), name);
        // SAFETY: it is a frame, and a text; the answer is a new reference, or null with an exception.
        unsafe {
            let value = ffi::PyFrame_GetVar(self.0.as_ptr().cast(), name.as_ptr());
            let value = Bound::from_owned_ptr_or_opt(self.0.py(), value);
            if value.is_none() {
                ffi::PyErr_Clear();
            }
            value
        }
    }

    /// What a variable is bound to, also one that inner functions use.
    #[cfg(not(Py_3_12))]
    pub(super) fn variable(&self, name: &str) -> Option<Bound<'py, PyAny>> {
        let variables = self.0.getattr(intern!(self.0.py(), "f_locals")).ok()?;
        variables.cast::<PyDict>().ok()?.get_item(name).ok()?
    }

    /// The same frame once more.
    #[cfg(not(Py_3_12))]
    pub(super) fn same(&self) -> Option<Frame<'py>> {
        Some(Frame(self.0.clone()))
    }

    /// The line that a frame has come to.
    #[cfg(not(Py_3_12))]
    pub(super) fn line(&self) -> Option<u32> {
        self.0
            .getattr(intern!(self.0.py(), "f_lineno"))
            .ok()?
            .extract()
            .ok()
    }

    /// The instruction that a frame has come to.
    #[cfg(not(Py_3_12))]
    pub(super) fn offset(&self) -> Option<usize> {
        let offset: isize = self
            .0
            .getattr(intern!(self.0.py(), "f_lasti"))
            .ok()?
            .extract()
            .ok()?;
        usize::try_from(offset).ok()
    }
}
