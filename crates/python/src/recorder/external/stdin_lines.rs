//! Lines that a loop reads from standard input: `for line in sys.stdin`.
//!
//! The loop calls no method, so the iteration function in the type of the stream is replaced.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::super::names;
use super::super::with_recorder;
use super::DEPTH;
use crate::reachability::Pointer;

/// The address of the current standard input, or 0.
static STREAM: AtomicUsize = AtomicUsize::new(0);

/// Types whose iteration function was replaced, by address, and the original function.
static WATCHED: Mutex<Vec<(usize, ffi::iternextfunc)>> = Mutex::new(Vec::new());

/// Watches a stream as the standard input.
pub(super) fn watch_lines(stream: &Bound<'_, PyAny>) {
    let class = stream.get_type();
    let reference = names::class_reference(&class);
    let is_known = matches!(reference.path.as_str(), "TextIOWrapper" | "StringIO")
        && matches!(reference.module.as_str(), "_io" | "io");
    if !is_known {
        STREAM.store(0, Ordering::Relaxed);
        return;
    }
    STREAM.store(stream.as_ptr() as usize, Ordering::Relaxed);
    let address = class.as_type_ptr();
    let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    if watched.iter().any(|(known, _)| *known == address as usize) {
        return;
    }
    // SAFETY: the interpreter's lock is held, and the function has the right type and lives
    // forever.
    unsafe {
        if let Some(original) = (*address).tp_iternext {
            watched.push((address as usize, original));
            // The two function types differ only in that one may unwind.
            type Unwound = unsafe extern "C-unwind" fn(Pointer) -> Pointer;
            let function = std::mem::transmute::<Unwound, ffi::iternextfunc>(next_line);
            (*address).tp_iternext = Some(function);
        }
    }
}

/// Restores the original functions.
pub(super) fn unwatch_lines() {
    STREAM.store(0, Ordering::Relaxed);
    let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    for (address, original) in watched.drain(..) {
        // SAFETY: the interpreter's lock is held, and types of the standard library live forever.
        unsafe { (*(address as *mut ffi::PyTypeObject)).tp_iternext = Some(original) };
    }
}

/// Returns the next line of a stream, and records it. May be unwound while it waits for a line: see
/// `plain_call`.
unsafe extern "C-unwind" fn next_line(stream: Pointer) -> Pointer {
    // SAFETY: the interpreter calls this with a stream that is alive.
    let mut class = unsafe { ffi::Py_TYPE(stream) };
    let original = loop {
        let watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        let known = watched
            .iter()
            .find(|(known, _)| *known == class as usize)
            .map(|(_, original)| *original);
        drop(watched);
        match known {
            Some(original) => break Some(original),
            None if class.is_null() => break None,
            // A derived class inherits the function.
            // SAFETY: the bases of a type that is alive are alive.
            None => class = unsafe { (*class).tp_base },
        }
    };
    let Some(original) = original else {
        // The program kept this function after it was restored; there is no original to call.
        return std::ptr::null_mut();
    };
    // SAFETY: called as the interpreter calls this. There is nothing to clean up while it waits.
    let line = unsafe {
        let original: unsafe extern "C-unwind" fn(Pointer) -> Pointer =
            std::mem::transmute(original);
        original(stream)
    };
    if !line.is_null() && stream as usize == STREAM.load(Ordering::Relaxed) && DEPTH.get() == 0 {
        // No panic may cross into C.
        let _ = std::panic::catch_unwind(|| {
            Python::attach(|python| {
                // SAFETY: the line is alive.
                let line = unsafe { Bound::from_borrowed_ptr(python, line) };
                if let Ok(line) = line.cast::<PyString>() {
                    let line = line.to_string_lossy().into_owned();
                    with_recorder(python, |recorder| recorder.record_input_line(&line));
                }
            });
        });
    }
    line
}
