//! Frames: what a function was called with, and by whom.

use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict};

#[cfg(not(Py_3_12))]
use crate::sight::Pointer;

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

    /// What a variable is bound to, also one that inner functions use. The interpreter makes a dictionary of all variables
    /// to answer that, and has the frame keep it; if it was not there before, it is taken away again, as it would keep alive
    /// what the program lets go.
    #[cfg(not(Py_3_12))]
    pub(super) fn variable(&self, name: &str) -> Option<Bound<'py, PyAny>> {
        let place = self.variables_place();
        // SAFETY: the frame is alive, and the place is one of its parts.
        let had_none = unsafe { (*place).is_null() };
        let variables = self.0.getattr(intern!(self.0.py(), "f_locals")).ok()?;
        let value = variables.cast::<PyDict>().ok()?.get_item(name).ok()?;
        if had_none {
            // SAFETY: the same. The reference was the frame's, which does without it as it did before.
            unsafe {
                let kept = std::mem::replace(&mut *place, std::ptr::null_mut());
                ffi::Py_XDECREF(kept);
            }
        }
        value
    }

    /// Where a frame keeps the dictionary of its variables, if it has one: `f_locals` of `PyFrameObject`, and of
    /// `_PyInterpreterFrame` in 3.11.
    #[cfg(not(Py_3_12))]
    fn variables_place(&self) -> *mut Pointer {
        let words = self.0.as_ptr().cast::<Pointer>();
        #[cfg(not(Py_3_11))]
        // SAFETY: frames have more words than that.
        return unsafe { words.add(7) };
        #[cfg(Py_3_11)]
        // SAFETY: the same, and what is pointed to is there as long as the frame.
        return unsafe { (*words.add(3)).cast::<Pointer>().add(3) };
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
