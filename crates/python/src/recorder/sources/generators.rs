//! What generators are told: `send`, `throw` and `close`.
//!
//! The interpreter says that a generator goes on, but not with what. So the methods of the type itself are replaced once
//! the first generator is watched, and what they are called with is there when the generator is seen to go on.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use super::super::{names, with};
use super::install::{Replaced, replaced, set_in_type};
use super::plain_call;
use crate::sight::Pointer;

/// What a generator is told.
pub(in crate::recorder) enum Told {
    Sent(Py<PyAny>),
    Thrown(Py<PyAny>),
    Closed,
}

thread_local! {
    /// The frame of the generator that is being told something by this thread, and what.
    static TELLING: RefCell<Option<(usize, Told)>> = const { RefCell::new(None) };
}

static IS_WATCHED: AtomicBool = AtomicBool::new(false);

/// What the generator with this frame is told, if it is told anything.
pub(in crate::recorder) fn told(frame: usize) -> Option<Told> {
    TELLING.with_borrow_mut(|telling| {
        let (_, told) = telling.take_if(|(of, _)| *of == frame)?;
        Some(told)
    })
}

/// Replaces the methods, unless they are already.
pub(in crate::recorder) fn watch(python: Python<'_>) {
    if IS_WATCHED.swap(true, Ordering::Relaxed) {
        return;
    }
    // Whatever goes wrong, generators are only told apart less well.
    let _ = replace(python);
}

/// The methods are put back.
pub(super) fn forget() {
    #[cfg(Py_3_13)]
    finalizer::put_back();
    IS_WATCHED.store(false, Ordering::Relaxed);
}

fn replace(python: Python<'_>) -> PyResult<()> {
    let class = python.import("types")?.getattr("GeneratorType")?;
    let class = class.cast_into::<PyType>()?;
    #[cfg(Py_3_13)]
    finalizer::replace();
    for name in ["send", "throw", "close"] {
        let Some(had) = names::namespace(&class).and_then(|own| names::entry(&own, name)) else {
            continue;
        };
        let method = Method {
            original: had.clone().unbind(),
            name,
        };
        set_in_type(&class, name, Bound::new(python, method)?.as_any())?;
        let class = class.clone().unbind();
        replaced(Replaced::OfType(class, name.to_owned(), had.unbind()));
    }
    Ok(())
}

/// A method of generators, found in their type.
#[pyclass(frozen, module = "testwright", name = "method")]
struct Method {
    original: Py<PyAny>,
    name: &'static str,
}

#[pymethods]
impl Method {
    fn __get__<'py>(
        method: Bound<'py, Method>,
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
        let bound = BoundMethod {
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

/// The same for one generator.
#[pyclass(frozen, module = "testwright", name = "builtin_function_or_method")]
struct BoundMethod {
    original: Py<PyAny>,
    generator: Py<PyAny>,
    name: &'static str,
}

#[pymethods]
impl BoundMethod {
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

/// Has the methods called without anything of ours that could not be undone.
pub(super) fn prepare(python: Python<'_>) {
    plain_call::set_call::<BoundMethod>(python, call);
    plain_call::set_call::<Method>(python, call_unbound);
}

unsafe extern "C-unwind" fn call(
    method: Pointer,
    arguments: Pointer,
    keywords: Pointer,
) -> Pointer {
    // SAFETY: the interpreter calls this with a method, a tuple, and a dictionary or null, which live as long as the
    // call. In between nothing is on the stack but numbers.
    unsafe {
        let original = begin(method, arguments);
        if original.is_null() {
            return original;
        }
        let answer = plain_call::plain_call(original, arguments, keywords);
        end();
        answer
    }
}

/// The same for a method that was not asked of a generator, but of the type: it becomes one first.
unsafe extern "C-unwind" fn call_unbound(
    method: Pointer,
    arguments: Pointer,
    keywords: Pointer,
) -> Pointer {
    let bound = plain_call::aside(|python| -> PyResult<(Pointer, Pointer)> {
        // SAFETY: as the interpreter calls this.
        let (method, arguments) = unsafe {
            (
                Bound::from_borrowed_ptr(python, method).cast_into::<Method>()?,
                Bound::from_borrowed_ptr(python, arguments).cast_into::<PyTuple>()?,
            )
        };
        let generator = arguments.get_item(0)?;
        let bound = Method::__get__(method, Some(generator), None)?;
        let rest = arguments.get_slice(1, arguments.len());
        Ok((bound.into_ptr(), rest.into_ptr()))
    });
    let (function, rest) = match bound {
        Some(Ok(bound)) => bound,
        Some(Err(error)) => {
            plain_call::aside(|python| error.restore(python));
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
    /// What was being told around this call.
    static AROUND: RefCell<Vec<Option<(usize, Told)>>> = const { RefCell::new(Vec::new()) };
}

/// Takes note of what a generator is told. The function to call, a reference of the caller's.
///
/// # Safety
/// As [`call`] is called.
unsafe fn begin(method: Pointer, arguments: Pointer) -> Pointer {
    let original = plain_call::aside(|python| {
        // SAFETY: as the caller promises.
        let (method, arguments) = unsafe {
            (
                Bound::from_borrowed_ptr(python, method),
                Bound::from_borrowed_ptr(python, arguments),
            )
        };
        let method = method.cast::<BoundMethod>().ok()?.get();
        let first = arguments.cast::<PyTuple>().ok()?.get_item(0).ok();
        let said = match (method.name, first.map(Bound::unbind)) {
            ("send", Some(value)) => Some(Told::Sent(value)),
            ("throw", Some(error)) => Some(Told::Thrown(error)),
            ("close", _) => Some(Told::Closed),
            _ => None,
        };
        // A generator that has ended has none.
        let frame = method.generator.bind(python).getattr("gi_frame").ok();
        let frame = frame.filter(|frame| !frame.is_none());
        let frame = frame.map(|frame| frame.as_ptr() as usize);
        let around = TELLING.replace(frame.zip(said));
        AROUND.with_borrow_mut(|all| all.push(around));
        Some(method.original.clone_ref(python).into_ptr())
    });
    original.flatten().unwrap_or(std::ptr::null_mut())
}

fn end() {
    plain_call::aside(|python| {
        let around = AROUND.with_borrow_mut(Vec::pop).flatten();
        let left = TELLING.replace(around);
        if let Some((frame, Told::Closed)) = left {
            close(python, frame);
        }
    });
}

/// A generator is closed. If it still waits, it has ended without going on: since 3.13 that happens to those that have
/// nothing to do on their way out.
fn close(python: Python<'_>, frame: usize) {
    with(python, |recorder| {
        let closed = recorder.close(python, frame);
        recorder.note_trouble(closed);
    });
}

/// Generators that nobody needs any more are closed, too, but not by the method.
#[cfg(Py_3_13)]
mod finalizer {
    use std::sync::OnceLock;

    use pyo3::ffi;
    use pyo3::prelude::*;

    use super::super::plain_call;
    use crate::recorder::with;
    use crate::sight::Pointer;

    /// Like all that calls code of the program, it may be undone.
    type Finalizer = unsafe extern "C-unwind" fn(Pointer);

    static ORIGINAL: OnceLock<Finalizer> = OnceLock::new();

    /// Where the type of generators has its finalizer.
    fn place() -> *mut Option<Finalizer> {
        // SAFETY: the type is always there, and only the address of one of its parts is taken.
        unsafe { (&raw mut (*(&raw mut ffi::PyGen_Type)).tp_finalize).cast() }
    }

    pub(super) fn replace() {
        // SAFETY: the lock is held, and the function is of the right kind.
        unsafe {
            if let Some(original) = *place() {
                let _ = ORIGINAL.set(original);
                *place() = Some(finalize);
            }
        }
    }

    pub(super) fn put_back() {
        if let Some(original) = ORIGINAL.get() {
            // SAFETY: the lock is held, and this is what was there.
            unsafe { *place() = Some(*original) };
        }
    }

    /// # Safety
    /// As the interpreter calls it: with the lock held, and a generator.
    unsafe extern "C-unwind" fn finalize(generator: Pointer) {
        let frame = plain_call::aside(|python| {
            with(python, |recorder| recorder.has_waiting()).filter(|has| *has)?;
            // SAFETY: as the interpreter promises.
            let generator = unsafe { Bound::from_borrowed_ptr(python, generator) };
            let frame = generator.getattr("gi_frame").ok();
            let frame = frame.filter(|frame| !frame.is_none())?;
            Some(frame.as_ptr() as usize)
        });
        if let Some(original) = ORIGINAL.get() {
            // SAFETY: as the interpreter would have called it.
            unsafe { original(generator) };
        }
        if let Some(frame) = frame.flatten() {
            plain_call::aside(|python| super::close(python, frame));
        }
    }
}
