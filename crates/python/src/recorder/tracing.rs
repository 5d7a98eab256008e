//! Events before 3.12, as the interpreter tells them to tracing tools.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::calls::{Left, Standing};
use super::frame::Frame;
use super::with;

/// Whether anybody listens.
static IS_ON: AtomicBool = AtomicBool::new(false);
/// Operations after which a frame waits and has not ended, by number: a bit each.
static YIELDS: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];
/// The operation with which frames begin and go on, since 3.11.
#[cfg(Py_3_11)]
static RESUME: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The frame of the innermost call that is being recorded in this thread: the only one whose lines matter.
    static INNERMOST: Cell<usize> = const { Cell::new(0) };
    /// The frames of modules of the project that are being run by this thread.
    static MODULES: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Whether the end of a frame, or an exception in it, says anything new.
fn matters(frame: usize) -> bool {
    INNERMOST.get() == frame || MODULES.with_borrow(|modules| modules.last() == Some(&frame))
}

/// What asks the interpreter for events.
pub(super) struct Listener;

impl Listener {
    pub(super) fn start(python: Python<'_>) -> PyResult<()> {
        let numbers = python.import("opcode")?.getattr("opmap")?;
        for name in ["YIELD_VALUE", "YIELD_FROM"] {
            if let Ok(number) = numbers.get_item(name) {
                let number: usize = number.extract()?;
                YIELDS[number / 64].fetch_or(1 << (number % 64), Ordering::Relaxed);
            }
        }
        #[cfg(Py_3_11)]
        RESUME.store(numbers.get_item("RESUME")?.extract()?, Ordering::Relaxed);
        IS_ON.store(true, Ordering::Relaxed);
        // Threads that begin later listen by themselves.
        let begin = wrap_pyfunction!(begin_in_thread, python)?;
        python
            .import("threading")?
            .call_method1("settrace", (begin,))?;
        listen();
        Ok(())
    }

    pub(super) fn stop(python: Python<'_>) -> PyResult<()> {
        if IS_ON.swap(false, Ordering::Relaxed) {
            python
                .import("threading")?
                .call_method1("settrace", (python.None(),))?;
            // SAFETY: nobody listens in this thread any more; others stop at their next event.
            unsafe { ffi::PyEval_SetTrace(None, null_mut()) };
        }
        Ok(())
    }
}

/// Has the interpreter tell this thread's events.
fn listen() {
    // SAFETY: the lock is held, and the function is of the right kind.
    unsafe { ffi::PyEval_SetTrace(Some(on_event), null_mut()) };
}

/// What a new thread calls first, as a tracing tool made in Python.
#[pyfunction]
#[pyo3(signature = (*_arguments))]
fn begin_in_thread(_arguments: &Bound<'_, pyo3::types::PyTuple>) {
    if IS_ON.load(Ordering::Relaxed) {
        listen();
    }
}

/// # Safety
/// As the interpreter calls it: with the lock held and a frame.
unsafe extern "C" fn on_event(
    _object: *mut ffi::PyObject,
    frame: *mut ffi::PyFrameObject,
    what: c_int,
    argument: *mut ffi::PyObject,
) -> c_int {
    let is_of_interest = match what {
        ffi::PyTrace_CALL => true,
        ffi::PyTrace_LINE => INNERMOST.get() == frame as usize,
        _ => matters(frame as usize),
    };
    if !is_of_interest {
        return 0;
    }
    // No panic may cross into C, and nothing that goes wrong here may come out of the program.
    let _ = std::panic::catch_unwind(|| {
        // The lock is held already; but objects that are let go die at once only where this library knows it, too.
        // SAFETY: as the interpreter promises.
        Python::attach(|python| unsafe {
            if !IS_ON.load(Ordering::Relaxed) {
                ffi::PyEval_SetTrace(None, null_mut());
                return;
            }
            let frame = Frame::from_pointer(python, frame);
            let argument = Bound::from_borrowed_ptr_or_opt(python, argument);
            handle(python, &frame, what, argument.as_ref());
        });
    });
    0
}

fn handle(python: Python<'_>, frame: &Frame<'_>, what: c_int, argument: Option<&Bound<'_, PyAny>>) {
    let Some(code) = frame.code() else {
        return;
    };
    let address = code.as_ptr() as usize;
    with(python, |recorder| {
        match what {
            ffi::PyTrace_CALL => {
                // A frame that waited goes on; any other begins.
                if recorder.has_waiting() && recorder.is_unit(address) && has_begun(frame) {
                    recorder.go_on(python, frame.address());
                } else if !has_begun(frame) {
                    let again = || frame.same();
                    match recorder.enter(&code, again) {
                        Ok(Standing::Module) => {
                            MODULES.with_borrow_mut(|modules| modules.push(frame.address()));
                        }
                        Ok(Standing::Recorded | Standing::Passed | Standing::Foreign) => {}
                        Err(error) => recorder.note_trouble(Err(error)),
                    }
                }
            }
            ffi::PyTrace_LINE => {
                if let Some(line) = frame.line() {
                    recorder.reach_line(address, line);
                }
            }
            ffi::PyTrace_EXCEPTION => {
                let exception = argument.and_then(|all| all.get_item(1).ok());
                recorder.note_exception(frame.address(), exception);
            }
            ffi::PyTrace_RETURN => {
                MODULES.with_borrow_mut(|modules| {
                    modules.pop_if(|module| *module == frame.address());
                });
                returns(recorder, frame, &code, argument);
            }
            _ => {}
        }
        INNERMOST.set(recorder.innermost_frame());
    });
}

fn returns(
    recorder: &mut super::Recorder,
    frame: &Frame<'_>,
    code: &Bound<'_, pyo3::types::PyCode>,
    value: Option<&Bound<'_, PyAny>>,
) {
    let left = match value {
        Some(value) if is_waiting(frame, code) => {
            recorder.wait(frame, value);
            return;
        }
        Some(value) => recorder.leave(frame, Left::With(value)),
        None => match recorder.exception_of(frame.address()) {
            Some(exception) => {
                let exception = exception.bind(code.py());
                recorder.leave(frame, Left::By(exception))
            }
            None => Ok(()),
        },
    };
    recorder.note_trouble(left);
}

/// Whether a frame has run before: it goes on now.
fn has_begun(frame: &Frame<'_>) -> bool {
    #[cfg(Py_3_11)]
    {
        let Some(code) = frame.code() else {
            return false;
        };
        let instruction = frame.offset().and_then(|offset| {
            let bytes = code.getattr("co_code").ok()?;
            let bytes = bytes.cast::<PyBytes>().ok()?.as_bytes();
            Some((*bytes.get(offset)?, *bytes.get(offset + 1)?))
        });
        // Where an exception is thrown into a frame that waits, it stands at any other operation.
        instruction.is_some_and(|(operation, argument)| {
            u64::from(operation) != RESUME.load(Ordering::Relaxed) || argument & 3 != 0
        })
    }
    #[cfg(not(Py_3_11))]
    {
        frame.offset().is_some()
    }
}

/// Whether a frame that hands out a value has stopped at a `yield` or `await`.
fn is_waiting(frame: &Frame<'_>, code: &Bound<'_, pyo3::types::PyCode>) -> bool {
    let is_generator = code
        .getattr("co_flags")
        .and_then(|flags| flags.extract::<u32>());
    if is_generator.is_ok_and(|flags| flags & 0x2a0 == 0) {
        return false;
    }
    let Ok(bytes) = code.getattr("co_code") else {
        return false;
    };
    let Ok(bytes) = bytes.cast::<PyBytes>() else {
        return false;
    };
    let operation = |offset: usize| bytes.as_bytes().get(offset).copied();
    let is_yield = |offset: usize| {
        let number = usize::from(operation(offset).unwrap_or(0));
        YIELDS[number / 64].load(Ordering::Relaxed) >> (number % 64) & 1 == 1
    };
    let Some(offset) = frame.offset() else {
        return false;
    };
    // Until 3.10 a frame that waits in a `yield from` stands before it, to do it again.
    is_yield(offset) || cfg!(not(Py_3_11)) && is_yield(offset + 2)
}
