//! Calling a function that may never come back.
//!
//! When an interpreter ends, it ends threads that still run in the middle of whatever they wait in, by undoing their
//! calls one by one. Calls of Rust functions that would have something to tidy up, or that catch panics, cannot be
//! undone: the process would be aborted instead. So what stands for a function of the program is called by the
//! interpreter directly ([`set_call`]), works before and after in functions that have ended by then, and in between
//! has nothing on the stack but a call ([`plain_call`]).

use std::ffi::c_void;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::type_object::PyTypeInfo;

use crate::sight::Pointer;

/// What the interpreter calls for `stand(*arguments, **keywords)`.
pub(super) type Call = unsafe extern "C-unwind" fn(Pointer, Pointer, Pointer) -> Pointer;

unsafe extern "C-unwind" {
    /// Declared here once more because it may be undone, which the usual declaration excludes.
    #[link_name = "PyObject_Call"]
    fn call_object(function: Pointer, arguments: Pointer, keywords: Pointer) -> Pointer;
}

/// Has the interpreter call this function for all objects of a class.
pub(super) fn set_call<T: PyTypeInfo>(python: Python<'_>, function: Call) {
    let class = T::type_object(python);
    // SAFETY: the class is ours and the lock is held. The two kinds of functions differ in nothing but that one may be
    // undone while it runs.
    unsafe {
        let function =
            std::mem::transmute::<*const c_void, ffi::ternaryfunc>(function as *const c_void);
        (*class.as_type_ptr()).tp_call = Some(function);
        ffi::PyType_Modified(class.as_type_ptr());
    }
}

/// Calls a function, whose reference is given away.
///
/// # Safety
///
/// The lock is held, and the objects are what the interpreter gives to a call. Whoever calls this has nothing to tidy up.
pub(super) unsafe fn plain_call(
    function: Pointer,
    arguments: Pointer,
    keywords: Pointer,
) -> Pointer {
    // SAFETY: as the caller promises.
    unsafe {
        let answer = call_object(function, arguments, keywords);
        ffi::Py_DECREF(function);
        answer
    }
}

/// Does something in between; `None` if that fails, which is nobody else's business, and leaves no exception.
pub(super) fn aside<R>(work: impl FnOnce(Python<'_>) -> R) -> Option<R> {
    let work = std::panic::AssertUnwindSafe(|| Python::attach(work));
    std::panic::catch_unwind(work).ok()
}
