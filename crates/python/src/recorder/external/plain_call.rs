//! Calls that may be unwound by an exiting interpreter.
//!
//! When an interpreter exits, it ends the remaining threads wherever they wait, by unwinding their
//! stacks. Rust frames with destructors, or that catch panics, cannot be unwound that way: the
//! process would abort. So the interpreter calls our wrappers directly ([`set_call`]). They do
//! their work before and after the original call in functions that have returned by then, and have
//! nothing on the stack during the call itself ([`plain_call`]).

use std::ffi::c_void;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::type_object::PyTypeInfo;

use crate::reachability::Pointer;

/// The C function behind `wrapper(*arguments, **keywords)`.
pub(super) type CallSlot = unsafe extern "C-unwind" fn(Pointer, Pointer, Pointer) -> Pointer;

unsafe extern "C-unwind" {
    /// `PyObject_Call`, declared again because pyo3's declaration does not allow unwinding.
    #[link_name = "PyObject_Call"]
    fn call_object(function: Pointer, arguments: Pointer, keywords: Pointer) -> Pointer;
}

/// Makes the interpreter call this function for all objects of a class.
pub(super) fn set_call<T: PyTypeInfo>(python: Python<'_>, function: CallSlot) {
    let class = T::type_object(python);
    // SAFETY: the class is ours and the lock is held. The two function types differ only in that
    // one may unwind.
    unsafe {
        let function =
            std::mem::transmute::<*const c_void, ffi::ternaryfunc>(function as *const c_void);
        (*class.as_type_ptr()).tp_call = Some(function);
        ffi::PyType_Modified(class.as_type_ptr());
    }
}

/// Calls a function, and releases the reference to it.
///
/// # Safety
///
/// The lock is held, and the objects are valid arguments of a call. The caller must have no
/// destructors to run.
pub(super) unsafe fn plain_call(
    function: Pointer,
    arguments: Pointer,
    keywords: Pointer,
) -> Pointer {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let answer = call_object(function, arguments, keywords);
        ffi::Py_DECREF(function);
        answer
    }
}

/// Runs `work` and catches panics. Returns `None` after a panic, without setting an exception.
pub(super) fn run_guarded<R>(work: impl FnOnce(Python<'_>) -> R) -> Option<R> {
    let work = std::panic::AssertUnwindSafe(|| Python::attach(work));
    std::panic::catch_unwind(work).ok()
}
