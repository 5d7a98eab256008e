//! Events through the interpreter's tracing interface, before 3.12.
//!
//! The interpreter reports starts, suspensions, resumptions and ends of functions to profilers. It
//! reports lines and exceptions to tracing tools only, and then checks at every instruction. So the
//! recorder is a profiler, and becomes a tracing tool only while the innermost recorded call runs
//! its own code, as opposed to code of functions that it calls.
//!
//! That changes with every call, so it is written directly to the interpreter's thread state
//! (`thread_state`). Skipped code reports nothing at all (`evaluation`). Other tools that trace the
//! program, such as coverage.py or a debugger, get every event that they would get without us.

mod evaluation;
mod thread_state;

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCode};

use super::calls::{self, EntryStatus, FrameExit};
use super::frame::PythonFrame;
use super::{skip_table, with_recorder};
use thread_state::ThreadState;

/// True while the listener is active.
static IS_LISTENING: AtomicBool = AtomicBool::new(false);
/// True if 3.9 is in tracing mode because of us.
static ENABLED_TRACING: AtomicBool = AtomicBool::new(false);
/// Opcodes at which a frame suspends instead of ending, as a bit set.
static YIELD_OPCODES: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];
/// The opcode with which frames start and resume, since 3.11.
#[cfg(Py_3_11)]
static RESUME_OPCODE: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// True while lines and exceptions of this thread are reported to us.
    static IS_TRACING: Cell<bool> = const { Cell::new(false) };
    /// The tracing function of another tool, to which events are passed on; 0 if there is none.
    static OTHER_TRACER: Cell<usize> = const { Cell::new(0) };
    /// The frame of the innermost module of the project that this thread is importing, or 0.
    static INNERMOST_MODULE: Cell<usize> = const { Cell::new(0) };
    /// The frames of all modules of the project that this thread is importing, the innermost last.
    static MODULE_STACK: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Requests events from the interpreter.
pub(super) struct TracingListener;

impl TracingListener {
    /// Starts to listen in all threads.
    pub(super) fn start(python: Python<'_>) -> PyResult<()> {
        let numbers = python.import("opcode")?.getattr("opmap")?;
        for name in ["YIELD_VALUE", "YIELD_FROM"] {
            if let Ok(number) = numbers.get_item(name) {
                let number: usize = number.extract()?;
                YIELD_OPCODES[number / 64].fetch_or(1 << (number % 64), Ordering::Relaxed);
            }
        }
        #[cfg(Py_3_11)]
        {
            RESUME_OPCODE.store(numbers.get_item("RESUME")?.extract()?, Ordering::Relaxed);
            let number = numbers.get_item("RETURN_GENERATOR")?.extract()?;
            evaluation::RETURN_GENERATOR.store(number, Ordering::Relaxed);
        }
        IS_LISTENING.store(true, Ordering::Relaxed);
        // Threads started later begin to listen by themselves.
        let begin = wrap_pyfunction!(begin_in_thread, python)?;
        python
            .import("threading")?
            .call_method1("setprofile", (begin,))?;
        listen_in_all_threads();
        let traced = python.import("sys")?.call_method0("gettrace")?;
        prepare_tracing(&traced);
        evaluation::install();
        Ok(())
    }

    /// Stops listening. Other threads stop at their next event.
    pub(super) fn stop(python: Python<'_>) -> PyResult<()> {
        if IS_LISTENING.swap(false, Ordering::Relaxed) {
            evaluation::uninstall();
            python
                .import("threading")?
                .call_method1("setprofile", (python.None(),))?;
            set_tracing(false);
            if ENABLED_TRACING.swap(false, Ordering::Relaxed) && cfg!(not(Py_3_10)) {
                release_tracing();
            }
            // SAFETY: this thread no longer listens; others stop at their next event.
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

/// Makes the interpreter report the events of this thread.
fn listen() {
    // SAFETY: the lock is held, and the function has the right type.
    unsafe { ffi::PyEval_SetProfile(Some(on_event), null_mut()) };
}

/// Makes the interpreter report the events of all existing threads.
fn listen_in_all_threads() {
    listen();
    // SAFETY: the lock is held, so threads neither start nor end; the function has the right type.
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

/// Prepares for switching tracing on and off without calling the interpreter each time.
fn prepare_tracing(traced: &Bound<'_, PyAny>) {
    ThreadState::locate(on_event as *const () as usize, traced);
    if ThreadState::is_located() && traced.is_none() {
        // Once requested, 3.9 stays in tracing mode until it is told to stop, which happens in
        // `stop`.
        // SAFETY: the lock is held, and the function has the right type.
        unsafe { ffi::PyEval_SetTrace(Some(on_trace), null_mut()) };
        ENABLED_TRACING.store(true, Ordering::Relaxed);
        IS_TRACING.set(true);
        set_tracing(false);
    }
}

/// Takes 3.9 out of tracing mode, unless another tool needs it: the mode costs time at each
/// instruction.
fn release_tracing() {
    let Some(state) = ThreadState::current() else {
        return;
    };
    let ours = on_trace as *const () as usize;
    let (tracing, traced) = (state.tracing(), state.traced());
    // SAFETY: the lock is held. The function found there has the right type, and its object lives
    // as long as this reference of our own.
    unsafe {
        ffi::Py_XINCREF(traced);
        // The interpreter's counter of tracing functions decreases if one is removed.
        state.set_tracing(ours);
        ffi::PyEval_SetTrace(None, null_mut());
        if tracing != 0 {
            // The counter stays the same if one function replaces another.
            state.set_tracing(ours);
            let tracing: ffi::Py_tracefunc = std::mem::transmute(tracing);
            ffi::PyEval_SetTrace(Some(tracing), traced);
        }
        ffi::Py_XDECREF(traced);
    }
}

/// Switches reporting of lines and exceptions in this thread on or off.
fn set_tracing(wanted: bool) {
    if IS_TRACING.replace(wanted) == wanted {
        return;
    }
    let ours = on_trace as *const () as usize;
    let Some(state) = ThreadState::current() else {
        let function: Option<ffi::Py_tracefunc> = if wanted { Some(on_trace) } else { None };
        // SAFETY: the lock is held, and the function has the right type.
        unsafe { ffi::PyEval_SetTrace(function, null_mut()) };
        return;
    };
    // The function changes only while there is a profiling function, so no other state depends on
    // it.
    let tracing = state.tracing();
    if wanted && tracing != ours {
        OTHER_TRACER.set(tracing);
        state.set_tracing(ours);
    } else if !wanted && tracing == ours {
        state.set_tracing(OTHER_TRACER.replace(0));
    } else if !wanted {
        // Another tool was installed or removed while our function was set.
        let other = OTHER_TRACER.replace(0);
        if cfg!(not(Py_3_10)) && other == 0 {
            recount_tracers(state);
        }
    }
}

/// Corrects the counter of tracing functions of 3.9, which has just taken our function for one that
/// it had counted.
fn recount_tracers(state: ThreadState) {
    let tracing = state.tracing();
    state.set_tracing(0);
    // SAFETY: the lock is held, and the object is the present one.
    unsafe { ffi::PyEval_SetTrace(Some(on_trace), state.traced()) };
    state.set_tracing(tracing);
}

/// The profiling function, written as a Python callable, that new threads start with. It installs
/// the real one.
#[pyfunction]
#[pyo3(signature = (*_arguments))]
fn begin_in_thread(_arguments: &Bound<'_, pyo3::types::PyTuple>) {
    if IS_LISTENING.load(Ordering::Relaxed) {
        listen();
    }
}

/// Handles the start or end of a frame, as the profiling function.
///
/// # Safety
///
/// Must be called as the interpreter calls it: with the lock held and a frame.
unsafe extern "C" fn on_event(
    _object: *mut ffi::PyObject,
    frame: *mut ffi::PyFrameObject,
    event: c_int,
    argument: *mut ffi::PyObject,
) -> c_int {
    let address = frame as usize;
    let innermost = calls::innermost_frame();
    // SAFETY: it is a frame; the results are new references; only their addresses are used.
    unsafe {
        match event {
            ffi::PyTrace_CALL => {
                let code = ffi::PyFrame_GetCode(frame);
                ffi::Py_DECREF(code.cast());
                if skip_table::should_skip(code as usize, |start| offset(frame) == start) {
                    if innermost != 0 {
                        set_tracing(false);
                    }
                    return 0;
                }
            }
            ffi::PyTrace_RETURN if innermost != address && INNERMOST_MODULE.get() != address => {
                if innermost != 0 && !IS_TRACING.get() {
                    set_tracing(caller(frame) == innermost);
                }
                return 0;
            }
            ffi::PyTrace_RETURN => {}
            _ => return 0,
        }
    }
    // No panic may cross into C, and no error here may surface in the program.
    let _ = std::panic::catch_unwind(|| {
        // The lock is held already, but pyo3 drops objects at once only if it knows that.
        // SAFETY: guaranteed by the interpreter.
        Python::attach(|python| unsafe {
            if !IS_LISTENING.load(Ordering::Relaxed) {
                set_tracing(false);
                ffi::PyEval_SetProfile(None, null_mut());
                return;
            }
            let own = PythonFrame::from_pointer(python, frame);
            let argument = Bound::from_borrowed_ptr_or_opt(python, argument);
            handle_event(python, &own, event, argument.as_ref());
            let innermost = calls::innermost_frame();
            let runs = if event == ffi::PyTrace_CALL {
                address
            } else {
                caller(frame)
            };
            set_tracing(innermost != 0 && runs == innermost);
        });
    });
    0
}

/// Handles a line or an exception, as the tracing function, and passes the event on to another
/// tool.
///
/// # Safety
///
/// Must be called as the interpreter calls it: with the lock held and a frame.
unsafe extern "C" fn on_trace(
    object: *mut ffi::PyObject,
    frame: *mut ffi::PyFrameObject,
    event: c_int,
    argument: *mut ffi::PyObject,
) -> c_int {
    let is_wanted = matches!(event, ffi::PyTrace_LINE | ffi::PyTrace_EXCEPTION);
    if is_wanted && calls::innermost_frame() == frame as usize {
        let _ = std::panic::catch_unwind(|| {
            // SAFETY: guaranteed by the interpreter.
            Python::attach(|python| unsafe {
                let frame = PythonFrame::from_pointer(python, frame);
                let argument = Bound::from_borrowed_ptr_or_opt(python, argument);
                record_event(python, &frame, event, argument.as_ref());
            });
        });
    }
    let other = OTHER_TRACER.get();
    if other == 0 {
        return 0;
    }
    // SAFETY: the interpreter would have called this function in the same way; it was found in its
    // state.
    unsafe {
        let other: ffi::Py_tracefunc = std::mem::transmute(other);
        other(object, frame, event, argument)
    }
}

/// Returns the address of the calling frame, or 0.
///
/// # Safety
///
/// It must be a frame that is alive.
unsafe fn caller(frame: *mut ffi::PyFrameObject) -> usize {
    // SAFETY: guaranteed by the caller; the result is a new reference or null. The frame keeps its
    // caller alive after the reference is given back.
    unsafe {
        let back = ffi::PyFrame_GetBack(frame);
        ffi::Py_XDECREF(back.cast());
        back as usize
    }
}

/// Returns the offset of the current instruction of a frame, plus 2.
///
/// # Safety
///
/// It must be a frame that is alive.
unsafe fn offset(frame: *mut ffi::PyFrameObject) -> u32 {
    #[cfg(Py_3_11)]
    // SAFETY: guaranteed by the caller.
    let offset = unsafe { ffi::PyFrame_GetLasti(frame) };
    #[cfg(not(Py_3_11))]
    // SAFETY: guaranteed by the caller; the attribute belongs to the frame type itself.
    let offset = unsafe {
        let value = ffi::PyObject_GetAttrString(frame.cast(), c"f_lasti".as_ptr());
        let offset = ffi::PyLong_AsLong(value);
        ffi::Py_XDECREF(value);
        offset
    };
    // Before the first instruction the offset is -1.
    u32::try_from(offset + 2).unwrap_or(0)
}

/// Handles a start, resumption, suspension or end with the recorder locked.
fn handle_event(
    python: Python<'_>,
    frame: &PythonFrame<'_>,
    event: c_int,
    argument: Option<&Bound<'_, PyAny>>,
) {
    let Some(code) = frame.code() else {
        return;
    };
    let address = code.as_ptr() as usize;
    with_recorder(python, |recorder| {
        if event == ffi::PyTrace_RETURN {
            MODULE_STACK.with_borrow_mut(|modules| {
                modules.pop_if(|module| *module == frame.address());
                INNERMOST_MODULE.set(modules.last().copied().unwrap_or(0));
            });
            handle_return(recorder, frame, &code, argument);
        } else if !has_begun(frame, &code) {
            let duplicate = || frame.duplicate();
            match recorder.enter(&code, duplicate) {
                Ok(EntryStatus::Module) => {
                    MODULE_STACK.with_borrow_mut(|modules| modules.push(frame.address()));
                    INNERMOST_MODULE.set(frame.address());
                }
                Ok(EntryStatus::Recorded | EntryStatus::Skipped | EntryStatus::Foreign) => {}
                Err(error) => recorder.report_error(Err(error)),
            }
        } else if recorder.has_suspended() && recorder.is_unit(address) {
            recorder.resume(python, frame.address());
        }
    });
}

/// Records a line or an exception of the innermost recorded call.
fn record_event(
    python: Python<'_>,
    frame: &PythonFrame<'_>,
    event: c_int,
    argument: Option<&Bound<'_, PyAny>>,
) {
    with_recorder(python, |recorder| {
        if event == ffi::PyTrace_LINE {
            if let Some(line) = frame.line() {
                recorder.record_line(line);
            }
        } else {
            let exception = argument.and_then(|all| all.get_item(1).ok());
            recorder.set_exception(frame.address(), exception);
        }
    });
}

/// Handles a frame that suspends, returns or is left by an exception.
fn handle_return(
    recorder: &mut super::CallRecorder,
    frame: &PythonFrame<'_>,
    code: &Bound<'_, PyCode>,
    value: Option<&Bound<'_, PyAny>>,
) {
    let left = match value {
        Some(value) if is_suspended(frame, code) => recorder.suspend(frame, value),
        Some(value) => recorder.leave(frame, FrameExit::Returned(value)),
        None => match recorder.take_exception(frame.address()) {
            Some(exception) => {
                let exception = exception.bind(code.py());
                recorder.leave(frame, FrameExit::Raised(exception))
            }
            None => recorder.abandon_frame(code.py(), frame),
        },
    };
    recorder.report_error(left);
}

/// Returns true if a frame has run before, so that it resumes now.
fn has_begun(frame: &PythonFrame<'_>, code: &Bound<'_, PyCode>) -> bool {
    let address = code.as_ptr() as usize;
    // SAFETY: the frame is alive.
    let current = unsafe { offset(frame.as_ptr()) };
    match skip_table::start_offset(address) {
        Some(start) => start != current,
        None => start_offset(code).is_some_and(|start| start != current),
    }
}

/// Returns the value of [`offset`] for frames of a generator or coroutine that start; `None` for
/// other code, whose frames never resume.
pub(super) fn start_offset(code: &Bound<'_, PyCode>) -> Option<u32> {
    if !is_suspendable(code) {
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
        let is_first = |pair: &[u8]| {
            u64::from(pair[0]) == RESUME_OPCODE.load(Ordering::Relaxed) && pair[1] & 3 == 0
        };
        // A frame that resumes with an exception is at any other instruction.
        let index = bytes.chunks_exact(2).position(is_first)?;
        u32::try_from(2 * index + 2).ok()
    }
}

/// Returns true if code is a generator, coroutine or asynchronous generator.
fn is_suspendable(code: &Bound<'_, PyCode>) -> bool {
    let flags = code
        .getattr("co_flags")
        .and_then(|flags| flags.extract::<u32>());
    flags.is_ok_and(|flags| flags & 0x2a0 != 0)
}

/// Returns true if a frame that hands out a value is suspended at a `yield` or `await`.
fn is_suspended(frame: &PythonFrame<'_>, code: &Bound<'_, PyCode>) -> bool {
    if !is_suspendable(code) {
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
        YIELD_OPCODES[number / 64].load(Ordering::Relaxed) >> (number % 64) & 1 == 1
    };
    let Some(offset) = frame.offset() else {
        return false;
    };
    // Until 3.10 a frame suspended in a `yield from` is at the instruction before it, to repeat it.
    is_yield(offset) || cfg!(not(Py_3_11)) && is_yield(offset + 2)
}
