//! Events before 3.12.
//!
//! The interpreter tells profilers when functions begin, wait, go on and end, and tracing tools of lines and
//! exceptions, too, for which it stops at every instruction. So the recorder is a profiler, and becomes a tracing tool
//! only as long as the innermost recorded call runs code of its own, and not that of functions it calls.
//!
//! That changes with each call, so it is not asked for, but written where the interpreter keeps it (`thread_state`). Of
//! code that passes, nothing is told at all (`evaluation`). A tool that traces the program, such as coverage.py or a
//! debugger, is told all it would be told without us.

mod evaluation;
mod thread_state;

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCode};

use super::calls::{self, Left, Standing};
use super::frame::Frame;
use super::{passing, with};
use thread_state::ThreadState;

/// Whether anybody listens.
static IS_ON: AtomicBool = AtomicBool::new(false);
/// Whether 3.9 is ready to trace because we asked for it.
static IS_READY: AtomicBool = AtomicBool::new(false);
/// Operations after which a frame waits and has not ended, by number: a bit each.
static YIELDS: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];
/// The operation with which frames begin and go on, since 3.11.
#[cfg(Py_3_11)]
static RESUME: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Whether lines and exceptions are told to us.
    static TRACES: Cell<bool> = const { Cell::new(false) };
    /// Who else is to be told of them.
    static ALSO: Cell<usize> = const { Cell::new(0) };
    /// The innermost module of the project that is being run by this thread, and those around it.
    static MODULE: Cell<usize> = const { Cell::new(0) };
    static MODULES: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
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
        {
            RESUME.store(numbers.get_item("RESUME")?.extract()?, Ordering::Relaxed);
            let number = numbers.get_item("RETURN_GENERATOR")?.extract()?;
            evaluation::RETURN_GENERATOR.store(number, Ordering::Relaxed);
        }
        IS_ON.store(true, Ordering::Relaxed);
        // Threads that begin later listen by themselves.
        let begin = wrap_pyfunction!(begin_in_thread, python)?;
        python
            .import("threading")?
            .call_method1("setprofile", (begin,))?;
        listen_in_all_threads();
        let traced = python.import("sys")?.call_method0("gettrace")?;
        prepare_to_trace(&traced);
        evaluation::begin();
        Ok(())
    }

    pub(super) fn stop(python: Python<'_>) -> PyResult<()> {
        if IS_ON.swap(false, Ordering::Relaxed) {
            evaluation::end();
            python
                .import("threading")?
                .call_method1("setprofile", (python.None(),))?;
            trace(false);
            if IS_READY.swap(false, Ordering::Relaxed) && cfg!(not(Py_3_10)) {
                be_ready_no_longer();
            }
            // SAFETY: nobody listens in this thread any more; others stop at their next event.
            unsafe { ffi::PyEval_SetProfile(None, null_mut()) };
        }
        Ok(())
    }
}

unsafe extern "C" {
    /// Like `PyEval_SetProfile`, for any thread.
    fn _PyEval_SetProfile(
        thread: *mut ffi::PyThreadState,
        function: Option<ffi::Py_tracefunc>,
        object: *mut ffi::PyObject,
    ) -> c_int;
}

/// Has the interpreter tell the events of this thread.
fn listen() {
    // SAFETY: the lock is held, and the function is of the right kind.
    unsafe { ffi::PyEval_SetProfile(Some(on_event), null_mut()) };
}

/// Has the interpreter tell the events of all threads that are there.
fn listen_in_all_threads() {
    listen();
    // SAFETY: the lock is held, so threads neither begin nor end; the function is of the right kind.
    unsafe {
        let own = ffi::PyThreadState_Get();
        let mut thread = ffi::PyInterpreterState_ThreadHead(ffi::PyInterpreterState_Get());
        while !thread.is_null() {
            if thread != own && _PyEval_SetProfile(thread, Some(on_event), null_mut()) != 0 {
                ffi::PyErr_Clear();
            }
            thread = ffi::PyThreadState_Next(thread);
        }
    }
}

/// Makes ready to trace without asking the interpreter each time.
fn prepare_to_trace(traced: &Bound<'_, PyAny>) {
    ThreadState::explore(on_event as *const () as usize, traced);
    if ThreadState::is_known() && traced.is_none() {
        // Once asked, 3.9 is ready to trace for as long as nobody tells it to stop, which we do at the very end.
        // SAFETY: the lock is held, and the function is of the right kind.
        unsafe { ffi::PyEval_SetTrace(Some(on_trace), null_mut()) };
        IS_READY.store(true, Ordering::Relaxed);
        TRACES.set(true);
        trace(false);
    }
}

/// Tells 3.9 to stop being ready to trace, as long as nobody else wants that: being ready takes time at each instruction.
fn be_ready_no_longer() {
    let Some(state) = ThreadState::current() else {
        return;
    };
    let ours = on_trace as *const () as usize;
    let (tracing, traced) = (state.tracing(), state.traced());
    // SAFETY: the lock is held. A function that is there is of the right kind, and its object lives as long as this, by
    // a reference of our own.
    unsafe {
        ffi::Py_XINCREF(traced);
        // It counts one tracing function less if there is one that goes.
        state.set_tracing(ours);
        ffi::PyEval_SetTrace(None, null_mut());
        if tracing != 0 {
            // And as many as before if one takes the place of another.
            state.set_tracing(ours);
            let tracing: ffi::Py_tracefunc = std::mem::transmute(tracing);
            ffi::PyEval_SetTrace(Some(tracing), traced);
        }
        ffi::Py_XDECREF(traced);
    }
}

/// Has lines and exceptions of this thread told, or no longer.
fn trace(wanted: bool) {
    if TRACES.replace(wanted) == wanted {
        return;
    }
    let ours = on_trace as *const () as usize;
    let Some(state) = ThreadState::current() else {
        let function: Option<ffi::Py_tracefunc> = if wanted { Some(on_trace) } else { None };
        // SAFETY: the lock is held, and the function is of the right kind.
        unsafe { ffi::PyEval_SetTrace(function, null_mut()) };
        return;
    };
    // The function is only changed while there is a profiling function, so nothing else changes by that.
    let tracing = state.tracing();
    if wanted && tracing != ours {
        ALSO.set(tracing);
        state.set_tracing(ours);
    } else if !wanted && tracing == ours {
        state.set_tracing(ALSO.replace(0));
    } else if !wanted {
        // Another tool came or went while our function was there.
        let also = ALSO.replace(0);
        if cfg!(not(Py_3_10)) && also == 0 {
            count_again(state);
        }
    }
}

/// 3.9 counts tracing functions, to be ready for them, and has just taken ours for one that it had counted.
fn count_again(state: ThreadState) {
    let tracing = state.tracing();
    state.set_tracing(0);
    // SAFETY: the lock is held, and the object is the one that is there already.
    unsafe { ffi::PyEval_SetTrace(Some(on_trace), state.traced()) };
    state.set_tracing(tracing);
}

/// What a new thread calls first, as a profiler made in Python.
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
    let address = frame as usize;
    let innermost = calls::innermost_frame();
    // SAFETY: it is a frame; of the answers, which are new references, only the addresses are used.
    unsafe {
        match what {
            ffi::PyTrace_CALL => {
                let code = ffi::PyFrame_GetCode(frame);
                ffi::Py_DECREF(code.cast());
                if passing::passes(code as usize, |start| offset(frame) == start) {
                    if innermost != 0 {
                        trace(false);
                    }
                    return 0;
                }
            }
            ffi::PyTrace_RETURN if innermost != address && MODULE.get() != address => {
                if innermost != 0 && !TRACES.get() {
                    trace(caller(frame) == innermost);
                }
                return 0;
            }
            ffi::PyTrace_RETURN => {}
            _ => return 0,
        }
    }
    // No panic may cross into C, and nothing that goes wrong here may come out of the program.
    let _ = std::panic::catch_unwind(|| {
        // The lock is held already; but objects that are let go die at once only where this library knows it, too.
        // SAFETY: as the interpreter promises.
        Python::attach(|python| unsafe {
            if !IS_ON.load(Ordering::Relaxed) {
                trace(false);
                ffi::PyEval_SetProfile(None, null_mut());
                return;
            }
            let own = Frame::from_pointer(python, frame);
            let argument = Bound::from_borrowed_ptr_or_opt(python, argument);
            handle(python, &own, what, argument.as_ref());
            let innermost = calls::innermost_frame();
            let runs = if what == ffi::PyTrace_CALL {
                address
            } else {
                caller(frame)
            };
            trace(innermost != 0 && runs == innermost);
        });
    });
    0
}

/// # Safety
/// As the interpreter calls it: with the lock held and a frame.
unsafe extern "C" fn on_trace(
    object: *mut ffi::PyObject,
    frame: *mut ffi::PyFrameObject,
    what: c_int,
    argument: *mut ffi::PyObject,
) -> c_int {
    let is_told = matches!(what, ffi::PyTrace_LINE | ffi::PyTrace_EXCEPTION);
    if is_told && calls::innermost_frame() == frame as usize {
        let _ = std::panic::catch_unwind(|| {
            // SAFETY: as the interpreter promises.
            Python::attach(|python| unsafe {
                let frame = Frame::from_pointer(python, frame);
                let argument = Bound::from_borrowed_ptr_or_opt(python, argument);
                note(python, &frame, what, argument.as_ref());
            });
        });
    }
    let also = ALSO.get();
    if also == 0 {
        return 0;
    }
    // SAFETY: the interpreter would have called this function in the same way; it was found where it keeps it.
    unsafe {
        let also: ffi::Py_tracefunc = std::mem::transmute(also);
        also(object, frame, what, argument)
    }
}

/// # Safety
/// It must be a frame that is alive.
unsafe fn caller(frame: *mut ffi::PyFrameObject) -> usize {
    // SAFETY: as the caller promises; the answer is a new reference or null. Nothing dies when it is given back, as the
    // frame keeps its caller.
    unsafe {
        let back = ffi::PyFrame_GetBack(frame);
        ffi::Py_XDECREF(back.cast());
        back as usize
    }
}

/// The instruction that a frame has come to.
///
/// # Safety
/// It must be a frame that is alive.
unsafe fn offset(frame: *mut ffi::PyFrameObject) -> u32 {
    #[cfg(Py_3_11)]
    // SAFETY: as the caller promises.
    let offset = unsafe { ffi::PyFrame_GetLasti(frame) };
    #[cfg(not(Py_3_11))]
    // SAFETY: as the caller promises; the attribute is one of frames themselves.
    let offset = unsafe {
        let value = ffi::PyObject_GetAttrString(frame.cast(), c"f_lasti".as_ptr());
        let offset = ffi::PyLong_AsLong(value);
        ffi::Py_XDECREF(value);
        offset
    };
    // Before the first instruction it is -1.
    u32::try_from(offset + 2).unwrap_or(0)
}

fn handle(python: Python<'_>, frame: &Frame<'_>, what: c_int, argument: Option<&Bound<'_, PyAny>>) {
    let Some(code) = frame.code() else {
        return;
    };
    let address = code.as_ptr() as usize;
    with(python, |recorder| {
        if what == ffi::PyTrace_RETURN {
            MODULES.with_borrow_mut(|modules| {
                modules.pop_if(|module| *module == frame.address());
                MODULE.set(modules.last().copied().unwrap_or(0));
            });
            returns(recorder, frame, &code, argument);
        } else if !has_begun(frame, &code) {
            let again = || frame.same();
            match recorder.enter(&code, again) {
                Ok(Standing::Module) => {
                    MODULES.with_borrow_mut(|modules| modules.push(frame.address()));
                    MODULE.set(frame.address());
                }
                Ok(Standing::Recorded | Standing::Passed | Standing::Foreign) => {}
                Err(error) => recorder.note_trouble(Err(error)),
            }
        } else if recorder.has_waiting() && recorder.is_unit(address) {
            recorder.go_on(python, frame.address());
        }
    });
}

/// A line or an exception in the innermost recorded call.
fn note(python: Python<'_>, frame: &Frame<'_>, what: c_int, argument: Option<&Bound<'_, PyAny>>) {
    with(python, |recorder| {
        if what == ffi::PyTrace_LINE {
            if let Some(line) = frame.line() {
                recorder.reach_line(line);
            }
        } else {
            let exception = argument.and_then(|all| all.get_item(1).ok());
            recorder.note_exception(frame.address(), exception);
        }
    });
}

fn returns(
    recorder: &mut super::Recorder,
    frame: &Frame<'_>,
    code: &Bound<'_, PyCode>,
    value: Option<&Bound<'_, PyAny>>,
) {
    let left = match value {
        Some(value) if is_waiting(frame, code) => recorder.wait(frame, value),
        Some(value) => recorder.leave(frame, Left::With(value)),
        None => match recorder.exception_of(frame.address()) {
            Some(exception) => {
                let exception = exception.bind(code.py());
                recorder.leave(frame, Left::By(exception))
            }
            None => recorder.lose(code.py(), frame),
        },
    };
    recorder.note_trouble(left);
}

/// Whether a frame has run before: it goes on now.
fn has_begun(frame: &Frame<'_>, code: &Bound<'_, PyCode>) -> bool {
    let address = code.as_ptr() as usize;
    // SAFETY: the frame is alive.
    let at = unsafe { offset(frame.as_ptr()) };
    match passing::start(address) {
        Some(start) => start != at,
        None => begins_at(code).is_some_and(|start| start != at),
    }
}

/// Where frames of a generator or coroutine stand when they begin, as `offset` tells it; `None` for all other code,
/// whose frames never go on.
pub(super) fn begins_at(code: &Bound<'_, PyCode>) -> Option<u32> {
    if !can_wait(code) {
        return None;
    }
    #[cfg(not(Py_3_11))]
    {
        // Before the first instruction.
        Some(1)
    }
    #[cfg(Py_3_11)]
    {
        let bytes = code.getattr("co_code").ok()?;
        let bytes = bytes.cast::<PyBytes>().ok()?.as_bytes();
        let is_first =
            |pair: &[u8]| u64::from(pair[0]) == RESUME.load(Ordering::Relaxed) && pair[1] & 3 == 0;
        // Where an exception is thrown into a frame that waits, it stands at any other operation.
        let place = bytes.chunks_exact(2).position(is_first)?;
        u32::try_from(2 * place + 2).ok()
    }
}

fn can_wait(code: &Bound<'_, PyCode>) -> bool {
    let flags = code
        .getattr("co_flags")
        .and_then(|flags| flags.extract::<u32>());
    flags.is_ok_and(|flags| flags & 0x2a0 != 0)
}

/// Whether a frame that hands out a value has stopped at a `yield` or `await`.
fn is_waiting(frame: &Frame<'_>, code: &Bound<'_, PyCode>) -> bool {
    if !can_wait(code) {
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
