//! The context of a call: its receiver, its caller, and the origin of its exception.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyTraceback, PyType};
use testwright_capture::Receiver;

use super::frame::PythonFrame;
use super::names;

/// Returns the role of the first argument of a method, judged by the class in the unit's qualified
/// name.
pub(super) fn receiver(name: &str, module: &str, first: Option<&Bound<'_, PyAny>>) -> Receiver {
    let (Some((class_path, _)), Some(first)) = (name.rsplit_once('.'), first) else {
        return Receiver::None;
    };
    // Only the packages are compared: packages let classes claim the module that users import them
    // from.
    let package = |module: &str| module.split('.').next().map(str::to_owned);
    let is_of = |class: &Bound<'_, PyType>| {
        names::method_resolution_order(class).iter().any(|base| {
            let reference = names::class_reference(base);
            reference.path == class_path && package(&reference.module) == package(module)
        })
    };
    if let Ok(class) = first.cast::<PyType>()
        && is_of(class)
    {
        return Receiver::Class(names::class_reference(class));
    }
    let class = first.get_type();
    if is_of(&class) {
        Receiver::Instance(names::class_reference(&class))
    } else {
        Receiver::None
    }
}

/// Returns true if the caller of a frame is a method of the same object.
pub(super) fn is_called_by_own_method(frame: &PythonFrame<'_>, object: &Bound<'_, PyAny>) -> bool {
    let caller = frame.caller();
    let first = caller.and_then(|caller| {
        let code = caller.code()?;
        let count: usize = code.getattr("co_argcount").ok()?.extract().ok()?;
        let names: Vec<String> = code.getattr("co_varnames").ok()?.extract().ok()?;
        caller.variable(names.first().filter(|_| count > 0)?)
    });
    first.is_some_and(|first| first.is(object))
}

/// Returns true if an exception was raised in the frame that it is leaving.
pub(super) fn is_raised_here(exception: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the type is checked; all exceptions share this layout.
    let traceback = unsafe {
        if ffi::PyExceptionInstance_Check(exception.as_ptr()) == 0 {
            return true;
        }
        let parts = &*exception.as_ptr().cast::<ffi::PyBaseExceptionObject>();
        Bound::from_borrowed_ptr_or_opt(exception.py(), parts.traceback)
    };
    let traceback = traceback.and_then(|one| one.cast_into::<PyTraceback>().ok());
    traceback.is_none_or(|traceback| {
        traceback
            .getattr("tb_next")
            .is_ok_and(|next| next.is_none())
    })
}

/// Returns the value yielded by an asynchronous generator, or `None` if it only awaits something.
pub(super) fn yielded_value<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    if names::class_reference(&value.get_type()).path != "async_generator_wrapped_value" {
        return None;
    }
    // SAFETY: objects of this type hold one other object, right after the object header.
    unsafe {
        let inner = value.as_ptr().cast::<ffi::PyObject>().add(1);
        Bound::from_borrowed_ptr_or_opt(value.py(), *inner.cast::<*mut ffi::PyObject>())
    }
}
