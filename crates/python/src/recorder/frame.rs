//! Frames of the running program: code, variables and callers.

use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict};

#[cfg(not(Py_3_12))]
use crate::reachability::Pointer;

/// A frame of the running program.
pub(super) struct PythonFrame<'py>(Bound<'py, PyAny>);

impl<'py> PythonFrame<'py> {
    /// Wraps a frame.
    ///
    /// # Safety
    ///
    /// It must be a frame that is alive.
    #[cfg(not(Py_3_12))]
    pub(super) unsafe fn from_pointer(
        python: Python<'py>,
        frame: *mut ffi::PyFrameObject,
    ) -> PythonFrame<'py> {
        // SAFETY: guaranteed by the caller.
        PythonFrame(unsafe { Bound::from_borrowed_ptr(python, frame.cast()) })
    }

    /// Returns the innermost frame of this thread.
    #[cfg(Py_3_12)]
    pub(super) fn current(python: Python<'py>) -> Option<PythonFrame<'py>> {
        // SAFETY: the lock is held; a borrowed reference, or null outside of Python code.
        let frame =
            unsafe { Bound::from_borrowed_ptr_or_opt(python, ffi::PyEval_GetFrame().cast()) };
        frame.map(PythonFrame)
    }

    /// Returns the frame as a pointer for C functions.
    #[cfg(not(Py_3_12))]
    pub(super) fn as_ptr(&self) -> *mut ffi::PyFrameObject {
        self.0.as_ptr().cast()
    }

    /// Returns the address, which identifies a frame while it runs or is suspended.
    pub(super) fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }

    /// Returns the code object of the frame.
    pub(super) fn code(&self) -> Option<Bound<'py, PyCode>> {
        // SAFETY: it is a frame; the answer is a new reference.
        let code = unsafe {
            let code = ffi::PyFrame_GetCode(self.0.as_ptr().cast());
            Bound::from_owned_ptr_or_opt(self.0.py(), code.cast())
        };
        code?.cast_into().ok()
    }

    /// Returns the globals of the frame.
    pub(super) fn globals(&self) -> Option<Bound<'py, PyDict>> {
        let globals = self.0.getattr(intern!(self.0.py(), "f_globals"));
        globals.ok()?.cast_into().ok()
    }

    /// Returns the frame of the caller.
    pub(super) fn caller(&self) -> Option<PythonFrame<'py>> {
        let back = self.0.getattr(intern!(self.0.py(), "f_back")).ok()?;
        (!back.is_none()).then_some(PythonFrame(back))
    }

    /// Returns the value of a local variable, including one captured by inner functions.
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

    /// Returns the value of a local variable, including one captured by inner functions.
    ///
    /// The interpreter builds a dictionary of all variables for that, and stores it in the frame.
    /// If there was none before, it is removed again, because it would keep objects alive that the
    /// program drops.
    #[cfg(not(Py_3_12))]
    pub(super) fn variable(&self, name: &str) -> Option<Bound<'py, PyAny>> {
        let locals = self.locals_pointer();
        // SAFETY: the frame is alive, and the pointer leads to one of its fields.
        let had_none = unsafe { (*locals).is_null() };
        let variables = self.0.getattr(intern!(self.0.py(), "f_locals")).ok()?;
        let value = variables.cast::<PyDict>().ok()?.get_item(name).ok()?;
        if had_none {
            // SAFETY: as above. The reference was the frame's, which works without it as before.
            unsafe {
                let kept = std::mem::replace(&mut *locals, std::ptr::null_mut());
                ffi::Py_XDECREF(kept);
            }
        }
        value
    }

    /// Returns the field of a frame that holds the dictionary of its variables: `f_locals` of
    /// `PyFrameObject`, and of `_PyInterpreterFrame` in 3.11.
    #[cfg(not(Py_3_12))]
    fn locals_pointer(&self) -> *mut Pointer {
        let words = self.0.as_ptr().cast::<Pointer>();
        #[cfg(not(Py_3_11))]
        // SAFETY: frames have more words than that.
        return unsafe { words.add(7) };
        #[cfg(Py_3_11)]
        // SAFETY: as above, and the inner frame lives as long as the frame object.
        return unsafe { (*words.add(3)).cast::<Pointer>().add(3) };
    }

    /// Returns another reference to the same frame.
    #[cfg(not(Py_3_12))]
    pub(super) fn duplicate(&self) -> Option<PythonFrame<'py>> {
        Some(PythonFrame(self.0.clone()))
    }

    /// Returns the current line of the frame.
    #[cfg(not(Py_3_12))]
    pub(super) fn line(&self) -> Option<u32> {
        self.0
            .getattr(intern!(self.0.py(), "f_lineno"))
            .ok()?
            .extract()
            .ok()
    }

    /// Returns the offset of the current instruction of the frame.
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
