//! The inputs of generators: `send`, `throw` and `close`.
//!
//! The interpreter reports that a generator resumes, but not the value sent. So the methods of the
//! generator type are replaced when the first generator is recorded. They note their arguments,
//! which the recorder takes when it sees the generator resume.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use super::super::{names, with_recorder};
use super::install::{Replacement, record_replacement, set_in_type};
use super::plain_call;
use crate::reachability::Pointer;

/// An input that resumes a generator.
pub(in crate::recorder) enum GeneratorInput {
    /// A value sent with `send`.
    Sent(Py<PyAny>),
    /// An exception thrown with `throw`.
    Thrown(Py<PyAny>),
    /// A call of `close`.
    Closed,
}

thread_local! {
    /// The frame of the generator that this thread is resuming through one of the methods, and the
    /// input.
    static CURRENT_INPUT: RefCell<Option<(usize, GeneratorInput)>> = const { RefCell::new(None) };
}

/// True while the methods are replaced.
static IS_WATCHED: AtomicBool = AtomicBool::new(false);

/// Takes the input of the generator with this frame, if there is any.
pub(in crate::recorder) fn take_input(frame: usize) -> Option<GeneratorInput> {
    CURRENT_INPUT.with_borrow_mut(|current| {
        let (_, input) = current.take_if(|(of, _)| *of == frame)?;
        Some(input)
    })
}

/// Replaces the methods, unless they are already replaced.
pub(in crate::recorder) fn watch(python: Python<'_>) {
    if IS_WATCHED.swap(true, Ordering::Relaxed) {
        return;
    }
    // If this fails, inputs of generators are missing, and nothing else.
    let _ = replace(python);
}

/// Forgets that the methods are replaced; `uninstall` restores them.
pub(super) fn unwatch() {
    #[cfg(Py_3_13)]
    finalizer::restore();
    IS_WATCHED.store(false, Ordering::Relaxed);
}

/// Replaces the three methods in the generator type.
fn replace(python: Python<'_>) -> PyResult<()> {
    let class = python.import("types")?.getattr("GeneratorType")?;
    let class = class.cast_into::<PyType>()?;
    #[cfg(Py_3_13)]
    finalizer::replace();
    for name in ["send", "throw", "close"] {
        let Some(original) =
            names::class_namespace(&class).and_then(|own| names::entry(&own, name))
        else {
            continue;
        };
        let method = GeneratorMethod {
            original: original.clone().unbind(),
            name,
        };
        set_in_type(&class, name, Bound::new(python, method)?.as_any())?;
        let class = class.clone().unbind();
        record_replacement(Replacement::TypeEntry(
            class,
            name.to_owned(),
            original.unbind(),
        ));
    }
    Ok(())
}

/// A method of the generator type that notes its arguments.
#[pyclass(frozen, module = "testwright", name = "method")]
struct GeneratorMethod {
    original: Py<PyAny>,
    name: &'static str,
}

#[pymethods]
impl GeneratorMethod {
    fn __get__<'py>(
        method: Bound<'py, GeneratorMethod>,
        instance: Option<Bound<'py, PyAny>>,
        class: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let python = method.py();
        let own = method.get();
        let Some(instance) = instance else {
            let class = class.unwrap_or_else(|| python.None().into_bound(python));
            let original = own.original.bind(python);
            return original.call_method1("__get__", (python.None(), class));
        };
        let original = own.original.bind(python);
        let bound = BoundGeneratorMethod {
            original: original.call_method1("__get__", (&instance,))?.unbind(),
            generator: instance.unbind(),
            name: own.name,
        };
        Ok(Bound::new(python, bound)?.into_any())
    }

    fn __getattr__<'py>(
        &self,
        python: Python<'py>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.original
            .bind(python)
            .getattr(name.cast::<pyo3::types::PyString>()?)
    }
}

/// A method bound to one generator.
#[pyclass(frozen, module = "testwright", name = "builtin_function_or_method")]
struct BoundGeneratorMethod {
    original: Py<PyAny>,
    generator: Py<PyAny>,
    name: &'static str,
}

#[pymethods]
impl BoundGeneratorMethod {
    fn __getattr__<'py>(
        &self,
        python: Python<'py>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.original
            .bind(python)
            .getattr(name.cast::<pyo3::types::PyString>()?)
    }

    fn __repr__(&self, python: Python<'_>) -> PyResult<String> {
        Ok(self.original.bind(python).repr()?.to_string())
    }
}

/// Makes the interpreter call the methods through functions that can be unwound; see `plain_call`.
pub(super) fn install_call_slots(python: Python<'_>) {
    plain_call::set_call::<BoundGeneratorMethod>(python, call);
    plain_call::set_call::<GeneratorMethod>(python, call_unbound);
}

/// Calls a bound method.
unsafe extern "C-unwind" fn call(
    method: Pointer,
    arguments: Pointer,
    keywords: Pointer,
) -> Pointer {
    // SAFETY: the interpreter calls this with a method, a tuple, and a dictionary or null, which
    // live as long as the call. During the original call only plain values are on the stack.
    unsafe {
        let original = begin_call(method, arguments);
        if original.is_null() {
            return original;
        }
        let answer = plain_call::plain_call(original, arguments, keywords);
        end_call();
        answer
    }
}

/// Calls an unbound method, taken from the type: binds it to its first argument and calls that.
unsafe extern "C-unwind" fn call_unbound(
    method: Pointer,
    arguments: Pointer,
    keywords: Pointer,
) -> Pointer {
    let bound = plain_call::run_guarded(|python| -> PyResult<(Pointer, Pointer)> {
        // SAFETY: as the interpreter calls this.
        let (method, arguments) = unsafe {
            (
                Bound::from_borrowed_ptr(python, method).cast_into::<GeneratorMethod>()?,
                Bound::from_borrowed_ptr(python, arguments).cast_into::<PyTuple>()?,
            )
        };
        let generator = arguments.get_item(0)?;
        let bound = GeneratorMethod::__get__(method, Some(generator), None)?;
        let rest = arguments.get_slice(1, arguments.len());
        Ok((bound.into_ptr(), rest.into_ptr()))
    });
    let (function, rest) = match bound {
        Some(Ok(bound)) => bound,
        Some(Err(error)) => {
            plain_call::run_guarded(|python| error.restore(python));
            return std::ptr::null_mut();
        }
        None => return std::ptr::null_mut(),
    };
    // SAFETY: both references are ours; the lock is held.
    unsafe {
        let answer = plain_call::plain_call(function, rest, keywords);
        ffi::Py_DECREF(rest);
        answer
    }
}

thread_local! {
    /// Inputs of the enclosing calls of these methods: a generator may resume another one.
    static OUTER_INPUTS: RefCell<Vec<Option<(usize, GeneratorInput)>>> = const { RefCell::new(Vec::new()) };
}

/// Notes the input of a generator. Returns the function to call, as an owned reference, or null.
///
/// # Safety
///
/// Must be called with the arguments of [`call`].
unsafe fn begin_call(method: Pointer, arguments: Pointer) -> Pointer {
    let original = plain_call::run_guarded(|python| {
        // SAFETY: guaranteed by the caller.
        let (method, arguments) = unsafe {
            (
                Bound::from_borrowed_ptr(python, method),
                Bound::from_borrowed_ptr(python, arguments),
            )
        };
        let method = method.cast::<BoundGeneratorMethod>().ok()?.get();
        let first = arguments.cast::<PyTuple>().ok()?.get_item(0).ok();
        let input = match (method.name, first.map(Bound::unbind)) {
            ("send", Some(value)) => Some(GeneratorInput::Sent(value)),
            ("throw", Some(error)) => Some(GeneratorInput::Thrown(error)),
            ("close", _) => Some(GeneratorInput::Closed),
            _ => None,
        };
        // A generator that has ended has no frame.
        let frame = method.generator.bind(python).getattr("gi_frame").ok();
        let frame = frame.filter(|frame| !frame.is_none());
        let frame = frame.map(|frame| frame.as_ptr() as usize);
        let outer = CURRENT_INPUT.replace(frame.zip(input));
        OUTER_INPUTS.with_borrow_mut(|all| all.push(outer));
        Some(method.original.clone_ref(python).into_ptr())
    });
    original.flatten().unwrap_or(std::ptr::null_mut())
}

/// Restores the input of the enclosing call, and reports a close that did not resume the generator.
fn end_call() {
    plain_call::run_guarded(|python| {
        let outer = OUTER_INPUTS.with_borrow_mut(Vec::pop).flatten();
        let left = CURRENT_INPUT.replace(outer);
        if let Some((frame, GeneratorInput::Closed)) = left {
            report_closed(python, frame);
        }
    });
}

/// Reports that a generator was closed. If it is still suspended, it has ended without resuming:
/// since 3.13 that happens if it has no cleanup to run.
fn report_closed(python: Python<'_>, frame: usize) {
    with_recorder(python, |recorder| {
        let closed = recorder.close_generator(python, frame);
        recorder.report_error(closed);
    });
}

/// The finalizer of generators, which closes those that are no longer referenced.
#[cfg(Py_3_13)]
mod finalizer {
    use std::sync::OnceLock;

    use pyo3::ffi;
    use pyo3::prelude::*;

    use super::super::plain_call;
    use crate::reachability::Pointer;
    use crate::recorder::with_recorder;

    /// The signature of a finalizer. Like everything that calls code of the program, it may unwind.
    type Finalizer = unsafe extern "C-unwind" fn(Pointer);

    /// The finalizer of the interpreter.
    static ORIGINAL: OnceLock<Finalizer> = OnceLock::new();

    /// Returns the field of the generator type that holds its finalizer.
    fn finalizer_slot() -> *mut Option<Finalizer> {
        // SAFETY: the type lives forever, and only the address of one of its fields is taken.
        unsafe { (&raw mut (*(&raw mut ffi::PyGen_Type)).tp_finalize).cast() }
    }

    /// Installs [`finalize`].
    pub(super) fn replace() {
        // SAFETY: the lock is held, and the function has the right type.
        unsafe {
            if let Some(original) = *finalizer_slot() {
                let _ = ORIGINAL.set(original);
                *finalizer_slot() = Some(finalize);
            }
        }
    }

    /// Restores the interpreter's finalizer.
    pub(super) fn restore() {
        if let Some(original) = ORIGINAL.get() {
            // SAFETY: the lock is held, and this is the original function.
            unsafe { *finalizer_slot() = Some(*original) };
        }
    }

    /// Runs the interpreter's finalizer, and reports the generator as closed.
    ///
    /// # Safety
    ///
    /// Must be called as the interpreter calls it: with the lock held, and a generator.
    unsafe extern "C-unwind" fn finalize(generator: Pointer) {
        let frame = plain_call::run_guarded(|python| {
            with_recorder(python, |recorder| recorder.has_suspended()).filter(|has| *has)?;
            // SAFETY: guaranteed by the interpreter.
            let generator = unsafe { Bound::from_borrowed_ptr(python, generator) };
            let frame = generator.getattr("gi_frame").ok();
            let frame = frame.filter(|frame| !frame.is_none())?;
            Some(frame.as_ptr() as usize)
        });
        if let Some(original) = ORIGINAL.get() {
            // SAFETY: the interpreter would have called it in the same way.
            unsafe { original(generator) };
        }
        if let Some(frame) = frame.flatten() {
            plain_call::run_guarded(|python| super::report_closed(python, frame));
        }
    }
}
